// SPDX-License-Identifier: Apache-2.0
// Tile: ROWS x COLUMNS processing elements without registers between them, registers behind it.
//
// a_i enters a row of elements and reaches all its columns in the same cycle; b_i and d_i enter the
// top of a column and run down through all rows in the same cycle. Control is common to the tile:
// all its elements work on one row of operands at a time. a_o, b_o and c_o come one cycle after
// their inputs and keep their value while valid_i is low.
module weft_tile #(
  parameter int ROWS = 1,
  parameter int COLUMNS = 1,
  parameter int DATAFLOW = weft_pkg::MESH_DATAFLOW_BOTH,
  parameter int INPUT_BITS = 8,
  parameter int OUTPUT_BITS = 20,
  parameter int SHIFT_BITS = 5,
  // derived
  parameter int D_BITS = DATAFLOW == weft_pkg::MESH_DATAFLOW_WS ? INPUT_BITS : OUTPUT_BITS
) (
  input  logic                           clk_i,
  input  logic                           valid_i,
  input  logic                           swap_i,
  input  logic                           os_i,
  input  logic [SHIFT_BITS-1:0]          shift_i,
  input  logic [ROWS*INPUT_BITS-1:0]     a_i,
  input  logic [COLUMNS*OUTPUT_BITS-1:0] b_i,
  input  logic [COLUMNS*D_BITS-1:0]      d_i,
  output logic [ROWS*INPUT_BITS-1:0]     a_o,
  output logic [COLUMNS*OUTPUT_BITS-1:0] b_o,
  output logic [COLUMNS*D_BITS-1:0]      c_o
);
  for (genvar c = 0; c < COLUMNS; c++) begin : g_column
    for (genvar r = 0; r < ROWS; r++) begin : g_row
      logic [INPUT_BITS-1:0] a_in, a_out;
      logic [OUTPUT_BITS-1:0] b_in, b_out;
      logic [D_BITS-1:0] d_in, c_out;
      if (c == 0) begin : g_left
        assign a_in = a_i[r*INPUT_BITS+:INPUT_BITS];
      end else begin : g_inner
        assign a_in = g_column[c-1].g_row[r].a_out;
      end
      if (r == 0) begin : g_top
        assign b_in = b_i[c*OUTPUT_BITS+:OUTPUT_BITS];
        assign d_in = d_i[c*D_BITS+:D_BITS];
      end else begin : g_below
        assign b_in = g_column[c].g_row[r-1].b_out;
        assign d_in = g_column[c].g_row[r-1].c_out;
      end
      weft_pe #(
        .DATAFLOW(DATAFLOW),
        .INPUT_BITS(INPUT_BITS),
        .OUTPUT_BITS(OUTPUT_BITS),
        .SHIFT_BITS(SHIFT_BITS),
        .REGISTER_RIGHT(c == COLUMNS - 1),
        .REGISTER_DOWN(r == ROWS - 1)
      ) u_pe (
        .clk_i,
        .valid_i,
        .swap_i,
        .os_i,
        .shift_i,
        .a_i(a_in),
        .b_i(b_in),
        .d_i(d_in),
        .a_o(a_out),
        .b_o(b_out),
        .c_o(c_out)
      );
      if (c == COLUMNS - 1) begin : g_right
        assign a_o[r*INPUT_BITS+:INPUT_BITS] = a_out;
      end
      if (r == ROWS - 1) begin : g_bottom
        assign b_o[c*OUTPUT_BITS+:OUTPUT_BITS] = b_out;
        assign c_o[c*D_BITS+:D_BITS] = c_out;
      end
    end
  end
endmodule
