// SPDX-License-Identifier: Apache-2.0
// The joint search: the same answer with any number of processes; the optimum of a space that is simulated whole;
// bounds and fronts; changes of one axis against what engine flow and the model say of the changed array.
#include "search/codesign/codesign.h"

#include <math.h>
#include <string.h>

#include "base/test.h"
#include "search/codesign/internal.h"

static const char table[] =
    "name: small\ndescription: for the test\nlayers:\n"
    "  - {name: a, P: 64, K: 64, C: 64, count: 3}\n  - {name: b, P: 14, Q: 14, K: 32, C: 32, R: 3, S: 3}\n"
    "  - {name: c, P: 64, K: 64, C: 64}\n";

static const char text[] =
    "base: dim4\nparameters:\n"
    "  mesh.rows, mesh.columns: [2, 4, 8]\n  scratchpad.capacity_kib: [16, 32, 64]\n  dma.bus_bits: [32, 64, 128]\n"
    "  dma.reads_in_flight: [2, 16]\n  memory.model, memory.latency_cycles: [[fixed, 100]]\n";

typedef struct fixture {
  codesign_space space;
  layers_network table;
  codesign_network network;
  codesign_options options;
} fixture;

static void open_fixture(fixture *f) {
  wf_diag diag = wf_diag_to(stderr);
  assert_true(codesign_space_parse(&f->space, "s.yaml", text, strlen(text), &diag));
  assert_true(layers_parse_yaml(&f->table, "small.yaml", table, strlen(table), &diag));
  f->network = (codesign_network){.table = &f->table, .weight = 1};
  f->options = (codesign_options){
      .space = &f->space, .networks = &f->network, .network_count = 1, .simulations = 10, .seed = 1, .jobs = 2};
}

static void close_fixture(fixture *f) {
  layers_release(&f->table);
  codesign_space_release(&f->space);
}

static codesign_result searched(const codesign_options *options) {
  codesign_result result;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(codesign_search(options, &result, &diag));
  return result;
}

static double value_of(const codesign_options *o, const codesign_result *r) {
  return codesign_value(o->objective, r->sites[r->best].cost[CODESIGN_CYCLE]);
}

// Equal layers are one; sums are over all of them; weights multiply.
static void sums(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  f.network.weight = 2;
  codesign_result r = searched(&f.options);
  assert_int_equal(r.layer_count, 2);
  assert_true(r.layers[0].times == 8 && r.layers[1].times == 2);
  const codesign_site *best = &r.sites[r.best];
  assert_true(best->cost[CODESIGN_CYCLE].cycles ==
              8 * best->layers[CODESIGN_CYCLE][0].cycles + 2 * best->layers[CODESIGN_CYCLE][1].cycles);
  assert_true(fabs(best->cost[CODESIGN_CYCLE].ms - best->cost[CODESIGN_CYCLE].cycles / 1e6) < 1e-12);
  codesign_release(&r);
  close_fixture(&f);
}

static void repeats(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  for (int m = CODESIGN_MACHINE; m < CODESIGN_METHOD_COUNT; m += 2) {  // and evolution
    f.options.method = (codesign_method)m;
    f.options.jobs = 2;
    codesign_result a = searched(&f.options);
    f.options.jobs = 1;
    codesign_result b = searched(&f.options);
    assert_int_equal(a.event_count, b.event_count);
    for (size_t e = 0; e < a.event_count; e++) {
      assert_int_equal(a.events[e].site, b.events[e].site);
      assert_true(a.events[e].value == b.events[e].value && a.events[e].spent == b.events[e].spent);
    }
    assert_true(a.spent < f.options.simulations + 2);
    codesign_release(&a);
    codesign_release(&b);
  }
  close_fixture(&f);
}

static void optimum(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  const size_t count = (size_t)codesign_space_points(&f.space);
  double *values = calloc(count, sizeof *values), least = INFINITY;
  assert_non_null(values);
  codesign_enumerate(&f.options, values);
  for (size_t n = 0; n < count; n++) least = fmin(least, values[n]);
  codesign_result r = searched(&f.options);
  assert_true(r.tried[CODESIGN_CYCLE] < count / 4);
  assert_true(value_of(&f.options, &r) >= least * (1 - 1e-12));
  assert_true(value_of(&f.options, &r) <= 1.01 * least);
  for (size_t n = 0; n < count; n++) {  // what a search says of a point is what the whole space has there
    const codesign_point point = codesign_space_point(&f.space, n);
    if (codesign_point_equal(&point, &r.sites[r.best].point))
      assert_true(fabs(values[n] / value_of(&f.options, &r) - 1) < 1e-12);
  }
  codesign_release(&r);
  free(values);
  close_fixture(&f);
}

