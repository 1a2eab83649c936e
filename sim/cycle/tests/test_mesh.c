// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the mesh: every kernel against a triple loop, and whole sequences of requests against a model that
// moves every value from element to element, as the hardware does.
#include "base/alloc.h"
#include "base/test.h"
#include "sim/cycle/mesh.h"
#include "sim/gen/random.h"
#include "sim/ref/numeric.h"

enum { MOST = 128, SEQUENCE = 400 };

static uint32_t draw(sim_gen_random *r, uint32_t low, uint32_t high) { return (uint32_t)sim_gen_in(r, low, high); }

// Extremes are frequent.
static int8_t draw_element(sim_gen_random *r) {
  return sim_gen_one_in(r, 4) ? (int8_t)(sim_gen_one_in(r, 2) ? INT8_MIN : INT8_MAX)
                              : (int8_t)sim_gen_in(r, INT8_MIN, INT8_MAX);
}

static void draw_tile(sim_gen_random *r, uint32_t dim, int8_t *tile) {
  for (uint32_t n = 0; n < dim * dim; n++) tile[n] = draw_element(r);
}

// ---- kernels

typedef struct product_case {
  cycle_mesh_product p;
  uint32_t rows;  // of b
  int8_t a[MOST * MOST], b[MOST * MOST], bias[MOST * MOST];
  int32_t out[MOST * MOST], expected[MOST * MOST];
  uint8_t room[(MOST + 4) * MOST * 2 + MOST * 4 + 64];  // for the packed b
} product_case;

static void *packed_at(product_case *t) { return (void *)(((uintptr_t)t->room + 63) / 64 * 64); }

static void expect_product(product_case *t) {
  const cycle_mesh_product *p = &t->p;
  for (uint32_t i = p->first; i < p->past; i++)
    for (uint32_t j = 0; j < p->dim; j++) {
      int32_t sum = p->accumulate ? t->expected[i * p->dim + j] : i < p->bias_rows ? t->bias[i * p->dim + j] : 0;
      for (uint32_t k = 0; k < t->rows; k++) sum = ref_add(sum, t->a[i * p->dim + k] * t->b[k * p->dim + j]);
      t->expected[i * p->dim + j] = ref_wrap((uint32_t)sum, p->bits);
    }
}

static void draw_product(sim_gen_random *r, product_case *t) {
  uint32_t dim = UINT32_C(1) << draw(r, 1, sim_gen_one_in(r, 8) ? 7 : 5), past = draw(r, 1, dim);
  t->p = (cycle_mesh_product){.dim = dim,
                              .bits = draw(r, 17, 32),
                              .first = draw(r, 0, past),
                              .past = past,
                              .bias_rows = draw(r, 0, dim),
                              .accumulate = sim_gen_one_in(r, 3),
                              .a = t->a,
                              .bias = t->bias,
                              .out = t->out};
  t->rows = sim_gen_one_in(r, 2) ? dim : draw(r, 0, dim);
  draw_tile(r, dim, t->a);
  draw_tile(r, dim, t->b);
  draw_tile(r, dim, t->bias);
  for (uint32_t n = 0; n < dim * dim; n++) t->out[n] = (int32_t)sim_gen_in(r, INT32_MIN, INT32_MAX);
  memcpy(t->expected, t->out, dim * dim * sizeof *t->out);
}

static void kernels_multiply(void **state) {
  (void)state;
  product_case *t = WF_NEW(product_case);
  unsigned checked = 0;
  for (unsigned index = 0; cycle_mesh_kernel_at(index) != NULL; index++) {
    const cycle_mesh_kernel *kernel = cycle_mesh_kernel_at(index);
    sim_gen_random r = sim_gen_random_of(7, 0);
    if (!kernel->runs_here()) continue;
    for (unsigned n = 0; n < 600; n++) {
      draw_product(&r, t);
      if (t->p.dim < kernel->least_dim) continue;
      expect_product(t);
      memset(t->room, 0x5a, sizeof t->room);
      kernel->pack(t->p.dim, t->rows, t->b, packed_at(t));
      kernel->multiply(&t->p, t->rows, packed_at(t));
      assert_memory_equal(t->out, t->expected, t->p.dim * t->p.dim * sizeof *t->out);
      checked++;
    }
  }
  assert_true(checked >= 600);
  wf_free(t);
}

