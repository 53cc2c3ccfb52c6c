"""Instructions given as text: PTX in kernels, LLVM IR everywhere, and functions that are made of either."""


import numpy as np
import pytest
from assembler import assemble

from krait import cuda, errors, njit
from krait.extending import inline_llvm, intrinsic


def assembled(kernel, signature, cc=(9, 0)):
    ptx, _ = cuda.compile_ptx(kernel, signature, cc=cc)
    assemble(ptx, 10 * cc[0] + cc[1])
    return ptx


@intrinsic("int32(int32, int32)", ptx="mul24.lo.s32 $0, $1, $2;")
def mul24(a, b):
    """The low bits of a product of 24-bit numbers."""
    return (a & 0xFFFFFF) * (b & 0xFFFFFF)


@intrinsic("int64(int64, int64)", llvm="%sum = call i64 @llvm.sadd.sat.i64(i64 %0, i64 %1)\nret i64 %sum\n"
           "---\ndeclare i64 @llvm.sadd.sat.i64(i64, i64)")
def saturating(a, b):
    return max(-(2**63), min(2**63 - 1, a + b))


def test_ptx_of_an_intrinsic():
    def kernel(out, x):
        i = cuda.grid(1)
        out[i] = mul24(x[i], 3)

    assert "mul24.lo.s32" in assembled(kernel, "void(int32[::1], int32[::1])")


def test_the_python_function_runs_on_the_host():
    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        out[i] = mul24(x[i], 3)

    x = np.arange(64, dtype=np.int32)
    out = np.zeros_like(x)
    kernel[2, 32](out, x)
    np.testing.assert_array_equal(out, 3 * x)
    assert njit(lambda a: mul24(a, 5))(7) == 35 and mul24(7, 5) == 35
    assert mul24.__doc__ == "The low bits of a product of 24-bit numbers." and mul24.__name__ == "mul24"


def test_llvm_ir_runs_on_every_target():
    def kernel(out, x):
        i = cuda.grid(1)
        out[i] = saturating(x[i], x[i])

    x = np.array([1, 2**62, -(2**63), 2**62 - 1], np.int64)
    out = np.zeros_like(x)
    cuda.jit(kernel)[1, 4](out, x)
    np.testing.assert_array_equal(out, [2, 2**63 - 1, -(2**63), 2**63 - 2])
    assert njit(lambda a, b: saturating(a, b))(2**63 - 1, 5) == 2**63 - 1
    assembled(kernel, "void(int64[::1], int64[::1])")


@pytest.mark.parametrize("type_, letter", [("int8", "rs"), ("uint16", "rs"), ("int32", "r"), ("float32", "f"),
                                           ("float64", "fd"), ("int64", "rd"), ("float16", "rs")])
def test_operands_of_every_width(type_, letter):
    width = {"int8": "b16", "uint16": "b16", "int32": "b32", "float32": "f32", "float64": "f64", "int64": "b64",
             "float16": "b16"}[type_]
    space = {"cuda": cuda, "text": f"mov.{width} $0, $1;", "dtype": np.dtype(type_).type}
    exec("def kernel(out, x):\n    out[0] = cuda.inline_ptx(text, dtype, x[0])", space)
    ptx = assembled(space["kernel"], f"void({type_}[::1], {type_}[::1])")
    assert f"mov.{width}" in ptx


def test_an_array_is_its_address_and_none_is_no_result():
    def kernel(out, value):
        cuda.inline_ptx("red.global.add.f32 [$0], $1;", None, out, value)
        cuda.inline_ptx("{ .reg .b32 t; mov.u32 t, %laneid; st.global.u32 [$0], t; }", None, out)

    ptx = assembled(kernel, "void(float32[::1], float32)")
    assert "red.global.add.f32" in ptx and "%laneid" in ptx


