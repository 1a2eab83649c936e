// SPDX-License-Identifier: Apache-2.0
// The walk over stages: see machine.h.
//
// A loop whose iterations have come to take the same time is not walked further: the clocks go on by that time for each
// of the iterations left.
#include "search/model/machine.h"

#include <assert.h>
#include <math.h>

#include "base/number.h"
#include "hw/tech.h"
#include "search/model/machine_private.h"

const char *const machine_bound_names[MACHINE_BOUND_COUNT] = {
#define X(NAME, text) text,
    MACHINE_BOUNDS(X)
#undef X
};

enum { WALKED = 4 };          // iterations of a loop, at least
enum { STAGES_KEPT = 64 };    // whose ends are known
enum { PORTIONS_KEPT = 64 };  // of a fill of the only slot of a buffer

typedef struct clocks {
  double load, mesh, store;
  double free[MAP_OPERANDS][MAP_DEPTH_MAX];  // when the slot can be filled again
  double ends[STAGES_KEPT];                  // of the last stages
  double used[MAP_RESULTS][PORTIONS_KEPT];   // when a portion of the only slot was used
} clocks;

typedef struct walker {
  const map_layer *layer;
  const map_mapping *m;
  machine_work work;
  int64_t trips[MAP_POSITIONS], at[MAP_POSITIONS];
  int results;                      // positions of loops over results
  uint64_t instance[MAP_OPERANDS];  // fills so far
  bool late;                        // loads stand just in front of the products that need them
  uint64_t stages;                  // so far
  unsigned portion[MAP_RESULTS];    // of the fill
  clocks t;
} walker;

// Whether all loops from a position on, that the operand does not use, are in their first iteration: then something new
// of it is touched.
static bool touches_new(const walker *w, map_operand operand) {
  for (int p = w->m->residency[operand]; p < MAP_POSITIONS; p++)
    if (w->at[p] != 0 && !map_uses(w->layer->kind, operand, map_loop_dim(w->m, p))) return false;
  return true;
}

static bool starts(const walker *w, int position) {
  for (int p = position; p < MAP_POSITIONS; p++)
    if (w->at[p] != 0) return false;
  return true;
}

static bool ends(const walker *w, int position) {
  for (int p = position; p < MAP_POSITIONS; p++)
    if (w->at[p] != w->trips[p] - 1) return false;
  return true;
}

static double *slot(walker *w, map_operand operand) {
  return &w->t.free[operand][w->instance[operand] % w->m->depth[operand]];
}

// When the front end comes to the loads of a stage that stand just in front of it: as far ahead of the products as the
// station's entries reach.
static double reached(const walker *w) {
  const double stages = w->work.entries;
  if (stages < 1) return w->t.mesh - stages * w->work.mesh;
  if (stages >= STAGES_KEPT) return 0;
  return w->t.ends[(w->stages - (uint64_t)stages) % STAGES_KEPT];
}

// Whether each portion of the only slot of a buffer may be loaded again on its own; a load of several waits for all.
static bool is_piecemeal(const walker *w, map_operand operand) {
  const machine_stream *s = &w->work.load[operand];
  return w->m->depth[operand] == 1 && s->portions > 1 && s->commands >= 1 && !s->spread;
}

// When the rows of a portion are free for the next load into them.
static double free_from(walker *w, map_operand operand) {
  const unsigned portion = w->portion[operand]++;
  const double free =
      is_piecemeal(w, operand) && portion < PORTIONS_KEPT ? w->t.used[operand][portion] : *slot(w, operand);
  return free + w->work.free_after[operand];
}

// Loads what the stage touches for the first time: when its first product can start, and when the mesh can be done with
// it at the earliest.
static void load(walker *w, map_operand operand, double *first, double *done) {
  const machine_stream *s = &w->work.load[operand];
  if (!touches_new(w, operand)) return;
  double start = wf_max(w->t.load, free_from(w, operand));
  if (w->late) start = wf_max(start, reached(w));
  w->t.load = start + s->unit;
  const double ready = wf_max(w->t.load, start + s->data + s->latency);
  // A load into several blocks of the only slot keeps products before and behind waiting, as the rows between the
  // blocks count as touched.
  double alone = 0;
  if (w->m->depth[operand] == 1 && s->spread)
    alone = wf_min(s->commands, 1) * wf_max(0, s->latency + s->data - w->work.dim);
  *first = wf_max(*first + alone, wf_min(ready, start + s->first * s->data + s->latency));
  *done = wf_max(*done, ready + s->rest * w->work.mesh);
}

