// SPDX-License-Identifier: Apache-2.0
// Mappings of the plain model as mappings that the compiler carries out.
#ifndef SEARCH_TRUTH_REALISE_H
#define SEARCH_TRUTH_REALISE_H

#include "compiler/mapping/mapping.h"
#include "search/model/paper.h"

enum { TRUTH_REALISE_MAX = 8 };

// The blocks and the order of a mapping of the plain model, with one or two slots for each operand: those of the
// combinations that the array has room for. 0: none, or its dataflow has no weights that stay.
//
// What differs from the plain model: columns and depth of a block grow to whole rows of the memories; loops over the
// depth of sums run inside of all others, as sums stay in the accumulator until they are complete. A block that the
// scratchpad has no room for is cut in its depth.
size_t truth_realise_mappings(const layers_layer *layer, const paper_mapping *from, const hw_array *array,
                              map_mapping mappings[TRUTH_REALISE_MAX]);

#endif
