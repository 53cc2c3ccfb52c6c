"""Texts of the intermediate representation that several test files read: as printed, and with faults."""

from krait import _testing


def run(trial, text, **options):
    return _testing.run(trial, text, **options)


# Written as the printer writes: what comes back must be the same.
CANONICAL = {
    "empty": """\
func nothing() {
}
""",
    "untyped": """\
func add(x, y) {
b0:
  %2 = add %0, %1
  return %2
}
""",
    "typed": """\
func add(x: int, y: float32) -> float32 {
b0:
  %2: float32 = cast %0
  %3 total: float32 = add %2, %1
  return %3
}
""",
    "contents": """\
func value(x: int?, y: int?) -> int {
b0:
  %2: int = cast.unchecked %0
  %3: int = cast["TypeError: no value"] %1
  %4: int = add %2, %3
  return %4
}
""",
    "parameters": """\
func f(posonly a, b = 1, *rest, kwonly c: int is 3 = None, kwonly d = ..., cell e, cell, kwonly) {
b0:
  %8 = const None
  return %8
}
""",
    "names": """\
func outer.<locals>.<lambda>(.0, größe) {
b0:
  %2 = cell_get[.0] %0
  %3 = getattr[größe] %2
  %4 = getattr["odd name"] %3
  check_bound["a]b"] %4
  setattr[x] %4, %3
  return %4
}
""",
    "loop": """\
func count(n) {
b0:
  %1 = const 0
  %2 = iter %0
  jump b1
b1:
  %3 total = phi b0 %1, b2 %6
  %4 = iter_more %2
  branch %4, b2, b3
b2:
  %5 i = iter_take %2
  %6 total = add.inplace %3, %5
  jump b1
b3:
  return %3
}
""",
    "calls": """\
func f(g, a: float) {
b0:
  %2 = call %0
  %3 = call %0, %1, %2, key=%1, other=%2
  %4 = tuple %1, %2
  %5 = call_ex %0, %4, key=%1
  %6: float = call_func[math.sin] %1
  %7: float = call_func.checked[math.sin] %1
  %8: int = call_inst[fib#12] %2
  %9: int = call_inst[#0]
  %10 = function[object#5] %4, %4, %2
  raise %10
}
""",
    "items": """\
func f(a, i) {
b0:
  %2 = getitem %0, %1
  %3: int8 = getitem.unchecked.forward %0, %1 in -3..
  %12: int = add.nowrap %3, %3 in ..99
  %13: uint8 = add %3, %3 in ..0
  setitem %0, %1, %2
  delitem %0, %1
  %4 = unpack[2] %2
  %5 = extract[0] %4
  %6 = unpack_ex[1, 2] %2
  %7 = extract[300] %6
  %8 = cell
  %9 = cell %7
  cell_set %8, %7
  %10: int = undef
  %11: bool = lt %5, %7 is True
  unreachable
}
""",
    "constants": """\
func f() {
b0:
  %0 = const 1
  %1 = const -9223372036854775808
  %2 = const 2.5
  %3 = const 1e+300
  %4 = const -inf
  %5 = const nan
  %6 = const True
  %7 = const complex(1.0, -0.0)
  %8 = const int8(-3)
  %9 = const uint64(18446744073709551615)
  %10 = const float32(0.5)
  %11 = const bool_(False)
  %12 = const complex64(0.0, 1.5)
  %13 = const None
  %14 = const "say \\"hi\\"\\n\\x01 größe"
  %15 = const ()
  %16 = const (1,)
  %17 = const (1, (2.0, None))
  %18 = const slice(None, 3, None)
  %19 = const range(0, 10, 2)
  %20 = const int(too_big)
  %21 = const array(float32, 2, C)[3, 4; 16, 4]@7
  %22 = const dtype(float32)
  %23 = const class#9(float)
  %24 = const func(math.sin)
  %25 = const pyfunc#3
  %26 = const exc_class#4
  %27 = const object#5
  %28 = const Ellipsis
  return %0
}
""",
    "both ways to one block": """\
func f(c) {
b0:
  branch %0, b1, b1
b1:
  %1 = phi b0 %0, b0 %0
  return %1
}
""",
    "gaps in numbers": """\
func f(c) {
b4:
  %7 = not %0
  jump b2
b2:
  return %7
}
""",
}


# The comments are what the verifier has to say; they are no part of its input.
FAULTY_FORM = {
    "no entry": """\
func f() {
  ; fault: there is no entry block
}
""",
    "operand counts": """\
func f(a) {
b0:
  %1 = add %0
  ; fault: add takes 2 operands, not 1
  %2 = neg %0, %0
  ; fault: neg takes 1 operands, not 2
  %3 = cell %0, %0
  ; fault: cell takes 0 to 1 operands, not 2
  %4 = call
  ; fault: call takes at least 1 operands, not 0
  %5 = call_func[math.sin] %0, %0
  ; fault: call_func takes 1 operands, not 2
  %6 = call_ex %0, %0, %0
  ; fault: call_ex takes 2 operands, not 3
  return
  ; fault: return takes 1 operands, not 0
}
""",
    "ends of blocks": """\
func f(a) {
b0:
  return %0
  ; fault: return stands before the end of the block
  %1 = not %0
  jump b1
b1:
  ; fault: the block does not end in jump, branch, return, raise, resume or unreachable
  %2 = not %1
b2:
  ; fault: the block does not end in jump, branch, return, raise, resume or unreachable
}
""",
    "successors": """\
func f(a) {
b0:
  jump b1, b2
  ; fault: jump goes to 1 blocks, not 2
b1:
  branch %0, b2
  ; fault: branch goes to 2 blocks, not 1
b2:
  jump
  ; fault: jump goes to 1 blocks, not 0
}
""",
    "phis": """\
func f(a) {
b0:
  branch %0, b1, b2
b1:
  jump b2
b2:
  %1 = phi b0 %0
  ; fault: phi has 1 operands for 2 predecessors
  %2 = not %0
  %3 = phi b0 %0, b1 %0
  ; fault: a phi stands behind other values
  return %3
}
""",
    "entry with predecessors": """\
func f(a) {
b0:
  ; fault: the entry block has predecessors
  jump b0
}
""",
    "dominance": """\
func f(a) {
b0:
  %1 = not %2
  ; fault: operand 0 (%2) is not defined on every way here
  %2 = not %0
  branch %0, b1, b2
b1:
  %3 = not %0
  jump b3
b2:
  %4 = phi b0 %3
  ; fault: operand 0 (%3) is not defined on every way here
  jump b3
b3:
  %5 = phi b1 %3, b2 %3
  ; fault: operand 1 (%3) is not defined on every way here
  %6 = not %3
  ; fault: operand 0 (%3) is not defined on every way here
  %7 = not %7
  ; fault: operand 0 (%7) is not defined on every way here
  return %5
}
""",
    "params": """\
func f(a) {
b0:
  %1 = param[0]
  ; fault: a param stands behind the parameters
  jump b1
b1:
  %2 = param[0]
  ; fault: a param stands outside the entry block
  return %2
}
""",
}
