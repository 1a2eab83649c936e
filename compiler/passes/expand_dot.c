// A product statement becomes pairs of preload and compute over tiles of at most DIM rows, columns and depth.
//
// Rows of results (m) and depth (k) are listed element by element with the local rows that they stand for, then cut
// into runs that one command handles; images make runs shorter than DIM, which cost less time. Order: columns, depth,
// rows, so that one block of weights serves all rows. The run before new weights takes DIM cycles in any case, so the
// longest comes last.
//
// A product of blocks is one product per block of columns, with the same weights or with weights of their own.
//
// Output-stationary, sums of one block of depth are made in the array and added to the accumulator: longer chains could
// overflow the array's narrow sums.
#include "compiler/block/build.h"
#include "compiler/passes/expand.h"

typedef struct dot {
  expand *e;
  const walk *w;
  const block_statement *s;
  box target;  // what is needed of the result
  box a, b;    // what has been read, joined while m, k and n are listed
  dot_runs m, k, n;
  bool unaligned;
  uint32_t target_local, a_local, b_local;  // where the instances begin
} dot;

// ---- lists of elements

// Steps through a view's dimensions [from, to), the last one fastest, in spans of that one.
typedef struct odometer {
  const block_view *view;
  int from, to;
  int64_t index[BLOCK_RANK_MAX], at[BLOCK_RANK_MAX];  // position in the view; element of the buffer
  int64_t base[BLOCK_RANK_MAX];
  int64_t count;
  bool column;     // the columns of the buffer rather than its rows
  int64_t stride;  // rows or columns between two elements of a span
} odometer;

static void start(odometer *o, const dot *d, const block_view *view, int from, int to) {
  const block_buffer *buffer = &d->e->program->buffers[view->buffer];
  *o = (odometer){.view = view, .from = from, .to = to, .count = 1};
  for (int i = 0; i < buffer->rank; i++) {
    o->base[i] = o->at[i] = block_affine_at(&view->dim[i].offset, d->w->iteration);
    if (i >= from && i < to) o->count *= view->dim[i].size;
  }
  o->column = from == buffer->rank - 1 && to == buffer->rank;
  o->stride = from == to ? 1 : view->dim[to - 1].step;
  for (int i = to; i < buffer->rank - 1; i++) o->stride *= buffer->size[i];
}

static int64_t span_left(const odometer *o) {
  return o->from == o->to ? 1 : o->view->dim[o->to - 1].size - o->index[o->to - 1];
}

static void advance(odometer *o, int64_t elements) {
  for (int d = o->to - 1; d >= o->from; d--) {
    o->index[d] += elements;
    o->at[d] = o->base[d] + o->index[d] * o->view->dim[d].step;
    if (o->index[d] < o->view->dim[d].size) return;
    o->index[d] = 0;
    o->at[d] = o->base[d];
    elements = 1;
  }
}

// Narrows elements [*from, *to) of a span to those inside a box.
static void narrow(const box *b, const odometer *o, int64_t *from, int64_t *to) {
  for (int d = o->from; d < o->to - 1; d++)
    if (o->at[d] < b->lo[d] || o->at[d] >= b->hi[d]) *to = *from;
  if (o->from == o->to) return;
  int64_t at = o->at[o->to - 1], step = o->view->dim[o->to - 1].step;
  int64_t low = (b->lo[o->to - 1] - at + step - 1) / step, high = (b->hi[o->to - 1] - at + step - 1) / step;
  if (b->lo[o->to - 1] > at && low > *from) *from = low;
  if (b->hi[o->to - 1] <= at) high = 0;
  if (high < *to) *to = high;
}

// Elements [from, to) of a span are read.
static void stretch(box *b, const odometer *o, int64_t from, int64_t to, bool first) {
  for (int d = o->from; d < o->to; d++) {
    bool inner = d == o->to - 1;
    int64_t low = o->at[d] + (inner ? from * o->view->dim[d].step : 0);
    int64_t high = o->at[d] + (inner ? (to - 1) * o->view->dim[d].step : 0) + 1;
    if (first || low < b->lo[d]) b->lo[d] = low;
    if (first || high > b->hi[d]) b->hi[d] = high;
  }
}

static int64_t position(const dot *d, const odometer *o) {
  return o->column ? o->at[o->from] : layout_flat(&d->e->program->buffers[o->view->buffer], o->at);
}

