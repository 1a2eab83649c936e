// SPDX-License-Identifier: Apache-2.0
// Streams of commands and what each has to follow. Commands come in the program's order; for each local row the
// last command of each kind that touched it is known, which gives the constraints exactly: a load follows the products
// and stores that still used the rows that it fills, a product the loads that filled its operands and the stores that
// read what it overwrites, a store the products that it stores.
#include "compiler/schedule/streams.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"

enum { LOADED_GRAIN = 64 };  // bytes

static sched_touched rows_create(wf_arena *arena, uint32_t count) {
  return (sched_touched){.load = WF_ARENA_ARRAY(arena, count, uint32_t),
                         .product = WF_ARENA_ARRAY(arena, count, uint32_t),
                         .store = WF_ARENA_ARRAY(arena, count, uint32_t)};
}

void sched_streams_create(sched_streams *s, const block_program *program, const cost_model *cost, wf_arena *arena) {
  *s = (sched_streams){.arena = arena, .cost = cost, .derived = cost->hw, .queue_count = program->buffer_count};
  s->queues = WF_ARENA_ARRAY(arena, (size_t)program->buffer_count + 1, sched_queue);
  s->loaded = WF_ARENA_ARRAY(arena, (size_t)program->tensor_count + 1, uint8_t *);
  for (int t = 0; t < program->tensor_count; t++) {
    const uint64_t bytes = (uint64_t)program->tensors[t].elements * block_type_bytes(program->tensors[t].type);
    const bool kept = cost->array->l2.present && bytes <= UINT64_C(1024) * cost->array->l2.capacity_kib;
    if (kept) s->loaded[t] = WF_ARENA_ARRAY(arena, bytes / LOADED_GRAIN + 1, uint8_t);
  }
  s->sp = rows_create(arena, s->derived.sp_rows);
  s->acc = rows_create(arena, s->derived.acc_rows);
}

static const sched_touched *rows_of(const sched_streams *s, uint32_t local) {
  return isa_local_accumulator(local) != 0 ? &s->acc : &s->sp;
}

static uint32_t row_of(const sched_streams *s, uint32_t local) {
  return local & ((UINT32_C(1) << s->derived.row_bits) - 1);
}

// ---- rows side by side

enum { TOGETHER = 4 };
typedef uint32_t together
    __attribute__((vector_size(TOGETHER * sizeof(uint32_t)), aligned(sizeof(uint32_t)), may_alias));
typedef uint64_t halves __attribute__((vector_size(TOGETHER * sizeof(uint32_t))));

static inline together *at(uint32_t *values) { return (together *)values; }

static inline void fill(uint32_t *values, uint32_t count, uint32_t value) {
  const together all = {value, value, value, value};
  uint32_t *end = values + count;
  if (count < TOGETHER) {
    while (values < end) *values++ = value;
    return;
  }
  for (; values + TOGETHER < end; values += TOGETHER) *at(values) = all;
  *at(end - TOGETHER) = all;
}

static inline bool all_alike(uint32_t *values, uint32_t count) {
  const uint32_t first = values[0];
  const together all = {first, first, first, first};
  uint32_t *end = values + count;
  if (count < TOGETHER) {
    for (; values < end; values++)
      if (*values != first) return false;
    return true;
  }
  together other = *at(end - TOGETHER) ^ all;
  for (; values + TOGETHER < end; values += TOGETHER) other |= *at(values) ^ all;
  const halves half = (halves)other;
  return (half[0] | half[1]) == 0;
}

// Whether rows have the same load and store. Most of the scratchpad are never stored.
static bool touched_alike(const sched_touched *rows, uint32_t first, uint32_t count) {
  return (!rows->stored || all_alike(rows->store + first, count)) && all_alike(rows->load + first, count);
}

static sched_load *load_of(const sched_streams *s, const sched_touched *rows, uint32_t row) {
  const sched_place *at = &s->loads[rows->load[row] - 1];
  return &s->queues[at->queue].loads[at->index];
}

// ---- loads

static void note_row(const sched_streams *s, const sched_touched *rows, uint32_t row, sched_load *load) {
  load->after_products = wf_max(load->after_products, rows->product[row]);
  load->after_stores = wf_max(load->after_stores, rows->store[row]);
  if (rows->load[row] != 0) {
    sched_load *old = load_of(s, rows, row);
    old->unread |= old->before_product > s->product_count;
    old->before_product = wf_min(old->before_product, s->product_count);
  }
}

// The rows of the latest load.
static void fill_rows(const sched_streams *s, uint32_t first, uint32_t count, sched_load *load) {
  const sched_touched *rows = rows_of(s, load->local);
  const bool once = all_alike(rows->product + first, count) && touched_alike(rows, first, count);
  for (uint32_t i = 0; i < (once ? 1 : count); i++) note_row(s, rows, first + i, load);
  fill(rows->load + first, count, (uint32_t)s->load_count);
}

