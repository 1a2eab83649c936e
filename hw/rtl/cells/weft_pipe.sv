// SPDX-License-Identifier: Apache-2.0
// Pipeline of STAGES registers with valid/ready; STAGES 0 is a wire.
//
// A stage moves when the next one is empty or moves, so bubbles close up while the output waits.
// in_ready_o depends combinationally on out_ready_i through every occupied stage. Latency STAGES
// cycles, throughput 1 per cycle.
// Invariants: order is kept, nothing is lost; busy_o is high while any stage is occupied or an
// entry arrives.
`include "weft_assert.svh"

module weft_pipe #(
  parameter int WIDTH = 8,
  parameter int STAGES = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             in_valid_i,
  output logic             in_ready_o,
  input  logic [WIDTH-1:0] in_data_i,
  output logic             out_valid_o,
  input  logic             out_ready_i,
  output logic [WIDTH-1:0] out_data_o,
  output logic             busy_o
);
  if (STAGES == 0) begin : g_wire
    assign in_ready_o = out_ready_i;
    assign out_valid_o = in_valid_i;
    assign out_data_o = in_data_i;
    assign busy_o = in_valid_i;
    // The wire needs neither clock nor reset.
    logic unused;
    assign unused = &{1'b0, clk_i, rst_ni};
  end else begin : g_stages
    logic [STAGES-1:0] valid_q, moves;
    logic [STAGES:0] feeds;

    // Stage i moves when the output is taken or some stage from i on is empty.
    assign feeds = {valid_q, in_valid_i};
    for (genvar i = 0; i < STAGES; i++) begin : g_stage
      logic [WIDTH-1:0] data_q;
      logic [WIDTH-1:0] data_in;
      if (i == 0) begin : g_first
        assign data_in = in_data_i;
      end else begin : g_next
        assign data_in = g_stage[i-1].data_q;
      end
      assign moves[i] = out_ready_i || !(&valid_q[STAGES-1:i]);
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) valid_q[i] <= 1'b0;
        else if (moves[i]) valid_q[i] <= feeds[i];
      end
      always_ff @(posedge clk_i) begin
        if (moves[i] && feeds[i]) data_q <= data_in;
      end
    end
    assign in_ready_o = moves[0];
    assign out_valid_o = valid_q[STAGES-1];
    assign out_data_o = g_stage[STAGES-1].data_q;
    assign busy_o = |feeds;
  end

  if (STAGES > 0) begin : g_out
    `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i, out_data_o)
  end
endmodule
