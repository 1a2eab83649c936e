// SPDX-License-Identifier: Apache-2.0
// The legality checker through the engine: last legal and first illegal value of each limit, faults of every kind with
// their text, and values that must not be judged because hardware ignores them.
#include <string.h>

#include "arch/check.h"
#include "isa/isa.h"
#include "sim/ref/tests/machine.h"

// A fresh machine for one command (after `prepare`, which may be NULL) that must be refused.
typedef void preparation(machine *m);

static void refused_by(const hw_array *array, preparation *prepare, arch_fault_kind kind, const char *text,
                       const char *command) {
  machine *m = machine_create(array);
  if (prepare != NULL) prepare(m);
  refuse(m, kind, text, "%s", command);
  uint64_t response;
  assert_int_equal(m->engine->ops->push(m->engine, 0, &(arch_command){.funct = 7}, &response), SIM_PUSH_FAULT);
  machine_destroy(m);
}

static void refused(preparation *prepare, arch_fault_kind kind, const char *text, const char *command) {
  hw_array array = machine_default_array();
  refused_by(&array, prepare, kind, text, command);
}

static void accepted(preparation *prepare, const char *command) {
  hw_array array = machine_default_array();
  machine *m = machine_create(&array);
  if (prepare != NULL) prepare(m);
  give(m, "%s", command);
  machine_destroy(m);
}

static void loads(machine *m) {
  for (int state = 0; state < 3; state++)
    give(m, "config_ld state=%d stride=256 block_stride=16 pixel_repeats=1 scale=1", state);
  give(m, "config_st stride=256 acc_scale=1");
}

static void test_rows_of_a_load(void **state) {
  (void)state;
  accepted(loads, "mvin dram=0x80000000 local=sp:16368 rows=16 cols=16");
  refused(loads, ARCH_FAULT_LOCAL, "mvin: scratchpad rows 16380..16395 of 16384",
          "mvin dram=0x80000000 local=sp:16380 rows=16 cols=16");
  refused(loads, ARCH_FAULT_LOCAL, "mvin2: scratchpad row 16384 of 16384",
          "mvin2 dram=0x80000000 local=sp:16384 rows=1 cols=1");
  refused(loads, ARCH_FAULT_LOCAL, "mvin3: accumulator rows 1009..1024 of 1024",
          "mvin3 dram=0x80000000 local=acc:1009 rows=16 cols=16");
  accepted(loads, "mvin dram=0x80000000 local=sp:16320 rows=16 cols=64");
  refused(loads, ARCH_FAULT_LOCAL, "mvin: scratchpad rows 16369..16384 of 16384",
          "mvin dram=0x80000000 local=sp:16321 rows=16 cols=64");
  refused(loads, ARCH_FAULT_LOCAL, "mvin: the garbage address has no rows to load into",
          "mvin dram=0x80000000 local=garbage rows=1 cols=1");
}

static void test_sizes_of_a_load(void **state) {
  (void)state;
  refused(loads, ARCH_FAULT_ILLEGAL, "mvin: 17 rows, at most 16", "mvin dram=0x80000000 local=sp:0 rows=17 cols=16");
  accepted(loads, "mvin dram=0x80000000 local=sp:0 rows=16 cols=64");
  refused(loads, ARCH_FAULT_ILLEGAL, "mvin: 65 columns, at most 64 of int8",
          "mvin dram=0x80000000 local=sp:0 rows=16 cols=65");
  accepted(loads, "mvin dram=0x80000000 local=acc:0 rows=16 cols=16");
  refused(loads, ARCH_FAULT_ILLEGAL, "mvin: 17 columns, at most 16 of int32",
          "mvin dram=0x80000000 local=acc:0 rows=16 cols=17");
  accepted(NULL, "mvin dram=0 local=garbage rows=0 cols=9");
  accepted(NULL, "mvin dram=0x10 local=sp:0 rows=9 cols=0");
}

static void tight_blocks(machine *m) { give(m, "config_ld stride=256 block_stride=15 scale=1"); }
static void three_repeats(machine *m) { give(m, "config_ld stride=256 block_stride=16 pixel_repeats=3 scale=1"); }

