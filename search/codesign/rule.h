// SPDX-License-Identifier: Apache-2.0
// Constraints of a design space: comparisons of sums and products over numbers and parameters of the array, such as
// `accumulator.capacity_kib <= scratchpad.capacity_kib / 2` or `area_mm2 < 4`.
//
//   rule   = sum ("<=" | ">=" | "<" | ">" | "==" | "!=") sum
//   sum    = product (("+" | "-") product)*
//   product = value (("*" | "/") value)*
//   value  = NUMBER | NAME | "(" sum ")"
//
// NAME is a parameter (`dma.bus_bits`; flags are 0 or 1, choices their place in the list), `dim`, `area_mm2`,
// or `path_ns`, the longest path of its units in 40 nm.
#ifndef SEARCH_CODESIGN_RULE_H
#define SEARCH_CODESIGN_RULE_H

#include "base/arena.h"
#include "base/diag.h"
#include "hw/array.h"

typedef struct codesign_rule codesign_rule;

// In the arena; NULL after an error was reported, with its column where `where` is the start of the text.
const codesign_rule *codesign_rule_parse(wf_arena *arena, const char *text, wf_location where, wf_diag *diag);
bool codesign_rule_holds(const codesign_rule *rule, const hw_array *array);
const char *codesign_rule_text(const codesign_rule *rule);

#endif
