// SPDX-License-Identifier: Apache-2.0
// array.json and array.yaml: every parameter under its section, and what follows from them.
#include <inttypes.h>
#include <string.h>

#include "hw/export/export.h"

const char hw_export_generator[] = "weft rtl";

enum { VALUE_TEXT = 64 };

typedef struct derived_key {
  const char *name;
  size_t offset;  // in hw_derived
} derived_key;

static const derived_key derived_keys[] = {
#define KEY(field) \
  { #field, offsetof(hw_derived, field) }
    KEY(dim),
    KEY(sp_rows),
    KEY(sp_bank_rows),
    KEY(acc_rows),
    KEY(acc_bank_rows),
    KEY(row_bits),
    KEY(input_bytes),
    KEY(acc_bytes),
    KEY(sp_row_bytes),
    KEY(acc_row_bytes),
    KEY(max_block_len),
    KEY(max_block_len_acc),
    KEY(max_cols),
    KEY(max_cols_acc),
    KEY(mesh_latency),
    KEY(max_matmuls),
    KEY(load_commands_tracked),
    KEY(store_commands_tracked),
    KEY(norm_stats),
#undef KEY
};

static void add_parameter(cJSON *document, const hw_array *array, const hw_param *param) {
  cJSON *section = cJSON_GetObjectItemCaseSensitive(document, param->section);
  if (section == NULL) section = cJSON_AddObjectToObject(document, param->section);
  const uint32_t value = hw_param_get(array, param);
  char text[VALUE_TEXT];
  hw_param_text(param, value, text, sizeof text);
  if (param->kind == HW_PARAM_FLAG) {
    cJSON_AddBoolToObject(section, param->name, value != 0);
  } else if (param->kind == HW_PARAM_ENUM) {
    cJSON_AddStringToObject(section, param->name, text);
  } else {
    cJSON_AddNumberToObject(section, param->name, value);
  }
}

static void add_derived(cJSON *document, const hw_array *array) {
  const hw_derived derived = hw_derive(array);
  cJSON *section = cJSON_AddObjectToObject(document, "derived");
  for (size_t i = 0; i < sizeof derived_keys / sizeof *derived_keys; i++) {
    uint32_t value;
    memcpy(&value, (const char *)&derived + derived_keys[i].offset, sizeof value);
    cJSON_AddNumberToObject(section, derived_keys[i].name, value);
  }
}

cJSON *hw_export_json(const hw_array *array) {
  cJSON *document = cJSON_CreateObject();
  char hash[17];
  snprintf(hash, sizeof hash, "%016" PRIx64, hw_array_hash(array));
  cJSON_AddStringToObject(document, "generator", hw_export_generator);
  cJSON_AddStringToObject(document, "name", array->name);
  cJSON_AddStringToObject(document, "description", array->description);
  cJSON_AddStringToObject(document, "hash", hash);
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) add_parameter(document, array, &params[i]);
  add_derived(document, array);
  return document;
}

bool hw_export_yaml(const hw_array *array, FILE *out) {
  fprintf(out, "# Array %s, hash %016" PRIx64 ": every parameter.\n", array->name, hw_array_hash(array));
  hw_array_print(array, out);
  return fflush(out) == 0 && !ferror(out);
}
