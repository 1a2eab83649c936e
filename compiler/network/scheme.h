// SPDX-License-Identifier: Apache-2.0
// How a layer is computed: the kernel, how its operands lie, and the copies that this takes. The rules of lowering
// choose one for every node (lower_conv.c, lower_beside.c, compiler/layer/); what else is legal for a node can be
// listed and given, so that a judge can choose in their place (runner/kernels.h).
#ifndef COMPILER_NETWORK_SCHEME_H
#define COMPILER_NETWORK_SCHEME_H

#include "arch/memory.h"
#include "compiler/block/block.h"
#include "compiler/graph/graph.h"
#include "hw/array.h"

// X(NAME, text): how the sums are made.
#define NETWORK_WAYS(X)                                                                      \
  X(RULES, "rules")                                                                          \
  X(PRODUCT, "product")         /* pixels times weights: windows of one element, matrices */ \
  X(TAPS, "taps")               /* one element of the window after the other */              \
  X(ROWS, "rows")               /* rows of the window; windows at the edges by themselves */ \
  X(PADDED_ROWS, "padded rows") /* the same behind a copy with its padding */                \
  X(COLUMNS, "copied windows")  /* a copy of every window, then one product */               \
  X(GROUPS, "groups")           /* groups side by side in blocks */
typedef enum {
#define X(NAME, text) NETWORK_BY_##NAME,
  NETWORK_WAYS(X)
#undef X
      NETWORK_WAY_COUNT
} network_way;

typedef enum { NETWORK_POOL_BY_RULE, NETWORK_POOL_WITH, NETWORK_POOL_APART } network_pool_way;

typedef struct network_scheme {
  network_way way;  // by rules: the rest says nothing
  bool dense;       // channels in groups as one convolution, whose weights between groups are zeros that are left out
  int64_t beside;   // pixels side by side, 1 or more; of GROUPS, groups in a block
  block_style style;
  network_pool_way pool;
} network_scheme;

static inline bool network_scheme_equal(const network_scheme *a, const network_scheme *b) {
  return a->way == b->way && a->dense == b->dense && a->beside == b->beside && a->style == b->style &&
         a->pool == b->pool;
}

// "dense rows, 4 side by side, as loops, pooled apart"
const char *network_scheme_text(const network_scheme *scheme, wf_arena *arena);

// The schemes that are legal for a node of a placed graph on an array, the rules first; what cannot be compiled for
// want of room is among them. Returns how many; 1: there is no choice.
enum { NETWORK_SCHEMES_MAX = 48 };
size_t network_list_schemes(const graph *g, const graph_node *node, const hw_array *array,
                            network_scheme list[NETWORK_SCHEMES_MAX]);

#endif
