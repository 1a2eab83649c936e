// SPDX-License-Identifier: Apache-2.0
// Steps whose commands are mixed (--fuse) leave the same bytes as each by itself, on all engines; what is chosen is
// faster, and the best of all that could be chosen.
#include "compiler/network/mix.h"

#include "base/hash.h"
#include "base/number.h"
#include "base/random.h"
#include "compiler/graph/curve.h"
#include "compiler/network/tests/build.h"
#include "compiler/network/tests/outcome.h"
#include "runner/judge.h"

enum { KINDS = 4 };
// Under sanitizers each kind of network has one of them.
static const char *const arrays[] = {"gemmini-default", "dim8", "dim32"};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static int build_curve(graph *g, int x, const graph_curve *curve) {
  int y;
  graph_curve_set(g, build_like(g, GRAPH_OP_QCURVE, x, GRAPH_I8, &y), curve);
  return y;
}

// Layers with zeros in their weights and curves behind them, of all kinds of offsets.
static graph *build_curved(void) {
  static const graph_curve curves[] = {
      {.count = 2, .slope = {1, -4}, .start = {0, -30}, .weight = {98, 3}, .offset = -84, .scale = 0.01F},
      {.count = 3, .slope = {1, 2, 4}, .start = {9, 0, -99}, .weight = {50, -9, 7}, .offset = 4321, .scale = 0.005F},
  };
  graph *g = graph_create("curved");
  const int64_t image[4] = {1, 21, 18, 48};
  const int input = build_input(g, GRAPH_I8, 4, image);
  int x = build_conv2d(g, input, &(build_conv){.kernel = 1, .stride = 1, .channels = 96, .holes = 3, .no_relu = true});
  x = build_curve(g, x, &curves[0]);
  x = build_conv2d(g, x,
                   &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 96, .groups = 96, .no_relu = true});
  x = build_curve(g, x, &curves[1]);
  x = build_conv2d(g, x, &(build_conv){.kernel = 3, .stride = 2, .pad = 1, .channels = 80, .holes = 2});
  x = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 112, .holes = 3});
  graph_set_ends(g, &input, 1, &x, 1);
  return g;
}

// Bottlenecks with residuals, strides and downsampling, inverted residuals with depthwise ones, pooling, additions.
static graph *build_mixable(int kind) {
  static const int blocks[4] = {1, 2, 1, 1};
  if (kind == 0) return build_residual(blocks, 16, 32);
  if (kind == 1) return build_mobile();
  if (kind == 3) return build_curved();
  graph *g = graph_create("inverted");
  const int64_t image[4] = {1, 20, 23, 16};
  const int input = build_input(g, GRAPH_I8, 4, image);
  int x = build_conv2d(g, input, &(build_conv){.kernel = 3, .stride = 2, .pad = 1, .channels = 24});
  for (int n = 0; n < 2; n++) {
    const int wide = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 72});
    const int deep =
        build_conv2d(g, wide, &(build_conv){.kernel = 3, .stride = 1, .pad = 1, .channels = 72, .groups = 72});
    x = build_conv2d(g, deep, &(build_conv){.kernel = 1, .stride = 1, .channels = 24, .factor = 1, .residual = x});
  }
  graph_set_ends(g, &input, 1, &x, 1);
  return g;
}

// Mixed steps leave the bytes of each node; every step that can be is mixed with its neighbours.
static void test_mixed_steps(void **state) {
  (void)state;
  for (int kind = 0; kind < KINDS; kind++)
    for (int a = 0; a < ARRAYS; a++) {
      if (TEST_SANITIZED && (kind + 1) % ARRAYS != a) continue;
      graph *g = build_mixable(kind);
      const hw_array array = array_of(arrays[a]);
      const outcome alone = run_fused(g, &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_OFF);
      const outcome ref = run_fused(g, &array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_ALL);
      const outcome cycle = run_fused(g, &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_ALL);
      assert_true(cycle.steps < alone.steps);
      assert_int_equal(ref.digest, alone.digest);
      assert_int_equal(cycle.digest, alone.digest);
      assert_int_equal(cycle.compared, alone.compared);
      graph_destroy(g);
    }
}

