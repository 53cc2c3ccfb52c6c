"""declare_device: functions that other PTX defines, with Python in their place on the host device."""

import gc
import math
import pickle
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from assembler import PTXAS, assemble, known_architectures
from conftest import ON_HOST, host_device

from krait import cuda, errors, types

C_TEXT = """
.version 7.8
.target sm_80
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 value) {
    .reg .f32 %f<3>;
    ld.param.f32 %f1, [value];
    add.f32 %f2, %f1, %f1;
    st.param.f32 [result], %f2;
    ret;
}
"""
NUMBA_TEXT = """
.version 7.8
.target sm_80
.address_size 64
.visible .func (.param .b32 status) first_plus(.param .b64 where, .param .b64 x, .param .b32 value) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [where];
    ld.param.u64 %rd2, [x];
    ld.param.u32 %r1, [value];
    ld.u32 %r2, [%rd2];
    add.s32 %r3, %r1, %r2;
    st.u32 [%rd1], %r3;
    mov.u32 %r1, 0;
    st.param.b32 [status], %r1;
    ret;
}
"""

twice = cuda.declare_device("twice", "float32(float32)", link=C_TEXT, abi="c", fallback=lambda x: x + x)
first_plus = cuda.declare_device("first_plus", "int32(int32[::1], int32)", link=[cuda.PTXSource(NUMBA_TEXT)],
                                 fallback=lambda x, value: x[0] + value)


def kernel(out, numbers, x):
    i = cuda.grid(1)
    out[i] = twice(x[i]) + first_plus(numbers, i)


def test_a_kernel_calls_them():
    out, numbers, x = np.zeros(32, np.float32), np.array([100], np.int32), np.arange(32, dtype=np.float32)
    cuda.jit(kernel)[1, 32](out, numbers, x)
    np.testing.assert_array_equal(out, 3 * x + 100)


def test_the_texts_are_in_the_ptx_once():
    ptx, _ = cuda.compile_ptx(kernel, "void(float32[::1], int32[::1], float32[::1])", cc=(9, 0))
    assert ptx.count(".version") == ptx.count(".target") == 1 and ".extern" not in ptx.replace("// .extern", "")
    assert ptx.count("add.f32 %f2, %f1, %f1;") == 1 and ptx.count("first_plus(.param .b64 where") == 1
    assemble(ptx)


