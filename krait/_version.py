"""The version in parts, as programs compare it."""

from collections import namedtuple

from ._krait import __version__

_Version = namedtuple("version_info", "major minor patch short full string tuple git_revision")


def _parts(text):
    numbers = tuple(int(part) for part in text.split("+")[0].split(".")[:3])
    return _Version(*numbers, numbers[:2], numbers, text, numbers, None)


version_info = _parts(__version__)