// Memories of which a step's share is less than a KiB: what does not fit is not mixed.
static void test_tiny_memories(void **state) {
  (void)state;
  for (int kind = 0; kind < KINDS; kind++)
    for (unsigned revision = 1; revision <= 2; revision++) {
      if (TEST_SANITIZED && (unsigned)kind % 2 + 1 != revision) continue;
      graph *g = build_mixable(kind);
      hw_array array = array_of("dim2");
      array.isa.revision = revision;
      const outcome alone = run_fused(g, &array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_OFF);
      const outcome mixed = run_fused(g, &array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_ALL);
      assert_int_equal(mixed.digest, alone.digest);
      graph_destroy(g);
    }
}

// Bytes of tensors of the graph that its network has in no memory, since they stay in the scratchpad.
static uint64_t forwarded_bytes(const graph *g, const hw_array *array) {
  wf_diag diag = wf_diag_to(stderr);
  const network_options options = {.array = array, .jobs = 2, .fuse = NETWORK_FUSE_ALL};
  network *net = network_create(g, &options, &diag);
  assert_non_null(net);
  uint64_t bytes = 0;
  for (int t = 0; t < g->tensor_count; t++) {
    bool forwarded = false;
    for (int b = 0; b < net->buffer_count; b++)
      forwarded |= net->buffers[b].forwarded && strcmp(net->buffers[b].name, g->tensors[t].name) == 0;
    if (!forwarded) continue;
    assert_int_equal(net->tensors[t].buffer, -1);
    bytes += graph_bytes(&g->tensors[t]);
  }
  network_destroy(net);
  return bytes;
}

// What can be stays in the scratchpad: the same results, from fewer bytes of memory. All that is in memory is compared.
static void test_forwarded_steps(void **state) {
  (void)state;
  for (int kind = 0; kind < KINDS; kind++)
    for (int a = 0; a < ARRAYS; a++) {
      if (TEST_SANITIZED && kind % ARRAYS != a) continue;
      graph *g = build_mixable(kind);
      hw_array array = array_of(arrays[a]);
      const outcome alone = run_fused(g, &array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_OFF);
      array.isa.revision = 2;
      const outcome ref = run_fused(g, &array, "ref", RUN_HART_NATIVE, NETWORK_FUSE_ALL);
      const outcome cycle = run_fused(g, &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_ALL);
      const uint64_t forwarded = forwarded_bytes(g, &array);
      assert_int_equal(ref.digest, alone.digest);
      assert_int_equal(cycle.digest, alone.digest);
      assert_true(forwarded > 0);
      assert_int_equal(cycle.compared + forwarded, alone.compared);
      assert_int_equal(ref.compared, cycle.compared);
      graph_destroy(g);
    }
}

// Two products, of which the second alone reads what the first one makes.
static graph *build_pair(void) {
  graph *g = graph_create("pair");
  const int64_t image[4] = {1, 28, 28, 32};
  const int input = build_input(g, GRAPH_I8, 4, image);
  int x = build_conv2d(g, input, &(build_conv){.kernel = 1, .stride = 1, .channels = 96});
  x = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 32});
  graph_set_ends(g, &input, 1, &x, 1);
  return g;
}

// What commands move to the scratchpad, the most columns of one, and whether a command has a place in the tensor.
static uint64_t count_moved(const command_program *program, int tensor, bool *touched, uint64_t *widest) {
  uint64_t bytes = 0;
  *touched = false;
  *widest = 0;
  for (size_t n = 0; n < program->count; n++) {
    const command_insn *i = &program->nodes[n].insn;
    if (program->nodes[n].kind != COMMAND_INSN) continue;
    *touched |= i->tensor_rs1 == tensor;
    if (command_isa(program, i)->id != ISA_MVOUT_SPAD_R2) continue;
    bytes += isa_get_mvout_spad_r2_rows(i->rs1, i->rs2) * isa_get_mvout_spad_r2_cols(i->rs1, i->rs2);
    *widest = wf_max(*widest, isa_get_mvout_spad_r2_cols(i->rs1, i->rs2));
  }
  return bytes;
}

