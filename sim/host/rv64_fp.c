// SPDX-License-Identifier: Apache-2.0
// The F and D extensions: see rv64_fp.h. Arithmetic that rounds to nearest-even runs on the host's SSE unit, whose
// results and flags are those of RISC-V but for NaN payloads; every other rounding mode is softfloat.c's.
// This file is compiled with options that keep the compiler from moving or dropping flag-raising operations.
#include "sim/host/rv64_fp.h"

#include <math.h>
#include <string.h>

#include "sim/host/softfloat.h"

#ifdef __clang__
#pragma STDC FENV_ACCESS ON
#endif

#ifdef __SSE2__
#include <immintrin.h>
#define HOST_ROUNDS(rm) ((rm) == RV64_RNE)
#define HOST_TRUNCATES(rm) ((rm) == RV64_RTZ)
#else
#define HOST_ROUNDS(rm) ((void)(rm), false)
#define HOST_TRUNCATES(rm) ((void)(rm), false)
#endif

static soft_context soft(host *h, uint32_t rm) { return (soft_context){.rounding = rm, .flags = &h->fflags}; }

static uint32_t unbox(uint64_t reg) { return reg >> 32 == UINT32_MAX ? (uint32_t)reg : UINT32_C(0x7fc00000); }
static uint64_t same(uint64_t bits) { return bits; }

#define NAME(op) rv64_##op##_s
#define FLOAT float
#define BITS uint32_t
#define FORMAT SOFT_F32
#define UNBOX unbox
#define BOX rv64_box
#define SQRT sqrtf
#define FMA fmaf
#define SIGN UINT32_C(0x80000000)
#define QUIET UINT32_C(0x00400000)
#define INF UINT32_C(0x7f800000)
#include "sim/host/rv64_fp.inc"

#define NAME(op) rv64_##op##_d
#define FLOAT double
#define BITS uint64_t
#define FORMAT SOFT_F64
#define UNBOX same
#define BOX same
#define SQRT sqrt
#define FMA fma
#define SIGN UINT64_C(0x8000000000000000)
#define QUIET UINT64_C(0x0008000000000000)
#define INF UINT64_C(0x7ff0000000000000)
#include "sim/host/rv64_fp.inc"

uint64_t rv64_narrow(host *h, uint64_t a, uint32_t rm) {
  if (!HOST_ROUNDS(rm)) return rv64_box((uint32_t)soft_convert(SOFT_F64, SOFT_F32, soft(h, rm), a));
  return rv64_result_s((float)rv64_value_d(a));
}

// Exact, so that no rounding mode matters.
uint64_t rv64_widen(host *h, uint64_t a) {
  if (HOST_ROUNDS(RV64_RNE)) return rv64_result_d((double)rv64_value_s(a));
  return soft_convert(SOFT_F32, SOFT_F64, soft(h, RV64_RNE), unbox(a));
}

#ifdef __SSE2__
enum {
  MXCSR_DEFAULT = 0x1f80,
  MXCSR_INVALID = 1,
  MXCSR_ZERO = 4,
  MXCSR_OVER = 8,
  MXCSR_UNDER = 16,
  MXCSR_INEXACT = 32
};

rv64_fpu rv64_fp_enter(void) {
  rv64_fpu saved = {_mm_getcsr()};
  _mm_setcsr(MXCSR_DEFAULT);
  return saved;
}

void rv64_fp_collect(host *h) {
  static const uint32_t flags[][2] = {{MXCSR_INVALID, RV64_NV},
                                      {MXCSR_ZERO, RV64_DZ},
                                      {MXCSR_OVER, RV64_OF},
                                      {MXCSR_UNDER, RV64_UF},
                                      {MXCSR_INEXACT, RV64_NX}};
  uint32_t csr = _mm_getcsr();
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    if ((csr & flags[i][0]) != 0) h->fflags |= flags[i][1];
  }
  _mm_setcsr(MXCSR_DEFAULT);
}

void rv64_fp_restore(rv64_fpu saved) { _mm_setcsr(saved.control); }
#else
rv64_fpu rv64_fp_enter(void) { return (rv64_fpu){0}; }
void rv64_fp_collect(host *h) { (void)h; }
void rv64_fp_restore(rv64_fpu saved) { (void)saved; }
#endif
