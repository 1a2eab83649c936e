// SPDX-License-Identifier: Apache-2.0
// Reads rows from main memory: cuts a row request into naturally aligned bursts and turns the
// answers into local rows.
//
// Of the burst sizes from one beat to MAX_BURST_BYTES (256 beats at most) the one is taken that
// brings most of the bytes still wanted, the smallest of equals. One burst per cycle, with the
// lowest free id. Stages: row request -> burst (choose, take an id) -> page lookup -> address
// channel.
// Requests and bursts keep their order; answers come in any order of ids, but the beats of one
// burst must follow each other on the R channel (no interleaving).
//
// Packed rows (PACKED_INT4) have half as many bytes as columns; a row is widened as it goes out.
//
// Latency: row request t -> ARVALID t+3; beat t -> row t+1.
// Combinational: rd_req_ready_o on ARREADY (through full stages); RREADY on rd_resp_ready_i and
// RVALID; AR on registers and page_miss_i only.
// Invariants: ARVALID stays with stable payload; an id is free again after its last beat; burst
// addresses are aligned to their size, so no burst crosses a 4 KiB page.
`include "weft_assert.svh"

module weft_dma_reader #(
  parameter int DIM = 16,
  parameter int BUS_BITS = 128,
  parameter int MAX_BURST_BYTES = 64,
  parameter int IN_FLIGHT = 16,
  parameter int ROW_BITS = 14,
  parameter bit PACKED_INT4 = 1'b0,
  parameter int AXI_ID_BITS = IN_FLIGHT > 1 ? $clog2(IN_FLIGHT) : 1,  // derived
  parameter int COUNT_BITS = $clog2(IN_FLIGHT + 1)                     // derived
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // local memory
  input  logic                rd_req_valid_i,
  output logic                rd_req_ready_o,
  input  logic [63:0]         rd_req_addr_i,
  input  logic [31:0]         rd_req_laddr_i,
  input  logic [15:0]         rd_req_cols_i,
  input  logic [15:0]         rd_req_repeats_i,
  input  logic [31:0]         rd_req_scale_i,
  input  logic                rd_req_acc_width_i,
  input  logic                rd_req_packed_i,
  input  logic [15:0]         rd_req_block_stride_i,
  input  logic [7:0]          rd_req_pixel_repeats_i,
  input  logic [7:0]          rd_req_cmd_i,
  output logic                rd_resp_valid_o,
  input  logic                rd_resp_ready_i,
  output logic [DIM*32-1:0]   rd_resp_data_o,
  output logic [ROW_BITS-1:0] rd_resp_addr_o,
  output logic [DIM*4-1:0]    rd_resp_mask_o,
  output logic                rd_resp_is_acc_o,
  output logic                rd_resp_accumulate_o,
  output logic                rd_resp_acc_width_o,
  output logic [31:0]         rd_resp_scale_o,
  output logic [15:0]         rd_resp_repeats_o,
  output logic [7:0]          rd_resp_pixel_repeats_o,
  output logic [15:0]         rd_resp_cols_o,
  output logic                rd_resp_last_o,   // of its burst
  output logic [15:0]         rd_resp_bytes_o,  // of its burst
  output logic [7:0]          rd_resp_cmd_o,
  // page filter
  output logic                page_look_valid_o,
  output logic [51:0]         page_look_page_o,
  input  logic                page_miss_i,
  // AXI4 read channels
  output logic                   m_axi_arvalid_o,
  input  logic                   m_axi_arready_i,
  output logic [AXI_ID_BITS-1:0] m_axi_arid_o,
  output logic [63:0]            m_axi_araddr_o,
  output logic [7:0]             m_axi_arlen_o,
  output logic [2:0]             m_axi_arsize_o,
  output logic [1:0]             m_axi_arburst_o,
  input  logic                   m_axi_rvalid_i,
  output logic                   m_axi_rready_o,
  input  logic [AXI_ID_BITS-1:0] m_axi_rid_i,
  input  logic [BUS_BITS-1:0]    m_axi_rdata_i,
  input  logic [1:0]             m_axi_rresp_i,
  input  logic                   m_axi_rlast_i,
  // state
  output logic                  busy_o,
  output logic                  ev_active_o,
  output logic                  ev_tlb_wait_o,
  output logic                  ev_bus_wait_o,
  output logic [15:0]           ext_bytes_o,     // received in this cycle
  output logic [COUNT_BITS-1:0] ext_in_flight_o  // bursts
);
  localparam int BEAT = BUS_BITS / 8;
  localparam int BEAT_SHIFT = $clog2(BEAT);
  localparam int MAX_BYTES = MAX_BURST_BYTES < 256 * BEAT ? MAX_BURST_BYTES : 256 * BEAT;
  localparam int BYTE_BITS = $clog2(MAX_BYTES + 1);
  localparam int B = 19;  // bytes of a row: 16 bits of columns, 4 bytes each

  // The row request at work.
  logic        req_q, acc_width_q, packed_q, is_acc_q, accumulate_q;
  logic [63:0] addr_q;
  logic [B-1:0] left_q, done_q;  // bytes still to ask for, asked for
  logic [15:0] cols_q, repeats_q, block_stride_q;
  logic [31:0] scale_q;
  logic [7:0]  pixel_repeats_q, cmd_q;
  logic [ROW_BITS-1:0] row_q;

  logic                 burst_fire, row_done, slot_free;
  logic [BYTE_BITS-1:0] best_size, best_bytes, best_offset;

  weft_burst_cut #(.BUS_BYTES(BEAT), .MAX_BYTES(MAX_BYTES), .LEFT_BITS(B)) u_cut (
    .address_i(addr_q[B-1:0]), .left_i(left_q),
    .size_o(best_size), .offset_o(best_offset), .bytes_o(best_bytes)
  );

  // The three stages: burst_fire moves a burst into the lookup stage, look_fire into the address
  // stage.
  logic                   look_valid_q, look_fire, send_valid_q, send_fire;
  logic [63:0]            look_addr_q, send_addr_q;
  logic [AXI_ID_BITS-1:0] look_id_q, send_id_q, free_id;
  logic [7:0]             look_len_q, send_len_q;

  assign send_fire = m_axi_arvalid_o && m_axi_arready_i;
  assign look_fire = look_valid_q && (!send_valid_q || send_fire);
  assign burst_fire = req_q && slot_free && (!look_valid_q || look_fire);
  assign row_done = burst_fire && B'(best_bytes) >= left_q;
  assign rd_req_ready_o = !req_q || row_done;

  assign page_look_valid_o = look_fire;
  assign page_look_page_o = look_addr_q[63:12];
  assign m_axi_arvalid_o = send_valid_q && !page_miss_i;
  assign m_axi_araddr_o = send_addr_q;
  assign m_axi_arid_o = send_id_q;
  assign m_axi_arlen_o = send_len_q;
  assign m_axi_arsize_o = 3'(BEAT_SHIFT);
  assign m_axi_arburst_o = 2'b01;  // INCR

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
      look_valid_q <= 1'b0;
      send_valid_q <= 1'b0;
    end else begin
      if (rd_req_ready_o) req_q <= rd_req_valid_i;
      if (burst_fire) look_valid_q <= 1'b1;
      else if (look_fire) look_valid_q <= 1'b0;
      if (look_fire) send_valid_q <= 1'b1;
      else if (send_fire) send_valid_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (burst_fire) begin
      addr_q <= addr_q + 64'(best_bytes);
      left_q <= left_q - B'(best_bytes);
      done_q <= done_q + B'(best_bytes);
      look_addr_q <= addr_q - 64'(best_offset);
      look_id_q <= free_id;
      look_len_q <= 8'((B'(best_size) >> BEAT_SHIFT) - B'(1));
    end
    if (look_fire) begin
      send_addr_q <= look_addr_q;
      send_id_q <= look_id_q;
      send_len_q <= look_len_q;
    end
    if (rd_req_valid_i && rd_req_ready_o) begin
      addr_q <= rd_req_addr_i;
      left_q <= rd_req_acc_width_i ? B'({rd_req_cols_i, 2'b00})
              : rd_req_packed_i ? B'(rd_req_cols_i[15:1]) : B'(rd_req_cols_i);
      done_q <= '0;
      cols_q <= rd_req_cols_i;
      repeats_q <= rd_req_repeats_i;
      scale_q <= rd_req_scale_i;
      acc_width_q <= rd_req_acc_width_i;
      packed_q <= PACKED_INT4 && rd_req_packed_i;
      block_stride_q <= rd_req_block_stride_i;
      pixel_repeats_q <= rd_req_pixel_repeats_i;
      cmd_q <= rd_req_cmd_i;
      is_acc_q <= rd_req_laddr_i[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB];
      accumulate_q <= rd_req_laddr_i[weft_isa_pkg::LOCAL_ACCUMULATE_LSB];
      row_q <= rd_req_laddr_i[ROW_BITS-1:0];
    end
  end
  logic unused_laddr;
  assign unused_laddr = &{1'b0, rd_req_laddr_i};

  // Bursts in flight, by id.
  localparam int INFO_BITS = 1 + 1 + 32 + 16 + 8 + 16 + 8;
  localparam int ENTRY_BITS = 3 * BYTE_BITS + ROW_BITS + 16 + 16 + 1 + 1 + INFO_BITS;
  localparam int W = ROW_BITS > B ? ROW_BITS : B;
  logic [IN_FLIGHT-1:0]  used;
  logic [ENTRY_BITS-1:0] entry_q [IN_FLIGHT];
  logic [B-1:0]          blocks_done;
  logic [15:0]           row_offset;
  logic [ROW_BITS-1:0]   first_row;
  logic                  beat_fire;

  weft_id_pool #(.IDS(IN_FLIGHT)) u_ids (
    .clk_i, .rst_ni, .take_i(burst_fire), .free_i(beat_fire && m_axi_rlast_i),
    .free_id_i(m_axi_rid_i),
    .available_o(slot_free), .id_o(free_id), .used_o(used), .count_o(ext_in_flight_o)
  );
  assign blocks_done = acc_width_q ? done_q >> $clog2(DIM * 4)
                     : packed_q ? done_q >> $clog2(DIM / 2) : done_q >> $clog2(DIM);
  assign row_offset = 16'(acc_width_q ? done_q & B'(DIM * 4 - 1)
                    : packed_q ? done_q & B'(DIM / 2 - 1) : done_q & B'(DIM - 1));
  assign first_row = ROW_BITS'(W'(row_q) + W'(block_stride_q) * W'(blocks_done));

  always_ff @(posedge clk_i) begin
    if (burst_fire) begin
      entry_q[free_id] <= {best_size, best_offset, best_bytes, first_row, row_offset,
                           block_stride_q, acc_width_q, packed_q, is_acc_q, accumulate_q, scale_q,
                           repeats_q, pixel_repeats_q, cols_q, cmd_q};
    end
  end

  // Answers.
  logic [BYTE_BITS-1:0] in_length, in_shift, in_bytes, out_bytes;
  logic [ROW_BITS-1:0]  in_row;
  logic [15:0]          in_row_offset, in_block_stride;
  logic                 in_wide, in_packed;
  logic [INFO_BITS-1:0] in_info;

  assign {in_length, in_shift, in_bytes, in_row, in_row_offset, in_block_stride, in_wide, in_packed,
          in_info} = entry_q[m_axi_rid_i];
  weft_beat_merger #(
    .DIM(DIM), .BUS_BYTES(BEAT), .MAX_BYTES(MAX_BYTES), .ROW_BITS(ROW_BITS), .INFO_BITS(INFO_BITS),
    .PACKED_INT4(PACKED_INT4)
  ) u_merger (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(m_axi_rvalid_i), .in_ready_o(m_axi_rready_o), .in_data_i(m_axi_rdata_i),
    .in_length_i(in_length), .in_shift_i(in_shift), .in_bytes_i(in_bytes), .in_row_i(in_row),
    .in_row_offset_i(in_row_offset), .in_block_stride_i(in_block_stride), .in_wide_i(in_wide),
    .in_packed_i(in_packed), .in_info_i(in_info),
    .out_valid_o(rd_resp_valid_o), .out_ready_i(rd_resp_ready_i), .out_data_o(rd_resp_data_o),
    .out_mask_o(rd_resp_mask_o), .out_row_o(rd_resp_addr_o), .out_wide_o(rd_resp_acc_width_o),
    .out_last_o(rd_resp_last_o), .out_bytes_o(out_bytes),
    .out_info_o({rd_resp_is_acc_o, rd_resp_accumulate_o, rd_resp_scale_o, rd_resp_repeats_o,
                 rd_resp_pixel_repeats_o, rd_resp_cols_o, rd_resp_cmd_o})
  );
  assign rd_resp_bytes_o = 16'(out_bytes);
  assign beat_fire = m_axi_rvalid_i && m_axi_rready_o;
  logic unused_resp;
  assign unused_resp = ^m_axi_rresp_i;

  assign busy_o = |used;
  assign ev_active_o = req_q;
  assign ev_tlb_wait_o = send_valid_q && page_miss_i;
  assign ev_bus_wait_o = m_axi_arvalid_o && !m_axi_arready_i;
  assign ext_bytes_o = beat_fire ? 16'(BEAT) : 16'd0;

`ifdef WEFT_ASSERT_ON
  logic                   within_q;
  logic [AXI_ID_BITS-1:0] within_id_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      within_q <= 1'b0;
      within_id_q <= '0;
    end else if (beat_fire) begin
      within_q <= !m_axi_rlast_i;
      within_id_q <= m_axi_rid_i;
    end
  end
