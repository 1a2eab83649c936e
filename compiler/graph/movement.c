// SPDX-License-Identifier: Apache-2.0
// Operators that move elements and compute nothing, by one of two means: strides (Transpose, Expand, Concat, Split,
// depth and space), or a map per dimension that says which index of the input an index of the result comes from (Slice,
// Tile, Pad, Gather, nearest Resize); -1 there stands for the fill value.
#include "compiler/graph/movement.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

// ---- strides

static bool permutation(graph_call *c, int64_t order[GRAPH_RANK_MAX]) {
  int rank = c->in[0]->rank, given = graph_ints(c->node, "perm", order, GRAPH_RANK_MAX);
  uint32_t seen = 0;
  if (graph_find_attribute(c->node, "perm") == NULL) {
    for (int d = 0; d < rank; d++) order[d] = rank - 1 - d;
    return true;
  }
  if (given != rank) return graph_call_fail(c, "perm has %d entries for %d dimensions", given, rank);
  for (int d = 0; d < rank; d++) {
    if (order[d] < 0 || order[d] >= rank || (seen >> order[d] & 1) != 0)
      return graph_call_fail(c, "perm is no permutation");
    seen |= 1u << order[d];
  }
  return true;
}

bool graph_infer_transpose(graph_call *c) {
  int64_t order[GRAPH_RANK_MAX], dim[GRAPH_RANK_MAX];
  if (!permutation(c, order)) return false;
  for (int d = 0; d < c->in[0]->rank; d++) dim[d] = c->in[0]->dim[order[d]];
  return graph_call_result(c, 0, c->in[0]->type, c->in[0]->rank, dim);
}

bool graph_run_transpose(graph_call *c) {
  const graph_tensor *x = c->in[0], *y = c->out[0];
  int64_t order[GRAPH_RANK_MAX], x_steps[GRAPH_RANK_MAX], y_steps[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX];
  permutation(c, order);
  graph_steps(x->rank, x->dim, x_steps);
  graph_steps(y->rank, y->dim, y_steps);
  for (int d = 0; d < y->rank; d++) steps[d] = x_steps[order[d]];
  graph_copy_strided(y, c->to[0], y_steps, 0, x->data, steps, 0);
  return true;
}

bool graph_infer_expand(graph_call *c) {
  graph_tensor shape = {0};
  int64_t dim[GRAPH_RANK_MAX];
  int rank = c->in[0]->rank;
  memcpy(dim, c->in[0]->dim, sizeof dim);
  shape.rank = graph_call_values(c, 1, shape.dim, GRAPH_RANK_MAX);
  if (shape.rank < 0 || !graph_broadcast(c, &rank, dim, &shape)) return false;
  return graph_call_result(c, 0, c->in[0]->type, rank, dim);
}

bool graph_run_expand(graph_call *c) {
  const graph_tensor *y = c->out[0];
  int64_t own[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX];
  graph_steps(y->rank, y->dim, own);
  graph_broadcast_steps(c->in[0], y->rank, steps);
  graph_copy_strided(y, c->to[0], own, 0, c->in[0]->data, steps, 0);
  return true;
}

bool graph_infer_concat(graph_call *c) {
  int64_t dim[GRAPH_RANK_MAX];
  int axis, rank = c->in[0]->rank;
  if (!graph_call_axis(c, graph_int(c->node, "axis", 0), rank, &axis)) return false;
  memcpy(dim, c->in[0]->dim, sizeof dim);
  for (int i = 1; i < c->in_count; i++) {
    const graph_tensor *x = c->in[i];
    if (x->rank != rank || x->type != c->in[0]->type) return graph_call_fail(c, "its input %d is of another kind", i);
    for (int d = 0; d < rank; d++)
      if (d != axis && x->dim[d] != dim[d]) return graph_call_fail(c, "its input %d has another dimension %d", i, d);
    dim[axis] += x->dim[axis];
  }
  return graph_call_result(c, 0, c->in[0]->type, rank, dim);
}

bool graph_run_concat(graph_call *c) {
  const graph_tensor *y = c->out[0];
  int64_t y_steps[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX], at = 0;
  int axis;
  if (!graph_call_axis(c, graph_int(c->node, "axis", 0), y->rank, &axis)) return false;
  graph_steps(y->rank, y->dim, y_steps);
  for (int i = 0; i < c->in_count; i++) {
    graph_steps(y->rank, c->in[i]->dim, steps);
    graph_copy_strided(c->in[i], c->to[0], y_steps, at, c->in[i]->data, steps, 0);
    at += c->in[i]->dim[axis] * y_steps[axis];
  }
  return true;
}

