// SPDX-License-Identifier: Apache-2.0
// Mixed steps judged in the network: see settle.h.
#include "runner/settle.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "runner/candidate.h"
#include "runner/judge.h"
#include "runner/overlap.h"

enum { ROUNDS = 6 };

// ---- what mixes take

static int parts_of(const run_candidate *c, int step) {
  return c->net->steps[step].parts == 0 ? 1 : c->net->steps[step].parts;
}

// Neighbouring steps together; those behind the last take nothing.
static compile_verdict sum_of(const run_candidate *c, int first, int count) {
  compile_verdict sum = {.has_energy = true};
  for (int s = first; s < first + count && s < c->net->step_count; s++) {
    const compile_verdict step = run_candidate_step(c, s);
    sum.cycles += step.cycles;
    sum.energy_pj += step.energy_pj;
    sum.has_energy &= step.has_energy;
  }
  return sum;
}

// A mix, with the step behind it if that is by itself, and the same of the network without mixes.
static void tell_mix(const run_candidate *mixed, const run_candidate *apart, int step, int from,
                     network_judgements *known) {
  const int parts = parts_of(mixed, step);
  const bool behind = step + 1 < mixed->net->step_count && parts_of(mixed, step + 1) == 1;
  network_tell_mix(known, &(network_mix_facts){.first = from,
                                               .count = parts,
                                               .forwards = mixed->net->steps[step].forwards,
                                               .apart = sum_of(apart, from, parts + behind),
                                               .mixed = sum_of(mixed, step, 1 + behind)});
}

static void tell_mixes(const run_candidate *mixed, const run_candidate *apart, network_judgements *known) {
  for (int s = 0, from = 0; s < mixed->net->step_count; from += parts_of(mixed, s), s++)
    if (parts_of(mixed, s) > 1) tell_mix(mixed, apart, s, from, known);
}

// Whether two networks have the same mixes.
static bool are_alike(const run_candidate *a, const run_candidate *b) {
  if (a->net == NULL || a->net->step_count != b->net->step_count) return false;
  for (int s = 0; s < a->net->step_count; s++)
    if (a->net->steps[s].parts != b->net->steps[s].parts || a->net->steps[s].forwards != b->net->steps[s].forwards)
      return false;
  return true;
}

// ---- rounds

// Networks with the mixes that save the most by what is known, until these are the same again.
static bool mix_in_rounds(run_candidate *best, const run_candidate *apart, const graph *placed,
                          const network_options *options, const void *const *inputs, wf_diag *diag) {
  run_candidate last = {0};
  bool good = true, more = true;
  for (int round = 0; round < ROUNDS && more; round++) {
    run_candidate mixed = {0};
    good = run_candidate_make(&mixed, placed, options, false, inputs, diag);
    more = good && !are_alike(&last, &mixed);
    if (more) tell_mixes(&mixed, apart, options->judgements);
    run_candidate_keep_better(best, &last, options->tuning.objective);
    last = mixed;
  }
  if (good) run_candidate_keep_better(best, &last, options->tuning.objective);
  if (!good) run_candidate_drop(&last);
  return good;
}

static bool settle(run_candidate *best, const graph *placed, const network_options *options, const void *const *inputs,
                   wf_diag *diag) {
  run_candidate apart = {0};
  network_options without = *options;
  without.fuse = NETWORK_FUSE_OFF;
  bool good = run_candidate_make(&apart, placed, &without, false, inputs, diag);
  if (good) run_candidate_tell_steps(&apart, options->judgements);
  without = *options;
  without.through_memory = true;
  good = good && mix_in_rounds(best, &apart, placed, &without, inputs, diag);
  if (good && network_can_forward(options->array)) good = mix_in_rounds(best, &apart, placed, options, inputs, diag);
  if (good)
    run_candidate_keep_better(best, &apart, options->tuning.objective);
  else
    run_candidate_drop(&apart);
  return good;
}

network *run_settle_network(const graph *placed, const network_options *options, const void *const *inputs,
                            wf_diag *diag) {
  if (options->overlap) return run_overlap_network(placed, options, inputs, diag);
  if (options->fuse != NETWORK_FUSE_AUTO) return network_create(placed, options, diag);
  const double start = wf_process_seconds();
  network_options own = *options;
  own.judgements = network_judgements_create();
  if (own.tuning.judge == run_judge) own.tuning.judge = run_judge_once;
  run_candidate best = {0};
  const bool good = settle(&best, placed, &own, inputs, diag);
  network *net = good ? run_candidate_take(&best, options) : NULL;
  if (!good) run_candidate_drop(&best);
  if (net != NULL) net->compile_seconds = wf_process_seconds() - start;
  network_judgements_destroy(own.judgements);
  return net;
}
