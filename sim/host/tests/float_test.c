// SPDX-License-Identifier: Apache-2.0
// Floating point: softfloat.c against the host FPU in the four rounding modes that it has, ties away from zero against
// closed values, and the state around the F and D extensions.
#include <fenv.h>
#include <inttypes.h>
#include <math.h>

#include "base/test.h"
#include "sim/host/softfloat.h"
#include "sim/host/tests/assemble.h"
#include "sim/host/tests/machine.h"

enum { A0 = 10, A1 = 11, ROUNDS = 300000 };
#define ONE_F 0x3f800000u

typedef struct {
  uint64_t bits;
  uint32_t flags;
} answer;

static uint64_t next(uint64_t *random) {
  *random ^= *random >> 12;
  *random ^= *random << 25;
  *random ^= *random >> 27;
  return *random * UINT64_C(0x2545f4914f6cdd1d);
}

// Exponents near each other and at the ends, fractions often sparse: where rounding is decided.
static uint64_t operand(uint64_t *random, soft_format f) {
  uint64_t fraction = next(random) & ((UINT64_C(1) << f.fraction_bits) - 1), pick = next(random);
  uint64_t top = (UINT64_C(1) << f.exponent_bits) - 1, e = next(random) & top;
  if (pick % 3 == 0) fraction &= next(random) & next(random) & next(random);
  if (pick % 7 == 0) fraction = 0;
  if (pick / 8 % 2 == 0) e = top / 2 - 4 + e % 9;
  if (pick / 16 % 8 == 0) e = e % 3;
  if (pick / 16 % 8 == 1) e = top - e % 3;
  return (next(random) & 1) << (f.fraction_bits + f.exponent_bits) | e << f.fraction_bits | fraction;
}

static uint32_t host_flags(void) {
  static const int pairs[][2] = {{FE_INEXACT, RV64_NX},
                                 {FE_UNDERFLOW, RV64_UF},
                                 {FE_OVERFLOW, RV64_OF},
                                 {FE_DIVBYZERO, RV64_DZ},
                                 {FE_INVALID, RV64_NV}};
  uint32_t flags = 0;
  for (size_t i = 0; i < 5; i++) {
    if (fetestexcept(pairs[i][0]) != 0) flags |= (uint32_t)pairs[i][1];
  }
  return flags;
}

// Volatile: every operation happens between feclearexcept and fetestexcept, in the rounding mode set at run time.
static answer host_f64(int op, uint64_t a, uint64_t b, uint64_t c) {
  volatile double x, y, z, r = 0;
  memcpy((void *)&x, &a, 8);
  memcpy((void *)&y, &b, 8);
  memcpy((void *)&z, &c, 8);
  feclearexcept(FE_ALL_EXCEPT);
  if (op == 0) r = x + y;
  if (op == 1) r = x * y;
  if (op == 2) r = x / y;
  if (op == 3) r = sqrt(x);
  if (op == 4) r = fma(x, y, z);
  answer out = {.flags = host_flags()};
  memcpy(&out.bits, (const void *)&r, 8);
  if (isnan(r)) out.bits = UINT64_C(0x7ff8000000000000);
  return out;
}

static answer host_f32(int op, uint64_t a, uint64_t b, uint64_t c) {
  uint32_t narrow[] = {(uint32_t)a, (uint32_t)b, (uint32_t)c}, bits;
  volatile float x, y, z, r = 0;
  memcpy((void *)&x, &narrow[0], 4);
  memcpy((void *)&y, &narrow[1], 4);
  memcpy((void *)&z, &narrow[2], 4);
  feclearexcept(FE_ALL_EXCEPT);
  if (op == 0) r = x + y;
  if (op == 1) r = x * y;
  if (op == 2) r = x / y;
  if (op == 3) r = sqrtf(x);
  if (op == 4) r = fmaf(x, y, z);
  answer out = {.flags = host_flags()};
  memcpy(&bits, (const void *)&r, 4);
  out.bits = isnan(r) ? 0x7fc00000 : bits;
  return out;
}

static answer soft_answer(soft_format f, uint32_t rounding, int op, uint64_t a, uint64_t b, uint64_t c) {
  answer out = {0};
  soft_context s = {.rounding = rounding, .flags = &out.flags};
  if (op == 0) out.bits = soft_add(f, s, a, b);
  if (op == 1) out.bits = soft_mul(f, s, a, b);
  if (op == 2) out.bits = soft_div(f, s, a, b);
  if (op == 3) out.bits = soft_sqrt(f, s, a);
  if (op == 4) out.bits = soft_fma(f, s, a, b, c);
  return out;
}