// Every byte of the tensor between the products is moved once, and none stored or loaded.
static void test_moves(void **state) {
  (void)state;
  graph *g = build_pair();
  hw_array array = array_of("gemmini-default");
  array.isa.revision = 2;
  network *net = network_on(g, &array);
  const int between = net->tensors[g->nodes[0].outputs[0]].buffer;
  for (int forward = 0; forward < 2; forward++) {
    network_place places[NETWORK_MIXED_TENSORS];
    const network_mix_request request = {.window = {0, 2},
                                         .shares = {.accumulator = {1, 1}, .forward = forward != 0, .deep = true}};
    command_program *program = network_mix(net, &request, places);
    wf_diag diag = wf_diag_to(stderr);
    bool touched;
    uint64_t widest;
    int tensor = 0;
    assert_non_null(program);
    assert_true(command_verify(program, &diag));
    while (places[tensor].buffer != between) tensor++;
    assert_int_equal(count_moved(program, tensor, &touched, &widest),
                     (uint64_t)forward * graph_bytes(&g->tensors[g->nodes[0].outputs[0]]));
    if (forward != 0) assert_in_range(widest, hw_derive(&array).dim + 1, hw_derive(&array).max_cols);
    assert_int_equal(touched, forward == 0);
    assert_int_equal(program->tensors[tensor].written, forward == 0);
    command_destroy(program);
  }
  network_destroy(net);
  graph_destroy(g);
}

// What the array has to have.
static void test_who_forwards(void **state) {
  (void)state;
  hw_array array = array_of("gemmini-default");
  assert_false(network_can_forward(&array));
  array.isa.revision = 2;
  assert_true(network_can_forward(&array));
  array.sync.by = HW_SYNC_TOKENS;
  assert_false(network_can_forward(&array));
}

// A product with a residual that memory bounds, and the one behind it.
static graph *build_bound(void) {
  graph *g = graph_create("bound");
  const int64_t image[4] = {1, 40, 56, 256};
  const int input = build_input(g, GRAPH_I8, 4, image);
  int x = build_conv2d(g, input, &(build_conv){.kernel = 1, .stride = 1, .channels = 64});
  x = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 256, .factor = 127, .residual = input});
  x = build_conv2d(g, x, &(build_conv){.kernel = 1, .stride = 1, .channels = 64});
  graph_set_ends(g, &input, 1, &x, 1);
  return g;
}

// With tuning other mappings are tried: the same bytes, and the judge's word is at least as good.
static void check_tuned(const graph *g, const hw_array *array, const outcome *first) {
  const network_options options = {
      .array = array, .jobs = 2, .tuning = {.judge = run_judge, .count = 2}, .fuse = NETWORK_FUSE_AUTO};
  const outcome tuned = run_with(g, &options, "cycle", RUN_HART_TIMED);
  assert_int_equal(tuned.digest, first->digest);
  assert_int_equal(tuned.steps, first->steps);
  assert_true(tuned.cycles < first->cycles);
}

// What the judge chooses is faster, and where it chooses nothing all is as it was.
static void test_chosen_mixes(void **state) {
  (void)state;
  graph *const graphs[] = {build_bound(), build_mixable(0)};
  for (int n = 0; n < 2; n++) {
    const hw_array array = array_of("gemmini-default");
    const outcome alone = run_fused(graphs[n], &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_OFF);
    const outcome chosen = run_fused(graphs[n], &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_AUTO);
    assert_int_equal(chosen.digest, alone.digest);
    assert_true(chosen.cycles <= alone.cycles + alone.cycles / 100);
    if (n == 0) {
      assert_true(chosen.steps < alone.steps && chosen.cycles < alone.cycles);
      if (!TEST_SANITIZED) check_tuned(graphs[n], &array, &chosen);
    }
    graph_destroy(graphs[n]);
  }
}

// ---- mappings

// Commands of a mix whose layers have these of their mappings; 0: there are none.
static uint64_t mixed_digest(const network *net, network_window window, uint8_t first, uint8_t second) {
  network_place places[NETWORK_MIXED_TENSORS];
  wf_diag diag = wf_diag_to(stderr);
  const network_mix_request request = {.window = window,
                                       .shares = {.accumulator = {1, 1, 1}, .mapping = {first, second}}};
  command_program *program = network_mix(net, &request, places);
  if (program == NULL) return 0;
  assert_true(command_verify(program, &diag));
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  command_print(program, out);
  fclose(out);
  const uint64_t digest = wf_hash(WF_HASH_START, text, length);
  free(text);
  command_destroy(program);
  return digest;
}

