// SPDX-License-Identifier: Apache-2.0
// The loop unrollers against command lists written by hand, as the text of the primitives. The array is 4 x 4 with rows
// of 4 bytes, bursts of 16 bytes (4 blocks of int8, 1 of int32), 1024 scratchpad and 256 accumulator rows.
#include <stdio.h>
#include <string.h>

#include "arch/loops/loops.h"
#include "isa/isa.h"
#include "sim/ref/tests/machine.h"

enum { TEXT_MAX = 32768 };

typedef struct unit {
  hw_array array;
  hw_derived derived;
  arch_loop_ws ws;
  arch_loop_conv conv;
  char text[TEXT_MAX];
  size_t used;
} unit;

static unit *unit_create(unsigned revision) {
  static unit u;
  memset(&u, 0, sizeof u);
  hw_array_default(&u.array);
  u.array.isa.revision = revision;
  u.array.mesh.rows = u.array.mesh.columns = 4;
  u.array.scratchpad.capacity_kib = u.array.accumulator.capacity_kib = 4;
  u.array.dma.max_burst_bytes = 16;
  u.derived = hw_derive(&u.array);
  arch_loop_ws_reset(&u.ws, &u.derived);
  arch_loop_conv_reset(&u.conv);
  return &u;
}

static const isa_insn *parse(const unit *u, const char *text, arch_command *command) {
  isa_text_error error;
  const isa_insn *insn = isa_parse(u->array.isa.revision, text, &command->rs1, &command->rs2, &error);
  if (insn == NULL) fail_msg("%s: column %zu: %s", text, error.column, error.text);
  command->funct = (uint8_t)insn->funct;
  return insn;
}

static void configure(unit *u, const char *text) {
  arch_command command = {0};
  const isa_insn *insn = parse(u, text, &command);
  if (insn->unit == ISA_UNIT_LOOP_MATMUL)
    arch_loop_ws_configure(&u->ws, insn->id, command.rs1, command.rs2);
  else
    arch_loop_conv_configure(&u->conv, insn->id, command.rs1, command.rs2);
}

static void note(unit *u, const arch_command *command) {
  assert_ptr_equal(command->insn, isa_find(u->array.isa.revision, command->funct, command->rs1));
  u->used += isa_print(command->insn, command->rs1, command->rs2, u->text + u->used, TEXT_MAX - u->used);
  u->used += (size_t)snprintf(u->text + u->used, TEXT_MAX - u->used, "\n");
  assert_true(u->used < TEXT_MAX - 1);
}

static const char *run_ws(unit *u, const char *text) {
  arch_command run = {0}, out;
  const isa_insn *insn = parse(u, text, &run);
  arch_loop_ws_plan plan;
  arch_loop_ws_run(&u->ws, &u->derived, insn->id, &run, &plan);
  assert_null(arch_loop_ws_fault(&plan));
  u->used = 0;
  for (int part = 0; part < ARCH_LOOP_WS_PARTS; part++) {
    arch_loop_cursor cursor = {0};
    arch_loop_result result;
    while ((result = arch_loop_ws_next(&plan, (arch_loop_ws_part)part, &cursor, &out)) == ARCH_LOOP_COMMAND)
      note(u, &out);
    assert_int_equal(result, ARCH_LOOP_END);
  }
  return u->text;
}

static const char *run_conv(unit *u, const char *text) {
  arch_command run = {0}, out;
  const isa_insn *insn = parse(u, text, &run);
  arch_loop_conv_plan plan;
  arch_loop_conv_run(&u->conv, &u->array, &u->derived, insn->id, &run, &plan);
  assert_null(arch_loop_conv_fault(&plan));
  u->used = 0;
  for (int part = 0; part < ARCH_LOOP_CONV_PARTS; part++) {
    arch_loop_cursor cursor = {0};
    arch_loop_result result;
    while ((result = arch_loop_conv_next(&plan, (arch_loop_conv_part)part, &cursor, &out)) == ARCH_LOOP_COMMAND)
      note(u, &out);
    assert_int_equal(result, ARCH_LOOP_END);
  }
  return u->text;
}

