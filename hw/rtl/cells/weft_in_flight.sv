// SPDX-License-Identifier: Apache-2.0
// Counts commands between their departure and their completion, of which up to two arrive in a
// cycle.
//
// Combinational: full_o on a register only. Invariants: no departure while full_o; no more
// completions than departures.
`include "weft_assert.svh"

module weft_in_flight #(
  parameter int MAX = 8
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       take_i,
  input  logic [1:0] completed_i,
  output logic       full_o        // MAX commands are in flight
);
  localparam int COUNT_BITS = $clog2(MAX + 1);
  logic [COUNT_BITS-1:0] count_q;

  assign full_o = count_q == COUNT_BITS'(MAX);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q + COUNT_BITS'(take_i) - COUNT_BITS'(completed_i);
  end

  `WEFT_ASSERT(NeverMoreThanMax, !(take_i && full_o))
  `WEFT_ASSERT(NeverLessThanNone, count_q >= COUNT_BITS'(completed_i))
endmodule
