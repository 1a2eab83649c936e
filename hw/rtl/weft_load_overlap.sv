// SPDX-License-Identifier: Apache-2.0
// Do two loads write a common local row? Each is `blocks` runs of `span` consecutive rows, `stride`
// rows apart.
// Exact when the strides are equal or one load has a single block; otherwise the enclosing ranges
// are compared, which may only report too much. Combinational: one division by repeated
// subtraction, log2(MAX_BLOCKS) steps.
//
// With d = distance of the first rows and q = d / stride, only the q-th and the (q+1)-th block of
// the lower load can meet a block of the upper one.
module weft_load_overlap #(
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCKS = 4
) (
  input  logic                a_is_acc_i,
  input  logic [ROW_BITS-1:0] a_row_i,
  input  logic [15:0]         a_span_i,
  input  logic [15:0]         a_blocks_i,
  input  logic [15:0]         a_stride_i,
  input  logic                b_is_acc_i,
  input  logic [ROW_BITS-1:0] b_row_i,
  input  logic [15:0]         b_span_i,
  input  logic [15:0]         b_blocks_i,
  input  logic [15:0]         b_stride_i,
  output logic                overlap_o
);
  localparam int STEPS = $clog2(MAX_BLOCKS) + 1;
  localparam int W = 34;  // sums of a row number and 16 x 16 bits

  logic [15:0] stride, low_span, low_blocks, high_span;
  logic [W-1:0] a_end, b_end, distance, rest;
  logic [STEPS-1:0] quotient;
  logic a_low, ranges_meet, comparable, first_meets, next_meets;

  assign a_end = W'(a_row_i) + (W'(a_blocks_i) - W'(1)) * W'(a_stride_i) + W'(a_span_i);
  assign b_end = W'(b_row_i) + (W'(b_blocks_i) - W'(1)) * W'(b_stride_i) + W'(b_span_i);
  assign ranges_meet = W'(a_row_i) < b_end && W'(b_row_i) < a_end;

  assign a_low = a_row_i <= b_row_i;
  assign stride = a_blocks_i == 16'd1 ? b_stride_i : a_stride_i;
  assign low_span = a_low ? a_span_i : b_span_i;
  assign low_blocks = a_low ? a_blocks_i : b_blocks_i;
  assign high_span = a_low ? b_span_i : a_span_i;
  // Blocks that touch each other fill the whole range.
  assign comparable = (a_blocks_i == 16'd1 || b_blocks_i == 16'd1 || a_stride_i == b_stride_i)
                    && stride > a_span_i && stride > b_span_i;
  assign distance = a_low ? W'(b_row_i) - W'(a_row_i) : W'(a_row_i) - W'(b_row_i);

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