// 2 x 1 x 2 tiles, the last ones one row, one column, two of the sum short.
static void configure_ws(unit *u) {
  configure(u, "loop_ws_bounds i=2 j=1 k=2 pad_i=1 pad_j=1 pad_k=2");
  configure(u, "loop_ws_addrs_ab a=0x80001000 b=0x80002000");
  configure(u, "loop_ws_addrs_dc d=0x80003000 c=0x80004000");
  configure(u, "loop_ws_strides_ab a=6 b=8");
  configure(u, "loop_ws_strides_dc d=4 c=16");
}

static void test_loop_ws_emits_loads_products_stores(void **state) {
  (void)state;
  unit *u = unit_create(1);
  configure_ws(u);
  assert_string_equal(run_ws(u, "loop_ws"),
                      "mvin3 dram=0x80003000 local=acc:0x0 cols=3 rows=4\n"
                      "mvin3 dram=0x80003040 local=acc:0x4 cols=3 rows=3\n"
                      "mvin dram=0x80001000 local=sp:0x0 cols=6 rows=4\n"
                      "mvin dram=0x80001018 local=sp:0x8 cols=6 rows=3\n"
                      "mvin2 dram=0x80002000 local=sp:0x1f8 cols=3 rows=4\n"
                      "mvin2 dram=0x80002020 local=sp:0x1fc cols=3 rows=4\n"
                      "preload local=sp:0x1f8 cols=3 rows=4 dest=acc:0x0 dest_cols=3 dest_rows=4\n"
                      "compute_preloaded a=sp:0x0 a_cols=4 a_rows=4 bd=garbage bd_cols=4 bd_rows=4\n"
                      "preload local=garbage cols=3 rows=4 dest=acc:0x4 dest_cols=3 dest_rows=3\n"
                      "compute_accumulated a=sp:0x8 a_cols=4 a_rows=3 bd=garbage bd_cols=4 bd_rows=4\n"
                      "preload local=sp:0x1fc cols=3 rows=2 dest=acc:0x0+acc dest_cols=3 dest_rows=4\n"
                      "compute_preloaded a=sp:0x4 a_cols=2 a_rows=4 bd=garbage bd_cols=4 bd_rows=4\n"
                      "preload local=garbage cols=3 rows=2 dest=acc:0x4+acc dest_cols=3 dest_rows=3\n"
                      "compute_accumulated a=sp:0xc a_cols=2 a_rows=3 bd=garbage bd_cols=4 bd_rows=4\n"
                      "mvout dram=0x80004000 local=acc:0x0 cols=3 rows=4\n"
                      "mvout dram=0x80004040 local=acc:0x4 cols=3 rows=3\n");
}

static void test_loop_ws_transposed_full_width_and_the_other_slot(void **state) {
  (void)state;
  unit *u = unit_create(1);
  configure_ws(u);
  run_ws(u, "loop_ws");
  configure(u, "loop_ws_bounds i=1 j=2 k=1");
  configure(u, "loop_ws_addrs_ab a=0x80001000 b=0x80002000");
  configure(u, "loop_ws_addrs_dc d=0x80003000 c=0x80004000");
  configure(u, "loop_ws_strides_ab a=4 b=4");
  configure(u, "loop_ws_strides_dc d=8 c=8");
  assert_string_equal(run_ws(u, "loop_ws full_c=1 low_d=1 ex_accumulate=1 b_transpose=1"),
                      "mvin3 dram=0x80003000 local=acc:0x80 cols=8 rows=4\n"
                      "mvin dram=0x80001000 local=sp:0x200 cols=4 rows=4\n"
                      "mvin2 dram=0x80002000 local=sp:0x3f8 cols=4 rows=4\n"
                      "mvin2 dram=0x80002010 local=sp:0x3fc cols=4 rows=4\n"
                      "preload local=sp:0x3f8 cols=4 rows=4 dest=acc:0x80+acc dest_cols=4 dest_rows=4\n"
                      "compute_preloaded a=sp:0x200 a_cols=4 a_rows=4 bd=garbage bd_cols=4 bd_rows=4\n"
                      "preload local=sp:0x3fc cols=4 rows=4 dest=acc:0x84+acc dest_cols=4 dest_rows=4\n"
                      "compute_preloaded a=sp:0x200 a_cols=4 a_rows=4 bd=garbage bd_cols=4 bd_rows=4\n"
                      "mvout dram=0x80004000 local=acc:0x80+full cols=4 rows=4\n"
                      "mvout dram=0x80004010 local=acc:0x84+full cols=4 rows=4\n");
}

