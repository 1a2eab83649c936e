# SPDX-License-Identifier: Apache-2.0
# The host reads outside memory, without a trap handler.
.include "common.inc"
  li a0, 0x1000
  ld a1, 0(a0)
  exit 0
