// SPDX-License-Identifier: Apache-2.0
// Lowering: what its files share. The body of a kernel is run on values that are known or affine in loops: the `range`
// loops, and the axes of the grid, which are loops of the program from the start. Where the grid is not affine
// (programs that are swizzled or grouped) the body is run once per program with concrete ids: the first run records the
// block program, the others must do the same statements, and lower_grid.c makes loops of the offsets in which they
// differ.
//
//   lower.c            the runs and the whole
//   lower_index.c      affine numbers
//   lower_value.c      values: equality, recurrences, who refers to a buffer
//   lower_expression.c names, tuples, functions, methods
//   lower_operator.c   operators
//   lower_memory.c     loads, stores, shapes of what was loaded
//   lower_pointer.c    blocks of indexes, pointers and masks: their arithmetic
//   lower_mask.c       comparisons as masks, and pointers with masks as block pointers
//   lower_spread.c     offsets of dimensions without a mask
//   lower_wrap.c       what was read modulo a size does not get out
//   lower_block.c      statements; products and arithmetic on blocks
//   lower_statement.c  assignments, branches, calls
//   lower_loop.c       loops
//   lower_rows.c       softmax and layer norm of the rows of a block
//   lower_where.c      columns that softmax leaves out
//   lower_curve.c      GELU and SiLU of its elements
//   lower_park.c       blocks that are computed and multiplied again: by way of memory
//   lower_parts.c      the program in parts, one behind the other, between which such blocks lie in memory
//   lower_axes.c       the axes of the grid as loops
//   lower_grid.c       parallel loops out of the offsets that vary
//   lower_shape.c      buffers of blocks that are reshaped
//   lower_finish.c     unused loads, sizes of tensors, roles of loops, stores that collide
#ifndef COMPILER_LANG_LOWER_H
#define COMPILER_LANG_LOWER_H

#include "compiler/block/block.h"
#include "compiler/lang/builtins.h"
#include "compiler/lang/check.h"

// ---- numbers that are known or affine in loops (ids of the block program)

typedef struct lang_lower_index {
  uint32_t loops;  // a bit per factor that is not zero
  int64_t constant;
  int64_t per_loop[BLOCK_LOOPS_MAX];  // only those in `loops` count
} lang_lower_index;

static inline lang_lower_index lang_lower_constant(int64_t value) { return (lang_lower_index){.constant = value}; }
// False: the result does not fit in 64 bits.
bool lang_lower_index_add(const lang_lower_index *a, const lang_lower_index *b, lang_lower_index *sum);
bool lang_lower_index_times(const lang_lower_index *a, int64_t factor, lang_lower_index *product);
bool lang_lower_index_equal(const lang_lower_index *a, const lang_lower_index *b);
// As Python's // and %; false if they are not affine.
bool lang_lower_index_divide(const block_program *program, const lang_lower_index *a, int64_t divisor,
                             lang_lower_index *quotient, lang_lower_index *rest);
bool lang_lower_index_bounds(const block_program *program, const lang_lower_index *a, int64_t *least, int64_t *most);
block_affine lang_lower_index_affine(const lang_lower_index *a);

// ---- values

// Memory as make_block_ptr describes it.
typedef struct lang_lower_block_ptr {
  int tensor;
  lang_lower_index base;
  int rank;
  struct {
    lang_lower_index offset;
    int64_t step, size, extent, stride;
  } dim[BLOCK_RANK_MAX];
  lang_source_span span;  // of the make_block_ptr
} lang_lower_block_ptr;

typedef struct lang_lower_block {
  int buffer;
  int rank;
  int64_t size[BLOCK_RANK_MAX];  // of the value: swapped if transposed
  bool transposed;
  const block_access *access;            // where it was loaded from, while it is still that; or NULL
  unsigned stores;                       // how many stores there were when it was loaded
  unsigned wrapped, open;                // how it was loaded: see lang_lower_mark
  const struct lang_lower_rows *scaled;  // of a block of integers times a number: that; or NULL
  const struct lang_lower_curve *curve;  // of floats that are a polynomial of a block of integers: that; or NULL
} lang_lower_block;

