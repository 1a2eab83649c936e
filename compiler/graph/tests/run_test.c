// SPDX-License-Identifier: Apache-2.0
// The interpreter on graphs written as text: Q operators against values worked out by hand and against loops over
// indices, observers, memory, folding. Operators of ONNX are tested with the published node tests
// (compiler/onnx/tests).
#include "compiler/graph/run.h"

#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/kernels.h"

static graph *parse(const char *text) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = graph_parse("test", text, strlen(text), &diag);
  assert_non_null(g);
  assert_true(graph_verify(g, &diag));
  return g;
}

// Runs a graph of one input and one output and compares the bytes.
static void expect(const char *text, const void *input, const void *expected) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = parse(text);
  size_t bytes = graph_bytes(&g->tensors[g->outputs[0]]);
  void *result = wf_alloc(bytes, 1);
  assert_true(graph_run(g, (const void *[]){input}, (void *[]){result}, NULL, &diag));
  assert_memory_equal(result, expected, bytes);
  wf_free(result);
  graph_destroy(g);
}

static void rounds_and_saturates(void **state) {
  (void)state;
  // halves go to even; 200 saturates
  expect("graph g\ninput x f32[6]\nnode n Quantize(x) -> y i8[6] {scale = 2.0, zero = 1}\noutput y\n",
         (const float[]){1.0f, 3.0f, -1.0f, -5.0f, 400.0f, -400.0f}, (const int8_t[]){1, 3, 1, -1, 127, -128});
  expect("graph g\ninput x i8[3]\nnode n Dequantize(x) -> y f32[3] {scale = 0.5, zero = -1}\noutput y\n",
         (const int8_t[]){-1, 0, 127}, (const float[]){0.0f, 0.5f, 64.0f});
  expect(
      "graph g\ninput x i32[2, 2]\nconstant s f32[2] = [0.5, 0.25]\n"
      "node n Requantize(x, s) -> y i8[2, 2] {zero = 3}\noutput y\n",
      (const int32_t[]){1, 2, 3, -10}, (const int8_t[]){3, 3, 5, 1});
  expect(
      "graph g\ninput x i8[4]\nconstant b i8[4] = [100, -100, 3, -4]\n"
      "node n QAdd(x, b) -> y i8[4] {scale_a = 0.5, scale_b = 1.0, relu = 1}\noutput y\n",
      (const int8_t[]){127, -128, 3, 7}, (const int8_t[]){127, 0, 5, 0});
  expect(  // b is repeated
      "graph g\ninput x i8[2, 2]\nconstant b i8[1, 2] = [2, -7]\n"
      "node n QAdd(x, b) -> y i8[2, 2]\noutput y\n",
      (const int8_t[]){127, -128, 3, 7}, (const int8_t[]){127, -128, 5, 0});
}

// Ramps from 0 to 127, their sum, its rounding and saturation.
static void curves_of_bytes(void **state) {
  (void)state;
  expect(
      "graph g\ninput x i8[6]\n"
      "node n QCurve(x) -> y i8[6] {slopes = [1, -2], starts = [10, -100], weights = [2, -3], offset = 7, "
      "scale = 0.5}\noutput y\n",
      (const int8_t[]){-128, -60, -11, -10, 0, 127}, (const int8_t[]){-128, -26, 4, 4, 14, 127});
  expect(
      "graph g\ninput x i8[2]\nnode n QCurve(x) -> y i8[2] {slopes = [12], starts = [0], weights = [-1], "
      "scale = 1.0}\noutput y\n",
      (const int8_t[]){10, 11}, (const int8_t[]){-120, -127});
}

static void multiplies_bytes(void **state) {
  (void)state;
  expect(  // halves go to the even number; the ends saturate
      "graph g\ninput x i8[4]\nconstant b i8[4] = [1, -1, 127, -128]\n"
      "node n QMul(x, b) -> y i8[4] {scale = 0.5}\noutput y\n",
      (const int8_t[]){5, 7, 127, 127}, (const int8_t[]){2, -4, 127, -128});
  expect(  // a gate: one factor per channel and image
      "graph g\ninput x i8[2, 1, 2, 2]\nconstant b i8[2, 1, 1, 2] = [1, 2, 3, 4]\n"
      "node n QMul(x, b) -> y i8[2, 1, 2, 2]\noutput y\n",
      (const int8_t[]){1, 1, 2, 2, 3, 3, 4, 4}, (const int8_t[]){1, 2, 2, 4, 9, 12, 12, 16});
}

