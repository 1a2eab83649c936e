// SPDX-License-Identifier: Apache-2.0
// The flow engine against the cycle engine: programs that a few waits alone explain, random legal programs, what it
// leaves alone and what it refuses. Calendars against a plain array of cycles.
#include "sim/flow/flow.h"

#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "isa/isa_fields.h"
#include "sim/figures.h"
#include "sim/flow/calendar.h"
#include "sim/flow/tests/programs.h"
#include "sim/gen/gen.h"
#include "sim/gen/random.h"
#include "sim/records.h"

enum { SPAN = 4096, TAKES = 300, SLACK = 4 };

// ---- calendars

static uint64_t plain_take(bool *taken, uint64_t at, uint64_t count) {
  for (uint64_t run = 0; run < count; at++) run = taken[at] ? 0 : run + 1;
  for (uint64_t i = 0; i < count; i++) taken[at - 1 - i] = true;
  return at - count;
}

// `apart` cycles from one to the next, which may start up to `spread` cycles later.
static void expect_first_gaps(uint64_t apart, uint64_t spread, uint64_t longest) {
  flow_calendar *calendar = WF_NEW(flow_calendar);
  bool *taken = WF_NEW_ARRAY(4 * SPAN, bool);
  uint64_t x = 1;
  for (unsigned n = 0; n < TAKES; n++) {
    x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    const uint64_t at = n * apart + (x >> 33) % spread, count = 1 + (x >> 50) % longest;
    assert_int_equal(flow_calendar_take(calendar, at, count), plain_take(taken, at, count));
  }
  for (uint64_t at = 0; at < SPAN; at += 37) {
    unsigned expected = 0;
    for (unsigned i = 0; i < 50; i++) expected += taken[at + i];
    assert_int_equal(flow_calendar_count(calendar, at, 50), expected);
  }
  wf_free(calendar);
  wf_free(taken);
}

// Anywhere; as in a queue, where most wait behind others, of one length or of several.
static void calendars_find_the_first_gap(void **state) {
  (void)state;
  expect_first_gaps(0, SPAN, 16);
  expect_first_gaps(3, 40, 1);
  expect_first_gaps(3, 40, 5);
  expect_first_gaps(7, 200, 12);
}

static void calendars_forget_what_is_long_past(void **state) {
  (void)state;
  flow_calendar *calendar = WF_NEW(flow_calendar);
  const uint64_t ring = (uint64_t)FLOW_CALENDAR_WORDS * FLOW_CALENDAR_BITS;
  assert_int_equal(flow_calendar_take(calendar, 10, 4), 10);
  assert_int_equal(flow_calendar_take(calendar, ring + 10, 4), ring + 10);
  assert_int_equal(flow_calendar_take(calendar, 10, 4), 10);
  assert_int_equal(flow_calendar_take(calendar, ring + 10, 4), ring + 14);
  wf_free(calendar);
}

// Within `percent` and a few cycles.
static void expect_near(const char *what, const hw_array *array, programs_program *p, double percent) {
  const uint64_t cycle = programs_cycles_on(&sim_cycle_engine, array, p),
                 flow = programs_cycles_on(&sim_flow_engine, array, p);
  const double difference = fabs((double)flow - (double)cycle);
  if (difference <= SLACK || difference <= percent / 100 * (double)cycle) return;
  fail_msg("%s: %llu cycles, %llu in engine cycle", what, (unsigned long long)flow, (unsigned long long)cycle);
}

static void loads_are_near(void **state) {
  (void)state;
  const hw_array near_by = programs_bare_array(20), far = programs_bare_array(300);
  hw_array default_array;
  hw_array_default(&default_array);
  programs_program aligned = {.count = 0}, shifted = {.count = 0};
  programs_config_load(&aligned, 64);
  programs_config_load(&shifted, 67);
  for (unsigned n = 0; n < 24; n++) {
    programs_load(&aligned, 1024 * n, 64 * n, 64);
    programs_load(&shifted, 1100 * n + 13, 64 * n, 64);
  }
  expect_near("CHANNEL, ANSWERS", &near_by, &aligned, 1);
  expect_near("TRACKED, IN_FLIGHT", &far, &aligned, 1);
  expect_near("REQUESTS, unaligned", &near_by, &shifted, 3);
  expect_near("MISS, SESSIONS", &default_array, &aligned, 5);
}

