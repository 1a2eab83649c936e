// SPDX-License-Identifier: Apache-2.0
// Places in the arena against a search over all pieces, and in what time; what main memory cannot hold.
#include "compiler/network/places.h"

#include <math.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/test.h"
#include "compiler/network/network.h"

// ---- places

typedef struct piece {
  uint64_t address, bytes;
  int first, until;
} piece;

static uint64_t next(uint64_t *state, uint64_t below) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (*state >> 33) % below;
}

static uint64_t lowest(const piece *placed, size_t count, const piece *p) {
  uint64_t at = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < count; i++) {
      const piece *other = &placed[i];
      if (p->first > other->until || other->first > p->until) continue;
      if (at >= other->address + other->bytes || at + p->bytes <= other->address) continue;
      at = other->address + other->bytes;
      moved = true;
    }
  }
  return at;
}

// Random lives and sizes, some of them zero, in random order.
static void compare(uint64_t seed, size_t count, uint64_t steps, uint64_t longest, uint64_t sizes) {
  piece *pieces = WF_NEW_ARRAY(count, piece);
  wf_arena *arena = wf_arena_create();
  network_places *places = network_places_create(arena);
  for (size_t i = 0; i < count; i++) {
    piece *p = &pieces[i];
    p->first = (int)next(&seed, steps) - 1;
    p->until = p->first + (int)next(&seed, longest);
    p->bytes = 64 * next(&seed, sizes);
    p->address = lowest(pieces, i, p);
    assert_int_equal(network_places_take(places, p->bytes, p->first, p->until), p->address);
  }
  wf_arena_destroy(arena);
  wf_free(pieces);
}

static void places_are_the_lowest(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    compare(seed, 1200, 1000, 4, 2);    // as in a chain
    compare(seed, 1200, 100, 100, 40);  // many at a time
    compare(seed, 1200, 5, 5, 1000);    // gaps
    compare(seed, 1200, 1000, 1000, 3);
  }
}

// Seconds for results of which each lives from its step to the end, or for the values of a chain.
static double take(int count, bool to_the_end) {
  wf_arena *arena = wf_arena_create();
  network_places *places = network_places_create(arena);
  const double start = wf_thread_seconds();
  for (int i = 0; i < count; i++) network_places_take(places, 64, i, to_the_end ? count : i + 1);
  const double seconds = wf_thread_seconds() - start;
  wf_arena_destroy(arena);
  return seconds;
}

static void a_hundred_thousand_take_a_second(void **state) {
  (void)state;
  enum { MANY = 100000 };
  for (int ends = 0; ends < 2; ends++) {
    const double seconds = take(MANY, ends != 0);
    if (seconds > 8) fail_msg("%.1f s", seconds);  // 0.2 s, and over 20 s by looking at each piece
  }
}

// ---- main memory

static int tensor(graph *g, const char *name, int64_t rows, int64_t columns) {
  const graph_tensor t = {.name = name, .type = GRAPH_F32, .rank = 2, .dim = {rows, columns}};
  return graph_add_tensor(g, &t);
}

static bool product_fits(int64_t size, bool int8_ends) {
  wf_diag quiet = wf_diag_to(NULL);
  hw_array array;
  assert_true(hw_array_load(&array, "gemmini-default", &quiet));
  graph *g = graph_create("product");
  const int ends[3] = {tensor(g, "a", size, size), tensor(g, "b", size, size), tensor(g, "c", size, size)};
  graph_add_node(g, GRAPH_OP_MAT_MUL, "n", ends, 2, &ends[2], 1);
  graph_set_ends(g, ends, 2, &ends[2], 1);
  const bool fits = network_check_size(g, &array, int8_ends, &quiet);
  assert_int_equal(quiet.errors, !fits);
  graph_destroy(g);
  return fits;
}

// Main memory of the default array has 1 GiB: two inputs of 4 bytes a number, or three operands of one byte.
static void what_cannot_fit_is_refused(void **state) {
  (void)state;
  assert_true(product_fits(11584, false));
  assert_false(product_fits(11586, false));
  assert_true(product_fits(18918, true));
  assert_false(product_fits(18919, true));
  assert_false(product_fits(128000, true));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_the_lowest),
                                     cmocka_unit_test(a_hundred_thousand_take_a_second),
                                     cmocka_unit_test(what_cannot_fit_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
