// SPDX-License-Identifier: Apache-2.0
// See machine_slope.h: the array's numbers, and the whole of the prediction. The units are machine_traced.c.
#include "search/model/machine_slope.h"

#include <assert.h>
#include <math.h>

#include "search/model/machine_traced.h"

const char *const machine_axis_parameters[MACHINE_AXES] = {
#define AXIS(NAME, parameter, ...) parameter,
#include "search/model/machine_axes.def"
#undef AXIS
};

double machine_axis_value(const hw_array *array, machine_axis axis) {
  if (axis == MACHINE_AXIS_SIDE) return hw_derive(array).dim;
  return hw_param_get(array, hw_param_find(machine_axis_parameters[axis]));
}

bool machine_axis_counts(const hw_array *array, machine_axis axis) {
  const bool fixed = array->memory.model == HW_MEMORY_FIXED;
  if (axis == MACHINE_AXIS_LATENCY) return fixed;
  if (axis == MACHINE_AXIS_PATH || axis == MACHINE_AXIS_CONTROLLER || axis == MACHINE_AXIS_MEMORY_CLOCK) return !fixed;
  if (axis == MACHINE_AXIS_WRITES) return !array->l2.present;
  const bool of_l2 =
      axis == MACHINE_AXIS_L2_CAPACITY || axis == MACHINE_AXIS_L2_REGISTERS || axis == MACHINE_AXIS_L2_LATENCY;
  return !of_l2 || array->l2.present;
}

// ---- what follows from the array (compiler/cost/constants.c, memory.c)

static tape_number dram_latency(const machine_traced *t) {
  const hw_array *a = t->x->cost.array;
  const cost_constants *c = t->x->cost.c;
  if (a->memory.model == HW_MEMORY_FIXED) return t->axis[MACHINE_AXIS_LATENCY];
  const tape_number nanoseconds = offset(t, t->axis[MACHINE_AXIS_CONTROLLER],
                                         a->memory.model == HW_MEMORY_DDR3 ? c->ddr3_line_ns : c->ddr4_line_ns);
  const tape_number cycles = scaled(t, by(t, nanoseconds, t->axis[MACHINE_AXIS_MEMORY_CLOCK]), 1e-3);
  return plus(t, cycles, t->axis[MACHINE_AXIS_PATH]);
}

static tape_number request_cycles(const machine_traced *t, tape_number bytes) {
  const hw_array *a = t->x->cost.array;
  const cost_constants *c = t->x->cost.c;
  const tape_number moving = over(t, bytes, t->axis[MACHINE_AXIS_BANDWIDTH]);
  if (a->memory.model == HW_MEMORY_FIXED) return moving;
  const double four = a->memory.model == HW_MEMORY_DDR3 ? c->ddr3_four_rows_ns : c->ddr4_four_rows_ns;
  return larger(t, moving, scaled(t, t->axis[MACHINE_AXIS_MEMORY_CLOCK], four / 4000));
}

tape_number machine_trace_line(const machine_traced *t, tape_number bytes) {
  if (t->x->cost.array->l2.present) return scaled(t, t->line_cycles, t->x->cost.c->miss_line);
  return scaled(t, request_cycles(t, bytes), t->x->cost.c->bare_line);
}

// Cycles of a product that no other may be in flight beside; how many may follows the latency in rows of DIM.
static tape_number in_flight_of(const machine_traced *t) {
  const hw_array *a = t->x->cost.array;
  const double dim = t->x->cost.dim, rows = t->x->cost.hw.mesh_latency / dim;
  tape_number products = tape_fixed(t->x->cost.hw.max_matmuls);
  if (a->mesh.max_matmuls == 0)
    products = offset(t, over(t, t->mesh_latency, t->dim), t->x->cost.hw.max_matmuls - rows);
  return over(t, offset(t, t->mesh_latency, t->x->cost.c->pair_cycles), products);
}

// Commands that the load unit tracks, of which each fills DIM requests.
static tape_number tracked_of(const machine_traced *t) {
  const cost_model *m = &t->x->cost;
  const double now = m->array->dma.reads_in_flight / m->dim;
  return offset(t, over(t, t->axis[MACHINE_AXIS_READS], t->dim), m->hw.load_commands_tracked - now);
}

void machine_trace_array(machine_traced *t) {
  const hw_array *a = t->x->cost.array;
  t->dim = t->axis[MACHINE_AXIS_SIDE];
  const tape_number registers = offset(t, t->axis[MACHINE_AXIS_TILE_LATENCY], 1);
  const tape_number down = by(t, scaled(t, t->dim, 1.0 / a->mesh.tile_rows), registers);
  t->mesh_latency = plus(t, plus(t, down, t->dim), t->axis[MACHINE_AXIS_OUTPUT_DELAY]);
  t->in_flight = in_flight_of(t);
  t->tracked = tracked_of(t);
  t->bus = scaled(t, t->axis[MACHINE_AXIS_BUS], 1.0 / 8);
  t->line_cycles = request_cycles(t, tape_fixed(t->x->cost.line));
  const tape_number latency = dram_latency(t);
  t->hit_latency = a->l2.present ? t->axis[MACHINE_AXIS_L2_LATENCY] : offset(t, latency, 1);
  t->miss_latency = t->hit_latency;
  if (a->l2.present) t->miss_latency = offset(t, plus(t, t->hit_latency, latency), t->x->cost.c->miss_latency);
}

