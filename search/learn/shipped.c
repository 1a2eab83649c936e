// SPDX-License-Identifier: Apache-2.0
// The trees that travel in the program: see trees.h.
#include "search/learn/shipped.h"

#include <assert.h>

#include "search/learn/trees.h"

learn_trees learn_trees_shipped(void) {
  learn_trees trees;
  wf_diag diag = wf_diag_to(stderr);
  const bool good = learn_trees_parse(&trees, "shipped.trees", learn_shipped_text, &diag);
  assert(good);
  (void)good;
  return trees;
}