static void stage(walker *w) {
  double first = w->t.mesh, done = 0;
  const bool tile_starts = starts(w, w->results), tile_ends = ends(w, w->results);
  for (int o = 0; o < MAP_RESULTS; o++)
    if (starts(w, w->m->residency[o])) {
      w->instance[o]++;
      w->portion[o] = 0;
    }
  if (tile_starts) {
    w->instance[MAP_RESULTS]++;
    const double free = *slot(w, MAP_RESULTS);
    first = wf_max(first, free);
    if (w->work.bias > 0) {
      w->t.load = wf_max(w->t.load, free) + w->work.bias;
      first = wf_max(first, w->t.load + w->work.load_latency);
    }
  }
  // What has its slot sooner comes first.
  const bool weights_first = *slot(w, MAP_WEIGHTS) <= *slot(w, MAP_INPUTS);
  load(w, weights_first ? MAP_WEIGHTS : MAP_INPUTS, &first, &done);
  load(w, weights_first ? MAP_INPUTS : MAP_WEIGHTS, &first, &done);
  w->t.mesh = wf_max(first + w->work.mesh, done);
  w->t.ends[++w->stages % STAGES_KEPT] = w->t.mesh;
  for (int o = 0; o < MAP_RESULTS; o++)
    if (touches_new(w, (map_operand)o) && w->portion[o] <= PORTIONS_KEPT) w->t.used[o][w->portion[o] - 1] = w->t.mesh;
  for (int o = 0; o < MAP_RESULTS; o++)
    if (ends(w, w->m->residency[o])) *slot(w, (map_operand)o) = w->t.mesh;
  if (!tile_ends) return;
  w->t.store = wf_max(w->t.store, w->t.mesh + w->work.drain) + w->work.store;
  *slot(w, MAP_RESULTS) = w->t.store;
}

// Goes on by `count` iterations of the loop at a position, as the one since `before` went. Buffers that the loop fills
// again are in use later by as much. Loads that run ahead do so by no more than they did.
static void go_on(walker *w, int position, const clocks *before, double count) {
  clocks *t = &w->t;
  const double mesh = count * (t->mesh - before->mesh), store = count * (t->store - before->store);
  t->load += wf_min(count * (t->load - before->load), wf_max(mesh, store));
  t->mesh += mesh;
  t->store += store;
  for (int i = 0; i < STAGES_KEPT; i++) t->ends[i] += mesh;
  for (int o = 0; o < MAP_OPERANDS; o++) {
    if (position >= (o == MAP_RESULTS ? w->results : w->m->residency[o])) continue;
    for (int i = 0; i < MAP_DEPTH_MAX; i++) t->free[o][i] += o == MAP_RESULTS ? store : mesh;
    for (int i = 0; i < PORTIONS_KEPT && o != MAP_RESULTS; i++) t->used[o][i] += mesh;
  }
}

static double latest(const clocks *t) { return wf_max(t->load, wf_max(t->mesh, t->store)); }

// All iterations of the loops from a position on.
static void walk(walker *w, int position) {
  while (position < MAP_POSITIONS && w->trips[position] == 1) position++;
  if (position == MAP_POSITIONS) {
    stage(w);
    return;
  }
  const int64_t trips = w->trips[position];
  clocks before = w->t;
  for (int64_t i = 0; i < trips; i++) {
    if (i == WALKED && trips > WALKED + 1) {
      go_on(w, position, &before, (double)(trips - 1 - i));
      i = trips - 1;
    }
    before = w->t;
    w->at[position] = i;
    walk(w, position + 1);
  }
  w->at[position] = 0;
}

static void add_energy(const map_layer *layer, const hw_array *array, machine_prediction *p) {
  hw_tech tech;
  hw_tech_of(&tech, array);
  p->has_energy = tech.has.energy_pj;
  if (!p->has_energy) return;
  // Columns of the array that a layer does not use count as multiplications, too.
  const double dim = hw_derive(array).dim, columns = (double)layer->size[BLOCK_DIM_K];
  const double rows = layer->kind == MAP_DEPTHWISE ? dim : 1;  // of a diagonal of weights
  const double macs = (double)map_macs(layer) * rows * ceil(columns / dim) * dim / columns;
  p->energy_pj = macs * (tech.energy_pj.mac + tech.energy_pj.registers) + p->bus_bytes * tech.energy_pj.dram +
                 p->scratchpad_rows * dim * hw_tech_scratchpad_pj(&tech, array) +
                 p->accumulator_rows * dim * hw_tech_accumulator_pj(&tech, array);
}

