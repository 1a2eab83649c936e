// SPDX-License-Identifier: Apache-2.0
// Mixing: see mix.h. A program's order falls into chunks, which end where the next product brings its weights; between
// chunks another program may have its turn. All programs advance evenly, by the share of their products that is done,
// each a lag behind the one that it reads from: the lag grows when a chunk's loads would read bytes that are not stored
// and settled yet, and then the program that stores them goes on first.
//
// Where no program is left that stores could come from, a fence settles the rest.
#include "compiler/schedule/mix.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "compiler/command/order.h"
#include "compiler/schedule/emit.h"
#include "compiler/schedule/expand.h"

typedef struct chunk {
  size_t end;     // of its items
  uint32_t past;  // products up to its end
} chunk;

// A program of the mix.
typedef struct part {
  int *tensors;  // numbers in the mix; behind those of the program that of its packed weights
  sched_expand e;
  sched_order order;
  sched_order_item *items;  // of the order, products cut where chunks end
  size_t item_count, item_room;
  chunk *chunks;
  size_t chunk_count, chunk_room, next;
  double lag;       // behind the first program, in shares
  uint16_t stride;  // between rows of A, which is configuration
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
  shared *tensors;
  command_stores stores;
} mixer;

// ---- chunks

static void add_item(mixer *m, part *p, const sched_order_item *item) {
  *WF_ARENA_PUSH(m->arena, p->items, p->item_count, &p->item_room) = *item;
}

static void end_chunk(mixer *m, part *p, uint32_t past) {
  if (p->chunk_count > 0 && p->chunks[p->chunk_count - 1].end == p->item_count) return;
  *WF_ARENA_PUSH(m->arena, p->chunks, p->chunk_count, &p->chunk_room) = (chunk){p->item_count, past};
}

// Behind which products weights change: a step through the nests.
typedef struct block_walk {
  const sched_streams *s;
  size_t nest;
  uint32_t end;  // of the block of weights at hand
} block_walk;

static void next_block(block_walk *w) {
  const sched_streams *s = w->s;
  if (w->end == s->product_count) return;
  while (w->nest + 1 < s->nest_count && s->nests[w->nest + 1].first <= w->end) w->nest++;
  w->end += (uint32_t)s->nests[w->nest].plan->m.count;
  // The nests behind it may go on with its weights.
  size_t next = w->nest + 1;
  while (next < s->nest_count && s->nests[next].first == w->end && s->nests[next].kept) {
    w->end += (uint32_t)sched_plan_products(s->nests[next].plan);
    w->nest = next++;
  }
}

