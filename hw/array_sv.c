// SPDX-License-Identifier: Apache-2.0
// Writes weft_array_pkg.sv: the array as SystemVerilog constants, which the top level takes its module parameters from.
// One constant for each parameter, SECTION_NAME in capitals (flags are bits, enumerations their index), the derived
// numbers under the names of docs/microarchitecture.md, and HASH, the hash of the array. Plain integers and sized bits
// only, so that Verilator, yosys and Icarus all read them through scoped names.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "hw/array_internal.h"

typedef struct derived_constant {
  const char *name;
  size_t offset;   // in hw_derived
  uint32_t scale;  // 8 turns bytes into bits
  const char *doc;
} derived_constant;

#define DERIVED(name, field, scale, doc) \
  { name, offsetof(hw_derived, field), scale, doc }
static const derived_constant derived_constants[] = {
    DERIVED("DIM", dim, 1, "PEs per side, rows of a tile, elements of a local row"),
    DERIVED("SP_ROWS", sp_rows, 1, "scratchpad rows"),
    DERIVED("SP_BANK_ROWS", sp_bank_rows, 1, "rows of a scratchpad bank"),
    DERIVED("ACC_ROWS", acc_rows, 1, "accumulator rows"),
    DERIVED("ACC_BANK_ROWS", acc_bank_rows, 1, "rows of an accumulator bank"),
    DERIVED("ROW_BITS", row_bits, 1, "width of the row number in a local address"),
    DERIVED("INPUT_BITS", input_bytes, 8, "bits of a scratchpad element"),
    DERIVED("ACC_BITS", acc_bytes, 8, "bits of an accumulator element"),
    DERIVED("MAX_BLOCK_LEN", max_block_len, 1, "column blocks of one int8 mvin or mvout"),
    DERIVED("MAX_BLOCK_LEN_ACC", max_block_len_acc, 1, "column blocks of one int32 mvin"),
    DERIVED("MAX_COLS", max_cols, 1, "elements of the widest int8 row"),
    DERIVED("MAX_COLS_ACC", max_cols_acc, 1, "elements of the widest int32 row"),
    DERIVED("MESH_LATENCY", mesh_latency, 1, "cycles from a row's entry to its exit"),
    DERIVED("MAX_MATMULS", max_matmuls, 1, "products in flight"),
    DERIVED("LOAD_COMMANDS", load_commands_tracked, 1, "loads in flight"),
    DERIVED("STORE_COMMANDS", store_commands_tracked, 1, "stores in flight"),
    DERIVED("NORM_STATS", norm_stats, 1, "statistics sets of the normaliser"),
};

static void integer(FILE *out, const char *name, uint32_t value, const char *doc) {
  fprintf(out, "  localparam int %s = %" PRIu32 ";  // %s\n", name, value, doc);
}

static void write_derived(const hw_array *array, FILE *out) {
  const hw_derived d = hw_derive(array);
  for (size_t i = 0; i < sizeof derived_constants / sizeof *derived_constants; i++) {
    const derived_constant *c = &derived_constants[i];
    integer(out, c->name, *(const uint32_t *)((const char *)&d + c->offset) * c->scale, c->doc);
  }
  integer(out, "OUTPUT_BITS", array->types.output_bits, "bits of the partial sums that leave the mesh");
}

void hw_param_constant(const hw_param *param, char name[HW_PARAM_CONSTANT_MAX]) {
  snprintf(name, HW_PARAM_CONSTANT_MAX, "%s_%s", param->section, param->name);
  for (char *p = name; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
}

static void write_parameter(const hw_array *array, const hw_param *param, FILE *out) {
  char name[HW_PARAM_CONSTANT_MAX];
  hw_param_constant(param, name);
  const uint32_t value = hw_param_get(array, param);
  if (param->kind == HW_PARAM_FLAG) {
    fprintf(out, "  localparam bit %s = 1'b%" PRIu32 ";  // %s\n", name, value, param->doc);
  } else if (param->kind == HW_PARAM_ENUM) {
    fprintf(out, "  localparam int %s = %" PRIu32 ";  // of %s: %s\n", name, value, param->values, param->doc);
  } else {
    integer(out, name, value, param->doc);
  }
}

// What surrounds the accelerator. No module reads it.
static bool surrounds(const hw_param *param) {
  static const char *const sections[] = {"memory", "l2", "host", "chip"};
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    if (strcmp(param->section, sections[i]) == 0) return true;
  return false;
}

static bool write_package(const hw_array *array, bool surroundings, FILE *out) {
  fprintf(out,
          "// Array %s: made from its description; do not edit.\n"
          "// verilator lint_off UNUSED\n"
          "package weft_array_pkg;\n"
          "  localparam logic [63:0] HASH = 64'h%016" PRIx64 ";  // of all parameters\n\n",
          array->name, hw_array_hash(array));
  write_derived(array, out);
  size_t count;
  const hw_param *params = hw_params(&count);
  const char *section = "";
  for (size_t i = 0; i < count; i++) {
    if (!surroundings && surrounds(&params[i])) continue;
    if (strcmp(section, params[i].section) != 0) fputc('\n', out);
    section = params[i].section;
    write_parameter(array, &params[i], out);
  }
  fputs("endpackage\n// verilator lint_on UNUSED\n", out);
  return fflush(out) == 0 && !ferror(out);
}

bool hw_write_sv_package(const hw_array *array, FILE *out) { return write_package(array, true, out); }

bool hw_write_model_package(const hw_array *array, FILE *out) {
  hw_array accelerator = *array;
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++)
    if (surrounds(&params[i])) hw_param_set(&accelerator, &params[i], params[i].initial);
  snprintf(accelerator.name, sizeof accelerator.name, "accelerator");
  return write_package(&accelerator, false, out);
}
