// SPDX-License-Identifier: Apache-2.0
// Front end: takes RoCC commands, unrolls loops, and hands the result to the reservation station in
// order.
//
//   command queue (2) -> loop_conv -> loop_matmul -> unrolled queue (2) -> reservation station
// Each stage takes one cycle; a unit that the array lacks is left out with its stage. At the head
// of the unrolled queue the commands that are not for the reservation station end, in program order
// but without waiting for older ones to finish: flush (flush_o for one cycle), clock_gate (nothing
// to do: there is no gated clock) and counter commands.
//
// Latency: command taken in t, busy_o from t + 1, at the reservation station in t + 4 with both
// loop units. Throughput 1 per cycle. cmd_ready_o is registered; alloc_valid_o and counter_valid_o
// depend on registers only.
`include "weft_assert.svh"

module weft_front_end #(
  parameter int ISA_REVISION = 1,
  parameter int DIM = 16,
  parameter int SP_ROWS = 16384,
  parameter int ACC_ROWS = 1024,
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCK_LEN = 4,
  parameter int MAX_BLOCK_LEN_ACC = 1,
  parameter int NORM_STATS = 4,
  parameter int LOAD_ENTRIES = 8,
  parameter int EXECUTE_ENTRIES = 16,
  parameter int STORE_ENTRIES = 4,
  parameter bit LOOP_MATMUL = 1'b1,
  parameter bit LOOP_CONV = 1'b1,
  parameter bit MAX_POOL = 1'b1,
  parameter bit TRAINING_CONV = 1'b1,
  parameter bit DEPTHWISE_CONV = 1'b1,
  parameter bit PIXEL_REPEAT = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        cmd_valid_i,
  output logic        cmd_ready_o,
  input  logic [6:0]  cmd_funct_i,
  input  logic [63:0] cmd_rs1_i,
  input  logic [63:0] cmd_rs2_i,
  input  logic        cmd_xd_i,
  input  logic [4:0]  cmd_rd_i,
  output logic        alloc_valid_o,
  input  logic        alloc_ready_i,
  output logic [6:0]  alloc_funct_o,
  output logic [63:0] alloc_rs1_o,
  output logic [63:0] alloc_rs2_o,
  output logic        alloc_from_matmul_o,
  output logic        alloc_from_conv_o,
  input  logic [1:0]  matmul_ld_completed_i,
  input  logic [1:0]  matmul_ex_completed_i,
  input  logic [1:0]  matmul_st_completed_i,
  input  logic [1:0]  conv_ld_completed_i,
  input  logic [1:0]  conv_ex_completed_i,
  input  logic [1:0]  conv_st_completed_i,
  output logic        counter_valid_o,
  input  logic        counter_ready_i,
  output logic [63:0] counter_rs1_o,
  output logic [4:0]  counter_rd_o,
  output logic        counter_returns_o,
  output logic        flush_o,
  output logic        busy_o,
  output logic        ev_matmul_o       // the matrix loop unit is active
);
  localparam int CMD_BITS = 7 + 64 + 64 + 6;  // with: returns, rd

  // --- command queue -----------------------------------------------------------------------------
  logic        raw_valid, raw_ready;
  logic [6:0]  raw_funct;
  logic [63:0] raw_rs1, raw_rs2;
  logic [5:0]  raw_rd;
  logic [1:0]  unused_raw_count;
  weft_fifo #(.WIDTH(CMD_BITS), .DEPTH(2)) u_command_queue (
    .clk_i, .rst_ni,
    .in_valid_i(cmd_valid_i), .in_ready_o(cmd_ready_o),
    .in_data_i({cmd_funct_i, cmd_rs1_i, cmd_rs2_i, cmd_xd_i, cmd_rd_i}),
    .out_valid_o(raw_valid), .out_ready_i(raw_ready),
    .out_data_o({raw_funct, raw_rs1, raw_rs2, raw_rd}),
    .count_o(unused_raw_count)
  );

  // --- convolution loops -------------------------------------------------------------------------
  logic        conv_valid, conv_ready, conv_from_conv, conv_busy;
  logic [6:0]  conv_funct;
  logic [63:0] conv_rs1, conv_rs2;
  logic [5:0]  conv_rd;
  if (LOOP_CONV) begin : g_conv
    weft_loop_conv #(
      .ISA_REVISION(ISA_REVISION), .DIM(DIM), .SP_ROWS(SP_ROWS), .ACC_ROWS(ACC_ROWS),
      .ROW_BITS(ROW_BITS),
      .MAX_BLOCK_LEN(MAX_BLOCK_LEN), .MAX_BLOCK_LEN_ACC(MAX_BLOCK_LEN_ACC),
      .LOAD_ENTRIES(LOAD_ENTRIES),
      .EXECUTE_ENTRIES(EXECUTE_ENTRIES), .STORE_ENTRIES(STORE_ENTRIES), .MAX_POOL(MAX_POOL),
      .TRAINING_CONV(TRAINING_CONV), .DEPTHWISE_CONV(DEPTHWISE_CONV), .PIXEL_REPEAT(PIXEL_REPEAT)
    ) u_conv (
      .clk_i, .rst_ni,
      .in_valid_i(raw_valid), .in_ready_o(raw_ready), .in_funct_i(raw_funct), .in_rs1_i(raw_rs1),
      .in_rs2_i(raw_rs2),
      .in_rd_i(raw_rd),
      .out_valid_o(conv_valid), .out_ready_i(conv_ready), .out_funct_o(conv_funct),
      .out_rs1_o(conv_rs1),
      .out_rs2_o(conv_rs2), .out_rd_o(conv_rd), .out_from_conv_o(conv_from_conv),
      .ld_completed_i(conv_ld_completed_i), .ex_completed_i(conv_ex_completed_i),
      .st_completed_i(conv_st_completed_i),
      .busy_o(conv_busy)
    );
  end else begin : g_no_conv
    logic unused;
    assign unused = &{1'b0, conv_ld_completed_i, conv_ex_completed_i, conv_st_completed_i};
    assign conv_valid = raw_valid;
    assign raw_ready = conv_ready;
    assign conv_funct = raw_funct;
    assign conv_rs1 = raw_rs1;
    assign conv_rs2 = raw_rs2;
    assign conv_rd = raw_rd;
    assign conv_from_conv = 1'b0;
    assign conv_busy = 1'b0;
  end

  // --- matrix loops ------------------------------------------------------------------------------
  logic        loop_valid, loop_ready, loop_from_matmul, loop_from_conv, matmul_busy;
  logic [6:0]  loop_funct;
  logic [63:0] loop_rs1, loop_rs2;
  logic [5:0]  loop_rd;
  if (LOOP_MATMUL) begin : g_matmul
    weft_loop_matmul #(
      .ISA_REVISION(ISA_REVISION), .DIM(DIM), .SP_ROWS(SP_ROWS), .ACC_ROWS(ACC_ROWS),
      .ROW_BITS(ROW_BITS),
      .MAX_BLOCK_LEN(MAX_BLOCK_LEN), .MAX_BLOCK_LEN_ACC(MAX_BLOCK_LEN_ACC), .NORM_STATS(NORM_STATS),
      .LOAD_ENTRIES(LOAD_ENTRIES), .EXECUTE_ENTRIES(EXECUTE_ENTRIES), .STORE_ENTRIES(STORE_ENTRIES)
    ) u_matmul (
      .clk_i, .rst_ni,
      .in_valid_i(conv_valid), .in_ready_o(conv_ready), .in_funct_i(conv_funct),
      .in_rs1_i(conv_rs1),
      .in_rs2_i(conv_rs2), .in_rd_i(conv_rd), .in_from_conv_i(conv_from_conv),
      .out_valid_o(loop_valid), .out_ready_i(loop_ready), .out_funct_o(loop_funct),
      .out_rs1_o(loop_rs1),
      .out_rs2_o(loop_rs2), .out_rd_o(loop_rd), .out_from_matmul_o(loop_from_matmul),
      .out_from_conv_o(loop_from_conv),
      .ld_completed_i(matmul_ld_completed_i), .ex_completed_i(matmul_ex_completed_i),
      .st_completed_i(matmul_st_completed_i), .busy_o(matmul_busy)
    );
  end else begin : g_no_matmul
    logic unused;
    assign unused = &{1'b0, matmul_ld_completed_i, matmul_ex_completed_i, matmul_st_completed_i};
    assign loop_valid = conv_valid;
    assign conv_ready = loop_ready;
    assign loop_funct = conv_funct;
    assign loop_rs1 = conv_rs1;
    assign loop_rs2 = conv_rs2;
    assign loop_rd = conv_rd;
    assign loop_from_matmul = 1'b0;
    assign loop_from_conv = conv_from_conv;
    assign matmul_busy = 1'b0;
  end

  // --- unrolled queue ----------------------------------------------------------------------------
  logic       head_valid, head_ready, is_flush, is_counter, is_clock_gate;
  logic [5:0] head_rd;
  logic [1:0] unused_count;
  weft_fifo #(.WIDTH(CMD_BITS + 2), .DEPTH(2)) u_unrolled_queue (
    .clk_i, .rst_ni,
    .in_valid_i(loop_valid), .in_ready_o(loop_ready),
    .in_data_i({loop_funct, loop_rs1, loop_rs2, loop_rd, loop_from_matmul, loop_from_conv}),
    .out_valid_o(head_valid), .out_ready_i(head_ready),
    .out_data_o({alloc_funct_o, alloc_rs1_o, alloc_rs2_o, head_rd, alloc_from_matmul_o,
    alloc_from_conv_o}),
    .count_o(unused_count)
  );
  assign is_flush = alloc_funct_o == weft_isa_pkg::FUNCT_FLUSH;
  assign is_clock_gate = alloc_funct_o == weft_isa_pkg::FUNCT_CLOCK_GATE;
  assign is_counter = alloc_funct_o == weft_isa_pkg::FUNCT_COUNTER;
  assign alloc_valid_o = head_valid && !is_flush && !is_clock_gate && !is_counter;
  assign counter_valid_o = head_valid && is_counter;
  assign counter_rs1_o = alloc_rs1_o;
  assign counter_rd_o = head_rd[4:0];
  assign counter_returns_o = head_rd[5];
  assign flush_o = head_valid && is_flush;
  assign head_ready = is_flush || is_clock_gate || (is_counter ? counter_ready_i : alloc_ready_i);

  assign busy_o = raw_valid || conv_busy || conv_valid || matmul_busy || loop_valid || head_valid;
  assign ev_matmul_o = matmul_busy;

  `WEFT_ASSERT_STREAM(CommandStable, cmd_valid_i, cmd_ready_o,
      {cmd_funct_i, cmd_rs1_i, cmd_rs2_i, cmd_xd_i, cmd_rd_i})
  `WEFT_ASSERT_STREAM(AllocStable, alloc_valid_o, alloc_ready_i,
      {alloc_funct_o, alloc_rs1_o, alloc_rs2_o})
  `WEFT_ASSERT_STREAM(CounterStable, counter_valid_o, counter_ready_i,
      {counter_rs1_o, counter_rd_o})
endmodule