// p + f * function(r), polynomials of the elements of a block of integers: see lower_curve.c.
enum { LOWER_POWERS = 4 };
typedef struct lang_lower_polynomial {
  double of[LOWER_POWERS];
} lang_lower_polynomial;
typedef enum {
  LOWER_CURVE_NONE,
  LOWER_CURVE_ERF,
  LOWER_CURVE_TANH,
  LOWER_CURVE_EXP,  // until something is divided by 1 and it
} lang_lower_curve_function_id;
typedef struct lang_lower_curve {
  lang_lower_block root;  // without a buffer: of a number
  lang_lower_curve_function_id function;
  lang_lower_polynomial p, f, r;
} lang_lower_curve;

// A part of softmax or layer norm of the rows of a block, or of GELU of its elements: see lower_rows.c, lower_curve.c.
typedef enum {
  LOWER_ROWS_ALL,  // the block times the scale
  LOWER_ROWS_MAX,
  LOWER_ROWS_BELOW,
  LOWER_ROWS_EXP,
  LOWER_ROWS_SUM,
  LOWER_ROWS_SHARE,
  LOWER_ROWS_LEVELS,
  LOWER_ROWS_TOTAL,
  LOWER_ROWS_MEAN,
  LOWER_ROWS_CENTRED,
  LOWER_ROWS_SQUARE,
  LOWER_ROWS_SQUARES,
  LOWER_ROWS_VARIANCE,
  LOWER_ROWS_INVERSE,
  LOWER_ROWS_NORMED,
  LOWER_ROWS_CURVE,
  LOWER_ROWS_I8,
} lang_lower_rows_form;

typedef struct lang_lower_rows {
  lang_lower_rows_form form;
  lang_lower_block block;                 // of integers
  const struct lang_lower_indexes *kept;  // the mask of the elements that softmax does not leave out; NULL: all
  double scale;                           // binary32
  bool scaled;                            // by it
  bool spread;                            // a number per row, as a column
  lang_lower_block of;                    // whose deviation counts, from LOWER_ROWS_NORMED on
  block_norm_kind kind;                   // LOWER_ROWS_I8
  const lang_lower_curve *curve;          // LOWER_ROWS_CURVE
  block_epilogue gelu;                    // LOWER_ROWS_I8 of BLOCK_GELU
} lang_lower_rows;

// A block of indexes, start + sum over d of step_d * i_d; with a tensor, of pointers into it. Along a dimension that is
// limited, step_d multiplies (from_d + i_d) modulo the extent instead of i_d. A mask is the same without steps: it
// holds where from_d + i_d is below the extent of each dimension that is limited; `from` is never negative. A mask that
// is ragged holds in row i, of the dimension before the last one, below column edge + edge_step * i.
typedef struct lang_lower_indexes {
  int tensor;
  lang_lower_index start;
  int rank;
  struct {
    int64_t size, step;
    bool limited;
    int64_t extent;
    lang_lower_index from;
  } dim[BLOCK_RANK_MAX];
  bool ragged;
  lang_lower_index edge;
  int64_t edge_step;
} lang_lower_indexes;

typedef enum {
  VALUE_UNSET,
  VALUE_LOST,    // changes from iteration to iteration in a way that is not affine
  VALUE_SCALAR,  // a float, a bool, a text, None
  VALUE_INDEX,
  VALUE_TUPLE,
  VALUE_POINTER,
  VALUE_BLOCK_PTR,
  VALUE_BLOCK,
  VALUE_DTYPE,
  VALUE_ELEMENT,  // the dtype of a pointer, before .element_ty
  VALUE_INDEXES,
  VALUE_POINTERS,
  VALUE_MASK,
  VALUE_ROWS,
} lang_lower_value_kind;

typedef struct lang_lower_value {
  lang_lower_value_kind kind;
  union {
    lang_value scalar;
    lang_lower_index index;
    struct {
      const struct lang_lower_value *items;
      int count;
    } tuple;
    struct {
      int tensor;
      lang_lower_index offset;
    } pointer;
    const lang_lower_block_ptr *block_ptr;
    lang_lower_block block;
    lang_dtype dtype;
    const lang_lower_indexes *indexes;  // INDEXES, POINTERS, MASK
    const lang_lower_rows *rows;
  };
} lang_lower_value;

