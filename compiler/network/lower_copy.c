// SPDX-License-Identifier: Apache-2.0
// Copies between strided views, and constants that fill one. Rows of bytes go through the array's scratchpad (kernel
// `copy`): its loads and stores move several bytes per cycle where the hart takes several cycles per byte. A loop nest
// with more dimensions than the kernel has becomes a step for each point of the shortest ones. The hart does what is
// left: steps backwards, and nests of too many points.
#include <string.h>

#include "compiler/network/private.h"

// ---- the loops as the kernel has them: N, P, Q and a row of bytes

enum { KERNEL_DIMS = 3, KERNEL_Q = KERNEL_DIMS - 1, STEPS_MAX = 64, ROW_MAX = 1024, TILES_MAX = 16 };

typedef struct nest {
  int rank;  // the longest dimension last, but for that of the row
  int64_t dim[WEFT_HOST_RANK], to[WEFT_HOST_RANK], from[WEFT_HOST_RANK];
  int64_t row_bytes;
} nest;

// Behind the dimensions that are at most as long: of two that are equal the inner one stays behind.
static void insert(nest *n, int64_t dim, int64_t to, int64_t from) {
  int at = n->rank++;
  for (; at > 0 && n->dim[at - 1] >= dim; at--) {
    n->dim[at] = n->dim[at - 1], n->to[at] = n->to[at - 1], n->from[at] = n->from[at - 1];
  }
  n->dim[at] = dim, n->to[at] = to, n->from[at] = from;
}

// False: something goes backwards.
static bool nest_of(const struct weft_host_call *c, nest *n) {
  const int64_t *to = c->operand[0].step, *from = c->operand[1].step;
  *n = (nest){.row_bytes = c->operand[0].element_bytes};
  int rank = (int)c->rank;
  if (rank > 0 && to[rank - 1] == n->row_bytes && from[rank - 1] == n->row_bytes) n->row_bytes *= c->dim[--rank];
  for (int d = rank - 1; d >= 0; d--) {
    if (to[d] < 0 || from[d] < 0) return false;
    insert(n, c->dim[d], to[d], from[d]);
  }
  const int64_t all = n->row_bytes;
  if (n->rank > 0) return true;
  while (n->row_bytes > ROW_MAX && n->row_bytes % 2 == 0) n->row_bytes /= 2;
  if (n->row_bytes < all) insert(n, all / n->row_bytes, n->row_bytes, n->row_bytes);
  return true;
}

// Steps that a nest takes: one per point of the dimensions that the kernel has no loops for.
static int64_t steps_of(const nest *n) {
  int64_t count = 1;
  for (int d = 0; d + KERNEL_DIMS < n->rank; d++) count *= n->dim[d];
  return count;
}

// ---- on the array

// Blocks of as many rows as a command moves, so that what follows in memory is stored one behind the other.
static layer_call kernel_call(const network_lowering *l, const nest *n) {
  static const char *const sizes[] = {"N", "P", "Q"}, *const from[] = {"x_n", "x_p", "x_q"},
                           *const to[] = {"y_n", "y_p", "y_q"};
  const hw_derived hw = hw_derive(l->array);
  const int64_t tiles = hw.acc_rows / (4 * hw.dim), blocks = (n->row_bytes + hw.dim - 1) / hw.dim;
  const int64_t most = tiles < 1 ? 1 : tiles > TILES_MAX ? TILES_MAX : tiles;
  layer_call call = {.kernel = LAYER_COPY};
  layer_add_argument(&call, "BLOCK_N", lang_int(1));
  layer_add_argument(&call, "BLOCK_P", lang_int(1));
  layer_add_argument(&call, "BLOCK_Q", lang_int(hw.dim));
  layer_add_argument(&call, "BLOCK_K", lang_int((blocks < most ? blocks : most) * hw.dim));
  layer_add_argument(&call, "K", lang_int(n->row_bytes));
  for (int k = 0; k < KERNEL_DIMS; k++) {
    const int d = n->rank - KERNEL_DIMS + k;
    layer_add_argument(&call, sizes[k], lang_int(d < 0 ? 1 : n->dim[d]));
    layer_add_argument(&call, from[k], lang_int(d < 0 ? 0 : n->from[d]));
    layer_add_argument(&call, to[k], lang_int(d < 0 ? 0 : n->to[d]));
  }
  return call;
}

static void by_array(network_lowering *l, const nest *n, network_place to, network_place from) {
  const layer_call call = kernel_call(l, n);
  const layer_kernel_entry *kernel = &layer_kernels[call.kernel];
  const int64_t steps = steps_of(n);
  for (int64_t i = 0; i < steps; i++) {
    network_place x = from, y = to;
    int64_t left = i;
    for (int d = n->rank - KERNEL_DIMS - 1; d >= 0; left /= n->dim[d], d--) {
      x.offset += (uint64_t)(left % n->dim[d] * n->from[d]);
      y.offset += (uint64_t)(left % n->dim[d] * n->to[d]);
    }
    network_step *step = network_lower_array(l, &call);
    network_lower_bind(step, kernel->inputs, x);
    network_lower_bind(step, kernel->results, y);
  }
}

// ---- the choice

// The node's step of the hart, if the last one is such a step.
static network_step *hart_step(network_lowering *l) {
  network_step *last = l->net->step_count == 0 ? NULL : &l->net->steps[l->net->step_count - 1];
  return last != NULL && last->node == l->node && last->place == GRAPH_ON_HOST ? last : network_lower_host(l);
}

static void squeezed(network_call *call, enum weft_host_op op, const network_lower_view *to,
                     const network_lower_view *from) {
  *call = (network_call){.call = {.op = (uint32_t)op}};
  for (int o = 0; o < WEFT_HOST_OPERANDS; o++) call->place[o].buffer = -1;
  network_lower_set(call, 0, to);
  network_lower_set(call, 1, from);
  network_lower_squeeze(call);
}

void network_lower_copy(network_lowering *l, const network_lower_view *to, const network_lower_view *from) {
  network_call call;
  nest n;
  squeezed(&call, WEFT_HOST_COPY, to, from);
  if (nest_of(&call.call, &n) && steps_of(&n) <= STEPS_MAX)
    by_array(l, &n, to->place, from->place);
  else
    *network_lower_call(l, hart_step(l), WEFT_HOST_COPY) = call;
}

// A row of the constant is copied again and again.
void network_lower_fill(network_lowering *l, const network_lower_view *to, const void *element) {
  network_call call;
  nest n;
  squeezed(&call, WEFT_HOST_FILL, to, to);
  const bool fits = nest_of(&call.call, &n) && steps_of(&n) <= STEPS_MAX;
  const uint64_t bytes = fits ? (uint64_t)n.row_bytes : to->element_bytes;
  char *row = network_lower_alloc(l, bytes);
  for (uint64_t i = 0; i < bytes; i += to->element_bytes) memcpy(row + i, element, to->element_bytes);
  const network_place value = network_lower_constant(l, "padding", row, bytes);
  if (fits) {
    memset(n.from, 0, sizeof n.from);
    by_array(l, &n, to->place, value);
  } else {
    network_lower_fill_by_hart(l, hart_step(l), to, value);
  }
}

void network_lower_fill_by_hart(network_lowering *l, network_step *step, const network_lower_view *to,
                                network_place value) {
  network_lower_view from = *to;
  from.place = value;
  memset(from.step, 0, sizeof from.step);
  network_call *call = network_lower_call(l, step, WEFT_HOST_FILL);
  network_lower_set(call, 0, to);
  network_lower_set(call, 1, &from);
  network_lower_squeeze(call);
}
