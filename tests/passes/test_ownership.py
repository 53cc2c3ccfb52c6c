"""Where pass ownership places RETAIN and RELEASE: typed IR before and after.

Every expectation was worked out by hand from the rules: an owner is released behind its last use, on the edges along
which it is not used any more, and on the way out of what raises before that."""

import textwrap

import numpy as np
import pytest

from krait import _testing

A = "array(float64, 1, C)"


def run(body, params="n: int, c: bool", result="None"):
    text = f"func f({params}) -> {result} {{\n{textwrap.dedent(body).strip()}\n}}\n"
    after = _testing.run_pass("ownership", text.replace("$A", A))
    return after.split("{\n", 1)[1].rsplit("}", 1)[0].replace(A, "$A")


def expect(body):
    return textwrap.dedent(body).strip() + "\n"


def test_without_objects_nothing_changes():
    body = "b0:\n  %2 = const 1\n  %3: int = floordiv.checked %0, %2\n  return %0\n"
    assert run(body, result="int") == body
    body = "b0:\n  return %2\n"
    assert run(body, f"n: int, c: bool, a: {A}", A) == body


def test_released_behind_the_last_use():
    """Nothing is held where the first may raise; the first is where the second may."""
    assert run("""
        b0:
          %2: $A = new_array[1] %0
          %3: $A = new_array[1] %0
          %4: int = getattr[size] %3
          %5: int = getattr[size] %2
          %6 = const None
          return %6
    """) == expect("""
        b0:
          %2: $A = new_array.owned[1] %0
          jump b1
        b1 unwind b2:
          %3: $A = new_array.owned[1] %0
          %4: int = getattr[size] %3
          release %3
          %5: int = getattr[size] %2
          release %2
          %6 = const None
          return %6
        b2:
          release %2
          resume
    """)


def test_unused_at_once():
    assert run("""
        b0:
          %2: $A = new_array[1] %0
          %3 = const None
          return %3
    """) == expect("""
        b0:
          %2: $A = new_array.owned[1] %0
          release %2
          %3 = const None
          return %3
    """)


def test_a_view_keeps_its_array():
    """The view borrows: the array lives to the last use of the view."""
    assert run("""
        b0:
          %2: $A = new_array[1] %0
          %3: $A = getattr[T] %2
          %4: int = getattr[size] %3
          %5 = const None
          return %5
    """) == expect("""
        b0:
          %2: $A = new_array.owned[1] %0
          %3: $A = getattr[T] %2
          %4: int = getattr[size] %3
          release %2
          %5 = const None
          return %5
    """)


@pytest.mark.parametrize(
    "value, code",
    [
        ("%2", "return.owned %2"),
        ("%3", "retain %3\n  release %2\n  return.owned %3"),
        ("%1", "retain %1\n  return.owned %1"),
    ],
    ids=["an owner", "a view of one", "a parameter"],
)
def test_a_return_takes_a_reference(value, code):
    """An owner's own, else a new one; the array is released at once where it is not returned."""
    before = f"b0:\n  %2: $A = new_array[1] %0\n  return {value}\n"
    if value == "%3":
        before = before.replace("  return", "  %3: $A = getattr[T] %2\n  return")
    after = before.replace("new_array", "new_array.owned").replace(f"return {value}", code)
    if value == "%1":
        after = after.replace("  retain", "  release %2\n  retain")
    assert run(before, f"n: int, a: {A}", A) == after


def test_phis_take_references_over():
    """A parameter is retained for the phi; what the other way does not use dies on it."""
    assert run("""
        b0:
          %3: $A = new_array[1] %0
          branch %1, b1, b2
        b1:
          jump b3
        b2:
          jump b3
        b3:
          %4: $A = phi b1 %3, b2 %2
          %5: int = getattr[size] %4
          %6 = const None
          return %6
    """, f"n: int, c: bool, a: {A}") == expect("""
        b0:
          %3: $A = new_array.owned[1] %0
          branch %1, b1, b2
        b1:
          jump b3
        b2:
          release %3
          retain %2
          jump b3
        b3:
          %4: $A = phi.owned b1 %3, b2 %2
          %5: int = getattr[size] %4
          release %4
          %6 = const None
          return %6
    """)


