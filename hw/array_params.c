// SPDX-License-Identifier: Apache-2.0
// The parameter table as data, made from array_params.def, and access to one parameter of an array by its entry.
// A dotted name ("scratchpad.banks") and a value as text are what files, hashes and listings use; the layout of
// hw_array never leaves this process.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "hw/array_internal.h"

// The number of '|' in a literal of at most 31 characters, as a constant: the largest index of an enumeration.
#define BAR(text, i) ((i) < sizeof(text) && (text)[(i) < sizeof(text) ? (i) : 0] == '|')
#define BARS4(text, i) (BAR(text, i) + BAR(text, (i) + 1) + BAR(text, (i) + 2) + BAR(text, (i) + 3))
#define BARS16(text, i) (BARS4(text, i) + BARS4(text, (i) + 4) + BARS4(text, (i) + 8) + BARS4(text, (i) + 12))
#define BARS(text) (BARS16(text, 0) + BARS16(text, 16))

static const hw_param table[] = {
#define SECTION(section, doc)
#define END(section)
#define U32(section, field, initial, min, max, unit, doc) \
  {#section, #field, HW_PARAM_U32, offsetof(hw_array, section.field), initial, min, max, "", unit, doc},
#define POW2(section, field, initial, min, max, unit, doc) \
  {#section, #field, HW_PARAM_POW2, offsetof(hw_array, section.field), initial, min, max, "", unit, doc},
#define FLAG(section, field, initial, doc) \
  {#section, #field, HW_PARAM_FLAG, offsetof(hw_array, section.field), initial, 0, 1, "", "", doc},
#define ENUM(section, field, initial, values, doc) \
  {#section, #field, HW_PARAM_ENUM, offsetof(hw_array, section.field), initial, 0, BARS(values), values, "", doc},
#include "hw/array_params.def"
#undef SECTION
#undef END
#undef U32
#undef POW2
#undef FLAG
#undef ENUM
};
static_assert(sizeof table / sizeof *table == HW_PARAM_COUNT, "one entry per parameter");

#define SECTION(section, doc)
#define END(section)
#define U32(section, field, initial, min, max, unit, doc) \
  static_assert((min) <= (initial) && (initial) <= (max), #section "." #field);
#define POW2(section, field, initial, min, max, unit, doc)                                                \
  U32(section, field, initial, min, max, unit, doc)                                                       \
  static_assert(((initial) & ((initial)-1)) == 0 && ((min) & ((min)-1)) == 0 && ((max) & ((max)-1)) == 0, \
                #section "." #field " is a power of two");
#define FLAG(section, field, initial, doc)
#define ENUM(section, field, initial, values, doc) static_assert(sizeof(values) <= 32, #section "." #field);
#include "hw/array_params.def"
#undef SECTION
#undef END
#undef U32
#undef POW2
#undef FLAG
#undef ENUM

static const hw_section sections[] = {
#define SECTION(section, doc) {#section, doc},
#define END(section)
#define U32(...)
#define POW2(...)
#define FLAG(...)
#define ENUM(...)
#include "hw/array_params.def"
#undef SECTION
#undef END
#undef U32
#undef POW2
#undef FLAG
#undef ENUM
};

const hw_section *hw_section_at(size_t index) {
  return index < sizeof sections / sizeof *sections ? &sections[index] : NULL;
}

const hw_param *hw_params(size_t *count) {
  *count = HW_PARAM_COUNT;
  return table;
}

const hw_param *hw_param_find(const char *dotted_name) {
  const char *dot = strchr(dotted_name, '.');
  if (dot == NULL) return NULL;
  size_t length = (size_t)(dot - dotted_name);
  for (size_t i = 0; i < HW_PARAM_COUNT; i++) {
    const hw_param *param = &table[i];
    bool same_section = strlen(param->section) == length && memcmp(param->section, dotted_name, length) == 0;
    if (same_section && strcmp(param->name, dot + 1) == 0) return param;
  }
  return NULL;
}

uint32_t hw_param_get(const hw_array *array, const hw_param *param) {
  const char *field = (const char *)array + param->offset;
  if (param->kind == HW_PARAM_FLAG) return *(const bool *)field;
  return *(const uint32_t *)field;
}

void hw_param_set(hw_array *array, const hw_param *param, uint32_t value) {
  char *field = (char *)array + param->offset;
  if (param->kind == HW_PARAM_FLAG) {
    *(bool *)field = value != 0;
  } else {
    *(uint32_t *)field = value;
  }
}

// The index-th of "a|b|c": its start and length, or NULL past the end.
static const char *enum_value(const char *values, uint32_t index, size_t *length) {
  for (; index > 0; index--) {
    values = strchr(values, '|');
    if (values == NULL) return NULL;
    values++;
  }
  *length = strcspn(values, "|");
  return values;
}

void hw_param_text(const hw_param *param, uint32_t value, char *text, size_t size) {
  size_t length = 0;
  const char *name = param->kind == HW_PARAM_ENUM ? enum_value(param->values, value, &length) : NULL;
  if (param->kind == HW_PARAM_FLAG) {
    snprintf(text, size, "%s", value != 0 ? "true" : "false");
  } else if (name != NULL) {
    snprintf(text, size, "%.*s", (int)length, name);
  } else {
    snprintf(text, size, "%" PRIu32, value);
  }
}

// Decimal digits without sign or leading zero (a leading zero means octal to some YAML readers).
static bool parse_number(const char *text, uint32_t *value) {
  uint64_t number = 0;
  size_t length = strspn(text, "0123456789");
  if (length == 0 || text[length] != '\0' || (text[0] == '0' && length > 1)) return false;
  for (size_t i = 0; i < length; i++) {
    number = number * 10 + (uint64_t)(text[i] - '0');
    if (number > UINT32_MAX) return false;
  }
  *value = (uint32_t)number;
  return true;
}

static bool parse_flag(const char *text, uint32_t *value) {
  *value = strcmp(text, "true") == 0;
  return *value || strcmp(text, "false") == 0;
}

static bool parse_enum(const char *values, const char *text, uint32_t *value) {
  size_t length = 0;
  const char *name;
  for (uint32_t i = 0; (name = enum_value(values, i, &length)) != NULL; i++) {
    if (strlen(text) == length && memcmp(text, name, length) == 0) {
      *value = i;
      return true;
    }
  }
  return false;
}

bool hw_param_value(const hw_param *param, const char *text, uint32_t *value) {
  uint32_t number = 0;
  switch (param->kind) {
    case HW_PARAM_FLAG:
      if (!parse_flag(text, &number)) return false;
      break;
    case HW_PARAM_ENUM:
      if (!parse_enum(param->values, text, &number)) return false;
      break;
    case HW_PARAM_U32:
    case HW_PARAM_POW2:
      if (!parse_number(text, &number) || number < param->min || number > param->max) return false;
      if (param->kind == HW_PARAM_POW2 && (number & (number - 1)) != 0) return false;
      break;
  }
  *value = number;
  return true;
}

void hw_array_default(hw_array *array) {
  memset(array, 0, sizeof *array);
  snprintf(array->name, sizeof array->name, "gemmini-default");
  for (size_t i = 0; i < HW_PARAM_COUNT; i++) hw_param_set(array, &table[i], table[i].initial);
}
