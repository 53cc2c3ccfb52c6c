"""The README.md of each folder of src/, and of rtlib/, says of every source file there what it is for."""

import re
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
if not SRC.is_dir():
    pytest.skip("the sources are not part of this copy", allow_module_level=True)
ROOT = SRC.parent
READMES = [*sorted(SRC.rglob("README.md")), ROOT / "rtlib" / "README.md"]


def files_of(readme):
    """The folder's files, and those of folders below that have no page of their own, by their paths from the folder."""
    others = {page.parent for page in READMES} - {readme.parent, *readme.parent.parents}
    for path in sorted(readme.parent.rglob("*")):
        if path.suffix in (".c", ".h", ".def") and others.isdisjoint(path.parents):
            yield str(path.relative_to(readme.parent))


def test_every_folder_of_sources_has_a_page():
    for path in SRC.rglob("*.c"):
        assert any((folder / "README.md").exists() for folder in path.parents if SRC in folder.parents), path


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: str(readme.parent.relative_to(ROOT)))
def test_every_file_is_named(readme):
    text = readme.read_text()
    names = files_of(readme)
    missing = [name for name in names if not re.search(rf"(?<![\w./]){re.escape(name)}(?!\w)", text)]
    assert not missing


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: str(readme.parent.relative_to(ROOT)))
def test_named_files_exist(readme):
    """The first column of its tables: names from the folder, or from src/."""
    cells = re.findall(r"^\| (`[^|]*) \|", readme.read_text(), re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`([\w/]+\.(?:c|h|def))`", cell)]
    missing = [name for name in names if not (readme.parent / name).exists() and not (SRC / name).exists()]
    assert not missing
