// SPDX-License-Identifier: Apache-2.0
// Unsigned division, one quotient bit per cycle (restoring). start_i loads the operands; done_o is
// high in the one cycle in which the results are first valid, WIDTH + 1 cycles after the start;
// they stay until the next start.
// A divisor of zero gives a quotient of all ones.
module weft_sequential_divide #(
  parameter int WIDTH = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,
  input  logic [WIDTH-1:0] dividend_i,
  input  logic [WIDTH-1:0] divisor_i,
  output logic             done_o,
  output logic [WIDTH-1:0] quotient_o,
  output logic [WIDTH-1:0] remainder_o
);
  localparam int COUNT_BITS = $clog2(WIDTH + 1);

  logic [COUNT_BITS-1:0] left_q;
  logic [WIDTH-1:0] quotient_q, remainder_q, divisor_q;
  logic [WIDTH:0] trial;
  logic fits;

  assign quotient_o = quotient_q;
  assign remainder_o = remainder_q;
  // The next dividend bit leaves the top of the quotient register as the next quotient bit enters
  // below.
  assign trial = {remainder_q, quotient_q[WIDTH-1]};
  assign fits = trial >= {1'b0, divisor_q};

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
        left_q <= COUNT_BITS'(WIDTH);
        quotient_q <= dividend_i;
        remainder_q <= '0;
        divisor_q <= divisor_i;
      end else if (left_q != '0) begin
        left_q <= left_q - COUNT_BITS'(1);
        quotient_q <= {quotient_q[WIDTH-2:0], fits};
        remainder_q <= WIDTH'(fits ? trial - {1'b0, divisor_q} : trial);
      end
    end
  end
endmodule
