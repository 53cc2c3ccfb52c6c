"""with objmode(y="float64"): statements that the interpreter runs in the middle of a compiled function.

rewritten(function) gives a function of the same names and lines in which each such statement is a call,
`y = interpreted(body, types, x)`: body is a Python function of what the statements read of the function's variables,
and returns what they leave in those that objmode declares.  It is made of the function's source, which has to be what
the function was compiled from.  Which variables go in, and what has to be declared, says _objmode_names.py.

What block and function would see in different ways is refused (Refused): the function's line, a text, a hint.
"""

import __future__
import ast
import collections
import functools
import inspect
import linecache
import operator
import types as python_types
import warnings
from weakref import WeakKeyDictionary

import numpy as np

from ._objmode_names import Flow, names_bound, names_free, own_nodes, parameters, partly_bound

_made = WeakKeyDictionary()
_FUTURE = functools.reduce(int.__or__, (getattr(__future__, name).compiler_flag
                                        for name in __future__.all_feature_names))
_MADE, _AROUND = "objmode of it", "around it"  # names that no program has
_OWN_SCOPE = {"locals": 0, "vars": 0, "dir": 0, "super": 0, "eval": 1, "exec": 1}  # with at most so many arguments


class Refused(ValueError):
    """A block that cannot be taken out: the text, and the node of the function's source, or None."""

    def __init__(self, text, node=None):
        super().__init__(text)
        line = node.lineno if node is not None else 0
        one = node is not None and line == node.end_lineno
        self.place = (line, node.col_offset, node.end_col_offset) if one else (line, 0, 0)


def rewritten(function):
    """The function with calls in place of its blocks of objmode; itself, if it has none.  Refused: a block cannot be
    taken out."""
    known = _made.get(function)
    if known is None or known[0] is not function.__code__:
        known = _made[function] = (function.__code__, _rewritten(function))
    return known[1] or function


def _rewritten(function):
    code = function.__code__
    if not any(_value(function, name) is _objmode() or name == "objmode" for name in code.co_names + code.co_freevars):
        return None
    definition = _definition(function)
    if not any(_types(function, node) is not None for node in own_nodes(definition.body)):
        return None
    if len(function.__closure__ or ()) != len(code.co_freevars):
        raise Refused("blocks of objmode do not stand in a function that is defined in a compiled one and takes "
                      "variables of it\npass them as arguments to a function of the module", definition)
    taker = _Taker(function, definition)
    definition.body = [taker.visit(statement) for statement in definition.body]
    made = _function(function, _compiled(function, definition, taker.konsts))
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made


# ---- what the function's names mean ----------------------------------------------------------------------------------


def _objmode():
    from . import objmode

    return objmode


def _value(function, name):
    # What a name is that is no variable of the function; None: nothing.
    code = function.__code__
    if name in code.co_freevars and function.__closure__:
        try:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        except (ValueError, IndexError):
            return None
    return None if name in code.co_varnames + code.co_cellvars else function.__globals__.get(name)


def _is_objmode(function, node):
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr == "objmode":
        module = _value(function, node.value.id)
        return isinstance(module, python_types.ModuleType) and getattr(module, node.attr, None) is _objmode()
    return isinstance(node, ast.Name) and _value(function, node.id) is _objmode()


def _types(function, node):
    """Name -> expression of its type; None: it is no block of objmode."""
    if not isinstance(node, ast.With):
        return None
    found = [item for item in node.items
             if _is_objmode(function, getattr(item.context_expr, "func", item.context_expr))]
    if not found:
        return None
    call = found[0].context_expr
    if len(node.items) != 1 or found[0].optional_vars:
        raise Refused("objmode stands in a with statement of its own, without `as`\nwith objmode(y='float64'):",
                      call)
    if not isinstance(call, ast.Call):
        return {}
    if call.args or any(word.arg is None for word in call.keywords):
        raise Refused("objmode takes types of variables by name\nobjmode(y='float64')", call)
    return {word.arg: word.value for word in call.keywords}


# ---- the source ------------------------------------------------------------------------------------------------------


def _definition(function):
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise Refused(f"the source of {function.__name__}, which objmode is taken out of, is not known\n"
                      "write it in a file, or end the compiled function there") from error
    indented = lines[0][:1].isspace()
    try:
        tree = ast.parse("if 1:\n" * indented + "".join(lines))
    except SyntaxError as error:
        raise _changed(function) from error
    ast.increment_lineno(tree, first - 1 - indented)
    if not any(_facts(code) == _facts(function.__code__) for code in _codes_now(function)):
        raise _changed(function)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__code__.co_name:
            return node
    raise Refused("blocks of objmode stand in functions that are made by def")


