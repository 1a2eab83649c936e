// The oracle: what its files share. It executes the syntax tree as it stands, program after program, with blocks as
// arrays of elements. It shares the tree and the names with the lowering and nothing else.
//
//   run.c             programs, statements, functions
//   run_expression.c  expressions of numbers, tuples and pointers; built-in functions
//   run_block.c       loads, stores, products and arithmetic on elements
#ifndef COMPILER_LANG_RUN_H
#define COMPILER_LANG_RUN_H

#include "compiler/lang/builtins.h"
#include "compiler/lang/check.h"
#include "compiler/lang/scalar.h"

enum { RUN_RANK_MAX = 5 };

typedef union run_cell {
  int32_t i;  // of int8 and int32
  float f;
} run_cell;

typedef struct run_block {
  lang_dtype dtype;
  int rank;
  int64_t size[RUN_RANK_MAX];
  int64_t count;
  run_cell *cells;  // never changed once the block is a value
} run_block;

typedef struct run_pointer {
  int tensor;
  int64_t offset;
} run_pointer;

typedef struct run_block_ptr {
  run_pointer base;
  int rank;
  int64_t extent[RUN_RANK_MAX], stride[RUN_RANK_MAX], offset[RUN_RANK_MAX], size[RUN_RANK_MAX], step[RUN_RANK_MAX];
} run_block_ptr;

typedef enum {
  RUN_UNSET,
  RUN_SCALAR,
  RUN_TUPLE,
  RUN_POINTER,
  RUN_BLOCK_PTR,
  RUN_BLOCK,
  RUN_DTYPE,
  RUN_ELEMENT
} run_kind;

typedef struct run_value {
  run_kind kind;
  union {
    lang_value scalar;
    struct {
      const struct run_value *items;
      int count;
    } tuple;
    run_pointer pointer;
    const run_block_ptr *block_ptr;
    const run_block *block;
    lang_dtype dtype;
  };
} run_value;

typedef struct run_frame {
  struct run_frame *caller;
  const ast *function;
  run_value *locals;
  bool returned;
  run_value result;
} run_frame;

typedef struct runner {
  const lang_instance *instance;
  const source *s;
  wf_diag *diag;
  const lang_tensor *tensors;
  lang_dtype *tensor_types;
  const char **tensor_names;
  int64_t program_id[LANG_GRID_AXES];
  wf_arena *arena;  // of this program
  run_frame *frame;
} runner;

bool run_fail(runner *r, const ast *node, const char *format, ...) WF_PRINTF(3, 4);  // returns false
bool run_eval(runner *r, const ast *node, run_value *result);
bool run_eval_int(runner *r, const ast *node, int64_t *result);
// A tuple's elements, or a value as the only one.
bool run_eval_tuple(runner *r, const ast *node, const run_value **items, int *count);
bool run_eval_ints(runner *r, const ast *node, int64_t *numbers, int *count);
bool run_truth(runner *r, const ast *node, bool *truth);
bool run_call(runner *r, const ast *node, run_value *result);

bool run_load(runner *r, const ast *node, const ast **args, run_value *result);
bool run_store(runner *r, const ast *node, const ast **args);
bool run_dot(runner *r, const ast *node, const ast **args, run_value *result);
bool run_arithmetic(runner *r, const ast *node, ast_op op, int extreme, const run_value *a, const run_value *b,
                    run_value *result);
bool run_convert(runner *r, const ast *node, const run_value *v, lang_dtype dtype, run_value *result);
bool run_full(runner *r, const ast *node, const int64_t *size, int rank, double number, lang_dtype dtype,
              run_value *result);
bool run_transpose(runner *r, const ast *node, const run_value *v, run_value *result);
bool run_reshape(runner *r, const ast *node, const run_value *v, const int64_t *size, int rank, run_value *result);

#endif
