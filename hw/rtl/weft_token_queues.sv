// SPDX-License-Identifier: Apache-2.0
// Order between the units by tokens, in place of the reservation station: a ring of commands for
// each unit (token_queue), a counter of tokens for each pair of units and direction. Nothing is
// compared: what has to come first, the commands say.
//
//   counters  load -> execute, execute -> load, execute -> store, store -> execute, load -> store,
//             store -> load
//   pop       a command issues when each counter that it pops holds a token, and takes it
//   push      when all commands of its unit up to it are done, the counters that it pushes to get
//             one; a full counter keeps the command's place, and so those behind it
// A token that came in t can be popped in t + 1.
//
// Programs whose counters, command after command in program order, neither fall below zero nor
// exceed their width come to their end: the oldest command that is not done finds its tokens and
// the room for its own (arch/check_tokens.c refuses others).
//
// Issue: one per unit and cycle, in order. Completion: one per cycle for all units, execute before
// load before store; configurations of loads and stores complete when they issue.
// busy_o: a ring has a command, except that a single preload whose compute has not come
// does not count.
//
// Latency: alloc in t, earliest issue t + 1; done in t, issue of what waited t + 1. alloc_ready_o
// depends on the command offered, X_done_ready_o on the other done valids; X_valid_o on registers
// only.
// Commands of loop units and mvout_spad do not come here (asserted).
`include "weft_assert.svh"

module weft_token_queues #(
  parameter int LOAD_ENTRIES = 8,
  parameter int EXECUTE_ENTRIES = 16,
  parameter int STORE_ENTRIES = 4,
  parameter int ID_BITS = 5,
  parameter int TOKEN_BITS = 4,
  parameter bit GATE = 1'b0,
  parameter bit TRACE = 1'b1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               alloc_valid_i,
  output logic               alloc_ready_o,
  input  logic [6:0]         alloc_funct_i,
  input  logic [63:0]        alloc_rs1_i,
  input  logic [63:0]        alloc_rs2_i,
  output logic               ld_valid_o,
  input  logic               ld_ready_i,
  output logic [6:0]         ld_funct_o,
  output logic [63:0]        ld_rs1_o,
  output logic [63:0]        ld_rs2_o,
  output logic [ID_BITS-1:0] ld_id_o,
  output logic               ex_valid_o,
  input  logic               ex_ready_i,
  output logic [6:0]         ex_funct_o,
  output logic [63:0]        ex_rs1_o,
  output logic [63:0]        ex_rs2_o,
  output logic [ID_BITS-1:0] ex_id_o,
  output logic               st_valid_o,
  input  logic               st_ready_i,
  output logic [6:0]         st_funct_o,
  output logic [63:0]        st_rs1_o,
  output logic [63:0]        st_rs2_o,
  output logic [ID_BITS-1:0] st_id_o,
  input  logic               ld_done_valid_i,
  output logic               ld_done_ready_o,
  input  logic [ID_BITS-1:0] ld_done_id_i,
  input  logic               ex_done_valid_i,
  output logic               ex_done_ready_o,
  input  logic [ID_BITS-1:0] ex_done_id_i,
  input  logic               st_done_valid_i,
  output logic               st_done_ready_o,
  input  logic [ID_BITS-1:0] st_done_id_i,
  input  logic               ex_solitary_preload_i,
  // state
  output logic               busy_o,
  output logic [7:0]         ld_count_o,
  output logic [7:0]         ex_count_o,
  output logic [7:0]         st_count_o,
  output logic               trace_alloc_o,
  output logic [6:0]         trace_alloc_funct_o,
  output logic [63:0]        trace_alloc_rs1_o,
  output logic [63:0]        trace_alloc_rs2_o,
  output logic [2:0]         trace_issue_valid_o,  // load, execute, store
  output logic [3*32-1:0]    trace_issue_index_o,
  output logic               trace_done_valid_o,   // through the completion port
  output logic [31:0]        trace_done_index_o
);
  // --- the command offered -----------------------------------------------------------------------
  logic is_config, is_gate, is_ld, is_ex, is_st, ld_room, ex_room, st_room, alloc_fire;
  logic [1:0] kind;
  logic [31:0] alloc_index;
  assign is_config = alloc_funct_i == weft_isa_pkg::FUNCT_CONFIG_EX;
  assign is_gate = GATE && alloc_funct_i == weft_isa_pkg::FUNCT_CONFIG_GATE;
  assign kind = alloc_rs1_i[weft_isa_pkg::CONFIG_EX_KIND_LSB+:2];
  assign is_ld = is_config ? kind == weft_isa_pkg::CONFIG_LD_KIND :
      alloc_funct_i == weft_isa_pkg::FUNCT_MVIN || alloc_funct_i == weft_isa_pkg::FUNCT_MVIN2 ||
      alloc_funct_i == weft_isa_pkg::FUNCT_MVIN3;
  assign is_ex = is_config ? kind == weft_isa_pkg::CONFIG_EX_KIND :
      alloc_funct_i == weft_isa_pkg::FUNCT_PRELOAD ||
      alloc_funct_i == weft_isa_pkg::FUNCT_COMPUTE_PRELOADED ||
      alloc_funct_i == weft_isa_pkg::FUNCT_COMPUTE_ACCUMULATED;
  assign is_st = is_config ? kind == weft_isa_pkg::CONFIG_ST_KIND ||
      kind == weft_isa_pkg::CONFIG_NORM_KIND :
      alloc_funct_i == weft_isa_pkg::FUNCT_MVOUT || is_gate;
  assign alloc_ready_o = is_ld ? ld_room : is_ex ? ex_room : is_st ? st_room : 1'b1;
  assign alloc_fire = alloc_valid_i && alloc_ready_o;

  // --- tokens, named by giver and taker ----------------------------------------------------------
  logic [1:0] ld_pop, ld_pop_there, ld_push, ld_push_room;  // execute, store
  logic [1:0] ex_pop, ex_pop_there, ex_push, ex_push_room;  // load, store
  logic [1:0] st_pop, st_pop_there, st_push, st_push_room;  // load, execute
  logic [5:0] push, pop, there, room;
  // load to execute, load to store, execute to load, execute to store, store to load, to execute
  assign push = {st_push[1], st_push[0], ex_push[1], ex_push[0], ld_push[1], ld_push[0]};
  assign pop = {ex_pop[1], ld_pop[1], st_pop[1], ld_pop[0], st_pop[0], ex_pop[0]};
  assign {st_push_room, ex_push_room, ld_push_room} = room;
  assign ld_pop_there = {there[4], there[2]};
  assign ex_pop_there = {there[5], there[0]};
  assign st_pop_there = {there[3], there[1]};
  for (genvar t = 0; t < 6; t++) begin : g_counter
    logic [TOKEN_BITS-1:0] tokens_q;
    assign there[t] = tokens_q != '0;
    assign room[t] = tokens_q != '1;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) tokens_q <= '0;
      else if (push[t] && !pop[t]) tokens_q <= tokens_q + 1'b1;
      else if (pop[t] && !push[t]) tokens_q <= tokens_q - 1'b1;
    end
  end

  // --- the units ---------------------------------------------------------------------------------
  logic ld_done, st_done, ld_preload, ex_preload, st_preload;
  logic [31:0] ld_index, ex_index, st_index, ld_done_index, ex_done_index, st_done_index;
  assign ex_done_ready_o = 1'b1;
  assign ld_done_ready_o = !ex_done_valid_i;
  assign st_done_ready_o = !ex_done_valid_i && !ld_done_valid_i;
  assign ld_done = ld_done_valid_i && ld_done_ready_o;
  assign st_done = st_done_valid_i && st_done_ready_o;
  weft_token_queue #(
    .ENTRIES(LOAD_ENTRIES), .ID_BITS(ID_BITS), .INSTANT(1'b1), .TRACE(TRACE)
  ) u_load (
    .clk_i, .rst_ni,
    .in_valid_i(alloc_valid_i && is_ld), .in_ready_o(ld_room), .in_config_i(is_config),
    .in_funct_i(alloc_funct_i), .in_rs1_i(alloc_rs1_i), .in_rs2_i(alloc_rs2_i),
    .in_index_i(alloc_index),
    .valid_o(ld_valid_o), .ready_i(ld_ready_i), .funct_o(ld_funct_o), .rs1_o(ld_rs1_o),
    .rs2_o(ld_rs2_o), .id_o(ld_id_o), .index_o(ld_index),
    .done_valid_i(ld_done), .done_id_i(ld_done_id_i), .done_index_o(ld_done_index),
    .pop_o(ld_pop), .pop_there_i(ld_pop_there), .push_o(ld_push), .push_room_i(ld_push_room),
    .count_o(ld_count_o), .one_preload_o(ld_preload)
  );
  weft_token_queue #(
    .ENTRIES(EXECUTE_ENTRIES), .ID_BITS(ID_BITS), .INSTANT(1'b0), .TRACE(TRACE)
  ) u_execute (
    .clk_i, .rst_ni,
    .in_valid_i(alloc_valid_i && is_ex), .in_ready_o(ex_room), .in_config_i(is_config),
    .in_funct_i(alloc_funct_i), .in_rs1_i(alloc_rs1_i), .in_rs2_i(alloc_rs2_i),
    .in_index_i(alloc_index),
    .valid_o(ex_valid_o), .ready_i(ex_ready_i), .funct_o(ex_funct_o), .rs1_o(ex_rs1_o),
    .rs2_o(ex_rs2_o), .id_o(ex_id_o), .index_o(ex_index),
    .done_valid_i(ex_done_valid_i), .done_id_i(ex_done_id_i), .done_index_o(ex_done_index),
    .pop_o(ex_pop), .pop_there_i(ex_pop_there), .push_o(ex_push), .push_room_i(ex_push_room),
    .count_o(ex_count_o), .one_preload_o(ex_preload)
  );
  weft_token_queue #(
    .ENTRIES(STORE_ENTRIES), .ID_BITS(ID_BITS), .INSTANT(1'b1), .TRACE(TRACE)
  ) u_store (
    .clk_i, .rst_ni,
    .in_valid_i(alloc_valid_i && is_st), .in_ready_o(st_room), .in_config_i(is_config || is_gate),
    .in_funct_i(alloc_funct_i), .in_rs1_i(alloc_rs1_i), .in_rs2_i(alloc_rs2_i),
    .in_index_i(alloc_index),
    .valid_o(st_valid_o), .ready_i(st_ready_i), .funct_o(st_funct_o), .rs1_o(st_rs1_o),
    .rs2_o(st_rs2_o), .id_o(st_id_o), .index_o(st_index),
    .done_valid_i(st_done), .done_id_i(st_done_id_i), .done_index_o(st_done_index),
    .pop_o(st_pop), .pop_there_i(st_pop_there), .push_o(st_push), .push_room_i(st_push_room),
    .count_o(st_count_o), .one_preload_o(st_preload)
  );

  assign busy_o = (ld_count_o | ex_count_o | st_count_o) != '0 &&
      !(ld_count_o == '0 && st_count_o == '0 && ex_preload && ex_solitary_preload_i);
  // verilator lint_off UNUSED
  logic unused;
  assign unused = &{1'b0, ld_preload, st_preload};
  // verilator lint_on UNUSED

  // --- trace -------------------------------------------------------------------------------------
  if (TRACE) begin : g_trace
    logic [31:0] count_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) count_q <= '0;
      else if (alloc_fire) count_q <= count_q + 32'd1;
    end
    assign alloc_index = count_q;
    assign trace_alloc_o = alloc_fire;
    assign trace_alloc_funct_o = alloc_funct_i;
    assign trace_alloc_rs1_o = alloc_rs1_i;
    assign trace_alloc_rs2_o = alloc_rs2_i;
    assign trace_issue_valid_o = {st_valid_o && st_ready_i, ex_valid_o && ex_ready_i,
        ld_valid_o && ld_ready_i};
    assign trace_issue_index_o = {st_index, ex_index, ld_index};
    assign trace_done_valid_o = ex_done_valid_i || ld_done || st_done;
    assign trace_done_index_o = ex_done_valid_i ? ex_done_index : ld_done ? ld_done_index :
        st_done_index;
  end else begin : g_no_trace
    assign alloc_index = '0;
    assign trace_alloc_o = 1'b0;
    assign trace_alloc_funct_o = '0;
    assign trace_alloc_rs1_o = '0;
    assign trace_alloc_rs2_o = '0;
    assign trace_issue_valid_o = '0;
    assign trace_issue_index_o = '0;
    assign trace_done_valid_o = 1'b0;
    assign trace_done_index_o = '0;
    // verilator lint_off UNUSED
    logic unused_trace;
    assign unused_trace = &{1'b0, alloc_fire, ld_index, ex_index, st_index, ld_done_index,
        ex_done_index, st_done_index};
    // verilator lint_on UNUSED
  end

  `WEFT_ASSERT(FunctIsKnown, !alloc_valid_i || is_ld || is_ex || is_st)
  `WEFT_ASSERT_STREAM(AllocStable, alloc_valid_i, alloc_ready_o,
      {alloc_funct_i, alloc_rs1_i, alloc_rs2_i})
endmodule
