// SPDX-License-Identifier: Apache-2.0
// Product of two binary32 numbers, rounded to nearest, ties to even; subnormals in and out.
// Combinational.
// Invariants: equal to the C product a * b bit for bit, except that every NaN result is the quiet
// NaN 0x7fc00000.
module weft_fp32_multiply (
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] product_o
);
  localparam logic [31:0] QUIET_NAN = 32'h7fc0_0000;
  localparam logic [30:0] INFINITE = 31'h7f80_0000;

  logic        sign;
  logic        a_max, b_max, a_zero, b_zero, is_nan, is_inf;
  logic [23:0] a_mant, b_mant;
  logic [9:0]  a_exp, b_exp;
  logic [47:0] product, normal, shifted;
  logic [5:0]  lead;
  logic signed [10:0] exponent;
  logic [10:0] down;
  logic        lost, round_up, subnormal;
  logic [30:0] rounded;

  assign sign = a_i[31] ^ b_i[31];
  assign a_max = a_i[30:23] == 8'hff;
  assign b_max = b_i[30:23] == 8'hff;
  assign a_zero = a_i[30:0] == '0;
  assign b_zero = b_i[30:0] == '0;
  assign is_nan = (a_max && a_i[22:0] != '0) || (b_max && b_i[22:0] != '0) || (a_max && b_zero) ||
      (b_max && a_zero);
  assign is_inf = a_max || b_max;

  // A subnormal has exponent 1 and no hidden bit.
  assign a_mant = {a_i[30:23] != '0, a_i[22:0]};
  assign b_mant = {b_i[30:23] != '0, b_i[22:0]};
  assign a_exp = a_i[30:23] == '0 ? 10'd1 : {2'd0, a_i[30:23]};
  assign b_exp = b_i[30:23] == '0 ? 10'd1 : {2'd0, b_i[30:23]};
  assign product = 48'(a_mant) * 48'(b_mant);

  always_comb begin
    lead = '0;
    for (int unsigned i = 0; i < 48; i++) begin
      if (product[i]) lead = 6'(i);
    end
  end

  // With the leading one at bit 47 the biased exponent is a + b - 127 + 1 less the shift.
  assign normal = product << (6'd47 - lead);
  assign exponent = 11'(a_exp) + 11'(b_exp) - 11'sd126 - (11'd47 - 11'(lead));
  assign subnormal = exponent <= 0;
  assign down = subnormal ? 11'd1 - exponent : 11'd0;
  assign shifted = down > 11'd47 ? 48'd0 : normal >> down[5:0];
  // Bits that the shift of a subnormal drops still count for rounding.
  assign lost = down > 11'd47 ? normal != '0 : (shifted << down[5:0]) != normal;
  assign round_up = shifted[23] && (shifted[24] || shifted[22:0] != '0 || lost);
  assign rounded = {subnormal ? 8'd0 : exponent[7:0], shifted[46:24]} + 31'(round_up);

  always_comb begin
    if (is_nan) product_o = QUIET_NAN;
    else if (is_inf) product_o = {sign, INFINITE};
    else if (product == '0) product_o = {sign, 31'd0};
    else if (exponent >= 11'sd255 || rounded >= INFINITE) product_o = {sign, INFINITE};
    else product_o = {sign, rounded};
  end
endmodule
