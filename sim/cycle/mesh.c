// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the mesh and the transposer, request by request: see mesh.h.
//
// Values do not move from element to element. A request's D becomes `shift` by exchanging pointers when its last row
// has entered; a product is computed when the last row of its request has entered, or earlier, row by row, where the
// mesh is so short that results leave before that. A result without a destination is computed only if it is an
// output-stationary sum.
//
// Invariants: a request that loads anything into `shift`, or uses the transposer, or is output-stationary, has dim
// rows; all others push zeros. Output-stationary sums are kept wrapped to output_bits.
#include "sim/cycle/mesh.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/ref/numeric.h"

// A matrix of stationary values: `zeros` rows of zeros on top, then the rows of int8 or, if wide, of int32.
typedef struct stationary {
  int8_t *narrow;
  int32_t *wide;
  uint32_t rows, zeros;  // rows of `narrow` that are not zero; the wide form always has dim
  bool is_wide;
} stationary;

struct cycle_mesh_data {
  uint32_t dim, bits;
  const cycle_mesh_kernel *kernel;
  stationary shift, active;
  void *packed;  // weights as the kernel wants them: packed_rows rows of `active`, or none yet
  bool is_packed;
  uint32_t packed_rows;
  // the matrix in the transposer, as it came in
  int8_t *held;
  uint32_t held_rows;
  bool held_reversed;  // it was a D: its last row came first, and each row reversed
  // the request that is entering
  cycle_mesh_feed feed;
  const int8_t *a;
  uint32_t a_rows, computed;
  uint8_t result;
  int8_t *scratch[2];
  // memory of all matrices, and the results that are free
  uint8_t *memory, *tiles, *results;
  uint8_t *free_results;
  uint32_t free_count;
};

enum { ALIGNMENT = 64, OWN_TILES = 5 };

static size_t elements(const cycle_mesh_data *d) { return (size_t)d->dim * d->dim; }

