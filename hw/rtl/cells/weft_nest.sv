// SPDX-License-Identifier: Apache-2.0
// Nested counters: loop l runs from 0 to end_i[l] in steps of by_i[l]; loop 0 is the innermost.
//
// With step_i loop 0 steps. A loop in its last step (last_o) returns to 0, and the loop around it
// steps. After the last step of all loops the counters are 0 again.
// Ends and steps may change between two steps. Combinational: last_o on end_i and by_i; at_o on
// registers only.
module weft_nest #(
  parameter int LOOPS = 2,
  parameter int WIDTH = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   step_i,
  input  logic [LOOPS*WIDTH-1:0] end_i,
  input  logic [LOOPS*WIDTH-1:0] by_i,
  output logic [LOOPS*WIDTH-1:0] at_o,
  output logic [LOOPS-1:0]       last_o
);
  logic [LOOPS*WIDTH-1:0] at_q;

  assign at_o = at_q;
  for (genvar l = 0; l < LOOPS; l++) begin : g_loop
    logic             steps;  // all loops inside are in their last step
    logic [WIDTH-1:0] left;
    if (l == 0) begin : g_inner
      assign steps = step_i;
    end else begin : g_outer
      assign steps = step_i && (&last_o[l-1:0]);
    end
    assign left = end_i[l*WIDTH +: WIDTH] - at_q[l*WIDTH +: WIDTH];
    assign last_o[l] = left <= by_i[l*WIDTH +: WIDTH];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) at_q[l*WIDTH +: WIDTH] <= '0;
      else if (steps && last_o[l]) at_q[l*WIDTH +: WIDTH] <= '0;
      else if (steps) at_q[l*WIDTH +: WIDTH] <= at_q[l*WIDTH +: WIDTH] + by_i[l*WIDTH +: WIDTH];
    end
  end
endmodule
