# SPDX-License-Identifier: Apache-2.0
# Four loads and a fence.
.include "common.inc"
  custom 0, 0x3f80000000100101, 16
  custom 2, 0x80000000, 0x0010001000000000
  custom 2, 0x80000100, 0x0010001000000010
  custom 2, 0x80000200, 0x0010001000000020
  custom 2, 0x80000300, 0x0010001000000030
  fence
  exit 0