static size_t aligned(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static size_t tile_bytes(const cycle_mesh_data *d) { return aligned(elements(d)); }
static size_t wide_bytes(const cycle_mesh_data *d) { return aligned(elements(d) * sizeof(int32_t)); }
// Groups of four rows of int8 (or pairs of int16), and a row of sums.
static size_t packed_bytes(const cycle_mesh_data *d) { return aligned((elements(d) + 4 * d->dim) * 2 + 4 * d->dim); }

cycle_mesh_data *cycle_mesh_data_create(uint32_t dim, uint32_t output_bits, uint32_t tiles, uint32_t results) {
  cycle_mesh_data *d = WF_NEW(cycle_mesh_data);
  *d = (cycle_mesh_data){
      .dim = dim, .bits = output_bits, .kernel = cycle_mesh_kernel_choose(dim), .result = CYCLE_MESH_NO_RESULT};
  size_t bytes = (tiles + OWN_TILES) * tile_bytes(d) + (results + 2) * wide_bytes(d) + packed_bytes(d);
  d->memory = wf_calloc(bytes + ALIGNMENT, 1);
  uint8_t *next = (uint8_t *)aligned((size_t)d->memory);
  d->tiles = next;
  next += tiles * tile_bytes(d);
  int8_t **const own[OWN_TILES] = {&d->shift.narrow, &d->active.narrow, &d->held, &d->scratch[0], &d->scratch[1]};
  for (unsigned n = 0; n < OWN_TILES; n++, next += tile_bytes(d)) *own[n] = (int8_t *)next;
  d->shift.wide = (int32_t *)next;
  d->active.wide = (int32_t *)(next + wide_bytes(d));
  d->results = next + 2 * wide_bytes(d);
  d->packed = d->results + results * wide_bytes(d);
  assert(results < CYCLE_MESH_NO_RESULT);
  d->free_results = WF_NEW_ARRAY(results, uint8_t);
  for (d->free_count = 0; d->free_count < results; d->free_count++)
    d->free_results[d->free_count] = (uint8_t)d->free_count;
  return d;
}

void cycle_mesh_data_destroy(cycle_mesh_data *d) {
  if (d == NULL) return;
  wf_free(d->free_results);
  wf_free(d->memory);
  wf_free(d);
}

int8_t *cycle_mesh_data_tile(cycle_mesh_data *d, uint32_t number) {
  return (int8_t *)(d->tiles + number * tile_bytes(d));
}

static int32_t *result_at(const cycle_mesh_data *d, uint8_t result) {
  return (int32_t *)(d->results + result * wide_bytes(d));
}

const int32_t *cycle_mesh_data_row(const cycle_mesh_data *d, uint8_t result, uint32_t row) {
  return result_at(d, result) + (size_t)row * d->dim;
}

void cycle_mesh_data_release(cycle_mesh_data *d, uint8_t result) { d->free_results[d->free_count++] = result; }

static uint8_t claim_result(cycle_mesh_data *d) {
  assert(d->free_count > 0);
  return d->free_results[--d->free_count];
}

// ---- stationary matrices

static void exchange_tiles(int8_t **a, int8_t **b) {
  int8_t *other = *a;
  *a = *b;
  *b = other;
}

static void exchange(cycle_mesh_data *d) {
  stationary other = d->shift;
  d->shift = d->active;
  d->active = other;
  d->is_packed = false;
}

// The matrix in int32, in its place.
static void widen(const cycle_mesh_data *d, stationary *m) {
  size_t dim = d->dim, top = m->zeros * dim;
  if (m->is_wide)
    memmove(m->wide + top, m->wide, (elements(d) - top) * sizeof *m->wide);
  else
    for (size_t n = top; n < elements(d); n++) m->wide[n] = n - top < m->rows * dim ? m->narrow[n - top] : 0;
  memset(m->wide, 0, top * sizeof *m->wide);
  m->is_wide = true;
  m->zeros = 0;
}

// The low eight bits of the matrix, either in place or in `scratch`; the number of its rows.
static const int8_t *narrow(const cycle_mesh_data *d, const stationary *m, int8_t *scratch, uint32_t *rows) {
  *rows = m->rows;
  if (!m->is_wide && (m->zeros == 0 || m->rows == 0)) return m->narrow;
  *rows = d->dim;
  size_t top = (size_t)m->zeros * d->dim;
  memset(scratch, 0, elements(d));
  for (size_t n = top; n < elements(d); n++)
    scratch[n] = m->is_wide ? (int8_t)m->wide[n - top] : n - top < m->rows * (size_t)d->dim ? m->narrow[n - top] : 0;
  return scratch;
}

// ---- transposer

static void swap_bits(uint64_t *low, uint64_t *high, unsigned bits, uint64_t mask) {
  uint64_t moved = (*low >> bits ^ *high) & mask;
  *low ^= moved << bits;
  *high ^= moved;
}

// Eight rows of eight bytes, little-endian.
static void transpose_block(const int8_t *in, int8_t *out, size_t dim) {
  uint64_t w[8];
  for (unsigned r = 0; r < 8; r++) memcpy(&w[r], in + r * dim, 8);
  for (unsigned r = 0; r < 4; r++) swap_bits(&w[r], &w[r + 4], 32, UINT64_C(0x00000000ffffffff));
  for (unsigned r = 0; r < 8; r += r % 4 == 1 ? 3 : 1) swap_bits(&w[r], &w[r + 2], 16, UINT64_C(0x0000ffff0000ffff));
  for (unsigned r = 0; r < 8; r += 2) swap_bits(&w[r], &w[r + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
  for (unsigned r = 0; r < 8; r++) memcpy(out + r * dim, &w[r], 8);
}

static bool blocks_possible(const cycle_mesh_data *d) {
  return d->dim >= 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

// out[k][i] = in[i][k]; rows of `in` from `rows` on are zeros, and are made so.
static void transpose(const cycle_mesh_data *d, int8_t *in, uint32_t rows, int8_t *out) {
  size_t dim = d->dim;
  memset(in + rows * dim, 0, (dim - rows) * dim);
  if (blocks_possible(d)) {
    for (size_t i = 0; i < dim; i += 8)
      for (size_t k = 0; k < dim; k += 8) transpose_block(in + i * dim + k, out + k * dim + i, dim);
    return;
  }
  for (size_t i = 0; i < dim; i++)
    for (size_t k = 0; k < dim; k++) out[k * dim + i] = in[i * dim + k];
}

// A matrix that went in as another operand than the one it comes out for is seen from the other corner.
static void reverse(const cycle_mesh_data *d, int8_t *tile) {
  for (size_t low = 0, high = elements(d) - 1; low < high; low++, high--) {
    int8_t other = tile[low];
    tile[low] = tile[high];
    tile[high] = other;
  }
}

// What comes out of the transposer in place of operand `o`, as a matrix in `out`.
static void transposer_columns(cycle_mesh_data *d, unsigned o, int8_t *out) {
  transpose(d, d->held, d->held_rows, out);
  if (d->held_reversed != (o == CYCLE_MESH_D)) reverse(d, out);
}

// What goes in stays for the next request that uses the transposer.
static void transposer_fill(cycle_mesh_data *d, unsigned o) {
  cycle_mesh_feed *f = &d->feed;
  d->held_rows = f->tile == NULL ? 0 : f->rows[o];
  d->held_reversed = o == CYCLE_MESH_D;
  if (f->tile != NULL) exchange_tiles(&d->held, &f->tile[o]);
}

static bool passes(const cycle_mesh_feed *f, unsigned o) { return (f->via >> o & 1) != 0; }

static uint32_t rows_fed(const cycle_mesh_feed *f, unsigned o) { return f->tile == NULL ? 0 : f->rows[o]; }

// ---- weight-stationary

static void begin_ws(cycle_mesh_data *d) {
  const cycle_mesh_feed *f = &d->feed;
  if (f->swap) exchange(d);
  if (f->wanted == 0) return;
  d->result = claim_result(d);
  d->a = f->tile == NULL ? NULL : f->tile[CYCLE_MESH_A];
  d->a_rows = rows_fed(f, CYCLE_MESH_A);
  if (!passes(f, CYCLE_MESH_A)) return;
  transposer_columns(d, CYCLE_MESH_A, d->scratch[0]);
  d->a = d->scratch[0];
  d->a_rows = d->dim;
}

static void pack_weights(cycle_mesh_data *d) {
  const int8_t *weights = narrow(d, &d->active, d->scratch[1], &d->packed_rows);
  d->kernel->pack(d->dim, d->packed_rows, weights, d->packed);
  d->is_packed = true;
}

// Without a row of A the bias alone is left, which needs no wrapping.
static void bias_rows(cycle_mesh_data *d, uint32_t first, uint32_t past) {
  uint32_t bias = rows_fed(&d->feed, CYCLE_MESH_B);
  for (uint32_t i = first; i < past; i++) {
    int32_t *out = result_at(d, d->result) + (size_t)i * d->dim;
    if (i >= bias) memset(out, 0, d->dim * sizeof *out);
    for (uint32_t j = 0; j < d->dim && i < bias; j++) out[j] = d->feed.tile[CYCLE_MESH_B][(size_t)i * d->dim + j];
  }
}

void cycle_mesh_data_results(cycle_mesh_data *d, uint32_t rows) {
  const cycle_mesh_feed *f = &d->feed;
  if (rows > f->wanted) rows = f->wanted;
  if (d->result == CYCLE_MESH_NO_RESULT || rows <= d->computed) return;
  uint32_t past = rows < d->a_rows ? rows : d->a_rows;
  if (past > d->computed) {
    if (!d->is_packed) pack_weights(d);
    uint32_t bias = rows_fed(f, CYCLE_MESH_B);
    cycle_mesh_product p = {.dim = d->dim,
                            .bits = d->bits,
                            .first = d->computed,
                            .past = past,
                            .bias_rows = bias,
                            .a = d->a,
                            .bias = bias == 0 ? NULL : f->tile[CYCLE_MESH_B],
                            .out = result_at(d, d->result)};
    d->kernel->multiply(&p, d->packed_rows, d->packed);
  }
  bias_rows(d, past > d->computed ? past : d->computed, rows);
  d->computed = rows;
}

// ---- output-stationary

// What leaves `shift`: sums that were active until now are shifted, others leave as they are.
static void begin_os(cycle_mesh_data *d) {
  const cycle_mesh_feed *f = &d->feed;
  if (f->swap) exchange(d);
  widen(d, &d->active);
  if (f->wanted == 0) return;
  d->result = claim_result(d);
  widen(d, &d->shift);
  int32_t *out = result_at(d, d->result);
  for (size_t n = 0; n < (size_t)f->wanted * d->dim; n++)
    out[n] = f->swap ? ref_rounding_shift(d->shift.wide[n], f->shift) : d->shift.wide[n];
  d->computed = f->wanted;
}

// A^T of the rows that entered, which is what the kernel multiplies with: through the transposer, A itself.
static const int8_t *left_operand(cycle_mesh_data *d, uint32_t *rows) {
  const cycle_mesh_feed *f = &d->feed;
  *rows = d->dim;
  if (!passes(f, CYCLE_MESH_A)) {
    if (rows_fed(f, CYCLE_MESH_A) == 0) *rows = 0;
    if (*rows != 0) transpose(d, f->tile[CYCLE_MESH_A], f->rows[CYCLE_MESH_A], d->scratch[0]);
    return d->scratch[0];
  }
  if (!d->held_reversed) {
    *rows = d->held_rows;
    return d->held;
  }
  transposer_columns(d, CYCLE_MESH_A, d->scratch[1]);
  transpose(d, d->scratch[1], d->dim, d->scratch[0]);
  return d->scratch[0];
}

static const int8_t *right_operand(cycle_mesh_data *d, uint32_t *rows) {
  const cycle_mesh_feed *f = &d->feed;
  *rows = rows_fed(f, CYCLE_MESH_B);
  if (!passes(f, CYCLE_MESH_B)) return *rows == 0 ? NULL : f->tile[CYCLE_MESH_B];
  *rows = d->dim;
  transposer_columns(d, CYCLE_MESH_B, d->scratch[1]);
  return d->scratch[1];
}

static void end_os(cycle_mesh_data *d) {
  uint32_t rows, depth;
  const int8_t *a = left_operand(d, &rows), *b = right_operand(d, &depth);
  if (rows == 0 || depth == 0) return;
  d->is_packed = false;
  d->kernel->pack(d->dim, depth, b, d->packed);
  cycle_mesh_product p = {
      .dim = d->dim, .bits = d->bits, .past = rows, .accumulate = true, .a = a, .out = d->active.wide};
  d->kernel->multiply(&p, depth, d->packed);
}

// ---- requests

uint8_t cycle_mesh_data_begin(cycle_mesh_data *d, const cycle_mesh_feed *feed) {
  d->feed = *feed;
  d->result = CYCLE_MESH_NO_RESULT;
  d->computed = 0;
  assert(feed->total == d->dim || (!feed->os && feed->via == 0 && rows_fed(feed, CYCLE_MESH_D) == 0));
  if (feed->os)
    begin_os(d);
  else
    begin_ws(d);
  return d->result;
}

static void load_shift(cycle_mesh_data *d) {
  cycle_mesh_feed *f = &d->feed;
  stationary *s = &d->shift;
  if (passes(f, CYCLE_MESH_D)) {
    transposer_columns(d, CYCLE_MESH_D, s->narrow);
    *s = (stationary){.narrow = s->narrow, .wide = s->wide, .rows = d->dim};
  } else if (f->total == d->dim) {
    *s = (stationary){.narrow = s->narrow, .wide = s->wide, .rows = rows_fed(f, CYCLE_MESH_D)};
    if (s->rows != 0) exchange_tiles(&s->narrow, &f->tile[CYCLE_MESH_D]);
  } else {
    s->zeros = s->zeros + f->total < d->dim ? s->zeros + f->total : d->dim;
  }
}

void cycle_mesh_data_end(cycle_mesh_data *d) {
  cycle_mesh_feed *f = &d->feed;
  if (f->os)
    end_os(d);
  else
    cycle_mesh_data_results(d, f->total);
  load_shift(d);
  for (unsigned o = 0; o < 3; o++)
    if (passes(f, o)) transposer_fill(d, o);
}
