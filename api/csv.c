// SPDX-License-Identifier: Apache-2.0
// A JSON document as CSV: see csv.h.
#include "api/csv.h"

#include "base/csv.h"

enum { KEY_MAX = 256 };

static void print_value(const cJSON *item, FILE *out) {
  char *text = cJSON_IsString(item) ? NULL : cJSON_PrintUnformatted(item);
  wf_csv_field(text == NULL ? item->valuestring : text, out);
  cJSON_free(text);
}

static void print_text_of(const cJSON *document, const char *key, FILE *out) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(document, key);
  if (cJSON_IsString(item)) wf_csv_field(item->valuestring, out);
  fputc(',', out);
}

static void print_rows(const cJSON *document, const cJSON *object, const char *prefix, FILE *out) {
  for (const cJSON *item = object->child; item != NULL; item = item->next) {
    char key[KEY_MAX];
    snprintf(key, sizeof key, "%s%s%s", prefix, *prefix == '\0' ? "" : ".", item->string);
    if (cJSON_IsObject(item)) {
      print_rows(document, item, key, out);
      continue;
    }
    print_text_of(document, "file", out);
    print_text_of(document, "array", out);
    print_text_of(document, "engine", out);
    wf_csv_field(key, out);
    fputc(',', out);
    print_value(item, out);
    fputc('\n', out);
  }
}

void api_csv_print(const cJSON *document, FILE *out) {
  fputs("file,array,engine,key,value\n", out);
  print_rows(document, document, "", out);
}
