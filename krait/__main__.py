"""python -m krait [info | cache]: versions, devices, and where kernels run; compiled code on disk."""

import argparse
import sys

from . import __version__, _krait

parser = argparse.ArgumentParser("python -m krait", description="Krait compiles Python functions to GPUs and the host.")
parser.add_argument("--version", action="version", version=f"krait {__version__}")
parser.add_argument("-s", "--sysinfo", action="store_true", help="what info prints, by the name it has in Numba")
commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
commands.add_parser("info", help="versions, devices, and where kernels run (what there is without a command)")
cache = commands.add_parser("cache", help="compiled code on disk (cache=True): list, verify or clear it")
cache.add_argument("action", nargs="?", choices=["list", "verify", "clear"], default="list")
arguments = parser.parse_args()
if arguments.command == "cache":
    from ._cache import main

    sys.exit(main(arguments.action))
print(_krait.info(), end="")
