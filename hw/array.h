// SPDX-License-Identifier: Apache-2.0
// The array description: one plain struct that RTL, simulators, compiler and search share.
// Its fields, defaults and ranges are the table in array_params.def; nothing else declares a parameter.
#ifndef HW_ARRAY_H
#define HW_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

enum { HW_NAME_MAX = 64, HW_DESCRIPTION_MAX = 256 };

enum hw_dataflow { HW_DATAFLOW_WS, HW_DATAFLOW_OS, HW_DATAFLOW_BOTH };
enum hw_read_pipeline { HW_READ_PIPELINE_FIXED, HW_READ_PIPELINE_QUEUE };
enum hw_sync { HW_SYNC_STATION, HW_SYNC_TOKENS };
enum hw_store_order { HW_STORE_ORDER_ISSUED, HW_STORE_ORDER_COMPLETED };
enum hw_branch_prediction { HW_PREDICTION_TABLES, HW_PREDICTION_NONE };
enum hw_memory_model { HW_MEMORY_FIXED, HW_MEMORY_DDR3, HW_MEMORY_DDR4 };

struct hw_tech;

typedef struct hw_array {
  char name[HW_NAME_MAX];                // [a-z0-9-]+, not part of the hash
  char description[HW_DESCRIPTION_MAX];  // free text, not part of the hash
#define SECTION(section, doc) struct {
#define END(section) \
  }                  \
  section;
#define U32(section, field, ...) uint32_t field;
#define POW2(section, field, ...) uint32_t field;
#define ENUM(section, field, ...) uint32_t field;
#define FLAG(section, field, ...) bool field;
#include "hw/array_params.def"
#undef SECTION
#undef END
#undef U32
#undef POW2
#undef ENUM
#undef FLAG
  const struct hw_tech *tech;  // a user's own table in place of chip.technology's, borrowed; NULL: none. No parameter
} hw_array;

// What follows from the parameters; computed in one place (hw_derive), never stored in a file.
typedef struct hw_derived {
  uint32_t dim;      // PEs per side = rows of a tile = elements of a local row
  uint32_t sp_rows;  // scratchpad rows
  uint32_t sp_bank_rows;
  uint32_t acc_rows;  // accumulator rows
  uint32_t acc_bank_rows;
  uint32_t row_bits;     // width of the row number in a local address; the garbage bit is the next one up
  uint32_t input_bytes;  // of an element
  uint32_t acc_bytes;    // of an element
  uint32_t sp_row_bytes;
  uint32_t acc_row_bytes;
  uint32_t max_block_len;      // column blocks of a scratchpad mvin or narrow mvout (MAX_BLOCK_LEN)
  uint32_t max_block_len_acc;  // of an int32 mvin (MAX_BLOCK_LEN_ACC)
  uint32_t max_cols;           // elements of the widest int8 row: max_block_len * dim
  uint32_t max_cols_acc;       // elements of the widest int32 row
  uint32_t mesh_latency;       // cycles from a row's entry to its exit
  uint32_t max_matmuls;        // products in flight
  uint32_t load_commands_tracked;
  uint32_t store_commands_tracked;
  uint32_t norm_stats;  // statistics sets of the normaliser
} hw_derived;

// Gemmini's default configuration, named "gemmini-default".
void hw_array_default(hw_array *array);

// Parses YAML text; `file` is for messages only. Keys that are absent keep their default. False after an error was
// reported: unknown or repeated key, wrong type, value out of range, or a combination that cannot be built (see
// hw_array_check).
bool hw_array_parse(hw_array *array, const char *file, const char *text, size_t length, wf_diag *diag);

// A built-in name ("gemmini-default") or a path to a YAML file (anything with a '/' or ending in .yaml or .yml).
bool hw_array_load(hw_array *array, const char *name_or_path, wf_diag *diag);

// Rules between parameters; reports each violation against `file` (NULL: none).
bool hw_array_check(const hw_array *array, const char *file, wf_diag *diag);

// Of a name: [a-z0-9-]+ and shorter than HW_NAME_MAX.
bool hw_array_name_valid(const char *name);

hw_derived hw_derive(const hw_array *array);

// Bits with which no sum over the side's products wraps in the mesh: 16 and one for each doubling.
uint32_t hw_safe_output_bits(const hw_array *array);
// At least so many for types.output_bits: for arrays whose side was changed by a program.
void hw_array_widen_sums(hw_array *array);

// Canonical YAML of the whole description: every key, in table order. Parsing it gives the same array.
void hw_array_print(const hw_array *array, FILE *out);

// Hash of all parameters (not of name and description): equal arrays have equal hashes on every machine.
uint64_t hw_array_hash(const hw_array *array);
// The same of the numbers alone, in a fraction of the time, for this program's own use.
uint64_t hw_array_values_hash(const hw_array *array);

// Built-in arrays, in the order they are listed; NULL past the end.
const char *hw_builtin_name(size_t index);
const char *hw_builtin_yaml(size_t index);

// Writes weft_array.h, the macros that RISC-V programs and start-up code include (hw/array_header.c says which).
// False: writing failed.
bool hw_write_c_header(const hw_array *array, FILE *out);

// Writes weft_array_pkg.sv, the constants that the RTL takes its parameters from (hw/array_sv.c says which). False:
// writing failed.
bool hw_write_sv_package(const hw_array *array, FILE *out);

// The same without what surrounds the accelerator (memory, L2, host, chip) and without the array's name: arrays whose
// hardware is the same have the same text. False: writing failed.
bool hw_write_model_package(const hw_array *array, FILE *out);

// Writes the parameter table as a Markdown page. False: writing failed.
bool hw_write_markdown(FILE *out);

// The parameter table, for listings, differences and sweeps.
typedef enum { HW_PARAM_U32, HW_PARAM_POW2, HW_PARAM_FLAG, HW_PARAM_ENUM } hw_param_kind;
typedef struct hw_param {
  const char *section;
  const char *name;
  hw_param_kind kind;
  size_t offset;               // in hw_array
  uint32_t initial, min, max;  // for ENUM: index, 0, values - 1
  const char *values;          // ENUM: "a|b|c"
  const char *unit;
  const char *doc;
} hw_param;

const hw_param *hw_params(size_t *count);
const hw_param *hw_param_find(const char *dotted_name);  // "scratchpad.banks"
uint32_t hw_param_get(const hw_array *array, const hw_param *param);
void hw_param_set(hw_array *array, const hw_param *param, uint32_t value);
// "4", "true" or "ws": what the YAML file would say.
void hw_param_text(const hw_param *param, uint32_t value, char *text, size_t size);
// The reverse; false if the text is no value of the parameter (type or range).
bool hw_param_value(const hw_param *param, const char *text, uint32_t *value);
// "SCRATCHPAD_BANKS": its name in weft_array_pkg.sv.
enum { HW_PARAM_CONSTANT_MAX = 2 * HW_NAME_MAX };
void hw_param_constant(const hw_param *param, char name[HW_PARAM_CONSTANT_MAX]);

#endif
