# SPDX-License-Identifier: Apache-2.0
# A command that only revision 2 has.
.include "common.inc"
  custom 23, 0, 0
  exit 0
