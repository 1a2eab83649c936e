// SPDX-License-Identifier: Apache-2.0
// Whether a local address is the garbage address: all flags, the garbage bit above the row number
// and every bit of the row number are set. Purely combinational, no latency.
module weft_local_garbage #(
  parameter int ROW_BITS = 14
) (
  input  logic [31:0] local_i,
  output logic        garbage_o
);
  localparam logic [31:0] FLAGS = weft_isa_pkg::LOCAL_ACCUMULATOR_MASK |
                                  weft_isa_pkg::LOCAL_ACCUMULATE_MASK |
                                  weft_isa_pkg::LOCAL_FULL_MASK;
  localparam logic [31:0] BITS = FLAGS | ((32'd1 << (ROW_BITS + 1)) - 32'd1);
  assign garbage_o = (local_i & BITS) == BITS;
endmodule
