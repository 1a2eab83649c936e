// SPDX-License-Identifier: Apache-2.0
// Images of few channels, whose kernel reads rows of a window as they lie: what a window lacks left or right of the
// image would have to lie there, too. Where these are the first or the last window of a row alone, they are layers of
// their own, with the weights of the columns that are there, and no image is copied with padding around it.
#include <string.h>

#include "base/number.h"
#include "compiler/network/private.h"

// Neighbouring windows of each row, and the taps of their columns that lie in the image.
typedef struct part {
  int64_t first, windows, tap, taps;
} part;

enum { PARTS_MOST = 3 };
typedef struct split {
  const layer_desc *layer;
  const network_lower_operands *at;
  int64_t left;  // columns before the image
  part parts[PARTS_MOST];
  int count;
} split;

static int64_t windows_of(const split *s) { return s->layer->map.size[BLOCK_DIM_Q]; }
static int64_t taps_of(const split *s) { return s->layer->map.size[BLOCK_DIM_S]; }

static int64_t column_of(const split *s, const part *p) {
  return p->first * s->layer->map.stride[1] - s->left + p->tap;
}

static int64_t pixel_of(const layer_desc *layer) {
  return layer->results.pixel == 0 ? layer->map.size[BLOCK_DIM_K] : layer->results.pixel;
}

// The layer of a part: its image begins at the part's first column.
static layer_desc layer_of(const split *s, const part *p) {
  layer_desc layer = *s->layer;
  map_layer *map = &layer.map;
  map->size[BLOCK_DIM_Q] = p->windows, map->size[BLOCK_DIM_S] = p->taps;
  map->padding[2] = map->padding[3] = 0;
  layer.inputs.pitch = layer.image[1] * map->size[BLOCK_DIM_C];
  layer.results.pitch = windows_of(s) * pixel_of(&layer);
  layer.image[1] = (p->windows - 1) * map->stride[1] + p->taps;
  return layer;
}

static void add_part(split *s, int64_t first, int64_t windows, int64_t tap, int64_t end) {
  if (windows > 0) s->parts[s->count++] = (part){first, windows, tap, end - tap};
}

// False: other windows than the first and the last leave the image, or nothing is left of one.
static bool find_parts(split *s) {
  const int64_t step = s->layer->map.stride[1], width = s->layer->image[1], last = windows_of(s) - 1;
  const int64_t over = wf_max((int64_t)0, last * step - s->left + taps_of(s) - width);  // columns of the last window
  const int64_t before = s->left > 0, behind = over > 0;
  if (s->left > step || over > step || s->left >= taps_of(s) || over >= taps_of(s) || last + 1 < before + behind)
    return false;
  add_part(s, before, last + 1 - before - behind, 0, taps_of(s));
  add_part(s, 0, before, s->left, taps_of(s));
  add_part(s, last, behind, 0, taps_of(s) - over);
  return true;
}

bool network_lower_has_edges(const layer_desc *layer, int64_t left) {
  split s = {.layer = layer, .left = left};
  return find_parts(&s);
}

static bool are_narrow(const network_lowering *l, const split *s) {
  for (int i = 0; i < s->count; i++) {
    const layer_desc layer = layer_of(s, &s->parts[i]);
    if (layer_kernel_for(&layer, l->array) != LAYER_CONV2D_NARROW) return false;
  }
  return true;
}

// The taps of a part, of R x S x C x K.
static network_place weights_of(network_lowering *l, const split *s, const part *p) {
  const map_layer *map = &s->layer->map;
  const int64_t tap = map->size[BLOCK_DIM_C] * map->size[BLOCK_DIM_K], rows = map->size[BLOCK_DIM_R];
  if (p->taps == taps_of(s)) return s->at->weights;
  const int8_t *from = network_lower_contents(l, s->at->weights, (uint64_t)(rows * taps_of(s) * tap));
  int8_t *to = network_lower_alloc(l, (uint64_t)(rows * p->taps * tap));
  for (int64_t r = 0; r < rows; r++)
    memcpy(to + r * p->taps * tap, from + (r * taps_of(s) + p->tap) * tap, (size_t)(p->taps * tap));
  return network_lower_constant(l, "edge", to, (uint64_t)(rows * p->taps * tap));
}

static network_place moved(network_place place, int64_t bytes) {
  place.offset += (uint64_t)bytes;
  return place;
}

static void add_layer(network_lowering *l, const split *s, const part *p) {
  const layer_desc layer = layer_of(s, p);
  network_lower_operands at = *s->at;
  at.inputs = moved(at.inputs, column_of(s, p) * layer.map.size[BLOCK_DIM_C]);
  at.results = moved(at.results, p->first * pixel_of(&layer));
  at.weights = weights_of(l, s, p);
  network_lower_layer(l, &layer, &at)->macs = 0;
}

bool network_lower_edges(network_lowering *l, const layer_desc *layer, int64_t left, const network_lower_operands *at,
                         uint64_t macs) {
  split s = {.layer = layer, .at = at, .left = left};
  const uint64_t bytes = (uint64_t)(layer->map.size[BLOCK_DIM_R] * taps_of(&s) * layer->map.size[BLOCK_DIM_C] *
                                    layer->map.size[BLOCK_DIM_K]);
  if (!find_parts(&s) || !are_narrow(l, &s) || network_lower_contents(l, at->weights, bytes) == NULL) return false;
  for (int i = 0; i < s.count; i++) add_layer(l, &s, &s.parts[i]);
  l->net->steps[l->net->step_count - s.count].macs = macs;
  return true;
}
