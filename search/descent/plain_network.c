// SPDX-License-Identifier: Apache-2.0
// A network of the plain model over a tape: minimal hardware from what the layers need, cycles and energy of each
// layer on it, and the objective. paper.c of search/model has the same for one network at a time.
//
// Maxima (over the needs of layers, over the bounds of cycles) are smooth, taken of logarithms: at temperature T they
// are too large by at most n^T, so that every layer near the maximum feels it.
#include <math.h>

#include "base/alloc.h"
#include "search/descent/plain.h"

const char *const descent_plain_objective_names[PLAIN_OBJECTIVES] = {"edp", "latency", "energy", "area-delay"};

descent_plain_silicon descent_plain_silicon_of(const descent_goal *goal) {
  return goal->silicon.clock_mhz > 0 ? goal->silicon : PLAIN_SILICON_DEFAULTS;
}

double descent_plain_area_mm2(const descent_plain_silicon *s, const paper_hardware *h) {
  return 1e-6 * (s->pe_um2 * h->side * h->side + s->scratchpad_um2_per_kib * h->scratchpad_kib +
                 s->accumulator_um2_per_kib * h->accumulator_kib);
}

// uJ x MHz / cycles = W
double descent_plain_power_mw(const descent_plain_silicon *s, paper_cost cost) {
  return 1e3 * cost.energy_uj * s->clock_mhz / cost.cycles;
}

typedef struct builder {
  tape *tape;
  const descent_goal *goal;
  const paper_constants *constants;
  const layers_network *network;
  const bool *fixed;
  tape_ref *fields;  // of all layers
  tape_ref temperature, penalty_weight, bounds[PLAIN_SIZES], penalty;
  tape_ref log_side, log_scratchpad, log_accumulator;  // hardware, KiB
  tape_ref area;                                       // mm2
  tape_ref side, scratchpad_pj, accumulator_pj, scratchpad_rate, register_rate;
} builder;

static tape_ref field(const builder *b, size_t layer, descent_plain_output which) {
  return b->fields[descent_plain_network_input(layer, which)];
}
static tape_ref mul(const builder *b, tape_ref x, tape_ref y) { return tape_mul(b->tape, x, y); }
static tape_ref add(const builder *b, tape_ref x, tape_ref y) { return tape_add(b->tape, x, y); }
static tape_ref constant(const builder *b, double value) { return tape_constant(b->tape, value); }
static tape_ref at_least_1(const builder *b, tape_ref x) { return tape_max(b->tape, x, constant(b, 1)); }

// log max over all layers of a field.
static tape_ref largest(const builder *b, descent_plain_output which, descent_plain_output also) {
  const size_t n = b->network->count;
  tape_ref *logs = wf_alloc(2 * n, sizeof *logs);
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    logs[count++] = tape_log(b->tape, field(b, i, which));
    if (also != which) logs[count++] = tape_log(b->tape, field(b, i, also));
  }
  const tape_ref top = tape_smooth_max(b->tape, logs, count, b->temperature);
  wf_free(logs);
  return top;
}

// What a need (a logarithm) makes of the hardware: itself, or the size that is fixed. What exceeds the bound is
// penalised by its square.
static tape_ref sized(builder *b, tape_ref need, descent_plain_size size) {
  const tape_ref over = tape_max(b->tape, tape_sub(b->tape, need, b->bounds[size]), constant(b, 0));
  b->penalty = add(b, b->penalty, mul(b, over, over));
  return b->fixed[size] ? b->bounds[size] : need;
}

static void size_hardware(builder *b) {
  const tape_ref side = tape_max(b->tape, largest(b, PLAIN_rows, PLAIN_columns), constant(b, log(2)));
  b->log_side = sized(b, side, PLAIN_SIDE_SIZE);
  const tape_ref words = largest(b, PLAIN_scratchpad_words, PLAIN_scratchpad_words);
  b->log_scratchpad = sized(b, tape_offset(b->tape, words, -log(1024)), PLAIN_SCRATCHPAD_SIZE);
  const tape_ref column = tape_offset(b->tape, largest(b, PLAIN_column_words, PLAIN_column_words), log(4.0 / 1024));
  b->log_accumulator = sized(b, add(b, column, b->log_side), PLAIN_ACCUMULATOR_SIZE);
}

