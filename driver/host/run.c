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

static host_row *find_row(const struct weft_host_call *call) {
  static host_row *(*const families[])(const struct weft_host_call *) = {
      host_move_row, host_unary_row, host_binary_row, host_quantise_row, host_product_row, host_whole_row};
  host_row *row = NULL;
  for (unsigned f = 0; row == NULL && f < sizeof families / sizeof *families; f++) row = families[f](call);
  return row;
}

enum weft_host_status weft_host_run(const struct weft_host_call *call) {
  static host_visit *(*const inner_families[])(const struct weft_host_call *) = {
      host_reduce_visit, host_normalise_visit, host_top_visit, host_cells_visit, host_sample_visit};
  struct host_place start;
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) start.at[o] = call->operand[o].data;
  enum weft_host_status status;
  if (call->op == WEFT_HOST_QLEAVE) return host_leave_run(call, &start);
  if (call->op >= WEFT_HOST_QSOFTMAX && host_qrows_run(call, &start, &status)) return status;
  host_row *row = find_row(call);
  if (row != NULL) return run_rows(call, row, &start);
  for (unsigned f = 0; f < sizeof inner_families / sizeof *inner_families; f++) {
    host_visit *visit = inner_families[f](call);
    if (visit != NULL) return host_each(call, 0, call->outer, &start, visit, NULL);
  }
  return WEFT_HOST_NO_SUCH_OP;
}

// ---- chains

// A call of a chain: the part of it behind its first dimensions, at one point of these.
struct link {
  const struct weft_host_call *whole;
  struct weft_host_call part;
  host_row *row;
  struct host_place place;
  int64_t index[WEFT_HOST_RANK];
};

static void begin_link(struct link *link, const struct weft_host_call *whole) {
  *link = (struct link){.whole = whole, .part = *whole};
  const unsigned lead = whole->lead;
  link->part.rank = link->part.outer = whole->rank - lead;
  for (unsigned d = 0; d < link->part.rank; d++) {
    link->part.dim[d] = whole->dim[d + lead];
    for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) link->part.operand[o].step[d] = whole->operand[o].step[d + lead];
  }
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) link->place.at[o] = whole->operand[o].data;
  link->row = find_row(&link->part);
}

static void advance_link(struct link *link) {
  for (unsigned d = link->whole->lead; d-- > 0;) {
    move(link->whole, &link->place, d, 1);
    if (++link->index[d] < link->whole->dim[d]) return;
    move(link->whole, &link->place, d, -link->index[d]);
    link->index[d] = 0;
  }
}

static enum weft_host_status run_links(struct link *links, unsigned count) {
  for (unsigned n = 0; n < count; n++) {
    const enum weft_host_status status = run_rows(&links[n].part, links[n].row, &links[n].place);
    if (status != WEFT_HOST_OK) return status;
    advance_link(&links[n]);
  }
  return WEFT_HOST_OK;
}

static int64_t points_of(const struct weft_host_call *call) {
  int64_t points = 1;
  for (unsigned d = 0; d < call->lead; d++) points *= call->dim[d];
  return points;
}

static enum weft_host_status run_chain(const struct weft_host_call *calls) {
  if (calls->op == WEFT_HOST_TURNS) return host_turns_run((struct weft_host_call *)(uintptr_t)calls);
  struct link links[WEFT_HOST_CHAIN];
  const unsigned count = calls->chain;
  for (unsigned n = 0; n < count; n++) {
    begin_link(&links[n], &calls[n]);
    if (links[n].row == NULL) return WEFT_HOST_NO_SUCH_OP;
  }
  enum weft_host_status status = WEFT_HOST_OK;
  for (int64_t left = points_of(calls); left > 0 && status == WEFT_HOST_OK; left--) status = run_links(links, count);
  return status;
}

enum weft_host_status weft_host_run_all(const struct weft_host_call *calls, size_t count) {
  enum weft_host_status status = WEFT_HOST_OK;
  for (size_t n = 0; n < count && status == WEFT_HOST_OK; n += calls[n].chain == 0 ? 1 : calls[n].chain)
    status = calls[n].chain == 0 ? weft_host_run(&calls[n]) : run_chain(&calls[n]);
  return status;
}
