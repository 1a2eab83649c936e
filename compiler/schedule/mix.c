// SPDX-License-Identifier: Apache-2.0
// Mixing: see mix.h. A program's order falls into chunks, which end where the next product brings its weights; between
// chunks another program may have its turn. All programs advance evenly, by the share of their products that is done,
// each a lag behind the one that it reads from: the lag grows when a chunk's loads would read bytes that are not stored
// and settled yet, and then the program that stores them goes on first.
//
// Where no program is left that stores could come from, a fence settles the rest.
//
// A forwarded tensor asks for more: its moves follow products of a later program, which then goes on first, and its
// loads are waited for at the first product that needs them, with half of their slots as lag: commands issue in order,
// so products right behind their moves would hold up those of other programs, too. Two programs that wait for each
// other cannot go on; then one tensor less is forwarded.
#include "compiler/schedule/mix.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "compiler/command/order.h"
#include "compiler/schedule/emit.h"
#include "compiler/schedule/expand.h"
#include "compiler/schedule/forward.h"

typedef struct chunk {
  size_t end;     // of its items
  uint32_t past;  // products up to its end
  double share;   // of the program's work up to its end
} chunk;

// Configuration of products.
typedef struct mesh_mode {
  uint16_t a_stride;  // between rows of A
  bool a_transposed, b_transposed;
} mesh_mode;

// A program of the mix.
typedef struct part {
  int *tensors;  // numbers in the mix; behind those of the program that of its packed weights
  sched_expand e;
  sched_order order;
  sched_order_item *items;  // of the order, products cut where chunks end
  size_t item_count, item_room;
  chunk *chunks;
  size_t chunk_count, chunk_room, next;
  double lag;  // behind the first program, in shares
  double
      behind;  // where it waits for moves, what it stays behind them, a share of it: half of the slots that they fill
  mesh_mode mode;   // of its products
  uint32_t *ready;  // per queue: loads in front of this one that moves do are filled
} part;

// A tensor that one program writes and another reads.
typedef struct shared {
  int writer;  // BLOCK_NONE: no program of the mix
  uint64_t bytes;
  uint32_t *stored;  // the number of the store of each byte; NULL: nobody reads it
} shared;

typedef struct mixer {
  const sched_mix *mix;
  wf_arena *arena;
  command_program *out;
  sched_emitter *emitter;
  part *parts;
  sched_forward_part *streams;  // of the parts
  sched_forwards *forwards;     // NULL: none
  int awaited;                  // the forwarded tensor that a program waits for
  shared *tensors;
  command_stores stores;
} mixer;

// ---- chunks

static void add_item(mixer *m, part *p, const sched_order_item *item) {
  *WF_ARENA_PUSH(m->arena, p->items, p->item_count, &p->item_room) = *item;
}

// Work is that of the normaliser where it takes longer than the products.
static double share_done(const part *p, uint32_t past, double normalised) {
  if (p->order.norm_cycles > 0) return normalised / p->order.norm_cycles;
  const uint32_t all = p->e.streams.product_count;
  if (all == 0) return (double)p->item_count / (double)wf_max(p->order.count, 1);
  return (double)p->order.time[past] / (double)p->order.time[all];
}

static void end_chunk(mixer *m, part *p, uint32_t past, double normalised) {
  if (p->chunk_count > 0 && p->chunks[p->chunk_count - 1].end == p->item_count) return;
  *WF_ARENA_PUSH(m->arena, p->chunks, p->chunk_count, &p->chunk_room) =
      (chunk){p->item_count, past, share_done(p, past, normalised)};
}

// Behind which products weights change: a step through the nests.
typedef struct block_walk {
  const sched_streams *s;
  size_t nest;
  uint32_t start, end;  // of the block of weights at hand
} block_walk;

static void next_block(block_walk *w) {
  const sched_streams *s = w->s;
  if (w->end == s->product_count) return;
  w->start = w->end;
  while (w->nest + 1 < s->nest_count && s->nests[w->nest + 1].first <= w->end) w->nest++;
  w->end += (uint32_t)s->nests[w->nest].plan->m.count;
  // The nests behind it may go on with its weights.
  size_t next = w->nest + 1;
  while (next < s->nest_count && s->nests[next].first == w->end && s->nests[next].kept) {
    w->end += (uint32_t)sched_plan_products(s->nests[next].plan);
    w->nest = next++;
  }
}

