// SPDX-License-Identifier: Apache-2.0
// Commands of one unit on an array with tokens, in a ring: first those that it works on, the oldest
// one first, then those that wait.
//
// A command takes the place behind the last one, which is its id. The oldest one that waits issues
// when the tokens that it pops are there (pop_there_i) and the unit takes it; its token bits are
// cleared on the way. Places are given back in order, one per cycle: the oldest one when its
// command is done and the tokens that it pushes have room (push_room_i). So a pushed token says
// that all older commands of the unit are done.
//   INSTANT  configurations are done when they issue
//
// Latency: taken in t, valid_o from t + 1; done in t, push_o in t, place free in t + 1. in_ready_o
// depends on registers only, valid_o on registers and pop_there_i, push_o on push_room_i and
// done_valid_i.
`include "weft_assert.svh"

module weft_token_queue #(
  parameter int ENTRIES = 8,
  parameter int ID_BITS = 5,
  parameter bit INSTANT = 1'b1,
  parameter bit TRACE = 1'b1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic               in_config_i,
  input  logic [6:0]         in_funct_i,
  input  logic [63:0]        in_rs1_i,
  input  logic [63:0]        in_rs2_i,
  input  logic [31:0]        in_index_i,
  // to the unit
  output logic               valid_o,
  input  logic               ready_i,
  output logic [6:0]         funct_o,
  output logic [63:0]        rs1_o,
  output logic [63:0]        rs2_o,
  output logic [ID_BITS-1:0] id_o,
  output logic [31:0]        index_o,
  input  logic               done_valid_i,
  input  logic [ID_BITS-1:0] done_id_i,
  output logic [31:0]        done_index_o,
  // tokens of the two other units
  output logic [1:0]         pop_o,        // by the command that issues in this cycle
  input  logic [1:0]         pop_there_i,
  output logic [1:0]         push_o,       // by the place that is given back in this cycle
  input  logic [1:0]         push_room_i,
  output logic [7:0]         count_o,      // commands
  output logic               one_preload_o // a preload and nothing else
);
  localparam int TOKENS = weft_isa_pkg::MVIN_POP_EXECUTE_LSB;  // two to pop, then two to push
  localparam int PTR_BITS = ENTRIES > 1 ? $clog2(ENTRIES) : 1;
  localparam int COUNT_BITS = $clog2(ENTRIES + 1);
  localparam logic [PTR_BITS-1:0] LAST = PTR_BITS'(ENTRIES - 1);
  localparam int WIDTH = 1 + 7 + 64 + 64;

  logic [WIDTH-1:0]      commands [ENTRIES];
  logic [ENTRIES-1:0]    done_q, preload_q;
  logic [ENTRIES*2-1:0]  pushes_q;
  logic [PTR_BITS-1:0]   oldest_q, head_q, tail_q;  // of all, of those that wait, the next free one
  logic [COUNT_BITS-1:0] held_q, waiting_q;
  logic                  enter, issue, leave, is_config, oldest_done;
  logic [63:0]           rs2;
  logic [1:0]            pops, oldest_pushes;

  // --- the command that waits longest ------------------------------------------------------------
  assign {is_config, funct_o, rs1_o, rs2} = commands[head_q];
  assign pops = is_config ? 2'd0 : rs2[TOKENS+:2];
  assign rs2_o = is_config ? rs2 : {4'd0, rs2[TOKENS-1:0]};
  assign id_o = ID_BITS'(head_q);
  assign valid_o = waiting_q != '0 && (pops & ~pop_there_i) == '0;
  assign issue = valid_o && ready_i;
  assign pop_o = issue ? pops : 2'd0;

  // --- the oldest one ----------------------------------------------------------------------------
  assign oldest_done = done_q[oldest_q] || (done_valid_i && done_id_i == ID_BITS'(oldest_q));
  assign oldest_pushes = pushes_q[{oldest_q, 1'b0}+:2];
  assign leave = held_q != waiting_q && oldest_done && (oldest_pushes & ~push_room_i) == '0;
  assign push_o = leave ? oldest_pushes : 2'd0;

  // --- places ------------------------------------------------------------------------------------
  assign in_ready_o = held_q != COUNT_BITS'(ENTRIES);
  assign enter = in_valid_i && in_ready_o;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      oldest_q <= '0;
      head_q <= '0;
      tail_q <= '0;
      held_q <= '0;
      waiting_q <= '0;
    end else begin
      if (enter) tail_q <= tail_q == LAST ? '0 : tail_q + 1'b1;
      if (issue) head_q <= head_q == LAST ? '0 : head_q + 1'b1;
      if (leave) oldest_q <= oldest_q == LAST ? '0 : oldest_q + 1'b1;
      if (enter && !leave) held_q <= held_q + 1'b1;
      else if (leave && !enter) held_q <= held_q - 1'b1;
      if (enter && !issue) waiting_q <= waiting_q + 1'b1;
      else if (issue && !enter) waiting_q <= waiting_q - 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (enter) commands[tail_q] <= {in_config_i, in_funct_i, in_rs1_i, in_rs2_i};
  end
  for (genvar e = 0; e < ENTRIES; e++) begin : g_place
    always_ff @(posedge clk_i) begin
      if (enter && tail_q == PTR_BITS'(e)) begin
        preload_q[e] <= in_funct_i == weft_isa_pkg::FUNCT_PRELOAD;
        pushes_q[e*2+:2] <= in_config_i ? 2'd0 : in_rs2_i[TOKENS+2+:2];
      end
      if (issue && head_q == PTR_BITS'(e)) done_q[e] <= INSTANT && is_config;
      else if (done_valid_i && done_id_i == ID_BITS'(e)) done_q[e] <= 1'b1;
    end
  end

  assign count_o = 8'(held_q);
  assign one_preload_o = held_q == COUNT_BITS'(1) && preload_q[oldest_q];

  // --- trace -------------------------------------------------------------------------------------
  if (TRACE) begin : g_trace
    logic [31:0] indexes [ENTRIES];
    always_ff @(posedge clk_i) begin
      if (enter) indexes[tail_q] <= in_index_i;
    end
    assign index_o = indexes[head_q];
    assign done_index_o = indexes[PTR_BITS'(done_id_i)];
  end else begin : g_no_trace
    // verilator lint_off UNUSED
    logic unused;
    assign unused = &{1'b0, in_index_i};
    // verilator lint_on UNUSED
    assign index_o = '0;
    assign done_index_o = '0;
  end

  logic [ID_BITS-1:0] done_age;  // places from the oldest one on
  assign done_age = done_id_i >= ID_BITS'(oldest_q) ? done_id_i - ID_BITS'(oldest_q) :
      ID_BITS'(32'(done_id_i) + ENTRIES - 32'(oldest_q));
  `WEFT_ASSERT(CompletesWhatWasIssued, !done_valid_i ||
      (32'(done_age) < 32'(held_q) - 32'(waiting_q) && !done_q[PTR_BITS'(done_id_i)]))
  `WEFT_ASSERT_STREAM(OutStable, valid_o, ready_i, {funct_o, rs1_o, rs2_o, id_o})
endmodule