typedef struct lang_lower_frame {
  struct lang_lower_frame *caller;
  const lang_ast *function, *call;  // call: NULL for the kernel
  lang_lower_value *locals;
  int loops;  // around the statement, within this function
  bool returned;
  lang_lower_value result;
} lang_lower_frame;

// What the first run found out about a loop; the others follow it.
typedef struct lang_lower_plan {
  bool unrolled;
  int loop;
  int64_t trips;
  int64_t *steps;  // per iteration, of the numbers of all carried variables, in the order of lang_lower_numbers
  bool *lost;      // per carried variable: it is not affine
} lang_lower_plan;

// An axis of the grid as loops, outermost first: several if the kernel takes the program id apart with // and %.
enum { LOWER_PARTS_MAX = 4 };
typedef struct lang_lower_axis {
  int64_t trips[LOWER_PARTS_MAX];
  int loop[LOWER_PARTS_MAX];
  int count;
} lang_lower_axis;

// A load or store through a block of pointers. A bit per dimension: `wrapped`, it is read modulo its extent; `open`, it
// has no end but that of the block.
typedef struct lang_lower_mark {
  block_statement *statement;
  unsigned wrapped, open;
} lang_lower_mark;

typedef struct lang_lowerer {
  const lang_instance *instance;
  const lang_source *s;
  wf_diag *diag;
  wf_arena *arena;  // of the lowering
  wf_arena *run;    // of this run
  block_program *program;
  int64_t program_id[LANG_GRID_AXES];     // of a concrete run, for messages
  lang_lower_index axis[LANG_GRID_AXES];  // what program_id() gives
  lang_lower_axis axes[LANG_GRID_AXES];   // while the axes are loops
  int split_loop;    // the loop of an axis that must be two for the grid to be affine, or BLOCK_NONE
  int64_t split_by;  // the trips of the inner one
  lang_lower_frame *frame;
  const char *hint;  // for names of new buffers

  bool recording;            // the first run
  block_statement **tail;    // where the next statement goes
  block_statement **events;  // statements in the order of their making
  size_t event_count, event_at, event_room;
  lang_lower_plan *plans;
  size_t plan_count, plan_at, plan_room;
  int buffer_count;   // made in this run
  int param_tensors;  // those of the kernel; tensors behind them hold parked blocks
  int parked;         // in this run
  unsigned stores;    // in this run
  unsigned steps;     // statements that this run has evaluated
  int planning;       // bodies that are being run to find what they carry: pointers have not moved on yet

  // Constants of all offsets, a row per program of the grid.
  int64_t *slots;
  size_t slot_count, slot_at;
  // Variables of the kernel at the end of the run, a row per program; names are candidates for names of loops.
  int64_t *finals;
  bool *final_known;
  lang_lower_index *final_index;  // per variable, after a run with loops for the axes
  // How far each tensor is used.
  int64_t *tensor_end;
  lang_lower_mark *marks;
  size_t mark_count, mark_room;
} lang_lowerer;

bool lang_lower_fail(lang_lowerer *l, const lang_ast *node, const char *format, ...) WF_PRINTF(3, 4);  // returns false
void lang_lower_hint(lang_lowerer *l, const char *format, ...) WF_PRINTF(2, 3);

// ---- lower_value.c
lang_lower_value lang_lower_int(int64_t value);
lang_lower_value lang_lower_bool(bool value);
bool lang_lower_is_constant(const lang_lower_value *v, int64_t *number);
bool lang_lower_is_number(const lang_lower_value *v, double *number);  // a float, a bool or a known integer
const char *lang_lower_kind_text(const lang_lower_value *v);
// The affine numbers inside a value, at most LOWER_NUMBERS_MAX. Block pointers are copied first, so that they can be
// changed through the pointers.
enum { LOWER_NUMBERS_MAX = 32 };
int lang_lower_numbers(lang_lowerer *l, lang_lower_value *v, lang_lower_index **numbers);
// The same but for the numbers.
bool lang_lower_same_kind(const lang_lower_value *a, const lang_lower_value *b);
// Variables of all frames that are this buffer, without counting `*except`.
int lang_lower_references(const lang_lowerer *l, int buffer, const lang_lower_value *except);
bool lang_lower_mentions(const lang_lower_value *v, int buffer);  // whether a value is this buffer or a tuple with it

