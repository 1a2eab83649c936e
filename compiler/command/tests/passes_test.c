// SPDX-License-Identifier: Apache-2.0
// Folding and rolling keep what a program does: rolled programs have the same executions, folded ones leave the same
// memory on the reference engine, and both find what was planted.
#include <math.h>

#include "base/clock.h"
#include "base/test.h"
#include "compiler/command/tests/sample.h"
#include "runner/program.h"
#include "sim/gen/gen.h"

static hw_array array;
static int setup(void **state) {
  (void)state;
  hw_array_default(&array);
  return 0;
}

static command_program *parse(const char *text) {
  wf_diag diag = wf_diag_to(stderr);
  command_program *program = command_parse("t", text, strlen(text), &array, &diag);
  assert_non_null(program);
  return program;
}

// ---- rolling

static void test_roll_random(void **state) {
  (void)state;
  uint64_t executions = 0, nodes = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    command_program *program = sample_random_program(&array, seed), *rolled = command_roll(program);
    if (!sample_same(program, rolled)) fail_msg("seed %u", (unsigned)seed);
    executions += command_executions(rolled);
    nodes += rolled->count;
    command_program *again = command_roll(rolled);
    assert_true(sample_same(program, again));
    command_destroy(again);
    command_destroy(rolled);
    command_destroy(program);
  }
  print_message("random: %u commands in %u nodes\n", (unsigned)executions, (unsigned)nodes);
  assert_true(nodes * 2 < executions);
}

// A nest with a prologue, a remainder and alternating places is found again.
static void test_roll_finds_the_nest(void **state) {
  (void)state;
  static const char text[] =
      "program p\ntensor a i8 4096 read\ntensor b i8 4096 read\n"
      "mvin dram=b+0x7 local=sp:0 cols=1 rows=1\n"
      "loop 20 {\n"
      "  mvin dram=a local=sp:0 cols=16 rows=16 | rs1+0x100\n"
      "  loop 7 {\n"
      "    mvin2 dram=b local=sp:0x100 cols=16 rows=16 | rs1+0x1000 rs2+0x8 | rs1+0x10 rs2+0x10\n"
      "    preload local=sp:0x100 dest=acc:0 | | rs1+0x10 rs2+0x10\n"
      "  }\n"
      "  mvin dram=a local=sp:0x40 cols=16 rows=16 | rs1+0x200\n"
      "}\n"
      "mvin dram=b+0x9 local=sp:0 cols=1 rows=1\n";
  command_program *program = parse(text), *rolled = command_roll(program);
  assert_true(sample_same(program, rolled));
  assert_int_equal(rolled->count, program->count);
  command_destroy(rolled);
  command_destroy(program);
}

static void test_roll_edges(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "",
      "fence\n",
      "fence\nfence\nfence\nfence\n",
      "mvin cols=1\n",
      "mvin cols=1\nmvin cols=1\n",
      "loop 1000 {\nmvin dram=0x0 cols=1 | rs1-0x8000000000000000 rs2-1\n}\n",
      "loop 3 {\nfence\nmvin cols=1\n}\n",
      // Steps that wrap must not lead from one kind of configuration to another.
      "loop 4 {\nconfig_ld state=0 | rs1+1\n}\n",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    char text[256];
    snprintf(text, sizeof text, "program p\n%s", bodies[i]);
    command_program *program = parse(text), *rolled = command_roll(program);
    assert_true(sample_same(program, rolled));
    for (size_t n = 0; n < rolled->count; n++)
      assert_true(rolled->nodes[n].kind != COMMAND_INSN || rolled->nodes[n].insn.funct != ISA_FUNCT_CONFIG_LD ||
                  rolled->nodes[n].steps == NULL);
    command_destroy(rolled);
    command_destroy(program);
  }
}

