// SPDX-License-Identifier: Apache-2.0
// Words that move between the levels of the plain model (paper.h).
//
// A tile of a level is filled as often as the loops outside of it run, but for the loops inside of the first one that
// changes it: under those it stays where it is. From that first loop on every loop counts, whatever it runs over.
// Windows of inputs that slide over each other at main memory are loaded without their overlap.
#include "search/model/paper.h"

#define DIM(d) (1u << BLOCK_DIM_##d)
enum {
  WEIGHT_DIMS = DIM(R) | DIM(S) | DIM(C) | DIM(K),
  INPUT_DIMS = DIM(P) | DIM(Q) | DIM(C) | DIM(N) | DIM(R) | DIM(S),
  RESULT_DIMS = DIM(P) | DIM(Q) | DIM(K) | DIM(N),
};

static double at_least_1(double x) { return x > 1 ? x : 1; }

// The extent of a dimension inside a tile of the scratchpad; `first` is the innermost level that counts.
static double inner(const paper_mapping *m, block_dim_id d, paper_level first) {
  double extent = 1;
  for (paper_level l = first; l <= PAPER_SCRATCHPAD; l++) extent *= at_least_1(m->temporal[l][d]);
  return extent;
}

// The loops that exist, innermost first. start[l] is the first one at level l.
typedef struct nest {
  int start[PAPER_LEVELS + 1];
  uint8_t dim[PAPER_LEVELS * BLOCK_DIMS];
  double trips[PAPER_LEVELS * BLOCK_DIMS];
} nest;

static void gather_loops(const paper_mapping *m, nest *n) {
  int count = 0;
  n->start[PAPER_REGISTERS] = 0;  // what the registers loop over moves no tile
  for (int l = PAPER_ACCUMULATOR; l < PAPER_LEVELS; l++) {
    n->start[l] = count;
    for (int i = 0; i < BLOCK_DIMS; i++) {
      const uint8_t d = m->order[l][i];
      n->dim[count] = d;
      n->trips[count] = m->temporal[l][d];
      count += m->temporal[l][d] > 1;
    }
  }
  n->start[PAPER_LEVELS] = count;
}

// How often a tile of a level is filled.
static double fills_outside(const nest *n, paper_level level, unsigned dims) {
  const int count = n->start[PAPER_LEVELS];
  int i = n->start[level + 1];
  while (i < count && !(dims >> n->dim[i] & 1)) i++;
  double fills = 1;
  for (; i < count; i++) fills *= n->trips[i];
  return fills;
}

// One axis of an image: rows P under the kernel's rows R, or columns Q under S.
typedef struct axis {
  block_dim_id image, window;
  double results, taps;  // of a tile
  double stride;
} axis;

static double extent_of(const axis *a) { return (a->results - 1) * a->stride + a->taps; }

static axis axis_of(const layers_layer *layer, const paper_mapping *m, int which) {
  static const block_dim_id image[] = {BLOCK_DIM_P, BLOCK_DIM_Q}, window[] = {BLOCK_DIM_R, BLOCK_DIM_S};
  return (axis){.image = image[which],
                .window = window[which],
                .results = inner(m, image[which], PAPER_REGISTERS),
                .taps = inner(m, window[which], PAPER_REGISTERS),
                .stride = (double)layer->stride[which]};
}

// Rows that a step of the sliding axis adds to what was there.
static double new_rows(const axis *a, bool adjacent) {
  double edge = a->taps <= 1 ? 1 : a->stride;
  if (adjacent) {
    const double widest = a->stride > a->taps ? a->stride : a->taps;
    edge = a->results <= 1 ? a->taps : a->results <= a->taps ? a->taps - 1 : widest;
  }
  return (a->results - 1) * a->stride + edge;
}

