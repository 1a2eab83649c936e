// SPDX-License-Identifier: Apache-2.0
// Operators of constants whose result is as large as their data says: NonMaxSuppression against counted cells of a
// grid, Unique against what its four results have to say of its input.
#include <stdarg.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/run.h"

static int draw(uint32_t *seed, int limit) {
  *seed = *seed * 1664525u + 1013904223u;
  return (int)((*seed >> 16) % (uint32_t)limit);
}

typedef struct text {
  char bytes[16384];
  size_t size;
} text;

static void add(text *t, const char *format, ...) WF_PRINTF(2, 3);
static void add(text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  t->size += (size_t)vsnprintf(t->bytes + t->size, sizeof t->bytes - t->size, format, args);
  va_end(args);
  assert_true(t->size < sizeof t->bytes);
}

static void add_list(text *t, const int *values, int count) {
  for (int i = 0; i < count; i++) add(t, "%s%d", i == 0 ? " = [" : ", ", values[i]);
  add(t, "]\n");
}

// Verifies the graph, whose text says the size of its results, and computes it.
static void run(const text *t, void **results) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("test", t->bytes, t->size, &diag);
  assert_non_null(g);
  assert_true(graph_verify(g, &diag));
  assert_true(graph_run(g, NULL, results, NULL, &diag));
  graph_destroy(g);
}

static void refuse(const char *from, const char *expected) {
  char *said = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&said, &size);
  wf_diag diag = wf_diag_to(to);
  graph *g = graph_parse("test", from, strlen(from), &diag);
  assert_non_null(g);
  assert_false(graph_verify(g, &diag));
  fclose(to);
  if (strstr(said, expected) == NULL) fail_msg("'%s' is not in: %s", expected, said);
  free(said);
  graph_destroy(g);
}

// ---- NonMaxSuppression: corners on whole numbers below SIDE, areas are counted

enum { SIDE = 8, IMAGES = 2, CLASSES = 3, BOXES = 9, SCORES = IMAGES * CLASSES * BOXES };

typedef struct scene {
  int corner[IMAGES * BOXES][4];  // y, x, y, x
  int score[SCORES], most, overlap_eighths, least;
  bool has_most, has_overlap, has_least, is_centred;
} scene;

static void draw_scene(scene *s, uint32_t *seed) {
  for (int i = 0; i < IMAGES * BOXES; i++)
    for (int d = 0; d < 4; d++) s->corner[i][d] = draw(seed, SIDE);
  for (int i = 0; i < SCORES; i++) s->score[i] = draw(seed, 7) - 3;  // many are equal
  s->most = draw(seed, 6) - 1;
  s->overlap_eighths = draw(seed, 9);
  s->least = draw(seed, 5) - 3;
  s->has_most = draw(seed, 4) != 0;
  s->has_overlap = draw(seed, 4) != 0;
  s->has_least = draw(seed, 2) != 0;
  s->is_centred = draw(seed, 2) != 0;
}

static bool is_between(int at, int a, int b) { return a < b ? at >= a && at < b : at >= b && at < a; }

static bool covers(const int *corner, int y, int x) {
  return is_between(y, corner[0], corner[2]) && is_between(x, corner[1], corner[3]);
}

static bool is_too_near(const scene *s, const int *a, const int *b) {
  int both = 0, any = 0;
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      both += covers(a, y, x) && covers(b, y, x);
      any += covers(a, y, x) || covers(b, y, x);
    }
  return both > 0 && 8 * both > (s->has_overlap ? s->overlap_eighths : 0) * any;
}

