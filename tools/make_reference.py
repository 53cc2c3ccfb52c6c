"""Prints the reference pages of the manual from the compiler's own tables.

    python tools/make_reference.py [FOLDER]     FOLDER: docs/reference beside this script unless told

The test suite makes the pages anew and compares them with those in the repository.
"""

import sys
from collections import defaultdict
from pathlib import Path

from krait import _krait
from krait import _testing as testing

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
        "raise, C control flow, S synchronises.",
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


PAGES = {
    "functions.md": functions,
    "operations.md": operations,
    "attributes.md": attributes,
    "errors.md": errors,
    "types.md": types,
    "options.md": options,
}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text("\n".join(page()) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "reference")
