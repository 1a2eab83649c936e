// SPDX-License-Identifier: Apache-2.0
// Writes gemmini_params.h, the header that programs written for Gemmini take their array from. The names are the
// interface of those programs; the arithmetic is that of the ISA: each step rounds to nearest, half to even, then
// saturates.
//
//   ACC_SCALE(x, s) = saturate8(round((float)x * s)), MVIN_SCALE likewise; a NaN gives the largest element
//   ROUNDING_RIGHT_SHIFT(x, n) = x / 2^n rounded half to even, x * 2^-n if n < 0
#include <inttypes.h>

#include "hw/export/export.h"

static void write_numbers(const hw_array *array, FILE *out) {
  const hw_derived d = hw_derive(array);
  const struct {
    const char *name;
    uint32_t value;
  } numbers[] = {
      {"XCUSTOM_ACC", 3},
      {"DIM", d.dim},
      {"ADDR_LEN", 32},
      {"BANK_NUM", array->scratchpad.banks},
      {"BANK_ROWS", d.sp_bank_rows},
      {"ACC_ROWS", d.acc_rows},
      {"MAX_BYTES", array->dma.max_burst_bytes},
      {"MAX_BLOCK_LEN", d.max_block_len},
      {"MAX_BLOCK_LEN_ACC", d.max_block_len_acc},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    fprintf(out, "#define %s %" PRIu32 "\n", numbers[i].name, numbers[i].value);
}

static const char element_types[] =
    "\ntypedef int8_t elem_t;\n"
    "static const elem_t elem_t_max = 127;\n"
    "static const elem_t elem_t_min = -128;\n"
    "typedef int32_t acc_t;\n"
    "typedef int64_t full_t;\n\n"
    "/* Alignment of arrays that hold whole rows. */\n"
    "#define row_align(blocks) __attribute__((aligned((blocks) * DIM * sizeof(elem_t))))\n"
    "#define row_align_acc(blocks) __attribute__((aligned((blocks) * DIM * sizeof(acc_t))))\n\n";

// Above 2^23 a float has no fraction, above 2^52 a double has none; both tests also catch what is no number.
static const char arithmetic[] =
    "static inline float gemmini_round_float(float x) {\n"
    "  if (!(x > -8388608.0f && x < 8388608.0f)) return x;\n"
    "  int32_t whole = (int32_t)x;\n"
    "  float rest = x < 0 ? (float)whole - x : x - (float)whole;\n"
    "  if (rest > 0.5f || (rest == 0.5f && whole % 2 != 0)) whole += x < 0 ? -1 : 1;\n"
    "  return (float)whole;\n"
    "}\n\n"
    "static inline double gemmini_round_double(double x) {\n"
    "  if (!(x > -4503599627370496.0 && x < 4503599627370496.0)) return x;\n"
    "  int64_t whole = (int64_t)x;\n"
    "  double rest = x < 0 ? (double)whole - x : x - (double)whole;\n"
    "  if (rest > 0.5 || (rest == 0.5 && whole % 2 != 0)) whole += x < 0 ? -1 : 1;\n"
    "  return (double)whole;\n"
    "}\n\n"
    "static inline elem_t gemmini_saturate(float x) {\n"
    "  return x < (float)elem_t_min ? elem_t_min : x <= (float)elem_t_max ? (elem_t)x : elem_t_max;\n"
    "}\n\n"
    "static inline int64_t gemmini_shift_right(int64_t x, int shift) {\n"
    "  if (shift <= 0) return (int64_t)((uint64_t)x << -shift);\n"
    "  int64_t below = x & (int64_t)((UINT64_C(1) << shift) - 1), half = INT64_C(1) << (shift - 1);\n"
    "  x >>= shift;\n"
    "  return x + (below > half || (below == half && (x & 1) != 0));\n"
    "}\n\n"
    "#define ROUND_NEAR_EVEN(x) ((__typeof__(x))(sizeof(x) > sizeof(float) ? gemmini_round_double((double)(x)) \\\n"
    "                                                                    : gemmini_round_float((float)(x))))\n"
    "#define ROUNDING_RIGHT_SHIFT(x, shift) ((__typeof__((x) + 0))gemmini_shift_right((x), (shift)))\n"
    "#define ROUNDING_RIGHT_SHIFT_BITS(x, shift) ROUNDING_RIGHT_SHIFT(x, shift)\n\n";

static const char accumulator_scale[] =
    "/* Accumulator rows are scaled on their way out. */\n"
    "typedef float acc_scale_t;\n"
    "typedef uint32_t acc_scale_t_bits;\n"
    "#define ACC_SCALE_T_IS_FLOAT\n"
    "#define ACC_SCALE_EXP_BITS 8\n"
    "#define ACC_SCALE_SIG_BITS 24\n"
    "#define ACC_SCALE_IDENTITY 1.0\n"
    "#define ACC_SCALE(x, scale) ((acc_t)gemmini_saturate(gemmini_round_float((float)(x) * (float)(scale))))\n\n";

static const char mvin_scale[] =
    "/* Rows are scaled on their way in. */\n"
    "#define HAS_MVIN_SCALE\n"
    "typedef float scale_t;\n"
    "typedef uint32_t scale_t_bits;\n"
    "#define MVIN_SCALE_IDENTITY 1.0\n"
    "#define MVIN_SCALE(x, scale) (gemmini_saturate(gemmini_round_float((float)(x) * (float)(scale))))\n";

// The scale field of config_ld must still hold 1.0 there, so the type stays a float.
static const char no_mvin_scale[] =
    "/* Rows cannot be scaled on their way in: 1.0 is the one legal scale. */\n"
    "typedef float scale_t;\n"
    "typedef uint32_t scale_t_bits;\n"
    "#define MVIN_SCALE_IDENTITY 1.0\n"
    "#define MVIN_SCALE(x, scale) (x)\n";

static const char no_mvin_acc_scale[] =
    "typedef scale_t mvin_scale_t;\n"
    "typedef int32_t scale_acc_t;\n"
    "typedef uint32_t scale_acc_t_bits;\n"
    "#define MVIN_SCALE_ACC(x, scale) (x)\n\n";

static void write_units(const hw_array *array, FILE *out) {
  const struct {
    const char *name;
    bool present;
  } units[] = {
      {"ACC_READ_SMALL_WIDTH", array->accumulator.narrow_reads},
      {"ACC_READ_FULL_WIDTH", array->accumulator.full_reads},
      {"HAS_FIRST_LAYER_OPTIMIZATIONS", array->units.pixel_repeat},
      {"HAS_NORMALIZATIONS", array->units.normaliser},
  };
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (units[i].present) fprintf(out, "#define %s\n", units[i].name);
}

bool hw_export_gemmini_header(const hw_array *array, FILE *out) {
  fprintf(out,
          "/* Array %s, hash %016" PRIx64 ", for programs written for Gemmini (ISA revision %" PRIu32
          "). */\n"
          "#ifndef GEMMINI_PARAMS_H\n"
          "#define GEMMINI_PARAMS_H\n\n"
          "#include <limits.h>\n"
          "#include <stdint.h>\n\n",
          array->name, hw_array_hash(array), array->isa.revision);
  write_numbers(array, out);
  fputs(element_types, out);
  fputs(arithmetic, out);
  fputs(accumulator_scale, out);
  fputs(array->load.scale_units != 0 ? mvin_scale : no_mvin_scale, out);
  fputs(no_mvin_acc_scale, out);
  write_units(array, out);
  fputs("\n#endif\n", out);
  return fflush(out) == 0 && !ferror(out);
}
