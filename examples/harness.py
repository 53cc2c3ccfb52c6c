"""What the examples share: timing a compiled call against NumPy or the interpreter, checking the result, writing a PNG.

Every example is a small program of its own (``python examples/vector_add.py``); ``demo.py`` runs them all and ends in
a table.
"""

import struct
import sys
import time
import zlib
from dataclasses import dataclass, field

import numpy as np

from krait import cuda


@dataclass
class Result:
    """One row of the table; times in milliseconds."""

    name: str
    device: str
    compile_ms: float  # first call less a later one: reading the function, inference, code generation, loading
    run_ms: float  # median of the later calls, waiting for the device included
    reference_ms: float
    reference: str  # what it is compared with: "NumPy" or "interpreter"
    correct: bool
    files: list = field(default_factory=list)

    @property
    def ratio(self):
        return self.reference_ms / self.run_ms


def kernel_device():
    """A short name for where kernels run: the GPU's name, or "host"."""
    return cuda.get_current_device().name if cuda.is_available() else "host"


def _milliseconds(call):
    start = time.perf_counter()
    value = call()
    return value, (time.perf_counter() - start) * 1e3


def measure(name, compiled, reference, check, *, reference_name="NumPy", device=None, repeat=5, reference_scale=1.0):
    """Times ``compiled`` (first call, then the median of ``repeat`` more) against one call of ``reference``.

    compiled, reference: callables without arguments that do the whole work and return its result; a kernel's must end
    in
        ``cuda.synchronize()``.
    check: called with both results; returns whether they agree.
    reference_scale: the reference did 1/scale of the work (the interpreter on a part of the problem).
    """
    got, first = _milliseconds(compiled)
    times = sorted(_milliseconds(compiled)[1] for _ in range(repeat))
    run = times[len(times) // 2]
    want, reference_ms = _milliseconds(reference)
    return Result(
        name,
        device or kernel_device(),
        max(first - run, 0.0),
        run,
        reference_ms * reference_scale,
        reference_name,
        bool(check(got, want)),
    )


def close(rtol, atol=0.0):
    """A check that every element agrees to a relative or absolute tolerance, dtypes included."""

    def check(got, want):
        got, want = np.asarray(got), np.asarray(want)
        return got.dtype == want.dtype and got.shape == want.shape and np.allclose(got, want, rtol=rtol, atol=atol)

    return check


def write_png(path, image):
    """Writes ``image`` (height, width, 3; uint8) as a PNG (ISO/IEC 15948), without any library beyond zlib."""
    height, width, _ = image.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row starts with its filter type, 0: none
    rows[:, 1:] = image.reshape(height, 3 * width)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)))
        file.write(chunk(b"IEND", b""))


def colour_map(values):
    """Numbers in [0, 1] as RGB: black, blue, cyan, yellow, red, white, with straight lines between."""
    stops = np.linspace(0, 1, 6)
    colours = np.array(
        [[0, 0, 0], [20, 40, 160], [30, 190, 200], [250, 220, 60], [220, 40, 30], [255, 255, 255]], float
    )
    return np.stack([np.interp(values, stops, colours[:, i]) for i in range(3)], axis=-1).astype(np.uint8)


def main(*runs):
    """For ``if __name__ == "__main__"``: runs examples and says how each went."""
    wrong = 0
    for run in runs:
        result = run()
        wrong += not result.correct
        print(
            f"{result.name} on {result.device}: compiled in {result.compile_ms:.1f} ms, "
            f"runs in {result.run_ms:.3f} ms, "
            f"{result.reference} takes {result.reference_ms:.3f} ms ({result.ratio:.1f} times); "
            f"{'the results agree' if result.correct else 'THE RESULTS DIFFER'}"
        )
        for file in result.files:
            print(f"wrote {file}")
    sys.exit(1 if wrong else 0)
