// SPDX-License-Identifier: Apache-2.0
// Forwarding: see forward.h. The pieces of loads, a row of a column block each, are found by the address of their first
// byte; stores are gone through piece by piece, and pieces that lie evenly in both memories become one move. Strides
// have 16 bits.
#include "compiler/schedule/forward.h"

#include <string.h>

#include "base/number.h"

#define NO_PIECE UINT32_MAX

// A row of a column block of a load.
typedef struct piece {
  int part, queue;
  uint32_t load, to;
  uint16_t cols;
  uint32_t next;  // number of another piece that begins with the same byte; NO_PIECE: there is none
} piece;

// What is known of a store or a load.
typedef struct store_moves {
  size_t first, count;
} store_moves;

struct sched_forwards {
  wf_arena *arena;
  const sched_forward_part *parts;
  int count;
  bool *tensors;         // which are forwarded
  store_moves **stores;  // per part and store
  uint32_t ***missing;   // per part, queue and load: rows of blocks that are not there yet
  bool ***taken;         // per part, queue and load
  sched_move *moves;
  size_t move_count, move_room;
};

sched_forwards *sched_forwards_create(const sched_forward_part *parts, int count, int tensor_count, wf_arena *arena) {
  sched_forwards *f = WF_ARENA_NEW(arena, sched_forwards);
  *f = (sched_forwards){.arena = arena, .parts = parts, .count = count};
  f->tensors = WF_ARENA_ARRAY(arena, (size_t)tensor_count + 1, bool);
  f->stores = WF_ARENA_ARRAY(arena, (size_t)count, store_moves *);
  f->missing = WF_ARENA_ARRAY(arena, (size_t)count, uint32_t **);
  f->taken = WF_ARENA_ARRAY(arena, (size_t)count, bool **);
  for (int n = 0; n < count; n++) {
    const sched_streams *s = parts[n].streams;
    f->stores[n] = WF_ARENA_ARRAY(arena, (size_t)s->store_count + 1, store_moves);
    f->missing[n] = WF_ARENA_ARRAY(arena, (size_t)s->queue_count + 1, uint32_t *);
    f->taken[n] = WF_ARENA_ARRAY(arena, (size_t)s->queue_count + 1, bool *);
    for (int q = 0; q < s->queue_count; q++) {
      f->missing[n][q] = WF_ARENA_ARRAY(arena, (size_t)s->queues[q].count + 1, uint32_t);
      f->taken[n][q] = WF_ARENA_ARRAY(arena, (size_t)s->queues[q].count + 1, bool);
    }
  }
  return f;
}

// ---- pieces of loads

typedef struct planner {
  sched_forwards *f;
  int tensor, writer;
  uint64_t bytes;
  uint32_t dim, most_cols;  // most_cols: of a command
  uint32_t *first;          // per byte: the piece that begins with it, or NO_PIECE
  bool *stored;             // per byte: whether a piece of a store begins with it
  piece *pieces;
  size_t piece_count, piece_room;
} planner;

// Whether moves can do the load: bytes as they are, into the scratchpad, for products alone.
static bool is_plain_load(const sched_load *load) {
  return isa_local_accumulator(load->local) == 0 && !load->shrink && !load->packed && load->scale == 1.0F &&
         load->after_stores == 0 && load->before_store == SCHED_NEVER && load->before_product != SCHED_NEVER &&
         (load->stride > 0 || load->rows == 1);
}

static bool is_plain_store(const sched_store *store) {
  return isa_local_accumulator(store->local) != 0 && isa_local_full(store->local) == 0 && !store->gated &&
         store->pool.stride == 0;
}

static bool add_pieces(planner *p, int part, int queue, uint32_t number) {
  const sched_load *load = &p->f->parts[part].streams->queues[queue].loads[number];
  for (uint32_t b = 0; b * p->dim < load->cols; b++)
    for (uint32_t r = 0; r < load->rows; r++) {
      const int64_t at = load->offset + (int64_t)r * load->stride + b * p->dim;
      if (at < 0 || (uint64_t)at >= p->bytes) return false;
      *WF_ARENA_PUSH(p->f->arena, p->pieces, p->piece_count, &p->piece_room) =
          (piece){.part = part,
                  .queue = queue,
                  .load = number,
                  .to = load->local + b * load->block_stride + r,
                  .cols = (uint16_t)wf_min(load->cols - b * p->dim, p->dim),
                  .next = p->first[at]};
      p->first[at] = (uint32_t)(p->piece_count - 1);
    }
  return true;
}

