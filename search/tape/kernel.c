// SPDX-License-Identifier: Apache-2.0
// The kernels of the tape: runs of steps, forwards and backwards, over TAPE_LANES lanes each. This file is compiled
// once for each instruction set, with TAPE_KERNEL as the name; contraction of a * b + c is off, so all give equal bits.
#include "search/tape/tape_internal.h"
#include "search/tape/tape_math.h"

#ifdef __clang__
#define LANES_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANES_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define ALIGNED(pointer) __builtin_assume_aligned((pointer), TAPE_LANES * sizeof(double))

static const double *lanes_of(const double *base, uint32_t slot) { return ALIGNED(base + (size_t)slot * TAPE_LANES); }
static double *lanes_in(double *base, uint32_t slot) { return ALIGNED(base + (size_t)slot * TAPE_LANES); }

static void forward(const tape_program *program, double *values) {
  for (const tape_run *run = program->runs; run < program->runs + program->run_count; run++) {
    const tape_step *step = program->steps + run->first, *end = step + run->count;
    switch (run->op) {
#define TAPE_OP(name, arity, commutes, value, da, db)                                                   \
  case TAPE_##name:                                                                                     \
    for (; step < end; step++) {                                                                        \
      const double *av = lanes_of(values, step->a), *bv = lanes_of(values, (arity) == 2 ? step->b : 0); \
      double *out = lanes_in(values, step->result);                                                     \
      LANES_INDEPENDENT                                                                                 \
      for (int n = 0; n < TAPE_LANES; n++) {                                                            \
        double a = av[n], b = bv[n];                                                                    \
        (void)b;                                                                                        \
        out[n] = (value);                                                                               \
      }                                                                                                 \
    }                                                                                                   \
    break;
#include "search/tape/tape_ops.def"
#undef TAPE_OP
      default:
        break;
    }
  }
}

static inline double kept(double adjoint, uint64_t mask) {
  return tape_math_double((int64_t)((uint64_t)tape_math_bits(adjoint) & mask));
}

// The partial of one operand (a or b), for all steps of a run.
#define PARTIALS(operand, expression)                                                          \
  for (const tape_step *step = steps; step < end; step++) {                                    \
    const double *av = lanes_of(values, step->a), *bv = lanes_of(values, step->b);             \
    const double *vv = lanes_of(values, step->result), *gv = lanes_of(adjoints, step->result); \
    double *to = lanes_in(adjoints, step->operand);                                            \
    const uint64_t keep = step->operand##_keep;                                                \
    LANES_INDEPENDENT                                                                          \
    for (int n = 0; n < TAPE_LANES; n++) {                                                     \
      double a = av[n], b = bv[n], v = vv[n], g = gv[n];                                       \
      (void)a, (void)b, (void)v, (void)g;                                                      \
      to[n] = kept(to[n], keep) + (expression);                                                \
    }                                                                                          \
  }

static void backward(const tape_program *program, const double *values, double *adjoints) {
  for (const tape_run *run = program->runs + program->run_count; run-- > program->runs;) {
    const tape_step *steps = program->steps + run->first, *end = steps + run->count;
    switch (run->op) {
#define TAPE_OP(name, arity, commutes, value, da, db)  \
  case TAPE_##name:                                    \
    if (run->a_active) PARTIALS(a, da)                 \
    if ((arity) == 2 && run->b_active) PARTIALS(b, db) \
    break;
#include "search/tape/tape_ops.def"
#undef TAPE_OP
      default:
        break;
    }
  }
}

#define NAME_(kernel) tape_kernel_##kernel
#define NAME(kernel) NAME_(kernel)
const tape_kernel_functions NAME(TAPE_KERNEL) = {forward, backward};
