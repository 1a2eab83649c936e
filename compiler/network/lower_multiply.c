// SPDX-License-Identifier: Apache-2.0
// QMul. One number per channel of an image, or per row of weights, is the array's. Numbers that are never below 0 are
// spread to diagonals on the mesh (gate.h). Others stand on the diagonals of blocks in memory, as the weights of a
// depthwise convolution of 1 x 1, and are put there in the run; those of rows are blocks of the diagonal times as many
// rows of the weights. Two tensors of one shape are the array's where it has the gate. Other products are the hart's.
#include "compiler/network/gate.h"
#include "compiler/network/multiply.h"
#include "compiler/network/private.h"

// ---- numbers that are never below 0

static bool is_table_positive(const graph_tensor *table) {
  if (table->type != GRAPH_I8 || table->data == NULL) return false;
  for (int64_t i = 0; i < graph_elements(table); i++)
    if (((const int8_t *)table->data)[i] < 0) return false;
  return true;
}

static bool is_curve_positive(const graph_node *node) {
  graph_curve curve;
  if (!graph_curve_of(node, &curve)) return false;
  for (int q = INT8_MIN; q <= INT8_MAX; q++)
    if (graph_curve_value(&curve, (int8_t)q) < 0) return false;
  return true;
}

static bool is_positive(const network_lowering *l, int tensor) {
  const graph_node *node = l->maker[tensor];
  while (node != NULL && node->op == GRAPH_OP_RESHAPE) node = l->maker[node->inputs[0]];
  if (node == NULL) return false;
  if (node->op == GRAPH_OP_QLUT) return is_table_positive(network_lower_tensor(l, node->inputs[1]));
  if (node->op == GRAPH_OP_QCURVE) return is_curve_positive(node);
  return (node->op == GRAPH_OP_QCONV || node->op == GRAPH_OP_QMAT_MUL) && graph_int(node, "relu", 0) != 0;
}

static bool has_gates(const network_lowering *l) {
  return network_gate_fits(l->array) && is_positive(l, l->node->inputs[1]);
}

// Numbers of rows or columns, as `which` says.
static void multiply_gates(network_lowering *l, int which, int64_t rows, int64_t cols,
                           const network_lower_operands *at) {
  const network_unit unit = {
      .what = {.op = GRAPH_OP_QMUL, .gain = {1, which}, .scale = graph_float(l->node, "scale", 1)},
      .rows = rows,
      .cols = cols};
  network_lower_bind(network_lower_unit(l, &unit, at->inputs, at->results), NETWORK_GATE_NUMBERS, at->weights);
}

// ---- images

static bool is_gate(const graph_tensor *x, const graph_tensor *gate) {
  return x->rank == 4 && gate->rank == 4 && gate->dim[0] == x->dim[0] && gate->dim[1] == 1 && gate->dim[2] == 1 &&
         gate->dim[3] == x->dim[3] && x->dim[1] * x->dim[2] > 1 && graph_elements(x) > 0;
}

// `count` bytes go to the diagonals of blocks, from block `first` on.
static void to_diagonal(network_lowering *l, network_place blocks, network_place gate, int64_t dim, int64_t first,
                        int64_t count) {
  const int64_t whole = count >= dim ? count / dim : 1, each = count >= dim ? dim : count;
  const int64_t shape[2] = {whole, each};
  network_lower_view to = network_lower_view_at(blocks, WEFT_I8, 2, shape),
                     from = network_lower_view_at(gate, WEFT_I8, 2, shape);
  if (count == 0) return;
  to.place.offset += (uint64_t)(first * dim * dim);
  from.place.offset += (uint64_t)(first * dim);
  to.step[0] = dim * dim, to.step[1] = dim + 1;
  network_lower_copy(l, &to, &from);
}

static network_place diagonal_of(network_lowering *l, network_place gate, int64_t channels) {
  const int64_t dim = hw_derive(l->array).dim, blocks = (channels + dim - 1) / dim, bytes = blocks * dim * dim;
  const network_place place = network_lower_scratch(l, (uint64_t)bytes);
  const network_lower_view all = network_lower_view_at(place, WEFT_I8, 1, &bytes);
  const int8_t zero = 0;
  network_lower_fill(l, &all, &zero);
  to_diagonal(l, place, gate, dim, 0, channels / dim * dim);
  to_diagonal(l, place, gate, dim, channels / dim, channels % dim);
  return place;
}

static void multiply_image(network_lowering *l, network_place x, network_place gate, network_place y) {
  const int64_t *dim = network_lower_input(l, 0)->dim;
  if (has_gates(l)) {
    multiply_gates(l, NETWORK_GATE_COLUMNS, dim[1] * dim[2], dim[3],
                   &(network_lower_operands){.inputs = x, .weights = gate, .results = y});
    return;
  }
  const network_place weights = diagonal_of(l, gate, dim[3]);
  const layer_desc layer = {
      .map = {.kind = MAP_DEPTHWISE, .size = {1, dim[1], dim[2], dim[3], 1, 1, 1}, .groups = 1, .result_bytes = 1},
      .image = {dim[1], dim[2]},
      .scale = (double)graph_float(l->node, "scale", 1)};
  network_lower_layer(l, &layer, &(network_lower_operands){.inputs = x, .weights = weights, .results = y})->macs = 0;
}