static int64_t cost_of_polls(const sim_engine_ops *ops, programs_program *p) {
  hw_array quiet = programs_bare_array(5), polled;
  quiet.l2.present = true;
  polled = quiet;
  polled.host.poll_cycles = 1;
  return (int64_t)programs_cycles_on(ops, &polled, p) - (int64_t)programs_cycles_on(ops, &quiet, p);
}

// What the front end polls keeps loads that all hit waiting.
static void polls_cost_the_same(void **state) {
  (void)state;
  programs_program p = {.count = 0};
  programs_config_load(&p, 64);
  for (unsigned n = 0; n < 40; n++) programs_load(&p, 1024 * (n % 4), 64 * n, 64);
  const int64_t cycle = cost_of_polls(&sim_cycle_engine, &p), flow = cost_of_polls(&sim_flow_engine, &p);
  assert_true(cycle > 40);
  assert_true(llabs(flow - cycle) < cycle / 4);
}

// Lines that are loaded evict others; there is room for all of them in a large L2.
static int64_t cost_of_victims(const sim_engine_ops *ops, uint32_t latency, programs_program *p) {
  hw_array small = programs_bare_array(latency), large;
  small.l2.present = true;
  large = small;
  small.l2.capacity_kib = 32;
  large.l2.capacity_kib = 1024;
  return (int64_t)programs_cycles_on(ops, &small, p) - (int64_t)programs_cycles_on(ops, &large, p);
}

// Four of them are on their way at most, and none is seen off beside words (CLEAN_VICTIM).
static void victims_cost_the_same(void **state) {
  (void)state;
  programs_program p = {.count = 0};
  programs_config_load(&p, 64);
  for (unsigned n = 0; n < 200; n++) programs_load(&p, 1024 * n, 64 * (n % 64), 64);
  for (uint32_t latency = 5; latency <= 80; latency *= 4) {
    const int64_t cycle = cost_of_victims(&sim_cycle_engine, latency, &p),
                  flow = cost_of_victims(&sim_flow_engine, latency, &p);
    assert_true(cycle > 200);
    assert_true(llabs(flow - cycle) < 3 * cycle / 10);
  }
}

static void overlapping_loads_are_near(void **state) {
  (void)state;
  const hw_array array = programs_bare_array(60);
  programs_program p = {.count = 0};
  programs_config_load(&p, 64);
  for (unsigned n = 0; n < 20; n++) programs_load(&p, 1024 * n, 0, 64);
  expect_near("OVERLAP", &array, &p, 1);
}

static void stores_are_near(void **state) {
  (void)state;
  const hw_array bare = programs_bare_array(30);
  hw_array magic = programs_bare_array(5);
  magic.l2.present = true;
  programs_program aligned = {.count = 0}, shifted = {.count = 0};
  programs_config_store(&aligned, 64);
  programs_config_store(&shifted, 67);
  for (unsigned n = 0; n < 20; n++) {
    programs_store(&aligned, 1024 * n, ISA_LOCAL_ACCUMULATOR_MASK | (64 * n & 1023));
    programs_store(&shifted, 1100 * n + 13, ISA_LOCAL_ACCUMULATOR_MASK | (64 * n & 1023));
  }
  expect_near("BLOCKS, WRITER", &bare, &aligned, 2);
  expect_near("PIPE", &magic, &aligned, 3);
  expect_near("WRITER, unaligned", &magic, &shifted, 6);
}

static void products_are_near(void **state) {
  (void)state;
  const hw_array array = programs_bare_array(30);
  for (unsigned rows = 4; rows <= 16; rows *= 2) {
    programs_program weights = {.count = 0}, kept = {.count = 0};
    programs_config_execute(&weights);
    programs_config_execute(&kept);
    for (unsigned n = 0; n < 60; n++) {
      programs_product(&weights, n, rows, true);
      programs_product(&kept, n, rows, n == 0);
    }
    expect_near("OPERATION, RESULTS", &array, &weights, 1);
    expect_near("LENGTH, PRODUCTS", &array, &kept, 6);
  }
}