static void test_block_stride_and_repeats(void **state) {
  (void)state;
  accepted(tight_blocks, "mvin dram=0x80000000 local=sp:0 rows=16 cols=16");
  accepted(tight_blocks, "mvin dram=0x80000000 local=sp:0 rows=15 cols=17");
  refused(tight_blocks, ARCH_FAULT_ILLEGAL, "mvin: column blocks 15 rows apart overlap in 16 rows",
          "mvin dram=0x80000000 local=sp:0 rows=16 cols=17");
  accepted(three_repeats, "mvin dram=0x80000000 local=sp:0 rows=16 cols=5");
  refused(three_repeats, ARCH_FAULT_ILLEGAL, "mvin: 3 repeats of 6 columns, a row has 16",
          "mvin dram=0x80000000 local=sp:0 rows=16 cols=6");
  accepted(three_repeats, "mvin dram=0x80000000 local=acc:0 rows=16 cols=16");
}

static void test_main_memory(void **state) {
  (void)state;
  accepted(loads, "mvin dram=0x803ff0f0 local=sp:0 rows=16 cols=16");
  refused(loads, ARCH_FAULT_MEMORY,
          "mvin: reads bytes 0x803ffff1..0x80400000 outside main memory 0x80000000..0x803fffff",
          "mvin dram=0x803ff0f1 local=sp:0 rows=16 cols=16");
  refused(loads, ARCH_FAULT_MEMORY,
          "mvin: reads bytes 0x7fffffff..0x8000000e outside main memory 0x80000000..0x803fffff",
          "mvin dram=0x7fffffff local=sp:0 rows=1 cols=16");
  accepted(loads, "mvin dram=0 local=sp:0 rows=16 cols=16");
  accepted(loads, "mvout dram=0x803ff0c0 local=acc:0+full rows=16 cols=16");
  refused(loads, ARCH_FAULT_MEMORY,
          "mvout: writes bytes 0x803fffc1..0x80400000 outside main memory 0x80000000..0x803fffff",
          "mvout dram=0x803ff0c1 local=acc:0+full rows=16 cols=16");
  refused(loads, ARCH_FAULT_MEMORY, "mvout: writes bytes 0x0..0xf outside main memory 0x80000000..0x803fffff",
          "mvout dram=0 local=sp:0 rows=1 cols=16");
}

static void test_stores(void **state) {
  (void)state;
  accepted(loads, "mvout dram=0x80000000 local=sp:16320 rows=16 cols=64");
  refused(loads, ARCH_FAULT_LOCAL, "mvout: scratchpad rows 16369..16384 of 16384",
          "mvout dram=0x80000000 local=sp:16321 rows=16 cols=64");
  refused(loads, ARCH_FAULT_ILLEGAL, "mvout: 65 columns, at most 64 of int8",
          "mvout dram=0x80000000 local=acc:0 rows=16 cols=65");
  refused(loads, ARCH_FAULT_ILLEGAL, "mvout: 17 columns, at most 16 of int32",
          "mvout dram=0x80000000 local=acc:0+full rows=16 cols=17");
  refused(loads, ARCH_FAULT_ILLEGAL, "mvout: 17 rows, at most 16", "mvout dram=0x80000000 local=sp:0 rows=17 cols=1");
  refused(loads, ARCH_FAULT_ILLEGAL, "mvout: a statistics command, and this array has no normaliser",
          "mvout dram=0x80000000 local=acc:0+sum rows=1 cols=1");
  accepted(loads, "mvout dram=0x80000000 local=garbage rows=16 cols=16");
}

// A 4 x 4 image, windows of 2 x 2 two apart: the last pixel is row 15 of the image.
static void pooling(machine *m) {
  give(m,
       "config_st stride=16 acc_scale=1 pool_stride=2 pool_size=2 pool_out_dim=2 pool_orows=2 pool_ocols=2 orows=4 "
       "ocols=4");
}
static void image(machine *m) { give(m, "config_st stride=16 acc_scale=1 pool_size=1 pool_out_dim=5 orows=5 ocols=5"); }

static void test_pooled_and_image_stores(void **state) {
  (void)state;
  accepted(pooling, "mvout dram=0x80000000 local=acc:1008 rows=99 cols=16");
  refused(pooling, ARCH_FAULT_LOCAL, "mvout: accumulator row 1024 of 1024",
          "mvout dram=0x80000000 local=acc:1009 rows=0 cols=16");
  refused(pooling, ARCH_FAULT_ILLEGAL, "mvout: 17 columns, at most 16 when pooling",
          "mvout dram=0x80000000 local=acc:0 cols=17");
  refused(pooling, ARCH_FAULT_ILLEGAL, "mvout: pooling works on int8, not on int32 rows",
          "mvout dram=0x80000000 local=acc:0+full cols=16");
  refused(pooling, ARCH_FAULT_LOCAL, "mvout: the garbage address is no image to pool",
          "mvout dram=0x80000000 local=garbage cols=16");
  accepted(image, "mvout dram=0x80000000 local=acc:999 rows=77 cols=16");
  refused(image, ARCH_FAULT_LOCAL, "mvout: accumulator rows 1000..1024 of 1024",
          "mvout dram=0x80000000 local=acc:1000 rows=0 cols=16");
}

