// SPDX-License-Identifier: Apache-2.0
// Binary32 to a signed 32-bit integer, saturating. Combinational.
// Rounds to nearest, ties to even.
// Invariants: inside the range equal to C's rint; beyond it the nearest bound; NaN gives the
// largest integer.
module weft_fp32_to_int (
  input  logic [31:0] fp_i,
  output logic [31:0] int_o
);
  localparam logic [31:0] LARGEST = 32'h7fff_ffff;
  localparam logic [31:0] SMALLEST = 32'h8000_0000;

  logic        negative, is_nan, too_large, tiny, round_up;
  logic [23:0] mantissa;
  logic [4:0]  left;
  logic [54:0] fixed;  // 31 integer bits, 24 fraction bits
  logic [31:0] magnitude;

  assign negative = fp_i[31];
  assign is_nan = fp_i[30:23] == 8'hff && fp_i[22:0] != '0;
  assign too_large = fp_i[30:23] >= 8'd158;  // 2^31 and more
  assign tiny = fp_i[30:23] < 8'd126;        // less than a half
  assign mantissa = {1'b1, fp_i[22:0]};
  assign left = 5'(fp_i[30:23] - 8'd126);
  assign fixed = 55'(mantissa) << left;
  assign round_up = fixed[23] && (fixed[24] || fixed[22:0] != '0);
  assign magnitude = tiny ? 32'd0 : {1'b0, fixed[54:24]} + 32'(round_up);

  always_comb begin
    if (is_nan) int_o = LARGEST;
    else if (too_large) int_o = negative ? SMALLEST : LARGEST;
    else int_o = negative ? -magnitude : magnitude;
  end
endmodule
