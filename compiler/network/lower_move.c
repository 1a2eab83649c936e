// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: copies between strided views. A part whose elements lie one behind the other already is
// no copy: it stays where it is.
#include <string.h>

#include "base/number.h"
#include "compiler/cost/cost.h"
#include "compiler/network/private.h"

// ---- padding

// Calls `fill` for each border of a padded tensor: `pads` has those before, then those behind.
typedef void filler(network_lowering *l, void *context, const network_lower_view *border);
static void each_border(network_lowering *l, const network_lower_view *to, const int64_t *pads, filler *fill,
                        void *context) {
  network_lower_view inside = *to;  // what the dimensions before have left
  for (int d = 0; d < to->rank; d++) {
    const int64_t before = pads[d], behind = pads[to->rank + d], size = inside.dim[d];
    network_lower_view border = inside;
    border.dim[d] = before;
    if (before > 0) fill(l, context, &border);
    border.dim[d] = behind;
    border.place.offset += (uint64_t)((size - behind) * to->step[d]);
    if (behind > 0) fill(l, context, &border);
    inside.place.offset += (uint64_t)(before * to->step[d]);
    inside.dim[d] = size - before - behind;
  }
}

typedef struct hart_filling {
  network_step *step;
  network_place value;
} hart_filling;

static void fill_by_hart(network_lowering *l, void *context, const network_lower_view *border) {
  const hart_filling *filling = context;
  network_lower_fill_by_hart(l, filling->step, border, filling->value);
}

void network_lower_borders(network_lowering *l, network_step *step, const network_lower_view *to, const int64_t *pads,
                           int8_t value) {
  int8_t *byte = network_lower_alloc(l, 1);
  *byte = value;
  hart_filling filling = {step, network_lower_constant(l, "padding", byte, 1)};
  each_border(l, to, pads, fill_by_hart, &filling);
}

static void fill_with_element(network_lowering *l, void *element, const network_lower_view *border) {
  network_lower_fill(l, border, element);
}

// With a number that is known only in the run.
static void fill_with_tensor(network_lowering *l, void *context, const network_lower_view *border) {
  network_lower_view from = *border;
  from.place = *(const network_place *)context;
  memset(from.step, 0, sizeof from.step);
  network_lower_copy(l, border, &from);
}

// Where the inside of a padded tensor begins, with the dimensions of what goes there.
static network_lower_view inside_of(const network_lower_view *to, const int64_t *pads, const network_lower_view *from) {
  network_lower_view inside = *to;
  for (int d = 0; d < to->rank; d++) {
    inside.place.offset += (uint64_t)(pads[d] * to->step[d]);
    inside.dim[d] = from->dim[d];
  }
  return inside;
}

// Rows of an image in scratch memory, of whole lines; its pixels begin with a line behind `left` bytes.
static network_lower_view in_lines(network_lowering *l, const int64_t *dim, int64_t left) {
  const int64_t line = cost_line_bytes(l->array), used = dim[2] * dim[3], row = wf_align_up(used, line),
                before = wf_align_up(left, line) - left;
  network_place place = network_lower_scratch(l, (uint64_t)(dim[0] * dim[1] * row + before));
  place.offset += (uint64_t)before;
  network_lower_view view = network_lower_view_at(place, WEFT_I8, 4, dim);
  view.step[0] = dim[1] * row, view.step[1] = row;
  return view;
}

network_place network_lower_padded(network_lowering *l, const network_lower_view *image, const int64_t *pads,
                                   int8_t value, int64_t *row) {
  const int64_t *dim = image->dim;
  const int64_t wide[4] = {dim[0], dim[1] + pads[0] + pads[2], dim[2] + pads[1] + pads[3], dim[3]};
  const int64_t all[8] = {0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0};
  const uint64_t bytes = (uint64_t)(wide[0] * wide[1] * wide[2] * wide[3]);
  const network_lower_view to = row != NULL ? in_lines(l, wide, pads[1] * dim[3])
                                            : network_lower_view_at(network_lower_scratch(l, bytes), WEFT_I8, 4, wide);
  const network_lower_view inside = inside_of(&to, all, image);
  each_border(l, &to, all, fill_with_element, &value);
  network_lower_copy(l, &inside, image);
  if (row != NULL) *row = to.step[1];
  return to.place;
}

