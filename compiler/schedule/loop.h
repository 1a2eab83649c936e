// Inside of expand_loop_style: programs of matrix products (LOOP_WS) and of convolutions (LOOP_CONV_WS).
//
// The unrollers have places of their own in both memories, two slots that take turns, so nothing stays in the
// scratchpad from one loop to the next. Results stay in the accumulator through a chain of loops: the first one loads
// the bias, the last one stores.
#ifndef COMPILER_SCHEDULE_LOOP_H
#define COMPILER_SCHEDULE_LOOP_H

#include "compiler/schedule/expand.h"

typedef struct loop_unit loop_unit;

// What loops of both kinds need: the commands so far and the configuration that they leave.
typedef struct loop_style {
  const block_program *program;
  const hw_array *array;
  hw_derived derived;
  wf_diag *diag;
  wf_arena *arena;
  command_program *out;
  uint64_t config[5][2];  // what is set: execute, three load states, store
  bool configured[5];
  loop_unit *units;  // multiples of the unit matrix
  size_t unit_count, unit_room;
} loop_style;

typedef struct loop_operand {
  int tensor;  // or COMMAND_NO_TENSOR
  uint64_t value;
} loop_operand;

static inline loop_operand loop_number(uint64_t value) { return (loop_operand){COMMAND_NO_TENSOR, value}; }

void loop_put(loop_style *l, unsigned funct, loop_operand rs1, loop_operand rs2);
void loop_configure_execute(loop_style *l, bool a_transposed, bool b_transposed, int64_t a_stride);
void loop_configure_load(loop_style *l, unsigned state, int64_t stride, float scale, bool shrink);
void loop_configure_store(loop_style *l, int64_t stride, bool relu, float scale);

// A matrix of `size` rows and columns, `pitch` bytes from row to row, with a number on its diagonal: what a residual is
// multiplied with. Rows are padded to whole blocks of DIM.
int loop_unit_matrix(loop_style *l, int8_t number, int64_t size, int64_t pitch);
// The number on the diagonal of the constant that a product of blocks multiplies with.
int8_t loop_unit_number(const loop_style *l, const block_statement *dot);

// Reports why the unrollers cannot carry out a statement.
bool loop_refuse(const loop_style *l, const block_statement *s, const char *reason);

// Write the commands of a whole program; false after an error.
bool loop_products(loop_style *l, walk *w);
bool loop_convolutions(loop_style *l, walk *w);

#endif
