// SPDX-License-Identifier: Apache-2.0
// All passes in their order, and how good the result is.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/quantise.h"

graph *quantise_network(graph *model, const quantise_options *options, quantise_stage stage, wf_diag *diag) {
  quantise_pins pins;
  quantise_ranges ranges;
  if (!quantise_prepare(model, &pins, diag)) return NULL;
  if (stage == QUANTISE_STAGE_MODEL) return model;
  if (!quantise_calibrate(model, options, &ranges, diag)) return NULL;
  graph *quantised = quantise_convert(model, &pins, &ranges, options, diag);
  if (quantised == NULL || stage == QUANTISE_STAGE_QUANTISED) return quantised;
  quantise_place(quantised, options);
  if (graph_verify(quantised, diag)) return quantised;
  graph_destroy(quantised);
  return NULL;
}

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
