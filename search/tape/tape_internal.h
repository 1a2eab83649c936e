// SPDX-License-Identifier: Apache-2.0
// Shared by the builder, the compiler and the kernels of the tape.
#ifndef SEARCH_TAPE_TAPE_INTERNAL_H
#define SEARCH_TAPE_TAPE_INTERNAL_H

#include "search/tape/tape.h"

typedef enum {
  TAPE_CONSTANT,
  TAPE_VARIABLE,
  TAPE_PARAMETER,
#define TAPE_OP(name, ...) TAPE_##name,
#include "search/tape/tape_ops.def"
#undef TAPE_OP
  TAPE_OPS
} tape_op;

typedef struct tape_node {
  uint8_t op;
  uint32_t a, b;  // operands; b equals a where there is one; of an input: its number
  double value;   // of a constant
} tape_node;

struct tape {
  tape_node *nodes;
  uint32_t count, room;
  uint32_t inputs;
  uint32_t *table;  // open hash table of nodes: index + 1, 0 is empty
  uint32_t table_size;
};

extern const uint8_t tape_op_arity[TAPE_OPS];

// An operation of a program. Operands and result are slots of a workspace. Backwards, the masks are what to keep of
// the bits of an operand's adjoint: nothing if this step is the first to write it.
typedef struct tape_step {
  uint32_t a, b, result;
  uint64_t a_keep, b_keep;
} tape_step;

// Steps of one operation that do not need each other; active operands have adjoints.
typedef struct tape_run {
  uint8_t op, a_active, b_active;
  uint32_t first, count;
} tape_run;

struct tape_program {
  tape_step *steps;
  tape_run *runs;
  uint32_t step_count, run_count;
  uint32_t slots;
  double *constants;  // the first slots
  uint32_t constant_count;
  uint32_t *inputs;   // slot of each
  uint8_t *variable;  // of each input: it has a gradient
  uint32_t input_count;
  uint32_t *outputs;  // slot of each
  uint32_t output_count;
};

typedef struct tape_kernel_functions {
  void (*forward)(const tape_program *program, double *values);
  void (*backward)(const tape_program *program, const double *values, double *adjoints);
} tape_kernel_functions;

// One for each translation unit of kernel.c.
extern const tape_kernel_functions tape_kernel_plain;
#ifdef TAPE_HAVE_X86_KERNELS
extern const tape_kernel_functions tape_kernel_avx2, tape_kernel_avx512;
#endif

#endif
