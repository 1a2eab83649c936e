// SPDX-License-Identifier: Apache-2.0
// Products, convolutions and pooling that stay in float: sums of products (or the largest) on the hart, loops over all
// operands, and the bias behind them.
#include <math.h>
#include <string.h>

#include "compiler/network/private.h"

static bool are_floats(network_lowering *l) {
  for (int i = 0; i < l->node->input_count; i++)
    if (network_lower_has(l->node, i) && network_lower_input(l, i)->type != GRAPH_F32)
      return network_lower_refuse(l, "numbers that are no f32");
  return true;
}

// y = a * y, or y + x: over the whole result.
static void change(network_lowering *l, network_step *step, enum weft_host_op op, const network_lower_view *y,
                   const network_lower_view *x) {
  network_call *call = network_lower_call(l, step, op);
  network_lower_set(call, 0, y);
  network_lower_set(call, 1, y);
  network_lower_set(call, 2, x);
  network_lower_squeeze(call);
}

static void times(network_lowering *l, network_step *step, const network_lower_view *y, float factor) {
  if (factor >= 1 && factor <= 1) return;
  float *number = network_lower_alloc(l, sizeof *number);
  *number = factor;
  const network_lower_view one =
      network_lower_view_at(network_lower_constant(l, "factor", number, sizeof *number), WEFT_F32, 0, NULL);
  const network_lower_view all = network_lower_broadcast(&one, y->rank, y->dim);
  change(l, step, WEFT_HOST_MUL, y, &all);
}

// ---- products: dimensions of the result, and the depth inside

static void turn(network_lower_view *v) {
  const int a = v->rank - 2, b = v->rank - 1;
  const int64_t dim = v->dim[a], step = v->step[a];
  v->dim[a] = v->dim[b], v->step[a] = v->step[b];
  v->dim[b] = dim, v->step[b] = step;
}

static bool product(network_lowering *l, network_step *step, bool turn_a, bool turn_b) {
  network_lower_view a, b, y;
  if (!network_lower_view_of(l, l->node->inputs[0], &a) || !network_lower_view_of(l, l->node->inputs[1], &b) ||
      !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  if (a.rank < 2 || b.rank < 2 || y.rank >= WEFT_HOST_RANK)
    return network_lower_refuse(l, "operands that are no matrices");
  if (turn_a) turn(&a);
  if (turn_b) turn(&b);
  const int rank = y.rank;
  const int64_t depth = a.dim[a.rank - 1], a_depth = a.step[a.rank - 1], b_depth = b.step[b.rank - 2];
  int64_t wide_a[WEFT_HOST_RANK], wide_b[WEFT_HOST_RANK];
  for (int d = 0; d < rank; d++) wide_a[d] = wide_b[d] = y.dim[d];
  wide_a[rank - 1] = depth, wide_b[rank - 2] = depth;
  a = network_lower_broadcast(&a, rank, wide_a);
  b = network_lower_broadcast(&b, rank, wide_b);
  a.step[rank - 1] = 0, b.step[rank - 2] = 0;
  a.step[rank] = a_depth, b.step[rank] = b_depth, y.step[rank] = 0;
  a.dim[rank] = b.dim[rank] = y.dim[rank] = depth;
  a.rank = b.rank = y.rank = rank + 1;
  network_call *call = network_lower_call(l, step, WEFT_HOST_DOT);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &a);
  network_lower_set(call, 2, &b);
  call->call.outer = (uint32_t)rank;
  network_lower_squeeze(call);
  return true;
}

bool network_lower_float_product(network_lowering *l) {
  return are_floats(l) && product(l, network_lower_host(l), false, false);
}

