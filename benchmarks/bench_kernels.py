"""Kernels of many families against the same algorithm in CUDA C, compiled by nvcc -O3 (and --use_fast_math where the
kernel says fastmath), in one run on a GPU.

    python benchmarks/bench_kernels.py [--code | --checked] [family | kernel ...]

--code needs no GPU: it prints, of each kernel, how many machine instructions and registers Krait's code and nvcc's
have, and which memory instructions (a toolkit's ptxas, nvcc and nvdisasm).
--checked measures what check=True costs: its time by the time without, of kernels that wait for memory unless told.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from common import Row, median_of_turns, print_rows
from kernels import families
from on_device import address, event_ms

from krait import cuda

MILLISECONDS_A_TURN = 12


# ---- CUDA C ----------------------------------------------------------------------------------------------------------


def _tool(name):
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def _compile_c(name, text, fast, architecture, folder):
    stem = os.path.join(folder, f"{name}_{int(fast)}")
    with open(stem + ".cu", "w") as file:
        file.write("#include <math.h>\n" + text)
    options = ["-O3", f"-arch={architecture}", "-cubin", "-o", stem + ".cubin", *(["--use_fast_math"] if fast else [])]
    done = subprocess.run([_tool("nvcc"), *options, stem + ".cu"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"nvcc failed on {name}:\n{done.stderr}")
    return stem + ".cubin"


def _compile_all(modules, architecture, folder):
    """(family, fastmath) -> path of a cubin; several nvcc at once."""
    wanted = {(name, fast): text for name, (text, fasts) in modules.items() for fast in fasts}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        made = {
            key: pool.submit(_compile_c, key[0], text, key[1], architecture, folder) for key, text in wanted.items()
        }
        return {key: future.result() for key, future in made.items()}


# ---- machine code ----------------------------------------------------------------------------------------------------


def _krait_cubin(case, architecture, folder):
    """As a launch on that GPU compiles it: krait._testing, which only a build from source has."""
    from krait import _testing, typeof

    types = "; ".join(str(typeof(argument)) for argument in case.args)
    flags = 127 if case.fastmath else 16
    path = os.path.join(folder, case.name)
    with open(path + ".ptx", "w") as file:
        file.write(_testing.compile(case.kernel.py_func, types, capability=int(architecture[3:]), fastmath=flags))
    subprocess.run([_tool("ptxas"), f"-arch={architecture}", path + ".ptx", "-o", path + ".cubin"], check=True)
    return path + ".cubin"


def _machine_code(cubin, function):
    text = subprocess.run([_tool("nvdisasm"), "-c", cubin], capture_output=True, text=True, check=True).stdout
    body = re.search(rf"^\.text\.{function}:\n(.*?)(?=^\s*\.section|\Z)", text, re.MULTILINE | re.DOTALL)[1]
    codes = re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d\s+)?([A-Z0-9_.]+)", body, re.MULTILINE)
    return [code for code in codes if code.split(".")[0] not in ("NOP", "BRA")] + ["BRA"] * codes.count("BRA")


def compare_code(names, architecture="sm_90"):
    print(f"{'kernel':<24}{'krait':>7}{'nvcc':>7}  ratio   memory instructions that differ")
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, module, chosen in _chosen(names, rng):
            compiled = _compile_all({name: (module.CUDA, {c.fastmath for c in chosen})}, architecture, folder)
            for case in chosen:
                ours = _machine_code(_krait_cubin(case, architecture, folder), "entry")
                theirs = _machine_code(compiled[name, case.fastmath], case.name)
                counts = [collections.Counter(c for c in codes if re.match(r"(LD|ST|ATOM|RED|BRA|MUFU|DMUL|F2|I2)", c))
                          for codes in (ours, theirs)]
                differ = " ".join(f"{c} {counts[0][c]}/{counts[1][c]}" for c in sorted(set(counts[0]) | set(counts[1]))
                                  if counts[0][c] != counts[1][c])
                print(f"{case.name:<24}{len(ours):>7}{len(theirs):>7}  {len(theirs) / len(ours):5.2f}   {differ}")


# ---- on a GPU --------------------------------------------------------------------------------------------------------


class _Driver:
    """What of the CUDA driver the reference kernels need."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(cuda.get_current_device().id))
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        status = getattr(self.library, name)(*args)
        if status:
            raise RuntimeError(f"{name} gave {status}")

    def function(self, cubin, name):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        with open(cubin, "rb") as file:
            self.call("cuModuleLoadData", ctypes.byref(module), file.read())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def launcher(self, cubin, case, arrays):
        function = self.function(cubin, case.name)
        values = [_c_value(arrays.get(id(argument), argument)) for argument in case.args]
        values += [ctypes.c_int(size) for size in case.sizes]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        grid, block = _dims(case.grid), _dims(case.block)

        def launch():
            self.call("cuLaunchKernel", function, *grid, *block, 0, None, pointers, None)

        launch.keeps = values
        return launch


def _dims(dims):
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    return dims + (1,) * (3 - len(dims))


def _c_value(value):
    if hasattr(value, "device_ctypes_pointer"):
        return address(value)
    if isinstance(value, np.generic):
        return np.ctypeslib.as_ctypes_type(value.dtype)(value.item())
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int(value)


def _on_device(case):
    return {id(argument): cuda.to_device(argument) for argument in case.args if isinstance(argument, np.ndarray)}


