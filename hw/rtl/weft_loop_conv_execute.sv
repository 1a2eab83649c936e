// The products of a convolution tile: for each (och, krow, kcol, kch, b, orow, ocol), ocol innermost, a preload and a
// compute. The first position of a weight block loads the weights, the others keep them (preload of the garbage address,
// compute_accumulated). C always accumulates. trans_input_3120 first sets the strides of A and C (config_ex) and walks
// the batches in blocks of DIM, one pixel at a time.
// Positions between the pixels of a dilated input contribute nothing: each is passed over in two cycles.
// Nothing is emitted before all loads of the tile were (loads_done_i).
// Latency: start in t, the first command leaves the two-stage command pipeline in t + 3, then one per cycle. The tile's
// registers (every input but start_*) must be those of slot_o and stay stable until idle_o; start_strides_i belongs to
// the tile that starts.
module weft_loop_conv_execute #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_valid_i,
  output logic        start_ready_o,
  input  logic        start_slot_i,
  input  logic        start_strides_i,   // begin with config_ex
  input  logic        wrot180_i,
  input  logic        downsample_i,
  input  logic        input_dilated_i,
  input  logic        trans_input_3120_i,
  input  logic        trans_weight_0132_i,
  input  logic [7:0]  pixels_i,          // kernel columns folded into K
  input  logic [15:0] stride_i,
  input  logic [15:0] kernel_dilation_i,
  input  logic [15:0] batches_i,
  input  logic [15:0] pochs_i,
  input  logic [15:0] krows_i,
  input  logic [15:0] kcols_i,
  input  logic [15:0] kchs_i,
  input  logic [15:0] orows_i,
  input  logic [15:0] ocols_i,
  input  logic        upad_odd_i,        // of the tile, before dilation is taken out
  input  logic        lpad_odd_i,
  input  logic [15:0] irows_i,
  input  logic [15:0] icols_i,
  input  logic [31:0] plane_i,
  input  logic [31:0] bias_block_i,
  input  logic [31:0] input_block_i,
  input  logic [31:0] weight_block_i,
  input  logic [31:0] a_row_i,
  input  logic [31:0] b_row_i,
  input  logic [31:0] c_row_i,
  input  logic        loads_done_i,
  input  logic        blocked_i,
  output logic        cmd_valid_o,
  input  logic        cmd_ready_i,
  output logic [6:0]  cmd_funct_o,
  output logic [63:0] cmd_rs1_o,
  output logic [63:0] cmd_rs2_o,
  output logic        idle_o,
  output logic        slot_o
);
  localparam int DIM_LOG2 = $clog2(DIM);
  localparam logic [15:0] SIDE = 16'(DIM);
  localparam logic [31:0] ROWS = (32'd1 << ROW_BITS) - 32'd1;  // row numbers wrap
  localparam logic [31:0] GARBAGE = '1;
  localparam int CMD_BITS = 7 + 64 + 64;

  logic busy_q, config_q, compute_q, fresh_q, slot_q;
  logic [15:0] och_q, krow_q, kcol_q, kch_q, b_q, orow_q, ocol_q;

  // Sizes. A run of output columns covers every second one of a dilated input.
  logic [15:0] och_left, kcol_left, kch_left, b_left, ocol_left, columns, run, pixels, cols, rows, kch, depth;
  assign och_left = pochs_i - och_q;
  assign kcol_left = kcols_i - kcol_q;
  assign kch_left = kchs_i - kch_q;
  assign b_left = batches_i - b_q;
  assign ocol_left = ocols_i - ocol_q;
  assign columns = input_dilated_i ? SIDE << 1 : SIDE;
  assign run = ocol_left < columns ? ocol_left : columns;
  assign pixels = kcol_left < {8'd0, pixels_i} ? kcol_left : {8'd0, pixels_i};
  assign cols = och_left < SIDE ? och_left : SIDE;
  assign kch = kch_left < SIDE ? kch_left : SIDE;
  assign depth = pixels * kch;
  always_comb begin
    if (trans_input_3120_i) rows = b_left < SIDE ? b_left : SIDE;
    else rows = input_dilated_i ? (run + 16'd1) >> 1 : run;
  end

  // Input position: dilated inputs are stored without the zeros between the pixels.
  logic [15:0] irow_zeros, icol_zeros, irow, icol, irow_sampled, icol_sampled, icols_sampled;
  logic implied_zero;
  assign irow_zeros = orow_q * stride_i + krow_q * kernel_dilation_i;
  assign icol_zeros = ocol_q * stride_i + kcol_q * kernel_dilation_i;
  assign irow = input_dilated_i ? (irow_zeros + 16'd1) >> 1 : irow_zeros;
  assign icol = input_dilated_i ? (icol_zeros + 16'd1) >> 1 : icol_zeros;
  assign irow_sampled = downsample_i ? irow >> 1 : irow;
  assign icol_sampled = downsample_i ? icol >> 1 : icol;
  assign icols_sampled = downsample_i ? icols_i >> 1 : icols_i;
  assign implied_zero = input_dilated_i && !config_q &&
      (((krow_q[0] & kernel_dilation_i[0]) ^ orow_q[0] ^ upad_odd_i) ||
       ((kcol_q[0] & kernel_dilation_i[0]) ^ ocol_q[0] ^ lpad_odd_i));

  // Local rows.
  logic [15:0] a_wide, a_deep, b_wide, b_deep, b_depth, a_block, b_block, c_block, krow, kcol;
  logic [31:0] a_place, b_place, c_place;
  assign a_wide = trans_input_3120_i ? b_q : kch_q;
  assign a_deep = trans_input_3120_i ? kch_q : b_q;
  assign b_wide = trans_weight_0132_i ? kch_q : och_q;
  assign b_deep = trans_weight_0132_i ? och_q : kch_q;
  assign b_depth = trans_weight_0132_i ? pochs_i : kchs_i;
  assign a_block = a_wide >> DIM_LOG2;
  assign b_block = b_wide >> DIM_LOG2;
  assign c_block = och_q >> DIM_LOG2;
  assign krow = wrot180_i ? krows_i - krow_q - 16'd1 : krow_q;
  assign kcol = wrot180_i ? kcols_i - kcol_q - 16'd1 : kcol_q;
  assign a_place = (a_row_i + 32'(a_block) * input_block_i + 32'(a_deep) * plane_i +
      32'(irow_sampled) * 32'(icols_sampled) + 32'(icol_sampled)) & ROWS;
  assign b_place = (b_row_i + 32'(b_block) * weight_block_i + (32'(krow) * 32'(kcols_i) + 32'(kcol)) * 32'(b_depth) +
      32'(b_deep)) & ROWS;
  assign c_place = (c_row_i + 32'(c_block) * bias_block_i + (32'(b_q) * 32'(orows_i) + 32'(orow_q)) * 32'(ocols_i) +
      32'(ocol_q)) & ROWS;

  logic [15:0] a_stride, c_stride;
  assign a_stride = irows_i * icols_i;
  assign c_stride = orows_i * ocols_i;

  logic pipe_valid, pipe_ready, pipe_out_valid, pipe_busy;
  logic [6:0] funct;
  logic [63:0] rs1, rs2;
  always_comb begin
    rs1 = '0;
    rs2 = '0;
    if (config_q) begin
      funct = weft_isa_pkg::FUNCT_CONFIG_EX;
      rs1[weft_isa_pkg::CONFIG_EX_STRIDES_ONLY_LSB] = 1'b1;
      rs1[weft_isa_pkg::CONFIG_EX_A_STRIDE_LSB+:16] = a_stride;
      rs2[weft_isa_pkg::CONFIG_EX_C_STRIDE_LSB+:16] = c_stride;
    end else if (!compute_q) begin
      funct = weft_isa_pkg::FUNCT_PRELOAD;
      rs1 = {depth, cols, fresh_q ? b_place : GARBAGE};
      rs2 = {rows, cols, 32'hc0000000 | c_place};
    end else begin
      funct = fresh_q ? weft_isa_pkg::FUNCT_COMPUTE_PRELOADED : weft_isa_pkg::FUNCT_COMPUTE_ACCUMULATED;
      rs1 = {rows, depth, a_place};
      rs2 = {rows, cols, GARBAGE};
    end
  end
  assign pipe_valid = busy_q && !implied_zero && loads_done_i;
  weft_pipe #(.WIDTH(CMD_BITS), .STAGES(2)) pipe (
    .clk_i, .rst_ni,
    .in_valid_i(pipe_valid), .in_ready_o(pipe_ready), .in_data_i({funct, rs1, rs2}),
    .out_valid_o(pipe_out_valid), .out_ready_i(cmd_ready_i && !blocked_i),
    .out_data_o({cmd_funct_o, cmd_rs1_o, cmd_rs2_o}), .busy_o(pipe_busy)
  );
  assign cmd_valid_o = pipe_out_valid && !blocked_i;
  assign idle_o = !busy_q && !pipe_busy;
  assign start_ready_o = idle_o;
  assign slot_o = slot_q;

  logic [15:0] b_step, ocol_step;
  logic last_ocol, last_orow, last_b, last_kch, last_kcol, last_krow, last_och, last_pixel, last_tap;
  assign b_step = trans_input_3120_i ? SIDE : 16'd1;
  assign ocol_step = implied_zero || trans_input_3120_i ? 16'd1 : columns;
  assign last_ocol = ocol_left <= ocol_step;
  assign last_orow = orows_i - orow_q <= 16'd1;
  assign last_b = b_left <= b_step;
  assign last_kch = kch_left <= SIDE;
  assign last_kcol = kcol_left <= {8'd0, pixels_i};
  assign last_krow = krows_i - krow_q <= 16'd1;
  assign last_och = och_left <= SIDE;
  assign last_pixel = last_ocol && last_orow && last_b;
  assign last_tap = last_pixel && last_kch && last_kcol && last_krow;

  logic step;  // on to the compute or the next position
  assign step = busy_q && (implied_zero || (pipe_valid && pipe_ready));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      config_q <= 1'b0;
      compute_q <= 1'b0;
      fresh_q <= 1'b0;
      slot_q <= 1'b0;
      och_q <= '0;
      krow_q <= '0;
      kcol_q <= '0;
      kch_q <= '0;
      b_q <= '0;
      orow_q <= '0;
      ocol_q <= '0;
    end else if (start_valid_i && start_ready_o) begin
      busy_q <= 1'b1;
      config_q <= start_strides_i;
      compute_q <= 1'b0;
      fresh_q <= 1'b1;
      slot_q <= start_slot_i;
      och_q <= '0;
      krow_q <= '0;
      kcol_q <= '0;
      kch_q <= '0;
      b_q <= '0;
      orow_q <= '0;
      ocol_q <= '0;
    end else if (step && config_q) begin
      config_q <= 1'b0;
    end else if (step && !compute_q) begin
      compute_q <= 1'b1;
    end else if (step) begin
      compute_q <= 1'b0;
      if (last_pixel) fresh_q <= 1'b1;
      else if (!implied_zero) fresh_q <= 1'b0;
      ocol_q <= last_ocol ? '0 : ocol_q + ocol_step;
      if (last_ocol) orow_q <= last_orow ? '0 : orow_q + 16'd1;
      if (last_ocol && last_orow) b_q <= last_b ? '0 : b_q + b_step;
      if (last_pixel) kch_q <= last_kch ? '0 : kch_q + SIDE;
      if (last_pixel && last_kch) kcol_q <= last_kcol ? '0 : kcol_q + {8'd0, pixels_i};
      if (last_pixel && last_kch && last_kcol) krow_q <= last_krow ? '0 : krow_q + 16'd1;
      if (last_tap) och_q <= last_och ? '0 : och_q + SIDE;
      if (last_tap && last_och) busy_q <= 1'b0;
    end
  end
endmodule
