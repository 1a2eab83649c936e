// SPDX-License-Identifier: Apache-2.0
// One order for the streams. The hardware finds its hazards in program order and lets loads, products and stores
// overtake each other otherwise; but a full class of its reservation station blocks everything behind it. So a load
// stands as far ahead of its first use as its buffer allows, spread evenly over the products before it, and no
// faster than memory delivers; stores of a result are spread over the products of the next one.
//
// Positions are measured in cycles of the products in front (time). What constraints force comes in any case: in front
// of a product the loads that fill its operands and the stores that empty its destination.
#include "compiler/schedule/interleave.h"

#include <assert.h>
#include <math.h>

#include "base/number.h"

typedef struct merge {
  const sched_streams *s;
  const cost_constants *c;
  int64_t lead, lag;  // cycles from a load to its first use, from a product to the store of its result
  wf_arena *arena;
  sched_order *out;
  int64_t *time;          // of the start of each product, and of the end
  int64_t **load_target;  // per queue
  int64_t *store_target;
  uint32_t *next;  // per queue
  uint32_t next_product, next_store;
  size_t next_wait;
  bool memory_bound;
  int64_t clock, loaded;   // when the next product starts, when memory has delivered the loads so far
  uint32_t quiet_product;  // before this product and before this time no load is needed and nothing is due
  int64_t quiet_time;
} merge;

// ---- what commands cost

// Cycles of a product of `rows` rows that stands before the nest `next`; NULL: it is the last product.
static int64_t cycles_before(const sched_streams *s, const sched_nest *next, int64_t rows) {
  const int64_t dim = s->derived.dim;
  if (next == NULL || next->kept) return rows;
  return next->b_transposed ? 2 * dim : dim;
}

// From the time of the first product of a nest on, the times of all behind it.
static void add_times(const sched_streams *s, const sched_nest *nest, const sched_nest *next, int64_t *time) {
  const int64_t dim = s->derived.dim, shortest = nest->output_stationary ? dim : cost_product_rows(0, dim);
  const sched_dot_run *rows = nest->plan->m.runs;
  const size_t count = nest->plan->m.count, blocks = nest->plan->n.count * sched_plan_depth(nest->plan);
  const int64_t last = wf_max(rows[count - 1].count, shortest);
  for (size_t b = 0; b < blocks; b++, time += count) {
    for (size_t m = 0; m + 1 < count; m++) time[m + 1] = time[m] + wf_max(rows[m].count, shortest);
    const int64_t behind = nest->output_stationary ? dim : cycles_before(s, b + 1 < blocks ? nest : next, last);
    time[count] = time[count - 1] + behind;
  }
}

static int64_t *times_of(const sched_streams *s, wf_arena *arena) {
  int64_t *time = WF_ARENA_ARRAY(arena, s->product_count + 1, int64_t);
  for (size_t n = 0; n < s->nest_count; n++)
    add_times(s, &s->nests[n], n + 1 < s->nest_count ? &s->nests[n + 1] : NULL, time + s->nests[n].first);
  return time;
}

double sched_norm_cycles(const sched_streams *s, const sched_store *store) {
  if (store->norm == NULL) return 0;
  if (store->tensor == COMMAND_NO_TENSOR)
    return (double)cost_statistic_cycles(s->cost, store->cols, isa_local_norm(store->local));
  const double beats = ceil(store->cols / s->cost->bus);
  return store->rows * cost_store_row(s->cost, ceil(store->cols / s->cost->dim), beats, false);
}