// The cut of a program's order into chunks.
typedef struct cutter {
  mixer *m;
  part *p;
  block_walk blocks;
  uint32_t past;            // products
  double normalised, last;  // cycles of the normaliser, and at the end of the last chunk
  bool open;                // statistics of a row are there that have not served it yet
} cutter;

static void end_here(cutter *c) {
  end_chunk(c->m, c->p, c->past, c->normalised);
  c->last = c->normalised;
}

// A chunk ends behind each block of weights.
static void cut_products(cutter *c, sched_order_item item) {
  while (item.count > 0) {
    const uint32_t here = wf_min(item.count, c->blocks.end - c->past);
    add_item(c->m, c->p, &(sched_order_item){.kind = SCHED_ORDER_PRODUCT, .index = item.index, .count = here});
    item.index += here;
    item.count -= here;
    c->past += here;
    if (c->past < c->blocks.end) continue;
    if (!c->open) end_here(c);
    next_block(&c->blocks);
  }
}

// What others store would take the statistics of a row away. Rows of the normaliser take long, and need no weights:
// between blocks a chunk ends behind some of them.
static void cut_store(cutter *c, const sched_store *store) {
  static const double rows_cycles = 128;
  const bool between = c->past == c->blocks.start || c->past == c->blocks.end;
  c->normalised += sched_norm_cycles(&c->p->e.streams, store);
  c->open = store->tensor == COMMAND_NO_TENSOR;
  if (store->norm != NULL && between && !c->open && c->normalised >= c->last + rows_cycles) end_here(c);
}

static void cut(mixer *m, part *p) {
  const sched_streams *s = &p->e.streams;
  cutter c = {.m = m, .p = p, .blocks = {.s = s}};
  next_block(&c.blocks);
  for (size_t i = 0; i < p->order.count; i++) {
    const sched_order_item *item = &p->order.items[i];
    if (item->kind == SCHED_ORDER_PRODUCT) {
      cut_products(&c, *item);
      continue;
    }
    add_item(m, p, item);
    if (item->kind == SCHED_ORDER_STORE) cut_store(&c, &s->stores[item->index]);
    if (c.past == s->product_count && !c.open) end_here(&c);  // of the last tile
  }
  end_here(&c);
}

// ---- bytes

static uint64_t element_bytes(const part *p, uint32_t local, bool wide) {
  return isa_local_accumulator(local) != 0 && wide ? p->e.derived.acc_bytes : p->e.derived.input_bytes;
}

// A program whose stores a load would have to follow, or BLOCK_NONE.
static int awaited(const mixer *m, const part *p, const sched_load *load) {
  if (load->tensor == COMMAND_NO_TENSOR) return BLOCK_NONE;
  const shared *t = &m->tensors[p->tensors[load->tensor]];
  if (t->stored == NULL || t->writer == (int)(p - m->parts)) return BLOCK_NONE;
  const part *writer = &m->parts[t->writer];
  const bool finished = writer->next == writer->chunk_count;
  const uint64_t length = load->cols * element_bytes(p, load->local, !load->shrink) >> load->packed;
  for (uint64_t r = 0; r < (load->stride == 0 ? 1 : load->rows); r++) {
    const uint64_t from = (uint64_t)(load->offset + (int64_t)r * load->stride);
    for (uint64_t at = from; at < from + length && at < t->bytes; at++)
      if (t->stored[at] > m->stores.settled || (t->stored[at] == 0 && !finished)) return t->writer;
  }
  return BLOCK_NONE;
}

static void note_store(mixer *m, const part *p, const sched_store *store) {
  if (store->tensor == COMMAND_NO_TENSOR) {
    command_stores_add(&m->stores, 0);
    return;
  }
  const bool pooled = store->pool.stride != 0;
  const uint32_t rows = pooled ? (uint32_t)store->pool_rows * store->pool_cols : store->rows;
  const uint32_t number = command_stores_add(&m->stores, rows);
  const shared *t = &m->tensors[p->tensors[store->tensor]];
  if (t->stored == NULL) return;
  const uint64_t length = store->cols * element_bytes(p, store->local, isa_local_full(store->local) != 0);
  for (uint32_t r = 0; r < rows; r++) {
    const int64_t row = pooled ? r / store->pool_cols * store->pool_out_dim + r % store->pool_cols : r;
    const uint64_t from = (uint64_t)(store->offset + row * store->stride);
    for (uint64_t at = from; at < from + length && at < t->bytes; at++) t->stored[at] = number;
  }
}

