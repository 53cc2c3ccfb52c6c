"""PTX given to ptxas, where there is one: NVIDIA's assembler is the judge of what is emitted."""

import functools
import os
import re
import shutil
import subprocess
import tempfile

PTXAS = shutil.which("ptxas") or next(
    (path for path in ("/usr/local/cuda/bin/ptxas", "/opt/cuda/bin/ptxas") if os.path.exists(path)), None)


@functools.cache
def known_architectures():
    """Compute capabilities (90 and so on) that ptxas assembles for; none without ptxas."""
    if not PTXAS:
        return frozenset()
    text = subprocess.run([PTXAS, "--help"], capture_output=True, text=True).stdout
    return frozenset(map(int, re.findall(r"\bsm_(\d+)\b", text)))


def assemble(ptx, capability=90, *options):
    """Whether ptxas is here and knows of such a GPU; if so it must accept the text.

    What is for an older GPU than it makes code for (sm_75 is the oldest) is read as code for that.
    """
    target = max(capability, 75)
    if target not in known_architectures():
        return False
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        command = [PTXAS, *options, f"-arch=sm_{target}", file.name, "-o", os.devnull]
        done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr + ptx
    return True
