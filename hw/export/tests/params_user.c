// SPDX-License-Identifier: Apache-2.0
// A program in the style of those written for Gemmini: it takes everything from gemmini_params.h. EXPECT_* come from
// the test. Exit code 0: all values are right.
#include "gemmini_params.h"

#define CHECK(condition) \
  if (!(condition)) return __LINE__

_Static_assert(DIM == EXPECT_DIM, "side");
_Static_assert(BANK_NUM* BANK_ROWS == EXPECT_SP_ROWS, "scratchpad rows");
_Static_assert(ACC_ROWS == EXPECT_ACC_ROWS, "accumulator rows");
_Static_assert(ADDR_LEN == 32 && XCUSTOM_ACC == 3, "instruction");
_Static_assert(MAX_BLOCK_LEN == (MAX_BYTES > DIM * sizeof(elem_t) ? MAX_BYTES / (DIM * sizeof(elem_t)) : 1), "block");
_Static_assert(MAX_BLOCK_LEN_ACC == (MAX_BYTES > DIM * sizeof(acc_t) ? MAX_BYTES / (DIM * sizeof(acc_t)) : 1), "block");
_Static_assert(sizeof(full_t) == 8 && sizeof(scale_t) == sizeof(scale_t_bits), "types");
_Static_assert(sizeof(acc_scale_t) == sizeof(acc_scale_t_bits), "types");

static elem_t a[DIM][DIM] row_align(1);
static acc_t d[DIM][DIM] row_align_acc(1);
_Static_assert(_Alignof(a) == DIM * sizeof(elem_t) && _Alignof(d) == DIM * sizeof(acc_t), "alignment");

static acc_scale_t_bits acc_scale_bits(acc_scale_t x) {
  union {
    acc_scale_t f;
    acc_scale_t_bits b;
  } u = {.f = x};
  return u.b;
}

static elem_t clip(full_t x) { return (elem_t)(x > elem_t_max ? elem_t_max : x < elem_t_min ? elem_t_min : x); }

static int check_scales(void) {
  CHECK(ACC_SCALE(10, ACC_SCALE_IDENTITY) == 10);
  CHECK(ACC_SCALE(5, 0.5f) == 2 && ACC_SCALE(7, 0.5f) == 4 && ACC_SCALE(-5, 0.5f) == -2 && ACC_SCALE(-7, 0.5f) == -4);
  CHECK(ACC_SCALE(1000, 1.0f) == 127 && ACC_SCALE(-1000, 1.0f) == -128);
  CHECK(ACC_SCALE(2000000000, 1e30f) == 127 && ACC_SCALE(1, __builtin_nanf("")) == 127);
  CHECK(ACC_SCALE(2147483647, 1e-7f) == 127 && ACC_SCALE(2147483647, 1e-8f) == 21);
#ifdef HAS_MVIN_SCALE
  CHECK(MVIN_SCALE((elem_t)3, 1.5f) == 4 && MVIN_SCALE((elem_t)-3, 0.5f) == -2 && MVIN_SCALE((elem_t)127, 2.0f) == 127);
#else
  CHECK(MVIN_SCALE((elem_t)3, 1.5f) == 3);
#endif
  CHECK(MVIN_SCALE((elem_t)9, MVIN_SCALE_IDENTITY) == 9 && MVIN_SCALE_ACC((acc_t)9, 2) == 9);
  return 0;
}

static int check_rounding(void) {
  CHECK(ROUNDING_RIGHT_SHIFT(5, 1) == 2 && ROUNDING_RIGHT_SHIFT(7, 1) == 4 && ROUNDING_RIGHT_SHIFT(-5, 1) == -2);
  CHECK(ROUNDING_RIGHT_SHIFT(-7, 1) == -4 && ROUNDING_RIGHT_SHIFT(11, 2) == 3 && ROUNDING_RIGHT_SHIFT(-6, 2) == -2);
  CHECK(ROUNDING_RIGHT_SHIFT(3, 0) == 3 && ROUNDING_RIGHT_SHIFT(3, -2) == 12);
  CHECK(ROUNDING_RIGHT_SHIFT_BITS((full_t)1 << 40, 8) == (full_t)1 << 32);
  CHECK(ROUND_NEAR_EVEN(2.5f) == 2.0f && ROUND_NEAR_EVEN(3.5f) == 4.0f && ROUND_NEAR_EVEN(-2.5) == -2.0);
  CHECK(ROUND_NEAR_EVEN(-0.75f) == -1.0f && ROUND_NEAR_EVEN(1e18) == 1e18);
  return 0;
}

int main(void) {
  a[0][0] = clip(1000);
  d[0][0] = a[0][0] + elem_t_min;
  CHECK(a[0][0] == 127 && d[0][0] == -1);
#if ACC_SCALE_EXP_BITS + ACC_SCALE_SIG_BITS == 32 && defined(ACC_SCALE_T_IS_FLOAT)
  CHECK(acc_scale_bits(ACC_SCALE_IDENTITY) == 0x3f800000);
#else
#error "the scale is a 32-bit float"
#endif
#if defined(ACC_READ_FULL_WIDTH) != EXPECT_FULL_READS || defined(ACC_READ_SMALL_WIDTH) != EXPECT_NARROW_READS
#error "accumulator reads"
#endif
#if defined(HAS_FIRST_LAYER_OPTIMIZATIONS) != EXPECT_PIXEL_REPEAT || defined(HAS_NORMALIZATIONS) != EXPECT_NORMALISER
#error "units"
#endif
  const int scales = check_scales();
  return scales != 0 ? scales : check_rounding();
}
