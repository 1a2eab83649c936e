// SPDX-License-Identifier: Apache-2.0
// Loads of int8 times an integer, which no load into the accumulator can do: products with multiples of the unit
// matrix.
//
//   load r = residual
//   dot acc += r * unit_127 blocks       the factor as a sum of numbers of at most 127, as even as they can be: at most
//   dot acc += r * unit_126 blocks       two different ones
//
// The multiples are constants of the program, DIM x DIM, which are loaded once in front of everything else.
#include "compiler/passes/fuse.h"

enum { FUSE_IMAGE_RANK = 4 };  // of results of convolutions

static int64_t magnitude(int64_t number) { return number < 0 ? -number : number; }

static block_statement *load_of_unit(const fuse_pass *f, int tensor, int buffer, int64_t dim) {
  block_statement *load = WF_ARENA_NEW(f->c.arena, block_statement);
  *load = (block_statement){.kind = BLOCK_LOAD, .where = f->c.where};
  load->load.target = block_whole(f->program, buffer);
  load->load.access = (block_access){.tensor = tensor, .rank = 2};
  for (int d = 0; d < 2; d++)
    load->load.access.dim[d] = (block_access_dim){.step = 1, .size = dim, .extent = dim, .stride = d == 0 ? dim : 1};
  return load;
}

// The buffer that holds `number` times the unit matrix.
static int unit_of(fuse_pass *f, int64_t number) {
  for (size_t u = 0; u < f->unit_count; u++)
    if (f->units[u].number == number) return f->units[u].buffer;
  const int64_t dim = hw_derive(f->array).dim, size[] = {dim, dim};
  int8_t *contents = WF_ARENA_ARRAY(f->c.arena, (size_t)(dim * dim), int8_t);
  for (int64_t i = 0; i < dim; i++) contents[i * dim + i] = (int8_t)number;
  const char *stem = wf_arena_format(f->c.arena, "unit_%s%d", number < 0 ? "minus_" : "", (int)magnitude(number));
  const char *name = block_fresh_name(f->program, stem, "");
  fuse_unit *unit = WF_ARENA_PUSH(f->c.arena, f->units, f->unit_count, &f->unit_room);
  const int tensor = block_add_constant(f->program, name, contents, dim * dim);
  unit->number = number;
  unit->buffer = block_add_buffer(f->program, block_fresh_name(f->program, stem, "_block"), BLOCK_I8, 2, size);
  unit->load = load_of_unit(f, tensor, unit->buffer, dim);
  return unit->buffer;
}

static block_statement *insert(fuse_pass *f, block_statement ***at, const block_statement *s) {
  block_statement *added = WF_ARENA_NEW(f->c.arena, block_statement);
  *added = *s;
  added->next = **at;
  **at = added;
  *at = &added->next;
  fuse_use_of(f, added)->kept = true;
  return added;
}

// A block of the size of the accumulator that holds what the load brings, in front of *at.
static int load_block(fuse_pass *f, block_statement ***at, const fuse_term *term, int accumulator) {
  const block_buffer like = f->program->buffers[accumulator];
  block_statement load = *term->statement;
  int buffer =
      block_add_buffer(f->program, block_fresh_name(f->program, "multiplied", ""), BLOCK_I8, like.rank, like.size);
  if (!fuse_spread(f, term->statement, &like, &load.load.access)) return BLOCK_NONE;
  load.load.target = block_whole(f->program, buffer);
  load.load.scaled = term->scaled;
  load.load.scale = term->scale;
  load.load.accumulate = false;
  insert(f, at, &load);
  return buffer;
}

static bool put_multiple(fuse_pass *f, block_statement ***at, const fuse_term *term, bool overwrite, int accumulator) {
  const int buffer = load_block(f, at, term, accumulator);
  if (buffer == BLOCK_NONE) return false;
  const int64_t parts = (magnitude(term->factor) + FUSE_FACTOR_PART - 1) / FUSE_FACTOR_PART;
  int64_t rest = term->factor;
  for (int64_t part = 0; part < parts; part++) {
    const int64_t number = rest / (parts - part);
    block_statement product = {.kind = BLOCK_DOT, .where = term->statement->where};
    product.dot.target = block_whole(f->program, accumulator);
    product.dot.a = block_whole(f->program, buffer);
    product.dot.b = block_whole(f->program, unit_of(f, number));
    product.dot.blocks = true;
    product.dot.accumulate = !overwrite || part > 0;
    insert(f, at, &product);
    rest -= number;
  }
  return true;
}

bool fuse_is_multiplied(const fuse_pass *f, const fuse_sum *sum, const fuse_term *term) {
  int products = 0;
  bool images = false;
  if (term->factor != 1) return true;
  for (int t = 0; t < sum->count; t++) {
    const block_statement *s = sum->terms[t].statement;
    products += s->kind == BLOCK_DOT;
    images |= s->kind == BLOCK_DOT && f->program->buffers[s->dot.target.buffer].rank == FUSE_IMAGE_RANK;
  }
  const bool alone = sum->count == products + 1 && !images;
  return products > 0 && term->narrow && term->loops == 0 && f->mapping != NULL && map_multiplies(f->mapping, 1, alone);
}

bool fuse_put_multiples(fuse_pass *f, block_statement **list, const block_statement *store, const fuse_sum *sum,
                        bool overwrite, int accumulator) {
  block_statement **at = list;
  while (*at != store) at = &(*at)->next;
  for (int t = 0; t < sum->count; t++) {
    const fuse_term *term = &sum->terms[t];
    if (!fuse_is_multiplied(f, sum, term)) continue;
    if (!fuse_can_move(f, *list, term->statement, store))
      return fuse_refuse(f, term->statement->where, "the tensor is stored to between this load and the end of its sum",
                         "load it right before it is added");
    if (!put_multiple(f, &at, term, overwrite, accumulator)) return false;
    overwrite = false;
  }
  return true;
}
