// SPDX-License-Identifier: Apache-2.0
// Drives one loop unroller cycle by cycle and collects the commands it emits: see loop_bench.h.
#include "hw/rtl/tests/front/loop_bench.h"

#include <inttypes.h>
#include <stdio.h>

#include "arch/local.h"
#include "base/alloc.h"
#include "base/number.h"
#include "base/random.h"
#include "hw/rtl/tests/front/dut.h"

enum { RANGES = 3, CYCLES_PER_COMMAND = 400 };

typedef struct range {
  bool valid, writes, accumulator;
  uint32_t first, end;
} range;

typedef struct expected {
  arch_command command;
  size_t emitted;  // position in the output
  range ranges[RANGES];
} expected;

typedef struct input {
  arch_command command;
  bool passes;
  size_t expected_before;  // loop commands that must have left before it
} input;

struct bench {
  const hw_array *array;
  hw_derived derived;
  const bench_unit *unit;
  uint64_t random;
  expected *expected;
  size_t expected_count, expected_room;
  size_t *order[BENCH_PARTS];  // per part, the numbers of its commands
  size_t part_count[BENCH_PARTS], part_room[BENCH_PARTS], part_done[BENCH_PARTS];
  input *inputs;
  size_t input_count, input_room;
  uint32_t a_stride, c_stride;  // of the execute unit, as the stream sets them
  bool a_transposed, b_transposed;
};

uint64_t bench_random(bench *b) { return wf_random_next(&b->random); }

uint32_t bench_between(bench *b, uint32_t low, uint32_t high) {
  return low + (uint32_t)(bench_random(b) % (high - low + 1));
}

bool bench_chance(bench *b, uint32_t percent) { return bench_random(b) % 100 < percent; }

bench *bench_create(const hw_array *array, const bench_unit *unit, uint64_t seed) {
  bench *b = wf_calloc(1, sizeof *b);
  *b = (bench){.array = array, .derived = hw_derive(array), .unit = unit, .random = seed, .a_stride = 1, .c_stride = 1};
  return b;
}

void bench_destroy(bench *b) {
  for (unsigned p = 0; p < BENCH_PARTS; p++) wf_free(b->order[p]);
  wf_free(b->expected);
  wf_free(b->inputs);
  wf_free(b);
}

static void add_input(bench *b, input in) {
  if (b->input_count == b->input_room) {
    b->input_room = b->input_room * 2 + 64;
    b->inputs = wf_realloc(b->inputs, b->input_room, sizeof *b->inputs);
  }
  b->inputs[b->input_count++] = in;
}

void bench_input(bench *b, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  add_input(b, (input){.command = {.funct = funct, .rs1 = rs1, .rs2 = rs2}});
}

void bench_pass(bench *b, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  add_input(b, (input){.command = {.funct = funct, .rs1 = rs1, .rs2 = rs2},
                       .passes = true,
                       .expected_before = b->expected_count});
}

// --- local rows of a command, generously
// ------------------------------------------------------------------------------

static range rows_at(const bench *b, uint64_t operand, uint64_t count, bool writes) {
  arch_local local = arch_local_decode(&b->derived, operand);
  return (range){.valid = !local.garbage,
                 .writes = writes,
                 .accumulator = local.accumulator,
                 .first = local.row,
                 .end = local.row + (uint32_t)count};
}

static uint64_t rows_of(uint64_t operand) { return operand >> 48; }
static uint64_t cols_of(uint64_t operand) { return operand >> 32 & 0xffff; }