// Whether the load's first bytes were loaded before, as far as the cache keeps that.
static bool is_again(const sched_streams *s, const sched_load *load) {
  uint8_t *loaded = load->tensor == COMMAND_NO_TENSOR ? NULL : s->loaded[load->tensor];
  if (loaded == NULL || load->offset < 0) return false;
  const bool again = loaded[load->offset / LOADED_GRAIN] != 0;
  loaded[load->offset / LOADED_GRAIN] = 1;
  return again;
}

void sched_streams_load(sched_streams *s, int queue, const sched_load *load) {
  sched_queue *q = &s->queues[queue];
  *WF_ARENA_PUSH(s->arena, s->loads, s->load_count, &s->load_room) = (sched_place){queue, q->count};
  sched_load *new = WF_ARENA_PUSH(s->arena, q->loads, q->count, &q->room);
  *new = *load;
  new->after_products = new->after_stores = 0;
  new->before_product = new->before_store = SCHED_NEVER;
  new->again = is_again(s, load) || load->joined;
  const uint32_t dim = s->derived.dim, row = row_of(s, load->local);
  for (uint32_t b = 0; b * dim < load->cols; b++) fill_rows(s, row + b * load->block_stride, load->rows, new);
}

// ---- products

static void need_load(const sched_streams *s, const sched_touched *rows, uint32_t row, uint32_t product) {
  if (rows->load[row] == 0) return;
  sched_load *load = load_of(s, rows, row);
  load->before_product = wf_min(load->before_product, product);
}

// Rows that one load after the other filled.
static void read_each(const sched_streams *s, const sched_touched *rows, uint32_t first, const sched_span *span) {
  const uint32_t end = first + span->count * span->step;
  for (uint32_t row = first, seen = end; row < end; seen = row, row += span->step)
    if (seen == end || rows->load[row] != rows->load[seen]) need_load(s, rows, row, span->first);
}

// Rows side by side mostly come from one load.
void sched_streams_read(sched_streams *s, const sched_span *span) {
  const sched_touched *rows = rows_of(s, span->local);
  const uint32_t first = row_of(s, span->local), count = span->count;
  if (span->step == 1 && all_alike(rows->load + first, count))
    need_load(s, rows, first, span->first);
  else
    read_each(s, rows, first, span);
  if (span->step == 1)
    fill(rows->product + first, count, span->last + 1);
  else
    for (uint32_t i = 0; i < count; i++) rows->product[first + i * span->step] = span->last + 1;
}

// Nests and the columns of each write in the order of their products.
static void wait_for(sched_streams *s, uint32_t product, uint32_t stores) {
  sched_wait *last = s->wait_count == 0 ? NULL : &s->waits[s->wait_count - 1];
  assert(last == NULL || last->product <= product);
  if (last != NULL && last->product == product)
    last->stores = wf_max(last->stores, stores);
  else
    *WF_ARENA_PUSH(s->arena, s->waits, s->wait_count, &s->wait_room) = (sched_wait){product, stores};
}

static void write_row(sched_streams *s, const sched_touched *rows, uint32_t row, uint32_t product) {
  if (rows->store[row] != 0) {
    sched_store *store = &s->stores[rows->store[row] - 1];
    wait_for(s, product, rows->store[row]);
    store->before_product = wf_min(store->before_product, product);
  }
  need_load(s, rows, row, product);
}

void sched_streams_write(sched_streams *s, const sched_span *span) {
  const sched_touched *rows = rows_of(s, span->local);
  const uint32_t first = row_of(s, span->local), count = span->count;
  write_row(s, rows, first, span->first);
  if (!touched_alike(rows, first, count))
    for (uint32_t row = first + 1; row < first + count; row++)
      if (rows->store[row] != rows->store[row - 1] || rows->load[row] != rows->load[row - 1])
        write_row(s, rows, row, span->first);
  fill(rows->product + first, count, span->last + 1);
  fill(rows->load + first, count, 0);
}

const sched_nest *sched_streams_products(sched_streams *s, const sched_nest *nest) {
  sched_nest *new = WF_ARENA_PUSH(s->arena, s->nests, s->nest_count, &s->nest_room);
  *new = *nest;
  new->first = s->product_count;
  s->product_count += (uint32_t)sched_plan_products(nest->plan);
  return new;
}

void sched_streams_stage(sched_streams *s) {
  *WF_ARENA_PUSH(s->arena, s->stages, s->stage_count, &s->stage_room) = s->product_count;
}

// ---- stores

static void store_row(sched_streams *s, const sched_touched *rows, uint32_t row, sched_store *store) {
  store->after_products = wf_max(store->after_products, rows->product[row]);
  if (rows->load[row] != 0) {
    sched_load *load = load_of(s, rows, row);
    load->before_store = wf_min(load->before_store, s->store_count - 1);
  }
  rows->store[row] = s->store_count;
}

