// SPDX-License-Identifier: Apache-2.0
// All passes in their order, and how good the result is.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/cost/cost.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/mixed.h"
#include "compiler/quantise/quantise.h"

// ---- comparison with the model

typedef struct sums {
  double signal, noise;
  int64_t rows, same;
} sums;

static int64_t largest(const float *row, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; i++)
    if (row[i] > row[best]) best = i;
  return best;
}

static void compare(sums *s, const graph_tensor *t, const float *expected, const float *got) {
  const int64_t count = graph_elements(t), classes = t->rank == 2 ? t->dim[1] : 0;
  for (int64_t i = 0; i < count; i++) {
    const double error = (double)got[i] - (double)expected[i];
    s->signal += (double)expected[i] * (double)expected[i];
    s->noise += error * error;
  }
  for (int64_t i = 0; classes > 1 && i < count; i += classes) {
    s->rows++;
    s->same += largest(expected + i, classes) == largest(got + i, classes);
  }
}

static void **output_buffers(const graph *g) {
  void **buffers = WF_NEW_ARRAY((size_t)g->output_count + 1, void *);
  for (int i = 0; i < g->output_count; i++) buffers[i] = wf_calloc(graph_bytes(&g->tensors[g->outputs[i]]) + 1, 1);
  return buffers;
}

static void free_buffers(const graph *g, void **buffers) {
  for (int i = 0; i < g->output_count; i++) wf_free(buffers[i]);
  wf_free(buffers);
}

static bool is_comparable(const graph *model, const graph *placed, int output) {
  const graph_tensor *a = &model->tensors[model->outputs[output]], *b = &placed->tensors[placed->outputs[output]];
  return a->type == GRAPH_F32 && b->type == GRAPH_F32 && graph_same_shape(a, b);
}

static bool compare_sample(const graph *model, const graph *placed, const void *const *inputs, sums *all,
                           wf_diag *diag) {
  void **expected = output_buffers(model), **got = output_buffers(placed);
  const graph_run_options options = {.file = model->name};
  const bool ran = graph_run(model, inputs, expected, &options, diag) && graph_run(placed, inputs, got, &options, diag);
  for (int i = 0; ran && i < model->output_count; i++)
    if (is_comparable(model, placed, i)) compare(&all[i], &model->tensors[model->outputs[i]], expected[i], got[i]);
  free_buffers(model, expected);
  free_buffers(placed, got);
  return ran;
}

static bool compare_samples(const graph *model, const graph *placed, const quantise_options *options, sums *all,
                            wf_diag *diag) {
  for (int i = 0; i < options->input_sets; i++)
    if (!compare_sample(model, placed, options->inputs + i * model->input_count, all, diag)) return false;
  const int samples = options->input_sets > 0 ? 0 : options->samples > 0 ? options->samples : 2;
  enum { OTHER_INPUTS = 1000 };  // not the ones of the calibration
  for (int i = 0; i < samples; i++) {
    void **inputs = quantise_random_inputs(model, options->seed + OTHER_INPUTS + (uint64_t)i);
    const bool ran = compare_sample(model, placed, (const void *const *)inputs, all, diag);
    quantise_free_inputs(model, inputs);
    if (!ran) return false;
  }
  return true;
}

quantise_quality *quantise_compare(const graph *model, const graph *placed, const quantise_options *options,
                                   wf_diag *diag) {
  sums *all = WF_NEW_ARRAY((size_t)model->output_count + 1, sums);
  quantise_quality *rows = NULL;
  if (compare_samples(model, placed, options, all, diag)) {
    rows = WF_NEW_ARRAY((size_t)model->output_count + 1, quantise_quality);
    for (int i = 0; i < model->output_count; i++)
      rows[i] = (quantise_quality){.output = model->tensors[model->outputs[i]].name,
                                   .sqnr_db = 10 * log10(all[i].signal / all[i].noise),
                                   .top1 = all[i].rows > 0 ? (double)all[i].same / (double)all[i].rows : -1,
                                   .rows = (int)all[i].rows};
  }
  wf_free(all);
  return rows;
}

// ---- what goes to the normaliser

typedef struct candidates {
  const graph *model;
  const quantise_pins *pins;
  const quantise_ranges *ranges;
  quantise_options options;
  void **inputs, **expected;  // of one sample
  wf_diag *diag;
} candidates;

static bool has_units(const graph *g) {
  for (int n = 0; n < g->node_count; n++) {
    const graph_op op = g->nodes[n].op;
    if (op == GRAPH_OP_QSOFTMAX_UNIT || op == GRAPH_OP_QNORM_UNIT || op == GRAPH_OP_QGELU_UNIT) return true;
  }
  return false;
}

