// SPDX-License-Identifier: Apache-2.0
// Products of blocks that the kernel computed: random kernels of several forms and sizes. Engines leave what the
// kernel's interpreter says, byte by byte. "rtl" as argument: a few on that engine, too; a number: so many programs.
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/test.h"
#include "compiler/tests/drawn.h"

static const double leaky_scale = 0.004;
enum { TEXT_MAX = 4096, PROGRAMS = 60, RTL_PROGRAMS = 20 };

typedef struct shape {
  int rows, columns;
} shape;

typedef struct program {
  uint64_t seed;
  bool normed;  // needs the normaliser
  int slope;    // of results below 0, in eighths; 0: another form
  shape shape;  // of the results, sums of so many products
  int depth;
  char text[TEXT_MAX];
} program;

static int below(program *p, int limit) { return (int)(wf_random_next(&p->seed) % (uint64_t)limit); }

static int size_of(program *p) {
  static const int sizes[] = {1, 3, 8, 16, 17, 20, 33};
  return sizes[below(p, 7)];
}

// ---- text

// A block of a matrix, whole but for `rows` rows from program_id(0) on where they are not 0.
static void write_load(FILE *out, const char *name, const char *tensor, shape s, int rows) {
  fprintf(out, "  %s = tl.load(tl.make_block_ptr(%s, (%d, %d), (%d, 1), (%s, 0), (%d, %d), (1, 0))", name, tensor,
          s.rows, s.columns, s.columns, rows == 0 ? "0" : "m", rows == 0 ? s.rows : rows, s.columns);
  fprintf(out, rows == 0 ? ")\n" : ", boundary_check=(0,))\n");
}

static void write_store(FILE *out, const char *value, shape s, int rows) {
  fprintf(out,
          "  tl.store(tl.make_block_ptr(y, (%d, %d), (%d, 1), (m, 0), (%d, %d), (1, 0)), %s, boundary_check=(0,))\n",
          s.rows, s.columns, s.columns, rows, s.columns, value);
}

static void write_head(FILE *out, const char *tensors, int rows) {
  fprintf(out, "import triton.language as tl\n@triton.jit\ndef k(%s):\n  m = tl.program_id(0) * %d\n", tensors, rows);
}

// softmax(q k^T) v; or layer norm of x w, times v.
static void write_rows(program *p, FILE *out, int total, int rows) {
  const int depth = size_of(p), keys = size_of(p), width = size_of(p);
  const bool softmax = below(p, 3) != 0;
  p->normed = true;
  write_head(out, "q: tl.int8, k: tl.int8, v: tl.int8, y: tl.int8", rows);
  write_load(out, "a", "q", (shape){total, depth}, rows);
  write_load(out, "b", "k", (shape){keys, depth}, 0);
  write_load(out, "c", "v", (shape){keys, width}, 0);
  fprintf(out, "  s = tl.dot(a, b.T)\n");
  if (softmax && below(p, 2) == 0) {
    fprintf(out, "  i = m + tl.arange(0, %d)\n  j = tl.arange(0, %d)\n", rows, keys);
    fprintf(out, "  s = tl.where(j[None, :] <= i[:, None] * %d + %d, s, float('-inf'))\n", below(p, 3), below(p, keys));
  }
  if (softmax)
    fprintf(out,
            "  e = tl.exp((s - tl.max(s, axis=1)[:, None]) * 0.0%d)\n"
            "  p = (e / tl.sum(e, axis=1)[:, None] * 127).to(tl.int8)\n",
            10 + below(p, 80));
  else
    fprintf(out,
            "  d = s - (tl.sum(s, axis=1) / %d)[:, None]\n  i = tl.rsqrt(tl.sum(d * d, axis=1) / %d)\n"
            "  p = (d * i[:, None]).to(tl.int8)\n",
            keys, keys);
  fprintf(out, "  o = (tl.dot(p, c) * %s).to(tl.int8)\n", softmax ? "0.01" : "0.4");
  write_store(out, "o", (shape){total, width}, rows);
}