void sched_streams_store(sched_streams *s, const sched_store *store) {
  sched_store *new = WF_ARENA_PUSH(s->arena, s->stores, s->store_count, &s->store_room);
  *new = *store;
  new->after_products = 0;
  new->before_product = SCHED_NEVER;
  const uint32_t dim = s->derived.dim, first = row_of(s, store->local),
                 image = (uint32_t)store->image_rows * store->image_cols - store->image_skipped,
                 count = store->pool.stride != 0 ? image : store->rows;
  sched_touched *rows = isa_local_accumulator(store->local) != 0 ? &s->acc : &s->sp;
  rows->stored = true;
  for (uint32_t b = 0; b * dim < store->cols; b++)
    for (uint32_t i = 0; i < count; i++) store_row(s, rows, first + b * dim + i, new);
  if (!store->gated) return;
  const uint32_t factors = first + (uint32_t)store->gate_offset;
  s->sp.stored = true;
  for (uint32_t b = 0; b * dim < store->cols; b++)
    for (uint32_t i = 0; i < count; i++) store_row(s, &s->sp, factors + b * dim + i, new);
}

// ---- order within queues

// Where a load belongs: by the first product that needs it as long as nothing runs ahead of it, later by the execution
// of a product statement (stage); loads for the same one keep the order that is best for memory, and those whose rows
// are loaded again before a product reads them stay before the loads that do it.
typedef struct sort_item {
  uint64_t place;
  uint32_t load;
} sort_item;

// The stage of a product that follows one of stage `from`, or of any.
static uint32_t stage_of(const sched_streams *s, uint32_t from, uint32_t product) {
  uint32_t low = s->stages[from] <= product ? from : 0, high = s->stage_count;
  if (low + 1 == high || s->stages[low + 1] > product) return low;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (s->stages[middle] <= product)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// True if the loads are in order already.
static bool find_places(const sched_streams *s, const sched_queue *q, sort_item *items) {
  bool ordered = true;
  for (uint32_t n = 0, stage = 0; n < q->count; n++) {
    const sched_load *load = &q->loads[n];
    items[n] = (sort_item){.place = UINT64_MAX, .load = n};
    if (load->before_product != SCHED_NEVER) {
      stage = stage_of(s, stage, load->before_product);
      const bool first = load->instance == 0 && !load->unread;
      items[n].place = (uint64_t)stage << 32 | (first ? load->before_product : 0);
      if (load->joined) items[n].place = wf_min(items[n].place, items[n - 1].place);
    }
    ordered = ordered && (n == 0 || items[n].place >= items[n - 1].place);
  }
  return ordered;
}

// A stable merge sort; the loads come nearly sorted.
static void sort(sort_item *items, sort_item *room, uint32_t count) {
  if (count < 2) return;
  uint32_t half = count / 2, i = 0, j = half;
  sort(items, room, half);
  sort(items + half, room, count - half);
  if (items[half].place >= items[half - 1].place) return;
  for (uint32_t n = 0; n < count; n++)
    room[n] = i == half || (j < count && items[j].place < items[i].place) ? items[j++] : items[i++];
  memcpy(items, room, count * sizeof *items);
}

static void sort_queue(sched_streams *s, sched_queue *q) {
  sort_item *items = WF_ARENA_ARRAY(s->arena, q->count + 1, sort_item);
  if (find_places(s, q, items)) return;
  sort(items, WF_ARENA_ARRAY(s->arena, q->count, sort_item), q->count);
  sched_load *sorted = WF_ARENA_ARRAY(s->arena, q->count, sched_load);
  for (uint32_t n = 0; n < q->count; n++) sorted[n] = q->loads[items[n].load];
  q->loads = sorted;
}

// Whether stores wait for loads of the queue. Its loads keep the program's order: only stores say when they are needed.
static bool feeds_stores(const sched_queue *q) {
  for (uint32_t n = 0; n < q->count; n++)
    if (q->loads[n].before_store != SCHED_NEVER) return true;
  return false;
}

static void finish_queue(sched_streams *s, sched_queue *q, bool accumulator) {
  // Loads into the accumulator may add to each other, so they keep their order.
  if (!accumulator && !feeds_stores(q)) sort_queue(s, q);
  while (q->count > 0 && q->loads[q->count - 1].before_product == SCHED_NEVER &&
         q->loads[q->count - 1].before_store == SCHED_NEVER)
    q->count--;
  for (uint32_t n = q->count; n-- > 1;) {
    q->loads[n - 1].before_product = wf_min(q->loads[n - 1].before_product, q->loads[n].before_product);
    q->loads[n - 1].before_store = wf_min(q->loads[n - 1].before_store, q->loads[n].before_store);
  }
}

void sched_streams_finish(sched_streams *s, const block_program *program) {
  for (int b = 0; b < s->queue_count; b++) finish_queue(s, &s->queues[b], program->buffers[b].scope == BLOCK_ACC);
}