def test_a_loop_replaces_its_array():
    """x = zeros(n); while c: x = ones-like of x.  The old one dies when the new one is there; raising loses the old."""
    assert run("""
        b0:
          %2: $A = new_array[1] %0
          jump b1
        b1:
          %3: $A = phi b0 %2, b2 %5
          branch %1, b2, b3
        b2:
          %4: int = getattr[size] %3
          %5: $A = new_array[1] %4
          jump b1
        b3:
          return %3
    """, result=A) == expect("""
        b0:
          %2: $A = new_array.owned[1] %0
          jump b1
        b1:
          %3: $A = phi.owned b0 %2, b2 %5
          branch %1, b2, b3
        b2:
          %4: int = getattr[size] %3
          release %3
          %5: $A = new_array.owned[1] %4
          jump b1
        b3:
          return.owned %3
    """)


def test_critical_edges_are_split():
    """On the way round the loop the array is used again; on the way out it dies, and so does the other before."""
    assert run("""
        b0:
          %2: $A = new_array[1] %0
          jump b1
        b1:
          %3: int = getattr[size] %2
          branch %1, b1, b2
        b2:
          %4 = const None
          return %4
    """) == expect("""
        b0:
          %2: $A = new_array.owned[1] %0
          jump b1
        b1:
          %3: int = getattr[size] %2
          branch %1, b1, b2
        b2:
          release %2
          %4 = const None
          return %4
    """)
    assert run("""
        b0:
          %2: $A = new_array[1] %0
          branch %1, b1, b2
        b1:
          %3: int = getattr[size] %2
          jump b2
        b2:
          %4 = const None
          return %4
    """) == expect("""
        b0:
          %2: $A = new_array.owned[1] %0
          branch %1, b1, b2
        b1:
          %3: int = getattr[size] %2
          release %2
          jump b3
        b2:
          release %2
          jump b3
        b3:
          %4 = const None
          return %4
    """)


def test_ways_out_share_their_ends():
    """Three arrays, then a division that may raise, then two uses: the younger are released first on the way out."""
    assert run("""
        b0:
          %2: $A = new_array[1] %0
          %3: $A = new_array[1] %0
          %4: int = floordiv.checked %0, %0
          %5: int = getattr[size] %3
          %6: int = floordiv.checked %0, %0
          %7: int = getattr[size] %2
          %8 = const None
          return %8
    """) == expect("""
        b0:
          %2: $A = new_array.owned[1] %0
          jump b1
        b1 unwind b5:
          %3: $A = new_array.owned[1] %0
          jump b2
        b2 unwind b4:
          %4: int = floordiv.checked %0, %0
          %5: int = getattr[size] %3
          release %3
          jump b3
        b3 unwind b5:
          %6: int = floordiv.checked %0, %0
          %7: int = getattr[size] %2
          release %2
          %8 = const None
          return %8
        b4:
          release %3
          jump b5
        b5:
          release %2
          resume
    """)


@pytest.mark.parametrize("use", [
    "%{v}: int = getattr[size] %{k}",
    "%{v}: $A = new_array[1] %0\n%{w}: int = getattr[size] %{k}",  # one more lives at times
])
def test_ways_out_of_many_are_no_square(use):
    """Each of n arrays is released once behind its last use, at most once on the way out while arrays are made, and
    once while they die: what a part loses, and its neighbour does not, is a block, and the rest is the neighbour's."""
    n = 40
    lines = [f"%{k}: $A = new_array[1] %0" for k in range(2, n + 2)]
    for k in range(n):
        v = n + 2 + 3 * k
        lines += [use.format(k=k + 2, v=v, w=v + 1), f"%{v + 2}: int = floordiv.checked %0, %0"]
    body = "\n".join(lines).replace("\n", "\n  ")
    text = run(f"b0:\n  {body}\n  %{4 * n + 2} = const None\n  return %{4 * n + 2}")
    made = text.count("new_array")
    assert made <= text.count("release") <= 4 * made


@pytest.mark.parametrize("phi", [False, True])
def test_ways_into_a_handler_of_many_are_no_square(phi):
    """Arrays that live in a try are released as those that live outside of one: a part of it goes on in the releases of
    its neighbour, also where the handler has a phi, which takes the one array over that lives before."""
    n = 40
    last = 4 * n
    body = "\n  ".join([f"%{k}: $A = new_array[1] %0" for k in range(3, n + 3)] + [
        line for k in range(n)
        for line in (f"%{n + 3 + 2 * k}: int = getattr[size] %{k + 3}",
                     f"%{n + 4 + 2 * k}: int = floordiv.checked %0, %0")])
    caught = f"%{last}: $A = phi b1 %2\n  " if phi else ""
    text = run(f"b0:\n  %2: $A = new_array[1] %0\n  jump b1\n"
               f"b1 unwind b2:\n  {body}\n  jump b3\n"
               f"b2:\n  {caught}%{last + 1}: int = getattr[size] %{last if phi else 2}\n  jump b3\n"
               f"b3:\n  %{last + 2} = const None\n  return %{last + 2}")
    made = text.count("new_array")
    assert made == n + 1
    assert made <= text.count("release") <= 4 * made