// Sizes of the parts; without input 1 they are equal, the last one takes what is left.
static bool parts(graph_call *c, int64_t total, int64_t *sizes) {
  int64_t each = (total + c->out_count - 1) / c->out_count, left = total;
  if (c->in[1] != NULL) {
    int given = graph_call_values(c, 1, sizes, c->out_count);
    if (given >= 0 && given != c->out_count) return graph_call_fail(c, "%d sizes for %d parts", given, c->out_count);
    if (given < 0) return false;
  } else {
    for (int o = 0; o < c->out_count; o++, left -= sizes[o - 1]) sizes[o] = left < each ? left : each;
  }
  int64_t sum = 0;
  for (int o = 0; o < c->out_count; o++) {
    if (sizes[o] < 0 || sizes[o] > total) return graph_call_fail(c, "part %d has %" PRId64 " elements", o, sizes[o]);
    sum += sizes[o];
  }
  return sum == total || graph_call_fail(c, "its parts have %" PRId64 " elements of %" PRId64, sum, total);
}

static bool infer_parts(graph_call *c, int axis, int64_t *sizes) {
  const graph_tensor *x = c->in[0];
  int64_t dim[GRAPH_RANK_MAX];
  if (!parts(c, x->dim[axis], sizes)) return false;
  memcpy(dim, x->dim, sizeof dim);
  for (int o = 0; o < c->out_count; o++) {
    dim[axis] = sizes[o];
    if (c->out[o] != NULL && !graph_call_result(c, o, x->type, x->rank, dim)) return false;
  }
  return true;
}

bool graph_infer_split(graph_call *c) {
  int axis;
  if (!graph_call_axis(c, graph_int(c->node, "axis", 0), c->in[0]->rank, &axis)) return false;
  int64_t *sizes = WF_NEW_ARRAY((size_t)c->out_count, int64_t);
  bool ok = infer_parts(c, axis, sizes);
  wf_free(sizes);
  return ok;
}

static void run_parts(graph_call *c, int axis, const int64_t *sizes) {
  const graph_tensor *x = c->in[0];
  int64_t x_steps[GRAPH_RANK_MAX], steps[GRAPH_RANK_MAX], at = 0;
  graph_steps(x->rank, x->dim, x_steps);
  for (int o = 0; o < c->out_count; o++) {
    if (c->to[o] != NULL) {
      graph_steps(x->rank, c->out[o]->dim, steps);
      graph_copy_strided(c->out[o], c->to[o], steps, 0, x->data, x_steps, at);
    }
    at += sizes[o] * x_steps[axis];
  }
}

bool graph_run_split(graph_call *c) {
  int axis;
  if (!graph_call_axis(c, graph_int(c->node, "axis", 0), c->in[0]->rank, &axis)) return false;
  int64_t *sizes = WF_NEW_ARRAY((size_t)c->out_count, int64_t);
  bool ok = parts(c, c->in[0]->dim[axis], sizes);
  if (ok) run_parts(c, axis, sizes);
  wf_free(sizes);
  return ok;
}

// DepthToSpace: [N, b, b, C, H, W] (DCR) or [N, C, b, b, H, W] (CRD) becomes [N, C, H, b, W, b].
bool graph_infer_depth_to_space(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t b = graph_int(c->node, "blocksize", 0);
  if (x->rank != 4) return graph_call_fail(c, "it takes images of 4 dimensions");
  if (b < 1 || b > (1 << 20) || x->dim[1] % (b * b) != 0)
    return graph_call_fail(c, "a block of %" PRId64 " does not fit %" PRId64 " channels", b, x->dim[1]);
  return graph_call_result(c, 0, x->type, 4, (int64_t[]){x->dim[0], x->dim[1] / (b * b), x->dim[2] * b, x->dim[3] * b});
}

