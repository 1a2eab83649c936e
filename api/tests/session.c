// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of libweft: see session.h.
#include "api/tests/session.h"

#include <string.h>

const char session_gemm[] =
    "from weft import *\n"
    "@jit\n"
    "def gemm(a_ptr: int8, b_ptr: int8, c_ptr: int32, M, N, K, B: constexpr = 32):\n"
    "    m = program_id(0) * B\n"
    "    n = program_id(1) * B\n"
    "    acc = zeros((B, B), int32)\n"
    "    for k in range(0, K, B):\n"
    "        a = make_block_ptr(a_ptr, (M, K), (K, 1), (m, k), (B, B), (1, 0))\n"
    "        b = make_block_ptr(b_ptr, (K, N), (N, 1), (k, n), (B, B), (1, 0))\n"
    "        acc += dot(load(a, boundary_check=(0, 1)), load(b, boundary_check=(0, 1)))\n"
    "    c = make_block_ptr(c_ptr, (M, N), (N, 1), (m, n), (B, B), (1, 0))\n"
    "    store(c, acc, boundary_check=(0, 1))\n"
    "grid = lambda META: (cdiv(M, META[\"B\"]), cdiv(N, META[\"B\"]))\n";

weft_session *open_session(void) {
  weft_session *s = weft_session_create();
  assert_non_null(s);
  return s;
}

// Fails with the messages of the session.
void expect(weft_session *s, weft_status status) {
  if (weft_session_status(s) != status)
    fail_msg("status %d, not %d: %s", (int)weft_session_status(s), (int)status, weft_session_messages(s));
}

void expect_message(weft_session *s, weft_status status, const char *part) {
  expect(s, status);
  if (strstr(weft_session_messages(s), part) == NULL) fail_msg("no \"%s\" in: %s", part, weft_session_messages(s));
}

weft_array *load(weft_session *s, const char *name) {
  weft_array *array = weft_array_load(s, name);
  expect(s, WEFT_OK);
  return array;
}

weft_kernel *compile(weft_session *s, const weft_array *array, const char *arguments) {
  const weft_kernel_options options = {.size = sizeof options, .text = session_gemm, .arguments = arguments};
  weft_kernel *kernel = weft_kernel_compile(s, array, &options);
  expect(s, WEFT_OK);
  return kernel;
}

weft_network *network(weft_session *s, const weft_array *array) {
  const weft_network_options options = {.size = sizeof options, .image = 32, .divisor = 8, .jobs = 1};
  weft_network *net = weft_network_compile(s, array, "resnet18", &options);
  expect(s, WEFT_OK);
  return net;
}

void write_bytes(const char *path, const void *bytes, size_t length) {
  FILE *out = fopen(path, "wb");
  assert_non_null(out);
  assert_int_equal(fwrite(bytes, 1, length, out), length);
  fclose(out);
}

void write_file(const char *path, const char *text) { write_bytes(path, text, strlen(text)); }

void fill(int8_t *to, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; i++) to[i] = (int8_t)((seed = seed * 1103515245u + 12345u) >> 16);
}

void multiply(const int8_t *a, const int8_t *b, int32_t *c) {
  for (int m = 0; m < M; m++)
    for (int n = 0; n < N; n++) {
      c[m * N + n] = 0;
      for (int k = 0; k < K; k++) c[m * N + n] += a[m * K + k] * b[k * N + n];
    }
}

bool count(void *context, const weft_progress *progress) {
  counting *c = context;
  c->total = progress->total;
  return ++c->calls != c->stop_at;
}
