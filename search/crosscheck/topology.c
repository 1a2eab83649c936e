// SPDX-License-Identifier: Apache-2.0
// SCALE-Sim's topology of a table of layers: see crosscheck.h. search/layers/scalesim.c reads it.
#include <inttypes.h>

#include "base/alloc.h"
#include "base/name.h"
#include "search/crosscheck/crosscheck.h"

typedef struct line {
  int64_t image[2], window[2], channels, filters, stride;
} line;

static int64_t image_of(int64_t results, int64_t window, int64_t stride) { return (results - 1) * stride + window; }

static bool refuse(const layers_network *network, const layers_layer *layer, const char *what, wf_diag *diag) {
  wf_error(diag, wf_in_file(network->name), "%s has %s, which a topology cannot say", layer->name, what);
  return false;
}

// Without a window and a stride the rows of all images are one column.
static bool line_of(const layers_network *network, const layers_layer *layer, line *l, wf_diag *diag) {
  const int64_t *size = layer->size;
  const bool product = size[BLOCK_DIM_R] * size[BLOCK_DIM_S] == 1 && layer->stride[0] * layer->stride[1] == 1;
  const int64_t rows = product ? size[BLOCK_DIM_N] * size[BLOCK_DIM_P] * size[BLOCK_DIM_Q] : size[BLOCK_DIM_P],
                columns = product ? 1 : size[BLOCK_DIM_Q];
  // A stride across a single row of results is none.
  const int64_t down = rows == 1 ? layer->stride[1] : layer->stride[0], across = columns == 1 ? down : layer->stride[1];
  if (!product && size[BLOCK_DIM_N] != 1) return refuse(network, layer, "several images", diag);
  if (layer->dilation[0] * layer->dilation[1] != 1) return refuse(network, layer, "a dilation", diag);
  if (down != across) return refuse(network, layer, "two strides", diag);
  *l = (line){.image = {image_of(rows, size[BLOCK_DIM_R], down), image_of(columns, size[BLOCK_DIM_S], down)},
              .window = {size[BLOCK_DIM_R], size[BLOCK_DIM_S]},
              .channels = size[BLOCK_DIM_C],
              .filters = layer->depthwise ? 1 : size[BLOCK_DIM_K],
              .stride = down};
  return true;
}

// What of a layer stands in no line: how often the network has it, and its other groups.
static void warn_of_the_rest(const layers_network *network, wf_diag *diag) {
  size_t repeated = 0, grouped = 0;
  for (size_t i = 0; i < network->count; i++) {
    repeated += network->layers[i].count > 1;
    grouped += layers_groups(&network->layers[i]) > 1;
  }
  if (repeated > 0)
    wf_warning(diag, wf_in_file(network->name), "%zu of %zu layers occur more than once; the topology has them once",
               repeated, network->count);
  if (grouped > 0)
    wf_warning(diag, wf_in_file(network->name), "%zu of %zu layers have groups; the topology has one group of each",
               grouped, network->count);
}

bool crosscheck_write_topology(const layers_network *network, FILE *out, wf_diag *diag) {
  fputs("Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n", out);
  bool good = true;
  for (size_t i = 0; i < network->count; i++) {
    line l;
    if (!line_of(network, &network->layers[i], &l, diag)) {
      good = false;
      continue;
    }
    char *name = wf_name_file(network->layers[i].name);
    fprintf(out, "%s, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ",\n",
            name, l.image[0], l.image[1], l.window[0], l.window[1], l.channels, l.filters, l.stride);
    wf_free(name);
  }
  warn_of_the_rest(network, diag);
  return good;
}
