// SPDX-License-Identifier: Apache-2.0
// Whole networks on engine cycle with random inputs, each node compared with the int8 reference; and benches that go
// through a list of generated networks.
#ifndef BENCH_PLACED_H
#define BENCH_PLACED_H

#include "bench/bench.h"
#include "runner/network.h"
#include "workloads/networks/networks.h"

typedef struct bench_placed {
  network *net;
  run_network_result result;
} bench_placed;

// `lowering` has all that the compiler is told but the number of its processes. False after an error was reported;
// release it in any case.
bool bench_placed_run(const graph *placed, network_options lowering, uint64_t seed, bench_placed *run, wf_diag *diag);
// The same with the hart's cycles, which bench_placed_run leaves out.
bool bench_placed_run_timed(const graph *placed, network_options lowering, uint64_t seed, bench_placed *run,
                            wf_diag *diag);
void bench_placed_release(bench_placed *run);

// A bench of generated networks: `measure` adds the rows of one, which is quantised and placed for the job's array.
typedef struct bench_network_list {
  const char *only;          // names with commas between; NULL: all
  const char *const *names;  // the bench's own
  size_t count;
  networks_options made;
  bench_end (*measure)(const bench_job *job, bench_table *table, const char *name, const hw_array *array,
                       const graph *placed);
} bench_network_list;

// The worst end of all; nothing more is run once a network cannot be built. A network with wrong bytes does not stop
// the others.
bench_end bench_networks_run(const bench_job *job, bench_table *table, const bench_network_list *list);

#endif