bool network_lower_float_gemm(network_lowering *l) {
  network_lower_view y, c;
  if (!are_floats(l)) return false;
  network_step *step = network_lower_host(l);
  if (!product(l, step, graph_int(l->node, "transA", 0) != 0, graph_int(l->node, "transB", 0) != 0) ||
      !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  times(l, step, &y, graph_float(l->node, "alpha", 1));
  const float beta = graph_float(l->node, "beta", 1);
  if (!network_lower_has(l->node, 2)) return true;
  if (!(beta >= 1 && beta <= 1)) return network_lower_refuse(l, "a factor of the third operand");
  if (!network_lower_view_of(l, l->node->inputs[2], &c)) return false;
  c = network_lower_broadcast(&c, y.rank, y.dim);
  change(l, step, WEFT_HOST_ADD, &y, &c);
  return true;
}

// ---- convolutions: [N, groups, K / groups, P, Q], and [C / groups, R, S] inside

typedef struct windows {
  int64_t strides[2], dilations[2], pads[4], groups;
} windows;

// The image with `around` it.
static bool padded_image(network_lowering *l, const windows *w, float around, network_lower_view *x) {
  if ((w->pads[0] | w->pads[1] | w->pads[2] | w->pads[3]) == 0) return true;
  int64_t dim[4] = {x->dim[0], x->dim[1], x->dim[2] + w->pads[0] + w->pads[2], x->dim[3] + w->pads[1] + w->pads[3]};
  uint64_t bytes = sizeof(float);
  for (int d = 0; d < 4; d++)
    if (dim[d] < 1 || __builtin_mul_overflow(bytes, (uint64_t)dim[d], &bytes))
      return network_lower_refuse(l, "impossible padding");
  network_lower_view whole = network_lower_view_at(network_lower_scratch(l, bytes), WEFT_F32, 4, dim), inside = whole;
  network_lower_fill(l, &whole, &around);
  for (int d = 0; d < 4; d++) inside.dim[d] = x->dim[d];
  inside.place.offset += (uint64_t)(w->pads[0] * whole.step[2] + w->pads[1] * whole.step[3]);
  network_lower_copy(l, &inside, x);
  *x = whole;
  return true;
}

static void set_operand(network_call *call, int operand, const network_lower_view *view, const int64_t *step) {
  struct weft_host_operand *o = &call->call.operand[operand];
  call->place[operand] = view->place;
  o->type = (uint32_t)view->type;
  o->element_bytes = view->element_bytes;
  for (int d = 0; d < WEFT_HOST_RANK; d++) o->step[d] = step[d];
}

static void sums(network_lowering *l, network_step *step, const windows *w, const network_lower_view *x,
                 const network_lower_view *weights, const network_lower_view *y) {
  const int64_t per_group = weights->dim[0] / w->groups, depth = weights->dim[1];
  const int64_t dim[8] = {y->dim[0], w->groups, per_group,       y->dim[2],
                          y->dim[3], depth,     weights->dim[2], weights->dim[3]};
  const int64_t of_y[8] = {y->step[0], per_group * y->step[1], y->step[1], y->step[2], y->step[3]};
  const int64_t of_x[8] = {x->step[0],
                           depth * x->step[1],
                           0,
                           w->strides[0] * x->step[2],
                           w->strides[1] * x->step[3],
                           x->step[1],
                           w->dilations[0] * x->step[2],
                           w->dilations[1] * x->step[3]};
  const int64_t of_w[8] = {
      0, per_group * weights->step[0], weights->step[0], 0, 0, weights->step[1], weights->step[2], weights->step[3]};
  network_call *call = network_lower_call(l, step, WEFT_HOST_DOT);
  call->call.rank = WEFT_HOST_RANK;
  call->call.outer = 5;
  memcpy(call->call.dim, dim, sizeof dim);
  set_operand(call, 0, y, of_y);
  set_operand(call, 1, x, of_x);
  set_operand(call, 2, weights, of_w);
  network_lower_squeeze(call);
}

// auto_pad: as many results as the strides give, the padding on both sides.
static void same_pads(const network_lowering *l, const int64_t *kernel, bool lower, windows *w) {
  for (int i = 0; i < 2; i++) {
    const int64_t in = network_lower_input(l, 0)->dim[2 + i], out = network_lower_output(l, 0)->dim[2 + i];
    const int64_t all = (out - 1) * w->strides[i] + (kernel[i] - 1) * w->dilations[i] + 1 - in;
    const int64_t half = all > 0 ? all / 2 : 0;
    w->pads[i] = lower && all > 0 ? all - half : half;
    w->pads[2 + i] = all > 0 ? all - w->pads[i] : 0;
  }
}

static bool windows_of(network_lowering *l, const int64_t *kernel, windows *w) {
  *w = (windows){.strides = {1, 1}, .dilations = {1, 1}, .groups = graph_int(l->node, "group", 1)};
  graph_ints(l->node, "strides", w->strides, 2);
  graph_ints(l->node, "dilations", w->dilations, 2);
  graph_ints(l->node, "pads", w->pads, 4);
  const char *how = graph_text(l->node, "auto_pad", "NOTSET");
  if (strncmp(how, "SAME", 4) == 0) same_pads(l, kernel, strcmp(how, "SAME_LOWER") == 0, w);
  if (strcmp(how, "VALID") == 0) memset(w->pads, 0, sizeof w->pads);
  for (int i = 0; i < 4; i++)
    if (w->pads[i] < 0) return network_lower_refuse(l, "padding below 0");
  return true;
}

bool network_lower_float_conv(network_lowering *l) {
  network_lower_view x, weights, y, bias;
  windows w;
  if (network_lower_input(l, 0)->rank != 4)
    return network_lower_refuse(l,
                                "neither the array nor the host has it on "
                                "%d dimensions",
                                network_lower_input(l, 0)->rank);
  if (!are_floats(l) || !windows_of(l, &network_lower_input(l, 1)->dim[2], &w) ||
      !network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->inputs[1], &weights) ||
      !network_lower_view_of(l, l->node->outputs[0], &y) || !padded_image(l, &w, 0, &x))
    return false;
  network_step *step = network_lower_host(l);
  sums(l, step, &w, &x, &weights, &y);
  if (!network_lower_has(l->node, 2)) return true;
  if (!network_lower_view_of(l, l->node->inputs[2], &bias)) return false;
  const int64_t channels = bias.step[0];
  bias = network_lower_broadcast(&bias, 4, y.dim);
  for (int d = 0; d < 4; d++) bias.step[d] = d == 1 ? channels : 0;
  change(l, step, WEFT_HOST_ADD, &y, &bias);
  return true;
}

