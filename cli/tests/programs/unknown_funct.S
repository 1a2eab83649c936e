# SPDX-License-Identifier: Apache-2.0
# A custom instruction that does not exist.
.include "common.inc"
  .globl main
  .type main, @function
main:
  custom 99, 0, 0
  exit 0