static void weight_stationary(machine *m) { give(m, "config_ex dataflow=ws a_stride=2 c_stride=3 acc_scale=1"); }
static void output_stationary(machine *m) { give(m, "config_ex dataflow=os a_stride=1 c_stride=1 acc_scale=1"); }

static void preloaded(machine *m) {
  weight_stationary(m);
  give(m, "preload local=garbage rows=99 cols=99 dest=garbage dest_rows=99 dest_cols=99");
}

static void test_operands(void **state) {
  (void)state;
  refused(weight_stationary, ARCH_FAULT_ILLEGAL, "preload: B has 17 rows and 1 columns, at most 16",
          "preload local=sp:0 rows=17 cols=1 dest=garbage");
  refused(weight_stationary, ARCH_FAULT_LOCAL, "preload: B scratchpad rows 16369..16384 of 16384",
          "preload local=sp:16369 rows=16 cols=16 dest=garbage");
  accepted(weight_stationary, "preload local=garbage dest=acc:978 dest_rows=16 dest_cols=16");
  refused(weight_stationary, ARCH_FAULT_LOCAL, "preload: C accumulator rows 979..1024 of 1024",
          "preload local=garbage dest=acc:979 dest_rows=16 dest_cols=16");
  accepted(preloaded, "compute_preloaded a=sp:16353 a_rows=16 a_cols=16 bd=garbage bd_rows=77 bd_cols=77");
  refused(preloaded, ARCH_FAULT_LOCAL, "compute_preloaded: A scratchpad rows 16354..16384 of 16384",
          "compute_preloaded a=sp:16354 a_rows=16 a_cols=16 bd=garbage");
  refused(preloaded, ARCH_FAULT_LOCAL, "compute_accumulated: D accumulator rows 1010..1025 of 1024",
          "compute_accumulated a=garbage a_rows=99 bd=acc:1010 bd_rows=16 bd_cols=16");
  refused(output_stationary, ARCH_FAULT_LOCAL, "preload: D scratchpad row 16384 of 16384",
          "preload local=sp:16384 rows=1 cols=1 dest=garbage");
}

static void result_left(machine *m) {
  output_stationary(m);
  give(m, "preload local=garbage dest=acc:0 dest_rows=16 dest_cols=16");
  give(m, "compute_preloaded a=sp:0 a_rows=16 a_cols=16 bd=sp:0 bd_rows=16 bd_cols=16");
  give(m, "preload local=garbage dest=acc:0 dest_rows=16 dest_cols=16");
}

static void test_output_stationary_chains(void **state) {
  (void)state;
  accepted(result_left, "compute_preloaded a=sp:0 a_rows=16 a_cols=16 bd=sp:0 bd_rows=16 bd_cols=16");
  accepted(result_left, "compute_accumulated a=sp:0 a_rows=16 a_cols=16 bd=sp:0 bd_rows=16 bd_cols=16");
}

static uint64_t undefined_after(const char *const *texts) {
  hw_array array = machine_default_array();
  arch_checker *checker = arch_checker_create(&array, NULL);
  arch_command command = {.funct = 0};
  arch_fault fault;
  for (; *texts != NULL; texts++) {
    command.insn = isa_parse(1, *texts, &command.rs1, &command.rs2, NULL);
    assert_non_null(command.insn);
    command.funct = (uint8_t)command.insn->funct;
    assert_true(arch_checker_command(checker, &command, NULL, NULL, &fault));
  }
  uint64_t undefined = arch_checker_undefined(checker);
  arch_checker_destroy(checker);
  return undefined;
}

#define PRODUCT " a=sp:0 a_rows=16 a_cols=16 bd=sp:0 bd_rows=16 bd_cols=16"
#define PRELOAD "preload local=garbage dest="