// ---- turns

static size_t first_item(const part *p) { return p->next == 0 ? 0 : p->chunks[p->next - 1].end; }
static uint32_t products_done(const part *p) { return p->next == 0 ? 0 : p->chunks[p->next - 1].past; }
static bool is_done(const part *p) { return p->next == p->chunk_count; }

static bool is_forwarded(const mixer *m, int number, const sched_order_item *item) {
  return m->forwards != NULL && item->kind == SCHED_ORDER_LOAD &&
         sched_forwards_takes(m->forwards, number, item->queue, item->index);
}

// Products find their rows moved, not only asked for, where as many are ahead of them as fill half of the slots. From a
// slot's last product before the load to the load's own are the products of all other slots.
static double half_of_slots(const part *p, const sched_queue *queue, uint32_t number) {
  const int64_t *time = p->order.time;
  const sched_load *load = &queue->loads[number];
  uint32_t others = 0, product = SCHED_NEVER;
  for (uint32_t n = number + 1; n-- > 0 && queue->loads[n].before_product >= load->after_products;)
    if (queue->loads[n].before_product != product) {
      others++;
      product = queue->loads[n].before_product;
    }
  const double all = (double)time[p->e.streams.product_count];
  return (double)(time[load->before_product] - time[load->after_products]) / all * (others + 1) / (2.0 * others);
}

// The program that has to do a store's moves for the products up to the end of the next chunk.
static int awaited_by_products(mixer *m, int number) {
  part *p = &m->parts[number];
  for (int q = 0; q < p->e.streams.queue_count; q++)
    for (const sched_queue *queue = &p->e.streams.queues[q]; p->ready[q] < queue->count; p->ready[q]++) {
      const sched_load *load = &queue->loads[p->ready[q]];
      if (load->before_product >= p->chunks[p->next].past) break;
      if (sched_forwards_is_filled(m->forwards, number, q, p->ready[q])) continue;
      p->behind = half_of_slots(p, queue, p->ready[q]);
      m->awaited = p->tensors[load->tensor];
      return m->tensors[m->awaited].writer;
    }
  return BLOCK_NONE;
}

// The program that still reads what a store's moves overwrite.
static int awaited_by_moves(mixer *m, int number, uint32_t store) {
  const sched_move *moves;
  const size_t count = sched_forwards_moves(m->forwards, number, store, &moves);
  for (size_t n = 0; n < count; n++) {
    const part *reader = &m->parts[moves[n].part];
    const sched_load *load = &reader->e.streams.queues[moves[n].queue].loads[moves[n].load];
    if (products_done(reader) >= load->after_products) continue;
    m->awaited = reader->tensors[load->tensor];
    return moves[n].part;
  }
  return BLOCK_NONE;
}

static int awaited_by_item(mixer *m, int number, const sched_order_item *item) {
  const part *p = &m->parts[number];
  if (item->kind == SCHED_ORDER_STORE && m->forwards != NULL) return awaited_by_moves(m, number, item->index);
  if (item->kind != SCHED_ORDER_LOAD || is_forwarded(m, number, item)) return BLOCK_NONE;
  return awaited(m, p, &p->e.streams.queues[item->queue].loads[item->index]);
}

static int awaited_by_chunk(mixer *m, int number) {
  part *p = &m->parts[number];
  p->behind = 0;
  int other = m->forwards == NULL ? BLOCK_NONE : awaited_by_products(m, number);
  for (size_t i = first_item(p); i < p->chunks[p->next].end && other == BLOCK_NONE; i++)
    other = awaited_by_item(m, number, &p->items[i]);
  return other;
}

static double share_of(const part *p) { return p->next == 0 ? 0 : p->chunks[p->next - 1].share; }

