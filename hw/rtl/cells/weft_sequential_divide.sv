// SPDX-License-Identifier: Apache-2.0
// Unsigned division, STEP quotient bits per cycle (restoring), of which BITS is a multiple. The
// dividend is {first_i, dividend_i}, and first_i less than the divisor, or both are zero. start_i
// loads the operands; done_o is high in the one cycle in which the results are first valid,
// BITS / STEP + 1 cycles after the start; they stay until the next start.
// A divisor of zero gives a quotient of all ones.
module weft_sequential_divide #(
  parameter int WIDTH = 32,  // of the divisor and of what remains
  parameter int BITS = 32,   // of the quotient
  parameter int STEP = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,
  input  logic [WIDTH-1:0] first_i,
  input  logic [BITS-1:0]  dividend_i,
  input  logic [WIDTH-1:0] divisor_i,
  output logic             done_o,
  output logic [BITS-1:0]  quotient_o,
  output logic [WIDTH-1:0] remainder_o
);
  localparam int CYCLES = BITS / STEP;
  localparam int COUNT_BITS = $clog2(CYCLES + 1);

  logic [COUNT_BITS-1:0] left_q;
  logic [BITS-1:0]  quotient_q, quotient_d;
  logic [WIDTH-1:0] remainder_q, remainder_d, divisor_q;

  assign quotient_o = quotient_q;
  assign remainder_o = remainder_q;

  // The next dividend bit leaves the top of the quotient register as the next quotient bit enters
  // below.
  always_comb begin
    logic [WIDTH:0] trial;
    logic fits;
    quotient_d = quotient_q;
    remainder_d = remainder_q;
    for (int i = 0; i < STEP; i++) begin
      trial = {remainder_d, quotient_d[BITS-1]};
      fits = trial >= {1'b0, divisor_q};
      quotient_d = {quotient_d[BITS-2:0], fits};
      remainder_d = WIDTH'(fits ? trial - {1'b0, divisor_q} : trial);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q <= '0;
      done_o <= 1'b0;
      quotient_q <= '0;
      remainder_q <= '0;
      divisor_q <= '0;
    end else begin
      done_o <= left_q == COUNT_BITS'(1);
      if (start_i) begin
        left_q <= COUNT_BITS'(CYCLES);
        quotient_q <= dividend_i;
        remainder_q <= first_i;
        divisor_q <= divisor_i;
      end else if (left_q != '0) begin
        left_q <= left_q - COUNT_BITS'(1);
        quotient_q <= quotient_d;
        remainder_q <= remainder_d;
      end
    end
  end
endmodule
