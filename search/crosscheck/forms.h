// SPDX-License-Identifier: Apache-2.0
// Closed forms of other simulators of systolic arrays: the cycles that they give for a product M x K x N on a square
// array, of side D. docs/crosscheck.md has their sources and what each leaves out.
#ifndef SEARCH_CROSSCHECK_FORMS_H
#define SEARCH_CROSSCHECK_FORMS_H

#include "hw/array.h"
#include "search/layers/layers.h"

// X(NAME, name, stationary, fill): a fold takes as many cycles as the operand that streams has rows, and `fill` more.
// Weights stay: ceil(K/D) ceil(N/D) folds of M rows. Results stay: ceil(M/D) ceil(N/D) folds of K rows. `fill` is a
// function of D; `once` is taken off the whole.
#define CROSSCHECK_FORMS(X)                                                          \
  X(SCALE_SIM, "scale-sim", CROSSCHECK_WEIGHTS_STAY, 3 * (int64_t)side - 2, 1)       \
  X(SCALE_SIM_OS, "scale-sim-os", CROSSCHECK_RESULTS_STAY, 3 * (int64_t)side - 2, 1) \
  X(STONNE, "stonne", CROSSCHECK_RESULTS_STAY, 2 * (int64_t)side + 3, 0)

typedef enum { CROSSCHECK_WEIGHTS_STAY, CROSSCHECK_RESULTS_STAY } crosscheck_stationary;
typedef enum {
#define X(NAME, ...) CROSSCHECK_##NAME,
  CROSSCHECK_FORMS(X)
#undef X
      CROSSCHECK_FORM_COUNT
} crosscheck_form;
extern const char *const crosscheck_form_names[CROSSCHECK_FORM_COUNT];

// A form by its name; CROSSCHECK_FORM_COUNT: there is none.
crosscheck_form crosscheck_form_named(const char *name);

// What a form says of a layer, its groups one after the other. `cycles` = `rows` + `fills`.
typedef struct crosscheck_said {
  int64_t folds, rows;  // rows: of all folds
  int64_t fills;        // cycles besides them
  int64_t cycles;
} crosscheck_said;
crosscheck_said crosscheck_ask(crosscheck_form form, const layers_layer *layer, unsigned side);

#endif
