// SPDX-License-Identifier: Apache-2.0
// An illegal instruction without a handler: the run-time system reports it and ends the program with code 1337.
#include "weft/console.h"
#include "weft/port.h"

int main(void) {
  weft_printf("before the trap\n");
  __asm__ volatile(".insn r 0x0b, 3, 1, x0, x0, x0");
  weft_printf("FAIL: the program went on\n");
  return 0;
}
