// SPDX-License-Identifier: Apache-2.0
// Closed forms: see forms.h.
#include "search/crosscheck/forms.h"

#include <string.h>

#include "base/number.h"

#define X(NAME, name, ...) name,
const char *const crosscheck_form_names[CROSSCHECK_FORM_COUNT] = {CROSSCHECK_FORMS(X)};
#undef X

crosscheck_form crosscheck_form_named(const char *name) {
  crosscheck_form form = 0;
  while (form < CROSSCHECK_FORM_COUNT && strcmp(crosscheck_form_names[form], name) != 0) form++;
  return form;
}

typedef struct form_row {
  crosscheck_stationary stationary;
  int64_t fill, once;
} form_row;

static form_row row_of(crosscheck_form form, unsigned side) {
#define X(NAME, name, stationary, fill, once) {stationary, fill, once},
  const form_row rows[CROSSCHECK_FORM_COUNT] = {CROSSCHECK_FORMS(X)};
#undef X
  return rows[form];
}

crosscheck_said crosscheck_ask(crosscheck_form form, const layers_layer *layer, unsigned side) {
  const form_row row = row_of(form, side);
  const int64_t *size = layer->size;
  const int64_t m = size[BLOCK_DIM_N] * size[BLOCK_DIM_P] * size[BLOCK_DIM_Q],
                k = size[BLOCK_DIM_R] * size[BLOCK_DIM_S] * size[BLOCK_DIM_C],
                n = layer->depthwise ? 1 : size[BLOCK_DIM_K],
                products = layer->depthwise ? size[BLOCK_DIM_K] : layers_groups(layer);
  const bool weights_stay = row.stationary == CROSSCHECK_WEIGHTS_STAY;
  crosscheck_said said;
  said.folds = products * wf_ceil_div(weights_stay ? k : m, (int64_t)side) * wf_ceil_div(n, (int64_t)side);
  said.rows = said.folds * (weights_stay ? m : k);
  said.fills = said.folds * row.fill - products * row.once;
  said.cycles = said.rows + said.fills;
  return said;
}
