// SPDX-License-Identifier: Apache-2.0
// Mesh: MESH_ROWS x MESH_COLUMNS tiles with STEP = TILE_LATENCY + 1 registers behind each tile.
//
// One row of operands crosses the mesh as a diagonal wave: tile (r, c) works on it (r + c) * STEP
// cycles after tile (0, 0). The caller skews the operands accordingly: the elements of tile row r
// of A, and of tile column c of B and D, arrive r * STEP and c * STEP cycles after the control
// inputs. Control is the same for all tiles of a diagonal, so it travels along one chain of
// diagonals instead of once per column.
//   a_i   moves right, one column per STEP cycles
//   b_i   moves down: the bias and then the sums (weight-stationary) or the B operand
//         (output-stationary)
//   d_i   moves down through the shift registers: new weights or biases in, finished sums out
//   result_o, column c: (MESH_ROWS + c) * STEP + OUTPUT_DELAY cycles after the control inputs; b
//   or, output-stationary, the finished sums. Results are never held up.
// Invariant: a tile changes only when its diagonal's valid is high, so nothing moves through the
// mesh without a row.
module weft_mesh #(
  parameter int MESH_ROWS = 4,
  parameter int MESH_COLUMNS = 4,
  parameter int TILE_ROWS = 1,
  parameter int TILE_COLUMNS = 1,
  parameter int DATAFLOW = weft_pkg::MESH_DATAFLOW_BOTH,
  parameter int INPUT_BITS = 8,
  parameter int OUTPUT_BITS = 20,
  parameter int SHIFT_BITS = 5,
  parameter int TILE_LATENCY = 0,
  parameter int OUTPUT_DELAY = 1,
  parameter int ROWS = MESH_ROWS * TILE_ROWS,           // derived
  parameter int COLUMNS = MESH_COLUMNS * TILE_COLUMNS,  // derived
  // derived
  parameter int D_BITS = DATAFLOW == weft_pkg::MESH_DATAFLOW_WS ? INPUT_BITS : OUTPUT_BITS
) (
  input  logic                           clk_i,
  input  logic                           rst_ni,
  input  logic                           valid_i,
  input  logic                           swap_i,
  input  logic                           os_i,
  input  logic [SHIFT_BITS-1:0]          shift_i,
  input  logic [ROWS*INPUT_BITS-1:0]     a_i,
  input  logic [COLUMNS*INPUT_BITS-1:0]  b_i,
  input  logic [COLUMNS*INPUT_BITS-1:0]  d_i,
  output logic [COLUMNS*OUTPUT_BITS-1:0] result_o
);
  localparam int STEP = TILE_LATENCY + 1;
  localparam int DIAGONALS = MESH_ROWS + MESH_COLUMNS - 1;
  localparam int A_BITS = TILE_ROWS * INPUT_BITS;
  localparam int B_BITS = TILE_COLUMNS * OUTPUT_BITS;
  localparam int C_BITS = TILE_COLUMNS * D_BITS;

  // Control of each diagonal.
  for (genvar g = 0; g < DIAGONALS; g++) begin : g_diagonal
    logic valid, swap, os;
    logic [SHIFT_BITS-1:0] shift;
    if (g == 0) begin : g_first
      assign {valid, swap, os, shift} = {valid_i, swap_i, os_i, shift_i};
    end else begin : g_next
      logic [STEP-1:0] valid_q;
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) valid_q <= '0;
        else valid_q <= STEP'({valid_q, g_diagonal[g-1].valid});
      end
      assign valid = valid_q[STEP-1];
      weft_delay #(.WIDTH(SHIFT_BITS + 2), .CYCLES(STEP)) u_control (
        .clk_i,
        .in_i({g_diagonal[g-1].swap, g_diagonal[g-1].os, g_diagonal[g-1].shift}),
        .out_o({swap, os, shift})
      );
    end
  end

  if (DIAGONALS == 1) begin : g_alone
    logic unused;
    assign unused = rst_ni;
  end

  for (genvar r = 0; r < MESH_ROWS; r++) begin : g_row
    for (genvar c = 0; c < MESH_COLUMNS; c++) begin : g_column
      logic [A_BITS-1:0] a_in, a_tile, a_out;
      logic [B_BITS-1:0] b_in, b_tile, b_out;
      logic [C_BITS-1:0] d_in, c_tile, c_out;

      if (c == 0) begin : g_left
        assign a_in = a_i[r*A_BITS+:A_BITS];
      end else begin : g_right
        assign a_in = g_row[r].g_column[c-1].a_out;
      end
      if (r == 0) begin : g_top
        for (genvar e = 0; e < TILE_COLUMNS; e++) begin : g_extend
          assign b_in[e*OUTPUT_BITS+:OUTPUT_BITS] =
              OUTPUT_BITS'($signed(b_i[(c*TILE_COLUMNS+e)*INPUT_BITS+:INPUT_BITS]));
          assign d_in[e*D_BITS+:D_BITS] =
              D_BITS'($signed(d_i[(c*TILE_COLUMNS+e)*INPUT_BITS+:INPUT_BITS]));
        end
      end else begin : g_below
        assign b_in = g_row[r-1].g_column[c].b_out;
        assign d_in = g_row[r-1].g_column[c].c_out;
      end

      weft_tile #(
        .ROWS(TILE_ROWS),
        .COLUMNS(TILE_COLUMNS),
        .DATAFLOW(DATAFLOW),
        .INPUT_BITS(INPUT_BITS),
        .OUTPUT_BITS(OUTPUT_BITS),
        .SHIFT_BITS(SHIFT_BITS)
      ) u_tile (
        .clk_i,
        .valid_i(g_diagonal[r+c].valid),
        .swap_i(g_diagonal[r+c].swap),
        .os_i(g_diagonal[r+c].os),
        .shift_i(g_diagonal[r+c].shift),
        .a_i(a_in),
        .b_i(b_in),
        .d_i(d_in),
        .a_o(a_tile),
        .b_o(b_tile),
        .c_o(c_tile)
      );
      weft_delay #(.WIDTH(A_BITS), .CYCLES(TILE_LATENCY)) u_a (.clk_i, .in_i(a_tile),
          .out_o(a_out));
      weft_delay #(.WIDTH(B_BITS), .CYCLES(TILE_LATENCY)) u_b (.clk_i, .in_i(b_tile),
          .out_o(b_out));
      weft_delay #(.WIDTH(C_BITS), .CYCLES(TILE_LATENCY)) u_c (.clk_i, .in_i(c_tile),
          .out_o(c_out));

      // Nothing takes A behind the last column.
      if (c == MESH_COLUMNS - 1) begin : g_end
        logic unused;
        assign unused = &{1'b0, a_out};
      end

      // The row's dataflow leaves together with its results.
      if (r == MESH_ROWS - 1) begin : g_result
        logic [B_BITS-1:0] result;
        if (DATAFLOW == weft_pkg::MESH_DATAFLOW_WS) begin : g_ws
          assign result = b_out;
          logic unused;
          assign unused = &{1'b0, c_out};
        end else if (DATAFLOW == weft_pkg::MESH_DATAFLOW_OS) begin : g_os
          assign result = c_out;
          logic unused;
          assign unused = &{1'b0, b_out};
        end else begin : g_both
          logic os;
          weft_delay #(.WIDTH(1), .CYCLES(STEP)) u_os (.clk_i, .in_i(g_diagonal[r+c].os),
              .out_o(os));
          assign result = os ? c_out : b_out;
        end
        weft_delay #(.WIDTH(B_BITS), .CYCLES(OUTPUT_DELAY)) u_result (
          .clk_i,
          .in_i(result),
          .out_o(result_o[c*B_BITS+:B_BITS])
        );
      end
    end
  end
endmodule
