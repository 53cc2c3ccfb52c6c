"""Prints the reference pages of the manual from the compiler's own tables.

    python tools/make_reference.py [FOLDER]     FOLDER: docs/reference beside this script unless told

The test suite makes the pages anew and compares them with those in the repository.
"""

import contextlib
import importlib
import inspect
import io
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from krait import _krait, njit
from krait import _testing as testing
from krait.errors import KraitError

NAMES = Path(__file__).resolve().parent / "numba_cpu.txt"
TESTS = Path(__file__).resolve().parents[1] / "tests"


def _arguments(least, most):
    return str(least) if least == most else f"{least} or more" if most == 255 else f"{least} to {most}"


def functions():
    sections = defaultdict(list)
    for row in testing.functions():
        for name in row["names"].split() if row["how"] not in ("PYTHON", "HOSTED") else ():
            arguments = "" if row["is_value"] else _arguments(row["least"], row["most"])
            sections[row["library"]].append((name, arguments, row["check"], row["doc"]))
    raised = {"NONE": "", "DOMAIN": "ValueError", "RANGE": "OverflowError", "BOTH": "ValueError, OverflowError"}
    lines = [
        "# Library functions",
        "",
        "What compiled code can call, printed from `src/library/*.def`.",
        "Errors are those of the Python error model on the host.",
    ]
    for library in sections:
        lines += [
            "",
            f"## {library}",
            "",
            "| name | arguments | raises | |",
            "| --- | --- | --- | --- |",
        ]
        lines += [
            f"| `{name}` | {count} | {raised.get(check, 'as in Python')} | {doc} |"
            for name, count, check, doc in sorted(sections[library])
        ]
    return lines


def operations():
    lines = [
        "# Operations of the intermediate representation",
        "",
        "Printed from `src/ir/ir_ops.def`. Effects: P pure, R reads memory, W writes memory, X may",
        "raise, C control flow, S synchronises, N the result is a new reference to an object of the heap,",
        "T raises nothing whatever its operands are.",
        "",
        "| operation | operands | typing rule | effects | |",
        "| --- | --- | --- | --- | --- |",
    ]
    for text, operands, rule, effects, doc in testing.table("ops"):
        lines.append(
            f"| `{text}` | {'any' if operands < 0 else operands} | {rule} | {effects} | {doc} |".replace(
                "||", "\\|\\|"
            ).replace(" x | y ", " x \\| y ")
        )
    return lines


def attributes():
    lines = [
        "# Attributes",
        "",
        "What values of compiled code have after a dot, printed from `src/ir/ir_attrs.def`.",
        "",
        "| of | name | |",
        "| --- | --- | --- |",
    ]
    return lines + [f"| {kind} | `{name}` | {doc} |" for kind, name, doc in testing.table("attrs")]


def errors():
    lines = [
        "# Refusals",
        "",
        "Printed from `src/base/diag_codes.def`: every reason for which a function is not compiled.",
        "",
        "| code | exception | |",
        "| --- | --- | --- |",
    ]
    return lines + [f"| `{code}` | `{exception}` | {text} |" for code, exception, text, *_ in testing.table("diag")]


def cuda_errors():
    lines = [
        "# Failures of the CUDA driver",
        "",
        "Printed from `src/runtime/cuda/cu_errors.def`: the `code` of a `krait.errors.CudaAPIError`, the driver's name",
        "of it (`krait.cuda.cudadrv.enums` has them), what its message ends with. After a failure marked x the process",
        "must be restarted before it can use the GPU again.",
        "",
        "| code | name | | what can be done |",
        "| --- | --- | --- | --- |",
    ]
    return lines + [
        f"| {number} | `{name}` | {'x' if ends else ''} | {hint} |"
        for number, name, hint, ends in _krait.driver_errors()
    ]


def types():
    lines = [
        "# Scalar types",
        "",
        "Printed from `src/ir/ir_types.def`.",
        "",
        "| type | NumPy character | bytes | weak Python type |",
        "| --- | --- | --- | --- |",
    ]
    return lines + [
        f"| `{name}` | `{char}` | {size} | {weak or ''} |" for name, char, _, size, weak in testing.table("scalars")
    ]


