// SPDX-License-Identifier: Apache-2.0
// Nodes that stay in float (mixed.c).
#ifndef COMPILER_QUANTISE_MIXED_H
#define COMPILER_QUANTISE_MIXED_H

#include "compiler/quantise/quantise.h"

enum { QUANTISE_KEPT_MAX = 4096 };

bool quantise_is_kept(const quantise_options *options, const graph_node *node);
// Every name means a node that the hart can do in float; false after the others were reported.
bool quantise_check_kept(const graph *model, const quantise_options *options, wf_diag *diag);

typedef struct quantise_mixed {
  graph *model;
  const quantise_pins *pins;
  const quantise_ranges *ranges;
  quantise_options options;  // `keep` becomes the choice
  const char **kept;
  double first_db, last_db;  // of the worst output, before and with the choice
} quantise_mixed;
bool quantise_choose_kept(quantise_mixed *m, wf_diag *diag);

#endif