static void test_roll_gemm(void **state) {
  (void)state;
  static const sample_gemm shapes[] = {
      {512, 512, 512, 0.01f, true}, {300, 197, 49, 0.01f, false}, {700, 500, 600, 0.01f, false}};
  for (size_t i = 0; i < 3; i++) {
    command_program *program = sample_gemm_program(&array, &shapes[i]);
    double start = wf_process_seconds();
    command_program *folded = command_fold_config(program);
    double middle = wf_process_seconds();
    command_program *rolled = command_roll(folded);
    double end = wf_process_seconds();
    print_message("gemm %u %u %u: %u commands, %u folded (%.1f ms), %u nodes rolled (%.1f ms)\n", shapes[i].m,
                  shapes[i].n, shapes[i].k, (unsigned)program->count, (unsigned)folded->count, 1e3 * (middle - start),
                  (unsigned)rolled->count, 1e3 * (end - middle));
    assert_true(sample_same(folded, rolled));
    assert_true(rolled->count < 300);
    command_destroy(rolled);
    command_destroy(folded);
    command_destroy(program);
  }
}

// The least processor time of three runs of a product's program through folding, rolling and the trace.
static double milliseconds_of(const sample_gemm *gemm, size_t *commands) {
  command_program *program = sample_gemm_program(&array, gemm);
  wf_diag diag = wf_diag_to(stderr);
  FILE *out = fopen("/dev/null", "w");
  uint64_t address[3];
  assert_true(command_place(program, ARCH_MEMORY_BASE, address, &diag));
  double least = INFINITY;
  for (int run = 0; run < 3; run++) {
    const double start = wf_process_seconds();
    command_program *folded = command_fold_config(program), *rolled = command_roll(folded);
    assert_true(command_write_trace(folded, &(command_layout){address}, NULL, out, &diag));
    least = fmin(least, 1e3 * (wf_process_seconds() - start));
    command_destroy(rolled);
    command_destroy(folded);
  }
  *commands = program->count;
  fclose(out);
  command_destroy(program);
  return least;
}

// Four times the commands take about four times as long, and not sixteen times. A ratio holds on a busy machine and
// under the sanitizers too.
static void test_speed(void **state) {
  (void)state;
  size_t few, many;
  const double less = milliseconds_of(&(sample_gemm){360, 512, 280, 0.01f, false}, &few);
  const double more = milliseconds_of(&(sample_gemm){720, 512, 560, 0.01f, false}, &many);
  print_message("fold, roll, trace: %zu commands %.1f ms, %zu commands %.1f ms\n", few, less, many, more);
  assert_true(many > 200000);
  assert_true(more / less < 2.5 * (double)many / (double)few);
}

// ---- folding

static unsigned count_of(const command_program *program, unsigned funct) {
  unsigned count = 0;
  for (size_t n = 0; n < program->count; n++)
    count += program->nodes[n].kind == COMMAND_INSN && program->nodes[n].insn.funct == funct;
  return count;
}

