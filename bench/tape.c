// SPDX-License-Identifier: Apache-2.0
// The speed of the plain model over the tape: layers of a network and what they add up to, on one core.
#include "base/alloc.h"
#include "base/clock.h"
#include "bench/methods.h"
#include "search/descent/batch.h"

typedef struct tapes {
  size_t count;
  descent_batch_programs programs;
  tape_workspace **layers, *network;
} tapes;

// Any numbers do: a tape has no branches.
static void fill_inputs(tape_workspace *w, size_t inputs) {
  for (size_t n = 0; n < inputs; n++)
    for (int lane = 0; lane < TAPE_LANES; lane++) tape_input(w, n)[lane] = 0.3 + 0.01 * lane;
}

static tapes create(const descent_goal *goal) {
  static const bool none_fixed[PLAIN_SIZES] = {false};
  tapes t = {.count = goal->network->count, .programs = descent_batch_programs_create(goal, none_fixed)};
  t.layers = WF_NEW_ARRAY(t.count, tape_workspace *);
  for (size_t i = 0; i < t.count; i++) {
    t.layers[i] = tape_workspace_create(t.programs.layers[i].program);
    fill_inputs(t.layers[i], descent_plain_temperature_input(&t.programs.layers[i]) + 1);
  }
  t.network = tape_workspace_create(t.programs.network.program);
  fill_inputs(t.network, descent_plain_network_bound(&t.programs.network, PLAIN_SIZES));
  return t;
}

static double rate_of(tapes *t, bool gradients, double seconds) {
  double evaluations = 0, spent;
  const double start = wf_process_seconds();
  do {
    for (size_t i = 0; i < t->count; i++) tape_forward(t->layers[i]);
    tape_forward(t->network);
    if (gradients) tape_backward(t->network);
    for (size_t i = 0; gradients && i < t->count; i++) tape_backward(t->layers[i]);
    evaluations += (double)t->count * TAPE_LANES;
    spent = wf_process_seconds() - start;
  } while (spent < seconds || spent <= 0);
  return evaluations / spent;
}

bench_tape_speed bench_tape(const layers_network *network, double seconds) {
  paper_constants constants;
  paper_constants_named(&constants, "dosa");
  const descent_goal goal = {.network = network, .constants = &constants};
  tapes t = create(&goal);
  bench_tape_speed speed = {.forward = rate_of(&t, false, seconds), .gradient = rate_of(&t, true, seconds)};
  for (int kernel = 0; kernel < TAPE_KERNELS; kernel++)
    if (tape_kernel_available((tape_kernel)kernel)) speed.kernel = tape_kernel_names[kernel];
  for (size_t i = 0; i < t.count; i++) tape_workspace_destroy(t.layers[i]);
  wf_free(t.layers);
  tape_workspace_destroy(t.network);
  descent_batch_programs_release(&t.programs);
  return speed;
}
