// SPDX-License-Identifier: Apache-2.0
// What an array comes to: what follows from its parameters, and its area. See weft.h.
#include <stdlib.h>

#include "api/private.h"
#include "compiler/network/unit.h"
#include "hw/cost.h"
#include "hw/tech.h"

const char *weft_array_description(const weft_array *array) { return array == NULL ? "" : array->array.description; }

char *weft_parameter_reference(weft_session *s) {
  if (!api_begin(s, "array")) return NULL;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  bool good = out != NULL && hw_write_markdown(out);
  if (out != NULL) good = fclose(out) == 0 && good;
  if (api_end(s, good, WEFT_CANNOT_BUILD) == WEFT_OK) return text;
  free(text);
  return NULL;
}

static bool has_energies(const hw_array *array) {
  hw_tech tech;
  hw_tech_of(&tech, array);
  return tech.has.energy_pj;
}

weft_status weft_array_describe(const weft_array *array, weft_array_facts *facts) {
  if (array == NULL) return WEFT_USAGE;
  const hw_derived d = hw_derive(&array->array);
  const weft_array_facts full = {.dim = d.dim,
                                 .sp_rows = d.sp_rows,
                                 .sp_bank_rows = d.sp_bank_rows,
                                 .acc_rows = d.acc_rows,
                                 .acc_bank_rows = d.acc_bank_rows,
                                 .row_bits = d.row_bits,
                                 .sp_row_bytes = d.sp_row_bytes,
                                 .acc_row_bytes = d.acc_row_bytes,
                                 .max_block_len = d.max_block_len,
                                 .max_block_len_acc = d.max_block_len_acc,
                                 .max_cols = d.max_cols,
                                 .max_cols_acc = d.max_cols_acc,
                                 .mesh_latency = d.mesh_latency,
                                 .max_matmuls = d.max_matmuls,
                                 .load_commands_tracked = d.load_commands_tracked,
                                 .store_commands_tracked = d.store_commands_tracked,
                                 .unit_columns = (uint32_t)network_unit_columns(&array->array),
                                 .energies = has_energies(&array->array)};
  return api_give(&full, sizeof full, facts);
}

// ---- area

weft_status weft_array_area(const weft_array *array, size_t index, weft_area *area) {
  if (array == NULL || index > HW_COST_PARTS) return WEFT_USAGE;
  const hw_cost cost = hw_cost_of(&array->array);
  const hw_cost_band *band = index == 0 ? &cost.total : &cost.part[index - 1];
  const weft_area full = {.part = index == 0 ? "all" : hw_cost_part_names[index - 1],
                          .um2 = band->value,
                          .low_um2 = band->low,
                          .high_um2 = band->high};
  return api_give(&full, sizeof full, area);
}

weft_status weft_array_area_term(const weft_array *array, size_t index, weft_area_term *term) {
  hw_cost_term of;
  if (array == NULL || !hw_cost_term_at(&array->array, index, &of)) return WEFT_USAGE;
  const weft_area_term full = {.part = hw_cost_part_names[of.part],
                               .um2 = of.um2,
                               .number = of.number,
                               .counted = of.driver,
                               .what = of.what,
                               .source = of.source};
  return api_give(&full, sizeof full, term);
}

weft_status weft_array_path(const weft_array *array, size_t index, weft_unit_path *path) {
  hw_cost_path of;
  if (array == NULL || !hw_cost_path_at(&array->array, index, &of)) return WEFT_USAGE;
  const weft_unit_path full = {.unit = of.unit,
                               .part = hw_cost_part_names[of.part],
                               .ns = of.ns.value,
                               .low_ns = of.ns.low,
                               .high_ns = of.ns.high};
  return api_give(&full, sizeof full, path);
}

weft_status weft_array_area_unknown(size_t index, weft_area_unknown *unknown) {
  const hw_cost_unknown *of = hw_cost_unknown_at(index);
  if (of == NULL) return WEFT_USAGE;
  const weft_area_unknown full = {.what = of->what, .parameters = of->parameters};
  return api_give(&full, sizeof full, unknown);
}
