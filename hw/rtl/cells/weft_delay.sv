// SPDX-License-Identifier: Apache-2.0
// Data delayed by CYCLES registers; 0 is a wire. No reset: the data means something only where a
// valid bit travels beside it.
module weft_delay #(
  parameter int WIDTH = 8,
  parameter int CYCLES = 1
) (
  input  logic             clk_i,
  input  logic [WIDTH-1:0] in_i,
  output logic [WIDTH-1:0] out_o
);
  if (CYCLES == 0) begin : g_wire
    assign out_o = in_i;
    logic unused;
    assign unused = clk_i;
  end else begin : g_registers
    logic [CYCLES*WIDTH-1:0] data_q;
    always_ff @(posedge clk_i) data_q <= (CYCLES*WIDTH)'({data_q, in_i});
    assign out_o = data_q[(CYCLES-1)*WIDTH+:WIDTH];
  end
endmodule
