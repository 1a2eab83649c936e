// SPDX-License-Identifier: Apache-2.0
// Processing element: one multiply-accumulate and two stationary registers that can swap roles.
//
//   shift   takes d_i and hands its old value down at c_o: weights or biases come in, finished sums
//           go out
//   active  works:  weight-stationary  b_o = b_i + a_i * active
//                   output-stationary  active <= active + a_i * b_i,  b_o = b_i
// With swap_i the two exchange roles before they act, so the element computes with what had been
// shifted in, and what had been active leaves at c_o; output-stationary it leaves through a
// rounding right shift by shift_i, half to even. Sums are OUTPUT_BITS wide and wrap, also in the
// register, because an output-stationary sum passes through the multiply-add's output in every
// step. A shifted sum always fits: the saturation of the ISA never acts.
//
// REGISTER_RIGHT and REGISTER_DOWN put the register behind the element into it (the last column and
// row of a tile do that): a_o, or b_o and c_o, then come one cycle later; otherwise they are
// combinational. All registers move only with valid_i. They are data and have no reset: what they
// hold is loaded before its result is used.
// The whole step stands in one clocked block because Verilator then skips an idle element with one
// test.
module weft_pe #(
  parameter int DATAFLOW = weft_pkg::MESH_DATAFLOW_BOTH,
  parameter int INPUT_BITS = 8,
  parameter int OUTPUT_BITS = 20,
  parameter int SHIFT_BITS = 5,
  parameter bit REGISTER_RIGHT = 1'b1,
  parameter bit REGISTER_DOWN = 1'b1,
  // derived: width of a stationary register
  parameter int D_BITS = DATAFLOW == weft_pkg::MESH_DATAFLOW_WS ? INPUT_BITS : OUTPUT_BITS
) (
  input  logic                   clk_i,
  input  logic                   valid_i,
  input  logic                   swap_i,
  input  logic                   os_i,     // the row is computed output-stationary
  input  logic [SHIFT_BITS-1:0]  shift_i,
  input  logic [INPUT_BITS-1:0]  a_i,
  input  logic [OUTPUT_BITS-1:0] b_i,
  input  logic [D_BITS-1:0]      d_i,
  output logic [INPUT_BITS-1:0]  a_o,
  output logic [OUTPUT_BITS-1:0] b_o,
  output logic [D_BITS-1:0]      c_o
);
  localparam int FRACTION_BITS = 1 << SHIFT_BITS;

  logic [D_BITS-1:0] shift_q, active_q;
  logic os;
  assign os = DATAFLOW == weft_pkg::MESH_DATAFLOW_OS ||
      (DATAFLOW == weft_pkg::MESH_DATAFLOW_BOTH && os_i);

  // sum + x * y, wrapping.
  function automatic logic [OUTPUT_BITS-1:0] multiply_add(input logic [OUTPUT_BITS-1:0] sum,
                                                          input logic signed [INPUT_BITS-1:0] x,
                                                          input logic signed [INPUT_BITS-1:0] y);
    multiply_add = sum + OUTPUT_BITS'(x) * OUTPUT_BITS'(y);
  endfunction

  // value / 2**shift, half to even: the fraction below the value's last bit tells how to round.
  function automatic logic [OUTPUT_BITS-1:0] round_shift(input logic [OUTPUT_BITS-1:0] value,
                                                         input logic [SHIFT_BITS-1:0] shift);
    logic signed [OUTPUT_BITS+FRACTION_BITS-1:0] shifted;
    logic up;
    shifted = $signed({value, {FRACTION_BITS{1'b0}}}) >>> shift;
    up = shifted[FRACTION_BITS-1] && (shifted[FRACTION_BITS] || |shifted[FRACTION_BITS-2:0]);
    round_shift = shifted[FRACTION_BITS+:OUTPUT_BITS] + OUTPUT_BITS'(up);
  endfunction

  // The sum that the element computes, and what leaves the shift register.
  function automatic logic [OUTPUT_BITS-1:0] sum(input logic [D_BITS-1:0] stationary);
    if (os) sum = multiply_add(OUTPUT_BITS'($signed(stationary)), a_i, b_i[INPUT_BITS-1:0]);
    else sum = multiply_add(b_i, a_i, stationary[INPUT_BITS-1:0]);
  endfunction

  function automatic logic [D_BITS-1:0] finished(input logic [D_BITS-1:0] value);
    if (os && shift_i != '0) finished = D_BITS'(round_shift(OUTPUT_BITS'($signed(value)), shift_i));
    else finished = value;
  endfunction

  if (REGISTER_DOWN) begin : g_registered
    logic [OUTPUT_BITS-1:0] b_q;
    logic [D_BITS-1:0] c_q;
    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        shift_q <= d_i;
        if (swap_i) begin
          c_q <= finished(active_q);
          b_q <= os ? b_i : sum(shift_q);
          active_q <= os ? D_BITS'(sum(shift_q)) : shift_q;
        end else begin
          c_q <= shift_q;
          if (os) begin
            b_q <= b_i;
            active_q <= D_BITS'(sum(active_q));
          end else begin
            b_q <= sum(active_q);
          end
        end
      end
    end
    assign b_o = b_q;
    assign c_o = c_q;
  end else begin : g_through
    logic [D_BITS-1:0] active;
    assign active = swap_i ? shift_q : active_q;
    assign b_o = os ? b_i : sum(active);
    assign c_o = swap_i ? finished(active_q) : shift_q;
    always_ff @(posedge clk_i) begin
      if (valid_i) begin
        shift_q <= d_i;
        active_q <= os ? D_BITS'(sum(active)) : active;
      end
    end
  end

  if (REGISTER_RIGHT) begin : g_right
    logic [INPUT_BITS-1:0] a_q;
    always_ff @(posedge clk_i) begin
      if (valid_i) a_q <= a_i;
    end
    assign a_o = a_q;
  end else begin : g_wire
    assign a_o = a_i;
  end
endmodule
