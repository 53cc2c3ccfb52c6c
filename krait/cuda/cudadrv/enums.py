"""Numbers of the driver by the names that numba.cuda.cudadrv.enums has: its failures, CUDA_ERROR_OUT_OF_MEMORY is 2, as
is `code` of that CudaAPIError; attributes of devices; flags and options."""

from ... import _krait

# Prefix: names of the numbers from 0 on, or a number before a name.
_NUMBERED = {
    "CU_CTX": "SCHED_AUTO SCHED_SPIN SCHED_YIELD 4 SCHED_BLOCKING_SYNC 8 MAP_HOST 16 LMEM_RESIZE_TO_MAX",
    "CU_STREAM": "DEFAULT NON_BLOCKING 1 LEGACY PER_THREAD",
    "CU_EVENT": "DEFAULT BLOCKING_SYNC DISABLE_TIMING 4 INTERPROCESS",
    "CU_MEMHOSTALLOC": "1 PORTABLE DEVICEMAP 4 WRITECOMBINED",
    "CU_MEMHOSTREGISTER": "1 PORTABLE DEVICEMAP 4 IOMEMORY 8 READ_ONLY",
    "CU_MEM_ATTACH": "1 GLOBAL HOST 4 SINGLE",
    "CU_MEMORYTYPE": "1 HOST DEVICE ARRAY UNIFIED",
    "CU_POINTER_ATTRIBUTE": "1 CONTEXT MEMORY_TYPE DEVICE_POINTER HOST_POINTER P2P_TOKENS SYNC_MEMOPS BUFFER_ID "
    "IS_MANAGED DEVICE_ORDINAL",
    "CU_FUNC_ATTRIBUTE": "MAX_THREADS_PER_BLOCK SHARED_SIZE_BYTES CONST_SIZE_BYTES LOCAL_SIZE_BYTES NUM_REGS "
    "PTX_VERSION BINARY_VERSION CACHE_MODE_CA MAX_DYNAMIC_SHARED_SIZE_BYTES PREFERRED_SHARED_MEMORY_CARVEOUT",
    "CU_FUNC_CACHE": "PREFER_NONE PREFER_SHARED PREFER_L1 PREFER_EQUAL",
    "CU_JIT": "MAX_REGISTERS THREADS_PER_BLOCK WALL_TIME INFO_LOG_BUFFER INFO_LOG_BUFFER_SIZE_BYTES ERROR_LOG_BUFFER "
    "ERROR_LOG_BUFFER_SIZE_BYTES OPTIMIZATION_LEVEL TARGET_FROM_CUCONTEXT TARGET FALLBACK_STRATEGY GENERATE_DEBUG_INFO "
    "LOG_VERBOSE GENERATE_LINE_INFO CACHE_MODE",
    "CU_JIT_INPUT": "CUBIN PTX FATBINARY OBJECT LIBRARY NVVM",
    "CU_COMPUTEMODE": "DEFAULT EXCLUSIVE PROHIBITED EXCLUSIVE_PROCESS",
    "CU_OCCUPANCY": "DEFAULT DISABLE_CACHING_OVERRIDE",
    "CU_IPC_MEM": "1 LAZY_ENABLE_PEER_ACCESS",
}


def _numbers():
    for prefix, names in _NUMBERED.items():
        number = 0
        for name in names.split():
            if name.isdigit():
                number = int(name)
            else:
                yield f"{prefix}_{name}", number
                number += 1


CUDA_SUCCESS = 0
_all = {name: number for number, name, *_ in _krait.driver_errors()}
_all.update((f"CU_DEVICE_ATTRIBUTE_{name}", number) for name, number in _krait.device_attributes())
_all.update(_numbers())
globals().update(_all)
__all__ = ["CUDA_SUCCESS", *_all]