// A loop without C keeps the accumulator half for the next one; slots go on alternating.
static void test_loop_ws_halves_move_after_a_store(void **state) {
  (void)state;
  unit *u = unit_create(1);
  const char *want[] = {"acc:0x0+acc", "acc:0x0+acc", "acc:0x80+acc"};
  for (int loop = 0; loop < 3; loop++) {
    configure(u, "loop_ws_bounds i=1 j=1 k=1");
    configure(u, loop == 1 ? "loop_ws_addrs_dc c=0x80004000" : "loop_ws_addrs_dc");
    assert_non_null(strstr(run_ws(u, "loop_ws ex_accumulate=1"), want[loop]));
    assert_non_null(strstr(u->text, loop == 1 ? "mvin dram=0x0 local=sp:0x200 " : "mvin dram=0x0 local=sp:0x0 "));
  }
}

static void test_loop_ws_residual_addition(void **state) {
  (void)state;
  unit *u = unit_create(2);
  configure(u, "loop_ws_bounds i=2 j=2 k=7 pad_i=3 pad_j=2");
  configure(u, "loop_ws_addrs_ab a=0x80001000 b=0x80002000");
  configure(u, "loop_ws_addrs_dc c=0x80004000");
  configure(u, "loop_ws_strides_ab a=6 b=6");
  configure(u, "loop_ws_strides_dc c=6");
  assert_string_equal(run_ws(u, "loop_ws resadd=1 a_spad_id=2"),
                      "mvin dram=0x80001000 local=acc:0x0 cols=6 rows=4\n"
                      "mvin dram=0x80001018 local=acc:0x8 cols=6 rows=1\n"
                      "mvin2 dram=0x80002000 local=acc:0x0+acc cols=6 rows=4\n"
                      "mvin2 dram=0x80002018 local=acc:0x8+acc cols=6 rows=4\n"
                      "mvout dram=0x80004000 local=acc:0x0 cols=6 rows=4\n"
                      "mvout dram=0x80004018 local=acc:0x8 cols=6 rows=1\n");
}

static void test_loop_ws_spad_ids_skips_and_scratchpad_results(void **state) {
  (void)state;
  unit *u = unit_create(2);
  configure(u, "loop_ws_bounds i=1 j=2 k=1");
  configure(u, "loop_ws_addrs_ab a=0x80001000");
  assert_string_equal(run_ws(u, "loop_ws a_spad_id=2 b_spad_id=1 skip_ex=1"),
                      "mvin dram=0x80001000 local=sp:0x200 cols=4 rows=4\n");
  configure(u, "loop_ws_bounds i=1 j=2 k=1");
  configure(u, "loop_ws_spad_ab a=sp:0x10 b_end=sp:0x40");
  assert_string_equal(run_ws(u, "loop_ws a_spad_id=2 spad_only=1 c_spad=sp:0x100"),
                      "preload local=sp:0x38 cols=4 rows=4 dest=acc:0x0 dest_cols=4 dest_rows=4\n"
                      "compute_preloaded a=sp:0x10 a_cols=4 a_rows=4 bd=garbage bd_cols=4 bd_rows=4\n"
                      "preload local=sp:0x3c cols=4 rows=4 dest=acc:0x4 dest_cols=4 dest_rows=4\n"
                      "compute_preloaded a=sp:0x10 a_cols=4 a_rows=4 bd=garbage bd_cols=4 bd_rows=4\n"
                      "mvout_spad dest=sp:0x100 stride=1 block_stride=0 local=acc:0x0 cols=4 rows=4\n"
                      "mvout_spad dest=sp:0x104 stride=1 block_stride=0 local=acc:0x4 cols=4 rows=4\n");
}

