// SPDX-License-Identifier: Apache-2.0
// loop_matmul against arch/loops/loop_ws.c: random sequences of matrix loops.
// Usage: matmul_test ARRAY REVISION PROGRAMS [FIRST]
#include <stdio.h>
#include <stdlib.h>

#include "hw/rtl/tests/front/loop_bench.h"

enum { LOOPS = 6, MOST_PRODUCTS = 120, TRIES = 1000 };

static unsigned part_of(const arch_command *c) {
  switch (c->funct) {
    case ISA_FUNCT_MVIN:
      return ARCH_LOOP_WS_LOAD_A;
    case ISA_FUNCT_MVIN2:
      return ARCH_LOOP_WS_LOAD_B;
    case ISA_FUNCT_MVIN3:
      return ARCH_LOOP_WS_LOAD_D;
    case ISA_FUNCT_PRELOAD:
    case ISA_FUNCT_COMPUTE_PRELOADED:
    case ISA_FUNCT_COMPUTE_ACCUMULATED:
      return ARCH_LOOP_WS_EXECUTE;
    default:
      return ARCH_LOOP_WS_STORE;
  }
}
static const bench_unit unit = {ARCH_LOOP_WS_PARTS, part_of};

typedef struct candidate {
  isa_id id[8];
  arch_command command[8];
  unsigned count;
} candidate;

static void add(candidate *c, isa_id id, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  c->id[c->count] = id;
  c->command[c->count++] = (arch_command){.funct = funct, .rs1 = rs1, .rs2 = rs2};
}

static uint32_t side(bench *b, const hw_derived *d) {
  if (bench_chance(b, 10)) return bench_between(b, 1, 2 * d->max_block_len + 2);
  return bench_between(b, 1, 4);
}

static uint64_t address(bench *b, uint32_t zero_percent) {
  return bench_chance(b, zero_percent) ? 0 : bench_random(b) >> 8 | 1;
}

static uint64_t pads(bench *b, const hw_derived *d) {
  uint64_t pad = 0;
  for (int n = 0; n < 3; n++) pad = pad << 16 | (bench_chance(b, 50) ? 0 : bench_between(b, 0, d->dim - 1));
  return pad;
}

static uint64_t run_flags_2(bench *b, uint64_t *rs1) {
  if (bench_chance(b, 30)) *rs1 |= (uint64_t)bench_between(b, 0, 15) << 16;
  uint64_t flags = bench_chance(b, 15) ? 4 : 0;
  for (int bit = 3; bit <= 7; bit++) flags |= (uint64_t)bench_chance(b, 8) << bit;
  return flags | (uint64_t)bench_chance(b, 8) << 9;
}

static candidate make_loop(bench *b, const hw_array *array, const hw_derived *d) {
  candidate c = {.count = 0};
  bool later = array->isa.revision == 2;
  uint64_t i = side(b, d), j = side(b, d), k = side(b, d);
  if (bench_chance(b, 90)) add(&c, ISA_LOOP_WS_BOUNDS, ISA_FUNCT_LOOP_WS_BOUNDS, pads(b, d), k << 32 | j << 16 | i);
  uint32_t none = later ? 15 : 0;
  if (bench_chance(b, 90))
    add(&c, ISA_LOOP_WS_ADDRS_AB, ISA_FUNCT_LOOP_WS_ADDRS_AB, address(b, none), address(b, none));
  if (bench_chance(b, 90)) add(&c, ISA_LOOP_WS_ADDRS_DC, ISA_FUNCT_LOOP_WS_ADDRS_DC, address(b, 50), address(b, 35));
  if (bench_chance(b, 90))
    add(&c, ISA_LOOP_WS_STRIDES_AB, ISA_FUNCT_LOOP_WS_STRIDES_AB, bench_random(b) >> 20, bench_random(b) >> 50);
  if (bench_chance(b, 90))
    add(&c, ISA_LOOP_WS_STRIDES_DC, ISA_FUNCT_LOOP_WS_STRIDES_DC, bench_random(b) >> 50, bench_random(b) >> 30);
  if (later && bench_chance(b, 10))
    add(&c, ISA_LOOP_WS_SPAD_AB_R2, ISA_FUNCT_LOOP_WS_SPAD_AB, bench_between(b, 0, d->sp_rows - 1),
        bench_between(b, 1, d->sp_rows));
  if (later && bench_chance(b, 5)) add(&c, ISA_LOOP_WS_SPAD_C_R2, ISA_FUNCT_LOOP_WS_SPAD_C, 0, bench_random(b));
  uint64_t rs1 = bench_random(b) & 7, activation = bench_chance(b, 70) ? 0 : bench_between(b, 0, 4);
  rs1 |= activation << 8;
  uint64_t rs2 = bench_between(b, 0, 2);  // not both transposes
  if (later) rs2 |= run_flags_2(b, &rs1) | (uint64_t)bench_between(b, 0, d->sp_rows - 1) << 32;
  add(&c, later ? ISA_LOOP_WS_R2 : ISA_LOOP_WS_R1, ISA_FUNCT_LOOP_WS, rs1, rs2);
  return c;
}

