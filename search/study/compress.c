// SPDX-License-Identifier: Apache-2.0
// Networks as they are compressed and lowered: tables of layers.
//
// Pruned channels make smaller dense layers: of C and K of each layer the same share stays, but for C of the first
// layer (the image) and K of the last (the classes). Of a layer in groups whole groups go. Pruned weights leave all
// sizes.
//
// Unfolding makes a convolution the product of (N P Q) x (C R S) x K. Layers in groups stay convolutions.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "search/study/floors.h"

const char *const study_kind_names[STUDY_KINDS] = {"none", "channel", "weight"};
const char *const study_pattern_names[STUDY_PATTERNS] = {"uniform", "block"};
const char *const study_lowering_names[STUDY_LOWERING_COUNT] = {
#define X(NAME, name) name,
    STUDY_LOWERINGS(X)
#undef X
};

// ---- compression

int64_t study_channels(int64_t channels, const study_compression *c, unsigned side) {
  if (c->kind != STUDY_CHANNEL) return channels;
  const int64_t multiple = c->multiple == STUDY_SIDE ? side : c->multiple;
  const int64_t kept = llround((double)channels * c->density / (double)multiple) * multiple;
  return wf_min(wf_max(kept, multiple), channels);
}

// With each weight by itself a block is empty with the chance (1 - density)^(side^2).
double study_blocks(const study_compression *c, unsigned side) {
  if (c->kind != STUDY_WEIGHT) return 1;
  return c->pattern == STUDY_BLOCK ? c->density : 1 - pow(1 - c->density, (double)side * side);
}

// Groups that stay: those of the channels.
static void prune_groups(layers_layer *layer, const study_compression *c, unsigned side) {
  const int64_t size = layer->size[BLOCK_DIM_C];
  layer->groups = wf_max(study_channels(layer->groups * size, c, side) / size, 1);
}

static void prune(layers_layer *layer, bool first, bool last, const study_compression *c, unsigned side) {
  int64_t *in = &layer->size[BLOCK_DIM_C], *out = &layer->size[BLOCK_DIM_K];
  if (layers_groups(layer) > 1 && !layer->depthwise) {
    prune_groups(layer, c, side);
    return;
  }
  if (!first && !layer->depthwise) *in = study_channels(*in, c, side);
  if (!last) *out = study_channels(*out, c, side);
}

// ---- lowering

static bool is_unfolded(const layers_layer *layer) {
  const int64_t *size = layer->size;
  const bool window = size[BLOCK_DIM_R] > 1 || size[BLOCK_DIM_S] > 1;
  return layers_groups(layer) == 1 && (window || layer->stride[0] > 1 || layer->stride[1] > 1);
}

// A convolution as a product, also one of 1 x 1, whose images lie as matrices already.
static study_copy unfold(layers_layer *layer) {
  if (layers_groups(layer) > 1) return (study_copy){0};
  const bool copied = is_unfolded(layer);
  int64_t *size = layer->size;
  const double image = study_input_bytes(layer);
  const int64_t rows = size[BLOCK_DIM_N] * size[BLOCK_DIM_P] * size[BLOCK_DIM_Q],
                depth = size[BLOCK_DIM_C] * size[BLOCK_DIM_R] * size[BLOCK_DIM_S], results = size[BLOCK_DIM_K];
  for (int d = 0; d < BLOCK_DIMS; d++) size[d] = 1;
  size[BLOCK_DIM_P] = rows;
  size[BLOCK_DIM_C] = depth;
  size[BLOCK_DIM_K] = results;
  for (int axis = 0; axis < 2; axis++) layer->stride[axis] = layer->dilation[axis] = 1;
  return copied ? (study_copy){image, (double)rows * (double)depth} : (study_copy){0};
}

// ---- both

static const char *name_of(const layers_network *network, const study_compression *c, study_lowering lowering,
                           wf_arena *arena) {
  const char *compressed = c->kind == STUDY_NONE ? "" : wf_arena_format(arena, " %s", c->name);
  const char *lowered = lowering == STUDY_DIRECT ? "" : wf_arena_format(arena, " %s", study_lowering_names[lowering]);
  return wf_arena_format(arena, "%s%s%s", network->name, compressed, lowered);
}

layers_network study_variant(const layers_network *network, const study_compression *c, study_lowering lowering,
                             unsigned side, wf_arena *arena, study_copy *copies) {
  layers_network made = {.arena = arena, .description = network->description, .count = network->count};
  made.name = name_of(network, c, lowering, arena);
  made.layers = WF_ARENA_ARRAY(arena, network->count + 1, layers_layer);
  for (size_t i = 0; i < network->count; i++) {
    layers_layer *layer = &made.layers[i];
    *layer = network->layers[i];
    prune(layer, i == 0, i + 1 == network->count, c, side);
    const study_copy copy = lowering == STUDY_UNFOLD ? unfold(layer) : (study_copy){0};
    if (copies != NULL) copies[i] = copy;
  }
  return made;
}
