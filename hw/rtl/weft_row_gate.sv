// SPDX-License-Identifier: Apache-2.0
// The gate: an int8 row times another one, element by element, each product times a binary32 scale,
// clipped to int8.
//   y = clip(to_int(to_fp32(a * b) * scale)), rounded to nearest even at each step (scale_element)
//
// A pipeline of LATENCY stages that closes up its bubbles while the output waits.
// Latency: in at t -> out t + LATENCY.
// Combinational: in_ready_o depends on out_ready_i.
// Invariants: rows keep their order; busy_o is high while a row is inside or enters.
module weft_row_gate #(
  parameter int DIM = 16,
  parameter int LATENCY = 8,
  parameter int TAG_BITS = 64
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                in_valid_i,
  output logic                in_ready_o,
  input  logic [DIM*8-1:0]    in_row_i,
  input  logic [DIM*8-1:0]    in_factors_i,
  input  logic [31:0]         in_scale_i,
  input  logic [TAG_BITS-1:0] in_tag_i,
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [DIM*8-1:0]    out_row_o,
  output logic [TAG_BITS-1:0] out_tag_o,
  output logic                busy_o
);
  logic [DIM*8-1:0] products;
  for (genvar i = 0; i < DIM; i++) begin : g_lane
    logic [15:0] product;
    assign product = 16'($signed(in_row_i[i*8 +: 8]) * $signed(in_factors_i[i*8 +: 8]));
    weft_scale_element #(.WIDTH(16)) u_scale (
      .int_i(product), .scale_i(in_scale_i), .int_o(products[i*8 +: 8])
    );
  end

  weft_pipe #(.WIDTH(DIM*8 + TAG_BITS), .STAGES(LATENCY)) u_pipe (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(in_valid_i), .in_ready_o(in_ready_o), .in_data_i({products, in_tag_i}),
    .out_valid_o(out_valid_o), .out_ready_i(out_ready_i), .out_data_o({out_row_o, out_tag_o}),
    .busy_o(busy_o)
  );
endmodule
