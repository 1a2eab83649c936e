// SPDX-License-Identifier: Apache-2.0
// One element times a binary32 scale, clipped to int8: the arithmetic of mvin and of the narrow
// accumulator reads.
//   y = clip(to_int(to_fp32(x) * scale)), rounded to nearest even at each of the three steps.
//   Combinational.
// Invariants: equal to the C expression rint((float)x * scale) clamped to [-128, 127]; NaN gives
// 127.
module weft_scale_element #(
  parameter int WIDTH = 32  // of x
) (
  input  logic [WIDTH-1:0] int_i,
  input  logic [31:0]      scale_i,
  output logic [7:0]       int_o
);
  logic [31:0] as_float, scaled, as_int;

  weft_int_to_fp32 #(.WIDTH(WIDTH)) u_to_float (.int_i(int_i), .fp_o(as_float));
  weft_fp32_multiply u_multiply (.a_i(as_float), .b_i(scale_i), .product_o(scaled));
  weft_fp32_to_int u_to_int (.fp_i(scaled), .int_o(as_int));

  always_comb begin
    if ($signed(as_int) > 32'sd127) int_o = 8'h7f;
    else if ($signed(as_int) < -32'sd128) int_o = 8'h80;
    else int_o = as_int[7:0];
  end
endmodule
