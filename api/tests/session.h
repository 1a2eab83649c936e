// SPDX-License-Identifier: Apache-2.0
// What the tests of libweft share: sessions and objects that must come to be, and a product in C beside a kernel's.
#ifndef API_TESTS_SESSION_H
#define API_TESTS_SESSION_H

#include <weft/weft.h>

#include "base/test.h"

extern const char session_gemm[];  // a kernel's text, arguments M, N, K
enum { M = 40, N = 24, K = 56 };

// Counts calls of progress, and cancels at one of them.
typedef struct counting {
  unsigned calls, stop_at;
  uint64_t total;
} counting;
bool count(void *context, const weft_progress *progress);

weft_session *open_session(void);
// Fails with the messages of the session.
void expect(weft_session *s, weft_status status);
void expect_message(weft_session *s, weft_status status, const char *part);
weft_array *load(weft_session *s, const char *name);
weft_kernel *compile(weft_session *s, const weft_array *array, const char *arguments);
weft_network *network(weft_session *s, const weft_array *array);
void write_file(const char *path, const char *text);
void write_bytes(const char *path, const void *bytes, size_t length);
void fill(int8_t *to, size_t count, unsigned seed);
void multiply(const int8_t *a, const int8_t *b, int32_t *c);

#endif
