// SPDX-License-Identifier: Apache-2.0
// The two canonical forms of an array: YAML text with every key in table order, and a hash.
//
// The hash is FNV-1a over HASH_DOMAIN and one line "section.name=value\n" for each parameter that differs from its
// default, in table order, with the value as the YAML file writes it. So it depends neither on the layout of hw_array
// nor on the order of keys nor on name and description, and a parameter that is added later leaves the hashes of
// existing arrays alone while it has its default. A default that changes is a new meaning of old files: then
// HASH_DOMAIN must change too.
#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "hw/array_internal.h"

static const char HASH_DOMAIN[] = "weft-array-1\n";

enum { VALUE_MAX = 32 };

uint64_t hw_array_hash(const hw_array *array) {
  size_t count;
  const hw_param *params = hw_params(&count);
  uint64_t hash = wf_hash(WF_HASH_START, HASH_DOMAIN, strlen(HASH_DOMAIN));
  for (size_t i = 0; i < count; i++) {
    uint32_t value = hw_param_get(array, &params[i]);
    if (value == params[i].initial) continue;
    char text[VALUE_MAX], line[2 * HW_NAME_MAX + VALUE_MAX];
    hw_param_text(&params[i], value, text, sizeof text);
    int length = snprintf(line, sizeof line, "%s.%s=%s\n", params[i].section, params[i].name, text);
    hash = wf_hash(hash, line, (size_t)length);
  }
  return hash;
}

uint64_t hw_array_values_hash(const hw_array *array) {
  size_t count;
  const hw_param *params = hw_params(&count);
  uint64_t hash = WF_HASH_START;
  for (size_t i = 0; i < count; i++) {
    const uint32_t value = hw_param_get(array, &params[i]);
    hash = wf_hash(hash, &value, sizeof value);
  }
  return hash;
}

// The UTF-8 character at text and its length in *bytes; a byte that starts none stands for itself.
static uint32_t character_at(const unsigned char *text, size_t *bytes) {
  *bytes = 1;
  size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : text[0] >= 0xc0 ? 2 : 1;
  if (length == 1) return text[0];
  uint32_t value = text[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((text[i] & 0xc0) != 0x80) return text[0];
    value = value << 6 | (text[i] & 0x3fu);
  }
  *bytes = length;
  return value;
}

// Characters that a YAML reader refuses or folds when they stand for themselves.
static bool needs_escape(uint32_t character) {
  static const uint32_t special[] = {0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff};
  for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
    if (character == special[i]) return true;
  }
  return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

static void print_quoted(const char *text, FILE *out) {
  const unsigned char *p = (const unsigned char *)text;
  fputc('"', out);
  while (*p != '\0') {
    size_t bytes;
    uint32_t character = character_at(p, &bytes);
    if (character == '"' || character == '\\') {
      fprintf(out, "\\%c", (int)character);
    } else if (needs_escape(character)) {
      fprintf(out, "\\u%04" PRIx32, character);
    } else {
      fwrite(p, 1, bytes, out);
    }
    p += bytes;
  }
  fputc('"', out);
}

void hw_array_print(const hw_array *array, FILE *out) {
  size_t count;
  const hw_param *params = hw_params(&count);
  fprintf(out, "name: %s\ndescription: ", array->name);
  print_quoted(array->description, out);
  fputc('\n', out);
  const char *section = "";
  for (size_t i = 0; i < count; i++) {
    if (strcmp(section, params[i].section) != 0) fprintf(out, "%s:\n", params[i].section);
    section = params[i].section;
    char text[VALUE_MAX];
    hw_param_text(&params[i], hw_param_get(array, &params[i]), text, sizeof text);
    fprintf(out, "  %s: %s\n", params[i].name, text);
  }
}
