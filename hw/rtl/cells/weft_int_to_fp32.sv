// SPDX-License-Identifier: Apache-2.0
// Signed integer to binary32, rounded to nearest, ties to even. Combinational.
// Invariants: exact for magnitudes up to 2^24; zero gives +0; equal to the C conversion (float)x.
module weft_int_to_fp32 #(
  parameter int WIDTH = 32  // 2 to 32
) (
  input  logic [WIDTH-1:0] int_i,
  output logic [31:0]      fp_o
);
  logic        negative;
  logic [WIDTH-1:0] absolute;
  logic [31:0] magnitude;
  logic [30:0] normal;
  logic [4:0]  lead;
  logic        round_up;

  assign negative = int_i[WIDTH-1];
  assign absolute = negative ? -int_i : int_i;
  assign magnitude = 32'(absolute);

  // The highest set bit; of no interest when there is none.
  always_comb begin
    lead = '0;
    for (int unsigned i = 0; i < 32; i++) begin
      if (magnitude[i]) lead = 5'(i);
    end
  end

  // The leading one is shifted out: it is the hidden bit. [30:8] is the fraction, [7:0] what
  // rounding drops.
  assign normal = 31'(magnitude << (5'd31 - lead));
  assign round_up = normal[7] && (normal[8] || (normal[6:0] != '0));
  // A carry out of the fraction ends in the exponent, which is the right result.
  assign fp_o = magnitude == '0 ? 32'd0
              : {negative, {8'd127 + 8'(lead), normal[30:8]} + 31'(round_up)};
endmodule
