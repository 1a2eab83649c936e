// SPDX-License-Identifier: Apache-2.0
// Predictions: see machine.h. The walk over stages is machine_walk.c.
#include "search/model/machine.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "hw/tech.h"
#include "search/model/machine_walk.h"

const char *const machine_bound_names[MACHINE_BOUND_COUNT] = {
#define X(NAME, text) text,
    MACHINE_BOUNDS(X)
#undef X
};

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

static machine_bound bound_of(const machine_work *k, const machine_prediction *p) {
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

static machine_plain_terms terms_of(const machine_work *w, const cost_constants *constants) {
  machine_plain_terms t = {.of = {[MACHINE_TERM_MESH] = w->mesh,
                                  [MACHINE_TERM_BIAS] = w->bias,
                                  [MACHINE_TERM_STORE] = w->store,
                                  [MACHINE_TERM_LOAD_LATENCY] = w->load_latency,
                                  [MACHINE_TERM_DRAIN] = w->drain,
                                  [MACHINE_TERM_ENTRIES] = w->entries,
                                  [MACHINE_TERM_DIM] = w->dim,
                                  [MACHINE_TERM_FRONT] = constants->front_cycles}};
  for (int o = 0; o < MAP_RESULTS; o++) {
    const machine_stream *s = &w->load[o];
    const double of[MACHINE_STREAM_TERM_COUNT] = {s->unit, s->data, s->latency, s->first, s->rest, w->free_after[o]};
    memcpy(t.stream[o], of, sizeof of);
  }
  return t;
}

static double walked(const map_layer *layer, const map_mapping *mapping, const machine_work *w,
                     const cost_constants *constants) {
  const machine_plain_terms t = terms_of(w, constants);
  const double early = w->late < 1 ? machine_walk_plain(layer, mapping, w, false, &t, NULL) : 0;
  const double late = w->late > 0 ? machine_walk_plain(layer, mapping, w, true, &t, NULL) : 0;
  return w->late * late + (1 - w->late) * early;
}

// Cycles of loads and stores, each alone. Tiles are those of the loops over results.
static void add_units(const map_layer *layer, const map_mapping *mapping, const machine_work *w,
                      machine_prediction *p) {
  double iterations[MAP_POSITIONS + 1] = {1}, tiles = 1;
  for (int i = 0; i < MAP_POSITIONS; i++) {
    const int64_t trips = map_loop_trips(mapping, i);
    iterations[i + 1] = iterations[i] * (double)trips;
    if (trips > 1 && map_uses(layer->kind, MAP_RESULTS, map_loop_dim(mapping, i))) tiles = iterations[i + 1];
  }
  for (int o = 0; o < MAP_RESULTS; o++)
    p->load += iterations[mapping->residency[o]] * w->load[o].portions * w->load[o].unit;
  p->load += tiles * w->bias;
  p->store = tiles * w->store;
}

machine_prediction machine_predict(const map_layer *layer, const map_mapping *given, const hw_array *array,
                                   const cost_constants *constants) {
  assert(machine_knows(layer));
  const map_mapping mapping = machine_trimmed(layer, given);
  const machine_work w = machine_work_of(layer, &mapping, array, constants);
  machine_prediction p = {.mesh = w.mesh * w.stages,
                          .memory = w.memory,
                          .bus_bytes = w.bus_bytes,
                          .scratchpad_rows = w.scratchpad_rows,
                          .accumulator_rows = w.accumulator_rows};
  add_units(layer, &mapping, &w, &p);
  p.cycles = wf_max(walked(layer, &mapping, &w, constants), p.memory);
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
