// SPDX-License-Identifier: Apache-2.0
// How operators are inferred and computed: one function each, from the columns of ops.def, on a graph_call.
//
// Inference sets type and shape of every result, from types, shapes and (where a shape depends on it) values of inputs;
// it refuses what the operator does not allow, so that the function that computes may rely on it. Computing refuses
// only what depends on values: an index out of range.
#ifndef COMPILER_GRAPH_CALL_H
#define COMPILER_GRAPH_CALL_H

#include "compiler/graph/graph.h"

typedef struct graph_call {
  const graph_node *node;
  // At least GRAPH_CALL_SLOTS of each; NULL: left out. `data` of an input is its value (when inferring only of
  // constants).
  const graph_tensor **in;
  graph_tensor **out;
  void **to;  // where results go, when computing; NULL: not needed
  int in_count, out_count;
  char message[200];  // after a failure
} graph_call;
enum { GRAPH_CALL_SLOTS = 12 };

bool graph_call_fail(graph_call *c, const char *format, ...) WF_PRINTF(2, 3);

// Memory for a call's temporary values, at most GRAPH_SCRATCH_MAX bytes; NULL after a failure was noted.
#define GRAPH_SCRATCH_MAX (UINT64_C(1) << 34)
void *graph_call_scratch(graph_call *c, int64_t count, size_t size);

// Sets of types that input 0 may have, by bit.
#define GRAPH_BIT(NAME) (1u << GRAPH_##NAME)
#define GRAPH_SET_REAL (GRAPH_BIT(F32) | GRAPH_BIT(F64))
#define GRAPH_SET_SIGNED (GRAPH_BIT(I8) | GRAPH_BIT(I16) | GRAPH_BIT(I32) | GRAPH_BIT(I64))
#define GRAPH_SET_UNSIGNED (GRAPH_BIT(U8) | GRAPH_BIT(U16) | GRAPH_BIT(U32) | GRAPH_BIT(U64))
#define GRAPH_SET_INTEGER (GRAPH_SET_SIGNED | GRAPH_SET_UNSIGNED)
#define GRAPH_SET_NUMERIC (GRAPH_SET_REAL | GRAPH_SET_INTEGER)
#define GRAPH_SET_ANY (GRAPH_SET_NUMERIC | GRAPH_BIT(BOOL))
#define GRAPH_SET_BYTE (GRAPH_BIT(I8) | GRAPH_BIT(U8))
#define GRAPH_SET_CHAR GRAPH_BIT(I8)
#define GRAPH_SET_INT GRAPH_BIT(I32)
#define GRAPH_SET_LONG GRAPH_BIT(I64)
#define GRAPH_SET_INDEX (GRAPH_BIT(I32) | GRAPH_BIT(I64))
#define GRAPH_SET_SINGLE GRAPH_BIT(F32)
#define GRAPH_SET_TRUTH GRAPH_BIT(BOOL)
#define GRAPH_SET_NUMBER (GRAPH_BIT(F32) | GRAPH_BIT(I32))
#define GRAPH_SET_PIXEL (GRAPH_SET_NUMBER | GRAPH_BIT(U8))
#define GRAPH_SET_QUANTA (GRAPH_SET_BYTE | GRAPH_BIT(I32))
#define GRAPH_SET_POOLED (GRAPH_SET_REAL | GRAPH_SET_BYTE)
#define GRAPH_SET_REDUCED (GRAPH_SET_NUMERIC & ~GRAPH_BIT(U64))

typedef bool graph_call_function(graph_call *c);
#define GRAPH_OP(NAME, text, a, b, c, d, of_onnx, types, infer, run) \
  graph_call_function graph_infer_##infer, graph_run_##run;
#include "compiler/graph/ops.def"
#undef GRAPH_OP

// The call of a node; its slots are in `arena`. `out` are copies of the node's results.
void graph_call_prepare(graph_call *c, const graph *g, const graph_node *node, wf_arena *arena);
bool graph_call_infer(graph_call *c);
bool graph_call_takes_any(graph_op op);  // input 0 may have any type
bool graph_call_run(graph_call *c);

// ---- for the functions

bool graph_is_constant(const graph_tensor *t);  // its value is known
// A dimension or axis from -rank to rank - 1, made positive.
bool graph_call_axis(graph_call *c, int64_t given, int rank, int *axis);
// The integers of a constant input of at most one dimension: their number, or -1 after a failure.
int graph_call_values(graph_call *c, int input, int64_t *values, int room);
// Sets the result and checks its size.
bool graph_call_result(graph_call *c, int output, graph_type type, int rank, const int64_t *dim);
bool graph_call_like(graph_call *c, int output, int input);

bool graph_broadcast(graph_call *c, int *rank, int64_t *dim, const graph_tensor *with);
// Elements from one index of each dimension to the next, row by row.
void graph_steps(int rank, const int64_t *dim, int64_t *steps);
// Steps of `t` within a larger shape to which it is broadcast.
void graph_broadcast_steps(const graph_tensor *t, int rank, int64_t *steps);
int64_t graph_product(const int64_t *dim, int from, int to);

// ---- rows: all elements of several tensors of one shape, as runs of the innermost dimension

enum { GRAPH_OPERANDS = 4, GRAPH_ROW_RANK = 2 * GRAPH_RANK_MAX };
typedef struct graph_rows {
  int operands, rank;
  int64_t dim[GRAPH_ROW_RANK], index[GRAPH_ROW_RANK];
  int64_t step[GRAPH_OPERANDS][GRAPH_ROW_RANK];
  int64_t at[GRAPH_OPERANDS];  // element where the row begins
  int64_t length, by[GRAPH_OPERANDS];
  bool started, empty;
} graph_rows;
// Dimensions are merged where no operand minds. Set `at` afterwards for operands that do not begin at 0.
void graph_rows_start(graph_rows *r, int rank, const int64_t *dim, int operands, const int64_t *const *steps);
bool graph_rows_next(graph_rows *r);
// Copies a row of elements of `size` bytes.
void graph_copy(void *to, int64_t to_at, int64_t to_by, const void *from, int64_t from_at, int64_t from_by,
                int64_t length, size_t size);
void graph_copy_strided(const graph_tensor *shape, void *to, const int64_t *to_steps, int64_t to_at, const void *from,
                        const int64_t *from_steps, int64_t from_at);

#endif
