/* llvm_c.h: LLVM's C API as all of codegen, codegen_nvptx and codegen_cpu see it.  A file that needs one of its other
 * headers includes that behind this.
 *
 * The entry points of the global context are made unusable: a Module has its own context (the name after the macro does
 * not exist, so that a use is a compile error that says why). */
#ifndef KRAIT_CODEGEN_LLVM_C_H
#define KRAIT_CODEGEN_LLVM_C_H

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#define LLVMGetGlobalContext     use_the_context_of_the_module
#define LLVMModuleCreateWithName use_LLVMModuleCreateWithNameInContext
#define LLVMInt1Type             use_LLVMInt1TypeInContext
#define LLVMInt8Type             use_LLVMInt8TypeInContext
#define LLVMInt16Type            use_LLVMInt16TypeInContext
#define LLVMInt32Type            use_LLVMInt32TypeInContext
#define LLVMInt64Type            use_LLVMInt64TypeInContext
#define LLVMHalfType             use_LLVMHalfTypeInContext
#define LLVMBFloatType           use_LLVMBFloatTypeInContext
#define LLVMFloatType            use_LLVMFloatTypeInContext
#define LLVMDoubleType           use_LLVMDoubleTypeInContext
#define LLVMVoidType             use_LLVMVoidTypeInContext
#define LLVMStructType           use_LLVMStructTypeInContext
#define LLVMAppendBasicBlock     use_LLVMAppendBasicBlockInContext
#define LLVMCreateBuilder        use_LLVMCreateBuilderInContext
#define LLVMConstStruct          use_LLVMConstStructInContext
#define LLVMMDNode               use_LLVMMDNodeInContext2
#define LLVMMDString             use_LLVMMDStringInContext2

#endif