def _same(case, ours, theirs):
    for argument in case.args:
        if not isinstance(argument, np.ndarray):
            continue
        a, b = ours[id(argument)].copy_to_host(), theirs[id(argument)].copy_to_host()
        scale = max(np.abs(b).astype(float).max(), 1e-30)
        apart = np.abs(a.astype(float) - b.astype(float))
        # a few places may differ where a comparison falls the other way: iterations of fractals, races
        if (apart > case.tolerance * scale).mean() > 1e-3 or not np.isfinite(a.astype(float)).all():
            return False
    return True


def _measure(case, driver, cubin, quick):
    ours, theirs = _on_device(case), _on_device(case)
    launcher = case.kernel[case.grid, case.block]
    args = [ours.get(id(argument), argument) for argument in case.args]
    contestants = {"krait": lambda: launcher(*args), "nvcc -O3": driver.launcher(cubin, case, theirs)}
    for launch in contestants.values():
        launch()
    cuda.synchronize()
    if not _same(case, ours, theirs):
        raise RuntimeError(f"{case.name}: the results differ")
    once = min(event_ms(launch, 3, warm=False) for launch in contestants.values())
    repeat = max(3, min(200, int(MILLISECONDS_A_TURN / max(once, 1e-3))))
    return median_of_turns({who: lambda launch=launch: event_ms(launch, repeat, warm=False)
                            for who, launch in contestants.items()}, 3 if quick else 7)


def _families(names):
    """Those of which something is named; a kernel has the name of its function of CUDA C."""
    return [(family, module) for family, module in families()
            if not names or family in names or any(f" {name}(" in module.CUDA for name in names)]


def _chosen(names, rng):
    for name, module in _families(names):
        cases = [c for c in module.cases(rng) if not names or name in names or c.name in names]
        if cases:
            yield name, module, cases


def rows(quick=False, names=()):
    if not cuda.is_available():
        print("(no GPU: kernels are not measured)")
        return []
    if not _tool("nvcc"):
        print("(no nvcc: there is nothing to measure kernels against)")
        return []
    rng, driver, found, failed = np.random.default_rng(1), _Driver(), [], []
    capability = cuda.get_current_device().compute_capability
    with tempfile.TemporaryDirectory() as folder:
        modules = {name: (module.CUDA, (False, True)) for name, module in _families(names)}
        compiled = _compile_all(modules, "sm_%d%d" % tuple(capability), folder)
        for name, _, chosen in _chosen(names, rng):
            for case in chosen:
                try:
                    got = _measure(case, driver, compiled[name, case.fastmath], quick)
                except Exception as error:  # the others are still worth having
                    failed.append(f"{name}: {case.name}: {type(error).__name__}: {error}")
                    continue
                rates = {who: 1e3 / ms for who, ms in got.items()}
                ours = rates.pop("krait")
                found.append(Row("kernels: " + name, case.name, "launches/s", ours, rates, rate=True))
    _summary(found)
    for line in failed:
        print("FAILED", line)
    return found


MEMORY_BOUND = ("matrix_vector", "transpose", "csr_scalar", "five_points", "seven_points", "wave", "row_sums", "dot",
                "gather_rows", "permute", "to_grey", "leap_frog", "small_letters", "relax", "collide")


def compare_checked(names):
    ratios = {}
    for _, _, chosen in _chosen(names or MEMORY_BOUND, np.random.default_rng(1)):
        for case in chosen:
            checked = cuda.jit(**case.kernel.targetoptions | {"check": True})(case.kernel.py_func)
            kernels, arrays = {"plain": case.kernel, "checked": checked}, _on_device(case)
            args = [arrays.get(id(argument), argument) for argument in case.args]
            launches = {who: lambda kernel=kernel: kernel[case.grid, case.block](*args)
                        for who, kernel in kernels.items()}
            once = max(event_ms(launch, 3) for launch in launches.values())
            repeat = max(3, min(200, int(MILLISECONDS_A_TURN / max(once, 1e-3))))
            got = median_of_turns({who: lambda launch=launch: event_ms(launch, repeat, warm=False)
                                   for who, launch in launches.items()}, 3)
            ratios[case.name] = got["checked"] / got["plain"]
            print(f"{case.name:<24}{got['plain']:10.4f} ms{got['checked']:10.4f} ms checked  {ratios[case.name]:.2f}")
    print(f"{len(ratios)} kernels: {sum(ratio > 1.3 for ratio in ratios.values())} above 1.3")


def _summary(found):
    if not found:
        return
    ratios = np.array([row.ratio("nvcc -O3") for row in found])
    worst = sorted(zip(ratios, (row.name for row in found), strict=True))[:8]
    print(f"\n{len(found)} kernels: geometric mean {np.exp(np.log(ratios).mean()):.3f} of nvcc -O3, "
          f"{(ratios < 0.97).sum()} below 0.97")
    print("  lowest: " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in worst))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="families or kernels; all if none is named")
    parser.add_argument("--code", action="store_true", help="compare machine code; needs no GPU")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--checked", action="store_true", help="what check=True costs")
    options = parser.parse_args()
    if options.checked:
        sys.exit(compare_checked(options.names))
    if options.code:
        sys.exit(compare_code(options.names))
    print_rows(rows(options.quick, options.names))
