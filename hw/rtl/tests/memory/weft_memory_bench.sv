// SPDX-License-Identifier: Apache-2.0
// Everything between the reservation station, the execute unit and the AXI bus, for the tests of
// this folder: the load and store controllers, local memory, the DMA engines and the page filter,
// wired as in the accelerator.
// The completion port is modelled by its priority: a store's completion waits for a load's.
module weft_memory_bench #(
  parameter int DIM = 16,
  parameter int SP_BANKS = 4,
  parameter int SP_BANK_ROWS = 4096,
  parameter bit SP_SINGLE_PORTED = 1'b1,
  parameter int READ_DELAY = 4,
  parameter bit READ_FIXED = 1'b1,
  parameter int ACC_BANKS = 2,
  parameter int ACC_BANK_ROWS = 512,
  parameter bit ACC_SINGLE_PORTED = 1'b0,
  parameter int ACC_SUB_BANKS = 1,
  parameter int ACC_LATENCY = 2,
  parameter bit FULL_READS = 1'b1,
  parameter bit NARROW_READS = 1'b1,
  parameter int ACC_SCALE_UNITS = 0,
  parameter int ACC_SCALE_LATENCY = 8,
  parameter int LOAD_SCALE_UNITS = 4,
  parameter int LOAD_SCALE_LATENCY = 4,
  parameter bit PACKED_INT4 = 1'b0,
  parameter bit NORMALISER = 1'b0,
  parameter int NORM_STATS = 4,
  parameter bit FACTOR_THEN_SCALE = 1'b1,
  parameter bit GATE = 1'b0,
  parameter bit SP_STORES = 1'b0,
  parameter bit PIXEL_REPEAT = 1'b1,
  parameter bit MAX_POOL = 1'b1,
  parameter int LOAD_QUEUE = 8,
  parameter int STORE_QUEUE = 2,
  parameter int BUS_BITS = 128,
  parameter int MAX_BURST_BYTES = 64,
  parameter int READS_IN_FLIGHT = 16,
  parameter int WRITES_IN_FLIGHT = 16,
  parameter int ROW_BITS = $clog2(SP_BANKS * SP_BANK_ROWS > ACC_BANKS * ACC_BANK_ROWS
                                ? SP_BANKS * SP_BANK_ROWS : ACC_BANKS * ACC_BANK_ROWS),
  parameter int SP_BANK_BITS = $clog2(SP_BANK_ROWS),
  parameter int ACC_BANK_BITS = $clog2(ACC_BANK_ROWS),
  parameter int RID_BITS = READS_IN_FLIGHT > 1 ? $clog2(READS_IN_FLIGHT) : 1,
  parameter int WID_BITS = WRITES_IN_FLIGHT > 1 ? $clog2(WRITES_IN_FLIGHT) : 1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        flush_i,
  input  logic        ld_valid_i,
  output logic        ld_ready_o,
  input  logic [6:0]  ld_funct_i,
  input  logic [63:0] ld_rs1_i,
  input  logic [63:0] ld_rs2_i,
  input  logic [7:0]  ld_id_i,
  output logic        ld_done_valid_o,
  output logic [7:0]  ld_done_id_o,
  input  logic        st_valid_i,
  output logic        st_ready_o,
  input  logic [6:0]  st_funct_i,
  input  logic [63:0] st_rs1_i,
  input  logic [63:0] st_rs2_i,
  input  logic [7:0]  st_id_i,
  output logic        st_done_valid_o,
  output logic [7:0]  st_done_id_o,
  output logic        ld_busy_o,
  output logic        st_busy_o,
  output logic        dma_busy_o,
  output logic [5:0]  events_o,
  input  logic [SP_BANKS-1:0]                sp_rd_valid_i,
  output logic [SP_BANKS-1:0]                sp_rd_ready_o,
  input  logic [SP_BANKS*SP_BANK_BITS-1:0]   sp_rd_addr_i,
  output logic [SP_BANKS-1:0]                sp_rsp_valid_o,
  input  logic [SP_BANKS-1:0]                sp_rsp_ready_i,
  output logic [SP_BANKS*DIM*8-1:0]          sp_rsp_data_o,
  input  logic [ACC_BANKS-1:0]               acc_rd_valid_i,
  output logic [ACC_BANKS-1:0]               acc_rd_ready_o,
  input  logic [ACC_BANKS*ACC_BANK_BITS-1:0] acc_rd_addr_i,
  input  logic [31:0]                        acc_rd_scale_i,
  input  logic [2:0]                         acc_rd_act_i,
  output logic [ACC_BANKS-1:0]               acc_rsp_valid_o,
  input  logic [ACC_BANKS-1:0]               acc_rsp_ready_i,
  output logic [DIM*8-1:0]                   acc_rsp_data_o,
  input  logic [SP_BANKS-1:0]                sp_wr_en_i,
  input  logic [SP_BANKS*SP_BANK_BITS-1:0]   sp_wr_addr_i,
  input  logic [DIM*8-1:0]                   sp_wr_data_i,
  input  logic [DIM-1:0]                     sp_wr_mask_i,
  input  logic [ACC_BANKS-1:0]               acc_wr_valid_i,
  input  logic [ACC_BANKS*ACC_BANK_BITS-1:0] acc_wr_addr_i,
  input  logic [DIM*32-1:0]                  acc_wr_data_i,
  input  logic                               acc_wr_accumulate_i,
  input  logic [DIM-1:0]                     acc_wr_mask_i,
  output logic                  arvalid_o,
  input  logic                  arready_i,
  output logic [RID_BITS-1:0]   arid_o,
  output logic [63:0]           araddr_o,
  output logic [7:0]            arlen_o,
  output logic [2:0]            arsize_o,
  output logic [1:0]            arburst_o,
  input  logic                  rvalid_i,
  output logic                  rready_o,
  input  logic [RID_BITS-1:0]   rid_i,
  input  logic [BUS_BITS-1:0]   rdata_i,
  input  logic                  rlast_i,
  output logic                  awvalid_o,
  input  logic                  awready_i,
  output logic [WID_BITS-1:0]   awid_o,
  output logic [63:0]           awaddr_o,
  output logic [7:0]            awlen_o,
  output logic [2:0]            awsize_o,
  output logic [1:0]            awburst_o,
  output logic                  awuser_o,
  output logic                  wvalid_o,
  input  logic                  wready_i,
  output logic [BUS_BITS-1:0]   wdata_o,
  output logic [BUS_BITS/8-1:0] wstrb_o,
  output logic                  wlast_o,
  input  logic                  bvalid_i,
  output logic                  bready_o,
  input  logic [WID_BITS-1:0]   bid_i
);
  localparam int STORE_BITS = FULL_READS ? DIM * 32 : DIM * 8;
  localparam int MAX_BLOCKS = MAX_BURST_BYTES / DIM > 1 ? MAX_BURST_BYTES / DIM : 1;

  logic        ld_req_valid, ld_req_ready, ld_req_acc_width, ld_req_packed, ld_req_zeros;
  logic        ld_resp_valid, rd_req_packed;
  logic [63:0] ld_req_addr;
  logic [31:0] ld_req_laddr, ld_req_scale;
  logic [15:0] ld_req_cols, ld_req_repeats, ld_req_block_stride, ld_resp_bytes;
  logic [7:0]  ld_req_pixel_repeats, ld_req_cmd, ld_resp_cmd;
  logic        st_req_valid, st_req_ready, st_req_pool_en, st_req_store_en, st_req_to_sp,
      st_req_factor, st_resp_valid;
  logic [63:0] st_req_addr;
  logic [31:0] st_req_laddr, st_req_scale, st_req_qb, st_req_qc, st_req_qln2, st_req_qln2_inv;
  logic [2:0]  st_req_act;
  logic [15:0] st_req_len;
  logic [7:0]  st_req_block, st_req_cmd, st_req_stats_id, st_resp_cmd;
  logic        rd_req_valid, rd_req_ready, rd_req_acc_width, rd_resp_valid, rd_resp_ready,
      rd_resp_is_acc;
  logic [63:0] rd_req_addr;
  logic [31:0] rd_req_laddr, rd_req_scale, rd_resp_scale;
  logic [15:0] rd_req_cols, rd_req_repeats, rd_req_block_stride, rd_resp_repeats, rd_resp_cols,
      rd_resp_bytes;
  logic [7:0]  rd_req_pixel_repeats, rd_req_cmd, rd_resp_pixel_repeats, rd_resp_cmd;
  logic        rd_resp_accumulate, rd_resp_acc_width, rd_resp_last;
  logic [DIM*32-1:0]     rd_resp_data;
  logic [ROW_BITS-1:0]   rd_resp_addr;
  logic [DIM*4-1:0]      rd_resp_mask;
  logic                  wr_req_valid, wr_req_ready, wr_req_pool_en, wr_req_store_en;
  logic [63:0]           wr_req_addr;
  logic [STORE_BITS-1:0] wr_req_data;
  logic [15:0]           wr_req_len;
  logic [7:0]            wr_req_block;
  logic                  local_busy, reader_busy, writer_busy;
  logic [1:0]            look_valid, miss;
  logic [103:0]          look_page;

  weft_load_controller #(
    .DIM(DIM), .QUEUE(LOAD_QUEUE), .TRACKED(READS_IN_FLIGHT / DIM + 1), .ID_BITS(8),
    .ROW_BITS(ROW_BITS),
    .MAX_BLOCKS(MAX_BLOCKS), .PACKED_INT4(PACKED_INT4)
  ) u_load_controller (
    .clk_i(clk_i), .rst_ni(rst_ni), .ld_valid_i(ld_valid_i), .ld_ready_o(ld_ready_o),
    .ld_funct_i(ld_funct_i),
    .ld_rs1_i(ld_rs1_i), .ld_rs2_i(ld_rs2_i), .ld_id_i(ld_id_i), .ld_done_valid_o(ld_done_valid_o),
    .ld_done_ready_i(1'b1), .ld_done_id_o(ld_done_id_o),
    .ld_req_valid_o(ld_req_valid), .ld_req_ready_i(ld_req_ready), .ld_req_addr_o(ld_req_addr),
    .ld_req_laddr_o(ld_req_laddr), .ld_req_cols_o(ld_req_cols), .ld_req_repeats_o(ld_req_repeats),
    .ld_req_scale_o(ld_req_scale), .ld_req_acc_width_o(ld_req_acc_width),
    .ld_req_packed_o(ld_req_packed),
    .ld_req_zeros_o(ld_req_zeros),
    .ld_req_block_stride_o(ld_req_block_stride), .ld_req_pixel_repeats_o(ld_req_pixel_repeats),
    .ld_req_cmd_o(ld_req_cmd), .ld_resp_valid_i(ld_resp_valid), .ld_resp_bytes_i(ld_resp_bytes),
    .ld_resp_cmd_i(ld_resp_cmd), .busy_o(ld_busy_o), .ev_dma_wait_o(events_o[0]),
    .ev_active_o(events_o[1]),
    .ev_spad_wait_o(events_o[2])
  );

  logic unused_pooling;
  weft_store_controller #(
    .DIM(DIM), .QUEUE(STORE_QUEUE), .TRACKED(WRITES_IN_FLIGHT / DIM + 1), .ID_BITS(8),
    .ROW_BITS(ROW_BITS),
    .MAX_POOL(MAX_POOL), .NORMALISER(NORMALISER), .GATE(GATE),
    .SP_STORES(SP_STORES)
  ) u_store_controller (
    .clk_i(clk_i), .rst_ni(rst_ni), .st_valid_i(st_valid_i), .st_ready_o(st_ready_o),
    .st_funct_i(st_funct_i),
    .st_rs1_i(st_rs1_i), .st_rs2_i(st_rs2_i), .st_id_i(st_id_i), .st_done_valid_o(st_done_valid_o),
    .st_done_ready_i(!ld_done_valid_o), .st_done_id_o(st_done_id_o),
    .st_req_valid_o(st_req_valid), .st_req_ready_i(st_req_ready), .st_req_addr_o(st_req_addr),
    .st_req_to_sp_o(st_req_to_sp), .st_req_factor_o(st_req_factor),
    .st_req_laddr_o(st_req_laddr), .st_req_act_o(st_req_act),
    .st_req_scale_o(st_req_scale),
    .st_req_igelu_qb_o(st_req_qb), .st_req_igelu_qc_o(st_req_qc), .st_req_iexp_qln2_o(st_req_qln2),
    .st_req_iexp_qln2_inv_o(st_req_qln2_inv), .st_req_stats_id_o(st_req_stats_id),
    .st_req_len_o(st_req_len),
    .st_req_block_o(st_req_block), .st_req_pool_en_o(st_req_pool_en),
    .st_req_store_en_o(st_req_store_en),
    .st_req_cmd_o(st_req_cmd), .st_resp_valid_i(st_resp_valid), .st_resp_cmd_i(st_resp_cmd),
    .busy_o(st_busy_o),
    .ev_dma_wait_o(events_o[3]), .ev_active_o(events_o[4]), .ev_pooling_o(unused_pooling),
    .ev_spad_wait_o(events_o[5])
  );

  weft_local_memory #(
    .DIM(DIM), .ROW_BITS(ROW_BITS), .SP_BANKS(SP_BANKS), .SP_BANK_ROWS(SP_BANK_ROWS),
    .SP_SINGLE_PORTED(SP_SINGLE_PORTED), .READ_DELAY(READ_DELAY), .READ_FIXED(READ_FIXED),
    .ACC_BANKS(ACC_BANKS),
    .ACC_BANK_ROWS(ACC_BANK_ROWS), .ACC_SINGLE_PORTED(ACC_SINGLE_PORTED),
    .ACC_SUB_BANKS(ACC_SUB_BANKS),
    .ACC_LATENCY(ACC_LATENCY), .FULL_READS(FULL_READS), .NARROW_READS(NARROW_READS),
    .ACC_SCALE_UNITS(ACC_SCALE_UNITS), .ACC_SCALE_LATENCY(ACC_SCALE_LATENCY),
    .LOAD_SCALE_UNITS(LOAD_SCALE_UNITS),
    .LOAD_SCALE_LATENCY(LOAD_SCALE_LATENCY), .NORMALISER(NORMALISER), .NORM_STATS(NORM_STATS),
    .FACTOR_THEN_SCALE(FACTOR_THEN_SCALE), .GATE(GATE), .SP_STORES(SP_STORES),
    .PIXEL_REPEAT(PIXEL_REPEAT)
  ) u_local_memory (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .ld_req_valid_i(ld_req_valid), .ld_req_ready_o(ld_req_ready), .ld_req_addr_i(ld_req_addr),
    .ld_req_laddr_i(ld_req_laddr), .ld_req_cols_i(ld_req_cols), .ld_req_repeats_i(ld_req_repeats),
    .ld_req_scale_i(ld_req_scale), .ld_req_acc_width_i(ld_req_acc_width),
    .ld_req_packed_i(ld_req_packed),
    .ld_req_zeros_i(ld_req_zeros),
    .ld_req_block_stride_i(ld_req_block_stride), .ld_req_pixel_repeats_i(ld_req_pixel_repeats),
    .ld_req_cmd_i(ld_req_cmd), .ld_resp_valid_o(ld_resp_valid), .ld_resp_bytes_o(ld_resp_bytes),
    .ld_resp_cmd_o(ld_resp_cmd),
    .st_req_valid_i(st_req_valid), .st_req_ready_o(st_req_ready), .st_req_addr_i(st_req_addr),
    .st_req_to_sp_i(st_req_to_sp), .st_req_factor_i(st_req_factor),
    .st_req_laddr_i(st_req_laddr), .st_req_act_i(st_req_act),
    .st_req_scale_i(st_req_scale),
    .st_req_igelu_qb_i(st_req_qb), .st_req_igelu_qc_i(st_req_qc), .st_req_iexp_qln2_i(st_req_qln2),
    .st_req_iexp_qln2_inv_i(st_req_qln2_inv), .st_req_stats_id_i(st_req_stats_id),
    .st_req_len_i(st_req_len),
    .st_req_block_i(st_req_block), .st_req_pool_en_i(st_req_pool_en),
    .st_req_store_en_i(st_req_store_en),
    .st_req_cmd_i(st_req_cmd), .st_resp_valid_o(st_resp_valid), .st_resp_cmd_o(st_resp_cmd),
    .sp_rd_valid_i(sp_rd_valid_i), .sp_rd_ready_o(sp_rd_ready_o), .sp_rd_addr_i(sp_rd_addr_i),
    .sp_rsp_valid_o(sp_rsp_valid_o), .sp_rsp_ready_i(sp_rsp_ready_i), .sp_rsp_data_o(sp_rsp_data_o),
    .acc_rd_valid_i(acc_rd_valid_i), .acc_rd_ready_o(acc_rd_ready_o), .acc_rd_addr_i(acc_rd_addr_i),
    .acc_rd_scale_i(acc_rd_scale_i), .acc_rd_act_i(acc_rd_act_i), .acc_rsp_valid_o(acc_rsp_valid_o),
    .acc_rsp_ready_i(acc_rsp_ready_i), .acc_rsp_data_o(acc_rsp_data_o),
    .sp_wr_en_i(sp_wr_en_i), .sp_wr_addr_i(sp_wr_addr_i), .sp_wr_data_i(sp_wr_data_i),
    .sp_wr_mask_i(sp_wr_mask_i),
    .acc_wr_valid_i(acc_wr_valid_i), .acc_wr_addr_i(acc_wr_addr_i), .acc_wr_data_i(acc_wr_data_i),
    .acc_wr_accumulate_i(acc_wr_accumulate_i), .acc_wr_mask_i(acc_wr_mask_i),
    .rd_req_valid_o(rd_req_valid), .rd_req_ready_i(rd_req_ready), .rd_req_addr_o(rd_req_addr),
    .rd_req_laddr_o(rd_req_laddr), .rd_req_cols_o(rd_req_cols), .rd_req_repeats_o(rd_req_repeats),
    .rd_req_scale_o(rd_req_scale), .rd_req_acc_width_o(rd_req_acc_width),
    .rd_req_packed_o(rd_req_packed),
    .rd_req_block_stride_o(rd_req_block_stride), .rd_req_pixel_repeats_o(rd_req_pixel_repeats),
    .rd_req_cmd_o(rd_req_cmd), .rd_resp_valid_i(rd_resp_valid), .rd_resp_ready_o(rd_resp_ready),
    .rd_resp_data_i(rd_resp_data), .rd_resp_addr_i(rd_resp_addr), .rd_resp_mask_i(rd_resp_mask),
    .rd_resp_is_acc_i(rd_resp_is_acc), .rd_resp_accumulate_i(rd_resp_accumulate),
    .rd_resp_acc_width_i(rd_resp_acc_width), .rd_resp_scale_i(rd_resp_scale),
    .rd_resp_repeats_i(rd_resp_repeats),
    .rd_resp_pixel_repeats_i(rd_resp_pixel_repeats), .rd_resp_cols_i(rd_resp_cols),
    .rd_resp_last_i(rd_resp_last),
    .rd_resp_bytes_i(rd_resp_bytes), .rd_resp_cmd_i(rd_resp_cmd),
    .wr_req_valid_o(wr_req_valid), .wr_req_ready_i(wr_req_ready), .wr_req_addr_o(wr_req_addr),
    .wr_req_data_o(wr_req_data), .wr_req_len_o(wr_req_len), .wr_req_block_o(wr_req_block),
    .wr_req_pool_en_o(wr_req_pool_en), .wr_req_store_en_o(wr_req_store_en), .busy_o(local_busy)
  );

  logic [2:0] unused_reader_events, unused_writer_events, unused_page_events;
  logic [15:0] unused_read_bytes, unused_write_bytes;
  logic [$clog2(READS_IN_FLIGHT+1)-1:0] unused_reads;
  logic [$clog2(WRITES_IN_FLIGHT+1)-1:0] unused_writes;
  weft_dma_reader #(
    .DIM(DIM), .BUS_BITS(BUS_BITS), .MAX_BURST_BYTES(MAX_BURST_BYTES), .IN_FLIGHT(READS_IN_FLIGHT),
    .ROW_BITS(ROW_BITS),
    .PACKED_INT4(PACKED_INT4)
  ) u_reader (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .rd_req_valid_i(rd_req_valid), .rd_req_ready_o(rd_req_ready), .rd_req_addr_i(rd_req_addr),
    .rd_req_laddr_i(rd_req_laddr), .rd_req_cols_i(rd_req_cols), .rd_req_repeats_i(rd_req_repeats),
    .rd_req_scale_i(rd_req_scale), .rd_req_acc_width_i(rd_req_acc_width),
    .rd_req_packed_i(rd_req_packed),
    .rd_req_block_stride_i(rd_req_block_stride), .rd_req_pixel_repeats_i(rd_req_pixel_repeats),
    .rd_req_cmd_i(rd_req_cmd), .rd_resp_valid_o(rd_resp_valid), .rd_resp_ready_i(rd_resp_ready),
    .rd_resp_data_o(rd_resp_data), .rd_resp_addr_o(rd_resp_addr), .rd_resp_mask_o(rd_resp_mask),
    .rd_resp_is_acc_o(rd_resp_is_acc), .rd_resp_accumulate_o(rd_resp_accumulate),
    .rd_resp_acc_width_o(rd_resp_acc_width), .rd_resp_scale_o(rd_resp_scale),
    .rd_resp_repeats_o(rd_resp_repeats),
    .rd_resp_pixel_repeats_o(rd_resp_pixel_repeats), .rd_resp_cols_o(rd_resp_cols),
    .rd_resp_last_o(rd_resp_last),
    .rd_resp_bytes_o(rd_resp_bytes), .rd_resp_cmd_o(rd_resp_cmd),
    .page_look_valid_o(look_valid[1]), .page_look_page_o(look_page[103:52]), .page_miss_i(miss[1]),
    .m_axi_arvalid_o(arvalid_o), .m_axi_arready_i(arready_i), .m_axi_arid_o(arid_o),
    .m_axi_araddr_o(araddr_o),
    .m_axi_arlen_o(arlen_o), .m_axi_arsize_o(arsize_o), .m_axi_arburst_o(arburst_o),
    .m_axi_rvalid_i(rvalid_i),
    .m_axi_rready_o(rready_o), .m_axi_rid_i(rid_i), .m_axi_rdata_i(rdata_i), .m_axi_rresp_i(2'b00),
    .m_axi_rlast_i(rlast_i), .busy_o(reader_busy), .ev_active_o(unused_reader_events[0]),
    .ev_tlb_wait_o(unused_reader_events[1]), .ev_bus_wait_o(unused_reader_events[2]),
    .ext_bytes_o(unused_read_bytes), .ext_in_flight_o(unused_reads)
  );
  weft_dma_writer #(
    .DIM(DIM), .DATA_BITS(STORE_BITS), .BUS_BITS(BUS_BITS), .MAX_BURST_BYTES(MAX_BURST_BYTES),
    .MAX_BLOCKS(MAX_BLOCKS), .IN_FLIGHT(WRITES_IN_FLIGHT), .MAX_POOL(MAX_POOL)
  ) u_writer (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .wr_req_valid_i(wr_req_valid), .wr_req_ready_o(wr_req_ready), .wr_req_addr_i(wr_req_addr),
    .wr_req_data_i(wr_req_data), .wr_req_len_i(wr_req_len), .wr_req_block_i(wr_req_block),
    .wr_req_pool_en_i(wr_req_pool_en), .wr_req_store_en_i(wr_req_store_en),
    .page_look_valid_o(look_valid[0]), .page_look_page_o(look_page[51:0]), .page_miss_i(miss[0]),
    .m_axi_awvalid_o(awvalid_o), .m_axi_awready_i(awready_i), .m_axi_awid_o(awid_o),
    .m_axi_awaddr_o(awaddr_o),
    .m_axi_awlen_o(awlen_o), .m_axi_awsize_o(awsize_o), .m_axi_awburst_o(awburst_o),
    .m_axi_awuser_o(awuser_o),
    .m_axi_wvalid_o(wvalid_o),
    .m_axi_wready_i(wready_i), .m_axi_wdata_o(wdata_o), .m_axi_wstrb_o(wstrb_o),
    .m_axi_wlast_o(wlast_o),
    .m_axi_bvalid_i(bvalid_i), .m_axi_bready_o(bready_o), .m_axi_bid_i(bid_i),
    .m_axi_bresp_i(2'b00),
    .busy_o(writer_busy), .ev_active_o(unused_writer_events[0]),
    .ev_tlb_wait_o(unused_writer_events[1]),
    .ev_bus_wait_o(unused_writer_events[2]), .ext_bytes_o(unused_write_bytes),
    .ext_in_flight_o(unused_writes)
  );
  weft_page_filter u_page_filter (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush_i), .look_valid_i(look_valid),
    .look_page_i(look_page),
    .miss_o(miss), .ev_miss_cycle_o(unused_page_events[0]), .ev_hit_o(unused_page_events[1]),
    .ev_request_o(unused_page_events[2])
  );
  assign dma_busy_o = local_busy || reader_busy || writer_busy;
endmodule
