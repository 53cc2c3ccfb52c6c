"""Says whether a compiler has a warning or an error about any C file; no code is made.

usage: check_warnings.py CMAKE_FOLDER [JOBS]
Input: the folder's compile_commands.json, configured for that compiler.
Output: what the compiler says; the exit status is 1 if it failed for a file.
"""

import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys


def check(entry):
    """What the compiler says about one file, or None: all but the code is made, so all warnings come."""
    words = shlex.split(entry["command"])
    output = words.index("-o")
    del words[output : output + 2]
    words[words.index("-c")] = "-fsyntax-only"
    done = subprocess.run(words, cwd=entry["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout or f"failed: {shlex.join(words)}\n" if done.returncode else None


def main(folder, jobs="1"):
    entries = json.loads((pathlib.Path(folder) / "compile_commands.json").read_text(encoding="utf-8"))
    sources = [entry for entry in entries if entry["file"].endswith(".c")]
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        failures = [text for text in pool.map(check, sources) if text]
    sys.stdout.writelines(failures)
    if not sources:
        sys.exit(f"no C file in {folder}")
    print(f"{len(sources)} files, {len(failures)} with warnings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
