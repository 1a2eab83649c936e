// SPDX-License-Identifier: Apache-2.0
// Mappings of style loop: convolutions through LOOP_CONV_WS and products with a residual through LOOP_WS give on `ref`
// and `cycle` what the kernel's interpreter says, and nothing but loops comes out. With a number as its argument, so
// many mappings per kernel and array; 2 otherwise.
#include "base/test.h"
#include "compiler/tests/source.h"
#include "sim/cycle/cycle.h"
#include "sim/ref/ref.h"

enum { MAPPINGS_BY_DEFAULT = 1, DRAWS_MAX = 2000 };

// Scales are such that few results saturate: what saturates hides errors. DIM stands for the array's. Kernels that
// revision 1 refuses are for revision 2 only.
static const struct {
  const char *file, *arguments;
  unsigned revision;  // at least
} cases[] = {
    {"conv2d.py", "N=1,H=8,W=8,C=16,K=32,padding=1,scale=0.0006,relu=False", 1},
    {"conv2d.py", "N=2,H=9,W=11,C=31,K=17,scale=0.0004", 1},
    {"conv2d.py", "N=3,H=11,W=29,C=3,K=48,R=2,stride=2,padding=1,scale=0.0008,relu=False", 1},
    {"conv2d.py", "N=1,H=30,W=31,C=3,K=17,R=7,S=7,padding=3,stride=2,scale=0.0005,relu=False", 1},
    {"conv2d.py", "N=1,H=13,W=12,C=9,K=5,dilation=2,padding=1,bias=False,relu=False,scale=0.001", 1},
    {"conv2d.py", "N=2,H=7,W=7,C=20,K=33,R=1,S=1,stride=2,relu=False,scale=0.0007", 1},
    {"conv2d.py", "N=2,H=8,W=12,C=40,K=33,R=1,S=1,stride=2,bias=False,relu=False,scale=0.002", 1},
    {"conv2d.py", "N=2,H=6,W=5,C=5,K=7,padding=4,relu=False,scale=0.0007", 1},
    {"conv2d.py", "N=1,H=9,W=10,C=20,K=37,S=1,padding=1,residual=1,relu=False,scale=0.0006", 1},
    {"conv2d.py", "N=2,H=9,W=11,C=5,K=37,padding=1,residual=-200,bias=False,relu=False,scale=0.001", 1},
    {"conv2d_narrow.py", "N=3,H=9,W=8,C=1,K=7,scale=0.003,bias=False,relu=False", 1},
    {"conv1d.py", "N=2,L=37,C=17,K=9,padding=1,stride=2,dilation=2,scale=0.0007", 1},
    {"depthwise_conv2d.py", "N=2,H=9,W=8,C=DIM,D=DIM,padding=1,stride=2,scale=0.003", 1},
    {"depthwise_conv2d.py", "N=1,H=9,W=12,C=33,D=DIM,padding=2,dilation=2,scale=0.0009,bias=True", 2},
    {"grouped_conv2d.py", "N=2,H=9,W=8,G=3,C=17,K=20,padding=1,scale=0.0006,bias=True", 2},
    {"gemm.py", "M=70,N=65,K=33,scale=0.0006,residual=1,relu=False", 1},
    {"gemm.py", "M=33,N=70,K=17,scale=0.003,residual=1,bias=False,relu=False", 1},
    {"gemm.py", "M=50,N=37,K=64,scale=0.0006,residual=-300,relu=False", 1},
    {"gemm.py", "M=50,N=65,K=40,scale=0.002,residual=300,bias=False,relu=False", 1},
};
enum { CASES = sizeof cases / sizeof cases[0] };
static const struct {
  const char *name;
  unsigned revision;
} arrays[] = {{"dim4", 1}, {"dim8", 2}, {"gemmini-default", 1}, {"gemmini-default", 2}, {"dim32", 1}};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

static hw_array array_of(int n) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, arrays[n].name, &diag));
  array.isa.revision = arrays[n].revision;
  return array;
}

static bool draw(const test_source *s, uint64_t *seed, map_mapping *m) {
  for (int n = 0; n < DRAWS_MAX; n++)
    if (map_random(&s->layer, s->array, seed, m) && m->style == BLOCK_STYLE_LOOP) return true;
  return false;
}

static bool try_mapping(const test_source *s, const map_mapping *m) {
  static const sim_engine_ops *const engines[] = {&sim_ref_engine, &sim_cycle_engine};
  wf_diag diag = wf_diag_to(stderr);
  for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
    run_oracle_verdict verdict;
    if (test_source_run(s, m, engines[e], &verdict, &diag) == TEST_GOOD) continue;
    print_error("%s, %s, array %s, revision %u, engine %s:\n", s->path, s->arguments, s->array->name,
                s->array->isa.revision, engines[e]->name);
    map_print(m, stderr);
    return false;
  }
  return true;
}

