// SPDX-License-Identifier: Apache-2.0
// Arenas of random pieces: no two that live at the same time meet, none is smaller than the least, and for few pieces
// none is larger than the best order of all.
#include "compiler/network/arena.h"

#include "base/number.h"
#include "base/random.h"
#include "base/test.h"
#include "compiler/network/places.h"

enum { LINE = 64, FEW = 6, MANY = 300 };

static void draw(network_piece *pieces, size_t count, int steps, uint64_t longest, uint64_t *random) {
  for (size_t i = 0; i < count; i++) {
    pieces[i] = (network_piece){.bytes = LINE * wf_random_below(random, 50), .address = UINT64_MAX};
    pieces[i].first = (int)wf_random_below(random, (uint64_t)steps) - 1;
    pieces[i].until = pieces[i].first + (int)wf_random_below(random, longest);
  }
}

static bool lives_in(const network_piece *p, int step) { return p->first <= step && step <= p->until; }

// Each step's bytes, added up; and every byte of the arena has one owner.
static void check(const network_piece *pieces, size_t count, int steps, uint64_t end) {
  uint64_t most = 0, reached = 0;
  for (int step = -1; step < 2 * steps; step++) {
    uint64_t live = 0;
    for (size_t i = 0; i < count; i++)
      if (lives_in(&pieces[i], step)) live += pieces[i].bytes;
    most = wf_max(most, live);
  }
  assert_int_equal(network_arena_least(pieces, count), most);
  for (size_t i = 0; i < count; i++) {
    const network_piece *p = &pieces[i];
    reached = wf_max(reached, p->address + p->bytes);
    for (size_t j = 0; j < i; j++) {
      const network_piece *q = &pieces[j];
      if (p->first > q->until || q->first > p->until) continue;
      assert_true(p->address + p->bytes <= q->address || q->address + q->bytes <= p->address);
    }
  }
  assert_int_equal(reached, end);
  assert_true(end >= most);
}

static uint64_t place_in_order(const network_piece *pieces, const size_t *order, size_t count) {
  wf_arena *arena = wf_arena_create();
  network_places *places = network_places_create(arena);
  uint64_t end = 0;
  for (size_t i = 0; i < count; i++) {
    const network_piece *p = &pieces[order[i]];
    end = wf_max(end, network_places_take(places, p->bytes, p->first, p->until) + p->bytes);
  }
  wf_arena_destroy(arena);
  return end;
}

static uint64_t best_of_orders(const network_piece *pieces, size_t *order, size_t count, size_t fixed) {
  if (fixed == count) return place_in_order(pieces, order, count);
  uint64_t best = UINT64_MAX;
  for (size_t i = fixed; i < count; i++) {
    const size_t first = order[fixed], other = order[i];
    order[fixed] = other;
    order[i] = first;
    best = wf_min(best, best_of_orders(pieces, order, count, fixed + 1));
    order[fixed] = first;
    order[i] = other;
  }
  return best;
}

static void few_pieces_lie_as_in_the_best_order(void **state) {
  (void)state;
  uint64_t random = 5;
  for (int n = 0; n < 300; n++) {
    network_piece pieces[FEW];
    size_t order[FEW] = {0, 1, 2, 3, 4, 5};
    draw(pieces, FEW, 4, 4, &random);
    const uint64_t end = network_arena_place(pieces, FEW);
    check(pieces, FEW, 4, end);
    assert_int_equal(end, best_of_orders(pieces, order, FEW, 0));
  }
}

static void many_pieces_are_near_the_least(void **state) {
  (void)state;
  static network_piece pieces[MANY];
  uint64_t random = 7;
  for (int n = 0; n < 6; n++) {
    const uint64_t longest = n % 3 == 0 ? 2 : n % 3 == 1 ? 5 : 40;
    draw(pieces, MANY, 100, longest, &random);
    const uint64_t end = network_arena_place(pieces, MANY), least = network_arena_least(pieces, MANY);
    check(pieces, MANY, 100, end);
    if ((double)end > 1.1 * (double)least) fail_msg("longest %d: %d of %d", (int)longest, (int)end, (int)least);
  }
}

static void nothing_takes_nothing(void **state) {
  (void)state;
  network_piece none[1];
  assert_int_equal(network_arena_place(none, 0), 0);
  assert_int_equal(network_arena_least(none, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(few_pieces_lie_as_in_the_best_order),
                                     cmocka_unit_test(many_pieces_are_near_the_least),
                                     cmocka_unit_test(nothing_takes_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