// A table of 9 for the odd columns and 3 for the even ones: shares of the sum, without those of masked columns.
static void shares_sums_of_exponentials(void **state) {
  (void)state;
  char text[8192], *at = text;
  at += sprintf(at, "graph g\ninput x i8[2, 3]\nconstant t u8[8, 256] = hex \"");
  for (int i = 0; i < 8 * 256; i++) at += sprintf(at, "%02x", i / 256 % 2 == 0 ? 3 : 9);
  sprintf(at,
          "\"\nconstant m i8[2, 3] = [1, 1, 1, 1, 1, 0]\nnode n QSoftmax(x, t, m) -> y i8[2, 3] {scale = 150.0}\n"
          "output y\n");
  // 150 / 15 = 10: 160 / 2^4; 150 / 12 = 12.5: 200 / 2^4
  expect(text, (const int8_t[]){5, -128, 127, 0, -1, 127}, (const int8_t[]){30, 90, 30, 38, 113, 0});
}

static void transposes_and_pads_at_the_ends(void **state) {
  (void)state;
  expect(
      "graph g\ninput x f32[1, 2, 1, 2]\nnode n Quantize(x) -> y i8[1, 1, 3, 2] {scale = 1.0, zero = 5, perm = [0, 2, "
      "3, 1], "
      "pads = [0, 0, 0, 0, 0, 0, 1, 0]}\noutput y\n",
      (const float[]){1, 2, 3, 4}, (const int8_t[]){6, 8, 7, 9, 5, 5});
  expect("graph g\ninput x i8[2, 2]\nnode n Dequantize(x) -> y f32[2, 2] {scale = 1.0, perm = [1, 0]}\noutput y\n",
         (const int8_t[]){1, 2, 3, 4}, (const float[]){1, 3, 2, 4});
}

// ---- QConv against seven loops

typedef struct layer {
  int h, w, c, r, s, k, groups, stride, pad[4], dilation, factor, pool;
  bool relu;
} layer;

static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u; }

static void draw(int8_t *to, size_t count, uint32_t *seed) {
  for (size_t i = 0; i < count; i++) to[i] = (int8_t)(next(seed) >> 24);
}

static int saturate(double value) { return value > 127 ? 127 : value < -128 ? -128 : (int)value; }

static int pixel(const layer *l, const int8_t *x, const int8_t *w, const int8_t *residual, int p, int q, int q_count,
                 int k) {
  int channels = l->c / l->groups, group = k / (l->k / l->groups), sum = 7 * k - 20;
  for (int r = 0; r < l->r; r++)
    for (int s = 0; s < l->s; s++)
      for (int c = 0; c < channels; c++) {
        int row = p * l->stride - l->pad[0] + r * l->dilation, column = q * l->stride - l->pad[1] + s * l->dilation;
        if (row < 0 || row >= l->h || column < 0 || column >= l->w) continue;
        sum += x[(row * l->w + column) * l->c + group * channels + c] * w[((r * l->s + s) * channels + c) * l->k + k];
      }
  sum += l->factor * residual[(p * q_count + q) * l->k + k];
  if (l->relu && sum < 0) sum = 0;
  return saturate(rint((double)(0.0078125f * (float)sum)));
}

static int out_size(const layer *l, int size, int kernel, int before, int after) {
  return (size + before + after - (kernel - 1) * l->dilation - 1) / l->stride + 1;
}

