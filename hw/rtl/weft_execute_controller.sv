// SPDX-License-Identifier: Apache-2.0
// Execute unit: carries out config_ex, preload and compute, in order.
//
// Commands pass the preload unroller into a window whose first three entries are visible. An
// operation is
//   PRELOAD  a preload alone (D into the mesh; with the transposer in use, the compute's A or B
//            too)
//   BOTH     a compute together with the preload behind it; it looks at the third command for
//            hazards and transposing, and waits for it if output-stationary: a flush between the
//            two would push the new D out of the mesh
//   COMPUTE  a compute alone
// and walks the rows of A, B and D (operand_fetch). What fired is noted in the control queue, which
// is as long as the scratchpad's read pipeline; at its head the answers of the banks meet the mesh
// (operand_select, mesh_with_delays). Results return as rows with a tag that names their
// destination (execute_writeback).
//
//   WAIT      nothing runs; the next operation starts here, so operations follow each other without
//             a gap
//   COMPUTE   an operation runs, from its second cycle on
//   FLUSH     rows of zeros are to push results out: output-stationary with nothing to do, or a
//             config is waiting
//   FLUSHING  they are being fed
//
// Order and hazards: an operation whose operands overlap the destination of a product still on its
// way waits until that product's last row is written; a config waits until no product is on its way
// and every completion is reported.
// Completion: a compute when its last row has fired, a preload when the last row of C is written (C
// garbage: when its last row has fired), a config at once. One per cycle: products first, then
// computes, then preloads without C.
//
// Weight-stationary operations that load no weights and use no transposer take as many rows as A
// (also a garbage A), the bias or C has, at least MIN_ROWS; all others take DIM, and so does one
// that streams zeros into the weights which the next compute swaps in.
//
// A row that would meet the row before it in a sub-bank of a single-ported accumulator enters a
// cycle later (row_spacing).
//
// Latency (READ_DELAY 4): command t -> operation t + 3 (a preload also needs the command behind it)
// -> first row in the mesh's buffer t + 8 -> first result row (mesh_with_delays LATENCY + 1) later,
// written in the same cycle.
// Combinational: *_rsp_valid_i -> *_rsp_ready_o, *_rd_valid_o; *_rd_ready_i only to registers.
// *_rd_valid_o may drop.
// Reset configuration: everything zero, that is output-stationary where the mesh supports it.
`include "weft_assert.svh"

module weft_execute_controller #(
  parameter int MESH_ROWS = 4,
  parameter int MESH_COLUMNS = 4,
  parameter int TILE_ROWS = 1,
  parameter int TILE_COLUMNS = 1,
  parameter int DATAFLOW = weft_pkg::MESH_DATAFLOW_BOTH,
  parameter int INPUT_BITS = 8,
  parameter int OUTPUT_BITS = 20,
  parameter int ACC_BITS = 32,
  parameter int TILE_LATENCY = 0,
  parameter int OUTPUT_DELAY = 1,
  parameter int MAX_MATMULS = 5,
  // no bias port: D of a weight-stationary compute (preload if output-stationary) is zero
  parameter bit BIAS_GARBAGE = 1'b0,
  parameter bit TRANSPOSER = 1'b1,
  parameter bit ACTIVATION = 1'b1,    // ReLU on results to the scratchpad
  parameter int SP_BANKS = 4,
  parameter int SP_BANK_BITS = 12,    // log2 of the rows of a bank
  parameter int ACC_BANKS = 2,
  parameter int ACC_BANK_BITS = 9,
  parameter int ACC_SUB_BANKS = 1,    // of a single-ported accumulator; 1: two-ported
  parameter int ROW_BITS = 14,        // row number of a local address
  parameter int READ_DELAY = 4,       // scratchpad read pipeline
  parameter bit READS_ACC = 1'b1,
  parameter bit WRITES_SP = 1'b1,
  parameter bit WRITES_ACC = 1'b1,
  parameter int QUEUE = 8,
  parameter int ID_BITS = 5,
  parameter int DIM = MESH_ROWS * TILE_ROWS  // derived
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  // from and to the reservation station
  input  logic                               ex_valid_i,
  output logic                               ex_ready_o,
  input  logic [6:0]                         ex_funct_i,
  input  logic [63:0]                        ex_rs1_i,
  input  logic [63:0]                        ex_rs2_i,
  input  logic [ID_BITS-1:0]                 ex_id_i,
  output logic                               ex_done_valid_o,
  // must be high when a product completes
  input  logic                               ex_done_ready_i,
  output logic [ID_BITS-1:0]                 ex_done_id_o,
  output logic                               ex_solitary_preload_o,
  output logic                               busy_o,
  // to and from local memory
  output logic [SP_BANKS-1:0]                sp_rd_valid_o,
  input  logic [SP_BANKS-1:0]                sp_rd_ready_i,
  output logic [SP_BANKS*SP_BANK_BITS-1:0]   sp_rd_addr_o,
  input  logic [SP_BANKS-1:0]                sp_rsp_valid_i,
  output logic [SP_BANKS-1:0]                sp_rsp_ready_o,
  input  logic [SP_BANKS*DIM*INPUT_BITS-1:0] sp_rsp_data_i,
  output logic [ACC_BANKS-1:0]               acc_rd_valid_o,
  input  logic [ACC_BANKS-1:0]               acc_rd_ready_i,
  output logic [ACC_BANKS*ACC_BANK_BITS-1:0] acc_rd_addr_o,
  output logic [31:0]                        acc_rd_scale_o,
  output logic [2:0]                         acc_rd_act_o,
  input  logic [ACC_BANKS-1:0]               acc_rsp_valid_i,
  output logic [ACC_BANKS-1:0]               acc_rsp_ready_o,
  input  logic [DIM*INPUT_BITS-1:0]          acc_rsp_data_i,
  output logic [SP_BANKS-1:0]                sp_wr_en_o,
  output logic [SP_BANKS*SP_BANK_BITS-1:0]   sp_wr_addr_o,
  output logic [DIM*INPUT_BITS-1:0]          sp_wr_data_o,
  output logic [DIM-1:0]                     sp_wr_mask_o,
  output logic [ACC_BANKS-1:0]               acc_wr_valid_o,
  output logic [ACC_BANKS*ACC_BANK_BITS-1:0] acc_wr_addr_o,
  output logic [DIM*ACC_BITS-1:0]            acc_wr_data_o,
  output logic                               acc_wr_accumulate_o,
  output logic [DIM-1:0]                     acc_wr_mask_o,
  // counter events; vectors are A, B, D from bit 0 up
  output logic                               ev_active_o,
  output logic                               ev_flush_o,
  output logic                               ev_control_block_o,
  output logic                               ev_preload_hazard_o,
  output logic                               ev_overlap_hazard_o,
  output logic [2:0]                         ev_sp_wait_o,
  output logic [2:0]                         ev_acc_wait_o,
  output logic [2:0]                         ev_garbage_o,
  output logic                               ev_unroller_o
);
  localparam int SHIFT_BITS = 5;
  localparam int COUNT_BITS = $clog2(DIM + 1);
  localparam int MIN_ROWS = DIM < 4 ? DIM : 4;
  localparam int SP_SEL_BITS = SP_BANKS > 1 ? $clog2(SP_BANKS) : 1;
  localparam int ACC_SEL_BITS = ACC_BANKS > 1 ? $clog2(ACC_BANKS) : 1;
  localparam int SEL_BITS = SP_SEL_BITS > ACC_SEL_BITS ? SP_SEL_BITS : ACC_SEL_BITS;
  localparam int COMMAND_BITS = 1 + ID_BITS + 7 + 64 + 64;
  localparam int TAG_BITS = 3 + ID_BITS + ROW_BITS + 2 * COUNT_BITS;
  localparam bit RAW_POSSIBLE = READS_ACC || WRITES_SP;

  typedef enum logic [1:0] {WAIT, COMPUTE, FLUSH, FLUSHING} state_e;
  typedef enum logic [1:0] {OP_NONE, OP_PRELOAD, OP_BOTH, OP_COMPUTE} op_e;
  state_e state_q, state_d;
  op_e op, op_q, start;  // start: of the operation that starts in this cycle

  // ---- Commands ---------------------------------------------------------------------------------
  logic un_valid, un_ready, un_id_valid, un_waiting;
  logic [6:0] un_funct;
  logic [63:0] un_rs1, un_rs2;
  logic [ID_BITS-1:0] un_id;
  weft_preload_unroller #(.ID_BITS(ID_BITS), .DATAFLOW(DATAFLOW),
      .TRANSPOSER(TRANSPOSER)) u_unroller (
    .clk_i,
    .rst_ni,
    .in_valid_i(ex_valid_i),
    .in_ready_o(ex_ready_o),
    .in_funct_i(ex_funct_i),
    .in_rs1_i(ex_rs1_i),
    .in_rs2_i(ex_rs2_i),
    .in_id_i(ex_id_i),
    .out_valid_o(un_valid),
    .out_ready_i(un_ready),
    .out_funct_o(un_funct),
    .out_rs1_o(un_rs1),
    .out_rs2_o(un_rs2),
    .out_id_o(un_id),
    .out_id_valid_o(un_id_valid),
    .waiting_o(un_waiting),
    .active_o(ev_unroller_o)
  );

  logic [2:0] head_valid;
  logic [3*COMMAND_BITS-1:0] heads;
  logic [1:0] pop;
  weft_window #(.WIDTH(COMMAND_BITS), .DEPTH(QUEUE), .HEADS(3)) u_window (
    .clk_i,
    .rst_ni,
    .in_valid_i(un_valid),
    .in_ready_o(un_ready),
    .in_data_i({un_id_valid, un_id, un_funct, un_rs1, un_rs2}),
    .head_valid_o(head_valid),
    .head_data_o(heads),
    .pop_i(pop)
  );

  logic id_valid0, id_valid1, id_valid2;
  logic [ID_BITS-1:0] id0, id1, id2;
  logic [6:0] funct0, funct1, funct2;
  logic [63:0] rs1_0, rs2_0, rs1_1, rs2_1, rs1_2, rs2_2;
  assign {id_valid2, id2, funct2, rs1_2, rs2_2, id_valid1, id1, funct1, rs1_1, rs2_1, id_valid0,
          id0, funct0, rs1_0, rs2_0} = heads;

  logic config0, preload0, preload1, compute0, empty0;
  assign config0 = funct0 == weft_isa_pkg::FUNCT_CONFIG_EX;
  assign preload0 = funct0 == weft_isa_pkg::FUNCT_PRELOAD;
  assign preload1 = funct1 == weft_isa_pkg::FUNCT_PRELOAD;
  assign compute0 = funct0 == weft_isa_pkg::FUNCT_COMPUTE_PRELOADED ||
                    funct0 == weft_isa_pkg::FUNCT_COMPUTE_ACCUMULATED;
  assign empty0 = compute0 && !id_valid0;  // from the unroller

  // ---- Configuration ----------------------------------------------------------------------------
  logic configure, os_q;
  logic [SHIFT_BITS-1:0] shift_q;
  logic [1:0] activation_q;
  logic [31:0] scale_q;
  logic a_transpose_q, b_transpose_q;
  logic [15:0] a_stride_q, c_stride_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      os_q <= DATAFLOW != weft_pkg::MESH_DATAFLOW_WS;
      shift_q <= '0;
      activation_q <= '0;
      scale_q <= '0;
      a_transpose_q <= 1'b0;
      b_transpose_q <= 1'b0;
      a_stride_q <= '0;
      c_stride_q <= '0;
    end else if (configure) begin
      a_stride_q <= rs1_0[weft_isa_pkg::CONFIG_EX_A_STRIDE_LSB+:16];
      c_stride_q <= rs2_0[weft_isa_pkg::CONFIG_EX_C_STRIDE_LSB+:16];
      if (!rs1_0[weft_isa_pkg::CONFIG_EX_STRIDES_ONLY_LSB]) begin
        if (DATAFLOW == weft_pkg::MESH_DATAFLOW_BOTH)
          os_q <= rs1_0[weft_isa_pkg::CONFIG_EX_DATAFLOW_LSB] ==
                  weft_isa_pkg::CONFIG_EX_DATAFLOW_OS;
        shift_q <= rs2_0[weft_isa_pkg::CONFIG_EX_IN_SHIFT_LSB+:SHIFT_BITS];
        activation_q <= rs1_0[weft_isa_pkg::CONFIG_EX_ACTIVATION_LSB+:2];
        scale_q <= rs1_0[weft_isa_pkg::CONFIG_EX_ACC_SCALE_LSB+:32];
        a_transpose_q <= rs1_0[weft_isa_pkg::CONFIG_EX_A_TRANSPOSE_LSB];
        b_transpose_q <= rs1_0[weft_isa_pkg::CONFIG_EX_B_TRANSPOSE_LSB];
      end
    end
  end
  assign acc_rd_scale_o = scale_q;
  assign acc_rd_act_o = ACTIVATION ? {1'b0, activation_q} : 3'd0;

  // Which operand passes the transposer. Output-stationary A has to enter column by column.
  logic via_a, via_b, via_d;
  assign via_a = TRANSPOSER && (os_q ? !a_transpose_q : a_transpose_q);
  assign via_b = TRANSPOSER && os_q && b_transpose_q;
  assign via_d = TRANSPOSER && !os_q && b_transpose_q;

  // ---- The operands of the operation ------------------------------------------------------------
  // The preload is the first command or the second; the compute behind it feeds the transposer
  // ahead of its own operation.
  logic [63:0] pre_rs1, pre_rs2, next_rs1, next_rs2, a_field, b_field;
  logic pre_id_valid, next_swaps, next_swaps_now, next_swaps_q, next_valid;
  logic [ID_BITS-1:0] pre_id;
  assign {pre_id_valid, pre_id, pre_rs1, pre_rs2} = preload0 ? {id_valid0, id0, rs1_0, rs2_0} :
                                                               {id_valid1, id1, rs1_1, rs2_1};
  assign {next_valid, next_rs1, next_rs2} = preload0 ? {head_valid[1], rs1_1, rs2_1} :
      {head_valid[2], rs1_2, rs2_2};
  // The third command may arrive while the operation runs; the mesh was told the rows at the start.
  assign next_swaps_now = !next_valid ||
      (preload0 ? funct1 : funct2) == weft_isa_pkg::FUNCT_COMPUTE_PRELOADED;
  assign a_field = preload0 || via_a ? next_rs1 : rs1_0;
  assign b_field = preload0 || via_b ? next_rs2 : rs2_0;

  // Rows and columns as they lie in local memory: a transposed operand has them exchanged.
  function automatic logic [COUNT_BITS-1:0] rows_of(input logic [63:0] field,
      input logic transposed);
    rows_of = COUNT_BITS'(field >> (transposed ? weft_isa_pkg::PRELOAD_COLS_LSB :
        weft_isa_pkg::PRELOAD_ROWS_LSB));
  endfunction

  logic b_exchanged, d_exchanged;
  assign b_exchanged = os_q && b_transpose_q;
  assign d_exchanged = !os_q && b_transpose_q;
  logic a_garbage, b_garbage, d_garbage, c_garbage, a_named, b_named, d_named;
  logic next_a_garbage, next_bd_garbage;
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_a_garbage (
    .local_i(a_field[weft_isa_pkg::PRELOAD_LOCAL_LSB +: 32]), .garbage_o(a_named)
  );
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_b_garbage (
    .local_i(b_field[weft_isa_pkg::PRELOAD_LOCAL_LSB +: 32]), .garbage_o(b_named)
  );
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_d_garbage (
    .local_i(pre_rs1[weft_isa_pkg::PRELOAD_LOCAL_LSB +: 32]), .garbage_o(d_named)
  );
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_c_garbage (
    .local_i(pre_rs2[weft_isa_pkg::PRELOAD_LOCAL_LSB +: 32]), .garbage_o(c_garbage)
  );
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_next_a_garbage (
    .local_i(next_rs1[weft_isa_pkg::COMPUTE_PRELOADED_A_LSB +: 32]), .garbage_o(next_a_garbage)
  );
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_next_bd_garbage (
    .local_i(next_rs2[weft_isa_pkg::COMPUTE_PRELOADED_BD_LSB +: 32]), .garbage_o(next_bd_garbage)
  );
  assign a_garbage = a_named || empty0;
  assign b_garbage = b_named || empty0 || (BIAS_GARBAGE && !os_q);
  assign d_garbage = d_named || (BIAS_GARBAGE && os_q);

  logic [2:0] present, read, acc;
  logic [COUNT_BITS-1:0] a_rows, b_rows, d_rows, a_cols, b_cols, d_cols, c_rows, c_cols, total_rows;
  logic [COUNT_BITS-1:0] product_rows_q;  // of C of the product that is computed next
  assign present = {op == OP_PRELOAD || op == OP_BOTH,
                    op == OP_BOTH || (op == OP_PRELOAD ? via_b : !via_b),
                    op == OP_BOTH || (op == OP_PRELOAD ? via_a : !via_a)};
  assign read = present & ~{d_garbage, b_garbage, a_garbage} & ({3{READS_ACC}} | ~acc);
  localparam int ACCUMULATOR = weft_isa_pkg::LOCAL_ACCUMULATOR_LSB;
  assign acc = {pre_rs1[ACCUMULATOR], b_field[ACCUMULATOR], a_field[ACCUMULATOR]};
  assign a_rows = rows_of(a_field, a_transpose_q);
  assign a_cols = rows_of(a_field, !a_transpose_q);
  assign b_rows = rows_of(b_field, b_exchanged);
  assign b_cols = rows_of(b_field, !b_exchanged);
  assign d_rows = rows_of(pre_rs1, d_exchanged);
  assign d_cols = rows_of(pre_rs1, !d_exchanged);
  assign c_rows = rows_of(pre_rs2, 1'b0);
  assign c_cols = rows_of(pre_rs2, 1'b1);

  always_comb begin
    total_rows = COUNT_BITS'(DIM);
    if (!os_q && !via_a && !via_d && !read[2] && !(present[2] && next_swaps)) begin
      total_rows = COUNT_BITS'(MIN_ROWS);
      if (present[0] && a_rows > total_rows) total_rows = a_rows;
      if (read[1] && b_rows > total_rows) total_rows = b_rows;
      if (present[0] && product_rows_q > total_rows) total_rows = product_rows_q;
      if (total_rows > COUNT_BITS'(DIM)) total_rows = COUNT_BITS'(DIM);
    end
  end

  // ---- Hazards ----------------------------------------------------------------------------------
  // The preload's operand and both of the compute behind it; the compute that runs now was looked
  // at with its preload.
  logic hazard, in_progress, hazards_full, push_product, product_done;
  logic [3*ROW_BITS-1:0] query_first, query_last;
  logic [ROW_BITS-1:0] product_first, product_last;
  weft_row_range #(.ROW_BITS(ROW_BITS), .COUNT_BITS(COUNT_BITS)) u_range_a (
    .base_i(next_rs1[ROW_BITS-1:0]), .rows_i(rows_of(next_rs1, a_transpose_q)),
    .stride_i(a_stride_q),
    .first_o(query_first[0+:ROW_BITS]), .last_o(query_last[0+:ROW_BITS]));
  weft_row_range #(.ROW_BITS(ROW_BITS), .COUNT_BITS(COUNT_BITS)) u_range_b (
    .base_i(next_rs2[ROW_BITS-1:0]), .rows_i(rows_of(next_rs2, b_exchanged)), .stride_i(16'd1),
    .first_o(query_first[ROW_BITS+:ROW_BITS]), .last_o(query_last[ROW_BITS+:ROW_BITS]));
  weft_row_range #(.ROW_BITS(ROW_BITS), .COUNT_BITS(COUNT_BITS)) u_range_d (
    .base_i(pre_rs1[ROW_BITS-1:0]), .rows_i(d_rows), .stride_i(16'd1),
    .first_o(query_first[2*ROW_BITS+:ROW_BITS]), .last_o(query_last[2*ROW_BITS+:ROW_BITS]));
  weft_row_range #(.ROW_BITS(ROW_BITS), .COUNT_BITS(COUNT_BITS)) u_range_c (
    .base_i(pre_rs2[ROW_BITS-1:0]), .rows_i(c_rows), .stride_i(os_q ? 16'd1 : c_stride_q),
    .first_o(product_first), .last_o(product_last));

  logic hit;
  weft_execute_hazards #(.ROW_BITS(ROW_BITS), .ENTRIES(MAX_MATMULS + 4), .QUERIES(3)) u_hazards (
    .clk_i,
    .rst_ni,
    .push_i(push_product),
    .push_acc_i(pre_rs2[ACCUMULATOR]),
    .push_first_i(product_first),
    .push_last_i(product_last),
    .pop_i(product_done),
    .query_valid_i(~{d_named, next_bd_garbage, next_a_garbage}),
    .query_acc_i({pre_rs1[ACCUMULATOR], next_rs2[ACCUMULATOR], next_rs1[ACCUMULATOR]}),
    .query_first_i(query_first),
    .query_last_i(query_last),
    .hit_o(hit),
    .any_o(in_progress),
    .full_o(hazards_full)
  );
  assign hazard = RAW_POSSIBLE && hit;

  // ---- Control ----------------------------------------------------------------------------------
  logic active, fetch_done, flush_request, flush_taken, mesh_req_ready, flush_swaps_q;
  // completions to be reported: bit 0 a compute or a preload alone, bit 1 a preload
  logic [1:0] pending_q;
  logic [ID_BITS-1:0] pending_id0_q, pending_id1_q;

  always_comb begin
    start = OP_NONE;
    configure = 1'b0;
    if (state_q == WAIT && head_valid[0]) begin
      if (config0) begin
        configure = !in_progress && pending_q == '0 && ex_done_ready_i;
      end else if (preload0) begin
        if (head_valid[1] && !hazard && !hazards_full) start = OP_PRELOAD;
      end else if (compute0) begin
        if (head_valid[1] && preload1 && !hazards_full &&
            (head_valid[2] ? !hazard : !(RAW_POSSIBLE || os_q || via_a || via_b)))
          start = OP_BOTH;
        else if (!empty0)
          start = OP_COMPUTE;
      end
    end
  end
  always_comb begin
    op = start;
    if (state_q == COMPUTE) op = op_q;
  end
  assign active = op != OP_NONE;
  assign next_swaps = state_q == COMPUTE ? next_swaps_q : next_swaps_now;

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      WAIT: begin
        if (start != OP_NONE) state_d = COMPUTE;
        else if (in_progress && (os_q || (head_valid[0] && config0))) state_d = FLUSH;
      end
      COMPUTE: if (fetch_done) state_d = WAIT;
      FLUSH: if (flush_taken) state_d = FLUSHING;
      default: if (mesh_req_ready) state_d = WAIT;
    endcase
  end

  always_comb begin
    pop = 2'd0;
    if (configure) pop = 2'd1;
    else if (fetch_done) pop = op == OP_BOTH ? 2'd2 : 2'd1;
  end

  assign push_product = (start == OP_PRELOAD || start == OP_BOTH) && !c_garbage;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= WAIT;
      op_q <= OP_NONE;
      flush_swaps_q <= 1'b0;
      next_swaps_q <= 1'b0;
      product_rows_q <= '0;
    end else begin
      state_q <= state_d;
      if (fetch_done && op != OP_COMPUTE) product_rows_q <= c_garbage ? '0 : c_rows;
      if (state_q == WAIT) op_q <= start;
      if (state_q == WAIT) next_swaps_q <= next_swaps_now;
      // Output-stationary: a product that has a destination leaves by swapping the registers once
      // more.
      if (!os_q) flush_swaps_q <= 1'b0;
      else if (fetch_done && op != OP_COMPUTE) flush_swaps_q <= !c_garbage;
    end
  end

  // ---- Completion -------------------------------------------------------------------------------
  logic [1:0] pending_left;
  logic [ID_BITS-1:0] product_id;
  always_comb begin
    pending_left = pending_q;
    if (!product_done && ex_done_ready_i) pending_left = pending_q[0] ? {pending_q[1], 1'b0} :
        2'b00;
  end
  assign ex_done_valid_o = product_done || pending_q != '0 || configure;
  assign ex_done_id_o = product_done ? product_id :
                        pending_q[0] ? pending_id0_q : pending_q[1] ? pending_id1_q : id0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) pending_q <= '0;
    else if (fetch_done) pending_q <= {op == OP_BOTH && pre_id_valid && c_garbage,
                                       id_valid0 && (op != OP_PRELOAD || c_garbage)};
    else pending_q <= pending_left;
  end
  always_ff @(posedge clk_i) begin
    if (fetch_done) {pending_id1_q, pending_id0_q} <= {pre_id, id0};
  end

  // ---- Operand fetch and control queue ----------------------------------------------------------
  logic [2:0] fire;
  logic first;
  logic [3*SEL_BITS-1:0] bank;
  logic [3*COUNT_BITS-1:0] cols;
  logic control_ready;
  weft_operand_fetch #(
    .DIM(DIM),
    .ROW_BITS(ROW_BITS),
    .SP_BANKS(SP_BANKS),
    .SP_BANK_BITS(SP_BANK_BITS),
    .ACC_BANKS(ACC_BANKS),
    .ACC_BANK_BITS(ACC_BANK_BITS)
  ) u_fetch (
    .clk_i,
    .rst_ni,
    .active_i(active),
    .enable_i(control_ready),
    .hold_last_i(pending_left != '0),
    .total_rows_i(total_rows),
    .read_i(read),
    .acc_i(acc),
    .base_i({pre_rs1[ROW_BITS-1:0], b_field[ROW_BITS-1:0], a_field[ROW_BITS-1:0]}),
    .rows_i({d_rows, b_rows, a_rows}),
    .cols_i({d_cols, b_cols, a_cols}),
    .a_stride_i(ROW_BITS'(a_stride_q)),
    .fire_o(fire),
    .first_o(first),
    .done_o(fetch_done),
    .bank_o(bank),
    .cols_o(cols),
    .sp_rd_valid_o,
    .sp_rd_ready_i,
    .sp_rd_addr_o,
    .acc_rd_valid_o,
    .acc_rd_ready_i,
    .acc_rd_addr_o
  );

  localparam int REQUEST_BITS = 2 + SHIFT_BITS + 3 + COUNT_BITS + TAG_BITS;
  localparam int CONTROL_BITS = 1 + 3 * (3 + SEL_BITS + COUNT_BITS) + REQUEST_BITS;
  logic [TAG_BITS-1:0] tag;
  logic swaps;
  assign tag = {op != OP_COMPUTE && !c_garbage, pre_id, pre_rs2[ACCUMULATOR],
                pre_rs2[weft_isa_pkg::LOCAL_ACCUMULATE_LSB], pre_rs2[ROW_BITS-1:0], c_rows, c_cols};
  assign swaps = op == OP_PRELOAD ? flush_swaps_q : funct0 == weft_isa_pkg::FUNCT_COMPUTE_PRELOADED;

  logic entry_valid, entry_first, entry_swaps, entry_os, take;
  logic [2:0] entry_fire, entry_acc, entry_read, entry_via, data_ready, op_ready;
  logic [3*SEL_BITS-1:0] entry_bank;
  logic [3*COUNT_BITS-1:0] entry_cols;
  logic [SHIFT_BITS-1:0] entry_shift;
  logic [COUNT_BITS-1:0] entry_rows;
  logic [TAG_BITS-1:0] entry_tag;
  logic [$clog2(READ_DELAY+2)-1:0] control_count;
  weft_fifo #(.WIDTH(CONTROL_BITS), .DEPTH(READ_DELAY + 1), .PIPE(1'b1)) u_control (
    .clk_i,
    .rst_ni,
    .in_valid_i(|fire),
    .in_ready_o(control_ready),
    .in_data_i({first, fire, acc, read, bank, cols, swaps, os_q, shift_q, {via_d, via_b, via_a},
    total_rows, tag}),
    .out_valid_o(entry_valid),
    .out_ready_i(take),
    .out_data_o({entry_first, entry_fire, entry_acc, entry_read, entry_bank, entry_cols,
                 entry_swaps, entry_os, entry_shift, entry_via, entry_rows, entry_tag}),
    .count_o(control_count)
  );

  // ---- Mesh -------------------------------------------------------------------------------------
  // An entry is taken when all its rows are there and the mesh takes them; the first of an
  // operation brings the request.
  logic [3*DIM*INPUT_BITS-1:0] rows;
  assign take = entry_valid && (entry_fire & ~(data_ready & op_ready)) == '0 &&
      (!entry_first || mesh_req_ready);
  assign flush_request = state_q == FLUSH && !entry_valid;
  assign flush_taken = flush_request && mesh_req_ready;
  weft_operand_select #(
    .DIM(DIM),
    .INPUT_BITS(INPUT_BITS),
    .SP_BANKS(SP_BANKS),
    .ACC_BANKS(ACC_BANKS),
    .COUNT_BITS(COUNT_BITS),
    .SEL_BITS(SEL_BITS)
  ) u_select (
    .fire_i(entry_fire),
    .acc_i(entry_acc),
    .bank_i(entry_bank),
    .cols_i(entry_cols),
    .take_i(take),
    .data_ready_o(data_ready),
    .row_o(rows),
    .sp_rsp_valid_i,
    .sp_rsp_ready_o,
    .sp_rsp_data_i,
    .acc_rsp_valid_i,
    .acc_rsp_ready_o,
    .acc_rsp_data_i
  );

  logic resp_valid, resp_last, row_feed, row_hold;
  logic [TAG_BITS-1:0] resp_tag, row_tag;
  logic [COUNT_BITS-1:0] resp_total_rows, row_index, row_total;
  logic [DIM*OUTPUT_BITS-1:0] resp_data;
  weft_mesh_with_delays #(
    .MESH_ROWS(MESH_ROWS),
    .MESH_COLUMNS(MESH_COLUMNS),
    .TILE_ROWS(TILE_ROWS),
    .TILE_COLUMNS(TILE_COLUMNS),
    .DATAFLOW(DATAFLOW),
    .INPUT_BITS(INPUT_BITS),
    .OUTPUT_BITS(OUTPUT_BITS),
    .SHIFT_BITS(SHIFT_BITS),
    .TILE_LATENCY(TILE_LATENCY),
    .OUTPUT_DELAY(OUTPUT_DELAY),
    .MAX_MATMULS(MAX_MATMULS),
    .TRANSPOSER(TRANSPOSER),
    .TAG_BITS(TAG_BITS)
  ) u_mesh (
    .clk_i,
    .rst_ni,
    .req_valid_i((take && entry_first) || flush_request),
    .req_ready_o(mesh_req_ready),
    .req_flush_i(flush_request),
    .req_propagate_i(flush_request ? flush_swaps_q : entry_swaps),
    .req_os_i(flush_request ? os_q : entry_os),
    .req_shift_i(flush_request ? shift_q : entry_shift),
    .req_transpose_i(flush_request ? {via_d, via_b, via_a} : entry_via),
    .req_total_rows_i(entry_rows),
    .req_tag_i(entry_tag),
    .op_valid_i(entry_fire & {3{take}}),
    .op_ready_o(op_ready),
    .a_i(rows[0+:DIM*INPUT_BITS]),
    .b_i(rows[DIM*INPUT_BITS+:DIM*INPUT_BITS]),
    .d_i(rows[2*DIM*INPUT_BITS+:DIM*INPUT_BITS]),
    .row_tag_o(row_tag),
    .row_index_o(row_index),
    .row_total_o(row_total),
    .row_feed_o(row_feed),
    .hold_i(row_hold),
    .resp_valid_o(resp_valid),
    .resp_last_o(resp_last),
    .resp_tag_o(resp_tag),
    .resp_total_rows_o(resp_total_rows),
    .resp_data_o(resp_data)
  );

  weft_row_spacing #(
    .SUB_BANKS(ACC_SUB_BANKS),
    .ROW_BITS(ROW_BITS),
    .COUNT_BITS(COUNT_BITS),
    .ID_BITS(ID_BITS)
  ) u_spacing (
    .clk_i,
    .rst_ni,
    .os_i(os_q),
    .c_stride_i(ROW_BITS'(c_stride_q)),
    .tag_i(row_tag),
    .index_i(row_index),
    .total_i(row_total),
    .fed_i(row_feed),
    .hold_o(row_hold)
  );

  weft_execute_writeback #(
    .DIM(DIM),
    .INPUT_BITS(INPUT_BITS),
    .OUTPUT_BITS(OUTPUT_BITS),
    .ACC_BITS(ACC_BITS),
    .ROW_BITS(ROW_BITS),
    .SP_BANKS(SP_BANKS),
    .SP_BANK_BITS(SP_BANK_BITS),
    .ACC_BANKS(ACC_BANKS),
    .ACC_BANK_BITS(ACC_BANK_BITS),
    .ID_BITS(ID_BITS),
    .WRITES_SP(WRITES_SP),
    .WRITES_ACC(WRITES_ACC)
  ) u_writeback (
    .clk_i,
    .rst_ni,
    .os_i(os_q),
    .relu_i(ACTIVATION && activation_q == weft_isa_pkg::CONFIG_EX_ACTIVATION_RELU),
    .c_stride_i(ROW_BITS'(c_stride_q)),
    .resp_valid_i(resp_valid),
    .resp_last_i(resp_last),
    .resp_tag_i(resp_tag),
    .resp_total_rows_i(resp_total_rows),
    .resp_data_i(resp_data),
    .done_valid_o(product_done),
    .done_id_o(product_id),
    .sp_wr_en_o,
    .sp_wr_addr_o,
    .sp_wr_data_o,
    .sp_wr_mask_o,
    .acc_wr_valid_o,
    .acc_wr_addr_o,
    .acc_wr_data_o,
    .acc_wr_accumulate_o,
    .acc_wr_mask_o
  );

  // ---- State and events -------------------------------------------------------------------------
  assign busy_o = head_valid[0] || in_progress;
  assign ex_solitary_preload_o = head_valid[0] ? preload0 && !head_valid[1] : un_waiting;
  assign ev_active_o = state_q == COMPUTE;
  assign ev_flush_o = state_q == FLUSH || state_q == FLUSHING;
  assign ev_control_block_o = active && !control_ready;
  assign ev_preload_hazard_o = head_valid[1:0] == 2'b11 && preload0 && hazard;
  assign ev_overlap_hazard_o = head_valid == 3'b111 && compute0 && preload1 && hazard;
  assign ev_sp_wait_o = {3{entry_valid}} & entry_fire & op_ready & ~data_ready & ~entry_acc;
  assign ev_acc_wait_o = {3{entry_valid}} & entry_fire & op_ready & ~data_ready & entry_acc;
  assign ev_garbage_o = {3{take}} & entry_fire & ~entry_read;

  logic unused;
  assign unused = &{1'b0, id_valid2, id2, control_count};

  `WEFT_ASSERT_INITIAL(FourProductsInFlight, MAX_MATMULS >= 4)
  `WEFT_ASSERT(ProductCompletes, !product_done || ex_done_ready_i)
  `WEFT_ASSERT(CommandIsKnown, !head_valid[0] || config0 || preload0 || compute0)
  // The unit has no such transposition.
  `WEFT_ASSERT(OneTransposition, !configure || DATAFLOW != weft_pkg::MESH_DATAFLOW_BOTH ||
               rs1_0[weft_isa_pkg::CONFIG_EX_STRIDES_ONLY_LSB] ||
               !rs1_0[weft_isa_pkg::CONFIG_EX_B_TRANSPOSE_LSB] ||
               rs1_0[weft_isa_pkg::CONFIG_EX_DATAFLOW_LSB] !=
               rs1_0[weft_isa_pkg::CONFIG_EX_A_TRANSPOSE_LSB])
  `WEFT_ASSERT_STREAM(DoneStable, ex_done_valid_o, ex_done_ready_i, ex_done_id_o)
`ifdef WEFT_ASSERT_ON
  if (ACC_SUB_BANKS > 1) begin : g_check_spacing
    localparam int SUB_BITS = $clog2(ACC_SUB_BANKS);
    for (genvar b = 0; b < ACC_BANKS; b++) begin : g_bank
      logic wrote_q, added_q;
      logic [SUB_BITS-1:0] sub, sub_q;
      assign sub = acc_wr_addr_o[b*ACC_BANK_BITS+:SUB_BITS];
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          wrote_q <= 1'b0;
        end else begin
          wrote_q <= acc_wr_valid_o[b];
          added_q <= acc_wr_accumulate_o;
          sub_q <= sub;
        end
      end
      `WEFT_ASSERT(RowsDoNotMeetInASubBank,
                   !(acc_wr_valid_o[b] && wrote_q && sub == sub_q &&
                   (acc_wr_accumulate_o || added_q)))
    end
  end
`endif
endmodule
