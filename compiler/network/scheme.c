// SPDX-License-Identifier: Apache-2.0
// Schemes as text, and what steps of a sketch take by the estimate: see scheme.h.
#include "compiler/network/scheme.h"

#include <math.h>
#include <string.h>

#include "compiler/network/private.h"
#include "compiler/network/steps.h"

const char *network_scheme_text(const network_scheme *scheme, wf_arena *arena) {
  static const char *const ways[] = {
#define X(NAME, text) text,
      NETWORK_WAYS(X)
#undef X
  };
  static const char *const pools[] = {"", ", pooled on the way", ", pooled apart"};
  if (scheme->way == NETWORK_BY_RULES) return ways[scheme->way];
  const char *beside =
      scheme->beside > 1 ? wf_arena_format(arena, ", %lld side by side", (long long)scheme->beside) : "";
  return wf_arena_format(arena, "%s%s%s%s%s", scheme->dense ? "dense " : "", ways[scheme->way], beside,
                         scheme->style == BLOCK_STYLE_LOOP ? ", as loops" : "", pools[scheme->pool]);
}

// Copies move two to three bytes a cycle.
static double copy_estimate(const network *net, const network_step *step) {
  static const double bytes_per_cycle = 2.5;
  const char *results = layer_kernels[LAYER_COPY].results;
  for (int o = 0; o < step->operand_count; o++)
    if (strcmp(step->operands[o].param, results) == 0)
      return (double)net->buffers[step->operands[o].place.buffer].bytes / bytes_per_cycle;
  return 0;
}

double network_step_estimate(const network *net, const network_step *step) {
  if (step->place != GRAPH_ON_ARRAY) return 0;
  const network_kernel *kernel = &net->kernels[step->kernel];
  if (kernel->call == NULL) return 0;
  if (!kernel->call->is_layer) return copy_estimate(net, step);
  map_mapping best;
  map_layer layer = kernel->call->layer;
  if (kernel->weights != NULL) layer.zeros = kernel->zeros;
  if (map_best(&layer, net->options.array, NULL, kernel->call->style, &best, 1) == 0) return INFINITY;
  const map_footprint f = map_measure(&layer, &best, net->options.array);
  return map_estimate(&layer, &best, net->options.array, &f, &cost_fitted, INFINITY);
}