bool network_lower_pad(network_lowering *l) {
  network_lower_view x, y;
  int64_t pads[2 * WEFT_HOST_RANK];
  if (strcmp(graph_text(l->node, "mode", "constant"), "constant") != 0)
    return network_lower_refuse(l, "mode %s", graph_text(l->node, "mode", ""));
  if (!network_lower_view_of(l, l->node->inputs[0], &x) || !network_lower_view_of(l, l->node->outputs[0], &y))
    return false;
  const graph_tensor *t = network_lower_input(l, 1);
  if (t->data == NULL || graph_elements(t) != 2 * y.rank) return network_lower_refuse(l, "the pads are no constant");
  memcpy(pads, t->data, (size_t)(2 * y.rank) * sizeof *pads);
  for (int i = 0; i < 2 * y.rank; i++)
    if (pads[i] < 0) return network_lower_refuse(l, "negative pads");
  const network_lower_view inside = inside_of(&y, pads, &x);
  const graph_tensor *value = network_lower_has(l->node, 2) ? network_lower_input(l, 2) : NULL;
  uint64_t element = 0;  // of any type
  if (value != NULL && value->data == NULL) {
    network_place place = network_lower_place_of(l, 2);
    each_border(l, &y, pads, fill_with_tensor, &place);
  } else {
    if (value != NULL) memcpy(&element, value->data, y.element_bytes);
    each_border(l, &y, pads, fill_with_element, &element);
  }
  network_lower_copy(l, &inside, &x);
  return true;
}

// ---- one tensor in another order

bool network_lower_rename(network_lowering *l) {
  const int x = l->node->inputs[0];
  if (network_lower_packed(l, x) != NULL || network_lower_is_columns(l, x)) return true;  // in no memory of its own
  network_lower_same(l, 0, 0);
  return true;
}

// The result from the input as `from` shows it.
static bool copy_result(network_lowering *l, const network_lower_view *from) {
  network_lower_view y;
  if (!network_lower_view_of(l, l->node->outputs[0], &y)) return false;
  network_lower_view to = network_lower_view_at(y.place, y.type, from->rank, from->dim);
  network_lower_spread(&to, from->dim[from->rank - 1], network_lower_pixel(l, l->node->outputs[0]));
  network_lower_copy(l, &to, from);
  return true;
}

// The same, or no copy at all.
static bool part_as_result(network_lowering *l, int output, const network_lower_view *from) {
  network_lower_view y;
  if (network_lower_is_dense(from)) return network_lower_part(l, output, from->place);
  if (!network_lower_view_of(l, l->node->outputs[output], &y)) return false;
  network_lower_copy(l, &y, from);
  return true;
}

// The view with dimension order[d] as its dimension d.
static network_lower_view reordered(const network_lower_view *view, const int64_t *order) {
  network_lower_view other = *view;
  for (int d = 0; d < view->rank; d++) {
    other.dim[d] = view->dim[order[d]];
    other.step[d] = view->step[order[d]];
  }
  return other;
}

bool network_lower_transpose(network_lowering *l) {
  network_lower_view x;
  int64_t perm[WEFT_HOST_RANK];
  if (network_lower_is_strided(l, l->node)) return true;
  if (!network_lower_view_of(l, l->node->inputs[0], &x)) return false;
  const int count = graph_ints(l->node, "perm", perm, WEFT_HOST_RANK);
  for (int d = 0; count == 0 && d < x.rank; d++) perm[d] = x.rank - 1 - d;
  const network_lower_view from = reordered(&x, perm);
  return copy_result(l, &from);
}

