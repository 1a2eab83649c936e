// SPDX-License-Identifier: Apache-2.0
// See slots.h.
#include "compiler/network/tests/slots.h"

#include "base/test.h"
#include "compiler/network/tests/build.h"
#include "runner/candidate.h"

network *network_in_slots(const graph *g, const hw_array *array, network_slot_rule rule) {
  wf_diag diag = wf_diag_to(stderr);
  void **inputs = build_random_inputs(g);
  network_options options = {.array = array, .jobs = 2, .loops = true};
  run_candidate apart = {0};
  assert_true(run_candidate_make(&apart, g, &options, false, (const void *const *)inputs, &diag));
  wf_arena *arena = wf_arena_create();
  uint64_t *cycles = WF_ARENA_ARRAY(arena, (size_t)apart.net->step_count, uint64_t);
  for (int s = 0; s < apart.net->step_count; s++) cycles[s] = apart.took.steps[s].cycles;
  const network_slots slots =
      network_find_slots(apart.net, &(network_slot_request){.cycles = cycles, .rule = rule}, arena);
  assert_true(slots.count < apart.net->step_count);
  options.slots = &slots;
  network *net = network_create(g, &options, &diag);
  assert_non_null(net);
  net->options.slots = NULL;
  run_candidate_drop(&apart);
  wf_arena_destroy(arena);
  build_free_inputs(g, inputs);
  return net;
}
