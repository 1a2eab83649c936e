// SPDX-License-Identifier: Apache-2.0
// The block IR: loop nests over blocks of tensors, with named buffers.
//
// A program is a list of statements; loops nest. Every size is a number: shapes are known when a kernel is lowered.
// Everything that varies is affine in the loops: a loop of trip count n runs i = 0 .. n-1, and an index is a constant
// plus a factor per loop. `order` does not matter between iterations of a parallel loop.
//
// A tensor is a piece of main memory, counted in elements; an access is a strided box in it. A buffer is a block of
// values; before placement it is a value (scope unplaced), afterwards rows of the scratchpad or the accumulator. The
// last dimension of a buffer is its columns; the others, flattened, are its rows.
//
// The meaning of a program is what block_run does; every pass keeps it. It is also what the hardware does: products and
// sums in int32 (wrapping), scaling in binary32 with round-to-nearest-even and saturation to int8.
#ifndef COMPILER_BLOCK_BLOCK_H
#define COMPILER_BLOCK_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "hw/array.h"

enum { BLOCK_RANK_MAX = 5, BLOCK_LOOPS_MAX = 20, BLOCK_NONE = -1 };

typedef enum { BLOCK_I8, BLOCK_I32, BLOCK_F32, BLOCK_TYPES } block_type;  // f32: between scaling and rounding only
size_t block_type_bytes(block_type type);

// constant + sum over loops of per_loop[id] * i(id); `id` is the index in program->loops.
typedef struct block_affine {
  int64_t constant;
  int64_t per_loop[BLOCK_LOOPS_MAX];
} block_affine;

// ---- what programs name

typedef struct block_tensor {
  const char *name;
  block_type type;
  int64_t elements;
  bool read, written;  // by the program
  // Int8 elements from -8 to 7, in memory two a byte, the first in the low half; never written. Indexes are of
  // elements.
  bool packed;
  // Of a constant, which the program brings along: its elements, int8, never written. NULL: the caller's.
  const int8_t *contents;
  // What a tensor of the caller always holds, as far as that is known: products with zeros may be left out. Or NULL.
  const int8_t *known;
  bool working;  // memory that the compiler added, for what one part of the program leaves to the next
} block_tensor;

// The dimension of a layer that a loop runs over, by the role that it has in the product.
typedef enum {
  BLOCK_DIM_N,  // batch: images, or products of a batch
  BLOCK_DIM_P,  // rows of results: rows of an image, M of a matrix product
  BLOCK_DIM_Q,  // columns of an image
  BLOCK_DIM_K,  // columns of results: output channels, N of a matrix product
  BLOCK_DIM_C,  // what is summed over: input channels, K of a matrix product
  BLOCK_DIM_R,  // kernel rows
  BLOCK_DIM_S,  // kernel columns
  BLOCK_DIMS,
  BLOCK_DIM_NONE = BLOCK_DIMS,
} block_dim_id;
extern const char *const block_dim_names[BLOCK_DIMS];

typedef struct block_loop {
  const char *name;  // unique
  int64_t trips;
  bool parallel;  // iterations may run in any order
  block_dim_id dim;
  // Splitting a loop into outer * inner leaves iterations past the end when `trips` is no multiple: an iteration runs
  // only if the loop it came from has it. `limit` is on outer * inner_trips + inner, kept by the inner one.
  int split_of;   // id of the outer loop of the pair, or BLOCK_NONE
  int64_t limit;  // trips of the loop before the split, when split_of is set
  // A loop may stand in several places, not inside itself; an outer one encloses its inner one.
} block_loop;

typedef enum { BLOCK_UNPLACED, BLOCK_SP, BLOCK_ACC } block_scope;

typedef struct block_buffer {
  const char *name;  // unique
  block_type type;
  int rank;
  int64_t size[BLOCK_RANK_MAX];
  // What passes decide.
  block_scope scope;
  uint32_t depth;      // slots that take turns, 1 or more
  uint32_t first_row;  // of slot 0
  uint32_t slot_rows;  // from one slot to the next
  bool tiled;          // accumulator: rows in tiles of DIM, column blocks side by side, so that wide stores can be used
} block_buffer;

