// SPDX-License-Identifier: Apache-2.0
// JSON documents: see json.h.
#include "base/json.h"

#include <inttypes.h>

#include "base/name.h"

void wf_json_hash(cJSON *object, const char *key, uint64_t hash) {
  char text[17];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  cJSON_AddStringToObject(object, key, text);
}

enum { EXACT_BITS = 53, DIGITS = 24 };
#define EXACT_MAX (INT64_C(1) << EXACT_BITS)

// What a double cannot hold goes as its digits.
static void add_digits(cJSON *object, const char *key, double number, const char *digits, bool large) {
  if (large)
    cJSON_AddRawToObject(object, key, digits);
  else
    cJSON_AddNumberToObject(object, key, number);
}

void wf_json_count(cJSON *object, const char *key, uint64_t value) {
  char text[DIGITS];
  snprintf(text, sizeof text, "%" PRIu64, value);
  add_digits(object, key, (double)value, text, value > EXACT_MAX);
}

void wf_json_integer(cJSON *object, const char *key, int64_t value) {
  char text[DIGITS];
  snprintf(text, sizeof text, "%" PRId64, value);
  add_digits(object, key, (double)value, text, value > EXACT_MAX || value < -EXACT_MAX);
}

void wf_json_write(cJSON *document, FILE *out) {
  char *text = cJSON_Print(document);
  if (text != NULL) wf_name_write(WF_NAME_DOCUMENT, text, out);
  fputc('\n', out);
  cJSON_free(text);
  cJSON_Delete(document);
}
