// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the accelerator: see numeric.h.
#include "sim/ref/numeric.h"

#include <math.h>
#include <string.h>

float ref_float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t ref_bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

int32_t ref_rounding_shift(int32_t value, uint32_t shift) {
  if (shift == 0) return value;
  int32_t floor = value >> shift;
  uint32_t rest = (uint32_t)value & ((UINT32_C(1) << shift) - 1), half = UINT32_C(1) << (shift - 1);
  return floor + (rest > half || (rest == half && (floor & 1) != 0));
}

int32_t ref_scale_int32(int32_t value, float scale) {
  float product = (float)value * scale;
  if (isnan(product) || product >= 0x1p31f) return INT32_MAX;
  if (product < -0x1p31f) return INT32_MIN;
  return (int32_t)rintf(product);
}

// The number of halvings is an unsigned shift of a 32-bit word: 32 and more leave nothing.
int32_t ref_iexp(int32_t q, int32_t qln2, int32_t qln2_inverse, int32_t qb, int32_t qc) {
  uint64_t product = (uint64_t)((int64_t)ref_sub(0, q) * qln2_inverse);
  uint32_t halvings = (uint32_t)(product >> 16);
  int32_t p = ref_add(ref_add(q, ref_mul((int32_t)halvings, qln2)), qb);
  uint32_t polynomial = (uint32_t)ref_add(ref_mul(p, p), qc);
  return halvings >= 32 ? 0 : (int32_t)(polynomial >> halvings);
}

int32_t ref_igelu(int32_t q, int32_t qb, int32_t qc) {
  int32_t magnitude = q < 0 ? ref_sub(0, q) : q, limit = ref_sub(0, qb);
  int32_t clipped = ref_add(magnitude > limit ? limit : magnitude, qb);
  int32_t polynomial = ref_add(ref_mul(clipped, clipped), qc);
  return ref_mul(q, ref_add(q < 0 ? ref_sub(0, polynomial) : polynomial, qc));
}

int32_t ref_floor_sqrt(int32_t value) {
  if (value <= 0) return 0;
  uint32_t root = 0, target = (uint32_t)value;
  for (uint32_t bit = UINT32_C(1) << 15; bit != 0; bit >>= 1)
    if ((root | bit) * (root | bit) <= target) root |= bit;
  return (int32_t)root;
}
