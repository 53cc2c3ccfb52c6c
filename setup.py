"""Builds the wheel: setuptools packs, CMake compiles.

Input: pyproject.toml (names and versions) and these environment variables, all optional:
  KRAIT_BUILD_DIR   a build folder to share between Python versions and runs (unset: build/)
  KRAIT_LIBDEVICE   libdevice.10.bc; KRAIT_LIBDEVICE_LICENSE: its licence.  Unset: the build requirement
                    nvidia-cuda-nvcc-cu12, then a CUDA toolkit
  KRAIT_CMAKE_ARGS  more arguments for CMake, such as -DKRAIT_DEVICE_MATH=libclc
  KRAIT_JOBS        how many compilers at once
Output: krait/_krait.<abi>.so and krait/licenses/ (the notices of what is linked in) inside the wheel.
"""

import importlib.metadata
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
TAG = "cp%d%d" % sys.version_info[:2]
SHARED_BUILD = os.environ.get("KRAIT_BUILD_DIR")
BUILD = pathlib.Path(SHARED_BUILD or ROOT / "build").resolve()


def libdevice_arguments():
    """Where the device math library is: the environment's word, else the build requirement, else CMake looks."""
    library, license_text = os.environ.get("KRAIT_LIBDEVICE"), os.environ.get("KRAIT_LIBDEVICE_LICENSE")
    if not library:
        try:
            files = importlib.metadata.files("nvidia-cuda-nvcc-cu12") or []
        except importlib.metadata.PackageNotFoundError:
            files = []
        for file in files:
            if file.name == "libdevice.10.bc":
                library = str(file.locate())
            elif file.name == "License.txt":
                license_text = str(file.locate())
    return [
        f"-D{name}={value}"
        for name, value in (("KRAIT_LIBDEVICE", library), ("KRAIT_LIBDEVICE_LICENSE", license_text))
        if value
    ]


def interpreters(cache):
    """This interpreter and those that a shared build folder is already set up for: it serves them all."""
    known = [sys.executable]
    if cache.exists():
        found = re.search(r"^KRAIT_PYTHONS:\w+=(.*)$", cache.read_text(encoding="utf-8"), re.MULTILINE)
        known += [path for path in found.group(1).split(";") if os.path.exists(path)] if found else []
    return ";".join(dict.fromkeys(known)) if SHARED_BUILD else sys.executable


class CMakeBuild(build_ext):
    """Builds the CMake target of this interpreter and puts its products where setuptools wants them."""

    def build_extension(self, ext):
        folder = BUILD / "cmake-wheel"
        cmake = shutil.which("cmake")
        if not cmake:
            sys.exit("CMake 3.20 or newer is needed to build Krait")
        cache = folder / "CMakeCache.txt"
        configure = [cmake, "-S", str(ROOT), "-B", str(folder), f"-DKRAIT_PYTHONS={interpreters(cache)}"]
        if not cache.exists() and shutil.which("ninja"):
            configure += ["-G", "Ninja"]
        configure += libdevice_arguments() + shlex.split(os.environ.get("KRAIT_CMAKE_ARGS", ""))
        jobs = os.environ.get("KRAIT_JOBS") or str(os.cpu_count() or 1)
        subprocess.run(configure, check=True)
        subprocess.run([cmake, "--build", str(folder), "--target", f"krait_{TAG}", "-j", jobs], check=True)

        module = pathlib.Path(self.get_ext_fullpath(ext.name))
        module.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / "py" / "krait" / module.name, module)
        shutil.copytree(folder / "licenses", module.parent / "licenses", dirs_exist_ok=True)


(BUILD / f"setup-{TAG}").mkdir(parents=True, exist_ok=True)
setup(
    ext_modules=[Extension("krait._krait", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    # Nothing is written into the source tree but build/.
    options={
        "build": {"build_base": str(BUILD / f"setup-{TAG}")},
        "egg_info": {"egg_base": str(BUILD / f"setup-{TAG}")},
    },
)
