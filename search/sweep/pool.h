// SPDX-License-Identifier: Apache-2.0
// Processes that measure: children of this one, and workers elsewhere that a socket leads to.
//
// A child that dies or takes too long costs the request that it had, which comes back as a failure, and is replaced. A
// worker elsewhere that is gone costs nothing but time: its request comes back as lost, to be given again.
#ifndef SEARCH_SWEEP_POOL_H
#define SEARCH_SWEEP_POOL_H

#include <stdbool.h>

#include "search/sweep/work.h"

typedef struct sweep_pool sweep_pool;
typedef void sweep_pool_done(void *context, const sweep_work_request *request, const sweep_work_result *result);
typedef void sweep_pool_work(const sweep_work_context *context, const sweep_work_memory *memory,
                             const sweep_work_request *request, sweep_work_result *result);

// `jobs` children (0: none) that do `work`, and share what they know of runs; requests that take longer than `timeout`
// seconds fail (0: none do). `context` goes to the work; may be NULL.
sweep_pool *sweep_pool_create(unsigned jobs, double timeout, sweep_pool_work *work, const sweep_work_context *context);
// Ends the children.
void sweep_pool_destroy(sweep_pool *p);
// A worker at the other end of a socket (sweep_pool_serve); the pool closes it.
void sweep_pool_add_remote(sweep_pool *p, int socket);

// A worker without request: the same number is the same worker as long as it lives. SWEEP_POOL_NONE: there is none.
#define SWEEP_POOL_NONE SIZE_MAX
size_t sweep_pool_free_worker(const sweep_pool *p);
static inline bool sweep_pool_has_free(const sweep_pool *p) { return sweep_pool_free_worker(p) != SWEEP_POOL_NONE; }
unsigned sweep_pool_busy(const sweep_pool *p);  // requests under way
unsigned sweep_pool_workers(const sweep_pool *p);
// To the worker that sweep_pool_free_worker names.
void sweep_pool_give(sweep_pool *p, const sweep_work_request *request);
// Waits at most so long for something to happen and calls `done` for each result that came; steps are gone behind it. A
// descriptor other than -1 is watched as well: true when it can be read.
bool sweep_pool_wait(sweep_pool *p, int milliseconds, int watched, sweep_pool_done *done, void *context);

// Works for a pool elsewhere until the socket ends: its requests go to the children of a pool of one.
void sweep_pool_serve(int socket, double timeout, sweep_pool_work *work, const sweep_work_context *context);

#endif