// Loads that write the bank that the products read, and products that wait for them.
static void products_beside_loads_are_near(void **state) {
  (void)state;
  const hw_array array = programs_bare_array(30);
  programs_program p = {.count = 0};
  programs_config_load(&p, 64);
  programs_config_execute(&p);
  for (unsigned n = 0; n < 40; n++) {
    programs_load(&p, 1024 * n, 64 * (1 + n % 20), 64);
    programs_product(&p, n, 16, true);
  }
  expect_near("BANK", &array, &p, 3);
  programs_program waits = {.count = 0};
  programs_config_load(&waits, 64);
  programs_config_execute(&waits);
  for (unsigned n = 0; n < 30; n++) {
    programs_load(&waits, 1024 * n, 0, 16);
    programs_product(&waits, n, 16, true);
  }
  expect_near("ROWS", &array, &waits, 1);
}

// ---- equal to the cycle, without an L2

static uint64_t cycles_of_text(const sim_engine_ops *ops, const hw_array *array, const char *const *text) {
  wf_diag diag = wf_diag_to(stderr);
  const sim_engine_options options = {.timing_only = true};
  arch_memory *memory = arch_memory_create((uint64_t)1 << 24);
  sim_engine *engine = sim_engine_create(ops, array, memory, &options, &diag);
  uint64_t cycle = 0;
  for (; *text != NULL; text++) {
    isa_text_error error;
    arch_command k = {0};
    k.insn = isa_parse(PROGRAMS_REVISION, *text, &k.rs1, &k.rs2, &error);
    assert_non_null(k.insn);
    k.funct = (uint8_t)k.insn->funct;
    assert_int_equal(sim_engine_push(engine, &cycle, &k, NULL), SIM_PUSH_DONE);
  }
  cycle = ops->drain(engine, cycle);
  ops->destroy(engine);
  arch_memory_destroy(memory);
  return cycle;
}

#define CONFIG_LD(stride, scale, repeats) \
  "config_ld shrink=0 state=0 pixel_repeats=" #repeats " block_stride=16 scale=" #scale " stride=" #stride
#define CONFIG_EX(dataflow, a, b)                                                                      \
  "config_ex dataflow=" #dataflow " activation=none strides_only=0 a_transpose=" #a " b_transpose=" #b \
  " a_stride=1 acc_scale=1 in_shift=0 c_stride=1"
#define PRODUCT(b, c, a, d)                                                   \
  "preload local=" b " cols=16 rows=16 dest=" c " dest_cols=16 dest_rows=16", \
      "compute_preloaded a=" a " a_cols=16 a_rows=16 bd=" d " bd_cols=16 bd_rows=16"
#define TWICE(...) __VA_ARGS__, __VA_ARGS__

