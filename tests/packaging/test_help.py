"""What a person asks first: help() of the decorators, `python -m krait`, names that are not there yet."""

import inspect
import os
import pathlib
import pydoc
import subprocess
import sys

import pytest

import krait
from krait import _krait, cuda, errors

DECORATORS = {
    "jit": (krait.jit, 1),
    "cuda.jit": (cuda.jit, 2),
    "vectorize": (krait.vectorize, 3),
    "guvectorize": (krait.guvectorize, 4),
}


@pytest.mark.parametrize("name", DECORATORS)
def test_help_lists_every_option_of_a_decorator(name):
    decorator, column = DECORATORS[name]
    rows = _krait._options()
    assert any(row[column] for row in rows) and not all(row[column] for row in rows)
    for row in rows:
        assert (f"\n  {row[0]}: {row[5]}\n" in decorator.__doc__) == bool(row[column]), row[0]


@pytest.mark.parametrize("name", DECORATORS)
def test_help_shows_the_name_and_the_parameters(name):
    decorator = DECORATORS[name][0]
    assert decorator.__name__ == name.split(".")[-1]
    assert "options" in inspect.signature(decorator).parameters


def module(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "krait", *arguments], capture_output=True, text=True, **options)


def test_module_help_and_version():
    assert module("--version").stdout == f"krait {krait.__version__}\n"
    done = module("--help")
    assert done.returncode == 0 and "info" in done.stdout and "--version" in done.stdout
    wrong = module("nonsense")
    assert wrong.returncode == 2 and "info" in wrong.stderr


def test_info_names_the_device_that_kernels_run_on():
    line = next(line for line in module().stdout.splitlines() if line.startswith("kernels run on"))
    assert cuda.get_current_device().name in line


ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not (ROOT / "krait" / "__init__.py").exists(), reason="the sources are not here")
def test_module_runs_in_the_root_of_the_sources():
    """There Python finds the folder krait/ of the sources first, which has no compiled module in it."""
    installed = str(pathlib.Path(_krait.__file__).parent.parent)
    code = f"import sys; sys.path.append({installed!r}); import krait; print(krait.njit(lambda x: x + 1)(1))"
    kept = {name: os.environ[name] for name in ("LD_PRELOAD", "ASAN_OPTIONS") if name in os.environ}
    environment = {"PATH": "/usr/bin:/bin", **kept}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "2\n", done.stderr


def test_a_module_that_cannot_be_loaded_says_why(tmp_path):
    """A program's own file that hides one of the standard library is the common cause."""
    (tmp_path / "numpy.py").write_text("raise ImportError('this is not NumPy')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import krait"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "this is not NumPy" in done.stderr and "no compiled module" not in done.stderr, done.stderr


def test_the_command_line_knows_numbas_switch():
    info, switch = (subprocess.run([sys.executable, "-m", "krait", word], capture_output=True, text=True, check=True)
                    for word in ("info", "-s"))
    first = [text.stdout.splitlines()[:4] for text in (info, switch)]
    assert first[0] == first[1] and first[0][0].endswith(krait.__version__)


@pytest.mark.parametrize("name", [
    "krait.generated_jit", "krait.gdb_init", "krait.pycc.CC", "krait.experimental.structref.new",
    "krait.extending.overload_classmethod", "krait.extending.SentryLiteralArgs",
])
def test_what_is_not_there_yet_can_be_imported_and_says_so(name):
    module, name = name.rsplit(".", 1)
    space = {}
    exec(f"from {module} import {name}", space)
    with pytest.raises(errors.UnsupportedError, match=f"{module}.{name} is not there yet\n  hint: "):
        space[name]("void(float64[:])", "(n)")
    with pytest.raises(errors.UnsupportedError, match=f"{module}.{name} is not there yet\n  hint: "):
        space[name].register
    assert not hasattr(space[name], "__wrapped__")
    assert not hasattr(krait, "nowhere")


def test_functions_of_cuda_show_their_parameters():
    """help() of a function that is bound to anything but a module calls it a method of that."""
    for name in ("to_device", "device_array", "synchronize", "stream", "pinned_array", "select_device"):
        function = getattr(cuda, name)
        assert function.__module__ == "krait.cuda"
        text = pydoc.plain(pydoc.render_doc(function))
        assert "PyCapsule" not in text and f"\n{name}(" in text, text


def test_what_a_program_may_not_need_is_imported_when_it_is_asked_for():
    """Both ways to a submodule lead to one object; names for compiled code are made once."""
    program = (
        "import sys, krait\n"
        "assert not {name for name in sys.modules if name.startswith('krait.')} - {'krait._krait'}\n"
        "config = krait.config\n"
        "import krait.config\n"
        "assert config is krait.config is sys.modules['krait.config'] and config.OPT == 3\n"
        "from krait import _krait, cuda\n"
        "assert _krait.cuda_names() is _krait.cuda_names() and _krait.cuda_names()['grid'] is cuda.grid\n"
        "assert dir(cuda.grid) == [] and 'add' in dir(cuda.atomic) and cuda.grid.__name__ == 'krait.cuda.grid'\n"
        "try: cuda.grid.nothing\n"
        "except AttributeError: pass\n"
        "else: raise SystemExit(1)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