static void cut(mixer *m, part *p) {
  block_walk w = {.s = &p->e.streams};
  uint32_t past = 0;
  next_block(&w);
  for (size_t i = 0; i < p->order.count; i++) {
    sched_order_item item = p->order.items[i];
    while (item.kind == SCHED_ORDER_PRODUCT && past + item.count >= w.end) {
      const uint32_t here = w.end - past;
      add_item(m, p, &(sched_order_item){.kind = SCHED_ORDER_PRODUCT, .index = item.index, .count = here});
      item.index += here;
      item.count -= here;
      past = w.end;
      end_chunk(m, p, past);
      next_block(&w);
      if (item.count == 0) break;
    }
    if (item.kind == SCHED_ORDER_PRODUCT && item.count == 0) continue;
    add_item(m, p, &item);
    if (item.kind == SCHED_ORDER_PRODUCT) past += item.count;
    if (past == p->e.streams.product_count) end_chunk(m, p, past);  // stores of the last tile
  }
  end_chunk(m, p, past);
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
static bool is_done(const part *p) { return p->next == p->chunk_count; }

static int awaited_by_chunk(const mixer *m, const part *p) {
  for (size_t i = first_item(p); i < p->chunks[p->next].end; i++) {
    const sched_order_item *item = &p->items[i];
    if (item->kind != SCHED_ORDER_LOAD) continue;
    const int writer = awaited(m, p, &p->e.streams.queues[item->queue].loads[item->index]);
    if (writer != BLOCK_NONE) return writer;
  }
  return BLOCK_NONE;
}

static double share_of(const part *p) {
  if (p->next == 0) return 0;
  const sched_streams *s = &p->e.streams;
  if (s->product_count == 0) return (double)p->next / (double)p->chunk_count;
  return (double)p->order.time[p->chunks[p->next - 1].past] / (double)p->order.time[s->product_count];
}

static double key_of(const part *p) { return share_of(p) + p->lag; }

static void put_chunk(mixer *m, int number) {
  part *p = &m->parts[number];
  for (size_t i = first_item(p); i < p->chunks[p->next].end; i++) {
    sched_emitter_put(m->emitter, number, &p->items[i]);
    if (p->items[i].kind == SCHED_ORDER_STORE) note_store(m, p, &p->e.streams.stores[p->items[i].index]);
  }
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

// Gives a turn to the program or, if its next chunk has to wait, to one that it waits for: those are earlier ones.
static void take_turn(mixer *m, int number) {
  part *p = &m->parts[number];
  const int writer = awaited_by_chunk(m, p);
  if (writer == BLOCK_NONE) {
    put_chunk(m, number);
    return;
  }
  assert(writer < number);
  if (is_done(&m->parts[writer])) {
    fence(m);
    return;
  }
  take_turn(m, writer);
  p->lag = wf_max(p->lag, key_of(&m->parts[writer]) - share_of(p));
}

static uint16_t stride_of(const sched_streams *s) {
  for (size_t n = 0; n < s->nest_count; n++) {
    const sched_dot_runs *rows = &s->nests[n].plan->m;
    for (size_t i = 0; i < rows->count && !s->nests[n].a_transposed; i++)
      if (rows->runs[i].count > 1) return (uint16_t)rows->runs[i].step;
  }
  return 1;
}

// The program that goes on. Configuration for other products empties the mesh, so a program that needs it waits for
// longer.
static int next_of(const mixer *m, int at) {
  static const double longer = 1.0 / 64;  // share
  const int last = last_of(m);
  if (at == BLOCK_NONE || last == BLOCK_NONE || is_done(&m->parts[at])) return last;
  if (m->parts[at].stride == m->parts[last].stride) return last;
  return key_of(&m->parts[at]) < key_of(&m->parts[last]) + longer ? at : last;
}

static void put_all(mixer *m) {
  for (int n = 0; n < m->mix->alone; n++) {
    while (!is_done(&m->parts[n])) put_chunk(m, n);
    fence(m);
  }
  if (m->mix->alone == m->mix->count) return;
  for (int n = BLOCK_NONE; (n = next_of(m, n)) != BLOCK_NONE;) take_turn(m, n);
  fence(m);
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

// With known weights packed, where that is possible.
static bool expand_part(mixer *m, part *p, const sched_mix_program *from, const sched_options *options, wf_diag *diag) {
  sched_options own = *options;
  own.pack = true;
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
    p->stride = stride_of(&p->e.streams);
  }
  return true;
}

static command_program *put_together(mixer *m, const hw_array *array) {
  m->out = command_create(m->mix->name, array);
  m->emitter = sched_emitter_create(m->out, m->mix->count, m->arena);
  add_tensors(m);
  for (int n = 0; n < m->mix->count; n++) {
    sched_emitter_begin(m->emitter, n, &m->parts[n].e.streams, m->parts[n].tensors);
    m->out->macs += m->parts[n].e.macs;
  }
  share_tensors(m);
  m->stores = command_stores_begin(array);
  put_all(m);
  command_stores_end(&m->stores);
  return m->out;
}

command_program *sched_mixed_commands(const sched_mix *mix, const sched_options *options, wf_diag *diag) {
  mixer m = {.mix = mix, .arena = wf_arena_create()};
  command_program *out = begin(&m, options, diag) ? put_together(&m, options->array) : NULL;
  wf_arena_destroy(m.arena);
  return out;
}
