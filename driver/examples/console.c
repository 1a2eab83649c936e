// SPDX-License-Identifier: Apache-2.0
// The console: every conversion of weft_printf. The output itself is compared by eye or by a test; the program checks
// start-up: .bss is zero, initialised data is there, the floating-point unit works, the clock runs, thread-local data
// works.
#include "weft/console.h"

#include "driver/examples/check.h"
#include "weft/port.h"

static volatile int zeros[100];
static volatile int data[3] = {1, 2, 3};
static _Thread_local volatile int local_zero, local_seven = 7;

static void conversions(void) {
  weft_printf("integers [%d] [%5d] [%-5d] [%05d] [%i]\n", -42, 42, 42, -42, INT32_MIN);
  weft_printf("unsigned [%u] [%x] [%8x] [%08X] [%lx] [%lu]\n", 3000000000u, 0xbeefu, 0xbeefu, 0xbeefu,
              0x123456789abcdefUL, UINT64_MAX);
  weft_printf("long [%ld] [%20ld] [%zu]\n", INT64_MIN, INT64_MAX, sizeof zeros);
  weft_printf("text [%s] [%6s] [%-6s] [%.2s] [%c] [%%] [%*d]\n", "weft", "weft", "weft", "weft", 'w', 4, 7);
  weft_printf("pointer [%p]\n", (void *)0);
}

int main(void) {
  int errors = 0;
  conversions();
  for (size_t i = 0; i < 100; i++) check_equal(".bss", zeros[i], 0, &errors);
  check_equal(".data", data[0] + data[1] + data[2], 6, &errors);
  check_equal("thread-local zero", local_zero, 0, &errors);
  check_equal("thread-local data", local_seven, 7, &errors);
  volatile double third = 1.0 / 3.0;
  check_equal("floating point", (int64_t)(third * 3000.0), 1000, &errors);
  check_equal("rounding", check_scale(5, false, 0.5f), 2, &errors);
#ifndef WEFT_NATIVE
  uint64_t cycles = weft_cycles(), instructions = weft_instructions();
  check_equal("rdcycle moves", weft_cycles() > cycles, 1, &errors);
  check_equal("rdinstret moves", weft_instructions() > instructions, 1, &errors);
#endif
  return check_verdict("console", errors);
}
