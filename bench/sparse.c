// SPDX-License-Identifier: Apache-2.0
// `weft bench sparse`: layers with zeros in their weights, on arrays of several sides, beside the same layers with
// fewer channels.
//
//   weights   single weights are zero, anywhere
//   blocks    blocks of 16 inputs x 16 outputs are
//   tiles     blocks as wide as the array are, where that is not 16
//   shuffled  the same blocks of 16, of channels that stand in any order
//   ordered   these in the order that networks_cluster finds: the same layer, with its channels exchanged
//   channels  nothing is zero: inputs and outputs are fewer, each by the root of the density
//
// Speed-ups are over the layer without zeros; a share of 100 % is a speed-up of 1 / density.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/random.h"
#include "bench/bench.h"
#include "runner/measure.h"
#include "workloads/networks/cluster.h"
#include "workloads/networks/prune.h"

enum { BLOCK = 16, WARM = 2 };

typedef struct options {
  bool quick;
  uint64_t seed, least;
} options;

typedef struct sparse_layer {
  const char *name;
  map_layer layer;
} sparse_layer;

#define CONVOLUTION(p, q, k, c, window, pad)                                                                \
  {                                                                                                         \
    .kind = (window) == 1 ? MAP_GEMM : MAP_CONV, .size = {1, p, q, k, c, window, window}, .stride = {1, 1}, \
    .dilation = {1, 1}, .padding = {pad, pad, pad, pad}, .groups = 1, .result_bytes = 1, .bias = true       \
  }
static const sparse_layer layers[] = {
    {"3x3 14x14 256-256", CONVOLUTION(14, 14, 256, 256, 3, 1)},
    {"784x256x512", CONVOLUTION(784, 1, 256, 512, 1, 0)},
    {"49x2048x512", CONVOLUTION(49, 1, 2048, 512, 1, 0)},
};
static const char *const arrays[] = {"dim4", "dim8", "gemmini-default", "dim32"};
static const double densities[] = {0.75, 0.5, 0.25, 0.1};
typedef enum { WEIGHTS, BLOCKS, TILES, SHUFFLED, ORDERED, CHANNELS, PATTERNS } pattern;
static const char *const pattern_names[PATTERNS] = {"weights", "blocks", "tiles", "shuffled", "ordered", "channels"};

static const bench_column columns[] = {
    {.title = "layer", BENCH_DATA("layer"), .width = -18},
    {.title = "side", BENCH_DATA("side"), .width = 4},
    {.title = "pattern", BENCH_DATA("pattern"), .width = -8},
    {.title = "density %", BENCH_DATA("density"), .width = 9, .text_format = "%.0f", .scale = 100},
    {.title = "blocks left %", BENCH_DATA("blocks"), .width = 13, .text_format = "%.1f", .scale = 100},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 10},
    {.title = "bytes", BENCH_DATA("bytes"), .width = 10},
    {.title = "speed-up", BENCH_DATA("speed_up"), .width = 8, .text_format = "%.2f"},
    {.title = "share %", BENCH_DATA("share"), .width = 7, .text_format = "%.0f", .scale = 100},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

typedef struct runner {
  const bench_job *job;
  bench_table *table;
  const sparse_layer *layer;
  hw_array array;
  run_measured dense;
  double least;  // share of patterns that the array can use
} runner;

static int64_t taps_of(const map_layer *layer) { return layer->size[BLOCK_DIM_R] * layer->size[BLOCK_DIM_S]; }

// R x S x C x K: ones and zeros.
static int8_t *weights_of(const map_layer *layer, const networks_pruning *pruning) {
  const int64_t inputs = layer->size[BLOCK_DIM_C], outputs = layer->size[BLOCK_DIM_K];
  int8_t *weights = WF_NEW_ARRAY((size_t)(taps_of(layer) * inputs * outputs), int8_t), *to = weights;
  for (int64_t tap = 0; tap < taps_of(layer); tap++)
    for (int64_t i = 0; i < inputs; i++)
      for (int64_t o = 0; o < outputs; o++) *to++ = (int8_t)networks_keeps(pruning, tap, i, o);
  return weights;
}

