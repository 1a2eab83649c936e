# SPDX-License-Identifier: Apache-2.0
# Ends with exit code 3.
.include "common.inc"
  exit 3
