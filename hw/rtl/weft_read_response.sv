// SPDX-License-Identifier: Apache-2.0
// The response of a synchronous memory read: valid in the cycle after the read, straight from the
// memory's output, and kept in a register for as long as it is not taken.
// Invariants: read_i only when the response is free or leaves (!valid_o || ready_i). No path from
// ready_i to an output.
`include "weft_assert.svh"

module weft_read_response #(
  parameter int WIDTH = 8
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             read_i,  // a read is taken in this cycle
  input  logic [WIDTH-1:0] data_i,  // the memory's output, valid one cycle after read_i
  output logic             valid_o,
  input  logic             ready_i,
  output logic [WIDTH-1:0] data_o
);
  logic             fresh_q, kept_q;
  logic [WIDTH-1:0] data_q;

  assign valid_o = fresh_q || kept_q;
  assign data_o = fresh_q ? data_i : data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q <= 1'b0;
      kept_q <= 1'b0;
    end else begin
      fresh_q <= read_i;
      kept_q <= valid_o && !ready_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (fresh_q) data_q <= data_i;
  end

  `WEFT_ASSERT(ResponseHasRoom, !read_i || !valid_o || ready_i)
  `WEFT_ASSERT_STREAM(OutStable, valid_o, ready_i, data_o)
endmodule