// Signal to noise of the worst output of a graph; -INFINITY if none is a float number, or it cannot be run.
static double quality_of(const candidates *c, const graph *g) {
  sums *all = WF_NEW_ARRAY((size_t)g->output_count + 1, sums);
  void **got = output_buffers(g);
  const graph_run_options options = {.file = g->name};
  double least = INFINITY;
  const bool ran = graph_run(g, (const void *const *)c->inputs, got, &options, c->diag);
  for (int o = 0; ran && o < g->output_count; o++) {
    if (!is_comparable(c->model, g, o)) continue;
    compare(&all[o], &c->model->tensors[c->model->outputs[o]], c->expected[o], got[o]);
    least = fmin(least, 10 * log10(all[o].signal / fmax(all[o].noise, 1e-30)));
  }
  free_buffers(g, got);
  wf_free(all);
  return ran && isfinite(least) ? least : -INFINITY;
}

static graph *candidate(const candidates *c, unsigned kinds) {
  quantise_options options = c->options;
  options.unit_kinds = kinds;
  options.int8_ends = false;  // float ends can be compared
  return quantise_convert(c->model, c->pins, c->ranges, &options, c->diag);
}

// Cycles of a node whose rows the normaliser could compute and does not, roughly.
static double cycles_of_node(const graph *g, const graph_node *node) {
  const graph_tensor *y = &g->tensors[node->outputs[0]];
  const double elements = (double)graph_elements(y);
  const double rows = y->rank == 0 || elements == 0 ? 0 : elements / (double)y->dim[y->rank - 1];
  switch (node->op) {
    case GRAPH_OP_QSOFTMAX:
      return cost_fitted.hart_row * rows + cost_fitted.hart_softmax * elements;
    case GRAPH_OP_QLAYER_NORM:
      return cost_fitted.hart_row * rows + cost_fitted.hart_norm * elements;
    case GRAPH_OP_QNORM_MESH:
      return cost_fitted.hart_row * rows + cost_fitted.mesh_norm * elements;
    case GRAPH_OP_QHEADROOM:
      return cost_fitted.hart_headroom * (double)graph_elements(&g->tensors[node->inputs[0]]);
    case GRAPH_OP_QSHARE:
      return cost_fitted.hart_share * elements;
    case GRAPH_OP_QLUT:
      return cost_fitted.hart_table * elements;
    case GRAPH_OP_QCURVE:
      return cost_fitted.mesh_curve * elements;
    default:
      return 0;
  }
}

static double cycles_of(const graph *g) {
  double cycles = 0;
  for (int n = 0; n < g->node_count; n++) cycles += cycles_of_node(g, &g->nodes[n]);
  return cycles;
}

typedef struct tried {
  unsigned kinds;
  double quality, cycles;
} tried;

static tried try_kinds(const candidates *c, unsigned kinds) {
  tried t = {.kinds = kinds, .quality = -INFINITY};
  graph *g = candidate(c, kinds);
  if (g == NULL) return t;
  t.quality = quality_of(c, g);
  t.cycles = cycles_of(g);
  graph_destroy(g);
  return t;
}

// Of two that are good enough the one that takes less time, else the better one.
static bool is_preferred(const tried *a, const tried *b, double enough) {
  if (a->quality >= enough && b->quality >= enough) return a->cycles < b->cycles;
  return a->quality > b->quality;
}

// Takes away one kind after the other until what is left loses little.
static void choose(const candidates *c, quantise_choice *choice) {
  const tried hart = try_kinds(c, 0);
  tried now = try_kinds(c, QUANTISE_UNIT_ALL);
  const double enough = hart.quality - QUANTISE_UNIT_LOSS;
  choice->hart_db = hart.quality;
  choice->all_db = now.quality;
  while (now.kinds != 0 && !(now.quality >= enough)) {
    tried best = {.kinds = 0, .quality = -INFINITY};
    for (unsigned kind = 1; kind < QUANTISE_UNIT_ALL; kind *= 2) {
      if ((now.kinds & kind) == 0) continue;
      const unsigned without = now.kinds & ~kind;
      const tried next = without == 0 ? hart : try_kinds(c, without);
      if (best.quality == -INFINITY || is_preferred(&next, &best, enough)) best = next;
    }
    now = best;
  }
  choice->kinds = now.kinds;
  choice->unit_db = now.quality;
}

static bool measure(candidates *c, quantise_choice *choice) {
  enum { MEASURED_ON = 2000 };  // neither the inputs of the calibration nor those of a comparison
  const quantise_options *o = &c->options;
  void **random = o->input_sets > 0 ? NULL : quantise_random_inputs(c->model, o->seed + MEASURED_ON);
  c->inputs = o->input_sets > 0 ? (void **)(uintptr_t)o->inputs : random;
  c->expected = output_buffers(c->model);
  const graph_run_options options = {.file = c->model->name};
  const bool ran = graph_run(c->model, (const void *const *)c->inputs, c->expected, &options, c->diag);
  if (ran) choose(c, choice);
  free_buffers(c->model, c->expected);
  if (random != NULL) quantise_free_inputs(c->model, random);
  return ran;
}

