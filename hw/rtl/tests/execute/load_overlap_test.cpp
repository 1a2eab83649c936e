// SPDX-License-Identifier: Apache-2.0
// Do two loads meet? The hardware divides; here every block of one is held against every block of the other.
#include <cstdint>
#include <cstdio>
#include <random>

#include "Voverlap.h"
#include "verilated.h"

namespace {
enum { CASES = 400000, LEAST = CASES / 100 };

struct Load {
  unsigned is_acc, row, rows, copies, cols, blocks, stride;
};

struct Runs {  // of `span` rows, `blocks` of them, `stride` apart
  unsigned row, span, blocks, stride;
};

Runs runs_of(const Load &load, bool lanes_equal) {
  const unsigned below = lanes_equal ? 0 : load.copies;
  return {load.row > below ? load.row - below : 0, load.rows + below, load.blocks, load.stride};
}

unsigned end_of(const Runs &r) { return r.row + (r.blocks - 1) * r.stride + r.span; }

// far: also blocks whose numbers are two or more apart.
bool blocks_meet(const Runs &a, const Runs &b, bool *far) {
  bool meet = false;
  for (unsigned i = 0; i < a.blocks; i++)
    for (unsigned j = 0; j < b.blocks; j++) {
      const unsigned mine = a.row + i * a.stride, theirs = b.row + j * b.stride;
      if (mine >= theirs + b.span || theirs >= mine + a.span) continue;
      meet = true;
      *far |= i >= j + 2 || j >= i + 2;
    }
  return meet;
}

bool expected(const Load &a, const Load &b, bool *exact, bool *far) {
  const bool lanes_equal = a.cols == b.cols;
  const Runs x = runs_of(a, lanes_equal), y = runs_of(b, lanes_equal);
  const unsigned stride = x.blocks == 1 ? y.stride : x.stride;
  *exact = (x.blocks == 1 || y.blocks == 1 || x.stride == y.stride) && stride > x.span && stride > y.span;
  if (a.is_acc != b.is_acc) return false;
  return *exact ? blocks_meet(x, y, far) : x.row < end_of(y) && y.row < end_of(x);
}

Load random_load(std::mt19937 &random, unsigned most_rows) {
  const auto below = [&](unsigned n) { return (unsigned)(random() % n); };
  return {below(8) == 0,      below(most_rows),      1 + below(20), below(4) == 0 ? below(6) : 0,
          4 * (1 + below(2)), 1 + below(MAX_BLOCKS), 1 + below(60)};
}

bool overlaps(Voverlap &dut, const Load &a, const Load &b) {
  dut.a_is_acc_i = a.is_acc, dut.b_is_acc_i = b.is_acc;
  dut.a_row_i = a.row, dut.b_row_i = b.row;
  dut.a_rows_i = a.rows, dut.b_rows_i = b.rows;
  dut.a_copies_i = a.copies, dut.b_copies_i = b.copies;
  dut.a_cols_i = a.cols, dut.b_cols_i = b.cols;
  dut.a_blocks_i = a.blocks, dut.b_blocks_i = b.blocks;
  dut.a_stride_i = a.stride, dut.b_stride_i = b.stride;
  dut.eval();
  return dut.overlap_o;
}
}  // namespace

int main() {
  Voverlap dut;
  std::mt19937 random(7);
  int wrong = 0, exact_ones = 0, far_ones = 0;
  for (int n = 0; n < CASES; n++) {
    const Load a = random_load(random, 1 << ROW_BITS);
    Load b = random_load(random, 1 << ROW_BITS);
    if (random() % 4 != 0) b.stride = a.stride;
    bool exact = false, far = false;
    const bool meet = expected(a, b, &exact, &far), found = overlaps(dut, a, b);
    exact_ones += exact;
    far_ones += far;
    if (meet != found && wrong++ < 10)
      fprintf(stderr, "FAILED: rows %u + %u blocks of %u by %u, %u + %u of %u by %u: %d, not %d\n", a.row, a.blocks,
              a.rows, a.stride, b.row, b.blocks, b.rows, b.stride, found, meet);
  }
  printf("%d pairs, %d compared block by block, %d met in far blocks, %d wrong\n", (int)CASES, exact_ones, far_ones,
         wrong);
  return wrong != 0 || exact_ones < LEAST || (MAX_BLOCKS > 2 && far_ones < LEAST);
}