static void bounds(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  f.options.objective = CODESIGN_LATENCY;
  codesign_result free_one = searched(&f.options);
  const double area = free_one.sites[free_one.best].area_mm2;
  f.options.bounds.area_mm2 = 0.99 * area;
  codesign_result bound = searched(&f.options);
  assert_true(bound.sites[bound.best].area_mm2 <= 0.99 * area);
  assert_true(value_of(&f.options, &bound) >= value_of(&f.options, &free_one));
  codesign_release(&bound);
  f.options.bounds.area_mm2 = 1e-6;
  codesign_result none;
  wf_diag silent = wf_diag_to(NULL);
  assert_false(codesign_search(&f.options, &none, &silent));
  assert_int_equal(silent.errors, 1);
  codesign_release(&none);
  codesign_release(&free_one);
  close_fixture(&f);
}

static void front(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  f.options.objective = CODESIGN_LATENCY;
  f.options.second = CODESIGN_AREA;
  f.options.front = true;
  f.options.simulations = 16;
  codesign_result r = searched(&f.options);
  assert_true(r.front_count >= 2 && r.hypervolume > 0);
  for (size_t i = 1; i < r.front_count; i++) {
    const codesign_site *a = &r.sites[r.front[i - 1]], *b = &r.sites[r.front[i]];
    assert_true(a->cost[CODESIGN_CYCLE].ms < b->cost[CODESIGN_CYCLE].ms && a->area_mm2 > b->area_mm2);
  }
  // Of equal latencies the front has the one with less area.
  assert_true(r.sites[r.front[0]].cost[CODESIGN_CYCLE].ms == r.sites[r.best].cost[CODESIGN_CYCLE].ms);
  codesign_release(&r);
  close_fixture(&f);
}

// Half of the reads under way behind a long latency, and a narrower bus: both cost time, and engine flow says so.
static void changes(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  codesign_result r = searched(&f.options);
  const codesign_site *site = &r.sites[0];
  codesign_change change;
  unsigned known = 0, count = 0;
  assert_true(site->rungs == CODESIGN_RUNGS);
  for (; codesign_change_at(&f.options, site, count, &change); count++) {
    assert_true(change.at != site->point.at[change.axis]);
    known += change.known;
    if (change.axis == 2) {  // the bus
      assert_true(change.known && change.weight != NULL);
      assert_true((change.at < site->point.at[2]) == (change.latency > 0));
      assert_true((change.at < site->point.at[2]) == (change.area < 0));
    }
    if (change.axis < 2) assert_false(change.known);
  }
  assert_int_equal(count, 2 + 2 + 2 + 1 + 0);
  assert_int_equal(known, 2 + 1);
  codesign_release(&r);
  close_fixture(&f);
}

// What an account says of another point: what single changes say, added up; nothing of another program.
static void accounts(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  codesign_result r = searched(&f.options);
  const codesign_site *site = &r.sites[0];  // side 4, 64 KiB, 128 bits, 16 requests
  const double cycles = site->cost[CODESIGN_FLOW].cycles;
  codesign_account_word word;
  codesign_point point = site->point;
  assert_true(codesign_account_says(&f.options, site, &point, &word));
  assert_true(word.cycles == cycles && word.axes == 0 && word.moved == 0 && word.halvings == 0);
  double both = 0;
  codesign_change change;
  for (unsigned n = 0; codesign_change_at(&f.options, site, n, &change); n++)
    if ((change.axis == 2 && change.at == 0) || change.axis == 3) both += change.latency;
  point.at[2] = 0, point.at[3] = 0;  // 32 bits, 2 requests
  assert_true(codesign_account_says(&f.options, site, &point, &word));
  assert_true(fabs(word.cycles - cycles * (1 + both)) < 1e-6 * cycles && word.axes == 2);
  assert_true(word.halvings == 2 + 3 && word.moved > 0);
  point.at[0] = 2;
  assert_false(codesign_account_says(&f.options, site, &point, &word));
  codesign_release(&r);
  close_fixture(&f);
}

// As if a twentieth of the cycles of what engine flow ran were the bus's, or none were anyone's.
static void blame_the_bus(codesign_result *r, bool bus) {
  for (size_t i = 0; i < r->count; i++)
    for (unsigned n = 0; sim_flow_weight_at(n) != NULL; n++) {
      const bool is_bus = strcmp(sim_flow_weight_at(n)->key, "bus") == 0;
      r->sites[i].account.cycles[n] = bus && is_bus ? r->sites[i].cost[CODESIGN_FLOW].cycles / 20 : 0;
    }
}

// Of the points that engine flow ran, with the same program: how many have a wider bus, minus how many have no wider
// one and would hide these.
static int wider(const fixture *f, const codesign_result *r, const codesign_site *site) {
  int count = 0;
  for (size_t i = 0; i < r->count; i++) {
    codesign_account_word word;
    if (r->sites[i].rungs <= CODESIGN_FLOW || !codesign_account_says(&f->options, &r->sites[i], &site->point, &word))
      continue;
    count += r->sites[i].point.at[2] > site->point.at[2] ? 1 : -100;
  }
  return count;
}

