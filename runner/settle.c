// SPDX-License-Identifier: Apache-2.0
// Mixed steps judged in the network: see settle.h.
#include "runner/settle.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "runner/network.h"
#include "sim/engine.h"

enum { ROUNDS = 6 };

// A network and what it takes; without mixes and with them.
typedef struct candidate {
  network *net;
  run_network_result took;
} candidate;

static void drop(candidate *c) {
  if (c->net != NULL) run_network_release(c->net, &c->took);
  network_destroy(c->net);
  *c = (candidate){0};
}

static bool make(candidate *c, const graph *placed, const network_options *options, const void *const *inputs,
                 wf_diag *diag) {
  const sim_engine_options engine = {.timing_only = true, .quiet = true};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &engine, .inputs = inputs, .hart = RUN_HART_TIMED};
  c->net = network_create(placed, options, diag);
  return c->net != NULL && run_network(c->net, &config, &c->took, diag);
}

// ---- what mixes take

static int parts_of(const candidate *c, int step) {
  return c->net->steps[step].parts == 0 ? 1 : c->net->steps[step].parts;
}

static uint64_t cycles_at(const candidate *c, int step) {
  return step < c->net->step_count ? c->took.steps[step].cycles : 0;
}

// Steps from `first` on of the network without mixes.
static uint64_t cycles_apart(const candidate *apart, int first, int count) {
  uint64_t cycles = 0;
  for (int s = first; s < first + count; s++) cycles += cycles_at(apart, s);
  return cycles;
}

// What a mix saves, with the step behind it if that is by itself.
static int64_t saved_by(const candidate *mixed, const candidate *apart, int step, int from) {
  const int parts = parts_of(mixed, step);
  const bool behind = step + 1 < mixed->net->step_count && parts_of(mixed, step + 1) == 1;
  const uint64_t now = cycles_at(mixed, step) + (behind ? cycles_at(mixed, step + 1) : 0);
  return (int64_t)cycles_apart(apart, from, parts + behind) - (int64_t)now;
}

static void tell_savings(const candidate *mixed, const candidate *apart, network_judgements *known) {
  for (int s = 0, from = 0; s < mixed->net->step_count; from += parts_of(mixed, s), s++)
    if (parts_of(mixed, s) > 1) network_tell_mix(known, from, parts_of(mixed, s), saved_by(mixed, apart, s, from));
}

// Whether two networks have the same mixes.
static bool are_alike(const candidate *a, const candidate *b) {
  if (a->net == NULL || a->net->step_count != b->net->step_count) return false;
  for (int s = 0; s < a->net->step_count; s++)
    if (a->net->steps[s].parts != b->net->steps[s].parts) return false;
  return true;
}

// ---- rounds

// The better of both stays, as `best`.
static void keep_better(candidate *best, candidate *other) {
  if (best->net == NULL || other->took.cycles < best->took.cycles) {
    const candidate slower = *best;
    *best = *other;
    *other = slower;
  }
  drop(other);
}

// Networks with the mixes that save the most by what is known, until these are the same again.
static bool mix_in_rounds(candidate *best, const candidate *apart, const graph *placed, const network_options *options,
                          const void *const *inputs, wf_diag *diag) {
  candidate last = {0};
  bool good = true, more = true;
  for (int round = 0; round < ROUNDS && more; round++) {
    candidate mixed = {0};
    good = make(&mixed, placed, options, inputs, diag);
    more = good && !are_alike(&last, &mixed);
    if (more) tell_savings(&mixed, apart, options->judgements);
    keep_better(best, &last);
    last = mixed;
  }
  if (good) keep_better(best, &last);
  if (!good) drop(&last);
  return good;
}

static bool settle(candidate *best, const graph *placed, const network_options *options, const void *const *inputs,
                   wf_diag *diag) {
  candidate apart = {0};
  network_options without = *options;
  without.fuse = NETWORK_FUSE_OFF;
  bool good = make(&apart, placed, &without, inputs, diag);
  good = good && mix_in_rounds(best, &apart, placed, options, inputs, diag);
  if (good)
    keep_better(best, &apart);
  else
    drop(&apart);
  return good;
}

network *run_settle_network(const graph *placed, const network_options *options, const void *const *inputs,
                            wf_diag *diag) {
  if (options->fuse != NETWORK_FUSE_AUTO) return network_create(placed, options, diag);
  const double start = wf_process_seconds();
  network_options own = *options;
  own.judgements = network_judgements_create();
  candidate best = {0};
  const bool good = settle(&best, placed, &own, inputs, diag);
  network *net = good ? best.net : NULL;
  if (best.net != NULL) run_network_release(best.net, &best.took);
  if (!good) network_destroy(best.net);
  if (net != NULL) net->options = *options;
  if (net != NULL) net->compile_seconds = wf_process_seconds() - start;
  network_judgements_destroy(own.judgements);
  return net;
}
