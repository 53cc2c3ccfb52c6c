"""Settings by the names that Numba's programs set; each says what it has to do with Krait.

The environment variables of Krait are listed in docs/manual/looking-inside.md.
"""

import os

# Krait prints nothing about occupancy and copies, so these change nothing.
CUDA_LOW_OCCUPANCY_WARNINGS = 0
CUDA_WARN_ON_IMPLICIT_COPY = 0
CUDA_LOG_LEVEL = ""
CUDA_PER_THREAD_DEFAULT_STREAM = 0
CUDA_USE_NVIDIA_BINDING = 0
CUDA_ENABLE_PYNVJITLINK = 0
CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY = 0

# No simulator: where there is no GPU, kernels are compiled for the host.
ENABLE_CUDASIM = 0
DISABLE_CUDA = int(os.environ.get("KRAIT_CUDA_DEVICE") == "cpu")
DISABLE_JIT = 0
CUDA_DEFAULT_PTX_CC = (7, 5)
