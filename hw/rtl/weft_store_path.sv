// SPDX-License-Identifier: Apache-2.0
// From row requests of the store controller to requests of the DMA writer or writes of the
// scratchpad, and accumulator operands for the execute unit.
//
//   st_req --> dispatch (2) --bank read--> norm queue --> scale queue --> issue queue --> wr_req
//                                             |               |              | joined with the
//                                                             row's data:
//   scratchpad: bank, read pipeline ---------------------------------------- + (st_sp_*)
//   accumulator: bank --> normaliser ----------> acc_scale ----------------- +
//   execute's accumulator reads: bank --> normaliser --> acc_scale --> acc_rsp
//
// The queues hold what a row's data will need in each place, so data and requests stay in step. The
// head of dispatch asks for its bank read (rq_*); when it is granted the row has been read and the
// answer st_resp goes to the controller.
// A garbage source needs no read: it moves through the queues on its own and is zeros. Scratchpad
// rows move through the queues on their own, accumulator rows with their data. The norm queue's
// rows with a statistics command end at the normaliser and are not stored.
// A scratchpad row of factors (GATE, st_req_factor) is kept where it would leave, with its address
// as scale; the row behind it passes the gate (row_gate) on its way to wr_req. Other rows wait
// until the gate is empty.
// Execute's reads enter the normaliser before the store path's.
// A row for the scratchpad (SP_STORES, st_req_to_sp) goes to sp_wr instead of wr_req, as int8. It
// is answered when it is written, so that its command completes no sooner; no other row is read,
// and answered, while it asks for the write.
//
// Latency: request t -> bank read t+1 -> scratchpad row at wr_req t + 2 + READ_DELAY (5
// read-pipeline cycles in all with READ_DELAY 4), accumulator row at wr_req t + 3 + scale latency.
// A gated row takes SCALE_LATENCY more, two cycles behind the one before it.
// Depths: norm and scale queue READ_DELAY + 2, issue queue READ_DELAY + 1: with a scale latency of
// 8 five rows are under way at a time. With GATE the issue queue has twice that, as every other row
// is one of factors.
// Combinational: rq_valid_o and sp_wr_valid_o on st_sp_valid_i; st_resp on rq_grant_i and
// sp_wr_ready_i; wr_req_valid_o on st_sp_valid_i; st_sp_ready_o and acc_*_ready_o on wr_req_ready_i
// and sp_wr_ready_i; acc_*_ready_o on the other reader's valid.
// Invariants: rows leave in the order they were requested; one st_resp for each request.
`include "weft_assert.svh"

module weft_store_path #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int SP_BANKS = 4,
  parameter int SP_BANK_ROWS = 4096,
  parameter int ACC_BANKS = 2,
  parameter int ACC_BANK_ROWS = 512,
  parameter int READ_DELAY = 4,
  parameter int SCALE_UNITS = 0,
  parameter int SCALE_LATENCY = 8,
  parameter bit FULL_READS = 1'b1,
  parameter bit NARROW_READS = 1'b1,
  parameter bit ACTIVATION = 1'b1,
  parameter bit NORMALISER = 1'b0,
  parameter int NORM_STATS = 4,
  parameter bit FACTOR_THEN_SCALE = 1'b1,
  parameter bit GATE = 1'b0,
  parameter bit SP_STORES = 1'b0,
  parameter int DATA_BITS = FULL_READS ? DIM * 32 : DIM * 8  // derived
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  // store controller
  input  logic                      st_req_valid_i,
  output logic                      st_req_ready_o,
  input  logic [63:0]               st_req_addr_i,
  input  logic                      st_req_to_sp_i,
  input  logic                      st_req_factor_i,
  input  logic [31:0]               st_req_laddr_i,
  input  logic [2:0]                st_req_act_i,
  input  logic [31:0]               st_req_scale_i,
  input  logic [31:0]               st_req_igelu_qb_i,
  input  logic [31:0]               st_req_igelu_qc_i,
  input  logic [31:0]               st_req_iexp_qln2_i,
  input  logic [31:0]               st_req_iexp_qln2_inv_i,
  input  logic [7:0]                st_req_stats_id_i,
  input  logic [15:0]               st_req_len_i,
  input  logic [7:0]                st_req_block_i,
  input  logic                      st_req_pool_en_i,
  input  logic                      st_req_store_en_i,
  input  logic [7:0]                st_req_cmd_i,
  output logic                      st_resp_valid_o,
  output logic [7:0]                st_resp_cmd_o,
  // bank reads of the store path
  output logic                      rq_valid_o,
  output logic                      rq_is_acc_o,
  output logic [ROW_BITS-1:0]       rq_row_o,
  input  logic                      rq_grant_i,
  // scratchpad rows, behind the read pipelines
  input  logic [SP_BANKS-1:0]       st_sp_valid_i,
  output logic [SP_BANKS-1:0]       st_sp_ready_o,
  input  logic [SP_BANKS*DIM*8-1:0] st_sp_data_i,
  // accumulator rows from the banks
  input  logic [ACC_BANKS-1:0]        acc_st_valid_i,
  output logic [ACC_BANKS-1:0]        acc_st_ready_o,
  input  logic [ACC_BANKS*DIM*32-1:0] acc_st_data_i,
  input  logic [ACC_BANKS-1:0]        acc_ex_valid_i,
  output logic [ACC_BANKS-1:0]        acc_ex_ready_o,
  input  logic [ACC_BANKS*DIM*32-1:0] acc_ex_data_i,
  input  logic [ACC_BANKS*32-1:0]     acc_ex_scale_i,
  input  logic [ACC_BANKS*3-1:0]      acc_ex_act_i,
  // accumulator operands of the execute unit
  output logic [ACC_BANKS-1:0]      acc_rsp_valid_o,
  input  logic [ACC_BANKS-1:0]      acc_rsp_ready_i,
  output logic [DIM*8-1:0]          acc_rsp_data_o,
  // DMA writer
  output logic                      wr_req_valid_o,
  input  logic                      wr_req_ready_i,
  output logic [63:0]               wr_req_addr_o,
  output logic [DATA_BITS-1:0]      wr_req_data_o,
  output logic [15:0]               wr_req_len_o,  // bytes
  output logic [7:0]                wr_req_block_o,
  output logic                      wr_req_pool_en_o,
  output logic                      wr_req_store_en_o,
  // writes of the scratchpad
  output logic                      sp_wr_valid_o,
  input  logic                      sp_wr_ready_i,
  output logic [ROW_BITS-1:0]       sp_wr_row_o,
  output logic [DIM*8-1:0]          sp_wr_data_o,
  output logic [DIM-1:0]            sp_wr_mask_o,
  output logic                      busy_o
);
  localparam int SP_BANK_BITS = $clog2(SP_BANK_ROWS);    // of a row inside a bank
  localparam int ACC_BANK_BITS = $clog2(ACC_BANK_ROWS);
  localparam int SP_SEL = SP_BANKS > 1 ? $clog2(SP_BANKS) : 1;
  localparam int ACC_SEL = ACC_BANKS > 1 ? $clog2(ACC_BANKS) : 1;
  // What a row takes along: whether it is one of factors, whether it goes to the scratchpad and its
  // command then, address, local address, length, block, pooling; what only the normaliser and the
  // scale units need leaves with the data.
  localparam int ROUTE_BITS = 1 + 1 + 8 + 64 + 32 + 16 + 8 + 1 + 1;
  localparam int TO_SP = ROUTE_BITS - 2;
  localparam int ISSUE_DEPTH = (READ_DELAY + 1) * (GATE ? 2 : 1);
  localparam int OPERAND_BITS = 3 + 32 + 4 * 32 + 8;
  localparam int DISPATCH_BITS = ROUTE_BITS + OPERAND_BITS + 8;

  // A local address taken apart.

  logic                    dispatch_valid, dispatch_pop, norm_ready;
  logic [ROUTE_BITS-1:0]   dispatch_route, norm_route, scale_route, issue_route;
  logic [OPERAND_BITS-1:0] dispatch_operands, norm_operands;
  logic [7:0]              dispatch_cmd;
  logic [31:0]             dispatch_laddr, norm_laddr, scale_laddr, issue_laddr;
  logic                    dispatch_garbage, norm_garbage, scale_garbage, issue_garbage;
  logic                    norm_valid, norm_pop, scale_valid, scale_ready, scale_push, scale_pop;
  logic                    issue_valid, issue_ready, issue_push, issue_pop;
  logic [1:0]              unused_dispatch_count;
  logic [$clog2(READ_DELAY+3)-1:0] unused_norm_count, unused_scale_count;
  logic [$clog2(ISSUE_DEPTH+1)-1:0] unused_issue_count;

  weft_fifo #(.WIDTH(DISPATCH_BITS), .DEPTH(2)) u_dispatch (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(st_req_valid_i), .in_ready_o(st_req_ready_o),
    .in_data_i({GATE && st_req_factor_i, SP_STORES && st_req_to_sp_i,
                SP_STORES ? st_req_cmd_i : 8'd0, st_req_addr_i,
                st_req_laddr_i, st_req_len_i, st_req_block_i, st_req_pool_en_i, st_req_store_en_i,
                st_req_act_i,
                st_req_scale_i, st_req_iexp_qln2_inv_i, st_req_iexp_qln2_i, st_req_igelu_qc_i,
                st_req_igelu_qb_i, st_req_stats_id_i, st_req_cmd_i}),
    .out_valid_o(dispatch_valid), .out_ready_i(dispatch_pop),
    .out_data_o({dispatch_route, dispatch_operands, dispatch_cmd}), .count_o(unused_dispatch_count)
  );
  assign dispatch_laddr = dispatch_route[26 +: 32];
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_dispatch_garbage (
    .local_i(dispatch_laddr), .garbage_o(dispatch_garbage)
  );

  // One answer in a cycle.
  logic dispatch_to_sp, answer_taken;
  assign dispatch_to_sp = dispatch_route[TO_SP];
  assign answer_taken = sp_wr_valid_o && !dispatch_to_sp;

  assign rq_valid_o = dispatch_valid && !dispatch_garbage && norm_ready && !answer_taken;
  assign rq_is_acc_o = dispatch_laddr[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB];
  assign rq_row_o = dispatch_laddr[ROW_BITS-1:0];
  assign dispatch_pop = dispatch_garbage ? norm_ready && !answer_taken : rq_grant_i;
  assign st_resp_valid_o = (dispatch_valid && dispatch_pop && !dispatch_to_sp) ||
      (sp_wr_valid_o && sp_wr_ready_i);
  assign st_resp_cmd_o = sp_wr_valid_o ? issue_route[122 +: 8] : dispatch_cmd;

  weft_fifo #(.WIDTH(ROUTE_BITS + OPERAND_BITS), .DEPTH(READ_DELAY + 2)) u_norm (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(dispatch_valid && dispatch_pop), .in_ready_o(norm_ready),
    .in_data_i({dispatch_route, dispatch_operands}),
    .out_valid_o(norm_valid), .out_ready_i(norm_pop), .out_data_o({norm_route, norm_operands}),
    .count_o(unused_norm_count)
  );
  weft_fifo #(.WIDTH(ROUTE_BITS), .DEPTH(READ_DELAY + 2)) u_scale (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(scale_push), .in_ready_o(scale_ready), .in_data_i(norm_route),
    .out_valid_o(scale_valid), .out_ready_i(scale_pop), .out_data_o(scale_route),
    .count_o(unused_scale_count)
  );
  weft_fifo #(.WIDTH(ROUTE_BITS), .DEPTH(ISSUE_DEPTH), .PIPE(1'b1)) u_issue (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(issue_push), .in_ready_o(issue_ready), .in_data_i(scale_route),
    .out_valid_o(issue_valid), .out_ready_i(issue_pop), .out_data_o(issue_route),
    .count_o(unused_issue_count)
  );

  assign norm_laddr = norm_route[26 +: 32];
  assign scale_laddr = scale_route[26 +: 32];
  assign issue_laddr = issue_route[26 +: 32];
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_norm_garbage (
    .local_i(norm_laddr), .garbage_o(norm_garbage)
  );
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_scale_garbage (
    .local_i(scale_laddr), .garbage_o(scale_garbage)
  );
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_issue_garbage (
    .local_i(issue_laddr), .garbage_o(issue_garbage)
  );

  // Accumulator rows enter the normaliser: execute's, lowest bank first, or the one at the head of
  // the norm queue.
  localparam int UNIT_TAG_BITS = 1 + ACC_SEL;
  logic                     norm_is_acc, scale_is_acc, issue_is_acc;
  logic                     ex_waits, store_enters, unit_in_valid, unit_in_ready;
  logic [ACC_SEL-1:0]       ex_bank, norm_bank;
  logic [DIM*32-1:0]        unit_in_data;
  logic [2:0]               norm_cmd, unit_in_act;
  logic [31:0]              unit_in_scale;
  logic [127:0]             norm_consts;
  logic [7:0]               norm_stats_id;

  assign norm_is_acc = norm_laddr[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB] && !norm_garbage;
  assign scale_is_acc = scale_laddr[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB] && !scale_garbage;
  assign issue_is_acc = issue_laddr[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB] && !issue_garbage;
  assign norm_bank = ACC_BANKS > 1 ? ACC_SEL'(norm_laddr[ROW_BITS-1:0] >> ACC_BANK_BITS) : '0;
  assign norm_cmd = NORMALISER ? norm_laddr[weft_isa_pkg::LOCAL_NORM_LSB +: 3] :
      weft_isa_pkg::LOCAL_NORM_NONE;
  assign norm_consts = norm_operands[8 +: 128];
  assign norm_stats_id = norm_operands[7:0];

  always_comb begin
    ex_waits = 1'b0;
    ex_bank = '0;
    for (int b = ACC_BANKS - 1; b >= 0; b--) begin
      if (acc_ex_valid_i[b]) begin
        ex_waits = 1'b1;
        ex_bank = ACC_SEL'(b);
      end
    end
  end
  always_comb begin
    acc_ex_ready_o = '0;
    acc_ex_ready_o[ex_bank] = ex_waits && unit_in_ready;
    acc_st_ready_o = '0;
    acc_st_ready_o[norm_bank] = store_enters && unit_in_ready;
  end
  // Without execute's reads unit_in_ready depends on the norm queue's command only.
  assign store_enters = !ex_waits && norm_valid && norm_is_acc && acc_st_valid_i[norm_bank] &&
      scale_ready;
  assign unit_in_valid = ex_waits || store_enters;
  assign unit_in_data = ex_waits ? acc_ex_data_i[ex_bank*DIM*32 +: DIM*32] :
      acc_st_data_i[norm_bank*DIM*32 +: DIM*32];
  assign unit_in_act = ex_waits ? acc_ex_act_i[ex_bank*3 +: 3] : norm_operands[168 +: 3];
  assign unit_in_scale = ex_waits ? acc_ex_scale_i[ex_bank*32 +: 32] : norm_operands[136 +: 32];

  assign norm_pop = norm_is_acc ? store_enters && unit_in_ready : scale_ready;
  assign scale_push = norm_valid && norm_pop &&
      !(norm_is_acc && norm_cmd != weft_isa_pkg::LOCAL_NORM_NONE);

  logic                     unit_valid, unit_ready, unit_for_store, norm_busy;
  logic [DIM*32-1:0]        unit_data;
  logic [127:0]             unit_consts, unit_stats;
  logic [2:0]               unit_act;
  logic [31:0]              unit_scale;
  logic [ACC_SEL-1:0]       unit_bank;

  weft_normaliser #(
    .ENABLE(NORMALISER), .DIM(DIM), .SETS(NORM_STATS), .TAG_BITS(3 + 32 + UNIT_TAG_BITS)
  ) u_normaliser (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(unit_in_valid), .in_ready_o(unit_in_ready), .in_data_i(unit_in_data),
    .in_cmd_i(ex_waits ? weft_isa_pkg::LOCAL_NORM_NONE : norm_cmd), .in_stats_id_i(norm_stats_id),
    .in_len_i(norm_route[10 +: 16]),
    .in_restart_i(!ex_waits && !norm_laddr[weft_isa_pkg::LOCAL_FULL_LSB]),
    .in_consts_i(norm_consts),
    .in_tag_i({unit_in_act, unit_in_scale, ex_waits ? ex_bank : norm_bank, !ex_waits}),
    .out_valid_o(unit_valid), .out_ready_i(unit_ready), .out_data_o(unit_data),
    .out_consts_o(unit_consts),
    .out_stats_o(unit_stats), .out_tag_o({unit_act, unit_scale, unit_bank, unit_for_store}),
    .busy_o(norm_busy)
  );

  // Into the scale units: a store's row together with its entry of the scale queue.
  logic scale_in_valid, scale_in_ready, store_scales;
  assign store_scales = scale_valid && scale_is_acc && issue_ready;
  assign scale_in_valid = unit_valid && (!unit_for_store || store_scales);
  assign unit_ready = scale_in_ready && (!unit_for_store || store_scales);
  assign scale_pop = scale_is_acc ? unit_valid && unit_for_store && scale_in_ready && issue_ready :
      issue_ready;
  assign issue_push = scale_valid && scale_pop;

  // Layer norm and GELU belong to stores; an operand of the execute unit knows ReLU alone.
  logic [2:0] lane_act;
  assign lane_act = unit_for_store || unit_act == 3'd1 ? unit_act : 3'd0;

  logic                     scaled_valid, scaled_ready, scaled_for_store;
  logic [DIM*8-1:0]         scaled_narrow;
  logic [DIM*32-1:0]        scaled_full;
  logic [ACC_SEL-1:0]       scaled_bank;
  weft_acc_scale #(
    .DIM(DIM), .UNITS(SCALE_UNITS), .LATENCY(SCALE_LATENCY), .FULL_READS(FULL_READS),
    .NARROW_READS(NARROW_READS),
    .ACTIVATION(ACTIVATION), .NORMALISER(NORMALISER), .FACTOR_THEN_SCALE(FACTOR_THEN_SCALE),
    .TAG_BITS(UNIT_TAG_BITS)
  ) u_acc_scale (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(scale_in_valid), .in_ready_o(scale_in_ready), .in_data_i(unit_data),
    .in_act_i(lane_act),
    .in_scale_i(unit_scale), .in_consts_i(unit_consts), .in_stats_i(unit_stats),
    .in_tag_i({unit_bank, unit_for_store}),
    .out_valid_o(scaled_valid), .out_ready_i(scaled_ready), .out_narrow_o(scaled_narrow),
    .out_full_o(scaled_full),
    .out_tag_o({scaled_bank, scaled_for_store})
  );

  // To the execute unit.
  always_comb begin
    acc_rsp_valid_o = '0;
    acc_rsp_valid_o[scaled_bank] = scaled_valid && !scaled_for_store;
  end
  assign acc_rsp_data_o = scaled_narrow;
  assign scaled_ready = scaled_for_store ? issue_valid && issue_is_acc && issue_taken
                                         : acc_rsp_ready_i[scaled_bank];

  // To the writer or the scratchpad: the head of the issue queue with its data.
  logic [SP_SEL-1:0]    issue_sp_bank;
  logic [DATA_BITS-1:0] sp_row, acc_row;
  logic                 issue_full, issue_to_sp, issue_factor, issue_plain, issue_taken, data_valid;
  logic [15:0]          issue_len;

  // A gated row keeps its address, length, block and whether it is the last one of its row.
  localparam int GATE_TAG_BITS = 64 + 16 + 8 + 1;
  logic                     factors_valid, gate_ready, gate_busy, gate_out_valid;
  logic [DIM*8-1:0]         gate_row;
  logic [GATE_TAG_BITS-1:0] gate_tag;

  assign issue_sp_bank = SP_BANKS > 1 ? SP_SEL'(issue_laddr[ROW_BITS-1:0] >> SP_BANK_BITS) : '0;
  assign issue_full = FULL_READS && issue_is_acc && issue_laddr[weft_isa_pkg::LOCAL_FULL_LSB];
  assign issue_len = issue_route[10 +: 16];
  assign issue_to_sp = issue_plain && issue_route[TO_SP];
  assign issue_taken = issue_factor ? 1'b1 : factors_valid ? gate_ready :
      gate_busy ? 1'b0 : issue_to_sp ? sp_wr_ready_i : wr_req_ready_i;
  assign sp_row = DATA_BITS'(st_sp_data_i[issue_sp_bank*DIM*8 +: DIM*8]);
  if (FULL_READS) begin : g_full
    assign acc_row = issue_full ? scaled_full : DATA_BITS'(scaled_narrow);
  end else begin : g_narrow
    assign acc_row = scaled_narrow;
    logic unused_full;
    assign unused_full = &{1'b0, scaled_full};
  end
  always_comb begin
    if (issue_garbage) data_valid = 1'b1;
    else if (issue_is_acc) data_valid = scaled_valid && scaled_for_store;
    else data_valid = st_sp_valid_i[issue_sp_bank];
    st_sp_ready_o = '0;
    st_sp_ready_o[issue_sp_bank] = issue_valid && !issue_garbage && !issue_is_acc && issue_taken;
  end
  assign issue_pop = issue_taken && data_valid;
  assign issue_factor = GATE && issue_route[ROUTE_BITS-1];
  assign issue_plain = issue_valid && !issue_factor && !factors_valid && !gate_busy;

  if (GATE) begin : g_gate
    logic [DIM*8-1:0] factors_q;
    logic [31:0]      gate_scale_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) factors_valid <= 1'b0;
      else if (issue_valid && issue_pop) factors_valid <= issue_factor;
    end
    always_ff @(posedge clk_i) begin
      if (issue_valid && issue_factor && data_valid) begin
        factors_q <= sp_row[DIM*8-1:0];
        gate_scale_q <= issue_route[58 +: 32];
      end
    end
    weft_row_gate #(.DIM(DIM), .LATENCY(SCALE_LATENCY), .TAG_BITS(GATE_TAG_BITS)) u_row_gate (
      .clk_i(clk_i), .rst_ni(rst_ni),
      .in_valid_i(issue_valid && data_valid && factors_valid), .in_ready_o(gate_ready),
      .in_row_i(scaled_narrow), .in_factors_i(factors_q), .in_scale_i(gate_scale_q),
      .in_tag_i({issue_route[58 +: 64], issue_len, issue_route[2 +: 8], issue_route[0]}),
      .out_valid_o(gate_out_valid), .out_ready_i(wr_req_ready_i), .out_row_o(gate_row),
      .out_tag_o(gate_tag), .busy_o(gate_busy)
    );
    `WEFT_ASSERT(FactorsAreOfTheScratchpad,
        !(issue_valid && issue_factor && (issue_is_acc || issue_garbage)))
    `WEFT_ASSERT(FactorsHaveARow,
        !(issue_valid && factors_valid && (issue_factor || !issue_is_acc)))
  end else begin : g_no_gate
    assign factors_valid = 1'b0;
    assign gate_ready = 1'b0;
    assign gate_busy = 1'b0;
    assign gate_out_valid = 1'b0;
    assign gate_row = '0;
    assign gate_tag = '0;
  end

  assign wr_req_valid_o = gate_out_valid || (issue_plain && data_valid && !issue_to_sp);
  always_comb begin
    wr_req_addr_o = issue_route[58 +: 64];
    wr_req_data_o = issue_garbage ? '0 : issue_is_acc ? acc_row : sp_row;
    wr_req_len_o = issue_full ? {issue_len[13:0], 2'b00} : issue_len;
    wr_req_block_o = issue_route[2 +: 8];
    wr_req_pool_en_o = issue_route[1];
    wr_req_store_en_o = issue_route[0];
    if (gate_out_valid) begin
      wr_req_data_o = DATA_BITS'(gate_row);
      {wr_req_addr_o, wr_req_len_o, wr_req_block_o, wr_req_store_en_o} = gate_tag;
      wr_req_pool_en_o = 1'b0;
    end
  end

  assign sp_wr_valid_o = issue_to_sp && data_valid;
  assign sp_wr_row_o = issue_route[58 +: ROW_BITS];
  assign sp_wr_data_o = issue_garbage ? '0 : issue_is_acc ? scaled_narrow : sp_row[DIM*8-1:0];
  assign sp_wr_mask_o = ~({DIM{1'b1}} << issue_len);

  assign busy_o = dispatch_valid || norm_valid || scale_valid || issue_valid || norm_busy ||
      gate_busy;

  `WEFT_ASSERT_STREAM(WriteStable, wr_req_valid_o, wr_req_ready_i,
                      {wr_req_addr_o, wr_req_data_o, wr_req_len_o, wr_req_block_o, wr_req_pool_en_o,
                      wr_req_store_en_o})
  `WEFT_ASSERT_STREAM(SpWriteStable, sp_wr_valid_o, sp_wr_ready_i,
      {sp_wr_row_o, sp_wr_data_o, sp_wr_mask_o})
  `WEFT_ASSERT_STREAM(RequestStable, st_req_valid_i, st_req_ready_o,
                      {st_req_addr_i, st_req_to_sp_i, st_req_laddr_i, st_req_len_i, st_req_block_i,
                      st_req_cmd_i})
  for (genvar b = 0; b < ACC_BANKS; b++) begin : g_assert
    `WEFT_ASSERT_STREAM(AccResponseStable, acc_rsp_valid_o[b], acc_rsp_ready_i[b], acc_rsp_data_o)
  end
endmodule
