// SPDX-License-Identifier: Apache-2.0
// A wish to end long work early. Who does the work looks now and then; another thread, a signal or a callback says it.
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct wf_stop {
  atomic_bool wanted;
} wf_stop;

static inline void wf_stop_set(wf_stop *stop, bool wanted) {
  atomic_store_explicit(&stop->wanted, wanted, memory_order_relaxed);
}
// NULL: it is never wanted.
static inline bool wf_stop_wanted(const wf_stop *stop) {
  return stop != NULL && atomic_load_explicit(&stop->wanted, memory_order_relaxed);
}

#endif
