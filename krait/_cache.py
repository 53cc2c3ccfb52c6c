"""The disk cache for people: python -m krait cache.  What an entry is: src/driver/cache.c."""

import contextlib
import errno
import hashlib
import os
import re
import stat
import struct
import time
from pathlib import Path

from . import _krait

_HEADER = struct.Struct("=8sQ32sQQQ32s")
_MAGIC, _VERSION = b"KRAITIMG", 1
_ENTRY = re.compile(r"[0-9a-f]{64}\.krait")
_PART = re.compile(r"[0-9]+-[0-9]+-[0-9a-f]+\.part")  # being written, or left by a writer that was killed


def folder():
    """The folder of compiled code; None: there is no cache."""
    path = _krait.cache_folder()
    return None if path is None else Path(path)


def _named(pattern):
    """(file, status) of the files that are named as the cache names its own: nothing else in the folder is ours.  Other
    processes add and remove some meanwhile."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder()) as there:
        for file in there:
            with contextlib.suppress(OSError):
                if pattern.fullmatch(file.name):
                    found.append((Path(file.path), file.stat(follow_symlinks=False)))
    return [(file, status) for file, status in found if not stat.S_ISDIR(status.st_mode)]


def _entries():
    return sorted(_named(_ENTRY), key=lambda found: found[1].st_mtime, reverse=True)


def entries():
    """The files of the cache, those used last first."""
    return [file for file, _ in _entries()]


def _bytes(file):
    """What Krait would take of a file: nobody else may have written it, and a link is none."""
    with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
        status = os.fstat(opened.fileno())
        private = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
        return opened.read() if private else b""


def read(file):
    """(what it is of, bytes of code), or None if the entry is not whole.  An OSError: it is gone, or cannot be read."""
    try:
        data = _bytes(file)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        return None
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
    total = count = 0
    for file, status in _entries():
        try:
            found = read(file)
        except FileNotFoundError:
            continue
        except OSError as error:
            found = (f"{error.strerror}: {file.name}",)
        total += status.st_size
        count += 1
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(status.st_mtime))
        print(f"{used}  {status.st_size:>9}  {found[0] if found else 'damaged: ' + file.name}")
    print(f"{count} entries, {total} bytes in {folder()}")


def verify():
    """Removes what is not whole; the number of such entries."""
    damaged = whole = 0
    for file in entries():
        try:
            if read(file) is not None:
                whole += 1
                continue
            file.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            print(f"cannot be read or removed, {error.strerror}: {file}")
        else:
            print(f"damaged, removed: {file}")
        damaged += 1
    print(f"{whole} entries are whole")
    return damaged


def clear():
    count = 0
    for file, _ in _named(_ENTRY) + _named(_PART):
        try:
            file.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            print(f"cannot be removed, {error.strerror}: {file}")
            continue
        count += 1
    print(f"{count} files removed from {folder()}")


def main(action):
    if folder() is None:
        print("there is no cache: KRAIT_CACHE=0, or the user has no folder")
        return 0
    trouble = _krait.cache_trouble()
    if trouble is not None:
        print(f"nothing is kept in {folder()}: {trouble}")
    if action == "verify":
        return 1 if verify() else 0
    clear() if action == "clear" else show()
    return 0
