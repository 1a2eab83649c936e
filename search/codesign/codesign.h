// SPDX-License-Identifier: Apache-2.0
// Joint search of the whole machine: any parameter of the array that a space leaves open, with the mappings of every
// layer, for one or several networks together (docs/codesign.md).
//
// Points of the space climb a ladder: the model of the machine, engine flow, engine cycle. What a rung says corrects
// the rung below it, by layer and by how near points are; the point and the rung with the largest expected improvement
// for their cost go next. The answer is a point that engine cycle ran; with mixes (`fuse`) whole networks did.
#ifndef SEARCH_CODESIGN_CODESIGN_H
#define SEARCH_CODESIGN_CODESIGN_H

#include "base/stop.h"
#include "search/codesign/space.h"
#include "search/layers/layers.h"
#include "search/predict/table.h"
#include "search/truth/program.h"
#include "search/truth/runs.h"

// ---- what it is to be good at

// X(NAME, "name", exponents of latency, energy and area, "unit"): the product of their powers is to be least.
#define CODESIGN_OBJECTIVES(X)              \
  X(EDAP, "edap", 1, 1, 1, "uJ x ms x mm2") \
  X(EDP, "edp", 1, 1, 0, "uJ x ms")         \
  X(LATENCY, "latency", 1, 0, 0, "ms")      \
  X(ENERGY, "energy", 0, 1, 0, "uJ")        \
  X(AREA, "area", 0, 0, 1, "mm2")           \
  X(THROUGHPUT, "throughput-per-mm2", 1, 0, 1, "ms x mm2, the less the better")
typedef enum {
#define X(NAME, ...) CODESIGN_##NAME,
  CODESIGN_OBJECTIVES(X)
#undef X
      CODESIGN_OBJECTIVE_COUNT
} codesign_objective;
extern const char *const codesign_objective_names[CODESIGN_OBJECTIVE_COUNT];
extern const char *const codesign_objective_units[CODESIGN_OBJECTIVE_COUNT];
bool codesign_objective_named(const char *name, codesign_objective *objective);

// Of all networks, each with its weight; energies are of the whole (docs/energy.md).
typedef struct codesign_cost {
  double cycles, ms, energy_uj, area_mm2;
} codesign_cost;
double codesign_value(codesign_objective objective, codesign_cost cost);

typedef struct codesign_bounds {
  double area_mm2, latency_ms, power_mw;  // 0: none. Power is energy over time, without leakage
} codesign_bounds;
bool codesign_within(const codesign_bounds *bounds, codesign_cost cost);

// ---- how

// How points are proposed; the ladder is the same for all.
#define CODESIGN_METHODS(X)                                                          \
  X(GRADIENT, "gradient")     /* what engine flow says that cycles depend on */      \
  X(MACHINE, "machine")       /* what the model of the machine says they do */       \
  X(NEIGHBOURS, "neighbours") /* steps of one axis from the best, in random order */ \
  X(EVOLUTION, "evolution")   /* crossed and changed */                              \
  X(RANDOM, "random")
typedef enum {
#define X(NAME, name) CODESIGN_##NAME,
  CODESIGN_METHODS(X)
#undef X
      CODESIGN_METHOD_COUNT
} codesign_method;
extern const char *const codesign_method_names[CODESIGN_METHOD_COUNT];
bool codesign_method_named(const char *name, codesign_method *method);

typedef struct codesign_network {
  const layers_network *table;
  const layers_program *program;  // of which it is the table; NULL: of none
  double weight;
} codesign_network;

typedef struct codesign_options {
  const codesign_space *space;
  const codesign_network *networks;
  size_t network_count;
  codesign_objective objective;
  codesign_objective second;  // of a front, if `front` is set
  bool front;
  codesign_bounds bounds;
  codesign_method method;
  // One of them: runs of all layers on engine cycle, with the other rungs in proportion, or seconds of processors. The
  // result depends on the seed alone only with the first.
  double simulations, seconds;
  uint64_t seed;
  unsigned jobs;             // 0: one for each processor
  truth_runs *runs;          // that several searches share; NULL: its own
  predict_table *predicted;  // likewise
  network_fuse_mode fuse;    // auto: whole networks run, neighbouring steps mixed where that is better,
  unsigned whole;            // on so many points at most
  bool plain_model;          // the first rung is the model as it is, without what is learned of it
  const hw_tech *tech;       // NULL: the array's
  const wf_stop *stop;
  void (*progress)(void *context, const char *text);  // may be NULL
  void *context;
} codesign_options;