static void test_undefined_chains_are_counted(void **state) {
  (void)state;
  static const char *const chain[] = {"config_ex dataflow=os a_stride=1 c_stride=1",
                                      PRELOAD "garbage",
                                      "compute_preloaded" PRODUCT,
                                      PRELOAD "acc:0 dest_rows=16 dest_cols=16",
                                      "compute_accumulated" PRODUCT,
                                      NULL};
  static const char *const late[] = {"config_ex dataflow=os a_stride=1 c_stride=1",
                                     PRELOAD "acc:0 dest_rows=16 dest_cols=16",
                                     "compute_preloaded" PRODUCT,
                                     PRELOAD "garbage",
                                     "compute_accumulated" PRODUCT,
                                     NULL};
  assert_int_equal(undefined_after(chain), 0);
  assert_int_equal(undefined_after(late), 1);
}

static void largest_shift(machine *m) { give(m, "config_ex dataflow=ws in_shift=31 a_stride=1"); }

static void test_instructions_and_fields(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  machine *m = machine_create(&array);
  arch_command command = {.funct = 23, .index = 5};
  assert_int_equal(m->engine->ops->push(m->engine, 0, &command, NULL), SIM_PUSH_FAULT);
  assert_string_equal(m->engine->ops->fault(m->engine)->text, "no such instruction: funct 23 in ISA revision 1");
  assert_int_equal(m->engine->ops->fault(m->engine)->command.index, 5);
  machine_destroy(m);
  refused(NULL, ARCH_FAULT_ILLEGAL, "config_ld: state is 3, allowed are 0 to 2", "config_ld state=3");
  refused(NULL, ARCH_FAULT_ILLEGAL, "config_ex: in_shift is 32, allowed are 0 to 31",
          "config_ex dataflow=ws in_shift=32");
  // What was legal before does not make the next one legal, nor the other way round.
  refused(loads, ARCH_FAULT_ILLEGAL, "config_ld: state is 3, allowed are 0 to 2",
          "config_ld state=3 stride=256 block_stride=16 pixel_repeats=1 scale=1");
  refused(largest_shift, ARCH_FAULT_ILLEGAL, "config_ex: in_shift is 32, allowed are 0 to 31",
          "config_ex dataflow=ws in_shift=32");
  accepted(largest_shift, "config_ex dataflow=ws in_shift=31 a_stride=2");
  accepted(NULL, "config_ex strides_only=1 dataflow=os b_transpose=1 in_shift=99 a_stride=1");
}

