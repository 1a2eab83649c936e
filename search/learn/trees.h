// SPDX-License-Identifier: Apache-2.0
// Boosted regression trees: each is fitted to what the trees before it leave of the targets.
#ifndef SEARCH_LEARN_TREES_H
#define SEARCH_LEARN_TREES_H

#include "search/learn/set.h"

enum { LEARN_LEAVES = 15, LEARN_NODES = 2 * LEARN_LEAVES - 1 };

// Node 0 is the root. A leaf has no `below`.
typedef struct learn_node {
  uint16_t feature;
  uint8_t below[2];  // nodes: feature < limit, and not
  float limit;
  float value;  // of a leaf
} learn_node;

typedef struct learn_tree {
  learn_node node[LEARN_NODES];
  uint8_t count;
} learn_tree;

typedef struct learn_trees {
  learn_tree *trees;
  size_t count;
} learn_trees;

typedef struct learn_trees_options {
  unsigned trees;
  double rate;         // of what a tree says, this share is taken
  double clip;         // errors count at most so much
  unsigned least;      // rows of a leaf
  double rows, sites;  // shares that a tree sees, drawn for each
  uint64_t seed;
} learn_trees_options;
extern const learn_trees_options learn_trees_usual;

learn_trees learn_trees_fit(const learn_set *set, const learn_trees_options *options);
// More trees for what `trees` leaves of the set.
void learn_trees_grow(learn_trees *trees, const learn_set *set, const learn_trees_options *options);
void learn_trees_release(learn_trees *trees);

// The logarithm of simulated over predicted cycles.
double learn_trees_say(const learn_trees *trees, const float features[LEARN_FEATURES]);

void learn_trees_write(const learn_trees *trees, FILE *out);
// The trees that travel in the program, by `weft bench learn --write search/learn/shipped.trees`.
learn_trees learn_trees_shipped(void);
// `file` is its name in messages. False after an error was reported.
bool learn_trees_parse(learn_trees *trees, const char *file, const char *text, wf_diag *diag);

#endif
