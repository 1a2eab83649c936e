// SPDX-License-Identifier: Apache-2.0
// Kernels with blocks of pointers and masks against the oracle, in which every index wraps and every mask decides by
// itself: random sizes, block sizes, strides, groups of programs.
#include "base/test.h"
#include "compiler/lang/tests/kernels.h"

enum { TEXT_MAX = 1024, PRODUCTS = 80, COPIES = 200 };

static int pick(uint32_t *random, const int *from, int count) { return from[next_random(random) % (uint32_t)count]; }

static void check(kernel_case c, const char *args) {
  wf_diag diag = wf_diag_to(stderr);
  if (!block_verify(c.program, &diag) || !agrees(&c)) fail_msg("%s", args);
  close_kernel(&c);
}

static void test_vectors(void **state) {
  (void)state;
  static const int sizes[] = {1, 7, 16, 63, 64, 65, 200}, blocks[] = {1, 4, 16, 64, 128};
  uint32_t random = 3;
  for (int i = 0; i < 40; i++) {
    char args[TEXT_MAX];
    snprintf(args, sizeof args, "n_elements=%d,BLOCK_SIZE=%d,x_ptr=int8,y_ptr=int8,out_ptr=int32",
             pick(&random, sizes, 7), pick(&random, blocks, 5));
    check(open_file(POINTERS "/pointer_add.py", args, random), args);
  }
}

// Rows are contiguous or apart; either operand may be transposed in memory.
static void test_products(void **state) {
  (void)state;
  static const int sizes[] = {1, 3, 16, 17, 31, 49, 64}, blocks[] = {4, 8, 16, 32};
  uint32_t random = 7;
  for (int i = 0; i < PRODUCTS; i++) {
    char args[TEXT_MAX];
    const int m = pick(&random, sizes, 7), n = pick(&random, sizes, 7), k = pick(&random, sizes, 7);
    const int pad = (int)(next_random(&random) % 3), turn_a = (int)(next_random(&random) % 2);
    const int turn_b = (int)(next_random(&random) % 2);
    snprintf(args, sizeof args,
             "a_ptr=int8,b_ptr=int8,bias_ptr=int32,c_ptr=int8,M=%d,N=%d,K=%d,stride_am=%d,stride_ak=%d,stride_bk=%d,"
             "stride_bn=%d,stride_cm=%d,stride_cn=1,BLOCK_SIZE_M=%d,BLOCK_SIZE_N=%d,BLOCK_SIZE_K=%d,GROUP_SIZE_M=%d,"
             "BIAS=%s,ACTIVATION=%s,SCALE=0.0%d",
             m, n, k, turn_a ? 1 : k + pad, turn_a ? m + pad : 1, turn_b ? 1 : n + pad, turn_b ? k + pad : 1, n + pad,
             pick(&random, blocks, 4), pick(&random, blocks, 4), pick(&random, blocks, 4),
             1 + (int)(next_random(&random) % 4), next_random(&random) % 2 ? "True" : "False",
             next_random(&random) % 2 ? "leaky_relu" : "relu", 1 + (int)(next_random(&random) % 9));
    check(open_file(POINTERS "/pointer_product.py", args, random), args);
  }
}

// Two-dimensional copies whose masks, starts and steps are drawn. A mask that is left out needs whole blocks.
static void write_copy(char *text, uint32_t *random) {
  static const int sizes[] = {1, 2, 4, 8};
  const int rows = pick(random, sizes, 4), columns = pick(random, sizes, 4),
            grid_m = 1 + (int)(next_random(random) % 3);
  const int m = rows * grid_m - (int)(next_random(random) % (uint32_t)rows);
  const int n = columns - (int)(next_random(random) % (uint32_t)columns), stride = 40 + (int)(next_random(random) % 5);
  const bool wrap = next_random(random) % 2, flip = next_random(random) % 2, whole = next_random(random) % 4 == 0;
  char mask[200] = "";
  snprintf(mask, sizeof mask,
           flip ? ", mask=(%d > i[:, None]) & (j[None, :] <= %d)" : ", mask=(i[:, None] < %d) & (j < %d)", m, n - flip);
  snprintf(text, TEXT_MAX,
           "from weft import *\n@jit\ndef k(x_ptr, z_ptr, M):\n"
           "  p = program_id(0)\n  q = p * %d\n  i = q + arange(0, %d)\n  j = arange(0, %d)\n"
           "  r = %s\n"
           "  x = load(x_ptr + 3 + r[:, None] * %d + %d * j[None, :]%s)\n"
           "  z = z_ptr + i[:, None] * 50 - -5\n  z += j[None, :]\n"
           "  store(z, maximum(x, -100)%s)\n",
           rows, rows, columns, wrap ? "i % M" : "i", stride, 1 + (int)(next_random(random) % 3),
           whole || wrap ? "" : mask, whole && !wrap ? "" : mask);
  char *m_text = text + strlen(text);
  snprintf(m_text, TEXT_MAX - strlen(text), "grid = (%d,)\n# M=%d\n", grid_m, m);
}

