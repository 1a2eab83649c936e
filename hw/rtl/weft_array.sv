// SPDX-License-Identifier: Apache-2.0
// The accelerator of an array: RoCC command port, AXI4 master, trace outputs. Wires the units of
// docs/microarchitecture.md together. Every parameter of the array description that the hardware
// depends on is a parameter here, under the name that it has in the generated package
// weft_array_pkg; weft_accel applies the package. Several arrays live side by side.
//
//   commands -> front_end -> reservation_station or token_queues -> load, execute, store
//   controllers -> local_memory
//            -> dma_reader, dma_writer -> AXI4
// The only logic here: when the accelerator is busy, and which signals are counter events.
// Latency: command taken in t, busy_o from t + 1.
module weft_array #(
  parameter int DIM = 16,
  parameter int SP_ROWS = 16384,
  parameter int SP_BANK_ROWS = 4096,
  parameter int ACC_ROWS = 1024,
  parameter int ACC_BANK_ROWS = 512,
  parameter int ROW_BITS = 14,
  parameter int INPUT_BITS = 8,
  parameter int ACC_BITS = 32,
  parameter int MAX_BLOCK_LEN = 4,
  parameter int MAX_BLOCK_LEN_ACC = 1,
  parameter int MAX_MATMULS = 5,
  parameter int LOAD_COMMANDS = 2,
  parameter int STORE_COMMANDS = 2,
  parameter int NORM_STATS = 4,
  parameter int OUTPUT_BITS = 20,
  parameter int ISA_REVISION = 1,
  parameter int MESH_ROWS = 16,
  parameter int MESH_COLUMNS = 16,
  parameter int MESH_TILE_ROWS = 1,
  parameter int MESH_TILE_COLUMNS = 1,
  parameter int MESH_DATAFLOW = weft_pkg::MESH_DATAFLOW_BOTH,
  parameter int MESH_TILE_LATENCY = 0,
  parameter int MESH_OUTPUT_DELAY = 1,
  parameter bit MESH_BIAS_GARBAGE = 1'b0,
  parameter int SCRATCHPAD_BANKS = 4,
  parameter bit SCRATCHPAD_SINGLE_PORTED = 1'b1,
  parameter int SCRATCHPAD_READ_DELAY = 4,
  parameter int SCRATCHPAD_READ_PIPELINE = weft_pkg::SCRATCHPAD_READ_PIPELINE_FIXED,
  parameter bit SCRATCHPAD_EXECUTE_WRITES = 1'b1,
  parameter int ACCUMULATOR_BANKS = 2,
  parameter bit ACCUMULATOR_SINGLE_PORTED = 1'b0,
  parameter int ACCUMULATOR_SUB_BANKS = 1,
  parameter int ACCUMULATOR_LATENCY = 2,
  parameter bit ACCUMULATOR_EXECUTE_READS = 1'b1,
  parameter bit ACCUMULATOR_EXECUTE_WRITES = 1'b1,
  parameter bit ACCUMULATOR_FULL_READS = 1'b1,
  parameter bit ACCUMULATOR_NARROW_READS = 1'b1,
  parameter int ACCUMULATOR_SCALE_UNITS = 0,
  parameter int ACCUMULATOR_SCALE_LATENCY = 8,
  parameter int LOAD_QUEUE = 8,
  parameter int LOAD_RESERVATION_ENTRIES = 8,
  parameter int LOAD_SCALE_UNITS = 4,
  parameter int LOAD_SCALE_LATENCY = 4,
  parameter bit LOAD_PACKED_INT4 = 1'b0,
  parameter int STORE_QUEUE = 2,
  parameter int STORE_RESERVATION_ENTRIES = 4,
  parameter int STORE_ORDER = weft_pkg::STORE_ORDER_ISSUED,
  parameter int EXECUTE_QUEUE = 8,
  parameter int EXECUTE_RESERVATION_ENTRIES = 16,
  parameter int SYNC_BY = weft_pkg::SYNC_BY_STATION,
  parameter int SYNC_TOKEN_BITS = 4,
  parameter int DMA_BUS_BITS = 128,
  parameter int DMA_MAX_BURST_BYTES = 64,
  parameter int DMA_READS_IN_FLIGHT = 16,
  parameter int DMA_WRITES_IN_FLIGHT = 16,
  parameter bit UNITS_MAX_POOL = 1'b1,
  parameter bit UNITS_ACTIVATION = 1'b1,
  parameter bit UNITS_NORMALISER = 1'b0,
  parameter bit UNITS_GATE = 1'b0,
  parameter bit UNITS_TRANSPOSER = 1'b1,
  parameter bit UNITS_LOOP_MATMUL = 1'b1,
  parameter bit UNITS_LOOP_CONV = 1'b1,
  parameter bit UNITS_TRAINING_CONV = 1'b1,
  parameter bit UNITS_DEPTHWISE_CONV = 1'b1,
  parameter bit UNITS_PIXEL_REPEAT = 1'b1,
  parameter int UNITS_COUNTERS = 8,
  parameter bit TRACE = 1'b1,
  parameter int RID_BITS = DMA_READS_IN_FLIGHT > 1 ? $clog2(DMA_READS_IN_FLIGHT) : 1,    // derived
  parameter int WID_BITS = DMA_WRITES_IN_FLIGHT > 1 ? $clog2(DMA_WRITES_IN_FLIGHT) : 1,  // derived
  parameter int BUS_BITS = DMA_BUS_BITS                                                  // derived
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  cmd_valid_i,
  output logic                  cmd_ready_o,
  input  logic [6:0]            cmd_funct_i,
  input  logic [63:0]           cmd_rs1_i,
  input  logic [63:0]           cmd_rs2_i,
  input  logic                  cmd_xd_i,
  input  logic [4:0]            cmd_rd_i,
  output logic                  resp_valid_o,
  input  logic                  resp_ready_i,
  output logic [4:0]            resp_rd_o,
  output logic [63:0]           resp_data_o,
  output logic                  busy_o,
  output logic                  interrupt_o,
  output logic                  m_axi_arvalid_o,
  input  logic                  m_axi_arready_i,
  output logic [RID_BITS-1:0]   m_axi_arid_o,
  output logic [63:0]           m_axi_araddr_o,
  output logic [7:0]            m_axi_arlen_o,
  output logic [2:0]            m_axi_arsize_o,
  output logic [1:0]            m_axi_arburst_o,
  input  logic                  m_axi_rvalid_i,
  output logic                  m_axi_rready_o,
  input  logic [RID_BITS-1:0]   m_axi_rid_i,
  input  logic [BUS_BITS-1:0]   m_axi_rdata_i,
  input  logic [1:0]            m_axi_rresp_i,
  input  logic                  m_axi_rlast_i,
  output logic                  m_axi_awvalid_o,
  input  logic                  m_axi_awready_i,
  output logic [WID_BITS-1:0]   m_axi_awid_o,
  output logic [63:0]           m_axi_awaddr_o,
  output logic [7:0]            m_axi_awlen_o,
  output logic [2:0]            m_axi_awsize_o,
  output logic [1:0]            m_axi_awburst_o,
  output logic                  m_axi_awuser_o,  // some bytes of the burst have no strobe
  output logic                  m_axi_wvalid_o,
  input  logic                  m_axi_wready_i,
  output logic [BUS_BITS-1:0]   m_axi_wdata_o,
  output logic [BUS_BITS/8-1:0] m_axi_wstrb_o,
  output logic                  m_axi_wlast_o,
  input  logic                  m_axi_bvalid_i,
  output logic                  m_axi_bready_o,
  input  logic [WID_BITS-1:0]   m_axi_bid_i,
  input  logic [1:0]            m_axi_bresp_i,
  output logic                  trace_alloc_o,
  output logic [6:0]            trace_alloc_funct_o,
  output logic [63:0]           trace_alloc_rs1_o,
  output logic [63:0]           trace_alloc_rs2_o,
  output logic [2:0]            trace_issue_valid_o,
  output logic [3*32-1:0]       trace_issue_index_o,
  output logic                  trace_done_valid_o,
  output logic [31:0]           trace_done_index_o
);
  localparam int SP_BANKS = SCRATCHPAD_BANKS;
  localparam int ACC_BANKS = ACCUMULATOR_BANKS;
  localparam int SP_BANK_BITS = $clog2(SP_BANK_ROWS);
  localparam int ACC_BANK_BITS = $clog2(ACC_BANK_ROWS);
  localparam int LD_ENTRIES = LOAD_RESERVATION_ENTRIES;
  localparam int EX_ENTRIES = EXECUTE_RESERVATION_ENTRIES;
  localparam int ST_ENTRIES = STORE_RESERVATION_ENTRIES;
  localparam int MOST_ENTRIES = LD_ENTRIES > EX_ENTRIES ?
      (LD_ENTRIES > ST_ENTRIES ? LD_ENTRIES : ST_ENTRIES) :
      (EX_ENTRIES > ST_ENTRIES ? EX_ENTRIES : ST_ENTRIES);
  localparam int ID_BITS = MOST_ENTRIES > 1 ? $clog2(MOST_ENTRIES) : 1;
  localparam int STORE_BITS = ACCUMULATOR_FULL_READS ? DIM * 32 : DIM * 8;
  localparam int READ_COUNT_BITS = $clog2(DMA_READS_IN_FLIGHT + 1);
  localparam int WRITE_COUNT_BITS = $clog2(DMA_WRITES_IN_FLIGHT + 1);

  // --- front end ---------------------------------------------------------------------------------
  logic        alloc_valid, alloc_ready, alloc_from_matmul, alloc_from_conv;
  logic [6:0]  alloc_funct;
  logic [63:0] alloc_rs1, alloc_rs2;
  logic [1:0]  matmul_ld_completed, matmul_ex_completed, matmul_st_completed;
  logic [1:0]  conv_ld_completed, conv_ex_completed, conv_st_completed;
  logic        counter_valid, counter_ready, counter_returns, flush, front_busy, ev_matmul;
  logic [63:0] counter_rs1;
  logic [4:0]  counter_rd;
  weft_front_end #(
    .ISA_REVISION(ISA_REVISION), .DIM(DIM), .SP_ROWS(SP_ROWS),
    .ACC_ROWS(ACC_ROWS), .ROW_BITS(ROW_BITS), .MAX_BLOCK_LEN(MAX_BLOCK_LEN),
    .MAX_BLOCK_LEN_ACC(MAX_BLOCK_LEN_ACC), .NORM_STATS(NORM_STATS),
    .LOAD_ENTRIES(LD_ENTRIES), .EXECUTE_ENTRIES(EX_ENTRIES), .STORE_ENTRIES(ST_ENTRIES),
    .LOOP_MATMUL(UNITS_LOOP_MATMUL), .LOOP_CONV(UNITS_LOOP_CONV),
    .MAX_POOL(UNITS_MAX_POOL), .TRAINING_CONV(UNITS_TRAINING_CONV),
    .DEPTHWISE_CONV(UNITS_DEPTHWISE_CONV), .PIXEL_REPEAT(UNITS_PIXEL_REPEAT)
  ) u_front (
    .clk_i, .rst_ni,
    .cmd_valid_i, .cmd_ready_o, .cmd_funct_i, .cmd_rs1_i, .cmd_rs2_i, .cmd_xd_i, .cmd_rd_i,
    .alloc_valid_o(alloc_valid), .alloc_ready_i(alloc_ready), .alloc_funct_o(alloc_funct),
    .alloc_rs1_o(alloc_rs1),
    .alloc_rs2_o(alloc_rs2), .alloc_from_matmul_o(alloc_from_matmul),
    .alloc_from_conv_o(alloc_from_conv),
    .matmul_ld_completed_i(matmul_ld_completed), .matmul_ex_completed_i(matmul_ex_completed),
    .matmul_st_completed_i(matmul_st_completed), .conv_ld_completed_i(conv_ld_completed),
    .conv_ex_completed_i(conv_ex_completed), .conv_st_completed_i(conv_st_completed),
    .counter_valid_o(counter_valid), .counter_ready_i(counter_ready), .counter_rs1_o(counter_rs1),
    .counter_rd_o(counter_rd), .counter_returns_o(counter_returns),
    .flush_o(flush), .busy_o(front_busy), .ev_matmul_o(ev_matmul)
  );

  // --- order between the units -------------------------------------------------------------------
  logic               ld_valid, ld_ready, ex_valid, ex_ready, st_valid, st_ready;
  logic [6:0]         ld_funct, ex_funct, st_funct;
  logic [63:0]        ld_rs1, ld_rs2, ex_rs1, ex_rs2, st_rs1, st_rs2;
  logic [ID_BITS-1:0] ld_id, ex_id, st_id, ld_done_id, ex_done_id, st_done_id;
  logic               ld_done_valid, ld_done_ready, ex_done_valid, ex_done_ready, st_done_valid,
      st_done_ready;
  logic               solitary_preload, station_busy;
  logic [7:0]         ld_entries, ex_entries, st_entries;
  if (SYNC_BY == weft_pkg::SYNC_BY_TOKENS) begin : g_tokens
    weft_token_queues #(
      .LOAD_ENTRIES(LD_ENTRIES), .EXECUTE_ENTRIES(EX_ENTRIES), .STORE_ENTRIES(ST_ENTRIES),
      .ID_BITS(ID_BITS), .TOKEN_BITS(SYNC_TOKEN_BITS), .GATE(UNITS_GATE), .TRACE(TRACE)
    ) u_queues (
      .clk_i, .rst_ni,
      .alloc_valid_i(alloc_valid), .alloc_ready_o(alloc_ready), .alloc_funct_i(alloc_funct),
      .alloc_rs1_i(alloc_rs1),
      .alloc_rs2_i(alloc_rs2),
      .ld_valid_o(ld_valid), .ld_ready_i(ld_ready), .ld_funct_o(ld_funct), .ld_rs1_o(ld_rs1),
      .ld_rs2_o(ld_rs2),
      .ld_id_o(ld_id),
      .ex_valid_o(ex_valid), .ex_ready_i(ex_ready), .ex_funct_o(ex_funct), .ex_rs1_o(ex_rs1),
      .ex_rs2_o(ex_rs2),
      .ex_id_o(ex_id),
      .st_valid_o(st_valid), .st_ready_i(st_ready), .st_funct_o(st_funct), .st_rs1_o(st_rs1),
      .st_rs2_o(st_rs2),
      .st_id_o(st_id),
      .ld_done_valid_i(ld_done_valid), .ld_done_ready_o(ld_done_ready), .ld_done_id_i(ld_done_id),
      .ex_done_valid_i(ex_done_valid), .ex_done_ready_o(ex_done_ready), .ex_done_id_i(ex_done_id),
      .st_done_valid_i(st_done_valid), .st_done_ready_o(st_done_ready), .st_done_id_i(st_done_id),
      .ex_solitary_preload_i(solitary_preload),
      .busy_o(station_busy), .ld_count_o(ld_entries), .ex_count_o(ex_entries),
      .st_count_o(st_entries),
      .trace_alloc_o, .trace_alloc_funct_o, .trace_alloc_rs1_o, .trace_alloc_rs2_o,
      .trace_issue_valid_o, .trace_issue_index_o, .trace_done_valid_o, .trace_done_index_o
    );
    // Without loop units nothing counts these.
    assign {matmul_ld_completed, matmul_ex_completed, matmul_st_completed} = '0;
    assign {conv_ld_completed, conv_ex_completed, conv_st_completed} = '0;
    // verilator lint_off UNUSED
    logic unused;
    assign unused = &{1'b0, alloc_from_matmul, alloc_from_conv};
    // verilator lint_on UNUSED
  end else begin : g_station
    weft_reservation_station #(
      .LOAD_ENTRIES(LD_ENTRIES), .EXECUTE_ENTRIES(EX_ENTRIES), .STORE_ENTRIES(ST_ENTRIES),
      .ID_BITS(ID_BITS), .DIM(DIM),
      .ROW_BITS(ROW_BITS), .SP_ROWS(SP_ROWS), .MAX_POOL(UNITS_MAX_POOL),
      .PIXEL_REPEAT(UNITS_PIXEL_REPEAT), .GATE(UNITS_GATE), .STORE_ORDER(STORE_ORDER), .TRACE(TRACE)
    ) u_station (
      .clk_i, .rst_ni,
      .alloc_valid_i(alloc_valid), .alloc_ready_o(alloc_ready), .alloc_funct_i(alloc_funct),
      .alloc_rs1_i(alloc_rs1),
      .alloc_rs2_i(alloc_rs2), .alloc_from_matmul_i(alloc_from_matmul),
      .alloc_from_conv_i(alloc_from_conv),
      .ld_valid_o(ld_valid), .ld_ready_i(ld_ready), .ld_funct_o(ld_funct), .ld_rs1_o(ld_rs1),
      .ld_rs2_o(ld_rs2),
      .ld_id_o(ld_id),
      .ex_valid_o(ex_valid), .ex_ready_i(ex_ready), .ex_funct_o(ex_funct), .ex_rs1_o(ex_rs1),
      .ex_rs2_o(ex_rs2),
      .ex_id_o(ex_id),
      .st_valid_o(st_valid), .st_ready_i(st_ready), .st_funct_o(st_funct), .st_rs1_o(st_rs1),
      .st_rs2_o(st_rs2),
      .st_id_o(st_id),
      .ld_done_valid_i(ld_done_valid), .ld_done_ready_o(ld_done_ready), .ld_done_id_i(ld_done_id),
      .ex_done_valid_i(ex_done_valid), .ex_done_ready_o(ex_done_ready), .ex_done_id_i(ex_done_id),
      .st_done_valid_i(st_done_valid), .st_done_ready_o(st_done_ready), .st_done_id_i(st_done_id),
      .ex_solitary_preload_i(solitary_preload),
      .matmul_ld_completed_o(matmul_ld_completed), .matmul_ex_completed_o(matmul_ex_completed),
      .matmul_st_completed_o(matmul_st_completed), .conv_ld_completed_o(conv_ld_completed),
      .conv_ex_completed_o(conv_ex_completed), .conv_st_completed_o(conv_st_completed),
      .busy_o(station_busy), .ld_count_o(ld_entries), .ex_count_o(ex_entries),
      .st_count_o(st_entries),
      .trace_alloc_o, .trace_alloc_funct_o, .trace_alloc_rs1_o, .trace_alloc_rs2_o,
      .trace_issue_valid_o, .trace_issue_index_o, .trace_done_valid_o, .trace_done_index_o
    );
  end

  // --- load controller ---------------------------------------------------------------------------
  logic        ldq_valid, ldq_ready, ldq_acc_width, ldq_packed, ldq_zeros, lda_valid, load_busy,
      ev_ld_dma, ev_ld_active, ev_ld_spad;
  logic [63:0] ldq_addr;
  logic [31:0] ldq_laddr, ldq_scale;
  logic [15:0] ldq_cols, ldq_repeats, ldq_block_stride, lda_bytes;
  logic [7:0]  ldq_pixel_repeats, ldq_cmd, lda_cmd;
  weft_load_controller #(
    .DIM(DIM), .QUEUE(LOAD_QUEUE), .TRACKED(LOAD_COMMANDS), .ID_BITS(ID_BITS),
    .ROW_BITS(ROW_BITS), .MAX_BLOCKS(MAX_BLOCK_LEN), .PACKED_INT4(LOAD_PACKED_INT4)
  ) u_load (
    .clk_i, .rst_ni,
    .ld_valid_i(ld_valid), .ld_ready_o(ld_ready), .ld_funct_i(ld_funct), .ld_rs1_i(ld_rs1),
    .ld_rs2_i(ld_rs2),
    .ld_id_i(ld_id),
    .ld_done_valid_o(ld_done_valid), .ld_done_ready_i(ld_done_ready), .ld_done_id_o(ld_done_id),
    .ld_req_valid_o(ldq_valid), .ld_req_ready_i(ldq_ready), .ld_req_addr_o(ldq_addr),
    .ld_req_laddr_o(ldq_laddr),
    .ld_req_cols_o(ldq_cols), .ld_req_repeats_o(ldq_repeats), .ld_req_scale_o(ldq_scale),
    .ld_req_acc_width_o(ldq_acc_width), .ld_req_packed_o(ldq_packed),
    .ld_req_zeros_o(ldq_zeros),
    .ld_req_block_stride_o(ldq_block_stride),
    .ld_req_pixel_repeats_o(ldq_pixel_repeats), .ld_req_cmd_o(ldq_cmd),
    .ld_resp_valid_i(lda_valid), .ld_resp_bytes_i(lda_bytes), .ld_resp_cmd_i(lda_cmd),
    .busy_o(load_busy), .ev_dma_wait_o(ev_ld_dma), .ev_active_o(ev_ld_active),
    .ev_spad_wait_o(ev_ld_spad)
  );

  // --- store controller --------------------------------------------------------------------------
  logic        stq_valid, stq_ready, stq_pool_en, stq_store_en, stq_to_sp, stq_factor;
  logic        sta_valid, store_busy;
  logic        ev_st_dma, ev_st_active, ev_st_pooling, ev_st_spad;
  logic [63:0] stq_addr;
  logic [31:0] stq_laddr, stq_scale, stq_qb, stq_qc, stq_qln2, stq_qln2_inv;
  logic [15:0] stq_len;
  logic [7:0]  stq_stats_id, stq_block, stq_cmd, sta_cmd;
  logic [2:0]  stq_act;
  weft_store_controller #(
    .DIM(DIM), .QUEUE(STORE_QUEUE), .TRACKED(STORE_COMMANDS), .ID_BITS(ID_BITS),
    .ROW_BITS(ROW_BITS), .MAX_POOL(UNITS_MAX_POOL), .NORMALISER(UNITS_NORMALISER),
    .GATE(UNITS_GATE), .SP_STORES(ISA_REVISION == 2)
  ) u_store (
    .clk_i, .rst_ni,
    .st_valid_i(st_valid), .st_ready_o(st_ready), .st_funct_i(st_funct), .st_rs1_i(st_rs1),
    .st_rs2_i(st_rs2),
    .st_id_i(st_id),
    .st_done_valid_o(st_done_valid), .st_done_ready_i(st_done_ready), .st_done_id_o(st_done_id),
    .st_req_valid_o(stq_valid), .st_req_ready_i(stq_ready), .st_req_addr_o(stq_addr),
    .st_req_to_sp_o(stq_to_sp), .st_req_factor_o(stq_factor),
    .st_req_laddr_o(stq_laddr),
    .st_req_act_o(stq_act), .st_req_scale_o(stq_scale), .st_req_igelu_qb_o(stq_qb),
    .st_req_igelu_qc_o(stq_qc),
    .st_req_iexp_qln2_o(stq_qln2), .st_req_iexp_qln2_inv_o(stq_qln2_inv),
    .st_req_stats_id_o(stq_stats_id),
    .st_req_len_o(stq_len), .st_req_block_o(stq_block), .st_req_pool_en_o(stq_pool_en),
    .st_req_store_en_o(stq_store_en), .st_req_cmd_o(stq_cmd),
    .st_resp_valid_i(sta_valid), .st_resp_cmd_i(sta_cmd),
    .busy_o(store_busy), .ev_dma_wait_o(ev_st_dma), .ev_active_o(ev_st_active),
    .ev_pooling_o(ev_st_pooling),
    .ev_spad_wait_o(ev_st_spad)
  );

  // --- execute controller ------------------------------------------------------------------------
  logic [SP_BANKS-1:0]                sp_rd_valid, sp_rd_ready, sp_rsp_valid, sp_rsp_ready,
      sp_wr_en;
  logic [SP_BANKS*SP_BANK_BITS-1:0]   sp_rd_addr, sp_wr_addr;
  logic [SP_BANKS*DIM*8-1:0]          sp_rsp_data;
  logic [DIM*8-1:0]                   sp_wr_data, acc_rsp_data;
  logic [DIM-1:0]                     sp_wr_mask, acc_wr_mask;
  logic [ACC_BANKS-1:0]               acc_rd_valid, acc_rd_ready, acc_rsp_valid, acc_rsp_ready,
      acc_wr_valid;
  logic [ACC_BANKS*ACC_BANK_BITS-1:0] acc_rd_addr, acc_wr_addr;
  logic [31:0]                        acc_rd_scale;
  logic [2:0]                         acc_rd_act, ev_sp_wait, ev_acc_wait, ev_garbage;
  logic [DIM*32-1:0]                  acc_wr_data;
  logic                               acc_wr_accumulate, execute_busy;
  logic                               ev_ex_active, ev_ex_flush, ev_ex_control, ev_ex_preload,
      ev_ex_overlap, ev_unroller;
  weft_execute_controller #(
    .MESH_ROWS(MESH_ROWS), .MESH_COLUMNS(MESH_COLUMNS),
    .TILE_ROWS(MESH_TILE_ROWS), .TILE_COLUMNS(MESH_TILE_COLUMNS),
    .DATAFLOW(MESH_DATAFLOW), .INPUT_BITS(INPUT_BITS),
    .OUTPUT_BITS(OUTPUT_BITS), .ACC_BITS(ACC_BITS),
    .TILE_LATENCY(MESH_TILE_LATENCY), .OUTPUT_DELAY(MESH_OUTPUT_DELAY),
    .MAX_MATMULS(MAX_MATMULS), .BIAS_GARBAGE(MESH_BIAS_GARBAGE),
    .TRANSPOSER(UNITS_TRANSPOSER), .ACTIVATION(UNITS_ACTIVATION),
    .SP_BANKS(SP_BANKS), .SP_BANK_BITS(SP_BANK_BITS), .ACC_BANKS(ACC_BANKS),
    .ACC_BANK_BITS(ACC_BANK_BITS),
    .ACC_SUB_BANKS(ACCUMULATOR_SUB_BANKS),
    .ROW_BITS(ROW_BITS), .READ_DELAY(SCRATCHPAD_READ_DELAY),
    .READS_ACC(ACCUMULATOR_EXECUTE_READS), .WRITES_SP(SCRATCHPAD_EXECUTE_WRITES),
    .WRITES_ACC(ACCUMULATOR_EXECUTE_WRITES), .QUEUE(EXECUTE_QUEUE), .ID_BITS(ID_BITS)
  ) u_execute (
    .clk_i, .rst_ni,
    .ex_valid_i(ex_valid), .ex_ready_o(ex_ready), .ex_funct_i(ex_funct), .ex_rs1_i(ex_rs1),
    .ex_rs2_i(ex_rs2),
    .ex_id_i(ex_id),
    .ex_done_valid_o(ex_done_valid), .ex_done_ready_i(ex_done_ready), .ex_done_id_o(ex_done_id),
    .ex_solitary_preload_o(solitary_preload), .busy_o(execute_busy),
    .sp_rd_valid_o(sp_rd_valid), .sp_rd_ready_i(sp_rd_ready), .sp_rd_addr_o(sp_rd_addr),
    .sp_rsp_valid_i(sp_rsp_valid), .sp_rsp_ready_o(sp_rsp_ready), .sp_rsp_data_i(sp_rsp_data),
    .acc_rd_valid_o(acc_rd_valid), .acc_rd_ready_i(acc_rd_ready), .acc_rd_addr_o(acc_rd_addr),
    .acc_rd_scale_o(acc_rd_scale), .acc_rd_act_o(acc_rd_act),
    .acc_rsp_valid_i(acc_rsp_valid), .acc_rsp_ready_o(acc_rsp_ready), .acc_rsp_data_i(acc_rsp_data),
    .sp_wr_en_o(sp_wr_en), .sp_wr_addr_o(sp_wr_addr), .sp_wr_data_o(sp_wr_data),
    .sp_wr_mask_o(sp_wr_mask),
    .acc_wr_valid_o(acc_wr_valid), .acc_wr_addr_o(acc_wr_addr), .acc_wr_data_o(acc_wr_data),
    .acc_wr_accumulate_o(acc_wr_accumulate), .acc_wr_mask_o(acc_wr_mask),
    .ev_active_o(ev_ex_active), .ev_flush_o(ev_ex_flush), .ev_control_block_o(ev_ex_control),
    .ev_preload_hazard_o(ev_ex_preload), .ev_overlap_hazard_o(ev_ex_overlap),
    .ev_sp_wait_o(ev_sp_wait),
    .ev_acc_wait_o(ev_acc_wait), .ev_garbage_o(ev_garbage), .ev_unroller_o(ev_unroller)
  );

  // --- local memory ------------------------------------------------------------------------------
  logic                rdq_valid, rdq_ready, rdq_acc_width, rdq_packed;
  logic [63:0]         rdq_addr, wrq_addr;
  logic [31:0]         rdq_laddr, rdq_scale, rda_scale;
  logic [15:0]         rdq_cols, rdq_repeats, rdq_block_stride, rda_repeats, rda_cols, rda_bytes,
      wrq_len;
  logic [7:0]          rdq_pixel_repeats, rdq_cmd, rda_pixel_repeats, rda_cmd, wrq_block;
  logic                rda_valid, rda_ready, rda_is_acc, rda_accumulate, rda_acc_width, rda_last;
  logic [DIM*32-1:0]   rda_data;
  logic [ROW_BITS-1:0] rda_addr;
  logic [DIM*4-1:0]    rda_mask;
  logic                wrq_valid, wrq_ready, wrq_pool_en, wrq_store_en, memory_busy;
  logic [STORE_BITS-1:0] wrq_data;
  weft_local_memory #(
    .DIM(DIM), .ROW_BITS(ROW_BITS), .SP_BANKS(SP_BANKS), .SP_BANK_ROWS(SP_BANK_ROWS),
    .SP_SINGLE_PORTED(SCRATCHPAD_SINGLE_PORTED), .READ_DELAY(SCRATCHPAD_READ_DELAY),
    .READ_FIXED(SCRATCHPAD_READ_PIPELINE == weft_pkg::SCRATCHPAD_READ_PIPELINE_FIXED),
    .ACC_BANKS(ACC_BANKS),
    .ACC_BANK_ROWS(ACC_BANK_ROWS), .ACC_SINGLE_PORTED(ACCUMULATOR_SINGLE_PORTED),
    .ACC_SUB_BANKS(ACCUMULATOR_SUB_BANKS), .ACC_LATENCY(ACCUMULATOR_LATENCY),
    .FULL_READS(ACCUMULATOR_FULL_READS), .NARROW_READS(ACCUMULATOR_NARROW_READS),
    .ACC_SCALE_UNITS(ACCUMULATOR_SCALE_UNITS),
    .ACC_SCALE_LATENCY(ACCUMULATOR_SCALE_LATENCY),
    .LOAD_SCALE_UNITS(LOAD_SCALE_UNITS), .LOAD_SCALE_LATENCY(LOAD_SCALE_LATENCY),
    .ACTIVATION(UNITS_ACTIVATION), .NORMALISER(UNITS_NORMALISER), .GATE(UNITS_GATE),
    .NORM_STATS(NORM_STATS), .FACTOR_THEN_SCALE(ISA_REVISION == 1),
    .SP_STORES(ISA_REVISION == 2), .PIXEL_REPEAT(UNITS_PIXEL_REPEAT)
  ) u_memory (
    .clk_i, .rst_ni,
    .ld_req_valid_i(ldq_valid), .ld_req_ready_o(ldq_ready), .ld_req_addr_i(ldq_addr),
    .ld_req_laddr_i(ldq_laddr),
    .ld_req_cols_i(ldq_cols), .ld_req_repeats_i(ldq_repeats), .ld_req_scale_i(ldq_scale),
    .ld_req_acc_width_i(ldq_acc_width), .ld_req_packed_i(ldq_packed),
    .ld_req_zeros_i(ldq_zeros),
    .ld_req_block_stride_i(ldq_block_stride),
    .ld_req_pixel_repeats_i(ldq_pixel_repeats), .ld_req_cmd_i(ldq_cmd),
    .ld_resp_valid_o(lda_valid), .ld_resp_bytes_o(lda_bytes), .ld_resp_cmd_o(lda_cmd),
    .st_req_valid_i(stq_valid), .st_req_ready_o(stq_ready), .st_req_addr_i(stq_addr),
    .st_req_to_sp_i(stq_to_sp), .st_req_factor_i(stq_factor),
    .st_req_laddr_i(stq_laddr),
    .st_req_act_i(stq_act), .st_req_scale_i(stq_scale), .st_req_igelu_qb_i(stq_qb),
    .st_req_igelu_qc_i(stq_qc),
    .st_req_iexp_qln2_i(stq_qln2), .st_req_iexp_qln2_inv_i(stq_qln2_inv),
    .st_req_stats_id_i(stq_stats_id),
    .st_req_len_i(stq_len), .st_req_block_i(stq_block), .st_req_pool_en_i(stq_pool_en),
    .st_req_store_en_i(stq_store_en), .st_req_cmd_i(stq_cmd),
    .st_resp_valid_o(sta_valid), .st_resp_cmd_o(sta_cmd),
    .sp_rd_valid_i(sp_rd_valid), .sp_rd_ready_o(sp_rd_ready), .sp_rd_addr_i(sp_rd_addr),
    .sp_rsp_valid_o(sp_rsp_valid), .sp_rsp_ready_i(sp_rsp_ready), .sp_rsp_data_o(sp_rsp_data),
    .acc_rd_valid_i(acc_rd_valid), .acc_rd_ready_o(acc_rd_ready), .acc_rd_addr_i(acc_rd_addr),
    .acc_rd_scale_i(acc_rd_scale), .acc_rd_act_i(acc_rd_act),
    .acc_rsp_valid_o(acc_rsp_valid), .acc_rsp_ready_i(acc_rsp_ready), .acc_rsp_data_o(acc_rsp_data),
    .sp_wr_en_i(sp_wr_en), .sp_wr_addr_i(sp_wr_addr), .sp_wr_data_i(sp_wr_data),
    .sp_wr_mask_i(sp_wr_mask),
    .acc_wr_valid_i(acc_wr_valid), .acc_wr_addr_i(acc_wr_addr), .acc_wr_data_i(acc_wr_data),
    .acc_wr_accumulate_i(acc_wr_accumulate), .acc_wr_mask_i(acc_wr_mask),
    .rd_req_valid_o(rdq_valid), .rd_req_ready_i(rdq_ready), .rd_req_addr_o(rdq_addr),
    .rd_req_laddr_o(rdq_laddr),
    .rd_req_cols_o(rdq_cols), .rd_req_repeats_o(rdq_repeats), .rd_req_scale_o(rdq_scale),
    .rd_req_acc_width_o(rdq_acc_width), .rd_req_packed_o(rdq_packed),
    .rd_req_block_stride_o(rdq_block_stride),
    .rd_req_pixel_repeats_o(rdq_pixel_repeats), .rd_req_cmd_o(rdq_cmd),
    .rd_resp_valid_i(rda_valid), .rd_resp_ready_o(rda_ready), .rd_resp_data_i(rda_data),
    .rd_resp_addr_i(rda_addr),
    .rd_resp_mask_i(rda_mask), .rd_resp_is_acc_i(rda_is_acc), .rd_resp_accumulate_i(rda_accumulate),
    .rd_resp_acc_width_i(rda_acc_width), .rd_resp_scale_i(rda_scale),
    .rd_resp_repeats_i(rda_repeats),
    .rd_resp_pixel_repeats_i(rda_pixel_repeats), .rd_resp_cols_i(rda_cols),
    .rd_resp_last_i(rda_last),
    .rd_resp_bytes_i(rda_bytes), .rd_resp_cmd_i(rda_cmd),
    .wr_req_valid_o(wrq_valid), .wr_req_ready_i(wrq_ready), .wr_req_addr_o(wrq_addr),
    .wr_req_data_o(wrq_data),
    .wr_req_len_o(wrq_len), .wr_req_block_o(wrq_block), .wr_req_pool_en_o(wrq_pool_en),
    .wr_req_store_en_o(wrq_store_en), .busy_o(memory_busy)
  );

  // --- DMA ---------------------------------------------------------------------------------------
  logic [1:0]   page_look, page_miss;  // writer, reader
  logic [103:0] pages;
  logic         reader_busy, writer_busy, ev_page_miss, ev_page_hit, ev_page_request;
  logic         ev_rd_active, ev_rd_tlb, ev_rd_bus, ev_wr_active, ev_wr_tlb, ev_wr_bus;
  logic [15:0]  bytes_read, bytes_written;
  logic [READ_COUNT_BITS-1:0]  reads_in_flight;
  logic [WRITE_COUNT_BITS-1:0] writes_in_flight;
  weft_page_filter #(.PAGE_BITS(52)) u_page_filter (
    .clk_i, .rst_ni, .flush_i(flush), .look_valid_i(page_look), .look_page_i(pages),
    .miss_o(page_miss),
    .ev_miss_cycle_o(ev_page_miss), .ev_hit_o(ev_page_hit), .ev_request_o(ev_page_request)
  );
  weft_dma_reader #(
    .DIM(DIM), .BUS_BITS(BUS_BITS), .MAX_BURST_BYTES(DMA_MAX_BURST_BYTES),
    .IN_FLIGHT(DMA_READS_IN_FLIGHT), .ROW_BITS(ROW_BITS), .PACKED_INT4(LOAD_PACKED_INT4)
  ) u_reader (
    .clk_i, .rst_ni,
    .rd_req_valid_i(rdq_valid), .rd_req_ready_o(rdq_ready), .rd_req_addr_i(rdq_addr),
    .rd_req_laddr_i(rdq_laddr),
    .rd_req_cols_i(rdq_cols), .rd_req_repeats_i(rdq_repeats), .rd_req_scale_i(rdq_scale),
    .rd_req_acc_width_i(rdq_acc_width), .rd_req_packed_i(rdq_packed),
    .rd_req_block_stride_i(rdq_block_stride),
    .rd_req_pixel_repeats_i(rdq_pixel_repeats), .rd_req_cmd_i(rdq_cmd),
    .rd_resp_valid_o(rda_valid), .rd_resp_ready_i(rda_ready), .rd_resp_data_o(rda_data),
    .rd_resp_addr_o(rda_addr),
    .rd_resp_mask_o(rda_mask), .rd_resp_is_acc_o(rda_is_acc), .rd_resp_accumulate_o(rda_accumulate),
    .rd_resp_acc_width_o(rda_acc_width), .rd_resp_scale_o(rda_scale),
    .rd_resp_repeats_o(rda_repeats),
    .rd_resp_pixel_repeats_o(rda_pixel_repeats), .rd_resp_cols_o(rda_cols),
    .rd_resp_last_o(rda_last),
    .rd_resp_bytes_o(rda_bytes), .rd_resp_cmd_o(rda_cmd),
    .page_look_valid_o(page_look[1]), .page_look_page_o(pages[103:52]), .page_miss_i(page_miss[1]),
    .m_axi_arvalid_o, .m_axi_arready_i, .m_axi_arid_o, .m_axi_araddr_o, .m_axi_arlen_o,
    .m_axi_arsize_o,
    .m_axi_arburst_o, .m_axi_rvalid_i, .m_axi_rready_o, .m_axi_rid_i, .m_axi_rdata_i,
    .m_axi_rresp_i, .m_axi_rlast_i,
    .busy_o(reader_busy), .ev_active_o(ev_rd_active), .ev_tlb_wait_o(ev_rd_tlb),
    .ev_bus_wait_o(ev_rd_bus),
    .ext_bytes_o(bytes_read), .ext_in_flight_o(reads_in_flight)
  );
  weft_dma_writer #(
    .DIM(DIM), .DATA_BITS(STORE_BITS), .BUS_BITS(BUS_BITS), .MAX_BURST_BYTES(DMA_MAX_BURST_BYTES),
    .MAX_BLOCKS(MAX_BLOCK_LEN), .IN_FLIGHT(DMA_WRITES_IN_FLIGHT),
    .MAX_POOL(UNITS_MAX_POOL)
  ) u_writer (
    .clk_i, .rst_ni,
    .wr_req_valid_i(wrq_valid), .wr_req_ready_o(wrq_ready), .wr_req_addr_i(wrq_addr),
    .wr_req_data_i(wrq_data),
    .wr_req_len_i(wrq_len), .wr_req_block_i(wrq_block), .wr_req_pool_en_i(wrq_pool_en),
    .wr_req_store_en_i(wrq_store_en),
    .page_look_valid_o(page_look[0]), .page_look_page_o(pages[51:0]), .page_miss_i(page_miss[0]),
    .m_axi_awvalid_o, .m_axi_awready_i, .m_axi_awid_o, .m_axi_awaddr_o, .m_axi_awlen_o,
    .m_axi_awsize_o,
    .m_axi_awburst_o, .m_axi_awuser_o,
    .m_axi_wvalid_o, .m_axi_wready_i, .m_axi_wdata_o, .m_axi_wstrb_o,
    .m_axi_wlast_o,
    .m_axi_bvalid_i, .m_axi_bready_o, .m_axi_bid_i, .m_axi_bresp_i,
    .busy_o(writer_busy), .ev_active_o(ev_wr_active), .ev_tlb_wait_o(ev_wr_tlb),
    .ev_bus_wait_o(ev_wr_bus),
    .ext_bytes_o(bytes_written), .ext_in_flight_o(writes_in_flight)
  );

  // --- counters ---------------------------------------------------------------------------------
  // Events that have no unit here never happen.
  logic [weft_isa_pkg::EVENTS-1:0] events;
  always_comb begin
    events = '0;
    events[weft_isa_pkg::EV_BUSY_LOAD] = load_busy && !store_busy && !execute_busy;
    events[weft_isa_pkg::EV_BUSY_STORE] = !load_busy && store_busy && !execute_busy;
    events[weft_isa_pkg::EV_BUSY_EXECUTE] = !load_busy && !store_busy && execute_busy;
    events[weft_isa_pkg::EV_BUSY_LOAD_STORE] = load_busy && store_busy && !execute_busy;
    events[weft_isa_pkg::EV_BUSY_LOAD_EXECUTE] = load_busy && !store_busy && execute_busy;
    events[weft_isa_pkg::EV_BUSY_STORE_EXECUTE] = !load_busy && store_busy && execute_busy;
    events[weft_isa_pkg::EV_BUSY_ALL] = load_busy && store_busy && execute_busy;
    events[weft_isa_pkg::EV_LOAD_DMA_WAIT] = ev_ld_dma;
    events[weft_isa_pkg::EV_LOAD_ACTIVE] = ev_ld_active;
    events[weft_isa_pkg::EV_LOAD_SPAD_WAIT] = ev_ld_spad;
    events[weft_isa_pkg::EV_STORE_DMA_WAIT] = ev_st_dma;
    events[weft_isa_pkg::EV_STORE_ACTIVE] = ev_st_active;
    events[weft_isa_pkg::EV_STORE_POOLING] = ev_st_pooling;
    events[weft_isa_pkg::EV_STORE_SPAD_WAIT] = ev_st_spad;
    events[weft_isa_pkg::EV_PAGE_MISS] = ev_page_miss;
    events[weft_isa_pkg::EV_PAGE_HIT] = ev_page_hit;
    events[weft_isa_pkg::EV_PAGE_REQUEST] = ev_page_request;
    events[weft_isa_pkg::EV_READER_ACTIVE] = ev_rd_active;
    events[weft_isa_pkg::EV_READER_PAGE_WAIT] = ev_rd_tlb;
    events[weft_isa_pkg::EV_READER_BUS_WAIT] = ev_rd_bus;
    events[weft_isa_pkg::EV_WRITER_ACTIVE] = ev_wr_active;
    events[weft_isa_pkg::EV_WRITER_PAGE_WAIT] = ev_wr_tlb;
    events[weft_isa_pkg::EV_WRITER_BUS_WAIT] = ev_wr_bus;
    events[weft_isa_pkg::EV_EXECUTE_ACTIVE] = ev_ex_active;
    events[weft_isa_pkg::EV_EXECUTE_FLUSH] = ev_ex_flush;
    events[weft_isa_pkg::EV_EXECUTE_CONTROL_BLOCK] = ev_ex_control;
    events[weft_isa_pkg::EV_EXECUTE_PRELOAD_HAZARD] = ev_ex_preload;
    events[weft_isa_pkg::EV_EXECUTE_OVERLAP_HAZARD] = ev_ex_overlap;
    events[weft_isa_pkg::EV_SPAD_WAIT_A] = ev_sp_wait[0];
    events[weft_isa_pkg::EV_SPAD_WAIT_B] = ev_sp_wait[1];
    events[weft_isa_pkg::EV_SPAD_WAIT_D] = ev_sp_wait[2];
    events[weft_isa_pkg::EV_ACC_WAIT_A] = ev_acc_wait[0];
    events[weft_isa_pkg::EV_ACC_WAIT_B] = ev_acc_wait[1];
    events[weft_isa_pkg::EV_ACC_WAIT_D] = ev_acc_wait[2];
    events[weft_isa_pkg::EV_GARBAGE_A] = ev_garbage[0];
    events[weft_isa_pkg::EV_GARBAGE_B] = ev_garbage[1];
    events[weft_isa_pkg::EV_GARBAGE_D] = ev_garbage[2];
    events[weft_isa_pkg::EV_STATION_FULL] = alloc_valid && !alloc_ready;
    events[weft_isa_pkg::EV_STATION_BUSY] = station_busy;
    events[weft_isa_pkg::EV_LOOP_MATMUL_BUSY] = ev_matmul;
    events[weft_isa_pkg::EV_UNROLLER_ACTIVE] = ev_unroller;
  end
  weft_counters #(.COUNTERS(UNITS_COUNTERS)) u_counters (
    .clk_i, .rst_ni,
    .cmd_valid_i(counter_valid), .cmd_ready_o(counter_ready), .cmd_rs1_i(counter_rs1),
    .cmd_rd_i(counter_rd),
    .cmd_returns_i(counter_returns),
    .resp_valid_o, .resp_ready_i, .resp_rd_o, .resp_data_o,
    .event_i(events), .ld_entries_i(ld_entries), .st_entries_i(st_entries),
    .ex_entries_i(ex_entries),
    .bytes_read_i(bytes_read), .bytes_written_i(bytes_written),
    .reads_in_flight_i(16'(reads_in_flight)),
    .writes_in_flight_i(16'(writes_in_flight))
  );

  assign busy_o = front_busy || station_busy || memory_busy || reader_busy || writer_busy;
  assign interrupt_o = 1'b0;
endmodule
