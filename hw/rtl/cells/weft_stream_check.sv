// SPDX-License-Identifier: Apache-2.0
// What `WEFT_ASSERT_STREAM stands for: a stream that was valid and not ready is valid in the next
// cycle, with the same payload.
`include "weft_assert.svh"

module weft_stream_check #(
  parameter int WIDTH = 8
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             valid_i,
  input logic             ready_i,
  input logic [WIDTH-1:0] data_i
);
  logic             waits_q;
  logic [WIDTH-1:0] data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waits_q <= 1'b0;
    else waits_q <= valid_i && !ready_i;
  end
  always_ff @(posedge clk_i) data_q <= data_i;
  `WEFT_ASSERT(Valid, !waits_q || valid_i)
  `WEFT_ASSERT(Payload, !waits_q || data_i == data_q)
endmodule
