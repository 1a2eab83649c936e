// SPDX-License-Identifier: Apache-2.0
// The hardware of arrays: its files, and models of it for engine rtl. See weft.h.
#include <stdlib.h>
#include <string.h>

#include "api/private.h"
#include "hw/export/export.h"
#include "sim/rtl/build.h"

weft_status weft_hardware_write(weft_session *s, const weft_array *array, const char *directory, uint64_t *files) {
  if (!api_begin(s, "hardware") || !api_given(s, array, "the array") || !api_given(s, directory, "the folder"))
    return WEFT_USAGE;
  size_t count = 0;
  const bool good = hw_array_check(&array->array, array->array.name, &s->diag) &&
                    hw_export_write(&array->array, directory, &count, &s->diag);
  if (files != NULL) *files = count;
  return api_end(s, good, WEFT_BAD_INPUT);
}

char *weft_hardware_file(weft_session *s, const weft_array *array, const char *name) {
  if (!api_begin(s, "hardware") || !api_given(s, array, "the array") || !api_given(s, name, "the file's name"))
    return NULL;
  if (!hw_array_check(&array->array, array->array.name, &s->diag)) {
    api_end(s, false, WEFT_BAD_INPUT);
    return NULL;
  }
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  const bool found = out != NULL && hw_export_file(&array->array, name, out);
  if (out != NULL) fclose(out);
  if (found) return api_end(s, true, WEFT_OK) == WEFT_OK ? text : NULL;
  free(text);
  api_refuse(s, "there is no file %s", name);
  return NULL;
}

weft_status weft_hardware_limit_at(const weft_array *array, size_t index, weft_hardware_limit *limit) {
  hw_export_limit limits[HW_EXPORT_LIMITS_MAX];
  if (array == NULL || index >= hw_export_limits(&array->array, limits)) return WEFT_USAGE;
  const hw_export_limit *from = &limits[index];
  weft_hardware_limit full = {.reason = from->reason};
  _Static_assert(sizeof full.parameter >= sizeof from->parameter, "names of parameters have room");
  _Static_assert(sizeof full.value >= sizeof from->value, "values of parameters have room");
  memcpy(full.parameter, from->parameter, sizeof from->parameter);
  memcpy(full.value, from->value, sizeof from->value);
  return api_give(&full, sizeof full, limit);
}

static bool tell(void *context, const char *text) {
  weft_session *s = context;
  api_progress(s, 0, 0, text);
  return !wf_stop_wanted(&s->stop);
}

char *weft_hardware_build(weft_session *s, const weft_array *array, const weft_hardware_options *options,
                          weft_hardware_facts *facts) {
  weft_hardware_options o = {0};
  if (!api_begin(s, "hardware") || !api_given(s, array, "the array") || !api_take(s, options, &o, sizeof o))
    return NULL;
  const sim_rtl_build_options with = {.wave = o.wave, .jobs = o.jobs, .tell = tell, .context = s};
  sim_rtl_model model;
  const bool good = sim_rtl_build(&array->array, &with, &model, &s->diag);
  const weft_hardware_facts full = {.cached = model.cached, .seconds = model.seconds};
  if (good && facts != NULL) api_give(&full, sizeof full, facts);
  return api_end(s, good, WEFT_CANNOT_BUILD) == WEFT_OK ? model.path : NULL;
}