// ---- lower_expression.c
// `into`: a buffer that the value may be computed in, as it is about to be overwritten; or BLOCK_NONE.
bool lang_lower_eval(lang_lowerer *l, const lang_ast *node, int into, lang_lower_value *result);
bool lang_lower_eval_constant(lang_lowerer *l, const lang_ast *node, const char *what, int64_t *result);
// A tuple of `*count` values, or one value as a tuple of one.
bool lang_lower_eval_tuple(lang_lowerer *l, const lang_ast *node, const lang_lower_value **items, int *count);
bool lang_lower_truth(lang_lowerer *l, const lang_ast *node, bool *truth);

// ---- lower_operator.c
bool lang_lower_too_large(lang_lowerer *l, const lang_ast *node);  // says so; false
bool lang_lower_binary(lang_lowerer *l, const lang_ast *node, int into, lang_lower_value *result);
bool lang_lower_unary(lang_lowerer *l, const lang_ast *node, int into, lang_lower_value *result);
// a // b, or a % b.
bool lang_lower_divide(lang_lowerer *l, const lang_ast *node, bool rest, const lang_lower_index *a,
                       const lang_lower_index *b, lang_lower_value *result);
// The least and the largest a - b over all iterations; false if they do not fit.
bool lang_lower_difference(const lang_lowerer *l, const lang_lower_index *a, const lang_lower_index *b, int64_t *least,
                           int64_t *most);

// ---- lower_pointer.c, lower_mask.c
bool lang_lower_is_indexes(const lang_lower_value *v);  // indexes, pointers, a mask
bool lang_lower_arange(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result);
// Where one operand is such a block.
bool lang_lower_index_operator(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a,
                               const lang_lower_value *b, lang_lower_value *result);
// x[:, None]
bool lang_lower_index_subscript(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v,
                                lang_lower_value *result);
bool lang_lower_index_join(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *a,
                           const lang_lower_indexes *b, lang_lower_indexes *joined);
bool lang_lower_compare_indexes(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a,
                                const lang_lower_value *b, lang_lower_value *result);
bool lang_lower_and_masks(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *a,
                          const lang_lower_indexes *b, lang_lower_indexes *both);
// Where dimension d of a mask ends, from the first place of the block on; an end of columns that moves with loops
// becomes an edge.
bool lang_lower_mask_end(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *mask, int d,
                         lang_lower_index *end);
bool lang_lower_mask_edge(lang_lowerer *l, const lang_ast *node, lang_lower_indexes *mask);
// The block pointer that a block of pointers with a mask (or NULL) is. `checked`, `wrapped`: a bit per dimension that
// ends at its extent, and of those the ones that are read modulo it.
bool lang_lower_masked(lang_lowerer *l, const lang_ast *node, const lang_lower_indexes *pointers,
                       const lang_lower_value *mask, lang_lower_block_ptr *p, unsigned *checked, unsigned *wrapped);
// ---- lower_wrap.c, lower_spread.c
bool lang_lower_check_wraps(lang_lowerer *l);
void lang_lower_spread(lang_lowerer *l);

// ---- lower_where.c
bool lang_lower_is_nothing(const lang_lower_value *v);  // minus infinity: what softmax leaves out
// where(mask, x, float("-inf"))
bool lang_lower_where(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result);
// The block of which softmax takes only what the mask holds for.
bool lang_lower_keep(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, const lang_lower_indexes *mask,
                     lang_lower_value *result);
