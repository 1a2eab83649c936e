// SPDX-License-Identifier: Apache-2.0
// What engine flow says that its cycles depend on: the weights add up to the cycles, and changes do what they say.
#include <math.h>

#include "base/test.h"
#include "isa/isa_fields.h"
#include "sim/flow/tests/programs.h"
#include "sim/gen/random.h"

// ---- what the cycles depend on

static unsigned weight_named(const char *key) {
  for (unsigned n = 0; sim_flow_weight_at(n) != NULL; n++)
    if (strcmp(sim_flow_weight_at(n)->key, key) == 0) return n;
  fail_msg("no weight %s", key);
  return 0;
}

static int64_t sum_of(const sim_flow_account *account) {
  int64_t sum = 0;
  for (unsigned n = 0; n < SIM_FLOW_WEIGHTS; n++) sum += account->cycles[n];
  return sum;
}

// The cycles of the program, `times` times, and what they depend on.
static uint64_t record(const hw_array *array, const programs_program *p, unsigned times, sim_flow_account *account) {
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create((uint64_t)array->memory.capacity_mib << 20);
  sim_engine *engine = sim_engine_create(&sim_flow_recording_engine, array, memory, NULL, &diag);
  uint64_t cycle = 0;
  for (unsigned time = 0; time < times; time++)
    for (unsigned n = 0; n < p->count; n++) {
      arch_command command = p->commands[n];
      arch_command_find(&command, PROGRAMS_REVISION);
      assert_int_equal(sim_engine_push(engine, &cycle, &command, NULL), SIM_PUSH_DONE);
    }
  cycle = engine->ops->drain(engine, cycle);
  sim_flow_account_to(engine, cycle, account);
  engine->ops->destroy(engine);
  arch_memory_destroy(memory);
  return cycle;
}

static void add_all(programs_program *p, unsigned count) {
  programs_config_load(p, 64);
  programs_config_store(p, 64);
  programs_config_execute(p);
  for (unsigned n = 0; n < count; n++) {
    programs_load(p, 4096 * n, 64 * (n % 20), 64);
    programs_product(p, n, 16, true);
    programs_store(p, (1U << 20) + 1024 * n, ISA_LOCAL_ACCUMULATOR_MASK | (64 * n & 511));
  }
}

// Also where the log is a ring that has turned many times.
static void weights_add_up_to_the_cycles(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  programs_program p = {.count = 0};
  add_all(&p, 40);
  for (unsigned times = 1; times <= 400; times += 133) {
    sim_flow_account account;
    const uint64_t cycles = record(&array, &p, times, &account);
    assert_int_equal(sum_of(&account), cycles);
    assert_int_equal(account.lost, 0);
    if (times == 1) assert_int_equal(cycles, programs_cycles_on(&sim_flow_engine, &array, &p));
  }
}

static void compare_recording(const hw_array *array, uint64_t seed) {
  const sim_gen_options without = {.without = 1U << GEN_COUNTER | 1U << GEN_NORM};
  sim_gen_program *p = sim_gen_program_create(array, seed, &without);
  sim_records records[2] = {{0}};
  sim_flow_account account;
  bool kept;
  const uint64_t plain = programs_run_random(&sim_flow_engine, p, &records[0], NULL, NULL, &kept);
  const uint64_t cycles = programs_run_random(&sim_flow_recording_engine, p, &records[1], &account, NULL, &kept);
  assert_int_equal(plain, cycles);
  assert_int_equal(records[0].count, records[1].count);
  assert_memory_equal(records[0].item, records[1].item, records[0].count * sizeof *records[0].item);
  assert_int_equal(sum_of(&account), cycles);
  for (unsigned n = 0; n < 2; n++) sim_records_free(&records[n]);
  sim_gen_program_destroy(p);
}

static void weights_add_up_on_random_programs(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    hw_array array;
    sim_gen_array(seed, &array);
    compare_recording(&array, seed);
  }
}

// Rows of 32 bytes and dirty lines: writes wait for a row of the DRAM whose user is later than they could be.
static void weights_add_up_where_writes_wait(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  assert_true(hw_array_load(&array, "dim32", &diag));
  for (uint64_t seed = 1; seed <= 60; seed++) compare_recording(&array, seed);
}

// A tenth of the cycles of a weight, and what both engines say to a tenth less of it.
static void expect_gradient(const char *key, const hw_array *array, const hw_array *changed, programs_program *p) {
  sim_flow_account account;
  record(array, p, 1, &account);
  const double said = (double)account.cycles[weight_named(key)] / 10;
  const sim_engine_ops *const engines[] = {&sim_flow_engine, &sim_cycle_engine};
  for (unsigned n = 0; n < 2; n++) {
    const double saved =
        (double)programs_cycles_on(engines[n], array, p) - (double)programs_cycles_on(engines[n], changed, p);
    if (fabs(said - saved) > 0.1 * saved + 2) fail_msg("%s: %.1f, %s saves %.0f", key, said, engines[n]->name, saved);
  }
}

static void gradient_is_the_difference(void **state) {
  (void)state;
  programs_program loads = {.count = 0}, all = {.count = 0};
  programs_config_load(&loads, 64);
  for (unsigned n = 0; n < 24; n++) programs_load(&loads, 1024 * n, 64 * n, 64);
  add_all(&all, 20);
  for (uint32_t latency = 200; latency <= 400; latency += 100) {
    const hw_array array = programs_bare_array(latency), changed = programs_bare_array(latency - latency / 10);
    expect_gradient("memory-latency", &array, &changed, &loads);
    expect_gradient("memory-latency", &array, &changed, &all);
  }
}

// What one more of a depth releases, at first order, is what it brings: loads that wait for identifiers alone.
static void depths_release_what_one_more_brings(void **state) {
  (void)state;
  hw_array array = programs_bare_array(300);
  programs_program p = {.count = 0};
  programs_config_load(&p, 64);
  for (unsigned n = 0; n < 24; n++) programs_load(&p, 1024 * n, 64 * n, 64);
  sim_flow_account account;
  const uint64_t cycles = record(&array, &p, 1, &account);
  uint64_t released = 0;
  for (unsigned n = 0; n < SIM_FLOW_WEIGHTS; n++) released += account.released[n];
  assert_true(released > 0);
  array.dma.reads_in_flight += 16;  // one more load under way, and more reads than it needs
  const uint64_t more = programs_cycles_on(&sim_flow_engine, &array, &p);
  assert_true(cycles > more);
  assert_true(account.released[weight_named("loads-under-way")] + account.released[weight_named("reads-in-flight")] >
              0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_add_up_to_the_cycles),        cmocka_unit_test(weights_add_up_on_random_programs),
      cmocka_unit_test(weights_add_up_where_writes_wait),    cmocka_unit_test(gradient_is_the_difference),
      cmocka_unit_test(depths_release_what_one_more_brings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
