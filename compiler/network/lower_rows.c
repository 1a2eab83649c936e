// SPDX-License-Identifier: Apache-2.0
// Rows of int8: QSoftmax and QLayerNorm on the hart, QNormMesh on the array with factors of the hart, QSoftmaxUnit,
// QNormUnit and QGeluUnit in the normaliser.
#include <math.h>

#include "compiler/network/mesh_norm.h"
#include "compiler/network/private.h"

// A call over the result with x behind operand 1; the last dimension is inner.
static network_call *over_rows(network_lowering *l, enum weft_host_op op) {
  network_lower_view x, y;
  if (!network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return NULL;
  network_call *call = network_lower_call(l, network_lower_host(l), op);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &x);
  call->call.outer = (uint32_t)(y.rank - 1);
  return call;
}

// An input that broadcasts to the result.
static bool add_input(network_lowering *l, network_call *call, int input, int operand) {
  network_lower_view y, v;
  if (!network_lower_view_of(l, l->node->outputs[0], &y) || !network_lower_view_of(l, l->node->inputs[input], &v))
    return false;
  v = network_lower_broadcast(&v, y.rank, y.dim);
  network_lower_set(call, operand, &v);
  return true;
}

static void add_scalar(network_call *call, network_lower_view view, int operand) {
  view.rank = 0;
  network_lower_set(call, operand, &view);
}

// Rows of a mask are those of the last dimensions but one of the result; along the others they repeat.
static bool add_mask(network_lowering *l, network_call *call) {
  network_lower_view y, mask;
  if (!network_lower_view_of(l, l->node->outputs[0], &y) || !network_lower_view_of(l, l->node->inputs[2], &mask))
    return false;
  const int64_t rows = mask.dim[0], width = mask.dim[1];
  int64_t covered = 1;
  network_lower_view wide = y;
  wide.place = mask.place;
  for (int d = y.rank - 1; d >= 0; d--) {
    const bool inner = d == y.rank - 1;
    wide.step[d] = inner ? 1 : covered < rows ? covered * width : 0;
    if (!inner && covered < rows) covered *= y.dim[d];
  }
  if (covered != rows) return network_lower_refuse(l, "a mask of %lld rows", (long long)rows);
  network_lower_set(call, 3, &wide);
  return true;
}

// Rows of a mask that is as high as the tensor, as calls of their own: those without excluded columns take less time.
enum { RUN_MIN = 16, RUNS_MAX = 64 };

static bool is_open(const int8_t *row, int64_t width) {
  for (int64_t i = 0; i < width; i++)
    if (row[i] == 0) return false;
  return true;
}

// The end of the run of rows from `row` on that are alike; few open rows do not end a run of others.
static int64_t run_end(const graph_tensor *mask, int64_t row, bool *open) {
  const int64_t rows = mask->dim[0], width = mask->dim[1];
  const int8_t *bytes = mask->data;
  int64_t end = row, opened = 0;
  for (; end < rows && is_open(bytes + end * width, width);) end++;
  *open = end - row >= RUN_MIN || end == rows;
  if (*open) return end;
  for (; end < rows && opened < RUN_MIN; end++) opened = is_open(bytes + end * width, width) ? opened + 1 : 0;
  return opened < RUN_MIN ? end : end - opened;
}

static int count_runs(const graph_tensor *mask, int *open_runs) {
  int runs = 0;
  bool open;
  *open_runs = 0;
  for (int64_t r = 0; r < mask->dim[0] && runs <= RUNS_MAX; runs++) {
    r = run_end(mask, r, &open);
    *open_runs += open;
  }
  return runs;
}

static network_lower_view rows_at(network_place place, int64_t row, const int64_t dim[2]) {
  place.offset += (uint64_t)(row * dim[1]);
  return network_lower_view_at(place, WEFT_I8, 2, dim);
}

static bool softmax_in_runs(network_lowering *l, const network_lower_view *table) {
  const graph_tensor *x = network_lower_input(l, 0), *mask = network_lower_input(l, 2);
  int open_runs;
  if (mask->data == NULL || graph_elements(mask) != graph_elements(x)) return false;
  if (count_runs(mask, &open_runs) > RUNS_MAX || open_runs == 0) return false;
  network_step *step = network_lower_host(l);
  const network_place to = network_lower_result(l, 0);
  for (int64_t r = 0, end; r < mask->dim[0]; r = end) {
    bool open;
    end = run_end(mask, r, &open);
    const int64_t dim[2] = {end - r, mask->dim[1]};
    network_call *call = network_lower_call(l, step, WEFT_HOST_QSOFTMAX);
    const network_lower_view y = rows_at(to, r, dim), from = rows_at(network_lower_place_of(l, 0), r, dim),
                             hidden = rows_at(network_lower_place_of(l, 2), r, dim);
    network_lower_set(call, 0, &y);
    network_lower_set(call, 1, &from);
    if (!open) network_lower_set(call, 3, &hidden);
    add_scalar(call, *table, 2);
    call->call.outer = 1;
    call->call.number[0] = graph_float(l->node, "scale", 1);
    call->call.integer[0] = !open;
  }
  return true;
}

