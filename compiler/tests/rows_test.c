// SPDX-License-Identifier: Apache-2.0
// Softmax and layer norm of rows in kernels: random forms, sizes and scales on several arrays. Engines leave what the
// kernel's interpreter says, byte by byte, and that is near the same in floating point. "rtl" as argument: a few on
// that engine, too; a number: so many programs.
#include <math.h>

#include "base/random.h"
#include "base/test.h"
#include "compiler/tests/drawn.h"

enum { TEXT_MAX = 2048, PROGRAMS = 60, RTL_PROGRAMS = 24, DEPTH_MAX = 80, WIDEST = 100 };

// One program: rows of int8 or int32, or of a product with a depth. Blocks may be wider than rows, which a mask ends;
// and of row i only so many columns may be kept as first + step * i, in softmax.
typedef struct program {
  uint64_t seed;
  int rows, columns, stride, depth, block;  // stride: of rows that are loaded
  bool wide;
  int width;        // of blocks
  int first, step;  // first 0: all columns are kept
  int levels;       // of a standard deviation, in layer norm; 0: softmax
  double scale;
  char text[TEXT_MAX];
} program;

static int below(program *p, int limit) { return (int)(wf_random_next(&p->seed) % (uint64_t)limit); }

// ---- text

static const char head[] = "import triton.language as tl\n@triton.jit\n";

// Less the mean, and divided by the deviation; of x times the levels, if they are more than one.
static void write_norm(const program *p, FILE *out, const char *column) {
  const int axis = column[0] != 0, n = p->columns;
  fprintf(out, "  d = x - (tl.sum(x, axis=%d) / %d)%s\n  v = tl.sum(d * d, axis=%d) / %d\n  i = tl.rsqrt(v)%s\n", axis,
          n, column, axis, n, column);
  if (p->levels > 1) fprintf(out, "  w = x * %d\n  d = w - (tl.sum(w, axis=%d) / %d)%s\n", p->levels, axis, n, column);
  fprintf(out, "  r = (d * i).to(tl.int8)\n");
}

// Columns of x that are left out, in the forms that people write; `row` and `column` are indexes.
static void write_where(program *p, FILE *out, const char *row, const char *column) {
  if (p->first == 0 && p->width == p->columns) return;
  fprintf(out, "  x = tl.where(");
  if (p->first == 0) {
    fprintf(out, "%s < %d", column, p->columns);
  } else {
    const bool both = p->width != p->columns;
    if (both) fprintf(out, "(%s < %d) & (", column, p->columns);
    switch (below(p, 4)) {
      case 0:
        fprintf(out, "%s < %s * %d + %d", column, row, p->step, p->first);
        break;
      case 1:
        fprintf(out, "%s * %d + %d >= %s", row, p->step, p->first - 1, column);
        break;
      case 2:
        fprintf(out, "%s - %s * %d <= %d", column, row, p->step, p->first - 1);
        break;
      default:
        fprintf(out, "%d > %s - %s * %d", p->first, column, row, p->step);
    }
    if (both) fprintf(out, ")");
  }
  fprintf(out, ", x, float(\"-inf\"))\n");
}

// What comes before, in `x`, and a number per row, in the forms that people write.
static void write_parts(program *p, FILE *out, const char *column) {
  if (p->levels != 0) {
    write_norm(p, out, column);
    return;
  }
  static const char *const axes[] = {"axis=1", "1", "axis=-1"};
  const char *axis = column[0] == 0 ? "axis=0" : axes[below(p, 3)];
  const bool keep = column[0] != 0 && below(p, 3) == 0;
  const char *kept = keep ? ", keep_dims=True" : "", *spread = keep ? "" : column;
  if (below(p, 3) == 0) fprintf(out, "  x = x.to(tl.float32)\n");
  if (below(p, 2) == 0)
    fprintf(out, "  z = (x - tl.max(x, %s%s)%s) * scale\n", axis, kept, spread);
  else
    fprintf(out, "  s = x * scale\n  top = tl.max(s, %s%s)\n  z = s - top%s\n", axis, kept, spread);
  fprintf(out, below(p, 3) == 0 ? "  e = tl.exp2(z * 1.44269504)\n" : "  e = tl.exp(z)\n");
  fprintf(out, "  d = tl.sum(e, %s%s)\n", axis, kept);
  fprintf(out,
          below(p, 2) == 0 ? "  p = e / d%s\n  r = (p * 127).to(tl.int8)\n"
                           : "  p = e / d%s * 127.0\n  r = p.to(tl.int8)\n",
          spread);
}

