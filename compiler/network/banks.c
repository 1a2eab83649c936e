// SPDX-License-Identifier: Apache-2.0
// Banks of mixed programs: see banks.h. A bank has one port: a load that writes a row takes the cycle of a product that
// reads one, and products read weights and inputs at the same time. So every buffer has a bank, or a bank for each of
// two slots, and of all ways the one with the fewest conflicts is looked for, by moving one buffer at a time.
//
// Conflicts are counted as if programs took turns at random: of the rows that are written into a bank so many meet a
// read as the bank's reads have of the time. The slots of one buffer are the exception: one is written while another is
// read, and what is late meets its own slot.
#include "compiler/network/banks.h"

#include <math.h>

#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/block/layout.h"

enum { BUFFERS_MAX = 32 };

// A scratchpad buffer of one of the programs.
typedef struct piece {
  block_buffer *buffer;
  int program;
  bool weights;
  double reads, writes;  // rows, of all slots
  double fills;
  int64_t rows;        // of a slot
  int64_t bank;        // in which the first slot begins
  bool spread;         // the second slot begins in the bank behind it
  int64_t at, second;  // where the slots begin: the first, and the second of two; more follow each other
} piece;

typedef struct placer {
  piece pieces[BUFFERS_MAX];
  int count;
  int64_t banks, bank_rows;
  const network_taken *taken;
  double cycles;  // of the products of all programs
} placer;

// ---- what is read and written

typedef struct roles {
  const block_program *program;
  bool *weights, *beside;
} roles;

static void find_roles(void *context, block_statement *s) {
  roles *r = context;
  if (s->kind != BLOCK_DOT) return;
  r->weights[s->dot.b.buffer] = true;
  if (block_is_shared(r->program, s)) r->beside[s->dot.a.buffer] = r->beside[s->dot.b.buffer] = true;
}

static void measure(piece *p, const map_layer *layer, const map_mapping *mapping, bool beside, const hw_array *array) {
  const map_footprint f = map_measure(layer, mapping, array);
  const double dim = hw_derive(array).dim, results = (double)f.dram_bytes[MAP_RESULTS] / dim;
  const double rows = (double)(mapping->tile[BLOCK_DIM_N] * map_sums(layer, mapping->tile[BLOCK_DIM_P]) *
                               map_sums(layer, mapping->tile[BLOCK_DIM_Q]));
  const map_operand operand = p->weights ? MAP_WEIGHTS : MAP_INPUTS;
  p->reads = p->weights ? (double)f.mesh_cycles * dim / rows : (double)f.mesh_cycles;
  p->writes = (double)f.dram_bytes[operand] / dim;
  p->fills = (double)f.fills[operand];
  if (!beside) return;
  p->reads = p->weights ? results * dim / rows : results;
  p->writes = p->weights ? dim : results;
  p->fills = (double)f.fills[MAP_RESULTS];
}

static bool add_program(placer *l, block_program *program, int number, const map_layer *layer,
                        const map_mapping *mapping, const hw_array *array) {
  const hw_derived hw = hw_derive(array);
  roles r = {.program = program,
             .weights = WF_ARENA_ARRAY(program->arena, (size_t)program->buffer_count + 1, bool),
             .beside = WF_ARENA_ARRAY(program->arena, (size_t)program->buffer_count + 1, bool)};
  block_visit(program->body, find_roles, &r);
  for (int b = 0; b < program->buffer_count; b++) {
    block_buffer *buffer = &program->buffers[b];
    if (buffer->scope != BLOCK_SP) continue;
    if (l->count == BUFFERS_MAX) return false;
    const block_layout layout = block_layout_of(buffer, &hw);
    piece *p = &l->pieces[l->count++];
    *p = (piece){.buffer = buffer, .program = number, .weights = r.weights[b], .rows = block_layout_slot_rows(&layout)};
    measure(p, layer, mapping, r.beside[b], array);
  }
  l->cycles += (double)map_measure(layer, mapping, array).mesh_cycles;
  return true;
}

// ---- conflicts

static int64_t rows_in(const placer *l, int64_t first, int64_t rows, int64_t bank) {
  const int64_t from = wf_max(first, bank * l->bank_rows), to = wf_min(first + rows, (bank + 1) * l->bank_rows);
  return wf_max(to - from, 0);
}

// How much of a piece lies in a bank.
static double part_in(const placer *l, const piece *p, int64_t bank) {
  const int64_t depth = p->buffer->depth, first = depth == 2 ? p->rows : depth * p->rows;
  const int64_t rows = rows_in(l, p->at, first, bank) + (depth == 2 ? rows_in(l, p->second, p->rows, bank) : 0);
  return (double)rows / (double)(depth * p->rows);
}

static double conflicts_of(const placer *l, const piece *a, const piece *b) {
  double met = 0, same = 0;
  for (int64_t k = 0; k < l->banks; k++) {
    const double shared = part_in(l, a, k) * part_in(l, b, k);
    met += shared * (a->writes * b->reads + b->writes * a->reads) / l->cycles;
    same += shared;
  }
  return met + (a->program == b->program && a->weights != b->weights ? same * wf_min(a->reads, b->reads) : 0);
}