static void check_layer(const layer *l, uint32_t *seed) {
  int p_count = out_size(l, l->h, l->r, l->pad[0], l->pad[2]), q_count = out_size(l, l->w, l->s, l->pad[1], l->pad[3]);
  int pooled_p = l->pool != 0 ? p_count / 2 + 1 : p_count, pooled_q = l->pool != 0 ? q_count / 2 + 1 : q_count;
  char text[2000];
  snprintf(
      text, sizeof text,
      "graph g\ninput x i8[1, %d, %d, %d]\ninput w i8[%d, %d, %d, %d]\ninput b i32[%d]\ninput res i8[1, %d, %d, %d]\n"
      "node n QConv(x, w, b, res) -> y i8[1, %d, %d, %d] {groups = %d, strides = [%d, %d], pads = [%d, %d, %d, %d], "
      "dilations = [%d, %d], factor = %d, relu = %d, scale = 0.0078125%s}\noutput y\n",
      l->h, l->w, l->c, l->r, l->s, l->c / l->groups, l->k, l->k, p_count, q_count, l->k, pooled_p, pooled_q, l->k,
      l->groups, l->stride, l->stride, l->pad[0], l->pad[1], l->pad[2], l->pad[3], l->dilation, l->dilation, l->factor,
      l->relu, l->pool != 0 ? ", pool_size = [2, 2], pool_strides = [2, 2], pool_pads = [1, 1, 1, 1]" : "");
  graph *g = parse(text);
  wf_diag diag = wf_diag_to(stderr);
  int8_t *x = wf_alloc((size_t)(l->h * l->w * l->c), 1), *w = wf_alloc((size_t)(l->r * l->s * l->c * l->k), 1);
  int8_t *residual = wf_alloc((size_t)(p_count * q_count * l->k), 1),
         *y = wf_alloc((size_t)(p_count * q_count * l->k) + 256, 1);
  int32_t *bias = wf_alloc((size_t)l->k, sizeof bias[0]);
  draw(x, (size_t)(l->h * l->w * l->c), seed);
  draw(w, (size_t)(l->r * l->s * l->c / l->groups * l->k), seed);
  draw(residual, (size_t)(p_count * q_count * l->k), seed);
  for (int k = 0; k < l->k; k++) bias[k] = 7 * k - 20;
  assert_true(graph_infer(g, &g->nodes[0], "test", &diag));
  const graph_tensor *result = &g->tensors[g->outputs[0]];
  assert_int_equal(result->dim[1], pooled_p);
  assert_int_equal(result->dim[2], pooled_q);
  assert_true(graph_run(g, (const void *[]){x, w, bias, residual}, (void *[]){y}, NULL, &diag));
  for (int p = 0; p < pooled_p; p++)
    for (int q = 0; q < pooled_q; q++)
      for (int k = 0; k < l->k; k++) {
        int expected = -128, first = l->pool != 0 ? 1 : 0, step = first + 1;
        for (int a = p * step - first; a <= p * step; a++)
          for (int b = q * step - first; b <= q * step; b++) {
            if (a < 0 || a >= p_count || b < 0 || b >= q_count) continue;
            int value = pixel(l, x, w, residual, a, b, q_count, k);
            if (value > expected) expected = value;
          }
        assert_int_equal(y[(p * pooled_q + q) * l->k + k], expected);
      }
  wf_free(x);
  wf_free(w);
  wf_free(residual);
  wf_free(y);
  wf_free(bias);
  graph_destroy(g);
}

static void convolves(void **state) {
  (void)state;
  static const layer layers[] = {
      {.h = 6,
       .w = 7,
       .c = 5,
       .r = 3,
       .s = 2,
       .k = 9,
       .groups = 1,
       .stride = 1,
       .pad = {1, 0, 2, 1},
       .dilation = 1,
       .factor = 1},
      {.h = 9,
       .w = 8,
       .c = 4,
       .r = 3,
       .s = 3,
       .k = 6,
       .groups = 2,
       .stride = 2,
       .pad = {1, 1, 1, 1},
       .dilation = 2,
       .factor = 3,
       .relu = true},
      {.h = 5,
       .w = 5,
       .c = 8,
       .r = 3,
       .s = 3,
       .k = 8,
       .groups = 8,
       .stride = 1,
       .pad = {1, 1, 1, 1},
       .dilation = 1,
       .factor = 1},
      {.h = 8,
       .w = 8,
       .c = 3,
       .r = 1,
       .s = 1,
       .k = 33,
       .groups = 1,
       .stride = 1,
       .pad = {0, 0, 0, 0},
       .dilation = 1,
       .factor = 2},
      {.h = 8,
       .w = 6,
       .c = 16,
       .r = 3,
       .s = 3,
       .k = 5,
       .groups = 1,
       .stride = 1,
       .pad = {1, 1, 1, 1},
       .dilation = 1,
       .factor = 1,
       .pool = 1},
  };
  uint32_t seed = 1;
  for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) check_layer(&layers[i], &seed);
}