static void results_are_exact(void **state) {
  const int wanted = *(const int *)*state;
  unsigned failed = 0;
  for (int a = 0; a < ARRAYS; a++) {
    const hw_array array = array_of(a);
    for (int c = 0; c < CASES && failed < 10; c++) {
      if (cases[c].revision > array.isa.revision) continue;
      wf_diag diag = wf_diag_to(stderr);
      test_source s;
      uint64_t seed = (uint64_t)(a * CASES + c + 1) * 7000003;
      if (!test_source_open(&s, cases[c].file, NULL, cases[c].arguments, &array, &diag)) fail_msg("case %d", c);
      for (int i = 0; i < wanted; i++) {
        map_mapping m;
        if (!draw(&s, &seed, &m)) fail_msg("no mapping of style loop: %s, %s, %s", s.path, s.arguments, array.name);
        failed += !try_mapping(&s, &m);
      }
      test_source_close(&s);
    }
  }
  assert_int_equal(failed, 0);
}

// Loops, what they are configured by, and nothing else.
static void only_loops_come_out(void **state) {
  (void)state;
  static const char *const arguments = "N=2,H=9,W=11,C=31,K=37,padding=1,residual=3,scale=0.0005";
  const hw_array array = array_of(2);
  wf_diag diag = wf_diag_to(stderr);
  test_source s;
  assert_true(test_source_open(&s, "conv2d.py", NULL, arguments, &array, &diag));
  const compile_request request = {.file = s.path,
                                   .text = s.text,
                                   .length = s.length,
                                   .array = &array,
                                   .arguments = s.args,
                                   .style = BLOCK_STYLE_LOOP,
                                   .straight = true};
  compile_result result;
  assert_true(compile(&request, &result, &diag));
  size_t loops = 0, configurations = 0;
  for (size_t n = 0; n < result.commands->count; n++) {
    const command_node *node = &result.commands->nodes[n];
    if (node->kind != COMMAND_INSN) continue;
    const unsigned funct = node->insn.funct;
    const bool registers = funct >= ISA_FUNCT_LOOP_CONV_WS_CONFIG_1 && funct <= ISA_FUNCT_LOOP_CONV_WS_CONFIG_6;
    loops += funct == ISA_FUNCT_LOOP_CONV_WS;
    configurations += funct == ISA_FUNCT_CONFIG_EX;
    assert_true(registers || funct == ISA_FUNCT_LOOP_CONV_WS || funct == ISA_FUNCT_CONFIG_EX);
  }
  // One store configuration, and one of products: the residual's have the same stride.
  assert_int_equal(configurations, 2);
  assert_int_equal(loops * 7 + configurations + 1, result.commands->count);
  compile_release(&result);
  test_source_close(&s);
}

// On the hardware: the same bytes, and the cycles of the cycle engine.
static void hardware_agrees(void **state) {
  (void)state;
  static const int sample[] = {1, 2, 6, 9, 15};
  const hw_array array = array_of(0);
  for (size_t n = 0; n < sizeof sample / sizeof *sample; n++) {
    wf_diag diag = wf_diag_to(stderr);
    test_source s;
    map_mapping m;
    run_oracle_verdict cycle, rtl;
    uint64_t seed = 1 + n;
    assert_true(test_source_open(&s, cases[sample[n]].file, NULL, cases[sample[n]].arguments, &array, &diag));
    assert_true(draw(&s, &seed, &m));
    assert_int_equal(test_source_run(&s, &m, &sim_cycle_engine, &cycle, &diag), TEST_GOOD);
    assert_int_equal(test_source_run(&s, &m, sim_engine_find("rtl"), &rtl, &diag), TEST_GOOD);
    assert_int_equal(cycle.run.cycles, rtl.run.cycles);
    test_source_close(&s);
  }
}

int main(int argc, char **argv) {
  const bool hardware = argc > 1 && strcmp(argv[1], "rtl") == 0;
  int wanted = argc > 1 && !hardware ? atoi(argv[1]) : MAPPINGS_BY_DEFAULT;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(results_are_exact, &wanted),
                                     cmocka_unit_test(only_loops_come_out)};
  const struct CMUnitTest on_hardware[] = {cmocka_unit_test(hardware_agrees)};
  return hardware ? cmocka_run_group_tests(on_hardware, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
