// SPDX-License-Identifier: Apache-2.0
// Hart and array at one time: parts of calls make the whole, slots keep the order in which steps need each other, and
// what comes out is the interpreter's, on every engine; with the argument "rtl" the Verilated hardware takes the same
// cycles as `cycle`.
#include "runner/overlap.h"

#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/test.h"
#include "compiler/graph/repeat.h"
#include "compiler/network/overlap/pieces.h"
#include "compiler/network/tests/build.h"
#include "compiler/network/tests/outcome.h"
#include "compiler/network/tests/slots.h"
#include "driver/host/private.h"

// ---- parts of calls

enum { SIDE = 9, ELEMENTS = SIDE * SIDE * SIDE, DRAWS = 400 };

static int64_t draw(uint64_t *random, int64_t most) { return wf_random_in(random, 1, most); }

static void set_operand(struct weft_host_call *call, unsigned number, float *data) {
  struct weft_host_operand *o = &call->operand[number];
  *o = (struct weft_host_operand){.data = data, .type = WEFT_F32, .element_bytes = sizeof *data};
  int64_t step = sizeof *data;
  for (uint32_t d = call->rank; d-- > 0; step *= call->dim[d]) o->step[d] = step;
}

// Rows of a softmax, or elements; two in a chain.
static network_call make_call(uint64_t *random, float *x, float *y) {
  const bool rows = wf_random_one_in(random, 2);
  network_call call = {.call = {.op = rows ? WEFT_HOST_SOFTMAX : WEFT_HOST_EXP, .rank = 3, .outer = rows ? 2 : 3}};
  for (uint32_t d = 0; d < call.call.rank; d++) call.call.dim[d] = draw(random, SIDE);
  set_operand(&call.call, 0, y);
  set_operand(&call.call, 1, x);
  return call;
}

static void check_parts(uint64_t *random) {
  float x[ELEMENTS], whole[ELEMENTS] = {0}, parts[ELEMENTS] = {0};
  for (int i = 0; i < ELEMENTS; i++) x[i] = (float)wf_random_below(random, 64) / 16;
  network_call call = make_call(random, x, whole);
  assert_int_equal(weft_host_run(&call.call), WEFT_HOST_OK);
  call.call.operand[0].data = parts;
  const network_calls_of_one together = network_calls_together(&call);
  const int64_t wanted = draw(random, 2 * ELEMENTS), pieces = network_count_pieces(&together, wanted);
  assert_in_range(pieces, 1, wanted);
  for (int64_t n = pieces; n-- > 0;) {
    const struct weft_host_turn turn = network_piece_turn(&together, n, pieces, 0);
    struct weft_host_call part = call.call;
    if (turn.count != 0) host_take_part(&part, &turn);
    assert_int_equal(weft_host_run(&part), WEFT_HOST_OK);
  }
  assert_memory_equal(parts, whole, sizeof whole);
}

static void test_parts(void **state) {
  (void)state;
  uint64_t random = 11;
  for (int n = 0; n < DRAWS; n++) check_parts(&random);
}

// ---- slots

static bool is_written(const network *net, const network_step *step, int operand) {
  const command_program *program = net->kernels[step->kernel].program;
  for (int t = 0; t < program->tensor_count; t++)
    if (strcmp(program->tensors[t].name, step->operands[operand].param) == 0) return program->tensors[t].written;
  return false;
}

// Whether a step reads (or writes) a buffer that is no constant.
static bool touches(const network *net, const network_step *step, int buffer, bool writes) {
  for (int o = 0; o < step->operand_count; o++)
    if (step->operands[o].place.buffer == buffer && is_written(net, step, o) == writes) return true;
  for (int c = 0; c < step->call_count; c++)
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++)
      if (step->calls[c].place[o].buffer == buffer && (o == 0) == writes) return true;
  return false;
}

static bool depends(const network *net, int early, int late) {
  const network_step *a = &net->steps[early], *b = &net->steps[late];
  for (int n = 0; n < net->buffer_count; n++) {
    if (net->buffers[n].contents != NULL) continue;
    const bool written = touches(net, a, n, true);
    if (written && (touches(net, b, n, false) || touches(net, b, n, true))) return true;
    if (touches(net, a, n, false) && touches(net, b, n, true)) return true;
  }
  return false;
}

