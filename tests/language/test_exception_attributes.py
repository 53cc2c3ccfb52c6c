"""Attributes of exceptions: where the class annotates them, compiled code reads them."""

import pytest
from oracle import agree, make

from krait import errors, njit, vectorize

HEAD = '''\
class Failed(Exception):
    code: int
    why: str

    def __init__(self, code, why):
        super().__init__(code, why)
        self.code = code
        self.why = why

class Worse(Failed):
    pass

class At(ValueError):
    def __init__(self, place: int, share: "float", path: tuple[int, int], ready: bool = True):
        self.place, self.share, self.path, self.ready = place, share, path, ready

class Pair(LookupError):
    args: tuple[int, str]

class Named(Exception):
    code: str

    def __init__(self, code):
        self.code = code

class Twice(Exception):
    twice: int

    def __init__(self, n):
        self.n = n

    @property
    def twice(self):
        return self.n * 2

class Empty(Exception):
    code: int

class Changing(Exception):
    path: list[int]

class Halves(Exception):
    code: float

    def __init__(self, code):
        self.code = code

def helper(n):
    raise Worse(n, f"helped {n}")

'''

BODIES = {
    "raised here": """
    try:
        raise Failed(n, 'why')
    except Failed as e:
        return e.code + 1, e.why + '!'
""",
    "raised in a called function, of a class below": """
    try:
        helper(n)
    except Failed as e:
        return e.code + 1, e.why
""",
    "annotated as a parameter of __init__": """
    try:
        raise At(n, 2.5, (n, 7))
    except At as e:
        return e.place, e.share, e.path[1], e.ready
""",
    "asked for by isinstance": """
    try:
        helper(n)
    except Exception as e:
        if isinstance(e, Named) or not isinstance(e, Failed):
            return 'none'
        return e.why
""",
    "of two handlers, of types of their own": """
    text = ''
    for i in range(n):
        try:
            if i % 2:
                raise Failed(i, 'm')
            raise Named('o')
        except Failed as e:
            text += str(e.code + 1)
        except Named as e:
            text += e.code
    return text
""",
    "of either class": """
    try:
        helper(n)
    except (Failed, Worse) as e:
        return e.code
""",
    "in a loop of the handler": """
    total = 0
    for i in range(n):
        try:
            helper(i)
        except Failed as e:
            for k in range(2):
                total += e.code + k
            if total > 100:
                break
    return total
""",
    "of one that is made": """
    e = Failed(n, 'made')
    return e.code, e.why
""",
    "args": """
    try:
        raise Pair(n, 'x')
    except Pair as e:
        number, text = e.args
        return e.args, e.args[0] + 1, len(e.args), number, text
""",
    "a property": """
    try:
        raise Twice(n)
    except Twice as e:
        return e.twice
""",
    "told to another": """
    try:
        helper(n)
    except Failed as e:
        if e.code > 2:
            raise ValueError(e.why, e.code) from e
        raise
""",
}


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("n", [1, 5])
def test_as_the_interpreter(what, n):
    f = make(f"{HEAD}def f(n):{BODIES[what]}", "f")
    answers = []
    for function in (f, njit(f)):
        try:
            answers.append((function(n), None))
        except Exception as e:
            answers.append((type(e), e.args, e.__cause__))
    assert str(answers[0]) == str(answers[1])


def reading(raised, handler, asked):
    return f"{HEAD}def f(n):\n    try:\n        raise {raised}\n    except {handler} as e:\n        return e.{asked}\n"


@pytest.mark.parametrize("raised, asked", [("Halves(n)", "code"), ("Failed(n, 'x')", "code"),
                                           ("At(n, n, (n, n))", "path"), ("At(n, n, (n, n))", "share")])  # fmt: skip
@pytest.mark.parametrize("n", [2, True])
def test_numbers_that_are_taken_as_annotated(raised, asked, n):
    f = make(reading(raised, raised.split("(")[0], asked), "f")
    assert njit(f)(n) == f(n)


@pytest.mark.parametrize("body", [
    "e = ValueError('x', n)\nreturn e.args, e.args[1] + 1, len(e.args)",
    "e = KeyError(n)\nreturn e.args[0]",
    "e = OSError(n, 'no')\nreturn e.args, e.errno, e.strerror, e.filename",
    "try:\n    raise OSError(n, 'no')\nexcept OSError as e:\n    return e.errno == 5, e.strerror, e.filename is None",
    "try:\n    raise FileNotFoundError('gone')\nexcept OSError as e:\n    return e.errno is None, e.errno",
    "try:\n    raise ValueError(n)\nexcept ValueError as e:\n    return e is e, e == e, e != e, e is not e",
])  # fmt: skip
def test_what_classes_of_pythons_own_have(body):
    agree(make("def f(n):\n" + "".join(f"    {line}\n" for line in body.split("\n")), "f"), 5)


def test_whether_two_exceptions_are_one():
    text = (
        "def f(n):\n    try:\n        helper(n)\n    except Failed as a:\n        try:\n            helper(n)\n"
        "        except Failed as b:\n            return a is b\n"
    )
    with pytest.raises(errors.UnsupportedError, match="whether two exceptions are the same one is not known"):
        njit(make(HEAD + text, "f"))(1)


def test_another_type_than_the_class_annotates():
    f = njit(make(reading("Halves(str(n))", "Halves", "code"), "f"))
    with pytest.raises(TypeError, match="attribute 'code' of Halves is of type str, and not what the class annotates"):
        f(2)


def test_an_attribute_that_is_not_there():
    f = njit(make(reading("Empty(n)", "Empty", "code"), "f"))
    with pytest.raises(AttributeError, match="'Empty' object has no attribute 'code'"):
        f(1)


@pytest.mark.parametrize("handler, asked", [("Exception", "code"), ("(Failed, Named)", "code"), ("Twice", "n"),
                                            ("Changing", "path")])
def test_a_type_that_is_not_known(handler, asked):
    f = make(reading("Worse(n, 'x')", handler, asked), "f")
    with pytest.raises(errors.UnsupportedError, match=f"`{asked}: int`"):
        njit(f)(1)


def test_methods_are_for_python():
    f = make("def f(n):\n    e = ValueError(n)\n    e.add_note('x')\n    raise e\n", "f")
    with pytest.raises(errors.UnsupportedError, match="call it where Python catches the exception"):
        njit(f)(1)


def test_not_in_ufuncs():
    f = make(reading("Failed(n, 'x')", "Failed", "code"), "f")
    with pytest.raises(errors.UnsupportedError, match="texts and attributes of exceptions are not there in ufuncs"):
        vectorize(["int64(int64)"])(f)


class Annotating:
    """A descriptor whose code runs when a class is asked for its __init__."""

    def __get__(self, instance, owner=None):
        def init(code: int):
            instance.code = code

        return init


class Described(Exception):
    __init__ = Annotating()


class Listed(Described):
    code: "list[int]"  # nothing that compiled code reads

    def __init__(self, code):
        self.code = code


def test_what_an_annotation_lacks_is_forgotten_where_code_of_a_class_runs():
    def f(n):
        try:
            raise Listed(n)
        except Listed as e:
            return e.code

    agree(f, 7)
