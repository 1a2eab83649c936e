// SPDX-License-Identifier: Apache-2.0
// Layers of networks, and their texts for other simulators. See weft.h.
#include "api/layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "search/crosscheck/crosscheck.h"
#include "search/crosscheck/nest.h"
#include "search/layers/network.h"

weft_layers *weft_layers_load(weft_session *s, const char *network) {
  if (!api_begin(s, "layers") || !api_given(s, network, "the network")) return NULL;
  weft_layers *loaded = WF_NEW(weft_layers);
  const bool good = layers_load_network(&loaded->network, network, NULL, &s->diag);
  if (api_end(s, good, WEFT_BAD_INPUT) == WEFT_OK) return loaded;
  weft_layers_destroy(loaded);
  return NULL;
}

void weft_layers_destroy(weft_layers *layers) {
  if (layers == NULL) return;
  layers_release(&layers->network);
  wf_free(layers);
}

const char *weft_layers_name(const weft_layers *layers) { return layers == NULL ? "" : layers->network.name; }

weft_status weft_layers_at(const weft_layers *layers, size_t index, weft_layer *layer) {
  if (layers == NULL || index >= layers->network.count) return WEFT_USAGE;
  const layers_layer *from = &layers->network.layers[index];
  weft_layer full = {
      .name = from->name, .count = from->count, .groups = layers_groups(from), .macs = layers_macs(from)};
  for (int d = 0; d < WEFT_LAYER_DIMS; d++) full.dim[d] = layers_whole_size(from, (block_dim_id)d);
  return api_give(&full, sizeof full, layer);
}

// ---- texts

// A text that is written as to a file.
typedef struct writing {
  char *text;
  size_t length;
  FILE *out;
} writing;

static bool begin_text(writing *w) {
  *w = (writing){0};
  w->out = open_memstream(&w->text, &w->length);
  return w->out != NULL;
}

static char *end_text(const writing *w) {
  fclose(w->out);
  return w->text;
}

char *weft_layers_topology(weft_session *s, const weft_layers *layers) {
  writing w;
  if (!api_begin(s, "layers") || !api_given(s, layers, "the layers")) return NULL;
  if (!begin_text(&w)) return api_end(s, false, WEFT_CANNOT_BUILD), NULL;
  const bool all = crosscheck_write_topology(&layers->network, w.out, &s->diag);
  api_end(s, all, WEFT_BAD_INPUT);
  return end_text(&w);
}

static bool layer_given(weft_session *s, const weft_layers *layers, size_t index) {
  if (!api_given(s, layers, "the layers")) return false;
  if (index >= layers->network.count) api_refuse(s, "there are %zu layers", layers->network.count);
  return index < layers->network.count;
}

char *weft_layers_problem(weft_session *s, const weft_layers *layers, size_t index) {
  writing w;
  if (!api_begin(s, "layers") || !layer_given(s, layers, index)) return NULL;
  if (!begin_text(&w)) return api_end(s, false, WEFT_CANNOT_BUILD), NULL;
  crosscheck_write_problem(&layers->network.layers[index], w.out);
  api_end(s, true, WEFT_OK);
  return end_text(&w);
}

static char *padded_text(const layers_layer *layer, const crosscheck_nest *nest) {
  writing w;
  if (!begin_text(&w)) return NULL;
  crosscheck_write_padded(layer, nest->size, w.out);
  return end_text(&w);
}

static char *nest_text(const crosscheck_nest *nest) {
  writing w;
  if (!begin_text(&w)) return NULL;
  crosscheck_write_nest(nest, w.out);
  return end_text(&w);
}

weft_status weft_layers_mapping(weft_session *s, const weft_layers *layers, size_t index, const weft_array *array,
                                char **problem, char **mapping) {
  if (!api_begin(s, "layers") || !layer_given(s, layers, index) || !api_given(s, array, "the array") ||
      !api_given(s, problem, "the place of the problem") || !api_given(s, mapping, "the place of the mapping"))
    return WEFT_USAGE;
  const layers_layer *layer = &layers->network.layers[index];
  crosscheck_nest nest;
  *problem = *mapping = NULL;
  const bool good = hw_array_check(&array->array, array->array.name, &s->diag) &&
                    crosscheck_nest_of(layer, &array->array, &nest, &s->diag);
  if (good) {
    *problem = padded_text(layer, &nest);
    *mapping = nest_text(&nest);
  }
  return api_end(s, good && *problem != NULL && *mapping != NULL, WEFT_CANNOT_BUILD);
}
