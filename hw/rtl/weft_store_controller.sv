// SPDX-License-Identifier: Apache-2.0
// Stores: turns config_st, config_norm and mvout into row requests, one per cycle, and reports
// finished commands.
//
// Commands wait in a queue and are carried out in order. A mvout first takes an entry of the
// command tracker (TRACKED = requests in flight / DIM + 1), which counts the rows that local memory
// has read; the command completes with the last of them, while the data are still on their way.
// What it asks for:
//   rows    (pool stride 0, pool size 0) rows x column blocks, block b of row i at local row +
//           b*DIM + i; statistics commands of the normaliser become their collecting form in all
//           but the last block of a row
//   image   (pool stride 0, pool size > 0) orows x ocols single rows, consecutive in local memory,
//           placed by pool_out_dim
//   pooled  (pool stride > 0) for each output pixel the size x size rows of its window, garbage
//           outside the image; the writer takes their maximum and stores with the last
// A mvout_spad asks for rows as if nothing were pooled; the address of each block is a scratchpad
// row of its own (st_req_to_sp_o), and local memory counts them when they are written.
//   WAIT     head is a config: takes effect, one cycle. Head is a mvout and an entry is free:
//            allocate, first request.
//   BLOCKED  allocated, first request not yet accepted.
//   ROWS     the remaining requests; the command leaves the queue with its last request (a single
//            one a cycle later).
// With the gate on (config_gate), rows that leave the accumulator as int8 for memory are products:
// each request of such a row comes behind one of the other factors (st_req_factor_o), the
// scratchpad row gate_offset away from it, whose address is the scale of the products.
// A mvout without rows or columns, and a pooled statistics command, complete without a request.
// MAX_POOL 0: the pool stride is ignored. NORMALISER 0: config_norm and the norm field are ignored.
// GATE 0: config_gate does not come here.
// SP_STORES 0 (ISA revision 1): there is no mvout_spad.
//
// Latency: issue (st_valid_i && st_ready_o) at t -> first request t+1; last answer t ->
// st_done_valid_o t+1.
// Combinational: none from st_req_ready_i, st_done_ready_i or st_resp_* to an output.
// Invariants: requests of a command are consecutive and in the order that the writer collects them
// in.
`include "weft_assert.svh"

module weft_store_controller #(
  parameter int DIM = 16,
  parameter int QUEUE = 2,
  parameter int TRACKED = 2,
  parameter int ID_BITS = 5,
  parameter int ROW_BITS = 14,
  parameter bit MAX_POOL = 1'b1,
  parameter bit NORMALISER = 1'b0,
  parameter bit GATE = 1'b0,
  parameter bit SP_STORES = 1'b0
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  // from and to the reservation station
  input  logic               st_valid_i,
  output logic               st_ready_o,
  input  logic [6:0]         st_funct_i,
  input  logic [63:0]        st_rs1_i,
  input  logic [63:0]        st_rs2_i,
  input  logic [ID_BITS-1:0] st_id_i,
  output logic               st_done_valid_o,
  input  logic               st_done_ready_i,
  output logic [ID_BITS-1:0] st_done_id_o,
  // to and from local memory
  output logic               st_req_valid_o,
  input  logic               st_req_ready_i,
  output logic [63:0]        st_req_addr_o,
  output logic               st_req_to_sp_o,
  output logic               st_req_factor_o,  // the row multiplies the next one
  output logic [31:0]        st_req_laddr_o,
  output logic [2:0]         st_req_act_o,
  output logic [31:0]        st_req_scale_o,
  output logic [31:0]        st_req_igelu_qb_o,
  output logic [31:0]        st_req_igelu_qc_o,
  output logic [31:0]        st_req_iexp_qln2_o,
  output logic [31:0]        st_req_iexp_qln2_inv_o,
  output logic [7:0]         st_req_stats_id_o,
  output logic [15:0]        st_req_len_o,    // elements
  output logic [7:0]         st_req_block_o,
  output logic               st_req_pool_en_o,
  output logic               st_req_store_en_o,
  output logic [7:0]         st_req_cmd_o,
  input  logic               st_resp_valid_i,
  input  logic [7:0]         st_resp_cmd_i,
  // state
  output logic               busy_o,
  output logic               ev_dma_wait_o,
  output logic               ev_active_o,
  output logic               ev_pooling_o,
  output logic               ev_spad_wait_o
);
  localparam int COMMAND_BITS = 7 + 64 + 64 + ID_BITS;
  localparam int DIM_SHIFT = $clog2(DIM);
  localparam logic [31:0] KEEP_SCALE = 32'hffff_ffff;
  typedef enum logic [1:0] {WAIT, BLOCKED, ROWS} state_e;
  state_e state_q, state_d;

  // Head of the queue.
  logic               cmd_valid, cmd_pop;
  logic [6:0]         funct;
  logic [63:0]        rs1, rs2;
  logic [ID_BITS-1:0] id;
  logic [$clog2(QUEUE+1)-1:0] unused_count;

  weft_fifo #(.WIDTH(COMMAND_BITS), .DEPTH(QUEUE)) u_queue (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(st_valid_i), .in_ready_o(st_ready_o),
    .in_data_i({st_funct_i, st_rs1_i, st_rs2_i, st_id_i}),
    .out_valid_o(cmd_valid), .out_ready_i(cmd_pop), .out_data_o({funct, rs1, rs2, id}),
    .count_o(unused_count)
  );

  logic        is_config, is_config_st, is_config_norm, is_config_gate, is_mvout, to_sp;
  logic [1:0]  kind;
  logic [31:0] laddr;
  logic [15:0] cols, rows, blocks;

  assign kind = rs1[weft_isa_pkg::CONFIG_ST_KIND_LSB +: 2];
  assign is_config_gate = GATE && funct == weft_isa_pkg::FUNCT_CONFIG_GATE;
  assign is_config = funct == weft_isa_pkg::FUNCT_CONFIG_ST || is_config_gate;
  assign is_config_st = is_config && !is_config_gate && kind == weft_isa_pkg::CONFIG_ST_KIND;
  assign is_config_norm = is_config && !is_config_gate && kind == weft_isa_pkg::CONFIG_NORM_KIND;
  assign is_mvout = !is_config;
  assign to_sp = SP_STORES && cmd_valid && funct == weft_isa_pkg::FUNCT_MVOUT_SPAD;
  assign laddr = rs2[weft_isa_pkg::MVOUT_LOCAL_LSB +: 32];
  assign cols = rs2[weft_isa_pkg::MVOUT_COLS_LSB +: 16];
  assign rows = rs2[weft_isa_pkg::MVOUT_ROWS_LSB +: 16];
  assign blocks = 16'((17'(cols) + 17'(DIM - 1)) >> DIM_SHIFT);

  // Registers that the configs write.
  logic [31:0] stride_q, scale_q;
  logic [2:0]  act_q;
  logic [1:0]  pool_stride_q, pool_size_q, upad_q, lpad_q;
  logic [7:0]  pool_out_dim_q, porows_q, pocols_q, orows_q, ocols_q;
  logic [31:0] qb_q, qc_q, qln2_q, qln2_inv_q;
  logic [7:0]  stats_id_q;
  logic        take_config, pooled, image;

  assign take_config = state_q == WAIT && cmd_valid && is_config;
  assign pooled = MAX_POOL && pool_stride_q != '0 && !to_sp;
  assign image = !pooled && pool_size_q != '0 && !to_sp;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stride_q <= '0;
      scale_q <= '0;
      act_q <= '0;
      pool_stride_q <= '0;
      pool_size_q <= '0;
      upad_q <= '0;
      lpad_q <= '0;
      pool_out_dim_q <= '0;
      porows_q <= '0;
      pocols_q <= '0;
      orows_q <= '0;
      ocols_q <= '0;
    end else if (take_config && is_config_st) begin
      stride_q <= rs2[weft_isa_pkg::CONFIG_ST_STRIDE_LSB +: 32];
      act_q <= {1'b0, rs1[weft_isa_pkg::CONFIG_ST_ACTIVATION_LSB +: 2]};
      if (rs2[weft_isa_pkg::CONFIG_ST_ACC_SCALE_LSB +: 32] != KEEP_SCALE) begin
        scale_q <= rs2[weft_isa_pkg::CONFIG_ST_ACC_SCALE_LSB +: 32];
      end
      pool_stride_q <= rs1[weft_isa_pkg::CONFIG_ST_POOL_STRIDE_LSB +: 2];
      pool_size_q <= rs1[weft_isa_pkg::CONFIG_ST_POOL_SIZE_LSB +: 2];
      // Geometry changes with pooling; what the image form needs of it also with that.
      if (rs1[weft_isa_pkg::CONFIG_ST_POOL_STRIDE_LSB +: 2] != '0) begin
        porows_q <= rs1[weft_isa_pkg::CONFIG_ST_POOL_OROWS_LSB +: 8];
        pocols_q <= rs1[weft_isa_pkg::CONFIG_ST_POOL_OCOLS_LSB +: 8];
        upad_q <= rs1[weft_isa_pkg::CONFIG_ST_POOL_UPAD_LSB +: 2];
        lpad_q <= rs1[weft_isa_pkg::CONFIG_ST_POOL_LPAD_LSB +: 2];
      end
      if (rs1[weft_isa_pkg::CONFIG_ST_POOL_STRIDE_LSB +: 2] != '0 ||
          rs1[weft_isa_pkg::CONFIG_ST_POOL_SIZE_LSB +: 2] != '0) begin
        pool_out_dim_q <= rs1[weft_isa_pkg::CONFIG_ST_POOL_OUT_DIM_LSB +: 8];
        orows_q <= rs1[weft_isa_pkg::CONFIG_ST_OROWS_LSB +: 8];
        ocols_q <= rs1[weft_isa_pkg::CONFIG_ST_OCOLS_LSB +: 8];
      end
    end else if (take_config && is_config_norm && NORMALISER &&
        !rs1[weft_isa_pkg::CONFIG_NORM_STATS_ID_ONLY_LSB]) begin
      act_q[2] <= rs1[weft_isa_pkg::CONFIG_NORM_ACTIVATION_MSB_LSB];
    end
  end

  if (NORMALISER) begin : g_norm
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        stats_id_q <= '0;
        qb_q <= '0;
        qc_q <= '0;
        qln2_q <= '0;
        qln2_inv_q <= '0;
      end else if (take_config && is_config_norm) begin
        stats_id_q <= rs1[weft_isa_pkg::CONFIG_NORM_STATS_ID_LSB +: 8];
        if (!rs1[weft_isa_pkg::CONFIG_NORM_STATS_ID_ONLY_LSB]) begin
          qb_q <= rs2[weft_isa_pkg::CONFIG_NORM_QB_LSB +: 32];
          qc_q <= rs2[weft_isa_pkg::CONFIG_NORM_QC_LSB +: 32];
          if (rs1[weft_isa_pkg::CONFIG_NORM_QLN2_INVERSE_LSB]) qln2_inv_q <=
              rs1[weft_isa_pkg::CONFIG_NORM_LN2_LSB +: 32];
          else qln2_q <= rs1[weft_isa_pkg::CONFIG_NORM_LN2_LSB +: 32];
        end
      end
    end
  end else begin : g_no_norm
    assign stats_id_q = '0;
    assign qb_q = '0;
    assign qc_q = '0;
    assign qln2_q = '0;
    assign qln2_inv_q = '0;
  end

  logic                gate_on_q;
  logic [ROW_BITS-1:0] gate_offset_q;
  logic [31:0]         gate_scale_q;
  if (GATE) begin : g_gate
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        gate_on_q <= 1'b0;
        gate_offset_q <= '0;
        gate_scale_q <= '0;
      end else if (take_config && is_config_gate) begin
        gate_on_q <= rs1[weft_isa_pkg::CONFIG_GATE_ON_LSB];
        gate_offset_q <= rs1[weft_isa_pkg::CONFIG_GATE_OFFSET_LSB +: ROW_BITS];
        gate_scale_q <= rs2[weft_isa_pkg::CONFIG_GATE_SCALE_LSB +: 32];
      end
    end
  end else begin : g_no_gate
    assign gate_on_q = 1'b0;
    assign gate_offset_q = '0;
    assign gate_scale_q = '0;
  end

  // Position inside the command. Rows and images count rows and blocks; pooling counts pixels and
  // window elements.
  logic [15:0] row_q, block_q;
  logic [7:0]  porow_q, pocol_q;  // also the pixel of an image
  logic [1:0]  wrow_q, wcol_q;
  logic        last_block, last_row, last_wcol, last_wrow, last_pocol, last_porow, last_request,
      at_start;
  logic        behind_q;  // of a gated row: its factors are requested
  logic [15:0] all_rows;

  assign all_rows = image ? 16'(orows_q) * 16'(ocols_q) : rows;
  assign last_block = block_q == blocks - 16'd1;
  assign last_row = row_q == all_rows - 16'd1;
  assign last_wcol = wcol_q == pool_size_q - 2'd1;
  assign last_wrow = wrow_q == pool_size_q - 2'd1;
  assign last_pocol = pocol_q == (pooled ? pocols_q : ocols_q) - 8'd1;
  assign last_porow = porow_q == porows_q - 8'd1;
  assign last_request = pooled ? last_wcol && last_wrow && last_pocol && last_porow : last_block &&
      last_row && !st_req_factor_o;
  assign at_start = row_q == '0 && block_q == '0 && porow_q == '0 && pocol_q == '0 &&
      wrow_q == '0 && wcol_q == '0 && !behind_q;

  // Work of the command.
  logic [31:0] count;
  logic        base_garbage, is_norm, gated, empty;
  // The garbage address has every bit of the norm field set and means nothing by it.
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_garbage (
    .local_i(laddr), .garbage_o(base_garbage)
  );
  assign is_norm = NORMALISER && !base_garbage && laddr[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB]
                 && laddr[weft_isa_pkg::LOCAL_NORM_LSB +: 3] != weft_isa_pkg::LOCAL_NORM_NONE;
  assign gated = gate_on_q && !pooled && !image && !to_sp && !base_garbage &&
      laddr[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB] && !laddr[weft_isa_pkg::LOCAL_FULL_LSB] &&
      laddr[weft_isa_pkg::LOCAL_NORM_LSB +: 3] == weft_isa_pkg::LOCAL_NORM_NONE;
  always_comb begin
    if (cols == '0) count = '0;
    else if (pooled) count = is_norm ? '0 : 32'(porows_q) * 32'(pocols_q) * 32'(pool_size_q) *
        32'(pool_size_q);
    else count = (32'(all_rows) * 32'(blocks)) << (gated ? 1 : 0);
  end
  assign empty = count == '0;

  // Requests.
  logic [31:0] source;
  logic [2:0]  norm;
  logic        garbage, req_fire, alloc_valid, alloc_ready, alloc_fire;
  logic [7:0]  alloc_id, cmd_q;
  logic signed [11:0] orow, ocol;
  logic [63:0] pixel, base;
  logic [31:0] stride, block_place;
  logic [TRACKED-1:0] tracked;

  assign orow = 12'(porow_q) * 12'(pool_stride_q) + 12'(wrow_q) - 12'(upad_q);
  assign ocol = 12'(pocol_q) * 12'(pool_stride_q) + 12'(wcol_q) - 12'(lpad_q);
  assign garbage = pooled &&
      (orow < 0 || ocol < 0 || orow >= $signed({4'd0, orows_q}) ||
      ocol >= $signed({4'd0, ocols_q}));
  assign pixel = 64'(porow_q) * 64'(pool_out_dim_q) + 64'(pocol_q);
  assign st_req_to_sp_o = to_sp;
  assign base = to_sp ? 64'(rs1[weft_isa_pkg::MVOUT_SPAD_R2_DEST_LSB +: 32]) : rs1;
  assign stride = to_sp ? 32'(rs1[weft_isa_pkg::MVOUT_SPAD_R2_STRIDE_LSB +: 16]) : stride_q;
  assign block_place = to_sp ?
      32'(block_q) * 32'(rs1[weft_isa_pkg::MVOUT_SPAD_R2_BLOCK_STRIDE_LSB +: 16]) : '0;
  assign st_req_factor_o = gated && !behind_q;
  assign st_req_addr_o = st_req_factor_o ? 64'(gate_scale_q) :
      base + (pooled || image ? pixel : 64'(row_q)) * 64'(stride) + 64'(block_place);
  assign source = pooled ? 32'($unsigned(orow)) * 32'(ocols_q) + 32'($unsigned(ocol))
                         : 32'(block_q) * 32'(DIM) + 32'(row_q);

  // Row numbers wrap.
  logic unused_source;
  assign unused_source = &{1'b0, source};

  always_comb begin
    norm = laddr[weft_isa_pkg::LOCAL_NORM_LSB +: 3];
    if (!NORMALISER || base_garbage || to_sp) norm = weft_isa_pkg::LOCAL_NORM_NONE;
    else if (!last_block && norm == weft_isa_pkg::LOCAL_NORM_MEAN) norm =
        weft_isa_pkg::LOCAL_NORM_SUM;
    else if (!last_block && norm == weft_isa_pkg::LOCAL_NORM_INV_STDDEV) norm =
        weft_isa_pkg::LOCAL_NORM_VARIANCE;
    else if (!last_block && norm == weft_isa_pkg::LOCAL_NORM_INV_SUM_EXP) norm =
        weft_isa_pkg::LOCAL_NORM_SUM_EXP;
  end
  always_comb begin
    st_req_laddr_o = laddr;
    st_req_laddr_o[weft_isa_pkg::LOCAL_NORM_LSB +: 3] = norm;
    st_req_laddr_o[ROW_BITS-1:0] = laddr[ROW_BITS-1:0] + ROW_BITS'(source);
    if (garbage) st_req_laddr_o = weft_isa_pkg::LOCAL_GARBAGE;
    if (st_req_factor_o) begin
      st_req_laddr_o = 32'(ROW_BITS'(laddr[ROW_BITS-1:0] + ROW_BITS'(source) + gate_offset_q));
    end
  end
  assign st_req_act_o = act_q;
  assign st_req_scale_o = scale_q;
  assign st_req_igelu_qb_o = qb_q;
  assign st_req_igelu_qc_o = qc_q;
  assign st_req_iexp_qln2_o = qln2_q;
  assign st_req_iexp_qln2_inv_o = qln2_inv_q;
  assign st_req_stats_id_o = stats_id_q;
  assign st_req_len_o = last_block ? cols - 16'(block_q << DIM_SHIFT) : 16'(DIM);
  assign st_req_block_o = block_q[7:0];
  assign st_req_pool_en_o = pooled && (wrow_q != '0 || wcol_q != '0);
  assign st_req_store_en_o = pooled ? last_wrow && last_wcol : last_block && !st_req_factor_o;
  assign st_req_cmd_o = state_q == WAIT ? alloc_id : cmd_q;

  assign alloc_valid = state_q == WAIT && cmd_valid && is_mvout;
  assign alloc_fire = alloc_valid && alloc_ready;
  assign req_fire = st_req_valid_o && st_req_ready_i;
  always_comb begin
    unique case (state_q)
      WAIT: st_req_valid_o = alloc_fire && !empty;
      BLOCKED: st_req_valid_o = 1'b1;
      ROWS: st_req_valid_o = !at_start;
      default: st_req_valid_o = 1'b0;
    endcase
  end

  always_comb begin
    state_d = state_q;
    cmd_pop = 1'b0;
    unique case (state_q)
      WAIT: begin
        if (cmd_valid && is_config) cmd_pop = 1'b1;
        else if (alloc_fire && empty) cmd_pop = 1'b1;
        else if (req_fire) state_d = ROWS;
        else if (alloc_fire) state_d = BLOCKED;
      end
      BLOCKED: if (req_fire) state_d = ROWS;
      ROWS: begin
        if (at_start || (last_request && req_fire)) begin
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
      cmd_q <= '0;
      behind_q <= 1'b0;
      row_q <= '0;
      block_q <= '0;
      porow_q <= '0;
      pocol_q <= '0;
      wrow_q <= '0;
      wcol_q <= '0;
    end else begin
      state_q <= state_d;
      if (alloc_fire) cmd_q <= alloc_id;
      if (req_fire) behind_q <= st_req_factor_o;
      if (req_fire && pooled) begin
        wcol_q <= last_wcol ? 2'd0 : wcol_q + 2'd1;
        if (last_wcol) begin
          wrow_q <= last_wrow ? 2'd0 : wrow_q + 2'd1;
          if (last_wrow) begin
            pocol_q <= last_pocol ? 8'd0 : pocol_q + 8'd1;
            if (last_pocol) porow_q <= last_porow ? 8'd0 : porow_q + 8'd1;
          end
        end
      end else if (req_fire && !st_req_factor_o) begin
        block_q <= last_block ? 16'd0 : block_q + 16'd1;
        if (last_block) begin
          row_q <= last_row ? 16'd0 : row_q + 16'd1;
          if (image) begin
            pocol_q <= last_pocol ? 8'd0 : pocol_q + 8'd1;
            if (last_row) porow_q <= 8'd0;
            else if (last_pocol) porow_q <= porow_q + 8'd1;
          end
        end
      end
    end
  end

  weft_command_tracker #(.ENTRIES(TRACKED), .TAG_BITS(ID_BITS), .COUNT_BITS(32)) u_tracker (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .alloc_valid_i(alloc_valid), .alloc_ready_o(alloc_ready), .alloc_tag_i(id),
    .alloc_count_i(count),
    .alloc_id_o(alloc_id),
    .return_valid_i(st_resp_valid_i), .return_id_i(st_resp_cmd_i), .return_count_i(32'd1),
    .done_valid_o(st_done_valid_o), .done_ready_i(st_done_ready_i), .done_tag_o(st_done_id_o),
    .valid_o(tracked)
  );

  assign busy_o = cmd_valid || |tracked;
  assign ev_dma_wait_o = state_q == BLOCKED;
  assign ev_active_o = state_q == ROWS;
  assign ev_pooling_o = pooled;
  assign ev_spad_wait_o = st_req_valid_o && !st_req_ready_i;

  `WEFT_ASSERT(RowsHaveACommand, state_q == WAIT || cmd_valid)
  `WEFT_ASSERT(PooledRowIsOneBlock, !(st_req_valid_o && (pooled || image)) || blocks == 16'd1)
  `WEFT_ASSERT_STREAM(RequestStable, st_req_valid_o, st_req_ready_i,
                      {st_req_addr_o, st_req_laddr_o, st_req_len_o, st_req_block_o, st_req_cmd_o})
endmodule
