// SPDX-License-Identifier: Apache-2.0
// Writes rows to main memory: collects the blocks of a row, takes the maximum of pooled rows, and
// sends the bytes as naturally aligned bursts with byte strobes.
//
// Requests: block b of a row lands beside the blocks before it; store_en marks the last one, which
// starts sending block 0 up to it. pool_en takes the lane-wise signed maximum of the new row and
// the one before. While a row is sent the next request is accepted in the cycle of its last beat.
// Of the burst sizes from one beat to MAX_BURST_BYTES (256 beats at most) the one is taken that
// carries most of the bytes left, the smallest of equals. One beat per cycle; a burst takes the
// lowest free id with its first beat and waits for one if need be. Stages: row -> beat (choose,
// shift) -> page lookup -> address and data channels.
//
// Latency: request t -> AWVALID and WVALID t+3. A row of one beat takes 1 cycle, b > 1 blocks of
// one burst with n beats b + n - 1 cycles, an int32 row its beats.
// Combinational: wr_req_ready_o on AWREADY and WREADY (through full stages); AW and W on registers
// and page_miss_i only; BREADY is constant.
// Invariants: AW and W stay stable until taken, a burst's address before or with its first data
// beat's successor; addresses are aligned to the burst, so no burst crosses a 4 KiB page; an id is
// free again after its answer.
`include "weft_assert.svh"

module weft_dma_writer #(
  parameter int DIM = 16,
  parameter int DATA_BITS = 512,       // of a request: DIM int32 or int8 elements
  parameter int BUS_BITS = 128,
  parameter int MAX_BURST_BYTES = 64,
  parameter int MAX_BLOCKS = 4,
  parameter int IN_FLIGHT = 16,
  parameter bit MAX_POOL = 1'b1,
  parameter int AXI_ID_BITS = IN_FLIGHT > 1 ? $clog2(IN_FLIGHT) : 1,  // derived
  parameter int COUNT_BITS = $clog2(IN_FLIGHT + 1)                     // derived
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  // local memory
  input  logic                 wr_req_valid_i,
  output logic                 wr_req_ready_o,
  input  logic [63:0]          wr_req_addr_i,
  input  logic [DATA_BITS-1:0] wr_req_data_i,
  input  logic [15:0]          wr_req_len_i,   // bytes
  input  logic [7:0]           wr_req_block_i,
  input  logic                 wr_req_pool_en_i,
  input  logic                 wr_req_store_en_i,
  // page filter
  output logic                 page_look_valid_o,
  output logic [51:0]          page_look_page_o,
  input  logic                 page_miss_i,
  // AXI4 write channels
  output logic                   m_axi_awvalid_o,
  input  logic                   m_axi_awready_i,
  output logic [AXI_ID_BITS-1:0] m_axi_awid_o,
  output logic [63:0]            m_axi_awaddr_o,
  output logic [7:0]             m_axi_awlen_o,
  output logic [2:0]             m_axi_awsize_o,
  output logic [1:0]             m_axi_awburst_o,
  output logic                   m_axi_awuser_o,  // some bytes of the burst have no strobe
  output logic                   m_axi_wvalid_o,
  input  logic                   m_axi_wready_i,
  output logic [BUS_BITS-1:0]    m_axi_wdata_o,
  output logic [BUS_BITS/8-1:0]  m_axi_wstrb_o,
  output logic                   m_axi_wlast_o,
  input  logic                   m_axi_bvalid_i,
  output logic                   m_axi_bready_o,
  input  logic [AXI_ID_BITS-1:0] m_axi_bid_i,
  input  logic [1:0]             m_axi_bresp_i,
  // state
  output logic                  busy_o,
  output logic                  ev_active_o,
  output logic                  ev_tlb_wait_o,
  output logic                  ev_bus_wait_o,
  output logic [15:0]           ext_bytes_o,     // sent in this cycle
  output logic [COUNT_BITS-1:0] ext_in_flight_o  // bursts
);
  localparam int BEAT = BUS_BITS / 8;
  localparam int BEAT_SHIFT = $clog2(BEAT);
  localparam int MAX_BYTES = MAX_BURST_BYTES < 256 * BEAT ? MAX_BURST_BYTES : 256 * BEAT;
  localparam int BLOCK_BITS = DIM * 8;
  localparam int STORED_BITS = MAX_BLOCKS * BLOCK_BITS > DATA_BITS ? MAX_BLOCKS * BLOCK_BITS :
      DATA_BITS;
  localparam int ROW_BITS = STORED_BITS > BUS_BITS ? STORED_BITS : BUS_BITS;
  localparam int BYTE_BITS = $clog2(MAX_BYTES + 1);
  localparam int B = 16;
  typedef enum logic [1:0] {IDLE, FIRST, BEATS} state_e;  // FIRST: a burst starts

  // The row. A row of a single block may be an int32 row, which is wider than a block.
  logic [DATA_BITS-1:0]             single_q, pooled;
  logic [MAX_BLOCKS*BLOCK_BITS-1:0] blocks_q;
  logic                             is_single_q;
  logic [ROW_BITS-1:0]              row;
  logic [63:0]                      addr_q;
  logic [B-1:0]                     len_q, sent_q, left;
  state_e                           state_q, state_d;

  assign row = is_single_q ? ROW_BITS'(single_q) : ROW_BITS'(blocks_q);
  assign left = len_q - sent_q;

  always_comb begin
    pooled = wr_req_data_i;
    for (int i = 0; i < DIM; i++) begin
      if (MAX_POOL && wr_req_pool_en_i &&
          $signed(single_q[i*8 +: 8]) > $signed(wr_req_data_i[i*8 +: 8])) begin
        pooled[i*8 +: 8] = single_q[i*8 +: 8];
      end
    end
  end

  // The burst that starts now, and the one under way.
  logic [BYTE_BITS-1:0] best_size, best_bytes, best_offset, size, offset, size_q, offset_q;
  logic [B-1:0]         total, total_q;        // bytes from the row at the start of the burst
  logic [63:0]          burst_addr, burst_addr_q;
  logic [8:0]           beat_q, beat, beats;

  weft_burst_cut #(.BUS_BYTES(BEAT), .MAX_BYTES(MAX_BYTES), .LEFT_BITS(B)) u_cut (
    .address_i(addr_q[B-1:0]), .left_i(left),
    .size_o(best_size), .offset_o(best_offset), .bytes_o(best_bytes)
  );
  assign size = state_q == FIRST ? best_size : size_q;
  assign offset = state_q == FIRST ? best_offset : offset_q;
  assign total = state_q == FIRST ? B'(best_bytes) : total_q;
  assign burst_addr = state_q == FIRST ? addr_q - 64'(best_offset) : burst_addr_q;
  assign beat = state_q == FIRST ? 9'd0 : beat_q;
  assign beats = 9'(B'(size) >> BEAT_SHIFT);

  // Bytes [low, high) of the burst lie in this beat.
  logic [B-1:0]    start, low, high, beat_bytes, end_of_bytes;
  logic [BEAT-1:0] strobe;
  logic [BUS_BITS-1:0] data;
  logic            last_beat, row_done;
  assign start = B'(beat) << BEAT_SHIFT;
  assign end_of_bytes = B'(offset) + total;
  assign low = B'(offset) > start ? B'(offset) : start;
  assign high = end_of_bytes < start + B'(BEAT) ? end_of_bytes : start + B'(BEAT);
  assign beat_bytes = high > low ? high - low : '0;
  always_comb begin
    for (int i = 0; i < BEAT; i++) strobe[i] = start + B'(i) >= low && start + B'(i) < high;
  end
  assign data = BUS_BITS'(row >> {sent_q, 3'd0}) << {low - start, 3'd0};
  assign last_beat = beat == beats - 9'd1;
  assign row_done = last_beat && beat_bytes >= left;

  // Ids.
  logic [IN_FLIGHT-1:0]   used;
  logic [AXI_ID_BITS-1:0] free_id, id, id_q;
  logic                   slot_free, beat_fire, burst_fire;
  assign burst_fire = beat_fire && state_q == FIRST;
  weft_id_pool #(.IDS(IN_FLIGHT)) u_ids (
    .clk_i, .rst_ni,
    .take_i(burst_fire), .free_i(m_axi_bvalid_i), .free_id_i(m_axi_bid_i),
    .available_o(slot_free), .id_o(free_id), .used_o(used), .count_o(ext_in_flight_o)
  );
  assign id = state_q == FIRST ? free_id : id_q;

  // Lookup and send stages.
  localparam int STAGE_BITS = 64 + AXI_ID_BITS + 9 + 1 + 1 + 1 + BEAT + BUS_BITS;
  logic                  look_valid_q, look_fire, send_valid_q, send_fire, send_first, send_last,
      look_first;
  logic [STAGE_BITS-1:0] look_q, send_q;
  logic [8:0]            send_beats;
  logic                  aw_done_q, w_done_q, aw_fire, w_fire;

  assign {m_axi_awaddr_o, m_axi_awid_o, send_beats, m_axi_awuser_o, send_first, send_last,
      m_axi_wstrb_o, m_axi_wdata_o} = send_q;
  assign m_axi_awlen_o = 8'(send_beats - 9'd1);
  assign m_axi_awsize_o = 3'(BEAT_SHIFT);
  assign m_axi_awburst_o = 2'b01;  // INCR
  assign m_axi_wlast_o = send_last;
  assign m_axi_awvalid_o = send_valid_q && send_first && !aw_done_q && !page_miss_i;
  assign m_axi_wvalid_o = send_valid_q && !w_done_q && !page_miss_i;
  assign m_axi_bready_o = 1'b1;
  assign aw_fire = m_axi_awvalid_o && m_axi_awready_i;
  assign w_fire = m_axi_wvalid_o && m_axi_wready_i;
  assign send_fire = send_valid_q && (!send_first || aw_done_q || aw_fire) && (w_done_q || w_fire);

  assign look_fire = look_valid_q && (!send_valid_q || send_fire);
  assign beat_fire = ((state_q == FIRST && slot_free) || state_q == BEATS) &&
      (!look_valid_q || look_fire);
  assign wr_req_ready_o = state_q == IDLE || (beat_fire && row_done);
  assign look_first = look_q[BUS_BITS + BEAT + 1];
  // The other beats of a burst lie in the page of the first.
  assign page_look_valid_o = look_fire && look_first;
  assign page_look_page_o = look_q[STAGE_BITS-1 -: 52];

  always_comb begin
    state_d = state_q;
    if (beat_fire && row_done) state_d = IDLE;
    else if (beat_fire && last_beat) state_d = FIRST;
    else if (beat_fire) state_d = BEATS;
    if (wr_req_valid_i && wr_req_ready_o) begin
      if (wr_req_store_en_i) state_d = FIRST;
      else state_d = IDLE;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      look_valid_q <= 1'b0;
      send_valid_q <= 1'b0;
      aw_done_q <= 1'b0;
      w_done_q <= 1'b0;
      beat_q <= '0;
    end else begin
      state_q <= state_d;
      if (beat_fire) beat_q <= beat + 9'd1;
      if (beat_fire) look_valid_q <= 1'b1;
      else if (look_fire) look_valid_q <= 1'b0;
      if (look_fire) send_valid_q <= 1'b1;
      else if (send_fire) send_valid_q <= 1'b0;
      aw_done_q <= (aw_done_q || aw_fire) && !send_fire;
      w_done_q <= (w_done_q || w_fire) && !send_fire;
    end
  end
  always_ff @(posedge clk_i) begin
    if (beat_fire) begin
      look_q <= {burst_addr, id, beats, total != B'(size), state_q == FIRST, last_beat, strobe,
          data};
      sent_q <= sent_q + beat_bytes;
      size_q <= size;
      offset_q <= offset;
      total_q <= total;
      burst_addr_q <= burst_addr;
      id_q <= id;
      if (state_q == FIRST) addr_q <= addr_q + 64'(best_bytes);
    end
    if (look_fire) send_q <= look_q;
    if (wr_req_valid_i && wr_req_ready_o) begin
      single_q <= pooled;
      for (int i = 0; i < MAX_BLOCKS; i++) begin
        if (wr_req_block_i == 8'(i)) blocks_q[i*BLOCK_BITS +: BLOCK_BITS] <=
            wr_req_data_i[BLOCK_BITS-1:0];
      end
      is_single_q <= wr_req_block_i == '0;
      addr_q <= wr_req_addr_i;
      len_q <= B'(wr_req_block_i) * B'(DIM) + wr_req_len_i;
      sent_q <= '0;
    end
  end
  logic unused_resp;
  assign unused_resp = ^m_axi_bresp_i;

  assign busy_o = |used || state_q != IDLE;
  assign ev_active_o = state_q != IDLE;
  assign ev_tlb_wait_o = send_valid_q && page_miss_i;
  assign ev_bus_wait_o = (m_axi_awvalid_o && !m_axi_awready_i) ||
      (m_axi_wvalid_o && !m_axi_wready_i);
  assign ext_bytes_o = w_fire ? 16'(BEAT) : 16'd0;

  `WEFT_ASSERT(AnswerHasRequest, !m_axi_bvalid_i || used[m_axi_bid_i])
  `WEFT_ASSERT(MemoryHasNoError, !m_axi_bvalid_i || m_axi_bresp_i == 2'b00)
  `WEFT_ASSERT_STREAM(AwStable, m_axi_awvalid_o, m_axi_awready_i,
      {m_axi_awaddr_o, m_axi_awid_o, m_axi_awlen_o, m_axi_awuser_o})
  `WEFT_ASSERT_STREAM(WStable, m_axi_wvalid_o, m_axi_wready_i,
      {m_axi_wdata_o, m_axi_wstrb_o, m_axi_wlast_o})
  `WEFT_ASSERT_STREAM(RequestStable, wr_req_valid_i, wr_req_ready_o,
                      {wr_req_addr_i, wr_req_data_i, wr_req_len_i, wr_req_block_i, wr_req_pool_en_i,
                      wr_req_store_en_i})
endmodule