// Where the normaliser takes longer than the products, these stand as much farther apart; in a mix the stages do, and
// other programs have the mesh in between. Returns the normaliser's cycles then, else 0.
static double stretch(const sched_streams *s, int64_t *time) {
  double cycles = 0;
  for (uint32_t n = 0; n < s->store_count; n++) cycles += sched_norm_cycles(s, &s->stores[n]);
  const double all = (double)time[s->product_count];
  if (all == 0 || cycles <= all) return 0;
  int64_t from = 0, to = 0;  // where the stage begins, before and now
  for (uint32_t p = 0, stage = 0; p <= s->product_count; p++) {
    const bool begins = p == s->product_count || (stage < s->stage_count && s->stages[stage] == p);
    if (begins || !s->mixed) {
      from = time[p];
      to = (int64_t)((double)from * (cycles / all));
      stage += begins;
    }
    time[p] = to + time[p] - from;
  }
  return cycles;
}

static int64_t load_cycles(const sched_streams *s, const sched_load *load) {
  const bool wide = isa_local_accumulator(load->local) != 0 && !load->shrink;
  return cost_planned_load(s->cost, &(cost_command){.rows = load->rows,
                                                    .columns = load->cols,
                                                    .element_bytes = wide ? s->derived.acc_bytes : 1,
                                                    .constant = load->tensor == COMMAND_NO_TENSOR || load->stride == 0,
                                                    .cached = load->again});
}

static int64_t store_cycles(const sched_streams *s, const sched_store *store) {
  const int64_t window = (int64_t)store->pool.size * store->pool.size;
  const bool pooled = store->pool.stride != 0, wide = isa_local_full(store->local) != 0;
  return cost_planned_store(s->cost,
                            &(cost_command){.rows = pooled ? store->pool_rows * store->pool_cols * window : store->rows,
                                            .columns = store->cols,
                                            .element_bytes = wide ? s->derived.acc_bytes : 1});
}

// ---- targets: the best time for each command

static int64_t time_of(const merge *m, uint32_t product) {
  return m->time[product < m->s->product_count ? product : m->s->product_count];
}

// Stages (executions of a product statement) that lie between two products.
typedef struct turn {
  uint32_t first, stages;
} turn;

