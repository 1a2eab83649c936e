// SPDX-License-Identifier: Apache-2.0
// Single operators as BACO (the thesis that `weft bench operators` follows) is measured on: 540 cases of its classes,
// drawn from the shapes of the models that it names.
#ifndef BENCH_OPERATORS_H
#define BENCH_OPERATORS_H

#include "search/layers/layers.h"

// X(NAME, name, cases, published: default and gradient search over the joint search)
#define BENCH_OPERATOR_GROUPS(X)         \
  X(PRODUCT, "product", 170, 4.89, 1.48) \
  X(VECTOR, "vector", 174, 5.42, 1.91)   \
  X(CONV_1D, "conv 1-D", 68, 3.47, 1.43) \
  X(CONV_2D, "conv 2-D", 128, 3.99, 1.28)
typedef enum {
#define X(NAME, name, cases, over_default, over_search) BENCH_##NAME,
  BENCH_OPERATOR_GROUPS(X)
#undef X
      BENCH_OPERATOR_GROUP_COUNT
} bench_operator_group;

// Classes: sizes M; N; K of products and vectors, images and filters of convolutions.
enum { BENCH_PRODUCT_CLASSES = 6, BENCH_CONV_CLASSES = 9, BENCH_OPERATOR_CASES = 540 };

typedef struct bench_operator {
  bench_operator_group group;
  unsigned in_class;    // of the products' classes, or of the convolutions'
  const char *network;  // whose rate of steps the published search takes
  layers_layer layer;
  char name[32];  // "product_17": layer.name
} bench_operator;

typedef struct bench_operator_row {
  const char *name;
  unsigned cases;
  double over_default, over_search;  // as published
} bench_operator_row;
extern const bench_operator_row bench_operator_groups[BENCH_OPERATOR_GROUP_COUNT];
const char *bench_operator_class(bench_operator_group group, unsigned in_class);
unsigned bench_operator_classes(bench_operator_group group);  // how many the group has

// All of them in the order of groups and classes; the same for the same seed. `cases` has BENCH_OPERATOR_CASES places.
void bench_operators_draw(uint64_t seed, bench_operator *cases);

#endif