static bool is_nan(soft_format f, uint64_t a) {
  uint64_t magnitude = a & ((UINT64_C(1) << (f.fraction_bits + f.exponent_bits)) - 1);
  return magnitude > ((UINT64_C(1) << f.exponent_bits) - 1) << f.fraction_bits;
}

static void soft_equals_host(void **state) {
  (void)state;
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  uint64_t random = 88172645463325252u;
  for (uint32_t mode = 0; mode < 4; mode++) {
    for (int i = 0; i < ROUNDS; i++) {
      int op = i % 5;
      bool wide = i / 5 % 2 == 0;
      soft_format f = wide ? SOFT_F64 : SOFT_F32;
      uint64_t a = operand(&random, f), b = operand(&random, f), c = operand(&random, f);
      if (op == 4 && is_nan(f, c)) continue;  // the host does not call 0 * inf + NaN invalid
      fesetround(modes[mode]);
      answer want = wide ? host_f64(op, a, b, c) : host_f32(op, a, b, c);
      fesetround(FE_TONEAREST);
      answer got = soft_answer(f, mode, op, a, b, c);
      if (got.bits == want.bits && got.flags == want.flags) continue;
      fail_msg("mode %u op %d %s %" PRIx64 " %" PRIx64 " %" PRIx64 ": %" PRIx64 " flags %x, host %" PRIx64 " flags %x",
               mode, op, wide ? "f64" : "f32", a, b, c, got.bits, got.flags, want.bits, want.flags);
    }
  }
}

// Ties away: an odd multiple of half a unit, with the other modes beside it.
static void ties(void **state) {
  (void)state;
  const uint32_t half_ulp = 0x33800000;  // 2^-24
  const uint64_t want[] = {ONE_F, ONE_F, ONE_F, ONE_F + 1, ONE_F + 1};
  for (uint32_t mode = 0; mode < 5; mode++) {
    answer got = soft_answer(SOFT_F32, mode, 0, ONE_F, half_ulp, 0);
    assert_int_equal(got.bits, want[mode]);
    assert_int_equal(got.flags, RV64_NX);
  }
  // -(1 + 2^-24): away is down.
  answer negative = soft_answer(SOFT_F32, RV64_RMM, 0, ONE_F | 0x80000000, half_ulp | 0x80000000, 0);
  assert_int_equal(negative.bits, 0xbf800001);
  // Just below a tie it is no tie.
  answer below = soft_answer(SOFT_F32, RV64_RMM, 0, ONE_F, half_ulp - 1, 0);
  assert_int_equal(below.bits, ONE_F);
}

static void integers_saturate(void **state) {
  (void)state;
  const struct {
    double value;
    uint32_t mode;
    bool is_signed;
    int width;
    uint64_t result;
    uint32_t flags;
  } cases[] = {
      {2.5, RV64_RNE, true, 32, 2, RV64_NX},
      {2.5, RV64_RMM, true, 32, 3, RV64_NX},
      {-2.5, RV64_RMM, true, 64, (uint64_t)-3, RV64_NX},
      {-0.5, RV64_RMM, false, 32, 0, RV64_NV},
      {-0.5, RV64_RNE, false, 32, 0, RV64_NX},
      {2147483647.5, RV64_RNE, true, 32, 0x7fffffff, RV64_NV},
      {2147483647.5, RV64_RTZ, true, 32, 0x7fffffff, RV64_NX},
      {-2147483648.5, RV64_RTZ, true, 32, UINT64_C(0xffffffff80000000), RV64_NX},
      {-2147483649.0, RV64_RTZ, true, 32, UINT64_C(0xffffffff80000000), RV64_NV},
      {4294967295.0, RV64_RTZ, false, 32, UINT64_MAX, 0},
      {4294967296.0, RV64_RTZ, false, 32, UINT64_MAX, RV64_NV},
      {9223372036854775808.0, RV64_RNE, true, 64, INT64_MAX, RV64_NV},
      {-9223372036854775808.0, RV64_RNE, true, 64, (uint64_t)INT64_MIN, 0},
      {18446744073709551616.0, RV64_RNE, false, 64, UINT64_MAX, RV64_NV},
      {INFINITY, RV64_RNE, false, 64, UINT64_MAX, RV64_NV},
      {-INFINITY, RV64_RNE, true, 64, (uint64_t)INT64_MIN, RV64_NV},
      {-NAN, RV64_RNE, true, 32, 0x7fffffff, RV64_NV},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint64_t bits;
    memcpy(&bits, &cases[i].value, 8);
    uint32_t flags = 0;
    soft_context s = {.rounding = cases[i].mode, .flags = &flags};
    assert_int_equal(soft_to_int(SOFT_F64, s, bits, cases[i].is_signed, cases[i].width), cases[i].result);
    assert_int_equal(flags, cases[i].flags);
  }
}

