// SPDX-License-Identifier: Apache-2.0
// Do two loads write a common byte of local memory? Each is `blocks` runs of `rows` consecutive
// rows, `stride` rows apart, and copies of its pixels: copy q lies q rows lower, q * cols lanes
// higher, for q up to `copies`.
// Loads of equal columns write equal copies to equal lanes, so they meet where their own rows do;
// otherwise a run reaches from its lowest copy. Exact when besides the strides are equal or one
// load has a single block; otherwise the enclosing ranges are compared, which may only report too
// much.
// Combinational: one division, two bits of the quotient in a step.
//
// With d = distance of the first rows and q = d / stride, only the q-th and the (q+1)-th block of
// the lower load can meet a block of the upper one. Where the ranges meet, q < MAX_BLOCKS: what a
// larger one comes to does not matter.
module weft_load_overlap #(
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCKS = 4
) (
  input  logic                a_is_acc_i,
  input  logic [ROW_BITS-1:0] a_row_i,
  input  logic [15:0]         a_rows_i,
  input  logic [7:0]          a_copies_i,
  input  logic [15:0]         a_cols_i,
  input  logic [15:0]         a_blocks_i,
  input  logic [15:0]         a_stride_i,
  input  logic                b_is_acc_i,
  input  logic [ROW_BITS-1:0] b_row_i,
  input  logic [15:0]         b_rows_i,
  input  logic [7:0]          b_copies_i,
  input  logic [15:0]         b_cols_i,
  input  logic [15:0]         b_blocks_i,
  input  logic [15:0]         b_stride_i,
  output logic                overlap_o
);
  localparam int BLOCK_BITS = $clog2(MAX_BLOCKS + 1);
  localparam int DIGITS = MAX_BLOCKS > 4 ? ($clog2(MAX_BLOCKS) + 1) / 2 : 1;
  localparam int STRIDES = 17 + 2 * DIGITS;  // bits of a product of blocks and stride
  // Bits of sums of a row number, such a product and rows.
  localparam int W = (ROW_BITS > STRIDES ? ROW_BITS : STRIDES) + 2;

  logic [ROW_BITS-1:0] a_row, b_row;
  logic [15:0] a_span, b_span, stride, low_span, low_blocks, high_span;
  logic [W-1:0] a_end, b_end;
  logic [ROW_BITS-1:0] distance, rest;
  logic [W-1:0] once, less_once, less_twice, less_thrice;
  logic [2*DIGITS-1:0] quotient;
  logic a_low, ranges_meet, comparable, first_meets, next_meets;
  logic lanes_equal;
  logic [7:0] a_below, b_below;

  assign lanes_equal = a_cols_i == b_cols_i;
  assign a_below = lanes_equal ? 8'd0 : a_copies_i;
  assign b_below = lanes_equal ? 8'd0 : b_copies_i;
  assign a_row = W'(a_row_i) > W'(a_below) ? a_row_i - ROW_BITS'(a_below) : '0;
  assign b_row = W'(b_row_i) > W'(b_below) ? b_row_i - ROW_BITS'(b_below) : '0;
  assign a_span = a_rows_i + 16'(a_below);
  assign b_span = b_rows_i + 16'(b_below);

  assign a_end = W'(a_row) + W'(a_span) - W'(a_stride_i) +
      W'(a_blocks_i[BLOCK_BITS-1:0]) * W'(a_stride_i);
  assign b_end = W'(b_row) + W'(b_span) - W'(b_stride_i) +
      W'(b_blocks_i[BLOCK_BITS-1:0]) * W'(b_stride_i);
  assign ranges_meet = W'(a_row) < b_end && W'(b_row) < a_end;

  assign a_low = a_row <= b_row;
  assign stride = a_blocks_i == 16'd1 ? b_stride_i : a_stride_i;
  assign low_span = a_low ? a_span : b_span;
  assign low_blocks = a_low ? a_blocks_i : b_blocks_i;
  assign high_span = a_low ? b_span : a_span;
  // Blocks that touch each other fill the whole range.
  assign comparable = (a_blocks_i == 16'd1 || b_blocks_i == 16'd1 || a_stride_i == b_stride_i)
                    && stride > a_span && stride > b_span;
  assign distance = a_low ? b_row - a_row : a_row - b_row;

  always_comb begin
    rest = distance;
    quotient = '0;
    for (int d = DIGITS - 1; d >= 0; d--) begin
      once = W'(stride) << (2 * d);
      less_once = W'(rest) - once;
      less_twice = W'(rest) - (once << 1);
      less_thrice = W'(rest) - (once + (once << 1));
      // The uppermost bit says that it was too much.
      if (!less_thrice[W-1]) rest = less_thrice[ROW_BITS-1:0];
      else if (!less_twice[W-1]) rest = less_twice[ROW_BITS-1:0];
      else if (!less_once[W-1]) rest = less_once[ROW_BITS-1:0];
      quotient[2*d+1] = !less_twice[W-1];
      quotient[2*d] = !less_thrice[W-1] || (less_twice[W-1] && !less_once[W-1]);
    end
  end

  assign first_meets = W'(rest) < W'(low_span) && 16'(quotient) < low_blocks;
  assign next_meets = stride - 16'(rest) < high_span && 16'(quotient) + 16'd1 < low_blocks &&
      W'(rest) < W'(stride);
  assign overlap_o = a_is_acc_i == b_is_acc_i && ranges_meet &&
      (!comparable || first_meets || next_meets);
endmodule
