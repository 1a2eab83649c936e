// SPDX-License-Identifier: Apache-2.0
// Writes an array for others to read: the C header of RISC-V programs and the documentation of the parameter table.
// The header holds #define lines of plain numbers only, so that assembler files can include it; flags are 0 or 1 for
// #if. Its names: WEFT_<SECTION>_<KEY> for every parameter (WEFT_HAS_<KEY> for the flags of `units`, the index for
// enumerations) and short names for what hw_derive computes.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "hw/array_internal.h"

typedef struct derived_macro {
  const char *name;
  size_t offset;  // in hw_derived
  const char *doc;
} derived_macro;

#define DERIVED(name, field, doc) \
  { name, offsetof(hw_derived, field), doc }
static const derived_macro derived_macros[] = {
    DERIVED("DIM", dim, "PEs per side, rows of a tile, elements of a local row"),
    DERIVED("SP_ROWS", sp_rows, "scratchpad rows"),
    DERIVED("BANK_ROWS", sp_bank_rows, "rows of a scratchpad bank"),
    DERIVED("ACC_ROWS", acc_rows, "accumulator rows"),
    DERIVED("ACC_BANK_ROWS", acc_bank_rows, "rows of an accumulator bank"),
    DERIVED("ROW_BITS", row_bits, "width of the row number in a local address"),
    DERIVED("INPUT_BYTES", input_bytes, "bytes of a scratchpad element"),
    DERIVED("ACC_BYTES", acc_bytes, "bytes of an accumulator element"),
    DERIVED("SP_ROW_BYTES", sp_row_bytes, "bytes of a scratchpad row"),
    DERIVED("ACC_ROW_BYTES", acc_row_bytes, "bytes of an accumulator row"),
    DERIVED("MAX_BLOCK_LEN", max_block_len, "column blocks of one int8 mvin or mvout"),
    DERIVED("MAX_BLOCK_LEN_ACC", max_block_len_acc, "column blocks of one int32 mvin"),
    DERIVED("MAX_COLS", max_cols, "elements of the widest int8 row"),
    DERIVED("MAX_COLS_ACC", max_cols_acc, "elements of the widest int32 row"),
    DERIVED("MESH_LATENCY", mesh_latency, "cycles from a row's entry to its exit"),
    DERIVED("MAX_MATMULS", max_matmuls, "products in flight"),
    DERIVED("LOAD_COMMANDS_TRACKED", load_commands_tracked, "loads in flight"),
    DERIVED("STORE_COMMANDS_TRACKED", store_commands_tracked, "stores in flight"),
    DERIVED("NORM_STATS", norm_stats, "statistics sets of the normaliser"),
};

static void define(FILE *out, const char *name, uint32_t value, const char *doc) {
  fprintf(out, "#define WEFT_%s %" PRIu32 "  /* %s */\n", name, value, doc);
}

static void write_derived(const hw_array *array, FILE *out) {
  const hw_derived d = hw_derive(array);
  for (size_t i = 0; i < sizeof derived_macros / sizeof *derived_macros; i++) {
    const derived_macro *m = &derived_macros[i];
    define(out, m->name, *(const uint32_t *)((const char *)&d + m->offset), m->doc);
  }
  define(out, "BANK_NUM", array->scratchpad.banks, "scratchpad banks");
  define(out, "ACC_BANK_NUM", array->accumulator.banks, "accumulator banks");
  define(out, "MAX_BYTES", array->dma.max_burst_bytes, "bytes of the longest memory request");
  define(out, "HAS_WS", array->mesh.dataflow != HW_DATAFLOW_OS, "weight-stationary products");
  define(out, "HAS_OS", array->mesh.dataflow != HW_DATAFLOW_WS, "output-stationary products");
}

static void write_parameter(const hw_array *array, const hw_param *param, FILE *out) {
  char name[2 * HW_NAME_MAX];
  bool unit = strcmp(param->section, "units") == 0 && param->kind == HW_PARAM_FLAG;
  snprintf(name, sizeof name, "%s_%s", unit ? "HAS" : param->section, param->name);
  for (char *p = name; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
  uint32_t value = hw_param_get(array, param);
  if (param->kind == HW_PARAM_ENUM) {
    fprintf(out, "#define WEFT_%s %" PRIu32 "  /* of %s: %s */\n", name, value, param->values, param->doc);
  } else {
    define(out, name, value, param->doc);
  }
}

bool hw_write_c_header(const hw_array *array, FILE *out) {
  fprintf(out,
          "/* Array %s for programs: made by weft_array_header, for C and assembler. */\n"
          "#ifndef WEFT_ARRAY_H\n"
          "#define WEFT_ARRAY_H\n\n"
          "#define WEFT_ARRAY_NAME \"%s\"\n"
          "#define WEFT_ARRAY_HASH 0x%016" PRIx64
          "ull\n"
          "#define WEFT_ARRAY_HASH_LOW 0x%08" PRIx32
          "\n"
          "#define WEFT_ARRAY_HASH_HIGH 0x%08" PRIx32 "\n\n",
          array->name, array->name, hw_array_hash(array), (uint32_t)hw_array_hash(array),
          (uint32_t)(hw_array_hash(array) >> 32));
  write_derived(array, out);
  size_t count;
  const hw_param *params = hw_params(&count);
  const char *section = "";
  for (size_t i = 0; i < count; i++) {
    if (strcmp(section, params[i].section) != 0) fputc('\n', out);
    section = params[i].section;
    write_parameter(array, &params[i], out);
  }
  fprintf(out, "\n#endif\n");
  return fflush(out) == 0 && !ferror(out);
}

static void write_values(const hw_param *param, FILE *out) {
  switch (param->kind) {
    case HW_PARAM_FLAG:
      fputs("true, false", out);
      break;
    case HW_PARAM_ENUM:
      for (const char *p = param->values; *p != '\0'; p++) *p == '|' ? fputs(", ", out) : fputc(*p, out);
      break;
    case HW_PARAM_U32:
      fprintf(out, "%" PRIu32 " to %" PRIu32, param->min, param->max);
      break;
    case HW_PARAM_POW2:
      fprintf(out, "%" PRIu32 " to %" PRIu32 ", power of two", param->min, param->max);
      break;
  }
}

static void write_row(const hw_param *param, FILE *out) {
  char initial[HW_NAME_MAX];
  hw_param_text(param, param->initial, initial, sizeof initial);
  fprintf(out, "| `%s` | %s | ", param->name, initial);
  write_values(param, out);
  fprintf(out, " | %s | %s |\n", param->unit, param->doc);
}

bool hw_write_markdown(FILE *out) {
  fputs("# Array parameters\n\nWritten by `weft array params`; the concepts are in [array.md](array.md).\n", out);
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t s = 0; s < HW_SECTION_COUNT; s++) {
    const hw_section *section = hw_section_at(s);
    fprintf(out, "\n## %s\n\n%c%s.\n\n", section->name, toupper((unsigned char)section->doc[0]), section->doc + 1);
    fputs("| key | default | values | unit | meaning |\n| --- | --- | --- | --- | --- |\n", out);
    for (size_t i = 0; i < count; i++) {
      if (strcmp(params[i].section, section->name) == 0) write_row(&params[i], out);
    }
  }
  return fflush(out) == 0 && !ferror(out);
}