static void check_order(const network *net, const network_slots *slots) {
  int *slot = WF_NEW_ARRAY((size_t)net->step_count + 1, int), *at = WF_NEW_ARRAY((size_t)net->step_count + 1, int);
  for (int s = 0; s < net->step_count; s++) slot[s] = -1;
  for (int s = 0, n = 0; s < slots->count; s++)
    for (int i = 0; i < slots->counts[s]; i++, n++) {
      assert_int_equal(slot[slots->steps[n]], -1);  // once
      slot[slots->steps[n]] = s;
      at[slots->steps[n]] = n;
    }
  for (int late = 0; late < net->step_count; late++) {
    assert_true(slot[late] >= 0);
    for (int early = 0; early < late; early++) {
      if (!depends(net, early, late)) continue;
      assert_true(slot[early] < slot[late] || (slot[early] == slot[late] && at[early] < at[late] &&
                                               net->steps[early].place == net->steps[late].place));
    }
  }
  wf_free(slot);
  wf_free(at);
}

enum { STEPS = 40, BUFFERS = 12, NETS = 300 };

// A step of either side that reads some buffers and writes one, perhaps one that it reads, or that others have written.
static void draw_step(network_step *step, network_call *call, uint64_t *random) {
  const network_place x = {.buffer = (int)wf_random_below(random, BUFFERS)},
                      z = {.buffer = (int)wf_random_below(random, BUFFERS)},
                      y = {.buffer = (int)wf_random_below(random, BUFFERS)};
  *step = (network_step){.place = GRAPH_ON_ARRAY, .kernel = (int)wf_random_below(random, 2)};
  if (wf_random_one_in(random, 2)) {
    *call = (network_call){.place = {y, x, z, {.buffer = -1}}};
    *step = (network_step){.place = GRAPH_ON_HOST, .calls = call, .call_count = 1};
    return;
  }
  step->operands[0] = (network_operand){"x", x};
  step->operands[1] = (network_operand){"z", z};
  step->operands[2] = (network_operand){"y", y};
  step->operand_count = 3;
}

static void test_order(void **state) {
  (void)state;
  uint64_t random = 5;
  command_tensor tensors[] = {{.name = "x", .read = true}, {.name = "z", .read = true}, {.name = "y", .written = true}};
  command_program program = {.tensors = tensors, .tensor_count = 3};
  network_kernel kernels[] = {{.program = &program, .loops = &program}, {.program = &program}};
  network_buffer buffers[BUFFERS] = {{0}};
  network_step steps[STEPS];
  network_call calls[STEPS];
  uint64_t cycles[STEPS];
  int shared = 0;
  for (int n = 0; n < NETS; n++) {
    for (int s = 0; s < STEPS; s++) {
      draw_step(&steps[s], &calls[s], &random);
      cycles[s] = wf_random_below(&random, 10000);
    }
    const network net = {
        .kernels = kernels, .buffers = buffers, .buffer_count = BUFFERS, .steps = steps, .step_count = STEPS};
    wf_arena *arena = wf_arena_create();
    const network_slot_request request = {.cycles = cycles, .rule = (network_slot_rule)(n % NETWORK_SLOT_RULES)};
    const network_slots slots = network_find_slots(&net, &request, arena);
    check_order(&net, &slots);
    shared += slots.count < STEPS;
    wf_arena_destroy(arena);
  }
  assert_true(shared > NETS / 4);
}

// ---- results

static run_network_result run_slots(const network *net, const char *engine, run_hart hart) {
  wf_diag diag = wf_diag_to(stderr);
  void **inputs = build_random_inputs(net->graph);
  const run_network_config config = {
      .engine = sim_engine_find(engine), .inputs = (const void *const *)inputs, .check = true, .hart = hart};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  assert_int_equal(result.wrong, 0);
  build_free_inputs(net->graph, inputs);
  return result;
}

// Products that take as long as the softmax between them, which is cut into parts.
static graph *build_long(void) {
  graph *g = graph_create("long");
  const int64_t rows[2] = {48, 96}, first[2] = {96, 128}, second[2] = {128, 640};
  const int input = build_input(g, GRAPH_I8, 2, rows);
  int f, y, q;
  const int x = build_product(g, input, build_constant(g, GRAPH_I8, 2, first), false, true, false);
  graph_set_float(g, build_like(g, GRAPH_OP_DEQUANTIZE, x, GRAPH_F32, &f), "scale", 0.03f);
  build_like(g, GRAPH_OP_SOFTMAX, f, GRAPH_F32, &y);
  graph_set_float(g, build_like(g, GRAPH_OP_QUANTIZE, y, GRAPH_I8, &q), "scale", 1.0f / 127);
  const int z = build_product(g, q, build_constant(g, GRAPH_I8, 2, second), false, true, false);
  graph_set_ends(g, &input, 1, &z, 1);
  return g;
}