// Two statistics sets in revision 2: rows go in groups of two, three passes each. 6 tile columns need two blocks.
static void test_loop_ws_layernorm_passes(void **state) {
  (void)state;
  unit *u = unit_create(2);
  configure(u, "loop_ws_bounds i=1 j=5 k=1 pad_i=1 pad_j=1");
  configure(u, "loop_ws_addrs_dc c=0x80004000");
  configure(u, "loop_ws_strides_dc c=20");
  assert_string_equal(run_ws(u, "loop_ws activation=layernorm skip_ex=1"),
                      "config_norm stats_id=0 activation_msb=0 stats_id_only=1 qln2_inverse=0 ln2=0 qb=0 qc=0\n"
                      "mvout dram=0x80004000 local=acc:0x0+sum cols=16 rows=1\n"
                      "mvout dram=0x80004010 local=acc:0x10+mean cols=3 rows=1\n"
                      "config_norm stats_id=1 activation_msb=0 stats_id_only=1 qln2_inverse=0 ln2=0 qb=0 qc=0\n"
                      "mvout dram=0x80004014 local=acc:0x1+sum cols=16 rows=1\n"
                      "mvout dram=0x80004024 local=acc:0x11+mean cols=3 rows=1\n"
                      "config_norm stats_id=0 activation_msb=0 stats_id_only=1 qln2_inverse=0 ln2=0 qb=0 qc=0\n"
                      "mvout dram=0x80004000 local=acc:0x0+variance cols=16 rows=1\n"
                      "mvout dram=0x80004010 local=acc:0x10+inv_stddev cols=3 rows=1\n"
                      "config_norm stats_id=1 activation_msb=0 stats_id_only=1 qln2_inverse=0 ln2=0 qb=0 qc=0\n"
                      "mvout dram=0x80004014 local=acc:0x1+variance cols=16 rows=1\n"
                      "mvout dram=0x80004024 local=acc:0x11+inv_stddev cols=3 rows=1\n"
                      "config_norm stats_id=0 activation_msb=0 stats_id_only=1 qln2_inverse=0 ln2=0 qb=0 qc=0\n"
                      "mvout dram=0x80004000 local=acc:0x0 cols=16 rows=1\n"
                      "mvout dram=0x80004010 local=acc:0x10 cols=3 rows=1\n"
                      "config_norm stats_id=1 activation_msb=0 stats_id_only=1 qln2_inverse=0 ln2=0 qb=0 qc=0\n"
                      "mvout dram=0x80004014 local=acc:0x1 cols=16 rows=1\n"
                      "mvout dram=0x80004024 local=acc:0x11 cols=3 rows=1\n"
                      "config_norm stats_id=0 activation_msb=0 stats_id_only=1 qln2_inverse=0 ln2=0 qb=0 qc=0\n"
                      "mvout dram=0x80004028 local=acc:0x2+sum cols=16 rows=1\n"
                      "mvout dram=0x80004038 local=acc:0x12+mean cols=3 rows=1\n"
                      "config_norm stats_id=0 activation_msb=0 stats_id_only=1 qln2_inverse=0 ln2=0 qb=0 qc=0\n"
                      "mvout dram=0x80004028 local=acc:0x2+variance cols=16 rows=1\n"
                      "mvout dram=0x80004038 local=acc:0x12+inv_stddev cols=3 rows=1\n"
                      "config_norm stats_id=0 activation_msb=0 stats_id_only=1 qln2_inverse=0 ln2=0 qb=0 qc=0\n"
                      "mvout dram=0x80004028 local=acc:0x2 cols=16 rows=1\n"
                      "mvout dram=0x80004038 local=acc:0x12 cols=3 rows=1\n");
}

// A 2 x 2 image with 2 channels, kernel 3 with padding 1, 5 output channels; the tile is the whole layer but one kernel
// row.
static void configure_conv_1(unit *u) {
  configure(u,
            "loop_conv_ws_config_1 batch_size=1 in_dim=2 in_channels=2 out_channels=5 out_dim=2 pool_out_dim=1 "
            "stride=1 padding=1");
  configure(u, "loop_conv_ws_config_2 kernel_dim=3 pool_size=2 pool_stride=2 batches=1 porows=1 pocols=1 pochs=5");
  configure(u, "loop_conv_ws_config_3 krows=1 kcols=2 kchs=2 lpad=1 upad=1");
  configure(u, "loop_conv_ws_config_4 orows=2 ocols=2 kernel_dilation=1");
  configure(u, "loop_conv_ws_config_5 weights=0x80001000 output=0x80002000");
  configure(u, "loop_conv_ws_config_6 bias=0x80003000 input=0x80004000");
}

