// SPDX-License-Identifier: Apache-2.0
// Loops and products that the checker remembers, against a checker that walks through every one: the verdict, its text,
// and what is known of the program afterwards. A few shapes come again and again, at addresses of which some reach out
// of memory.
#include <stdio.h>
#include <string.h>

#include "arch/check.h"
#include "isa/isa.h"
#include "sim/ref/tests/machine.h"

enum { MEMORY_BYTES = 1 << 16, LOOPS = 4000, PRODUCTS = 20000 };

typedef struct pair {
  arch_memory *memory;
  arch_checker *remembers, *walks;
  unsigned passed, refused;
  uint32_t random;
} pair;

static void ignore(void *context, const arch_command *primitive) { (void)context, (void)primitive; }

static uint32_t below(pair *p, uint32_t end) {
  p->random = p->random * 1664525 + 1013904223;
  return (p->random >> 8) % end;
}

static void give_both(pair *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void give_both(pair *p, const char *format, ...) {
  char text[160];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  arch_command command = {.index = p->passed + p->refused};
  arch_fault a = {0}, b = {0};
  command.insn = isa_parse(1, text, &command.rs1, &command.rs2, NULL);
  assert_non_null(command.insn);
  command.funct = (uint8_t)command.insn->funct;
  bool good = arch_checker_command(p->walks, &command, ignore, NULL, &b);
  assert_int_equal(arch_checker_command(p->remembers, &command, NULL, NULL, &a), good);
  assert_int_equal(a.kind, b.kind);
  assert_string_equal(a.text, b.text);
  if (!good) arch_checker_copy(p->remembers, p->walks);  // after a fault nothing is said of a checker's state
  assert_memory_equal(arch_checker_config(p->remembers), arch_checker_config(p->walks), sizeof(arch_config));
  assert_int_equal(arch_checker_undefined(p->remembers), arch_checker_undefined(p->walks));
  p->passed += good;
  p->refused += !good;
}

// Mostly inside, sometimes near the end or far away, or none at all.
static unsigned long long address(pair *p) {
  switch (below(p, 16)) {
    case 0:
      return 0;
    case 1:
      return ARCH_MEMORY_BASE + MEMORY_BYTES - below(p, 1024);
    case 2:
      return 0ull - below(p, 256);
    default:
      return ARCH_MEMORY_BASE + below(p, MEMORY_BYTES / 2);
  }
}

static void configure(pair *p) {
  for (int state = 0; state < 3; state++)
    give_both(p, "config_ld state=%d stride=%u block_stride=16 pixel_repeats=1 scale=1", state, 64 << below(p, 2));
  give_both(p, "config_st stride=64 acc_scale=1");
  give_both(p, "config_ex dataflow=ws a_stride=1 c_stride=1 acc_scale=1");
}

static void run_matmul(pair *p) {
  static const char *const bounds[] = {"i=2 j=2 k=2", "i=1 j=3 k=2 pad_i=3", "i=2 j=1 k=1 pad_j=5 pad_k=2",
                                       "i=1 j=65 k=1"};
  give_both(p, "loop_ws_bounds %s", bounds[below(p, 12) == 0 ? 3 : below(p, 3)]);
  give_both(p, "loop_ws_addrs_ab a=%llu b=%llu", address(p), address(p));
  give_both(p, "loop_ws_addrs_dc d=%llu c=%llu", address(p), address(p));
  give_both(p, "loop_ws_strides_ab a=64 b=64");
  give_both(p, "loop_ws_strides_dc d=64 c=64");
  give_both(p, "loop_ws ex_accumulate=%u", below(p, 2));
}

static void run_conv(pair *p) {
  static const char *const sizes[] = {"orows=4 ocols=4", "orows=2 ocols=4"};
  give_both(
      p, "loop_conv_ws_config_1 batch_size=1 in_dim=6 in_channels=8 out_channels=8 out_dim=4 stride=1 pool_out_dim=4");
  give_both(p, "loop_conv_ws_config_2 kernel_dim=3 batches=1 porows=4 pocols=4 pochs=8 pool_size=1 pool_stride=1");
  give_both(p, "loop_conv_ws_config_3 krows=3 kcols=3 kchs=%u upad=%u", 8 >> below(p, 2), below(p, 2));
  give_both(p, "loop_conv_ws_config_4 %s kernel_dilation=1", sizes[below(p, 2)]);
  give_both(p, "loop_conv_ws_config_5 weights=%llu output=%llu", address(p), address(p));
  give_both(p, "loop_conv_ws_config_6 bias=%llu input=%llu", address(p), address(p));
  give_both(p, "loop_conv_ws no_bias=%u no_pool=%u max_pixels_per_row=1", below(p, 2), below(p, 2));
}

// Loops of a program that takes both halves of local memory in turn, for several sizes: each kind of loop is walked
// through in the first turns alone. Halves, and what is in the registers before the loop, make kinds of their own.
static void test_turns_are_remembered(void **state) {
  (void)state;
  enum { TURNS = 16, SIZES = 8, FIRST = 4 };
  hw_array array = machine_default_array();
  pair p = {.memory = arch_memory_create(MEMORY_BYTES), .random = 1};
  p.remembers = arch_checker_create(&array, p.memory);
  p.walks = arch_checker_create(&array, p.memory);
  uint64_t walked = 0;
  configure(&p);
  for (unsigned turn = 0; turn < TURNS; turn++) {
    give_both(&p, "config_ld state=2 stride=%u block_stride=16 pixel_repeats=1 scale=1", 64 << turn % 2);
    for (unsigned size = 0; size < SIZES; size++) {
      give_both(&p, "loop_ws_bounds i=%u j=%u k=2", 1 + size % 4, 1 + size / 4);
      give_both(&p, "loop_ws_addrs_ab a=%llu b=%llu", ARCH_MEMORY_BASE + 64ull * turn, ARCH_MEMORY_BASE + 4096ull);
      give_both(&p, "loop_ws_addrs_dc d=0 c=%llu", ARCH_MEMORY_BASE + 8192ull);
      give_both(&p, "loop_ws_strides_ab a=64 b=64");
      give_both(&p, "loop_ws_strides_dc d=64 c=64");
      give_both(&p, "loop_ws ex_accumulate=%u", size % 2);
    }
    if (turn + 1 == FIRST) walked = arch_checker_walked(p.remembers);
  }
  assert_int_equal(p.refused, 0);
  assert_in_range(walked, SIZES, FIRST * SIZES);
  assert_int_equal(arch_checker_walked(p.remembers), walked);
  arch_checker_destroy(p.remembers);
  arch_checker_destroy(p.walks);
  arch_memory_destroy(p.memory);
}

static void test_remembered_loops(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  pair p = {.memory = arch_memory_create(MEMORY_BYTES), .random = 1};
  p.remembers = arch_checker_create(&array, p.memory);
  p.walks = arch_checker_create(&array, p.memory);
  for (unsigned loop = 0; loop < LOOPS; loop++) {
    if (loop % 64 == 0) configure(&p);
    if (below(&p, 2) == 0)
      run_matmul(&p);
    else
      run_conv(&p);
  }
  assert_in_range(p.refused, LOOPS / 8, LOOPS);  // some loops of either kind
  assert_true(p.passed > 6 * LOOPS);
  arch_checker_destroy(p.remembers);
  arch_checker_destroy(p.walks);
  arch_memory_destroy(p.memory);
}

// Rows of a few regions, some of which end with their memory or go past it.
static const char *operand(pair *p, char text[32]) {
  switch (below(p, 8)) {
    case 0:
      return "garbage";
    case 1:
      snprintf(text, 32, "acc:%u%s", 1024 - below(p, 24), below(p, 2) == 0 ? "+acc" : "");
      return text;
    case 2:
      snprintf(text, 32, "sp:%u", 16384 - below(p, 24));
      return text;
    default:
      snprintf(text, 32, "%s:%u", below(p, 2) == 0 ? "acc" : "sp", below(p, 64) * 16);
      return text;
  }
}

static unsigned size(pair *p) { return below(p, 8) == 0 ? below(p, 19) : 16; }

static void configure_products(pair *p) {
  give_both(p, "config_ex dataflow=%s a_stride=%u c_stride=%u a_transpose=%u b_transpose=%u acc_scale=1",
            below(p, 2) == 0 ? "ws" : "os", below(p, 3), below(p, 3), below(p, 2), below(p, 2));
}

static void run_product(pair *p) {
  char x[32], y[32];
  if (below(p, 16) != 0)
    give_both(p, "preload local=%s cols=%u rows=%u dest=%s dest_cols=%u dest_rows=%u", operand(p, x), size(p), size(p),
              operand(p, y), size(p), size(p));
  if (below(p, 16) == 0) return;
  give_both(p, "%s a=%s a_cols=%u a_rows=%u bd=%s bd_cols=%u bd_rows=%u",
            below(p, 2) == 0 ? "compute_preloaded" : "compute_accumulated", operand(p, x), size(p), size(p),
            operand(p, y), size(p), size(p));
}

static void test_remembered_products(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  array.accumulator.execute_reads = array.accumulator.narrow_reads = true;
  pair p = {.memory = arch_memory_create(MEMORY_BYTES), .random = 1};
  p.remembers = arch_checker_create(&array, p.memory);
  p.walks = arch_checker_create(&array, p.memory);
  for (unsigned product = 0; product < PRODUCTS; product++) {
    if (product % 64 == 0) configure_products(&p);
    run_product(&p);
  }
  assert_in_range(p.refused, PRODUCTS / 8, PRODUCTS);
  assert_true(p.passed > PRODUCTS / 2);
  assert_true(arch_checker_undefined(p.walks) > 0);
  arch_checker_destroy(p.remembers);
  arch_checker_destroy(p.walks);
  arch_memory_destroy(p.memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns_are_remembered),
                                     cmocka_unit_test(test_remembered_loops),
                                     cmocka_unit_test(test_remembered_products)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
