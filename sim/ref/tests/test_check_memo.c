// Loops that the checker remembers, against a checker that walks through every one: the verdict, its text, and what is
// known of the program afterwards. A few shapes come again and again, at addresses of which some reach out of memory.
#include <stdio.h>
#include <string.h>

#include "isa/isa.h"
#include "sim/check.h"
#include "sim/ref/tests/machine.h"

enum { MEMORY_BYTES = 1 << 16, LOOPS = 4000 };

typedef struct pair {
  sim_memory *memory;
  sim_checker *remembers, *walks;
  unsigned passed, refused;
  uint32_t random;
} pair;

static void ignore(void *context, isa_id id, const sim_command *primitive) { (void)context, (void)id, (void)primitive; }

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
  sim_command command = {.index = p->passed + p->refused};
  sim_fault a = {0}, b = {0};
  const isa_insn *insn = isa_parse(1, text, &command.rs1, &command.rs2, NULL);
  assert_non_null(insn);
  command.funct = (uint8_t)insn->funct;
  bool good = sim_checker_command(p->walks, &command, ignore, NULL, &b);
  assert_int_equal(sim_checker_command(p->remembers, &command, NULL, NULL, &a), good);
  assert_int_equal(a.kind, b.kind);
  assert_string_equal(a.text, b.text);
  if (!good) sim_checker_copy(p->remembers, p->walks);  // after a fault nothing is said of a checker's state
  assert_memory_equal(sim_checker_config(p->remembers), sim_checker_config(p->walks), sizeof(sim_config));
  assert_int_equal(sim_checker_undefined(p->remembers), sim_checker_undefined(p->walks));
  p->passed += good;
  p->refused += !good;
}

// Mostly inside, sometimes near the end or far away, or none at all.
static unsigned long long address(pair *p) {
  switch (below(p, 16)) {
    case 0:
      return 0;
    case 1:
      return SIM_MEMORY_BASE + MEMORY_BYTES - below(p, 1024);
    case 2:
      return 0ull - below(p, 256);
    default:
      return SIM_MEMORY_BASE + below(p, MEMORY_BYTES / 2);
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

static void test_remembered_loops(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  pair p = {.memory = sim_memory_create(MEMORY_BYTES), .random = 1};
  p.remembers = sim_checker_create(&array, p.memory);
  p.walks = sim_checker_create(&array, p.memory);
  for (unsigned loop = 0; loop < LOOPS; loop++) {
    if (loop % 64 == 0) configure(&p);
    if (below(&p, 2) == 0)
      run_matmul(&p);
    else
      run_conv(&p);
  }
  assert_in_range(p.refused, LOOPS / 8, LOOPS);  // some loops of either kind
  assert_true(p.passed > 6 * LOOPS);
  sim_checker_destroy(p.remembers);
  sim_checker_destroy(p.walks);
  sim_memory_destroy(p.memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_remembered_loops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
