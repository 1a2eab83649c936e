// SPDX-License-Identifier: Apache-2.0
// Tile products on the machine at hand: see mesh.h. The plain kernel is the definition.
//
//   avx512vnni  b as groups of four rows; a as unsigned bytes a + 128, so the sums start at -128 times b's column sums
//   avx2        b as pairs of rows in int16; a widened to int16
//   plain       b in int16
// Rows of b past its number are packed as zeros, so that whole groups can be multiplied.
#include <string.h>

#include "sim/cycle/mesh.h"
#include "sim/ref/numeric.h"

// Zeros for a row of b that is not there.
static const int8_t no_row[128];

static const int8_t *row_of(const int8_t *b, uint32_t dim, uint32_t rows, uint32_t k) {
  return k < rows ? b + (size_t)k * dim : no_row;
}

// ---- plain

static bool always(void) { return true; }

static void plain_pack(uint32_t dim, uint32_t rows, const int8_t *b, void *packed) {
  int16_t *out = packed;
  for (uint32_t n = 0; n < rows * dim; n++) out[n] = b[n];
}

static void plain_start(const cycle_mesh_product *p, uint32_t i, int32_t *out) {
  if (p->accumulate) return;
  for (uint32_t j = 0; j < p->dim; j++) out[j] = i < p->bias_rows ? p->bias[(size_t)i * p->dim + j] : 0;
}

static void plain_multiply(const cycle_mesh_product *p, uint32_t rows, const void *packed) {
  const int16_t *b = packed;
  for (uint32_t i = p->first; i < p->past; i++) {
    int32_t *out = p->out + (size_t)i * p->dim;
    plain_start(p, i, out);
    for (uint32_t k = 0; k < rows; k++) {
      int32_t left = p->a[(size_t)i * p->dim + k];
      const int16_t *right = b + (size_t)k * p->dim;
      if (left == 0) continue;
      for (uint32_t j = 0; j < p->dim; j++) out[j] = ref_add(out[j], left * right[j]);
    }
    for (uint32_t j = 0; j < p->dim; j++) out[j] = ref_wrap((uint32_t)out[j], p->bits);
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

// ---- avx2: dim a multiple of 8; pairs of rows, int16

#define AVX2 __attribute__((target("avx2")))

static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }

AVX2 static void avx2_pack(uint32_t dim, uint32_t rows, const int8_t *b, void *packed) {
  int16_t *out = packed;
  for (uint32_t k = 0; k < rows; k += 2) {
    const int8_t *even = row_of(b, dim, rows, k), *odd = row_of(b, dim, rows, k + 1);
    for (uint32_t j = 0; j < dim; j += 8, out += 16) {
      __m128i pairs =
          _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(even + j)), _mm_loadl_epi64((const __m128i *)(odd + j)));
      _mm256_storeu_si256((__m256i *)out, _mm256_cvtepi8_epi16(pairs));
    }
  }
}

AVX2 static __m256i avx2_start(const cycle_mesh_product *p, uint32_t i, uint32_t j) {
  size_t at = (size_t)i * p->dim + j;
  if (p->accumulate) return _mm256_loadu_si256((const __m256i *)(p->out + at));
  if (i >= p->bias_rows) return _mm256_setzero_si256();
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(p->bias + at)));
}

AVX2 static void avx2_store(const cycle_mesh_product *p, uint32_t i, uint32_t j, __m256i sum) {
  __m128i unused_bits = _mm_cvtsi32_si128((int)(32 - p->bits));
  __m256i wrapped = _mm256_sra_epi32(_mm256_sll_epi32(sum, unused_bits), unused_bits);
  _mm256_storeu_si256((__m256i *)(p->out + (size_t)i * p->dim + j), wrapped);
}

enum { AVX2_ROWS = 4, AVX2_DIM = 128 };

// Rows i to i + AVX2_ROWS - 1 of eight columns; `a` are those rows in int16.
AVX2 static void avx2_block(const cycle_mesh_product *p, uint32_t i, uint32_t j, uint32_t pairs, const int16_t *a,
                            const int16_t *packed) {
  __m256i s0 = avx2_start(p, i, j), s1 = avx2_start(p, i + 1, j);
  __m256i s2 = avx2_start(p, i + 2, j), s3 = avx2_start(p, i + 3, j);
  for (uint32_t k = 0; k < pairs; k++) {
    __m256i right = _mm256_loadu_si256((const __m256i *)(packed + ((size_t)k * p->dim + j) * 2));
    int32_t left[AVX2_ROWS];
    for (unsigned r = 0; r < AVX2_ROWS; r++) memcpy(&left[r], a + r * AVX2_DIM + 2 * k, sizeof left[r]);
    s0 = _mm256_add_epi32(s0, _mm256_madd_epi16(_mm256_set1_epi32(left[0]), right));
    s1 = _mm256_add_epi32(s1, _mm256_madd_epi16(_mm256_set1_epi32(left[1]), right));
    s2 = _mm256_add_epi32(s2, _mm256_madd_epi16(_mm256_set1_epi32(left[2]), right));
    s3 = _mm256_add_epi32(s3, _mm256_madd_epi16(_mm256_set1_epi32(left[3]), right));
  }
  avx2_store(p, i, j, s0);
  avx2_store(p, i + 1, j, s1);
  avx2_store(p, i + 2, j, s2);
  avx2_store(p, i + 3, j, s3);
}