bool lang_lower_same_mask(const lang_lower_indexes *a, const lang_lower_indexes *b);
// The columns of each row that count.
bool lang_lower_lengths(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows, block_lengths *lengths);
// Whether no row that is stored to p has more columns than that; what is not stored has no more, either.
bool lang_lower_fit_lengths(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows,
                            const lang_lower_block_ptr *p, block_lengths *lengths);
// Rows of which nothing is kept must not be stored. `p`: where the block goes; NULL: as a whole.
bool lang_lower_row_limits(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows,
                           const lang_lower_block_ptr *p);

// ---- lower_rows.c
const char *lang_lower_rows_text(const lang_lower_rows *rows);
// A block of integers, or one that is such a block times a number, or a part of softmax or layer norm.
bool lang_lower_rows_of(lang_lowerer *l, const lang_lower_value *v, lang_lower_rows *rows);
// max(x, axis) of a block, sum(x, axis), exp(x) or exp2(x), rsqrt(x).
bool lang_lower_row_max(lang_lowerer *l, const lang_ast *node, const lang_ast **args, const lang_lower_value *v,
                        lang_lower_value *result);
bool lang_lower_row_sum(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result);
bool lang_lower_row_exp(lang_lowerer *l, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                        lang_lower_value *result);
bool lang_lower_row_rsqrt(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result);
// Where one operand is such a part.
bool lang_lower_row_operator(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a,
                             const lang_lower_value *b, lang_lower_value *result);
bool lang_lower_row_subscript(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v,
                              lang_lower_value *result);
bool lang_lower_row_convert(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, lang_dtype dtype,
                            lang_lower_value *result);
// Fills in the statement: the rows that are stored, whose statistics count, and what becomes of them.
bool lang_lower_row_store(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows, block_statement *s);

// All of softmax or layer norm as an operand of dot(); a part is refused.
bool lang_lower_row_park(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *rows, lang_lower_value *result);

// ---- lower_curve.c
// What a float result is of the integers of its operands, if it is a polynomial.
void lang_lower_curve_note(lang_lowerer *l, block_op op, const lang_lower_value *left, const lang_lower_value *right,
                           lang_lower_value *result);
// erf(x), tanh(x), sigmoid(x).
bool lang_lower_curve_function(lang_lowerer *l, const lang_ast *node, lang_builtin_id id, const lang_ast **args,
                               lang_lower_value *result);
bool lang_lower_curve_hint(lang_lowerer *l);  // how GELU is written; false
// exp(x) of elements.
bool lang_lower_curve_exp(lang_lowerer *l, const lang_lower_value *v, bool two, lang_lower_value *result);
bool lang_lower_is_curve(const lang_lower_value *v);
bool lang_lower_curve_operator(lang_lowerer *l, const lang_ast *node, const lang_lower_value *a,
                               const lang_lower_value *b, lang_lower_value *result);
bool lang_lower_curve_convert(lang_lowerer *l, const lang_ast *node, const lang_lower_rows *from, lang_dtype dtype,
                              lang_lower_value *result);

// ---- lower_park.c, lower_parts.c
// The largest magnitude of int8, or of int8 times integers; 0: not known.
double lang_lower_largest(const lang_lowerer *l, int buffer);
// Whether an int8 block is other than what a load brings, perhaps scaled.
bool lang_lower_is_computed(const lang_lowerer *l, int buffer);
bool lang_lower_is_rounded(const lang_lowerer *l, int buffer);
bool lang_lower_is_negated(const lang_lowerer *l, int buffer);  // rounded behind a scale below 0
// A block as it can be used again: one that was computed is parked, if it is of int8.
bool lang_lower_settle(lang_lowerer *l, const lang_ast *node, lang_lower_value *v);
bool lang_lower_is_operand(const lang_lowerer *l, int buffer);  // of a product so far
// The block as it is loaded back from memory of its own. `store`: without its access.
bool lang_lower_park(lang_lowerer *l, const lang_ast *node, block_statement *store, const lang_lower_block *block,
                     lang_lower_value *result);
bool lang_lower_is_working(const lang_lowerer *l, int tensor);
// Gives each iteration its place in the memory of parked blocks, and takes the program apart at them.
bool lang_lower_parts(lang_lowerer *l);

