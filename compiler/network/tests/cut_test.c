// SPDX-License-Identifier: Apache-2.0
// Cuts of random graphs of operators with costs and memories of limited size: the fewest cycles of all cuts there are,
// found by trying every one; and how the work grows up to 500 operators.
#include "compiler/network/cut.h"

#include "base/number.h"
#include "base/random.h"
#include "base/test.h"

enum { GRAPHS = 1000, SMALL = 8, LARGE = 500, WINDOW = 4 };

// An operator: what it reads, what it takes by itself, and the rows of both local memories that it needs when mixed.
typedef struct vertex {
  int reads[2];  // of earlier ones; -1: none
  bool by_hart;
  int64_t cycles, rows, sums;
} vertex;

// Operators in the order in which they run, and what each window of them would take as one.
typedef struct chain {
  int count, most;
  int64_t rows, sums;  // of both memories
  vertex vertices[LARGE];
  int64_t mixed[LARGE][WINDOW + 1];
} chain;

static void draw_vertex(chain *c, int i, uint64_t *random) {
  vertex *o = &c->vertices[i];
  *o = (vertex){.by_hart = wf_random_one_in(random, 10),
                .cycles = wf_random_in(random, 1, 1000),
                .rows = wf_random_in(random, 1, 60),
                .sums = wf_random_in(random, 1, 60)};
  // Mostly the operator before, as in networks.
  o->reads[0] = wf_random_one_in(random, 3) ? (int)wf_random_in(random, -1, i - 1) : i - 1;
  o->reads[1] = wf_random_one_in(random, 4) ? (int)wf_random_in(random, -1, i - 1) : -1;
}

static void draw(chain *c, int count, uint64_t *random) {
  c->count = count;
  c->most = (int)wf_random_in(random, 1, WINDOW);
  c->rows = wf_random_in(random, 60, 300);
  c->sums = wf_random_in(random, 60, 300);
  for (int i = 0; i < count; i++) draw_vertex(c, i, random);
  for (int first = 0; first < count; first++) {
    int64_t apart = c->vertices[first].cycles;
    for (int n = 2; n <= c->most && first + n <= count; n++) {
      apart += c->vertices[first + n - 1].cycles;
      c->mixed[first][n] = wf_random_in(random, apart / 2, apart + apart / 4);
    }
  }
}

// ---- what the planner asks: what a window saves

static bool reads_inside(const chain *c, int first, int i) {
  const int *reads = c->vertices[i].reads;
  return reads[0] >= first || reads[1] >= first;
}

static int64_t saved(const void *context, int first, int count) {
  const chain *c = context;
  int64_t rows = 0, sums = 0, apart = 0;
  bool linked = false;
  for (int i = first; i < first + count; i++) {
    const vertex *o = &c->vertices[i];
    if (o->by_hart) return 0;
    rows += o->rows;
    sums += o->sums;
    apart += o->cycles;
    linked |= reads_inside(c, first, i);
  }
  return linked && rows <= c->rows && sums <= c->sums ? apart - c->mixed[first][count] : 0;
}

// ---- every cut: bit i of a mask says that operator i is in the window of operator i - 1

// Cycles of the operators from `first` to before `end` as one piece; -1: they may not be.
static int64_t piece_cycles(const chain *c, int first, int end) {
  if (end - first == 1) return c->vertices[first].cycles;
  if (end - first > c->most) return -1;
  int64_t room_rows = c->rows, room_sums = c->sums;
  int links = 0;
  for (int late = end - 1; late >= first; late--) {
    if (c->vertices[late].by_hart) return -1;
    room_rows -= c->vertices[late].rows;
    room_sums -= c->vertices[late].sums;
    for (int early = first; early < late; early++)
      links += c->vertices[late].reads[0] == early || c->vertices[late].reads[1] == early;
  }
  return links == 0 || room_rows < 0 || room_sums < 0 ? -1 : c->mixed[first][end - first];
}

static int64_t mask_cycles(const chain *c, unsigned mask) {
  int64_t cycles = 0;
  for (int first = 0, end; first < c->count; first = end) {
    for (end = first + 1; end < c->count && (mask >> end & 1) != 0; end++) continue;
    const int64_t piece = piece_cycles(c, first, end);
    if (piece < 0) return -1;
    cycles += piece;
  }
  return cycles;
}

static int64_t least_cycles(const chain *c, unsigned *legal) {
  int64_t least = INT64_MAX;
  for (unsigned mask = 0; mask < 1U << c->count; mask += 2) {
    const int64_t cycles = mask_cycles(c, mask);
    if (cycles < 0) continue;
    least = wf_min(least, cycles);
    ++*legal;
  }
  return least;
}

// ---- tests

static unsigned mask_of(const network_cut *cuts, int count) {
  unsigned mask = 0;
  for (int s = 0; s < count; s += cuts[s].count)
    for (int i = 1; i < cuts[s].count; i++) mask |= 1U << (s + i);
  return mask;
}

static void cut(const chain *c, network_cut *cuts) {
  network_cut_best(&(network_cut_problem){.steps = c->count, .most = c->most, .saved = saved, .context = c}, cuts);
}

static void test_every_cut(void **state) {
  (void)state;
  static chain c;
  uint64_t random = 7;
  unsigned legal = 0, mixed = 0;
  for (int n = 0; n < GRAPHS; n++) {
    network_cut cuts[SMALL + 1];
    draw(&c, (int)wf_random_in(&random, 1, SMALL), &random);
    cut(&c, cuts);
    int64_t apart = 0;
    for (int i = 0; i < c.count; i++) apart += c.vertices[i].cycles;
    const unsigned mask = mask_of(cuts, c.count);
    assert_int_equal(mask_cycles(&c, mask), least_cycles(&c, &legal));
    assert_int_equal(apart - cuts[0].saved, mask_cycles(&c, mask));
    mixed += mask != 0;
  }
  print_message("%d graphs: %u legal cuts, %u graphs with mixes\n", GRAPHS, legal, mixed);
  assert_true(legal > 4 * GRAPHS && mixed > GRAPHS / 4 && mixed < GRAPHS);  // there was something to choose
}

// A window more per operator and length: the work is linear.
static void test_growth(void **state) {
  (void)state;
  static chain c;
  static network_cut cuts[LARGE + 1];
  uint64_t random = 8;
  for (int count = 1; count <= LARGE; count++) {
    draw(&c, count, &random);
    cut(&c, cuts);
    uint64_t windows = 0;
    for (int n = 2; n <= wf_min(c.most, count); n++) windows += (uint64_t)(count + 1 - n);
    assert_int_equal(cuts[0].visited, windows);
    int steps = 0;
    for (; steps < count; steps += cuts[steps].count) assert_in_range(cuts[steps].count, 1, c.most);
    assert_int_equal(steps, count);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_cut), cmocka_unit_test(test_growth)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
