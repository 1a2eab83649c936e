// SPDX-License-Identifier: Apache-2.0
// The F and D extensions on register bits. Single-precision operands and results are boxed in 64 bits; an operand
// that is not boxed counts as the canonical NaN. Flags go to h->fflags or stay in the host FPU until
// rv64_fp_collect. `rm` is a valid rounding mode, never RV64_DYN.
#ifndef SIM_HOST_RV64_FP_H
#define SIM_HOST_RV64_FP_H

#include "sim/host/rv64.h"

// Integer types of conversions.
typedef enum { RV64_I32, RV64_U32, RV64_I64, RV64_U64 } rv64_int;

#define RV64_FP_FUNCTIONS(w)                                                            \
  uint64_t rv64_add_##w(host *h, uint64_t a, uint64_t b, uint32_t rm);                  \
  uint64_t rv64_mul_##w(host *h, uint64_t a, uint64_t b, uint32_t rm);                  \
  uint64_t rv64_div_##w(host *h, uint64_t a, uint64_t b, uint32_t rm);                  \
  uint64_t rv64_sqrt_##w(host *h, uint64_t a, uint32_t rm);                             \
  uint64_t rv64_fma_##w(host *h, uint64_t a, uint64_t b, uint64_t addend, uint32_t rm); \
  uint64_t rv64_neg_##w(uint64_t a); /* also of a NaN */                                \
  uint64_t rv64_sgnj_##w(uint64_t a, uint64_t b);                                       \
  uint64_t rv64_sgnjn_##w(uint64_t a, uint64_t b);                                      \
  uint64_t rv64_sgnjx_##w(uint64_t a, uint64_t b);                                      \
  uint64_t rv64_min_##w(host *h, uint64_t a, uint64_t b);                               \
  uint64_t rv64_max_##w(host *h, uint64_t a, uint64_t b);                               \
  uint64_t rv64_eq_##w(host *h, uint64_t a, uint64_t b);                                \
  uint64_t rv64_lt_##w(host *h, uint64_t a, uint64_t b);                                \
  uint64_t rv64_le_##w(host *h, uint64_t a, uint64_t b);                                \
  uint64_t rv64_class_##w(uint64_t a);                                                  \
  uint64_t rv64_to_int_##w(host *h, uint64_t a, rv64_int type, uint32_t rm);            \
  uint64_t rv64_from_int_##w(host *h, uint64_t x, rv64_int type, uint32_t rm);
RV64_FP_FUNCTIONS(s)
RV64_FP_FUNCTIONS(d)

uint64_t rv64_narrow(host *h, uint64_t a, uint32_t rm);  // fcvt.s.d
uint64_t rv64_widen(host *h, uint64_t a);                // fcvt.d.s

static inline uint64_t rv64_box(uint32_t bits) { return UINT64_C(0xffffffff00000000) | bits; }

// The host FPU's state around a stretch of guest code.
typedef struct rv64_fpu {
  uint32_t control;
} rv64_fpu;
rv64_fpu rv64_fp_enter(void);          // nearest-even, no exception pending or unmasked
void rv64_fp_collect(host *h);         // moves the FPU's flags into h->fflags
void rv64_fp_restore(rv64_fpu saved);  // drops what is pending

#endif
