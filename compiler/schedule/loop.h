// SPDX-License-Identifier: Apache-2.0
// Style `loop`: programs of matrix products (LOOP_WS) and of convolutions (LOOP_CONV_WS).
//
// The unrollers have places of their own in both memories, two slots that take turns, so nothing stays in the
// scratchpad from one loop to the next. Results stay in the accumulator through a chain of loops: the first one loads
// the bias, the last one stores.
#ifndef COMPILER_SCHEDULE_LOOP_H
#define COMPILER_SCHEDULE_LOOP_H

#include "compiler/command/command.h"
#include "compiler/schedule/walk.h"

enum { SCHED_IMAGE_RANK = 4 };  // of images: image, row, column, channel

// The whole program through the unrollers; NULL after the reason was reported.
command_program *sched_loop_commands(const block_program *program, const hw_array *array, wf_diag *diag);

typedef struct sched_loop_unit sched_loop_unit;

// What loops of both kinds need: the commands so far and the configuration that they leave.
typedef struct sched_loop {
  const block_program *program;
  const hw_array *array;
  hw_derived derived;
  wf_diag *diag;
  wf_arena *arena;
  command_program *out;
  uint64_t config[5][2];  // what is set: execute, three load states, store
  bool configured[5];
  sched_loop_unit *units;  // multiples of the unit matrix
  size_t unit_count, unit_room;
} sched_loop;

typedef struct sched_loop_operand {
  int tensor;  // or COMMAND_NO_TENSOR
  uint64_t value;
} sched_loop_operand;

static inline sched_loop_operand sched_loop_number(uint64_t value) {
  return (sched_loop_operand){COMMAND_NO_TENSOR, value};
}

void sched_loop_put(sched_loop *l, unsigned funct, sched_loop_operand rs1, sched_loop_operand rs2);
void sched_loop_configure_execute(sched_loop *l, bool a_transposed, bool b_transposed, int64_t a_stride);
void sched_loop_configure_load(sched_loop *l, unsigned state, int64_t stride, float scale, bool shrink);
void sched_loop_configure_store(sched_loop *l, int64_t stride, bool relu, float scale);

// A matrix of `size` rows and columns, `pitch` bytes from row to row, with a number on its diagonal: what a residual is
// multiplied with. Rows are padded to whole blocks of DIM.
int sched_loop_unit_matrix(sched_loop *l, int8_t number, int64_t size, int64_t pitch);
// The number on the diagonal of the constant that a product of blocks multiplies with.
int8_t sched_loop_unit_number(const sched_loop *l, const block_statement *dot);

// Reports why the unrollers cannot carry out a statement; returns false.
bool sched_loop_refuse(const sched_loop *l, const block_statement *s, const char *reason);

// Write the commands of a whole program; false after an error.
bool sched_loop_products(sched_loop *l, sched_walk *w);
bool sched_loop_convolutions(sched_loop *l, sched_walk *w);

#endif