// ---- operands

typedef struct block_access_dim {
  block_affine offset;  // index of the first element
  int64_t step;         // between elements of the block, 1 or more
  int64_t size;         // elements of the block
  int64_t extent;       // of the tensor in this dimension: other indexes are padding
  int64_t stride;       // elements of memory per index; 0 repeats
} block_access_dim;

// Element (i0, i1, ...) of the block is tensor[base + sum (offset_d + step_d * i_d) * stride_d]; an index outside
// [0, extent) reads as zero and is not written.
typedef struct block_access {
  int tensor;
  block_affine base;
  int rank;
  block_access_dim dim[BLOCK_RANK_MAX];
} block_access;

typedef struct block_view_dim {
  block_affine offset;
  int64_t step, size;
} block_view_dim;

// A part of a buffer, of the same rank.
typedef struct block_view {
  int buffer;
  block_view_dim dim[BLOCK_RANK_MAX];
} block_view;

// ---- statements

// Operations of single elements. X(NAME, text, arity): a and b are of one type, or b is a number.
#define BLOCK_OPS(X)                                                                 \
  X(COPY, "copy", 1) /* of the same type */                                          \
  X(ADD, "add", 2)   /* i32 wraps; f32 */                                            \
  X(SUB, "sub", 2)                                                                   \
  X(MUL, "mul", 2)                                                                   \
  X(MAX, "max", 2)                                                                   \
  X(MIN, "min", 2)                                                                   \
  X(SCALE, "scale", 2)   /* i8 or i32 to f32, times the number b */                  \
  X(TO_I8, "to_i8", 1)   /* from i32 or f32: to nearest even, saturating; NaN 127 */ \
  X(TO_I32, "to_i32", 1) /* from i8, or f32 as above */
typedef enum {
#define X(NAME, text, arity) BLOCK_OP_##NAME,
  BLOCK_OPS(X)
#undef X
      BLOCK_OP_COUNT
} block_op;

typedef struct block_operand {
  bool is_number;
  double number;    // exact for every i32 and f32
  block_view view;  // with size 1 in a dimension where the result has more: repeated
} block_operand;

typedef struct block_pool {
  uint32_t size, stride;  // stride 0: no pooling
  uint32_t upper_padding, left_padding;
  // The view begins so many rows and columns before the element of the image that is `stride` times the index of the
  // first result: those before the image count as zero.
  uint32_t border;
} block_pool;

// What the normaliser of the store unit makes of i32 (sim/ref/norm.h): i8. All but GELU are of whole rows.
#define BLOCK_NORMS(X)       \
  X(SOFTMAX, "softmax")      \
  X(LAYER_NORM, "layernorm") \
  X(GELU, "gelu")
typedef enum {
  BLOCK_NO_NORM,
#define X(NAME, text) BLOCK_##NAME,
  BLOCK_NORMS(X)
#undef X
      BLOCK_NORM_COUNT
} block_norm_kind;

typedef struct block_norm {
  block_norm_kind kind;
  int32_t b, c, ln2, ln2_inverse;  // of the polynomial that stands for e^x; b and c, below 0, of that for erf
} block_norm;

// Of rows that softmax is made of, how many columns of a row count: of row i, along the dimension before the last one,
// the first `first` + `step` * i, at most `most` and at least one. The others leave as 0. `most` 0: all count.
typedef struct block_lengths {
  int64_t most;
  block_affine first;
  int64_t step;
} block_lengths;

// What happens to a value on its way out, in this order.
typedef struct block_epilogue {
  bool relu;
  bool scaled;  // an i32 value is scaled, rounded and saturated to i8; otherwise it leaves as it is
  float scale;
  block_norm norm;  // without relu and pool; of rows scaled by 1
  block_pool pool;  // dimensions 1 and 2 of a view of rank 4 (image, row, column, channel)
} block_epilogue;

