// SPDX-License-Identifier: Apache-2.0
// The arithmetic cells of scaling and normalisation, side by side.
module weft_scale_cells_bench (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  input  logic [31:0] qb_i,
  input  logic [31:0] qc_i,
  input  logic [31:0] qln2_i,
  input  logic [31:0] qln2_inv_i,
  input  logic        start_i,
  output logic [31:0] from_int_o,
  output logic [31:0] from_int8_o,
  output logic [31:0] product_o,
  output logic [31:0] to_int_o,
  output logic [7:0]  scaled_o,
  output logic [31:0] gelu_o,
  output logic [31:0] exp_o,
  output logic        divide_done_o,
  output logic [31:0] quotient_o,
  output logic [31:0] remainder_o
);
  weft_int_to_fp32 #(.WIDTH(32)) u_from_int (.int_i(a_i), .fp_o(from_int_o));
  weft_int_to_fp32 #(.WIDTH(8)) u_from_int8 (.int_i(a_i[7:0]), .fp_o(from_int8_o));
  weft_fp32_multiply u_multiply (.a_i(a_i), .b_i(b_i), .product_o(product_o));
  weft_fp32_to_int u_to_int (.fp_i(a_i), .int_o(to_int_o));
  weft_scale_element #(.WIDTH(32)) u_scale (.int_i(a_i), .scale_i(b_i), .int_o(scaled_o));
  weft_integer_gelu u_gelu (.q_i(a_i), .qb_i(qb_i), .qc_i(qc_i), .y_o(gelu_o));
  weft_integer_exp u_exp (
    .q_i(a_i), .qb_i(qb_i), .qc_i(qc_i), .qln2_i(qln2_i), .qln2_inv_i(qln2_inv_i), .y_o(exp_o)
  );
  weft_sequential_divide #(.WIDTH(32), .BITS(32), .STEP(2)) u_divide (
    .clk_i(clk_i), .rst_ni(rst_ni), .start_i(start_i), .first_i('0), .dividend_i(a_i),
    .divisor_i(b_i),
    .done_o(divide_done_o),
    .quotient_o(quotient_o), .remainder_o(remainder_o)
  );
endmodule
