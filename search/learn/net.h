// SPDX-License-Identifier: Apache-2.0
// A small transformer over the sites of a compiled program: each site's features are embedded as a token of its own
// kind, two encoder layers let tokens look at each other, and their sum says the correction.
#ifndef SEARCH_LEARN_NET_H
#define SEARCH_LEARN_NET_H

#include "search/learn/set.h"

enum { LEARN_WIDTH = 64, LEARN_HEADS = 4, LEARN_INNER = 256, LEARN_LAYERS = 2 };

typedef struct learn_net learn_net;

// Says 0 of everything: its last layer is zero. `set` gives means and spreads of features.
learn_net *learn_net_create(const learn_set *set, uint64_t seed);
void learn_net_destroy(learn_net *net);

size_t learn_net_weights(const learn_net *net);
float *learn_net_weight(learn_net *net);  // all of them, in a row

// The logarithm of simulated over predicted cycles for rows `first` to `first + count - 1`.
void learn_net_say(learn_net *net, const learn_set *set, size_t first, size_t count, float *said);
// Adds to `slopes`, one for each weight, the derivative of sum said[i] * by[i]; learn_net_say has just said them.
void learn_net_back(learn_net *net, size_t count, const float *by, float *slopes);

typedef struct learn_net_options {
  unsigned epochs;
  double rate;    // the highest of the cycle of rates
  double decay;   // of weights
  double ranks;   // weight of the order of pairs of a group, beside the error
  unsigned rows;  // of a step, in whole groups
  uint64_t seed;  // of the order of groups
} learn_net_options;
extern const learn_net_options learn_net_usual;

// Goes on with the weights as they are.
void learn_net_fit(learn_net *net, const learn_set *set, const learn_net_options *options);

#endif