static bool choose_units(const graph *model, const quantise_pins *pins, const quantise_ranges *ranges,
                         quantise_options *options, wf_diag *diag) {
  candidates c = {.model = model, .pins = pins, .ranges = ranges, .options = *options, .diag = diag};
  quantise_choice choice = {0};
  graph *all = candidate(&c, QUANTISE_UNIT_ALL);
  if (all == NULL) return false;
  choice.measured = has_units(all);
  graph_destroy(all);
  if (choice.measured && !measure(&c, &choice)) return false;
  options->unit_kinds = choice.kinds;
  if (options->choice != NULL) *options->choice = choice;
  return true;
}

// ---- caches

static bool has_packed_cache(const graph *g) {
  for (int n = 0; n < g->node_count; n++)
    if (g->nodes[n].op == GRAPH_OP_QWIDEN4) return true;
  return false;
}

static bool quality_with(const candidates *c, quantise_cache cache, double *db) {
  candidates with = *c;
  with.options.cache = cache;
  graph *g = candidate(&with, c->options.unit_kinds);
  if (g == NULL) return false;
  *db = quality_of(&with, g);
  graph_destroy(g);
  return true;
}

static bool measure_cache(const graph *model, const quantise_pins *pins, const quantise_ranges *ranges,
                          const quantise_options *options, wf_diag *diag) {
  enum { MEASURED_ON = 3000 };  // as above
  candidates c = {.model = model, .pins = pins, .ranges = ranges, .options = *options, .diag = diag};
  void **random = options->input_sets > 0 ? NULL : quantise_random_inputs(model, options->seed + MEASURED_ON);
  c.inputs = random == NULL ? (void **)(uintptr_t)options->inputs : random;
  c.expected = output_buffers(model);
  const graph_run_options run = {.file = model->name};
  quantise_cache_quality *q = options->cache_quality;
  q->measured = graph_run(model, (const void *const *)c.inputs, c.expected, &run, diag) &&
                quality_with(&c, QUANTISE_CACHE_INT8, &q->int8_db) &&
                quality_with(&c, QUANTISE_CACHE_INT4, &q->int4_db);
  free_buffers(model, c.expected);
  if (random != NULL) quantise_free_inputs(model, random);
  return q->measured;
}

// Whether a graph that shall have a cache of int4 has one.
static bool check_cache(const graph *quantised, const quantise_options *options, wf_diag *diag) {
  if (options->cache != QUANTISE_CACHE_INT4 || has_packed_cache(quantised)) return true;
  wf_error(diag, wf_in_file(quantised->name), "no input is a cache of keys or values");
  wf_hint(diag, "a cache is the second operand of products alone, in rows of an even width (decoders have --past N)");
  return false;
}

// ---- what stays in float

static bool choose_kept(graph *model, const quantise_pins *pins, const quantise_ranges *ranges,
                        quantise_options *options, wf_diag *diag) {
  quantise_mixed mixed = {.model = model, .pins = pins, .ranges = ranges, .options = *options};
  if (options->least_db > 0) {
    if (!quantise_choose_kept(&mixed, diag)) return false;
    options->keep = mixed.options.keep;
    options->keep_count = mixed.options.keep_count;
  }
  if (options->kept != NULL)
    *options->kept =
        (quantise_kept){options->keep, options->keep_count, options->least_db > 0, mixed.first_db, mixed.last_db};
  return true;
}

// ---- all passes

graph *quantise_network(graph *model, const quantise_options *asked, quantise_stage stage, wf_diag *diag) {
  quantise_pins pins;
  quantise_ranges ranges;
  quantise_options options = *asked;
  if (!quantise_check(model, diag) || !quantise_prepare(model, &pins, diag)) return NULL;
  if (stage == QUANTISE_STAGE_MODEL) return model;
  if (!quantise_calibrate(model, &options, &ranges, diag)) return NULL;
  if (!quantise_check_kept(model, &options, diag) || !choose_kept(model, &pins, &ranges, &options, diag)) return NULL;
  if (options.target.unit_columns > 0 && !choose_units(model, &pins, &ranges, &options, diag)) return NULL;
  graph *quantised = quantise_convert(model, &pins, &ranges, &options, diag);
  const bool measured = quantised != NULL && options.cache != QUANTISE_CACHE_AS_ALL && options.cache_quality != NULL;
  if (quantised == NULL || stage == QUANTISE_STAGE_QUANTISED) return quantised;
  quantise_place(quantised, &options);
  if (graph_verify(quantised, diag) && check_cache(quantised, &options, diag) &&
      (!measured || measure_cache(model, &pins, &ranges, &options, diag)))
    return quantised;
  graph_destroy(quantised);
  return NULL;
}