// What a run may do: it crosses no multiple of a tile (0: any), and only rows of A may be spaced.
typedef struct dot_limits {
  int64_t first_tile, second_tile;
  bool spaced;
} dot_limits;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Elements that can follow without crossing a multiple of the tile.
static int64_t room_in_tile(int64_t at, int64_t tile) { return tile == 0 ? INT64_MAX : (tile - at % tile) % tile; }

// How many of `count` elements that begin at `first` and `second` continue a run.
static int64_t continues(const dot *d, const dot_run *last, const dot_run *span, const dot_limits *may) {
  int64_t step = span->second - (last->second + (last->count - 1) * last->step);
  if (span->first != last->first + last->count || (last->count > 1 && step != last->step)) return 0;
  if (may->spaced ? step <= 0 : step != 1) return 0;
  int64_t room = least(d->e->derived.dim - last->count,
                       least(room_in_tile(span->first, may->first_tile), room_in_tile(span->second, may->second_tile)));
  return least(room, span->step == step ? span->count : 1);
}

// Adds a span to a list of runs; its elements are consecutive in `first` and `step` apart in `second`.
static void append(const dot *d, dot_runs *list, dot_run span, const dot_limits *may) {
  while (span.count > 0) {
    dot_run *last = list->count == 0 ? NULL : &list->runs[list->count - 1];
    int64_t taken = last == NULL ? 0 : continues(d, last, &span, may);
    if (taken == 0) {
      last = WF_ARENA_PUSH(d->e->arena, list->runs, list->count, &list->room);
      *last = (dot_run){.first = span.first, .second = span.second, .count = 1};
      taken = 1;
    } else {
      if (last->count == 1) last->step = span.second - last->second;
      last->count += taken;
    }
    span.first += taken;
    span.second += taken * span.step;
    span.count -= taken;
  }
}

// Elements of a span in which `first` takes steps of more than one do not form runs.
static void append_span(const dot *d, dot_runs *runs, const odometer *first, const odometer *second, int64_t from,
                        int64_t to, const dot_limits *may) {
  dot_run span = {.first = position(d, first) + from * first->stride,
                  .second = position(d, second) + from * second->stride,
                  .count = to - from,
                  .step = second->stride};
  if (first->stride == 1) {
    append(d, runs, span, may);
    return;
  }
  for (span.count = 1; from < to; from++, span.first += first->stride, span.second += second->stride)
    append(d, runs, span, may);
}

// Lists pairs of elements of two views that belong together; those outside `first_needs` or `second_needs` are left
// out.
static void list(dot *d, dot_runs *runs, odometer *first, odometer *second, const box *first_needs,
                 const box *second_needs, box *first_read, box *second_read) {
  int64_t dim = d->e->derived.dim;
  const dot_limits may = {.first_tile = first->column ? dim : d->e->layouts[first->view->buffer].tile,
                          .second_tile = second->column ? dim : 0,
                          .spaced = runs == &d->m && !d->s->dot.a_transposed};
  runs->count = 0;
  for (int64_t i = 0, span; i < first->count; i += span, advance(first, span), advance(second, span)) {
    int64_t from = 0, to = span = least(span_left(first), span_left(second));
    if (first_needs != NULL) narrow(first_needs, first, &from, &to);
    if (second_needs != NULL) narrow(second_needs, second, &from, &to);
    if (from >= to) continue;
    if (first_read != NULL) stretch(first_read, first, from, to, runs->count == 0);
    if (second_read != NULL) stretch(second_read, second, from, to, runs->count == 0);
    append_span(d, runs, first, second, from, to, &may);
  }
  // A command addresses columns by their block.
  for (size_t n = 0; n < runs->count; n++)
    d->unaligned |=
        (first->column && runs->runs[n].first % dim != 0) || (second->column && runs->runs[n].second % dim != 0);
}

// Which elements of a buffer may be other than zero.
static const box *nonzero(const dot *d, int buffer) {
  const expand_valid *valid = &d->e->valid[buffer];
  return valid->set && valid->instance == d->w->instance[buffer] ? &valid->inside : NULL;
}

