// SPDX-License-Identifier: Apache-2.0
// Loads: turns config_ld, mvin, mvin2 and mvin3 into row requests, one per cycle, and reports
// finished commands.
//
// Commands wait in a queue and are carried out in order. A mvin first takes an entry of the command
// tracker (TRACKED = requests in flight / DIM + 1), which counts its bytes down as their writes to
// local memory are answered.
//   WAIT     head is a config: takes effect, one cycle. Head is a mvin and an entry is free:
//            allocate, request row 0.
//   BLOCKED  allocated, row 0 not yet accepted.
//   ROWS     the remaining rows; the command leaves the queue with its last request (a single row
//            one cycle later).
// A mvin with no rows or no columns completes without a request. In a packed state (PACKED_INT4) a
// row of the scratchpad has half as many bytes as columns; zeros are not read and count as ever.
//
// Order: two loads in flight may be answered in either order by the memory, so a mvin waits while
// an older one that writes a common byte of local memory is in flight (load_overlap). Nothing else
// waits.
//
// Latency: issue (ld_valid_i && ld_ready_o) at t -> first row request t+1; last answer t ->
// ld_done_valid_o t+1.
// Combinational: none from ld_req_ready_i, ld_done_ready_i or ld_resp_* to an output; queue ready
// depends on state only.
// Invariants: one request per row (one in all for stride 0 with an address); requests of a command
// are consecutive.
`include "weft_assert.svh"

module weft_load_controller #(
  parameter int DIM = 16,
  parameter int QUEUE = 8,
  parameter int TRACKED = 2,
  parameter int ID_BITS = 5,
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCKS = 4,  // column blocks of the widest row
  parameter bit PACKED_INT4 = 1'b0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // from and to the reservation station
  input  logic               ld_valid_i,
  output logic               ld_ready_o,
  input  logic [6:0]         ld_funct_i,
  input  logic [63:0]        ld_rs1_i,
  input  logic [63:0]        ld_rs2_i,
  input  logic [ID_BITS-1:0] ld_id_i,
  output logic               ld_done_valid_o,
  input  logic               ld_done_ready_i,
  output logic [ID_BITS-1:0] ld_done_id_o,
  // to and from local memory
  output logic               ld_req_valid_o,
  input  logic               ld_req_ready_i,
  output logic [63:0]        ld_req_addr_o,
  output logic [31:0]        ld_req_laddr_o,
  output logic [15:0]        ld_req_cols_o,
  output logic [15:0]        ld_req_repeats_o,   // further local rows that get the same data
  output logic [31:0]        ld_req_scale_o,
  output logic               ld_req_acc_width_o, // int32 elements in memory
  output logic               ld_req_packed_o,    // two int4 elements in a byte of memory
  output logic               ld_req_zeros_o,
  output logic [15:0]        ld_req_block_stride_o,
  output logic [7:0]         ld_req_pixel_repeats_o,
  output logic [7:0]         ld_req_cmd_o,
  input  logic               ld_resp_valid_i,
  input  logic [15:0]        ld_resp_bytes_i,
  input  logic [7:0]         ld_resp_cmd_i,
  // state
  output logic               busy_o,
  output logic               ev_dma_wait_o,
  output logic               ev_active_o,
  output logic               ev_spad_wait_o
);
  localparam int COMMAND_BITS = 7 + 64 + 64 + ID_BITS;
  localparam int DIM_SHIFT = $clog2(DIM);
  localparam int STATES = 3;
  typedef enum logic [1:0] {WAIT, BLOCKED, ROWS} state_e;

  // Head of the queue and its fields.
  logic               cmd_valid, cmd_pop;
  logic [6:0]         funct;
  logic [63:0]        rs1, rs2;
  logic [ID_BITS-1:0] id;
  logic [31:0]        laddr;
  logic [15:0]        cols, rows, rows_read, blocks;
  logic               is_config, is_mvin, zeros, is_acc, empty;
  logic [1:0]         slot;

  logic [$clog2(QUEUE+1)-1:0] unused_count;
  weft_fifo #(.WIDTH(COMMAND_BITS), .DEPTH(QUEUE)) u_queue (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(ld_valid_i), .in_ready_o(ld_ready_o),
    .in_data_i({ld_funct_i, ld_rs1_i, ld_rs2_i, ld_id_i}),
    .out_valid_o(cmd_valid), .out_ready_i(cmd_pop), .out_data_o({funct, rs1, rs2, id}),
    .count_o(unused_count)
  );

  // Load states: set by config_ld, undefined before.
  logic [STATES*64-1:0] stride_q;
  logic [STATES*32-1:0] scale_q;
  logic [STATES*16-1:0] block_stride_q;
  logic [STATES*8-1:0]  pixel_repeats_q;
  logic [STATES-1:0]    shrink_q, packed_q;
  logic                 packed_rows;
  logic [63:0]          stride;

  assign is_config = funct == weft_isa_pkg::FUNCT_CONFIG_LD;
  assign is_mvin = !is_config;
  always_comb begin
    if (is_config) slot = rs1[weft_isa_pkg::CONFIG_LD_STATE_LSB +: 2];
    else if (funct == weft_isa_pkg::FUNCT_MVIN2) slot = 2'd1;
    else if (funct == weft_isa_pkg::FUNCT_MVIN3) slot = 2'd2;
    else slot = 2'd0;
  end

  assign laddr = rs2[weft_isa_pkg::MVIN_LOCAL_LSB +: 32];
  assign cols = rs2[weft_isa_pkg::MVIN_COLS_LSB +: 16];
  assign rows = rs2[weft_isa_pkg::MVIN_ROWS_LSB +: 16];
  assign is_acc = laddr[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB];
  assign zeros = rs1 == '0;
  assign empty = rows == '0 || cols == '0;
  assign blocks = 16'((17'(cols) + 17'(DIM - 1)) >> DIM_SHIFT);

  // What the slot says.
  logic [7:0] pixel_repeats;
  always_comb begin
    stride = stride_q[63:0];
    ld_req_scale_o = scale_q[31:0];
    ld_req_block_stride_o = block_stride_q[15:0];
    pixel_repeats = pixel_repeats_q[7:0];
    ld_req_acc_width_o = is_acc && !shrink_q[0];
    packed_rows = packed_q[0];
    for (int i = 1; i < STATES; i++) begin
      if (slot == 2'(i)) begin
        stride = stride_q[i*64 +: 64];
        ld_req_scale_o = scale_q[i*32 +: 32];
        ld_req_block_stride_o = block_stride_q[i*16 +: 16];
        pixel_repeats = pixel_repeats_q[i*8 +: 8];
        ld_req_acc_width_o = is_acc && !shrink_q[i];
        packed_rows = packed_q[i];
      end
    end
  end
  // Pixels repeat in the scratchpad only; 0 copies means 1.
  assign ld_req_pixel_repeats_o = is_acc || pixel_repeats == '0 ? 8'd1 : pixel_repeats;
  // Zeros are not read.
  assign ld_req_packed_o = PACKED_INT4 && packed_rows && !is_acc && !zeros;
  assign rows_read = stride == '0 && !zeros ? 16'd1 : rows;

  // Row requests.
  state_e      state_q, state_d;
  logic [15:0] row_q, row_d;
  logic        req_fire, last_row, alloc_valid, alloc_ready, alloc_fire, hazard;
  logic [7:0]  alloc_id, cmd_q;
  logic [63:0] addr_q;  // of row row_q in memory, if that is not the first

  assign alloc_valid = state_q == WAIT && cmd_valid && is_mvin && !hazard;
  assign alloc_fire = alloc_valid && alloc_ready;
  assign req_fire = ld_req_valid_o && ld_req_ready_i;
  assign last_row = row_q == rows_read - 16'd1;

  always_comb begin
    unique case (state_q)
      WAIT: ld_req_valid_o = alloc_fire && !empty;
      BLOCKED: ld_req_valid_o = 1'b1;
      ROWS: ld_req_valid_o = row_q != '0;
      default: ld_req_valid_o = 1'b0;
    endcase
  end
  assign ld_req_addr_o = row_q == '0 ? rs1 : addr_q;
  assign ld_req_laddr_o = {laddr[31:ROW_BITS], laddr[ROW_BITS-1:0] + ROW_BITS'(row_q)};
  assign ld_req_cols_o = cols;
  assign ld_req_repeats_o = stride == '0 && !zeros ? rows - 16'd1 : 16'd0;
  assign ld_req_zeros_o = zeros;
  assign ld_req_cmd_o = state_q == WAIT ? alloc_id : cmd_q;

  always_comb begin
    state_d = state_q;
    row_d = row_q;
    cmd_pop = 1'b0;
    if (req_fire) row_d = last_row ? 16'd0 : row_q + 16'd1;
    unique case (state_q)
      WAIT: begin
        if (cmd_valid && is_config) cmd_pop = 1'b1;
        else if (alloc_fire && empty) cmd_pop = 1'b1;
        else if (req_fire) state_d = ROWS;
        else if (alloc_fire) state_d = BLOCKED;
      end
      BLOCKED: if (req_fire) state_d = ROWS;
      ROWS: begin
        if (row_q == '0 || (last_row && req_fire)) begin
          state_d = WAIT;
          cmd_pop = 1'b1;
        end
      end
      default: state_d = WAIT;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= WAIT;
      row_q <= '0;
      cmd_q <= '0;
      addr_q <= '0;
      stride_q <= '0;
      scale_q <= '0;
      block_stride_q <= '0;
      pixel_repeats_q <= '0;
      shrink_q <= '0;
      packed_q <= '0;
    end else begin
      state_q <= state_d;
      row_q <= row_d;
      if (alloc_fire) cmd_q <= alloc_id;
      if (req_fire) addr_q <= ld_req_addr_o + stride;
      if (state_q == WAIT && cmd_valid && is_config) begin
        for (int i = 0; i < STATES; i++) begin
          if (slot == 2'(i)) begin
            stride_q[i*64 +: 64] <= rs2[weft_isa_pkg::CONFIG_LD_STRIDE_LSB +: 64];
            scale_q[i*32 +: 32] <= rs1[weft_isa_pkg::CONFIG_LD_SCALE_LSB +: 32];
            block_stride_q[i*16 +: 16] <= rs1[weft_isa_pkg::CONFIG_LD_BLOCK_STRIDE_LSB +: 16];
            pixel_repeats_q[i*8 +: 8] <= rs1[weft_isa_pkg::CONFIG_LD_PIXEL_REPEATS_LSB +: 8];
            shrink_q[i] <= rs1[weft_isa_pkg::CONFIG_LD_SHRINK_LSB];
            if (PACKED_INT4) packed_q[i] <= rs1[weft_isa_pkg::CONFIG_LD_PACKED_LSB];
          end
        end
      end
    end
  end

  // Commands in flight.
  logic [31:0]        bytes;
  logic [TRACKED-1:0] tracked, meets;

  assign bytes = ((32'(cols) * 32'(rows_read)) << (ld_req_acc_width_o ? 2 : 0)) >>
      (ld_req_packed_o ? 1 : 0);
  weft_command_tracker #(.ENTRIES(TRACKED), .TAG_BITS(ID_BITS), .COUNT_BITS(32)) u_tracker (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .alloc_valid_i(alloc_valid), .alloc_ready_o(alloc_ready), .alloc_tag_i(id),
    .alloc_count_i(empty ? 32'd0 : bytes),
    .alloc_id_o(alloc_id),
    .return_valid_i(ld_resp_valid_i), .return_id_i(ld_resp_cmd_i),
    .return_count_i(32'(ld_resp_bytes_i)),
    .done_valid_o(ld_done_valid_o), .done_ready_i(ld_done_ready_i), .done_tag_o(ld_done_id_o),
    .valid_o(tracked)
  );

  // What the head and every tracked command write.
  logic [7:0] copies;

  assign copies = ld_req_pixel_repeats_o - 8'd1;
  for (genvar i = 0; i < TRACKED; i++) begin : g_tracked
    logic                t_is_acc_q;
    logic [ROW_BITS-1:0] t_row_q;
    logic [7:0]          t_copies_q;
    logic [15:0]         t_rows_q, t_cols_q, t_blocks_q, t_stride_q;
    always_ff @(posedge clk_i) begin
      if (alloc_fire && alloc_id == 8'(i)) begin
        t_is_acc_q <= is_acc;
        t_row_q <= laddr[ROW_BITS-1:0];
        t_rows_q <= rows;
        t_copies_q <= copies;
        t_cols_q <= cols;
        t_blocks_q <= blocks;
        t_stride_q <= ld_req_block_stride_o;
      end
    end
    logic overlap;
    weft_load_overlap #(.ROW_BITS(ROW_BITS), .MAX_BLOCKS(MAX_BLOCKS)) u_overlap (
      .a_is_acc_i(t_is_acc_q), .a_row_i(t_row_q), .a_rows_i(t_rows_q), .a_copies_i(t_copies_q),
      .a_cols_i(t_cols_q), .a_blocks_i(t_blocks_q), .a_stride_i(t_stride_q),
      .b_is_acc_i(is_acc), .b_row_i(laddr[ROW_BITS-1:0]), .b_rows_i(rows), .b_copies_i(copies),
      .b_cols_i(cols), .b_blocks_i(blocks), .b_stride_i(ld_req_block_stride_o),
      .overlap_o(overlap)
    );
    assign meets[i] = tracked[i] && overlap;
  end
  assign hazard = !empty && |meets;

  assign busy_o = cmd_valid || |tracked;
  assign ev_dma_wait_o = state_q == BLOCKED;
  assign ev_active_o = state_q == ROWS;
  assign ev_spad_wait_o = ld_req_valid_o && !ld_req_ready_i;

  `WEFT_ASSERT(RowsHaveACommand, state_q == WAIT || cmd_valid)
  `WEFT_ASSERT_STREAM(RequestStable, ld_req_valid_o, ld_req_ready_i,
                      {ld_req_addr_o, ld_req_laddr_o, ld_req_cols_o, ld_req_repeats_o,
                      ld_req_scale_o, ld_req_packed_o, ld_req_cmd_o})
endmodule