// Two layers with the hidden one in a loop or at once, bias and ReLU as they come.
static void write_layers(program *p, FILE *out, int total, int rows) {
  const int depth = size_of(p), step = 4 * (1 + below(p, 8)), hidden = step * (1 + below(p, 3)), width = size_of(p);
  write_head(out, "x: tl.int8, w: tl.int8, b: tl.int32, u: tl.int8, y: tl.int8", rows);
  write_load(out, "a", "x", (shape){total, depth}, rows);
  fprintf(out, "  acc = tl.zeros((%d, %d), tl.int32)\n  for h in range(0, %d, %d):\n", rows, width, hidden, step);
  fprintf(out, "    c = tl.load(tl.make_block_ptr(w, (%d, %d), (%d, 1), (0, h), (%d, %d), (1, 0)))\n", depth, hidden,
          hidden, depth, step);
  fprintf(out, "    d = tl.dot(a, c)");
  if (below(p, 2) == 0)
    fprintf(out, "\n    d = d + tl.load(tl.make_block_ptr(b, (1, %d), (0, 1), (0, h), (1, %d), (1, 0)))", hidden, step);
  fprintf(out, "\n    e = %s.to(tl.int8)\n", below(p, 2) == 0 ? "tl.maximum(d * 0.01, 0)" : "(d * 0.01)");
  fprintf(out, "    v = tl.load(tl.make_block_ptr(u, (%d, %d), (%d, 1), (h, 0), (%d, %d), (1, 0)))\n", hidden, width,
          width, step, width);
  fprintf(out, "    acc += tl.dot(e, v)\n");
  write_store(out, "(acc * 0.02).to(tl.int8)", (shape){total, width}, rows);
}

// d = x w, then (d d^T) v, in three parts; perhaps with d added.
static void write_chain(program *p, FILE *out, int total, int rows) {
  const int depth = size_of(p), middle = size_of(p), width = size_of(p);
  write_head(out, "x: tl.int8, w: tl.int8, v: tl.int8, y: tl.int8", rows);
  write_load(out, "a", "x", (shape){total, depth}, rows);
  write_load(out, "b", "w", (shape){depth, middle}, 0);
  write_load(out, "c", "v", (shape){rows, width}, 0);
  fprintf(out, "  d = (tl.dot(a, b) * 0.01).to(tl.int8)\n  g = (tl.dot(d, d.T) * 0.01).to(tl.int8)\n");
  fprintf(out, "  o = tl.dot(g, c)\n%s", width == middle ? "  o = o + d\n" : "");
  write_store(out, "(o * 0.02).to(tl.int8)", (shape){total, width}, rows);
}

// A computed block that a loop multiplies by one block after another.
static void write_many(program *p, FILE *out, int total, int rows) {
  const int depth = size_of(p), middle = size_of(p), step = 4 * (1 + below(p, 5)), width = step * (1 + below(p, 3));
  write_head(out, "x: tl.int8, w: tl.int8, v: tl.int8, y: tl.int8", rows);
  write_load(out, "a", "x", (shape){total, depth}, rows);
  write_load(out, "b", "w", (shape){depth, middle}, 0);
  fprintf(out, "  d = tl.maximum(tl.dot(a, b) * 0.01, 0).to(tl.int8)\n  for n in range(0, %d, %d):\n", width, step);
  fprintf(out, "    c = tl.load(tl.make_block_ptr(v, (%d, %d), (%d, 1), (0, n), (%d, %d), (1, 0)))\n", middle, width,
          width, middle, step);
  fprintf(out, "    o = (tl.dot(d, c) * 0.03).to(tl.int8)\n");
  fprintf(out,
          "    tl.store(tl.make_block_ptr(y, (%d, %d), (%d, 1), (m, n), (%d, %d), (1, 0)), o, boundary_check=(0,))\n",
          total, width, width, rows, step);
}

// A second slope for results below 0.
static void write_leaky(program *p, FILE *out, int total, int rows) {
  const int depth = size_of(p), most = 20, drawn = size_of(p), width = drawn < most ? drawn : most;  // for dim4
  p->slope = 1 + below(p, 9);
  write_head(out, "x: tl.int8, w: tl.int8, y: tl.int8", rows);
  write_load(out, "a", "x", (shape){total, depth}, rows);
  write_load(out, "b", "w", (shape){depth, width}, 0);
  fprintf(out, "  s = tl.dot(a, b)\n  above = tl.maximum(s * %g, 0).to(tl.int8)\n", leaky_scale);
  fprintf(out, "  below = tl.maximum((s * %g).to(tl.int8), 0)\n", -leaky_scale * p->slope / 8);
  write_store(out, "(above + below * -1).to(tl.int8)", (shape){total, width}, rows);
  p->shape = (shape){total, width};
  p->depth = depth;
}

