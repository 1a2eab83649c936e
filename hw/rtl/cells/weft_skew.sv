// SPDX-License-Identifier: Apache-2.0
// Skew: element i of a vector is delayed by i * STEP cycles; with REVERSE by (ELEMENTS - 1 - i) *
// STEP.
// Stage s holds only the elements that are still to be delayed, so the registers form a triangle.
// No reset: the data means something only where a valid bit travels beside it.
module weft_skew #(
  parameter int ELEMENTS = 4,
  parameter int WIDTH = 8,
  parameter int STEP = 1,
  parameter bit REVERSE = 1'b0
) (
  input  logic                      clk_i,
  input  logic [ELEMENTS*WIDTH-1:0] in_i,
  output logic [ELEMENTS*WIDTH-1:0] out_o
);
  localparam int STAGES = (ELEMENTS - 1) * STEP;

  // The same in the order of growing delay.
  logic [ELEMENTS*WIDTH-1:0] ordered_in, ordered_out;
  for (genvar i = 0; i < ELEMENTS; i++) begin : g_order
    localparam int FROM = REVERSE ? ELEMENTS - 1 - i : i;
    assign ordered_in[i*WIDTH+:WIDTH] = in_i[FROM*WIDTH+:WIDTH];
    assign out_o[FROM*WIDTH+:WIDTH] = ordered_out[i*WIDTH+:WIDTH];
  end

  assign ordered_out[0+:WIDTH] = ordered_in[0+:WIDTH];
  if (STAGES == 0) begin : g_wire
    logic unused;
    assign unused = clk_i;
  end
  for (genvar s = 1; s <= STAGES; s++) begin : g_stage
    // Elements FIRST and up pass stage s; FIRST_BEFORE is the same of the stage before.
    localparam int FIRST = (s + STEP - 1) / STEP;
    localparam int FIRST_BEFORE = s == 1 ? 0 : (s + STEP - 2) / STEP;
    localparam int DROPPED = FIRST - FIRST_BEFORE;
    logic [(ELEMENTS-FIRST)*WIDTH-1:0] stage_q;
    if (s == 1) begin : g_first
      always_ff @(posedge clk_i) stage_q <= ordered_in[ELEMENTS*WIDTH-1:FIRST*WIDTH];
    end else begin : g_next
      always_ff @(posedge clk_i) stage_q <=
          g_stage[s-1].stage_q[(ELEMENTS-FIRST_BEFORE)*WIDTH-1:DROPPED*WIDTH];
    end
    if (s == FIRST * STEP) begin : g_arrived
      assign ordered_out[FIRST*WIDTH+:WIDTH] = stage_q[0+:WIDTH];
    end
  end
endmodule