// Rounding of sums: halves, limits, infinities.
static void scales(void **state) {
  (void)state;
  enum { COUNT = 1031 };
  static const float factors[] = {0.5f, 0.25f, 1.0f, 0.1f, 1e-9f, 1e9f, 0.0078125f, INFINITY, NAN, 0.0f};
  int32_t sums[COUNT];
  int8_t bytes[COUNT];
  uint32_t seed = 9;
  for (int i = 0; i < COUNT; i++) sums[i] = i < 1000 ? i - 500 : (int32_t)next(&seed);
  sums[COUNT - 1] = INT32_MIN;
  sums[COUNT - 2] = INT32_MAX;
  for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++) {
    graph_kernel_scale(COUNT, sums, factors[f], bytes);
    for (int i = 0; i < COUNT; i++) {
      float value = factors[f] * (float)sums[i];
      assert_int_equal(bytes[i], isnan(value) ? 0 : saturate((double)rintf(value)));
    }
  }
}

// A batch of products with one right side, transposed; wraps modulo 2^32 without a scale.
static void multiplies(void **state) {
  (void)state;
  expect(
      "graph g\ninput a i8[2, 1, 2]\nconstant b i8[2, 2] = [1, 2, 3, 4]\nconstant bias i32[2] = [2147483647, -1]\n"
      "node n QMatMul(a, b, bias) -> y i32[2, 1, 2] {transB = 1}\noutput y\n",
      (const int8_t[]){1, 1, -1, 0}, (const int32_t[]){(int32_t)(2147483647u + 3u), 6, 2147483646, -4});
  expect(
      "graph g\ninput a i8[1, 3]\nconstant b i8[3, 2] = [1, 2, 3, 4, 5, 6]\nconstant r i8[1, 2] = [10, -100]\n"
      "node n QMatMul(a, b, _, r) -> y i8[1, 2] {scale = 0.5, factor = 2, relu = 1}\noutput y\n",
      (const int8_t[]){1, 2, 3}, (const int8_t[]){21, 0});
}

static void pools(void **state) {
  (void)state;
  expect(
      "graph g\ninput x i8[1, 2, 2, 1]\nnode n QMaxPool(x) -> y i8[1, 2, 2, 1] {kernel_shape = [2, 2], strides = [2, "
      "2], "
      "pads = [1, 1, 1, 1]}\noutput y\n",
      (const int8_t[]){-5, -6, -7, -8}, (const int8_t[]){-5, -6, -7, -8});
  expect("graph g\ninput x i8[1, 2, 2, 1]\nnode n QGlobalAveragePool(x) -> y i8[1, 1, 1, 1] {scale = 0.25}\noutput y\n",
         (const int8_t[]){1, 2, 3, 4}, (const int8_t[]){2});
  expect(
      "graph g\ninput x i8[1, 2, 2, 1]\nnode n QAveragePool(x) -> y i8[1, 1, 2, 1] {kernel_shape = [2, 1], scale = "
      "0.5}\n"
      "output y\n",
      (const int8_t[]){1, 2, 3, 5}, (const int8_t[]){2, 4});
  // Where the largest is, without what it is.
  expect(
      "graph g\ninput x i8[1, 1, 2, 2]\nnode n MaxPool(x) -> _, at i64[1, 1, 1, 1] {kernel_shape = [2, 2]}\noutput "
      "at\n",
      (const int8_t[]){-5, -6, 7, 1}, (const int64_t[]){2});
}

// ---- products of f32 against binary64

static void multiplies_reals(void **state) {
  (void)state;
  static const int sizes[][3] = {{1, 1, 1}, {5, 17, 300}, {4, 16, 256}, {33, 40, 7}, {2, 50, 513}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    int m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
    char text[200];
    snprintf(text, sizeof text,
             "graph g\ninput a f32[%d, %d]\ninput b f32[%d, %d]\nnode n MatMul(a, b) -> y f32[%d, %d]\noutput y\n", m,
             k, k, n, m, n);
    graph *g = parse(text);
    wf_diag diag = wf_diag_to(stderr);
    float *a = wf_alloc((size_t)(m * k), sizeof a[0]), *b = wf_alloc((size_t)(k * n), sizeof b[0]);
    float *y = wf_alloc((size_t)(m * n), sizeof y[0]);
    uint32_t seed = 5;
    for (int e = 0; e < m * k; e++) a[e] = (float)(int32_t)next(&seed) * 0x1p-31f;
    for (int e = 0; e < k * n; e++) b[e] = (float)(int32_t)next(&seed) * 0x1p-31f;
    assert_true(graph_run(g, (const void *[]){a, b}, (void *[]){y}, NULL, &diag));
    for (int r = 0; r < m; r++)
      for (int c = 0; c < n; c++) {
        double sum = 0;
        for (int e = 0; e < k; e++) sum += (double)a[r * k + e] * (double)b[e * n + c];
        assert_true(fabs(sum - (double)y[r * n + c]) < 1e-4);
      }
    wf_free(a);
    wf_free(b);
    wf_free(y);
    graph_destroy(g);
  }
}