// ---- what comes out

typedef enum { CODESIGN_MODEL, CODESIGN_FLOW, CODESIGN_CYCLE, CODESIGN_RUNGS } codesign_rung;
extern const char *const codesign_rung_names[CODESIGN_RUNGS];

typedef struct codesign_figure {
  double cycles, energy_uj;
} codesign_figure;

// A layer of the networks: equal ones are one.
typedef struct codesign_layer {
  const char *name;
  map_layer layer;
  double times;  // how often, times the weights of its networks
  double macs;   // of one
} codesign_layer;

// Cycles of all networks by the named weights of engine flow (sim/flow/weights.def), and what one more of a depth
// saves.
typedef struct codesign_account {
  double cycles[SIM_FLOW_WEIGHTS], saves[SIM_FLOW_WEIGHTS];
} codesign_account;

// A point that was looked at.
typedef struct codesign_site {
  codesign_point point;
  hw_array array;
  double area_mm2;
  unsigned rungs;  // how many it has climbed
  bool failed;     // a layer cannot be mapped, or the accelerator stopped
  char reason[WORK_REASON + 64];
  codesign_figure *layers[CODESIGN_RUNGS];
  codesign_cost cost[CODESIGN_RUNGS];
  map_mapping *mappings;     // of each layer, as the model prefers it; from engine flow on what ran best
  bool *mapped;              // whether that is other than the mapper's
  codesign_account account;  // from engine flow on
  double *slopes;            // of cycles by parameters (search/model/machine_slope.h); NULL: not asked for
  double mean, spread;       // of the logarithm of its value on engine cycle, as is believed now
  unsigned proposals;        // made from it
  bool ran_whole;            // all networks did: with mixes, and without
  codesign_cost whole, apart;
} codesign_site;

// A network as `weft sim` runs it.
typedef struct codesign_whole {
  bool known;  // it is a program
  truth_program_run run;
} codesign_whole;

typedef struct codesign_event {
  size_t site;
  codesign_rung rung;
  bool whole;           // behind all rungs: whole networks
  double mean, spread;  // as was believed before
  double value;         // of the objective by this rung; INFINITY: it failed
  double best;          // by engine cycle, so far; of whole networks among these
  double spent, seconds;
} codesign_event;

typedef struct codesign_result {
  codesign_layer *layers;
  size_t layer_count;
  codesign_site *sites;  // the first is the space's base
  size_t count, room;
  size_t best;  // SIZE_MAX: none ran within the bounds
  codesign_event *events;
  size_t event_count, event_room;
  size_t tried[CODESIGN_RUNGS];
  double spent, seconds;  // seconds of processors
  double chance;          // that a point which was looked at is better by more than 1 %, as is believed at the end
  size_t *front;          // sites of the front, by the first objective
  size_t front_count;
  double hypervolume;
  codesign_whole *wholes;  // of each network on the best
  size_t whole_count;
  size_t whole_tried;  // points
  size_t whole_first;  // the best layer by layer
  bool settled;        // it ended because the chance was small, not because the budget was spent
} codesign_result;

// False after an error was reported: nothing in the space runs.
bool codesign_search(const codesign_options *options, codesign_result *result, wf_diag *diag);
void codesign_release(codesign_result *result);

// Every point of a small space on engine cycle, with the mappings that the ladder would choose: the values of an
// objective by the number of the point, INFINITY where it cannot be built or run. `values` has codesign_space_points.
void codesign_enumerate(const codesign_options *options, double *values);

// ---- what a parameter is worth

typedef struct codesign_change {
  size_t axis, at;       // another value of an axis
  bool known;            // engine flow has weights for it
  double latency, area;  // relative change: 0.01 is 1 % more
  double value;          // of the objective, at first order
  const char *weight;    // the key of the largest weight; NULL: none
} codesign_change;

// Changes of one axis from a site that has climbed to engine flow; false past the last. The value that it has is left
// out.
bool codesign_change_at(const codesign_options *options, const codesign_site *site, size_t index,
                        codesign_change *change);

#endif
