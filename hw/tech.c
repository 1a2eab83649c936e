// SPDX-License-Identifier: Apache-2.0
// Technology tables: the built-in ones, and what an array costs in them. The reader is in tech_yaml.c.
#include "hw/tech.h"

#include <assert.h>
#include <string.h>

#include "hw/tech_files.h"

const char *hw_tech_builtin_yaml(size_t index) { return index < hw_tech_file_count ? hw_tech_files[index].text : NULL; }

const char *hw_tech_builtin_name(size_t index) { return index < hw_tech_file_count ? hw_tech_files[index].name : NULL; }

// Files are named by their tables and parse: the tests see to it.
bool hw_tech_named(hw_tech *tech, const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < hw_tech_file_count; i++) {
    const wf_text_file *file = &hw_tech_files[i];
    if (strncmp(file->name, name, length) != 0 || strcmp(file->name + length, ".yaml") != 0) continue;
    wf_diag diag = wf_diag_to(stderr);
    const bool good = hw_tech_parse(tech, file->name, file->text, strlen(file->text), &diag);
    assert(good);
    return good;
  }
  return false;
}

void hw_tech_of(hw_tech *tech, const hw_array *array) {
  const hw_param *param = hw_param_find("chip.technology");
  char name[HW_NAME_MAX];
  hw_param_text(param, hw_param_get(array, param), name, sizeof name);
  if (hw_tech_named(tech, name)) return;
  *tech = (hw_tech){0};
  memcpy(tech->name, name, sizeof name);
}

double hw_tech_accumulator_pj(const hw_tech *tech, const hw_array *array) {
  assert(tech->has.energy_pj);
  return tech->energy_pj.accumulator +
         tech->energy_pj.accumulator_per_kib_of_column * array->accumulator.capacity_kib / hw_derive(array).dim;
}

double hw_tech_scratchpad_pj(const hw_tech *tech, const hw_array *array) {
  assert(tech->has.energy_pj);
  return tech->energy_pj.scratchpad + tech->energy_pj.scratchpad_per_kib * array->scratchpad.capacity_kib;
}

static double unit_area(const hw_tech_area *area, const hw_array *array) {
  const double dim = hw_derive(array).dim;
  return area->constant + area->lane * dim + area->pe * dim * dim;
}

hw_area hw_tech_area_of(const hw_tech *tech, const hw_array *array) {
  assert(tech->has.area_um2);
  const uint64_t kib = (uint64_t)array->scratchpad.capacity_kib + array->accumulator.capacity_kib;
  hw_area area = {.memory_bits = kib * 1024 * 8};
#define GROUP(group, doc)
#define END(group)
#define NUMBER(group, field, ...)
#define AREA(group, field, ...) area.field = unit_area(&tech->area_um2.field, array);
#include "hw/tech_params.def"
#undef AREA
  if (!array->units.loop_matmul) area.loop_matmul = 0;
  if (!array->units.loop_conv) area.loop_conv = 0;
#define AREA(group, field, ...) area.total += area.field;
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
  return area;
}