def _codes_now(function):
    # The codes that stand in the whole text, of which a part would be compiled in another way (names of modules), under
    # the function's name and line.
    was, found = function.__code__, []
    text = "".join(linecache.getlines(inspect.getsourcefile(function), function.__globals__))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            rest = [compile(text, was.co_filename, "exec", was.co_flags & _FUTURE, dont_inherit=True)]
        except SyntaxError as error:
            raise _changed(function) from error
    while rest:
        code = rest.pop()
        if (code.co_qualname, code.co_firstlineno) == (was.co_qualname, was.co_firstlineno):
            found.append(code)
        rest += [each for each in code.co_consts if isinstance(each, python_types.CodeType)]
    return found


def _changed(function):
    return Refused(f"the source of {function.__name__}, which objmode is taken out of, is not what the function was "
                   "compiled from\nimport the file again after a change; what rewrites functions, as pytest "
                   "does with `assert`, goes behind the block")


def _facts(code):
    # What tells two codes apart, but for their lines; 1, 1.0 and True are equal, their texts are not.
    def fact(value):
        if isinstance(value, python_types.CodeType):
            return value.co_name, _facts(value)
        if isinstance(value, (tuple, frozenset)):
            return type(value), type(value)(fact(each) for each in value)
        return type(value), repr(value)

    return (code.co_code, code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars, code.co_argcount,
            code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags, code.co_exceptiontable,
            [fact(value) for value in code.co_consts])


def _compiled(function, definition, konsts):
    # The code of the definition, in which what the function takes from around it is free.  It stands in a class if the
    # function does, whose name is a part of private names, and has itself a name that nobody reads.
    was = function.__code__
    own = ast.FunctionDef(_MADE, definition.args, definition.body, [])
    own.args = ast.arguments(**{**{name: getattr(definition.args, name) for name in definition.args._fields},
                                "defaults": _no_values(definition.args.defaults),
                                "kw_defaults": _no_values(definition.args.kw_defaults)})
    own.type_params = []
    ast.copy_location(own, definition)
    inside, owner = own, _class_of(function)
    if owner:
        inside = ast.ClassDef(owner, [], [], [own], [])
        inside.type_params = []
    free = [ast.arg(name) for name in was.co_freevars if not (owner and name == "__class__")]
    around = ast.FunctionDef(_AROUND, ast.arguments([], free, None, [], [], None, []), [inside], [])
    around.type_params = []
    module = ast.fix_missing_locations(ast.Module([around], []))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # what is called is still the name of a constant
        code = compile(module, was.co_filename, "exec", was.co_flags & _FUTURE, dont_inherit=True)
    for name in (_AROUND, *[owner] * bool(owner), _MADE):
        code = next(each for each in code.co_consts
                    if isinstance(each, python_types.CodeType) and each.co_name == name)
    code = _renamed(code, code.co_qualname, was.co_qualname)
    return code.replace(co_consts=tuple(konsts.get(each, each) if isinstance(each, str) else each
                                        for each in code.co_consts), co_name=was.co_name)


def _renamed(code, made, name):
    # Functions inside have qualified names as well, which messages show.  The first line stays that of `def`: the
    # lines of instructions count from it.
    inner = tuple(_renamed(each, made, name) if isinstance(each, python_types.CodeType) else each
                  for each in code.co_consts)
    return code.replace(co_consts=inner, co_qualname=name + code.co_qualname.removeprefix(made))


def _no_values(defaults):
    return [each and ast.copy_location(ast.Constant(None), each) for each in defaults]


def _class_of(function):
    parts = function.__code__.co_qualname.split(".")
    return parts[-2] if len(parts) > 1 and parts[-2].isidentifier() else None


def _function(function, code):
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    made = python_types.FunctionType(code, function.__globals__, function.__name__, None,
                                     tuple(cells[name] for name in code.co_freevars))
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


# ---- blocks ----------------------------------------------------------------------------------------------------------


