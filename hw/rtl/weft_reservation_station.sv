// SPDX-License-Identifier: Apache-2.0
// Reservation station: holds commands until what they depend on is done, one file of entries for
// each class.
//
// A command takes the lowest free entry of its class; a full file holds up everything behind it.
// Its dependencies are found once, at that moment, among the valid entries; each is a bit that the
// other entry clears:
//   own class      every older entry that has not issued, so each class issues in order; cleared at
//                  issue. With STORE_ORDER_COMPLETED a store waits until the older ones completed,
//                  and it always waits for an older mvout_spad whose rows it reads. What two of
//                  them write is written in their order.
//   other classes  entries with common local rows (command_rows) of which one command writes;
//                  cleared at completion.
// Conflicts inside the load and the execute class are the controllers' business. Configurations
// depend on their own class alone; those of loads and stores complete when they issue.
//
// Issue: one per class and cycle, the lowest entry without dependencies. Completion: one per cycle
// for all classes, execute before load before store; the entry is free in the next cycle.
// busy_o: any entry is valid, except that a single preload whose compute has not come does not
// count.
//
// Latency: alloc in t, earliest issue t + 1; dependency done in t, issue t + 1. alloc_ready_o
// depends on the command offered, X_done_ready_o on the other done valids; X_valid_o on registers
// only.
// Unknown functs are taken and dropped (asserted).
`include "weft_assert.svh"

module weft_reservation_station #(
  parameter int LOAD_ENTRIES = 8,
  parameter int EXECUTE_ENTRIES = 16,
  parameter int STORE_ENTRIES = 4,
  parameter int ID_BITS = 5,
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int SP_ROWS = 16384,
  parameter bit MAX_POOL = 1'b1,
  parameter bit PIXEL_REPEAT = 1'b1,
  parameter bit GATE = 1'b0,
  parameter int STORE_ORDER = weft_pkg::STORE_ORDER_ISSUED,
  parameter bit TRACE = 1'b1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               alloc_valid_i,
  output logic               alloc_ready_o,
  input  logic [6:0]         alloc_funct_i,
  input  logic [63:0]        alloc_rs1_i,
  input  logic [63:0]        alloc_rs2_i,
  input  logic               alloc_from_matmul_i,
  input  logic               alloc_from_conv_i,
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
  // loop commands that completed in this cycle
  output logic [1:0]         matmul_ld_completed_o,
  output logic [1:0]         matmul_ex_completed_o,
  output logic [1:0]         matmul_st_completed_o,
  output logic [1:0]         conv_ld_completed_o,
  output logic [1:0]         conv_ex_completed_o,
  output logic [1:0]         conv_st_completed_o,
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
  // Entries of all files in one numbering: loads, execute, stores.
  localparam int EX_FIRST = LOAD_ENTRIES;
  localparam int ST_FIRST = LOAD_ENTRIES + EXECUTE_ENTRIES;
  localparam int ENTRIES = LOAD_ENTRIES + EXECUTE_ENTRIES + STORE_ENTRIES;
  localparam int CMD_BITS = 7 + 64 + 64;
  localparam logic [ENTRIES-1:0] LOADS = ENTRIES'((64'd1 << LOAD_ENTRIES) - 64'd1);
  localparam logic [ENTRIES-1:0] EXECUTES =
      ENTRIES'((64'd1 << EXECUTE_ENTRIES) - 64'd1) << EX_FIRST;
  localparam logic [ENTRIES-1:0] STORES = ENTRIES'((64'd1 << STORE_ENTRIES) - 64'd1) << ST_FIRST;

  logic [ENTRIES-1:0] valid_q, issued_q, config_q, preload_q, matmul_q, conv_q;
  logic [ENTRIES-1:0] a_valid_q, a_writes_q, a_acc_q, b_valid_q, b_acc_q;
  logic [ENTRIES*CMD_BITS-1:0] cmd_q;
  // entry e waits for entry x: bit e * ENTRIES + x
  logic [ENTRIES*ENTRIES-1:0] wait_issue_q, wait_done_q;

  // --- the command offered -----------------------------------------------------------------------
  logic is_config, is_gate, is_ld, is_ex, is_st;
  logic [1:0] kind;
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
      alloc_funct_i == weft_isa_pkg::FUNCT_MVOUT ||
      alloc_funct_i == weft_isa_pkg::FUNCT_MVOUT_SPAD || is_gate;

  // Configuration that changes the rows of later commands, in program order.
  logic ws_q, a_transpose_q, b_transpose_q, image_q, alloc_fire;
  logic [15:0] a_stride_q, c_stride_q, image_rows_q, block_stride;
  logic [3*16-1:0] block_stride_q;
  logic [3*8-1:0] repeats_q;
  logic [7:0] repeats;
  logic [1:0] pool_stride, pool_size;
  assign pool_stride = MAX_POOL ? alloc_rs1_i[weft_isa_pkg::CONFIG_ST_POOL_STRIDE_LSB+:2] : 2'd0;
  assign pool_size = alloc_rs1_i[weft_isa_pkg::CONFIG_ST_POOL_SIZE_LSB+:2];
  always_comb begin
    unique case (alloc_funct_i)
      weft_isa_pkg::FUNCT_MVIN2: begin
        block_stride = block_stride_q[31:16];
        repeats = repeats_q[15:8];
      end
      weft_isa_pkg::FUNCT_MVIN3: begin
        block_stride = block_stride_q[47:32];
        repeats = repeats_q[23:16];
      end
      default: begin
        block_stride = block_stride_q[15:0];
        repeats = repeats_q[7:0];
      end
    endcase
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ws_q <= 1'b0;
      a_transpose_q <= 1'b0;
      b_transpose_q <= 1'b0;
      a_stride_q <= '0;
      c_stride_q <= '0;
      block_stride_q <= '0;
      repeats_q <= '0;
      image_q <= 1'b0;
      image_rows_q <= '0;
    end else if (alloc_fire && is_config) begin
      unique case (kind)
        weft_isa_pkg::CONFIG_EX_KIND: begin
          a_stride_q <= alloc_rs1_i[weft_isa_pkg::CONFIG_EX_A_STRIDE_LSB+:16];
          c_stride_q <= alloc_rs2_i[weft_isa_pkg::CONFIG_EX_C_STRIDE_LSB+:16];
          if (!alloc_rs1_i[weft_isa_pkg::CONFIG_EX_STRIDES_ONLY_LSB]) begin
            ws_q <= alloc_rs1_i[weft_isa_pkg::CONFIG_EX_DATAFLOW_LSB];
            a_transpose_q <= alloc_rs1_i[weft_isa_pkg::CONFIG_EX_A_TRANSPOSE_LSB];
            b_transpose_q <= alloc_rs1_i[weft_isa_pkg::CONFIG_EX_B_TRANSPOSE_LSB];
          end
        end
        weft_isa_pkg::CONFIG_LD_KIND: begin
          for (int s = 0; s < 3; s++) begin
            if (alloc_rs1_i[weft_isa_pkg::CONFIG_LD_STATE_LSB+:2] == 2'(s)) begin
              block_stride_q[s*16+:16] <= alloc_rs1_i[weft_isa_pkg::CONFIG_LD_BLOCK_STRIDE_LSB+:16];
              repeats_q[s*8+:8] <= alloc_rs1_i[weft_isa_pkg::CONFIG_LD_PIXEL_REPEATS_LSB+:8];
            end
          end
        end
        weft_isa_pkg::CONFIG_ST_KIND: begin
          image_q <= pool_stride != '0 || pool_size != '0;
          if (pool_stride != '0 || pool_size != '0)
            image_rows_q <= 16'(alloc_rs1_i[weft_isa_pkg::CONFIG_ST_OROWS_LSB+:8]) *
                16'(alloc_rs1_i[weft_isa_pkg::CONFIG_ST_OCOLS_LSB+:8]);
        end
        default: ;
      endcase
    end
  end

  logic gate_on_q;
  logic [ROW_BITS-1:0] gate_offset_q;
  if (GATE) begin : g_gate
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        gate_on_q <= 1'b0;
        gate_offset_q <= '0;
      end else if (alloc_fire && is_gate) begin
        gate_on_q <= alloc_rs1_i[weft_isa_pkg::CONFIG_GATE_ON_LSB];
        gate_offset_q <= alloc_rs1_i[weft_isa_pkg::CONFIG_GATE_OFFSET_LSB+:ROW_BITS];
      end
    end
  end else begin : g_no_gate
    assign gate_on_q = 1'b0;
    assign gate_offset_q = '0;
  end

  logic a_valid, a_writes, a_acc, b_valid, b_acc;
  logic [ROW_BITS-1:0] a_first, b_first;
  logic [ROW_BITS:0] a_end, b_end;
  weft_command_rows #(.DIM(DIM), .ROW_BITS(ROW_BITS), .SP_ROWS(SP_ROWS),
      .PIXEL_REPEAT(PIXEL_REPEAT)) u_rows (
    .funct_i(alloc_funct_i), .rs1_i(alloc_rs1_i), .rs2_i(alloc_rs2_i), .is_config_i(is_config),
    .ws_i(ws_q), .a_transpose_i(a_transpose_q), .b_transpose_i(b_transpose_q),
    .a_stride_i(a_stride_q),
    .c_stride_i(c_stride_q), .block_stride_i(block_stride), .pixel_repeats_i(repeats),
    .image_i(image_q), .image_rows_i(image_rows_q), .gate_i(gate_on_q),
    .gate_offset_i(gate_offset_q),
    .a_valid_o(a_valid), .a_writes_o(a_writes), .a_acc_o(a_acc), .a_first_o(a_first),
    .a_end_o(a_end),
    .b_valid_o(b_valid), .b_acc_o(b_acc), .b_first_o(b_first), .b_end_o(b_end)
  );

  // --- a free entry ------------------------------------------------------------------------------
  logic [ENTRIES-1:0] class_mask, free, alloc_entry;
  always_comb begin
    if (is_ld) class_mask = LOADS;
    else if (is_ex) class_mask = EXECUTES;
    else if (is_st) class_mask = STORES;
    else class_mask = '0;
  end
  assign free = class_mask & ~valid_q;
  assign alloc_ready_o = |free || class_mask == '0;
  assign alloc_fire = alloc_valid_i && alloc_ready_o;
  assign alloc_entry = alloc_fire ? free & (~free + ENTRIES'(1)) : '0;

  // --- issue and completion ----------------------------------------------------------------------
  logic [ENTRIES-1:0] ready, ld_pick, ex_pick, st_pick, issue, issue_done, port_done, done;
  logic [LOAD_ENTRIES-1:0] ld_ready, ld_first;
  logic [EXECUTE_ENTRIES-1:0] ex_ready, ex_first;
  logic [STORE_ENTRIES-1:0] st_ready, st_first;
  assign {st_ready, ex_ready, ld_ready} = ready;
  assign ld_first = ld_ready & (~ld_ready + LOAD_ENTRIES'(1));
  assign ex_first = ex_ready & (~ex_ready + EXECUTE_ENTRIES'(1));
  assign st_first = st_ready & (~st_ready + STORE_ENTRIES'(1));
  assign ld_pick = ENTRIES'(ld_first);
  assign ex_pick = ENTRIES'(ex_first) << EX_FIRST;
  assign st_pick = ENTRIES'(st_first) << ST_FIRST;
  assign ld_valid_o = |ld_ready;
  assign ex_valid_o = |ex_ready;
  assign st_valid_o = |st_ready;
  assign issue = (ld_ready_i ? ld_pick : '0) | (ex_ready_i ? ex_pick : '0) |
      (st_ready_i ? st_pick : '0);
  assign issue_done = issue & config_q & ~EXECUTES;

  assign ex_done_ready_o = 1'b1;
  assign ld_done_ready_o = !ex_done_valid_i;
  assign st_done_ready_o = !ex_done_valid_i && !ld_done_valid_i;
  always_comb begin
    port_done = '0;
    for (int e = 0; e < LOAD_ENTRIES; e++)
      port_done[e] = ld_done_valid_i && ld_done_ready_o && ld_done_id_i == ID_BITS'(e);
    for (int e = 0; e < EXECUTE_ENTRIES; e++)
      port_done[EX_FIRST+e] = ex_done_valid_i && ex_done_id_i == ID_BITS'(e);
    for (int e = 0; e < STORE_ENTRIES; e++)
      port_done[ST_FIRST+e] = st_done_valid_i && st_done_ready_o && st_done_id_i == ID_BITS'(e);
  end
  assign done = port_done | issue_done;

  logic [CMD_BITS-1:0] ld_cmd, ex_cmd, st_cmd;
  always_comb begin
    ld_cmd = '0;
    ex_cmd = '0;
    st_cmd = '0;
    ld_id_o = '0;
    ex_id_o = '0;
    st_id_o = '0;
    for (int e = 0; e < LOAD_ENTRIES; e++) begin
      if (ld_pick[e]) begin
        ld_cmd = cmd_q[e*CMD_BITS+:CMD_BITS];
        ld_id_o = ID_BITS'(e);
      end
    end
    for (int e = 0; e < EXECUTE_ENTRIES; e++) begin
      if (ex_pick[EX_FIRST+e]) begin
        ex_cmd = cmd_q[(EX_FIRST+e)*CMD_BITS+:CMD_BITS];
        ex_id_o = ID_BITS'(e);
      end
    end
    for (int e = 0; e < STORE_ENTRIES; e++) begin
      if (st_pick[ST_FIRST+e]) begin
        st_cmd = cmd_q[(ST_FIRST+e)*CMD_BITS+:CMD_BITS];
        st_id_o = ID_BITS'(e);
      end
    end
  end
  assign {ld_funct_o, ld_rs1_o, ld_rs2_o} = ld_cmd;
  assign {ex_funct_o, ex_rs1_o, ex_rs2_o} = ex_cmd;
  assign {st_funct_o, st_rs1_o, st_rs2_o} = st_cmd;

  // --- dependencies ------------------------------------------------------------------------------
  logic [ENTRIES-1:0] conflict, read_conflict, new_issue, new_done;
  for (genvar e = 0; e < ENTRIES; e++) begin : g_entry
    logic [ROW_BITS-1:0] a_first_q, b_first_q;
    logic [ROW_BITS:0] a_end_q, b_end_q;
    logic aa, ab, ba;
    assign aa = a_valid && a_valid_q[e] && (a_writes || a_writes_q[e]) && a_acc == a_acc_q[e] &&
        {1'b0, a_first} < a_end_q && {1'b0, a_first_q} < a_end;
    assign ab = a_valid && b_valid_q[e] && a_writes && a_acc == b_acc_q[e] &&
        {1'b0, a_first} < b_end_q && {1'b0, b_first_q} < a_end;
    assign ba = b_valid && a_valid_q[e] && a_writes_q[e] && b_acc == a_acc_q[e] &&
        {1'b0, b_first} < a_end_q && {1'b0, a_first_q} < b_end;
    assign conflict[e] = valid_q[e] && (aa || ab || ba);
    assign read_conflict[e] = valid_q[e] && ((aa && !a_writes) || ba);
    assign ready[e] = valid_q[e] && !issued_q[e] && wait_issue_q[e*ENTRIES+:ENTRIES] == '0 &&
        wait_done_q[e*ENTRIES+:ENTRIES] == '0;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_q[e] <= 1'b0;
        issued_q[e] <= 1'b0;
        wait_issue_q[e*ENTRIES+:ENTRIES] <= '0;
        wait_done_q[e*ENTRIES+:ENTRIES] <= '0;
      end else begin
        if (alloc_entry[e]) valid_q[e] <= 1'b1;
        else if (done[e]) valid_q[e] <= 1'b0;
        if (alloc_entry[e]) issued_q[e] <= 1'b0;
        else if (issue[e]) issued_q[e] <= 1'b1;
        wait_issue_q[e*ENTRIES+:ENTRIES] <=
            (alloc_entry[e] ? new_issue : wait_issue_q[e*ENTRIES+:ENTRIES]) & ~issue;
        wait_done_q[e*ENTRIES+:ENTRIES] <=
            (alloc_entry[e] ? new_done : wait_done_q[e*ENTRIES+:ENTRIES]) & ~done;
      end
    end
    always_ff @(posedge clk_i) begin
      if (alloc_entry[e]) begin
        cmd_q[e*CMD_BITS+:CMD_BITS] <= {alloc_funct_i, alloc_rs1_i, alloc_rs2_i};
        config_q[e] <= is_config || is_gate;
        preload_q[e] <= alloc_funct_i == weft_isa_pkg::FUNCT_PRELOAD;
        matmul_q[e] <= alloc_from_matmul_i;
        conv_q[e] <= alloc_from_conv_i;
        a_valid_q[e] <= a_valid;
        a_writes_q[e] <= a_writes;
        a_acc_q[e] <= a_acc;
        a_first_q <= a_first;
        a_end_q <= a_end;
        b_valid_q[e] <= b_valid;
        b_acc_q[e] <= b_acc;
        b_first_q <= b_first;
        b_end_q <= b_end;
      end
    end
  end
  assign new_issue = class_mask & valid_q & ~issued_q;
  assign new_done = (conflict & ~class_mask) | (is_st ? STORES & read_conflict : '0) |
      (STORE_ORDER == weft_pkg::STORE_ORDER_COMPLETED && is_st ? STORES & valid_q : '0);

  // --- occupancy and completions of loop commands ------------------------------------------------
  always_comb begin
    ld_count_o = '0;
    ex_count_o = '0;
    st_count_o = '0;
    for (int e = 0; e < LOAD_ENTRIES; e++) ld_count_o = ld_count_o + 8'(valid_q[e]);
    for (int e = 0; e < EXECUTE_ENTRIES; e++) ex_count_o = ex_count_o + 8'(valid_q[EX_FIRST+e]);
    for (int e = 0; e < STORE_ENTRIES; e++) st_count_o = st_count_o + 8'(valid_q[ST_FIRST+e]);
  end
  logic one_entry, one_preload;
  assign one_entry = valid_q != '0 && (valid_q & (valid_q - ENTRIES'(1))) == '0;
  assign one_preload = one_entry && (valid_q & preload_q) != '0;
  assign busy_o = valid_q != '0 && !(one_preload && ex_solitary_preload_i);

  logic [ENTRIES-1:0] port_matmul, port_conv, issue_matmul, issue_conv;
  assign port_matmul = port_done & matmul_q;
  assign port_conv = port_done & conv_q;
  assign issue_matmul = issue_done & matmul_q;
  assign issue_conv = issue_done & conv_q;
  assign matmul_ld_completed_o = 2'(|(port_matmul & LOADS)) + 2'(|(issue_matmul & LOADS));
  assign matmul_ex_completed_o = 2'(|(port_matmul & EXECUTES)) + 2'(|(issue_matmul & EXECUTES));
  assign matmul_st_completed_o = 2'(|(port_matmul & STORES)) + 2'(|(issue_matmul & STORES));
  assign conv_ld_completed_o = 2'(|(port_conv & LOADS)) + 2'(|(issue_conv & LOADS));
  assign conv_ex_completed_o = 2'(|(port_conv & EXECUTES)) + 2'(|(issue_conv & EXECUTES));
  assign conv_st_completed_o = 2'(|(port_conv & STORES)) + 2'(|(issue_conv & STORES));

  // --- trace -------------------------------------------------------------------------------------
  if (TRACE) begin : g_trace
    logic [31:0] count_q;
    logic [ENTRIES*32-1:0] index_q;
    logic [31:0] ld_index, ex_index, st_index, done_index;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) count_q <= '0;
      else if (alloc_fire) count_q <= count_q + 32'd1;
    end
    always_ff @(posedge clk_i) begin
      for (int e = 0; e < ENTRIES; e++) if (alloc_entry[e]) index_q[e*32+:32] <= count_q;
    end
    always_comb begin
      ld_index = '0;
      ex_index = '0;
      st_index = '0;
      done_index = '0;
      for (int e = 0; e < ENTRIES; e++) begin
        if (ld_pick[e]) ld_index = index_q[e*32+:32];
        if (ex_pick[e]) ex_index = index_q[e*32+:32];
        if (st_pick[e]) st_index = index_q[e*32+:32];
        if (port_done[e]) done_index = index_q[e*32+:32];
      end
    end
    assign trace_alloc_o = alloc_fire;
    assign trace_alloc_funct_o = alloc_funct_i;
    assign trace_alloc_rs1_o = alloc_rs1_i;
    assign trace_alloc_rs2_o = alloc_rs2_i;
    assign trace_issue_valid_o = {st_valid_o && st_ready_i, ex_valid_o && ex_ready_i, ld_valid_o &&
        ld_ready_i};
    assign trace_issue_index_o = {st_index, ex_index, ld_index};
    assign trace_done_valid_o = |port_done;
    assign trace_done_index_o = done_index;
  end else begin : g_no_trace
    assign trace_alloc_o = 1'b0;
    assign trace_alloc_funct_o = '0;
    assign trace_alloc_rs1_o = '0;
    assign trace_alloc_rs2_o = '0;
    assign trace_issue_valid_o = '0;
    assign trace_issue_index_o = '0;
    assign trace_done_valid_o = 1'b0;
    assign trace_done_index_o = '0;
  end

  `WEFT_ASSERT(FunctIsKnown, !alloc_valid_i || class_mask != '0)
  `WEFT_ASSERT(CompletesWhatWasIssued, (port_done & ~(valid_q & issued_q)) == '0)
  `WEFT_ASSERT(OneCompletionPerCycle, port_done == '0 ||
      (port_done & (port_done - ENTRIES'(1))) == '0)
  `WEFT_ASSERT(CompletionHasAnEntry,
      (ex_done_valid_i || ld_done_valid_i || st_done_valid_i) == (port_done != '0))
  `WEFT_ASSERT_STREAM(AllocStable, alloc_valid_i, alloc_ready_o,
      {alloc_funct_i, alloc_rs1_i, alloc_rs2_i})
  `WEFT_ASSERT_STREAM(LdStable, ld_valid_o, ld_ready_i, {ld_funct_o, ld_rs1_o, ld_rs2_o, ld_id_o})
  `WEFT_ASSERT_STREAM(ExStable, ex_valid_o, ex_ready_i, {ex_funct_o, ex_rs1_o, ex_rs2_o, ex_id_o})
  `WEFT_ASSERT_STREAM(StStable, st_valid_o, st_ready_i, {st_funct_o, st_rs1_o, st_rs2_o, st_id_o})
endmodule