static double key_of(const part *p) { return share_of(p) + p->lag; }

// Stores of nothing, as far as main memory is concerned.
static void put_moves(mixer *m, int number, uint32_t store) {
  const sched_move *moves;
  const size_t count = sched_forwards_moves(m->forwards, number, store, &moves);
  for (size_t n = 0; n < count; n++) {
    sched_emitter_move(m->emitter, number, &m->parts[number].e.streams.stores[store], &moves[n]);
    sched_forwards_note(m->forwards, &moves[n]);
    command_stores_add(&m->stores, 0);
  }
}

static bool is_stored(const mixer *m, const part *p, const sched_store *store) {
  if (m->forwards == NULL || store->tensor == COMMAND_NO_TENSOR) return true;
  const int tensor = p->tensors[store->tensor];
  return !sched_forwards_has(m->forwards, tensor) || m->mix->ways[tensor] != SCHED_FORWARD_ONLY;
}

static void put_item(mixer *m, int number, const sched_order_item *item) {
  const part *p = &m->parts[number];
  const sched_store *store = item->kind == SCHED_ORDER_STORE ? &p->e.streams.stores[item->index] : NULL;
  if (is_forwarded(m, number, item)) return;
  if (store != NULL && m->forwards != NULL) put_moves(m, number, item->index);
  if (store != NULL && !is_stored(m, p, store)) return;
  sched_emitter_put(m->emitter, number, item);
  if (store != NULL) note_store(m, p, store);
}

static void put_chunk(mixer *m, int number) {
  part *p = &m->parts[number];
  for (size_t i = first_item(p); i < p->chunks[p->next].end; i++) put_item(m, number, &p->items[i]);
  p->next++;
}

static void fence(mixer *m) {
  command_add_fence(m->out);
  command_stores_fence(&m->stores);
}

// The program that is furthest behind.
static int last_of(const mixer *m) {
  int last = BLOCK_NONE;
  for (int n = 0; n < m->mix->count; n++)
    if (!is_done(&m->parts[n]) && (last == BLOCK_NONE || key_of(&m->parts[n]) < key_of(&m->parts[last]))) last = n;
  return last;
}

// Gives a turn to the program or, if its next chunk has to wait, to one that it waits for. False: programs wait for
// each other, as behind more turns of others than there are programs.
static bool take_turn(mixer *m, int number, int depth) {
  part *p = &m->parts[number];
  const int other = awaited_by_chunk(m, number);
  if (other == BLOCK_NONE) {
    put_chunk(m, number);
    return true;
  }
  if (is_done(&m->parts[other])) {
    fence(m);
    return true;
  }
  if (depth == m->mix->count || !take_turn(m, other, depth + 1)) return false;
  if (other < number) p->lag = wf_max(p->lag, key_of(&m->parts[other]) - share_of(p) + p->behind);
  return true;
}

// Of the first product whose rows say it.
static mesh_mode mode_of(const sched_streams *s) {
  for (size_t n = 0; n < s->nest_count; n++) {
    const sched_nest *nest = &s->nests[n];
    const sched_dot_runs *rows = &nest->plan->m;
    for (size_t i = 0; i < rows->count && !nest->a_transposed; i++)
      if (rows->runs[i].count > 1)
        return (mesh_mode){(uint16_t)rows->runs[i].step, nest->a_transposed, nest->b_transposed};
  }
  return (mesh_mode){.a_stride = 1};
}

static bool is_same_mode(const mesh_mode *a, const mesh_mode *b) {
  return a->a_stride == b->a_stride && a->a_transposed == b->a_transposed && a->b_transposed == b->b_transposed;
}

static bool has_products(const part *p) { return p->chunks[p->next].past > products_done(p); }

static bool is_normalised(const mixer *m) {
  for (int n = m->mix->alone; n < m->mix->count; n++)
    if (m->parts[n].order.norm_cycles > 0) return true;
  return false;
}

