"""Prints which public names of numba.cuda krait.cuda has: docs/reference/numba-cuda.md.

    python tools/make_status.py [FILE]     FILE: docs/reference/numba-cuda.md beside this script unless told

A name is there if krait.cuda, or the class that has it, has it; what is not says what to use instead.
"""

import sys
from pathlib import Path

from krait import cuda

SECTIONS = {
    "Compiling": (cuda, "jit declare_device compile compile_ptx compile_for_current_device "
                  "compile_ptx_for_current_device compile_all vectorize guvectorize reduce Reduce"),
    "Memory": (cuda, "to_device device_array device_array_like pinned_array pinned_array_like mapped_array "
               "mapped_array_like managed_array pinned mapped as_cuda_array from_cuda_array_interface is_cuda_array "
               "In Out InOut defer_cleanup open_ipc_array set_memory_manager BaseCUDAMemoryManager "
               "HostOnlyCUDAMemoryManager GetIpcHandleMixin MemoryPointer MappedMemory PinnedMemory MemoryInfo"),
    "Streams and events": (cuda, "stream default_stream legacy_default_stream per_thread_default_stream "
                           "external_stream event event_elapsed_time synchronize"),
    "Devices": (cuda, "select_device get_current_device current_context list_devices gpus require_context close "
                "is_available cuda_error is_supported_version detect runtime is_float16_supported "
                "is_bfloat16_supported is_fp8_supported implementation HAS_NUMBA profiling profile_start profile_stop "
                "CudaSupportError config cudadrv"),
    "Submodules and linking": (cuda, "random libdevice fp16 bf16 fp8 cg types args extending launchconfig "
                               "PTXSource CUSource Cubin Fatbin Archive Object LTOIR LinkableCode"),
    "In kernels: places, memory, barriers": (
        cuda, "threadIdx blockIdx blockDim gridDim laneid warpsize grid gridsize shared local const syncthreads "
        "syncthreads_count syncthreads_and syncthreads_or syncwarp threadfence threadfence_block threadfence_system "
        "nanosleep breakpoint carray farray ldca ldcg ldcs ldlu ldcv stcg stcs stwb stwt"),
    "In kernels: warps, atomics, integers": (
        cuda, "shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync all_sync any_sync eq_sync ballot_sync "
        "match_any_sync match_all_sync activemask lanemask_lt atomic popc clz ffs brev fma cbrt selp "
        "literal_unroll"),
    "Vector types": (cuda, " ".join(f"{kind}x{n}" for kind in "int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
                                    "float32 float64".split() for n in (1, 2, 3, 4))),
    "Device arrays": (cuda.DeviceArray, "shape strides dtype ndim size nbytes T copy_to_host copy_to_device reshape "
                      "ravel view transpose squeeze split bind is_c_contiguous is_f_contiguous get_ipc_handle getitem "
                      "setitem __array__ __len__ __cuda_array_interface__ device_ctypes_pointer flags __dlpack__"),
    "Streams": (cuda.Stream, "synchronize auto_synchronize add_callback async_done handle __cuda_stream__ __int__"),
    "Events": (cuda.Event, "record query synchronize wait elapsed_time"),
    "A device": (cuda.Device, "id name uuid compute_capability supports_float16 supports_bfloat16 supports_fp8 reset"),
    "A context": (cuda.Context, "get_memory_info memalloc memhostalloc mempin memallocmanaged get_ipc_handle "
                  "open_ipc_handle enable_peer_access can_access_peer create_module_ptx create_module_image "
                  "unload_module create_stream create_event create_external_stream "
                  "get_active_blocks_per_multiprocessor get_max_potential_block_size defer_cleanup push pop reset "
                  "synchronize"),
    "Kernels": (cuda.Kernel, "overloads signatures nopython_signatures specialize specialized forall extensions "
                "py_func targetoptions stats compile compile_device recompile disable_compile get_metadata "
                "inspect_llvm "
                "inspect_asm inspect_lto_ptx inspect_sass inspect_types get_regs_per_thread get_const_mem_size "
                "get_shared_mem_per_block get_local_mem_per_thread get_max_threads_per_block configure"),
}
INSTEAD = {
    **dict.fromkeys("CUSource Cubin Fatbin Archive Object LTOIR".split(), "`PTXSource` of what `nvcc -ptx` made"),
    "extending": "plain Python functions are compiled with what calls them",
    "inspect_sass": "`inspect_ptx` and `ptxas`",
    "get_max_potential_block_size": "`kernel.forall(n)`",
}


def lines():
    there = {
        title: [name for name in names.split() if hasattr(home, name)] for title, (home, names) in SECTIONS.items()
    }
    total = sum(len(names.split()) for _, names in SECTIONS.values())
    yield from ("# Names of numba.cuda", "", "Printed by `tools/make_status.py`.", "")
    yield f"{sum(map(len, there.values()))} of {total} names are there."
    for title, (_, names) in SECTIONS.items():
        missing = [name for name in names.split() if name not in there[title]]
        yield from ("", f"## {title}", "")
        yield "There: " + (", ".join(f"`{name}`" for name in there[title]) or "none") + "."
        for name in missing:
            yield from ("", f"Not there: `{name}`" + (f": {INSTEAD[name]}." if name in INSTEAD else "."))


def main(file):
    Path(file).write_text("\n".join(lines()) + "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "reference" / "numba-cuda.md")
