"""Loops that never run, and variables that only they would have bound: random programs against the interpreter.

Inference knows that some of these loops are empty and some branches never taken: a variable may then have no type where
control flow meets, although code that reads it is reached."""

import random

import pytest
from oracle import agree, make

VARIABLES = "abij"


def expression(choose):
    variable, kind = choose.choice(VARIABLES), choose.random()
    if kind < 0.35:
        return variable
    return str(choose.randint(0, 3)) if kind < 0.6 else f"{variable} {choose.choice('+-*')} {choose.randint(1, 3)}"


def body(choose, depth, in_loop):
    """Lines of statements, not yet indented."""
    lines = []

    def nested(head, in_loop):
        lines.extend([head, *("    " + line for line in body(choose, depth + 1, in_loop))])

    for _ in range(choose.randint(1, 3)):
        kind = choose.random()
        if kind < 0.35 or depth >= 3:
            lines.append(f"{choose.choice(VARIABLES)} = {expression(choose)}")
        elif kind < 0.65:
            bounds = choose.choice(["0", "n", "1", "3, 3", "zero", "2"])
            nested(f"for {choose.choice('ij')} in range({bounds}):", True)
            if choose.random() < 0.2:
                nested("else:", in_loop)
        elif kind < 0.85:
            nested(f"if {choose.choice(['n > 1', 'n', 'zero', 'False', 'True', 'a > 1', 'i'])}:", in_loop)
            if choose.random() < 0.5:
                nested("else:", in_loop)
        elif in_loop and kind < 0.93:
            condition = choose.choice(["n > 1", "zero == 0", "a == 2"])
            lines += [f"if {condition}:", "    " + choose.choice(["break", "continue"])]
        else:
            nested(f"while {choose.choice(['False', 'n < 0', 'zero'])}:", True)
            lines.append("    break")
    return lines


def program(seed):
    choose = random.Random(seed)
    first = ["a = 1"] if choose.random() < 0.7 else []
    # what stands behind the return makes all of them variables of the function
    lines = ["zero = 0", *first, *body(choose, 0, False), f"return {expression(choose)}", "a = b = i = j = 0"]
    return "\n".join(["def f(n):", *("    " + line for line in lines)])


@pytest.mark.parametrize("start", range(0, 480, 80))
def test_programs_with_empty_loops(start):
    """About one program in forty joins a variable without a type with an int."""
    for seed in range(start, start + 80):
        function = make(program(seed))
        for n in (0, 1, 4):
            agree(function, n)


def test_a_variable_without_a_type_meets_an_int():
    """What follows `break` is never reached: on that way round the loop i has no type."""

    def f(n):
        for i in range(n):
            if True:
                break
            i = a - 2
            a = i
        return i + 3

    agree(f, 0)
    agree(f, 5)
