// SPDX-License-Identifier: Apache-2.0
// What the products of one execution of a statement are, its plan. Rows of results (m) and depth (k) are listed element
// by element with the local rows that they stand for, then cut into runs that one command handles; images make runs
// shorter than DIM, which cost less time.
//
// A product of blocks is one product per block of columns, with the same weights or with weights of their own. So is a
// product whose weights are known: each block of columns has the depth at which its weights are not all zeros.
//
// Rows of zeros add nothing, so a product that adds leaves them out; one that overwrites gives its rows their first
// values and has them all.
//
// A plan depends on what is needed of the result, on whether it is overwritten, on where operands hold elements of
// their tensors, and on the iterations of the loops that choose parts of buffers: executions that agree in these share
// one.
#include "compiler/schedule/plan.h"

#include <string.h>

#include "base/number.h"

enum { SITE_SLOTS = 64 };

// The plans of a statement.
typedef struct sched_site {
  struct sched_site *next;
  const block_statement *statement;
  int loops[BLOCK_LOOPS_MAX], loop_count;  // the loops that choose parts of buffers
  sched_plan *plans[SITE_SLOTS];
} sched_site;

// A plan in the making.
typedef struct finder {
  sched_planner *p;
  const sched_walk *w;
  const block_statement *s;
  sched_box target;  // what is needed of the result
  sched_box a, b;    // what has been read, joined while m, k and n are listed
  sched_dot_runs m, k, n;
  int64_t rows;  // of m that are no padding
  bool unaligned;
} finder;

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

