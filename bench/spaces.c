// SPDX-License-Identifier: Apache-2.0
// See spaces.h. A space is every mapping of a layer with tiles of whole rows of the array, perfect factors, any
// residency and one or two slots (map_enumerate); layers are a few rows of the array in each dimension.
#include "bench/spaces.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/statistics.h"
#include "runner/measure.h"
#include "search/model/machine.h"

static const char *const arrays[] = {"gemmini-default", "dim8", "dim4"};

// P, K and C in rows of the array.
static const int64_t products[][3] = {{2, 2, 1}, {1, 2, 2}, {4, 1, 2}, {2, 2, 2}};

enum { ARRAYS = sizeof arrays / sizeof *arrays, PRODUCTS = sizeof products / sizeof *products };

size_t bench_spaces_count(void) { return (size_t)ARRAYS * PRODUCTS; }

typedef struct point {
  double predicted, simulated;
} point;

typedef struct space {
  map_layer layer;
  hw_array array;
  run_known *known;
  point *points;
  size_t count, room;
  bool good;
} space;

static bool visit(void *context, const map_mapping *mapping) {
  space *s = context;
  wf_diag silent = wf_diag_to(NULL);
  const run_measure_request request = {
      .layer = &s->layer, .array = &s->array, .policy = {.mapping = mapping}, .known = s->known};
  const run_measured run = run_measure(&request, &silent);
  s->good = s->good && run.status == RUN_MEASURE_GOOD;
  if (s->count == s->room) {
    s->room = s->room == 0 ? 256 : 2 * s->room;
    s->points = wf_realloc(s->points, s->room, sizeof *s->points);
  }
  s->points[s->count++] = (point){.predicted = machine_predict(&s->layer, mapping, &s->array, &cost_fitted).cycles,
                                  .simulated = (double)run.cycles};
  return s->good;
}

static int by_prediction(const void *a, const void *b) {
  const point *x = a, *y = b;
  return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static void judge(space *s, bench_space_verdict *v) {
  wf_summary all = {0}, top = {0};
  qsort(s->points, s->count, sizeof *s->points, by_prediction);
  for (size_t i = 0; i < s->count; i++) {
    wf_summary_add(&all, s->points[i].simulated);
    if (i < SPACES_TOP) wf_summary_add(&top, s->points[i].simulated);
  }
  v->count = s->count;
  v->first = s->points[0].simulated / all.least;
  v->top = top.least / all.least;
  v->worst = all.most / all.least;
}

static bool run_space(const char *name, const int64_t rows[3], bench_space_verdict *v, wf_diag *diag) {
  space s = {.layer = {.kind = MAP_GEMM}, .good = true};
  if (!hw_array_load(&s.array, name, diag)) return false;
  const int64_t dim = hw_derive(&s.array).dim;
  for (int d = 0; d < BLOCK_DIMS; d++) s.layer.size[d] = 1;
  s.layer.size[BLOCK_DIM_P] = rows[0] * dim;
  s.layer.size[BLOCK_DIM_K] = rows[1] * dim;
  s.layer.size[BLOCK_DIM_C] = rows[2] * dim;
  snprintf(v->name, sizeof v->name, "%s %lld x %lld x %lld", name, (long long)(rows[0] * dim),
           (long long)(rows[1] * dim), (long long)(rows[2] * dim));
  s.known = run_known_create();
  map_enumerate(&s.layer, &s.array, BLOCK_STYLE_PRIMITIVE, visit, &s);
  const bool good = s.good && s.count > 0;
  if (good)
    judge(&s, v);
  else
    wf_error(diag, wf_in_file(v->name), "a mapping could not be compiled or run");
  run_known_destroy(s.known);
  wf_free(s.points);
  return good;
}

bool bench_spaces(bench_space_verdict *verdicts, wf_diag *diag) {
  bool good = true;
  for (size_t a = 0; a < ARRAYS && good; a++)
    for (size_t p = 0; p < PRODUCTS && good; p++)
      good = run_space(arrays[a], products[p], &verdicts[a * PRODUCTS + p], diag);
  return good;
}
