// SPDX-License-Identifier: Apache-2.0
// Workspaces: the numbers of TAPE_LANES points at every node of a program, and the kernel that runs over them.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "search/tape/tape_internal.h"

struct tape_workspace {
  const tape_program *program;
  tape_kernel_functions kernel;
  double *values, *adjoints;
};

const char *const tape_kernel_names[TAPE_KERNELS] = {"plain", "avx2", "avx512"};

enum { ALIGNMENT = TAPE_LANES * sizeof(double) };

bool tape_kernel_available(tape_kernel kernel) {
#ifdef TAPE_HAVE_X86_KERNELS
  if (kernel == TAPE_AVX512) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  if (kernel == TAPE_AVX2) return __builtin_cpu_supports("avx2");
#endif
  return kernel == TAPE_PLAIN;
}

void tape_use_kernel(tape_workspace *w, tape_kernel kernel) {
  assert(tape_kernel_available(kernel));
  w->kernel = tape_kernel_plain;
#ifdef TAPE_HAVE_X86_KERNELS
  if (kernel == TAPE_AVX2) w->kernel = tape_kernel_avx2;
  if (kernel == TAPE_AVX512) w->kernel = tape_kernel_avx512;
#endif
}

static double *lanes(double *base, uint32_t slot) { return base + (size_t)slot * TAPE_LANES; }

static double *aligned_lanes(size_t slots) {
  double *memory = aligned_alloc(ALIGNMENT, (slots + 1) * ALIGNMENT);
  if (!memory) memory = wf_alloc(SIZE_MAX / ALIGNMENT, ALIGNMENT);  // reports and ends
  memset(memory, 0, (slots + 1) * ALIGNMENT);
  return memory;
}

tape_workspace *tape_workspace_create(const tape_program *program) {
  tape_workspace *w = WF_NEW(tape_workspace);
  w->program = program;
  w->values = aligned_lanes(program->slots);
  w->adjoints = aligned_lanes(program->slots);
  for (uint32_t n = 0; n < program->constant_count; n++)
    for (int lane = 0; lane < TAPE_LANES; lane++) lanes(w->values, n)[lane] = program->constants[n];
  tape_kernel best = TAPE_PLAIN;
  for (int kernel = TAPE_PLAIN; kernel < TAPE_KERNELS; kernel++)
    if (tape_kernel_available((tape_kernel)kernel)) best = (tape_kernel)kernel;
  tape_use_kernel(w, best);
  return w;
}

void tape_workspace_destroy(tape_workspace *w) {
  if (!w) return;
  free(w->values);
  free(w->adjoints);
  wf_free(w);
}

double *tape_input(tape_workspace *w, size_t input) {
  assert(input < w->program->input_count);
  return lanes(w->values, w->program->inputs[input]);
}

const double *tape_output(const tape_workspace *w, size_t output) {
  assert(output < w->program->output_count);
  return lanes(w->values, w->program->outputs[output]);
}

const double *tape_gradient(const tape_workspace *w, size_t input) {
  assert(input < w->program->input_count && w->program->variable[input]);
  return lanes(w->adjoints, w->program->inputs[input]);
}

double *tape_seed(tape_workspace *w, size_t output) {
  assert(output < w->program->output_count);
  return lanes(w->adjoints, w->program->outputs[output]);
}

void tape_forward(tape_workspace *w) { w->kernel.forward(w->program, w->values); }

void tape_backward(tape_workspace *w) { w->kernel.backward(w->program, w->values, w->adjoints); }