// Finds the runs of the statement's execution. False: nothing is needed.
static bool find(dot *d, expand *e, const walk *w, const block_statement *s) {
  const block_view *t = &s->dot.target, *a = &s->dot.a, *b = &s->dot.b;
  int t_last = e->program->buffers[t->buffer].rank - 1, a_last = e->program->buffers[a->buffer].rank - 1,
      b_last = e->program->buffers[b->buffer].rank - 1;
  bool at = s->dot.a_transposed, bt = s->dot.b_transposed;
  *d = (dot){.e = e,
             .w = w,
             .s = s,
             .target = *expand_need(e, t->buffer, w->instance[t->buffer]),
             .m = e->lists[0],
             .n = e->lists[1],
             .k = e->lists[2]};
  if (box_empty(&d->target, t_last + 1)) return false;
  odometer t_m, t_n, a_m, a_k, b_k, b_n;
  start(&t_m, d, t, 0, t_last);
  start(&t_n, d, t, t_last, t_last + 1);
  start(&a_m, d, a, at ? a_last : 0, at ? a_last + 1 : a_last);
  start(&a_k, d, a, at ? 0 : a_last, at ? a_last : a_last + 1);
  start(&b_k, d, b, bt ? b_last : 0, bt ? b_last + 1 : b_last);
  start(&b_n, d, b, bt ? 0 : b_last, bt ? b_last : b_last + 1);
  list(d, &d->m, &t_m, &a_m, &d->target, NULL, NULL, &d->a);
  list(d, &d->n, &t_n, &b_n, &d->target, NULL, NULL, &d->b);
  list(d, &d->k, &a_k, &b_k, nonzero(d, a->buffer), nonzero(d, b->buffer), &d->a, &d->b);
  e->lists[0] = d->m;
  e->lists[1] = d->n;
  e->lists[2] = d->k;
  return d->m.count != 0 && d->n.count != 0;
}

// ---- products of blocks

static int last_of(const expand *e, const block_view *view) { return e->program->buffers[view->buffer].rank - 1; }

// How many products a statement is: one for each block of columns, or one.
static int64_t part_count(const expand *e, const block_statement *s) {
  if (!s->dot.blocks) return 1;
  const int64_t size = s->dot.b.dim[last_of(e, &s->dot.b)].size;
  return (s->dot.target.dim[last_of(e, &s->dot.target)].size + size - 1) / size;
}

// Product n of those.
static block_statement part_of(const expand *e, const block_statement *s, int64_t n) {
  block_statement part = *s;
  if (!s->dot.blocks) return part;
  const int last = last_of(e, &s->dot.b);
  block_view_dim *t = &part.dot.target.dim[last_of(e, &s->dot.target)], *a = &part.dot.a.dim[last_of(e, &s->dot.a)];
  block_view_dim *b = part.dot.b.dim;
  const int64_t size = b[last].size, first = n * size;
  t->offset.constant += first * t->step;
  a->offset.constant += first * a->step;
  t->size = a->size = b[last].size = b[last - 1].size = least(size, t->size - first);
  for (int d = 0; d < last - 1; d++) {  // one of these counts matrices
    if (b[d].size == 1) continue;
    b[d].offset.constant += n * b[d].step;
    b[d].size = 1;
  }
  return part;
}

// ---- needs

bool expand_dot_needs(void *context, const walk *w, const block_statement *s) {
  expand *e = context;
  dot d;
  if (s->kind == BLOCK_LOAD) expand_note_load(e, w, s);
  if (s->kind != BLOCK_DOT) return true;
  for (int64_t n = 0; n < part_count(e, s); n++) {
    const block_statement part = part_of(e, s, n);
    if (!find(&d, e, w, &part)) continue;
    e->products += d.m.count * d.n.count * (d.k.count == 0 ? 1 : d.k.count);
    if (d.k.count == 0) continue;
    expand_add_need(e, s->dot.a.buffer, w->instance[s->dot.a.buffer], &d.a);
    expand_add_need(e, s->dot.b.buffer, w->instance[s->dot.b.buffer], &d.b);
  }
  return true;
}

// ---- commands

static uint32_t local_of(const layout *l, bool column, int64_t at) {
  return column ? layout_of_column(l, at) : layout_of_row(l, at);
}

static void locate_runs(dot_runs *list, const layout *first, bool first_column, const layout *second,
                        bool second_column) {
  for (size_t i = 0; i < list->count; i++) {
    dot_run *r = &list->runs[i];
    r->first_local = local_of(first, first_column, r->first);
    r->second_local = local_of(second, second_column, r->second);
  }
}