bool graph_infer_space_to_depth(graph_call *c) {
  const graph_tensor *x = c->in[0];
  int64_t b = graph_int(c->node, "blocksize", 0);
  if (x->rank != 4) return graph_call_fail(c, "it takes images of 4 dimensions");
  if (b < 1 || b > (1 << 20) || x->dim[2] % b != 0 || x->dim[3] % b != 0)
    return graph_call_fail(c, "a block of %" PRId64 " does not fit the image", b);
  return graph_call_result(c, 0, x->type, 4, (int64_t[]){x->dim[0], x->dim[1] * b * b, x->dim[2] / b, x->dim[3] / b});
}

// Both directions walk over [N, C, H, b, W, b] of the image with large H and W.
bool graph_run_depth_space(graph_call *c) {
  bool to_space = c->node->op == GRAPH_OP_DEPTH_TO_SPACE;
  const graph_tensor *deep = to_space ? c->in[0] : c->out[0], *wide = to_space ? c->out[0] : c->in[0];
  int64_t b = graph_int(c->node, "blocksize", 0), h = deep->dim[2], w = deep->dim[3], k = wide->dim[1];
  bool crd = to_space && strcmp(graph_text(c->node, "mode", "DCR"), "CRD") == 0;
  const graph_tensor walk = {.type = deep->type, .rank = 6, .dim = {deep->dim[0], k, h, b, w, b}};
  int64_t image = h * w, wide_steps[6];
  graph_steps(6, walk.dim, wide_steps);
  const int64_t deep_steps[6] = {
      deep->dim[1] * image,   crd ? b * b * image : image, w, crd ? b * image : b * k * image, 1,
      crd ? image : k * image};
  graph_copy_strided(&walk, c->to[0], to_space ? wide_steps : deep_steps, 0, c->in[0]->data,
                     to_space ? deep_steps : wide_steps, 0);
  return true;
}

// ---- maps

bool graph_maps_create(graph_call *c, graph_maps *m, const graph_tensor *x, const graph_tensor *y) {
  m->rank = y->rank;
  memcpy(m->dim, y->dim, sizeof m->dim);
  memcpy(m->from_dim, x->dim, sizeof m->from_dim);
  int64_t total = 0;
  for (int d = 0; d < y->rank; d++) total += y->dim[d];
  m->memory = graph_call_scratch(c, total, sizeof m->memory[0]);
  if (m->memory == NULL) return false;
  int64_t *at = m->memory;
  for (int d = 0; d < y->rank; d++, at += y->dim[d - 1]) m->map[d] = at;
  for (int d = 0; d < y->rank; d++)
    for (int64_t i = 0; i < y->dim[d]; i++) m->map[d][i] = i;
  return true;
}

static void fill(const graph_maps *m, unsigned char *to, int64_t count, size_t size) {
  for (int64_t i = 0; i < count; i++) memcpy(to + (size_t)i * size, m->fill, size);
}

static void map_row(const graph_maps *m, unsigned char *to, const unsigned char *from, size_t size) {
  const int64_t *map = m->map[m->rank - 1];
  int64_t count = m->dim[m->rank - 1];
  for (int64_t i = 0; i < count;) {
    int64_t run = 1;
    if (map[i] < 0) {
      memcpy(to + (size_t)i * size, m->fill, size);
    } else {
      while (i + run < count && map[i + run] == map[i] + run) run++;
      memcpy(to + (size_t)i * size, from + (size_t)map[i] * size, (size_t)run * size);
    }
    i += run;
  }
}

void graph_maps_run(graph_maps *m, void *to, const void *from, graph_type type) {
  size_t size = graph_type_bytes(type);
  int64_t steps[GRAPH_RANK_MAX], index[GRAPH_RANK_MAX] = {0};
  int64_t rows = graph_product(m->dim, 0, m->rank - 1), length = m->rank == 0 ? 1 : m->dim[m->rank - 1];
  unsigned char *target = to;
  if (m->rank == 0) memcpy(to, from, size);
  graph_steps(m->rank, m->from_dim, steps);
  for (int64_t row = 0; row < rows && m->rank != 0; row++, target += (size_t)length * size) {
    int64_t at = 0;
    bool outside = false;
    for (int d = 0; d < m->rank - 1; d++) {
      int64_t source = m->map[d][index[d]];
      outside |= source < 0;
      at += source * steps[d];
    }
    if (outside)
      fill(m, target, length, size);
    else
      map_row(m, target, (const unsigned char *)from + (size_t)at * size, size);
    for (int d = m->rank - 2; d >= 0 && ++index[d] == m->dim[d]; d--) index[d] = 0;
  }
  wf_free(m->memory);
}

