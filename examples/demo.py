"""Runs every example, shows progress, and ends in a table: example, device, times, ratio, correct.

    python examples/demo.py [NAME ...]      only the examples whose name contains one of the words

Files (the pictures) are written to the current folder.
"""

import sys
import time
import traceback

START = time.perf_counter()

import black_scholes  # noqa: E402
import block_sum  # noqa: E402
import harness  # noqa: E402
import heat  # noqa: E402
import host_loop  # noqa: E402
import mandelbrot  # noqa: E402
import matmul  # noqa: E402
import matrix_add  # noqa: E402
import n_body  # noqa: E402
import numpy_programs  # noqa: E402
import saxpy  # noqa: E402
import vector_add  # noqa: E402
import vectorized  # noqa: E402

EXAMPLES = [
    ("vector add", vector_add.run),
    ("matrix add in place", matrix_add.run),
    ("saxpy", saxpy.run),
    ("matmul, naive", matmul.run_naive),
    ("matmul, shared memory", matmul.run_shared),
    ("block sum, atomics", block_sum.run),
    ("Mandelbrot", mandelbrot.run),
    ("heat equation", heat.run),
    ("Black-Scholes", black_scholes.run),
    ("n-body", n_body.run),
    ("vectorize, cuda", vectorized.run),
    ("vectorize, NumPy ufunc", vectorized.run_host),
    ("host loop, @jit", host_loop.run),
    *numpy_programs.RUNS,
]


def table(results):
    head = ("example", "device", "compile ms", "run ms", "NumPy ms", "ratio", "correct")
    rows = []
    for r in results:
        reference = f"{r.reference_ms:.2f}" + ("" if r.reference == "NumPy" else " *")
        rows.append(
            (
                r.name,
                r.device,
                f"{r.compile_ms:.1f}",
                f"{r.run_ms:.3f}",
                reference,
                f"{r.ratio:.1f}",
                "yes" if r.correct else "NO",
            )
        )
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for number, row in enumerate([head, *rows]):
        print(
            "  ".join(
                cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))
            ).rstrip()
        )
        if number == 0:
            print("  ".join("-" * w for w in widths))
    if any(r.reference != "NumPy" for r in results):
        print("* the interpreter, not NumPy")


def main(words):
    chosen = [(name, run) for name, run in EXAMPLES if not words or any(word.lower() in name.lower() for word in words)]
    if not chosen:
        sys.exit("no example has such a name; there are: " + "; ".join(name for name, _ in EXAMPLES))
    print(f"Kernels run on: {harness.kernel_device()}")
    results, failed = [], 0
    for number, (name, run) in enumerate(chosen, 1):
        print(f"[{number}/{len(chosen)}] {name} ...", end="", flush=True)
        try:
            result = run()
        except Exception:  # one broken example must not hide the others
            failed += 1
            print(" FAILED")
            traceback.print_exc()
            continue
        results.append(result)
        print(f" {'ok' if result.correct else 'WRONG RESULT'}, {result.run_ms:.3f} ms")
    print()
    table(results)
    for result in results:
        for file in result.files:
            print(f"wrote {file}")
    wrong = sum(not r.correct for r in results)
    seconds = time.perf_counter() - START
    agree = len(results) - wrong
    print(f"{agree} of {len(chosen)} examples ran and agree with their reference, in {seconds:.1f} s")
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