typedef enum { BLOCK_FOR, BLOCK_LOAD, BLOCK_DOT, BLOCK_ELEMENTWISE, BLOCK_STORE } block_kind;

typedef struct block_statement {
  block_kind kind;
  wf_location where;  // in the source
  struct block_statement *next;
  union {
    struct {
      int loop;
      struct block_statement *body;
    } loop;
    struct {  // target = access, or target += access; a bias is an access with stride 0
      block_view target;
      block_access access;
      bool accumulate;
      bool scaled;  // each i8 element times `scale`, rounded and saturated to i8, before it is widened to the target
      float scale;
      uint32_t overwrite_first;  // as in dot
    } load;
    struct {  // target[m, n] (+)= sum over k of a[m, k] * b[k, n]; leading dimensions of a and target are flattened to
              // m
      block_view target, a, b;
      bool a_transposed, b_transposed;  // a is [k, m], b is [n, k]
      // b is a matrix D x D, or one for each block of D columns of a, which it multiplies by itself; target has the
      // columns of a: target[m, jD + n] (+)= sum over k of a[m, jD + k] * b[j, k, n].
      bool blocks;
      bool accumulate;  // false: overwrites
      // Passes, with accumulate false: a bit per loop; in an iteration other than the first of one of these loops it
      // accumulates all the same. So a sum over loops overwrites first and needs no zeros before it.
      uint32_t overwrite_first;
    } dot;
    struct {
      block_op op;
      block_view target;
      block_operand a, b;
    } elementwise;
    struct {
      block_access access;
      block_view source;
      block_epilogue epilogue;
      bool apart;             // LAYER_NORM: the deviation is that of the rows of
      block_view statistics;  // this, of the same size
      block_lengths lengths;  // SOFTMAX
      // What leaves as i8 is multiplied by the elements of `factors`, i8 of the same size, each product times
      // `gate_scale`, rounded and saturated to i8. Without pool and rows of the normaliser.
      bool gated;
      block_view factors;
      float gate_scale;
    } store;
  };
} block_statement;

// How the loops and buffers are to be used; chosen by the mapping, carried out by passes and expansion.
typedef enum { BLOCK_STYLE_PRIMITIVE, BLOCK_STYLE_LOOP } block_style;
typedef enum { BLOCK_WS, BLOCK_OS } block_dataflow;

typedef struct block_program {
  wf_arena *arena;  // owns everything below
  const char *name;
  block_tensor *tensors;
  int tensor_count;
  block_loop *loops;
  int loop_count;
  block_buffer *buffers;
  int buffer_count;
  block_statement *body;
  block_style style;
  block_dataflow dataflow;
} block_program;

// ---- making programs

block_program *block_create(const char *name);
void block_destroy(block_program *program);
int block_add_tensor(block_program *program, const char *name, block_type type, int64_t elements);
int block_add_constant(block_program *program, const char *name, const int8_t *contents, int64_t elements);
int block_add_loop(block_program *program, const char *name, int64_t trips, bool parallel);
int block_add_buffer(block_program *program, const char *name, block_type type, int rank, const int64_t *size);
// A statement at the end of a list (`list` is the address of its first pointer).
block_statement *block_add(block_program *program, block_statement **list, block_kind kind, wf_location where);
// The whole of a buffer.
block_view block_whole(const block_program *program, int buffer);
int64_t block_affine_at(const block_affine *affine, const int64_t *iteration);

// ---- text, in the syntax that block_parse reads

void block_print(const block_program *program, FILE *out);
block_program *block_parse(const char *file, const char *text, size_t length, wf_diag *diag);

// Whether the program is well formed: names, ranks, types, views inside their buffers, unpadded accesses inside their
// tensors, every buffer written before it is read, no two iterations of a parallel loop storing to the same element
// with different values possible. Reports each violation.
bool block_verify(const block_program *program, wf_diag *diag);

// Runs the program on memory: tensors[t] is tensor t. The meaning of the IR, element by element; slow.
bool block_run(const block_program *program, void *const *tensors, wf_diag *diag);

#endif
