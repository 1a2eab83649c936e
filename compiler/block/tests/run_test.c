// SPDX-License-Identifier: Apache-2.0
// The meaning of block programs: each program's results against sums written out here.
#include "base/test.h"
#include "compiler/block/block.h"

static block_program *parsed(const char *text) {
  wf_diag diag = wf_diag_to(stderr);
  block_program *program = block_parse("test", text, strlen(text), &diag);
  assert_non_null(program);
  return program;
}

static void run(const char *text, void *const *tensors) {
  wf_diag diag = wf_diag_to(stderr);
  block_program *program = parsed(text);
  assert_true(block_run(program, tensors, &diag));
  block_destroy(program);
}

static void fill(int8_t *values, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; i++) values[i] = (int8_t)((seed = seed * 1103515245U + 12345U) >> 20);
}

static int8_t narrow(int32_t value, double scale) {
  double scaled = (double)((float)value * (float)scale),
         floor_of = scaled < 0 ? -(double)(int64_t)-scaled : (double)(int64_t)scaled;
  double rest = scaled - floor_of;
  if (rest > 0.5 || (rest == 0.5 && (int64_t)floor_of % 2 != 0)) floor_of += 1;
  if (rest < -0.5 || (rest == -0.5 && (int64_t)floor_of % 2 != 0)) floor_of -= 1;
  return (int8_t)(floor_of > 127 ? 127 : floor_of < -128 ? -128 : floor_of);
}

// 5 x 7 x 6 in blocks of 2 x 4 x 4, rows in a split loop.
static const char gemm_text[] =
    "program gemm\n"
    "tensor a i8[30] read\ntensor b i8[42] read\ntensor bias i32[7] read\ntensor c i8[35] write\n"
    "loop m 2 parallel dim P\nloop m_in 2 parallel dim P split m limit 3\nloop n 2 parallel dim K\nloop k 2 dim C\n"
    "buffer at i8[2, 4]\nbuffer bt i8[4, 4]\nbuffer sum i32[2, 4]\n"
    "for m {\nfor m_in {\nfor n {\n"
    "%s\n"
    "for k {\n"
    "load at = a[m*4+m_in*2:2 of 5 stride 6, k*4:4 of 6 stride 1]\n"
    "load bt = b[%s]\n"
    "dot sum %s\n"
    "}\n"
    "load sum += bias[0:2 of 2 stride 0, n*4:4 of 7 stride 1]\n"
    "store c[m*4+m_in*2:2 of 5 stride 7, n*4:4 of 7 stride 1] = sum relu scale 0.015625\n"
    "}\n}\n}\n";

static const struct {
  const char *before, *b, *dot;
  bool transposed;
} gemms[] = {
    {"copy sum = 0", "k*4:4 of 6 stride 7, n*4:4 of 7 stride 1", "+= at * bt", false},
    {"", "k*4:4 of 6 stride 7, n*4:4 of 7 stride 1", "= at * bt sum_over k", false},
    {"", "n*4:4 of 7 stride 6, k*4:4 of 6 stride 1", "= at * bt.T sum_over k", true},
};

static void products_are_sums(void **state) {
  (void)state;
  int8_t a[30], b[42], c[35];
  int32_t bias[7] = {3, -200, 1000, 0, 5000, -70000, 17};
  fill(a, sizeof a, 1);
  fill(b, sizeof b, 2);
  for (size_t g = 0; g < sizeof gemms / sizeof *gemms; g++) {
    char text[2048];
    snprintf(text, sizeof text, gemm_text, gemms[g].before, gemms[g].b, gemms[g].dot);
    run(text, (void *[]){a, b, bias, c});
    for (int m = 0; m < 5; m++)
      for (int n = 0; n < 7; n++) {
        int32_t sum = bias[n];
        for (int k = 0; k < 6; k++) sum += a[m * 6 + k] * (gemms[g].transposed ? b[n * 6 + k] : b[k * 7 + n]);
        assert_int_equal(c[m * 7 + n], narrow(sum < 0 ? 0 : sum, 0.015625));
      }
  }
}

