// SPDX-License-Identifier: Apache-2.0
// The oracle: what its files share. It executes the syntax tree as it stands, program after program, with blocks as
// arrays of elements. It shares the tree and the names with the lowering and nothing else.
//
//   run.c             programs, statements, functions
//   run_expression.c  expressions of numbers, tuples and pointers; built-in functions
//   run_pointer.c     indexes, pointers and masks, element by element
//   run_curve.c       GELU
//   run_rows.c        maxima, sums and exponentials of rows
//   run_block.c       loads, stores, products and arithmetic on elements
#ifndef COMPILER_LANG_RUN_H
#define COMPILER_LANG_RUN_H

#include "compiler/lang/builtins.h"
#include "compiler/lang/check.h"
#include "compiler/lang/scalar.h"

enum { RUN_RANK_MAX = 5 };

typedef union lang_run_cell {
  int32_t i;  // of int8 and int32
  float f;
} lang_run_cell;

// What a block is beside its elements.
typedef enum {
  RUN_PLAIN,
  RUN_SCALED,  // `whole` times `factor`
  RUN_EXP,     // e to the power of such a block: cells are integers, in units of their own
  RUN_SHARE,   // `whole` divided by `by`, of RUN_EXP both
  RUN_CURVE,   // of `curve`, with a function: its cells have no meaning
} lang_run_meaning;

// What elements are of the integers that they were computed from: see run_curve.c.
enum { RUN_SAMPLES = 128 };
typedef struct lang_run_curve {
  const struct lang_run_block *of;  // NULL: they are a number
  int function;                     // BUILTIN_ERF, BUILTIN_TANH, of `inner`; or 0
  double at[RUN_SAMPLES], inner[RUN_SAMPLES];
} lang_run_curve;

typedef struct lang_run_block {
  lang_dtype dtype;
  int rank;
  int64_t size[RUN_RANK_MAX];
  int64_t count;
  lang_run_cell *cells;  // never changed once the block is a value
  const bool *left_out;  // elements that are minus infinity, whatever their cells say; NULL: none
  lang_run_meaning meaning;
  const struct lang_run_block *whole, *by;
  double factor;
  const lang_run_curve *curve;  // of floats; or NULL
} lang_run_block;

typedef struct lang_run_pointer {
  int tensor;
  int64_t offset;
} lang_run_pointer;

typedef struct lang_run_block_ptr {
  lang_run_pointer base;
  int rank;
  int64_t extent[RUN_RANK_MAX], stride[RUN_RANK_MAX], offset[RUN_RANK_MAX], size[RUN_RANK_MAX], step[RUN_RANK_MAX];
} lang_run_block_ptr;

// Blocks of indexes, of places in a tensor, or of truths.
typedef struct lang_run_indexes {
  int tensor;
  int rank;
  int64_t size[RUN_RANK_MAX];
  int64_t count;
  int64_t *at;
} lang_run_indexes;

typedef enum {
  RUN_UNSET,
  RUN_SCALAR,
  RUN_TUPLE,
  RUN_POINTER,
  RUN_BLOCK_PTR,
  RUN_BLOCK,
  RUN_DTYPE,
  RUN_ELEMENT,
  RUN_INDEXES,
  RUN_POINTERS,
  RUN_MASK
} lang_run_kind;

typedef struct lang_run_value {
  lang_run_kind kind;
  union {
    lang_value scalar;
    struct {
      const struct lang_run_value *items;
      int count;
    } tuple;
    lang_run_pointer pointer;
    const lang_run_block_ptr *block_ptr;
    const lang_run_block *block;
    const lang_run_indexes *indexes;  // INDEXES, POINTERS, MASK
    lang_dtype dtype;
  };
} lang_run_value;

typedef struct lang_run_frame {
  struct lang_run_frame *caller;
  const lang_ast *function;
  lang_run_value *locals;
  bool returned;
  lang_run_value result;
} lang_run_frame;

typedef struct lang_runner {
  const lang_instance *instance;
  const lang_source *s;
  wf_diag *diag;
  const lang_tensor *tensors;
  lang_dtype *tensor_types;
  const char **tensor_names;
  int64_t program_id[LANG_GRID_AXES];
  wf_arena *arena;  // of this program
  lang_run_frame *frame;
} lang_runner;

