// SPDX-License-Identifier: Apache-2.0
// Parts of the language one by one: a small kernel each, lowered, against the oracle and against its value written out.
#include "base/test.h"
#include "compiler/lang/tests/kernels.h"

#define HEAD "from weft import *\n"
#define KERNEL HEAD "@jit\ndef k(x_ptr: int8, y_ptr: int8, z_ptr: int32, M):\n"
#define BLOCK(p, at) "make_block_ptr(" p ", (64,), (1,), (" at ",), (4,), (0,))"
#define LOAD "  x = load(" BLOCK("x_ptr", "0") ")\n"

static const struct {
  const char *text;
  int programs, loops;  // loops that the block program has
} kernels[] = {
    // Branches and scalars.
    {KERNEL "  n = 3 if M > 2 and not M == 5 else 7\n  if n == 7:\n    o = 1\n  elif n == 3:\n    o = 4 * (n // 2) - "
            "-n % 2 ** 2\n"
            "  else:\n    o = 100\n  store(" BLOCK("y_ptr", "o") ", load(" BLOCK("x_ptr", "o + 1") "))\n",
     1, 0},
    // Recurrences: of a number, a pointer, a block pointer, across nested loops and behind them.
    {KERNEL "  o = 2\n  p = x_ptr\n  q = " BLOCK(
         "y_ptr",
         "0") "\n  for i in range(3):\n    for j in range(2):\n"
              "      v = load(make_block_ptr(p + o, (4,), (1,), (0,), (4,), (0,)))\n      store(q, v)\n      o += 3\n"
              "      q = advance(q, (4,))\n    p = p + 5\n  store(" BLOCK("y_ptr", "o + 10") ", v)\n",
     1, 2},
    {KERNEL "  i = +arange(0, 4)\n  store(y_ptr + i, load(x_ptr + i))\n", 1, 0},
    // Rows of softmax that end at another column in each program, of which the order is no affine one.
    {KERNEL "  p = program_id(0)\n  i = p // 2\n  m = (p + i) % 2\n  j = arange(0, 8)\n"
            "  x = where(j <= m * 2 + i, load(x_ptr + (i * 2 + m) * 8 + j), float(\"-inf\"))\n"
            "  e = exp((x - max(x, axis=0)) * 0.03)\n"
            "  store(y_ptr + (i * 2 + m) * 8 + j, (e / sum(e, axis=0) * 127).to(int8))\n",
     4, 2},
    // Downwards, and the variable behind the loop.
    {KERNEL "  for i in range(12, 0, -4):\n    store(" BLOCK("y_ptr", "i") ", load(" BLOCK(
         "x_ptr", "12 - i") "))\n"
                            "  store(" BLOCK("y_ptr", "i * 8") ", load(" BLOCK("x_ptr", "i") "))\n",
     1, 1},
    // static_range: a loop where it is affine, copies where it is not.
    {KERNEL "  for i in static_range(3):\n    store(" BLOCK("y_ptr", "i * 4") ", load(" BLOCK("x_ptr", "i") "))\n", 1,
     1},
    {KERNEL "  o = 0\n  for i in static_range(4):\n    if i != 2:\n      o = i * i * 4\n    store(" BLOCK(
         "y_ptr", "o") ", load(" BLOCK("x_ptr", "i") "))\n",
     1, 0},
    {KERNEL "  for r in static_range(2):\n    for s in static_range(2):\n      if s == 0:\n        store(" BLOCK(
         "y_ptr", "r * 8") ", load(" BLOCK("x_ptr", "r + s") "))\n",
     1, 1},
    // A block that is carried and shared: the loop must not change the other one.
    {KERNEL LOAD "  y = x\n  for i in range(3):\n    y = maximum(y, load(" BLOCK(
         "x_ptr", "4 + i * 4") "))\n"
                               "  store(" BLOCK("y_ptr", "0") ", x)\n  store(" BLOCK("y_ptr", "4") ", y)\n",
     1, 1},
    // Two blocks that change places each time.
    {KERNEL LOAD
     "  y = load(" BLOCK("x_ptr", "8") ")\n  for i in range(5):\n    t = x\n    x = y\n    y = maximum(t, load(" BLOCK(
         "x_ptr", "12 + i") "))\n"
                            "  store(" BLOCK("y_ptr", "0") ", x)\n  store(" BLOCK("y_ptr", "4") ", y)\n",
     1, 1},
    {KERNEL LOAD
     "  for i in range(3):\n    store(" BLOCK("y_ptr", "i * 4") ", x)\n    x = load(" BLOCK("x_ptr", "4 + i * 4") ")\n",
     1, 1},
    // The same with the names in the other order, and a third one that is used behind the loop.
    {KERNEL "  y = load(" BLOCK(
         "x_ptr", "8") ")\n  t = y\n" LOAD
                       "  for i in range(5):\n    t = x\n    x = y\n    y = maximum(t, load(" BLOCK(
                           "x_ptr", "12 + i") "))\n"
                                              "  store(" BLOCK("y_ptr", "0") ", x)\n  store(" BLOCK(
                                                  "y_ptr", "4") ", y)\n  store(" BLOCK("y_ptr", "8") ", t)\n",
     1, 1},
    {KERNEL LOAD "  for i in range(3):\n    t = x\n    x = maximum(x, load(" BLOCK(
         "x_ptr", "4 + i * 4") "))\n"
                               "  store(" BLOCK("y_ptr", "0") ", x)\n  store(" BLOCK("y_ptr", "4") ", t)\n",
     1, 1},
    // Arithmetic: types, numbers on either side, negation, wrapping, saturation.
    {KERNEL LOAD "  z = x * x * 1000000 - x + 7\n  store(" BLOCK("z_ptr", "0") ", z)\n  store(" BLOCK(
         "z_ptr",
         "4") ", 5 - z)\n"
              "  store(" BLOCK("z_ptr", "8") ", -x)\n  store(" BLOCK(
                  "y_ptr",
                  "0") ", z.to(int8))\n"
                       "  store(" BLOCK("y_ptr", "4") ", (x * 0.37 + 1.5).to(int8))\n  store(" BLOCK(
                           "z_ptr",
                           "12") ", (x * 3e8).to(int32))\n"
                                 "  store(" BLOCK("y_ptr", "8") ", minimum(maximum(x, -20), 30))\n  store(" BLOCK(
                                     "z_ptr",
                                     "16") ", maximum(x, 1000))\n"
                                           "  store(" BLOCK(
                                               "y_ptr",
                                               "12") ", (2.5 - x.to(float32)).to(int8))\n  "
                                                     "store(" BLOCK(
                                                         "z_ptr",
                                                         "20") ", x + x.to(int32))\n"
                                                               "  store(" BLOCK(
                                                                   "y_ptr",
                                                                   "16") ", full((4,), -3, "
                                                                         "int8))\n  "
                                                                         "store(" BLOCK(
                                                                             "y_"
                                                                             "ptr",
                                                                             "20") ", (0.5 * x - 0.25 * z).to(int8))\n",
     1, 0},
    // Functions: defaults, names, blocks as arguments that must stay as they are, tuples as results.
    {HEAD "@jit\ndef both(v, w=2, s: constexpr = 1):\n  v = v + w\n  return v, v * s\n"
          "@jit\ndef k(x_ptr: int8, z_ptr: int32, M):\n" LOAD "  a = x + 0\n  b, c = both(a, s=3)\n  t = both(a, 5)\n"
          "  store(" BLOCK("z_ptr", "0") ", a)\n  store(" BLOCK("z_ptr", "4") ", b)\n  store(" BLOCK(
              "z_ptr", "8") ", c)\n  store(" BLOCK("z_ptr", "12") ", t[-1])\n",
     1, 0},
    // Types as values: of a parameter, by default, in conditions.
    {HEAD "@jit\ndef wide(v, as_type=int32):\n  return v.to(as_type)\n"
          "@jit\ndef k(x_ptr: int8, z_ptr: out, M, out: constexpr = int32):\n" LOAD
          "  if out == int32 and out != int8:\n    x = wide(x) * 1000\n  store(" BLOCK("z_ptr", "0") ", x.to(out))\n",
     1, 0},
    // Broadcasting in both directions, None in front and behind.
    {KERNEL
     "  r = load(make_block_ptr(x_ptr, (5,), (1,), (0,), (5,), (0,)))\n  c = load(make_block_ptr(x_ptr, (3,), (5,), "
     "(1,), (3,), (0,)), boundary_check=(0,))\n"
     "  z = r[None, :] * c[:, None] + r\n  store(make_block_ptr(z_ptr, (3, 5), (5, 1), (0, 0), (3, 5), (1, 0)), z)\n",
     1, 0},
    // Reshapes around a product: rows of an image are rows of a matrix and back, with a bias and an addend in between.
    {HEAD "@jit\ndef k(x_ptr: int8, w_ptr: int8, b_ptr: int32, r_ptr: int8, y_ptr: int8, M):\n  x = "
          "load(make_block_ptr(x_ptr, (2, 3, 5, 4), (60, 20, 4, 1), (0, 0, 0, 0), (2, 3, 5, 4), (3, 2, 1, 0)))\n"
          "  w = load(make_block_ptr(w_ptr, (4, 6), (6, 1), (0, 0), (4, 6), (1, 0)))\n  b = load(make_block_ptr(b_ptr, "
          "(6,), (1,), (0,), (6,), (0,)))\n"
          "  r = load(make_block_ptr(r_ptr, (2, 3, 5, 6), (90, 30, 6, 1), (0, 0, 0, 0), (2, 3, 5, 6), (3, 2, 1, 0)))\n"
          "  acc = zeros((30, 6), int32)\n  acc += dot(reshape(x, (30, 4)), w)\n  acc = acc + b[None, :]\n  acc += "
          "r.reshape(30, 6)\n"
          "  y = make_block_ptr(y_ptr, (2, 3, 5, 6), (90, 30, 6, 1), (0, 0, 0, 0), (2, 3, 5, 6), (3, 2, 1, 0))\n"
          "  store(y, reshape((acc * 0.01).to(int8), (2, 3, 5, 6)))\n",
     1, 0},
    // Grids: swizzled, with a program id that is not used for anything, three axes.
    {KERNEL "  p = program_id(0)\n  i = p % 3\n  j = p // 3\n  store(" BLOCK(
         "y_ptr", "(i * 2 + j) * 4") ", load(" BLOCK("x_ptr", "i * 4 + j") "))\n",
     6, 2},
    // One offset for both coordinates in some places, each by itself in others.
    {KERNEL "  p = program_id(0)\n  i = p // 2\n  j = p % 2\n  a = load(" BLOCK(
         "x_ptr", "i * 7 + j") ")\n"
                               "  b = load(" BLOCK("x_ptr", "j * 3") ")\n  store(" BLOCK(
                                   "y_ptr", "i * 8 + j * 4") ", maximum(a, b))\n",
     6, 2},
    // In place.
    {KERNEL "  p = program_id(0) * 4\n  q = " BLOCK("y_ptr", "p") "\n  store(q, maximum(load(q), load(" BLOCK(
         "x_ptr", "p") ")))\n",
     4, 1},
    // An unused load, and a loop that does nothing.
    {KERNEL LOAD "  w = load(" BLOCK("x_ptr", "9") ")\n  for i in range(4):\n    w = load(" BLOCK(
         "x_ptr", "i") ")\n  store(" BLOCK("y_ptr", "0") ", x)\n",
     1, 0},
};

