// SPDX-License-Identifier: Apache-2.0
// Named assertions, the one form in which the modules state their invariants. They exist where
// WEFT_ASSERT_ON is defined, for simulation with Verilator (--assert); without it, as every other
// tool reads the sources, they are nothing. A failure is reported with the path of the instance and
// the name, and is an error of the simulation.
//
//   `WEFT_ASSERT(Name, condition)                        in every cycle outside reset
//   `WEFT_ASSERT_STREAM(Name, valid, ready, payload)     once valid, the stream stays valid with
//                                                        the same payload until it is taken
//   `WEFT_ASSERT_INITIAL(Name, condition)                of parameters
// The clock is clk_i, the reset rst_ni. What an assertion needs besides its condition stands under
// `ifdef WEFT_ASSERT_ON.
`ifndef WEFT_ASSERT_SVH
`define WEFT_ASSERT_SVH

`ifdef WEFT_ASSERT_ON
`define WEFT_ASSERT(NAME, CONDITION) \
  always @(posedge clk_i or negedge rst_ni) begin : NAME \
    if (rst_ni !== 1'b0) begin \
      assert (CONDITION) else $error("%m does not hold"); \
    end \
  end
`define WEFT_ASSERT_STREAM(NAME, VALID, READY, PAYLOAD) \
  weft_stream_check #(.WIDTH($bits(PAYLOAD))) NAME ( \
    .clk_i(clk_i), .rst_ni(rst_ni), .valid_i(VALID), .ready_i(READY), .data_i(PAYLOAD) \
  );
`define WEFT_ASSERT_INITIAL(NAME, CONDITION) \
  initial begin : NAME \
    assert (CONDITION) else $error("%m does not hold"); \
  end
`else
`define WEFT_ASSERT(NAME, CONDITION)
`define WEFT_ASSERT_STREAM(NAME, VALID, READY, PAYLOAD)
`define WEFT_ASSERT_INITIAL(NAME, CONDITION)
`endif

`endif