// Values of a constant input of integers (i32 or i64).
static int constants_of(const network_lowering *l, const graph_node *node, int input, int64_t *values) {
  if (!network_lower_has(node, input)) return 0;
  const graph_tensor *t = network_lower_tensor(l, node->inputs[input]);
  if (t->data == NULL || graph_elements(t) > WEFT_HOST_RANK) return -1;
  const int count = (int)graph_elements(t);
  for (int i = 0; i < count; i++)
    values[i] = t->type == GRAPH_I64 ? ((const int64_t *)t->data)[i] : ((const int32_t *)t->data)[i];
  return count;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

bool network_lower_sliced(network_lowering *l, const graph_node *slice, network_lower_view *x) {
  int64_t starts[WEFT_HOST_RANK], ends[WEFT_HOST_RANK], axes[WEFT_HOST_RANK], steps[WEFT_HOST_RANK];
  if (!network_lower_view_of(l, slice->inputs[0], x)) return false;
  const int count = constants_of(l, slice, 1, starts), axis_count = constants_of(l, slice, 3, axes),
            step_count = constants_of(l, slice, 4, steps);
  if (count < 0 || constants_of(l, slice, 2, ends) != count || axis_count < 0 || step_count < 0)
    return network_lower_refuse(l, "places that are no constants");
  for (int i = 0; i < count; i++) {
    const int64_t step = step_count == 0 ? 1 : steps[i];
    int64_t axis = axis_count == 0 ? i : axes[i];
    if (axis < 0) axis += x->rank;
    const int64_t size = x->dim[axis];
    const int64_t start = clamp(starts[i] < 0 ? starts[i] + size : starts[i], 0, step < 0 ? size - 1 : size);
    x->place.offset += (uint64_t)(start * x->step[axis]);
    x->step[axis] *= step;
    x->dim[axis] = network_lower_tensor(l, slice->outputs[0])->dim[axis];
  }
  return true;
}

bool network_lower_slice(network_lowering *l) {
  network_lower_view x;
  if (network_lower_is_cut(l, l->node)) return true;
  return network_lower_sliced(l, l->node, &x) && part_as_result(l, 0, &x);
}

bool network_lower_split(network_lowering *l) {
  network_lower_view x;
  if (!network_lower_view_of(l, l->node->inputs[0], &x)) return false;
  int64_t axis = graph_int(l->node, "axis", 0);
  if (axis < 0) axis += x.rank;
  for (int o = 0; o < l->node->output_count; o++) {
    network_lower_view part = x;
    part.dim[axis] = network_lower_output(l, o)->dim[axis];
    if (!part_as_result(l, o, &part)) return false;
    x.place.offset += (uint64_t)(part.dim[axis] * x.step[axis]);
  }
  return true;
}

bool network_lower_concat(network_lowering *l) {
  network_lower_view y;
  if (network_lower_is_joined(l, l->node)) return true;
  if (!network_lower_view_of(l, l->node->outputs[0], &y)) return false;
  int64_t axis = graph_int(l->node, "axis", 0);
  if (axis < 0) axis += y.rank;
  for (int i = 0; i < l->node->input_count; i++) {
    const int64_t size = network_lower_input(l, i)->dim[axis];
    network_lower_view x, part = y;
    y.place.offset += (uint64_t)(size * y.step[axis]);
    if (!network_lower_view_of(l, l->node->inputs[i], &x)) return false;
    if (x.place.buffer == part.place.buffer && x.place.offset == part.place.offset) continue;  // it lies there
    part.dim[axis] = size;
    network_lower_copy(l, &part, &x);
  }
  return true;
}

// ---- repetition

bool network_lower_expand(network_lowering *l) {
  network_lower_view x;
  if (!network_lower_view_of(l, l->node->inputs[0], &x)) return false;
  const graph_tensor *y = network_lower_output(l, 0);
  x = network_lower_broadcast(&x, y->rank, y->dim);
  return copy_result(l, &x);
}

// Dimension d becomes two: `outer` steps of `outer_step`, `inner` steps of `inner_step`.
static void split_dim(network_lower_view *view, int d, int64_t outer, int64_t outer_step, int64_t inner,
                      int64_t inner_step) {
  for (int i = view->rank; i > d + 1; i--) {
    view->dim[i] = view->dim[i - 1];
    view->step[i] = view->step[i - 1];
  }
  view->rank++;
  view->dim[d] = outer, view->step[d] = outer_step;
  view->dim[d + 1] = inner, view->step[d + 1] = inner_step;
}

bool network_lower_tile(network_lowering *l) {
  network_lower_view x;
  if (!network_lower_view_of(l, l->node->inputs[0], &x)) return false;
  const graph_tensor *y = network_lower_output(l, 0);
  for (int d = x.rank - 1; d >= 0; d--) {
    const int64_t times = y->dim[d] / x.dim[d];
    if (times == 1) continue;
    if (x.rank == WEFT_HOST_RANK) return network_lower_refuse(l, "too many dimensions");
    split_dim(&x, d, times, 0, x.dim[d], x.step[d]);
  }
  return copy_result(l, &x);
}

// Nearest neighbour by whole factors.
bool network_lower_resize(network_lowering *l) {
  network_lower_view x;
  const char *mode = graph_text(l->node, "mode", "nearest");
  if (strcmp(mode, "nearest") != 0) return network_lower_refuse(l, "mode %s", mode);
  if (!network_lower_view_of(l, l->node->inputs[0], &x)) return false;
  const graph_tensor *y = network_lower_output(l, 0);
  for (int d = x.rank - 1; d >= 0; d--) {
    if (y->dim[d] % x.dim[d] != 0) return network_lower_refuse(l, "no whole factor");
    const int64_t times = y->dim[d] / x.dim[d];
    if (times == 1) continue;
    if (x.rank == WEFT_HOST_RANK) return network_lower_refuse(l, "too many dimensions");
    split_dim(&x, d, x.dim[d], x.step[d], times, 0);
  }
  return copy_result(l, &x);
}

// ---- blocks of pixels of [N,C,H,W] to channels and back

bool network_lower_space(network_lowering *l) {
  network_lower_view x;
  if (!network_lower_view_of(l, l->node->inputs[0], &x)) return false;
  const bool to_space = l->node->op == GRAPH_OP_DEPTH_TO_SPACE;
  const bool crd = strcmp(graph_text(l->node, "mode", "DCR"), "CRD") == 0;
  const int64_t b = graph_int(l->node, "blocksize", 1);
  // Split into n, rows, (block rows), columns, (block columns), channels or parts of them, then put in order.
  int64_t dim[5], step[5];
  enum { ROW, COL, BLOCK_ROW, BLOCK_COL, CHANNEL };
  const int64_t c = to_space ? x.dim[1] / (b * b) : x.dim[1];
  const int64_t cs = x.step[1], rs = x.step[2], ws = x.step[3];
  dim[ROW] = to_space ? x.dim[2] : x.dim[2] / b, step[ROW] = to_space ? rs : b * rs;
  dim[COL] = to_space ? x.dim[3] : x.dim[3] / b, step[COL] = to_space ? ws : b * ws;
  dim[BLOCK_ROW] = dim[BLOCK_COL] = b;
  dim[CHANNEL] = c;
  step[CHANNEL] = to_space && crd ? b * b * cs : cs;
  step[BLOCK_ROW] = !to_space ? rs : crd ? b * cs : b * c * cs;
  step[BLOCK_COL] = !to_space ? ws : crd ? cs : c * cs;
  static const int orders[2][5] = {{BLOCK_ROW, BLOCK_COL, CHANNEL, ROW, COL},
                                   {CHANNEL, ROW, BLOCK_ROW, COL, BLOCK_COL}};
  network_lower_view from = x;
  from.rank = 6;
  for (int d = 0; d < 5; d++) {
    from.dim[d + 1] = dim[orders[to_space][d]];
    from.step[d + 1] = step[orders[to_space][d]];
  }
  return copy_result(l, &from);
}
