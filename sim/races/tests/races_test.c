// SPDX-License-Identifier: Apache-2.0
// The engine `races` on small programs: what each order orders, and the race that is left without it.
#include "sim/races/races.h"

#include <inttypes.h>

#include "arch/settle.h"
#include "arch/tokens.h"
#include "base/alloc.h"
#include "base/test.h"
#include "sim/gen/judge.h"

typedef struct bench {
  hw_array *array;  // the engine keeps its place
  arch_memory *memory;
  sim_engine *engine;
  uint64_t given;
} bench;

static bench begin(unsigned ignored) {
  bench b = {.array = WF_NEW(hw_array)};
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(b.array, "dim4", &diag));
  b.memory = arch_memory_create(UINT64_C(16) << 20);
  const sim_engine_options options = {.ignored_orders = ignored};
  b.engine = sim_races_engine.create_with(b.array, b.memory, &options, &diag);
  return b;
}

// Ends it and tells the number of races; the first pair in *pair.
static uint64_t end(bench *b, races_pair *pair) {
  races_report r;
  races_report_of(b->engine, &r);
  if (pair != NULL && r.count > 0) *pair = r.pairs[0];
  assert_int_equal(r.commands, b->given);
  b->engine->ops->destroy(b->engine);
  arch_memory_destroy(b->memory);
  wf_free(b->array);
  return r.races;
}

static void give(bench *b, const char *text) {
  isa_text_error error = {0};
  arch_command c = {.index = b->given++};
  c.insn = isa_parse(1, text, &c.rs1, &c.rs2, &error);
  if (c.insn == NULL) fail_msg("%s: %s", text, error.text);
  c.funct = (uint8_t)c.insn->funct;
  if (b->engine->ops->push(b->engine, 0, &c, NULL) != SIM_PUSH_DONE)
    fail_msg("%s: %s", text, b->engine->ops->fault(b->engine)->text);
}

static void fence(bench *b) { b->engine->ops->drain(b->engine, 0); }

static void configure(bench *b) {
  give(b, "config_ld stride=4 scale=1");
  give(b, "config_st stride=4 acc_scale=1");
  give(b, "config_ex dataflow=ws acc_scale=1 a_stride=1 c_stride=1");
}

#define STORE "mvout dram=0x80100000 local=acc:0x0 cols=4 rows=4"
#define OTHER_STORE "mvout dram=0x80200000 local=acc:0x0 cols=4 rows=4"
#define LOAD "mvin dram=0x80100000 local=sp:0x40 cols=4 rows=4"

// ---- main memory

static void a_load_behind_a_store_needs_a_fence(void **state) {
  (void)state;
  bench b = begin(0);
  races_pair pair = {0};
  configure(&b);
  give(&b, STORE);
  give(&b, LOAD);
  assert_int_equal(end(&b, &pair), 1);
  assert_int_equal(pair.place, RACES_MAIN_MEMORY);
  assert_int_equal(pair.first, 0x80100000);
  assert_int_equal(pair.end, 0x80100010);
  assert_int_equal(pair.earlier.command.index, 3);
  assert_int_equal(pair.later.command.index, 4);
  assert_true(pair.earlier.writes && !pair.later.writes);
  for (unsigned ignored = 0; ignored <= RACES_FENCES; ignored += RACES_FENCES) {
    b = begin(ignored);
    configure(&b);
    give(&b, STORE);
    fence(&b);
    give(&b, LOAD);
    assert_int_equal(end(&b, NULL), ignored != 0);
  }
}

// The distance that the compiler relies on, and one store less.
static void enough_stores_settle_bytes(void **state) {
  (void)state;
  for (int missing = 0; missing < 2; missing++) {
    bench b = begin(0);
    const arch_settling way = arch_settling_of(b.array);
    const unsigned rows = 4, between = (way.rows + rows - 1) / rows + way.stores;
    configure(&b);
    give(&b, STORE);
    for (unsigned n = missing != 0 ? 1 : 0; n < between; n++) give(&b, OTHER_STORE);
    give(&b, LOAD);
    assert_int_equal(end(&b, NULL), missing);
  }
}

// A store over bytes that a load may not have read yet: ordered where the store's rows come from that load.
static void a_store_behind_a_load_needs_its_data(void **state) {
  (void)state;
  for (int chained = 0; chained < 2; chained++) {
    bench b = begin(0);
    configure(&b);
    give(&b, "mvin dram=0x80100000 local=sp:0x0 cols=4 rows=4");
    give(&b, chained != 0 ? "mvout dram=0x80100000 local=sp:0x0 cols=4 rows=4" : STORE);
    assert_int_equal(end(&b, NULL), !chained);
  }
}