static void note_ranges(bench *b, expected *e) {
  const arch_command *c = &e->command;
  uint64_t dim = b->derived.dim, blocks = (cols_of(c->rs2) + dim - 1) / dim;
  switch (c->funct) {
    case ISA_FUNCT_CONFIG_EX:  // all configurations
      if ((c->rs1 & 3) == 0) b->a_stride = c->rs1 >> 16 & 0xffff, b->c_stride = (uint32_t)(c->rs2 >> 48);
      break;
    case ISA_FUNCT_MVIN:
    case ISA_FUNCT_MVIN2:
    case ISA_FUNCT_MVIN3:  // the first block only: the block stride is not part of the stream here
      e->ranges[0] = rows_at(b, c->rs2, rows_of(c->rs2), true);
      break;
    case ISA_FUNCT_MVOUT_SPAD:
      e->ranges[1] = rows_at(b, c->rs1 & UINT32_MAX, rows_of(c->rs2), true);
      e->ranges[0] = rows_at(b, c->rs2, blocks * dim, false);
      break;
    case ISA_FUNCT_MVOUT:
      e->ranges[0] = rows_at(b, c->rs2, (blocks - 1) * dim + wf_max(rows_of(c->rs2), 1), false);
      break;
    case ISA_FUNCT_PRELOAD:
      e->ranges[0] = rows_at(b, c->rs1, b->b_transposed ? cols_of(c->rs1) : rows_of(c->rs1), false);
      e->ranges[1] = rows_at(b, c->rs2, (rows_of(c->rs2) - 1) * b->c_stride + 1, true);
      break;
    default:
      e->ranges[0] =
          rows_at(b, c->rs1, ((b->a_transposed ? cols_of(c->rs1) : rows_of(c->rs1)) - 1) * b->a_stride + 1, false);
      e->ranges[1] = rows_at(b, c->rs2, rows_of(c->rs2), false);
      break;
  }
}

void bench_loop(bench *b, bool a_transposed, bool b_transposed) {
  b->a_stride = b->c_stride = 1;
  b->a_transposed = a_transposed;
  b->b_transposed = b_transposed;
}

void bench_expect(bench *b, unsigned part, const arch_command *command) {
  if (b->expected_count == b->expected_room) {
    b->expected_room = b->expected_room * 2 + 256;
    b->expected = wf_realloc(b->expected, b->expected_room, sizeof *b->expected);
  }
  if (b->part_count[part] == b->part_room[part]) {
    b->part_room[part] = b->part_room[part] * 2 + 64;
    b->order[part] = wf_realloc(b->order[part], b->part_room[part], sizeof *b->order[part]);
  }
  expected *e = &b->expected[b->expected_count];
  *e = (expected){.command = *command};
  note_ranges(b, e);
  b->order[part][b->part_count[part]++] = b->expected_count++;
}

size_t bench_expected(const bench *b) { return b->expected_count; }

// --- the run
// ------------------------------------------------------------------------------------------------------------

typedef struct run {
  bench *b;
  loop_dut *dut;
  loop_pins pins;
  size_t input, pass, emitted, emitted_loops;
  uint32_t in_flight[BENCH_CLASSES], limit[BENCH_CLASSES];
  uint32_t in_percent, out_percent, completion_percent;
} run;

static void print(const char *what, const arch_command *c) {
  fprintf(stderr, "  %-8s funct %2u rs1 %016" PRIx64 " rs2 %016" PRIx64 "\n", what, c->funct, c->rs1, c->rs2);
}

static unsigned class_of(const arch_command *c) {
  switch (c->funct) {
    case ISA_FUNCT_CONFIG_EX: {
      unsigned kind = (unsigned)(c->rs1 & 3);
      return kind == 0 ? 1 : kind == 1 ? 0 : 2;
    }
    case ISA_FUNCT_MVIN:
    case ISA_FUNCT_MVIN2:
    case ISA_FUNCT_MVIN3:
      return 0;
    case ISA_FUNCT_MVOUT:
    case ISA_FUNCT_MVOUT_SPAD:
      return 2;
    default:
      return 1;
  }
}

static bool same(const arch_command *a, const arch_command *b) {
  return a->funct == b->funct && a->rs1 == b->rs1 && a->rs2 == b->rs2;
}

static bool take_loop_command(run *r, const arch_command *got) {
  bench *b = r->b;
  unsigned class = class_of(got), part = b->unit->part_of(got);
  if (part >= b->unit->parts || b->part_done[part] == b->part_count[part]) {
    fprintf(stderr, "command %zu belongs to no part or exceeds it\n", r->emitted);
    print("emitted", got);
    return false;
  }
  expected *e = &b->expected[b->order[part][b->part_done[part]]];
  if (!same(&e->command, got)) {
    fprintf(stderr, "part %u, command %zu\n", part, b->part_done[part]);
    print("expected", &e->command);
    print("emitted", got);
    return false;
  }
  e->emitted = r->emitted;
  b->part_done[part]++;
  r->emitted_loops++;
  if (++r->in_flight[class] > r->limit[class]) {
    fprintf(stderr, "class %u has %u commands in flight\n", class, r->in_flight[class]);
    return false;
  }
  return true;
}

