// SPDX-License-Identifier: Apache-2.0
// Seconds: of the wall, of the thread's processor, of the process's processor. Differences mean something, numbers do
// not.
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <time.h>

static inline double wf_clock_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double wf_seconds(void) { return wf_clock_seconds(CLOCK_MONOTONIC); }
static inline double wf_thread_seconds(void) { return wf_clock_seconds(CLOCK_THREAD_CPUTIME_ID); }
static inline double wf_process_seconds(void) { return wf_clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }

#endif