def test_what_was_compiled_before_does_not_matter():
    text = f"""
from krait import cuda
from krait.extending import intrinsic
@intrinsic("int32(int32)", ptx="mov.u32 $0, $1;")
def same(a): return a
twice = cuda.declare_device("twice", "float32(float32)", link={C_TEXT!r}, abi="c")
def calls(x): x[0] = twice(x[0])
print(cuda.compile_ptx(calls, "void(float32[::1])", cc=(8, 0))[0])
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "add.f32 %f2, %f1, %f1;" in done.stdout and "krait_declared" not in done.stdout


def test_a_file(tmp_path):
    (tmp_path / "twice.ptx").write_text(C_TEXT)
    declared = cuda.declare_device("twice", "float32(float32)", tmp_path / "twice.ptx", abi="c", fallback=abs)

    def from_file(x):
        x[0] = declared(x[0])

    assert "add.f32 %f2, %f1, %f1;" in cuda.compile_ptx(from_file, "void(float32[::1])", cc=(8, 0))[0]


@host_device
def test_without_a_fallback_the_host_device_refuses():
    declared = cuda.declare_device("twice", "float32(float32)", link=C_TEXT, abi="c")

    @cuda.jit
    def calls(x):
        x[0] = declared(x[0])

    with pytest.raises(errors.KraitError, match=r"(?s)`twice` is defined in PTX, which the host device .*fallback="):
        calls[1, 1](np.ones(1, np.float32))


@pytest.mark.parametrize("arguments, options, error, message", [
    (("f", "int32(int32)", "file.txt"), {}, errors.UnsupportedError, "'file.txt' cannot be linked: link takes PTX"),
    (("f", "int32(int32)", C_TEXT), {"abi": "pascal"}, ValueError, "abi is 'c' or 'numba', not 'pascal'"),
    (("f g", "int32(int32)", C_TEXT), {}, ValueError, "is not the name of a function"),
    (("f", "int32(int32)", C_TEXT), {"fallback": lambda: 0}, TypeError, "takes other arguments"),
])
def test_what_is_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        cuda.declare_device(*arguments, **options)


@pytest.mark.parametrize("signature, abi", [
    ("int32(float16)", "numba"), ("float16(int32)", "c"), ("complex64(int32)", "c"), ("int32(complex128)", "c"),
])
def test_types_that_compilers_pass_differently_are_refused(signature, abi):
    declared = cuda.declare_device("narrow", signature, link=C_TEXT, abi=abi)

    def calls(x):
        declared(x[0])

    with pytest.raises(errors.TypingError, match="take and give bools, integers, floats of 32 and 64 bits"):
        cuda.compile_ptx(calls, "void(int8[::1])", cc=(9, 0))


def identity(bits):
    """PTX of a function of one integer that gives it, C's way and Numba's."""
    head = ".version 7.8\n.target sm_80\n.address_size 64\n"
    body = ".reg .b32 %r<2>; .reg .b64 %rd<2>; ld.param.b32 %r1, [value];"
    return {
        "c": f"{head}.visible .func (.param .b32 result) same(.param .b32 value) {{ {body} "
             "st.param.b32 [result], %r1; ret; }\n",
        "numba": f"{head}.visible .func (.param .b32 status) same(.param .b64 where, .param .b32 value) {{ {body} "
                 f"ld.param.b64 %rd1, [where]; st.b{bits} [%rd1], %r1; st.param.b32 [status], 0; ret; }}\n",
    }


@pytest.mark.parametrize("abi", ["c", "numba"])
@pytest.mark.parametrize("type_", ["int8", "uint8", "int16", "uint16", "boolean"])
def test_narrow_integers_are_passed_as_c_passes_them(type_, abi):
    kind = getattr(types, type_)
    text = identity(16 if "16" in type_ else 8)[abi]
    same = cuda.declare_device("same", f"{type_}({type_})", link=text, abi=abi, fallback=lambda x: x)

    def calls(x, out):
        out[cuda.grid(1)] = same(x[cuda.grid(1)])

    given = np.array([0, 1, 2, 100, 255, 128]).astype(kind.dtype if hasattr(kind, "dtype") else type_)
    out = np.zeros_like(given)
    cuda.jit(calls)[1, 6](given, out)
    assert out.tolist() == given.tolist()
    ptx, _ = cuda.compile_ptx(calls, types.void(kind[::1], kind[::1]), cc=(9, 0))
    assemble(ptx, 90)


def test_complex_numbers_are_passed_as_numba_passes_them():
    text = """.version 7.8
