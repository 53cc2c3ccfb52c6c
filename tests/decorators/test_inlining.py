"""Options that say which calls become a copy of the callee's body, and line tables: what the machine code of the host
and PTX show of them."""

import re

import numpy as np
import pytest

from krait import cuda, errors, jit
from krait.extending import InlineCall, InlineFunction, overload


def long_body(x, n):
    """More than the optimiser copies to three places."""
    for i in range(n):
        for j in range(i):
            x = x * 0.5 if x < j else x - j
            x = x * 0.25 if x < 3 * j else x - j * i
            x = x + 2.0 if x < 7 * j else x * x - j
        if x > 3:
            x = x * x - 7.0 / x
        else:
            x += 2.0 * x - i * x * x
        for j in range(n):
            x = x * 0.75 if x < 5 * j else x - 2 * j
            x = x * 0.125 if x < 9 * j else x - j * i * i
    return x


def calling(callee):
    def caller(x, n):
        return callee(x, n) + callee(x + 1.0, n) + callee(x + 2.0, n) + callee(x + 3.0, n)

    return caller


def calls_on_host(callee):
    """How many calls of long_body are left in machine code, beside what is computed."""
    caller = jit(calling(callee))
    expected = calling(long_body)(1.5, 4)
    assert caller(1.5, 4) == expected
    (text,) = caller.inspect_asm().values()
    return len(re.findall(r"call\w*\s+\S*long_body", text))


def calls_on_gpu(callee):
    text, _ = cuda.compile_ptx(kernel_of(callee), "(float64[::1], int64)", cc=(9, 0))
    return len(re.findall(r"call[^;]*long_body", text))


def kernel_of(callee):
    def kernel(x, n):
        i = cuda.grid(1)
        x[i] = callee(x[i], n) + callee(x[i] + 1.0, n) + callee(x[i] + 2.0, n) + callee(x[i] + 3.0, n)

    return kernel


@pytest.mark.parametrize("options", [{"inline": "always"}, {"inline": True}, {"forceinline": True}], ids=str)
def test_every_call_becomes_a_copy(options):
    assert calls_on_host(jit(**options)(long_body)) == 0
    assert calls_on_gpu(cuda.jit(device=True, **options)(long_body)) == 0


@pytest.mark.parametrize("options", [{}, {"inline": "never"}, {"inline": False}, {"forceinline": False}], ids=str)
def test_the_optimiser_decides_unless_told(options):
    """It leaves calls of what is long and called from several places."""
    assert calls_on_host(jit(**options)(long_body)) == 4


def test_a_function_is_asked_about_each_call():
    seen = []

    def cost(call, caller, callee):
        seen.append((call, caller, callee))
        return len(seen) % 2 == 0

    assert calls_on_host(jit(inline=cost)(long_body)) == 2
    assert len(seen) == 8  # compiled once to run, and once for its text
    for call, caller, callee in seen:
        line = calling(long_body).__code__.co_firstlineno + 1
        assert isinstance(call, InlineCall) and (call.func, call.line) == ("long_body", line)
        assert [str(type_) for type_ in call.args] == ["float", "int"]
        assert isinstance(caller, InlineFunction) and caller.name == "caller" and caller.filename == __file__
        assert callee.name == "long_body" and callee.line == long_body.__code__.co_firstlineno
        assert len(callee.blocks) > 10 > len(caller.blocks) and callee.args == call.args
        assert sum(name == "call_inst" for block in caller.blocks.values() for name in block) == 4
    assert calls_on_host(jit(inline=lambda *facts: False)(long_body)) == 4
    assert calls_on_host(jit(inline=lambda call, caller, callee: len(callee.blocks) > 3)(long_body)) == 0


def test_kernels_ask_too():
    seen = []
    device = cuda.jit(device=True, inline=lambda call, *functions: seen.append(call.func) or True)(long_body)
    x = np.array([0.5, 1.5])
    expected = [calling(long_body)(value, 4) for value in x]
    cuda.jit(kernel_of(device))[1, 2](x, 4)
    np.testing.assert_allclose(x, expected, rtol=1e-13)
    assert seen == ["long_body"] * 4


def test_what_the_function_raises_is_told():
    with pytest.raises(errors.TypingError, match="option inline of `long_body` names raised ZeroDivisionError"):
        jit(calling(jit(inline=lambda *facts: 1 // 0)(long_body)))(1.5, 4)

    for raised in (KeyboardInterrupt, MemoryError):  # which are nobody's words

        def interrupted(*facts, raised=raised):
            raise raised

        with pytest.raises(raised):
            jit(calling(jit(inline=interrupted)(long_body)))(1.5, 4)
    with pytest.raises(TypeError, match="option inline is 'never', 'always' or a function, not 3"):
        jit(inline=3)


def test_recursion_and_generators_are_called():
    @jit(inline="always")
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    @jit(forceinline=True)
    def squares(n):
        for i in range(n):
            yield i * i

    @jit
    def both(n):
        total = factorial(n)
        for square in squares(n):
            total += square
        return total

    assert both(6) == 720 + 55
    assert factorial(5) == 120


def test_overloads_are_inlined_where_they_say_so():
    def stand_in(x, n):
        raise NotImplementedError

    overload(stand_in, inline="always")(lambda x, n: long_body)
    caller = jit(calling(stand_in))
    assert caller(1.5, 4) == calling(long_body)(1.5, 4)
    (text,) = caller.inspect_asm().values()
    assert not re.findall(r"call\w*\s+\S*long_body", text)


# ---- line tables -----------------------------------------------------------------------------------------------------


def without_places(text):
    """PTX without its places in the source, and the labels that they stand at."""
    place = re.compile(r"\s*(\.loc|\.file|\.section|//|\$L__tmp|\$L__func)")
    return [line for line in text.splitlines() if line.strip() and not place.match(line)]


def test_lineinfo_leaves_the_code_as_it_is():
    device = cuda.jit(device=True)(long_body)
    kernel, signature = kernel_of(device), "(float64[::1], int64)"
    plain, _ = cuda.compile_ptx(kernel, signature, cc=(9, 0))
    told, _ = cuda.compile_ptx(kernel, signature, cc=(9, 0), lineinfo=True)
    assert without_places(told) == without_places(plain) and ".loc" not in plain
    places = {int(line) for line in re.findall(r"\.loc\t1 (\d+)", told)}
    body, store = long_body.__code__.co_firstlineno, kernel.__code__.co_firstlineno + 2
    assert {store, body + 4, body + 8, body + 13} <= places
    assert re.findall(r'\.file\t1 "(.*)"', told) == [__file__]
    assert not re.search(r"\.target.*debug", told) and ".debug_info" not in told  # which drivers do not optimise
    debugged, _ = cuda.compile_ptx(kernel, signature, cc=(9, 0), debug=True)
    assert re.search(r"\.target.*debug", debugged)


def test_kernels_with_lineinfo_run():
    @cuda.jit(lineinfo=True)
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    x = np.arange(5.0)
    double[1, 8](x)
    assert x.tolist() == [0, 2, 4, 6, 8]