AVX2 static void avx2_row(const cycle_mesh_product *p, uint32_t i, uint32_t j, uint32_t pairs, const int16_t *a,
                          const int16_t *packed) {
  __m256i sum = avx2_start(p, i, j);
  for (uint32_t k = 0; k < pairs; k++) {
    __m256i right = _mm256_loadu_si256((const __m256i *)(packed + ((size_t)k * p->dim + j) * 2));
    int32_t left;
    memcpy(&left, a + 2 * k, sizeof left);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_set1_epi32(left), right));
  }
  avx2_store(p, i, j, sum);
}

AVX2 static void avx2_widen(const int8_t *in, uint32_t dim, int16_t *out) {
  for (uint32_t k = 0; k < dim; k += 8) {
    __m128i wide = _mm_cvtepi8_epi16(_mm_loadl_epi64((const __m128i *)(in + k)));
    _mm_storeu_si128((__m128i *)(out + k), wide);
  }
}

AVX2 static void avx2_multiply(const cycle_mesh_product *p, uint32_t rows, const void *packed) {
  int16_t a[AVX2_ROWS * AVX2_DIM];
  uint32_t pairs = (rows + 1) / 2, i = p->first;
  for (; i + AVX2_ROWS <= p->past; i += AVX2_ROWS) {
    for (unsigned r = 0; r < AVX2_ROWS; r++) avx2_widen(p->a + (size_t)(i + r) * p->dim, p->dim, a + r * AVX2_DIM);
    for (uint32_t j = 0; j < p->dim; j += 8) avx2_block(p, i, j, pairs, a, packed);
  }
  for (; i < p->past; i++) {
    avx2_widen(p->a + (size_t)i * p->dim, p->dim, a);
    for (uint32_t j = 0; j < p->dim; j += 8) avx2_row(p, i, j, pairs, a, packed);
  }
}

// ---- avx512vnni: dim a multiple of 16; the column sums, times -128, stand behind the groups

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

static bool has_vnni(void) {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}

// Sixteen columns of four rows, four bytes of a column together.
VNNI static __m512i vnni_group(const int8_t *const row[4], uint32_t j) {
  __m128i r0 = _mm_loadu_si128((const __m128i *)(row[0] + j)), r1 = _mm_loadu_si128((const __m128i *)(row[1] + j));
  __m128i r2 = _mm_loadu_si128((const __m128i *)(row[2] + j)), r3 = _mm_loadu_si128((const __m128i *)(row[3] + j));
  __m128i low01 = _mm_unpacklo_epi8(r0, r1), high01 = _mm_unpackhi_epi8(r0, r1);
  __m128i low23 = _mm_unpacklo_epi8(r2, r3), high23 = _mm_unpackhi_epi8(r2, r3);
  __m256i low = _mm256_set_m128i(_mm_unpackhi_epi16(low01, low23), _mm_unpacklo_epi16(low01, low23));
  __m256i high = _mm256_set_m128i(_mm_unpackhi_epi16(high01, high23), _mm_unpacklo_epi16(high01, high23));
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

static uint32_t vnni_groups(uint32_t rows) { return (rows + 3) / 4; }

// Group g of columns j to j + 15 stands at ((j / 16) * groups + g) * 64.
VNNI static void vnni_pack(uint32_t dim, uint32_t rows, const int8_t *b, void *packed) {
  int8_t *out = packed;
  int32_t *sums = (int32_t *)packed + (size_t)vnni_groups(rows) * dim;
  for (uint32_t j = 0; j < dim; j += 16) {
    __m512i sum = _mm512_setzero_si512();
    for (uint32_t k = 0; k < rows; k += 4, out += 64) {
      const int8_t *const row[4] = {row_of(b, dim, rows, k), row_of(b, dim, rows, k + 1), row_of(b, dim, rows, k + 2),
                                    row_of(b, dim, rows, k + 3)};
      __m512i group = vnni_group(row, j);
      sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8((char)-128), group);
      _mm512_store_si512(out, group);
    }
    _mm512_store_si512(sums + j, _mm512_sub_epi32(_mm512_setzero_si512(), sum));
  }
}

VNNI static __m512i vnni_start(const cycle_mesh_product *p, uint32_t i, uint32_t j, __m512i sums) {
  size_t at = (size_t)i * p->dim + j;
  if (p->accumulate) return _mm512_add_epi32(sums, _mm512_loadu_si512(p->out + at));
  if (i >= p->bias_rows) return sums;
  return _mm512_add_epi32(sums, _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(p->bias + at))));
}

