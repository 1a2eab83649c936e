// SPDX-License-Identifier: Apache-2.0
// GELU and SiLU in kernels: random ones of loaded blocks, of sums, of rounded sums and between two products, in several
// spellings. Engines leave what the kernel's interpreter says, byte by byte, and results of loaded blocks are near the
// function. "rtl" as argument: a few on that engine, too; a number: so many programs.
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/test.h"
#include "compiler/tests/drawn.h"

enum { TEXT_MAX = 4096, PROGRAMS = 60, RTL_PROGRAMS = 8, SILU_GAIN = 4, NARROW = 20 };

typedef struct program {
  uint64_t seed;
  bool loaded;  // x is an element times gain times step, the result levels times GELU or SiLU of it
  bool silu;
  int gain, levels;
  double step;
  char text[TEXT_MAX];
} program;

static int below(program *p, int limit) { return (int)(wf_random_next(&p->seed) % (uint64_t)limit); }

static int size_of(program *p) {
  static const int sizes[] = {1, 3, 8, 16, 17, 20, 33};
  return sizes[below(p, 7)];
}

// ---- text

static const char *spelling(program *p) {
  static const char *const spellings[] = {
      "x * 0.5 * (1.0 + tl.math.erf(x * 0.70710678))",
      "0.5 * x * (1 + libdevice.tanh(0.79788456 * (x + 0.044715 * x * x * x)))",
      "0.5 * x * (1 + libdevice.tanh(0.79788456 * x * (1 + 0.044715 * x * x)))",
      "0.5 * x + 0.5 * x * tl.erf(0.70710678 * x)",
      "x * tl.sigmoid(1.59576912 * (x + x * x * x * 0.044715))",
      "x - x * 0.5 * (1 - tl.erf(x * 0.70710678))",
      "0.5 * x * (1 - tl.erf(x * -0.70710678))",
  };
  static const char *const silus[] = {
      "x * tl.sigmoid(x)",
      "0.5 * x * (1 + libdevice.tanh(x * 0.5))",
      "0.5 * (x + x * libdevice.tanh(0.5 * x))",
      "x - x * tl.sigmoid(-1.0 * x)",
      "x / (1.0 + tl.exp(-x))",
      "x * (1 / (1 + tl.exp2(x * -1.44269504)))",
  };
  p->silu = below(p, 3) == 0;
  if (p->silu && p->gain > SILU_GAIN) {
    p->step *= (double)p->gain / SILU_GAIN;
    p->gain = SILU_GAIN;
  }
  return p->silu ? silus[below(p, 6)] : spellings[below(p, 7)];
}

static void write_head(program *p, FILE *out, const char *tensors, int rows) {
  fprintf(out,
          "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n@triton.jit\n"
          "def gelu(x):\n  return %s\n@triton.jit\ndef k(%s):\n  m = tl.program_id(0) * %d\n",
          spelling(p), tensors, rows);
}

// A block of a matrix of `columns`: whole, of `depth` rows, or `rows` rows from m on of `total`.
static void write_load(FILE *out, const char *name, const char *tensor, int total, int rows, int columns) {
  const bool whole = total == rows;
  fprintf(out,
          "  %s = tl.load(tl.make_block_ptr(%s, (%d, %d), (%d, 1), (%s, 0), (%d, %d), (1, 0)), boundary_check=(0,))\n",
          name, tensor, total, columns, columns, whole ? "0" : "m", rows, columns);
}

static void write_store(FILE *out, const char *value, int total, int rows, int columns) {
  fprintf(out,
          "  tl.store(tl.make_block_ptr(y, (%d, %d), (%d, 1), (m, 0), (%d, %d), (1, 0)), %s, boundary_check=(0,))\n",
          total, columns, columns, rows, columns, value);
}

static void draw_scale(program *p) {
  p->gain = 1 + below(p, 6);
  p->step = 0.02 / p->gain * (1 + below(p, 3));
  p->levels = 4 + below(p, 40);
}

// Of a loaded block.
static void write_loaded(program *p, FILE *out, int total, int rows) {
  const int columns = size_of(p) + 16 * below(p, 3);
  p->loaded = true;
  write_head(p, out, "x: tl.int8, y: tl.int8", rows);
  write_load(out, "a", "x", total, rows, columns);
  fprintf(out, "  g = (gelu(a * %d * %.9g) * %d).to(tl.int8)\n", p->gain, p->step, p->levels);
  write_store(out, "g", total, rows, columns);
}

static int write_sums(program *p, FILE *out, int total, int rows) {
  const int depth = size_of(p), columns = size_of(p);
  const bool biased = below(p, 2) == 0;
  write_head(p, out,
             biased ? "x: tl.int8, w: tl.int8, b: tl.int32, u: tl.int8, y: tl.int8"
                    : "x: tl.int8, w: tl.int8, u: tl.int8, y: tl.int8",
             rows);
  write_load(out, "a", "x", total, rows, depth);
  write_load(out, "c", "w", depth, depth, columns);
  if (biased)
    fprintf(out, "  s = tl.dot(a, c) + tl.load(tl.make_block_ptr(b, (%d,), (1,), (0,), (%d,), (0,)))[None, :]\n",
            columns, columns);
  else
    fprintf(out, "  s = tl.dot(a, c)\n");
  return columns;
}