static void test_mappings_differ(void **state) {
  (void)state;
  graph *g = build_bound();
  const hw_array array = array_of("gemmini-default");
  network *net = network_on(g, &array);
  const network_window window = {1, 2};
  assert_true(network_can_mix(net, window));
  const uint64_t best = mixed_digest(net, window, 0, 0);
  assert_int_not_equal(best, 0);
  assert_int_equal(mixed_digest(net, window, 0, 0), best);
  for (uint8_t number = 1; number < NETWORK_MIXED_MAPPINGS; number++) {
    assert_int_not_equal(mixed_digest(net, window, number, 0), best);
    assert_int_not_equal(mixed_digest(net, window, 0, number), best);
  }
  network_destroy(net);
  graph_destroy(g);
}

// ---- every choice, with savings that are told

enum { TELLS = TEST_SANITIZED ? 2 : 6, STEPS = 10 };

typedef struct told {
  bool legal[STEPS][NETWORK_MIXED_MAX + 1];
  int64_t saved[STEPS][NETWORK_MIXED_MAX + 1];
} told;

static bool is_legal(const network *net, network_window window) {
  if (window.first + window.count > net->step_count) return false;
  if (!network_can_mix(net, window) || !network_is_linked(net, window)) return false;
  network_place places[NETWORK_MIXED_TENSORS];
  const network_mix_request request = {.window = window, .shares = {.accumulator = {1, 1, 1, 1, 1, 1}}};
  command_program *program = network_mix(net, &request, places);
  if (program != NULL) command_destroy(program);
  return program != NULL;
}

// What a window saves of what the objective counts; of the other it loses as much.
static network_mix_facts facts_of(int first, int count, int64_t saved, compile_objective objective) {
  enum { TAKES = 1000 };
  const int64_t cycles = objective == COMPILE_CYCLES ? saved : -saved;
  return (network_mix_facts){.first = first,
                             .count = count,
                             .apart = {(uint64_t)(TAKES + cycles), true, (double)(TAKES - cycles)},
                             .mixed = {TAKES, true, TAKES}};
}

// A window that may not be mixed is told, too, and must be left alone.
static void tell(told *t, network_judgements *known, int steps, compile_objective objective, uint64_t *random) {
  for (int first = 0; first < steps; first++)
    for (int count = 2; count <= NETWORK_MIXED_MAX && first + count <= steps; count++) {
      t->saved[first][count] = wf_random_in(random, -300, 500);
      const network_mix_facts facts = facts_of(first, count, t->saved[first][count], objective);
      if (t->legal[first][count] || !wf_random_one_in(random, 2)) network_tell_mix(known, &facts);
    }
}

// The most that any cut of the steps from `first` on saves.
static int64_t most_saved(const told *t, int steps, int first) {
  if (first >= steps) return first == steps ? 0 : INT64_MIN / 2;
  int64_t most = most_saved(t, steps, first + 1);
  for (int count = 2; count <= NETWORK_MIXED_MAX; count++)
    if (t->legal[first][count]) most = wf_max(most, t->saved[first][count] + most_saved(t, steps, first + count));
  return most;
}

static int64_t saved_by(const told *t, const network *net) {
  int64_t saved = 0;
  for (int s = 0, from = 0; s < net->step_count; s++) {
    const int parts = wf_max(net->steps[s].parts, 1);
    assert_true(parts == 1 || t->legal[from][parts]);
    saved += parts == 1 ? 0 : t->saved[from][parts];
    from += parts;
  }
  return saved;
}

static bool judge_alike(const command_program *program, compile_verdict *verdict, wf_diag *diag) {
  (void)program, (void)diag;
  *verdict = (compile_verdict){.cycles = 1};
  return true;
}

