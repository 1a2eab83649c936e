// SPDX-License-Identifier: Apache-2.0
// One assertion of each kind, on inputs that the test drives.
`include "weft_assert.svh"

module weft_assert_bench (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       holds_i,
  input logic       valid_i,
  input logic       ready_i,
  input logic [7:0] data_i
);
  `WEFT_ASSERT(Holds, holds_i)
  `WEFT_ASSERT_STREAM(Stable, valid_i, ready_i, data_i)
endmodule
