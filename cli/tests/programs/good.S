# SPDX-License-Identifier: Apache-2.0
# Ends well.
.include "common.inc"
  exit 0