@pytest.mark.parametrize("call, message", [
    ("cuda.inline_ptx('mov.b32 $0, $2;', np.int32, x[0])", r"`\$2;` in the PTX text names no operand: there are \$0"),
    ("cuda.inline_ptx('mov.b32 $0, ${1};', np.int32, x[0])", r"names no operand"),
    ("cuda.inline_ptx(x, np.int32)", "a str is needed here, not `x`"),
    ("cuda.inline_ptx('', np.complex64)", "gives a number that is not complex, or None"),
    ("cuda.inline_ptx('', None, 1j)", "takes numbers and arrays, not complex"),
    ("inline_llvm('ret i64 %0', np.int32, x[0])",
     "the LLVM IR is not valid: inline_llvm:1:.*'%0' defined with type 'i32'"),
    ("inline_llvm('ret i32 %nothing', np.int32, x[0])", "the LLVM IR is not valid: "),
    ("inline_llvm('ret i32 %0 }', np.int32, x[0])", "the LLVM IR is not valid: "),
    ("inline_llvm('%a = call i32 @abort_now()\\nret i32 %a\\n---\\ndeclare i32 @abort_now()', np.int32)",
     "calls abort_now, which a GPU does not have"),
])
def test_what_is_refused(call, message):
    space = {"cuda": cuda, "np": np, "inline_llvm": inline_llvm}
    exec(f"def kernel(x):\n    x[0] = {call}", space)
    with pytest.raises(errors.KraitError, match=message):
        cuda.compile_ptx(space["kernel"], "void(int32[::1])", cc=(9, 0))


def behind(more):
    return f"ret i32 %0\n---\n{more}"


@pytest.mark.parametrize("text, part", [
    ('call void asm sideeffect "no such", "r"(i32 %0)\nret i32 %0', "inline assembly"),
    ('%r = call i32 asm "mov $1,$0", "=r,{eax}"(i32 %0)\nret i32 %r', "inline assembly"),
    (behind('define internal void @f() {\ncall void asm "", ""()\nret void\n}'), "inline assembly"),
    (behind('module asm "no such"'), "inline assembly"),
    ("%v = insertelement <vscale x 4 x i32> poison, i32 %0, i32 0\n"
     "%e = extractelement <vscale x 4 x i32> %v, i32 0\nret i32 %e", "a scalable vector"),
    ("%p = alloca <vscale x 4 x i32>\nret i32 %0", "a scalable vector"),
    ("%p = alloca {i8, [2 x i8388607]}\nret i32 %0", "an integer that wide"),
    ("%p = alloca fp128\nret i32 %0", "a value of a type that both devices do not have"),
    ('fence syncscope("mine") acquire\nret i32 %0', "that syncscope"),
    ('%p = alloca i32\n%w = atomicrmw add ptr %p, i32 1 syncscope("mine") seq_cst\nret i32 %w', "that syncscope"),
    ("%p = alloca i128\n%w = atomicrmw add ptr %p, i128 1 seq_cst\nret i32 %0", "an atomic operation that wide"),
    (behind("@g = weak global i32 1\n@a = weak alias i32, ptr @g"), "an alias"),
    (behind("@i = ifunc i32 (i32), ptr @f\ndefine ptr @f() {\nret ptr null\n}"), "an ifunc"),
    ("%r = load i32, ptr @g\nret i32 %r\n---\n@g = thread_local global i32 1", "a thread_local global"),
    ("%r = load i32, ptr @g\nret i32 %r\n---\n@g = external global i32", "a global without a value"),
    (behind('@g = global i32 1, section "mine"'), "a section"),
    (behind("@llvm.used = appending global [1 x ptr] [ptr @g]\n@g = global i32 1"), "a global that LLVM itself reads"),
    (behind('define void @f() gc "mine" {\nret void\n}'), "a garbage collector"),
    (behind("define cc 77 void @f() {\nret void\n}"), "that calling convention"),
    ("%r = musttail call i32 @f(i32 %0)\nret i32 %r\n---\ndefine i32 @f(i32 %a) {\nret i32 %a\n}", "musttail"),
    ("indirectbr ptr null, [label %x]\nx:\nret i32 %0", "a branch to an address"),
])
def test_llvm_ir_that_would_end_the_process(text, part):
    def kernel(x):
        x[0] = inline_llvm(text, np.int32, x[0])

    message = f"(?s)the LLVM IR has {part}, which Krait does not take.*x\\[0\\] = inline_llvm.*hint: (give|write) "
    with pytest.raises(errors.TypingError, match=message):
        njit(kernel)(np.zeros(1, np.int32))
    with pytest.raises(errors.TypingError, match=message):
        cuda.compile_ptx(kernel, "void(int32[::1])", cc=(8, 0))


