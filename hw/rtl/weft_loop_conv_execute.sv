// SPDX-License-Identifier: Apache-2.0
// The products of a convolution tile: for each (och, krow, kcol, kch, b, orow, ocol), ocol
// innermost, a preload and a compute. The first position of a weight block loads the weights, the
// others keep them (preload of the garbage address, compute_accumulated). C always accumulates.
// trans_input_3120 first sets the strides of A and C (config_ex) and walks the batches in blocks of
// DIM, one pixel at a time.
// Positions between the pixels of a dilated input contribute nothing: each is passed over in two
// cycles.
// Nothing is emitted before all loads of the tile were (loads_done_i).
// Latency: start in t, the first command leaves the two-stage command pipeline in t + 3, then one
// per cycle. The tile's registers (every input but start_*) must be those of slot_o and stay stable
// until idle_o; start_strides_i belongs to the tile that starts.
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

  // The position, columns innermost.
  logic start, busy, unused_first, take, config_q, compute_q, fresh_q;
  logic [15:0] och_at, krow_at, kcol_at, kch_at, b_at, orow_at, ocol_at;
  logic [6:0] last;

  // Sizes. A run of output columns covers every second one of a dilated input.
  logic [15:0] och_left, kcol_left, kch_left, b_left, ocol_left, columns, run, pixels, cols, rows,
      kch, depth;
  assign och_left = pochs_i - och_at;
  assign kcol_left = kcols_i - kcol_at;
  assign kch_left = kchs_i - kch_at;
  assign b_left = batches_i - b_at;
  assign ocol_left = ocols_i - ocol_at;
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
  assign irow_zeros = orow_at * stride_i + krow_at * kernel_dilation_i;
  assign icol_zeros = ocol_at * stride_i + kcol_at * kernel_dilation_i;
  assign irow = input_dilated_i ? (irow_zeros + 16'd1) >> 1 : irow_zeros;
  assign icol = input_dilated_i ? (icol_zeros + 16'd1) >> 1 : icol_zeros;
  assign irow_sampled = downsample_i ? irow >> 1 : irow;
  assign icol_sampled = downsample_i ? icol >> 1 : icol;
  assign icols_sampled = downsample_i ? icols_i >> 1 : icols_i;
  assign implied_zero = input_dilated_i && !config_q &&
      (((krow_at[0] & kernel_dilation_i[0]) ^ orow_at[0] ^ upad_odd_i) ||
       ((kcol_at[0] & kernel_dilation_i[0]) ^ ocol_at[0] ^ lpad_odd_i));

  // Local rows.
  logic [15:0] a_wide, a_deep, b_wide, b_deep, b_depth, a_block, b_block, c_block, krow, kcol;
  logic [31:0] b_spot, c_line;
  assign a_wide = trans_input_3120_i ? b_at : kch_at;
  assign a_deep = trans_input_3120_i ? kch_at : b_at;
  assign b_wide = trans_weight_0132_i ? kch_at : och_at;
  assign b_deep = trans_weight_0132_i ? och_at : kch_at;
  assign b_depth = trans_weight_0132_i ? pochs_i : kchs_i;
  assign a_block = a_wide >> DIM_LOG2;
  assign b_block = b_wide >> DIM_LOG2;
  assign c_block = och_at >> DIM_LOG2;
  assign krow = wrot180_i ? krows_i - krow_at - 16'd1 : krow_at;
  assign kcol = wrot180_i ? kcols_i - kcol_at - 16'd1 : kcol_at;
  assign b_spot = 32'(krow) * 32'(kcols_i) + 32'(kcol);
  assign c_line = 32'(b_at) * 32'(orows_i) + 32'(orow_at);

  // What the first stage holds, and the local rows that it comes to.
  localparam int EARLY = 3 + 11 * 16 + 2 * 32;
  logic config_e, compute_e, fresh_e;
  logic [15:0] rows_e, cols_e, depth_e, a_block_e, a_deep_e, irow_e, icol_e, b_block_e, b_deep_e,
      c_block_e, ocol_e;
  logic [31:0] b_spot_e, c_line_e, a_place, b_place, c_place;
  assign a_place = (a_row_i + 32'(a_block_e) * input_block_i + 32'(a_deep_e) * plane_i +
      32'(irow_e) * 32'(icols_sampled) + 32'(icol_e)) & ROWS;
  assign b_place = (b_row_i + 32'(b_block_e) * weight_block_i + b_spot_e * 32'(b_depth) +
      32'(b_deep_e)) & ROWS;
  assign c_place = (c_row_i + 32'(c_block_e) * bias_block_i + c_line_e * 32'(ocols_i) +
      32'(ocol_e)) & ROWS;

  logic [15:0] a_stride, c_stride;
  assign a_stride = irows_i * icols_i;
  assign c_stride = orows_i * ocols_i;

  logic [6:0] funct;
  logic [63:0] rs1, rs2;
  always_comb begin
    rs1 = '0;
    rs2 = '0;
    if (config_e) begin
      funct = weft_isa_pkg::FUNCT_CONFIG_EX;
      rs1[weft_isa_pkg::CONFIG_EX_STRIDES_ONLY_LSB] = 1'b1;
      rs1[weft_isa_pkg::CONFIG_EX_A_STRIDE_LSB+:16] = a_stride;
      rs2[weft_isa_pkg::CONFIG_EX_C_STRIDE_LSB+:16] = c_stride;
    end else if (!compute_e) begin
      funct = weft_isa_pkg::FUNCT_PRELOAD;
      rs1 = {depth_e, cols_e, fresh_e ? b_place : weft_isa_pkg::LOCAL_GARBAGE};
      rs2 = {rows_e, cols_e, weft_isa_pkg::LOCAL_ACCUMULATOR_MASK |
             weft_isa_pkg::LOCAL_ACCUMULATE_MASK | c_place};
    end else begin
      funct = fresh_e ? weft_isa_pkg::FUNCT_COMPUTE_PRELOADED :
          weft_isa_pkg::FUNCT_COMPUTE_ACCUMULATED;
      rs1 = {rows_e, depth_e, a_place};
      rs2 = {rows_e, cols_e, weft_isa_pkg::LOCAL_GARBAGE};
    end
  end
  weft_loop_conv_part #(.EARLY(EARLY)) u_part (
    .clk_i, .rst_ni,
    .start_valid_i, .start_ready_o, .start_slot_i, .start_o(start), .busy_o(busy),
    .first_o(unused_first),
    .finish_i(step && compute_q && (&last)), .emit_i(!implied_zero && loads_done_i), .take_o(take),
    .early_i({config_q, compute_q, fresh_q, rows, cols, depth, a_block, a_deep, irow_sampled,
              icol_sampled, b_block, b_deep, c_block, ocol_at, b_spot, c_line}),
    .early_o({config_e, compute_e, fresh_e, rows_e, cols_e, depth_e, a_block_e, a_deep_e, irow_e,
              icol_e, b_block_e, b_deep_e, c_block_e, ocol_e, b_spot_e, c_line_e}),
    .funct_i(funct), .rs1_i(rs1), .rs2_i(rs2),
    .blocked_i, .cmd_valid_o, .cmd_ready_i, .cmd_funct_o, .cmd_rs1_o, .cmd_rs2_o, .idle_o, .slot_o
  );

  logic [15:0] b_step, ocol_step;
  logic last_pixel, step;  // step: on to the compute or the next position
  assign b_step = trans_input_3120_i ? SIDE : 16'd1;
  assign ocol_step = implied_zero || trans_input_3120_i ? 16'd1 : columns;
  assign last_pixel = &last[2:0];
  assign step = busy && (implied_zero || take);
  weft_nest #(.LOOPS(7)) u_nest (
    .clk_i, .rst_ni, .step_i(step && compute_q),
    .end_i({pochs_i, krows_i, kcols_i, kchs_i, batches_i, orows_i, ocols_i}),
    .by_i({SIDE, 16'd1, 16'(pixels_i), SIDE, b_step, 16'd1, ocol_step}),
    .at_o({och_at, krow_at, kcol_at, kch_at, b_at, orow_at, ocol_at}), .last_o(last)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      config_q <= 1'b0;
      compute_q <= 1'b0;
      fresh_q <= 1'b0;
    end else if (start) begin
      config_q <= start_strides_i;
      compute_q <= 1'b0;
      fresh_q <= 1'b1;
    end else if (step && config_q) begin
      config_q <= 1'b0;
    end else if (step) begin
      compute_q <= !compute_q;
      if (compute_q && last_pixel) fresh_q <= 1'b1;
      else if (compute_q && !implied_zero) fresh_q <= 1'b0;
    end
  end
endmodule
