// For programs that the compiler made: operands of commands in registers that advance by constants.
//
// Both hide the value from the C compiler, which would otherwise make each operand anew from its parts, up to six
// instructions, instead of adding the step to the last one.
#ifndef WEFT_STREAM_H
#define WEFT_STREAM_H

#include <stdint.h>

#ifdef WEFT_NATIVE
#define WEFT_STEP(operand, step) ((void)((operand) += (uint64_t)(step)))
static inline uint64_t weft_operand(uint64_t value) { return value; }
#else
#define WEFT_STEP(operand, step) __asm__("add %0, %0, %1" : "+r"(operand) : "rI"((uint64_t)(step)))
static inline uint64_t weft_operand(uint64_t value) {
  __asm__("" : "+r"(value));
  return value;
}
#endif

#endif