static void test_fold_cases(void **state) {
  (void)state;
#define LD "config_ld state=0 scale=1 stride=64 block_stride=16\n"
#define LD2 "config_ld state=0 scale=1 stride=32 block_stride=16\n"
#define MVIN "mvin cols=1 rows=1\n"
#define ST "config_st stride=16 acc_scale=0.5\n"
#define KEEP "config_st stride=16 acc_scale=0xffffffff\n"
#define MVOUT "mvout cols=1 rows=1\n"
  static const struct {
    const char *body;
    unsigned configs;  // that stay
  } cases[] = {
      {LD MVIN LD MVIN, 1},
      {LD MVIN LD2 MVIN LD MVIN, 3},
      {LD LD2 MVIN, 1},          // the first is set again before it is used
      {LD MVIN LD2, 1},          // the last is not used
      {LD MVIN LD2 LD MVIN, 1},  // back to what it was
      {LD "mvin2 cols=1\n", 0},
      {ST MVOUT KEEP MVOUT, 1},
      {KEEP MVOUT ST MVOUT, 2},
      {ST KEEP MVOUT, 1},  // of the first only the scale is used, and so it stays; the second changes nothing
      {"config_ex dataflow=ws a_stride=1 c_stride=1\nconfig_ex strides_only=1 a_stride=1 c_stride=1\npreload\n", 1},
      {"config_ex dataflow=ws a_stride=1 c_stride=1\nconfig_ex strides_only=1 a_stride=2 c_stride=1\npreload\n", 2},
      {"config_ex strides_only=1 a_stride=2 c_stride=1\nconfig_ex dataflow=ws a_stride=1 c_stride=1\npreload\n", 1},
      {"loop 3 {\n" LD MVIN "}\n", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    snprintf(text, sizeof text, "program p\n%s", cases[i].body);
    command_program *program = parse(text), *folded = command_fold_config(program);
    if (count_of(folded, ISA_FUNCT_CONFIG_LD) != cases[i].configs)
      fail_msg("%s leaves %u", cases[i].body, count_of(folded, ISA_FUNCT_CONFIG_LD));
    command_destroy(folded);
    command_destroy(program);
  }
}

// A random legal program (of the co-simulation) as a command program without tensors. Counters return values, so they
// are left out.
static command_program *program_of(const sim_gen_program *random) {
  command_program *program = command_create("random", random->array);
  for (size_t n = 0; n < random->count; n++) {
    const sim_gen_item *item = &random->items[n];
    if (item->fence) {
      command_add_fence(program);
    } else if (!item->command.returns) {
      const command_insn insn = command_plain(item->command.funct, item->command.rs1, item->command.rs2).insn;
      command_add(program, &insn);
    }
  }
  return program;
}

static arch_memory *memory_after(const command_program *program, const sim_gen_program *random) {
  arch_memory *memory = arch_memory_create((uint64_t)random->array->memory.capacity_mib << 20);
  memcpy(memory->bytes, random->image, random->image_bytes);
  const run_config config = {.engine = sim_engine_find("ref")};
  wf_diag diag = wf_diag_to(stderr);
  run_result result;
  assert_true(run_commands(program, &config, memory, &(command_layout){NULL}, &result, &diag));
  return memory;
}

static void test_fold_and_roll_keep_results(void **state) {
  (void)state;
  static const char *const arrays[] = {"dim4", "gemmini-default", "dim2", "dim8"};
  unsigned before = 0, after = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    hw_array a;
    wf_diag diag = wf_diag_to(stderr);
    assert_true(hw_array_load(&a, arrays[seed % 4], &diag));
    a.isa.revision = 1 + (unsigned)(seed / 4 % 2);
    const sim_gen_options options = {0};
    sim_gen_program *random = sim_gen_program_create(&a, seed, &options);
    command_program *program = program_of(random), *folded = command_fold_config(program);
    command_program *rolled = command_roll(folded);
    arch_memory *want = memory_after(program, random), *have = memory_after(rolled, random);
    if (memcmp(want->bytes, have->bytes, random->image_bytes) != 0) fail_msg("seed %u", (unsigned)seed);
    before += (unsigned)program->count, after += (unsigned)folded->count;
    arch_memory_destroy(want);
    arch_memory_destroy(have);
    command_destroy(rolled);
    command_destroy(folded);
    command_destroy(program);
    sim_gen_program_destroy(random);
  }
  print_message("random programs: %u nodes, %u folded\n", before, after);
  assert_true(after < before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_roll_random),
      cmocka_unit_test(test_roll_finds_the_nest),
      cmocka_unit_test(test_roll_edges),
      cmocka_unit_test(test_roll_gemm),
      cmocka_unit_test(test_speed),
      cmocka_unit_test(test_fold_cases),
      cmocka_unit_test(test_fold_and_roll_keep_results),
  };
  return cmocka_run_group_tests(tests, setup, NULL);
}