.target sm_80
.address_size 64
.visible .func (.param .b32 status) conjugate(.param .b64 where, .param .b32 real, .param .b32 imag) {
    .reg .f32 %f<4>; .reg .b64 %rd<2>;
    ld.param.b64 %rd1, [where]; ld.param.f32 %f1, [real]; ld.param.f32 %f2, [imag]; neg.f32 %f3, %f2;
    st.f32 [%rd1], %f1; st.f32 [%rd1+4], %f3; st.param.b32 [status], 0; ret;
}
"""
    conjugate = cuda.declare_device("conjugate", "complex64(complex64)", link=text, fallback=lambda z: z.conjugate())

    def calls(z):
        z[cuda.grid(1)] = conjugate(z[cuda.grid(1)])

    z = np.array([1 + 2j, -3.5j, 4], np.complex64)
    expected = z.conjugate()
    cuda.jit(calls)[1, 3](z)
    assert z.tolist() == expected.tolist()
    ptx, _ = cuda.compile_ptx(calls, types.void(types.complex64[::1]), cc=(9, 0))
    assemble(ptx, 90)


@pytest.mark.parametrize("abi", ["c", "numba"])
def test_one_that_waits_for_the_grid(abi):
    waits = {flag: cuda.declare_device("same", "int32(int32)", use_cooperative=flag, link=identity(32)[abi],
                                       abi=abi, fallback=lambda x: x) for flag in (False, True)}
    for flag, declared in waits.items():

        def calls(x):
            x[cuda.grid(1)] = declared(x[cuda.grid(1)])

        kernel = cuda.jit(calls)
        kernel.compile("void(int32[::1])")
        assert not ON_HOST or not next(iter(kernel.overloads.values())).cooperative
        if not ON_HOST:
            assert next(iter(kernel.overloads.values())).cooperative == flag


@pytest.mark.parametrize("name, message", [
    ("twice", "`twice` is declared with two signatures in one kernel"),
    ("calls", "the declared function `calls` has a name that the kernel's own code has"),
    ("__nv_sin", "the declared function `__nv_sin` has a name that the kernel's own code has"),
])
def test_names_that_clash(name, message):
    other = cuda.declare_device(name, "float32(float32, float32)", link=C_TEXT, abi="c")

    def calls(x):
        x[0] = twice(x[0]) + other(x[0], x[0]) + math.sin(x[0])

    with pytest.raises(errors.TypingError, match=f"(?s){message}.*hint: give one of them another name"):
        cuda.compile_ptx(calls, "void(float32[::1])", cc=(8, 0))


# ---- what link may be ----

bare = cuda.declare_device("twice", "float32(float32)", abi="c", fallback=lambda x: x + x)
CUDA_C = 'extern "C" __device__ float twice(float x) { return x + x; }'
SIGNATURE = "void(float32[::1])"


def doubled(x):
    i = cuda.grid(1)
    x[i] = bare(x[i])


def text_by_nvrtc():
    from krait.cuda import _toolkit

    try:
        return _toolkit.ptx_of_c(CUDA_C)
    except errors.UnsupportedError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("link", [C_TEXT, [C_TEXT], (cuda.PTXSource(C_TEXT.encode()),)])
def test_a_kernel_brings_what_it_declares(link):
    x = np.arange(32, dtype=np.float32)
    linked = cuda.jit(link=link)(doubled)
    linked[1, 32](x)
    assert (x == 2 * np.arange(32)).all()
    ptx = linked.inspect_ptx(types.void(types.float32[::1]), (9, 0))
    assert "add.f32 %f2, %f1, %f1;" in ptx
    assemble(ptx)


def test_a_file_of_ptx(tmp_path):
    path = tmp_path / "twice.ptx"
    path.write_text(C_TEXT)
    for link in (path, str(path), [path]):
        assert "add.f32 %f2" in cuda.jit(link=link)(doubled).inspect_ptx(types.void(types.float32[::1]), (9, 0))


def test_what_nobody_defines():
    with pytest.raises(errors.KraitError, match="no code is linked that defines the declared function `twice`"):
        cuda.jit(doubled).inspect_ptx(SIGNATURE, (9, 0))
    ptx, _ = cuda.compile_ptx(doubled, SIGNATURE, cc=(9, 0))  # another program has it
    assert re.search(r"\.extern \.func +\(\.param \.b\d+ func_retval0\) twice", ptx) and ".visible .func" not in ptx
    assemble(ptx, 90, "-c")


def test_cuda_c(tmp_path):
    assert ".func" in text_by_nvrtc()
    (tmp_path / "twice.cu").write_text(CUDA_C)
    for link in (cuda.CUSource(CUDA_C), tmp_path / "twice.cu"):
        linked, x = cuda.jit(link=link)(doubled), np.arange(32, dtype=np.float32)
        linked[1, 32](x)
        assert (x == 2 * np.arange(32)).all()
        assemble(linked.inspect_ptx(types.void(types.float32[::1]), (9, 0)))
    with pytest.raises(ValueError, match="NVRTC: .*error"):
        cuda.jit(link=cuda.CUSource("extern __device__ float f( {"))


@pytest.mark.parametrize("kind", ["Cubin", "Fatbin", "Archive", "Object"])
def test_machine_code_that_is_none_is_refused(kind):
    make = getattr(cuda, kind)
    with pytest.raises(ValueError, match="code: there is no code in it, it is empty"):
        cuda.jit(link=make(b"", "code"))
    with pytest.raises(TypeError, match=f"{kind} takes the bytes of machine code, not str"):
        cuda.declare_device("twice", "float32(float32)", link=make("text"))


MACHINE_CODE = {"cubin": ["-rdc=true", "-cubin"], "fatbin": ["-rdc=true", "-fatbin"], "o": ["-dc"],
                "a": ["-rdc=true", "-lib"]}


@pytest.mark.parametrize("ending", MACHINE_CODE)
def test_machine_code_is_linked_as_it_is(ending, tmp_path):
    """The kernel leaves the function to the linker: NVIDIA's takes both."""
    if not shutil.which("nvcc") or not shutil.which("nvlink") or not PTXAS or 90 not in known_architectures():
        pytest.skip("no CUDA toolkit here")
    source, code = tmp_path / "twice.cu", tmp_path / f"twice.{ending}"
    source.write_text(CUDA_C)
    subprocess.run(["nvcc", "-arch=sm_90", *MACHINE_CODE[ending], "-o", code, source], check=True)
    linked, x = cuda.jit(link=code)(doubled), np.arange(32, dtype=np.float32)
    if ON_HOST:  # its fallback
        linked[1, 32](x)
        assert (x == 2 * np.arange(32)).all()
    ptx, machine = tmp_path / "kernel.ptx", tmp_path / "kernel.o"
    ptx.write_text(linked.inspect_ptx(types.void(types.float32[::1]), (9, 0)))
    assert ".extern .func" in ptx.read_text()
    subprocess.run([PTXAS, "-c", "-arch=sm_90", ptx, "-o", machine], check=True)
    subprocess.run(["nvlink", "-arch=sm_90", machine, code, "-o", tmp_path / "all.cubin"], check=True)
    with code.open("rb") as file:  # a file that is open, and the bytes
        kinds = {"cubin": cuda.Cubin, "fatbin": cuda.Fatbin, "o": cuda.Object, "a": cuda.Archive}
        again = cuda.jit(link=[kinds[ending](file)])(doubled)
    assert again.targetoptions["link"] == linked.targetoptions["link"]