static void price_hardware(builder *b) {
  const paper_constants *c = b->constants;
  b->side = tape_exp(b->tape, b->log_side);
  const tape_ref column_kib = tape_exp(b->tape, tape_sub(b->tape, b->log_accumulator, b->log_side));
  const tape_ref kib = tape_exp(b->tape, b->log_scratchpad);
  b->accumulator_pj = tape_offset(b->tape, tape_scale(b->tape, column_kib, c->energy_pj.accumulator_per_kib_of_column),
                                  c->energy_pj.accumulator);
  b->scratchpad_pj =
      tape_offset(b->tape, tape_scale(b->tape, kib, c->energy_pj.scratchpad_per_kib), c->energy_pj.scratchpad);
  const descent_plain_silicon silicon = descent_plain_silicon_of(b->goal);
  b->area = tape_scale(b->tape, mul(b, b->side, b->side), 1e-6 * silicon.pe_um2);
  b->area = add(b, b->area, tape_scale(b->tape, kib, 1e-6 * silicon.scratchpad_um2_per_kib));
  b->area = add(b, b->area,
                tape_scale(b->tape, tape_exp(b->tape, b->log_accumulator), 1e-6 * silicon.accumulator_um2_per_kib));
  b->scratchpad_rate = tape_scale(b->tape, b->side, c->words_per_cycle.scratchpad_per_row);
  b->register_rate =
      tape_offset(b->tape, tape_scale(b->tape, mul(b, b->side, b->side), c->words_per_cycle.registers_per_pe),
                  c->words_per_cycle.registers);
}

typedef struct accesses {
  tape_ref macs, registers, accumulator, scratchpad, dram;
} accesses;

static accesses accesses_of(const builder *b, size_t i) {
  const int64_t *size = b->network->layers[i].size;
  const double results = (double)(size[BLOCK_DIM_N] * size[BLOCK_DIM_P] * size[BLOCK_DIM_Q] * size[BLOCK_DIM_K]);
  const tape_ref macs = constant(b, layers_product_macs(&b->network->layers[i]));
  const tape_ref fill0 = field(b, i, PLAIN_weight_fills0), fill1 = field(b, i, PLAIN_result_fills1);
  const tape_ref loads = add(b, field(b, i, PLAIN_weight_fills2), field(b, i, PLAIN_input_fills2));
  const tape_ref updates = tape_div(b->tape, macs, field(b, i, PLAIN_rows));
  const tape_ref reads = tape_div(b->tape, macs, field(b, i, PLAIN_columns));
  return (accesses){
      .macs = macs,
      .registers = at_least_1(b, add(b, macs, fill0)),
      .accumulator = at_least_1(b, add(b, tape_offset(b->tape, tape_scale(b->tape, updates, 2), -results), fill1)),
      .scratchpad = at_least_1(b, add(b, add(b, fill0, reads), loads)),
      .dram = at_least_1(b, add(b, loads, tape_offset(b->tape, tape_scale(b->tape, fill1, 2), -results))),
  };
}

static tape_ref cycles_of(const builder *b, size_t i, const accesses *a) {
  const paper_constants *c = b->constants;
  const tape_ref rows = field(b, i, PLAIN_rows), columns = field(b, i, PLAIN_columns);
  const tape_ref accumulator_rate = add(b, tape_scale(b->tape, columns, c->words_per_cycle.accumulator_per_used_column),
                                        tape_scale(b->tape, b->side, c->words_per_cycle.accumulator_per_column));
  const tape_ref bounds[] = {
      tape_div(b->tape, a->macs, mul(b, rows, columns)),         tape_div(b->tape, a->registers, b->register_rate),
      tape_div(b->tape, a->accumulator, accumulator_rate),       tape_div(b->tape, a->scratchpad, b->scratchpad_rate),
      tape_scale(b->tape, a->dram, 1 / c->words_per_cycle.dram),
  };
  enum { BOUNDS = sizeof bounds / sizeof *bounds };
  tape_ref logs[BOUNDS];
  for (int n = 0; n < BOUNDS; n++) logs[n] = tape_log(b->tape, bounds[n]);
  return tape_exp(b->tape, tape_smooth_max(b->tape, logs, BOUNDS, b->temperature));
}

static tape_ref energy_of(const builder *b, const accesses *a) {
  const paper_constants *c = b->constants;
  tape_ref pj = tape_scale(b->tape, a->macs, c->energy_pj.mac);
  pj = add(b, pj, tape_scale(b->tape, a->registers, c->energy_pj.registers));
  pj = add(b, pj, mul(b, a->accumulator, b->accumulator_pj));
  pj = add(b, pj, mul(b, a->scratchpad, b->scratchpad_pj));
  pj = add(b, pj, tape_scale(b->tape, a->dram, c->energy_pj.dram));
  return tape_scale(b->tape, pj, 1e-6);
}

