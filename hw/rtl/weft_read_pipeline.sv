// SPDX-License-Identifier: Apache-2.0
// Behind a scratchpad bank, one for each reader: FIXED is a pipeline of DELAY registers, otherwise
// a queue of DELAY entries whose first leaves after one cycle. Both accept a row per cycle and hold
// their rows while the reader waits.
// Combinational: in_ready_o depends on out_ready_i. Latency DELAY (FIXED) or 1.
`include "weft_assert.svh"

module weft_read_pipeline #(
  parameter int WIDTH = 8,
  parameter int DELAY = 4,
  parameter bit FIXED = 1'b1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [WIDTH-1:0] in_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [WIDTH-1:0] out_data_o
);
  if (FIXED) begin : g_fixed
    logic unused_busy;
    weft_pipe #(.WIDTH(WIDTH), .STAGES(DELAY)) u_pipe (
      .clk_i(clk_i), .rst_ni(rst_ni), .in_valid_i(in_valid_i), .in_ready_o(in_ready_o),
      .in_data_i(in_data_i),
      .out_valid_o(out_valid_o), .out_ready_i(out_ready_i), .out_data_o(out_data_o),
      .busy_o(unused_busy)
    );
  end else begin : g_queue
    logic [$clog2(DELAY+1)-1:0] unused_count;
    weft_fifo #(.WIDTH(WIDTH), .DEPTH(DELAY), .PIPE(1'b1)) u_queue (
      .clk_i(clk_i), .rst_ni(rst_ni), .in_valid_i(in_valid_i), .in_ready_o(in_ready_o),
      .in_data_i(in_data_i),
      .out_valid_o(out_valid_o), .out_ready_i(out_ready_i), .out_data_o(out_data_o),
      .count_o(unused_count)
    );
  end

  `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i, out_data_o)
endmodule