// One unit taken away, the command that needs it, and the text that names it.
static void test_units_that_the_array_lacks(void **state) {
  (void)state;
#define WITHOUT(change, prepare, text, command)                 \
  do {                                                          \
    hw_array a = machine_default_array();                       \
    change;                                                     \
    refused_by(&a, prepare, ARCH_FAULT_ILLEGAL, text, command); \
  } while (0)
#define WS_ONLY a.mesh.dataflow = HW_DATAFLOW_WS
#define OS_ONLY a.mesh.dataflow = HW_DATAFLOW_OS, a.units.loop_matmul = a.units.loop_conv = false
  WITHOUT(WS_ONLY, NULL, "config_ex: this array is weight-stationary only", "config_ex dataflow=os");
  WITHOUT(OS_ONLY, NULL, "config_ex: this array is output-stationary only", "config_ex dataflow=ws");
  WITHOUT(a.units.transposer = false, NULL, "config_ex: this array cannot transpose operands",
          "config_ex dataflow=ws a_transpose=1");
  WITHOUT(a.units.activation = false, NULL, "config_ex: this array has no ReLU unit", "config_ex activation=relu");
  WITHOUT(a.units.activation = false, NULL, "config_st: this array has no ReLU unit", "config_st activation=relu");
  WITHOUT(a.units.max_pool = false, NULL, "config_st: this array has no pooling unit", "config_st pool_stride=1");
  WITHOUT((void)a, NULL, "config_norm: this array has no normaliser", "config_norm stats_id=1");
  WITHOUT((void)a, NULL, "config_norm: this array has no normaliser", "config_norm ln2=177 qb=1 qc=2");
#define IM2COL "config_im2col: a configuration of programs before ISA revision 1; this revision has no im2col unit"
  WITHOUT((void)a, NULL, IM2COL, "config_norm");
  // Two banks of weights, a row of 28 pixels; kernel 3 of 14 columns, 32 channels, stride 2.
  WITHOUT((void)a, NULL, IM2COL, "config_norm ln2=0x04007000 qb=0x10200000 qc=0x0e093000");
#undef IM2COL
  WITHOUT(a.units.normaliser = true, NULL, "config_norm: statistics set 4 of 4", "config_norm stats_id=4");
  WITHOUT(a.units.pixel_repeat = false, three_repeats, "mvin: 3 pixel repeats, and this array has none",
          "mvin dram=0x80000000 local=sp:0 rows=1 cols=1");
  WITHOUT(a.units.loop_matmul = false, NULL, "loop_ws_bounds: this array has no such loop unroller", "loop_ws_bounds");
  WITHOUT(a.units.loop_conv = false, NULL, "loop_conv_ws: this array has no such loop unroller", "loop_conv_ws");
  WITHOUT(a.units.counters = 0, NULL, "counter: this array has no performance counters", "counter");
  WITHOUT(a.units.counters = 4, NULL, "counter: counter 4 of 4", "counter index=4");
  WITHOUT(a.accumulator.full_reads = false, loads, "mvout: this array cannot store int32 rows",
          "mvout dram=0x80000000 local=acc:0+full rows=1 cols=1");
  WITHOUT((a.accumulator.narrow_reads = a.accumulator.execute_reads = false), loads,
          "mvout: this array stores accumulator rows only as int32", "mvout dram=0x80000000 local=acc:0 rows=1 cols=1");
  WITHOUT(a.accumulator.execute_reads = false, preloaded,
          "compute_preloaded: A is in the accumulator, which this array cannot multiply from",
          "compute_preloaded a=acc:0 a_rows=1 a_cols=1 bd=garbage");
  WITHOUT(a.accumulator.execute_writes = false, weight_stationary,
          "preload: C is in the accumulator, which this array cannot write",
          "preload local=garbage dest=acc:0 dest_rows=1 dest_cols=1");
  WITHOUT(a.scratchpad.execute_writes = false, weight_stationary,
          "preload: C is in the scratchpad, which this array cannot write",
          "preload local=garbage dest=sp:0 dest_rows=1 dest_cols=1");
#undef WITHOUT
}

static void test_loads_that_cannot_scale(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  array.load.scale_units = 0;
  machine *m = machine_create(&array);
  give(m, "config_ld stride=16 block_stride=16 scale=0.5");
  give(m, "mvin dram=0 local=sp:0 rows=1 cols=1");
  give(m, "mvin dram=0x80000000 local=acc:0 rows=1 cols=1");
  refuse(m, ARCH_FAULT_ILLEGAL, "mvin: scale 0x3f000000, and this array cannot scale loads",
         "mvin dram=0x80000000 local=sp:0 rows=1 cols=1");
  machine_destroy(m);
}

static void packed(machine *m) {
  for (int state = 0; state < 3; state++)
    give(m, "config_ld state=%d packed=1 stride=256 block_stride=16 pixel_repeats=1 scale=1", state);
}

static void test_packed_loads(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  refused_by(&array, NULL, ARCH_FAULT_ILLEGAL,
             "config_ld: packed rows, and this array cannot widen int4 (load.packed_int4)", "config_ld packed=1");
  array.load.packed_int4 = true;
  machine *m = machine_create(&array);
  packed(m);
  give(m, "mvin dram=0x80000000 local=sp:0 rows=16 cols=64");
  give(m, "mvin2 dram=0 local=acc:0 rows=1 cols=3");
  give(m, "mvin3 dram=0x803fffe0 local=sp:0 rows=1 cols=64");
  machine_destroy(m);
  refused_by(&array, packed, ARCH_FAULT_ILLEGAL, "mvin: packed rows go to the scratchpad, not to the accumulator",
             "mvin dram=0x80000000 local=acc:0 rows=1 cols=2");
  refused_by(&array, packed, ARCH_FAULT_ILLEGAL, "mvin: 7 columns of packed rows, which hold two a byte",
             "mvin dram=0x80000000 local=sp:0 rows=1 cols=7");
  refused_by(&array, packed, ARCH_FAULT_ILLEGAL, "mvin: 66 columns, at most 64 of int8",
             "mvin dram=0x80000000 local=sp:0 rows=1 cols=66");
  refused_by(&array, packed, ARCH_FAULT_MEMORY,
             "mvin: reads bytes 0x803fffe1..0x80400000 outside main memory 0x80000000..0x803fffff",
             "mvin dram=0x803fffe1 local=sp:0 rows=1 cols=64");
}