static void test_loop_conv_pads_and_folds_pixels(void **state) {
  (void)state;
  unit *u = unit_create(1);
  configure_conv_1(u);
  assert_string_equal(run_conv(u, "loop_conv_ws no_pool=1 max_pixels_per_row=2"),
                      "config_ld shrink=0 state=2 packed=0 pixel_repeats=1 block_stride=4 scale=1 stride=0\n"
                      "mvin3 dram=0x80003000 local=acc:0x0 cols=4 rows=2\n"
                      "mvin3 dram=0x80003010 local=acc:0x4 cols=1 rows=2\n"
                      "mvin3 dram=0x80003000 local=acc:0x2 cols=4 rows=2\n"
                      "mvin3 dram=0x80003010 local=acc:0x6 cols=1 rows=2\n"
                      "config_ld shrink=0 state=0 packed=0 pixel_repeats=2 block_stride=6 scale=1 stride=2\n"
                      "mvin dram=0x0 local=sp:0x0 cols=2 rows=1\n"
                      "mvin dram=0x0 local=sp:0x1 cols=2 rows=2\n"
                      "mvin dram=0x0 local=sp:0x3 cols=2 rows=1\n"
                      "mvin dram=0x80004000 local=sp:0x4 cols=2 rows=2\n"
                      "config_ld shrink=0 state=1 packed=0 pixel_repeats=1 block_stride=4 scale=1 stride=5\n"
                      "mvin2 dram=0x80001000 local=sp:0x1f8 cols=5 rows=2\n"
                      "mvin2 dram=0x8000100a local=sp:0x1fa cols=5 rows=2\n"
                      "preload local=sp:0x1f8 cols=4 rows=4 dest=acc:0x0+acc dest_cols=4 dest_rows=2\n"
                      "compute_preloaded a=sp:0x0 a_cols=4 a_rows=2 bd=garbage bd_cols=4 bd_rows=2\n"
                      "preload local=garbage cols=4 rows=4 dest=acc:0x2+acc dest_cols=4 dest_rows=2\n"
                      "compute_accumulated a=sp:0x3 a_cols=4 a_rows=2 bd=garbage bd_cols=4 bd_rows=2\n"
                      "preload local=sp:0x1fc cols=1 rows=4 dest=acc:0x4+acc dest_cols=1 dest_rows=2\n"
                      "compute_preloaded a=sp:0x0 a_cols=4 a_rows=2 bd=garbage bd_cols=1 bd_rows=2\n"
                      "preload local=garbage cols=1 rows=4 dest=acc:0x6+acc dest_cols=1 dest_rows=2\n"
                      "compute_accumulated a=sp:0x3 a_cols=4 a_rows=2 bd=garbage bd_cols=1 bd_rows=2\n"
                      "mvout dram=0x80002000 local=acc:0x0 cols=4 rows=2\n"
                      "mvout dram=0x80002004 local=acc:0x4 cols=1 rows=2\n"
                      "mvout dram=0x8000200a local=acc:0x2 cols=4 rows=2\n"
                      "mvout dram=0x8000200e local=acc:0x6 cols=1 rows=2\n");
}

static void test_loop_conv_pools_between_two_configurations(void **state) {
  (void)state;
  unit *u = unit_create(1);
  configure_conv_1(u);
  const char *text = run_conv(u, "loop_conv_ws no_bias=1 activation=relu");
  assert_non_null(strstr(text, "mvin3 dram=0x0 local=acc:0x0 cols=4 rows=2\n"));
  const char *store = strstr(text, "config_st");
  assert_non_null(store);
  assert_string_equal(store,
                      "config_st activation=relu pool_stride=2 pool_size=2 pool_upad=0 pool_lpad=0 pool_out_dim=1 "
                      "pool_orows=1 pool_ocols=1 orows=2 ocols=2 stride=5 acc_scale=0xffffffff\n"
                      "mvout dram=0x80002000 local=acc:0x0 cols=4 rows=0\n"
                      "mvout dram=0x80002004 local=acc:0x4 cols=1 rows=0\n"
                      "config_st activation=relu pool_stride=0 pool_size=0 pool_upad=0 pool_lpad=0 pool_out_dim=0 "
                      "pool_orows=0 pool_ocols=0 orows=0 ocols=0 stride=5 acc_scale=0xffffffff\n");
}

