// SPDX-License-Identifier: Apache-2.0
// A layer as a problem of Timeloop, version 0.4: see crosscheck.h. search/layers/timeloop.c reads it. R and P are the
// axis of Wstride, S and Q that of Hstride.
#include <inttypes.h>

#include "search/crosscheck/crosscheck.h"

static const char shape[] =
    "problem:\n"
    "  version: 0.4\n"
    "  shape:\n"
    "    name: layer\n"
    "    dimensions: [C, M, R, S, N, P, Q]\n"
    "    coefficients:\n"
    "    - {name: Wstride, default: 1}\n"
    "    - {name: Hstride, default: 1}\n"
    "    - {name: Wdilation, default: 1}\n"
    "    - {name: Hdilation, default: 1}\n"
    "    data_spaces:\n"
    "    - name: Weights\n"
    "      projection: [[[C]], [[M]], [[R]], [[S]]]\n"
    "    - name: Inputs\n"
    "      projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]]\n"
    "    - name: Outputs\n"
    "      projection: [[[N]], [[M]], [[Q]], [[P]]]\n"
    "      read_write: true\n"
    "  instance:\n";

const char *const crosscheck_dims[BLOCK_DIMS] = {
    [BLOCK_DIM_N] = "N", [BLOCK_DIM_P] = "P", [BLOCK_DIM_Q] = "Q", [BLOCK_DIM_K] = "M",
    [BLOCK_DIM_C] = "C", [BLOCK_DIM_R] = "R", [BLOCK_DIM_S] = "S"};

static void print_instance(const layers_layer *layer, const int64_t *size, FILE *out) {
  fputs(shape, out);
  for (int dim = 0; dim < BLOCK_DIMS; dim++) fprintf(out, "    %s: %" PRId64 "\n", crosscheck_dims[dim], size[dim]);
  fprintf(out, "    Wstride: %" PRId64 "\n    Hstride: %" PRId64 "\n", layer->stride[0], layer->stride[1]);
  fprintf(out, "    Wdilation: %" PRId64 "\n    Hdilation: %" PRId64 "\n", layer->dilation[0], layer->dilation[1]);
}

static void print_head(const layers_layer *layer, FILE *out) {
  fprintf(out, "# It occurs %" PRId64 " times, with %" PRId64 " groups of which this is one.\n", layer->count,
          layers_groups(layer));
}

void crosscheck_write_problem(const layers_layer *layer, FILE *out) {
  int64_t size[BLOCK_DIMS];
  for (int dim = 0; dim < BLOCK_DIMS; dim++) size[dim] = layer->depthwise && dim == BLOCK_DIM_K ? 1 : layer->size[dim];
  print_head(layer, out);
  print_instance(layer, size, out);
}

void crosscheck_write_padded(const layers_layer *layer, const int64_t *size, FILE *out) {
  print_head(layer, out);
  for (int dim = 0; dim < BLOCK_DIMS; dim++)
    if (size[dim] != layer->size[dim])
      fprintf(out, "# Of %s = %" PRId64 " the layer has %" PRId64 ": the last block is smaller.\n",
              crosscheck_dims[dim], size[dim], layer->size[dim]);
  print_instance(layer, size, out);
}
