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

static void print_sizes(const layers_layer *layer, FILE *out) {
  static const struct {
    const char *name;
    block_dim_id dim;
  } dims[] = {{"C", BLOCK_DIM_C}, {"M", BLOCK_DIM_K}, {"R", BLOCK_DIM_R}, {"S", BLOCK_DIM_S},
              {"N", BLOCK_DIM_N}, {"P", BLOCK_DIM_P}, {"Q", BLOCK_DIM_Q}};
  for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
    const bool of_a_group = layer->depthwise && dims[d].dim == BLOCK_DIM_K;
    fprintf(out, "    %s: %" PRId64 "\n", dims[d].name, of_a_group ? 1 : layer->size[dims[d].dim]);
  }
}

void crosscheck_write_problem(const layers_layer *layer, FILE *out) {
  fprintf(out, "# It occurs %" PRId64 " times, with %" PRId64 " groups of which this is one.\n", layer->count,
          layers_groups(layer));
  fputs(shape, out);
  print_sizes(layer, out);
  fprintf(out, "    Wstride: %" PRId64 "\n    Hstride: %" PRId64 "\n", layer->stride[0], layer->stride[1]);
  fprintf(out, "    Wdilation: %" PRId64 "\n    Hdilation: %" PRId64 "\n", layer->dilation[0], layer->dilation[1]);
}
