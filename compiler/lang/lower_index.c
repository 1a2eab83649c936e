// SPDX-License-Identifier: Apache-2.0
// Affine numbers: see lower.h. Factors that are zero are never in `loops`.
#include <assert.h>

#include "compiler/lang/lower.h"

bool lang_lower_index_add(const lang_lower_index *a, const lang_lower_index *b, lang_lower_index *sum) {
  lang_lower_index r = {.loops = 0};
  if (__builtin_add_overflow(a->constant, b->constant, &r.constant)) return false;
  for (uint32_t left = a->loops | b->loops; left != 0; left &= left - 1) {
    int i = __builtin_ctz(left);
    int64_t x = (a->loops >> i & 1) != 0 ? a->per_loop[i] : 0, y = (b->loops >> i & 1) != 0 ? b->per_loop[i] : 0;
    if (__builtin_add_overflow(x, y, &r.per_loop[i])) return false;
    if (r.per_loop[i] != 0) r.loops |= (uint32_t)1 << i;
  }
  *sum = r;
  return true;
}

bool lang_lower_index_times(const lang_lower_index *a, int64_t factor, lang_lower_index *product) {
  lang_lower_index r = {.loops = factor == 0 ? 0 : a->loops};
  if (__builtin_mul_overflow(a->constant, factor, &r.constant)) return false;
  for (uint32_t left = r.loops; left != 0; left &= left - 1) {
    int i = __builtin_ctz(left);
    if (__builtin_mul_overflow(a->per_loop[i], factor, &r.per_loop[i])) return false;
  }
  *product = r;
  return true;
}

bool lang_lower_index_equal(const lang_lower_index *a, const lang_lower_index *b) {
  if (a->constant != b->constant || a->loops != b->loops) return false;
  for (uint32_t left = a->loops; left != 0; left &= left - 1) {
    int i = __builtin_ctz(left);
    if (a->per_loop[i] != b->per_loop[i]) return false;
  }
  return true;
}

// As Python: the rest has the sign of the divisor.
static int64_t floor_modulo(int64_t a, int64_t divisor) {
  if (divisor == -1) return 0;
  int64_t rest = a % divisor;
  return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}

// Terms that the divisor divides go to the quotient; the others are the rest, if they stay between 0 and the divisor.
bool lang_lower_index_divide(const block_program *program, const lang_lower_index *a, int64_t divisor,
                             lang_lower_index *quotient, lang_lower_index *rest) {
  int64_t least, most;
  if (divisor == -1 && a->constant == INT64_MIN) return false;
  *rest = lang_lower_constant(floor_modulo(a->constant, divisor));
  *quotient = lang_lower_constant((a->constant - rest->constant) / divisor);
  for (uint32_t left = a->loops; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const bool divides = floor_modulo(a->per_loop[i], divisor) == 0;
    lang_lower_index *part = divides ? quotient : rest;
    part->loops |= (uint32_t)1 << i;
    part->per_loop[i] = divides ? a->per_loop[i] / divisor : a->per_loop[i];
  }
  if (rest->loops == 0) return true;
  return divisor > 0 && lang_lower_index_bounds(program, rest, &least, &most) && least >= 0 && most < divisor;
}

bool lang_lower_index_bounds(const block_program *program, const lang_lower_index *a, int64_t *least, int64_t *most) {
  *least = *most = a->constant;
  for (uint32_t left = a->loops; left != 0; left &= left - 1) {
    int i = __builtin_ctz(left);
    int64_t sweep, *end = a->per_loop[i] < 0 ? least : most;
    if (__builtin_mul_overflow(a->per_loop[i], program->loops[i].trips - 1, &sweep) ||
        __builtin_add_overflow(*end, sweep, end))
      return false;
  }
  return true;
}

block_affine lang_lower_index_affine(const lang_lower_index *a) {
  block_affine affine = {.constant = a->constant};
  for (uint32_t left = a->loops; left != 0; left &= left - 1) {
    int i = __builtin_ctz(left);
    affine.per_loop[i] = a->per_loop[i];
  }
  return affine;
}