// Moves fill the rows of a load earlier than its program would. Earlier loads of these rows have to be done by then:
// the load has to follow a product that needs them. `latest` has per row the number of the last load, counted from 1.
static bool may_come_early(const planner *p, const sched_queue *q, uint32_t number, const uint32_t *latest) {
  const sched_load *load = &q->loads[number];
  for (uint32_t b = 0; b * p->dim < load->cols; b++)
    for (uint32_t r = 0; r < load->rows; r++) {
      const uint32_t before = latest[load->local + b * load->block_stride + r];
      if (before != 0 && q->loads[before - 1].before_product >= load->after_products) return false;
    }
  return true;
}

static void note_rows(const planner *p, const sched_load *load, uint32_t number, uint32_t *latest) {
  for (uint32_t b = 0; b * p->dim < load->cols; b++)
    for (uint32_t r = 0; r < load->rows; r++) latest[load->local + b * load->block_stride + r] = number + 1;
}

static bool reads(const planner *p, int part, const sched_load *load) {
  return load->tensor != COMMAND_NO_TENSOR && p->f->parts[part].tensors[load->tensor] == p->tensor;
}

static bool find_pieces_of_queue(planner *p, int part, int queue) {
  const sched_streams *s = p->f->parts[part].streams;
  const sched_queue *q = &s->queues[queue];
  bool any = false;
  for (uint32_t n = 0; n < q->count && !any; n++) any = reads(p, part, &q->loads[n]);
  if (!any) return true;
  uint32_t *latest = WF_ARENA_ARRAY(p->f->arena, s->derived.sp_rows, uint32_t);
  for (uint32_t n = 0; n < q->count; n++) {
    const sched_load *load = &q->loads[n];
    if (isa_local_accumulator(load->local) != 0) return false;
    if (reads(p, part, load) && (part == p->writer || !is_plain_load(load) || !may_come_early(p, q, n, latest) ||
                                 !add_pieces(p, part, queue, n)))
      return false;
    note_rows(p, load, n, latest);
  }
  return true;
}

static bool find_pieces(planner *p) {
  for (int part = 0; part < p->f->count; part++)
    for (int q = 0; q < p->f->parts[part].streams->queue_count; q++)
      if (!find_pieces_of_queue(p, part, q)) return false;
  return p->piece_count > 0;
}

// ---- moves of stores

// Whether a move goes on with a piece from the next row of the accumulator.
static bool goes_on(sched_move *move, const piece *row, uint32_t from) {
  if (move->part != row->part || move->queue != row->queue || move->load != row->load) return false;
  if (move->from + move->rows != from || row->to <= move->to) return false;
  if (row->to - move->to > UINT16_MAX) return false;
  if (move->rows == 1) move->stride = row->to - move->to;
  return row->to == move->to + move->rows * move->stride;
}

// `first`: of the moves of this column block.
static void add_move(planner *p, const piece *row, uint32_t from, size_t first) {
  sched_forwards *f = p->f;
  f->missing[row->part][row->queue][row->load]++;
  for (size_t n = f->move_count; n-- > first;)
    if (goes_on(&f->moves[n], row, from)) {
      f->moves[n].rows++;
      return;
    }
  *WF_ARENA_PUSH(f->arena, f->moves, f->move_count, &f->move_room) = (sched_move){.from = from,
                                                                                  .to = row->to,
                                                                                  .stride = 1,
                                                                                  .rows = 1,
                                                                                  .cols = row->cols,
                                                                                  .blocks = 1,
                                                                                  .part = row->part,
                                                                                  .queue = row->queue,
                                                                                  .load = row->load};
}

// Whether a move of the last block goes on with another of the block behind it, in the same rows: one command does
// both.
static bool takes_block(const planner *p, sched_move *move, const sched_move *block) {
  if (move->part != block->part || move->queue != block->queue || move->load != block->load) return false;
  if (move->rows != block->rows || (move->rows > 1 && move->stride != block->stride)) return false;
  if (move->from + move->blocks * p->dim != block->from || move->cols != move->blocks * p->dim) return false;
  if (move->cols + block->cols > p->most_cols || block->to <= move->to) return false;
  if (block->to - move->to > UINT16_MAX) return false;
  if (move->blocks == 1) move->block_stride = block->to - move->to;
  return block->to == move->to + move->blocks * move->block_stride;
}

