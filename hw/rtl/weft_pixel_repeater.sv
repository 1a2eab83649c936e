// SPDX-License-Identifier: Apache-2.0
// First-layer loads: writes a row of `len` lanes once more for each repeated pixel, q rows lower
// and q*len lanes higher. The copy with the largest q goes first, the row itself last. A copy that
// would leave its half of the scratchpad (row below 0, or below SP_ROWS/2 for rows from there on)
// is dropped and costs a cycle.
// ENABLE 0 builds a wire: no repeats, no latency.
//
// Latency: in at t -> first copy at t+1. Combinational: in_ready_o depends on out_ready_i.
// Invariants: order is kept; out_last_o comes with the row itself, never with a copy.
`include "weft_assert.svh"

module weft_pixel_repeater #(
  parameter bit ENABLE = 1'b1,
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int SP_ROWS = 16384,
  parameter int TAG_BITS = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                in_valid_i,
  output logic                in_ready_o,
  input  logic [DIM*8-1:0]    in_data_i,
  input  logic [DIM-1:0]      in_mask_i,
  input  logic                in_is_acc_i,
  input  logic [ROW_BITS-1:0] in_row_i,
  input  logic [15:0]         in_len_i,
  input  logic [7:0]          in_repeats_i,  // copies in all, at least 1
  input  logic                in_last_i,
  input  logic [TAG_BITS-1:0] in_tag_i,
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [DIM*8-1:0]    out_data_o,
  output logic [DIM-1:0]      out_mask_o,
  output logic                out_is_acc_o,
  output logic [ROW_BITS-1:0] out_row_o,
  output logic                out_last_o,
  output logic [TAG_BITS-1:0] out_tag_o
);
  if (!ENABLE) begin : g_wire
    assign in_ready_o = out_ready_i;
    assign out_valid_o = in_valid_i;
    assign out_data_o = in_data_i;
    assign out_mask_o = in_mask_i;
    assign out_is_acc_o = in_is_acc_i;
    assign out_row_o = in_row_i;
    assign out_last_o = in_last_i;
    assign out_tag_o = in_tag_i;
    logic unused;
    assign unused = &{1'b0, clk_i, rst_ni, in_len_i, in_repeats_i};
  end else begin : g_repeat
    localparam int HALF = SP_ROWS / 2;
    localparam int W = ROW_BITS + 9;  // a row number and a number of copies

    logic                valid_q, last_q, is_acc_q;
    logic [DIM*8-1:0]    data_q;
    logic [DIM-1:0]      mask_q;
    logic [ROW_BITS-1:0] row_q;
    logic [15:0]         len_q;
    logic [7:0]          copy_q;  // copies still to come after this one
    logic [TAG_BITS-1:0] tag_q;
    logic [W-1:0]        floor;
    logic [23:0]         shift;
    logic                dropped;

    assign floor = W'(row_q) >= W'(HALF) ? W'(HALF) : W'(0);
    assign dropped = W'(row_q) < floor + W'(copy_q);
    assign shift = 24'(copy_q) * 24'(len_q);

    assign in_ready_o = !valid_q || (out_ready_i && copy_q == '0);
    assign out_valid_o = valid_q && !dropped;
    assign out_data_o = data_q << {shift, 3'd0};
    assign out_mask_o = mask_q << shift;
    assign out_is_acc_o = is_acc_q;
    assign out_row_o = row_q - ROW_BITS'(copy_q);
    assign out_last_o = last_q && copy_q == '0;
    assign out_tag_o = tag_q;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_q <= 1'b0;
        copy_q <= '0;
      end else if (in_valid_i && in_ready_o) begin
        valid_q <= 1'b1;
        copy_q <= in_repeats_i - 8'd1;
      end else if (valid_q && (dropped || out_ready_i)) begin
        if (copy_q == '0) valid_q <= 1'b0;
        else copy_q <= copy_q - 8'd1;
      end
    end
    always_ff @(posedge clk_i) begin
      if (in_valid_i && in_ready_o) begin
        data_q <= in_data_i;
        mask_q <= in_mask_i;
        is_acc_q <= in_is_acc_i;
        row_q <= in_row_i;
        len_q <= in_len_i;
        last_q <= in_last_i;
        tag_q <= in_tag_i;
      end
    end

    `WEFT_ASSERT(RowHasACopy, !in_valid_i || in_repeats_i != '0)
    `WEFT_ASSERT(CopiesAreInTheScratchpad, !(in_valid_i && in_is_acc_i) || in_repeats_i == 8'd1)
    `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i,
        {out_data_o, out_mask_o, out_is_acc_o, out_row_o, out_last_o, out_tag_o})
  end
endmodule
