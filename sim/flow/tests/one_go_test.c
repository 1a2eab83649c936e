// SPDX-License-Identifier: Apache-2.0
// What engine flow works out in one go has the times of single steps: usual operations of the mesh, and commands that
// are given many at a time.
#include <string.h>

#include "base/test.h"
#include "sim/flow/tests/programs.h"
#include "sim/gen/random.h"

enum { MANY = 7 };

// How a program is run: `without` are bits of without_skips; `many` commands are given at a time.
typedef struct way {
  uint32_t without;
  size_t many;
} way;

typedef struct given {
  sim_engine *engine;
  uint64_t cycle;
  size_t many, count;
  arch_command commands[MANY];
} given;

static void give(given *g) {
  sim_push_result result;
  assert_int_equal(sim_engine_push_many(g->engine, &g->cycle, g->commands, g->count, &result), g->count);
  assert_int_equal(result, SIM_PUSH_DONE);
  g->count = 0;
}

static void run_way(const sim_gen_program *p, const way *w, sim_records *records, uint64_t *cycles) {
  wf_diag diag = wf_diag_to(stderr);
  const sim_engine_options options = {.timing_only = true, .without_skips = w->without};
  arch_memory *memory = arch_memory_create(p->image_bytes);
  given g = {.engine = sim_engine_create(&sim_flow_engine, p->array, memory, &options, &diag), .many = w->many};
  const sim_events sink = sim_records_sink(records);
  g.engine->ops->set_events(g.engine, &sink);
  for (size_t i = 0; i < p->count; i++) {
    if (!p->items[i].fence) g.commands[g.count++] = p->items[i].command;
    if (p->items[i].fence || g.count == g.many) give(&g);
    if (p->items[i].fence) g.cycle = g.engine->ops->drain(g.engine, g.cycle);
  }
  give(&g);
  *cycles = g.engine->ops->drain(g.engine, g.cycle);
  g.engine->ops->destroy(g.engine);
  arch_memory_destroy(memory);
}

static void compare_ways(const hw_array *array, uint64_t seed, const way *w, const way *v) {
  const sim_gen_options without = {.without = 1U << GEN_COUNTER};
  sim_gen_program *p = sim_gen_program_create(array, seed, &without);
  sim_records records[2] = {{0}};
  sim_difference difference;
  uint64_t cycles[2];
  run_way(p, w, &records[0], &cycles[0]);
  run_way(p, v, &records[1], &cycles[1]);
  assert_int_equal(cycles[0], cycles[1]);
  assert_true(records[0].count > 0);
  assert_false(sim_records_differ(&records[0], &records[1], &difference));
  for (unsigned n = 0; n < 2; n++) sim_records_free(&records[n]);
  sim_gen_program_destroy(p);
}

static void compare_everywhere(const way *w, const way *v) {
  static const char *const names[] = {"dim4", "gemmini-default", "gemmini-magic", "transformer-16"};
  enum { PROGRAMS = 40 };
  wf_diag diag = wf_diag_to(stderr);
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    hw_array array;
    sim_gen_array(seed, &array);
    compare_ways(&array, seed, w, v);
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
      assert_true(hw_array_load(&array, names[n], &diag));
      compare_ways(&array, seed, w, v);
    }
  }
}

static void usual_operations_are_as_all(void **state) {
  (void)state;
  compare_everywhere(&(way){.many = 1}, &(way){.many = 1, .without = SIM_FLOW_USUAL_OPERATIONS});
}

static void many_commands_are_as_one_by_one(void **state) {
  (void)state;
  compare_everywhere(&(way){.many = 1}, &(way){.many = MANY});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(usual_operations_are_as_all),
      cmocka_unit_test(many_commands_are_as_one_by_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