// Moves of the last block, from number `block` on, that a move of the same store from number `first` on does, too.
static void join_blocks(planner *p, size_t first, size_t block) {
  sched_forwards *f = p->f;
  size_t left = block;
  for (size_t n = block; n < f->move_count; n++) {
    size_t before = first;
    while (before < block && !takes_block(p, &f->moves[before], &f->moves[n])) before++;
    if (before == block) {
      f->moves[left++] = f->moves[n];
      continue;
    }
    f->moves[before].cols = (uint16_t)(f->moves[before].cols + f->moves[n].cols);
    f->moves[before].blocks++;
  }
  f->move_count = left;
}

static bool add_moves_of_block(planner *p, const sched_store *store, uint32_t block) {
  const uint32_t cols = wf_min(store->cols - block * p->dim, p->dim);
  const size_t first = p->f->move_count;
  for (uint32_t r = 0; r < store->rows; r++) {
    const int64_t at = store->offset + (int64_t)r * store->stride + block * p->dim;
    if (at < 0 || (uint64_t)at >= p->bytes || p->stored[at]) return false;
    p->stored[at] = true;
    for (uint32_t n = p->first[at]; n != NO_PIECE; n = p->pieces[n].next) {
      if (p->pieces[n].cols != cols) return false;
      add_move(p, &p->pieces[n], store->local + block * p->dim + r, first);
    }
  }
  return true;
}

static bool find_moves(planner *p) {
  const sched_forward_part *writer = &p->f->parts[p->writer];
  for (uint32_t n = 0; n < writer->streams->store_count; n++) {
    const sched_store *store = &writer->streams->stores[n];
    if (store->tensor == COMMAND_NO_TENSOR || writer->tensors[store->tensor] != p->tensor) continue;
    if (!is_plain_store(store)) return false;
    store_moves *moves = &p->f->stores[p->writer][n];
    moves->first = p->f->move_count;
    for (uint32_t b = 0; b * p->dim < store->cols; b++) {
      const size_t block = p->f->move_count;
      if (!add_moves_of_block(p, store, b)) return false;
      join_blocks(p, moves->first, block);
    }
    moves->count = p->f->move_count - moves->first;
  }
  return true;
}

// Each piece is moved once, since no byte is stored twice.
static bool are_all_moved(const planner *p) {
  for (int64_t at = 0; (uint64_t)at < p->bytes; at++)
    if (p->first[at] != NO_PIECE && !p->stored[at]) return false;
  return true;
}

static void take_loads(const planner *p) {
  for (size_t n = 0; n < p->piece_count; n++)
    p->f->taken[p->pieces[n].part][p->pieces[n].queue][p->pieces[n].load] = true;
}

static void take_back(const planner *p, size_t moves) {
  sched_forwards *f = p->f;
  f->move_count = moves;
  for (size_t n = 0; n < p->piece_count; n++) f->missing[p->pieces[n].part][p->pieces[n].queue][p->pieces[n].load] = 0;
  const sched_forward_part *writer = &f->parts[p->writer];
  for (uint32_t n = 0; n < writer->streams->store_count; n++)
    if (f->stores[p->writer][n].first >= moves) f->stores[p->writer][n].count = 0;
}

bool sched_forwards_add(sched_forwards *f, int tensor, uint64_t bytes, int writer) {
  planner p = {.f = f, .tensor = tensor, .writer = writer, .bytes = bytes};
  const size_t moves = f->move_count;
  p.dim = f->parts[writer].streams->derived.dim;
  p.most_cols = f->parts[writer].streams->derived.max_cols;
  p.first = WF_ARENA_ARRAY(f->arena, bytes + 1, uint32_t);
  p.stored = WF_ARENA_ARRAY(f->arena, bytes + 1, bool);
  memset(p.first, 0xff, bytes * sizeof *p.first);
  if (!find_pieces(&p) || !find_moves(&p) || !are_all_moved(&p)) {
    take_back(&p, moves);
    return false;
  }
  take_loads(&p);
  return f->tensors[tensor] = true;
}

// ---- what is there

bool sched_forwards_has(const sched_forwards *f, int tensor) { return f->tensors[tensor]; }

size_t sched_forwards_moves(const sched_forwards *f, int part, uint32_t store, const sched_move **moves) {
  const store_moves *of = &f->stores[part][store];
  *moves = f->moves + of->first;
  return of->count;
}

void sched_forwards_note(sched_forwards *f, const sched_move *move) {
  f->missing[move->part][move->queue][move->load] -= (uint32_t)move->rows * move->blocks;
}

bool sched_forwards_takes(const sched_forwards *f, int part, int queue, uint32_t load) {
  return f->taken[part][queue][load];
}

bool sched_forwards_is_filled(const sched_forwards *f, int part, int queue, uint32_t load) {
  return f->missing[part][queue][load] == 0;
}
