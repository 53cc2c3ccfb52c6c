"""The .pyi stubs against the package: every name is there on both sides, classes have the members they declare."""

import ast
import importlib
import inspect
import pathlib

import pytest

import krait

PACKAGE = pathlib.Path(krait.__file__).parent
MODULES = ["krait", "krait.types", "krait.errors", "krait.cuda", "krait.extending",
           "krait.cuda.libdevice", "krait.cuda.random", "krait.cuda.fp16", "krait.cuda.bf16", "krait.cuda.fp8"]
# Names that are there for the import system or for other reasons than to be used.
UNLISTED = {"annotations", "core", "cpython", "misc", "np", "stencils"}


def stub_of(name):
    module = importlib.import_module(name)
    path = pathlib.Path(module.__file__).with_suffix(".pyi")
    assert path.exists(), f"{name} has no stub"
    return module, ast.parse(path.read_text(encoding="utf-8"), str(path))


def declared(body):
    """Public names that a stub's body declares, and its classes."""
    names, classes = set(), {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
            classes[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets)
        elif isinstance(node, (ast.ImportFrom, ast.Import)):
            names.update(alias.asname for alias in node.names if alias.asname == alias.name)  # re-exported
    return {name for name in names if not name.startswith("_") or name == "__version__"}, classes


def public_names(module):
    imported = {"_krait", "prelude"}
    names = {name for name in dir(module) if not name.startswith("_") and name not in imported | UNLISTED}
    return {
        name
        for name in names
        if not (inspect.ismodule(getattr(module, name)) and not getattr(module, name).__name__.startswith("krait"))
    }


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize("name", MODULES)
def test_every_declared_name_exists(name):
    module, tree = stub_of(name)
    missing = {n for n in declared(tree.body)[0] if not hasattr(module, n)}
    only_in_stubs = {"CFunc", "Gufunc", "Overload", "Stats", "Stencil", "Vectorized"} if name == "krait" else set()
    assert missing <= only_in_stubs


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_declared(name):
    module, tree = stub_of(name)
    assert public_names(module) - declared(tree.body)[0] == set()


@pytest.mark.parametrize("name", MODULES)
def test_classes_have_the_members_they_declare(name):
    module, tree = stub_of(name)
    for class_name, node in declared(tree.body)[1].items():
        real = getattr(module, class_name, None) or getattr(krait._krait, class_name, None)
        if real is None:
            continue
        members, _ = declared(node.body)
        for member in members:
            assert hasattr(real, member) or member in ("x", "y", "z"), f"{name}.{class_name}.{member}"


def test_options_of_the_decorators_are_declared():
    both = (krait.jit, krait.vectorize, krait.guvectorize)
    for name, decorator in (*(("krait", each) for each in both), ("krait.cuda", krait.cuda.jit)):
        with pytest.raises(TypeError) as caught:
            decorator(no_such_option=1)
        options = set(str(caught.value).split("options are ")[1].split(", "))
        _, tree = stub_of(name)
        function = decorator.__name__
        keywords = {
            argument.arg
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name == function
            for argument in node.args.kwonlyargs
        }
        assert keywords == options, function


def test_stubs_pass_mypy(tmp_path):
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "from krait import cuda, float32, jit, vectorize\n"
        "@jit\ndef f(a: int, b: float) -> float:\n    return a + b\n"
        "x: float = f(1, 2.0)\n"
        "@cuda.jit\ndef k(a: float) -> None: ...\n"
        "k[1, 2](3.0)\n"
        "u: np.ufunc = vectorize(['f4(f4)'])(lambda v: v)\n"
    )
    output, errors, status = api.run(["--strict", str(program)])
    assert status == 0, output + errors