// Revision 2: an image of 2 x 3 pixels 3 elements apart, a 1 x 1 kernel, strides of its own everywhere, pinned halves.
static void configure_conv_2(unit *u, const char *weights_output) {
  configure(u,
            "loop_conv_ws_config_1 batch_size=1 in_row_dim=2 in_channels=1 out_channels=1 out_row_dim=2 out_col_dim=3 "
            "stride=1");
  configure(u, "loop_conv_ws_config_2 kernel_dim=1 batches=1 pochs=1");
  configure(u, "loop_conv_ws_config_3 krows=1 kcols=1 kchs=1 in_col_dim=3");
  configure(u, "loop_conv_ws_config_4 orows=2 ocols=3 kernel_dilation=1 in_stride=3 weight_stride=7 out_stride=9");
  configure(u, weights_output);
  configure(u, "loop_conv_ws_config_6 input=0x80004000");
}

static void test_loop_conv_revision_2_strides_and_ids(void **state) {
  (void)state;
  unit *u = unit_create(2);
  configure_conv_2(u, "loop_conv_ws_config_5 weights=0x80001000 output=0x80002000");
  assert_string_equal(run_conv(u, "loop_conv_ws no_pool=1 a_spad_id=2 b_spad_id=1"),
                      "config_ld shrink=0 state=0 packed=0 pixel_repeats=1 block_stride=6 scale=1 stride=3\n"
                      "mvin dram=0x80004000 local=sp:0x200 cols=1 rows=3\n"
                      "mvin dram=0x80004009 local=sp:0x203 cols=1 rows=3\n"
                      "config_ld shrink=0 state=1 packed=0 pixel_repeats=1 block_stride=1 scale=1 stride=7\n"
                      "mvin2 dram=0x80001000 local=sp:0x1ff cols=1 rows=1\n"
                      "preload local=sp:0x1ff cols=1 rows=1 dest=acc:0x0+acc dest_cols=1 dest_rows=3\n"
                      "compute_preloaded a=sp:0x200 a_cols=1 a_rows=3 bd=garbage bd_cols=1 bd_rows=3\n"
                      "preload local=garbage cols=1 rows=1 dest=acc:0x3+acc dest_cols=1 dest_rows=3\n"
                      "compute_accumulated a=sp:0x203 a_cols=1 a_rows=3 bd=garbage bd_cols=1 bd_rows=3\n"
                      "mvout dram=0x80002000 local=acc:0x0 cols=1 rows=3\n"
                      "mvout dram=0x8000201b local=acc:0x3 cols=1 rows=3\n");
  configure_conv_2(u, "loop_conv_ws_config_5");
  assert_null(strstr(run_conv(u, "loop_conv_ws no_pool=1"), "mvin2"));
}