// ---- the prediction

// Loads of the whole layer as the compiler assumes them, and how often the operand is filled that is filled most.
static tape_number assumed_loads(const machine_traced *t, double *fills) {
  const cost_model *m = &t->x->cost;
  tape_number loads = tape_fixed(0);
  *fills = 1;
  for (int o = 0; o < MAP_RESULTS; o++) {
    const machine_stream *s = &t->work->load[o];
    const double commands = (double)t->x->f.fills[o] * s->portions * s->commands;
    const tape_number bytes = tape_fixed((double)t->x->f.dram_bytes[o] / m->c->missed_share);
    loads = plus(t, loads, offset(t, over(t, bytes, t->axis[MACHINE_AXIS_BANDWIDTH]), m->c->load_command * commands));
    *fills = wf_max(*fills, (double)t->x->f.fills[o]);
  }
  return loads;
}

// The share of loads that stand just in front of their products (machine_work.c).
static tape_number late_of(const machine_traced *t, tape_number mesh_stage) {
  double fills;
  const tape_number mesh = scaled(t, mesh_stage, t->work->stages);
  const tape_number behind = minus(t, assumed_loads(t, &fills), mesh);
  if (behind.value <= 0 || t->x->m->style != BLOCK_STYLE_PRIMITIVE) return tape_fixed(0);
  return at_least(t, 0, minus(t, tape_fixed(1), over(t, scaled(t, mesh, 1 / fills), behind)));
}

static machine_traced_terms terms_of(const machine_traced *t, tape_number *memory) {
  const cost_constants *c = t->x->cost.c;
  machine_traced_terms k = {.of = {[MACHINE_TERM_FRONT] = tape_fixed(c->front_cycles), [MACHINE_TERM_DIM] = t->dim}};
  tape_number products;
  k.of[MACHINE_TERM_MESH] = machine_trace_mesh(t, &products);
  k.of[MACHINE_TERM_ENTRIES] = over(t, scaled(t, t->axis[MACHINE_AXIS_STATION], 0.5), products);
  k.of[MACHINE_TERM_BIAS] = machine_trace_bias(t);
  k.of[MACHINE_TERM_STORE] = machine_trace_store(t);
  k.of[MACHINE_TERM_LOAD_LATENCY] = offset(t, t->hit_latency, c->load_latency);
  k.of[MACHINE_TERM_DRAIN] = offset(t, t->mesh_latency, c->store_latency);
  *memory = machine_trace_written(t);
  for (int o = 0; o < MAP_RESULTS; o++) machine_trace_stream(t, (map_operand)o, &k, memory);
  k.stream[MAP_WEIGHTS][MACHINE_STREAM_FREE_AFTER] = offset(t, t->mesh_latency, c->weights_free);
  k.stream[MAP_INPUTS][MACHINE_STREAM_FREE_AFTER] = tape_fixed(c->inputs_free);
  return k;
}

static tape_number cycles_of(machine_traced *t, const machine_smooth *s) {
  const map_layer *layer = t->x->layer;
  machine_trace_array(t);
  tape_number memory;
  const machine_traced_terms terms = terms_of(t, &memory);
  const tape_number late = late_of(t, terms.of[MACHINE_TERM_MESH]);
  tape_number early_cycles = tape_fixed(0), late_cycles = tape_fixed(0);
  if (late.value < 1) early_cycles = machine_walk_traced(layer, t->x->m, t->work, false, &terms, s);
  if (late.value > 0) late_cycles = machine_walk_traced(layer, t->x->m, t->work, true, &terms, s);
  const tape_number walked = plus(t, by(t, late, late_cycles), by(t, minus(t, tape_fixed(1), late), early_cycles));
  return larger(t, walked, memory);
}

machine_slope machine_slope_of(const machine_slope_request *q, tape_trace *trace) {
  assert(machine_knows(q->layer));
  const map_mapping mapping = machine_trimmed(q->layer, q->mapping);
  const machine_context x = machine_context_of(q->layer, &mapping, q->array, q->constants);
  const machine_work work = machine_work_in(&x);
  const machine_smooth smooth = {.trace = trace, .share = q->share, .cycles = q->share * work.mesh};
  machine_traced t = {.x = &x, .work = &work, .s = &smooth};
  tape_trace_clear(trace);
  for (int a = 0; a < MACHINE_AXES; a++)
    t.axis[a] = tape_trace_variable(trace, q->values ? q->values[a] : machine_axis_value(q->array, (machine_axis)a));
  const tape_number cycles = cycles_of(&t, &smooth);
  machine_slope slope = {.cycles = cycles.value};
  tape_trace_back(trace, cycles);
  for (int a = 0; a < MACHINE_AXES; a++) slope.by[a] = tape_trace_slope(trace, t.axis[a]);
  return slope;
}
