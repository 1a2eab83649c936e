// SPDX-License-Identifier: Apache-2.0
// Transposer: rows of a DIM x DIM matrix go in, columns of the matrix before it come out, one of
// each per enabled cycle.
//
// The registers form a DIM x DIM square. While one matrix enters from the right and pushes
// everything left, the previous one, which had entered from the bottom, leaves at the left edge
// column by column; the next enters from the bottom, and so on. column_o is the column that belongs
// to the row now entering: column k while row k enters. It is combinational in the registers only.
// Invariants: the direction turns after every DIM rows, so a matrix always takes DIM rows; nothing
// moves without enable_i.
module weft_transposer #(
  parameter int DIM = 4,
  parameter int WIDTH = 8
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 enable_i,
  input  logic [DIM*WIDTH-1:0] row_i,
  output logic [DIM*WIDTH-1:0] column_o
);
  localparam int COUNT_BITS = $clog2(DIM);
  localparam int ROW_BITS = DIM * WIDTH;

  // the matrix enters from the bottom and pushes up, otherwise from the right and pushes left
  logic up_q;
  logic [COUNT_BITS-1:0] count_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      up_q <= 1'b0;
      count_q <= '0;
    end else if (enable_i) begin
      if (count_q == COUNT_BITS'(DIM - 1)) begin
        count_q <= '0;
        up_q <= !up_q;
      end else begin
        count_q <= count_q + 1'b1;
      end
    end
  end

  for (genvar r = 0; r < DIM; r++) begin : g_row
    logic [ROW_BITS-1:0] row_q, below;
    if (r == DIM - 1) begin : g_bottom
      assign below = row_i;
    end else begin : g_inner
      assign below = g_row[r+1].row_q;
    end
    always_ff @(posedge clk_i) begin
      if (enable_i) row_q <= up_q ? below : {row_i[r*WIDTH+:WIDTH], row_q[ROW_BITS-1:WIDTH]};
    end
    assign column_o[r*WIDTH+:WIDTH] = up_q ? g_row[0].row_q[r*WIDTH+:WIDTH] : row_q[WIDTH-1:0];
  end
endmodule