class _Taker(ast.NodeTransformer):
    """Puts calls in place of blocks."""

    def __init__(self, function, definition):
        self.function, self.konsts, self.blocks = function, {}, 0
        code = function.__code__
        private = f"_{(_class_of(function) or '').lstrip('_')}__"
        self.variables = {name.removeprefix(private[:-2]) if name.startswith(private) else name
                          for name in code.co_varnames + code.co_cellvars}
        self.mark = "objmode"
        while any(isinstance(each, str) and each.startswith(self.mark) for each in code.co_consts):
            self.mark += "'"
        self.flow = Flow(lambda node: _types(function, node), self._refuse_stale)
        self.blocks_of = [node for node in own_nodes(definition.body) if _types(function, node) is not None]
        self.captured = set()
        self._note_captured(definition.body)
        self.flow.walk(definition.body, parameters(definition.args))

    def _note_captured(self, body):
        # Names that functions outside of blocks read, whenever they are called.
        for node in self._outside(body):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                self.captured |= names_free(node)

    def _outside(self, nodes):
        for node in nodes:
            if _types(self.function, node) is None:
                yield node
                yield from self._outside(ast.iter_child_nodes(node))

    def _refuse_stale(self, node, name):
        if name not in self.variables:
            return
        block = next(each for each in self.blocks_of if name in names_bound(each.body))
        declared = name in _types(self.function, block)
        if declared:
            raise Refused(f"`{name}` is read after the block of objmode in line {block.lineno}, which may have set it "
                          "before it raised\nlet the block compute in variables of its own, and end with "
                          f"`{name} = ...`, or set `{name}` in the handler", node)
        raise Refused(f"`{name}` is assigned in the block of objmode in line {block.lineno}, which does not declare "
                      f"it\nwith objmode({name}='int64'), with its type", node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = lambda self, node: node

    def visit_With(self, node):
        declared = _types(self.function, node)
        if declared is None:
            return self.generic_visit(node)
        self._check_statements(node)
        self._check_names(node, declared)
        read = self._inputs(node, declared)
        number, self.blocks = self.blocks, self.blocks + 1
        self._add(number, "body", self._body(node, read, list(declared)))
        self._add(number, "types", tuple(self._type(value) for value in declared.values()))
        self._add(number, "call", _intrinsic())
        return ast.fix_missing_locations(ast.copy_location(self._call(number, read, list(declared)), node))

    def _check_statements(self, block):
        for node in ast.walk(ast.Module(block.body, [])):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                raise Refused("global and nonlocal do not stand in a block of objmode\nlet it assign a variable "
                              "that it declares", node)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OWN_SCOPE \
                    and len(node.args) <= _OWN_SCOPE[node.func.id] and not node.keywords:
                raise Refused(f"{node.func.id}() in a block of objmode would see the variables of the block\n"
                              f"call it in a function of the module, and that in the block", node)
        for node in own_nodes(block.body):
            if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)):
                raise Refused("return and yield do not stand in a block of objmode\nlet it assign a variable "
                              "that it declares", node)
        for node in _leaving(block.body):
            raise Refused("break and continue of a loop outside do not stand in a block of objmode\nlet it "
                          "assign a variable that it declares, and look at that behind it", node)

    def _check_names(self, block, declared):
        bound = names_bound(block.body)
        for name in sorted((bound | set(declared)) - self.variables):
            raise Refused(f"`{name}`, which the block of objmode assigns, is no variable of {self.function.__name__} "
                          f"alone\nassign a variable, and `{name}` behind the block", block.items[0].context_expr)
        for name in sorted((bound - set(declared)) & self.captured):
            raise Refused(f"`{name}` is assigned in a block of objmode, which does not declare it, and read by a "
                          f"function inside\nwith objmode({name}='int64'), with its type",
                          block.items[0].context_expr)

    def _inputs(self, block, declared):
        # Names that the block takes: those that it may read before it has set them, if they are set in front of it.
        read = [ast.Expr(ast.Name(name, ast.Load())) for name in declared]
        surely, perhaps = Flow(), Flow(swallow=True)
        for flow in (surely, perhaps):
            flow.walk([*block.body, *read])
        known = self.flow.before.get(block)
        if known is None:  # nothing comes here
            known = (frozenset(), frozenset(), frozenset())
        for name in sorted(surely.needed & self.variables & known[1] - known[0]):
            raise Refused(f"`{name}` may have no value in front of the block of objmode, which may read it\n"
                          f"give it one before", block.items[0].context_expr)
        return sorted(perhaps.needed & self.variables & known[0])

    def _add(self, number, what, value):
        self.konsts[self._name(number, what)] = value

    def _name(self, number, what):
        return f"{self.mark} {number} {what}"

    def _type(self, expression):
        scope = {"__builtins__": __builtins__, **self.function.__globals__}
        scope.update(inspect.getclosurevars(self.function).nonlocals)
        try:
            value = eval(compile(ast.Expression(expression), self.function.__code__.co_filename, "eval"), scope)
            return _type_of(value)
        except Exception as error:
            raise Refused(f"`{ast.unparse(expression)}` is no type: {error}\nwrite it as in a signature: "
                          "objmode(y='float64[:]', n=types.int64)", expression) from error

    def _body(self, node, read, declared):
        arguments = ast.arguments([], [ast.arg(name) for name in read], None, [], [], None, [])
        result = ast.Return(ast.Tuple([ast.Name(name, ast.Load()) for name in declared], ast.Load()))
        if len(declared) == 1:
            result = ast.Return(ast.Name(declared[0], ast.Load()))
        body = ast.FunctionDef(_MADE, arguments, [*node.body, *[result] * bool(declared)], [])
        ast.copy_location(body, node)
        return _function(self.function, _compiled(self.function, ast.fix_missing_locations(body), {}))

    def _call(self, number, read, declared):
        call = ast.Call(ast.Constant(self._name(number, "call")),
                        [ast.Constant(self._name(number, "body")), ast.Constant(self._name(number, "types")),
                         *[ast.Name(name, ast.Load()) for name in read]], [])
        if not declared:
            return ast.Expr(call)
        names = [ast.Name(name, ast.Store()) for name in declared]
        return ast.Assign([names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())], call)


