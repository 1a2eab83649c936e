// SPDX-License-Identifier: Apache-2.0
// Cycles of whole matrix loops at 16 x 16 against those of the reference RTL (rdcycle window, data in the L2 cache).
// The host of the reference takes HOST cycles more around the six commands of a loop than the back-to-back commands
// here; its cache holds beats back now and then, ours never does: PERCENT is allowed for both. Usage: loop_timing_test
// gemmini-default
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hw/rtl/tests/front/accel_machine.h"
#include "isa/isa_fields.h"

#define ONE UINT64_C(0x3f800000)
enum { HOST = 12, PERCENT = 3, A_AT = 0, B_AT = 0x20000, C_AT = 0x40000, D_AT = 0x60000 };

// Tiles, then the windows without bias, with an int32 bias, with one repeated bias row.
static const unsigned loops[][6] = {
    {1, 1, 1, 205, 266, 225},     {2, 2, 2, 457, 715, 525},    {1, 4, 4, 808, 1072, 882},   {4, 1, 4, 740, 1002, 814},
    {4, 4, 1, 895, 1982, 1232},   {4, 4, 4, 2041, 3080, 2331}, {2, 4, 8, 2100, 2627, 2253}, {4, 4, 8, 3573, 4616, 3867},
    {4, 4, 16, 6529, 7636, 6885}, {8, 4, 8, 6515, 8605, 7102}, {4, 8, 8, 6535, 8613, 7115}, {5, 6, 7, 5512, 7456, 6057},
};
// n loops of 4 x 4 x 4 tiles, accumulating over k and side by side.
static const unsigned sequences[][3] = {{2, 3067, 3061}, {4, 5499, 5481}, {8, 10363, 10357}};

static uint64_t address(uint64_t offset) { return MACHINE_BASE + offset; }

static void configure(machine *m, uint64_t a, uint64_t b, uint64_t d, uint64_t c) {
  const uint64_t strides[3] = {a, b, d};
  machine_put(m, ISA_FUNCT_CONFIG_EX, UINT64_C(1) << 16 | 4 | ONE << 32, UINT64_C(1) << 48);
  for (uint64_t state = 0; state < 3; state++)
    machine_put(m, ISA_FUNCT_CONFIG_LD, 1 | state << 3 | 1 << 8 | 16 << 16 | ONE << 32, strides[state]);
  machine_put(m, ISA_FUNCT_CONFIG_ST, 2, c | ONE << 32);
  machine_run(m);
}

typedef struct loop {
  uint64_t i, j, k, a, b, c, d, a_stride, b_stride, c_stride, d_stride, accumulate;
} loop;

static void put_loop(machine *m, const loop *l) {
  machine_put(m, ISA_FUNCT_LOOP_WS_BOUNDS, 0, l->k << 32 | l->j << 16 | l->i);
  machine_put(m, ISA_FUNCT_LOOP_WS_ADDRS_AB, l->a, l->b);
  machine_put(m, ISA_FUNCT_LOOP_WS_ADDRS_DC, l->d, l->c);
  machine_put(m, ISA_FUNCT_LOOP_WS_STRIDES_AB, l->a_stride, l->b_stride);
  machine_put(m, ISA_FUNCT_LOOP_WS_STRIDES_DC, l->d_stride, l->c_stride);
  machine_put(m, ISA_FUNCT_LOOP_WS, l->accumulate, 0);
}

static bool judge(const machine *m, const char *what, uint64_t got, uint64_t reference) {
  int64_t difference = (int64_t)got - (int64_t)reference;
  bool good = !m->failed && llabs(difference) * 100 <= PERCENT * (int64_t)reference + 400;
  printf("%-28s %6" PRIu64 " cycles, reference %6" PRIu64 " %+" PRId64 "%s\n", what, got, reference, difference,
         good ? "" : "  FAILED");
  return good;
}

static bool one_loop(machine *m, const unsigned *shape, unsigned bias) {
  uint64_t k = shape[2] * 16, j = shape[1] * 16;
  loop l = {.i = shape[0], .j = shape[1], .k = shape[2], .a = address(A_AT), .b = address(B_AT), .c = address(C_AT)};
  l.a_stride = k, l.b_stride = j, l.c_stride = j;
  if (bias != 0) l.d = address(D_AT), l.d_stride = bias == 2 ? 0 : j, l.accumulate = 1;
  configure(m, k, j, bias == 2 ? 0 : 4 * j, j);
  put_loop(m, &l);
  uint64_t window = machine_run(m);
  static const char *const names[] = {"", " int32 bias", " bias row"};
  char what[64];
  snprintf(what, sizeof what, "%u x %u x %u%s", shape[0], shape[1], shape[2], names[bias]);
  return judge(m, what, window, shape[3 + bias] - HOST);
}

static bool sequence(machine *m, const unsigned *row, bool along_k) {
  uint64_t n = row[0], k = (along_k ? n : 1) * 64, j = (along_k ? 1 : n) * 64;
  configure(m, k, j, 4 * j, j);
  for (uint64_t i = 0; i < n; i++) {
    loop l = {.i = 4, .j = 4, .k = 4, .a_stride = k, .b_stride = j, .c_stride = j};
    l.a = address(A_AT) + (along_k ? i * 64 : 0);
    l.b = address(B_AT) + (along_k ? i * 64 * j : i * 64);
    l.c = along_k ? (i == n - 1 ? address(C_AT) : 0) : address(C_AT) + i * 64;
    l.accumulate = along_k && i > 0;
    put_loop(m, &l);
  }
  uint64_t window = machine_run(m);
  char what[64];
  snprintf(what, sizeof what, "%" PRIu64 " loops along %c", n, along_k ? 'k' : 'j');
  return judge(m, what, window, row[along_k ? 1 : 2] - HOST);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  machine *m = machine_create(argv[1]);
  if (m == NULL) return 2;
  bool good = true;
  for (size_t n = 0; n < sizeof loops / sizeof *loops; n++)
    for (unsigned bias = 0; bias < 3; bias++) good &= one_loop(m, loops[n], bias);
  for (size_t n = 0; n < sizeof sequences / sizeof *sequences; n++) {
    good &= sequence(m, sequences[n], true);
    good &= sequence(m, sequences[n], false);
  }
  machine_destroy(m);
  return good ? 0 : 1;
}
