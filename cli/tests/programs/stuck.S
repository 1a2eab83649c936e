# SPDX-License-Identifier: Apache-2.0
# Jumps to itself.
.include "common.inc"
1: j 1b
