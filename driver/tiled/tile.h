// Shared by the tiled operators, not by programs: tile sizes, and moves of element ranges larger than one instruction
// moves.
#ifndef WEFT_TILED_TILE_H
#define WEFT_TILED_TILE_H

#include "weft/tiled.h"

// How a product from single instructions is cut: sizes in blocks of WEFT_DIM, places in the local memories.
struct weft_gemm_tiles {
  size_t m, n, k;
  bool n_outer;                      // the loop over columns of the result is outside of that over rows
  bool outer_stays, inner_stays;     // the operand of that loop, for all its steps of k
  bool ahead;                        // a stage is loaded while the one before is computed
  size_t a_slots, b_slots, c_slots;  // of m x k, k x n and m x n blocks
};

// The tiles for a product without mapping; those of its mapping. False: they do not fit.
bool weft_gemm_choose(const struct weft_gemm *gemm, struct weft_gemm_tiles *tiles);
bool weft_gemm_given(const struct weft_gemm *gemm, struct weft_gemm_tiles *tiles);
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