// Whether a call has three parts: the third one shows whether the second was made whole again.
static bool has_parts(const network *net) {
  for (int s = 0; s < net->step_count; s++) {
    const network_step *step = &net->steps[s];
    if (step->part_count == 0) continue;
    const struct weft_host_turn *turns = net->buffers[step->calls[0].place[1].buffer].contents;
    int parts = 0;
    for (int64_t t = 0; t < step->calls[0].call.integer[0]; t++)
      parts += turns[t].kind == WEFT_HOST_TURN_CALLS && turns[t].at[turns[t].dim] > 0;
    if (parts >= 2 && step->part_count == 2) return true;
  }
  return false;
}

static void test_cut_calls(void **state) {
  (void)state;
  const hw_array array = array_of("dim4");
  graph *one = build_long(), *all = graph_repeat(one, 2);
  network *net = network_in_slots(all, &array, NETWORK_NEAREST_FIRST);
  assert_true(has_parts(net));
  network_destroy(net);
  graph_destroy(all);
  graph_destroy(one);
}

static void check_alike(graph *one, const char *name, const char *other, run_hart hart) {
  const hw_array array = array_of(name);
  graph *all = graph_repeat(one, 2);
  const outcome apart = run_on(all, &array, "cycle", RUN_HART_TIMED);
  for (network_slot_rule rule = 0; rule < NETWORK_SLOT_RULES; rule++) {
    network *net = network_in_slots(all, &array, rule);
    run_network_result cycle = run_slots(net, "cycle", RUN_HART_TIMED), second = run_slots(net, other, hart);
    assert_int_equal(cycle.digest, apart.digest);
    assert_int_equal(second.digest, apart.digest);
    assert_int_equal(cycle.compared, apart.compared);
    assert_true(cycle.both_cycles > 0);
    if (hart == RUN_HART_TIMED) assert_int_equal(cycle.cycles, second.cycles);
    run_network_release(net, &cycle);
    run_network_release(net, &second);
    network_destroy(net);
  }
  graph_destroy(all);
  graph_destroy(one);
}

static void test_results(void **state) {
  (void)state;
  check_alike(build_attention(), "gemmini-default", "ref", RUN_HART_NATIVE);
  check_alike(build_long(), "dim4", "ref", RUN_HART_NATIVE);
}

// The faster one is taken: less than the steps one by one where there is much to share, and never more.
static void test_choice(void **state) {
  (void)state;
  const hw_array array = array_of("gemmini-default");
  graph *one = build_attention(), *all = graph_repeat(one, 2);
  wf_diag diag = wf_diag_to(stderr);
  void **inputs = build_random_inputs(all);
  const network_options options = {.array = &array, .jobs = 2, .overlap = true};
  network *net = run_overlap_network(all, &options, (const void *const *)inputs, &diag);
  assert_non_null(net);
  run_network_result result = run_slots(net, "cycle", RUN_HART_TIMED);
  const outcome apart = run_on(all, &array, "cycle", RUN_HART_TIMED);
  assert_int_equal(result.digest, apart.digest);
  assert_true(result.cycles <= apart.cycles);
  run_network_release(net, &result);
  network_destroy(net);
  build_free_inputs(all, inputs);
  graph_destroy(all);
  graph_destroy(one);
}

static void test_hardware(void **state) {
  (void)state;
  check_alike(build_attention(), "dim8", "rtl", RUN_HART_TIMED);
  check_alike(build_long(), "dim8", "rtl", RUN_HART_TIMED);
}

int main(int argc, char **argv) {
  const struct CMUnitTest hardware[] = {cmocka_unit_test(test_hardware)};
  if (argc > 1 && strcmp(argv[1], "rtl") == 0) return cmocka_run_group_tests(hardware, NULL, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_order),
                                     cmocka_unit_test(test_results), cmocka_unit_test(test_cut_calls),
                                     cmocka_unit_test(test_choice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
