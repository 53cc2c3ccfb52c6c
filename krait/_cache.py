"""The disk cache for people: python -m krait cache.  What an entry is: src/driver/cache.c."""

import hashlib
import struct
import time
from pathlib import Path

from . import _krait

_HEADER = struct.Struct("=8sQ32sQQQ32s")
_MAGIC, _VERSION = b"KRAITIMG", 1


def folder():
    """The folder of compiled code; None: there is no cache."""
    path = _krait.cache_folder()
    return None if path is None else Path(path)


def entries():
    """The files of the cache, those used last first."""
    path = folder()
    if path is None or not path.is_dir():
        return []
    return sorted(path.glob("*.krait"), key=lambda file: file.stat().st_mtime, reverse=True)


def read(file):
    """(what it is of, bytes of code), or None if the entry is not whole."""
    data = file.read_bytes()
    if len(data) < _HEADER.size:
        return None
    magic, version, key, _, label_bytes, image_bytes, digest = _HEADER.unpack_from(data)
    if magic != _MAGIC or version != _VERSION or len(data) != _HEADER.size + label_bytes + image_bytes:
        return None
    hashed = hashlib.sha256(data[: _HEADER.size - len(digest)] + data[_HEADER.size :]).digest()
    if hashed != digest or file.stem != key.hex():
        return None
    return data[_HEADER.size : _HEADER.size + label_bytes].decode("utf-8", "replace"), image_bytes


def show():
    total = 0
    for file in entries():
        found, size = read(file), file.stat().st_size
        total += size
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(file.stat().st_mtime))
        print(f"{used}  {size:>9}  {found[0] if found else 'damaged: ' + file.name}")
    print(f"{len(entries())} entries, {total} bytes in {folder()}")


def verify():
    """Removes what is not whole; the number of such entries."""
    damaged = [file for file in entries() if read(file) is None]
    for file in damaged:
        print(f"damaged, removed: {file}")
        file.unlink(missing_ok=True)
    print(f"{len(entries())} entries are whole")
    return len(damaged)


def clear():
    path = folder()
    files = [] if path is None or not path.is_dir() else [*path.glob("*.krait"), *path.glob("*.part")]
    for file in files:
        file.unlink(missing_ok=True)
    print(f"{len(files)} files removed from {path}")


def main(action):
    if folder() is None:
        print("there is no cache: KRAIT_CACHE=0, or the user has no folder")
        return 0
    if action == "verify":
        return 1 if verify() else 0
    clear() if action == "clear" else show()
    return 0
