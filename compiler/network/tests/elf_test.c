// SPDX-License-Identifier: Apache-2.0
// A network as a program of the hart: its outputs are those of the network run step by step, with the cycles of every
// step, on engine cycle; with the argument "rtl" the Verilated hardware must print the same, cycle by cycle.
#include "compiler/network/elf.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/test.h"
#include "compiler/graph/repeat.h"
#include "compiler/network/tests/build_held.h"
#include "compiler/network/tests/slots.h"
#include "runner/network.h"
#include "sim/run.h"

static bool on_hardware;

// What the program printed, to be freed.
typedef struct elf_run {
  char *text;
  uint64_t cycles;
} elf_run;

static elf_run run_elf(const char *path, const hw_array *array, const char *engine) {
  elf_run run = {0};
  wf_diag diag = wf_diag_to(stderr);
  size_t length = 0;
  FILE *console = open_memstream(&run.text, &length);
  const sim_run_config config = {
      .array = array, .engine = sim_engine_find(engine), .console = console, .console_error = stderr};
  const sim_run_result result = sim_run_elf(&config, path, &diag);
  fclose(console);
  assert_int_equal(result.status, SIM_RUN_OK);
  assert_int_equal(result.host.exit_code, 0);
  run.cycles = result.host.cycles;
  return run;
}

// Every step said its cycles, and they are not less than those without the hart's part.
static void check_steps(const network *net, const run_network_result *result, const char *text) {
  uint64_t sum = 0, all = 0;
  for (int s = 0; s < net->step_count; s++) {
    char start[128];
    snprintf(start, sizeof start, "step %d %s cycles ", s, net->steps[s].name);
    const char *line = strstr(text, start);
    assert_non_null(line);
    const uint64_t cycles = strtoull(line + strlen(start), NULL, 10);
    assert_true(2 * cycles > result->steps[s].cycles);  // its caches may be warmer
    sum += cycles;
  }
  const char *total = strstr(text, "\ncycles ");
  assert_non_null(total);
  all = strtoull(total + strlen("\ncycles "), NULL, 10);
  assert_true(all >= sum && all < sum + 1000 * (uint64_t)net->step_count);
}

static void check_outputs(const network *net, const run_network_result *result, const char *text) {
  for (int o = 0; o < net->graph->output_count; o++) {
    char line[128];
    snprintf(line, sizeof line, "output %s digest %016" PRIx64 "\n", net->graph->tensors[net->graph->outputs[o]].name,
             result->digests[o]);
    if (strstr(text, line) == NULL) fail_msg("%s is not in\n%s", line, text);
  }
}

// The program of a network, which is destroyed.
static void check_program(network *net, const hw_array *array) {
  const graph *g = net->graph;
  wf_diag diag = wf_diag_to(stderr);
  void **inputs = build_random_inputs(g);
  const run_network_config config = {
      .engine = sim_engine_find("cycle"), .inputs = (const void *const *)inputs, .check = true};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  assert_int_equal(result.wrong, 0);
  char path[] = "/tmp/weft-network-XXXXXX.elf";
  const int file = mkstemps(path, 4);
  assert_true(file >= 0);
  close(file);
  const network_elf_config elf = {.inputs = (const void *const *)inputs, .jobs = 2};
  assert_int_equal(network_write_elf(net, &elf, path, &diag), COMMAND_ELF_DONE);
  const elf_run cycle = run_elf(path, array, "cycle");
  check_steps(net, &result, cycle.text);
  check_outputs(net, &result, cycle.text);
  if (on_hardware) {
    const elf_run rtl = run_elf(path, array, "rtl");
    assert_string_equal(rtl.text, cycle.text);
    assert_int_equal(rtl.cycles, cycle.cycles);
    free(rtl.text);
  }
  free(cycle.text);
  unlink(path);
  build_free_inputs(g, inputs);
  run_network_release(net, &result);
  network_destroy(net);
}

static network *network_for_c(const graph *g, const hw_array *array, network_fuse_mode fuse) {
  wf_diag diag = wf_diag_to(stderr);
  const network_options options = {.array = array, .straight = true, .fuse = fuse};
  network *net = network_create(g, &options, &diag);
  assert_non_null(net);
  return net;
}

static hw_array array_of(const char *name) {
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  assert_true(hw_array_load(&array, name, &diag));
  return array;
}

static void check_network(graph *g, const char *array_name) {
  const hw_array array = array_of(array_name);
  check_program(network_for_c(g, &array, NETWORK_FUSE_OFF), &array);
  graph_destroy(g);
}

// Mixed steps, of which tensors stay in the scratchpad.
static void test_forwarded(void **state) {
  (void)state;
  static const int blocks[4] = {1, 0, 0, 0};
  hw_array array = array_of("dim8");
  array.isa.revision = 2;
  graph *g = build_residual(blocks, 16, 16);
  network *net = network_for_c(g, &array, NETWORK_FUSE_ALL);
  bool forwarded = false;
  for (int b = 0; b < net->buffer_count; b++) forwarded |= net->buffers[b].forwarded;
  assert_true(forwarded);
  check_program(net, &array);
  graph_destroy(g);
}

// Two runs in one program, whose hart and array work at one time.
static void test_overlap(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  assert_true(hw_array_load(&array, "dim8", &diag));
  graph *one = build_attention(), *two = graph_repeat(one, 2);
  check_program(network_in_slots(two, &array, NETWORK_NEAREST_FIRST), &array);
  graph_destroy(two);
  graph_destroy(one);
}

static void test_residual(void **state) {
  (void)state;
  static const int blocks[4] = {1, 0, 0, 0};
  check_network(build_residual(blocks, 8, 16), "dim4");
}

static void test_attention(void **state) {
  (void)state;
  check_network(build_attention(), "dim8");
}

// The first blocks of ResNet-50, as wide as there: the 7 x 7 convolution with its pooling and a bottleneck with a
// convolution around it; and one that adds its input, on a smaller image.
static void test_first_blocks(void **state) {
  (void)state;
  static const int blocks[4] = {2, 0, 0, 0};
  check_network(build_residual(blocks, 64, 64), "dim8");
}

static void test_first_blocks_full(void **state) {
  (void)state;
  static const int blocks[4] = {1, 0, 0, 0};
  check_network(build_residual(blocks, 64, 224), "dim8");
}

// The hart has rows of sums stored, in several runs.
static void test_held(void **state) {
  (void)state;
  const build_held_sizes n = {1, 6, 49, 40, 49};
  check_network(build_held(&n, 0.8F), "dim8");
}

int main(int argc, char **argv) {
  const struct CMUnitTest small[] = {cmocka_unit_test(test_residual), cmocka_unit_test(test_attention),
                                     cmocka_unit_test(test_held), cmocka_unit_test(test_forwarded),
                                     cmocka_unit_test(test_overlap)};
  const struct CMUnitTest blocks[] = {cmocka_unit_test(test_first_blocks)};
  const struct CMUnitTest full[] = {cmocka_unit_test(test_first_blocks_full)};
  const char *which = argc > 2 ? argv[2] : "small";
  on_hardware = argc > 1 && strcmp(argv[1], "rtl") == 0;
  if (strcmp(which, "blocks") == 0) return cmocka_run_group_tests(blocks, NULL, NULL);
  if (strcmp(which, "full") == 0) return cmocka_run_group_tests(full, NULL, NULL);
  return cmocka_run_group_tests(small, NULL, NULL);
}