// Between the slots of a piece.
static double own_conflicts(const placer *l, const piece *p) {
  static const double late_cycles = 600;
  if (p->buffer->depth < 2) return 0;
  const double met = p->writes * p->reads / l->cycles;
  return p->spread ? met * wf_min(1.0, late_cycles * p->fills / l->cycles) : met;
}

static double cost_of(const placer *l) {
  double cost = 0;
  for (int a = 0; a < l->count; a++) {
    cost += own_conflicts(l, &l->pieces[a]);
    for (int b = 0; b < a; b++) cost += conflicts_of(l, &l->pieces[a], &l->pieces[b]);
  }
  return cost;
}

// ---- rows

int64_t network_free_rows(const network_taken *taken, int64_t at, int64_t count, int64_t end) {
  for (bool moved = true; moved;) {
    moved = false;
    for (int i = 0; i < taken->count; i++) {
      const network_rows *other = &taken->rows[i];
      if (at + count <= other->first || at >= other->first + other->count) continue;
      at = other->first + other->count;
      moved = true;
    }
  }
  return at + count <= end ? at : -1;
}

static int64_t take(network_taken *taken, int64_t at, int64_t rows) {
  taken->rows[taken->count++] = (network_rows){at, rows};
  return at;
}

// The first slot begins in the piece's bank, the second of two behind it or in the next bank.
static bool set_piece(const placer *l, network_taken *taken, piece *p) {
  const int64_t all = l->banks * l->bank_rows, bank = p->bank * l->bank_rows, depth = p->buffer->depth;
  const int64_t rows = depth == 2 ? p->rows : depth * p->rows;
  if (taken->count + 2 > NETWORK_TAKEN_MAX) return false;
  p->at = network_free_rows(taken, bank, rows, all);
  if (p->at < 0 || p->at >= bank + l->bank_rows) return false;
  take(taken, p->at, rows);
  if (depth != 2) return true;
  p->second = network_free_rows(taken, p->spread ? bank + l->bank_rows : p->at + rows, rows, all);
  return p->second > p->at && take(taken, p->second, rows) > 0;
}

static int64_t all_rows(const piece *p) { return p->rows * p->buffer->depth; }

// Gives pieces rows, the largest first; false: they do not fit.
static bool set_rows(placer *l) {
  network_taken taken = *l->taken;
  bool placed[BUFFERS_MAX] = {false};
  for (int n = 0; n < l->count; n++) {
    int next = -1;
    for (int i = 0; i < l->count; i++)
      if (!placed[i] && (next < 0 || all_rows(&l->pieces[i]) > all_rows(&l->pieces[next]))) next = i;
    placed[next] = true;
    if (!set_piece(l, &taken, &l->pieces[next])) return false;
  }
  return true;
}

static void write_rows(const placer *l) {
  for (int i = 0; i < l->count; i++) {
    const piece *p = &l->pieces[i];
    p->buffer->first_row = (uint32_t)p->at;
    p->buffer->slot_rows = (uint32_t)(p->buffer->depth == 2 ? p->second - p->at : p->rows);
  }
}

// ---- search

// The best place for one piece, the others where they are; true if it moved.
static bool improve(placer *l, int number, double *cost) {
  piece *p = &l->pieces[number], best = *p;
  bool found = false;
  for (int64_t k = 0; k < l->banks; k++)
    for (int spread = 0; spread < (p->buffer->depth == 2 && k + 1 < l->banks ? 2 : 1); spread++) {
      p->bank = k;
      p->spread = spread != 0;
      if (!set_rows(l)) continue;
      const double now = cost_of(l);
      if (now >= *cost) continue;
      *cost = now;
      best = *p;
      found = true;
    }
  *p = best;
  set_rows(l);
  return found;
}

// One piece behind the other, which fits if anything does, or nearly; false if it does not.
static bool start(placer *l, int64_t first) {
  for (int i = 0; i < l->count; i++) {
    piece *p = &l->pieces[i];
    p->spread = false;
    for (p->bank = 0; p->bank < l->banks; p->bank++) {
      placer so_far = *l;
      so_far.count = i + 1;
      so_far.pieces[i].bank = (p->bank + first) % l->banks;
      if (set_rows(&so_far)) break;
    }
    if (p->bank == l->banks) return false;
    p->bank = (p->bank + first) % l->banks;
  }
  return set_rows(l);
}

bool network_place_in_banks(const network_banked *all, const network_taken *taken, const hw_array *array) {
  const hw_derived hw = hw_derive(array);
  placer l = {.banks = array->scratchpad.banks, .bank_rows = hw.sp_bank_rows, .taken = taken}, best = {0};
  double least = INFINITY;
  for (int n = 0; n < all->count; n++)
    if (all->layers[n] != NULL && !add_program(&l, all->programs[n], n, all->layers[n], &all->mappings[n], array))
      return false;
  if (l.count == 0) return true;
  for (int64_t first = 0; first < l.banks; first++) {
    if (!start(&l, first)) continue;
    double cost = cost_of(&l);
    for (bool moved = true; moved;) {
      moved = false;
      for (int i = 0; i < l.count; i++) moved |= improve(&l, i, &cost);
    }
    if (cost >= least) continue;
    least = cost;
    best = l;
  }
  if (least == INFINITY) return false;
  write_rows(&best);
  return true;
}
