// SPDX-License-Identifier: Apache-2.0
// Arrays: read, change, check, hash. See weft.h.
#include <stdlib.h>
#include <string.h>

#include "api/private.h"
#include "base/alloc.h"
#include "base/name.h"
#include "hw/array_text.h"

// ---- parameters

static const char *const kinds[] = {
    [HW_PARAM_U32] = "number", [HW_PARAM_POW2] = "power of two", [HW_PARAM_FLAG] = "flag", [HW_PARAM_ENUM] = "choice"};

weft_status weft_parameter_at(size_t index, weft_parameter *parameter) {
  size_t count;
  const hw_param *params = hw_params(&count);
  if (index >= count) return WEFT_USAGE;
  const hw_param *p = &params[index];
  weft_parameter full = {.kind = kinds[p->kind],
                         .choices = p->kind == HW_PARAM_ENUM ? p->values : NULL,
                         .initial = p->initial,
                         .min = p->min,
                         .max = p->max,
                         .unit = p->unit,
                         .meaning = p->doc};
  snprintf(full.name, sizeof full.name, "%s.%s", p->section, p->name);
  return api_give(&full, sizeof full, parameter);
}

// NULL after the call was refused.
static const hw_param *find(weft_session *s, const char *name) {
  const hw_param *found = hw_param_find(name);
  if (found != NULL) return found;
  size_t count;
  const hw_param *params = hw_params(&count);
  wf_nearest nearest = wf_nearest_start(name);
  for (size_t i = 0; i < count; i++) {
    char candidate[HW_WORD_MAX];
    snprintf(candidate, sizeof candidate, "%s.%s", params[i].section, params[i].name);
    wf_nearest_offer(&nearest, candidate);
  }
  wf_error(&s->diag, wf_in_file(NULL), "an array has no parameter \"%s\"", name);
  if (nearest.best[0] != '\0') wf_hint(&s->diag, "did you mean %s?", nearest.best);
  api_end(s, false, WEFT_BAD_INPUT);
  return NULL;
}

// ---- arrays

const char *weft_array_shipped(size_t index) { return hw_builtin_name(index); }

static weft_array *keep(weft_session *s, const hw_array *array, bool good) {
  if (api_end(s, good, WEFT_BAD_INPUT) != WEFT_OK) return NULL;
  weft_array *kept = WF_NEW(weft_array);
  kept->array = *array;
  return kept;
}

weft_array *weft_array_load(weft_session *s, const char *name_or_path) {
  hw_array array;
  if (!api_begin(s, "array") || !api_given(s, name_or_path, "the array's name")) return NULL;
  const bool good = hw_array_load(&array, name_or_path, &s->diag);
  return keep(s, &array, good);
}

weft_array *weft_array_parse(weft_session *s, const char *name, const char *text, size_t length) {
  hw_array array;
  if (!api_begin(s, "array") || !api_given(s, name, "the name") || !api_given(s, text, "the text")) return NULL;
  const bool good = hw_array_parse(&array, name, text, length, &s->diag);
  return keep(s, &array, good);
}

weft_array *weft_array_copy(const weft_array *array) {
  if (array == NULL) return NULL;
  weft_array *copy = WF_NEW(weft_array);
  *copy = *array;
  api_array_own(copy);
  return copy;
}

void api_array_own(weft_array *copy) {
  if (copy->array.tech == NULL) return;
  copy->tech = *copy->array.tech;
  copy->array.tech = &copy->tech;
}

weft_status weft_array_technology(weft_session *s, weft_array *array, const char *path) {
  if (!api_begin(s, "array") || !api_given(s, array, "the array") || !api_given(s, path, "the path")) return WEFT_USAGE;
  hw_tech *tech = hw_tech_load(path, &s->diag);
  if (tech != NULL) {
    array->tech = *tech;
    array->array.tech = &array->tech;
  }
  wf_free(tech);
  return api_end(s, tech != NULL, WEFT_BAD_INPUT);
}

void weft_array_destroy(weft_array *array) { wf_free(array); }

const char *weft_array_name(const weft_array *array) { return array == NULL ? "" : array->array.name; }