bool network_lower_qsoftmax(network_lowering *l) {
  network_lower_view table;
  if (!network_lower_view_of(l, l->node->inputs[1], &table)) return false;
  if (network_lower_has(l->node, 2) && softmax_in_runs(l, &table)) return true;
  network_call *call = over_rows(l, WEFT_HOST_QSOFTMAX);
  if (call == NULL) return false;
  add_scalar(call, table, 2);
  call->call.number[0] = graph_float(l->node, "scale", 1);
  call->call.integer[0] = network_lower_has(l->node, 2);
  if (network_lower_has(l->node, 2) && !add_mask(l, call)) return false;
  network_lower_squeeze(call);
  return true;
}

// ---- one number per row

bool network_lower_qheadroom(network_lowering *l) {
  network_lower_view x, y;
  if (!network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_QHEADROOM);
  y = network_lower_broadcast(&y, x.rank, x.dim);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &x);
  call->call.outer = (uint32_t)(x.rank - 1);
  network_lower_squeeze(call);
  return true;
}

bool network_lower_qshare(network_lowering *l) {
  network_lower_view x, y, sums;
  const graph_node *maker = l->maker[l->node->inputs[0]];
  if (maker != NULL && network_lower_is_held(l, maker)) return network_lower_held(l, maker);
  if (!network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->inputs[1], &sums) ||
      !network_lower_strided_result(l, &y))
    return false;
  sums = network_lower_broadcast(&sums, y.rank, y.dim);
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_QSHARE);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &x);
  network_lower_set(call, 2, &sums);
  call->call.outer = (uint32_t)(y.rank - 1);
  call->call.number[0] = graph_float(l->node, "scale", 1);
  network_lower_squeeze(call);
  network_lower_complete(l);
  return true;
}

// ---- norms whose sums the array has: products of blocks of rows by themselves and of all rows by ones

typedef struct norm {
  int64_t rows, cols, block;
  network_place x, sums;  // sums: of rows, then of their squares
} norm;

// What a norm's sums are worth on the array: the hart takes 4 cycles per element for them, a kernel hundreds to start.
enum { SUMS_WORTH = 1 << 13 };

// Numbers that keep their bits when they are scaled, and whose products do.
static bool is_moderate(const graph_tensor *t) {
  const float *values = t->data;
  for (int64_t i = 0, n = values == NULL ? 0 : graph_elements(t); i < n; i++)
    if (!(values[i] == 0 || (fabsf(values[i]) > 0x1p-60f && fabsf(values[i]) < 0x1p60f))) return false;
  return values != NULL;
}

static bool has_sums(const network_lowering *l) {
  const graph_tensor *x = network_lower_input(l, 0);
  for (int i = 1; i < 3; i++)
    if (network_lower_has(l->node, i) && !is_moderate(network_lower_input(l, i))) return false;
  return l->array->accumulator.full_reads && graph_elements(x) >= SUMS_WORTH;
}

// An array step whose products are not the network's.
static void help(network_lowering *l, const layer_desc *layer, const network_lower_operands *operands) {
  network_lower_layer(l, layer, operands);
  l->net->steps[l->net->step_count - 1].macs = 0;
}

// Of `blocks` blocks of `side` rows each, from row `first` on, their products with themselves; squares are on their
// diagonals, each in a line of the cache for which the hart would wait, so the array copies them.
static void square_blocks(network_lowering *l, const norm *n, int64_t first, int64_t blocks, int64_t side) {
  if (blocks == 0 || side == 0) return;
  const int64_t dim[3] = {blocks, side, sizeof(int32_t)};
  const layer_desc layer = {
      .map = {.kind = MAP_BATCHED, .size = {blocks, side, 1, side, n->cols, 1, 1}, .groups = 1, .result_bytes = 4},
      .scale = 1,
      .transposed = true};
  network_place x = n->x, squares = n->sums;
  x.offset += (uint64_t)(first * n->cols);
  squares.offset += (uint64_t)(n->rows + first) * sizeof(int32_t);
  const bool one = side == 1;
  const network_place products =
      one ? squares : network_lower_scratch(l, (uint64_t)(blocks * side * side) * sizeof(int32_t));
  help(l, &layer, &(network_lower_operands){.inputs = x, .weights = x, .results = products});
  if (one) return;
  const network_lower_view to = network_lower_view_at(squares, WEFT_I8, 3, dim);
  network_lower_view from = to;
  from.place = products;
  from.step[0] = side * side * (int64_t)sizeof(int32_t);
  from.step[1] = (side + 1) * (int64_t)sizeof(int32_t);
  network_lower_copy(l, &to, &from);
}