// ---- rows of weights

static bool is_row_gate(const graph_tensor *x, const graph_tensor *gate) {
  return x->rank == 2 && gate->rank == 2 && x->data != NULL && gate->dim[0] == x->dim[0] && gate->dim[1] == 1 &&
         x->dim[0] > 1 && x->dim[1] > 1;
}

// `count` blocks of `each` rows, from block `first` on.
static void multiply_blocks(network_lowering *l, const network_lower_operands *all, int64_t first, int64_t count,
                            int64_t each) {
  const int64_t dim = hw_derive(l->array).dim, columns = network_lower_input(l, 0)->dim[1];
  const uint64_t rows = (uint64_t)(first * dim * columns);
  layer_desc layer = {.map = {.kind = MAP_BATCHED, .size = {count, each, 1, columns, each, 1, 1}, .result_bytes = 1},
                      .scale = (double)graph_float(l->node, "scale", 1)};
  network_lower_operands at = *all;
  if (each < dim) layer.inputs = (layer_lie){.pitch = dim, .step = dim * dim};
  at.inputs.offset += (uint64_t)(first * dim * dim);
  at.weights.offset += rows, at.results.offset += rows;
  if (count > 0 && each > 0) network_lower_layer(l, &layer, &at)->macs = 0;
}

static void multiply_rows(network_lowering *l) {
  const int64_t dim = hw_derive(l->array).dim, rows = network_lower_input(l, 0)->dim[0];
  const network_place factors = network_lower_place_of(l, 1);
  if (has_gates(l)) {
    multiply_gates(
        l, NETWORK_GATE_ROWS, rows, network_lower_input(l, 0)->dim[1],
        &(network_lower_operands){
            .inputs = network_lower_place_of(l, 0), .weights = factors, .results = network_lower_result(l, 0)});
    return;
  }
  const network_lower_operands all = {.weights = network_lower_place_of(l, 0),
                                      .results = network_lower_result(l, 0),
                                      .inputs = diagonal_of(l, factors, rows)};
  multiply_blocks(l, &all, 0, rows / dim, dim);
  multiply_blocks(l, &all, rows / dim, 1, rows % dim);
}

// ---- element by element

static bool is_elements(const network_lowering *l) {
  const graph_tensor *x = network_lower_input(l, 0), *by = network_lower_input(l, 1);
  return network_multiply_fits(l->array) && graph_same_shape(x, by) && graph_elements(x) > 0;
}

static void multiply_elements(network_lowering *l) {
  const network_unit unit = {
      .what = {.op = GRAPH_OP_QMUL, .gain = {1, NETWORK_GATE_ELEMENTS}, .scale = graph_float(l->node, "scale", 1)},
      .rows = 1,
      .cols = graph_elements(network_lower_input(l, 0))};
  const network_place x = network_lower_place_of(l, 0), by = network_lower_place_of(l, 1);
  network_lower_bind(network_lower_unit(l, &unit, x, network_lower_result(l, 0)), NETWORK_MULTIPLY_FACTORS, by);
}

static bool multiply_by_hart(network_lowering *l) {
  network_lower_view y, v;
  if (!network_lower_view_of(l, l->node->outputs[0], &y)) return false;
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_QMUL);
  network_lower_set(call, 0, &y);
  for (int i = 0; i < 2; i++) {
    if (!network_lower_view_of(l, l->node->inputs[i], &v)) return false;
    v = network_lower_broadcast(&v, y.rank, y.dim);
    network_lower_set(call, 1 + i, &v);
  }
  call->call.number[0] = graph_float(l->node, "scale", 1);
  network_lower_squeeze(call);
  return true;
}

bool network_lower_multiply(network_lowering *l) {
  const graph_tensor *x = network_lower_input(l, 0), *gate = network_lower_input(l, 1);
  if (is_row_gate(x, gate)) {
    multiply_rows(l);
    return true;
  }
  if (is_elements(l)) {
    multiply_elements(l);
    return true;
  }
  if (!is_gate(x, gate)) return multiply_by_hart(l);
  network_place from = network_lower_place_of(l, 0), factors = network_lower_place_of(l, 1),
                to = network_lower_result(l, 0);
  const uint64_t image = (uint64_t)(x->dim[1] * x->dim[2] * x->dim[3]);
  for (int64_t n = 0; n < x->dim[0]; n++) {
    multiply_image(l, from, factors, to);
    from.offset += image, to.offset += image;
    factors.offset += (uint64_t)x->dim[3];
  }
  return true;
}
