// SPDX-License-Identifier: Apache-2.0
// Gives each buffer its depth, its layout and its rows.
//
// Scratchpad banks have one port: a load that writes a bank takes the cycle of a product that reads it, and two
// operands in one bank cost a product twice the time. So slots that are read and slots that are filled lie in different
// banks, as far as there are banks: of more than two slots as many are used as have banks of their own, or two. In the
// accumulator results that a wide store shall take lie in tiles. The parts of a program, between which a fence stands,
// have all rows of the memories one after the other.
#include <inttypes.h>

#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/block/layout.h"
#include "compiler/block/part.h"
#include "compiler/cost/cost.h"
#include "compiler/passes/passes.h"

typedef struct place {
  block_program *program;
  const map_mapping *mapping;
  hw_derived derived;
  wf_diag *diag;
  // Per buffer. Beside the product: operands of products of blocks, which add to its results.
  bool *weights, *results, *stored_narrow, *pooled, *beside, *constant;
  bool *once;            // loaded in front of all loops
  const bool *placed;    // in the part whose buffers get their places
  int64_t operand_rows;  // of the scratchpad, for the product's operands: the others have the end
} place;

static void find_roles(void *context, block_statement *s) {
  place *p = context;
  if (s->kind == BLOCK_LOAD && p->program->tensors[s->load.access.tensor].contents != NULL)
    p->constant[s->load.target.buffer] = true;
  if (s->kind == BLOCK_DOT && block_is_shared(p->program, s))
    p->beside[s->dot.a.buffer] = p->beside[s->dot.b.buffer] = true;
  if (s->kind == BLOCK_DOT) {
    p->weights[s->dot.b.buffer] = true;
    p->results[s->dot.target.buffer] = true;
  }
  if (s->kind == BLOCK_STORE && s->store.epilogue.scaled) p->stored_narrow[s->store.source.buffer] = true;
  if (s->kind == BLOCK_STORE && s->store.apart) p->stored_narrow[s->store.statistics.buffer] = true;
  if (s->kind == BLOCK_STORE && s->store.epilogue.pool.stride != 0) p->pooled[s->store.source.buffer] = true;
}

// What a program without a mapping loads in front of all loops stays as it is.
static void find_kept(place *p) {
  for (const block_statement *s = p->program->body; s != NULL; s = s->next)
    if (s->kind == BLOCK_LOAD) p->once[s->load.target.buffer] = map_is_none(p->mapping);
}

static uint32_t depth_of(const place *p, int b) {
  bool accumulator = p->program->buffers[b].scope == BLOCK_ACC;
  if (p->constant[b] || (p->once[b] && !accumulator)) return 1;
  if (p->beside[b]) return p->mapping->depth[MAP_RESULTS] < 2 ? 1 : 2;
  uint32_t depth = p->mapping->depth[accumulator ? MAP_RESULTS : p->weights[b] ? MAP_WEIGHTS : MAP_INPUTS];
  return depth == 0 ? 1 : depth;
}

static bool is_placed(const place *p, int b, block_scope scope) {
  return p->placed[b] && p->program->buffers[b].scope == scope;
}

static int64_t slot_rows(const place *p, int b) {
  block_layout l = block_layout_of(&p->program->buffers[b], &p->derived);
  return block_layout_slot_rows(&l);
}

static int64_t all_rows(const place *p, block_scope scope) {
  int64_t rows = 0;
  for (int b = 0; b < p->program->buffer_count; b++)
    if (is_placed(p, b, scope)) rows += slot_rows(p, b) * p->program->buffers[b].depth;
  return rows;
}

// ---- layout of results

// Tiles where wide stores gain by it. Rows of images that would be cut into crumbs by the tiles start at one each.
static void choose_tiles(const place *p, int b) {
  block_buffer *buffer = &p->program->buffers[b];
  int64_t dim = p->derived.dim, *row = buffer->rank > 2 ? &buffer->size[buffer->rank - 2] : NULL;
  if (!p->stored_narrow[b] || p->pooled[b] || buffer->size[buffer->rank - 1] <= dim || p->derived.max_block_len == 1)
    return;
  buffer->tiled = true;
  int64_t least = cost_product_rows(0, dim), was = row == NULL ? 0 : *row;
  if (row != NULL && wf_common_factor(*row, dim) < least) *row = (*row + dim - 1) / dim * dim;
  if (all_rows(p, BLOCK_ACC) <= p->derived.acc_rows) return;
  buffer->tiled = false;
  if (row != NULL) *row = was;
}

// The factors of a gate lie as what it multiplies.
static void lay_out_factors(void *context, block_statement *s) {
  const place *p = context;
  if (s->kind != BLOCK_STORE || !s->store.gated) return;
  const block_buffer *from = &p->program->buffers[s->store.source.buffer];
  block_buffer *factors = &p->program->buffers[s->store.factors.buffer];
  factors->tiled = from->tiled;
  for (int d = 0; d < from->rank; d++) factors->size[d] = from->size[d];
}

// ---- capacity

