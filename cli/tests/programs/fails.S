# Ends with exit code 3.
.include "common.inc"
  exit 3
