"""Checks what a wheel promises before anybody installs it.

usage: check_wheel.py WHEEL
Checked: at most 20 MB; its name, and a manylinux tag that is true; one compiled module, so no test doors; every file of
krait/, stubs among them; the licences of what is linked in; the module needs nothing but glibc, libstdc++ and libgcc;
it exports its init function alone; no path of the build machine is in it.  Prints one line, or what is wrong.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 20 * 1000 * 1000
NAME = re.compile(r"krait_jit-[\d.]+-cp3\d+-cp3\d+-manylinux_(\d+)_(\d+)_x86_64\.whl")
ALLOWED = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux-[\w-]+)\.so\.\d+$")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def faults(wheel):
    tag = NAME.fullmatch(wheel.name)
    if not tag:
        yield f"the name is not {NAME.pattern}"
    size = wheel.stat().st_size
    if size > LIMIT:
        yield f"{size} bytes: more than {LIMIT}"
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        modules = [name for name in names if name.endswith(".so")]
        if len(modules) != 1 or not re.fullmatch(r"krait/_krait\..*\.so", modules[0]):
            yield f"krait/_krait alone is expected to be compiled, found {modules}"
            return
        files = [path for path in (ROOT / "krait").rglob("*") if path.suffix in (".py", ".pyi", ".typed")]
        for path in files:
            if path.relative_to(ROOT).as_posix() not in names:
                yield f"{path.relative_to(ROOT)} is missing"
        if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
            yield "LICENSE is missing"
        metadata = next(archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
        for needed in ("Name: krait-jit", "Author: The Krait developers", "Summary: ", "License-Expression: "):
            if not re.search("^" + re.escape(needed), metadata, re.MULTILINE):
                yield f"the metadata has no line {needed!r}"
        notices = {pathlib.PurePath(name).stem for name in names if name.startswith("krait/licenses/")}
        for needed in {"LLVM", "zlib", "zstd", "libdevice"} - notices:
            yield f"the licence of {needed} is missing"
        module = archive.extract(modules[0], scratch)
        for library in re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", module)):
            if not ALLOWED.match(library):
                yield f"the module needs {library}"
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("objdump", "-T", module))
        newest = max((int(major), int(minor)) for major, minor in versions)
        if tag and newest > (int(tag[1]), int(tag[2])):
            yield f"the module needs glibc {newest[0]}.{newest[1]}"
        exported = re.findall(r" [TDBRVWi] (\w+)", output("nm", "-D", "--defined-only", module))
        if exported != ["PyInit__krait"]:
            yield f"the module exports {exported[:5]}"
        text = pathlib.Path(module).read_bytes()
        for place in {str(ROOT), sys.prefix, str(wheel.resolve().parent)}:
            if place.encode() in text:
                yield f"the module has the path {place} in it"


def main():
    wheel = pathlib.Path(sys.argv[1])
    found = list(faults(wheel))
    for fault in found:
        print(f"{wheel.name}: {fault}", file=sys.stderr)
    if not found:
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
