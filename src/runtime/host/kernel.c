/* kernel.c: kernels of the host device (runtime/device.h): machine code of this process, launched on its cores.
 *
 * In: a DeviceCode's HostKernel; at a launch, the arguments in the layout of their types.  Out: every thread has run
 * when the launch returns (launch.c), or the report says which did not.
 *
 * The limits are those of a real GPU, so that what runs here runs there. */
#include <stdlib.h> /* calloc */

#include "runtime/host/host.h"

enum { BEST_BLOCK = 256, RESIDENT_THREADS = 2048 };

typedef struct LoadedKernel {
    DeviceKernel base;
    HostKernel *code;
    size_t exception_bytes;
    bool fibers, together, prints, races;
} LoadedKernel;

int host_kernel_load(Device *device, const DeviceCode *code, char *log, size_t log_bytes, DeviceKernel **kernel) {
    LoadedKernel *loaded = calloc(1, sizeof *loaded);
    (void)log, (void)log_bytes;
    if (!loaded) return HOST_NO_MEMORY;
    *loaded = (LoadedKernel){.base = {.device = device,
                                      .generation = device->generation,
                                      .static_shared = (int)code->shared_bytes,
                                      .dynamic_limit = device->max_block_shared - (int)code->shared_bytes},
                             .code = code->host,
                             .exception_bytes = code->exception_bytes,
                             .fibers = code->barriers,
                             .together = code->waits_for_grid,
                             .prints = code->prints,
                             .races = code->watches_races};
    *kernel = &loaded->base;
    return 0;
}

void host_kernel_free(DeviceKernel *kernel) { free(kernel); }

int host_kernel_fact(DeviceKernel *kernel, KernelFact fact, int *value) {
    const LoadedKernel *loaded = (LoadedKernel *)kernel;
    *value = fact == KERNEL_MAX_THREADS    ? MAX_BLOCK_THREADS
             : fact == KERNEL_SHARED_BYTES ? kernel->static_shared
             : fact == KERNEL_LOCAL_BYTES  ? (int)loaded->code->stack_bytes
                                           : 0;
    return 0;
}

int host_kernel_allow_shared(DeviceKernel *kernel, unsigned bytes) {
    (void)kernel, (void)bytes;
    return 0;
}

int host_best_block(DeviceKernel *kernel, size_t shared_bytes, int *threads) {
    (void)kernel, (void)shared_bytes;
    *threads = BEST_BLOCK;
    return 0;
}

int host_blocks_at_once(DeviceKernel *kernel, int threads, size_t shared_bytes, int *blocks) {
    (void)kernel, (void)shared_bytes;
    *blocks = threads > 0 ? RESIDENT_THREADS / threads : 0;
    return 0;
}

static bool is_quiet(const LaunchReport *report) {
    return report->status == 0 && !report->stuck && !report->interrupted && !report->raced && !report->unwatched &&
           report->bad_site == UINT32_MAX;
}

static int why_not(const LaunchReport *report) { return report->needed_bytes ? HOST_NO_MEMORY : HOST_WRONG; }

static int launch_printing(HostLaunch *launch, LaunchReport *report) {
    HostPrints prints;
    host_prints_init(&prints);
    launch->prints = &prints;
    bool ran = host_device_launch(launch, report);
    host_prints_take(&prints, &report->printed, &report->printed_bytes, &report->lost);
    if (!ran) {
        free(report->printed);
        report->printed = NULL;
        return why_not(report);
    }
    return report->printed || report->lost || !is_quiet(report) ? DEVICE_REPORTS : 0;
}

int host_launch(DeviceKernel *kernel, const LaunchConfig *config, const void *params, LaunchReport *report) {
    const LoadedKernel *loaded = (LoadedKernel *)kernel;
    HostLaunch launch = {.kernel = loaded->code,
                         .shared_static = (size_t)kernel->static_shared,
                         .shared_dynamic = config->shared_bytes,
                         .fibers = loaded->fibers,
                         .together = loaded->together,
                         .races = loaded->races,
                         .args = params,
                         .exception = report->exception,
                         .exception_bytes = loaded->exception_bytes};
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = (int32_t)config->grid.x[i];
        launch.block[i] = (int32_t)config->block.x[i];
    }
    if (loaded->prints) return launch_printing(&launch, report);
    if (!host_device_launch(&launch, report)) return why_not(report);
    return is_quiet(report) ? 0 : DEVICE_REPORTS;
}
