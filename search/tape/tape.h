// SPDX-License-Identifier: Apache-2.0
// Expression tapes with reverse-mode differentiation, evaluated for many points at a time (docs/search.md).
//
// A tape is built once: operations are recorded, constants are folded and equal expressions are shared. tape_compile
// turns it into a program, which runs forwards and backwards over workspaces of TAPE_LANES independent points each;
// a number of a point is a lane, the lanes of a node lie next to each other. Programs are constant after compilation:
// threads share them, each with its own workspaces.
//
// All kernels (AVX-512, AVX2, plain) give the same bits; the best one that the processor has is taken.
#ifndef SEARCH_TAPE_TAPE_H
#define SEARCH_TAPE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAPE_LANES = 32 };

typedef struct tape tape;
typedef uint32_t tape_ref;  // a node of a tape

tape *tape_create(void);
void tape_destroy(tape *tape);

tape_ref tape_constant(tape *tape, double value);
tape_ref tape_variable(tape *tape);   // an input with a gradient
tape_ref tape_parameter(tape *tape);  // an input without

tape_ref tape_add(tape *tape, tape_ref a, tape_ref b);
tape_ref tape_sub(tape *tape, tape_ref a, tape_ref b);
tape_ref tape_mul(tape *tape, tape_ref a, tape_ref b);
tape_ref tape_div(tape *tape, tape_ref a, tape_ref b);
tape_ref tape_max(tape *tape, tape_ref a, tape_ref b);
tape_ref tape_min(tape *tape, tape_ref a, tape_ref b);
tape_ref tape_exp(tape *tape, tape_ref a);
tape_ref tape_log(tape *tape, tape_ref a);
tape_ref tape_softplus(tape *tape, tape_ref a);  // log(1 + exp(a))
tape_ref tape_ramp(tape *tape, tape_ref a);      // a within 0..1
tape_ref tape_floor(tape *tape, tape_ref a);     // gradient 0
// With a constant for one operand.
tape_ref tape_scale(tape *tape, tape_ref a, double factor);
tape_ref tape_offset(tape *tape, tape_ref a, double term);

// Smooth forms. They are never below (max) or above (min) the exact ones and approach them as the temperature, which
// must be positive, goes to 0; n equal operands are off by temperature x ln n.
tape_ref tape_smooth_max(tape *tape, const tape_ref *terms, size_t count, tape_ref temperature);
tape_ref tape_smooth_min(tape *tape, const tape_ref *terms, size_t count, tape_ref temperature);
// The identity at temperature 1, the ceiling as it goes to 0, exact at whole numbers at any temperature.
tape_ref tape_smooth_ceil(tape *tape, tape_ref a, tape_ref temperature);

size_t tape_size(const tape *tape);  // nodes recorded

// ---- programs

typedef struct tape_program tape_program;
typedef struct tape_workspace tape_workspace;

// Keeps what the outputs need. An output may be any node, also more than once.
tape_program *tape_compile(const tape *tape, const tape_ref *outputs, size_t count);
void tape_program_destroy(tape_program *program);
size_t tape_program_operations(const tape_program *program);

tape_workspace *tape_workspace_create(const tape_program *program);
void tape_workspace_destroy(tape_workspace *workspace);

// The lanes of an input (to be set before tape_forward), of an output, of a variable's gradient. Inputs and outputs
// are numbered in the order of their declaration; variables and parameters count together.
double *tape_input(tape_workspace *workspace, size_t input);
const double *tape_output(const tape_workspace *workspace, size_t output);
const double *tape_gradient(const tape_workspace *workspace, size_t input);
// The adjoints of an output, to be set before tape_backward.
double *tape_seed(tape_workspace *workspace, size_t output);

void tape_forward(tape_workspace *workspace);
// After tape_forward on the same inputs: gradients of the sum over outputs of seed x output.
void tape_backward(tape_workspace *workspace);

// ---- kernels

typedef enum { TAPE_PLAIN, TAPE_AVX2, TAPE_AVX512, TAPE_KERNELS } tape_kernel;
extern const char *const tape_kernel_names[TAPE_KERNELS];
bool tape_kernel_available(tape_kernel kernel);
// For comparisons; a workspace starts with the best that is available.
void tape_use_kernel(tape_workspace *workspace, tape_kernel kernel);

#endif