static void neighbours_are_apart(void **state) {
  (void)state;
  bench b = begin(0);
  configure(&b);
  give(&b, STORE);
  give(&b, "mvin dram=0x80100010 local=sp:0x40 cols=4 rows=4");
  give(&b, "mvin dram=0x800ffff0 local=sp:0x50 cols=4 rows=4");
  assert_int_equal(end(&b, NULL), 0);
}

// ---- the hart

static void touch(bench *b, uint64_t address, bool write) {
  b->engine->ops->hart_touches(b->engine, 0x80000040, address, 8, write);
}

static void the_hart_needs_a_fence(void **state) {
  (void)state;
  bench b = begin(0);
  races_pair pair = {0};
  configure(&b);
  touch(&b, 0x80100000, true);  // before the command: in order
  give(&b, STORE);
  touch(&b, 0x80100010, false);
  touch(&b, 0x80100008, false);
  touch(&b, 0x80100000, false);  // the same instruction: the same pair
  assert_int_equal(end(&b, &pair), 1);
  assert_int_equal(pair.later.unit, RACES_HART);
  assert_int_equal(pair.first, 0x80100000);
  assert_int_equal(pair.end, 0x80100010);
  b = begin(0);
  configure(&b);
  give(&b, LOAD);
  touch(&b, 0x80100000, false);  // both read
  fence(&b);
  touch(&b, 0x80100000, true);
  give(&b, LOAD);
  touch(&b, 0x80100000, true);
  assert_int_equal(end(&b, NULL), 1);
}

// ---- local memory

static void the_station_orders_rows(void **state) {
  (void)state;
  for (unsigned ignored = 0; ignored <= RACES_STATION; ignored += RACES_STATION) {
    bench b = begin(ignored);
    races_pair pair = {0};
    configure(&b);
    give(&b, "mvin dram=0x80100000 local=sp:0x40 cols=4 rows=4");
    give(&b, "preload local=sp:0x40 cols=4 rows=4 dest=acc:0x10 dest_cols=4 dest_rows=4");
    give(&b, "compute_preloaded a=sp:0x80 a_cols=4 a_rows=4 bd=garbage bd_cols=4 bd_rows=4");
    give(&b, "mvout dram=0x80200000 local=acc:0x10 cols=4 rows=4");
    assert_int_equal(end(&b, &pair), ignored != 0 ? 2 : 0);
    if (ignored == 0) continue;
    assert_int_equal(pair.place, RACES_SCRATCHPAD);
    assert_int_equal(pair.first, 0x40);
    assert_int_equal(pair.end, 0x44);
  }
}

// Output-stationary results with a stride leave from below the row that the station compares (docs/ref-engine.md).
static void rows_that_the_station_does_not_compare(void **state) {
  (void)state;
  bench b = begin(0);
  races_pair pair = {0};
  give(&b, "config_ld stride=4 scale=1");
  give(&b, "config_st stride=4 acc_scale=1");
  give(&b, "config_ex dataflow=os acc_scale=1 a_stride=1 c_stride=2");
  give(&b, "preload local=garbage cols=4 rows=4 dest=acc:0x10 dest_cols=4 dest_rows=4");
  give(&b, "compute_preloaded a=sp:0x80 a_cols=4 a_rows=4 bd=sp:0x90 bd_cols=4 bd_rows=4");
  give(&b, "mvout dram=0x80200000 local=acc:0xd cols=4 rows=1");
  assert_int_equal(end(&b, &pair), 1);
  assert_int_equal(pair.place, RACES_ACCUMULATOR);
  assert_int_equal(pair.first, 0xd);
  assert_int_equal(pair.end, 0xe);
}

// ---- random programs

static uint64_t races_of(const sim_gen_program *program) {
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create(program->image_bytes);
  sim_engine *engine = sim_races_engine.create(program->array, memory, &diag);
  for (size_t i = 0; i < program->count; i++) {
    if (program->items[i].fence)
      engine->ops->drain(engine, 0);
    else if (engine->ops->push(engine, 0, &program->items[i].command, NULL) != SIM_PUSH_DONE)
      fail_msg("seed %" PRIu64 ": %s", program->seed, engine->ops->fault(engine)->text);
  }
  races_report report;
  races_report_of(engine, &report);
  engine->ops->destroy(engine);
  arch_memory_destroy(memory);
  return report.races;
}

// Without each of its fences. The judge allows less than the orders do, so it refuses what has a race.
static void leave_out_fences(const sim_gen_program *program, unsigned *left_out, unsigned *found) {
  bool *kept = calloc(program->count, sizeof *kept);
  for (size_t f = 0; f < program->count; f++) {
    if (!program->items[f].fence) continue;
    for (size_t i = 0; i < program->count; i++) kept[i] = i != f;
    sim_gen_program *less = sim_gen_program_copy(program, kept);
    char why[GEN_WHY];
    const bool races = races_of(less) != 0;
    ++*left_out;
    *found += races;
    if (races) assert_false(sim_gen_judge_program(less, why));
    sim_gen_program_destroy(less);
  }
  free(kept);
}