static void test_features(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    wf_diag diag = wf_diag_to(stderr);
    lang_file *file = lang_parse("feature.py", kernels[i].text, strlen(kernels[i].text), &diag);
    assert_non_null(file);
    kernel_case c = open_instance(file, "k", "M=3", kernels[i].programs, (uint32_t)i + 1);
    if (!block_verify(c.program, &diag) || used_loops(c.program->body) != kernels[i].loops) {
      block_print(c.program, stderr);
      fail_msg("%s", kernels[i].text);
    }
    assert_true(agrees(&c));
    close_kernel(&c);
  }
}

// The published form of a GEMM, both configurations, with and without its activation; transposed by strides.
static void test_grouped_matmul(void **state) {
  (void)state;
  static const char *const args[] = {
      "M=100,N=70,K=65,stride_am=65,stride_ak=1,stride_bk=70,stride_bn=1,stride_cm=70,stride_cn=1,ACTIVATION=",
      "M=49,N=91,K=17,stride_am=1,stride_ak=49,stride_bk=1,stride_bn=17,stride_cm=91,stride_cn=1,ACTIVATION=leaky_relu",
  };
  for (int i = 0; i < 4; i++) {
    wf_diag diag = wf_diag_to(stderr);
    lang_file *file = lang_load(GROUPED_MATMUL, &diag);
    assert_non_null(file);
    const lang_kernel *kernel = lang_find_kernel(file, "matmul_kernel", &diag);
    assert_int_equal(kernel->config_count, 2);
    char text[300];
    const lang_config *config = &kernel->configs[i / 2];
    int length = snprintf(text, sizeof text, "%s", args[i % 2]);
    for (int v = 0; v < config->value_count; v++)
      length += snprintf(text + length, sizeof text - (size_t)length, ",%s=%d", config->values[v].name,
                         (int)config->values[v].value.integer);
    kernel_case c = open_instance(file, "matmul_kernel", text, 0, (uint32_t)i);
    assert_true(block_verify(c.program, &diag));
    assert_int_equal(used_loops(c.program->body), 3);
    assert_true(agrees(&c));
    close_kernel(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_features),
      cmocka_unit_test(test_grouped_matmul),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