def _leaving(nodes):
    # break and continue that leave the statements.
    for node in nodes:
        if isinstance(node, (ast.Break, ast.Continue)):
            yield node
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            yield from _leaving(node.orelse)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            yield from _leaving(ast.iter_child_nodes(node))


# ---- values ----------------------------------------------------------------------------------------------------------

_KINDS = ((bool, np.bool_), (int, np.integer), (float, np.floating), (complex, np.complexfloating))


def equals(given, taken):
    """Whether a value that a block gives is what compiled code has made of it: the same, but for the width of numbers
    and the layout of arrays that is not told."""
    return _same(given, taken, lambda a, b: type(a) is type(b) or _kind(a) == _kind(b) >= 0)


def _kind(value):
    return next((number for number, kinds in enumerate(_KINDS) if isinstance(value, kinds)), -1)


def unchanged(given, now):
    """Whether a value that a block has got is what compiled code still has."""
    return _same(given, now, lambda a, b: type(a) is type(b))


def contents(objects):
    """What containers and instances hold now, one beside the other."""
    return [(one, _content(one)) for one in objects]


def left_alone(contents, _):
    """Whether they still hold the very objects; an attribute that is new is none of compiled code's."""
    return all(map(_holds, contents))


def _holds(one_and_content):
    one, content = one_and_content
    now = _content(one)
    if isinstance(content, set):
        return now == content
    if isinstance(content, dict):
        return all(name in now and now[name] is value for name, value in content.items())
    return len(now) == len(content) and all(map(operator.is_, now, content))


def _content(one):
    """Copied: a set, a list of the items, keys before values, or a dict of the attributes."""
    if isinstance(one, (set, frozenset)):
        return set(one)
    if isinstance(one, dict):
        return [*one.keys(), *one.values()]
    if isinstance(one, (list, tuple, collections.deque)):
        return list(one)
    members = python_types.MemberDescriptorType
    slots = {name for each in type(one).__mro__ for name, value in vars(each).items() if isinstance(value, members)}
    return {name: getattr(one, name) for name in slots if hasattr(one, name)} | getattr(one, "__dict__", {})


def _same(a, b, alike, met=()):
    if a is b or (id(a), id(b)) in met:
        return True
    if not alike(a, b):
        return False
    met = (*met, (id(a), id(b)))
    if isinstance(a, np.ndarray):
        return a.__array_interface__ == b.__array_interface__
    if isinstance(a, collections.deque):
        return a.maxlen == b.maxlen and _same(list(a), list(b), alike, met)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_same(x, y, alike, met) for x, y in zip(a, b))
    if isinstance(a, dict):
        return _same(list(a.items()), list(b.items()), alike, met)
    if isinstance(a, (set, frozenset)):
        return a == b or sorted(map(repr, a)) == sorted(map(repr, b))
    if isinstance(a, (float, complex)) and type(a) is type(b):
        return repr(a) == repr(b)  # -0.0, nan
    if isinstance(a, (bool, int, float, complex, str, bytes, np.generic)):
        return bool(a == b) or (a != a and b != b)
    fields = [name for each in type(a).__mro__ for name in getattr(each, "__slots__", ())]
    if hasattr(a, "__dict__") or fields:
        missing = object()
        return all(_same(getattr(a, name, missing), getattr(b, name, missing), alike, met)
                   for name in {*fields, *getattr(a, "__dict__", ()), *getattr(b, "__dict__", ())})
    return type(a) is type(b)


def _intrinsic():
    from .prelude.intrinsics import interpreted

    return interpreted


def _type_of(value):
    from . import types

    if isinstance(value, str):
        value = eval(value, {"__builtins__": {}}, vars(types))
    return value