def test_lto_ir_is_linked_with_the_ptx_of_a_kernel(tmp_path):
    """nvJitLink takes both; on the host device there is the fallback."""
    from krait.cuda import _toolkit

    try:
        _toolkit.find_linker()
    except errors.UnsupportedError:
        pytest.skip("no nvJitLink here")
    if not shutil.which("nvcc") or 90 not in known_architectures():
        pytest.skip("no CUDA toolkit here")
    source, code = tmp_path / "twice.cu", tmp_path / "twice.ltoir"
    source.write_text(CUDA_C)
    subprocess.run(["nvcc", "-arch=sm_90", "-dlto", "-dc", "-ltoir", "-o", code, source], check=True)
    linked, x = cuda.jit(link=code, lto=True)(doubled), np.arange(32, dtype=np.float32)
    if ON_HOST:
        linked[1, 32](x)
        assert (x == 2 * np.arange(32)).all()
    ptx = linked.inspect_ptx(types.void(types.float32[::1]), (9, 0))
    image = _toolkit.link_with_lto(ptx, 90, 32)
    assert image.startswith(b"\x7fELF") and b"doubled" in image
    with pytest.raises(errors.CudaError, match="nvJitLink"):
        _toolkit.link_with_lto(ptx.replace("//krait.link 5 ", "//krait.link 5 AAAA"), 90, 0)


def test_what_the_driver_cannot_link_is_refused():
    with pytest.raises(ValueError, match="no code in it"):
        cuda.jit(link=cuda.LTOIR(b""))
    with pytest.raises(errors.UnsupportedError, match="5 cannot be linked: link takes PTX as text"):
        cuda.jit(link=[5])


def empty_text(name, version="7.0"):
    return (f".version {version}\n.target sm_50\n.address_size 64\n"
            f".visible .func (.param .b32 r) {name}(.param .b64 p, .param .b64 x) {{ ret; }}\n")


ff, gg = (cuda.declare_device(name, "float64(float64)") for name in ("ff", "gg"))


def both(x):
    x[0] = ff(1.0) + gg(1.0)


def test_the_text_outlives_the_options():
    linked = cuda.jit(link=["".join((empty_text("ff"), "// ", "a" * 4000, "\n", empty_text("gg")))])(both)
    linked.targetoptions.clear()
    gc.collect()
    others = ["".join((empty_text("ff"), "// ", "Z" * 4000, "\n", empty_text("gg"))) for _ in range(60)]
    ptx = linked.inspect_ptx(types.void(types.float64[::1]), (9, 0))
    assert others and "a" * 4000 in ptx and "ZZZ" not in ptx


@pytest.mark.parametrize("link", [(), [], None, (empty_text("ff"), empty_text("gg")), [empty_text("ff")]])
def test_every_list_of_items_is_a_link(link):
    again = pickle.loads(pickle.dumps(cuda.jit(link=link)(both)))
    assert again.targetoptions["link"] == (("\n".join(link),) if link else ())


@pytest.mark.parametrize("versions", [("6.0", "8.6"), ("8.6", "6.0")])
def test_the_greatest_version_counts(versions):
    texts = [empty_text(name, version) for name, version in zip(("ff", "gg"), versions)]
    for link in (texts, "".join(texts)):
        ptx = cuda.jit(link=link)(both).inspect_ptx(types.void(types.float64[::1]), (7, 0))
        assert [line for line in ptx.splitlines() if line.startswith(".version")] == [".version 8.6"]


@host_device
def test_cuda_c_on_the_host_device_needs_no_toolkit(monkeypatch):
    from krait.cuda import _toolkit

    def missing(*names):
        raise errors.UnsupportedError("it is not found")

    monkeypatch.setattr(_toolkit, "_load", missing)
    x = np.arange(32, dtype=np.float32)
    cuda.jit(link=cuda.CUSource(CUDA_C))(doubled)[1, 32](x)
    assert (x == 2 * np.arange(32)).all()
