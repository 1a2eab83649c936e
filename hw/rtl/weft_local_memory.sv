// SPDX-License-Identifier: Apache-2.0
// Scratchpad and accumulator with everything between them and the three units that use them.
//
//   load_path: rows from the DMA reader, zeros        -> writes
//   execute_controller: operand reads, result writes
//   store_path: rows to the DMA writer, or to the scratchpad; accumulator operands of the execute
//   unit
//
// Arbitration, per bank: writes: execute, then loaded rows (int8 before int32), then zeros, then
// stored rows. Reads: execute, then store. The banks of the accumulator share one row adder
// (add_*): execute's accumulating write uses it, else one of loaded rows, else one of zeros; the
// others wait a cycle. A wait costs a load a cycle where the reference would corrupt both rows, and
// nothing else.
// Execute's writes are always taken; its reads may be dropped before they are taken.
//
// Latency: execute's scratchpad read t -> response t + 1 + READ_DELAY (t + 2 with a read queue);
// accumulator read t -> t + 2 + scale latency; scratchpad write t -> readable t+1; accumulator
// write t -> readable t + ACC_LATENCY + 1. For loads and stores see load_path and store_path.
// Combinational: sp_rd_ready_o on sp_wr_en_i, load writes (single-ported) and sp_rsp_ready_i;
// acc_rd_ready_o on acc_wr_*, load writes and acc_rsp_ready_i; otherwise as in the two paths.
`include "weft_assert.svh"

module weft_local_memory #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int SP_BANKS = 4,
  parameter int SP_BANK_ROWS = 4096,
  parameter bit SP_SINGLE_PORTED = 1'b1,
  parameter int READ_DELAY = 4,
  parameter bit READ_FIXED = 1'b1,        // read_pipeline: fixed, else queue
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
  parameter bit ACTIVATION = 1'b1,
  parameter bit NORMALISER = 1'b0,
  parameter bit GATE = 1'b0,
  parameter int NORM_STATS = 4,
  parameter bit FACTOR_THEN_SCALE = 1'b1, // ISA revision 1
  parameter bit SP_STORES = 1'b0,         // stores to the scratchpad: ISA revision 2
  parameter bit PIXEL_REPEAT = 1'b1,
  parameter int SP_BANK_BITS = $clog2(SP_BANK_ROWS),                   // derived
  parameter int ACC_BANK_BITS = $clog2(ACC_BANK_ROWS),                 // derived
  parameter int STORE_BITS = FULL_READS ? DIM * 32 : DIM * 8           // derived
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // load controller
  input  logic                ld_req_valid_i,
  output logic                ld_req_ready_o,
  input  logic [63:0]         ld_req_addr_i,
  input  logic [31:0]         ld_req_laddr_i,
  input  logic [15:0]         ld_req_cols_i,
  input  logic [15:0]         ld_req_repeats_i,
  input  logic [31:0]         ld_req_scale_i,
  input  logic                ld_req_acc_width_i,
  input  logic                ld_req_packed_i,
  input  logic                ld_req_zeros_i,
  input  logic [15:0]         ld_req_block_stride_i,
  input  logic [7:0]          ld_req_pixel_repeats_i,
  input  logic [7:0]          ld_req_cmd_i,
  output logic                ld_resp_valid_o,
  output logic [15:0]         ld_resp_bytes_o,
  output logic [7:0]          ld_resp_cmd_o,
  // store controller
  input  logic                st_req_valid_i,
  output logic                st_req_ready_o,
  input  logic [63:0]         st_req_addr_i,
  input  logic                st_req_to_sp_i,
  input  logic                st_req_factor_i,
  input  logic [31:0]         st_req_laddr_i,
  input  logic [2:0]          st_req_act_i,
  input  logic [31:0]         st_req_scale_i,
  input  logic [31:0]         st_req_igelu_qb_i,
  input  logic [31:0]         st_req_igelu_qc_i,
  input  logic [31:0]         st_req_iexp_qln2_i,
  input  logic [31:0]         st_req_iexp_qln2_inv_i,
  input  logic [7:0]          st_req_stats_id_i,
  input  logic [15:0]         st_req_len_i,
  input  logic [7:0]          st_req_block_i,
  input  logic                st_req_pool_en_i,
  input  logic                st_req_store_en_i,
  input  logic [7:0]          st_req_cmd_i,
  output logic                st_resp_valid_o,
  output logic [7:0]          st_resp_cmd_o,
  // execute controller
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
  // DMA reader
  output logic                rd_req_valid_o,
  input  logic                rd_req_ready_i,
  output logic [63:0]         rd_req_addr_o,
  output logic [31:0]         rd_req_laddr_o,
  output logic [15:0]         rd_req_cols_o,
  output logic [15:0]         rd_req_repeats_o,
  output logic [31:0]         rd_req_scale_o,
  output logic                rd_req_acc_width_o,
  output logic                rd_req_packed_o,
  output logic [15:0]         rd_req_block_stride_o,
  output logic [7:0]          rd_req_pixel_repeats_o,
  output logic [7:0]          rd_req_cmd_o,
  input  logic                rd_resp_valid_i,
  output logic                rd_resp_ready_o,
  input  logic [DIM*32-1:0]   rd_resp_data_i,
  input  logic [ROW_BITS-1:0] rd_resp_addr_i,
  input  logic [DIM*4-1:0]    rd_resp_mask_i,
  input  logic                rd_resp_is_acc_i,
  input  logic                rd_resp_accumulate_i,
  input  logic                rd_resp_acc_width_i,
  input  logic [31:0]         rd_resp_scale_i,
  input  logic [15:0]         rd_resp_repeats_i,
  input  logic [7:0]          rd_resp_pixel_repeats_i,
  input  logic [15:0]         rd_resp_cols_i,
  input  logic                rd_resp_last_i,
  input  logic [15:0]         rd_resp_bytes_i,
  input  logic [7:0]          rd_resp_cmd_i,
  // DMA writer
  output logic                  wr_req_valid_o,
  input  logic                  wr_req_ready_i,
  output logic [63:0]           wr_req_addr_o,
  output logic [STORE_BITS-1:0] wr_req_data_o,
  output logic [15:0]           wr_req_len_o,
  output logic [7:0]            wr_req_block_o,
  output logic                  wr_req_pool_en_o,
  output logic                  wr_req_store_en_o,
  output logic                  busy_o  // rows of the store path are on their way
);
  localparam int SP_ROWS = SP_BANKS * SP_BANK_ROWS;
  localparam int SP_SEL = SP_BANKS > 1 ? $clog2(SP_BANKS) : 1;
  localparam int ACC_SEL = ACC_BANKS > 1 ? $clog2(ACC_BANKS) : 1;

  // Writes of the load path.
  logic                narrow_valid, narrow_ready, narrow_is_acc, narrow_accumulate;
  logic [ROW_BITS-1:0] narrow_row;
  logic [DIM*8-1:0]    narrow_data;
  logic [DIM-1:0]      narrow_mask;
  logic                wide_valid, wide_ready, wide_accumulate;
  logic [ROW_BITS-1:0] wide_row;
  logic [DIM*32-1:0]   wide_data;
  logic [DIM*4-1:0]    wide_mask;
  logic                zero_valid, zero_ready, zero_is_acc, zero_accumulate;
  logic [ROW_BITS-1:0] zero_row;
  logic [DIM-1:0]      zero_mask;

  weft_load_path #(
    .DIM(DIM), .ROW_BITS(ROW_BITS), .SP_ROWS(SP_ROWS), .READ_DELAY(READ_DELAY),
    .SCALE_UNITS(LOAD_SCALE_UNITS),
    .SCALE_LATENCY(LOAD_SCALE_LATENCY), .PIXEL_REPEAT(PIXEL_REPEAT)
  ) u_load_path (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .ld_req_valid_i(ld_req_valid_i), .ld_req_ready_o(ld_req_ready_o), .ld_req_addr_i(ld_req_addr_i),
    .ld_req_laddr_i(ld_req_laddr_i), .ld_req_cols_i(ld_req_cols_i),
    .ld_req_repeats_i(ld_req_repeats_i),
    .ld_req_scale_i(ld_req_scale_i), .ld_req_acc_width_i(ld_req_acc_width_i),
    .ld_req_packed_i(ld_req_packed_i),
    .ld_req_zeros_i(ld_req_zeros_i),
    .ld_req_block_stride_i(ld_req_block_stride_i), .ld_req_pixel_repeats_i(ld_req_pixel_repeats_i),
    .ld_req_cmd_i(ld_req_cmd_i), .ld_resp_valid_o(ld_resp_valid_o),
    .ld_resp_bytes_o(ld_resp_bytes_o),
    .ld_resp_cmd_o(ld_resp_cmd_o),
    .rd_req_valid_o(rd_req_valid_o), .rd_req_ready_i(rd_req_ready_i), .rd_req_addr_o(rd_req_addr_o),
    .rd_req_laddr_o(rd_req_laddr_o), .rd_req_cols_o(rd_req_cols_o),
    .rd_req_repeats_o(rd_req_repeats_o),
    .rd_req_scale_o(rd_req_scale_o), .rd_req_acc_width_o(rd_req_acc_width_o),
    .rd_req_packed_o(rd_req_packed_o),
    .rd_req_block_stride_o(rd_req_block_stride_o), .rd_req_pixel_repeats_o(rd_req_pixel_repeats_o),
    .rd_req_cmd_o(rd_req_cmd_o),
    .rd_resp_valid_i(rd_resp_valid_i), .rd_resp_ready_o(rd_resp_ready_o),
    .rd_resp_data_i(rd_resp_data_i),
    .rd_resp_addr_i(rd_resp_addr_i), .rd_resp_mask_i(rd_resp_mask_i),
    .rd_resp_is_acc_i(rd_resp_is_acc_i),
    .rd_resp_accumulate_i(rd_resp_accumulate_i), .rd_resp_acc_width_i(rd_resp_acc_width_i),
    .rd_resp_scale_i(rd_resp_scale_i), .rd_resp_repeats_i(rd_resp_repeats_i),
    .rd_resp_pixel_repeats_i(rd_resp_pixel_repeats_i), .rd_resp_cols_i(rd_resp_cols_i),
    .rd_resp_last_i(rd_resp_last_i), .rd_resp_bytes_i(rd_resp_bytes_i),
    .rd_resp_cmd_i(rd_resp_cmd_i),
    .narrow_write_valid_o(narrow_valid), .narrow_write_ready_i(narrow_ready),
    .narrow_write_is_acc_o(narrow_is_acc),
    .narrow_write_accumulate_o(narrow_accumulate), .narrow_write_row_o(narrow_row),
    .narrow_write_data_o(narrow_data), .narrow_write_mask_o(narrow_mask),
    .wide_write_valid_o(wide_valid), .wide_write_ready_i(wide_ready),
    .wide_write_accumulate_o(wide_accumulate),
    .wide_write_row_o(wide_row), .wide_write_data_o(wide_data), .wide_write_mask_o(wide_mask),
    .zero_write_valid_o(zero_valid), .zero_write_ready_i(zero_ready),
    .zero_write_is_acc_o(zero_is_acc),
    .zero_write_accumulate_o(zero_accumulate), .zero_write_row_o(zero_row),
    .zero_write_mask_o(zero_mask)
  );

  // Rows that the store path writes to the scratchpad.
  logic                stored_valid, stored_ready;
  logic [ROW_BITS-1:0] stored_row;
  logic [DIM*8-1:0]    stored_data;
  logic [DIM-1:0]      stored_mask;

  // Bank selects of those writes.
  logic [SP_SEL-1:0]  narrow_sp_bank, zero_sp_bank, stored_sp_bank;
  logic [ACC_SEL-1:0] narrow_acc_bank, wide_acc_bank, zero_acc_bank;
  assign narrow_sp_bank = SP_BANKS > 1 ? SP_SEL'(narrow_row >> SP_BANK_BITS) : '0;
  assign zero_sp_bank = SP_BANKS > 1 ? SP_SEL'(zero_row >> SP_BANK_BITS) : '0;
  assign stored_sp_bank = SP_BANKS > 1 ? SP_SEL'(stored_row >> SP_BANK_BITS) : '0;
  assign narrow_acc_bank = ACC_BANKS > 1 ? ACC_SEL'(narrow_row >> ACC_BANK_BITS) : '0;
  assign wide_acc_bank = ACC_BANKS > 1 ? ACC_SEL'(wide_row >> ACC_BANK_BITS) : '0;
  assign zero_acc_bank = ACC_BANKS > 1 ? ACC_SEL'(zero_row >> ACC_BANK_BITS) : '0;
  // The accumulator may have fewer rows than a row number counts; without SP_STORES no row is
  // stored to the scratchpad.
  logic unused_row_bits;
  assign unused_row_bits = &{1'b0, narrow_row, wide_row, zero_row, stored_row, stored_data,
      stored_mask};

  // Reads of the store path.
  logic                rq_valid, rq_is_acc, rq_grant;
  logic [ROW_BITS-1:0] rq_row;
  logic [SP_BANKS-1:0]  st_sp_grant, st_sp_valid, st_sp_ready, narrow_to_sp, zero_to_sp,
      stored_to_sp;
  logic [ACC_BANKS-1:0] st_acc_grant;
  logic [SP_BANKS*DIM*8-1:0] st_sp_data;
  assign rq_grant = |st_sp_grant || |st_acc_grant;

  for (genvar b = 0; b < SP_BANKS; b++) begin : g_sp_bank
    logic                    narrow_here, zero_here, stored_here, wr_en;
    logic [SP_BANK_BITS-1:0] wr_addr;
    logic [DIM*8-1:0]        wr_data;
    logic [DIM-1:0]          wr_mask;
    logic                    st_rd_valid, st_rd_ready;
    logic                    ex_rsp_valid, ex_rsp_ready, st_rsp_valid, st_rsp_ready;
    logic [DIM*8-1:0]        ex_rsp_data, st_rsp_data;

    assign narrow_here = narrow_valid && !narrow_is_acc && narrow_sp_bank == SP_SEL'(b);
    assign zero_here = zero_valid && !zero_is_acc && zero_sp_bank == SP_SEL'(b);
    assign narrow_to_sp[b] = narrow_here && !sp_wr_en_i[b];
    assign zero_to_sp[b] = zero_here && !sp_wr_en_i[b] && !narrow_here;
    assign stored_here = stored_valid && stored_sp_bank == SP_SEL'(b);
    assign stored_to_sp[b] = stored_here && !sp_wr_en_i[b] && !narrow_here && !zero_here;
    assign wr_en = sp_wr_en_i[b] || narrow_here || zero_here || stored_here;
    always_comb begin
      if (sp_wr_en_i[b]) begin
        wr_addr = sp_wr_addr_i[b*SP_BANK_BITS +: SP_BANK_BITS];
        wr_data = sp_wr_data_i;
        wr_mask = sp_wr_mask_i;
      end else if (narrow_here) begin
        wr_addr = narrow_row[SP_BANK_BITS-1:0];
        wr_data = narrow_data;
        wr_mask = narrow_mask;
      end else if (zero_here || !SP_STORES) begin
        wr_addr = zero_row[SP_BANK_BITS-1:0];
        wr_data = '0;
        wr_mask = zero_mask;
      end else begin
        wr_addr = stored_row[SP_BANK_BITS-1:0];
        wr_data = stored_data;
        wr_mask = stored_mask;
      end
    end

    assign st_rd_valid = rq_valid && !rq_is_acc &&
        (SP_BANKS == 1 || SP_SEL'(rq_row >> SP_BANK_BITS) == SP_SEL'(b));
    assign st_sp_grant[b] = st_rd_valid && st_rd_ready;
    weft_scratchpad_bank #(.DIM(DIM), .ROWS(SP_BANK_ROWS),
        .SINGLE_PORTED(SP_SINGLE_PORTED)) u_bank (
      .clk_i(clk_i), .rst_ni(rst_ni),
      .wr_en_i(wr_en), .wr_addr_i(wr_addr), .wr_data_i(wr_data), .wr_mask_i(wr_mask),
      .ex_rd_valid_i(sp_rd_valid_i[b]), .ex_rd_ready_o(sp_rd_ready_o[b]),
      .ex_rd_addr_i(sp_rd_addr_i[b*SP_BANK_BITS +: SP_BANK_BITS]),
      .ex_rsp_valid_o(ex_rsp_valid), .ex_rsp_ready_i(ex_rsp_ready), .ex_rsp_data_o(ex_rsp_data),
      .st_rd_valid_i(st_rd_valid), .st_rd_ready_o(st_rd_ready),
      .st_rd_addr_i(rq_row[SP_BANK_BITS-1:0]),
      .st_rsp_valid_o(st_rsp_valid), .st_rsp_ready_i(st_rsp_ready), .st_rsp_data_o(st_rsp_data)
    );
    weft_read_pipeline #(.WIDTH(DIM*8), .DELAY(READ_DELAY), .FIXED(READ_FIXED)) u_ex_pipeline (
      .clk_i(clk_i), .rst_ni(rst_ni), .in_valid_i(ex_rsp_valid), .in_ready_o(ex_rsp_ready),
      .in_data_i(ex_rsp_data),
      .out_valid_o(sp_rsp_valid_o[b]), .out_ready_i(sp_rsp_ready_i[b]),
      .out_data_o(sp_rsp_data_o[b*DIM*8 +: DIM*8])
    );
    weft_read_pipeline #(.WIDTH(DIM*8), .DELAY(READ_DELAY), .FIXED(READ_FIXED)) u_st_pipeline (
      .clk_i(clk_i), .rst_ni(rst_ni), .in_valid_i(st_rsp_valid), .in_ready_o(st_rsp_ready),
      .in_data_i(st_rsp_data),
      .out_valid_o(st_sp_valid[b]), .out_ready_i(st_sp_ready[b]),
      .out_data_o(st_sp_data[b*DIM*8 +: DIM*8])
    );
  end

  // The accumulator. One adder: an accumulating write of a lower unit waits for those above it.
  logic ex_adds, load_adds, load_may_add, zero_may_add;
  logic [ACC_BANKS-1:0] narrow_to_acc, wide_to_acc, zero_to_acc;
  logic [ACC_BANKS-1:0] add_valid, acc_st_valid, acc_st_ready, acc_ex_valid, acc_ex_ready;
  logic [ACC_BANKS*DIM*32-1:0] add_a, add_b, acc_st_data, acc_ex_data;
  logic [ACC_BANKS*32-1:0] acc_ex_scale;
  logic [ACC_BANKS*3-1:0] acc_ex_act;
  logic [DIM*32-1:0] adder_a, adder_b, adder_sum, narrow_extended;
  logic [DIM*4-1:0]  narrow_bytes, zero_bytes, ex_bytes;

  assign ex_adds = |acc_wr_valid_i && acc_wr_accumulate_i;
  assign load_adds = (narrow_valid && narrow_is_acc && narrow_accumulate) ||
      (wide_valid && wide_accumulate);
  assign load_may_add = !ex_adds;
  assign zero_may_add = !ex_adds && !load_adds;

  for (genvar i = 0; i < DIM; i++) begin : g_lane
    assign narrow_extended[i*32 +: 32] = {{24{narrow_data[i*8+7]}}, narrow_data[i*8 +: 8]};
    assign narrow_bytes[i*4 +: 4] = {4{narrow_mask[i]}};
    assign zero_bytes[i*4 +: 4] = {4{zero_mask[i]}};
    assign ex_bytes[i*4 +: 4] = {4{acc_wr_mask_i[i]}};
    assign adder_sum[i*32 +: 32] = adder_a[i*32 +: 32] + adder_b[i*32 +: 32];
  end
  always_comb begin
    adder_a = '0;
    adder_b = '0;
    for (int b = 0; b < ACC_BANKS; b++) begin
      if (add_valid[b]) begin
        adder_a = add_a[b*DIM*32 +: DIM*32];
        adder_b = add_b[b*DIM*32 +: DIM*32];
      end
    end
  end

  for (genvar b = 0; b < ACC_BANKS; b++) begin : g_acc_bank
    logic                     narrow_here, wide_here, zero_here, wr_valid, wr_ready, wr_accumulate;
    logic [ACC_BANK_BITS-1:0] wr_addr;
    logic [DIM*32-1:0]        wr_data;
    logic [DIM*4-1:0]         wr_mask;
    logic                     st_rd_valid, st_rd_ready, ex_rd_valid, ex_rd_ready, ex_elsewhere;

    assign narrow_here = narrow_valid && narrow_is_acc && narrow_acc_bank == ACC_SEL'(b)
                       && (!narrow_accumulate || load_may_add);
    assign wide_here = wide_valid && wide_acc_bank == ACC_SEL'(b) &&
        (!wide_accumulate || load_may_add);
    assign zero_here = zero_valid && zero_is_acc && zero_acc_bank == ACC_SEL'(b) &&
        (!zero_accumulate || zero_may_add);
    assign wr_valid = acc_wr_valid_i[b] || narrow_here || wide_here || zero_here;
    assign narrow_to_acc[b] = narrow_here && !acc_wr_valid_i[b] && wr_ready;
    assign wide_to_acc[b] = wide_here && !acc_wr_valid_i[b] && !narrow_here && wr_ready;
    assign zero_to_acc[b] = zero_here && !acc_wr_valid_i[b] && !narrow_here && !wide_here &&
        wr_ready;
    always_comb begin
      if (acc_wr_valid_i[b]) begin
        wr_addr = acc_wr_addr_i[b*ACC_BANK_BITS +: ACC_BANK_BITS];
        wr_accumulate = acc_wr_accumulate_i;
        wr_data = acc_wr_data_i;
        wr_mask = ex_bytes;
      end else if (narrow_here) begin
        wr_addr = narrow_row[ACC_BANK_BITS-1:0];
        wr_accumulate = narrow_accumulate;
        wr_data = narrow_extended;
        wr_mask = narrow_bytes;
      end else if (wide_here) begin
        wr_addr = wide_row[ACC_BANK_BITS-1:0];
        wr_accumulate = wide_accumulate;
        wr_data = wide_data;
        wr_mask = wide_mask;
      end else begin
        wr_addr = zero_row[ACC_BANK_BITS-1:0];
        wr_accumulate = zero_accumulate;
        wr_data = '0;
        wr_mask = zero_bytes;
      end
    end

    assign st_rd_valid = rq_valid && rq_is_acc &&
        (ACC_BANKS == 1 || ACC_SEL'(rq_row >> ACC_BANK_BITS) == ACC_SEL'(b));
    assign st_acc_grant[b] = st_rd_valid && st_rd_ready;
    weft_accumulator_bank #(
      .DIM(DIM), .ROWS(ACC_BANK_ROWS), .SINGLE_PORTED(ACC_SINGLE_PORTED), .SUB_BANKS(ACC_SUB_BANKS),
      .LATENCY(ACC_LATENCY)
    ) u_bank (
      .clk_i(clk_i), .rst_ni(rst_ni),
      .wr_valid_i(wr_valid), .wr_ready_o(wr_ready), .wr_urgent_i(acc_wr_valid_i[b]),
      .wr_addr_i(wr_addr),
      .wr_accumulate_i(wr_accumulate), .wr_data_i(wr_data), .wr_mask_i(wr_mask),
      .add_valid_o(add_valid[b]), .add_a_o(add_a[b*DIM*32 +: DIM*32]),
      .add_b_o(add_b[b*DIM*32 +: DIM*32]),
      .add_sum_i(adder_sum),
      .ex_rd_valid_i(ex_rd_valid), .ex_rd_ready_o(ex_rd_ready),
      .ex_rd_addr_i(acc_rd_addr_i[b*ACC_BANK_BITS +: ACC_BANK_BITS]),
      .ex_rsp_valid_o(acc_ex_valid[b]), .ex_rsp_ready_i(acc_ex_ready[b]),
      .ex_rsp_data_o(acc_ex_data[b*DIM*32 +: DIM*32]),
      .st_rd_valid_i(st_rd_valid), .st_rd_ready_o(st_rd_ready),
      .st_rd_addr_i(rq_row[ACC_BANK_BITS-1:0]),
      .st_rsp_valid_o(acc_st_valid[b]), .st_rsp_ready_i(acc_st_ready[b]),
      .st_rsp_data_o(acc_st_data[b*DIM*32 +: DIM*32])
    );
    // Execute's rows enter the scale units in the order they were read: while the row of one bank
    // waits there is no read of another.
    assign ex_elsewhere = |(acc_ex_valid & ~acc_ex_ready & ~(ACC_BANKS'(1) << b));
    assign ex_rd_valid = acc_rd_valid_i[b] && !ex_elsewhere;
    assign acc_rd_ready_o[b] = ex_rd_ready && !ex_elsewhere;
    // Scale and activation that came with execute's read; a bank holds one response at a time.
    logic [31:0] scale_q;
    logic [2:0]  act_q;
    always_ff @(posedge clk_i) begin
      if (acc_rd_valid_i[b] && acc_rd_ready_o[b]) begin
        scale_q <= acc_rd_scale_i;
        act_q <= acc_rd_act_i;
      end
    end
    assign acc_ex_scale[b*32 +: 32] = scale_q;
    assign acc_ex_act[b*3 +: 3] = act_q;
  end

  assign narrow_ready = |narrow_to_sp || |narrow_to_acc;
  assign wide_ready = |wide_to_acc;
  assign zero_ready = |zero_to_sp || |zero_to_acc;
  assign stored_ready = |stored_to_sp;

  weft_store_path #(
    .DIM(DIM), .ROW_BITS(ROW_BITS), .SP_BANKS(SP_BANKS), .SP_BANK_ROWS(SP_BANK_ROWS),
    .ACC_BANKS(ACC_BANKS),
    .ACC_BANK_ROWS(ACC_BANK_ROWS), .READ_DELAY(READ_DELAY), .SCALE_UNITS(ACC_SCALE_UNITS),
    .SCALE_LATENCY(ACC_SCALE_LATENCY), .FULL_READS(FULL_READS), .NARROW_READS(NARROW_READS),
    .ACTIVATION(ACTIVATION),
    .NORMALISER(NORMALISER), .NORM_STATS(NORM_STATS), .FACTOR_THEN_SCALE(FACTOR_THEN_SCALE),
    .GATE(GATE), .SP_STORES(SP_STORES)
  ) u_store_path (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .st_req_valid_i(st_req_valid_i), .st_req_ready_o(st_req_ready_o), .st_req_addr_i(st_req_addr_i),
    .st_req_to_sp_i(st_req_to_sp_i), .st_req_factor_i(st_req_factor_i),
    .st_req_laddr_i(st_req_laddr_i), .st_req_act_i(st_req_act_i),
    .st_req_scale_i(st_req_scale_i),
    .st_req_igelu_qb_i(st_req_igelu_qb_i), .st_req_igelu_qc_i(st_req_igelu_qc_i),
    .st_req_iexp_qln2_i(st_req_iexp_qln2_i), .st_req_iexp_qln2_inv_i(st_req_iexp_qln2_inv_i),
    .st_req_stats_id_i(st_req_stats_id_i), .st_req_len_i(st_req_len_i),
    .st_req_block_i(st_req_block_i),
    .st_req_pool_en_i(st_req_pool_en_i), .st_req_store_en_i(st_req_store_en_i),
    .st_req_cmd_i(st_req_cmd_i),
    .st_resp_valid_o(st_resp_valid_o), .st_resp_cmd_o(st_resp_cmd_o),
    .rq_valid_o(rq_valid), .rq_is_acc_o(rq_is_acc), .rq_row_o(rq_row), .rq_grant_i(rq_grant),
    .st_sp_valid_i(st_sp_valid), .st_sp_ready_o(st_sp_ready), .st_sp_data_i(st_sp_data),
    .acc_st_valid_i(acc_st_valid), .acc_st_ready_o(acc_st_ready), .acc_st_data_i(acc_st_data),
    .acc_ex_valid_i(acc_ex_valid), .acc_ex_ready_o(acc_ex_ready), .acc_ex_data_i(acc_ex_data),
    .acc_ex_scale_i(acc_ex_scale), .acc_ex_act_i(acc_ex_act),
    .acc_rsp_valid_o(acc_rsp_valid_o), .acc_rsp_ready_i(acc_rsp_ready_i),
    .acc_rsp_data_o(acc_rsp_data_o),
    .wr_req_valid_o(wr_req_valid_o), .wr_req_ready_i(wr_req_ready_i), .wr_req_addr_o(wr_req_addr_o),
    .wr_req_data_o(wr_req_data_o), .wr_req_len_o(wr_req_len_o), .wr_req_block_o(wr_req_block_o),
    .wr_req_pool_en_o(wr_req_pool_en_o), .wr_req_store_en_o(wr_req_store_en_o),
    .sp_wr_valid_o(stored_valid), .sp_wr_ready_i(stored_ready), .sp_wr_row_o(stored_row),
    .sp_wr_data_o(stored_data),
    .sp_wr_mask_o(stored_mask), .busy_o(busy_o)
  );

  `WEFT_ASSERT(OneBankAdds, (add_valid & (add_valid - 1'b1)) == '0)
  `WEFT_ASSERT(ExecuteWritesOneBank, (acc_wr_valid_i & (acc_wr_valid_i - 1'b1)) == '0)
  for (genvar b = 0; b < SP_BANKS; b++) begin : g_assert_sp
    `WEFT_ASSERT_STREAM(SpResponseStable, sp_rsp_valid_o[b], sp_rsp_ready_i[b],
        sp_rsp_data_o[b*DIM*8 +: DIM*8])
  end
endmodule
