// SPDX-License-Identifier: Apache-2.0
// loop_conv against arch/loops/loop_conv.c: random sequences of convolution tiles.
// Usage: conv_test ARRAY REVISION PROGRAMS [FIRST]
#include <stdio.h>
#include <stdlib.h>

#include "hw/rtl/tests/front/loop_bench.h"

enum { LOOPS = 5, MOST_COMMANDS = 1200, TRIES = 4000 };

static unsigned part_of(const arch_command *c) {
  switch (c->funct) {
    case ISA_FUNCT_MVIN:
      return ARCH_LOOP_CONV_LOAD_INPUT;
    case ISA_FUNCT_MVIN2:
      return ARCH_LOOP_CONV_LOAD_WEIGHTS;
    case ISA_FUNCT_MVIN3:
      return ARCH_LOOP_CONV_LOAD_BIAS;
    case ISA_FUNCT_MVOUT:
      return ARCH_LOOP_CONV_STORE;
    case ISA_FUNCT_CONFIG_LD: {  // all configurations
      static const unsigned loads[3] = {ARCH_LOOP_CONV_LOAD_INPUT, ARCH_LOOP_CONV_LOAD_WEIGHTS,
                                        ARCH_LOOP_CONV_LOAD_BIAS};
      if ((c->rs1 & 3) != 1) return (c->rs1 & 3) == 0 ? ARCH_LOOP_CONV_EXECUTE : ARCH_LOOP_CONV_STORE;
      return (c->rs1 >> 3 & 3) == 3 ? ARCH_LOOP_CONV_PARTS : loads[c->rs1 >> 3 & 3];
    }
    default:
      return ARCH_LOOP_CONV_EXECUTE;
  }
}
static const bench_unit unit = {ARCH_LOOP_CONV_PARTS, part_of};

typedef struct layer {
  uint64_t batches, orows, ocols, pochs, krows, kcols, kchs, stride, dilation, lpad, rpad, upad, dpad;
  bool downsample, dilated, pool;
} layer;

static uint64_t channels(bench *b, uint32_t dim) {
  if (bench_chance(b, 15)) return bench_between(b, 1, 6 * dim);
  return bench_chance(b, 50) ? bench_between(b, 1, dim) : bench_between(b, 1, 2 * dim + 1);
}

static layer make_layer(bench *b, uint32_t dim) {
  layer l = {.batches = bench_between(b, 1, 3), .orows = bench_between(b, 1, 4), .stride = bench_between(b, 1, 2)};
  l.ocols = bench_chance(b, 30) ? bench_between(b, 1, 2 * dim + 3) : bench_between(b, 1, 5);
  l.pochs = channels(b, dim), l.kchs = channels(b, dim);
  l.krows = bench_between(b, 1, 3), l.kcols = bench_between(b, 1, 3);
  l.dilation = bench_chance(b, 80) ? 1 : 2;
  l.upad = bench_between(b, 0, 2), l.dpad = bench_between(b, 0, 2);
  l.lpad = bench_chance(b, 10) ? bench_between(b, 0, dim + 2) : bench_between(b, 0, 2);
  l.rpad = bench_chance(b, 10) ? bench_between(b, 0, dim + 2) : bench_between(b, 0, 2);
  l.downsample = bench_chance(b, 10);
  if (l.downsample) l.stride = 2, l.krows = l.kcols = 1, l.upad = l.dpad = l.lpad = l.rpad = 0;
  l.dilated = !l.downsample && bench_chance(b, 15);
  if (l.dilated) l.stride = 1;
  l.pool = bench_chance(b, 25);
  return l;
}

static uint64_t field(bench *b) { return bench_between(b, 1, bench_chance(b, 20) ? 0xffff : 40); }
static uint64_t join(uint64_t high, uint64_t b, uint64_t c, uint64_t low) {
  return high << 48 | b << 32 | c << 16 | low;
}
static uint64_t address(bench *b, uint32_t zero_percent) {
  return bench_chance(b, zero_percent) ? 0 : bench_random(b) >> 8 | 1;
}

