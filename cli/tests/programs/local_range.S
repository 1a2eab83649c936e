# SPDX-License-Identifier: Apache-2.0
# A load beyond the last scratchpad row.
.include "common.inc"
  custom 0, 0x3f80000000100101, 16
  custom 2, 0x80000000, 0x0010001000003ff8
  exit 0