static void start(odometer *o, const finder *d, const block_view *view, int from, int to) {
  const block_buffer *buffer = &d->p->program->buffers[view->buffer];
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

// Narrows elements [*from, *to) of a span to the elements inside a box.
static void narrow(const sched_box *b, const odometer *o, int64_t *from, int64_t *to) {
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
static void stretch(sched_box *b, const odometer *o, int64_t from, int64_t to, bool first) {
  for (int d = o->from; d < o->to; d++) {
    bool inner = d == o->to - 1;
    int64_t low = o->at[d] + (inner ? from * o->view->dim[d].step : 0);
    int64_t high = o->at[d] + (inner ? (to - 1) * o->view->dim[d].step : 0) + 1;
    if (first || low < b->lo[d]) b->lo[d] = low;
    if (first || high > b->hi[d]) b->hi[d] = high;
  }
}

static int64_t position(const finder *d, const odometer *o) {
  return o->column ? o->at[o->from] : block_layout_flat(&d->p->program->buffers[o->view->buffer], o->at);
}

// What a run may do: it crosses no multiple of a tile (0: any), and only rows of A may be spaced.
typedef struct dot_limits {
  int64_t first_tile, second_tile;
  bool spaced;
} dot_limits;

// Elements that can follow without crossing a multiple of the tile.
static int64_t room_in_tile(int64_t at, int64_t tile) { return tile == 0 ? INT64_MAX : (tile - at % tile) % tile; }

// How many of `count` elements that begin at `first` and `second` continue a run.
static int64_t continues(const finder *d, const sched_dot_run *last, const sched_dot_run *span, const dot_limits *may) {
  int64_t step = span->second - (last->second + (last->count - 1) * last->step);
  if (span->first != last->first + last->count || (last->count > 1 && step != last->step)) return 0;
  if (may->spaced ? step <= 0 : step != 1) return 0;
  int64_t room = wf_min(d->p->dim - last->count, wf_min(room_in_tile(span->first, may->first_tile),
                                                        room_in_tile(span->second, may->second_tile)));
  return wf_min(room, span->step == step ? span->count : 1);
}

// Adds a span to a list of runs; its elements are consecutive in `first` and `step` apart in `second`.
static void append(const finder *d, sched_dot_runs *list, sched_dot_run span, const dot_limits *may) {
  while (span.count > 0) {
    sched_dot_run *last = list->count == 0 ? NULL : &list->runs[list->count - 1];
    int64_t taken = last == NULL ? 0 : continues(d, last, &span, may);
    if (taken == 0) {
      last = WF_ARENA_PUSH(d->p->arena, list->runs, list->count, &list->room);
      *last = (sched_dot_run){.first = span.first, .second = span.second, .count = 1};
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
static void append_span(const finder *d, sched_dot_runs *runs, const odometer *first, const odometer *second,
                        int64_t from, int64_t to, const dot_limits *may) {
  sched_dot_run span = {.first = position(d, first) + from * first->stride,
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

// Lists pairs of elements of two views that belong together; pairs outside `first_needs` or `second_needs` are left
// out.
static void list(finder *d, sched_dot_runs *runs, odometer *first, odometer *second, const sched_box *first_needs,
                 const sched_box *second_needs, sched_box *first_read, sched_box *second_read) {
  int64_t dim = d->p->dim;
  const dot_limits may = {.first_tile = first->column ? dim : d->p->layouts[first->view->buffer].tile,
                          .second_tile = second->column ? dim : 0,
                          .spaced = runs == &d->m && !d->s->dot.a_transposed};
  runs->count = 0;
  for (int64_t i = 0, span; i < first->count; i += span, advance(first, span), advance(second, span)) {
    int64_t from = 0, to = span = wf_min(span_left(first), span_left(second));
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

// ---- products of blocks

static int last_of(const block_program *program, const block_view *view) {
  return program->buffers[view->buffer].rank - 1;
}

bool sched_plan_overwrites(const sched_walk *w, const block_statement *s) {
  return !s->dot.accumulate && !sched_walk_repeats(w, s->dot.overwrite_first);
}

// Columns of a part; 0: it has all of them.
static int64_t columns_of_part(const sched_planner *p, const block_statement *s) {
  if (s->dot.blocks) return s->dot.b.dim[last_of(p->program, &s->dot.b)].size;
  return p->regions->weights[s->dot.b.buffer] ? p->dim : 0;
}

int64_t sched_plan_parts(const sched_planner *p, const block_statement *s) {
  const int64_t size = columns_of_part(p, s);
  return size == 0 ? 1 : wf_ceil_div(s->dot.target.dim[last_of(p->program, &s->dot.target)].size, size);
}

// Columns [first, first + size) of results and weights.
static void take_columns(const block_program *program, block_statement *part, int64_t first, int64_t size) {
  const int last = last_of(program, &part->dot.b);
  block_view_dim *t = &part->dot.target.dim[last_of(program, &part->dot.target)],
                 *b = &part->dot.b.dim[part->dot.b_transposed ? 0 : last];
  t->offset.constant += first * t->step;
  b->offset.constant += first * b->step;
  t->size = b->size = wf_min(size, t->size - first);
}

// Product n of them: a statement of its own.
static block_statement part_of(const sched_planner *p, const block_statement *s, int64_t n) {
  const block_program *program = p->program;
  block_statement part = *s;
  const int64_t columns = columns_of_part(p, s);
  if (!s->dot.blocks) {
    if (columns != 0) take_columns(program, &part, n * columns, columns);
    return part;
  }
  const int last = last_of(program, &s->dot.b);
  block_view_dim *t = &part.dot.target.dim[last_of(program, &s->dot.target)],
                 *a = &part.dot.a.dim[last_of(program, &s->dot.a)];
  block_view_dim *b = part.dot.b.dim;
  const int64_t size = b[last].size, first = n * size;
  t->offset.constant += first * t->step;
  a->offset.constant += first * a->step;
  t->size = a->size = b[last].size = b[last - 1].size = wf_min(size, t->size - first);
  for (int d = 0; d < last - 1; d++) {  // one of these counts matrices
    if (b[d].size == 1) continue;
    b[d].offset.constant += n * b[d].step;
    b[d].size = 1;
  }
  return part;
}

// ---- plans

static int64_t elements_of(const sched_dot_runs *list) {
  int64_t count = 0;
  for (size_t i = 0; i < list->count; i++) count += list->runs[i].count;
  return count;
}

// Cycles of the products of one block of weights; the last one takes as long as new weights do.
static double cycles_of(const finder *d) {
  double sum = 0, longest = 0;
  for (size_t i = 0; i < d->m.count; i++) {
    const double cycles = cost_pair_cycles(d->p->cost, (double)d->m.runs[i].count);
    sum += cycles;
    longest = wf_max(longest, cycles);
  }
  return d->m.count == 0 ? 0 : sum - longest + (double)d->p->dim;
}

// What a product leaves out of its rows: nothing; the rows of an image that are all padding; the padding at the ends of
// the other rows of the image as well.
typedef enum { ALL_ROWS, ROWS_OF_IMAGES, PIXELS, CUTS } row_cut;

static double list_cut(finder *d, const odometer *target, const odometer *a, row_cut cut) {
  odometer first = *target, second = *a;
  const sched_box *nonzero = cut == ALL_ROWS ? NULL : sched_region_nonzero(d->p->regions, d->w, d->s->dot.a.buffer);
  sched_box rows;
  if (nonzero != NULL) rows = *nonzero;
  if (cut == ROWS_OF_IMAGES && a->to > a->from) {
    rows.lo[a->to - 1] = 0;
    rows.hi[a->to - 1] = d->p->program->buffers[d->s->dot.a.buffer].size[a->to - 1];
  }
  list(d, &d->m, &first, &second, &d->target, nonzero == NULL ? NULL : &rows, NULL, &d->a);
  return cycles_of(d);
}

// Short runs of rows may cost more than the rows that they leave out.
static void list_rows(finder *d, const odometer *target, const odometer *a) {
  const bool may = d->p->cuts && !sched_plan_overwrites(d->w, d->s) && !d->s->dot.a_transposed;
  row_cut best = ALL_ROWS;
  double least = list_cut(d, target, a, ALL_ROWS);
  for (row_cut cut = ROWS_OF_IMAGES; cut < CUTS; cut++) {
    const double cycles = list_cut(d, target, a, cut);
    if (!may || cycles > least) continue;
    least = cycles;
    best = cut;
  }
  d->rows = elements_of(&d->m);
  if (best != PIXELS) list_cut(d, target, a, best);
}

// The block of weights at a run of depth and one of columns.
static sched_tile weights_at(const block_statement *s, const sched_dot_run *k, const sched_dot_run *n) {
  const sched_dot_run *row = s->dot.b_transposed ? n : k, *column = s->dot.b_transposed ? k : n;
  return (sched_tile){.row = row->second, .rows = row->count, .column = column->second, .columns = column->count};
}

static bool weights_are_zero(const finder *d, const sched_known *known, const sched_dot_run *k) {
  const block_buffer *buffer = &d->p->program->buffers[d->s->dot.b.buffer];
  for (size_t n = 0; n < d->n.count; n++) {
    const sched_tile tile = weights_at(d->s, k, &d->n.runs[n]);
    if (!sched_zeros_all(known, buffer, &tile)) return false;
  }
  return true;
}

static void leave_out_zeros(finder *d) {
  const sched_known *known = sched_region_known(d->p->regions, d->w, d->s->dot.b.buffer);
  size_t left = 0;
  if (known == NULL) return;
  for (size_t k = 0; k < d->k.count; k++)
    if (!weights_are_zero(d, known, &d->k.runs[k])) d->k.runs[left++] = d->k.runs[k];
  d->k.count = left;
}

// Finds the runs of one product.
static void find(finder *d, sched_planner *p, const sched_walk *w, const block_statement *s) {
  const block_view *t = &s->dot.target, *a = &s->dot.a, *b = &s->dot.b;
  int t_last = last_of(p->program, t), a_last = last_of(p->program, a), b_last = last_of(p->program, b);
  bool at = s->dot.a_transposed, bt = s->dot.b_transposed;
  *d = (finder){.p = p,
                .w = w,
                .s = s,
                .target = *sched_region_need(p->regions, t->buffer, w->instance[t->buffer]),
                .m = p->lists[0],
                .n = p->lists[1],
                .k = p->lists[2]};
  d->m.count = d->n.count = d->k.count = 0;
  d->rows = 0;
  if (sched_box_empty(&d->target, t_last + 1)) return;
  odometer t_m, t_n, a_m, a_k, b_k, b_n;
  start(&t_m, d, t, 0, t_last);
  start(&t_n, d, t, t_last, t_last + 1);
  start(&a_m, d, a, at ? a_last : 0, at ? a_last + 1 : a_last);
  start(&a_k, d, a, at ? 0 : a_last, at ? a_last : a_last + 1);
  start(&b_k, d, b, bt ? b_last : 0, bt ? b_last + 1 : b_last);
  start(&b_n, d, b, bt ? 0 : b_last, bt ? b_last : b_last + 1);
  list_rows(d, &t_m, &a_m);
  list(d, &d->n, &t_n, &b_n, &d->target, NULL, NULL, &d->b);
  list(d, &d->k, &a_k, &b_k, sched_region_nonzero(p->regions, w, a->buffer),
       sched_region_nonzero(p->regions, w, b->buffer), &d->a, &d->b);
  leave_out_zeros(d);
  p->lists[0] = d->m;
  p->lists[1] = d->n;
  p->lists[2] = d->k;
}

// ---- local addresses: each address of a command is the sum of what its runs add, so no command needs a division

static uint32_t local_of(const block_layout *l, bool column, int64_t at) {
  return column ? block_layout_of_column(l, at) : block_layout_of_row(l, at);
}

static void locate_runs(sched_dot_runs *list, const block_layout *first, bool first_column, const block_layout *second,
                        bool second_column) {
  for (size_t i = 0; i < list->count; i++) {
    sched_dot_run *r = &list->runs[i];
    r->first_local = local_of(first, first_column, r->first);
    r->second_local = local_of(second, second_column, r->second);
  }
}

// Of packed weights the tiles lie one behind the other.
static void place_packed(finder *d) {
  sched_pack *pack = sched_region_pack(d->p->regions, d->s->dot.b.buffer);
  const sched_known *known = sched_region_known(d->p->regions, d->w, d->s->dot.b.buffer);
  if (pack == NULL || d->n.count == 0) return;
  pack->failed |= known == NULL || d->n.count != 1 || d->s->dot.b_transposed;
  d->n.runs[0].second_local = 0;
  for (size_t k = 0; k < d->k.count && !pack->failed; k++) {
    const sched_tile tile = weights_at(d->s, &d->k.runs[k], &d->n.runs[0]);
    d->k.runs[k].second_local = sched_pack_place(pack, known, &tile);
  }
}

static void locate(finder *d) {
  const block_statement *s = d->s;
  const block_layout *of = d->p->layouts, *t = &of[s->dot.target.buffer], *a = &of[s->dot.a.buffer],
                     *b = &of[s->dot.b.buffer];
  if (d->unaligned) return;
  locate_runs(&d->m, t, false, a, s->dot.a_transposed);
  locate_runs(&d->n, t, true, b, !s->dot.b_transposed);
  locate_runs(&d->k, a, !s->dot.a_transposed, b, s->dot.b_transposed);
  place_packed(d);
}

// The run before new weights takes DIM cycles in any case, so the longest comes last.
static void longest_last(sched_dot_runs *m) {
  if (m->count == 0) return;
  size_t longest = m->count - 1;
  for (size_t i = m->count; i-- > 0;)
    if (m->runs[i].count > m->runs[longest].count) longest = i;
  sched_dot_run last = m->runs[longest];
  m->runs[longest] = m->runs[m->count - 1];
  m->runs[m->count - 1] = last;
}

// ---- plans that are there already

enum { KEY_MAX = 3 + BLOCK_LOOPS_MAX + 3 * (1 + 2 * BLOCK_RANK_MAX) };

typedef struct plan_key {
  int64_t words[KEY_MAX];
  size_t count;
} plan_key;

static void put(plan_key *key, int64_t word) { key->words[key->count++] = word; }

static void put_box(plan_key *key, const sched_box *b, int rank) {
  put(key, b != NULL);
  for (int d = 0; b != NULL && d < rank; d++) {
    put(key, b->lo[d]);
    put(key, b->hi[d]);
  }
}

static plan_key key_of(const sched_planner *p, const sched_walk *w, const sched_site *site, int64_t part) {
  const block_statement *s = site->statement;
  const int t = s->dot.target.buffer, a = s->dot.a.buffer, b = s->dot.b.buffer;
  plan_key key;
  key.count = 0;
  put(&key, part);
  put(&key, sched_plan_overwrites(w, s));
  const sched_known *known = sched_region_known(p->regions, w, b);
  if (known != NULL) put(&key, known->base);
  for (int l = 0; l < site->loop_count; l++) put(&key, w->iteration[site->loops[l]]);
  put_box(&key, sched_region_need(p->regions, t, w->instance[t]), p->program->buffers[t].rank);
  put_box(&key, sched_region_nonzero(p->regions, w, a), p->program->buffers[a].rank);
  put_box(&key, sched_region_nonzero(p->regions, w, b), p->program->buffers[b].rank);
  return key;
}

static sched_plan **slot_of(sched_site *site, const plan_key *key) {
  uint64_t hash = 0;
  for (size_t i = 0; i < key->count; i++)
    hash = (hash ^ (uint64_t)key->words[i] ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15);
  return &site->plans[(hash >> 32) % SITE_SLOTS];
}

static sched_dot_runs kept(wf_arena *arena, const sched_dot_runs *list) {
  sched_dot_runs copy = {
      .runs = WF_ARENA_ARRAY(arena, list->count, sched_dot_run), .count = list->count, .room = list->count};
  if (list->count != 0) memcpy(copy.runs, list->runs, list->count * sizeof *copy.runs);
  return copy;
}

static sched_plan *make(sched_planner *p, const sched_walk *w, const block_statement *s, const plan_key *key) {
  finder d;
  find(&d, p, w, s);
  locate(&d);
  longest_last(&d.m);
  sched_plan *plan = WF_ARENA_NEW(p->arena, sched_plan);
  int64_t *words = WF_ARENA_ARRAY(p->arena, key->count, int64_t);
  memcpy(words, key->words, key->count * sizeof *words);
  *plan = (sched_plan){.key = words,
                       .key_words = key->count,
                       .m = kept(p->arena, &d.m),
                       .k = kept(p->arena, &d.k),
                       .n = kept(p->arena, &d.n),
                       .a = d.a,
                       .b = d.b,
                       .macs = (uint64_t)(d.rows * elements_of(&d.k) * elements_of(&d.n)),
                       .needed = d.m.count != 0 && d.n.count != 0,
                       .unaligned = d.unaligned};
  return plan;
}

static bool view_moves(const block_view *view, int rank, int loop) {
  for (int d = 0; d < rank; d++)
    if (view->dim[d].offset.per_loop[loop] != 0) return true;
  return false;
}

static sched_site *site_of(sched_planner *p, const block_statement *s) {
  for (sched_site *site = p->sites; site != NULL; site = site->next)
    if (site->statement == s) return site;
  sched_site *site = WF_ARENA_NEW(p->arena, sched_site);
  *site = (sched_site){.next = p->sites, .statement = s};
  const block_view *views[] = {&s->dot.target, &s->dot.a, &s->dot.b};
  for (int l = 0; l < BLOCK_LOOPS_MAX; l++) {
    bool moves = false;
    for (int v = 0; v < 3; v++) moves |= view_moves(views[v], last_of(p->program, views[v]) + 1, l);
    if (moves) site->loops[site->loop_count++] = l;
  }
  return p->sites = site;
}

const sched_plan *sched_plan_of(sched_planner *p, const sched_walk *w, const block_statement *s, int64_t part) {
  sched_site *site = site_of(p, s);
  const plan_key key = key_of(p, w, site, part);
  sched_plan **slot = slot_of(site, &key), *plan = *slot;
  while (plan != NULL &&
         (plan->key_words != key.count || memcmp(plan->key, key.words, key.count * sizeof *key.words) != 0))
    plan = plan->next;
  if (plan != NULL) return plan;
  const block_statement own = part_of(p, s, part);
  plan = make(p, w, &own, &key);
  plan->next = *slot;
  return *slot = plan;
}
