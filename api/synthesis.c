// SPDX-License-Identifier: Apache-2.0
// The hardware of arrays in standard cells, and technology tables fitted to it. See weft.h.
#include <stdlib.h>

#include "api/private.h"
#include "base/alloc.h"
#include "hw/export/fit.h"
#include "hw/export/synth.h"

struct weft_synthesis {
  hw_synth_result result;
};

static bool tell(void *context, size_t done, size_t count, const char *unit) {
  weft_session *s = context;
  api_progress(s, done, count, unit);
  return !wf_stop_wanted(&s->stop);
}

weft_synthesis *weft_synthesis_run(weft_session *s, const weft_array *array, const char *unit) {
  if (!api_begin(s, "synthesis") || !api_given(s, array, "the array")) return NULL;
  weft_synthesis *made = WF_NEW(weft_synthesis);
  const hw_synth_options options = {.unit = unit, .tell = tell, .context = s};
  const bool good = hw_array_check(&array->array, array->array.name, &s->diag) &&
                    hw_synth(&array->array, &options, &made->result, &s->diag);
  if (api_end(s, good, WEFT_CANNOT_BUILD) == WEFT_OK) return made;
  wf_free(made);
  return NULL;
}

void weft_synthesis_destroy(weft_synthesis *synthesis) { wf_free(synthesis); }

weft_status weft_synthesis_describe(const weft_synthesis *synthesis, weft_synthesis_facts *facts) {
  if (synthesis == NULL) return WEFT_USAGE;
  const hw_synth_result *r = &synthesis->result;
  const weft_synthesis_facts full = {.library = HW_SYNTH_LIBRARY,
                                     .clock_mhz = HW_SYNTH_CLOCK_MHZ,
                                     .area_um2 = r->area_um2,
                                     .power_mw = r->power_mw,
                                     .memory_bits = r->memory_bits};
  return api_give(&full, sizeof full, facts);
}

weft_status weft_synthesis_at(const weft_synthesis *synthesis, size_t index, weft_synthesis_unit *unit) {
  if (synthesis == NULL || index >= synthesis->result.count) return WEFT_USAGE;
  const hw_synth_unit *from = &synthesis->result.units[index];
  const weft_synthesis_unit full = {.name = from->name,
                                    .part = from->part,
                                    .instances = from->instances,
                                    .cells = from->cells,
                                    .area_um2 = from->area_um2,
                                    .path_ns = from->path_ns,
                                    .power_mw = from->power_mw,
                                    .memory_bits = from->memory_bits};
  return api_give(&full, sizeof full, unit);
}

weft_status weft_synthesis_part_at(const weft_synthesis *synthesis, size_t index, weft_synthesis_part *part) {
  if (synthesis == NULL || index >= synthesis->result.part_count) return WEFT_USAGE;
  const hw_synth_part *from = &synthesis->result.parts[index];
  const weft_synthesis_part full = {.name = from->name,
                                    .area_um2 = from->area_um2,
                                    .expected_um2 = from->expected_um2,
                                    .path_ns = from->path_ns,
                                    .expected_path_ns = from->expected_path_ns};
  return api_give(&full, sizeof full, part);
}

// ---- tables

_Static_assert(WEFT_FIT_LEAST == (int)HW_FIT_POINTS_MIN && WEFT_FIT_MOST == (int)HW_FIT_POINTS_MAX,
               "a fit takes so many arrays");

static char *table_of(const hw_fit_arrays *arrays, const char *origin) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out == NULL) return NULL;
  hw_fit_write(arrays, origin == NULL ? "weft_synthesis_fit" : origin, out);
  fclose(out);
  return text;
}

char *weft_synthesis_fit(weft_session *s, const char *const *files, size_t count, const char *origin) {
  if (!api_begin(s, "fit") || !api_given(s, files, "the list of files")) return NULL;
  if (count < WEFT_FIT_LEAST || count > WEFT_FIT_MOST) {
    api_refuse(s, "a fit takes %d to %d arrays", WEFT_FIT_LEAST, WEFT_FIT_MOST);
    return NULL;
  }
  for (size_t n = 0; n < count; n++)
    if (!api_given(s, files[n], "a file of the list")) return NULL;
  hw_fit_arrays *arrays = WF_NEW(hw_fit_arrays);
  bool good = true;
  for (size_t n = 0; n < count && good; n++) good = hw_fit_read(arrays, files[n], &s->diag);
  char *text = good ? table_of(arrays, origin) : NULL;
  wf_free(arrays);
  api_end(s, text != NULL, WEFT_BAD_INPUT);
  return text;
}
