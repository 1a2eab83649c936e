// SPDX-License-Identifier: Apache-2.0
// Ranges of the tensors of a model graph, and the inputs that it runs on.
//
// A percentile is of the magnitudes over all samples, from a histogram whose cells double in width whenever a larger
// number comes.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/quantise.h"

// ---- random inputs

typedef struct generator {
  uint64_t state;
} generator;

static double next_unit(generator *r) {
  r->state ^= r->state >> 12;
  r->state ^= r->state << 25;
  r->state ^= r->state >> 27;
  return (double)((r->state * UINT64_C(0x2545f4914f6cdd1d)) >> 11) * 0x1p-53;
}

static float next_normal(generator *r) {
  return (float)((next_unit(r) + next_unit(r) + next_unit(r) + next_unit(r) - 2) * 1.7320508075688772);
}

enum { PATCHES = 4 };  // per side of an image

// One plane: patches of random brightness, blended linearly, with a little noise. Planes of plain noise would all look
// alike to a network that pools over them.
static void fill_plane(generator *r, float *plane, int64_t rows, int64_t columns) {
  float corner[PATCHES + 1][PATCHES + 1];
  for (int i = 0; i <= PATCHES; i++)
    for (int k = 0; k <= PATCHES; k++) corner[i][k] = next_normal(r);
  for (int64_t i = 0; i < rows * columns; i++) {
    const float y = (float)(i / columns * PATCHES) / (float)rows, x = (float)(i % columns * PATCHES) / (float)columns;
    const int row = (int)y, column = (int)x;
    const float down = y - (float)row, right = x - (float)column;
    const float upper = corner[row][column] * (1 - right) + corner[row][column + 1] * right;
    const float lower = corner[row + 1][column] * (1 - right) + corner[row + 1][column + 1] * right;
    plane[i] = upper * (1 - down) + lower * down + 0.3F * next_normal(r);
  }
}

static void fill_floats(generator *r, const graph_tensor *t, float *values) {
  const int64_t count = graph_elements(t), plane = t->rank == 4 ? t->dim[2] * t->dim[3] : 0;
  for (int64_t i = 0; t->rank == 4 && i < count; i += plane) fill_plane(r, values + i, t->dim[2], t->dim[3]);
  for (int64_t i = 0; t->rank != 4 && i < count; i++) values[i] = next_normal(r);
}

static void fill_doubles(generator *r, const graph_tensor *t, double *values) {
  for (int64_t i = 0; i < graph_elements(t); i++) values[i] = (double)next_normal(r);
}

// Whole numbers: small ones, since they may be indices.
static void fill_bytes(generator *r, const graph_tensor *t, unsigned char *bytes) {
  const size_t width = graph_type_bytes(t->type);
  for (int64_t i = 0; i < graph_elements(t); i++)
    bytes[(size_t)i * width] = (unsigned char)(next_unit(r) * (width == 1 && t->type != GRAPH_BOOL ? 256 : 2));
}

void **quantise_random_inputs(const graph *g, uint64_t seed) {
  generator r = {seed * UINT64_C(0x9e3779b97f4a7c15) + 0x5851f42d4c957f2d};
  if (r.state == 0) r.state = 1;
  void **inputs = WF_NEW_ARRAY((size_t)g->input_count + 1, void *);
  for (int i = 0; i < g->input_count; i++) {
    const graph_tensor *t = &g->tensors[g->inputs[i]];
    inputs[i] = wf_calloc(graph_bytes(t) + 8, 1);
    if (t->type == GRAPH_F32)
      fill_floats(&r, t, inputs[i]);
    else if (t->type == GRAPH_F64)
      fill_doubles(&r, t, inputs[i]);
    else
      fill_bytes(&r, t, inputs[i]);
  }
  return inputs;
}

void quantise_free_inputs(const graph *g, void **inputs) {
  for (int i = 0; i < g->input_count; i++) wf_free(inputs[i]);
  wf_free(inputs);
}

// ---- ranges

enum { CELLS = 2048 };

typedef struct histogram {
  float top;  // of the last cell
  uint32_t cell[CELLS];
} histogram;

typedef struct watch {
  quantise_ranges *ranges;
  histogram *histograms;  // per tensor, or NULL
} watch;

static void widen(histogram *h) {
  for (int i = 0; i < CELLS; i++) h->cell[i] = i < CELLS / 2 ? h->cell[2 * i] + h->cell[2 * i + 1] : 0;
  h->top *= 2;
}

static void count_magnitudes(histogram *h, const float *values, int64_t count, float largest) {
  if (largest <= 0 || isinf(largest)) return;
  if (h->top <= 0) h->top = largest;
  while (h->top < largest) widen(h);
  const float factor = (float)CELLS / h->top;
  for (int64_t i = 0; i < count; i++) {
    const float place = fabsf(values[i]) * factor;
    h->cell[place < CELLS ? (int)place : CELLS - 1]++;
  }
}