static void small_programs_take_equal_cycles(void **state) {
  (void)state;
  static const char *const programs[][16] = {
      {CONFIG_LD(0, 1, 1), "mvin dram=0x80001009 local=sp:0x10 cols=40 rows=16"},
      {CONFIG_LD(100, 2.5, 1), "mvin dram=0x80001000 local=sp:0x10 cols=40 rows=2"},
      {CONFIG_LD(0, 2.5, 3), "mvin dram=0x80001000 local=sp:0x110 cols=5 rows=16"},
      {CONFIG_LD(96, 1, 1), "mvin dram=0x80001007 local=sp:0x10 cols=64 rows=16"},
      {"mvout dram=0x80001000 local=sp:0x10 cols=16 rows=16"},
      {"mvout dram=0x80001007 local=acc:0x10+full cols=16 rows=3"},
      {CONFIG_EX(ws, 0, 0), TWICE(PRODUCT("sp:0x2000", "acc:0x30", "acc:0x0", "garbage"))},
      {CONFIG_EX(ws, 0, 0), TWICE(PRODUCT("acc:0x0", "garbage", "sp:0x0", "garbage"))},
      {CONFIG_EX(ws, 0, 0), TWICE(PRODUCT("acc:0x20", "acc:0x30", "acc:0x0", "garbage"))},
      {CONFIG_EX(ws, 0, 0), TWICE(PRODUCT("sp:0x10", "acc:0x30", "sp:0x0", "garbage"))},
      {CONFIG_EX(ws, 0, 0), TWICE(PRODUCT("sp:0x20", "acc:0x30", "sp:0x0", "sp:0x10"))},
      {CONFIG_EX(ws, 0, 0), TWICE(PRODUCT("sp:0x2000", "sp:0x3000", "sp:0xff8", "garbage"))},
      {CONFIG_EX(os, 0, 0), TWICE(PRODUCT("sp:0x2000", "acc:0x30", "sp:0x0", "garbage"))},
      {CONFIG_EX(os, 1, 1), TWICE(PRODUCT("garbage", "acc:0x30", "sp:0x1ff8", "acc:0x1f8"))},
      {CONFIG_EX(ws, 1, 0), "preload local=sp:0x2000 cols=16 rows=16 dest=acc:0x0 dest_cols=16 dest_rows=5",
       "compute_preloaded a=sp:0x0 a_cols=5 a_rows=16 bd=garbage bd_cols=16 bd_rows=16"},
  };
  const hw_array array = programs_bare_array(20);
  for (size_t n = 0; n < sizeof programs / sizeof *programs; n++) {
    const uint64_t cycle = cycles_of_text(&sim_cycle_engine, &array, programs[n]);
    const uint64_t flow = cycles_of_text(&sim_flow_engine, &array, programs[n]);
    if (flow != cycle)
      fail_msg("%s ...: %llu cycles, %llu in engine cycle", programs[n][0], (unsigned long long)flow,
               (unsigned long long)cycle);
  }
}

static void push_text(programs_program *p, const char *format, ...) {
  char text[ISA_TEXT_MAX];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  isa_text_error error;
  arch_command *k = &p->commands[p->count++];
  assert_true(p->count <= PROGRAMS_COMMANDS);
  *k = (arch_command){0};
  k->insn = isa_parse(PROGRAMS_REVISION, text, &k->rs1, &k->rs2, &error);
  assert_non_null(k->insn);
  k->funct = (uint8_t)k->insn->funct;
}

// Rows are stored from the accumulator bank that products add to, which keep the stores waiting.
static void stores_beside_sums_are_near(void **state) {
  (void)state;
  enum { ROUNDS = 6, TILES = 16 };
  programs_program p = {.count = 0};
  programs_config_store(&p, 64);
  programs_config_execute(&p);
  for (unsigned round = 0; round < ROUNDS; round++) {
    const unsigned base = round % 2 * 256;
    for (unsigned n = 0; n < TILES; n++) {
      push_text(&p, "preload local=sp:0x2000 cols=16 rows=16 dest=acc:0x%x+acc dest_cols=16 dest_rows=16",
                base + 16 * n);
      push_text(&p, "compute_preloaded a=sp:0x0 a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16");
    }
    for (unsigned n = 0; n < 4; n++)
      push_text(&p, "mvout dram=0x%x local=acc:0x%x cols=64 rows=16", 0x80001000 + 1024 * (4 * round + n),
                base + 64 * n);
  }
  const hw_array array = programs_bare_array(20);
  expect_near("BLOCKS", &array, &p, 2);
}

// ---- random programs

// The same for the same commands, in whatever order loop units put them out.
static uint64_t commands_of(const sim_records *records) {
  uint64_t sum = 0;
  for (size_t i = 0; i < records->count; i++) {
    const sim_event *e = &records->item[i];
    if (e->kind != SIM_EVENT_ALLOC) continue;
    uint64_t x = e->rs1 * UINT64_C(0x9e3779b97f4a7c15) ^ (e->rs2 + e->funct) * UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 29;
    sum += x * x;
  }
  return sum;
}