// ---- orders of channels

static void shuffle(int *order, int64_t count, uint64_t *seed) {
  for (int64_t n = 0; n < count; n++) order[n] = (int)n;
  for (int64_t n = count - 1; n > 0; n--) {
    const int64_t other = (int64_t)(wf_random_next(seed) % (uint64_t)(n + 1));
    const int was = order[n];
    order[n] = order[other];
    order[other] = was;
  }
}

// The weights in other orders of inputs and outputs; takes them.
static int8_t *reordered(const map_layer *layer, int8_t *weights, const int *inputs, const int *outputs) {
  const int64_t c = layer->size[BLOCK_DIM_C], k = layer->size[BLOCK_DIM_K];
  int8_t *to = WF_NEW_ARRAY((size_t)(taps_of(layer) * c * k), int8_t);
  networks_reorder(&(networks_weights){weights, taps_of(layer), c, k}, inputs, outputs, to);
  wf_free(weights);
  return to;
}

static int8_t *in_order(const map_layer *layer, int8_t *weights, pattern kind, int64_t dim, uint64_t seed) {
  const int64_t c = layer->size[BLOCK_DIM_C], k = layer->size[BLOCK_DIM_K];
  if (kind != SHUFFLED && kind != ORDERED) return weights;
  int *inputs = WF_NEW_ARRAY((size_t)c, int), *outputs = WF_NEW_ARRAY((size_t)k, int);
  shuffle(inputs, c, &seed);
  shuffle(outputs, k, &seed);
  weights = reordered(layer, weights, inputs, outputs);
  if (kind == ORDERED) {
    networks_cluster(&(networks_weights){weights, taps_of(layer), c, k}, dim, inputs, outputs);
    weights = reordered(layer, weights, inputs, outputs);
  }
  wf_free(inputs);
  wf_free(outputs);
  return weights;
}

// The share of DIM x DIM blocks with a weight that is not zero.
static double blocks_left(const map_layer *layer, const int8_t *weights, int64_t dim) {
  const int64_t rows = taps_of(layer) * layer->size[BLOCK_DIM_C], outputs = layer->size[BLOCK_DIM_K];
  const int64_t down = wf_ceil_div(rows, dim), across = wf_ceil_div(outputs, dim);
  int64_t left = 0;
  uint8_t *filled = WF_NEW_ARRAY((size_t)(down * across), uint8_t);
  for (int64_t row = 0; row < rows; row++)
    for (int64_t o = 0; o < outputs; o++) filled[row / dim * across + o / dim] |= (uint8_t)*weights++;
  for (int64_t n = 0; n < down * across; n++) left += filled[n];
  wf_free(filled);
  return (double)left / (double)(down * across);
}

static run_measured measure(const runner *r, const map_layer *dense, const int8_t *weights, double zeros) {
  map_layer layer = *dense;
  layer.zeros = zeros;
  const run_measure_request request = {
      .layer = &layer, .array = &r->array, .policy = {.known = weights}, .times = WARM};
  return run_measure(&request, r->job->diag);
}

static bool add_row(runner *r, pattern kind, double density, double blocks, const run_measured *m) {
  if (m->status != RUN_MEASURE_GOOD) return false;
  const double speed_up = (double)r->dense.cycles / (double)m->cycles;
  if (kind == BLOCKS || kind == TILES) r->least = fmin(r->least, speed_up * density);
  BENCH_ROW(r->table, bench_text(r->layer->name), bench_count(hw_derive(&r->array).dim),
            bench_text(pattern_names[kind]), bench_real(density), bench_real(blocks), bench_count(m->cycles),
            bench_count(m->read_bytes + m->written_bytes), bench_real(speed_up), bench_real(speed_up * density));
  return true;
}