// The largest of [R, S] inside of [N, C, P, Q]; what lies in the padding counts for nothing.
bool network_lower_float_max_pool(network_lowering *l) {
  network_lower_view x, y;
  windows w;
  int64_t kernel[2];
  const bool one = l->node->output_count == 1 || l->node->outputs[1] == GRAPH_NONE;
  if (network_lower_input(l, 0)->rank != 4 || graph_ints(l->node, "kernel_shape", kernel, 2) != 2 || !one)
    return network_lower_refuse(l, "places of the largest, or an input that is no image");
  if (!are_floats(l) || !windows_of(l, kernel, &w) || !network_lower_view_of(l, l->node->inputs[0], &x) ||
      !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  for (int i = 0; i < 2; i++) {
    const int64_t reach = (y.dim[2 + i] - 1) * w.strides[i] + (kernel[i] - 1) * w.dilations[i] + 1;
    w.pads[2 + i] = reach > x.dim[2 + i] + w.pads[i] ? reach - x.dim[2 + i] - w.pads[i] : 0;
  }
  if (!padded_image(l, &w, -INFINITY, &x)) return false;
  const int64_t of_x[6] = {x.step[0],
                           x.step[1],
                           w.strides[0] * x.step[2],
                           w.strides[1] * x.step[3],
                           w.dilations[0] * x.step[2],
                           w.dilations[1] * x.step[3]};
  y.rank = x.rank = 6;
  for (int i = 0; i < 2; i++) y.dim[4 + i] = kernel[i], y.step[4 + i] = 0;
  memcpy(x.step, of_x, sizeof of_x);
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_LARGEST);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &x);
  call->call.outer = 4;
  network_lower_squeeze(call);
  return true;
}