// In the order of cycles; of each command the events in their order. The same number of each kind in both engines.
static void check_records(const sim_records *flow, const sim_records *cycle) {
  size_t kinds[2][3] = {{0}};
  uint64_t *last = wf_calloc(flow->count + 1, sizeof *last);
  for (size_t i = 0; i < flow->count; i++) {
    const sim_event *e = &flow->item[i];
    assert_true(i == 0 || flow->item[i - 1].cycle <= e->cycle);
    assert_true(e->kind == SIM_EVENT_ALLOC || e->cycle > last[e->index]);
    last[e->index] = e->cycle;
    kinds[0][e->kind]++;
  }
  for (size_t i = 0; i < cycle->count; i++) kinds[1][cycle->item[i].kind]++;
  assert_memory_equal(kinds[0], kinds[1], sizeof kinds[0]);
  wf_free(last);
}

// What commands compute and move does not depend on time; a row of two bursts may be written once or twice.
static void check_counts(const sim_cycle_report *flow, const sim_cycle_report *cycle) {
  assert_int_equal(flow->macs, cycle->macs);
  assert_int_equal(flow->bus_read_bytes, cycle->bus_read_bytes);
  assert_int_equal(flow->bus_written_bytes, cycle->bus_written_bytes);
  assert_int_equal(flow->sp_row_reads, cycle->sp_row_reads);
  assert_int_equal(flow->acc_row_reads, cycle->acc_row_reads);
  assert_int_equal(flow->acc_row_writes, cycle->acc_row_writes);
  assert_true(llabs((long long)(flow->sp_row_writes - cycle->sp_row_writes)) <=
              4 + (long long)cycle->sp_row_writes / 20);
}

static double compare_random(const hw_array *array, uint64_t seed) {
  const sim_gen_options without = {.without = 1U << GEN_COUNTER};
  sim_gen_program *p = sim_gen_program_create(array, seed, &without);
  sim_records records[2] = {{0}};
  sim_cycle_report reports[2];
  bool kept;
  const uint64_t cycle = programs_run_random(&sim_cycle_engine, p, &records[0], NULL, &reports[0], &kept);
  const uint64_t flow = programs_run_random(&sim_flow_engine, p, &records[1], NULL, &reports[1], &kept);
  assert_true(kept);
  check_counts(&reports[1], &reports[0]);
  check_records(&records[1], &records[0]);
  assert_int_equal(commands_of(&records[1]), commands_of(&records[0]));
  for (unsigned n = 0; n < 2; n++) sim_records_free(&records[n]);
  sim_gen_program_destroy(p);
  return fabs((double)flow / (double)cycle - 1);
}

static void random_programs_are_near(void **state) {
  (void)state;
  static const char *const names[] = {"dim2", "dim4", "gemmini-side8", "gemmini-default", "transformer-16"};
  wf_diag diag = wf_diag_to(stderr);
  enum { PROGRAMS = 60 };
  for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
    hw_array array;
    assert_true(hw_array_load(&array, names[n], &diag));
    double sum = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
      const double error = compare_random(&array, seed);
      assert_true(error < 0.25);
      sum += error;
    }
    assert_true(sum / PROGRAMS < 0.04);
  }
}

static void random_programs_with_tokens_are_near(void **state) {
  (void)state;
  static const char *const names[] = {"dim2", "dim4", "transformer-16"};
  wf_diag diag = wf_diag_to(stderr);
  enum { PROGRAMS = 60 };
  for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
    hw_array array;
    assert_true(hw_array_load(&array, names[n], &diag));
    array.sync.by = HW_SYNC_TOKENS;
    array.units.loop_matmul = array.units.loop_conv = false;
    double sum = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
      const double error = compare_random(&array, seed);
      assert_true(error < 0.25);
      sum += error;
    }
    assert_true(sum / PROGRAMS < 0.04);
  }
}

static void random_programs_without_an_l2_are_nearer(void **state) {
  (void)state;
  enum { PROGRAMS = 60 };
  const hw_array array = programs_bare_array(20);
  double sum = 0;
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    const double error = compare_random(&array, seed);
    assert_true(error < 0.03);
    sum += error;
  }
  assert_true(sum / PROGRAMS < 0.006);
}