enum { COMMANDS = 7 };
typedef struct candidate {
  arch_command command[COMMANDS];
} candidate;
static const isa_id ids[2][COMMANDS] = {
    {ISA_LOOP_CONV_WS_CONFIG_1_R1, ISA_LOOP_CONV_WS_CONFIG_2_R1, ISA_LOOP_CONV_WS_CONFIG_3_R1,
     ISA_LOOP_CONV_WS_CONFIG_4_R1, ISA_LOOP_CONV_WS_CONFIG_5, ISA_LOOP_CONV_WS_CONFIG_6, ISA_LOOP_CONV_WS_R1},
    {ISA_LOOP_CONV_WS_CONFIG_1_R2, ISA_LOOP_CONV_WS_CONFIG_2_R2, ISA_LOOP_CONV_WS_CONFIG_3_R2,
     ISA_LOOP_CONV_WS_CONFIG_4_R2, ISA_LOOP_CONV_WS_CONFIG_5, ISA_LOOP_CONV_WS_CONFIG_6, ISA_LOOP_CONV_WS_R2}};
static const uint8_t functs[COMMANDS] = {ISA_FUNCT_LOOP_CONV_WS_CONFIG_1, ISA_FUNCT_LOOP_CONV_WS_CONFIG_2,
                                         ISA_FUNCT_LOOP_CONV_WS_CONFIG_3, ISA_FUNCT_LOOP_CONV_WS_CONFIG_4,
                                         ISA_FUNCT_LOOP_CONV_WS_CONFIG_5, ISA_FUNCT_LOOP_CONV_WS_CONFIG_6,
                                         ISA_FUNCT_LOOP_CONV_WS};

static void set(candidate *c, unsigned n, uint64_t rs1, uint64_t rs2) {
  c->command[n] = (arch_command){.funct = functs[n], .rs1 = rs1, .rs2 = rs2};
}

static void set_revision_1(bench *b, const layer *l, candidate *c) {
  uint64_t pool = l->pool ? bench_between(b, 1, 3) : bench_random(b) & 0xff;
  set(c, 0, join(field(b), field(b), field(b), field(b)), join(field(b), l->stride, field(b) & 0xff, field(b)));
  set(c, 1, join(bench_between(b, 1, 9), bench_between(b, 1, 3), bench_between(b, 1, 3), pool),
      join(l->batches, field(b) & 0xff, field(b) & 0xff, l->pochs));
  set(c, 2, join(l->krows, l->kcols, l->kchs, l->lpad), join(l->rpad, l->upad, l->dpad, bench_between(b, 0, 3)));
  set(c, 3, join(l->orows, field(b), bench_between(b, 0, 3), field(b)), join(0, 0, l->dilation, l->ocols));
}

static void set_revision_2(bench *b, const layer *l, candidate *c) {
  set(c, 0, join(field(b), field(b), field(b), field(b)),
      (field(b) & 0xff) << 56 | l->stride << 48 | field(b) << 32 | field(b) << 16 | field(b));
  set(c, 1,
      bench_between(b, 1, 9) * (UINT64_C(1) << 48) | (field(b) & 0xff) << 32 | (uint64_t)bench_between(b, 1, 3) << 16 |
          (uint64_t)bench_between(b, 1, 3) << 8,
      join(l->batches, field(b) & 0xff, field(b) & 0xff, l->pochs));
  set(c, 2, join(l->krows, l->kcols, l->kchs, l->lpad),
      l->rpad << 48 | l->upad << 32 | l->dpad << 24 | (uint64_t)bench_between(b, 0, 3) << 16 | field(b));
  set(c, 3,
      l->orows << 48 | field(b) << 32 | (uint64_t)bench_between(b, 0, 3) << 21 | (field(b) & 0x7ff) << 10 | l->dilation,
      join(field(b), field(b), field(b), l->ocols));
}

static candidate make_loop(bench *b, const hw_array *array, const hw_derived *d) {
  candidate c;
  layer l = make_layer(b, d->dim);
  bool later = array->isa.revision == 2;
  if (later)
    set_revision_2(b, &l, &c);
  else
    set_revision_1(b, &l, &c);
  uint32_t none = later ? 12 : 0;
  set(&c, 4, address(b, none), address(b, 30));
  set(&c, 5, address(b, 30), address(b, none));
  uint64_t rs1 = bench_chance(b, 50), rs2 = (l.pool ? 0 : 1) | (uint64_t)l.downsample << 1 | (uint64_t)l.dilated << 2;
  for (int bit = 1; bit <= 6; bit++) rs1 |= (uint64_t)bench_chance(b, 12) << bit;
  if (bench_chance(b, 40)) rs1 |= (uint64_t)bench_between(b, 0, 4) << 8;
  if (later && bench_chance(b, 30)) rs1 |= (uint64_t)(bench_between(b, 0, 2) | bench_between(b, 0, 2) << 2) << 16;
  set(&c, 6, rs1, rs2 | (uint64_t)bench_between(b, 0, 3) << 3);
  return c;
}

