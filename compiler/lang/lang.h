// SPDX-License-Identifier: Apache-2.0
// The kernel language: the part of Python that block-pointer kernels are written in; see docs/kernel-language.md.
//
// A file holds kernels. A kernel with values for all its parameters and a grid is an instance. An instance can be run
// as it stands (lang_run, the oracle: element by element, program after program) or lowered to a block program
// (lang_lower). Errors in the file go to the diag with the source line, a caret and a hint; functions then return NULL
// or false.
#ifndef COMPILER_LANG_LANG_H
#define COMPILER_LANG_LANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "compiler/block/block.h"

typedef struct lang_file lang_file;  // owns all that hangs on it, kernels and instances included

typedef enum { LANG_NO_DTYPE, LANG_INT8, LANG_INT32, LANG_FLOAT32, LANG_DTYPES } lang_dtype;
extern const char *const lang_dtype_names[LANG_DTYPES];  // "int8" ...

typedef enum { LANG_UNSET, LANG_INT, LANG_FLOAT, LANG_BOOL, LANG_TEXT, LANG_NONE, LANG_TYPE } lang_value_kind;
typedef struct lang_value {
  lang_value_kind kind;
  int64_t integer;   // LANG_INT, LANG_BOOL; LANG_TYPE: a lang_dtype
  double number;     // LANG_FLOAT
  const char *text;  // LANG_TEXT
} lang_value;

typedef enum { LANG_POINTER, LANG_SCALAR, LANG_CONSTEXPR } lang_param_kind;
typedef struct lang_param {
  const char *name;
  lang_param_kind kind;
  lang_dtype dtype;       // of the elements of a pointer, from its annotation; LANG_NO_DTYPE: the instance says
  int dtype_param;        // the constexpr parameter that the annotation of a pointer names, which is its type; or -1
  lang_value by_default;  // LANG_UNSET: none
  wf_location where;
} lang_param;

static inline lang_value lang_int(int64_t value) { return (lang_value){.kind = LANG_INT, .integer = value}; }
static inline lang_value lang_float(double value) { return (lang_value){.kind = LANG_FLOAT, .number = value}; }
static inline lang_value lang_bool(bool value) { return (lang_value){.kind = LANG_BOOL, .integer = value}; }
static inline lang_value lang_type(lang_dtype type) { return (lang_value){.kind = LANG_TYPE, .integer = type}; }
// Floats are equal if their bits are.
bool lang_value_equal(const lang_value *a, const lang_value *b);

// ---- arguments: values for parameters by name; of a name that comes twice the last value counts

typedef struct lang_arg {
  const char *name;
  lang_value value;
} lang_arg;

typedef struct lang_args {
  const lang_arg *items;
  int count;
} lang_args;

// "M=512,N=64,scale=0.5,bias=True,a_ptr=int8": integers, floats, True, False, None, types, other texts. False after an
// error.
bool lang_read_args(const char *text, wf_arena *arena, lang_args *args, wf_diag *diag);
// The text that lang_read_args makes the same arguments of.
const char *lang_args_text(const lang_args *args, wf_arena *arena);
bool lang_args_equal(const lang_args *a, const lang_args *b);               // in the same order, too
const lang_value *lang_args_find(const lang_args *args, const char *name);  // or NULL

// ---- files

// One Config of @autotune: values of constexprs, and options (num_stages, num_warps, whatever is written there).
typedef struct lang_config {
  const lang_arg *values, *options;
  int value_count, option_count;
} lang_config;

typedef struct lang_kernel {
  const char *name, *doc;  // doc: its docstring or NULL
  wf_location where;
  const lang_param *params;
  int param_count;
  const lang_config *configs;
  int config_count;
  const char *const *keys;  // of @autotune
  int key_count;
  bool has_grid;  // the file says what the grid is
  const struct lang_ast *function, *grid;
} lang_kernel;

// `text` is copied. NULL after errors.
lang_file *lang_parse(const char *name, const char *text, size_t length, wf_diag *diag);
lang_file *lang_load(const char *path, wf_diag *diag);
void lang_destroy(lang_file *file);

// The line of a place in the file with a caret, as messages show it (wf_diag); `file` is a lang_file.
void lang_show(const void *file, wf_location where, FILE *out);

int lang_kernel_count(const lang_file *file);
const lang_kernel *lang_kernel_at(const lang_file *file, int index);
// By name; NULL as name: the only kernel of the file. Reports what there is when there is no such kernel.
const lang_kernel *lang_find_kernel(const lang_file *file, const char *name, wf_diag *diag);
int lang_find_param(const lang_kernel *kernel, const char *name);  // its index or -1

enum { LANG_GRID_AXES = 3 };
typedef struct lang_instance {
  lang_file *file;
  const lang_kernel *kernel;
  lang_value *values;  // per parameter; pointers stay unset
  lang_dtype *dtypes;  // per parameter; of pointers
  int64_t grid[LANG_GRID_AXES];
  bool grid_given;
} lang_instance;

// Values are the defaults at first. Set what is left, then lang_ready checks that nothing is missing and finds the
// grid.
lang_instance *lang_instantiate(lang_file *file, const lang_kernel *kernel);
bool lang_set(lang_instance *instance, const char *param, lang_value value, wf_diag *diag);
bool lang_set_args(lang_instance *instance, const lang_args *args, wf_diag *diag);
bool lang_set_config(lang_instance *instance, int config, wf_diag *diag);
void lang_set_grid(lang_instance *instance, int64_t x, int64_t y, int64_t z);
bool lang_ready(lang_instance *instance, wf_diag *diag);

// Memory of a pointer parameter.
typedef struct lang_tensor {
  void *data;
  int64_t elements;
} lang_tensor;

// Runs all programs of the grid. `tensors` has one entry per pointer parameter, in their order.
bool lang_run(const lang_instance *instance, const lang_tensor *tensors, wf_diag *diag);

// The block program of an instance: one tensor per pointer parameter, in their order; a loop per dimension of the grid
// along which offsets vary, named after the kernel's variables. Destroy it with block_destroy.
block_program *lang_lower(const lang_instance *instance, wf_diag *diag);

#endif
