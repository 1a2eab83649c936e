// SPDX-License-Identifier: Apache-2.0
// Technology tables: the built-in ones, and what an array costs in them. The reader is in tech_yaml.c.
#include "hw/tech.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
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

hw_tech *hw_tech_load(const char *path, wf_diag *diag) {
  size_t length;
  char *text = wf_read_file(path, HW_TECH_TEXT_MAX, &length, diag);
  hw_tech *tech = WF_NEW(hw_tech);
  const bool good = text != NULL && hw_tech_parse(tech, path, text, length, diag);
  wf_free(text);
  if (good) return tech;
  wf_free(tech);
  return NULL;
}

void hw_tech_of(hw_tech *tech, const hw_array *array) {
  if (array->tech != NULL) {
    *tech = *array->tech;
    return;
  }
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

double hw_tech_access_pj(double pj, double table_kib, double kib) { return pj * sqrt(kib / table_kib); }

static void add_area(hw_system_area *area, double part) {
  if (isnan(part))
    area->whole = false;
  else
    area->known += part;
}

hw_system_area hw_tech_system_area(const hw_tech *tech, const hw_array *array) {
  assert(tech->has.system_um2);
  const double dim = hw_derive(array).dim, caches = array->host.icache_kib + array->host.dcache_kib;
  hw_system_area a = {.mesh = tech->system_um2.pe * dim * dim,
                      .scratchpad = tech->system_um2.scratchpad_kib * array->scratchpad.capacity_kib,
                      .accumulator = tech->system_um2.accumulator_kib * array->accumulator.capacity_kib,
                      .controllers = tech->system_um2.controllers,
                      .hart = tech->system_um2.hart + tech->system_um2.hart_cache_kib * caches,
                      .l2 = array->l2.present ? tech->system_um2.l2_kib * array->l2.capacity_kib : 0,
                      .whole = true};
  const double parts[] = {a.mesh, a.scratchpad, a.accumulator, a.controllers, a.hart, a.l2};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) add_area(&a, parts[i]);
  return a;
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
