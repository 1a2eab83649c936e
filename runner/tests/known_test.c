// SPDX-License-Identifier: Apache-2.0
// Runs that are known are those that would be made: with a table of runs, measurements over sizes of the memories are
// the same as without, bit by bit, and many of them need no run. Other parameters, and programs whose rows the digest
// does not know, need one.
#include <sys/wait.h>
#include <unistd.h>

#include "base/test.h"
#include "runner/measure.h"

static const map_layer layers[] = {
    {.kind = MAP_GEMM, .size = {1, 60, 1, 48, 72, 1, 1}, .result_bytes = 1, .groups = 1},
    {.kind = MAP_GEMV, .size = {1, 1, 1, 96, 200, 1, 1}, .result_bytes = 1, .groups = 1},
    {.kind = MAP_CONV, .size = {1, 9, 9, 24, 16, 3, 3}, .stride = {1, 1}, .result_bytes = 1, .groups = 1},
    {.kind = MAP_CONV, .size = {1, 10, 10, 16, 3, 5, 5}, .stride = {2, 2}, .result_bytes = 1, .groups = 1},
    // Six of eight rows of operands, close to the end of a bank of 4 KiB.
    {.kind = MAP_CONV, .size = {1, 6, 6, 16, 16, 3, 3}, .stride = {1, 1}, .result_bytes = 1, .groups = 1},
    {.kind = MAP_DEPTHWISE, .size = {1, 8, 8, 32, 1, 3, 3}, .stride = {1, 1}, .result_bytes = 1, .groups = 32},
};
enum { LAYERS = sizeof layers / sizeof *layers };

static hw_array array_of(const char *base, unsigned scratchpad_kib, unsigned accumulator_kib) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, base, &diag));
  array.scratchpad.capacity_kib = scratchpad_kib;
  array.accumulator.capacity_kib = accumulator_kib;
  assert_true(hw_array_check(&array, NULL, &diag));
  return array;
}

static run_measured measured(const map_layer *layer, const hw_array *array, layer_policy policy, run_known *known) {
  wf_diag silent = wf_diag_to(NULL);
  return run_measure(&(run_measure_request){.layer = layer, .array = array, .policy = policy, .known = known}, &silent);
}

static void assert_same_units(const sim_cycle_report *a, const sim_cycle_report *b) {
  assert_int_equal(a->units, b->units);
  for (unsigned u = 0; u < a->units; u++) {
    assert_string_equal(a->unit[u].name, b->unit[u].name);
    assert_memory_equal(a->unit[u].cycles, b->unit[u].cycles, a->unit[u].causes * sizeof *a->unit[u].cycles);
  }
}

static void assert_same(const run_measured *a, const run_measured *b) {
  assert_int_equal(a->status, b->status);
  if (a->status != RUN_MEASURE_GOOD) return;
  assert_int_equal(a->cycles, b->cycles);
  assert_int_equal(a->commands, b->commands);
  assert_int_equal(a->read_bytes, b->read_bytes);
  assert_int_equal(a->written_bytes, b->written_bytes);
  assert_int_equal(a->program_digest, b->program_digest);
  assert_memory_equal(&a->energy_pj, &b->energy_pj, sizeof a->energy_pj);
  assert_string_equal(a->bound, b->bound);
  assert_same_units(&a->units, &b->units);
}

static void known_runs_are_those_that_would_be_made(void **state) {
  (void)state;
  static const char *const bases[] = {"dim4", "dim8", "gemmini-default"};
  static const unsigned scratchpads[] = {4, 16, 32, 64, 256}, accumulators[] = {16, 32, 128};
  static const layer_policy policies[] = {{.mapping = NULL}, {.style = BLOCK_STYLE_LOOP}};
  run_known *known = run_known_create();
  assert_non_null(known);
  unsigned good = 0, spared = 0;
  for (size_t b = 0; b < sizeof bases / sizeof *bases; b++)
    for (size_t s = 0; s < sizeof scratchpads / sizeof *scratchpads; s++)
      for (size_t c = 0; c < sizeof accumulators / sizeof *accumulators; c++)
        for (size_t l = 0; l < LAYERS; l++)
          for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            const hw_array array = array_of(bases[b], scratchpads[s], accumulators[c]);
            const run_measured with = measured(&layers[l], &array, policies[p], known),
                               without = measured(&layers[l], &array, policies[p], NULL);
            assert_same(&with, &without);
            assert_false(without.known);
            good += with.status == RUN_MEASURE_GOOD;
            spared += with.known;
            // The hardware's loops choose rows by the memories' sizes.
            if (policies[p].style == BLOCK_STYLE_LOOP) assert_false(with.known);
          }
  print_message("%u of %u measurements needed no run\n", spared, good);
  assert_true(spared > good / 4);
  run_known_destroy(known);
}

static void other_parameters_need_a_run(void **state) {
  (void)state;
  run_known *known = run_known_create();
  hw_array array = array_of("dim8", 64, 32);
  assert_false(measured(&layers[0], &array, (layer_policy){0}, known).known);
  assert_true(measured(&layers[0], &array, (layer_policy){0}, known).known);
  array.load.queue *= 2;
  assert_false(measured(&layers[0], &array, (layer_policy){0}, known).known);
  array.load.queue /= 2;
  array.scratchpad.read_delay++;
  assert_false(measured(&layers[0], &array, (layer_policy){0}, known).known);
  run_known_destroy(known);
}

// What a child runs its parent knows.
static void processes_share_what_they_know(void **state) {
  (void)state;
  run_known *known = run_known_create();
  const hw_array array = array_of("dim8", 64, 32);
  const pid_t pid = fork();
  if (pid == 0) _exit(measured(&layers[0], &array, (layer_policy){0}, known).known ? 1 : 0);
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  const run_measured here = measured(&layers[0], &array, (layer_policy){0}, known);
  assert_true(here.known);
  const run_measured made = measured(&layers[0], &array, (layer_policy){0}, NULL);
  assert_same(&here, &made);
  run_known_destroy(known);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_runs_are_those_that_would_be_made),
      cmocka_unit_test(other_parameters_need_a_run),
      cmocka_unit_test(processes_share_what_they_know),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
