// SPDX-License-Identifier: Apache-2.0
// Writes the zeros of a mvin without a source: one block of DIM lanes per cycle, block b of a row
// at row + b * block_stride, the last block masked to the columns that are left.
//
// Latency: request at t -> first block t+1. A new request is taken in the cycle of the last block.
// Combinational: req_ready_o depends on out_ready_i.
// Invariants: ceil(cols / DIM) blocks per request, out_last_o with the last; req_cols_i is not 0.
`include "weft_assert.svh"

module weft_zero_writer #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int TAG_BITS = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                req_valid_i,
  output logic                req_ready_o,
  input  logic [ROW_BITS-1:0] req_row_i,
  input  logic [15:0]         req_cols_i,
  input  logic [15:0]         req_block_stride_i,
  input  logic [TAG_BITS-1:0] req_tag_i,
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [ROW_BITS-1:0] out_row_o,
  output logic [DIM-1:0]      out_mask_o,
  output logic                out_last_o,
  output logic [TAG_BITS-1:0] out_tag_o
);
  localparam int W = ROW_BITS > 16 ? ROW_BITS : 16;

  logic                valid_q;
  logic [ROW_BITS-1:0] row_q;
  logic [15:0]         left_q, block_stride_q;  // columns from this block on
  logic [TAG_BITS-1:0] tag_q;

  assign out_valid_o = valid_q;
  assign out_row_o = row_q;
  assign out_last_o = left_q <= 16'(DIM);
  assign out_tag_o = tag_q;
  assign req_ready_o = !valid_q || (out_ready_i && out_last_o);

  always_comb begin
    for (int i = 0; i < DIM; i++) out_mask_o[i] = 16'(i) < left_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      left_q <= '0;
      row_q <= '0;
    end else if (req_valid_i && req_ready_o) begin
      valid_q <= 1'b1;
      left_q <= req_cols_i;
      row_q <= req_row_i;
    end else if (valid_q && out_ready_i) begin
      valid_q <= !out_last_o;
      left_q <= left_q - 16'(DIM);
      row_q <= ROW_BITS'(W'(row_q) + W'(block_stride_q));
    end
  end
  always_ff @(posedge clk_i) begin
    if (req_valid_i && req_ready_o) begin
      block_stride_q <= req_block_stride_i;
      tag_q <= req_tag_i;
    end
  end

  `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i,
      {out_row_o, out_mask_o, out_last_o, out_tag_o})
endmodule
