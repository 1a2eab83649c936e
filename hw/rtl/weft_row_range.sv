// SPDX-License-Identifier: Apache-2.0
// First and last local row of a matrix: rows_i rows from base_i on, stride_i apart. A range that
// runs over the end of the row field is taken as the whole memory. Combinational.
module weft_row_range #(
  parameter int ROW_BITS = 14,
  parameter int COUNT_BITS = 5
) (
  input  logic [ROW_BITS-1:0]   base_i,
  input  logic [COUNT_BITS-1:0] rows_i,
  input  logic [15:0]           stride_i,
  output logic [ROW_BITS-1:0]   first_o,
  output logic [ROW_BITS-1:0]   last_o
);
  localparam int SPAN_BITS = COUNT_BITS + 16;
  localparam int SUM_BITS = (SPAN_BITS > ROW_BITS ? SPAN_BITS : ROW_BITS) + 1;

  logic [COUNT_BITS-1:0] steps;
  logic [SPAN_BITS-1:0] span;
  logic [SUM_BITS-1:0] sum;
  logic over;

  assign steps = rows_i == '0 ? '0 : rows_i - 1'b1;
  assign span = SPAN_BITS'(steps) * SPAN_BITS'(stride_i);
  assign sum = SUM_BITS'(base_i) + SUM_BITS'(span);
  assign over = |sum[SUM_BITS-1:ROW_BITS];
  assign first_o = over ? '0 : base_i;
  assign last_o = over ? '1 : sum[ROW_BITS-1:0];
endmodule