// What leaves is multiplied where it is stored, with padding beside it.
static void gates_multiply_what_leaves(void **state) {
  (void)state;
  int8_t x[15], z[15], y[15];
  fill(x, sizeof x, 5);
  fill(z, sizeof z, 6);
  memset(y, 0, sizeof y);
  run("program gate\ntensor x i8[15] read\ntensor z i8[15] read\ntensor y i8[15] write\n"
      "loop i 2 parallel dim P\nbuffer sum i32[2, 4]\nbuffer by i8[2, 4]\nfor i {\n"
      "load sum = x[i*2:2 of 3 stride 5, 0:4 of 5 stride 1]\nload by = z[i*2:2 of 3 stride 5, 0:4 of 5 stride 1]\n"
      "store y[i*2:2 of 3 stride 5, 0:4 of 5 stride 1] = sum relu scale 1.5 gate by scale 0.0625\n}\n",
      (void *[]){x, z, y});
  for (int i = 0; i < 15; i++)
    assert_int_equal(y[i], i % 5 == 4 ? 0 : narrow(narrow(x[i] < 0 ? 0 : x[i], 1.5) * z[i], 0.0625));
}

// A 3 x 3 convolution with stride 2 and padding, read from one window, pooled; 2 channels to 3.
static void convolution_and_pooling(void **state) {
  (void)state;
  int8_t x[9 * 9 * 2], w[3 * 3 * 2 * 3], y[3 * 3 * 3], middle[5 * 5 * 3];
  fill(x, sizeof x, 3);
  fill(w, sizeof w, 4);
  run("program conv\n"
      "tensor x i8[162] read\ntensor w i8[54] read\ntensor y i8[27] write\n"
      "loop r 3 dim R\nloop s 3 dim S\n"
      "buffer window i8[1, 11, 11, 2]\nbuffer weights i8[3, 3, 2, 3]\nbuffer sum i32[1, 5, 5, 3]\n"
      "load window = x[0:1 of 1 stride 162, -1:11 of 9 stride 18, -1:11 of 9 stride 2, 0:2 of 2 stride 1]\n"
      "load weights = w[0:3 of 3 stride 18, 0:3 of 3 stride 6, 0:2 of 2 stride 3, 0:3 of 3 stride 1]\n"
      "for r {\nfor s {\n"
      "dot sum = window[0:1, r:5 step 2, s:5 step 2, 0:2] * weights[r:1, s:1, 0:2, 0:3] sum_over r, s\n"
      "}\n}\n"
      "store y[0:1 of 1 stride 27, 0:3 of 3 stride 9, 0:3 of 3 stride 3, 0:3 of 3 stride 1] = sum scale 0.01 pool 3 "
      "stride 2 pad 1 1\n",
      (void *[]){x, w, y});
  for (int p = 0; p < 5; p++)
    for (int q = 0; q < 5; q++)
      for (int n = 0; n < 3; n++) {
        int32_t sum = 0;
        for (int i = 0; i < 18; i++) {
          int row = 2 * p - 1 + i / 6, column = 2 * q - 1 + i / 2 % 3;
          if (row >= 0 && row < 9 && column >= 0 && column < 9) sum += x[(row * 9 + column) * 2 + i % 2] * w[i * 3 + n];
        }
        middle[(p * 5 + q) * 3 + n] = narrow(sum, 0.01);
      }
  for (int p = 0; p < 3; p++)
    for (int q = 0; q < 3; q++)
      for (int n = 0; n < 3; n++) {
        int best = -128;
        for (int i = 0; i < 9; i++) {
          int row = 2 * p - 1 + i / 3, column = 2 * q - 1 + i % 3;
          bool inside = row >= 0 && row < 5 && column >= 0 && column < 5;
          int value = inside ? middle[(row * 5 + column) * 3 + n] : 0;
          if (value > best) best = value;
        }
        assert_int_equal(y[(p * 3 + q) * 3 + n], best);
      }
}