static bool disjoint(int64_t a, int64_t a_rows, int64_t b, int64_t b_rows) {
  return a + a_rows <= b || b + b_rows <= a;
}

// Loops that need rows that do not exist, or whose A and B overlap, are no programs.
static bool is_program(const arch_loop_ws_plan *plan) {
  const arch_loop_ws_slot *s = &plan->slot;
  if (arch_loop_ws_fault(plan) != NULL || s->i * s->j * s->k > MOST_PRODUCTS) return false;
  int64_t dim = plan->derived->dim, a_rows = (int64_t)s->i * s->k * dim, b_rows = (int64_t)s->k * s->j * dim;
  if (!plan->resadd &&
      (!disjoint(plan->a_row, a_rows, plan->b_row, b_rows) || !disjoint(plan->ex_a_row, a_rows, plan->b_row, b_rows) ||
       !disjoint(plan->a_row, a_rows, plan->ex_b_row, b_rows)))
    return false;
  if (s->i * s->j * dim > plan->derived->acc_rows / 2) return false;
  for (unsigned part = 0; part < ARCH_LOOP_WS_PARTS; part++) {
    arch_loop_cursor cursor = {.started = false};
    arch_command out;
    arch_loop_result result;
    do result = arch_loop_ws_next(plan, part, &cursor, &out);
    while (result == ARCH_LOOP_COMMAND);
    if (result == ARCH_LOOP_NO_ROW) return false;
  }
  return true;
}

static void expect_plan(bench *b, const arch_loop_ws_plan *plan) {
  bench_loop(b, plan->a_transpose, plan->b_transpose);
  for (unsigned part = 0; part < ARCH_LOOP_WS_PARTS; part++) {
    arch_loop_cursor cursor = {.started = false};
    arch_command out;
    while (arch_loop_ws_next(plan, part, &cursor, &out) == ARCH_LOOP_COMMAND) bench_expect(b, part, &out);
  }
}

static void add_loop(bench *b, const hw_array *array, const hw_derived *d, arch_loop_ws *loop) {
  for (int n = 0; n < TRIES; n++) {
    candidate c = make_loop(b, array, d);
    arch_loop_ws next = *loop;
    for (unsigned m = 0; m + 1 < c.count; m++)
      arch_loop_ws_configure(&next, c.id[m], c.command[m].rs1, c.command[m].rs2);
    arch_loop_ws_plan plan;
    arch_loop_ws_run(&next, d, c.id[c.count - 1], &c.command[c.count - 1], &plan);
    if (!is_program(&plan)) continue;
    *loop = next;
    for (unsigned m = 0; m < c.count; m++) {
      if (bench_chance(b, 5)) bench_pass(b, ISA_FUNCT_CONFIG_EX, bench_random(b), bench_random(b));
      bench_input(b, c.command[m].funct, c.command[m].rs1, c.command[m].rs2);
    }
    expect_plan(b, &plan);
    return;
  }
}

static bool run_program(const hw_array *array, uint64_t seed, size_t *commands) {
  hw_derived d = hw_derive(array);
  bench *b = bench_create(array, &unit, seed);
  arch_loop_ws loop;
  arch_loop_ws_reset(&loop, &d);
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