// ---- element by element

typedef struct element_model {
  uint32_t dim, bits;
  int32_t shift[MOST][MOST], active[MOST][MOST];
  int8_t square[MOST][MOST];  // of the transposer
  bool up;
  uint32_t count;
} element_model;

// Column that comes out while `row` goes in.
static void pass_transposer(element_model *e, const int8_t *row, int8_t *column) {
  uint32_t dim = e->dim;
  for (uint32_t i = 0; i < dim; i++) column[i] = e->up ? e->square[0][i] : e->square[i][0];
  for (uint32_t i = 0; i < dim; i++) {
    if (e->up)
      memcpy(e->square[i], i + 1 < dim ? e->square[i + 1] : row, dim);
    else
      memmove(e->square[i], e->square[i] + 1, dim - 1);
    if (!e->up) e->square[i][dim - 1] = row[i];
  }
  if (++e->count < dim) return;
  e->count = 0;
  e->up = !e->up;
}

static void reversed(uint32_t dim, const int8_t *in, int8_t *out) {
  for (uint32_t i = 0; i < dim; i++) out[i] = in[dim - 1 - i];
}

static void exchange_for_column(element_model *e, const cycle_mesh_feed *f, int8_t *row[3]) {
  int8_t in[MOST], out[MOST];
  for (unsigned o = 0; o < 3; o++) {
    if ((f->via >> o & 1) == 0) continue;
    if (o == CYCLE_MESH_D) {
      reversed(e->dim, row[o], in);
      pass_transposer(e, in, out);
      reversed(e->dim, out, row[o]);
    } else {
      pass_transposer(e, row[o], out);
      memcpy(row[o], out, e->dim);
    }
  }
}

static int32_t round_half_even(int32_t value, uint32_t shift) {
  int64_t doubled = shift == 0 ? (int64_t)value * 2 : (int64_t)value * 2 >> shift;
  bool sticky = shift != 0 && ((int64_t)value * 2 & ((INT64_C(1) << shift) - 1)) != 0;
  int64_t floor = doubled >> 1;
  return (int32_t)(floor + ((doubled & 1) != 0 && (sticky || (floor & 1) != 0)));
}

// One row of operands crosses column c.
static int32_t cross_column(element_model *e, const cycle_mesh_feed *f, bool swap, uint32_t c, int8_t *const row[3]) {
  int32_t b = row[CYCLE_MESH_B][c], d = row[CYCLE_MESH_D][c];
  for (uint32_t r = 0; r < e->dim; r++) {
    int32_t *shift = &e->shift[r][c], *active = &e->active[r][c], leaves = *shift;
    if (swap) {
      leaves = f->os ? round_half_even(*active, f->shift) : *active;
      *active = *shift;
    }
    *shift = d;
    d = leaves;
    if (f->os)
      *active = ref_wrap((uint32_t)*active + (uint32_t)(row[CYCLE_MESH_A][r] * (int8_t)b), e->bits);
    else
      b = ref_wrap((uint32_t)b + (uint32_t)(row[CYCLE_MESH_A][r] * (int8_t)*active), e->bits);
  }
  return f->os ? d : b;
}

static void cross_mesh(element_model *e, const cycle_mesh_feed *f, bool first, int8_t *row[3], int32_t *out) {
  exchange_for_column(e, f, row);
  for (uint32_t c = 0; c < e->dim; c++) out[c] = cross_column(e, f, first && f->swap, c, row);
}

// ---- sequences of requests

static bool one_in(sim_gen_random *r, int64_t n) { return sim_gen_one_in(r, n); }

