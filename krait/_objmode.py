"""with objmode(y="float64"): statements that the interpreter runs in the middle of a compiled function.

rewritten(function) gives a function of the same names and lines in which each such statement is a call,
`y = interpreted(body, types, x)`: body is a Python function of what the statements read of the function's variables,
and returns what they leave in those that objmode declares.  It is made of the function's source.
"""

import ast
import inspect
import types as python_types
import warnings
from weakref import WeakKeyDictionary

_made = WeakKeyDictionary()
_CALL, _NAME = "krait objmode %d %s", "objmode"


def rewritten(function):
    """The function with calls in place of its blocks of objmode; itself, if it has none.  ValueError: a block cannot be
    taken out."""
    known = _made.get(function)
    if known is None or known[0] is not function.__code__:
        known = _made[function] = (function.__code__, _rewritten(function))
    return known[1] or function


def _rewritten(function):
    if not any(_is_name(function, name) for name in function.__code__.co_names + function.__code__.co_freevars):
        return None
    taker = _Taker(function, _definition(function))
    body = taker.visit(taker.definition)
    if not taker.blocks:
        return None
    code = _compiled(function, body, taker.konsts)
    made = _function(function, code)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made


def _is_name(function, name):
    from . import objmode

    value = function.__globals__.get(name)
    return name == _NAME or value is objmode


def _definition(function):
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise ValueError(f"the source of {function.__name__}, which objmode is taken out of, is not known\n  hint: "
                         "write it in a file, or end the compiled function there") from error
    indented = lines[0][:1].isspace()
    tree = ast.parse("if 1:\n" * indented + "".join(lines))
    ast.increment_lineno(tree, first - 1 - indented)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            return node
    raise ValueError("blocks of objmode stand in functions that are made by def")


def _names(nodes, kind):
    return {node.id for root in nodes for node in ast.walk(root)
            if isinstance(node, ast.Name) and isinstance(node.ctx, kind)}


class _Taker(ast.NodeTransformer):
    def __init__(self, function, definition):
        self.function, self.definition, self.konsts, self.blocks = function, definition, {}, 0
        code = function.__code__
        self.variables = set(code.co_varnames + code.co_cellvars)

    def visit_FunctionDef(self, node):
        if node is self.definition:
            self.outside = self._stored_outside(node)
            node.body = [self.visit(statement) for statement in node.body]
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = lambda self, node: node

    def _stored_outside(self, definition):
        arguments = definition.args
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names = {each.arg for each in given if each}

        def walk(node):
            if isinstance(node, ast.With) and self._types(node) is not None:
                names.update(self._types(node))
                return
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            for child in ast.iter_child_nodes(node):
                walk(child)

        for statement in definition.body:
            walk(statement)
        return names

    def _types(self, node):
        # Name -> expression of its type; None: it is no block of objmode.
        call = node.items[0].context_expr
        if len(node.items) != 1 or not isinstance(call, ast.Call):
            return None
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if not _is_name(self.function, name):
            return None
        if call.args or any(word.arg is None for word in call.keywords):
            raise ValueError(f"{self._place(node)}: objmode takes types of variables by name\n"
                             "  hint: objmode(y='float64')")
        return {word.arg: word.value for word in call.keywords}

    def visit_With(self, node):
        declared = self._types(node)
        if declared is None:
            return self.generic_visit(node)
        for each in ast.walk(ast.Module(node.body, [])):
            if isinstance(each, (ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)):
                raise ValueError(f"{self._place(each)}: return, yield, global and nonlocal do not stand in a block of "
                                 "objmode\n  hint: let it assign a variable that it declares")
        number, self.blocks = self.blocks, self.blocks + 1
        read = sorted(_names(node.body, ast.Load) & self.variables & self.outside - _only_set_first(node.body))
        self._add(number, "body", self._body(node, read, list(declared)))
        self._add(number, "types", tuple(self._type(value) for value in declared.values()))
        self._add(number, "call", _intrinsic())
        return ast.fix_missing_locations(ast.copy_location(self._call(number, read, list(declared)), node))

    def _add(self, number, what, value):
        self.konsts[_CALL % (number, what)] = value

    def _type(self, expression):
        scope = {"__builtins__": __builtins__, **self.function.__globals__}
        scope.update(inspect.getclosurevars(self.function).nonlocals)
        value = eval(compile(ast.Expression(expression), self.function.__code__.co_filename, "eval"), scope)
        return _type_of(value)

    def _place(self, node):
        return f"{self.function.__code__.co_filename}, line {node.lineno}"

    def _body(self, node, read, declared):
        arguments = ast.arguments([], [ast.arg(name) for name in read], None, [], [], None, [])
        result = ast.Return(ast.Tuple([ast.Name(name, ast.Load()) for name in declared], ast.Load()))
        if len(declared) == 1:
            result = ast.Return(ast.Name(declared[0], ast.Load()))
        body = ast.FunctionDef(self.function.__name__, arguments, [*node.body, *[result] * bool(declared)], [])
        body.type_params = []
        ast.copy_location(body, node)
        return _function(self.function, _compiled(self.function, ast.fix_missing_locations(body), {}))

    def _call(self, number, read, declared):
        call = ast.Call(ast.Constant(_CALL % (number, "call")),
                        [ast.Constant(_CALL % (number, "body")), ast.Constant(_CALL % (number, "types")),
                         *[ast.Name(name, ast.Load()) for name in read]], [])
        if not declared:
            return ast.Expr(call)
        names = [ast.Name(name, ast.Store()) for name in declared]
        return ast.Assign([names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())], call)


def _only_set_first(body):
    # Names that a plain assignment of the block sets before anything of it reads them.
    found, read = set(), set()
    for statement in body:
        read |= _names([statement.value if isinstance(statement, ast.Assign) else statement], ast.Load)
        if not isinstance(statement, ast.Assign):
            read |= _names([statement], ast.Store)
            continue
        found |= {target.id for target in statement.targets if isinstance(target, ast.Name)} - read
    return found


def _intrinsic():
    from .prelude.intrinsics import interpreted

    return interpreted


def _type_of(value):
    from . import types

    if isinstance(value, str):
        value = eval(value, {"__builtins__": {}}, vars(types))
    return value


def _compiled(function, definition, konsts):
    # The code of the definition, in which what the function takes from around it is free.
    definition.decorator_list = []
    for defaults in (definition.args.defaults, definition.args.kw_defaults):
        defaults[:] = [each and ast.copy_location(ast.Constant(None), each) for each in defaults]
    free = [ast.arg(name) for name in function.__code__.co_freevars]
    around = ast.FunctionDef("around", ast.arguments([], free, None, [], [], None, []), [definition], [])
    around.type_params = []
    module = ast.fix_missing_locations(ast.Module([around], []))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # what is called is still the name of a constant
        code = compile(module, function.__code__.co_filename, "exec", dont_inherit=True)
    inner = _nested(_nested(code, "around"), definition.name)
    return inner.replace(co_consts=tuple(konsts.get(each, each) if isinstance(each, str) else each
                                         for each in inner.co_consts),
                         co_qualname=function.__code__.co_qualname, co_firstlineno=function.__code__.co_firstlineno)


def _nested(code, name):
    return next(each for each in code.co_consts if isinstance(each, python_types.CodeType) and each.co_name == name)


def _function(function, code):
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    made = python_types.FunctionType(code, function.__globals__, function.__name__, None,
                                     tuple(cells[name] for name in code.co_freevars))
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made