static machine_bound bound_of(const walker *w, const machine_prediction *p) {
  const machine_work *k = &w->work;
  double issuing = k->pairs * k->stages, loads = 0;  // loads: shares of issuing
  for (int o = 0; o < MAP_RESULTS; o++) loads += 1 - k->load[o].data / k->load[o].unit;
  const double top = wf_max(wf_max(p->mesh, p->load), wf_max(p->store, p->memory));
  if (p->cycles > 1.5 * top) return MACHINE_LATENCY;
  if (top == p->mesh) return issuing > 0.5 * p->mesh ? MACHINE_ISSUE : MACHINE_COMPUTE;
  return top == p->load && loads > 0.5 ? MACHINE_ISSUE : MACHINE_BANDWIDTH;
}

bool machine_knows(const map_layer *layer) {
  const bool kind =
      layer->kind == MAP_GEMM || layer->kind == MAP_GEMV || layer->kind == MAP_BATCHED || layer->kind == MAP_CONV;
  return kind && layer->groups <= 1 && layer->residual == 0 && layer->pool_stride == 0;
}

static double walk_all(walker w, bool late, const cost_constants *constants) {
  w.late = late;
  w.t.load = constants->front_cycles;
  walk(&w, 0);
  return latest(&w.t);
}

machine_prediction machine_predict(const map_layer *layer, const map_mapping *given, const hw_array *array,
                                   const cost_constants *constants) {
  assert(machine_knows(layer));
  const map_mapping trimmed = machine_trimmed(layer, given), *mapping = &trimmed;
  walker w = {.layer = layer, .m = mapping, .work = machine_work_of(layer, mapping, array, constants)};
  machine_prediction p = {.mesh = w.work.mesh * w.work.stages,
                          .memory = w.work.memory,
                          .bus_bytes = w.work.bus_bytes,
                          .scratchpad_rows = w.work.scratchpad_rows,
                          .accumulator_rows = w.work.accumulator_rows};
  for (int i = 0; i < MAP_POSITIONS; i++) {
    w.trips[i] = map_loop_trips(mapping, i);
    if (w.trips[i] > 1 && map_uses(layer->kind, MAP_RESULTS, map_loop_dim(mapping, i))) w.results = i + 1;
  }
  double tiles = 1;
  for (int i = 0; i < w.results; i++) tiles *= (double)w.trips[i];
  for (int o = 0; o < MAP_RESULTS; o++) {
    double fills = 1;
    for (int i = 0; i < mapping->residency[o]; i++) fills *= (double)w.trips[i];
    p.load += fills * w.work.load[o].portions * w.work.load[o].unit;
  }
  p.load += tiles * w.work.bias;
  p.store = tiles * w.work.store;
  const double early = w.work.late < 1 ? walk_all(w, false, constants) : 0;
  const double late = w.work.late > 0 ? walk_all(w, true, constants) : 0;
  p.cycles = wf_max(w.work.late * late + (1 - w.work.late) * early, p.memory);
  p.bound = bound_of(&w, &p);
  add_energy(layer, array, &p);
  return p;
}

// Rows of the memories are those of operands that pass through them once, and of each product.
machine_prediction machine_estimate(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                                    const map_footprint *footprint) {
  const double dim = hw_derive(array).dim,
               read = (double)(footprint->dram_bytes[MAP_WEIGHTS] + footprint->dram_bytes[MAP_INPUTS]),
               written = (double)footprint->dram_bytes[MAP_RESULTS];
  machine_prediction p = {
      .cycles = map_estimate(layer, mapping, array, footprint, &cost_fitted, INFINITY),
      .bound = MACHINE_BANDWIDTH,
      .mesh = (double)footprint->mesh_cycles,
      .bus_bytes = read + written + (double)footprint->bias_bytes,
      .scratchpad_rows = read / dim + (double)footprint->mesh_cycles,
      .accumulator_rows = written / dim + 2 * (double)footprint->mesh_cycles,
  };
  add_energy(layer, array, &p);
  return p;
}