// The best box that is left, until there is none; it takes all near ones along.
static int expect_class(const scene *s, int image, int class, int64_t *to) {
  const int *score = &s->score[(image * CLASSES + class) * BOXES];
  bool gone[BOXES];
  int chosen = 0;
  for (int i = 0; i < BOXES; i++) gone[i] = s->has_least && score[i] <= s->least;
  for (int best = 0; best >= 0 && chosen < (s->has_most ? s->most : 0);) {
    best = -1;
    for (int i = 0; i < BOXES; i++)
      if (!gone[i] && (best < 0 || score[i] > score[best])) best = i;
    if (best < 0) break;
    memcpy(&to[3 * chosen++], (int64_t[]){image, class, best}, 3 * sizeof to[0]);
    const int *corner = s->corner[image * BOXES + best];
    for (int i = 0; i < BOXES; i++)
      gone[i] = gone[i] || i == best || is_too_near(s, corner, s->corner[image * BOXES + i]);
  }
  return chosen;
}

static void add_box(text *t, const scene *s, const int *corner) {
  for (int d = 0; d < 4; d++) {
    const double a = corner[d % 2], b = corner[d % 2 + 2];
    const double value = !s->is_centred ? corner[d] : d < 2 ? (a + b) / 2 : a < b ? b - a : a - b;
    add(t, "%.1f%s", value, d < 3 ? ", " : "");
  }
}

static void write_scene(text *t, const scene *s, int count) {
  add(t, "graph g\nconstant boxes f32[%d, %d, 4] = [", IMAGES, BOXES);
  for (int i = 0; i < IMAGES * BOXES; i++) {
    add(t, "%s", i > 0 ? ", " : "");
    add_box(t, s, s->corner[i]);
  }
  add(t, "]\nconstant scores f32[%d, %d, %d]", IMAGES, CLASSES, BOXES);
  add_list(t, s->score, SCORES);
  add(t, "constant most i64[1] = [%d]\nconstant overlap f32[1] = [%.3f]\n", s->most, s->overlap_eighths / 8.0);
  add(t, "constant least f32[1] = [%d]\nnode n NonMaxSuppression(boxes, scores", s->least);
  add(t, ", %s, %s", s->has_most ? "most" : "_", s->has_overlap ? "overlap" : "_");
  add(t, "%s) -> y i64[%d, 3] {center_point_box = %d}\noutput y\n", s->has_least ? ", least" : "", count,
      s->is_centred);
}

static void suppresses(void **state) {
  (void)state;
  uint32_t seed = 1;
  int some = 0, none = 0;
  for (int trial = 0; trial < 400; trial++) {
    scene s;
    text *t = WF_NEW(text);
    int64_t expected[SCORES * 3], result[SCORES * 3] = {0};
    int count = 0;
    draw_scene(&s, &seed);
    for (int i = 0; i < IMAGES * CLASSES; i++)
      count += expect_class(&s, i / CLASSES, i % CLASSES, &expected[3 * count]);
    write_scene(t, &s, count);
    run(t, (void *[]){result});
    assert_memory_equal(result, expected, (size_t)count * 3 * sizeof result[0]);
    some += count > 0;
    none += count == 0;
    wf_free(t);
  }
  assert_true(some > 100 && none > 100);
}

static void refuses_what_is_not_constant(void **state) {
  (void)state;
  refuse(
      "graph g\ninput b f32[1, 2, 4]\nconstant s f32[1, 1, 2] = [1, 2]\n"
      "node n NonMaxSuppression(b, s) -> y i64[0, 3]\noutput y\n",
      "the size of its result depends on data");
  refuse(
      "graph g\nconstant b f32[1, 1, 4] = [0, 0, 1, 1]\nconstant s f32[1, 1, 1] = [1]\ninput most i64[]\n"
      "node n NonMaxSuppression(b, s, most) -> y i64[1, 3]\noutput y\n",
      "the size of its result depends on data");
  refuse(
      "graph g\nconstant b f32[1, 1, 4] = [0, 0, 1, 1]\nconstant s f32[1, 1, 2] = [1, 2]\n"
      "node n NonMaxSuppression(b, s) -> y i64[0, 3]\noutput y\n",
      "it needs boxes [B,N,4] and scores [B,C,N]");
  refuse(
      "graph g\nconstant b f32[1, 1, 4] = [0, 0, 1, 1]\nconstant s f32[1, 1, 1] = [1]\n"
      "constant most i64[2] = [1, 1]\nnode n NonMaxSuppression(b, s, most) -> y i64[1, 3]\noutput y\n",
      "its input 2 has the wrong type or size");
  refuse("graph g\ninput x i8[2]\nnode n Unique(x) -> y i8[2]\noutput y\n", "the size of its result depends on data");
}