// Elements of the image, over all loops at main memory.
static double input_elements(const layers_layer *layer, const paper_mapping *m, const nest *n) {
  const double *trips = m->temporal[PAPER_DRAM];
  axis axes[2] = {axis_of(layer, m, 0), axis_of(layer, m, 1)};
  const uint8_t *dim = &n->dim[n->start[PAPER_DRAM]];
  const int count = n->start[PAPER_LEVELS] - n->start[PAPER_DRAM];
  int first = 0;
  bool adjacent = false;
  // An innermost loop over the window widens the tile that is swept.
  for (int i = 0; i < 2 && count > 0; i++) {
    if (dim[0] != axes[i].window) continue;
    axes[i].taps *= trips[axes[i].window];
    first = 1;
    adjacent = count > 1 && dim[1] == axes[i].image;
    break;
  }
  // The loop that comes next slides, if it runs over an image and no other loop over a window was inside.
  int sliding = -1;
  if (count > first && (first == 0 || adjacent))
    for (int i = 0; i < 2; i++)
      if (dim[first] == axes[i].image) sliding = i;
  double elements = extent_of(&axes[0]) * extent_of(&axes[1]);
  if (sliding >= 0) {
    const axis *a = &axes[sliding];
    elements += (trips[a->image] - 1) * new_rows(a, adjacent) * extent_of(&axes[1 - sliding]);
    first++;
  }
  bool on = first > 0;
  for (int i = first; i < count; i++) {
    on |= (INPUT_DIMS >> dim[i] & 1) != 0;
    if (on) elements *= trips[dim[i]];
  }
  return elements;
}

static double weight_tile(const paper_mapping *m) {
  return inner(m, BLOCK_DIM_R, PAPER_ACCUMULATOR) * inner(m, BLOCK_DIM_S, PAPER_ACCUMULATOR) *
         inner(m, BLOCK_DIM_C, PAPER_ACCUMULATOR) * inner(m, BLOCK_DIM_K, PAPER_ACCUMULATOR) * at_least_1(m->rows) *
         at_least_1(m->columns);
}

// Channels and images of a tile of inputs.
static double input_depth(const paper_mapping *m) {
  return inner(m, BLOCK_DIM_C, PAPER_ACCUMULATOR) * inner(m, BLOCK_DIM_N, PAPER_ACCUMULATOR) * at_least_1(m->rows);
}

static double result_tile(const paper_mapping *m) {
  double words = 1;
  for (unsigned d = 0; d < BLOCK_DIMS; d++)
    if (RESULT_DIMS >> d & 1)
      words *= at_least_1(m->temporal[PAPER_ACCUMULATOR][d]) * at_least_1(m->temporal[PAPER_REGISTERS][d]);
  return words;
}

paper_need paper_need_of(const layers_layer *layer, const paper_mapping *m) {
  const axis rows = axis_of(layer, m, 0), columns = axis_of(layer, m, 1);
  const double side = m->rows > m->columns ? m->rows : m->columns;
  return (paper_need){.side = at_least_1(side),
                      .scratchpad_words = weight_tile(m) + input_depth(m) * extent_of(&rows) * extent_of(&columns),
                      .column_words = result_tile(m)};
}

paper_traffic paper_traffic_of(const layers_layer *layer, const paper_mapping *m) {
  nest n;
  gather_loops(m, &n);
  const double rows = at_least_1(m->rows), columns = at_least_1(m->columns);
  return (paper_traffic){
      .macs = layers_product_macs(layer),
      .results = (double)(layer->size[BLOCK_DIM_N] * layer->size[BLOCK_DIM_P] * layer->size[BLOCK_DIM_Q] *
                          layer->size[BLOCK_DIM_K]),
      .rows = rows,
      .columns = columns,
      .weight_fills0 = fills_outside(&n, PAPER_REGISTERS, WEIGHT_DIMS) * rows * columns,
      .weight_fills2 = weight_tile(m) * fills_outside(&n, PAPER_SCRATCHPAD, WEIGHT_DIMS),
      .input_fills2 = input_depth(m) * input_elements(layer, m, &n),
      .result_fills1 = result_tile(m) * fills_outside(&n, PAPER_ACCUMULATOR, RESULT_DIMS) * columns,
  };
}