static cycle_mesh_feed draw_feed(sim_gen_random *r, uint32_t dim, bool os) {
  cycle_mesh_feed f = {
      .os = os, .swap = one_in(r, 2), .shift = (uint8_t)draw(r, 0, one_in(r, 2) ? 0 : 31), .total = (uint8_t)dim};
  // Weight-stationary A or D can pass the transposer, output-stationary A or B.
  if (one_in(r, 3)) f.via = one_in(r, 2) ? 1U << CYCLE_MESH_A : os ? 1U << CYCLE_MESH_B : 1U << CYCLE_MESH_D;
  for (unsigned o = 0; o < 3; o++)
    f.rows[o] = one_in(r, 3) ? 0 : one_in(r, 2) ? (uint8_t)dim : (uint8_t)draw(r, 1, dim);
  if (!os && f.via == 0 && one_in(r, 2)) {
    f.rows[CYCLE_MESH_D] = 0;
    f.total = (uint8_t)draw(r, 1, dim);
    for (unsigned o = 0; o < 2; o++) f.rows[o] = f.rows[o] < f.total ? f.rows[o] : f.total;
  }
  f.wanted = one_in(r, 3) ? 0 : (uint8_t)draw(r, 1, f.total);
  return f;
}

// Row n of the walk, as it is fed.
static void row_fed(const cycle_mesh_feed *f, uint32_t dim, const int8_t tiles[3][MOST * MOST], uint32_t n,
                    int8_t *row[3]) {
  for (unsigned o = 0; o < 3; o++) {
    uint32_t index = o == CYCLE_MESH_D ? dim - 1 - n : n;
    memset(row[o], 0, dim);
    if (f->tile != NULL && index < f->rows[o]) memcpy(row[o], tiles[o] + (size_t)index * dim, dim);
  }
}

// A request on both; rows of the tiles arrive one by one, and some results are asked for on the way.
static void check_request(sim_gen_random *r, cycle_mesh_data *d, element_model *e, const cycle_mesh_feed *f) {
  static int8_t tiles[3][MOST * MOST];
  static int32_t expected[MOST][MOST];
  uint32_t dim = e->dim;
  for (unsigned o = 0; o < 3; o++) draw_tile(r, dim, tiles[o]);
  int8_t buffers[3][MOST], *row[3] = {buffers[0], buffers[1], buffers[2]};
  uint8_t result = CYCLE_MESH_NO_RESULT;
  bool asks = one_in(r, 2);
  for (uint32_t n = 0; n < f->total; n++) {
    for (unsigned o = 0; o < 3 && f->tile != NULL; o++) {
      uint32_t index = o == CYCLE_MESH_D ? dim - 1 - n : n;
      memcpy(f->tile[o] + (size_t)index * dim, tiles[o] + (size_t)index * dim, dim);
    }
    row_fed(f, dim, tiles, n, row);
    if (n == 0) result = cycle_mesh_data_begin(d, f);
    cross_mesh(e, f, n == 0, row, expected[f->os ? dim - 1 - n : n]);
    if (asks && one_in(r, 3)) cycle_mesh_data_results(d, n + 1);
  }
  cycle_mesh_data_end(d);
  assert_int_equal(result == CYCLE_MESH_NO_RESULT, f->wanted == 0);
  for (uint32_t n = 0; n < f->wanted; n++)
    assert_memory_equal(cycle_mesh_data_row(d, result, n), expected[n], dim * sizeof(int32_t));
  if (result != CYCLE_MESH_NO_RESULT) cycle_mesh_data_release(d, result);
}

static void check_sequence(uint64_t seed, uint32_t dim, uint32_t bits) {
  sim_gen_random r = sim_gen_random_of(seed, dim);
  cycle_mesh_data *d = cycle_mesh_data_create(dim, bits, 3, 2);
  element_model *e = WF_NEW(element_model);
  *e = (element_model){.dim = dim, .bits = bits};
  int8_t *tile[3] = {cycle_mesh_data_tile(d, 0), cycle_mesh_data_tile(d, 1), cycle_mesh_data_tile(d, 2)};
  bool os = false;
  for (unsigned n = 0; n < SEQUENCE; n++) {
    if (one_in(&r, 10)) os = !os;
    cycle_mesh_feed f = draw_feed(&r, dim, os);
    f.tile = one_in(&r, 8) ? NULL : tile;
    check_request(&r, d, e, &f);
  }
  wf_free(e);
  cycle_mesh_data_destroy(d);
}

static void requests_as_elements(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    check_sequence(seed, 2, 20);
    check_sequence(seed, 4, 32);
    check_sequence(seed, 8, 18);
    check_sequence(seed, 16, 20);
  }
  check_sequence(5, 32, 17);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_multiply), cmocka_unit_test(requests_as_elements)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