// Programs that mean the same on every correct engine have no race.
static void well_defined_programs_have_none(void **state) {
  (void)state;
  enum { PROGRAMS = 1000 };
  unsigned left_out = 0, found = 0;
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    hw_array array;
    sim_gen_array(seed, &array);
    sim_gen_program *program = sim_gen_program_create(&array, seed, &(sim_gen_options){.steps = 80});
    const uint64_t races = races_of(program);
    if (races != 0) fail_msg("seed %" PRIu64 ": %" PRIu64 " races", seed, races);
    leave_out_fences(program, &left_out, &found);
    sim_gen_program_destroy(program);
  }
  print_message("%u fences left out: %u races found\n", left_out, found);
  assert_true(found > 0);
}

// ---- tokens

static hw_array with_tokens(uint64_t seed) {
  hw_array array;
  sim_gen_array(seed, &array);
  array.sync.by = HW_SYNC_TOKENS;
  array.sync.token_bits = 1 + (uint32_t)(seed % 4);
  array.units.loop_matmul = array.units.loop_conv = false;
  array.store.order = HW_STORE_ORDER_ISSUED;
  return array;
}

// A program without the token that command `at` pushes to `to`, and without the pop that takes it. NULL: nobody does.
static sim_gen_program *without_token(const sim_gen_program *program, size_t at, unsigned to) {
  sim_gen_program *less = sim_gen_program_copy(program, NULL);
  const unsigned from = arch_unit_of(program->items[at].command.insn);
  unsigned ahead = 0;
  for (size_t i = 0; i < at; i++) {
    if (program->items[i].fence) continue;
    const arch_command *c = &program->items[i].command;
    const arch_tokens tokens = arch_tokens_of(c->insn, c->rs2);
    if (arch_unit_of(c->insn) == from) ahead += tokens.pushes >> to & 1;
    if (arch_unit_of(c->insn) == to) ahead -= tokens.pops >> from & 1;
  }
  for (size_t i = at; i < program->count; i++) {
    if (program->items[i].fence) continue;
    arch_command *c = &less->items[i].command;
    arch_tokens tokens = arch_tokens_of(c->insn, c->rs2);
    if (i == at) tokens.pushes &= (uint8_t) ~(1u << to);
    const bool pops = arch_unit_of(c->insn) == to && (tokens.pops >> from & 1) != 0;
    const bool taken = pops && ahead-- == 0;
    if (taken) tokens.pops &= (uint8_t) ~(1u << from);
    if (c->insn->tokens != 0) c->rs2 = arch_tokens_set(c->insn, c->rs2, tokens);
    if (taken) return less;
  }
  sim_gen_program_destroy(less);
  return NULL;
}

static void leave_out_tokens(const sim_gen_program *program, unsigned *left_out, unsigned *found) {
  for (size_t i = 0; i < program->count; i++) {
    if (program->items[i].fence) continue;
    const arch_command *c = &program->items[i].command;
    const arch_tokens tokens = arch_tokens_of(c->insn, c->rs2);
    for (unsigned to = 0; to < ARCH_UNITS; to++) {
      sim_gen_program *less = (tokens.pushes >> to & 1) != 0 ? without_token(program, i, to) : NULL;
      if (less == NULL) continue;
      ++*left_out;
      *found += races_of(less) != 0;
      sim_gen_program_destroy(less);
    }
  }
}

// The tokens that the generator gives leave no race, and most of them are needed: some others are drawn.
static void programs_with_tokens_have_none(void **state) {
  (void)state;
  enum { PROGRAMS = 200, THINNED = 20 };
  unsigned left_out = 0, found = 0;
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    const hw_array array = with_tokens(seed);
    sim_gen_program *program = sim_gen_program_create(&array, seed, &(sim_gen_options){.steps = 80});
    const uint64_t races = races_of(program);
    if (races != 0) fail_msg("seed %" PRIu64 ": %" PRIu64 " races", seed, races);
    if (seed <= THINNED) leave_out_tokens(program, &left_out, &found);
    sim_gen_program_destroy(program);
  }
  print_message("%u tokens left out: %u programs with races\n", left_out, found);
  assert_true(2 * found > left_out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_load_behind_a_store_needs_a_fence),
      cmocka_unit_test(enough_stores_settle_bytes),
      cmocka_unit_test(a_store_behind_a_load_needs_its_data),
      cmocka_unit_test(neighbours_are_apart),
      cmocka_unit_test(the_hart_needs_a_fence),
      cmocka_unit_test(the_station_orders_rows),
      cmocka_unit_test(rows_that_the_station_does_not_compare),
      cmocka_unit_test(well_defined_programs_have_none),
      cmocka_unit_test(programs_with_tokens_have_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