// The program that goes on behind `at`. Configuration for other products empties the mesh, so a program that needs it
// waits for longer; not much where the normaliser would wait, too.
static int next_of(const mixer *m, int at) {
  const double longer = is_normalised(m) ? 1.0 / 512 : 1.0 / 64;  // share
  const int last = last_of(m);
  if (at == BLOCK_NONE || last == BLOCK_NONE || is_done(&m->parts[at])) return last;
  if (is_same_mode(&m->parts[at].mode, &m->parts[last].mode) || !has_products(&m->parts[last])) return last;
  return key_of(&m->parts[at]) < key_of(&m->parts[last]) + longer ? at : last;
}

// The program whose products come last, `at` before.
static int with_mesh(const mixer *m, int number, int at) {
  return at != BLOCK_NONE && !has_products(&m->parts[number]) ? at : number;
}

static bool put_all(mixer *m) {
  for (int n = 0; n < m->mix->alone; n++) {
    while (!is_done(&m->parts[n])) put_chunk(m, n);
    fence(m);
  }
  if (m->mix->alone == m->mix->count) return true;
  for (int n, at = BLOCK_NONE; (n = next_of(m, at)) != BLOCK_NONE;) {
    at = with_mesh(m, n, at);
    if (!take_turn(m, n, 0)) return false;
  }
  fence(m);
  return true;
}

// ---- the mix

// Tensors that one program writes and another reads.
static void share_tensors(mixer *m) {
  m->tensors = WF_ARENA_ARRAY(m->arena, (size_t)m->out->tensor_count + 1, shared);
  for (int t = 0; t < m->out->tensor_count; t++) {
    m->tensors[t].writer = BLOCK_NONE;
    m->tensors[t].bytes = command_tensor_bytes(&m->out->tensors[t]);
  }
  for (int n = 0; n < m->mix->count; n++)
    for (int t = 0; t < m->mix->programs[n].source.program->tensor_count; t++) {
      shared *s = &m->tensors[m->mix->programs[n].tensors[t]];
      const block_tensor *tensor = &m->mix->programs[n].source.program->tensors[t];
      assert(!tensor->written || s->writer == BLOCK_NONE);
      if (tensor->read && s->writer != BLOCK_NONE && s->stored == NULL)
        s->stored = WF_ARENA_ARRAY(m->arena, (size_t)s->bytes + 1, uint32_t);
      if (tensor->written) s->writer = n;
    }
}

// Whether the program writes a tensor that may be forwarded.
static bool may_forward(const sched_mix *mix, const sched_mix_program *from) {
  bool any = false;
  for (int t = 0; t < from->source.program->tensor_count && mix->ways != NULL; t++)
    any |= from->source.program->tensors[t].written && mix->ways[from->tensors[t]] != SCHED_THROUGH_MEMORY;
  return any;
}

// With known weights packed, where that is possible. Stores of few rows, column by column, would be as many moves, and
// the later program would have all columns of its first rows last.
static bool expand_part(mixer *m, part *p, const sched_mix_program *from, const sched_options *options, wf_diag *diag) {
  sched_options own = *options;
  own.pack = true;
  own.whole_stores |= may_forward(m->mix, from);
  if (!sched_expand_source(&p->e, &from->source, &own, m->arena, diag)) return false;
  if (p->e.regions.pack == NULL || !p->e.regions.pack->failed) return true;
  own.pack = false;
  return sched_expand_source(&p->e, &from->source, &own, m->arena, diag);
}

// A tensor is read if a program reads it other than packed.
static void add_tensors(mixer *m) {
  for (int t = 0; t < m->mix->tensor_count; t++) command_add_tensor(m->out, &m->mix->tensors[t]);
  for (int n = 0; n < m->mix->count; n++) {
    part *p = &m->parts[n];
    const block_program *program = m->mix->programs[n].source.program;
    command_tensor packed;
    if (!sched_expand_packed(&p->e, m->arena, &packed)) continue;
    packed.name = wf_arena_format(m->arena, "k%d_%s", n, packed.name);
    p->tensors[program->tensor_count] = command_add_tensor(m->out, &packed);
    for (int t = 0; t < program->tensor_count; t++)
      if (program->tensors[t].known != NULL) m->out->tensors[p->tensors[t]].read = false;
  }
}