def test_ways_into_a_handler_that_reads_what_the_try_changes_are_no_square():
    """Each way brings another value to the phi of the handler, an array among them: a phi of the blocks that release
    takes it along."""

    def ways(n):
        made = "".join(f"        v{k} = np.zeros(m)\n" for k in range(n))
        used = "".join(f"        s += v{k}[1]\n        last = np.full(m, s)\n" for k in range(n))
        source = f"def f(m):\n    s = 0.0\n    last = np.ones(m)\n    try:\n{made}{used}"
        names = {"np": np}
        exec(source + "    except IndexError:\n        return s - last[0]\n    return s\n", names)
        text = _testing.stage(names["f"], ("int",), "ownership")
        return text.count("release") + text.count("jump")

    n = 10
    assert ways(4 * n) < 5 * ways(n)


def test_a_handler_keeps_what_it_uses():
    """%2 is used in the handler, %3 is not: it is released on the way there."""
    assert run("""
        b0:
          %2: $A = new_array[1] %0
          %3: $A = new_array[1] %0
          jump b1
        b1 unwind b3:
          %4: int = floordiv.checked %0, %0
          %5: int = getattr[size] %3
          jump b2
        b2:
          %6: int = phi b1 %5, b3 %7
          return %6
        b3:
          %7: int = getattr[size] %2
          jump b2
    """, result="int") == expect("""
        b0:
          %2: $A = new_array.owned[1] %0
          jump b1
        b1 unwind b6:
          %3: $A = new_array.owned[1] %0
          jump b2
        b2 unwind b3:
          %4: int = floordiv.checked %0, %0
          release %2
          %5: int = getattr[size] %3
          release %3
          jump b5
        b3:
          release %3
          jump b4
        b4:
          %6: int = getattr[size] %2
          release %2
          jump b5
        b5:
          %7: int = phi b2 %5, b4 %6
          return %7
        b6:
          release %2
          resume
    """)


def test_cells_hold_what_they_are_given():
    """The cell takes the array over, gives it up for the next one, and what it holds at its end."""
    cell = f"cell({A})"
    assert run(f"""
        b0:
          %2: $A = new_array[1] %0
          %3: {cell} = cell %2
          %4: $A = new_array[1] %0
          cell_set %3, %4
          %5: $A = cell_get[x] %3
          %6: int = getattr[size] %5
          %7 = const None
          return %7
    """).splitlines() == expect("""
        b0:
          %2: $A = new_array.owned[1] %0
          %3: cell($A) = cell.owned %2
          jump b1
        b1 unwind b2:
          %4: $A = new_array.owned[1] %0
          cell_set.owned %3, %4
          %5: $A = cell_get.owned[x] %3
          release %3
          %6: int = getattr[size] %5
          release %5
          %7 = const None
          return %7
        b2:
          release %3
          resume
    """).splitlines()


def test_an_iterator_that_may_outlive_its_array():
    with pytest.raises(ValueError, match="an iterator over an array that was made here may be in use longer"):
        run(f"""
            b0:
              branch %1, b1, b2
            b1:
              %3: $A = new_array[1] %0
              %4: iter.array($A) = iter %3
              jump b3
            b2:
              %5: iter.array($A) = iter %2
              jump b3
            b3:
              %6: iter.array($A) = phi b1 %4, b2 %5
              %7: bool = iter_more %6
              %8 = const None
              return %8
        """, f"n: int, c: bool, a: {A}")


def test_what_a_generator_does_not_use_is_released_behind_all_its_parameters():
    """Parameters stand first (ir/verify.c)."""

    def numbers(unused, text, n):
        yield n

    def f(n):
        return sum(numbers([n], str(n), n))

    text = _testing.stage(f, ("int",), "ownership")
    body = text[text.index("func numbers") :].split("b0:")[1].splitlines()
    params = [number for number, line in enumerate(body) if " = param" in line]
    releases = [number for number, line in enumerate(body) if "release" in line]
    assert len(params) == 2 and min(releases) > max(params), text
