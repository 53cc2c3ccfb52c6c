"""python -m krait [info]: versions, devices, and where kernels run."""

import argparse

from . import __version__, _krait

parser = argparse.ArgumentParser("python -m krait", description="Krait compiles Python functions to GPUs and the host.")
parser.add_argument("--version", action="version", version=f"krait {__version__}")
commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
commands.add_parser("info", help="versions, devices, and where kernels run (what there is without a command)")
parser.parse_args()
print(_krait.info(), end="")
