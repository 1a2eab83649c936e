// SPDX-License-Identifier: Apache-2.0
// Parallel tasks: see tasks.h.
#define _GNU_SOURCE  // sched_getaffinity
#include "base/tasks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

typedef struct tasks {
  void (*task)(void *context, size_t number);
  void *context;
  size_t count;
  atomic_size_t next;
} tasks;

unsigned wf_processors(void) {
  cpu_set_t set;
  const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return count > 0 ? (unsigned)count : 1;
}

static void *work(void *context) {
  tasks *all = context;
  for (size_t n; (n = atomic_fetch_add(&all->next, 1)) < all->count;) all->task(all->context, n);
  return NULL;
}

void wf_run_tasks(size_t count, unsigned threads, void (*task)(void *context, size_t number), void *context) {
  enum { THREADS_MAX = 64 };
  tasks all = {.task = task, .context = context, .count = count};
  pthread_t handles[THREADS_MAX];
  if (threads == 0) threads = wf_processors();
  unsigned started = 0;
  while (started + 1 < threads && started < THREADS_MAX && started + 1 < count &&
         pthread_create(&handles[started], NULL, work, &all) == 0)
    started++;
  work(&all);
  for (unsigned n = 0; n < started; n++) pthread_join(handles[n], NULL);
}