weft_status weft_array_rename(weft_session *s, weft_array *array, const char *name) {
  if (!api_begin(s, "array") || !api_given(s, array, "the array") || !api_given(s, name, "the name")) return WEFT_USAGE;
  char shown[WF_NAME_LINE];
  if (!hw_array_name_valid(name)) {
    wf_error(&s->diag, wf_in_file(NULL), "\"%s\" is no name of an array", wf_name_shown(name, shown));
    wf_hint(&s->diag, "letters a to z, digits and dashes, at most %d", HW_NAME_MAX - 1);
    return api_end(s, false, WEFT_BAD_INPUT);
  }
  snprintf(array->array.name, sizeof array->array.name, "%s", name);
  return api_end(s, true, WEFT_OK);
}

weft_status weft_array_get(weft_session *s, const weft_array *array, const char *parameter, uint32_t *value) {
  if (!api_begin(s, "array") || !api_given(s, array, "the array") || !api_given(s, parameter, "the parameter") ||
      !api_given(s, value, "the place of the value"))
    return WEFT_USAGE;
  const hw_param *p = find(s, parameter);
  if (p == NULL) return WEFT_BAD_INPUT;
  *value = hw_param_get(&array->array, p);
  return api_end(s, true, WEFT_OK);
}

weft_status weft_array_get_text(weft_session *s, const weft_array *array, const char *parameter, char *text,
                                size_t size) {
  if (!api_begin(s, "array") || !api_given(s, array, "the array") || !api_given(s, parameter, "the parameter") ||
      !api_given(s, text, "the place of the text"))
    return WEFT_USAGE;
  const hw_param *p = find(s, parameter);
  if (p == NULL) return WEFT_BAD_INPUT;
  char whole[HW_WORD_MAX];
  hw_param_text(p, hw_param_get(&array->array, p), whole, sizeof whole);
  if (strlen(whole) >= size) return api_refuse(s, "the text needs %zu bytes", strlen(whole) + 1);
  memcpy(text, whole, strlen(whole) + 1);
  return api_end(s, true, WEFT_OK);
}

static void refuse_value(weft_session *s, const hw_param *p, const char *value) {
  char shown[HW_WORD_MAX];
  hw_text_shown(value, shown, sizeof shown);
  wf_error(&s->diag, wf_in_file(NULL), "%s.%s cannot be \"%s\"", p->section, p->name, shown);
  if (p->kind == HW_PARAM_ENUM) {
    char list[WF_NAME_LINE];
    hw_text_list(p->values, list, sizeof list);
    wf_hint(&s->diag, "one of %s", list);
  } else if (p->kind == HW_PARAM_FLAG) {
    wf_hint(&s->diag, "true or false");
  } else {
    wf_hint(&s->diag, "a %s from %u to %u", kinds[p->kind], p->min, p->max);
  }
}

weft_status weft_array_set(weft_session *s, weft_array *array, const char *parameter, const char *value) {
  if (!api_begin(s, "array") || !api_given(s, array, "the array") || !api_given(s, parameter, "the parameter") ||
      !api_given(s, value, "the value"))
    return WEFT_USAGE;
  const hw_param *p = find(s, parameter);
  if (p == NULL) return WEFT_BAD_INPUT;
  uint32_t number;
  const bool good = hw_param_value(p, value, &number);
  if (good)
    hw_param_set(&array->array, p, number);
  else
    refuse_value(s, p, value);
  return api_end(s, good, WEFT_BAD_INPUT);
}

weft_status weft_array_check(weft_session *s, const weft_array *array) {
  if (!api_begin(s, "array") || !api_given(s, array, "the array")) return WEFT_USAGE;
  return api_end(s, hw_array_check(&array->array, array->array.name, &s->diag), WEFT_BAD_INPUT);
}

uint64_t weft_array_hash(const weft_array *array) { return array == NULL ? 0 : hw_array_hash(&array->array); }

char *weft_array_yaml(weft_session *s, const weft_array *array) {
  if (!api_begin(s, "array") || !api_given(s, array, "the array")) return NULL;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out != NULL) {
    hw_array_print(&array->array, out);
    fclose(out);
  }
  api_end(s, text != NULL, WEFT_CANNOT_BUILD);
  return text;
}
