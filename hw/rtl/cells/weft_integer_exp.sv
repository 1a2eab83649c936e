// SPDX-License-Identifier: Apache-2.0
// Integer exponential of a quantised value q <= 0. With z = (-q * qln2_inv) >> 16 and p = q + z *
// qln2:
//   y = ((p + qb)^2 + qc) >> z, a logical shift; 0 when z is 32 or more. Sums and products modulo
//   2^32, except that
// -q * qln2_inv keeps 64 bits before its shift. Combinational.
module weft_integer_exp (
  input  logic [31:0] q_i,
  input  logic [31:0] qb_i,
  input  logic [31:0] qc_i,
  input  logic [31:0] qln2_i,
  input  logic [31:0] qln2_inv_i,
  output logic [31:0] y_o
);
  logic [31:0] negated, z, p, shifted, polynomial;
  logic [63:0] quotient;

  assign negated = -q_i;
  assign quotient = {{32{negated[31]}}, negated} * {{32{qln2_inv_i[31]}}, qln2_inv_i};
  assign z = quotient[47:16];
  assign p = q_i + z * qln2_i;
  assign shifted = p + qb_i;
  assign polynomial = shifted * shifted + qc_i;
  assign y_o = z[31:5] != '0 ? 32'd0 : polynomial >> z[4:0];
  logic unused;
  assign unused = &{1'b0, quotient};
endmodule
