"""krait.config: settings by the names that Numba has them, from environment variables KRAIT_<name>.

Some say how Krait is, and setting them changes nothing; the others are properties here.  The variables are listed in
docs/manual/looking-inside.md.
"""

import operator
import os
import sys

from . import _krait

# How Krait is: one kind of threads, which is safe in every way that Numba's layers are chosen for; options say of each
# function what code is made; KRAIT_DUMP prints what each stage leaves; kernels have no simulator beside them.
_FIXED = {
    **dict.fromkeys(("BOUNDSCHECK", "CPU_FEATURES", "CPU_NAME", "FORCE_CUDA_CC")),
    **dict.fromkeys((
        "CUDA_DEBUGINFO_DEFAULT", "CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY", "CUDA_ENABLE_NRT",
        "CUDA_ENABLE_PYNVJITLINK", "CUDA_LOG_API_ARGS", "CUDA_PER_THREAD_DEFAULT_STREAM", "CUDA_USE_NVIDIA_BINDING",
        "DEBUG", "DEBUGINFO_DEFAULT", "DEBUG_CACHE", "DEBUG_FRONTEND", "DEBUG_JIT", "DEBUG_TYPEINFER",
        "DEVELOPER_MODE", "DISABLE_PERFORMANCE_WARNINGS", "DUMP_ANNOTATION", "DUMP_ASSEMBLY",
        "DUMP_BYTECODE", "DUMP_CFG", "DUMP_IR", "DUMP_LLVM", "DUMP_OPTIMIZED", "DUMP_SSA", "ENABLE_CUDASIM",
        "DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "ENABLE_PROFILING", "NRT_STATS",
        "FULL_TRACEBACKS", "PARALLEL_DIAGNOSTICS", "SHOW_HELP", "WARNINGS", "ALWAYS_WARN_UNINIT_VAR", "ANNOTATE",
        "DEBUG_ARRAY_OPT", "DEBUG_ARRAY_OPT_RUNTIME", "DEBUG_ARRAY_OPT_STATS", "DEBUG_INLINE_CLOSURE", "DEBUG_NRT",
        "DEBUG_NRT_STACK_LIMIT", "DIFF_IR", "DISABLE_TYPEINFER_FAIL_CACHE", "DUMP_FUNC_OPT", "ENABLE_SYS_MONITORING",
        "EXTEND_VARIABLE_LIFETIMES", "HIGHLIGHT_DUMPS", "JIT_COVERAGE", "LLVM_PASS_TIMINGS", "TRACE"), 0),
    **dict.fromkeys(("DEBUG_PRINT_AFTER", "DEBUG_PRINT_BEFORE", "DEBUG_PRINT_WRAP"), "none"),
    **dict.fromkeys(("IS_32BITS", "IS_OSX", "IS_WIN32", "RUNNING_UNDER_PROFILER", "USING_SVML"), False),
    **dict.fromkeys(("HTML", "USE_LLVMLITE_MEMORY_MANAGER")),
    "CACHE_LOCATOR_CLASSES": "",
    "GDB_BINARY": "gdb",
    "LLVM_REFPRUNE_FLAGS": "all",
    "LLVM_REFPRUNE_PASS": 1,
    "MACHINE_BITS": 64,
    "PARFOR_MAX_TUPLE_SIZE": 100,
    "PYVERSION": sys.version_info[:2],
    **dict.fromkeys(("CUDA_DEBUG_POLY", "CUDA_DEBUG_POLY_USE_TYPED_CONST", "CUDA_NRT_STATS"), 0),
    "CAPTURED_ERRORS": "new_style",
    "CHROME_TRACE": "",
    "COLOR_SCHEME": "no_color",
    "CUDA_DEALLOCS_COUNT": 10,
    "CUDA_DEALLOCS_RATIO": 0.2,
    "CUDA_DEFAULT_PTX_CC": (7, 5),
    "CUDA_LOG_LEVEL": "",
    "CUDA_LOG_SIZE": 8192,
    "CUDA_VERBOSE_JIT_LOG": 1,
    "DISABLE_INTEL_SVML": True,
    "ENABLE_AVX": True,
    "FUNCTION_CACHE_SIZE": 128,
    "LOOP_VECTORIZE": 1,
    "OPT": 3,
    "SLP_VECTORIZE": 1,
    "THREADING_LAYER_PRIORITY": ["pool"],
}

_LAYERS = ("pool", "default", "safe", "threadsafe", "forksafe", "workqueue", "omp", "tbb")


def _report(name, bit):
    def read(self):
        return int(_krait.reports() & bit != 0)

    def write(self, value):
        _krait.reports(_krait.reports() & ~bit | (bit if int(value) else 0))

    return property(read, write, doc=f"KRAIT_{name}")