`endif
  `WEFT_ASSERT(BurstsAreNotInterleaved, !(m_axi_rvalid_i && within_q) || m_axi_rid_i == within_id_q)
  `WEFT_ASSERT(AnswerHasRequest, !m_axi_rvalid_i || used[m_axi_rid_i])
  `WEFT_ASSERT(MemoryHasNoError, !m_axi_rvalid_i || m_axi_rresp_i == 2'b00)
  // Elements cut in two cannot be accumulated.
  `WEFT_ASSERT(WideElementsAreWhole,
               !(rd_resp_valid_o && rd_resp_acc_width_o && rd_resp_accumulate_o) ||
               out_bytes[1:0] == 2'b00)
  `WEFT_ASSERT_STREAM(ArStable, m_axi_arvalid_o, m_axi_arready_i,
      {m_axi_araddr_o, m_axi_arid_o, m_axi_arlen_o})
  `WEFT_ASSERT_STREAM(RStable, m_axi_rvalid_i, m_axi_rready_o,
      {m_axi_rdata_i, m_axi_rid_i, m_axi_rlast_i})
  `WEFT_ASSERT_STREAM(RequestStable, rd_req_valid_i, rd_req_ready_o,
                      {rd_req_addr_i, rd_req_laddr_i, rd_req_cols_i, rd_req_repeats_i,
                      rd_req_packed_i, rd_req_cmd_i})
  `WEFT_ASSERT(PackedRowsAreWholeBytes,
               !(rd_req_valid_i && rd_req_packed_i && (rd_req_acc_width_i || rd_req_cols_i[0])))
endmodule
