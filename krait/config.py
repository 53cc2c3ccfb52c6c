"""Settings by the names that Numba's programs read and set; each says what it has to do with Krait.

The environment variables of Krait are listed in docs/manual/looking-inside.md.
"""

import os

from . import _krait

# One kind of threads, which is safe in every way that Numba's layers are chosen for.
THREADING_LAYER = "pool"
THREADING_LAYER_PRIORITY = ["pool"]

# What a function's options say, and what code is always made for: setting one changes nothing.
DISABLE_JIT = 0
BOUNDSCHECK = None
OPT = 3
LOOP_VECTORIZE = SLP_VECTORIZE = 1
ENABLE_AVX = True
CPU_NAME = CPU_FEATURES = None
DISABLE_INTEL_SVML = True
FUNCTION_CACHE_SIZE = 128
CACHE_DIR = os.environ.get("KRAIT_CACHE_DIR", "")

# Messages are whole, and in one colour; KRAIT_DUMP prints what each stage of a compilation leaves.
COLOR_SCHEME = "no_color"
FULL_TRACEBACKS = DEVELOPER_MODE = SHOW_HELP = 0
DISABLE_PERFORMANCE_WARNINGS = WARNINGS = 0
DEBUG = DEBUG_JIT = DEBUG_FRONTEND = DEBUG_TYPEINFER = DEBUG_CACHE = DEBUGINFO_DEFAULT = 0
DUMP_BYTECODE = DUMP_CFG = DUMP_IR = DUMP_SSA = DUMP_LLVM = DUMP_OPTIMIZED = DUMP_ASSEMBLY = DUMP_ANNOTATION = 0
PARALLEL_DIAGNOSTICS = 0
CAPTURED_ERRORS = "new_style"


def reload_config():
    """Nothing: what Krait reads of the environment, it reads where it is needed."""


def __getattr__(name):
    if name in ("NUMBA_NUM_THREADS", "NUMBA_DEFAULT_NUM_THREADS", "KRAIT_NUM_THREADS"):
        return _krait._most_threads()  # KRAIT_NUM_THREADS, or as many as there are cores for the process
    if not name.startswith("_"):
        from .cuda import config as cuda_config

        if hasattr(cuda_config, name):
            return getattr(cuda_config, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
