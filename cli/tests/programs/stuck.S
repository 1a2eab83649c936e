# Jumps to itself.
.include "common.inc"
1: j 1b