// Windows of the first results reach before the image: what the block has there counts as zero.
static void pooling_from_before_the_image(void **state) {
  (void)state;
  int8_t x[36], y[4];
  for (int i = 0; i < 36; i++) x[i] = i / 6 == 0 || i % 6 == 0 ? 100 : (int8_t)(i - 30);
  run("program pool\n"
      "tensor x i8[36] read\ntensor y i8[4] write\n"
      "loop m 2 parallel\n"
      "buffer image i32[1, 3, 5, 1]\n"
      "for m {\n"
      "load image = x[0:1 of 1 stride 36, m*2:3 of 6 stride 6, 0:5 of 6 stride 1, 0:1 of 1 stride 1]\n"
      "store y[0:1 of 1 stride 4, m:1 of 2 stride 2, 0:2 of 2 stride 1, 0:1 of 1 stride 1] = image scale 1 pool 3 "
      "stride 2 border 1\n"
      "}\n",
      (void *[]){x, y});
  // Rows and columns 1 to 5 of x are the image.
  const int8_t expected[4] = {0, 0, 0, 4 * 6 + 4 - 30};
  for (int i = 0; i < 4; i++) assert_int_equal(y[i], expected[i]);
}

static void operations(void **state) {
  (void)state;
  int32_t x[6] = {-300, -1, 0, 1, 5, INT32_MAX}, y[6];
  int8_t z[6];
  run("program ops\n"
      "tensor x i32[6] read\ntensor y i32[6] write\ntensor z i8[6] write\n"
      "buffer v i32[6]\nbuffer one i32[1]\nbuffer f i32[6]\nbuffer h f32[6]\nbuffer n i8[6]\nbuffer m i8[6]\n"
      "load v = x[0:6 of 6 stride 1]\n"
      "copy one = 1\n"
      "add f = v, one\n"
      "store y[0:6 of 6 stride 1] = f\n"
      "scale h = v, 0.5\n"
      "add h = h, 0.5\n"
      "to_i8 n = h\n"
      "min n = n, 100\n"
      "max n = n, -100\n"
      "copy m = n\n"
      "store z[0:6 of 6 stride 1] = m\n",
      (void *[]){x, y, z});
  const int32_t sums[6] = {-299, 0, 1, 2, 6, INT32_MIN};
  const int8_t clipped[6] = {-100, 0, 0, 1, 3, 100};  // halves to even
  for (int i = 0; i < 6; i++) {
    assert_int_equal(y[i], sums[i]);
    assert_int_equal(z[i], clipped[i]);
  }
}

static void widening_loads_accumulate(void **state) {
  (void)state;
  int8_t x[4] = {-128, 3, 5, 127};
  int32_t y[3];
  run("program sum\n"
      "tensor x i8[4] read\ntensor y i32[3] write\n"
      "loop i 2\nbuffer v i32[3]\n"
      "for i {\nload v = x[i:3 of 4 stride 1] scale 1.5 sum_over i\n}\n"
      "store y[0:3 of 3 stride 1] = v\n",
      (void *[]){x, y});
  assert_int_equal(y[0], -128 + 4);  // 4.5 to even
  assert_int_equal(y[1], 4 + 8);     // 7.5 to even
  assert_int_equal(y[2], 8 + 127);
}

static void fails(const char *text, const char *message) {
  int8_t t[8] = {0};
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  block_program *program = parsed(text);
  assert_false(block_run(program, (void *[]){t}, &diag));
  fclose(out);
  if (strstr(messages, message) == NULL) fail_msg("%s", messages);
  free(messages);
  block_destroy(program);
}

