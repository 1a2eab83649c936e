// SPDX-License-Identifier: Apache-2.0
// Do two loads write a common byte of local memory? Each is `blocks` runs of `rows` consecutive
// rows, `stride` rows apart, and copies of its pixels: copy q lies q rows lower, q * cols lanes
// higher, for q up to `copies`.
// Loads of equal columns write equal copies to equal lanes, so they meet where their own rows do;
// otherwise a run reaches from its lowest copy. Exact when besides the strides are equal or one
// load has a single block; otherwise the enclosing ranges are compared, which may only report too
// much.
// Combinational: one division by repeated subtraction, log2(MAX_BLOCKS) steps.
//
// With d = distance of the first rows and q = d / stride, only the q-th and the (q+1)-th block of
// the lower load can meet a block of the upper one.
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
  localparam int STEPS = $clog2(MAX_BLOCKS) + 1;
  localparam int W = 34;  // sums of a row number and 16 x 16 bits

  logic [ROW_BITS-1:0] a_row, b_row;
  logic [15:0] a_span, b_span, stride, low_span, low_blocks, high_span;
  logic [W-1:0] a_end, b_end, distance, rest;
  logic [STEPS-1:0] quotient;
  logic a_low, ranges_meet, comparable, first_meets, next_meets;
  logic lanes_equal;
  logic [7:0] a_below, b_below;

  assign lanes_equal = a_cols_i == b_cols_i;
  assign a_below = lanes_equal ? 8'd0 : a_copies_i;
  assign b_below = lanes_equal ? 8'd0 : b_copies_i;
  assign a_row = W'(a_row_i) > W'(a_below) ? ROW_BITS'(W'(a_row_i) - W'(a_below)) : '0;
  assign b_row = W'(b_row_i) > W'(b_below) ? ROW_BITS'(W'(b_row_i) - W'(b_below)) : '0;
  assign a_span = a_rows_i + 16'(a_below);
  assign b_span = b_rows_i + 16'(b_below);

  assign a_end = W'(a_row) + (W'(a_blocks_i) - W'(1)) * W'(a_stride_i) + W'(a_span);
  assign b_end = W'(b_row) + (W'(b_blocks_i) - W'(1)) * W'(b_stride_i) + W'(b_span);
  assign ranges_meet = W'(a_row) < b_end && W'(b_row) < a_end;

  assign a_low = a_row <= b_row;
  assign stride = a_blocks_i == 16'd1 ? b_stride_i : a_stride_i;
  assign low_span = a_low ? a_span : b_span;
  assign low_blocks = a_low ? a_blocks_i : b_blocks_i;
  assign high_span = a_low ? b_span : a_span;
  // Blocks that touch each other fill the whole range.
  assign comparable = (a_blocks_i == 16'd1 || b_blocks_i == 16'd1 || a_stride_i == b_stride_i)
                    && stride > a_span && stride > b_span;
  assign distance = a_low ? W'(b_row) - W'(a_row) : W'(a_row) - W'(b_row);

  always_comb begin
    rest = distance;
    quotient = '0;
    for (int s = STEPS - 1; s >= 0; s--) begin
      if (rest >= (W'(stride) << s)) begin
        rest = rest - (W'(stride) << s);
        quotient[s] = 1'b1;
      end
    end
  end

  assign first_meets = rest < W'(low_span) && 16'(quotient) < low_blocks;
  assign next_meets = W'(stride) - rest < W'(high_span) && 16'(quotient) + 16'd1 < low_blocks &&
      rest < W'(stride);
  assign overlap_o = a_is_acc_i == b_is_acc_i && ranges_meet &&
      (!comparable || first_meets || next_meets);
endmodule