static bool check_capacity(const place *p, block_scope scope, const char *memory, int64_t has) {
  int64_t needs = all_rows(p, scope);
  if (needs <= has) return true;
  wf_error(p->diag, (wf_location){0}, "%s: needs %" PRId64 " rows of %" PRId64, memory, needs, has);
  for (int b = 0; b < p->program->buffer_count; b++)
    if (is_placed(p, b, scope))
      wf_hint(p->diag, "buffer '%s': %u x %" PRId64 " rows", p->program->buffers[b].name, p->program->buffers[b].depth,
              slot_rows(p, b));
  return false;
}

// ---- rows

static void put(block_buffer *buffer, int64_t first, int64_t pitch) {
  buffer->first_row = (uint32_t)first;
  buffer->slot_rows = (uint32_t)pitch;
}

// Each slot in banks of its own.
static bool place_in_banks(const place *p) {
  int64_t bank = p->derived.sp_bank_rows, next = 0, end = 0;
  for (int round = 0; round < 2; round++) {
    next = end = 0;
    for (int b = 0; b < p->program->buffer_count; b++) {
      block_buffer *buffer = &p->program->buffers[b];
      if (!is_placed(p, b, BLOCK_SP) || p->beside[b]) continue;
      int64_t pitch = (slot_rows(p, b) + bank - 1) / bank * bank;
      if (round == 1) put(buffer, next, pitch);
      end = next + pitch * (buffer->depth - 1) + slot_rows(p, b);
      next += pitch * buffer->depth;
    }
    if (end > p->operand_rows) return false;
  }
  return true;
}

// The operand with the most slots, of as many weights; BLOCK_NONE: none has more than two.
static int deepest(const place *p) {
  int found = BLOCK_NONE;
  uint32_t most = 2;
  for (int b = 0; b < p->program->buffer_count; b++) {
    const block_buffer *buffer = &p->program->buffers[b];
    if (!is_placed(p, b, BLOCK_SP) || p->beside[b] || buffer->depth <= 2) continue;
    if (buffer->depth > most || (buffer->depth == most && p->weights[b])) found = b;
    most = wf_max(most, buffer->depth);
  }
  return found;
}

// As many slots as have banks of their own, two at least (cost_limit_slots). Where a slot is filled in the bank of one
// that is read, more than two lose what they hide.
static bool place_deep(const place *p) {
  for (int b; !place_in_banks(p); p->program->buffers[b].depth--)
    if ((b = deepest(p)) == BLOCK_NONE) return false;
  return true;
}

// Slots of two turns in two halves; inputs from the bottom of a half, weights from its top.
static bool place_in_halves(const place *p) {
  int64_t half = p->operand_rows / 2, low = 0, high = half;
  for (int round = 0; round < 2; round++) {
    low = 0;
    high = half;
    for (int b = 0; b < p->program->buffer_count; b++) {
      block_buffer *buffer = &p->program->buffers[b];
      if (!is_placed(p, b, BLOCK_SP) || p->beside[b]) continue;
      int64_t rows = slot_rows(p, b);
      if (p->weights[b]) high -= rows;
      if (round == 1) put(buffer, p->weights[b] ? high : low, half);
      if (!p->weights[b]) low += rows;
    }
    if (low > high) return false;
  }
  return true;
}

// Slots one behind the other, inputs from the bottom, weights from the top.
static void place_packed(const place *p) {
  int64_t low = 0, high = p->operand_rows;
  for (int b = 0; b < p->program->buffer_count; b++) {
    block_buffer *buffer = &p->program->buffers[b];
    if (!is_placed(p, b, BLOCK_SP) || p->beside[b]) continue;
    int64_t rows = slot_rows(p, b);
    if (p->weights[b]) high -= rows * buffer->depth;
    put(buffer, p->weights[b] ? high : low, rows);
    if (!p->weights[b]) low += rows * buffer->depth;
  }
}

// What lies beside the product's operands: at the end.
static void place_beside(place *p) {
  p->operand_rows = p->derived.sp_rows;
  for (int b = 0; b < p->program->buffer_count; b++) {
    block_buffer *buffer = &p->program->buffers[b];
    if (!is_placed(p, b, BLOCK_SP) || !p->beside[b]) continue;
    p->operand_rows -= slot_rows(p, b) * buffer->depth;
    put(buffer, p->operand_rows, slot_rows(p, b));
  }
}

// Two slots of results hide the stores of one; more put them off to where they meet the last ones, which was measured
// to take up to 1.05 times as long (`weft bench depth`).
static void limit_results(const place *p) {
  for (int b = 0; b < p->program->buffer_count; b++) {
    block_buffer *buffer = &p->program->buffers[b];
    if (is_placed(p, b, BLOCK_ACC) && buffer->depth > 2) buffer->depth = 2;
  }
}