// ---- Unique of i16[OUTER, LINES, INNER] along axis 1, or of all elements

enum { OUTER = 2, LINES = 12, INNER = 3, ALL = OUTER * LINES * INNER };

typedef struct lines {
  int outer, size, inner, count;  // `count` of them are kept
} lines;

// -1, 0 or 1: line i of a against line j of b
static int compare(const lines *l, const int16_t *a, int a_size, int i, const int16_t *b, int b_size, int j) {
  for (int o = 0; o < l->outer; o++)
    for (int k = 0; k < l->inner; k++) {
      const int p = a[(o * a_size + i) * l->inner + k], q = b[(o * b_size + j) * l->inner + k];
      if (p != q) return p < q ? -1 : 1;
    }
  return 0;
}

static int count_kinds(const lines *l, const int16_t *x) {
  int kinds = 0;
  for (int i = 0, j; i < l->size; i++) {
    for (j = 0; j < i && compare(l, x, l->size, i, x, l->size, j) != 0;) j++;
    kinds += j == i;
  }
  return kinds;
}

typedef struct uniques {
  int16_t y[ALL];
  int64_t first[ALL], kind[ALL], sum[ALL];
} uniques;

static void check_uniques(const lines *l, const int16_t *x, const uniques *u, bool sorted) {
  for (int k = 0; k < l->count; k++) {
    int64_t sum = 0, first = -1;
    for (int i = l->size - 1; i >= 0; i--) {
      const bool same = compare(l, x, l->size, i, u->y, l->count, k) == 0;
      assert_int_equal(u->kind[i] == k, same);
      sum += same;
      if (same) first = i;
    }
    assert_int_equal(u->sum[k], sum);
    assert_int_equal(u->first[k], first);
    if (k > 0 && sorted) assert_int_equal(compare(l, u->y, l->count, k - 1, u->y, l->count, k), -1);
    if (k > 0 && !sorted) assert_true(u->first[k - 1] < u->first[k]);
  }
}

static void check_unique(uint32_t *seed, bool has_axis, bool sorted, int values) {
  lines l = has_axis ? (lines){OUTER, LINES, INNER, 0} : (lines){1, ALL, 1, 0};
  text *t = WF_NEW(text);
  uniques *u = WF_NEW(uniques);
  int16_t x[ALL];
  int wide[ALL];
  for (int i = 0; i < ALL; i++) x[i] = (int16_t)(wide[i] = draw(seed, values) - values / 2);
  l.count = count_kinds(&l, x);
  add(t, "graph g\nconstant x i16[%d, %d, %d]", OUTER, LINES, INNER);
  add_list(t, wide, ALL);
  add(t, "node n Unique(x) -> y i16[");
  if (has_axis) add(t, "%d, %d, %d]", OUTER, l.count, INNER);
  if (!has_axis) add(t, "%d]", l.count);
  add(t, ", first i64[%d], kind i64[%d], sum i64[%d]", l.count, l.size, l.count);
  add(t, " {%ssorted = %d}\noutput y\noutput first\noutput kind\noutput sum\n", has_axis ? "axis = -2, " : "", sorted);
  run(t, (void *[]){u->y, u->first, u->kind, u->sum});
  check_uniques(&l, x, u, sorted);
  wf_free(t);
  wf_free(u);
}

static void finds_unique_lines(void **state) {
  (void)state;
  uint32_t seed = 2;
  for (int trial = 0; trial < 80; trial++)
    check_unique(&seed, trial % 2 == 0, trial / 2 % 2 == 0, trial % 2 == 0 ? 2 : 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(suppresses),
      cmocka_unit_test(refuses_what_is_not_constant),
      cmocka_unit_test(finds_unique_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