static void gated(machine *m) {
  give(m, "config_st stride=16 acc_scale=1");
  give(m, "config_gate on=1 offset=0xfffffff0 scale=0.5");  // 16 rows before
}

static void test_gated_stores(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  refused_by(&array, NULL, ARCH_FAULT_ILLEGAL, "config_gate: this array has no gate (units.gate)", "config_gate");
  array.units.gate = true;
  machine *m = machine_create(&array);
  gated(m);
  give(m, "mvout dram=0x80000000 local=acc:16 rows=16 cols=64");
  give(m, "mvout dram=0x80000000 local=acc:0+full rows=16 cols=16");
  give(m, "mvout dram=0x80000000 local=sp:0 rows=16 cols=16");
  give(m, "config_gate on=0 offset=0xfffffff0");
  give(m, "mvout dram=0x80000000 local=acc:0 rows=16 cols=16");
  machine_destroy(m);
  refused_by(&array, gated, ARCH_FAULT_LOCAL, "mvout: gate scratchpad rows -1..14 of 16384",
             "mvout dram=0x80000000 local=acc:15 rows=16 cols=16");
}

static void gated_image(machine *m) {
  gated(m);
  give(m, "config_st stride=16 acc_scale=1 pool_size=1 pool_out_dim=4 orows=4 ocols=4");
}

static void gated_loop(machine *m) {
  loads(m);
  weight_stationary(m);
  gated(m);
  give(m, "loop_ws_bounds i=1 j=1 k=1");
  give(m, "loop_ws_addrs_ab a=0x80000000 b=0x80001000");
  give(m, "loop_ws_strides_ab a=16 b=16");
}

static void test_what_no_gate_multiplies(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  array.units.gate = true;
  refused_by(&array, gated_image, ARCH_FAULT_ILLEGAL, "mvout: the gate is on, and multiplies no pooled or 1-D stores",
             "mvout dram=0x80000000 local=acc:16 rows=1 cols=16");
  refused_by(&array, gated_loop, ARCH_FAULT_ILLEGAL, "loop_ws: the gate is on, and loops store without it", "loop_ws");
}

static void small_loop(machine *m) {
  give(m, "loop_ws_bounds i=1 j=1 k=1");
  give(m, "loop_ws_addrs_ab a=0x80000000 b=0x80001000");
  give(m, "loop_ws_strides_ab a=16 b=16");
}

// A loop that is legal is remembered; with a packed state it is another one.
static void test_loops_move_whole_bytes(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  array.load.packed_int4 = true;
  machine *m = machine_create(&array);
  loads(m);
  weight_stationary(m);
  small_loop(m);
  give(m, "loop_ws");
  small_loop(m);
  give(m, "config_ld state=1 packed=1 stride=16 block_stride=16 scale=1");
  refuse(m, ARCH_FAULT_ILLEGAL, "loop_ws: mvin2: load state 1 is packed, and loops move whole bytes", "loop_ws");
  machine_destroy(m);
}

static void test_faults_in_loops_name_loop_and_primitive(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  machine *m = machine_create(&array);
  loads(m);
  weight_stationary(m);
  give(m, "loop_ws_bounds i=1 j=1 k=1");
  give(m, "loop_ws_addrs_ab a=0x80000000 b=0x803fffff");
  give(m, "loop_ws_strides_ab a=16 b=16");
  refuse(m, ARCH_FAULT_MEMORY,
         "loop_ws: mvin2: reads bytes 0x803fffff..0x8040000e outside main memory 0x80000000..0x803fffff", "loop_ws");
  machine_destroy(m);
  m = machine_create(&array);
  loads(m);
  give(m, "loop_ws_bounds i=1 j=65 k=1");
  give(m, "loop_ws_addrs_ab a=0x80000000 b=0x80000000");
  refuse(m, ARCH_FAULT_LOCAL, "loop_ws: no room for the tiles: accumulator row 1024 of 1024",
         "loop_ws ex_accumulate=1");
  machine_destroy(m);
}