static void place_accumulator(const place *p) {
  int64_t next = 0, half = p->derived.acc_rows / 2;
  for (int b = 0; b < p->program->buffer_count; b++) {
    block_buffer *buffer = &p->program->buffers[b];
    if (!is_placed(p, b, BLOCK_ACC)) continue;
    int64_t rows = slot_rows(p, b);
    bool alone = all_rows(p, BLOCK_ACC) == rows * buffer->depth;
    put(buffer, next, alone && buffer->depth == 2 && rows <= half ? half : rows);
    next += rows * buffer->depth;
  }
}

// Rows as the unrollers lay them out: matrices in whole tiles, images row behind row.
static int64_t unrolled_rows(const place *p, const block_buffer *buffer, bool images) {
  const block_layout l = block_layout_of(buffer, &p->derived);
  return (images ? l.rows : (l.rows + l.dim - 1) / l.dim * l.dim) * l.blocks;
}

static bool has_images(const block_program *program) {
  enum { IMAGE_RANK = 4 };
  for (int b = 0; b < program->buffer_count; b++)
    if (program->buffers[b].scope == BLOCK_ACC && program->buffers[b].rank == IMAGE_RANK) return true;
  return false;
}

// Where the loop unroller puts its operands: in two halves of each memory, inputs from the bottom of a half and weights
// up to its top. What is multiplied beside the product has loops of its own.
static bool place_for_unroller(const place *p) {
  int64_t sp_half = p->derived.sp_rows / 2, acc_half = p->derived.acc_rows / 2, sp = 0, acc = 0;
  const bool images = has_images(p->program);
  for (int b = 0; b < p->program->buffer_count; b++) {
    block_buffer *buffer = &p->program->buffers[b];
    const int64_t rows = unrolled_rows(p, buffer, images);
    const bool top = p->weights[b] && rows <= sp_half;
    buffer->depth = 2;
    if (buffer->scope == BLOCK_ACC) put(buffer, 0, acc_half);
    if (buffer->scope == BLOCK_SP) put(buffer, top ? sp_half - rows : 0, sp_half);
    if (buffer->scope == BLOCK_ACC) acc += rows;
    if (buffer->scope == BLOCK_SP && !p->beside[b]) sp += rows;
  }
  if (images) return true;  // expansion knows what each loop takes
  if (sp > sp_half)
    wf_error(p->diag, (wf_location){0}, "half of the scratchpad: needs %" PRId64 " rows of %" PRId64, sp, sp_half);
  if (acc > acc_half)
    wf_error(p->diag, (wf_location){0}, "half of the accumulator: needs %" PRId64 " rows of %" PRId64, acc, acc_half);
  return sp <= sp_half && acc <= acc_half;
}

// ---- parts

static bool place_part(place *p, const bool *buffers) {
  p->placed = buffers;
  for (int b = 0; b < p->program->buffer_count; b++)
    if (is_placed(p, b, BLOCK_ACC)) choose_tiles(p, b);
  block_visit(p->program->body, lay_out_factors, p);
  if (!check_capacity(p, BLOCK_SP, "scratchpad", p->derived.sp_rows) ||
      !check_capacity(p, BLOCK_ACC, "accumulator", p->derived.acc_rows))
    return false;
  place_beside(p);
  if (!place_deep(p) && !place_in_halves(p)) place_packed(p);
  limit_results(p);
  place_accumulator(p);
  return true;
}

// What several parts have a buffer for (constants) has one place in all of them, as all buffers then have.
static bool place_parts(place *p) {
  bool *all = WF_ARENA_ARRAY(p->program->arena, (size_t)p->program->buffer_count + 1, bool), shared = false;
  const block_part *const first = block_parts_of(p->program, p->program->arena);
  for (const block_part *part = first; part != NULL; part = part->next)
    for (int b = 0; b < p->program->buffer_count; b++) {
      shared |= all[b] && part->buffers[b];
      all[b] |= part->buffers[b];
    }
  if (shared) return place_part(p, all);
  bool good = true;
  for (const block_part *part = first; part != NULL && good; part = part->next) good = place_part(p, part->buffers);
  return good;
}

bool pass_buffers(block_program *program, const map_mapping *mapping, const hw_array *array, wf_diag *diag) {
  size_t count = (size_t)program->buffer_count + 1;
  place p = {.program = program, .mapping = mapping, .derived = hw_derive(array), .diag = diag};
  p.weights = WF_ARENA_ARRAY(program->arena, count, bool);
  p.results = WF_ARENA_ARRAY(program->arena, count, bool);
  p.stored_narrow = WF_ARENA_ARRAY(program->arena, count, bool);
  p.pooled = WF_ARENA_ARRAY(program->arena, count, bool);
  p.beside = WF_ARENA_ARRAY(program->arena, count, bool);
  p.constant = WF_ARENA_ARRAY(program->arena, count, bool);
  p.once = WF_ARENA_ARRAY(program->arena, count, bool);
  block_visit(program->body, find_roles, &p);
  if (program->style == BLOCK_STYLE_LOOP) return place_for_unroller(&p);
  find_kept(&p);
  for (int b = 0; b < program->buffer_count; b++) program->buffers[b].depth = depth_of(&p, b);
  return place_parts(&p);
}
