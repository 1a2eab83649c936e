// SPDX-License-Identifier: Apache-2.0
// The plain model over the tape against the scalar one: equal at whole factors, in all three orders, layer by layer and
// for whole networks; and its gradients against central differences where nothing has a kink.
#include "search/descent/plain.h"

#include <math.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/test.h"
#include "search/descent/moves.h"

static layers_network load(const char *name) {
  layers_network network;
  wf_diag diag = wf_diag_to(stderr);
  char *path = wf_format("%s/%s.yaml", WEFT_LAYERS, name);
  assert_true(layers_load(&network, path, &diag));
  wf_free(path);
  return network;
}

// Layers that the networks do not have: batches, strides of two directions, windows of one direction.
static const layers_layer odd_layers[] = {
    {.name = "batch", .size = {4, 12, 6, 8, 16, 3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .count = 2},
    {.name = "wide", .size = {1, 6, 24, 30, 20, 1, 5}, .stride = {1, 3}, .dilation = {1, 1}, .count = 1},
    {.name = "tall", .size = {2, 16, 9, 4, 3, 6, 4}, .stride = {2, 4}, .dilation = {1, 1}, .count = 3},
};
static const layers_network odd = {
    .name = "odd", .layers = (layers_layer *)odd_layers, .count = sizeof odd_layers / sizeof *odd_layers};

static paper_mapping random_mapping(const layers_layer *layer, uint64_t *seed, paper_order order) {
  paper_mapping m = paper_mapping_start(layer);
  descent_moves_move moves[MOVES_MAX];
  const size_t count = descent_moves_of(layer, moves);
  for (int n = 0; count > 0 && n < 60; n++) {
    const descent_moves_move *move = &moves[wf_random_next(seed) % count];
    if (descent_moves_allowed(&m, move)) descent_moves_apply(&m, move);
  }
  paper_set_order(&m, order);
  assert_true(paper_mapping_legal(layer, &m));
  return m;
}

// Writes a mapping into a lane of a layer's workspace; the order as logits that leave no doubt.
static void set_lane(const descent_plain_layer *l, tape_workspace *w, int lane, const paper_mapping *m,
                     paper_order order) {
  for (size_t n = 0; n < l->slot_count; n++) {
    const descent_moves_place place = l->slots[n].spatial ? MOVE_SPATIAL : MOVE_INSIDE;
    tape_input(w, n)[lane] = log(*descent_moves_factor((paper_mapping *)m, l->slots[n].dim, place));
  }
  for (size_t o = 0; o < PAPER_ORDERS; o++)
    tape_input(w, descent_plain_order_input(l) + o)[lane] = o == order ? 0 : -1e4;
  tape_input(w, descent_plain_temperature_input(l))[lane] = 1;
}

static void assert_near(double x, double y, const char *what) {
  if (!(fabs(x - y) <= 1e-11 * fabs(y))) fail_msg("%s: tape %.17g, scalar %.17g", what, x, y);
}

static void compare_layer(const layers_layer *layer, const paper_mapping *m, const tape_workspace *w, int lane) {
  const paper_traffic t = paper_traffic_of(layer, m);
  const paper_need need = paper_need_of(layer, m);
#define SAME(field, value) assert_near(tape_output(w, PLAIN_##field)[lane], value, #field)
  SAME(rows, t.rows);
  SAME(columns, t.columns);
  SAME(weight_fills0, t.weight_fills0);
  SAME(weight_fills2, t.weight_fills2);
  SAME(input_fills2, t.input_fills2);
  SAME(result_fills1, t.result_fills1);
  SAME(scratchpad_words, need.scratchpad_words);
  SAME(column_words, need.column_words);
#undef SAME
}

static void check_layers(const layers_network *network, int rounds) {
  uint64_t seed = 11;
  for (size_t i = 0; i < network->count; i++) {
    descent_plain_layer l = descent_plain_layer_create(&network->layers[i]);
    tape_workspace *w = tape_workspace_create(l.program);
    for (int n = 0; n < rounds; n++) {
      paper_mapping m[TAPE_LANES];
      for (int lane = 0; lane < TAPE_LANES; lane++) {
        const paper_order order = (paper_order)(wf_random_next(&seed) % PAPER_ORDERS);
        m[lane] = random_mapping(l.layer, &seed, order);
        set_lane(&l, w, lane, &m[lane], order);
      }
      tape_forward(w);
      for (int lane = 0; lane < TAPE_LANES; lane++) compare_layer(l.layer, &m[lane], w, lane);
    }
    tape_workspace_destroy(w);
    descent_plain_layer_release(&l);
  }
}

static void layers_equal_the_scalar_model(void **state) {
  (void)state;
  static const char *const names[] = {"resnet50", "bert", "retinanet", "unet"};
  for (size_t n = 0; n < 4; n++) {
    layers_network network = load(names[n]);
    check_layers(&network, 40);
    layers_release(&network);
  }
  check_layers(&odd, 2000);
}

// ---- networks

static const bool none_fixed[PLAIN_SIZES] = {false}, some_fixed[PLAIN_SIZES] = {true, false, true};
static const double unbounded[PLAIN_SIZES] = {99, 99, 99}, bounded[PLAIN_SIZES] = {2.77, 4.2, 2.8};  // logarithms

static const paper_cost rest = {.cycles = 3e6, .energy_uj = 700};

typedef struct chain {
  const layers_network *network;
  descent_plain_layer *layers;
  tape_workspace **layer_workspaces;
  descent_plain_network top;
  tape_workspace *top_workspace;
} chain;

static void fill(double *lanes, double value) {
  for (int n = 0; n < TAPE_LANES; n++) lanes[n] = value;
}

static chain chain_create(const layers_network *network, const paper_constants *constants,
                          descent_plain_objective objective, const bool fixed[PLAIN_SIZES],
                          const double bounds[PLAIN_SIZES]) {
  chain c = {.network = network};
  c.layers = WF_NEW_ARRAY(network->count, descent_plain_layer);
  c.layer_workspaces = WF_NEW_ARRAY(network->count, tape_workspace *);
  for (size_t i = 0; i < network->count; i++) {
    c.layers[i] = descent_plain_layer_create(&network->layers[i]);
    c.layer_workspaces[i] = tape_workspace_create(c.layers[i].program);
  }
  const descent_goal goal = {.network = network,
                             .rest = objective == PLAIN_EDP ? rest : (paper_cost){0},
                             .constants = constants,
                             .objective = objective,
                             .area_mm2_max = objective == PLAIN_EDP ? 0 : 0.5,
                             .power_mw_max = objective == PLAIN_EDP ? 0 : 20};
  c.top = descent_plain_network_create(&goal, fixed);
  c.top_workspace = tape_workspace_create(c.top.program);
  for (int n = 0; n < PLAIN_SIZES; n++)
    fill(tape_input(c.top_workspace, descent_plain_network_bound(&c.top, (descent_plain_size)n)), bounds[n]);
  return c;
}

static void chain_release(chain *c) {
  for (size_t i = 0; i < c->network->count; i++) {
    tape_workspace_destroy(c->layer_workspaces[i]);
    descent_plain_layer_release(&c->layers[i]);
  }
  wf_free(c->layers);
  wf_free(c->layer_workspaces);
  tape_workspace_destroy(c->top_workspace);
  descent_plain_network_release(&c->top);
}

static void chain_forward(chain *c, double temperature, double penalty) {
  for (size_t i = 0; i < c->network->count; i++) {
    tape_forward(c->layer_workspaces[i]);
    for (size_t o = 0; o < PLAIN_OUTPUTS; o++)
      memcpy(tape_input(c->top_workspace, descent_plain_network_input(i, (descent_plain_output)o)),
             tape_output(c->layer_workspaces[i], o), TAPE_LANES * sizeof(double));
  }
  fill(tape_input(c->top_workspace, descent_plain_network_temperature(&c->top)), temperature);
  fill(tape_input(c->top_workspace, descent_plain_network_penalty(&c->top)), penalty);
  tape_forward(c->top_workspace);
}

static void chain_backward(chain *c) {
  for (size_t o = 0; o < PLAIN_NETWORK_OUTPUTS + 2 * c->network->count; o++) fill(tape_seed(c->top_workspace, o), 0);
  fill(tape_seed(c->top_workspace, PLAIN_LOSS), 1);
  tape_backward(c->top_workspace);
  for (size_t i = 0; i < c->network->count; i++) {
    for (size_t o = 0; o < PLAIN_OUTPUTS; o++)
      memcpy(tape_seed(c->layer_workspaces[i], o),
             tape_gradient(c->top_workspace, descent_plain_network_input(i, (descent_plain_output)o)),
             TAPE_LANES * sizeof(double));
    tape_backward(c->layer_workspaces[i]);
  }
}

// Memories are not rounded up to KiB over the tape.
static paper_hardware exact_hardware(const paper_need *most) {
  return (paper_hardware){.side = fmax(2, most->side),
                          .scratchpad_kib = most->scratchpad_words / 1024,
                          .accumulator_kib = fmax(2, most->side) * most->column_words * 4 / 1024};
}

static void compare_network(const chain *c, paper_mapping *mappings[], const paper_constants *constants, int lane) {
  paper_need most = {0};
  paper_cost total = rest;
  for (size_t i = 0; i < c->network->count; i++) {
    const paper_need need = paper_need_of(&c->network->layers[i], &mappings[i][lane]);
    most.side = fmax(most.side, need.side);
    most.scratchpad_words = fmax(most.scratchpad_words, need.scratchpad_words);
    most.column_words = fmax(most.column_words, need.column_words);
  }
  const paper_hardware hardware = exact_hardware(&most);
  for (size_t i = 0; i < c->network->count; i++) {
    const layers_layer *layer = &c->network->layers[i];
    const paper_cost cost = paper_evaluate(layer, &mappings[i][lane], &hardware, constants);
    assert_near(tape_output(c->top_workspace, descent_plain_layer_cycles(i))[lane], cost.cycles, "cycles of a layer");
    assert_near(tape_output(c->top_workspace, descent_plain_layer_energy(i))[lane], cost.energy_uj,
                "energy of a layer");
    total.cycles += cost.cycles * (double)layer->count;
    total.energy_uj += cost.energy_uj * (double)layer->count;
  }
  assert_near(tape_output(c->top_workspace, PLAIN_LOSS)[lane], log(paper_edp(total)), "loss");
  assert_near(tape_output(c->top_workspace, PLAIN_SIDE)[lane], hardware.side, "side");
  assert_near(tape_output(c->top_workspace, PLAIN_SCRATCHPAD_KIB)[lane], hardware.scratchpad_kib, "scratchpad");
  assert_near(tape_output(c->top_workspace, PLAIN_ACCUMULATOR_KIB)[lane], hardware.accumulator_kib, "accumulator");
  const descent_plain_silicon silicon = PLAIN_SILICON_DEFAULTS;
  assert_near(tape_output(c->top_workspace, PLAIN_AREA_MM2)[lane], descent_plain_area_mm2(&silicon, &hardware), "area");
}

static void networks_equal_the_scalar_model(void **state) {
  (void)state;
  paper_constants constants;
  assert_true(paper_constants_named(&constants, "dosa"));
  layers_network resnet = load("resnet50");
  const layers_network *networks[] = {&resnet, &odd};
  uint64_t seed = 12;
  for (size_t n = 0; n < 2; n++) {
    chain c = chain_create(networks[n], &constants, PLAIN_EDP, none_fixed, unbounded);
    paper_mapping **mappings = WF_NEW_ARRAY(networks[n]->count, paper_mapping *);
    for (size_t i = 0; i < networks[n]->count; i++) mappings[i] = WF_NEW_ARRAY(TAPE_LANES, paper_mapping);
    for (int round = 0; round < 20; round++) {
      for (size_t i = 0; i < networks[n]->count; i++)
        for (int lane = 0; lane < TAPE_LANES; lane++) {
          const paper_order order = (paper_order)(wf_random_next(&seed) % PAPER_ORDERS);
          mappings[i][lane] = random_mapping(&networks[n]->layers[i], &seed, order);
          set_lane(&c.layers[i], c.layer_workspaces[i], lane, &mappings[i][lane], order);
        }
      chain_forward(&c, 1e-14, 1);
      for (int lane = 0; lane < TAPE_LANES; lane++) compare_network(&c, mappings, &constants, lane);
    }
    for (size_t i = 0; i < networks[n]->count; i++) wf_free(mappings[i]);
    wf_free(mappings);
    chain_release(&c);
  }
  layers_release(&resnet);
}

// ---- gradients

// A random point of a layer's program: factors anywhere, what is left for main memory not below 1.
static void random_point(const descent_plain_layer *l, tape_workspace *w, uint64_t *seed) {
  double room[BLOCK_DIMS];
  for (int d = 0; d < BLOCK_DIMS; d++) room[d] = log((double)l->layer->size[d]);
  for (size_t n = 0; n < l->slot_count; n++) {
    const double x = room[l->slots[n].dim] * wf_random_unit(seed);
    room[l->slots[n].dim] -= x;
    fill(tape_input(w, n), x);
  }
  for (size_t o = 0; o < PAPER_ORDERS; o++) fill(tape_input(w, descent_plain_order_input(l) + o), wf_random_unit(seed));
  fill(tape_input(w, descent_plain_temperature_input(l)), 0.5);
}

static const double temperature = 0.2, penalty = 3;

// The slope along one input of one layer from lanes that are moved a little; false at a kink.
static bool difference(chain *c, size_t layer, size_t input, double *slope) {
  static const double step[5] = {2e-6, -2e-6, 6e-6, -6e-6, 0};
  double *lanes = tape_input(c->layer_workspaces[layer], input);
  const double x = lanes[0];
  for (int n = 0; n < 4; n++) lanes[n] = x + step[n];
  chain_forward(c, temperature, penalty);
  fill(lanes, x);
  const double *loss = tape_output(c->top_workspace, PLAIN_LOSS);
  const double near = (loss[0] - loss[1]) / 4e-6, wide = (loss[2] - loss[3]) / 12e-6;
  const double right = (loss[0] - loss[4]) / 2e-6, left = (loss[4] - loss[1]) / 2e-6;
  *slope = near;
  const double scale = 1e-5 + 1e-4 * fabs(near);
  return fabs(right - left) < 10 * scale && fabs(near - wide) < scale;
}

static void check_gradients(const layers_network *network, descent_plain_objective objective, const bool *fixed,
                            const double *bounds, int points, unsigned *checked, unsigned *kinks) {
  paper_constants constants;
  assert_true(paper_constants_named(&constants, "dosa"));
  chain c = chain_create(network, &constants, objective, fixed, bounds);
  uint64_t seed = 13;
  for (int p = 0; p < points; p++) {
    for (size_t i = 0; i < network->count; i++) random_point(&c.layers[i], c.layer_workspaces[i], &seed);
    chain_forward(&c, temperature, penalty);
    chain_backward(&c);
    const size_t layer = (size_t)p % network->count, inputs = c.layers[layer].slot_count + PAPER_ORDERS;
    double gradient[PLAIN_SLOTS + PAPER_ORDERS];
    for (size_t n = 0; n < inputs; n++) gradient[n] = tape_gradient(c.layer_workspaces[layer], n)[7];
    for (size_t n = 0; n < inputs; n++) {
      double slope;
      if (!difference(&c, layer, n, &slope)) {
        ++*kinks;
        continue;
      }
      ++*checked;
      if (fabs(gradient[n] - slope) > 1e-4 * fabs(slope) + 2e-8)
        fail_msg("%s input %zu: gradient %.10g, difference %.10g", network->layers[layer].name, n, gradient[n], slope);
    }
  }
  chain_release(&c);
}

static void gradients_are_differences(void **state) {
  (void)state;
  layers_network resnet = load("resnet50");
  unsigned checked = 0, kinks = 0;
  check_gradients(&resnet, PLAIN_EDP, none_fixed, unbounded, 500, &checked, &kinks);
  check_gradients(&odd, PLAIN_AREA_DELAY, none_fixed, unbounded, 100, &checked, &kinks);
  check_gradients(&odd, PLAIN_LATENCY, some_fixed, bounded, 500, &checked, &kinks);
  print_message("%u derivatives checked, %u points with kinks left out\n", checked, kinks);
  assert_true(checked > 6000 && kinks < checked / 5);
  layers_release(&resnet);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_equal_the_scalar_model),
      cmocka_unit_test(networks_equal_the_scalar_model),
      cmocka_unit_test(gradients_are_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