def options():
    lines = [
        "# Options of the decorators",
        "",
        "Printed from `src/decorators/options.def`.",
        "",
        "| option | `jit` | `cuda.jit` | `vectorize` | `guvectorize` | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return lines + [
        f"| `{name}` | {' | '.join('x' if taken else '' for taken in takes)} | {doc} |"
        for name, *takes, doc in _krait._options()
    ]


# ---- numba_cpu.txt: what of Numba is there ----


def _signature(row):
    # The parameters of the prelude's function, else how many arguments there are.
    if row["how"] != "PRELUDE":
        return _arguments(row["least"], row["most"])
    module, function = row["symbol"].split(":")
    parameters = inspect.signature(getattr(importlib.import_module(f"krait.prelude.{module}"), function)).parameters
    return f"`{', '.join(map(str, parameters.values()))}`".replace("<class 'float'>", "float")


def _compiles(expression):
    space = {"np": np}
    exec(f"def tried():\n    return {expression}", space)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            njit(space["tried"])()
    except KraitError:
        return False
    return True


def _numba_names():
    """(heading, [(name, expression or None)]) of each section."""
    sections = []
    for line in NAMES.read_text().splitlines():
        if line.startswith("# "):
            sections.append((line[2:], []))
        elif sections and line:
            library, _, rest = line.partition(": ")
            if library.startswith("? "):
                sections[-1][1].append((library[2:], rest))
            else:
                sections[-1][1].extend((f"{library}.{name}", None) for name in rest.split())
    return sections


def numba_cpu():
    rows = {name: row for row in testing.functions() for name in row["names"].split()}
    attributes = {f"array.{name}" for kind, name, _ in testing.table("attrs") if kind == "array"}
    lines = [
        "# Names of Numba on the host",
        "",
        "What Numba 0.67 takes in compiled functions, and what its users ask for most (`tools/numba_cpu.txt`), with",
        "the arguments that Krait takes.  Printed from the rows of `src/library/*.def`; what has none was tried.",
    ]
    there = 0
    body = []
    sections = _numba_names()
    for heading, names in sections:
        body += ["", f"## {heading}", "", "| name | arguments | |", "| --- | --- | --- |"]
        for name, expression in names:
            found = _compiles(expression) if expression else name in rows or name in attributes
            there += found
            arguments = _signature(rows[name]) if name in rows else ""
            body.append(f"| `{name}` | {arguments} | {'there' if found else 'not there'} |")
    return [*lines, "", f"{there} of {sum(len(names) for _, names in sections)} are there.", *body]


# ---- tests/numba_names.txt: what of numba.cuda is there ----


def numba_cuda():
    sys.path.append(str(TESTS))
    import numba_names

    sections = numba_names.sections()
    names = [row for _, _, rows in sections for row in rows]
    lines = [
        "# Names of numba.cuda",
        "",
        "What numba-cuda 0.30 offers, name by name.  `tests/kernels/test_numba_names.py` compiles the line of code",
        "that `tests/numba_names.txt` has for each and runs it on the host device, or on the GPU where there is one,",
        "and makes PTX of it for a GPU.",
        "",
        f"{sum(there for _, _, there in names)} of {len(names)} are there.",
    ]
    for heading, kind, rows in sections:
        lines += ["", f"## {heading}", "", "| name | GPU | host |", "| --- | --- | --- |"]
        for name, _, there in rows:
            status = "there" if there else "not there"
            lines.append(f"| `{name}` | {status} | {status} |")
    return lines


PAGES = {
    "numba-cpu.md": numba_cpu,
    "numba-cuda.md": numba_cuda,
    "functions.md": functions,
    "operations.md": operations,
    "attributes.md": attributes,
    "errors.md": errors,
    "types.md": types,
    "options.md": options,
    "cuda-errors.md": cuda_errors,
}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text("\n".join(page()) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "reference")