// ---- observers, memory, folding, errors

static bool observe(void *context, const graph *g, const graph_node *node, void *const *values) {
  int *seen = context;
  float *result = values[node->outputs[0]];
  assert_non_null(result);
  if (strcmp(node->name, "second") == 0) {
    assert_non_null(values[graph_find_tensor(g, "y")]);
    result[0] = 100;
  }
  if (strcmp(node->name, "third") == 0) assert_null(values[graph_find_tensor(g, "y")]);
  return ++*seen != 9;
}

static const char chain[] =
    "graph g\ninput x f32[1]\nnode first Relu(x) -> y f32[1]\nnode second Neg(y) -> z f32[1]\nnode third Neg(z) -> w "
    "f32[1]\noutput w\n";

static void shows_every_node(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  graph *g = parse(chain);
  int seen = 0;
  float y;
  const graph_run_options options = {.after = observe, .context = &seen};
  assert_true(graph_run(g, (const void *[]){&(float){1}}, (void *[]){&y}, &options, &diag));
  assert_int_equal(seen, 3);
  assert_true(y == -100);
  seen = 7;  // the observer stops at 9
  assert_false(graph_run(g, (const void *[]){&(float){1}}, (void *[]){&y}, &options, &diag));
  assert_int_equal(seen, 9);
  graph_destroy(g);
}

static void folds(void **state) {
  (void)state;
  graph *g = parse(
      "graph g\ninput x f32[2]\nconstant a f32[2] = [1.0, 2.0]\nnode n Neg(a) -> b f32[2]\nnode m Mul(b, a) -> c "
      "f32[2]\n"
      "node o Add(x, c) -> y f32[2]\nnode unused Relu(x) -> z f32[2]\noutput y\n");
  assert_int_equal(graph_fold(g, 4), 0);
  assert_int_equal(graph_fold(g, 1000), 2);
  graph_drop_unused(g);
  assert_int_equal(g->node_count, 1);
  assert_true(((const float *)g->tensors[graph_find_tensor(g, "c")].data)[1] == -4);
  graph_destroy(g);
}

static void reports_bad_data(void **state) {
  (void)state;
  char *message;
  size_t length;
  FILE *out = open_memstream(&message, &length);
  wf_diag diag = wf_diag_to(out);
  graph *g =
      parse("graph g\ninput i i64[1]\nconstant x f32[2] = [1.0, 2.0]\nnode pick Gather(x, i) -> y f32[1]\noutput y\n");
  float y;
  const graph_run_options options = {.file = "net.onnx"};
  assert_true(graph_run(g, (const void *[]){&(int64_t){-2}}, (void *[]){&y}, &options, &diag));
  assert_true(y == 1);
  assert_false(graph_run(g, (const void *[]){&(int64_t){2}}, (void *[]){&y}, &options, &diag));
  fclose(out);
  assert_string_equal(message, "net.onnx: error: node 'pick' (Gather): index 2 is outside of 2\n");
  free(message);
  graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_and_saturates),
      cmocka_unit_test(multiplies_bytes),
      cmocka_unit_test(shares_sums_of_exponentials),
      cmocka_unit_test(curves_of_bytes),
      cmocka_unit_test(transposes_and_pads_at_the_ends),
      cmocka_unit_test(convolves),
      cmocka_unit_test(multiplies),
      cmocka_unit_test(scales),
      cmocka_unit_test(pools),
      cmocka_unit_test(multiplies_reals),
      cmocka_unit_test(shows_every_node),
      cmocka_unit_test(folds),
      cmocka_unit_test(reports_bad_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
