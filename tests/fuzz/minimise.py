"""Makes a failing program small: deletes statements and replaces expressions by their parts while it fails alike."""

import ast
import copy
import re
import time

from documented import is_join


def likeness(verdict, text):
    """Failures of one cause look alike but for their numbers and names, and raise the same."""
    raised = re.findall(r"\b[A-Z]\w*(?:Error|Exception|Iteration)\b", text)
    return verdict, raised, re.sub(r"call \d+|[^a-z ]|nan|inf|np|argument \w+", "", text.lower())[:30]


def suites(tree):
    """Every list of statements in a tree."""
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            suite = getattr(node, field, None)
            if isinstance(suite, list) and suite:
                yield suite, isinstance(node, ast.Module) or field == "orelse"


def is_mark(statement):
    """A place where types join stays: without it the program would no longer say what the manual does."""
    return isinstance(statement, (ast.Assign, ast.Call)) and "_join" in ast.unparse(statement)


def smaller_statements(tree):
    """Changes, each a function that makes one, from the last statement to the first."""
    for number, (suite, may_be_empty) in reversed(list(enumerate(suites(tree)))):
        for place in reversed(range(len(suite))):
            statement = suite[place]
            if is_mark(statement) or isinstance(statement, (ast.Pass, ast.Return)):
                continue
            inner = getattr(statement, "body", None)
            if isinstance(inner, list) and not isinstance(statement, ast.FunctionDef):
                yield number, place, inner
            yield number, place, [] if may_be_empty or len(suite) > 1 else [ast.Pass()]


def parts(node):
    """Expressions inside an expression that may stand for it."""
    if not isinstance(node, ast.expr) or (isinstance(node, ast.Call) and is_mark(node)):
        return []
    inner = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    return [child for child in inner if isinstance(child, ast.expr) and not isinstance(child, (ast.Slice, ast.Tuple))]


def but_for_types(node):
    """A node and what is below it, but for the types that marks name."""
    yield node
    for child in [node.args[0]] if is_join(node) else ast.iter_child_nodes(node):
        yield from but_for_types(child)


def expressions(tree):
    """Every place of an expression: the node that has it, the field and the index in the field or None."""
    for node in but_for_types(tree):
        for field, value in [] if isinstance(node, ast.JoinedStr) else ast.iter_fields(node):
            if isinstance(value, ast.expr) and isinstance(getattr(value, "ctx", ast.Load()), ast.Load):
                yield node, field, None
            elif isinstance(value, list) and field in ("elts", "args", "values", "comparators"):
                items = value[:1] if is_join(node) else value
                yield from ((node, field, i) for i, item in enumerate(items) if isinstance(item, ast.expr))


def at(place):
    node, field, i = place
    return getattr(node, field) if i is None else getattr(node, field)[i]


def put(place, value):
    node, field, i = place
    if i is None:
        setattr(node, field, value)
    else:
        getattr(node, field)[i] = value


def candidates(source):
    """Texts that are smaller than source, each by one change."""
    tree = ast.parse(source)
    for number, place, new in list(smaller_statements(tree)):
        changed = copy.deepcopy(tree)
        suite = list(suites(changed))[number][0]
        suite[place : place + 1] = copy.deepcopy(new)
        yield changed
    for number, place in enumerate(list(expressions(tree))):
        for part in parts(at(place)):
            changed = copy.deepcopy(tree)
            put(list(expressions(changed))[number], copy.deepcopy(part))
            yield changed


def minimise(worker, seed, program, verdict, text, until=float("inf")):
    """The smallest program found until then that fails as (verdict, text) does, its failure, and how it is shown."""
    wanted, failure = likeness(verdict, text), (verdict, text)
    source, shown, progress = program["source"], program["shown"], True
    while progress and time.monotonic() < until:
        progress = False
        for changed in candidates(source):
            smaller = ast.unparse(ast.fix_missing_locations(changed)) + "\n"
            if len(smaller) >= len(source):
                continue
            found = worker.ask(seed, smaller)
            if likeness(*found) == wanted:
                source, failure, shown, progress = smaller, found, worker.program["shown"], True
                break
            if time.monotonic() >= until:
                break
    return source, failure, shown
