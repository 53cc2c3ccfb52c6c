"""With statements over context managers that are classes of the program, against the interpreter."""

import contextlib

import pytest
from oracle import agree

from krait import errors, njit


class Noted:
    """Notes what happens to it; takes what its `takes` says."""

    def __init__(self, log, name="a", takes=False):
        self.log = log
        self.name = name
        self.takes = takes

    def __enter__(self):
        self.log.append(self.name + " in")
        return self

    def __exit__(self, kind, error, trace):
        if error is None:
            self.log.append(self.name + " out" + ("" if kind is None and trace is None else "?"))
        else:
            self.log.append(f"{self.name} {kind.__name__} {error!r} {trace is not None}")
        return self.takes


class Only:
    """Takes one class of exceptions."""

    def __init__(self):
        self.count = 0

    def __enter__(self):
        return 5

    def __exit__(self, kind, error, trace):
        if kind is not None and issubclass(kind, LookupError):
            self.count += 1
            return True
        return False


class Lock:
    def __init__(self):
        self.held = False

    def __enter__(self):
        if self.held:
            raise RuntimeError("held twice")
        self.held = True

    def __exit__(self, *what):
        self.held = False


class Bad:
    def __init__(self, enters):
        self.enters = enters

    def __enter__(self):
        if self.enters:
            raise KeyError("enter")
        return self

    def __exit__(self, kind, error, trace):
        raise ValueError("exit")


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.before = balance

    def __enter__(self):
        self.before = self.balance
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.balance = self.before
        return isinstance(error, ValueError)

    def pay(self, amount):
        self.balance -= amount
        if self.balance < 0:
            raise ValueError(f"{-self.balance} short")


def case_plain():
    log = []
    with Noted(log) as x:
        log.append(x.name)
    return log


def case_raises():
    log = []
    try:
        with Noted(log, "b"):
            raise KeyError("k")
    except KeyError as e:
        log.append(str(e))
    return log


def case_raises_through():
    with Only():
        raise ValueError("not taken")


def case_taken():
    log = []
    with Noted(log, takes=True):
        log.append(str([1][len(log)]))
    log.append("on")
    return log


def case_taken_by_class():
    only = Only()
    total = 0
    for i in range(5):
        with only as five:
            total += [five, 7, 9][i]
    return only.count, total


def case_two():
    log = []
    with Noted(log, "a") as a, Noted(log, "b") as b:
        log.append(a.name + b.name)
    return log


def case_inner_takes():
    log = []
    with Noted(log, "a"):
        with Noted(log, "b", True):
            raise ValueError(len(log))
        log.append("between")
    return log


def case_outer_takes():
    log = []
    with Noted(log, "a", True), Noted(log, "b"):
        raise ValueError(len(log))
    return log


def case_returns():
    log = []

    def f(n):
        for i in range(n):
            with Noted(log, str(i)):
                if i == 1:
                    continue
                if i == 3:
                    return i * 2
        return -1

    return f(2), f(5), log


def case_breaks():
    log = []
    while True:
        with Noted(log):
            break
    return log


def case_enter_raises():
    try:
        with Bad(True):
            return "inside"
    except KeyError as e:
        return repr(e)


def case_exit_raises():
    try:
        with Bad(False):
            return "inside"
    except ValueError as e:
        return repr(e)


def case_exit_raises_on_an_exception():
    with Bad(False):
        raise IndexError("first")


def case_variadic_exit():
    lock = Lock()
    with lock:
        inside = lock.held
    try:
        with lock:
            with lock:
                pass
    except RuntimeError as e:
        return inside, lock.held, str(e)


def case_rolls_back():
    account = Account(100)
    for amount in (30, 200, 50, 40):
        with account as a:
            a.pay(amount)
    return account.balance


def case_within_try_finally():
    log = []
    try:
        try:
            with Noted(log):
                return log
        finally:
            log.append("finally")
    except ValueError:
        log.append("never")
    return log


def case_in_a_generator():
    log = []

    def g():
        with Noted(log):
            yield 1
            yield 2

    return list(g()), log


def case_in_a_comprehension():
    def f(i):
        with Only() as five:
            return five + [1, 2][i]
        return 0

    return [f(i) for i in range(4)]


def case_nullcontext():
    with contextlib.nullcontext(3) as x:
        return x


@pytest.mark.parametrize("name", [name for name in list(globals()) if name.startswith("case_")])
def test_with(name):
    agree(globals()[name])


def test_what_is_no_context_manager():
    def number(x):
        with x:
            return 1

    def file():
        with open("/dev/null") as f:
            return f

    with pytest.raises(errors.KraitError, match="context manager"):
        njit(number)(1)
    with pytest.raises(errors.KraitError, match="open"):
        njit(file)()
