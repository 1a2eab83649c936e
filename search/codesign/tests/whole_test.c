// SPDX-License-Identifier: Apache-2.0
// Networks as they run, behind the ladder: mixes save what is said, and the answer is the best of the points that ran,
// the same with any number of threads. Without mixes the answer alone runs.
#include <math.h>
#include <string.h>

#include "base/test.h"
#include "search/codesign/codesign.h"
#include "search/layers/graph.h"
#include "search/layers/program.h"

enum { RUNS = 2 };

static const char text[] =
    "base: dim8\nparameters:\n  isa.revision: [2]\n  mesh.rows, mesh.columns: [4, 8]\n"
    "  scratchpad.capacity_kib: [16, 64, 256]\n  l2.capacity_kib: [64]\n  accumulator.capacity_kib: [16]\n";

typedef struct fixture {
  codesign_space space;
  layers_program program;
  layers_network table;
  codesign_network of;
  codesign_options options;
  double layers_ms, whole_ms;  // of the answer
} fixture;

static void open_fixture(fixture *f) {
  wf_diag diag = wf_diag_to(stderr);
  const layers_program_options how = {.network = {.size = 32, .divisor = 8}};
  assert_true(codesign_space_parse(&f->space, "s.yaml", text, strlen(text), &diag));
  assert_true(layers_program_load(&f->program, "resnet18", "resnet18", &how, &diag));
  layers_of_graph(&f->table, f->program.placed);
  f->of = (codesign_network){.table = &f->table, .program = &f->program, .weight = 1};
  f->options = (codesign_options){.space = &f->space,
                                  .networks = &f->of,
                                  .network_count = 1,
                                  .objective = CODESIGN_EDP,
                                  .simulations = 5,
                                  .seed = 1,
                                  .jobs = 2,
                                  .fuse = NETWORK_FUSE_AUTO,
                                  .whole = RUNS};
}

static void close_fixture(fixture *f) {
  layers_release(&f->table);
  layers_program_release(&f->program);
  codesign_space_release(&f->space);
}

static codesign_result searched(const codesign_options *options) {
  codesign_result result;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(codesign_search(options, &result, &diag));
  return result;
}

static double edp(truth_program_cost cost) { return cost.cycles * cost.energy_uj; }

static void is_the_same_with_one_thread(fixture *f, const codesign_site *best) {
  f->options.jobs = 1;
  codesign_result again = searched(&f->options);
  assert_true(codesign_point_equal(&best->point, &again.sites[again.best].point));
  assert_true(best->whole.cycles == again.sites[again.best].whole.cycles);
  assert_true(best->whole.energy_uj == again.sites[again.best].whole.energy_uj);
  codesign_release(&again);
}

static void the_best_of_all_that_ran(void **state) {
  fixture *f = *state;
  codesign_result r = searched(&f->options);
  const codesign_site *best = &r.sites[r.best];
  size_t ran = 0, events = 0;
  f->layers_ms = best->cost[CODESIGN_CYCLE].ms;
  f->whole_ms = best->whole.ms;
  assert_true(best->ran_whole && r.wholes[0].known);
  const truth_program_run *run = &r.wholes[0].run;
  assert_true(run->mixes > 0 && run->kept_bytes > 0);
  assert_true(edp(run->cost) < edp(run->apart));
  assert_true(best->whole.cycles == run->cost.cycles && best->whole.energy_uj == run->cost.energy_uj);
  for (size_t i = 0; i < r.count; i++) {
    if (!r.sites[i].ran_whole) continue;
    ran++;
    assert_true(codesign_value(CODESIGN_EDP, r.sites[i].whole) >= codesign_value(CODESIGN_EDP, best->whole));
  }
  for (size_t e = 0; e < r.event_count; e++) events += r.events[e].whole;
  assert_int_equal(ran, RUNS);
  assert_int_equal(r.whole_tried, RUNS);
  assert_int_equal(events, RUNS);
  if (!TEST_SANITIZED) is_the_same_with_one_thread(f, best);
  codesign_release(&r);
}

// A bound that the layers hold and the whole network does not.
static void bounds_are_of_whole_networks(void **state) {
  fixture *f = *state;
  wf_diag silent = wf_diag_to(NULL);
  codesign_result r;
  assert_true(f->layers_ms < f->whole_ms);
  f->options.bounds.latency_ms = (f->layers_ms + f->whole_ms) / 2;
  f->options.whole = 1;
  assert_false(codesign_search(&f->options, &r, &silent));
  assert_true(silent.errors == 1 && r.whole_tried == 1);
  codesign_release(&r);
  f->options.bounds.latency_ms = 0;
}

static void the_answer_alone_without_mixes(void **state) {
  fixture *f = *state;
  f->options.fuse = NETWORK_FUSE_OFF;
  codesign_result r = searched(&f->options);
  assert_int_equal(r.whole_tried, 0);
  assert_true(r.wholes[0].known && r.wholes[0].run.mixes == 0);
  assert_true(edp(r.wholes[0].run.cost) == edp(r.wholes[0].run.apart) && edp(r.wholes[0].run.cost) > 0);
  codesign_release(&r);
}

static int open_group(void **state) {
  static fixture f;
  open_fixture(&f);
  *state = &f;
  return 0;
}

static int close_group(void **state) {
  close_fixture(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_best_of_all_that_ran),
      cmocka_unit_test(bounds_are_of_whole_networks),
      cmocka_unit_test(the_answer_alone_without_mixes),
  };
  return cmocka_run_group_tests(tests, open_group, close_group);
}
