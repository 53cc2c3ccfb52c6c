"""What an index of packages tells of the distribution: its name is not that of the import."""

import pathlib
import re
import sys
import tomllib

import pytest

import krait

ROOT = pathlib.Path(__file__).parents[2]
sources = pytest.mark.skipif(not (ROOT / "tools" / "check_wheel.py").exists(), reason="a copy without the sources")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@sources
def test_name_author_licence_and_description():
    assert PROJECT["name"] == "krait-jit"
    assert PROJECT["authors"] == [{"name": "The Krait developers"}]
    assert PROJECT["license"] == "Apache-2.0 WITH LLVM-exception"
    assert all((ROOT / name).read_text() for name in PROJECT["license-files"])
    assert "JIT compiler" in PROJECT["description"] and (ROOT / PROJECT["readme"]).exists()
    assert PROJECT["version"] == krait.__version__


@sources
def test_versions_of_python_that_are_named():
    named = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)]
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in named
    tables = {path.stem for path in (ROOT / "src" / "frontend").glob("bc_py3*.def")}
    assert {"bc_py" + version.replace(".", "") for version in named} == tables
    minors = [int(version[2:]) for version in named]
    assert PROJECT["requires-python"] == f">=3.{min(minors)},<3.{max(minors) + 1}"


@sources
def test_the_install_command_is_told():
    for page in ("README.md", "docs/manual/first-steps.md"):
        assert "pip install krait-jit" in (ROOT / page).read_text(), page


@sources
def test_wheels_are_checked_for_their_tag():
    text = (ROOT / "tools" / "check_wheel.py").read_text()
    assert "manylinux_" in text and "GLIBC" in text
    assert "tools/check_wheel.py" in (ROOT / "Makefile").read_text()


def test_the_embedded_bitcode_names_no_folder_of_the_build():
    """tools/check_wheel.py looks for any such place in a wheel; here, where every build is tested."""
    module = pathlib.Path(krait._krait.__file__).read_bytes()
    assert b"/bitcode/" not in module and b"/rtlib/" not in module