static tape_ref objective_of(const builder *b, tape_ref cycles, tape_ref energy) {
  switch (b->goal->objective) {
    case PLAIN_LATENCY:
      return tape_log(b->tape, cycles);
    case PLAIN_ENERGY:
      return tape_log(b->tape, energy);
    case PLAIN_AREA_DELAY:
      return add(b, tape_log(b->tape, cycles), tape_log(b->tape, b->area));
    default:
      return add(b, tape_log(b->tape, cycles), tape_log(b->tape, energy));
  }
}

static void bound(builder *b, tape_ref logarithm, double limit) {
  if (limit <= 0) return;
  const tape_ref over = tape_max(b->tape, tape_offset(b->tape, logarithm, -log(limit)), constant(b, 0));
  b->penalty = add(b, b->penalty, mul(b, over, over));
}

// The bounds on area and power.
static void bound_whole(builder *b, tape_ref cycles, tape_ref energy) {
  const descent_plain_silicon silicon = descent_plain_silicon_of(b->goal);
  bound(b, tape_log(b->tape, b->area), b->goal->area_mm2_max);
  const tape_ref watts = tape_sub(b->tape, tape_log(b->tape, energy), tape_log(b->tape, cycles));
  bound(b, tape_offset(b->tape, watts, log(1e3 * silicon.clock_mhz)), b->goal->power_mw_max);
}

static void declare_inputs(builder *b) {
  const size_t count = b->network->count * PLAIN_OUTPUTS;
  b->fields = wf_alloc(count + 1, sizeof *b->fields);
  for (size_t n = 0; n < count; n++) b->fields[n] = tape_variable(b->tape);
  b->temperature = tape_parameter(b->tape);
  b->penalty_weight = tape_parameter(b->tape);
  for (int n = 0; n < PLAIN_SIZES; n++) b->bounds[n] = tape_parameter(b->tape);
  b->penalty = constant(b, 0);
}

descent_plain_network descent_plain_network_create(const descent_goal *goal, const bool fixed[PLAIN_SIZES]) {
  const layers_network *network = goal->network;
  builder b = {.tape = tape_create(), .goal = goal, .constants = goal->constants, .network = network, .fixed = fixed};
  declare_inputs(&b);
  size_hardware(&b);
  price_hardware(&b);
  tape_ref *outputs = wf_alloc(PLAIN_NETWORK_OUTPUTS + 2 * network->count, sizeof *outputs);
  tape_ref cycles = constant(&b, goal->rest.cycles), energy = constant(&b, goal->rest.energy_uj);
  for (size_t i = 0; i < network->count; i++) {
    const accesses a = accesses_of(&b, i);
    const double count = layers_products(&network->layers[i]);
    outputs[descent_plain_layer_cycles(i)] = cycles_of(&b, i, &a);
    outputs[descent_plain_layer_energy(i)] = energy_of(&b, &a);
    cycles = add(&b, cycles, tape_scale(b.tape, outputs[descent_plain_layer_cycles(i)], count));
    energy = add(&b, energy, tape_scale(b.tape, outputs[descent_plain_layer_energy(i)], count));
  }
  bound_whole(&b, cycles, energy);
  outputs[PLAIN_LOSS] = add(&b, objective_of(&b, cycles, energy), mul(&b, b.penalty_weight, b.penalty));
  outputs[PLAIN_CYCLES] = cycles;
  outputs[PLAIN_ENERGY_UJ] = energy;
  outputs[PLAIN_SIDE] = b.side;
  outputs[PLAIN_SCRATCHPAD_KIB] = tape_exp(b.tape, b.log_scratchpad);
  outputs[PLAIN_ACCUMULATOR_KIB] = tape_exp(b.tape, b.log_accumulator);
  outputs[PLAIN_AREA_MM2] = b.area;
  descent_plain_network result = {.layer_count = network->count,
                                  .program = tape_compile(b.tape, outputs, PLAIN_NETWORK_OUTPUTS + 2 * network->count)};
  tape_destroy(b.tape);
  wf_free(b.fields);
  wf_free(outputs);
  return result;
}

void descent_plain_network_release(descent_plain_network *n) {
  tape_program_destroy(n->program);
  n->program = NULL;
}
