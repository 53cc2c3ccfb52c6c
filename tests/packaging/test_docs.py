"""Every Python block of the manual runs, page by page, from top to bottom in one namespace."""

import re
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "manual").glob("*.md")) + [ROOT / "README.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

if not (ROOT / "docs").is_dir():
    pytest.skip("the manual is not part of this copy", allow_module_level=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_runs(page, tmp_path, monkeypatch):
    text = page.read_text()
    blocks = [(match.group(1), text[: match.start(1)].count("\n")) for match in BLOCK.finditer(text)]
    assert blocks, "a page of the manual without an example"
    module = types.ModuleType(f"manual_{page.stem.replace('-', '_')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for source, line in blocks:
        # lines count as in the page, so that a failure names the line to look at
        exec(compile("\n" * line + source, str(page), "exec"), module.__dict__)
    module.__dict__.clear()  # functions for C and overloads live on, and what the page made with them


def test_index_names_every_page():
    index = (ROOT / "docs" / "README.md").read_text()
    for page in PAGES[:-1]:
        assert f"manual/{page.name}" in index


def test_reference_is_printed_from_the_tables(tmp_path):
    tool = ROOT / "tools" / "make_reference.py"
    if not tool.exists():
        pytest.skip("the tools are not part of this copy")
    namespace = {"__file__": str(tool), "__name__": "make_reference"}
    exec(compile(tool.read_text(), str(tool), "exec"), namespace)
    namespace["main"](tmp_path)
    for page in namespace["PAGES"]:
        assert (ROOT / "docs" / "reference" / page).read_text() == (tmp_path / page).read_text(), (
            f"run tools/make_reference.py: {page} is out of date"
        )


def test_where_things_are_decided():
    """Each file is there and defines the function, not only calls it, or has the row."""
    page = (ROOT / "docs" / "where.md").read_text()
    rows = re.findall(r"^\| [^`|]*(?:`[^`]*`[^`|]*)*\| `([^`]*)` \| `([^`]*)` \|$", page, re.MULTILINE)
    assert len(rows) >= 30 and len(set(rows)) == len(rows) == page.count("\n| ") - 2, "a row that is not understood"
    for file, function in rows:
        text = (ROOT / file).read_text()
        if file.endswith(".def"):
            definition = rf"^[A-Z]+\({function},"
        elif file.endswith(".py"):
            definition = rf"^def {function}\("
        else:
            definition = rf"^[A-Za-z_][^;=()]*\b{function}\([^;]*\{{"
        assert re.search(definition, text, re.MULTILINE), f"{file}: no {function}"
