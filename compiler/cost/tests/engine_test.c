// SPDX-License-Identifier: Apache-2.0
// Costs against engine cycle: long runs of one kind of command on the default array, warm caches unless it says cold.
// What a command more takes is the difference between runs of different length.
#include <math.h>

#include "base/test.h"
#include "compiler/command/command.h"
#include "compiler/cost/cost.h"
#include "runner/program.h"

enum { SHORT = 48, LONG = 96 };

typedef struct fixture {
  hw_array array;
  cost_model m;
} fixture;

// The model points to the array, so the fixture stays where it is.
static void default_array(fixture *f) {
  hw_array_default(&f->array);
  f->m = cost_model_of(&f->array, &cost_fitted);
}

static double cycles_of(const hw_array *array, const char *text, unsigned times) {
  wf_diag diag = wf_diag_to(stderr);
  command_program *p = command_parse("test", text, strlen(text), array, &diag);
  assert_non_null(p);
  assert_true(command_verify(p, &diag));
  const sim_engine_options options = {.timing_only = true, .quiet = true};
  const run_config config = {.engine = &sim_cycle_engine, .options = &options, .times = times};
  void *none[2] = {0};
  run_result result;
  assert_true(run_commands_on(p, &config, none, &result, &diag));
  command_destroy(p);
  return (double)result.cycles;
}

// Of one trip of a loop; `head` is what stands in front of it.
static double trip_cycles(const hw_array *array, const char *head, const char *body, unsigned times) {
  double cycles[2];
  for (int i = 0; i < 2; i++) {
    char text[2048];
    const int length =
        snprintf(text, sizeof text, "program p\n%sloop %d {\n%s}\nfence\n", head, i == 0 ? SHORT : LONG, body);
    assert_true(length > 0 && (size_t)length < sizeof text);
    cycles[i] = cycles_of(array, text, times);
  }
  return (cycles[1] - cycles[0]) / (LONG - SHORT);
}

static void assert_near(double cost, double simulated, double percent) {
  print_message("cost %.2f, simulated %.2f\n", cost, simulated);
  assert_true(fabs(cost / simulated - 1) <= percent / 100);
}

// ---- loads

// 16 rows of so many bytes.
typedef struct load_rows {
  int bytes, stride;
} load_rows;

static double load_trip(const fixture *f, load_rows r, unsigned times) {
  char head[256], body[256];
  snprintf(head, sizeof head, "tensor a i8 %d read\nconfig_ld state=0 scale=1 stride=%d block_stride=16\n",
           LONG * 16 * r.stride, r.stride);
  snprintf(body, sizeof body, "  mvin dram=a local=sp:0x0 cols=%d rows=16 | rs1+%#x rs2+%#x\n", r.bytes, 16 * r.stride,
           r.bytes);
  return trip_cycles(&f->array, head, body, times);
}

static double cost_of_load(const fixture *f, load_rows r, double missed) {
  return cost_load_of(&f->m, &(cost_rows){.count = 16, .bytes = r.bytes, .stride = r.stride, .commands = 1}, missed)
      .unit;
}

// Rows that fill their bursts: of shorter ones the latency of each request counts for more than the model has.
static void warm_loads(void **state) {
  (void)state;
  fixture f;
  default_array(&f);
  static const load_rows rows[] = {{32, 32}, {64, 64}, {64, 80}, {64, 192}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_near(cost_of_load(&f, rows[i], 0), load_trip(&f, rows[i], 2), 10);
}

static void cold_loads(void **state) {
  (void)state;
  fixture f;
  default_array(&f);
  assert_near(cost_of_load(&f, (load_rows){64, 64}, 16), load_trip(&f, (load_rows){64, 64}, 1), 20);
  assert_near(cost_missed_cycles(&f.m, 16 * 64), load_trip(&f, (load_rows){64, 64}, 1), 30);
}

static void zeros(void **state) {
  (void)state;
  fixture f;
  default_array(&f);
  const double cycles = trip_cycles(&f.array, "config_ld state=0 scale=1 stride=0 block_stride=16\n",
                                    "  mvin dram=0x0 local=sp:0x0 cols=64 rows=16 | rs2+0x40\n", 2);
  const cost_command zeros = {.rows = 16, .columns = 64, .element_bytes = 1, .constant = true};
  assert_near((double)cost_planned_load(&f.m, &zeros), cycles, 10);
}

// ---- products

static void products(void **state) {
  (void)state;
  fixture f;
  default_array(&f);
  const char *head = "config_ex dataflow=ws a_stride=1 c_stride=1 acc_scale=1\n";
  const double fresh =
      trip_cycles(&f.array, head,
                  "  preload local=sp:0x1000 cols=16 rows=16 dest=acc:0x0 dest_cols=16 dest_rows=16\n"
                  "  compute_preloaded a=sp:0x0 a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16\n",
                  2);
  assert_near(cost_pair_cycles(&f.m, 16), fresh, 2);
  // New weights take DIM cycles, however few rows they meet.
  const double few = trip_cycles(&f.array, head,
                                 "  preload local=sp:0x1000 cols=16 rows=16 dest=acc:0x0 dest_cols=16 dest_rows=2\n"
                                 "  compute_preloaded a=sp:0x0 a_cols=16 a_rows=2 bd=garbage bd_cols=16 bd_rows=2\n",
                                 2);
  assert_near(f.m.dim, few, 5);
}

// ---- stores

static void narrow_stores(void **state) {
  (void)state;
  fixture f;
  default_array(&f);
  const double cycles = trip_cycles(&f.array, "tensor c i8 24576 written\nconfig_st stride=16 acc_scale=1\n",
                                    "  mvout dram=c local=acc:0x0 cols=16 rows=16 | rs1+0x100\n", 2);
  const cost_command store = {.rows = 16, .columns = 16, .element_bytes = 1};
  assert_near(16 * cost_store_row(&f.m, 1, 1, false) + cost_fitted.store_command, cycles, 15);
  // What the scheduler plans is no less.
  assert_true((double)cost_planned_store(&f.m, &store) >= cycles);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(warm_loads), cmocka_unit_test(cold_loads),    cmocka_unit_test(zeros),
      cmocka_unit_test(products),   cmocka_unit_test(narrow_stores),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
