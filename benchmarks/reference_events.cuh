/* reference_events.cuh: how the references measure: milliseconds of one piece of work on the device, by events around
 * `repeat` of them, after one that is not counted; -1: it failed. */
#pragma once

template <class Work> static float measure(int repeat, Work work) {
    cudaEvent_t start, end;
    float milliseconds = 0;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    work();
    cudaEventRecord(start);
    for (int i = 0; i < repeat; i++) work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, start, end);
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    return cudaGetLastError() == cudaSuccess ? milliseconds / repeat : -1.0f;
}
