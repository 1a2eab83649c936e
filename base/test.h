// SPDX-License-Identifier: Apache-2.0
// What every unit test includes first: cmocka, and what cmocka needs before it.
#ifndef BASE_TEST_H
#define BASE_TEST_H

// cmocka.h needs the others before it; clang-format would sort it to the front.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
// clang-format on

// Whether the build has sanitizers, under which a test takes five to ten times as long. What they look for is in the
// code, not in the sizes: under them a test may try fewer cases of one kind.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TEST_SANITIZED = 1 };
#else
enum { TEST_SANITIZED = 0 };
#endif

#endif