static void write_one_row(program *p, FILE *out) {
  const bool nothing = p->width != p->columns && below(p, 2) == 0;
  fprintf(out, "%sdef k(x_ptr, y_ptr: tl.int8, scale: float):\n  g = tl.program_id(0)\n  j = tl.arange(0, %d)\n", head,
          p->width);
  fprintf(out, "  x = tl.load(x_ptr + g * %d + j, mask=j < %d%s)\n", p->stride = p->columns + 3, p->columns,
          nothing ? ", other=-float('inf')" : "");
  if (!nothing || p->first != 0) write_where(p, out, "g", "j");
  write_parts(p, out, "");
  fprintf(out, "  tl.store(y_ptr + g * %d + j, r, mask=j < %d)\ngrid = (%d,)\n", p->columns, p->columns, p->rows);
}

static void write_rows(program *p, FILE *out) {
  fprintf(out, "%sdef k(x_ptr, y_ptr: tl.int8, scale: float):\n  g = tl.program_id(0) * %d + tl.arange(0, %d)\n", head,
          p->block, p->block);
  const bool nothing = p->width != p->columns && below(p, 2) == 0;
  fprintf(out, "  j = tl.arange(0, %d)\n  n = (g[:, None] < %d) & (j[None, :] < %d)\n", p->width, p->rows, p->columns);
  fprintf(out, "  x = tl.load(x_ptr + g[:, None] * %d + j[None, :], mask=n%s)\n", p->stride = p->columns + 5,
          nothing ? ", other=float('-inf')" : "");
  if (!nothing || p->first != 0) write_where(p, out, "g[:, None]", "j[None, :]");
  write_parts(p, out, "[:, None]");
  fprintf(out, "  tl.store(y_ptr + g[:, None] * %d + j[None, :], r, mask=n)\ngrid = (%d,)\n", p->columns,
          (p->rows + p->block - 1) / p->block);
}

// x = q k^T, of all the depth at once or in a loop.
static void write_scores(program *p, FILE *out) {
  const int step = p->depth <= 32 ? p->depth : 32;  // a multiple of DIM, or all
  fprintf(out, "%sdef k(q_ptr: tl.int8, k_ptr: tl.int8, y_ptr: tl.int8, scale: float):\n  m = tl.program_id(0) * %d\n",
          head, p->block);
  fprintf(out, "  x = tl.zeros((%d, %d), tl.int32)\n  for l in range(0, %d, %d):\n", p->block, p->width, p->depth,
          step);
  fprintf(out, "    q = tl.make_block_ptr(q_ptr, (%d, %d), (%d, 1), (m, l), (%d, %d), (1, 0))\n", p->rows, p->depth,
          p->depth, p->block, step);
  fprintf(out, "    k = tl.make_block_ptr(k_ptr, (%d, %d), (%d, 1), (0, l), (%d, %d), (1, 0))\n", p->columns, p->depth,
          p->depth, p->width, step);
  fprintf(out, "    x += tl.dot(tl.load(q, boundary_check=(0, 1)), tl.load(k, boundary_check=(0, 1)).T)\n");
  fprintf(out, "  g = m + tl.arange(0, %d)\n  j = tl.arange(0, %d)\n", p->block, p->width);
  write_where(p, out, "g[:, None]", "j[None, :]");
  write_parts(p, out, "[:, None]");
  fprintf(out, "  y = tl.make_block_ptr(y_ptr, (%d, %d), (%d, 1), (m, 0), (%d, %d), (1, 0))\n", p->rows, p->columns,
          p->columns, p->block, p->width);
  fprintf(out, "  tl.store(y, r, boundary_check=(0, 1))\ngrid = (%d,)\n", (p->rows + p->block - 1) / p->block);
}

// Rows that become longer or shorter, none of them empty, those of whole blocks neither.
static void draw_edge(program *p) {
  const int rows = (p->rows / p->block + 1) * p->block;
  p->step = below(p, 4) - 1;
  p->first = 1 + below(p, p->columns) + (p->step < 0 ? rows : 0);
}

static void draw(program *p, uint64_t seed) {
  static const int widths[] = {1, 2, 7, 16, 17, 31, 64, 65, 100}, blocks[] = {1, 4, 16, 20};
  *p = (program){.seed = seed};
  p->rows = 1 + below(p, 40);
  p->columns = widths[below(p, 9)];
  p->block = blocks[below(p, 4)];
  const int form = below(p, 3);
  if (form == 2) p->depth = 1 + below(p, DEPTH_MAX);
  p->wide = form != 2 && below(p, 3) == 0;
  if (below(p, 3) == 0) p->levels = p->wide || form == 2 || below(p, 3) == 0 ? 1 : 2 + below(p, 30);
  p->width = p->columns;
  if (p->levels == 0 && below(p, 2) == 0) p->width += below(p, p->columns < WIDEST - 40 ? 40 : WIDEST + 1 - p->columns);
  if (p->levels == 0 && below(p, 2) == 0) draw_edge(p);
  if (p->levels > 1) p->block = 4;  // the accumulator has room for two slots of two blocks
  p->scale = (4 + below(p, 57)) * (form == 2 ? 0.0001 : 0.001);
  FILE *out = fmemopen(p->text, sizeof p->text, "w");
  (form == 0 ? write_one_row : form == 1 ? write_rows : write_scores)(p, out);
  fclose(out);
}