static void see(watch *w, const graph *g, int tensor, const float *values) {
  quantise_ranges *r = w->ranges;
  const int64_t count = graph_elements(&g->tensors[tensor]);
  float low = FLT_MAX, high = -FLT_MAX;
  for (int64_t i = 0; i < count; i++) {
    low = values[i] < low ? values[i] : low;
    high = values[i] > high ? values[i] : high;
  }
  if (count == 0) return;
  if (low > high) low = high = INFINITY;  // no element is a number
  const float largest = fmaxf(fabsf(low), fabsf(high));
  const bool first = r->magnitude[tensor] < 0;
  r->low[tensor] = first ? low : fminf(low, r->low[tensor]);
  r->high[tensor] = first ? high : fmaxf(high, r->high[tensor]);
  r->magnitude[tensor] = fmaxf(largest, r->magnitude[tensor]);
  if (w->histograms != NULL) count_magnitudes(&w->histograms[tensor], values, count, largest);
}

// Of rows of a layer norm's input. Rows of one number have no deviation.
static void see_rows(quantise_deviation *d, const float *x, int64_t count, int64_t width) {
  for (int64_t row = 0; row + width <= count; row += width, x += width) {
    double sum = 0, squares = 0, most = 0;
    for (int64_t i = 0; i < width; i++) sum += (double)x[i];
    const double mean = sum / (double)width;
    for (int64_t i = 0; i < width; i++) {
      const double distance = fabs((double)x[i] - mean);
      squares += distance * distance;
      most = fmax(most, distance);
    }
    const double deviation = sqrt(squares / (double)width);
    if (!(deviation > 0)) continue;
    d->largest = fmaxf(d->largest, (float)(most / deviation));
    d->widest = fmaxf(d->widest, (float)deviation);
    d->narrowest = d->narrowest > 0 ? fminf(d->narrowest, (float)deviation) : (float)deviation;
  }
}

static void see_norm(const watch *w, const graph *g, const graph_node *node, void *const *values) {
  const graph_tensor *x = &g->tensors[node->inputs[0]];
  const float *from = x->data != NULL ? x->data : values[node->inputs[0]];
  if (node->op != GRAPH_OP_LAYER_NORMALIZATION || x->type != GRAPH_F32 || x->rank == 0 || from == NULL) return;
  see_rows(&w->ranges->deviation[node->outputs[0]], from, graph_elements(x), x->dim[x->rank - 1]);
}

static bool after_node(void *context, const graph *g, const graph_node *node, void *const *values) {
  for (int i = 0; i < node->output_count; i++) {
    const int t = node->outputs[i];
    if (t != GRAPH_NONE && g->tensors[t].type == GRAPH_F32 && values[t] != NULL) see(context, g, t, values[t]);
  }
  see_norm(context, g, node, values);
  return true;
}

// The magnitude below which `share` of the numbers lie.
static float percentile(const histogram *h, double share) {
  uint64_t all = 0, below = 0;
  for (int i = 0; i < CELLS; i++) all += h->cell[i];
  for (int i = 0; i < CELLS; i++)
    if ((double)(below += h->cell[i]) >= share * (double)all) return h->top * (float)(i + 1) / CELLS;
  return h->top;
}

static bool run_sample(const graph *model, const void *const *inputs, watch *w, wf_diag *diag) {
  const graph_run_options options = {.after = after_node, .context = w, .file = model->name};
  for (int i = 0; i < model->input_count; i++)
    if (model->tensors[model->inputs[i]].type == GRAPH_F32) see(w, model, model->inputs[i], inputs[i]);
  void **outputs = WF_NEW_ARRAY((size_t)model->output_count + 1, void *);
  const bool ran = graph_run(model, inputs, outputs, &options, diag);
  wf_free(outputs);
  return ran;
}

static bool run_samples(const graph *model, const quantise_options *options, watch *w, wf_diag *diag) {
  for (int i = 0; i < options->input_sets; i++)
    if (!run_sample(model, options->inputs + i * model->input_count, w, diag)) return false;
  const int samples = options->input_sets > 0 ? 0 : options->samples > 0 ? options->samples : 2;
  for (int i = 0; i < samples; i++) {
    void **inputs = quantise_random_inputs(model, options->seed + (uint64_t)i);
    const bool ran = run_sample(model, (const void *const *)inputs, w, diag);
    quantise_free_inputs(model, inputs);
    if (!ran) return false;
  }
  return true;
}

bool quantise_calibrate(const graph *model, const quantise_options *options, quantise_ranges *ranges, wf_diag *diag) {
  const size_t count = (size_t)model->tensor_count + 1;
  *ranges = (quantise_ranges){WF_ARENA_ARRAY(model->arena, count, float), WF_ARENA_ARRAY(model->arena, count, float),
                              WF_ARENA_ARRAY(model->arena, count, float),
                              WF_ARENA_ARRAY(model->arena, count, quantise_deviation), model->tensor_count};
  for (size_t t = 0; t < count; t++) ranges->magnitude[t] = -1;
  watch w = {.ranges = ranges};
  if (options->method == QUANTISE_PERCENTILE) w.histograms = WF_NEW_ARRAY(count, histogram);
  const bool ran = run_samples(model, options, &w, diag);
  const double share = (options->percentile > 0 ? options->percentile : 99.99) / 100;
  for (int t = 0; w.histograms != NULL && t < model->tensor_count; t++)
    if (ranges->magnitude[t] > 0 && !isinf(ranges->magnitude[t]))
      ranges->magnitude[t] = percentile(&w.histograms[t], share);
  wf_free(w.histograms);
  return ran;
}
