// SPDX-License-Identifier: Apache-2.0
// Two fronts of one sweep: see fronts.h. Areas and memories of a point do not depend on the engine.
#include "search/report/fronts.h"

#include <math.h>

#include "base/alloc.h"
#include "search/report/front.h"

enum { EXACT, NEAR };

typedef struct comparison {
  const report_data *data[2];
  size_t network;
  size_t *points;  // that are good in both
  size_t count;
  report_rival *rivals[2];  // of these
} comparison;

static const report_sum *sum_of(const comparison *c, unsigned engine, size_t i) {
  return &c->data[engine]->points[c->points[i]].sums[c->network];
}

static void find_points(comparison *c) {
  c->points = WF_NEW_ARRAY(c->data[EXACT]->point_count + 1, size_t);
  for (size_t i = 0; i < c->data[EXACT]->point_count; i++) {
    c->points[c->count] = i;
    c->count += sum_of(c, EXACT, c->count)->good && sum_of(c, NEAR, c->count)->good;
  }
}

static void find_front(comparison *c, unsigned engine) {
  c->rivals[engine] = WF_NEW_ARRAY(c->count + 1, report_rival);
  for (size_t i = 0; i < c->count; i++) {
    const report_point *p = &c->data[EXACT]->points[c->points[i]];
    const report_sum *sum = sum_of(c, engine, i);
    c->rivals[engine][i] = (report_rival){.cycles = sum->cycles,
                                          .energy_pj = sum->has_energy ? sum->energy_pj : INFINITY,
                                          .logic_um2 = p->logic_um2,
                                          .memory_bits = p->memory_bits};
  }
  report_find_front(c->rivals[engine], c->count);
}

// ---- how far apart

static double ratio(double a, double b) { return a == b ? 1 : a / b; }

// By how much one rival is worse than another in the figure where it is worst; below 0: in none.
static double worse(const report_rival *a, const report_rival *b) {
  const double figures[] = {ratio(a->cycles, b->cycles), ratio(a->energy_pj, b->energy_pj),
                            ratio(a->logic_um2, b->logic_um2), ratio((double)a->memory_bits, (double)b->memory_bits)};
  double most = figures[0];
  for (size_t i = 1; i < sizeof figures / sizeof *figures; i++) most = fmax(most, figures[i]);
  return most - 1;
}

// The exact figures of point i against those of all points on the front of the other engine.
static double off_of(const comparison *c, size_t i, bool missed) {
  const unsigned other = missed ? NEAR : EXACT;
  const report_rival *exact = c->rivals[EXACT];
  double least = INFINITY;
  for (size_t k = 0; k < c->count; k++)
    if (!c->rivals[other][k].beaten)
      least = fmin(least, missed ? worse(&exact[k], &exact[i]) : worse(&exact[i], &exact[k]));
  return fmax(least, 0);
}

static void add_point(const comparison *c, size_t i, report_fronts *f) {
  report_fronts_point *p = &f->points[f->count];
  *p = (report_fronts_point){.point = c->points[i]};
  for (unsigned engine = 0; engine < 2; engine++) {
    p->cycles[engine] = c->rivals[engine][i].cycles;
    p->energy_pj[engine] = c->rivals[engine][i].energy_pj;
    p->on[engine] = !c->rivals[engine][i].beaten;
    f->on[engine] += p->on[engine];
  }
  f->both += p->on[EXACT] && p->on[NEAR];
  if (p->on[EXACT] != p->on[NEAR]) p->off = off_of(c, i, p->on[EXACT]);
  f->worst_off = fmax(f->worst_off, p->off);
  f->count += p->on[EXACT] || p->on[NEAR];
}

report_fronts report_compare_fronts(const report_data *exact, const report_data *near, size_t network) {
  comparison c = {.data = {exact, near}, .network = network};
  find_points(&c);
  for (unsigned engine = 0; engine < 2; engine++) find_front(&c, engine);
  report_fronts f = {.network = exact->networks[network].name,
                     .points = WF_NEW_ARRAY(c.count + 1, report_fronts_point),
                     .compared = c.count};
  for (size_t i = 0; i < c.count; i++) {
    const double error = fabs(ratio(c.rivals[NEAR][i].cycles, c.rivals[EXACT][i].cycles) - 1);
    f.mean_cycles += error / (double)c.count;
    f.worst_cycles = fmax(f.worst_cycles, error);
    add_point(&c, i, &f);
  }
  for (unsigned engine = 0; engine < 2; engine++) wf_free(c.rivals[engine]);
  wf_free(c.points);
  return f;
}