static void sum_rows(network_lowering *l, const norm *n) {
  const layer_desc layer = {
      .map = {.kind = MAP_GEMM, .size = {1, n->rows, 1, 1, n->cols, 1, 1}, .groups = 1, .result_bytes = 4}, .scale = 1};
  int8_t *ones = network_lower_alloc(l, (uint64_t)n->cols);
  for (int64_t i = 0; i < n->cols; i++) ones[i] = 1;
  const network_place weights = network_lower_constant(l, "ones", ones, (uint64_t)n->cols);
  help(l, &layer, &(network_lower_operands){.inputs = n->x, .weights = weights, .results = n->sums});
}

static norm sums_of(network_lowering *l) {
  const graph_tensor *x = network_lower_input(l, 0);
  norm n = {.cols = x->dim[x->rank - 1], .block = hw_derive(l->array).dim, .x = network_lower_place_of(l, 0)};
  n.rows = graph_elements(x) / n.cols;
  const int64_t whole = n.rows / n.block, rest = n.rows % n.block;
  n.sums = network_lower_scratch(l, 2 * (uint64_t)n.rows * sizeof(int32_t));
  if (graph_int(l->node, "center", 1) != 0) sum_rows(l, &n);
  square_blocks(l, &n, 0, whole, n.block);
  square_blocks(l, &n, whole * n.block, 1, rest);
  return n;
}

// Factors y, then offsets z, as the hart takes them: 2^24 y and 2^24 (z + 1/2).
static network_place factors_of(network_lowering *l, int64_t cols) {
  const float *gamma = network_lower_input(l, 1)->data;
  const float *beta = network_lower_has(l->node, 2) ? network_lower_input(l, 2)->data : NULL;
  float *both = network_lower_alloc(l, 2 * (uint64_t)cols * sizeof *both);
  for (int64_t i = 0; i < cols; i++) {
    both[i] = 0x1p24f * gamma[i];
    both[cols + i] = 0x1p24f * ((beta == NULL ? 0 : beta[i]) + 0.5f);
  }
  return network_lower_constant(l, network_lower_input(l, 1)->name, both, 2 * (uint64_t)cols * sizeof *both);
}

static void norm_by_sums(network_lowering *l) {
  const norm n = sums_of(l);
  const int64_t rows[2] = {n.rows, n.cols}, one = 1;
  const network_lower_view y = network_lower_view_at(network_lower_result(l, 0), WEFT_I8, 2, rows);
  const network_lower_view x = network_lower_view_at(n.x, WEFT_I8, 2, rows);
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_QNORMALIZE_SUMS);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &x);
  call->call.outer = 1;
  add_scalar(call, network_lower_view_at(factors_of(l, n.cols), WEFT_F32, 1, &one), 2);
  add_scalar(call, network_lower_view_at(n.sums, WEFT_I32, 1, &one), 3);
  call->call.number[0] = graph_float(l->node, "epsilon", 0);
  call->call.integer[0] = graph_int(l->node, "center", 1);
}

static bool norm_by_hart(network_lowering *l) {
  network_call *call = over_rows(l, WEFT_HOST_QNORMALIZE);
  if (call == NULL || !add_input(l, call, 1, 2)) return false;
  if (network_lower_has(l->node, 2)) {
    if (!add_input(l, call, 2, 3)) return false;
  } else {  // zeros
    const int64_t width = call->call.dim[call->call.outer];
    float *none = network_lower_alloc(l, (uint64_t)width * sizeof *none);
    const network_lower_view zeros = network_lower_view_at(
        network_lower_constant(l, "zeros", none, (uint64_t)width * sizeof *none), WEFT_F32, 1, &width);
    const network_lower_view wide = network_lower_broadcast(&zeros, (int)call->call.rank, call->call.dim);
    network_lower_set(call, 3, &wide);
  }
  call->call.number[0] = graph_float(l->node, "epsilon", 0);
  call->call.integer[0] = graph_int(l->node, "center", 1);
  network_lower_squeeze(call);
  return true;
}