@pytest.mark.parametrize("text, message", [
    ("br label %a\na:\n%p = phi i32 [0, %b]\nret i32 %p\nb:\nbr label %b", "is not valid: PHI node entries"),
    ("%q = add i32 %r, 1\n%r = add i32 %0, 1\nret i32 %q", "is not valid: Instruction does not dominate"),
    ("%r = call i32 @nothing(i32 %0)\nret i32 %r\n---\ndeclare i32 @nothing(i32)", "calls nothing, which "),
])
def test_mistakes_in_llvm_ir_are_told_at_the_call(text, message):
    def kernel(x):
        x[0] = inline_llvm(text, np.int32, x[0])

    message = rf"(?s)the LLVM IR {message}.*x\[0\] = inline_llvm.*hint: (the text is|define it)"
    with pytest.raises(errors.TypingError, match=message):
        njit(kernel)(np.zeros(1, np.int32))
    with pytest.raises(errors.TypingError, match=message):
        cuda.compile_ptx(kernel, "void(int32[::1])", cc=(8, 0))


def test_an_intrinsic_of_the_other_target_is_told_at_the_call():
    text = "%r = call double @llvm.nvvm.sqrt.rn.d(double %0)\nret double %r\n---\n" \
           "declare double @llvm.nvvm.sqrt.rn.d(double)"

    def root(x):
        return inline_llvm(text, np.float64, x)

    with pytest.raises(errors.TypingError, match="LLVM IR calls llvm.nvvm.sqrt.rn.d, which the host does not have"):
        njit(root)(4.0)


def test_texts_do_not_see_what_others_define():
    first = "%r = call i32 @same(i32 %0)\nret i32 %r\n---\ndefine i32 @same(i32 %a) {\nret i32 %a\n}"
    second = first.replace("ret i32 %a", "ret i32 70")
    own = "%r = load i32, ptr @malloc\nret i32 %r\n---\n@malloc = global i32 500"

    def kernel(x):
        x[0] = inline_llvm(first, np.int32, x[0]) + inline_llvm(second, np.int32, x[0]) + len([1.0] * x[0])
        x[0] += inline_llvm(own, np.int32, x[0])

    x = np.array([3], np.int32)
    njit(kernel)(x)
    assert x[0] == 3 + 70 + 3 + 500


def test_ptx_is_refused_on_the_host_with_what_to_do():
    def kernel(x):
        x[0] = cuda.inline_ptx("mov.u32 $0, %clock;", np.int32)

    with pytest.raises(errors.UnsupportedError, match=r"(?s)PTX text runs on a GPU, .*hint: take krait\.extending"):
        njit(kernel)(np.zeros(1, np.int32))


def test_on_gpu_is_known_when_the_code_is_compiled():
    def kernel(x):
        x[0] = 1 if cuda.on_gpu() else 2

    assert "2;" not in cuda.compile_ptx(kernel, "void(int32[::1])", cc=(9, 0))[0].split("{", 1)[1]
    assert njit(lambda: cuda.on_gpu())() is False


def test_clocks_and_places():
    def kernel(out):
        i = cuda.grid(1)
        before = cuda.clock64()
        out[i, 0] = cuda.clock() >= 0
        out[i, 1] = cuda.globaltimer() > 0
        out[i, 2] = cuda.smid() < 1024
        out[i, 3] = cuda.clock64() >= before

    def stops():
        cuda.breakpoint()

    ptx = assembled(kernel, "void(int32[:, ::1])")
    assert all(word in ptx for word in ("clock64", "globaltimer", "smid"))
    assert "brkpt;" in assembled(stops, "void()")
    out = np.zeros((4, 4), np.int32)
    cuda.jit(kernel)[1, 4](out)
    assert out.all()


def test_intrinsic_says_what_it_takes():
    with pytest.raises(TypeError, match="intrinsic cannot call <lambda> to build LLVM IR: give the text"):
        intrinsic(lambda a: a)
    with pytest.raises(TypeError, match="f has 1 parameters, its signature 2"):
        @intrinsic("int32(int32, int32)", ptx="")
        def f(a):
            return a