// ---- Slice

typedef struct slice {
  int64_t start[GRAPH_RANK_MAX], step[GRAPH_RANK_MAX], count[GRAPH_RANK_MAX];
} slice;

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static bool slice_axis(graph_call *c, slice *s, int axis, int64_t start, int64_t end, int64_t step) {
  int64_t size = c->in[0]->dim[axis];
  if (step == 0) return graph_call_fail(c, "axis %d has the step 0", axis);
  if (start < 0) start = start < -size ? -1 : start + size;
  if (end < 0) end = end < -size ? -1 : end + size;
  start = clamp(start, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  end = clamp(end, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  if (step < 0 && start < 0) start = -1;
  uint64_t distance = step > 0 ? (uint64_t)(end - start) : (uint64_t)(start - end);
  uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
  bool none = step > 0 ? end <= start : end >= start;
  s->start[axis] = start;
  s->step[axis] = step;
  s->count[axis] = none ? 0 : (int64_t)((distance + stride - 1) / stride);
  return true;
}

static bool read_slice(graph_call *c, slice *s) {
  int64_t start[GRAPH_RANK_MAX], end[GRAPH_RANK_MAX], axes[GRAPH_RANK_MAX], step[GRAPH_RANK_MAX];
  int rank = c->in[0]->rank, count = graph_call_values(c, 1, start, GRAPH_RANK_MAX);
  for (int d = 0; d < GRAPH_RANK_MAX; d++) axes[d] = d, step[d] = 1;
  for (int d = 0; d < rank; d++) s->start[d] = 0, s->step[d] = 1, s->count[d] = c->in[0]->dim[d];
  if (count < 0) return false;
  int64_t *const lists[] = {end, axes, step};
  for (int i = 0; i < 3; i++) {
    if (c->in[i + 2] == NULL) continue;
    int given = graph_call_values(c, i + 2, lists[i], GRAPH_RANK_MAX);
    if (given < 0) return false;
    if (given != count) return graph_call_fail(c, "its lists have different lengths");
  }
  for (int i = 0, axis; i < count; i++) {
    if (!graph_call_axis(c, axes[i], rank, &axis)) return false;
    if (!slice_axis(c, s, axis, start[i], end[i], step[i])) return false;
  }
  return true;
}

bool graph_infer_slice(graph_call *c) {
  slice s;
  return read_slice(c, &s) && graph_call_result(c, 0, c->in[0]->type, c->in[0]->rank, s.count);
}

bool graph_run_slice(graph_call *c) {
  slice s;
  graph_maps m;
  if (!read_slice(c, &s) || !graph_maps_create(c, &m, c->in[0], c->out[0])) return false;
  for (int d = 0; d < m.rank; d++)
    for (int64_t i = 0; i < m.dim[d]; i++) m.map[d][i] = s.start[d] + i * s.step[d];
  graph_maps_run(&m, c->to[0], c->in[0]->data, c->out[0]->type);
  return true;
}

bool graph_infer_tile(graph_call *c) {
  int64_t dim[GRAPH_RANK_MAX];
  int count = graph_call_values(c, 1, dim, GRAPH_RANK_MAX);
  if (count < 0) return false;
  if (count != c->in[0]->rank) return graph_call_fail(c, "%d repeats for %d dimensions", count, c->in[0]->rank);
  for (int d = 0; d < count; d++)
    if (__builtin_mul_overflow(dim[d], c->in[0]->dim[d], &dim[d])) return graph_call_fail(c, "too many repeats");
  return graph_call_result(c, 0, c->in[0]->type, count, dim);
}

bool graph_run_tile(graph_call *c) {
  graph_maps m;
  if (!graph_maps_create(c, &m, c->in[0], c->out[0])) return false;
  for (int d = 0; d < m.rank; d++)
    for (int64_t i = 0; i < m.dim[d]; i++) m.map[d][i] = i % c->in[0]->dim[d];
  graph_maps_run(&m, c->to[0], c->in[0]->data, c->out[0]->type);
  return true;
}

// ---- Pad

static bool read_pads(graph_call *c, int64_t pads[2 * GRAPH_RANK_MAX]) {
  int rank = c->in[0]->rank, count = graph_call_values(c, 1, pads, 2 * GRAPH_RANK_MAX);
  if (count < 0) return false;
  return count == 2 * rank || graph_call_fail(c, "%d pads for %d dimensions", count, rank);
}

bool graph_infer_pad(graph_call *c) {
  const graph_tensor *x = c->in[0];
  const char *mode = graph_text(c->node, "mode", "constant");
  int64_t pads[2 * GRAPH_RANK_MAX], dim[GRAPH_RANK_MAX];
  bool reflect = strcmp(mode, "reflect") == 0, edge = strcmp(mode, "edge") == 0;
  if (!reflect && !edge && strcmp(mode, "constant") != 0) return graph_call_fail(c, "mode '%s' is unknown", mode);
  if (!read_pads(c, pads)) return false;
  if (c->in[2] != NULL && (c->in[2]->type != x->type || graph_elements(c->in[2]) != 1))
    return graph_call_fail(c, "its value has to be one number of the type that it pads");
  for (int d = 0; d < x->rank; d++) {
    if (__builtin_add_overflow(pads[d], pads[d + x->rank], &dim[d]) ||
        __builtin_add_overflow(dim[d], x->dim[d], &dim[d]) || dim[d] < 0)
      return graph_call_fail(c, "its pads of dimension %d are impossible", d);
    if (((reflect && x->dim[d] < 2) || x->dim[d] < 1) && (reflect || edge) && dim[d] != x->dim[d])
      return graph_call_fail(c, "dimension %d is too small for its mode", d);
  }
  return graph_call_result(c, 0, x->type, x->rank, dim);
}

static int64_t padded_source(int64_t at, int64_t size, char mode) {
  if (at >= 0 && at < size) return at;
  if (mode == 'c') return -1;
  if (mode == 'e') return at < 0 ? 0 : size - 1;
  int64_t period = 2 * (size - 1);
  int64_t folded = ((at % period) + period) % period;
  return folded < size ? folded : period - folded;
}

bool graph_run_pad(graph_call *c) {
  int64_t pads[2 * GRAPH_RANK_MAX];
  graph_maps m;
  if (!read_pads(c, pads) || !graph_maps_create(c, &m, c->in[0], c->out[0])) return false;
  memset(m.fill, 0, sizeof m.fill);
  if (c->in[2] != NULL) memcpy(m.fill, c->in[2]->data, graph_type_bytes(c->in[2]->type));
  for (int d = 0; d < m.rank; d++)
    for (int64_t i = 0; i < m.dim[d]; i++)
      m.map[d][i] = padded_source(i - pads[d], c->in[0]->dim[d], graph_text(c->node, "mode", "constant")[0]);
  graph_maps_run(&m, c->to[0], c->in[0]->data, c->out[0]->type);
  return true;
}

// ---- ReverseSequence, Compress

static bool reverse_axes(graph_call *c, int *time, int *batch) {
  *time = (int)graph_int(c->node, "time_axis", 0);
  *batch = (int)graph_int(c->node, "batch_axis", 1);
  return ((*time == 0 && *batch == 1) || (*time == 1 && *batch == 0)) ||
         graph_call_fail(c, "time and batch have to be its first two axes");
}

bool graph_infer_reverse(graph_call *c) {
  int time, batch;
  if (!reverse_axes(c, &time, &batch)) return false;
  if (c->in[0]->rank < 2 || c->in[1]->type != GRAPH_I64 || graph_elements(c->in[1]) != c->in[0]->dim[batch])
    return graph_call_fail(c, "it needs a length for each sequence");
  return graph_call_like(c, 0, 0);
}

bool graph_run_reverse(graph_call *c) {
  const graph_tensor *x = c->in[0];
  const int64_t *lengths = c->in[1]->data;
  int time, batch;
  if (!reverse_axes(c, &time, &batch)) return false;
  int64_t steps[GRAPH_RANK_MAX], inner = graph_product(x->dim, 2, x->rank);
  graph_steps(x->rank, x->dim, steps);
  for (int64_t b = 0; b < x->dim[batch]; b++) {
    if (lengths[b] < 0 || lengths[b] > x->dim[time])
      return graph_call_fail(c, "sequence %" PRId64 " has the length %" PRId64, b, lengths[b]);
    for (int64_t t = 0; t < x->dim[time]; t++) {
      int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
      graph_copy(c->to[0], b * steps[batch] + t * steps[time], 1, x->data, b * steps[batch] + from * steps[time], 1,
                 inner, graph_type_bytes(x->type));
    }
  }
  return true;
}