static void random_arrays_run_to_their_end(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 100; seed++) {
    hw_array array;
    sim_gen_array(seed, &array);
    assert_true(compare_random(&array, seed) < 1);
  }
}

// ---- bursts of a load in one step

static uint64_t cycles_burst_by_burst(const sim_gen_program *p, bool every) {
  const sim_engine_options options = {.timing_only = true, .every_cycle = every};
  sim_records records = {0};
  bool kept;
  const uint64_t cycle = programs_run_random_with(&sim_flow_engine, &options, p, &records, NULL, NULL, &kept);
  sim_records_free(&records);
  return cycle;
}

// Nearly always the same: repeated rows of int32 beside bursts may see more of them than one by one.
static void bursts_in_one_step_take_as_long(void **state) {
  (void)state;
  enum { PROGRAMS = 150, EQUAL = PROGRAMS * 9 / 10 };
  const sim_gen_options without = {.without = 1U << GEN_COUNTER};
  unsigned equal = 0;
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    hw_array array;
    sim_gen_array(seed, &array);
    sim_gen_program *p = sim_gen_program_create(&array, seed, &without);
    const uint64_t every = cycles_burst_by_burst(p, true), whole = cycles_burst_by_burst(p, false);
    assert_true(fabs((double)whole / (double)every - 1) < 0.004);
    equal += whole == every;
    sim_gen_program_destroy(p);
  }
  assert_true(equal >= EQUAL);
}

// ---- what it refuses

static void counters_are_refused(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  arch_memory *memory = arch_memory_create((uint64_t)array.memory.capacity_mib << 20);
  wf_diag diag = wf_diag_to(stderr);
  sim_engine *engine = sim_engine_create(&sim_flow_engine, &array, memory, NULL, &diag);
  arch_command command = {.funct = ISA_FUNCT_COUNTER, .returns = true};
  arch_command_find(&command, PROGRAMS_REVISION);
  uint64_t cycle = 0;
  assert_int_equal(sim_engine_push(engine, &cycle, &command, NULL), SIM_PUSH_FAULT);
  assert_non_null(strstr(engine->ops->fault(engine)->text, "no performance counters"));
  assert_false(engine->ops->busy(engine));
  engine->ops->destroy(engine);
  arch_memory_destroy(memory);
}

static void options_of_single_cycles_are_refused(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  arch_memory *memory = arch_memory_create((uint64_t)array.memory.capacity_mib << 20);
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  wf_diag diag = wf_diag_to(out);
  const sim_engine_options options[] = {{.disturb = 1}, {.wave = "x.fst"}};
  for (unsigned n = 0; n < 2; n++) assert_null(sim_engine_create(&sim_flow_engine, &array, memory, &options[n], &diag));
  fclose(out);
  assert_non_null(strstr(text, "engine flow has no waveforms"));
  free(text);
  arch_memory_destroy(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calendars_find_the_first_gap),
      cmocka_unit_test(calendars_forget_what_is_long_past),
      cmocka_unit_test(loads_are_near),
      cmocka_unit_test(polls_cost_the_same),
      cmocka_unit_test(victims_cost_the_same),
      cmocka_unit_test(overlapping_loads_are_near),
      cmocka_unit_test(stores_are_near),
      cmocka_unit_test(products_are_near),
      cmocka_unit_test(products_beside_loads_are_near),
      cmocka_unit_test(small_programs_take_equal_cycles),
      cmocka_unit_test(stores_beside_sums_are_near),
      cmocka_unit_test(random_programs_are_near),
      cmocka_unit_test(random_programs_with_tokens_are_near),
      cmocka_unit_test(random_programs_without_an_l2_are_nearer),
      cmocka_unit_test(random_arrays_run_to_their_end),
      cmocka_unit_test(bursts_in_one_step_take_as_long),
      cmocka_unit_test(counters_are_refused),
      cmocka_unit_test(options_of_single_cycles_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
