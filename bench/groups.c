// SPDX-License-Identifier: Apache-2.0
// `weft bench groups`: convolutions in groups beside the bounds of their mesh and of their bytes.
//
// The mesh takes a row of results through each matrix of weights, DIM x DIM, in a cycle; layer_packing says how many
// matrices there are. Bytes are those of the bus, at a rate that memory reaches. Padding is counted as if it was
// computed, which it is not: a share may be above 100 %.
#include <string.h>

#include "base/number.h"
#include "bench/bench.h"
#include "runner/measure.h"

typedef struct options {
  uint64_t channels, results, image, kernel, stride, times, least;
} options;

static const double memory_rate = 5.5;  // bytes in a cycle

static const bench_column columns[] = {
    {.title = "groups", BENCH_DATA("groups"), .width = 6},
    {.title = "C", BENCH_DATA("channels"), .width = 4},
    {.title = "K", BENCH_DATA("results"), .width = 4},
    {.title = "kernel", BENCH_DATA("kernel"), .width = -16},
    {.title = "side by side", BENCH_DATA("together"), .width = 12},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 10},
    {.title = "mesh", BENCH_DATA("mesh_bound"), .width = 10},
    {.title = "share %", BENCH_DATA("share"), .width = 7, .text_format = "%.1f", .scale = 100},
    {.title = "bytes", BENCH_DATA("bytes"), .width = 10},
    {.title = "their cycles", BENCH_DATA("byte_bound"), .width = 12},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static map_layer layer_of(const options *o, int64_t groups) {
  const int64_t pad = (int64_t)o->kernel / 2, stride = (int64_t)o->stride;
  const int64_t side = ((int64_t)o->image + 2 * pad - (int64_t)o->kernel) / stride + 1;
  const int64_t c = (int64_t)o->channels / groups, k = (int64_t)o->results / groups, window = (int64_t)o->kernel;
  map_layer layer = {.kind = MAP_CONV,
                     .size = {1, side, side, k, c, window, window},
                     .stride = {stride, stride},
                     .dilation = {1, 1},
                     .padding = {pad, pad, pad, pad},
                     .groups = groups,
                     .result_bytes = 1};
  if (groups > 1 && c == 1 && k == 1) {
    layer.kind = MAP_DEPTHWISE;
    layer.size[BLOCK_DIM_K] = groups;
    layer.groups = 1;
  }
  return layer;
}

static bench_end add_row(const bench_job *job, bench_table *table, const hw_array *array, int64_t groups) {
  const options *o = job->options;
  const map_layer layer = layer_of(o, groups);
  const run_measure_request request = {.layer = &layer, .array = array, .times = (unsigned)o->times};
  const run_measured m = run_measure(&request, job->diag);
  const layer_packing packing = layer_packing_of(&layer, array);
  if (m.status != RUN_MEASURE_GOOD) return BENCH_CANNOT_BUILD;
  const double mesh = (double)(layer.size[BLOCK_DIM_P] * layer.size[BLOCK_DIM_Q] * layer_passes(&layer, array));
  const uint64_t bytes = m.read_bytes + m.written_bytes;
  BENCH_ROW(table, bench_count((uint64_t)groups), bench_count(o->channels / (uint64_t)groups),
            bench_count(o->results / (uint64_t)groups), bench_text(layer_kernels[layer_kernel_of(&layer, array)].name),
            bench_count((uint64_t)packing.together), bench_count(m.cycles), bench_count((uint64_t)mesh),
            bench_real(mesh / (double)m.cycles), bench_count(bytes),
            bench_count((uint64_t)((double)bytes / memory_rate)));
  return 100 * mesh < (double)(o->least * m.cycles) ? BENCH_MISMATCH : BENCH_DONE;
}

static bench_end run_groups(const bench_job *job) {
  const options *o = job->options;
  hw_array array;
  if (o->channels > 1 << 16 || o->results > 1 << 16 || o->image > 1 << 12 || o->kernel > o->image) {
    wf_error(job->diag, wf_in_file(NULL), "sizes are out of range");
    wf_hint(job->diag, "at most 65,536 channels and results, images of 4,096, kernels as large as the image");
    return BENCH_BAD_USAGE;
  }
  if (!bench_load_array(job, &array)) return BENCH_BAD_INPUT;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  bench_end end = BENCH_DONE;
  for (uint64_t g = 1; g <= wf_min(o->channels, o->results) && end != BENCH_CANNOT_BUILD; g++) {
    if (o->channels % g != 0 || o->results % g != 0) continue;
    const bench_end row = add_row(job, table, &array, (int64_t)g);
    if (row != BENCH_DONE) end = row;
  }
  return end;
}

static const wf_option option_rows[] = {
    {"channels", WF_POSITIVE(options, channels), "N", "of all groups (default 256)"},
    {"results", WF_POSITIVE(options, results), "N", "of all groups (default 256)"},
    {"image", WF_POSITIVE(options, image), "N", "rows and columns of the image (default 28)"},
    {"kernel", WF_POSITIVE(options, kernel), "N", "rows and columns of the window, padded by half (default 3)"},
    {"stride", WF_POSITIVE(options, stride), "N", "of the window (default 1)"},
    {"times", WF_POSITIVE(options, times), "N", "runs in a row, the last is measured (default 2: warm caches)"},
    {"least", WF_COUNT(options, least), "PERCENT", "end with 4 if a row has a smaller share of the mesh (default 0)"},
};
static const options defaults = {.channels = 256, .results = 256, .image = 28, .kernel = 3, .stride = 1, .times = 2};

const bench bench_groups = {
    .name = "groups",
    .summary = "convolutions in groups beside their bounds",
    .synopsis = "",
    .text =
        "Measures a convolution in every number of groups that divides its channels and results. Beside the measured\n"
        "cycles stand the least cycles of the mesh and the least cycles of main memory at a rate of bytes.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_groups};