static bool add_pruned(runner *r, pattern kind, double density) {
  const options *o = r->job->options;
  const int64_t dim = hw_derive(&r->array).dim,
                block[] = {[WEIGHTS] = 1, [BLOCKS] = BLOCK, [TILES] = dim, [SHUFFLED] = BLOCK, [ORDERED] = BLOCK};
  const networks_pruning pruning = {.density = density, .block = block[kind], .seed = o->seed};
  int8_t *weights = in_order(&r->layer->layer, weights_of(&r->layer->layer, &pruning), kind, dim, o->seed);
  const double blocks = blocks_left(&r->layer->layer, weights, dim);
  const run_measured m = measure(r, &r->layer->layer, weights, 1 - blocks);
  const bool good = add_row(r, kind, density, blocks, &m);
  wf_free(weights);
  return good;
}

// Fewer channels that come to about the same number of weights; the density is what they come to.
static bool add_narrower(runner *r, double density) {
  map_layer narrow = r->layer->layer;
  double left = 1;
  for (block_dim_id d = BLOCK_DIM_K; d <= BLOCK_DIM_C; d++) {
    narrow.size[d] = (int64_t)lrint((double)narrow.size[d] * sqrt(density));
    left *= (double)narrow.size[d] / (double)r->layer->layer.size[d];
  }
  const run_measured m = measure(r, &narrow, NULL, 0);
  return add_row(r, CHANNELS, left, 1, &m);
}

static bool add_layer(runner *r) {
  const options *o = r->job->options;
  r->dense = measure(r, &r->layer->layer, NULL, 0);
  if (!add_row(r, CHANNELS, 1, 1, &r->dense)) return false;
  for (size_t d = 0; d < sizeof densities / sizeof *densities; d++) {
    if (o->quick && densities[d] != 0.25) continue;
    for (pattern kind = WEIGHTS; kind < CHANNELS; kind++)
      if ((kind != TILES || hw_derive(&r->array).dim != BLOCK) && !add_pruned(r, kind, densities[d])) return false;
    if (!add_narrower(r, densities[d])) return false;
  }
  return true;
}

static bench_end run_sparse(const bench_job *job) {
  const options *o = job->options;
  runner r = {.job = job, .table = bench_table_open(job->report, &form), .least = INFINITY};
  bench_table_heading(r.table);
  for (size_t l = 0; l < sizeof layers / sizeof *layers; l++)
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
      bench_job on = *job;
      if (job->array == NULL) on.array = arrays[a];
      if ((o->quick || job->array != NULL) && strcmp(arrays[a], "gemmini-default") != 0) continue;
      r.layer = &layers[l];
      if (!bench_load_array(&on, &r.array)) return BENCH_BAD_INPUT;
      if (!add_layer(&r)) return BENCH_CANNOT_BUILD;
    }
  return 100 * r.least < (double)o->least ? BENCH_MISMATCH : BENCH_DONE;
}

static const wf_option option_rows[] = {
    {"quick", WF_FLAG(options, quick), NULL, "the default array and a density of 25 % alone"},
    {"seed", WF_COUNT(options, seed), "N", "of the zeros (default 1)"},
    {"least", WF_COUNT(options, least), "PERCENT", "end with 4 if a layer with blocks has a smaller share (default 0)"},
};
static const options defaults = {.seed = 1};

const bench bench_sparse = {
    .name = "sparse",
    .summary = "layers with zeros in their weights",
    .synopsis = "",
    .text =
        "Measures three layers with zeros in their weights (single ones, or blocks of 16 x 16,\n"
        "also of channels that stand in any order, and in an order found for them) beside the same layers\n"
        "with fewer channels, on arrays of sides 4 to 32 or on --array. A share of 100 % is a speed-up of 1 / density.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_sparse};
