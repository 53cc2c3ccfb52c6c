# Finds LLVM 22 (static libraries and tools) and a fast linker.
# Sets KRAIT_LLVM_VERSION, KRAIT_LLVM_INCLUDE, KRAIT_LLVM_LIBS, KRAIT_LLVM_BIN, the tools KRAIT_CLANG, KRAIT_OPT,
# KRAIT_LLVM_AS, KRAIT_LLVM_NM, KRAIT_LINKER (link options) and KRAIT_LLVM_LICENSES (name=file ...).
set(KRAIT_LLVM_MAJOR 22) # the C API of ORC changes between majors: one is supported

find_program(LLVM_CONFIG NAMES llvm-config-${KRAIT_LLVM_MAJOR} llvm-config
             HINTS /usr/lib/llvm-${KRAIT_LLVM_MAJOR}/bin /usr/local/opt/llvm@${KRAIT_LLVM_MAJOR}/bin)
if(NOT LLVM_CONFIG)
    message(FATAL_ERROR "LLVM ${KRAIT_LLVM_MAJOR} is missing (llvm-config-${KRAIT_LLVM_MAJOR}). On Debian and Ubuntu: "
                        "apt-get install llvm-22-dev clang-22 lld-22 libzstd-dev zlib1g-dev. "
                        "Elsewhere give -DLLVM_CONFIG=/path/to/llvm-config.")
endif()

function(krait_llvm_config OUT)
    execute_process(COMMAND "${LLVM_CONFIG}" ${ARGN} OUTPUT_VARIABLE answer ERROR_VARIABLE error
                    RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${LLVM_CONFIG} ${ARGN}: ${error}")
    endif()
    set(${OUT} "${answer}" PARENT_SCOPE)
endfunction()

krait_llvm_config(KRAIT_LLVM_VERSION --version)
if(NOT KRAIT_LLVM_VERSION MATCHES "^${KRAIT_LLVM_MAJOR}\\.")
    message(FATAL_ERROR "${LLVM_CONFIG} is LLVM ${KRAIT_LLVM_VERSION}; ${KRAIT_LLVM_MAJOR} is needed")
endif()
krait_llvm_config(KRAIT_LLVM_INCLUDE --includedir)
krait_llvm_config(KRAIT_LLVM_BIN --bindir)
# Only the host's back end and NVPTX, and of the rest what the C API needs.
krait_llvm_config(llvm_files --link-static --libfiles nvptx native orcjit passes irreader bitwriter linker ipo)
separate_arguments(KRAIT_LLVM_LIBS UNIX_COMMAND "${llvm_files}")

# zlib and zstd are linked statically too: at run time nothing is needed but glibc and libstdc++. libxml2 and Z3,
# which llvm-config also names, are used by parts of LLVM that are not linked.
foreach(lib z zstd)
    find_library(KRAIT_STATIC_${lib} NAMES lib${lib}.a)
    if(NOT KRAIT_STATIC_${lib})
        message(FATAL_ERROR "lib${lib}.a is missing (Debian and Ubuntu: zlib1g-dev libzstd-dev)")
    endif()
    list(APPEND KRAIT_LLVM_LIBS "${KRAIT_STATIC_${lib}}")
endforeach()
list(APPEND KRAIT_LLVM_LIBS ${CMAKE_DL_LIBS} pthread m)

foreach(tool CLANG=clang OPT=opt LLVM_AS=llvm-as LLVM_NM=llvm-nm)
    string(REPLACE "=" ";" tool "${tool}")
    list(GET tool 0 variable)
    list(GET tool 1 name)
    find_program(KRAIT_${variable} NAMES ${name} ${name}-${KRAIT_LLVM_MAJOR} HINTS "${KRAIT_LLVM_BIN}" NO_DEFAULT_PATH)
    find_program(KRAIT_${variable} NAMES ${name}-${KRAIT_LLVM_MAJOR})
    if(NOT KRAIT_${variable})
        message(FATAL_ERROR "${name} of LLVM ${KRAIT_LLVM_MAJOR} is missing (Debian and Ubuntu: clang-22 llvm-22)")
    endif()
endforeach()

# lld links the module in about a second, gold in three, the default linker in more. A release is linked once, and gold's
# folding of identical functions (safe: those whose address is taken are left alone) makes its wheel 1 MB smaller.
find_program(KRAIT_GOLD ld.gold)
find_program(KRAIT_LLD ld.lld HINTS "${KRAIT_LLVM_BIN}")
if(KRAIT_GOLD AND (CMAKE_BUILD_TYPE STREQUAL "Release" OR NOT KRAIT_LLD))
    set(KRAIT_LINKER -fuse-ld=gold -Wl,--icf=safe)
elseif(KRAIT_LLD)
    get_filename_component(lld_folder "${KRAIT_LLD}" DIRECTORY)
    set(KRAIT_LINKER -B${lld_folder} -fuse-ld=lld)
endif()

# The notices of what is linked in, from where Debian keeps them.
set(KRAIT_LLVM_LICENSES "")
foreach(pair LLVM=llvm-${KRAIT_LLVM_MAJOR}-dev zlib=zlib1g-dev zstd=libzstd-dev)
    string(REPLACE "=" ";" pair "${pair}")
    list(GET pair 0 name)
    list(GET pair 1 package)
    if(EXISTS "/usr/share/doc/${package}/copyright")
        list(APPEND KRAIT_LLVM_LICENSES "${name}=/usr/share/doc/${package}/copyright")
    endif()
endforeach()