static void wrong_programs_are_reported(void **state) {
  (void)state;
  fails("program p\ntensor t i8[8] read\nbuffer b i8[4]\nload b = t[5:4 of 9 stride 1]\n",
        "test:4:1: error: element 8 of 't', which has 8");
  fails("program p\ntensor t i8[8] write\nbuffer b i8[4]\ncopy b[0:3] = 1\nstore t[0:4 of 4 stride 1] = b\n",
        "test:5:1: error: reads elements of 'b' that nobody has written");
}

static void products_with_a_matrix_each(void **state) {
  (void)state;
  int8_t x[15];
  int32_t c[15];
  fill(x, 15, 4);
  run("program p\ntensor x i8[15] read\ntensor c i32[15] write\ntensor u i8[12] read = 2 3 5 -7 1 0 0 4 -1 9 9 9\n"
      "buffer r i8[3, 5]\nbuffer b i8[3, 2, 2]\nbuffer s i32[3, 5]\n"
      "load b = u[0:3 of 3 stride 4, 0:2 of 2 stride 2, 0:2 of 2 stride 1]\n"
      "load r = x[0:3 of 3 stride 5, 0:5 of 5 stride 1]\n"
      "dot s = r * b blocks\nstore c[0:3 of 3 stride 5, 0:5 of 5 stride 1] = s\n",
      (void *[]){x, c, NULL});
  for (int m = 0; m < 3; m++) {
    const int8_t *row = x + 5 * m;
    const int32_t want[] = {2 * row[0] + 5 * row[1], 3 * row[0] - 7 * row[1], row[2], 4 * row[3], -row[4]};
    assert_memory_equal(c + 5 * m, want, sizeof want);
  }
}

// Each block of two columns times the matrix; the last block has one column.
static void products_of_blocks(void **state) {
  (void)state;
  int8_t x[15];
  int32_t c[15];
  fill(x, 15, 3);
  run("program p\ntensor x i8[15] read\ntensor c i32[15] write\ntensor u i8[4] read = 2 3 5 -7\n"
      "buffer r i8[3, 5]\nbuffer b i8[2, 2]\nbuffer s i32[3, 5]\n"
      "load b = u[0:2 of 2 stride 2, 0:2 of 2 stride 1]\nload r = x[0:3 of 3 stride 5, 0:5 of 5 stride 1]\n"
      "dot s = r * b blocks\nstore c[0:3 of 3 stride 5, 0:5 of 5 stride 1] = s\n",
      (void *[]){x, c, NULL});
  for (int m = 0; m < 3; m++) {
    const int8_t *row = x + 5 * m;
    const int32_t want[] = {2 * row[0] + 5 * row[1], 3 * row[0] - 7 * row[1], 2 * row[2] + 5 * row[3],
                            3 * row[2] - 7 * row[3], 2 * row[4]};
    assert_memory_equal(c + 5 * m, want, sizeof want);
  }
}

// Two elements a byte, the first in the low half; indexes are of elements, and what is outside is 0.
static void packed_tensors_are_read_by_halves(void **state) {
  (void)state;
  uint8_t x[4] = {0x8f, 0x70, 0x21, 0x43};
  int8_t y[8];
  run("program p\ntensor x i8[8] read packed\ntensor y i8[8] write\nbuffer b i8[2, 4]\n"
      "load b = x[0:2 of 2 stride 4, 0:4 of 3 stride 1]\nstore y[0:2 of 2 stride 4, 0:4 of 4 stride 1] = b\n",
      (void *[]){x, y});
  static const int8_t want[8] = {-1, -8, 0, 0, 1, 2, 3, 0};
  assert_memory_equal(y, want, sizeof want);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_of_blocks),
      cmocka_unit_test(products_with_a_matrix_each),
      cmocka_unit_test(products_are_sums),
      cmocka_unit_test(gates_multiply_what_leaves),
      cmocka_unit_test(convolution_and_pooling),
      cmocka_unit_test(pooling_from_before_the_image),
      cmocka_unit_test(operations),
      cmocka_unit_test(packed_tensors_are_read_by_halves),
      cmocka_unit_test(widening_loads_accumulate),
      cmocka_unit_test(wrong_programs_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