static void test_copies(void **state) {
  (void)state;
  uint32_t random = 11;
  for (int i = 0; i < COPIES; i++) {
    char text[TEXT_MAX], args[TEXT_MAX];
    wf_diag diag = wf_diag_to(stderr);
    write_copy(text, &random);
    snprintf(args, sizeof args, "x_ptr=int8,z_ptr=int8,%s", strstr(text, "# M=") + 2);
    args[strcspn(args, "\n")] = 0;
    check(open_instance(lang_parse("copy.py", text, strlen(text), &diag), "k", args, 0, random), text);
  }
}

// ---- the same program as with block pointers

#define HEAD                                                                               \
  "from weft import *\n@jit\ndef k(a_ptr: int8, b_ptr: int8, c_ptr: int8, M, N, K):\n"     \
  "  m = program_id(0) * 16\n  n = program_id(1) * 8\n  acc = zeros((16, 8), int32)\n"     \
  "  i = m + arange(0, 16)\n  j = n + arange(0, 8)\n  l = arange(0, 4)\n"                  \
  "  a = a_ptr + i[:, None] * K + l[None, :]\n  b = b_ptr + l[:, None] * N + j[None, :]\n" \
  "  c = c_ptr + i[:, None] * N + j[None, :]\n"                                            \
  "  p = make_block_ptr(a_ptr, (M, K), (K, 1), (m, 0), (16, 4), (1, 0))\n"                 \
  "  q = make_block_ptr(b_ptr, (K, N), (N, 1), (0, n), (4, 8), (1, 0))\n"                  \
  "  r = make_block_ptr(c_ptr, (M, N), (N, 1), (m, n), (16, 8), (1, 0))\n"                 \
  "  for k in range(0, K, 4):\n"
#define TAIL "grid = (cdiv(M, 16), cdiv(N, 8))\n"

// The text of the lowered program, to be freed.
static char *program_of(const char *body, const char *args) {
  char text[2 * TEXT_MAX], *printed = NULL;
  size_t length = 0;
  wf_diag diag = wf_diag_to(stderr);
  snprintf(text, sizeof text, HEAD "%s" TAIL, body);
  kernel_case c = open_instance(lang_parse("same.py", text, strlen(text), &diag), "k", args, 0, 1);
  FILE *out = open_memstream(&printed, &length);
  block_print(c.program, out);
  fclose(out);
  check(c, text);
  return printed;
}

static void check_same(const char *a, const char *b, const char *args) {
  char *x = program_of(a, args), *y = program_of(b, args);
  assert_string_equal(x, y);
  free(x);
  free(y);
}

static void test_same_programs(void **state) {
  (void)state;
  check_same(
      "    acc += dot(load(a, mask=(i[:, None] < M) & (l[None, :] < K - k)), "
      "load(b, mask=(l[:, None] < K - k) & (j[None, :] < N)))\n    a += 4\n    b += 4 * N\n"
      "  y = (acc * 0.01).to(int8)\n  store(c, y, mask=(i[:, None] < M) & (j[None, :] < N))\n",
      "    acc += dot(load(p, boundary_check=(0, 1)), load(q, boundary_check=(0, 1)))\n"
      "    p = advance(p, (0, 4))\n    q = advance(q, (4, 0))\n"
      "  y = (acc * 0.01).to(int8)\n  store(r, y, boundary_check=(0, 1))\n",
      "M=40,N=21,K=14");
  check_same(
      "    acc += dot(load(a), load(b))\n    a += 4\n    b += 4 * N\n  y = (acc * 0.01).to(int8)\n  store(c, y)\n",
      "    acc += dot(load(p), load(q))\n    p = advance(p, (0, 4))\n    q = advance(q, (4, 0))\n"
      "  y = (acc * 0.01).to(int8)\n  store(r, y)\n",
      "M=48,N=24,K=20");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_same_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