// Finds the local addresses: those of a command are sums of what its runs add, so nothing is divided per command.
static void locate(dot *d) {
  const block_statement *s = d->s;
  const int t = s->dot.target.buffer, a = s->dot.a.buffer, b = s->dot.b.buffer;
  const layout *of = d->e->layouts;
  d->target_local = layout_of_instance(&of[t], d->w->instance[t]);
  d->a_local = layout_of_instance(&of[a], d->w->instance[a]);
  d->b_local = layout_of_instance(&of[b], d->w->instance[b]);
  locate_runs(&d->m, &of[t], false, &of[a], s->dot.a_transposed);
  locate_runs(&d->n, &of[t], true, &of[b], !s->dot.b_transposed);
  locate_runs(&d->k, &of[a], !s->dot.a_transposed, &of[b], s->dot.b_transposed);
}

static void put_pair(dot *d, const dot_run *m, const dot_run *k, const dot_run *n, bool fresh, bool accumulate) {
  const block_statement *s = d->s;
  bool at = s->dot.a_transposed, bt = s->dot.b_transposed;
  bool os = d->e->program->dataflow == BLOCK_OS;
  int64_t depth = k == NULL ? 0 : k->count;
  stream_product p = {.a = EXPAND_GARBAGE,
                      .b = EXPAND_GARBAGE,
                      .c = (d->target_local + m->first_local + n->first_local) | (accumulate ? UINT32_C(1) << 30 : 0),
                      .a_rows = (uint8_t)m->count,
                      .a_cols = (uint8_t)depth,
                      .b_rows = (uint8_t)depth,
                      .b_cols = (uint8_t)n->count,
                      .c_rows = (uint8_t)m->count,
                      .c_cols = (uint8_t)n->count,
                      .fresh = fresh || os,
                      .output_stationary = os,
                      .a_transposed = at,
                      .b_transposed = bt};
  if (k != NULL) {
    const dot_run *rows = at ? k : m;
    p.a = d->a_local + m->second_local + k->first_local;
    p.a_stride = (uint16_t)(rows->count == 1 ? 0 : at ? 1 : rows->step);
  }
  if (k != NULL && p.fresh) p.b = d->b_local + n->second_local + k->second_local;
  streams_product(&d->e->streams, &p);
}

// The products of a statement as they follow each other from `base` on, rows innermost: so the first and the last one
// that touches a row are known.
typedef struct dot_order {
  uint32_t base, rows, depth, column;  // products of one block of weights; blocks of depth; products of a column
} dot_order;

// Rows that are weights as well count as used by the whole statement.
static void touch_inputs(const dot *d, const dot_order *o) {
  const bool transposed = d->s->dot.a_transposed, both = d->s->dot.a.buffer == d->s->dot.b.buffer;
  const uint32_t columns = (uint32_t)d->n.count, end = (columns - 1) * o->column;
  for (uint32_t k = 0; k < d->k.count; k++)
    for (uint32_t m = 0; m < o->rows; m++) {
      const dot_run *across = &d->m.runs[m], *deep = &d->k.runs[k], *along = transposed ? deep : across;
      const uint32_t first = o->base + k * o->rows + m;
      streams_read(&d->e->streams, &(stream_span){.local = d->a_local + across->second_local + deep->first_local,
                                                  .count = (uint32_t)along->count,
                                                  .step = transposed || along->count == 1 ? 1 : (uint32_t)along->step,
                                                  .first = first,
                                                  .last = both ? o->base + columns * o->column - 1 : first + end});
    }
}

// Output-stationary, weights come with each product.
static void touch_weights(const dot *d, const dot_order *o) {
  const bool each = d->e->program->dataflow == BLOCK_OS;
  for (uint32_t n = 0; n < d->n.count; n++)
    for (uint32_t k = 0; k < d->k.count; k++) {
      const dot_run *across = &d->n.runs[n], *deep = &d->k.runs[k];
      const uint32_t first = o->base + n * o->column + k * o->rows;
      streams_read(&d->e->streams, &(stream_span){.local = d->b_local + across->second_local + deep->second_local,
                                                  .count = (uint32_t)(d->s->dot.b_transposed ? across : deep)->count,
                                                  .step = 1,
                                                  .first = first,
                                                  .last = each ? first + o->rows - 1 : first});
    }
}