// Of sums of products, which wrap where they are large.
static void write_product(program *p, FILE *out, int total, int rows) {
  const int columns = write_sums(p, out, total, rows);
  fprintf(out, "  g = (gelu(s * 0.0%d) * 0.%d).to(tl.int8)\n", 1 + below(p, 9), 1 + below(p, 9));
  write_store(out, "g", total, rows, columns);
}

// Of rounded sums.
static void write_rounded(program *p, FILE *out, int total, int rows) {
  const int columns = write_sums(p, out, total, rows);
  fprintf(out, "  h = (s * 0.00%d).to(tl.int8)\n  g = (gelu(h * %d * %.9g) * %d).to(tl.int8)\n", 1 + below(p, 9),
          p->gain, p->step, p->levels);
  write_store(out, "g", total, rows, columns);
}

// Between two products.
static void write_layers(program *p, FILE *out, int total, int rows) {
  const int columns = write_sums(p, out, total, rows), drawn = size_of(p);
  const int width = drawn < NARROW ? drawn : NARROW;  // for dim4
  fprintf(out, "  h = (s * 0.00%d).to(tl.int8)\n  g = (gelu(h * %.9g) * %d).to(tl.int8)\n", 1 + below(p, 9), p->step,
          p->levels);
  write_load(out, "v", "u", columns, columns, width);
  write_store(out, "(tl.dot(g, v) * 0.02).to(tl.int8)", total, rows, width);
}

static void draw(program *p, uint64_t seed) {
  static void (*const forms[])(program *, FILE *, int, int) = {write_loaded, write_product, write_rounded,
                                                               write_layers};
  *p = (program){.seed = seed};
  const int rows = 4 * (1 + below(p, 5)), programs = 1 + below(p, 3), total = rows * programs - below(p, 4);
  FILE *out = fmemopen(p->text, sizeof p->text, "w");
  draw_scale(p);
  forms[below(p, 4)](p, out, total, rows);
  fprintf(out, "grid = (%d,)\n", programs);
  fclose(out);
}

// ---- runs

static double gelu(double x) { return x / 2 * (1 + erf(x / sqrt(2))); }

static double silu(double x) { return x / (1 + exp(-x)); }

// GELU by the polynomial for erf is 0.02 off at most, SiLU by that for tanh 0.04.
static bool holds(const void *drawn, const compile_result *compiled, const run_oracle *o) {
  const program *p = drawn;
  const int8_t *x = (const int8_t *)o->before[0], *y = (const int8_t *)o->after[1];
  bool near = true;
  for (int64_t e = 0; p->loaded && e < compiled->block->tensors[1].elements; e++) {
    const double in = x[e] * p->gain * p->step, wanted = p->levels * (p->silu ? silu(in) : gelu(in));
    const double off = p->silu ? 0.042 : 0.022;
    near = near && fabs(y[e] - fmin(fmax(wanted, -128), 127)) <= 0.55 + off * p->levels;
  }
  return near;
}

static bool run(const program *p, const hw_array *array, bool rtl) {
  return drawn_run(&(drawn_kernel){
      .file = "gelu.py", .text = p->text, .seed = p->seed, .array = array, .rtl = rtl, .holds = holds, .program = p});
}

static void test_random(void **state) {
  const drawn_options *o = *state;
  for (int i = 0; i < o->programs; i++) {
    hw_array array;
    program p;
    assert_true(drawn_array(o, i, &array));
    draw(&p, 2000 + (uint64_t)i);
    array.units.normaliser = true;
    assert_true(run(&p, &array, o->rtl));
  }
}

// Arrays without the unit say which one has it.
static void test_needs_unit(void **state) {
  (void)state;
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  hw_array array;
  program p;
  assert_true(hw_array_load(&array, "gemmini-default", &diag));
  draw(&p, 2000);
  const compile_request request = {.file = "gelu.py", .text = p.text, .length = strlen(p.text), .array = &array};
  compile_result compiled;
  assert_false(compile(&request, &compiled, &diag));
  compile_release(&compiled);
  fclose(out);
  assert_non_null(strstr(messages, "gelu needs the normaliser, which array gemmini-default has not"));
  assert_non_null(strstr(messages, "--array transformer-16"));
  assert_non_null(strstr(messages, " |   tl.store(tl.make_block_ptr(y"));  // the line, and a caret below it
  assert_non_null(strstr(messages, "\n      |   ^\n"));
  free(messages);
}

int main(int argc, char **argv) {
  drawn_options o = drawn_options_of(argc, argv, PROGRAMS, RTL_PROGRAMS);
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_random, &o), cmocka_unit_test(test_needs_unit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