// ---- lower_memory.c
bool lang_lower_load_access(lang_lowerer *l, const lang_ast *node, const block_access *access,
                            lang_lower_value *result);
bool lang_lower_load(lang_lowerer *l, const lang_ast *node, const lang_ast **args, lang_lower_value *result);
bool lang_lower_store(lang_lowerer *l, const lang_ast *node, const lang_ast **args);
bool lang_lower_reshape(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, const int64_t *size, int rank,
                        lang_lower_value *result);
// An access with dimensions of 1 put in or taken out; false if that is no way to the new shape.
bool lang_lower_reshape_access(const lang_lowerer *l, const block_access *from, const int64_t *size, int rank,
                               block_access *to);

// ---- lower_block.c
extern const block_type lang_lower_block_types[LANG_DTYPES];
extern const lang_dtype lang_lower_lang_types[BLOCK_TYPES];
enum { LOWER_SHAPE_TEXT = 120 };
const char *lang_lower_shape_text(const int64_t *size, int rank, char text[LOWER_SHAPE_TEXT]);  // "(4, 8)"
bool lang_lower_same_shape(const int64_t *a, int a_rank, const int64_t *b, int b_rank);
const char *lang_lower_type_text(const lang_lowerer *l, const lang_lower_block *b);
int lang_lower_new_buffer(lang_lowerer *l, const lang_ast *node, block_type type, const int64_t *size,
                          int rank);  // or BLOCK_NONE
lang_lower_value lang_lower_block_value(int buffer, const int64_t *size, int rank);
bool lang_lower_needs_plain(lang_lowerer *l, const lang_ast *node,
                            const lang_lower_block *b);  // refuses transposed blocks
bool lang_lower_dot(lang_lowerer *l, const lang_ast *node, const lang_ast **args, const lang_lower_value *acc, int into,
                    lang_lower_value *result);
bool lang_lower_arithmetic(lang_lowerer *l, const lang_ast *node, block_op op, const lang_lower_value *a,
                           const lang_lower_value *b, int into, lang_lower_value *result);
bool lang_lower_convert(lang_lowerer *l, const lang_ast *node, const lang_lower_value *v, lang_dtype dtype,
                        lang_lower_value *result);
bool lang_lower_full(lang_lowerer *l, const lang_ast *node, const int64_t *size, int rank, double number,
                     lang_dtype dtype, lang_lower_value *result);
// A new buffer with the same elements.
bool lang_lower_copy(lang_lowerer *l, const lang_ast *node, lang_lower_value *v);
// target = source, of the same shape.
bool lang_lower_assign_block(lang_lowerer *l, const lang_ast *node, const lang_lower_block *target,
                             const lang_lower_block *from);
// Adds a statement, or checks that it is the one that the first run had here.
block_statement *lang_lower_emit(lang_lowerer *l, const lang_ast *node, const block_statement *s);

// ---- lower_statement.c, lower_loop.c
bool lang_lower_body(lang_lowerer *l, lang_ast *const *items, int count);
bool lang_lower_call(lang_lowerer *l, const lang_ast *node, lang_lower_value *result);
bool lang_lower_loop(lang_lowerer *l, const lang_ast *node);

// ---- lower_axes.c, lower_grid.c, lower_shape.c, lower_finish.c
// The axes of the grid as loops of the program, and their places in it after a run that succeeded.
bool lang_lower_begin_axes(lang_lowerer *l);
// False if two of them count on as one (programs in groups): running the programs finds that one.
bool lang_lower_end_axes(lang_lowerer *l);
// Splits the loop that a run wanted split; false if there is none, or it cannot be.
bool lang_lower_split_axis(lang_lowerer *l);
void lang_lower_wrap(lang_lowerer *l, const int *loops, int count);  // puts the whole program into these loops
bool lang_lower_grid(lang_lowerer *l, int64_t programs);
bool lang_lower_shapes(lang_lowerer *l);
void lang_lower_drop_unused(lang_lowerer *l, block_statement **list);  // statements that no store in it needs
bool lang_lower_finish(lang_lowerer *l);

#endif