// A point that only the model has looked at, beside one that engine flow ran: where cycles there are the bus's, a
// narrower bus is believed to be worse.
static void accounts_are_believed(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  codesign_result r = searched(&f.options);
  codesign_loop l = {.options = &f.options, .result = &r, .reach = {0.35, 0.35, 1, 1, 1}};
  double *before = calloc(r.count, sizeof *before);
  unsigned seen = 0;
  assert_non_null(before);
  blame_the_bus(&r, false);
  codesign_correct(&l);
  for (size_t i = 0; i < r.count; i++) before[i] = r.sites[i].mean;
  blame_the_bus(&r, true);
  codesign_correct(&l);
  for (size_t i = 0; i < r.count; i++) {
    if (r.sites[i].rungs != 1 || wider(&f, &r, &r.sites[i]) <= 0) continue;
    assert_true(r.sites[i].mean > before[i]);
    seen++;
  }
  assert_true(seen > 0);
  free(before);
  codesign_release(&r);
  close_fixture(&f);
}

// A point with other memories of which the model says the same as of one that engine flow ran is known better than one
// of which it says something else.
static void alike_programs(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  codesign_result r = searched(&f.options);
  codesign_loop l = {.options = &f.options, .result = &r, .reach = {0.35, 0.35, 1, 1, 1}};
  codesign_site *ran = NULL, *other = NULL;
  for (size_t i = 1; i < r.count && ran == NULL; i++)
    if (r.sites[i].rungs > CODESIGN_FLOW) ran = &r.sites[i];
  assert_non_null(ran);
  for (size_t i = 1; i < r.count && other == NULL; i++)
    if (r.sites[i].rungs == 1 && r.sites[i].point.at[0] != ran->point.at[0]) other = &r.sites[i];
  assert_non_null(other);
  double spread[2];
  for (int same = 0; same < 2; same++) {
    for (size_t n = 0; n < r.layer_count; n++)
      other->layers[CODESIGN_MODEL][n].cycles = (same ? 1 : 2) * ran->layers[CODESIGN_MODEL][n].cycles;
    codesign_correct(&l);
    spread[same] = other->spread;
  }
  assert_true(spread[1] < 0.99 * spread[0]);
  codesign_release(&r);
  close_fixture(&f);
}

// The axis along which two points differ; SIZE_MAX: none, or several.
static size_t only_axis(const fixture *f, const codesign_point *a, const codesign_point *b) {
  size_t axis = SIZE_MAX;
  for (size_t n = 0; n < f->space.axis_count; n++) {
    if (a->at[n] == b->at[n]) continue;
    if (axis != SIZE_MAX) return SIZE_MAX;
    axis = n;
  }
  return axis;
}

static codesign_change change_to(const fixture *f, const codesign_site *site, size_t axis, size_t at) {
  codesign_change change;
  size_t n = 0;
  do assert_true(codesign_change_by(CODESIGN_MODEL, &f->options, site, n++, &change));
  while (change.axis != axis || change.at != at);
  return change;
}

// What slopes of the model say of a neighbour, against what the model says when it looks at it: the direction, and in
// all a part of the change; first order is no more than that where another limit comes in between.
static void slopes(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f);
  f.options.method = CODESIGN_MACHINE;
  f.options.simulations = 16;
  codesign_result r = searched(&f.options);
  double off = 0, all = 0;
  unsigned pairs = 0;
  for (size_t i = 0; i < r.count; i++)
    for (size_t k = 0; k < r.count; k++) {
      if (r.sites[i].slopes == NULL || r.sites[k].rungs == 0) continue;
      const size_t axis = only_axis(&f, &r.sites[i].point, &r.sites[k].point);
      if (axis != 2 && axis != 3) continue;  // bus, requests in flight: the mapping may stay
      const codesign_change change = change_to(&f, &r.sites[i], axis, r.sites[k].point.at[axis]);
      const double change_of = log(r.sites[k].cost[CODESIGN_MODEL].cycles / r.sites[i].cost[CODESIGN_MODEL].cycles);
      assert_true(change.known && (fabs(change_of) < 0.02 || (change.latency < 0) == (change_of < 0)));
      off += fabs(log1p(change.latency) - change_of);
      all += fabs(change_of);
      pairs++;
    }
  assert_true(pairs >= 8 && off < all);
  codesign_release(&r);
  close_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sums),           cmocka_unit_test(repeats),
                                     cmocka_unit_test(optimum),        cmocka_unit_test(bounds),
                                     cmocka_unit_test(front),          cmocka_unit_test(changes),
                                     cmocka_unit_test(accounts),       cmocka_unit_test(accounts_are_believed),
                                     cmocka_unit_test(alike_programs), cmocka_unit_test(slopes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
