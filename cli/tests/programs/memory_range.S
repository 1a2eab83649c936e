# SPDX-License-Identifier: Apache-2.0
# A load from an address outside main memory.
.include "common.inc"
  custom 0, 0x3f80000000100101, 16
  custom 2, 0x40000000, 0x0010001000000000
  exit 0
