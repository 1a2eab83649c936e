// SPDX-License-Identifier: Apache-2.0
// Operators of f32 that are one call over loops of their own: Einsum, GridSample.
#include <string.h>

#include "base/arena.h"
#include "compiler/graph/einsum.h"
#include "compiler/network/private.h"

static bool are_floats(network_lowering *l) {
  for (int i = 0; i < l->node->input_count; i++)
    if (network_lower_input(l, i)->type != GRAPH_F32) return network_lower_refuse(l, "numbers that are no f32");
  return true;
}

// ---- Einsum: the labels of the result are the outer loops

// An operand of the call in the order of the loops.
static void set_loops(network_call *call, int operand, const network_lower_view *view, const int64_t *steps,
                      const int *order) {
  network_lower_view in_order = *view;
  in_order.rank = (int)call->call.rank;
  for (int d = 0; d < in_order.rank; d++) in_order.step[d] = steps[order[d]] * (int64_t)view->element_bytes;
  struct weft_host_operand *o = &call->call.operand[operand];
  call->place[operand] = view->place;
  o->type = (uint32_t)view->type;
  o->element_bytes = view->element_bytes;
  memcpy(o->step, in_order.step, sizeof o->step);
}

static int order_of(const graph_einsum *e, int *order) {
  int count = 0, outer = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < e->labels; i++)
      if (e->is_result[i] == (pass == 0)) order[count++] = i;
    if (pass == 0) outer = count;
  }
  return outer;
}

static bool equation_of(network_lowering *l, graph_einsum *e) {
  wf_arena *arena = wf_arena_create();
  graph_call c;
  int64_t dim[GRAPH_RANK_MAX];
  int rank;
  graph_call_prepare(&c, l->g, l->node, arena);
  const bool good = graph_einsum_of(&c, e, dim, &rank);
  wf_arena_destroy(arena);
  return good || network_lower_refuse(l, "%s", c.message);
}

bool network_lower_einsum(network_lowering *l) {
  network_lower_view x[2], y;
  graph_einsum e;
  int order[GRAPH_EINSUM_LABELS];
  const int inputs = l->node->input_count;
  if (!are_floats(l) || !equation_of(l, &e)) return false;
  if (inputs > 2 || e.labels > WEFT_HOST_RANK) return network_lower_refuse(l, "more than two inputs or eight labels");
  for (int i = 0; i < inputs; i++)
    if (!network_lower_view_of(l, l->node->inputs[i], &x[i])) return false;
  if (!network_lower_view_of(l, l->node->outputs[0], &y)) return false;
  network_call *call = network_lower_call(l, network_lower_host(l), inputs == 1 ? WEFT_HOST_SUM : WEFT_HOST_DOT);
  call->call.rank = (uint32_t)e.labels;
  call->call.outer = (uint32_t)order_of(&e, order);
  call->call.number[0] = 1;
  for (int d = 0; d < e.labels; d++) call->call.dim[d] = e.dim[order[d]];
  for (int i = 0; i < inputs; i++) set_loops(call, 1 + i, &x[i], e.step[i], order);
  set_loops(call, 0, &y, e.step[inputs], order);
  network_lower_squeeze(call);
  return true;
}

// ---- GridSample: [N, C, P, Q], and the image inside

static int64_t mode_of(const graph_node *node) {
  const char *mode = graph_text(node, "mode", "bilinear"), *padding = graph_text(node, "padding_mode", "zeros");
  return (strcmp(mode, "bilinear") == 0  ? WEFT_SAMPLE_LINEAR
          : strcmp(mode, "bicubic") == 0 ? WEFT_SAMPLE_CUBIC
                                         : 0) |
         (strcmp(padding, "border") == 0       ? WEFT_SAMPLE_BORDER
          : strcmp(padding, "reflection") == 0 ? WEFT_SAMPLE_REFLECTION
                                               : 0) |
         (graph_int(node, "align_corners", 0) != 0 ? WEFT_SAMPLE_CORNERS : 0);
}

bool network_lower_grid_sample(network_lowering *l) {
  network_lower_view x, grid, y;
  if (!are_floats(l) || !network_lower_view_of(l, l->node->inputs[0], &x) ||
      !network_lower_view_of(l, l->node->inputs[1], &grid) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  network_call *call = network_lower_call(l, network_lower_host(l), WEFT_HOST_SAMPLE);
  network_lower_view image = y, column = y;
  column.place = grid.place;
  image.place = x.place;
  const int64_t of_grid[6] = {grid.step[0], 0, grid.step[1], grid.step[2]},
                of_image[6] = {x.step[0], x.step[1], 0, 0, x.step[2], x.step[3]};
  memcpy(column.step, of_grid, sizeof of_grid);
  memcpy(image.step, of_image, sizeof of_image);
  y.rank = image.rank = column.rank = 6;
  for (int d = 4; d < 6; d++) y.dim[d] = x.dim[d - 2], y.step[d] = 0;
  network_lower_view row = column;
  row.place.offset += sizeof(float);
  network_lower_set(call, 0, &y);
  network_lower_set(call, 1, &image);
  network_lower_set(call, 2, &column);
  network_lower_set(call, 3, &row);
  call->call.outer = 4;
  call->call.integer[0] = mode_of(l->node);
  return true;
}
