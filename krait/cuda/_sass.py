"""Machine code of PTX, by the tools of a CUDA toolkit."""

import os
import re
import shutil
import subprocess
import tempfile

from ..errors import CudaError


def _tool(*names):
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    for name in names:
        for folder in [None] + [os.path.join(home, "bin") for home in homes if home]:
            if found := shutil.which(name, path=folder):
                return found
    raise CudaError(f"{names[0]} was not found\n  hint: it is part of a CUDA toolkit: put it on PATH, or set CUDA_HOME")


def _disassemble_one(ptx, graph):
    architecture = re.search(r"^\.target (sm_\w+)", ptx, re.MULTILINE)[1]
    assembler, disassembler = _tool("ptxas"), _tool("nvdisasm") if graph else _tool("nvdisasm", "cuobjdump")
    option = [] if os.path.basename(disassembler).startswith("nvdisasm") else ["-sass"]
    if graph:
        option = ["-cfg"]
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        for command in ([assembler, "-arch", architecture, source, "-o", binary], [disassembler, *option, binary]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise CudaError(f"{os.path.basename(command[0])} failed: {done.stderr.strip()}")
    return done.stdout


def disassemble(ptx, graph):
    """The machine code of a text of PTX, or of each in a dict; graph: its blocks and jumps in the language DOT."""
    if isinstance(ptx, dict):
        return {types: _disassemble_one(text, graph) for types, text in ptx.items()}
    return _disassemble_one(ptx, graph)
