// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression of constants: boxes [B,N,4], scores [B,C,N], and perhaps the most boxes of a class, the overlap and
// the score that a box has to be above. In each class the box of the largest score stays, all that overlap it go, and
// so on; of equal scores the first one is larger. The result is as long as boxes stay: [..,3], image, class and box.
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "compiler/graph/call.h"
#include "compiler/graph/element.h"

enum { BOXES, SCORES, MOST, OVERLAP, LEAST, INPUTS };

typedef struct candidate {
  float score;
  int64_t box;
} candidate;

typedef struct search {
  int64_t images, classes, boxes, most;
  float overlap, least;
  bool has_least, is_centred;
  candidate *candidates;  // of a class; those in front were chosen
} search;

static int by_score(const void *a, const void *b) {
  const candidate *p = a, *q = b;
  if (p->score != q->score) return p->score > q->score ? -1 : 1;
  return p->box < q->box ? -1 : p->box > q->box;
}

static float real_of(const graph_tensor *t, float otherwise) {
  return t == NULL ? otherwise : ((const float *)t->data)[0];
}

static bool open_search(graph_call *c, search *s) {
  const graph_tensor *scores = c->in[SCORES], *most = c->in[MOST];
  *s = (search){.images = scores->dim[0], .classes = scores->dim[1], .boxes = scores->dim[2]};
  s->most = most == NULL ? 0 : ((const int64_t *)most->data)[0];
  s->overlap = real_of(c->in[OVERLAP], 0);
  s->has_least = c->in[LEAST] != NULL;
  s->least = real_of(c->in[LEAST], 0);
  s->is_centred = graph_int(c->node, "center_point_box", 0) != 0;
  s->candidates = graph_call_scratch(c, s->boxes, sizeof s->candidates[0]);
  return s->candidates != NULL;
}

// Numbers d and d + 2 of a box are two corners, in any order, or the middle and the size.
static void edges(const search *s, const float *box, int d, float *low, float *high) {
  const float a = box[d], b = box[d + 2];
  *low = s->is_centred ? a - b / 2 : fminf(a, b);
  *high = s->is_centred ? a + b / 2 : fmaxf(a, b);
}

static bool overlaps(const search *s, const float *a, const float *b) {
  float area_a = 1, area_b = 1, shared = 1;
  for (int d = 0; d < 2; d++) {
    float low_a, high_a, low_b, high_b;
    edges(s, a, d, &low_a, &high_a);
    edges(s, b, d, &low_b, &high_b);
    area_a *= high_a - low_a;
    area_b *= high_b - low_b;
    shared *= fmaxf(fminf(high_a, high_b) - fmaxf(low_a, low_b), 0);
  }
  return shared > 0 && shared / (area_a + area_b - shared) > s->overlap;
}

static int64_t list_candidates(const search *s, const float *scores) {
  int64_t count = 0;
  for (int64_t i = 0; i < s->boxes; i++)
    if (s->has_least ? scores[i] > s->least : !isnan(scores[i])) s->candidates[count++] = (candidate){scores[i], i};
  qsort(s->candidates, (size_t)count, sizeof s->candidates[0], by_score);
  return count;
}

static int64_t choose(const search *s, const float *boxes, const float *scores) {
  int64_t chosen = 0, count = list_candidates(s, scores);
  for (int64_t i = 0; i < count && chosen < s->most; i++) {
    const float *box = &boxes[4 * s->candidates[i].box];
    bool stays = true;
    for (int64_t j = 0; j < chosen && stays; j++) stays = !overlaps(s, box, &boxes[4 * s->candidates[j].box]);
    if (stays) s->candidates[chosen++] = s->candidates[i];
  }
  return chosen;
}

// Returns how many boxes stay and, if `to` is given, writes them.
static int64_t suppress(const graph_call *c, const search *s, int64_t *to) {
  const float *boxes = c->in[BOXES]->data, *scores = c->in[SCORES]->data;
  int64_t count = 0;
  for (int64_t image = 0; image < s->images; image++)
    for (int64_t k = 0; k < s->classes; k++) {
      const int64_t chosen = choose(s, &boxes[image * s->boxes * 4], &scores[(image * s->classes + k) * s->boxes]);
      for (int64_t i = 0; i < chosen && to != NULL; i++) {
        const int64_t row[] = {image, k, s->candidates[i].box};
        graph_copy(to, (count + i) * 3, 1, row, 0, 1, 3, sizeof row[0]);
      }
      count += chosen;
    }
  return count;
}

static bool check_inputs(graph_call *c) {
  const graph_tensor *boxes = c->in[BOXES], *scores = c->in[SCORES];
  for (int i = BOXES; i < INPUTS; i++) {
    const graph_tensor *t = c->in[i];
    if (t == NULL) continue;
    if (!graph_is_constant(t)) return graph_call_fail(c, "the size of its result depends on data");
    if (t->type != (i == MOST ? GRAPH_I64 : GRAPH_F32) || (i >= MOST && graph_elements(t) != 1))
      return graph_call_fail(c, "its input %d has the wrong type or size", i);
  }
  return (boxes->rank == 3 && scores->rank == 3 && boxes->dim[2] == 4 && boxes->dim[0] == scores->dim[0] &&
          boxes->dim[1] == scores->dim[2]) ||
         graph_call_fail(c, "it needs boxes [B,N,4] and scores [B,C,N]");
}

bool graph_infer_suppress(graph_call *c) {
  search s;
  if (!check_inputs(c) || !open_search(c, &s)) return false;
  const int64_t count = suppress(c, &s, NULL);
  wf_free(s.candidates);
  return graph_call_result(c, 0, GRAPH_I64, 2, (int64_t[]){count, 3});
}

bool graph_run_suppress(graph_call *c) {
  search s;
  if (!open_search(c, &s)) return false;
  suppress(c, &s, c->to[0]);
  wf_free(s.candidates);
  return true;
}