bool network_lower_qlayer_norm(network_lowering *l) {
  if (!has_sums(l)) return norm_by_hart(l);
  norm_by_sums(l);
  return true;
}

// ---- norms on the mesh: sums by the array, factors by the hart, rows by the array

static network_place mesh_factors(network_lowering *l, const norm *n, int64_t copies) {
  const int64_t bytes[3] = {n->rows, copies + 1, n->block}, one = 1;
  const network_place factors = network_lower_scratch(l, (uint64_t)(n->rows * (copies + 1) * n->block));
  const network_lower_view to = network_lower_view_at(factors, WEFT_I8, 3, bytes);
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_QNORM_FACTORS);
  network_lower_set(call, 0, &to);
  call->call.outer = 1;
  add_scalar(call, network_lower_view_at(n->sums, WEFT_I32, 1, &one), 1);
  call->call.number[0] = graph_float(l->node, "epsilon", 0);
  call->call.number[1] = graph_float(l->node, "gain", 1);
  call->call.integer[0] = n->cols;
  call->call.integer[1] = graph_int(l->node, "center", 1);
  return factors;
}

static void mesh_norm_by_hart(network_lowering *l) {
  const graph_tensor *x = network_lower_input(l, 0);
  const int64_t cols = x->dim[x->rank - 1], rows[2] = {graph_elements(x) / cols, cols}, one = 1;
  float *scale = network_lower_alloc(l, sizeof *scale);
  *scale = graph_float(l->node, "scale", 1);
  const network_lower_view y = network_lower_view_at(network_lower_result(l, 0), WEFT_I8, 2, rows),
                           from = network_lower_view_at(network_lower_place_of(l, 0), WEFT_I8, 2, rows);
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_QNORM_MESH);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &from);
  call->call.outer = 1;
  const network_place place = network_lower_constant(l, l->node->name, scale, sizeof *scale);
  add_scalar(call, network_lower_view_at(place, WEFT_F32, 1, &one), 2);
  call->call.number[0] = graph_float(l->node, "epsilon", 0);
  call->call.number[1] = graph_float(l->node, "gain", 1);
  call->call.integer[0] = graph_int(l->node, "center", 1);
  call->call.integer[1] = graph_int(l->node, "most", 0);
}

bool network_lower_qnorm_mesh(network_lowering *l) {
  const int copies = (int)(graph_int(l->node, "most", 0) / INT8_MAX);
  if (graph_elements(network_lower_input(l, 0)) == 0 || !l->array->accumulator.full_reads ||
      !network_mesh_norm_fits(copies, l->array)) {
    mesh_norm_by_hart(l);
    return true;
  }
  const norm n = sums_of(l);
  const network_place factors = mesh_factors(l, &n, copies);
  const network_unit unit = {.what = {.op = l->node->op, .gain = {copies}, .scale = graph_float(l->node, "scale", 1)},
                             .rows = n.rows,
                             .cols = n.cols};
  network_step *step = network_lower_unit(l, &unit, n.x, network_lower_result(l, 0));
  network_lower_bind(step, NETWORK_MESH_NORM_FACTORS, factors);
  return true;
}

// ---- the normaliser

// Elements without rows lie best in the widest rows that a command can take: then groups of them are one run of bytes.
static void make_runs(const network_lowering *l, network_unit *unit) {
  const int64_t elements = unit->rows * unit->cols, widest = hw_derive(l->array).max_cols;
  if (unit->what.op != GRAPH_OP_QGELU_UNIT || elements % widest != 0) return;
  unit->rows = elements / widest;
  unit->cols = widest;
}

bool network_lower_unit_rows(network_lowering *l) {
  const graph_tensor *x = network_lower_input(l, 0);
  const int64_t cols = x->dim[x->rank - 1], most = network_unit_columns(l->array);
  network_unit unit = {.what = graph_unit_of(l->node, network_lower_has(l->node, 1) ? network_lower_input(l, 1) : NULL),
                       .rows = graph_elements(x) / cols,
                       .cols = cols};
  if (most == 0) return network_lower_refuse(l, "array %s has no normaliser that can do it", l->array->name);
  if (l->node->op != GRAPH_OP_QGELU_UNIT && cols > most)
    return network_lower_refuse(l, "rows of %lld columns, and its accumulator holds %lld", (long long)cols,
                                (long long)most);
  make_runs(l, &unit);
  network_lower_unit(l, &unit, network_lower_place_of(l, 0), network_lower_result(l, 0));
  return true;
}
