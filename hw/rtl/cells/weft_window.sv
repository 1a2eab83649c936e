// SPDX-License-Identifier: Apache-2.0
// Queue whose first HEADS entries are all visible and that lets any number of them go at once.
//
// head_data_o[i*WIDTH +: WIDTH] is the entry i places behind the head; it means something only with
// head_valid_o[i]. pop_i entries leave at the end of the cycle; no more than are valid. Latency 1
// cycle from in to a head. in_ready_o does not depend on pop_i: a full window accepts again one
// cycle after a pop.
`include "weft_assert.svh"

module weft_window #(
  parameter int WIDTH = 8,
  parameter int DEPTH = 4,
  parameter int HEADS = 2,
  parameter int POP_BITS = $clog2(HEADS + 1)  // derived
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   in_valid_i,
  output logic                   in_ready_o,
  input  logic [WIDTH-1:0]       in_data_i,
  output logic [HEADS-1:0]       head_valid_o,
  output logic [HEADS*WIDTH-1:0] head_data_o,
  input  logic [POP_BITS-1:0]    pop_i
);
  localparam int PTR_BITS = $clog2(DEPTH);
  localparam int COUNT_BITS = $clog2(DEPTH + 1);
  localparam logic [PTR_BITS:0] WRAP = (PTR_BITS + 1)'(DEPTH);

  logic [WIDTH-1:0] mem [DEPTH];
  logic [PTR_BITS-1:0] read_q, write_q;
  logic [COUNT_BITS-1:0] count_q;
  logic push;

  // (pointer + step) modulo DEPTH, step <= HEADS <= DEPTH.
  function automatic logic [PTR_BITS-1:0] advance(input logic [PTR_BITS-1:0] pointer,
      input logic [PTR_BITS:0] step);
    logic [PTR_BITS:0] sum;
    sum = {1'b0, pointer} + step;
    if (sum >= WRAP) sum = sum - WRAP;
    advance = sum[PTR_BITS-1:0];
  endfunction

  assign in_ready_o = count_q != COUNT_BITS'(DEPTH);
  assign push = in_valid_i && in_ready_o;
  for (genvar i = 0; i < HEADS; i++) begin : g_head
    assign head_valid_o[i] = count_q > COUNT_BITS'(i);
    assign head_data_o[i*WIDTH+:WIDTH] = mem[advance(read_q, (PTR_BITS + 1)'(i))];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q <= '0;
      write_q <= '0;
      count_q <= '0;
    end else begin
      if (push) write_q <= advance(write_q, (PTR_BITS + 1)'(1));
      read_q <= advance(read_q, (PTR_BITS + 1)'(pop_i));
      count_q <= count_q + COUNT_BITS'(push) - COUNT_BITS'(pop_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) mem[write_q] <= in_data_i;
  end

  `WEFT_ASSERT(PopsWhatIsThere, COUNT_BITS'(pop_i) <= count_q)
endmodule