// A 2 x 2 gradient dilated to 3 x 3, kernel 1: only even positions are loaded and computed.
static void test_loop_conv_skips_the_zeros_of_a_dilated_input(void **state) {
  (void)state;
  unit *u = unit_create(1);
  configure(u, "loop_conv_ws_config_1 batch_size=1 in_dim=2 in_channels=1 out_channels=1 out_dim=3 stride=1");
  configure(u, "loop_conv_ws_config_2 kernel_dim=1 batches=1 pochs=1");
  configure(u, "loop_conv_ws_config_3 krows=1 kcols=1 kchs=1");
  configure(u, "loop_conv_ws_config_4 orows=3 ocols=3 kernel_dilation=1");
  configure(u, "loop_conv_ws_config_5 weights=0x80001000");
  configure(u, "loop_conv_ws_config_6 input=0x80004000");
  assert_string_equal(run_conv(u, "loop_conv_ws no_pool=1 input_dilated=1"),
                      "config_ld shrink=0 state=0 packed=0 pixel_repeats=1 block_stride=4 scale=1 stride=1\n"
                      "mvin dram=0x80004000 local=sp:0x0 cols=1 rows=2\n"
                      "mvin dram=0x80004002 local=sp:0x2 cols=1 rows=2\n"
                      "config_ld shrink=0 state=1 packed=0 pixel_repeats=1 block_stride=1 scale=1 stride=1\n"
                      "mvin2 dram=0x80001000 local=sp:0x1ff cols=1 rows=1\n"
                      "preload local=sp:0x1ff cols=1 rows=1 dest=acc:0x0+acc dest_cols=1 dest_rows=2\n"
                      "compute_preloaded a=sp:0x0 a_cols=1 a_rows=2 bd=garbage bd_cols=1 bd_rows=2\n"
                      "preload local=garbage cols=1 rows=1 dest=acc:0x6+acc dest_cols=1 dest_rows=2\n"
                      "compute_accumulated a=sp:0x2 a_cols=1 a_rows=2 bd=garbage bd_cols=1 bd_rows=2\n");
}

static void test_plans_say_what_no_array_can_do(void **state) {
  (void)state;
  unit *u = unit_create(1);
  arch_command run = {0};
  arch_loop_ws_plan ws;
  const isa_insn *insn = parse(u, "loop_ws", &run);
  arch_loop_ws_run(&u->ws, &u->derived, insn->id, &run, &ws);
  assert_string_equal(arch_loop_ws_fault(&ws), "no tile rows: I is 0");
  for (int slot = 0; slot < ARCH_LOOP_SLOTS; slot++) {
    configure(u, "loop_ws_bounds i=1 j=1 k=1 pad_j=4");
    arch_loop_ws_run(&u->ws, &u->derived, insn->id, &run, &ws);
    assert_string_equal(arch_loop_ws_fault(&ws), "the padding of a tile is as large as the tile");
  }
  arch_loop_conv_plan conv;
  insn = parse(u, "loop_conv_ws", &run);
  configure_conv_1(u);
  configure(u, "loop_conv_ws_config_3 krows=1 kcols=2 kchs=2 upad=3");
  arch_loop_conv_run(&u->conv, &u->array, &u->derived, insn->id, &run, &conv);
  assert_string_equal(arch_loop_conv_fault(&conv), "the padding is larger than the input tile");
}

static void test_a_plan_without_room_reports_the_row(void **state) {
  (void)state;
  unit *u = unit_create(1);
  configure(u, "loop_ws_bounds i=1 j=16 k=9");
  arch_command run = {0}, out;
  const isa_insn *insn = parse(u, "loop_ws", &run);
  arch_loop_ws_plan plan;
  arch_loop_ws_run(&u->ws, &u->derived, insn->id, &run, &plan);
  arch_loop_cursor cursor = {0};
  assert_int_equal(arch_loop_ws_next(&plan, ARCH_LOOP_WS_LOAD_B, &cursor, &out), ARCH_LOOP_NO_ROW);
  assert_int_equal(cursor.row, 512 - 16 * 9 * 4);
  assert_false(cursor.accumulator);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loop_ws_emits_loads_products_stores),
      cmocka_unit_test(test_loop_ws_transposed_full_width_and_the_other_slot),
      cmocka_unit_test(test_loop_ws_halves_move_after_a_store),
      cmocka_unit_test(test_loop_ws_residual_addition),
      cmocka_unit_test(test_loop_ws_spad_ids_skips_and_scratchpad_results),
      cmocka_unit_test(test_loop_ws_layernorm_passes),
      cmocka_unit_test(test_loop_conv_pads_and_folds_pixels),
      cmocka_unit_test(test_loop_conv_pools_between_two_configurations),
      cmocka_unit_test(test_loop_conv_revision_2_strides_and_ids),
      cmocka_unit_test(test_loop_conv_skips_the_zeros_of_a_dilated_input),
      cmocka_unit_test(test_plans_say_what_no_array_can_do),
      cmocka_unit_test(test_a_plan_without_room_reports_the_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