VNNI static void vnni_store(const cycle_mesh_product *p, uint32_t i, uint32_t j, __m512i sum) {
  __m128i unused_bits = _mm_cvtsi32_si128((int)(32 - p->bits));
  _mm512_storeu_si512(p->out + (size_t)i * p->dim + j,
                      _mm512_sra_epi32(_mm512_sll_epi32(sum, unused_bits), unused_bits));
}

VNNI static __m512i vnni_left(const uint8_t *a, uint32_t k) {
  int32_t four;
  memcpy(&four, a + 4 * k, sizeof four);
  return _mm512_set1_epi32(four);
}

enum { VNNI_ROWS = 4, VNNI_DIM = 128 };

VNNI static void vnni_block(const cycle_mesh_product *p, uint32_t i, uint32_t j, uint32_t groups, const uint8_t *a,
                            const int8_t *b, __m512i sums) {
  __m512i s0 = vnni_start(p, i, j, sums), s1 = vnni_start(p, i + 1, j, sums);
  __m512i s2 = vnni_start(p, i + 2, j, sums), s3 = vnni_start(p, i + 3, j, sums);
  for (uint32_t k = 0; k < groups; k++) {
    __m512i right = _mm512_load_si512(b + (size_t)k * 64);
    s0 = _mm512_dpbusd_epi32(s0, vnni_left(a, k), right);
    s1 = _mm512_dpbusd_epi32(s1, vnni_left(a + VNNI_DIM, k), right);
    s2 = _mm512_dpbusd_epi32(s2, vnni_left(a + 2 * VNNI_DIM, k), right);
    s3 = _mm512_dpbusd_epi32(s3, vnni_left(a + 3 * VNNI_DIM, k), right);
  }
  vnni_store(p, i, j, s0);
  vnni_store(p, i + 1, j, s1);
  vnni_store(p, i + 2, j, s2);
  vnni_store(p, i + 3, j, s3);
}

VNNI static void vnni_row(const cycle_mesh_product *p, uint32_t i, uint32_t j, uint32_t groups, const uint8_t *a,
                          const int8_t *b, __m512i sums) {
  __m512i sum = vnni_start(p, i, j, sums);
  for (uint32_t k = 0; k < groups; k++)
    sum = _mm512_dpbusd_epi32(sum, vnni_left(a, k), _mm512_load_si512(b + (size_t)k * 64));
  vnni_store(p, i, j, sum);
}

VNNI static void vnni_raise(const int8_t *in, uint32_t dim, uint8_t *out) {
  for (uint32_t k = 0; k < dim; k += 16) {
    __m128i raised = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(in + k)), _mm_set1_epi8((char)-128));
    _mm_store_si128((__m128i *)(out + k), raised);
  }
}

VNNI static void vnni_multiply(const cycle_mesh_product *p, uint32_t rows, const void *packed) {
  _Alignas(64) uint8_t a[VNNI_ROWS * VNNI_DIM];
  uint32_t groups = vnni_groups(rows), i = p->first;
  const int8_t *b = packed;
  const int32_t *sums = (const int32_t *)packed + (size_t)groups * p->dim;
  for (; i + VNNI_ROWS <= p->past; i += VNNI_ROWS) {
    for (unsigned r = 0; r < VNNI_ROWS; r++) vnni_raise(p->a + (size_t)(i + r) * p->dim, p->dim, a + r * VNNI_DIM);
    for (uint32_t j = 0; j < p->dim; j += 16)
      vnni_block(p, i, j, groups, a, b + (size_t)j * groups * 4, _mm512_load_si512(sums + j));
  }
  for (; i < p->past; i++) {
    vnni_raise(p->a + (size_t)i * p->dim, p->dim, a);
    for (uint32_t j = 0; j < p->dim; j += 16)
      vnni_row(p, i, j, groups, a, b + (size_t)j * groups * 4, _mm512_load_si512(sums + j));
  }
}
#endif

// ---- choice

static const cycle_mesh_kernel kernels[] = {
#if defined(__x86_64__) && defined(__GNUC__)
    {"avx512vnni", 16, has_vnni, vnni_pack, vnni_multiply},
    {"avx2", 8, has_avx2, avx2_pack, avx2_multiply},
#endif
    {"plain", 1, always, plain_pack, plain_multiply},
};

const cycle_mesh_kernel *cycle_mesh_kernel_at(unsigned index) {
  return index < sizeof kernels / sizeof *kernels ? &kernels[index] : NULL;
}

const cycle_mesh_kernel *cycle_mesh_kernel_choose(uint32_t dim) {
  const cycle_mesh_kernel *k = kernels;
  while (dim < k->least_dim || !k->runs_here()) k++;
  return k;
}
