// SPDX-License-Identifier: Apache-2.0
// First-in first-out queue, the one queue of the project.
//
//   PIPE  the queue accepts while full if an entry leaves in the same cycle (in_ready_o then
//         depends on out_ready_i)
//   FLOW  an entry that arrives at an empty queue leaves in the same cycle if it is taken
//         (out_valid_o and out_data_o then depend on in_valid_i and in_data_i)
// Latency: 1 cycle from in to out, 0 with FLOW. Throughput 1 per cycle, except 1 in 2 cycles with
// DEPTH 1 and neither PIPE nor FLOW. Without PIPE and FLOW there is no combinational path from an
// input to an output.
// Invariants: entries leave in the order they came, none is lost; count_o is the number of stored
// entries.
`include "weft_assert.svh"

module weft_fifo #(
  parameter int WIDTH = 8,
  parameter int DEPTH = 2,
  parameter bit PIPE = 1'b0,
  parameter bit FLOW = 1'b0,
  parameter int COUNT_BITS = $clog2(DEPTH + 1)  // derived
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  in_valid_i,
  output logic                  in_ready_o,
  input  logic [WIDTH-1:0]      in_data_i,
  output logic                  out_valid_o,
  input  logic                  out_ready_i,
  output logic [WIDTH-1:0]      out_data_o,
  output logic [COUNT_BITS-1:0] count_o
);
  localparam int PTR_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam logic [PTR_BITS-1:0] LAST = PTR_BITS'(DEPTH - 1);
  localparam logic [COUNT_BITS-1:0] FULL = COUNT_BITS'(DEPTH);

  logic [WIDTH-1:0] mem [DEPTH];
  logic [PTR_BITS-1:0] read_q, write_q;
  logic [COUNT_BITS-1:0] count_q;
  logic empty, full, through, push, pop;

  assign empty = count_q == '0;
  assign full = count_q == FULL;
  assign in_ready_o = !full || (PIPE && out_ready_i);
  assign out_valid_o = !empty || (FLOW && in_valid_i);
  assign out_data_o = FLOW && empty ? in_data_i : mem[read_q];
  assign count_o = count_q;

  // An entry that flows through is neither stored nor removed.
  assign through = FLOW && empty && in_valid_i && out_ready_i;
  assign push = in_valid_i && in_ready_o && !through;
  assign pop = !empty && out_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q <= '0;
      write_q <= '0;
      count_q <= '0;
    end else begin
      if (push) write_q <= write_q == LAST ? '0 : write_q + 1'b1;
      if (pop) read_q <= read_q == LAST ? '0 : read_q + 1'b1;
      if (push && !pop) count_q <= count_q + 1'b1;
      else if (pop && !push) count_q <= count_q - 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) mem[write_q] <= in_data_i;
  end

  `WEFT_ASSERT(NoOverflow, !(push && full && !pop))
  if (!FLOW) begin : g_out
    `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i, out_data_o)
  end
endmodule
