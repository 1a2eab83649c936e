// SPDX-License-Identifier: Apache-2.0
// Walking over all elements of several tensors: see call.h. The innermost dimension is handed out whole.
#include <assert.h>
#include <string.h>

#include "compiler/graph/call.h"

static bool can_merge(const graph_rows *r, const int64_t *steps, const int64_t *inner, int64_t inner_dim) {
  for (int o = 0; o < r->operands; o++)
    if (steps[o] != inner[o] * inner_dim) return false;
  return true;
}

// From the innermost dimension outwards, so that index 0 of the walk is the innermost.
void graph_rows_start(graph_rows *r, int rank, const int64_t *dim, int operands, const int64_t *const *steps) {
  assert(operands <= GRAPH_OPERANDS && rank <= GRAPH_ROW_RANK);
  memset(r, 0, sizeof *r);
  r->operands = operands;
  for (int d = rank - 1; d >= 0; d--) {
    int64_t mine[GRAPH_OPERANDS] = {0}, inner[GRAPH_OPERANDS] = {0};
    if (dim[d] == 0) r->empty = true;
    if (dim[d] == 1) continue;
    for (int o = 0; o < operands; o++) mine[o] = steps[o][d];
    for (int o = 0; o < operands && r->rank > 0; o++) inner[o] = r->step[o][r->rank - 1];
    if (r->rank > 0 && can_merge(r, mine, inner, r->dim[r->rank - 1])) {
      r->dim[r->rank - 1] *= dim[d];
      continue;
    }
    for (int o = 0; o < operands; o++) r->step[o][r->rank] = mine[o];
    r->dim[r->rank++] = dim[d];
  }
  r->length = r->rank == 0 ? 1 : r->dim[0];
  for (int o = 0; o < operands; o++) r->by[o] = r->rank == 0 ? 0 : r->step[o][0];
}

bool graph_rows_next(graph_rows *r) {
  if (r->empty) return false;
  if (!r->started) {
    r->started = true;
    return true;
  }
  for (int d = 1; d < r->rank; d++) {
    for (int o = 0; o < r->operands; o++) r->at[o] += r->step[o][d];
    if (++r->index[d] < r->dim[d]) return true;
    for (int o = 0; o < r->operands; o++) r->at[o] -= r->step[o][d] * r->dim[d];
    r->index[d] = 0;
  }
  return false;
}

#define COPY_EACH(bytes)                                                                       \
  for (int64_t i = 0; i < length; i++, target += to_by * (bytes), source += from_by * (bytes)) \
  memcpy(target, source, (bytes))

void graph_copy(void *to, int64_t to_at, int64_t to_by, const void *from, int64_t from_at, int64_t from_by,
                int64_t length, size_t size) {
  unsigned char *target = (unsigned char *)to + (size_t)to_at * size;
  const unsigned char *source = (const unsigned char *)from + (size_t)from_at * size;
  if (to_by == 1 && from_by == 1)
    memcpy(target, source, (size_t)length * size);
  else if (size == 1)
    COPY_EACH(1);
  else if (size == 2)
    COPY_EACH(2);
  else if (size == 4)
    COPY_EACH(4);
  else
    COPY_EACH(8);
}

void graph_copy_strided(const graph_tensor *shape, void *to, const int64_t *to_steps, int64_t to_at, const void *from,
                        const int64_t *from_steps, int64_t from_at) {
  graph_rows r;
  graph_rows_start(&r, shape->rank, shape->dim, 2, (const int64_t *[]){to_steps, from_steps});
  while (graph_rows_next(&r))
    graph_copy(to, to_at + r.at[0], r.by[0], from, from_at + r.at[1], r.by[1], r.length, graph_type_bytes(shape->type));
}
