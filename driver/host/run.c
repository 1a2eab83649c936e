// SPDX-License-Identifier: Apache-2.0
// Walks the loops of a call and finds the code of its operator: see weft/host_ops.h.
#include "private.h"

static void move(const struct weft_host_call *call, struct host_place *place, unsigned dim, int64_t times) {
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) place->at[o] += times * call->operand[o].step[dim];
}

enum weft_host_status host_each(const struct weft_host_call *call, unsigned from, unsigned to,
                                const struct host_place *start, host_visit *visit, void *context) {
  struct host_place place = *start;
  int64_t index[WEFT_HOST_RANK] = {0};
  for (;;) {
    const enum weft_host_status status = visit(context, call, &place);
    if (status != WEFT_HOST_OK) return status;
    unsigned dim = to;
    while (dim > from && index[dim - 1] + 1 == call->dim[dim - 1]) {
      dim--;
      move(call, &place, dim, -index[dim]);
      index[dim] = 0;
    }
    if (dim == from) return WEFT_HOST_OK;
    index[dim - 1]++;
    move(call, &place, dim - 1, 1);
  }
}

// ---- element by element: the last two dimensions are a loop over rows

struct rows {
  host_row *row;
  size_t count, repeats;
  int64_t step[WEFT_HOST_OPERANDS], repeat_step[WEFT_HOST_OPERANDS];
};

static enum weft_host_status visit_rows(void *context, const struct weft_host_call *call,
                                        const struct host_place *place) {
  const struct rows *rows = context;
  struct host_place at = *place;
  for (size_t n = 0; n < rows->repeats; n++) {
    const enum weft_host_status status = rows->row(call, rows->count, &at, rows->step);
    if (status != WEFT_HOST_OK) return status;
    for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) at.at[o] += rows->repeat_step[o];
  }
  return WEFT_HOST_OK;
}

static void take_dim(const struct weft_host_call *call, unsigned dim, size_t *count, int64_t *step) {
  *count = (size_t)call->dim[dim];
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) step[o] = call->operand[o].step[dim];
}

static enum weft_host_status run_rows(const struct weft_host_call *call, host_row *row,
                                      const struct host_place *start) {
  struct rows rows = {.row = row, .count = 1, .repeats = 1};
  unsigned left = call->rank;
  if (left > 0) take_dim(call, --left, &rows.count, rows.step);
  if (left > 0) take_dim(call, --left, &rows.repeats, rows.repeat_step);
  return host_each(call, 0, left, start, visit_rows, &rows);
}

enum weft_host_status weft_host_run(const struct weft_host_call *call) {
  static host_row *(*const families[])(const struct weft_host_call *) = {host_move_row, host_unary_row, host_binary_row,
                                                                         host_quantise_row};
  static host_visit *(*const inner_families[])(const struct weft_host_call *) = {
      host_reduce_visit, host_normalise_visit, host_qrows_visit};
  struct host_place start;
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) start.at[o] = call->operand[o].data;
  for (unsigned f = 0; f < sizeof families / sizeof *families; f++) {
    host_row *row = families[f](call);
    if (row != NULL) return run_rows(call, row, &start);
  }
  for (unsigned f = 0; f < sizeof inner_families / sizeof *inner_families; f++) {
    host_visit *visit = inner_families[f](call);
    if (visit != NULL) return host_each(call, 0, call->outer, &start, visit, NULL);
  }
  return WEFT_HOST_NO_SUCH_OP;
}
