# SPDX-License-Identifier: Apache-2.0
# A load state that does not exist.
.include "common.inc"
  custom 0, 0x19, 16
  exit 0
