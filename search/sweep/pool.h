// Processes that measure: children of this one, and workers elsewhere that a socket leads to.
//
// A child that dies or takes too long costs the request that it had, which comes back as a failure, and is replaced. A
// worker elsewhere that is gone costs nothing but time: its request comes back as lost, to be given again.
#ifndef SEARCH_SWEEP_POOL_H
#define SEARCH_SWEEP_POOL_H

#include <stdbool.h>

#include "search/sweep/work.h"

typedef struct pool pool;
typedef void pool_done(void *context, const work_request *request, const work_result *result);
typedef void pool_work(run_known *known, const work_request *request, work_result *result);

// `jobs` children (0: none) that do `work`, and share what they know of runs; requests that take longer than `timeout`
// seconds fail (0: none do).
pool *pool_create(unsigned jobs, double timeout, pool_work *work);
// Ends the children.
void pool_destroy(pool *p);
// A worker at the other end of a socket (pool_serve); the pool closes it.
void pool_add_remote(pool *p, int socket);

bool pool_has_free(const pool *p);  // a worker without request
unsigned pool_busy(const pool *p);  // requests under way
unsigned pool_workers(const pool *p);
// To a free worker.
void pool_give(pool *p, const work_request *request);
// Waits at most so long for something to happen and calls `done` for each result that came. A descriptor other than -1
// is watched as well: true when it can be read.
bool pool_wait(pool *p, int milliseconds, int watched, pool_done *done, void *context);

// Works for a pool elsewhere until the socket ends: its requests go to the children of a pool of one.
void pool_serve(int socket, double timeout, pool_work *work);

#endif