static void touch_results(const dot *d, const dot_order *o) {
  for (uint32_t n = 0; n < d->n.count; n++)
    for (uint32_t m = 0; m < o->rows; m++) {
      const dot_run *rows = &d->m.runs[m], *columns = &d->n.runs[n];
      const uint32_t first = o->base + n * o->column + m;
      streams_write(&d->e->streams, &(stream_span){.local = d->target_local + rows->first_local + columns->first_local,
                                                   .count = (uint32_t)rows->count,
                                                   .step = 1,
                                                   .first = first,
                                                   .last = first + (o->depth - 1) * o->rows});
    }
}

// Tells the rows which products touch them.
static void touch_rows(const dot *d, uint32_t base, bool kept) {
  const uint32_t rows = (uint32_t)d->m.count, depth = d->k.count == 0 ? 1 : (uint32_t)d->k.count;
  const dot_order o = {.base = base, .rows = rows, .depth = depth, .column = depth * rows};
  if (!kept || d->e->program->dataflow == BLOCK_OS) touch_weights(d, &o);
  touch_inputs(d, &o);
  touch_results(d, &o);
}

static void longest_last(dot_runs *m) {
  size_t longest = m->count - 1;
  for (size_t i = m->count; i-- > 0;)
    if (m->runs[i].count > m->runs[longest].count) longest = i;
  dot_run last = m->runs[longest];
  m->runs[longest] = m->runs[m->count - 1];
  m->runs[m->count - 1] = last;
}

static bool check(expand *e, const block_statement *s) {
  const char *reason = NULL;
  bool os = e->program->dataflow == BLOCK_OS;
  if (e->program->buffers[s->dot.target.buffer].scope != BLOCK_ACC)
    reason = "the result of a product belongs into the accumulator";
  else if (e->program->buffers[s->dot.a.buffer].scope != BLOCK_SP ||
           e->program->buffers[s->dot.b.buffer].scope != BLOCK_SP)
    reason = "operands of a product belong into the scratchpad";
  else if ((s->dot.a_transposed || s->dot.b_transposed) && !e->array->units.transposer)
    reason = "this array cannot transpose operands";
  else if (!os && s->dot.a_transposed && s->dot.b_transposed)
    reason = "weight-stationary products transpose one operand only";
  else if (os && !s->dot.a_transposed && s->dot.b_transposed)
    reason = "output-stationary products transpose B only if they transpose A too";
  else if (e->array->mesh.dataflow == (os ? HW_DATAFLOW_WS : HW_DATAFLOW_OS))
    reason = os ? "this array has no output-stationary products" : "this array has no weight-stationary products";
  else if (!e->array->accumulator.execute_writes)
    reason = "this array's execute unit cannot write to the accumulator";
  if (reason == NULL) return true;
  wf_error(e->diag, s->where, "product into '%s': %s", e->program->buffers[s->dot.target.buffer].name, reason);
  return false;
}

// `kept`: the weights of the product before serve this one as well.
static bool expand_part(expand *e, const walk *w, const block_statement *s, bool kept) {
  dot d;
  if (!find(&d, e, w, s)) return true;
  if (d.unaligned) {
    wf_error(e->diag, s->where, "product into '%s': its operands do not start at whole blocks of %u columns",
             e->program->buffers[s->dot.target.buffer].name, e->derived.dim);
    return false;
  }
  bool overwrite = !s->dot.accumulate && !expand_repeats(w, s->dot.overwrite_first);
  if (d.k.count == 0 && !overwrite) return true;
  locate(&d);
  longest_last(&d.m);
  if (!kept) streams_stage(&e->streams);
  const uint32_t base = e->streams.product_count;
  for (size_t n = 0; n < d.n.count; n++)
    for (size_t k = 0; k == 0 || k < d.k.count; k++)
      for (size_t m = 0; m < d.m.count; m++)
        put_pair(&d, &d.m.runs[m], d.k.count == 0 ? NULL : &d.k.runs[k], &d.n.runs[n], m == 0 && !kept,
                 !overwrite || k > 0);
  touch_rows(&d, base, kept);
  return true;
}

bool expand_dot(expand *e, const walk *w, const block_statement *s) {
  if (!check(e, s)) return false;
  const uint32_t before = e->streams.product_count;
  for (int64_t n = 0; n < part_count(e, s); n++) {
    const block_statement part = part_of(e, s, n);
    if (!expand_part(e, w, &part, block_is_shared(e->program, s) && e->streams.product_count > before)) return false;
  }
  return true;
}
