// SPDX-License-Identifier: Apache-2.0
// Integer GELU of a quantised value: y = q * (sign(q) * ((min(|q|, -qb) + qb)^2 + qc) + qc), every
// step modulo 2^32. Combinational.
module weft_integer_gelu (
  input  logic [31:0] q_i,
  input  logic [31:0] qb_i,
  input  logic [31:0] qc_i,
  output logic [31:0] y_o
);
  logic [31:0] magnitude, limit, clipped, shifted, square, polynomial, erf;

  assign magnitude = q_i[31] ? -q_i : q_i;
  assign limit = -qb_i;
  assign clipped = $signed(magnitude) > $signed(limit) ? limit : magnitude;
  assign shifted = clipped + qb_i;
  assign square = shifted * shifted;
  assign polynomial = square + qc_i;
  assign erf = q_i[31] ? -polynomial : polynomial;
  assign y_o = q_i * (erf + qc_i);
endmodule
