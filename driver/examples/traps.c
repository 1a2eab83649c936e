// SPDX-License-Identifier: Apache-2.0
// Traps that the program handles itself: an instruction of no accelerator, an all-zero instruction, an environment
// call. The handler notes the cause and skips the instruction; registers, also floating-point ones, survive.
#include "driver/examples/check.h"
#include "weft/console.h"
#include "weft/trap.h"
#include "weft/weft.h"

static struct { uint64_t count, cause, value, pc; } seen;
static int errors;

bool weft_on_trap(struct weft_trap *trap, uint64_t cause, uint64_t value) {
  seen.count++;
  seen.cause = cause, seen.value = value, seen.pc = trap->pc;
  // Spoils registers that the interrupted code may hold.
  volatile double spoil = (double)cause * 1.5;
  (void)spoil;
  trap->pc += weft_instruction_bytes(trap->pc);
  return true;
}

static void expect(const char *what, uint64_t count, uint64_t cause) {
  weft_printf("%s: cause %lu value 0x%lx\n", what, (unsigned long)seen.cause, (unsigned long)seen.value);
  check_equal("traps taken", (int64_t)seen.count, (int64_t)count, &errors);
  check_equal("cause", (int64_t)seen.cause, (int64_t)cause, &errors);
}

int main(void) {
  register double kept __asm__("fa5") = 2.5;
  register uint64_t number __asm__("t3") = 77;
  // Opcode custom-0, which no accelerator answers: 32 bits wide.
  __asm__ volatile(".insn r 0x0b, 3, 1, x0, %0, %0" : "+r"(number), "+f"(kept));
  int64_t integer_after = (int64_t)number, float_after = (int64_t)(kept * 2);
  check_equal("integer register", integer_after, 77, &errors);
  check_equal("floating-point register", float_after, 5, &errors);
  expect("custom-0", 1, WEFT_CAUSE_ILLEGAL);
  __asm__ volatile(".2byte 0" ::: "memory");
  expect("all zeros", 2, WEFT_CAUSE_ILLEGAL);
  __asm__ volatile("ecall" ::: "memory");
  expect("environment call", 3, WEFT_CAUSE_ECALL);
  // The accelerator still works.
  static int8_t in[WEFT_DIM] = {1, 2}, out[WEFT_DIM];
  weft_flush(0);
  weft_set_load((struct weft_load){.stride_bytes = WEFT_DIM});
  weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM});
  weft_mvin(weft_dram(in), weft_local_sp(0), WEFT_DIM, 1);
  weft_mvout(weft_dram(out), weft_local_sp(0), WEFT_DIM, 1);
  weft_fence();
  check_int8("after the traps", out, in, 1, WEFT_DIM, WEFT_DIM, &errors);
  return check_verdict("traps", errors);
}