static int64_t blocks(const arch_loop_conv_plan *plan, uint32_t wide) {
  return (wide + plan->derived->dim - 1) / plan->derived->dim;
}

// Tiles that need rows that do not exist, whose input and weights overlap, or that fold more kernel columns into K than
// the array is deep or in the wrong order, are no programs.
static bool is_program(const arch_loop_conv_plan *plan) {
  const arch_loop_conv_slot *s = &plan->slot;
  if (arch_loop_conv_fault(plan) != NULL) return false;
  int64_t a_rows = blocks(plan, plan->trans_input_3120 ? s->batches : s->kchs) * plan->input_block;
  int64_t b_rows = blocks(plan, plan->trans_weight_0132 ? s->kchs : s->pochs) * plan->weight_block;
  uint32_t deep = s->kchs < plan->derived->dim ? s->kchs : plan->derived->dim;
  if ((uint32_t)plan->pixels * deep > plan->derived->dim || (plan->pixels > 1 && plan->wrot180)) return false;
  if (plan->b_row < 0 || !(plan->a_row + a_rows <= plan->b_row || plan->b_row + b_rows <= plan->a_row)) return false;
  if (blocks(plan, s->pochs) * plan->bias_block > plan->derived->acc_rows / 2) return false;
  size_t commands = 0;
  for (unsigned part = 0; part < ARCH_LOOP_CONV_PARTS; part++) {
    arch_loop_cursor cursor = {.started = false};
    arch_command out;
    arch_loop_result result;
    do result = arch_loop_conv_next(plan, part, &cursor, &out);
    while (result == ARCH_LOOP_COMMAND && ++commands < MOST_COMMANDS);
    if (result != ARCH_LOOP_END) return false;
  }
  return true;
}

static void expect_plan(bench *b, const arch_loop_conv_plan *plan) {
  bench_loop(b, false, plan->trans_weight_0132);
  for (unsigned part = 0; part < ARCH_LOOP_CONV_PARTS; part++) {
    arch_loop_cursor cursor = {.started = false};
    arch_command out;
    while (arch_loop_conv_next(plan, part, &cursor, &out) == ARCH_LOOP_COMMAND) bench_expect(b, part, &out);
  }
}

static void add_loop(bench *b, const hw_array *array, const hw_derived *d, arch_loop_conv *loop) {
  const isa_id *id = ids[array->isa.revision - 1];
  for (int n = 0; n < TRIES; n++) {
    candidate c = make_loop(b, array, d);
    arch_loop_conv next = *loop;
    for (unsigned m = 0; m + 1 < COMMANDS; m++)
      arch_loop_conv_configure(&next, id[m], c.command[m].rs1, c.command[m].rs2);
    arch_loop_conv_plan plan;
    arch_loop_conv_run(&next, array, d, id[COMMANDS - 1], &c.command[COMMANDS - 1], &plan);
    if (!is_program(&plan)) continue;
    *loop = next;
    for (unsigned m = 0; m < COMMANDS; m++) {
      if (bench_chance(b, 4)) bench_pass(b, ISA_FUNCT_CONFIG_EX, bench_random(b), bench_random(b));
      bench_input(b, c.command[m].funct, c.command[m].rs1, c.command[m].rs2);
    }
    expect_plan(b, &plan);
    return;
  }
}

static bool run_program(const hw_array *array, uint64_t seed, size_t *commands) {
  hw_derived d = hw_derive(array);
  bench *b = bench_create(array, &unit, seed);
  arch_loop_conv loop;
  arch_loop_conv_reset(&loop);
  uint32_t loops = bench_between(b, 1, LOOPS);
  for (uint32_t n = 0; n < loops; n++) add_loop(b, array, &d, &loop);
  bool good = bench_run(b);
  *commands += bench_expected(b);
  bench_destroy(b);
  if (!good) fprintf(stderr, "program %llu\n", (unsigned long long)seed);
  return good;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  if (!hw_array_load(&array, argv[1], &diag)) return 2;
  array.isa.revision = (uint32_t)atoi(argv[2]);
  uint64_t programs = strtoull(argv[3], NULL, 10), first = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
  size_t commands = 0;
  for (uint64_t n = 0; n < programs; n++)
    if (!run_program(&array, first + n, &commands)) return 1;
  printf("%llu programs, %zu commands equal\n", (unsigned long long)programs, commands);
  return commands == 0;
}
