// SPDX-License-Identifier: Apache-2.0
// Independent tasks on several threads.
#ifndef BASE_TASKS_H
#define BASE_TASKS_H

#include <stddef.h>

// Processors that this process may run on; at least 1.
unsigned wf_processors(void);

// Carries out tasks 0 to count - 1, begun in this order, and returns when all are done. The calling thread is one of
// the `threads` (0: one for each processor); fewer than asked for do as well.
void wf_run_tasks(size_t count, unsigned threads, void (*task)(void *context, size_t number), void *context);

#endif
