// SPDX-License-Identifier: Apache-2.0
// The unit of a sweep's work: one layer, or one network program, on one array. Requests and results are plain bytes of
// fixed size, so that they can be sent to other processes, and to other machines that run the same build. Behind the
// result of a program come its steps.
#ifndef SEARCH_SWEEP_WORK_H
#define SEARCH_SWEEP_WORK_H

#include <stdint.h>

#include "compiler/mapping/mapping.h"
#include "hw/array.h"
#include "hw/tech.h"
#include "runner/known.h"
#include "runner/measure.h"
#include "search/layers/program.h"

// What requests name by numbers, the same in all processes.
typedef struct sweep_work_context {
  const layers_program *programs;
  size_t program_count;
  const hw_tech *tech;  // of all arrays; NULL: what the request's array says
} sweep_work_context;

// What a worker remembers of earlier requests, to save work; each may be NULL.
typedef struct sweep_work_memory {
  run_known *known;
  run_programs *programs;
} sweep_work_memory;

typedef struct sweep_work_request {
  uint64_t id;  // the sender's
  hw_array array;
  map_layer layer;
  uint32_t program;    // 1 and the number of a program, which is measured in place of the layer; 0: none
  uint32_t all_steps;  // of a program: equal steps run, too
  uint32_t tune;
  uint32_t searched;      // take the best of this number of mappings that the model of the machine finds
  uint32_t objective;     // plain_objective
  uint32_t mapped;        // with the mapping that is given
  uint32_t array_energy;  // energy_pj of results is what models of arrays count
  uint32_t fidelity;      // run_fidelity
  uint32_t accounted;     // with what the cycles depend on (engine flow)
  map_mapping mapping;
} sweep_work_request;

// X(NAME, text)
#define WORK_STATUSES(X)                                             \
  X(GOOD, "good")                                                    \
  X(CANNOT_MAP, "cannot map")                                        \
  X(FAULT, "fault")     /* the accelerator stopped */                \
  X(TIMEOUT, "timeout") /* took longer than the sweep allows */      \
  X(CRASHED, "crashed") /* the process that measured it died */      \
  X(LOST, "lost")       /* the machine that had it is gone: again */ \
  X(IMPOSSIBLE, "impossible array")
typedef enum {
#define X(NAME, text) WORK_##NAME,
  WORK_STATUSES(X)
#undef X
      WORK_STATUS_COUNT
} sweep_work_status;
extern const char *const sweep_work_status_names[WORK_STATUS_COUNT];

typedef struct sweep_work_step sweep_work_step;

enum { WORK_REASON = 512, WORK_MAPPING = 1024, WORK_UNITS = 1 << 14, WORK_HOST = 64, WORK_BOUND = 96 };

typedef struct sweep_work_result {
  uint64_t id;
  uint32_t status;  // sweep_work_status
  uint32_t has_energy;
  uint32_t known;   // needed no run: the same had been run before
  uint32_t shared;  // was not compiled: another array had got the same program
  uint64_t cycles, macs, commands, read_bytes, written_bytes, program_digest;
  double utilisation;
  double energy_pj;  // of the whole, unless the request asks for array_pj here
  double array_pj;   // what models of arrays count (sim/figures.h)
  double part_pj[SIM_PARTS];
  double compile_seconds, simulate_seconds, wall_seconds;
  char bound[WORK_BOUND];
  char reason[WORK_REASON];    // of a failure: the first message
  char mapping[WORK_MAPPING];  // text; empty: none
  char units[WORK_UNITS];      // JSON: what each unit spent its cycles on
  char host[WORK_HOST];
  sim_flow_account account;  // of a layer, if it was asked for
  uint32_t step_count;       // of a program
  sweep_work_step *steps;    // released by sweep_work_release
} sweep_work_result;

// Equal steps of a program: figures are sums over all of them.
enum { WORK_NAME = 128, WORK_KERNEL = 512 };
struct sweep_work_step {
  char name[WORK_NAME];      // of the first
  char kernel[WORK_KERNEL];  // with its arguments, or the operators of the hart
  uint32_t on_host, edge;
  uint32_t in_table;  // a layer of the program's table (layers_of_graph): a product or convolution of a node
  uint64_t shape;
  int64_t count;
  sweep_work_result figures;
};

// `context` may be NULL if no request names anything of it.
void sweep_work_measure(const sweep_work_context *context, const sweep_work_memory *memory,
                        const sweep_work_request *request, sweep_work_result *result);
void sweep_work_release(sweep_work_result *result);

// A result without measurement.
void sweep_work_fail(sweep_work_result *result, uint64_t id, sweep_work_status status, const char *reason);

#endif