static void draw(program *p, uint64_t seed) {
  static void (*const forms[])(program *, FILE *, int, int) = {write_rows, write_layers, write_chain, write_many,
                                                               write_leaky};
  *p = (program){.seed = seed};
  const int rows = 4 * (1 + below(p, 5)), programs = 1 + below(p, 3), total = rows * programs - below(p, 4);
  FILE *out = fmemopen(p->text, sizeof p->text, "w");
  forms[below(p, 5)](p, out, total, rows);
  fprintf(out, "grid = (%d,)\n", programs);
  fclose(out);
}

// ---- runs

// -128 is out of reach.
static int leaky(const program *p, int32_t sum) {
  const double scale = leaky_scale * (sum < 0 ? p->slope / 8.0 : 1);
  return (int)fmin(fmax(rint((double)sum * scale), -127), 127);
}

static bool is_leaky(const program *p, const run_oracle *o) {
  const int8_t *x = (const int8_t *)o->before[0], *w = (const int8_t *)o->before[1], *y = (const int8_t *)o->after[2];
  bool near = true;
  for (int e = 0; p->slope != 0 && e < p->shape.rows * p->shape.columns; e++) {
    int32_t sum = 0;
    for (int k = 0; k < p->depth; k++)
      sum += x[e / p->shape.columns * p->depth + k] * w[k * p->shape.columns + e % p->shape.columns];
    near = near && abs(y[e] - leaky(p, sum)) <= 1;  // binary32 rounds a scale
  }
  return near;
}

static bool parks(const compile_result *compiled) {
  for (int t = 0; t < compiled->block->tensor_count; t++)
    if (compiled->block->tensors[t].working) return compiled->commands->fences > 1;
  return false;
}

static bool holds(const void *drawn, const compile_result *compiled, const run_oracle *o) {
  return parks(compiled) && is_leaky(drawn, o);
}

static bool run(const program *p, const hw_array *array, bool rtl) {
  return drawn_run(&(drawn_kernel){
      .file = "chain.py", .text = p->text, .seed = p->seed, .array = array, .rtl = rtl, .holds = holds, .program = p});
}

static void test_random(void **state) {
  const drawn_options *o = *state;
  for (int i = 0; i < o->programs; i++) {
    hw_array array;
    program p;
    assert_true(drawn_array(o, i, &array));
    draw(&p, 1000 + (uint64_t)i);
    array.units.normaliser |= p.normed;
    assert_true(run(&p, &array, o->rtl));
  }
}

// Two computed blocks, multiplied element by element.
static void test_gate_is_refused(void **state) {
  (void)state;
  const char text[] =
      "from weft import *\n@jit\ndef k(x: int8, w: int8, u: int8, y: int8):\n"
      "  i = arange(0, 8)\n  at = i[:, None] * 8 + i[None, :]\n  a = load(x + at)\n"
      "  g = maximum(dot(a, load(w + at)) * 0.01, 0).to(int8)\n  z = (dot(a, load(u + at)) * 0.01).to(int8)\n"
      "  store(y + at, (g * z * 0.01).to(int8))\ngrid = (1,)\n";
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  hw_array array;
  assert_true(hw_array_load(&array, "transformer-16", &diag));
  const compile_request request = {.file = "gate.py", .text = text, .length = strlen(text), .array = &array};
  compile_result compiled;
  assert_false(compile(&request, &compiled, &diag));
  compile_release(&compiled);
  fclose(out);
  assert_string_equal(
      messages,
      "gate.py:9:18: error: the accelerator has no multiplication of blocks element by element\n"
      "    9 |   store(y + at, (g * z * 0.01).to(int8))\n"
      "      |                  ^\n"
      "  hint: an array with the gate (units.gate, as gated-16) multiplies two int8 blocks; others have "
      "dot and one scale for results: factors per column go into the weights of a product\n");
  free(messages);
}

int main(int argc, char **argv) {
  drawn_options o = drawn_options_of(argc, argv, PROGRAMS, RTL_PROGRAMS);
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_random, &o),
                                     cmocka_unit_test(test_gate_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