static bool take_other_command(run *r, const arch_command *got) {
  bench *b = r->b;
  while (r->pass < b->input_count && !b->inputs[r->pass].passes) r->pass++;
  if (r->pass == b->input_count || !same(&b->inputs[r->pass].command, got)) {
    fprintf(stderr, "a command that is not part of a loop was lost or changed\n");
    print("emitted", got);
    return false;
  }
  if (r->emitted_loops != b->inputs[r->pass].expected_before) {
    fprintf(stderr, "a command passed while %zu of %zu loop commands before it had left\n", r->emitted_loops,
            b->inputs[r->pass].expected_before);
    return false;
  }
  r->pass++;
  return true;
}

static bool step(run *r) {
  bench *b = r->b;
  loop_pins *pins = &r->pins;
  if (!pins->in_valid && r->input < b->input_count && bench_chance(b, r->in_percent)) {
    const arch_command *c = &b->inputs[r->input].command;
    pins->in_valid = true, pins->funct = c->funct, pins->rs1 = c->rs1, pins->rs2 = c->rs2;
  }
  pins->out_ready = bench_chance(b, r->out_percent);
  for (unsigned c = 0; c < BENCH_CLASSES; c++) {
    uint32_t most = r->in_flight[c] < 2 ? r->in_flight[c] : 2;
    pins->completed[c] = bench_chance(b, r->completion_percent) ? (uint8_t)bench_between(b, 0, most) : 0;
    r->in_flight[c] -= pins->completed[c];
  }
  loop_cycle(r->dut, pins);
  if (pins->in_valid && pins->in_ready) pins->in_valid = false, r->input++;
  if (!pins->out_valid || !pins->out_ready) return true;
  arch_command got = {.funct = pins->out_funct, .rs1 = pins->out_rs1, .rs2 = pins->out_rs2};
  bool good = pins->from_loop ? take_loop_command(r, &got) : take_other_command(r, &got);
  r->emitted++;
  return good;
}

static bool touch(const range *x, const range *y) {
  return x->valid && y->valid && (x->writes || y->writes) && x->accumulator == y->accumulator && x->first < y->end &&
         y->first < x->end;
}

static bool conflict(const expected *x, const expected *y) {
  for (unsigned m = 0; m < RANGES; m++)
    for (unsigned n = 0; n < RANGES; n++)
      if (touch(&x->ranges[m], &y->ranges[n])) return true;
  return false;
}

static bool conflicts_in_order(const bench *b) {
  for (size_t y = 0; y < b->expected_count; y++) {
    for (size_t x = 0; x < y; x++) {
      const expected *first = &b->expected[x], *second = &b->expected[y];
      if (first->emitted < second->emitted || !conflict(first, second)) continue;
      fprintf(stderr, "emitted against program order: %zu and %zu\n", x, y);
      print("first", &first->command);
      print("second", &second->command);
      return false;
    }
  }
  return true;
}

bool bench_run(bench *b) {
  run r = {.b = b,
           .limit = {b->array->load.reservation_entries, b->array->execute.reservation_entries,
                     b->array->store.reservation_entries}};
  r.in_percent = bench_chance(b, 50) ? 100 : bench_between(b, 10, 100);
  r.out_percent = bench_chance(b, 50) ? 100 : bench_between(b, 10, 100);
  r.completion_percent = bench_chance(b, 50) ? 100 : bench_between(b, 10, 100);
  r.dut = loop_create();
  bool good = true, done = false;
  size_t cycles = 0, most = (b->expected_count + b->input_count + 10) * CYCLES_PER_COMMAND;
  for (; good && !done && cycles < most; cycles++) {
    good = step(&r);
    bool all = r.input == b->input_count && r.emitted_loops == b->expected_count;
    for (size_t n = r.pass; n < b->input_count; n++) all &= !b->inputs[n].passes;
    done = all && !r.pins.busy;
  }
  if (good && !done) {
    fprintf(stderr, "stuck: %zu of %zu inputs, %zu of %zu loop commands, busy %d\n", r.input, b->input_count,
            r.emitted_loops, b->expected_count, r.pins.busy);
    good = false;
  }
  loop_destroy(r.dut);
  return good && conflicts_in_order(b);
}
