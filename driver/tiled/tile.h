// SPDX-License-Identifier: Apache-2.0
// Shared by the tiled operators, not by programs: tile sizes, and moves of element ranges larger than one instruction
// moves.
#ifndef WEFT_TILED_TILE_H
#define WEFT_TILED_TILE_H

#include "driver/tiled/stages.h"
#include "weft/tiled.h"

// The tiles of a product from single instructions, in blocks of WEFT_DIM: those of its mapping, or the best of a few.
// False: they do not fit.
bool weft_gemm_tiles(const struct weft_gemm *gemm, struct weft_mapping *tile, struct weft_tiles *tiles);
// Checks what both forms check.
enum weft_status weft_gemm_check(const struct weft_gemm *gemm);

static inline size_t weft_dense(size_t stride, size_t elements) { return stride == 0 ? elements : stride; }

// mvin through load state 0, 1 or 2.
static inline void weft_load_rows(unsigned state, const void *from, uint32_t local, size_t cols, size_t rows) {
  switch (state) {
    case 0:
      weft_mvin(weft_dram(from), local, cols, rows);
      break;
    case 1:
      weft_mvin2(weft_dram(from), local, cols, rows);
      break;
    default:
      weft_mvin3(weft_dram(from), local, cols, rows);
      break;
  }
}

#endif