// The first stage that starts at `product` or later.
static uint32_t stage_from(const merge *m, uint32_t product) {
  uint32_t low = 0, high = m->s->stage_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (m->s->stages[middle] >= product)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static turn turn_between(const merge *m, uint32_t from, uint32_t to) {
  turn t = {.first = stage_from(m, from)};
  uint32_t past = stage_from(m, to);
  if (past < m->s->stage_count && m->s->stages[past] != to) past--;
  if (past > t.first) t.stages = past - t.first;
  return t;
}

// The time of command n of `count` that are spread over the stages of a turn: the same number in each, at the same
// places, so that stages repeat and loops can be found in the program. Keeps away from the ends of a stage. Memory is
// quicker when loads and stores do not mix: loads that have several stages come in the first half of each, or, where
// memory has little time to spare, at its start, and so do few loads of one stage. A host takes longer for loads that
// follow each other closely than the array for the products between them.
static int64_t place_in_turn(const merge *m, const turn *t, uint32_t n, uint32_t count, int64_t head, int64_t tail,
                             bool loads) {
  uint32_t each = (count + t->stages - 1) / t->stages, spacing = t->stages / ((count + each - 1) / each);
  uint32_t stage = t->first + n / each * spacing;
  int64_t start = time_of(m, m->s->stages[stage]);
  int64_t end = stage + 1 < m->s->stage_count ? time_of(m, m->s->stages[stage + 1]) : m->time[m->s->product_count];
  const double stage_cycles = (double)(end - start);
  if (end - start < head + tail + (int64_t)(stage_cycles * m->c->spare_share)) head = tail = 0;
  const bool few = each <= m->s->cost->array->load.reservation_entries * m->c->few_loads;
  if (loads && (t->stages > 1 || (few && m->memory_bound)))
    tail = wf_max(tail, (int64_t)(stage_cycles * (m->memory_bound ? m->c->bound_behind : m->c->loads_behind)));
  return start + head + (end - start - head - tail) * (2 * (int64_t)(n % each) + 1) / (2 * (int64_t)each);
}

// Cycles from a store to a load into its rows. A pooled one reads all of its image before the rows are free: loads that
// wait for it would fill the reservation station.
static int64_t refill_cycles(const merge *m, const sched_store *store) {
  return (int64_t)m->c->refill_cycles + (store->pool.stride != 0 ? store_cycles(m->s, store) : 0);
}

// Loads of one instance: evenly from when its slot is free to when it is needed. A slot is free when nothing reads it
// any more, although rows may be free sooner: writing them would disturb the bank. Those that have no such turn, since
// the buffer has one slot or it is the first instance, come just in time.
static void aim_loads(merge *m, const sched_load *loads, int64_t *target, uint32_t count) {
  uint32_t free = 0, needed = UINT32_MAX;
  for (uint32_t n = 0; n < count; n++) {
    if (loads[n].after_products > free) free = loads[n].after_products;
    if (loads[n].before_product < needed) needed = loads[n].before_product;
  }
  int64_t from = time_of(m, free), to = time_of(m, needed) - m->lead, latest = INT64_MAX;
  turn t = turn_between(m, free, needed);
  for (uint32_t n = count; n-- > 0;) {
    int64_t lead = time_of(m, loads[n].before_product) - m->lead;
    latest = wf_min(latest, lead);
    target[n] = latest;
    if (to > from) target[n] = from + (to - from) * (2 * (int64_t)n + 1) / (2 * (int64_t)count);
    if (to > from && t.stages > 0) target[n] = place_in_turn(m, &t, n, count, 0, m->lead, true);
    target[n] = wf_max(wf_min(target[n], lead), time_of(m, loads[n].after_products));
    const uint32_t store = loads[n].after_stores;
    if (store > 0)
      target[n] = wf_max(target[n], m->store_target[store - 1] + refill_cycles(m, &m->s->stores[store - 1]));
    latest -= (int64_t)(m->c->just_in_time * (double)load_cycles(m->s, &loads[n]));
  }
}

static void aim_queue(merge *m, int q) {
  const sched_queue *queue = &m->s->queues[q];
  m->load_target[q] = WF_ARENA_ARRAY(m->arena, queue->count + 1, int64_t);
  for (uint32_t n = 0, end; n < queue->count; n = end) {
    for (end = n; end < queue->count && queue->loads[end].instance == queue->loads[n].instance;) end++;
    aim_loads(m, &queue->loads[n], m->load_target[q] + n, end - n);
  }
}

// Stores of one instance: over the stages until its rows are wanted again; without such stages as fast as they go.
static void aim_stores(merge *m, uint32_t from, uint32_t to) {
  uint32_t ready = 0, wanted = m->s->product_count;
  for (uint32_t n = from; n < to; n++) {
    const sched_store *store = &m->s->stores[n];
    if (store->after_products > ready) ready = store->after_products;
    if (store->before_product < wanted) wanted = store->before_product;
  }
  turn t = turn_between(m, ready, wanted);
  // Loads into the same rows come behind: the first half of the turn is for stores.
  bool refilled = m->s->queues[m->s->stores[from].queue].count > 0;
  const double room = (double)(time_of(m, wanted) - time_of(m, ready));
  const double behind = t.stages != 1 ? 0 : refilled ? m->c->refill_behind : m->c->stores_behind;
  const int64_t tail = (int64_t)(room * behind);
  if (refilled && t.stages > 1) t.stages = (t.stages + 1) / 2;
  for (uint32_t n = from; n < to; n++) {
    int64_t earliest = time_of(m, m->s->stores[n].after_products) + m->lag;
    if (n > from) earliest = wf_max(earliest, m->store_target[n - 1] + store_cycles(m->s, &m->s->stores[n - 1]));
    m->store_target[n] =
        t.stages == 0 ? earliest : wf_max(earliest, place_in_turn(m, &t, n - from, to - from, m->lag, tail, false));
  }
}

static int64_t memory_cycles(const sched_streams *s) {
  int64_t cycles = 0;
  for (int q = 0; q < s->queue_count; q++)
    for (uint32_t n = 0; n < s->queues[q].count; n++) cycles += load_cycles(s, &s->queues[q].loads[n]);
  for (uint32_t n = 0; n < s->store_count; n++) cycles += store_cycles(s, &s->stores[n]);
  return cycles;
}

static void aim(merge *m) {
  const sched_streams *s = m->s;
  m->time = times_of(s, m->arena);
  m->out->norm_cycles = stretch(s, m->time);
  m->memory_bound = !s->mixed && (double)memory_cycles(s) > m->c->memory_bound * (double)m->time[s->product_count];
  m->store_target = WF_ARENA_ARRAY(m->arena, s->store_count + 1, int64_t);
  for (uint32_t n = 0, end; n < s->store_count; n = end) {
    for (end = n; end < s->store_count && s->stores[end].instance == s->stores[n].instance;) end++;
    aim_stores(m, n, end);
  }
  m->load_target = WF_ARENA_ARRAY(m->arena, (size_t)s->queue_count + 1, int64_t *);
  for (int q = 0; q < s->queue_count; q++) aim_queue(m, q);
}

// ---- the merge

static void put(merge *m, sched_order_kind kind, int queue, uint32_t index, uint32_t count) {
  assert(m->out->count < m->out->room);
  m->out->items[m->out->count++] =
      (sched_order_item){.kind = (uint8_t)kind, .queue = (int16_t)queue, .index = index, .count = count};
}

// Products up to `end`, behind the products that were put last.
static void put_products(merge *m, uint32_t end) {
  const uint32_t first = m->next_product;
  sched_order_item *last = m->out->count == 0 ? NULL : &m->out->items[m->out->count - 1];
  if (last != NULL && last->kind == SCHED_ORDER_PRODUCT)
    last->count += end - first;
  else
    put(m, SCHED_ORDER_PRODUCT, BLOCK_NONE, first, end - first);
  m->clock += m->time[end] - m->time[first];
  m->next_product = end;
}

// How many stores a product has to follow.
static uint32_t stores_before(merge *m, uint32_t product) {
  const sched_streams *s = m->s;
  while (m->next_wait < s->wait_count && s->waits[m->next_wait].product < product) m->next_wait++;
  return m->next_wait < s->wait_count && s->waits[m->next_wait].product == product ? s->waits[m->next_wait].stores : 0;
}

static void put_load(merge *m, int q);

static void put_store(merge *m) {
  const sched_streams *s = m->s;
  for (int q = 0; q < s->queue_count; q++)
    while (m->next[q] < s->queues[q].count && s->queues[q].loads[m->next[q]].before_store <= m->next_store)
      put_load(m, q);
  put(m, SCHED_ORDER_STORE, BLOCK_NONE, m->next_store++, 1);
}

static void put_load(merge *m, int q) {
  const sched_load *load = &m->s->queues[q].loads[m->next[q]];
  while (m->next_store < load->after_stores) put_store(m);
  assert(load->after_products <= m->next_product);  // else it would overwrite what products have still to read
  m->loaded = wf_max(m->loaded, m->clock) + load_cycles(m->s, load);
  put(m, SCHED_ORDER_LOAD, q, m->next[q]++, 1);
}

// Without products time stands still: the loads whose rows are free come between the stores, one a store.
static void put_ahead(merge *m) {
  const sched_streams *s = m->s;
  for (int q = 0; q < s->queue_count; q++)
    if (m->next[q] < s->queues[q].count && s->queues[q].loads[m->next[q]].after_stores <= m->next_store) put_load(m, q);
}

// Puts the loads and stores that have to stand in front of the next product.
static void put_needed(merge *m) {
  const sched_streams *s = m->s;
  uint32_t p = m->next_product;
  bool waits = false;
  const uint32_t stores = stores_before(m, p);
  while (m->next_store < stores) put_store(m);
  for (int q = 0; q < s->queue_count; q++)
    while (m->next[q] < s->queues[q].count && s->queues[q].loads[m->next[q]].before_product <= p) {
      put_load(m, q);
      waits = true;
    }
  if (waits) m->clock = wf_max(m->clock, m->loaded);
}

// Of the queues whose head's target has come the one whose head is needed first, or BLOCK_NONE.
static int due_queue(const merge *m) {
  int due = BLOCK_NONE;
  uint32_t needed = UINT32_MAX;
  for (int q = 0; q < m->s->queue_count; q++) {
    if (m->next[q] == m->s->queues[q].count) continue;
    const sched_load *load = &m->s->queues[q].loads[m->next[q]];
    if (m->load_target[q][m->next[q]] > m->time[m->next_product]) continue;
    if (load->after_products > m->next_product || load->after_stores > m->next_store) continue;
    if (due != BLOCK_NONE && load->before_product >= needed) continue;
    needed = load->before_product;
    due = q;
  }
  return due;
}

static void put_due(merge *m) {
  const sched_streams *s = m->s;
  for (int q; (q = due_queue(m)) != BLOCK_NONE;) {
    const double cycles = (double)load_cycles(s, &s->queues[q].loads[m->next[q]]);
    if (m->loaded > m->clock + (int64_t)(m->c->backlog_loads * cycles)) break;
    put_load(m, q);
  }
  while (m->next_store < s->store_count && s->stores[m->next_store].after_products <= m->next_product &&
         m->store_target[m->next_store] <= m->time[m->next_product])
    put_store(m);
}

// Most products have nothing in front of them: says from where on that may change.
static void find_quiet(merge *m) {
  const sched_streams *s = m->s;
  m->quiet_product = s->product_count;
  m->quiet_time = m->next_store < s->store_count
                      ? wf_max(m->store_target[m->next_store], time_of(m, s->stores[m->next_store].after_products))
                      : INT64_MAX;
  for (int q = 0; q < s->queue_count; q++) {
    if (m->next[q] == s->queues[q].count) continue;
    const sched_load *load = &s->queues[q].loads[m->next[q]];
    if (load->before_product < m->quiet_product) m->quiet_product = load->before_product;
    m->quiet_time = wf_min(m->quiet_time, wf_max(m->load_target[q][m->next[q]], time_of(m, load->after_products)));
  }
}

// The first product behind the next one that is not quiet: what that one waits for has been put.
static uint32_t end_of_quiet(const merge *m) {
  const sched_streams *s = m->s;
  uint32_t end = m->next_product + 1;
  while (end < m->quiet_product && m->time[end] < m->quiet_time) end++;
  for (size_t w = m->next_wait; w < s->wait_count && s->waits[w].product < end; w++)
    if (s->waits[w].product > m->next_product && s->waits[w].stores > m->next_store) return s->waits[w].product;
  return end;
}

static void reserve(merge *m) {
  size_t count = m->s->store_count;
  for (int q = 0; q < m->s->queue_count; q++) count += m->s->queues[q].count;
  m->out->room = 2 * count + 1;  // products between all others
  m->out->items = WF_ARENA_ARRAY(m->arena, m->out->room, sched_order_item);
}

void sched_interleave(const sched_streams *s, sched_order *out, wf_arena *arena) {
  const cost_constants *c = s->cost->c;
  merge m = {
      .s = s, .c = c, .lead = (int64_t)c->lead_cycles, .lag = (int64_t)c->lag_cycles, .arena = arena, .out = out};
  m.next = WF_ARENA_ARRAY(arena, (size_t)s->queue_count + 1, uint32_t);
  reserve(&m);
  aim(&m);
  out->time = m.time;
  while (m.next_product < s->product_count) {
    put_needed(&m);
    put_due(&m);
    find_quiet(&m);
    put_products(&m, end_of_quiet(&m));
  }
  while (m.next_store < s->store_count) {
    if (s->product_count == 0) put_ahead(&m);
    put_store(&m);
  }
}