def _variable(name, doc):
    def read(self):
        return os.environ.get(f"KRAIT_{name}", "")

    def write(self, value):
        os.environ[f"KRAIT_{name}"] = os.fspath(value)

    return property(read, write, doc=f"KRAIT_{name}: {doc}")


_MOST = 1024  # threads that there can be (src/runtime/host/pool.c)


class _Config:
    """What the environment set, and what programs may set."""

    def __init__(self):
        self.reload_config()

    def reload_config(self):
        """Takes from the environment what it says now."""
        self.__dict__.update(_FIXED)
        self._layer = "pool"
        self.DISABLE_JIT = os.environ.get("KRAIT_DISABLE_JIT", "0") not in ("", "0")

    def _most_threads(self):
        """KRAIT_NUM_THREADS: how many threads there are; it may be set until they are counted for the first time."""
        return _krait._most_threads()

    def _set_most_threads(self, number):
        number, before = operator.index(number), os.environ.get("KRAIT_NUM_THREADS")
        if not 1 <= number <= _MOST:
            raise ValueError(f"the number of threads is at least 1 and at most {_MOST}, not {number}")
        os.environ["KRAIT_NUM_THREADS"] = str(number)
        if self._most_threads() == number:
            return
        os.environ.pop("KRAIT_NUM_THREADS")
        os.environ.update({} if before is None else {"KRAIT_NUM_THREADS": before})
        raise RuntimeError(
            f"there are {self._most_threads()} threads already: set their number before the first parallel loop and "
            "the first get_num_threads(), or in the environment, KRAIT_NUM_THREADS; set_num_threads(n) uses fewer"
        )

    NUMBA_NUM_THREADS = KRAIT_NUM_THREADS = property(_most_threads, _set_most_threads)
    NUMBA_DEFAULT_NUM_THREADS = property(_most_threads)

    @property
    def THREADING_LAYER(self):
        """The kind of threads that is asked for, by the names that Numba has, too: all of them are the one pool."""
        return self._layer

    @THREADING_LAYER.setter
    def THREADING_LAYER(self, name):
        if name not in _LAYERS:
            raise ValueError(f"no threading layer is named {name!r}: there are {', '.join(map(repr, _LAYERS))}")
        self._layer = name

    # Performance warnings, once for each kernel and configuration; not unless they are asked for.
    CUDA_LOW_OCCUPANCY_WARNINGS = _report("CUDA_LOW_OCCUPANCY_WARNINGS", 1)
    CUDA_WARN_ON_IMPLICIT_COPY = _report("CUDA_WARN_ON_IMPLICIT_COPY", 2)

    @property
    def DISABLE_JIT(self):
        """KRAIT_DISABLE_JIT: functions that jit decorates from now on stay functions of the interpreter."""
        return int(_krait.interpreted())

    @DISABLE_JIT.setter
    def DISABLE_JIT(self, value):
        _krait.interpreted(value)

    @property
    def DISABLE_CUDA(self):
        """Whether kernels run on the host device because the environment says so."""
        return int(os.environ.get("KRAIT_CUDA_DEVICE") == "cpu")

    @property
    def CUDA_MEMORY_MANAGER(self):
        """KRAIT_CUDA_MEMORY_MANAGER: the module whose memory manager gives devices their memory; "default": none."""
        return os.environ.get("KRAIT_CUDA_MEMORY_MANAGER") or "default"

    CUDA_DRIVER = _variable("CUDA_DRIVER", "the path of the driver's library; before a device is used first")
    CUDA_INCLUDE_PATH = _variable("CUDA_INCLUDE_PATH", "folders of headers for CUDA C that is linked, with : between")
    CUDA_NVRTC_EXTRA_SEARCH_PATHS = CUDA_INCLUDE_PATH

    @property
    def CUDA_ARRAY_INTERFACE_SYNC(self):
        """KRAIT_CUDA_ARRAY_INTERFACE_SYNC: 0: as_cuda_array() does not wait for what made an array."""
        return int(os.environ.get("KRAIT_CUDA_ARRAY_INTERFACE_SYNC") != "0")

    @CUDA_ARRAY_INTERFACE_SYNC.setter
    def CUDA_ARRAY_INTERFACE_SYNC(self, value):
        os.environ["KRAIT_CUDA_ARRAY_INTERFACE_SYNC"] = str(int(value))

    @property
    def CACHE_DIR(self):
        """KRAIT_CACHE_DIR: where compiled code is kept."""
        return os.environ.get("KRAIT_CACHE_DIR", "")

    @CACHE_DIR.setter
    def CACHE_DIR(self, folder):
        os.environ["KRAIT_CACHE_DIR"] = os.fspath(folder)


config = _Config()