bool lang_run_fail(lang_runner *r, const lang_ast *node, const char *format, ...) WF_PRINTF(3, 4);  // returns false
bool lang_run_eval(lang_runner *r, const lang_ast *node, lang_run_value *result);
bool lang_run_eval_int(lang_runner *r, const lang_ast *node, int64_t *result);
// A tuple's elements, or a value as the only one.
bool lang_run_eval_tuple(lang_runner *r, const lang_ast *node, const lang_run_value **items, int *count);
bool lang_run_eval_ints(lang_runner *r, const lang_ast *node, int64_t *numbers, int *count);
bool lang_run_truth(lang_runner *r, const lang_ast *node, bool *truth);
bool lang_run_call(lang_runner *r, const lang_ast *node, lang_run_value *result);

bool lang_run_is_indexes(const lang_run_value *v);
bool lang_run_arange(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result);
bool lang_run_index_operator(lang_runner *r, const lang_ast *node, const lang_run_value *a, const lang_run_value *b,
                             lang_run_value *result);
bool lang_run_index_reshape(lang_runner *r, const lang_ast *node, const lang_run_value *v, const int64_t *size,
                            int rank, lang_run_value *result);
// Where each element of a block of pointers lies, or -1 where the mask (args[...], or NULL) leaves it out.
bool lang_run_places(lang_runner *r, const lang_ast *node, const lang_run_indexes *pointers, const lang_ast *mask,
                     int64_t **places);

// max() and sum() along the last axis, exp(), and operators, which look at what blocks mean.
bool lang_run_row_max(lang_runner *r, const lang_ast *node, const lang_ast **args, const lang_run_value *v,
                      lang_run_value *result);
bool lang_run_row_sum(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result);
bool lang_run_row_exp(lang_runner *r, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                      lang_run_value *result);
// where(mask, x, float("-inf")); a block without the elements that `keeps` does not hold for.
bool lang_run_where(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result);
bool lang_run_keep(lang_runner *r, const lang_ast *node, const lang_run_block *b, const bool *keeps,
                   lang_run_value *result);
bool lang_run_is_nothing(const lang_run_value *v);  // minus infinity
bool lang_run_row_rsqrt(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result);
bool lang_run_row_operator(lang_runner *r, const lang_ast *node, const lang_run_value *a, const lang_run_value *b,
                           lang_run_value *result);
// erf(), tanh(), sigmoid(); what floats are of the integers of their operands; GELU as int8.
bool lang_run_curve_function(lang_runner *r, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                             lang_run_value *result);
void lang_run_curve_note(lang_runner *r, lang_ast_op op, const lang_run_value *a, const lang_run_value *b,
                         lang_run_block *result);
// What exp() of a block is of its integers; arithmetic with that.
void lang_run_curve_exp(lang_runner *r, const lang_run_block *of, bool two, lang_run_block *result);
bool lang_run_curve_operator(lang_runner *r, const lang_ast *node, const lang_run_value *a, const lang_run_value *b,
                             lang_run_value *result);
bool lang_run_curve_convert(lang_runner *r, const lang_ast *node, const lang_run_block *b, lang_dtype dtype,
                            lang_run_value *result);
lang_run_block *lang_run_new_block(lang_runner *r, const int64_t *size, int rank, lang_dtype dtype);

bool lang_run_load(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result);
bool lang_run_store(lang_runner *r, const lang_ast *node, const lang_ast **args);
// Shapes together: dimensions of one repeat, missing ones lead. False: they do not go together.
bool lang_run_common_shape(const int64_t *a, int a_rank, const int64_t *b, int b_rank, int64_t *size, int *rank);
// The element of a block of the first shape that goes with element `e` of one of the common shape.
int64_t lang_run_matching(const int64_t *own_size, int own_rank, const int64_t *size, int rank, int64_t e);
bool lang_run_dot(lang_runner *r, const lang_ast *node, const lang_ast **args, lang_run_value *result);
bool lang_run_arithmetic(lang_runner *r, const lang_ast *node, lang_ast_op op, int extreme, const lang_run_value *a,
                         const lang_run_value *b, lang_run_value *result);
bool lang_run_convert(lang_runner *r, const lang_ast *node, const lang_run_value *v, lang_dtype dtype,
                      lang_run_value *result);
bool lang_run_full(lang_runner *r, const lang_ast *node, const int64_t *size, int rank, double number, lang_dtype dtype,
                   lang_run_value *result);
bool lang_run_transpose(lang_runner *r, const lang_ast *node, const lang_run_value *v, lang_run_value *result);
bool lang_run_reshape(lang_runner *r, const lang_ast *node, const lang_run_value *v, const int64_t *size, int rank,
                      lang_run_value *result);

#endif