#define FP_ON csr_op(CSRRS, 0, CSR_MSTATUS, 31)
static machine *fp_machine(void) {
  machine *m = machine_create();
  machine_host(m)->x[31] = UINT64_C(1) << 13;  // mstatus.FS = initial
  return m;
}

#define FADD_S(rm) type_r(FP, rm, 0, 3, 1, 2)

static void off_is_illegal_and_use_is_dirty(void **state) {
  (void)state;
  const uint32_t words[] = {FADD_S(7),
                            type_i(FLOAD, 2, 1, A0, 0),
                            type_s(FSTORE, 3, A0, 1, 0),
                            type_r(FP, 0, 0x70, A1, 1, 0),
                            csr_op(CSRRS, A1, CSR_FCSR, 0),
                            0x2108 /* c.fld */};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    machine *m = fp_machine();
    m->h->x[A0] = MACHINE_DATA;
    host_result r = MACHINE_RUN(m, words[i], WFI);
    assert_int_equal(r.end, HOST_TRAPPED);
    assert_int_equal(r.last_trap.cause, RV64_ILLEGAL);
    machine_destroy(m);
  }
  machine *m = fp_machine();
  host_result r =
      MACHINE_RUN(m, FP_ON, csr_op(CSRRS, 20, CSR_MSTATUS, 0), FADD_S(7), csr_op(CSRRS, 21, CSR_MSTATUS, 0), WFI);
  assert_int_equal(r.end, HOST_STUCK);
  assert_int_equal(m->h->x[20] & RV64_STATUS_FS, UINT64_C(1) << 13);
  assert_int_equal(m->h->x[21] & (RV64_STATUS_FS | RV64_STATUS_SD), RV64_STATUS_FS | RV64_STATUS_SD);
  machine_destroy(m);
}

static void rounding_modes_are_checked(void **state) {
  (void)state;
  for (uint32_t rm = 0; rm < 8; rm++) {
    machine *m = fp_machine();
    m->h->f[1] = UINT64_C(0xffffffff00000000) | ONE_F;
    m->h->f[2] = UINT64_C(0xffffffff33800000);
    assert_int_equal(MACHINE_RUN(m, FP_ON, FADD_S(rm), WFI).end, rm == 5 || rm == 6 ? HOST_TRAPPED : HOST_STUCK);
    if (rm == RV64_RMM) assert_int_equal((uint32_t)m->h->f[3], ONE_F + 1);
    if (rm == RV64_RNE) assert_int_equal((uint32_t)m->h->f[3], ONE_F);
    machine_destroy(m);

    m = fp_machine();
    m->h->f[1] = UINT64_C(0xffffffff00000000) | ONE_F;
    m->h->f[2] = UINT64_C(0xffffffff33800000);
    m->h->x[A0] = rm;
    host_result r =
        MACHINE_RUN(m, FP_ON, csr_op(CSRRW, 0, CSR_FRM, A0), FADD_S(7), csr_op(CSRRS, 20, CSR_FCSR, 0), WFI);
    assert_int_equal(r.end, rm > 4 ? HOST_TRAPPED : HOST_STUCK);
    if (rm <= 4) assert_int_equal(m->h->x[20], rm << 5 | RV64_NX);
    if (rm == RV64_RMM || rm == RV64_RUP) assert_int_equal((uint32_t)m->h->f[3], ONE_F + 1);
    machine_destroy(m);
  }
}

// Whatever the embedding program does with its FPU stays its own, and so does what the guest does.
static void host_environment_is_kept(void **state) {
  (void)state;
  machine *m = fp_machine();
  m->h->f[1] = UINT64_C(0xffffffff00000000) | ONE_F;
  m->h->f[2] = UINT64_C(0xffffffff33800000);
  fesetround(FE_UPWARD);
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(FE_DIVBYZERO);
  MACHINE_RUN(m, FP_ON, FADD_S(7), csr_op(CSRRS, 20, CSR_FFLAGS, 0), WFI);
  assert_int_equal(fegetround(), FE_UPWARD);
  assert_int_equal(fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
  fesetround(FE_TONEAREST);
  feclearexcept(FE_ALL_EXCEPT);
  assert_int_equal((uint32_t)m->h->f[3], ONE_F);
  assert_int_equal(m->h->x[20], RV64_NX);
  machine_destroy(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(soft_equals_host),           cmocka_unit_test(ties),
      cmocka_unit_test(integers_saturate),          cmocka_unit_test(off_is_illegal_and_use_is_dirty),
      cmocka_unit_test(rounding_modes_are_checked), cmocka_unit_test(host_environment_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