static void test_loops_that_the_array_lacks_parts_of(void **state) {
  (void)state;
  hw_array array = machine_default_array();
  array.units.training_conv = array.units.depthwise_conv = array.units.max_pool = false;
  refused_by(&array, NULL, ARCH_FAULT_ILLEGAL,
             "loop_conv_ws: this array's convolution loop has no transposed or dilated operands (training_conv)",
             "loop_conv_ws wrot180=1");
  refused_by(&array, NULL, ARCH_FAULT_ILLEGAL, "loop_conv_ws: this array's convolution loop has no depthwise mode",
             "loop_conv_ws depthwise=1");
  refused(NULL, ARCH_FAULT_ILLEGAL, "loop_conv_ws: the output tile is empty", "loop_conv_ws");
  refused(NULL, ARCH_FAULT_ILLEGAL, "loop_ws: no tile rows: I is 0", "loop_ws");
}

// Tokens: given to an array that has none, popped before they are pushed, more than a counter holds.
static hw_array with_tokens(void) {
  hw_array array = machine_default_array();
  array.sync.by = HW_SYNC_TOKENS;
  array.sync.token_bits = 1;
  array.units.loop_matmul = array.units.loop_conv = false;
  return array;
}

static void one_to_execute(machine *m) {
  loads(m);
  give(m, "mvin dram=0x80000000 local=sp:0 rows=16 cols=16 push_execute=1");
}

static void taken_again(machine *m) {
  one_to_execute(m);
  give(m, "config_ex dataflow=ws acc_scale=1 a_stride=1 c_stride=1");
  give(m, "preload local=sp:0 cols=16 rows=16 dest=acc:0 dest_cols=16 dest_rows=16 pop_load=1 push_store=1");
}

static void with_its_compute(machine *m) {
  taken_again(m);
  give(m, "compute_preloaded a=sp:0 a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16");
}

static void test_tokens(void **state) {
  (void)state;
  refused(loads, ARCH_FAULT_ILLEGAL,
          "mvin: it pops or pushes tokens, and this array has a reservation station (sync.by station)",
          "mvin dram=0x80000000 local=sp:0 rows=16 cols=16 push_execute=1");
  const hw_array array = with_tokens();
  static const char store[] = "mvout dram=0x80000000 local=acc:0 rows=16 cols=16 pop_execute=1";
  refused_by(&array, loads, ARCH_FAULT_ILLEGAL,
             "mvout: it pops a token of execute, and no older command has pushed one to store", store);
  refused_by(&array, one_to_execute, ARCH_FAULT_ILLEGAL,
             "mvin: 1 tokens from load to execute wait already, and sync.token_bits 1 counts to 1",
             "mvin dram=0x80000000 local=sp:0 rows=16 cols=16 push_execute=1");
  // A preload is done with its compute only.
  refused_by(&array, taken_again, ARCH_FAULT_ILLEGAL,
             "mvout: it pops a token of execute, and no older command has pushed one to store", store);
  machine *m = machine_create(&array);
  with_its_compute(m);
  give(m, "%s", store);
  machine_destroy(m);
  refused_by(&array, loads, ARCH_FAULT_ILLEGAL, "loop_ws: this array has no such loop unroller", "loop_ws");
}

static void test_stores_that_no_token_orders(void **state) {
  (void)state;
  hw_array array = with_tokens();
  array.isa.revision = 2;
  refused_by(&array, NULL, ARCH_FAULT_ILLEGAL,
             "mvout_spad: no token orders it with another store, and this array has no reservation station (sync.by "
             "tokens)",
             "mvout_spad");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_of_a_load),
      cmocka_unit_test(test_sizes_of_a_load),
      cmocka_unit_test(test_block_stride_and_repeats),
      cmocka_unit_test(test_main_memory),
      cmocka_unit_test(test_stores),
      cmocka_unit_test(test_pooled_and_image_stores),
      cmocka_unit_test(test_operands),
      cmocka_unit_test(test_output_stationary_chains),
      cmocka_unit_test(test_undefined_chains_are_counted),
      cmocka_unit_test(test_instructions_and_fields),
      cmocka_unit_test(test_units_that_the_array_lacks),
      cmocka_unit_test(test_loads_that_cannot_scale),
      cmocka_unit_test(test_packed_loads),
      cmocka_unit_test(test_gated_stores),
      cmocka_unit_test(test_what_no_gate_multiplies),
      cmocka_unit_test(test_loops_move_whole_bytes),
      cmocka_unit_test(test_faults_in_loops_name_loop_and_primitive),
      cmocka_unit_test(test_loops_that_the_array_lacks_parts_of),
      cmocka_unit_test(test_tokens),
      cmocka_unit_test(test_stores_that_no_token_orders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
