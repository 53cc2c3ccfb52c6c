/* pool.h: worker threads that help a caller with numbered pieces of work; private to runtime/host. */
#ifndef KRAIT_RUNTIME_HOST_POOL_H
#define KRAIT_RUNTIME_HOST_POOL_H

/* One piece of work for several threads.  `run` is entered by the caller and by each helper once, by some perhaps when
 * all is done, and returns when nothing is left to take.  `who` is 0 for the caller, else the number of the worker,
 * from 1 on: the same thread each time, which may choose the work whose data it has in its cache. */
typedef struct PoolTask PoolTask;
struct PoolTask {
    void (*run)(PoolTask *self, unsigned who);
};

/* Runs the task on the caller and on up to `helpers` workers; returns when all have left it. */
void pool_run(PoolTask *task, unsigned helpers);
unsigned pool_threads(void); /* the caller's included */

#endif
