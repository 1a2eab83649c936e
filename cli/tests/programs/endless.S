# SPDX-License-Identifier: Apache-2.0
# Never ends.
.include "common.inc"
  li t0, 0
1: addi t0, t0, 1
  j 1b
