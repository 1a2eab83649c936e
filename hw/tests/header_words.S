// SPDX-License-Identifier: Apache-2.0
// The generated header in an assembler file: see header_test.c.
#include "weft_array.h"

  .section .rodata
  .balign 4
  .globl header_words
header_words:
  .long WEFT_DIM
  .long WEFT_SP_ROWS
  .long WEFT_ARRAY_HASH_LOW
  .long WEFT_ARRAY_HASH_HIGH

  .section .note.GNU-stack, "", %progbits