static void check_choices(const graph *g, const char *name, compile_objective objective) {
  const hw_array array = array_of(name);
  network *apart = network_on(g, &array);
  told t = {0};
  int windows = 0;
  assert_in_range(apart->step_count, 4, STEPS);
  for (int first = 0; first < apart->step_count; first++)
    for (int count = 2; count <= NETWORK_MIXED_MAX; count++)
      windows += t.legal[first][count] = is_legal(apart, (network_window){first, count});
  assert_true(windows >= 4);
  network_judgements *known = network_judgements_create();
  compile_verdict steps[STEPS];
  for (int n = 0; n < STEPS; n++) steps[n] = (compile_verdict){1 << 20, true, 1 << 20};  // a picojoule is worth a cycle
  network_tell_steps(known, steps, apart->step_count);
  const network_options options = {.array = &array,
                                   .tuning = {.judge = judge_alike, .objective = objective},
                                   .fuse = NETWORK_FUSE_AUTO,
                                   .judgements = known};
  wf_diag diag = wf_diag_to(stderr);
  uint64_t random = 3;
  for (int n = 0; n < TELLS; n++) {
    tell(&t, known, apart->step_count, objective, &random);
    network *mixed = network_create(g, &options, &diag);
    assert_non_null(mixed);
    assert_int_equal(saved_by(&t, mixed), most_saved(&t, apart->step_count, 0));
    network_destroy(mixed);
  }
  network_judgements_destroy(known);
  network_destroy(apart);
}

static void test_every_choice(void **state) {
  (void)state;
  for (int kind = 2; kind < KINDS; kind++) {
    graph *g = build_mixable(kind);
    if (!TEST_SANITIZED || kind == 2) check_choices(g, "gemmini-default", COMPILE_CYCLES);
    if (!TEST_SANITIZED) check_choices(g, "dim8", COMPILE_CYCLES);
    if (!TEST_SANITIZED || kind == 3) check_choices(g, "dim8", COMPILE_ENERGY);
    graph_destroy(g);
  }
}

// Windows whose steps take no longer than their products are not judged, and neither is anything but by the judge.
static void test_told_steps(void **state) {
  (void)state;
  enum { SLOW = 1 << 30 };
  const hw_array array = array_of("gemmini-default");
  const double dim = hw_derive(&array).dim;
  graph *g = build_mixable(2);
  wf_diag diag = wf_diag_to(stderr);
  network *apart = network_on(g, &array);
  assert_in_range(apart->step_count, 4, STEPS);
  uint64_t judged[2];
  for (int slow = 0; slow < 2; slow++) {
    compile_verdict steps[STEPS] = {0};
    for (int s = 0; s < apart->step_count; s++)
      steps[s].cycles = slow == 1 ? SLOW : (uint64_t)((double)apart->steps[s].macs / (dim * dim) / 2);
    network_judgements *known = network_judgements_create();
    network_tell_steps(known, steps, apart->step_count);
    const network_options options = {
        .array = &array, .tuning.judge = judge_alike, .fuse = NETWORK_FUSE_AUTO, .judgements = known};
    network *mixed = network_create(g, &options, &diag);
    assert_non_null(mixed);
    judged[slow] = mixed->planning.judged;
    network_destroy(mixed);
    network_judgements_destroy(known);
  }
  assert_int_equal(judged[0], 0);
  assert_true(judged[1] >= 3);
  network_destroy(apart);
  graph_destroy(g);
}

static void test_mixed_steps_on_hardware(void **state) {
  (void)state;
  for (int n = 0; n < 2 * KINDS; n++) {
    hw_array array = array_of("dim8");
    array.isa.revision = 1 + (unsigned)n % 2;
    graph *g = build_mixable(n / 2);
    const outcome cycle = run_fused(g, &array, "cycle", RUN_HART_TIMED, NETWORK_FUSE_ALL);
    const outcome rtl = run_fused(g, &array, "rtl", RUN_HART_TIMED, NETWORK_FUSE_ALL);
    assert_int_equal(cycle.digest, rtl.digest);
    assert_int_equal(cycle.cycles, rtl.cycles);
    graph_destroy(g);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest hardware[] = {cmocka_unit_test(test_mixed_steps_on_hardware)};
  if (argc > 1 && strcmp(argv[1], "rtl") == 0) return cmocka_run_group_tests(hardware, NULL, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixed_steps),     cmocka_unit_test(test_tiny_memories),
                                     cmocka_unit_test(test_forwarded_steps), cmocka_unit_test(test_moves),
                                     cmocka_unit_test(test_who_forwards),    cmocka_unit_test(test_chosen_mixes),
                                     cmocka_unit_test(test_mappings_differ), cmocka_unit_test(test_every_choice),
                                     cmocka_unit_test(test_told_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