// ---- floating point

static double score(const program *p, const run_oracle *o, int row, int column) {
  double sum = 0;
  if (p->wide) return p->scale * ((const int32_t *)o->before[0])[row * p->stride + column];
  if (p->depth == 0) return p->scale * ((const int8_t *)o->before[0])[row * p->stride + column];
  for (int l = 0; l < p->depth; l++)
    sum += ((const int8_t *)o->before[0])[row * p->depth + l] * ((const int8_t *)o->before[1])[column * p->depth + l];
  return p->scale * sum;
}

// Constants of the program come behind the kernel's tensors.
static const int8_t *results_of(const program *p, const run_oracle *o) {
  return (const int8_t *)o->after[p->depth == 0 ? 1 : 2];
}

static int length_of(const program *p, int row) {
  const int length = p->first == 0 ? p->columns : p->first + p->step * row;
  return length < p->columns ? length : p->columns;
}

static double clipped(double x) { return fmin(fmax(x, -128), 127); }

// The root is cut off to an integer, and so are the means; rows whose sums wrap, or that hardly vary, are left out.
static bool is_near_norm(const program *p, const run_oracle *o) {
  const int8_t *y = results_of(p, o);
  bool near = true;
  for (int row = 0; row < p->rows; row++) {
    double mean = 0, squares = 0;
    for (int c = 0; c < p->columns; c++) mean += score(p, o, row, c) / p->scale / p->columns;
    for (int c = 0; c < p->columns; c++) squares += pow(score(p, o, row, c) / p->scale - mean, 2);
    const double deviation = sqrt(squares / p->columns);
    if (squares > 1e9 || deviation < 4) continue;
    for (int c = 0; c < p->columns; c++) {
      const double want = p->levels * (score(p, o, row, c) / p->scale - mean) / deviation;
      near = near && fabs(y[row * p->columns + c] - clipped(want)) < 1 + (fabs(want) * 2 + 2) / deviation;
    }
  }
  return near;
}

// Exponentials are integers whose scale is rounded, too.
static bool is_near(const program *p, const run_oracle *o) {
  if (p->levels != 0) return is_near_norm(p, o);
  const int8_t *y = results_of(p, o);
  double farthest = 0;
  for (int row = 0; row < p->rows; row++) {
    double most = -INFINITY, sum = 0;
    const int length = length_of(p, row);
    for (int c = 0; c < length; c++) most = fmax(most, score(p, o, row, c));
    for (int c = 0; c < length; c++) sum += exp(score(p, o, row, c) - most);
    for (int c = 0; c < length; c++)
      farthest = fmax(farthest, fabs(y[row * p->columns + c] - 127 * exp(score(p, o, row, c) - most) / sum));
    for (int c = length; c < p->columns; c++) farthest = fmax(farthest, fabs((double)y[row * p->columns + c]));
  }
  return farthest < 0.6 + 127 * (0.01 + p->scale / 2);
}

// ---- runs

static bool holds(const void *drawn, const compile_result *compiled, const run_oracle *o) {
  (void)compiled;
  return is_near(drawn, o);
}

static bool run(const program *p, const hw_array *array, bool rtl) {
  const lang_arg args[] = {{"x_ptr", lang_type(p->wide ? LANG_INT32 : LANG_INT8)}, {"scale", lang_float(p->scale)}};
  return drawn_run(&(drawn_kernel){.file = "rows.py",
                                   .text = p->text,
                                   .seed = p->seed,
                                   .arguments = p->depth == 0 ? (lang_args){args, 2} : (lang_args){args + 1, 1},
                                   .array = array,
                                   .rtl = rtl,
                                   .holds = holds,
                                   .program = p});
}

static void test_random(void **state) {
  const drawn_options *o = *state;
  for (int i = 0; i < o->programs; i++) {
    hw_array array;
    program p;
    assert_true(drawn_array(o, i, &array));
    array.units.normaliser = true;
    draw(&p, 1000 + (uint64_t)i);
    assert_true(run(&p, &array, o->rtl));
  }
}

int main(int argc, char **argv) {
  drawn_options o = drawn_options_of(argc, argv, PROGRAMS, RTL_PROGRAMS);
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_random, &o)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