static bool begin(mixer *m, const sched_options *options, wf_diag *diag) {
  m->parts = WF_ARENA_ARRAY(m->arena, (size_t)m->mix->count, part);
  for (int n = 0; n < m->mix->count; n++) {
    const sched_mix_program *from = &m->mix->programs[n];
    part *p = &m->parts[n];
    const size_t tensors = (size_t)from->source.program->tensor_count;
    p->tensors = WF_ARENA_ARRAY(m->arena, tensors + 1, int);
    memcpy(p->tensors, from->tensors, tensors * sizeof *p->tensors);
    if (!sched_check_size(from->source.program, options->array, diag) || !expand_part(m, p, from, options, diag))
      return false;
    p->e.streams.mixed = n >= m->mix->alone;
    sched_interleave(&p->e.streams, &p->order, m->arena);
    cut(m, p);
    p->mode = mode_of(&p->e.streams);
    p->ready = WF_ARENA_ARRAY(m->arena, (size_t)p->e.streams.queue_count + 1, uint32_t);
  }
  return true;
}

// ---- forwarding

static void begin_forwards(mixer *m) {
  m->streams = WF_ARENA_ARRAY(m->arena, (size_t)m->mix->count, sched_forward_part);
  for (int n = 0; n < m->mix->count; n++)
    m->streams[n] = (sched_forward_part){.streams = &m->parts[n].e.streams, .tensors = m->parts[n].tensors};
}

// Those tensors that the caller has not given up, as far as they can be.
static void choose_forwards(mixer *m) {
  bool any = false;
  if (m->mix->ways == NULL) return;
  m->forwards = sched_forwards_create(m->streams, m->mix->count, m->out->tensor_count, m->arena);
  for (int t = 0; t < m->mix->tensor_count; t++) {
    const shared *s = &m->tensors[t];
    const bool wanted = m->mix->forwarded[t] && m->mix->ways[t] != SCHED_THROUGH_MEMORY && s->writer >= m->mix->alone;
    m->mix->forwarded[t] = wanted && s->stored != NULL && sched_forwards_add(m->forwards, t, s->bytes, s->writer);
    any |= m->mix->forwarded[t];
  }
  if (!any) m->forwards = NULL;
}

// Nothing touches them in main memory.
static void forget_tensors(const mixer *m) {
  for (int t = 0; t < m->mix->tensor_count && m->forwards != NULL; t++)
    if (m->mix->forwarded[t]) {
      m->out->tensors[t].read = false;
      m->out->tensors[t].written = m->mix->ways[t] != SCHED_FORWARD_ONLY;
    }
}

// ---- the mix, or NULL: programs wait for each other

static command_program *put_together(mixer *m, const hw_array *array) {
  m->out = command_create(m->mix->name, array);
  m->emitter = sched_emitter_create(m->out, m->mix->count, m->arena);
  add_tensors(m);
  for (int n = 0; n < m->mix->count; n++) {
    sched_emitter_begin(m->emitter, n, &m->parts[n].e.streams, m->parts[n].tensors);
    m->out->macs += m->parts[n].e.macs;
  }
  share_tensors(m);
  choose_forwards(m);
  m->stores = command_stores_begin(array);
  const bool good = put_all(m);
  command_stores_end(&m->stores);
  forget_tensors(m);
  if (good) return m->out;
  command_destroy(m->out);
  return NULL;
}

static void start_again(mixer *m) {
  m->forwards = NULL;
  for (int n = 0; n < m->mix->count; n++) {
    part *p = &m->parts[n];
    p->next = 0;
    p->lag = 0;
    memset(p->ready, 0, (size_t)p->e.streams.queue_count * sizeof *p->ready);
  }
}

static command_program *put_with_forwards(mixer *m, const hw_array *array) {
  command_program *out;
  begin_forwards(m);
  for (int t = 0; t < m->mix->tensor_count && m->mix->ways != NULL; t++) m->mix->forwarded[t] = true;
  while ((out = put_together(m, array)) == NULL) {
    m->mix->forwarded[m->awaited] = false;
    start_again(m);
  }
  return out;
}

command_program *sched_mixed_commands(const sched_mix *mix, const sched_options *options, wf_diag *diag) {
  mixer m = {.mix = mix, .arena = wf_arena_create()};
  command_program *out = begin(&m, options, diag) ? put_with_forwards(&m, options->array) : NULL;
  wf_arena_destroy(m.arena);
  return out;
}
