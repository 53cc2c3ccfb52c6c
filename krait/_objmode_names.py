"""Which variables a block of objmode needs, and which are known around it: a forward walk over a function's statements.

In: a function's definition, or the statements of a block, and what is a block of objmode.  Out: which names may be read
before they are surely set, and for each block what is known of the function's names in front of it.

A state has the names that are surely set, those that may be, and those that are stale: a block has assigned them and
does not declare them, so that compiled code has their old value.  States are joined where ways meet; loops are walked
until nothing changes.  None: nothing comes here.
"""

import ast

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parameters(arguments):
    """The names of a function's parameters."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return {each.arg for each in every if each}


def own_nodes(nodes):
    """The nodes of a scope: what stands in functions and classes inside it is not among them."""
    for node in nodes:
        yield node
        if isinstance(node, (*_SCOPES, ast.ClassDef)):
            yield from own_nodes(getattr(node, "decorator_list", []))
            continue
        yield from own_nodes(ast.iter_child_nodes(node))


def names_bound(nodes, deletes=True):
    """Names that statements bind or delete in their own scope."""
    found, comprehended = set(), set()
    for node in own_nodes(nodes):
        if isinstance(node, _COMPREHENSIONS):
            comprehended |= {id(part) for each in node.generators for part in ast.walk(each.target)}
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in comprehended:
            found |= {node.id} if deletes or not isinstance(node.ctx, ast.Del) else set()
        found |= _bound_by(node)
    return found


def _bound_by(node):
    # What a node binds beside names in their places.
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(each.asname or each.name).partition(".")[0] for each in node.names}
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return {node.name} if node.name else set()
    if isinstance(node, ast.MatchMapping):
        return {node.rest} if node.rest else set()
    return set()


def names_free(node):
    """Names that a function, or a class, inside reads of the scopes around it."""
    if isinstance(node, ast.ClassDef):
        inside, own = node.body, set()
    else:
        inside = node.body if isinstance(node.body, list) else [node.body]
        own = parameters(node.args) | names_bound(inside)
    found = set()
    for each in own_nodes(inside):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, (*_SCOPES, ast.ClassDef)):
            found |= names_free(each)
        elif isinstance(each, (ast.Nonlocal, ast.Global)):
            found |= set(each.names)
    return found - own


def partly_bound(body):
    """Names that a block may have bound when it raises: all but those of an assignment that ends it."""
    last = body[-1]
    targets = last.targets if isinstance(last, ast.Assign) else []
    if targets and all(isinstance(each, ast.Name) for each in targets):
        return names_bound(body[:-1]) | names_bound([last.value])
    return names_bound(body)


class Flow:
    """One walk.  swallow: whether a with statement may end what is raised in it.

    declared(node): names of a block of objmode, None of other statements; before: {block: (sure, maybe, stale)};
    needed: names that may be read before they are surely set; on_stale(node, name): called for a stale name that is
    read."""

    def __init__(self, declared=lambda node: None, on_stale=lambda node, name: None, swallow=False):
        self.declared, self.on_stale, self.swallow = declared, on_stale, swallow
        self.before, self.needed, self.loops = {}, set(), []

    def walk(self, body, sure=()):
        self.state = (frozenset(sure), frozenset(sure), frozenset())
        self.block(body)
        return self.state

    # ---- states ----

    @staticmethod
    def join(*states):
        states = [each for each in states if each is not None]
        if not states:
            return None
        sure, maybe, stale = zip(*states)
        return frozenset.intersection(*sure), frozenset.union(*maybe), frozenset.union(*stale)

    def read(self, node, name):
        if self.state is None:
            return
        if name not in self.state[0]:
            self.needed.add(name)
        if name in self.state[2]:
            self.on_stale(node, name)

    def bind(self, *names):
        if self.state is not None:
            sure, maybe, stale = self.state
            self.state = sure.union(names), maybe.union(names), stale.difference(names)

    def unbind(self, *names):
        if self.state is not None:
            sure, maybe, stale = self.state
            self.state = sure.difference(names), maybe, stale.difference(names)

    def raised_in(self, state, *bodies):
        """What is known when something in the statements has raised: any part of them has been done."""
        if state is None:
            return None
        sure, maybe, stale = state
        for body in bodies:
            deleted = {node.id for node in own_nodes(body) if isinstance(node, ast.Name)
                       and isinstance(node.ctx, ast.Del)}
            deleted |= {node.name for node in own_nodes(body) if isinstance(node, ast.ExceptHandler) and node.name}
            sure, maybe = sure - deleted, maybe | names_bound(body)
            for node in own_nodes(body):
                if isinstance(node, ast.With) and (declared := self.declared(node)) is not None:
                    stale |= partly_bound(node.body) | (names_bound(node.body) - set(declared))
        return sure, maybe, stale

    # ---- expressions ----

    def expression(self, node):
        if node is None:
            return
        if isinstance(node, ast.Name):
            self.name(node)
        elif isinstance(node, ast.NamedExpr):
            self.expression(node.value)
            self.bind(node.target.id)
        elif isinstance(node, ast.BoolOp):
            self.expression(node.values[0])
            self.perhaps(*node.values[1:])
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            self.expression(node.left)
            self.expression(node.comparators[0])
            self.perhaps(*node.comparators[1:])
        elif isinstance(node, ast.IfExp):
            self.expression(node.test)
            before = self.state
            self.expression(node.body)
            done, self.state = self.state, before
            self.expression(node.orelse)
            self.state = self.join(done, self.state)
        elif isinstance(node, _COMPREHENSIONS):
            self.comprehension(node)
        elif isinstance(node, ast.Lambda):
            self.defaults(node.args)
            self.names(node, names_free(node))
        else:
            for child in ast.iter_child_nodes(node):
                self.expression(child)

    def name(self, node):
        if isinstance(node.ctx, ast.Store):
            return self.bind(node.id)
        self.read(node, node.id)
        if isinstance(node.ctx, ast.Del):
            self.unbind(node.id)

    def names(self, node, names):
        for name in sorted(names):
            self.read(node, name)

    def perhaps(self, *nodes):
        before = self.state
        for each in nodes:
            self.expression(each)
        self.state = self.join(before, self.state)

    def comprehension(self, node):
        self.expression(node.generators[0].iter)
        before = self.state
        own = {part.id for each in node.generators for part in ast.walk(each.target) if isinstance(part, ast.Name)}
        self.bind(*own)
        for number, each in enumerate(node.generators):
            if number:
                self.expression(each.iter)
            for condition in each.ifs:
                self.expression(condition)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.expression(part)
        walrus = {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}
        self.state = before and (before[0], before[1] | walrus, before[2])

    def defaults(self, arguments):
        for each in (*arguments.defaults, *arguments.kw_defaults):
            self.expression(each)

    # ---- statements ----

    def block(self, body):
        for statement in body:
            if self.state is None:
                return
            self.statement(statement)

    def statement(self, node):
        method = getattr(self, "on_" + type(node).__name__, None)
        if method:
            return method(node)
        for child in ast.iter_child_nodes(node):
            self.expression(child)

    def on_Assign(self, node):
        self.expression(node.value)
        for each in node.targets:
            self.expression(each)

    def on_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            self.read(node, node.target.id)
        self.expression(node.value)
        self.expression(node.target)

    def on_AnnAssign(self, node):
        self.expression(node.value)
        if node.value or not isinstance(node.target, ast.Name):
            self.expression(node.target)

    def on_Assert(self, node):
        self.expression(node.test)
        self.perhaps(node.msg)

    def on_Raise(self, node):
        self.expression(node.exc)
        self.expression(node.cause)
        self.state = None

    def on_Return(self, node):
        self.expression(node.value)
        self.state = None

    def on_Break(self, node):
        if self.loops:
            self.loops[-1][0].append(self.state)
        self.state = None

    def on_Continue(self, node):
        if self.loops:
            self.loops[-1][1].append(self.state)
        self.state = None

    def on_Import(self, node):
        self.bind(*_bound_by(node))

    on_ImportFrom = on_Import

    def on_FunctionDef(self, node):
        for each in node.decorator_list:
            self.expression(each)
        if not isinstance(node, ast.ClassDef):
            self.defaults(node.args)
        else:
            for each in (*node.bases, *(word.value for word in node.keywords)):
                self.expression(each)
        self.names(node, names_free(node) - {node.name})
        self.bind(node.name)

    on_AsyncFunctionDef = on_ClassDef = on_FunctionDef

    def on_If(self, node):
        self.expression(node.test)
        before = self.state
        self.block(node.body)
        done, self.state = self.state, before
        self.block(node.orelse)
        self.state = self.join(done, self.state)

    def on_For(self, node):
        self.expression(node.iter)
        self.loop(node, lambda: self.expression(node.target), False)

    on_AsyncFor = on_For

    def on_While(self, node):
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.loop(node, None, endless)

    def loop(self, node, start, endless):
        head = self.state
        while True:
            self.loops.append(([], []))
            self.state = head
            if start is None:
                self.expression(node.test)
            done = self.state
            if start is not None:
                start()
            self.block(node.body)
            breaks, continues = self.loops.pop()
            again = self.join(head, self.state, *continues)
            if again == head:
                break
            head = again
        self.state = None if endless else done
        self.block(node.orelse)
        self.state = self.join(self.state, *breaks)

    def on_With(self, node):
        declared = self.declared(node)
        if declared is not None:
            return self.objmode(node, declared)
        for item in node.items:
            self.expression(item.context_expr)
            self.expression(item.optional_vars)
        before = self.state
        self.block(node.body)
        if self.swallow:
            self.state = self.join(self.state, self.raised_in(before, node.body))
        elif self.state is not None and before is not None:
            self.state = self.state[0], self.state[1], self.state[2] | self.raised_in(before, node.body)[2]

    on_AsyncWith = on_With

    def objmode(self, node, declared):
        known = self.before.get(node)
        self.before[node] = self.join(known, self.state)
        inner = Flow(swallow=True)
        inner.walk([*node.body, *(ast.Expr(ast.Name(name, ast.Load())) for name in declared)])
        self.names(node, inner.needed & self.state[2])
        sure, maybe, stale = self.state
        self.state = sure, maybe, stale | names_bound(node.body)
        self.bind(*declared)

    def on_Try(self, node):
        before = self.state
        self.block(node.body)
        broken = self.raised_in(before, node.body)
        self.block(node.orelse)
        done = self.state
        for handler in node.handlers:
            self.state = broken
            self.expression(handler.type)
            if handler.name:
                self.bind(handler.name)
            self.block(handler.body)
            if handler.name:
                self.unbind(handler.name)
            done = self.join(done, self.state)
        if node.finalbody:
            handlers = [handler.body for handler in node.handlers]
            self.state = self.raised_in(before, node.body, node.orelse, *handlers)
            self.block(node.finalbody)
        self.state = done
        if done is not None:
            self.block(node.finalbody)

    on_TryStar = on_Try

    def on_Match(self, node):
        self.expression(node.subject)
        before, done = self.state, None
        for case in node.cases:
            self.state = before
            self.pattern(case.pattern)
            matched = self.state
            self.expression(case.guard)
            self.block(case.body)
            done = self.join(done, self.state)
            whole = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
            before = None if whole else self.join(before, matched)
        self.state = self.join(done, before)

    def pattern(self, pattern):
        for node in ast.walk(pattern):
            if isinstance(node, ast.Name):
                self.read(node, node.id)
        self.bind(*{name for node in ast.walk(pattern) for name in _bound_by(node)})
