"""Takes NVIDIA's device math library, its licence and ptxas out of a PyPI package.

usage: fetch_libdevice.py FOLDER
Input: the package that pyproject.toml's build requirements name, through pip (its cache, index and settings).
Output: FOLDER/libdevice.10.bc and FOLDER/License.txt, which the build embeds and ships; FOLDER/ptxas, which tests use.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

WANTED = ("libdevice.10.bc", "License.txt", "ptxas")


def requirement():
    """The pinned requirement as pyproject.toml has it: it is written there alone."""
    text = (pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    return re.search(r'"(nvidia-cuda-nvcc[^";\s]*)', text).group(1)


def main(folder):
    target = pathlib.Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    if all((target / name).exists() for name in WANTED):
        return
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", scratch]
        subprocess.run([*command, requirement()], check=True)
        (wheel,) = pathlib.Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                name = member.rsplit("/", 1)[-1]
                if name in WANTED:
                    (target / name).write_bytes(archive.read(member))
    (target / "ptxas").chmod(0o755)


if __name__ == "__main__":
    main(sys.argv[1])
