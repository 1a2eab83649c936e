# SPDX-License-Identifier: Apache-2.0
# Loads 16 rows, stores them, waits, and goes on without the accelerator.
.include "common.inc"
  custom 0, 0x3f80000000100101, 16
  custom 0, 0x2, 16
  custom 2, 0x80010000, 0x0010001000000000
  custom 3, 0x80020000, 0x0010001000000000
  fence
  li t1, 500
2: addi t1, t1, -1
  bnez t1, 2b
  exit 0
