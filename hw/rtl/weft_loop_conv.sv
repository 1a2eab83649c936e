// SPDX-License-Identifier: Apache-2.0
// LOOP_CONV_WS: unrolls a tile of a convolution into mvin, preload, compute and mvout.
//
// Built like loop_matmul: a two-entry command queue, two slots of configuration registers, five
// parts (bias, input, weights, products, stores) that each work on one slot at a time, here each
// with a two-stage command pipeline. Commands that are not part of a convolution loop pass while no
// slot is active. Output priority: stores, products, bias, weights, input. Products wait until all
// loads of their slot were emitted, stores until all products were; while the products of a slot
// wait for loads, the other slot loads nothing.
// A class is held back while as many of its commands are in flight (output to completion in the
// reservation station) as the station has entries.
//
// The accumulator half alternates after every tile with an output address. Program order between
// the slots, which delays nothing in the usual sequences:
//   bias     waits for products and stores of the head in the same accumulator half
//   input, weights  wait for loads and products of the head where the rows of the operands overlap
//                   (revision 2: pinned
//            halves)
//   products wait for stores of the head in the same half
//
// Latency: a command that is not part of a loop takes one cycle. Run command taken in t (registers
// t + 1): loads start in t + 1, the first leaves in t + 4. in_ready_o is registered; out_valid_o
// depends on no input of the same cycle. The registers of a slot are written in one place and muxed
// to the parts, which makes the file long.
`include "weft_assert.svh"

module weft_loop_conv #(
  parameter int ISA_REVISION = 1,
  parameter int DIM = 16,
  parameter int SP_ROWS = 16384,
  parameter int ACC_ROWS = 1024,
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCK_LEN = 4,
  parameter int MAX_BLOCK_LEN_ACC = 1,
  parameter int LOAD_ENTRIES = 8,
  parameter int EXECUTE_ENTRIES = 16,
  parameter int STORE_ENTRIES = 4,
  parameter bit MAX_POOL = 1'b1,
  parameter bit TRAINING_CONV = 1'b1,
  parameter bit DEPTHWISE_CONV = 1'b1,
  parameter bit PIXEL_REPEAT = 1'b1
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [6:0]  in_funct_i,
  input  logic [63:0] in_rs1_i,
  input  logic [63:0] in_rs2_i,
  input  logic [5:0]  in_rd_i,         // whether the command returns a value, and where
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [6:0]  out_funct_o,
  output logic [63:0] out_rs1_o,
  output logic [63:0] out_rs2_o,
  output logic [5:0]  out_rd_o,
  output logic        out_from_conv_o,
  // commands of this unit that completed in this cycle
  input  logic [1:0]  ld_completed_i,
  input  logic [1:0]  ex_completed_i,
  input  logic [1:0]  st_completed_i,
  output logic        busy_o
);
  localparam logic [31:0] ACC_HALF = 32'(ACC_ROWS / 2);
  localparam bit LATER = ISA_REVISION == 2;

  // --- command queue -----------------------------------------------------------------------------
  localparam int CMD_BITS = 7 + 64 + 64 + 6;
  logic cmd_valid, cmd_ready;
  logic [6:0] funct;
  logic [63:0] rs1, rs2;
  logic [5:0] cmd_rd;
  logic [1:0] unused_count;
  weft_fifo #(.WIDTH(CMD_BITS), .DEPTH(2)) u_queue (
    .clk_i, .rst_ni,
    .in_valid_i(in_valid_i), .in_ready_o(in_ready_o),
    .in_data_i({in_funct_i, in_rs1_i, in_rs2_i, in_rd_i}),
    .out_valid_o(cmd_valid), .out_ready_i(cmd_ready), .out_data_o({funct, rs1, rs2, cmd_rd}),
    .count_o(unused_count)
  );

  // --- slots: registers of both in one vector, slot s at {s, zeros} ------------------------------
  logic head_q, tail, target;  // target: the slot that configuration commands write
  logic [1:0] configured_q;
  logic [2*16-1:0] batch_size_q, in_rows_q, in_cols_q, in_channels_q, out_channels_q, out_rows_q,
      out_cols_q, pool_out_rows_q, pool_out_cols_q, in_stride_q, weight_stride_q, out_stride_q,
      stride_q, kernel_q,
      kernel_dilation_q, pool_size_q, pool_stride_q, batches_q, porows_q, pocols_q, pochs_q,
      krows_q, kcols_q, kchs_q,
      orows_q, ocols_q, lpad_q, rpad_q, upad_q, dpad_q, plpad_q, pupad_q;
  logic [2*64-1:0] bias_q, input_q, weights_q, output_q;
  logic [1:0] no_bias_q, wrot180_q, trans_output_1203_q, trans_weight_1203_q, trans_weight_0132_q,
      trans_input_3120_q, depthwise_q, no_pool_q, downsample_q, input_dilated_q;
  logic [2*8-1:0] pixels_q;
  logic [2*2-1:0] activation_q, a_id_q, b_id_q;
  logic [1:0] half_q;          // of the accumulator
  logic next_half_q;
  logic [1:0] bias_started_q, input_started_q, weights_started_q, ex_started_q, st_started_q;
  logic [1:0] bias_done_q, input_done_q, weights_done_q, ex_done_q, st_done_q;

  logic is_run, is_config, write, run, finish;
  logic [7:0] run_pixels;
  assign is_run = funct == weft_isa_pkg::FUNCT_LOOP_CONV_WS;
  assign is_config = funct >= weft_isa_pkg::FUNCT_LOOP_CONV_WS_CONFIG_1 &&
      funct <= weft_isa_pkg::FUNCT_LOOP_CONV_WS_CONFIG_6;
  assign tail = !head_q;
  assign target = configured_q[head_q] ? tail : head_q;
  assign write = cmd_valid && (is_run || is_config) && !configured_q[target];
  assign run = write && is_run;
  assign run_pixels = rs1[weft_isa_pkg::LOOP_CONV_WS_R1_MAX_PIXELS_PER_ROW_LSB+:8];
  assign finish = configured_q[head_q] && bias_done_q[head_q] && input_done_q[head_q] &&
      weights_done_q[head_q] && ex_done_q[head_q] && st_done_q[head_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      batch_size_q <= '0;
      in_rows_q <= '0;
      in_cols_q <= '0;
      in_channels_q <= '0;
      out_channels_q <= '0;
      out_rows_q <= '0;
      out_cols_q <= '0;
      pool_out_rows_q <= '0;
      pool_out_cols_q <= '0;
      in_stride_q <= '0;
      weight_stride_q <= '0;
      out_stride_q <= '0;
      stride_q <= '0;
      kernel_q <= '0;
      kernel_dilation_q <= '0;
      pool_size_q <= '0;
      pool_stride_q <= '0;
      batches_q <= '0;
      porows_q <= '0;
      pocols_q <= '0;
      pochs_q <= '0;
      krows_q <= '0;
      kcols_q <= '0;
      kchs_q <= '0;
      orows_q <= '0;
      ocols_q <= '0;
      lpad_q <= '0;
      rpad_q <= '0;
      upad_q <= '0;
      dpad_q <= '0;
      plpad_q <= '0;
      pupad_q <= '0;
      bias_q <= '0;
      input_q <= '0;
      weights_q <= '0;
      output_q <= '0;
      no_bias_q <= '0;
      wrot180_q <= '0;
      trans_output_1203_q <= '0;
      trans_weight_1203_q <= '0;
      trans_weight_0132_q <= '0;
      trans_input_3120_q <= '0;
      depthwise_q <= '0;
      no_pool_q <= '0;
      downsample_q <= '0;
      input_dilated_q <= '0;
      pixels_q <= '0;
      activation_q <= '0;
      a_id_q <= '0;
      b_id_q <= '0;
      half_q <= '0;
      next_half_q <= 1'b0;
    end else if (write) begin
      unique case (funct)
        weft_isa_pkg::FUNCT_LOOP_CONV_WS_CONFIG_1: begin
          batch_size_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R2_BATCH_SIZE_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_BATCH_SIZE_LSB+:16];
          in_rows_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R2_IN_ROW_DIM_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_IN_DIM_LSB+:16];
          in_channels_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R2_IN_CHANNELS_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_IN_CHANNELS_LSB+:16];
          out_channels_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R2_OUT_CHANNELS_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_OUT_CHANNELS_LSB+:16];
          out_rows_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R2_OUT_ROW_DIM_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_OUT_DIM_LSB+:16];
          out_cols_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R2_OUT_COL_DIM_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_OUT_DIM_LSB+:16];
          pool_out_rows_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R2_POOL_OUT_ROW_DIM_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_POOL_OUT_DIM_LSB+:16];
          stride_q[{target, 4'd0}+:16] <= LATER ?
              16'(rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R2_STRIDE_LSB+:8]) :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_STRIDE_LSB+:16];
          if (!LATER) begin
            // Square images, packed tensors.
            in_cols_q[{target, 4'd0}+:16] <=
                rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_IN_DIM_LSB+:16];
            in_stride_q[{target, 4'd0}+:16] <=
                rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_IN_CHANNELS_LSB+:16];
            out_stride_q[{target, 4'd0}+:16] <=
                rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_OUT_CHANNELS_LSB+:16];
            weight_stride_q[{target, 4'd0}+:16] <=
                rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_OUT_CHANNELS_LSB+:16];
            pool_out_cols_q[{target, 4'd0}+:16] <=
                rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_1_R1_POOL_OUT_DIM_LSB+:16];
          end
        end
        weft_isa_pkg::FUNCT_LOOP_CONV_WS_CONFIG_2: begin
          kernel_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R2_KERNEL_DIM_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R1_KERNEL_DIM_LSB+:16];
          pool_size_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R2_POOL_SIZE_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R1_POOL_SIZE_LSB+:16];
          pool_stride_q[{target, 4'd0}+:16] <= LATER ?
              16'(rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R2_POOL_STRIDE_LSB+:8]) :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R1_POOL_STRIDE_LSB+:16];
          batches_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R2_BATCHES_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R1_BATCHES_LSB+:16];
          porows_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R2_POROWS_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R1_POROWS_LSB+:16];
          pocols_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R2_POCOLS_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R1_POCOLS_LSB+:16];
          pochs_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R2_POCHS_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R1_POCHS_LSB+:16];
          if (LATER)
            pool_out_cols_q[{target, 4'd0}+:16] <=
                rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_2_R2_POOL_OUT_COL_DIM_LSB+:16];
        end
        weft_isa_pkg::FUNCT_LOOP_CONV_WS_CONFIG_3: begin
          krows_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R2_KROWS_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R1_KROWS_LSB+:16];
          kcols_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R2_KCOLS_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R1_KCOLS_LSB+:16];
          kchs_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R2_KCHS_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R1_KCHS_LSB+:16];
          lpad_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R2_LPAD_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R1_LPAD_LSB+:16];
          rpad_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R2_RPAD_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R1_RPAD_LSB+:16];
          upad_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R2_UPAD_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R1_UPAD_LSB+:16];
          dpad_q[{target, 4'd0}+:16] <= LATER ?
              16'(rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R2_DPAD_LSB+:8]) :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R1_DPAD_LSB+:16];
          plpad_q[{target, 4'd0}+:16] <= LATER ?
              16'(rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R2_PLPAD_LSB+:8]) :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R1_PLPAD_LSB+:16];
          if (LATER)
            in_cols_q[{target, 4'd0}+:16] <=
                rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_3_R2_IN_COL_DIM_LSB+:16];
        end
        weft_isa_pkg::FUNCT_LOOP_CONV_WS_CONFIG_4: begin
          orows_q[{target, 4'd0}+:16] <= LATER ?
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R2_OROWS_LSB+:16] :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R1_OROWS_LSB+:16];
          pupad_q[{target, 4'd0}+:16] <= LATER ?
              16'(rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R2_PUPAD_LSB+:11]) :
              rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R1_PUPAD_LSB+:16];
          ocols_q[{target, 4'd0}+:16] <= LATER ?
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R2_OCOLS_LSB+:16] :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R1_OCOLS_LSB+:16];
          kernel_dilation_q[{target, 4'd0}+:16] <= LATER ?
              16'(rs1[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R2_KERNEL_DILATION_LSB+:10]) :
              rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R1_KERNEL_DILATION_LSB+:16];
          if (LATER) begin
            in_stride_q[{target, 4'd0}+:16] <=
                rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R2_IN_STRIDE_LSB+:16];
            weight_stride_q[{target, 4'd0}+:16] <=
                rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R2_WEIGHT_STRIDE_LSB+:16];
            out_stride_q[{target, 4'd0}+:16] <=
                rs2[weft_isa_pkg::LOOP_CONV_WS_CONFIG_4_R2_OUT_STRIDE_LSB+:16];
          end
        end
        weft_isa_pkg::FUNCT_LOOP_CONV_WS_CONFIG_5: begin
          weights_q[{target, 6'd0}+:64] <= rs1;
          output_q[{target, 6'd0}+:64] <= rs2;
        end
        weft_isa_pkg::FUNCT_LOOP_CONV_WS_CONFIG_6: begin
          bias_q[{target, 6'd0}+:64] <= rs1;
          input_q[{target, 6'd0}+:64] <= rs2;
        end
        default: begin  // run
          no_bias_q[target] <= rs1[weft_isa_pkg::LOOP_CONV_WS_R1_NO_BIAS_LSB];
          wrot180_q[target] <= TRAINING_CONV && rs1[weft_isa_pkg::LOOP_CONV_WS_R1_WROT180_LSB];
          trans_output_1203_q[target] <= TRAINING_CONV &&
              rs1[weft_isa_pkg::LOOP_CONV_WS_R1_TRANS_OUTPUT_1203_LSB];
          trans_weight_1203_q[target] <= TRAINING_CONV &&
              rs1[weft_isa_pkg::LOOP_CONV_WS_R1_TRANS_WEIGHT_1203_LSB];
          trans_weight_0132_q[target] <= TRAINING_CONV &&
              rs1[weft_isa_pkg::LOOP_CONV_WS_R1_TRANS_WEIGHT_0132_LSB];
          trans_input_3120_q[target] <= TRAINING_CONV &&
              rs1[weft_isa_pkg::LOOP_CONV_WS_R1_TRANS_INPUT_3120_LSB];
          depthwise_q[target] <= DEPTHWISE_CONV && rs1[weft_isa_pkg::LOOP_CONV_WS_R1_DEPTHWISE_LSB];
          no_pool_q[target] <= !MAX_POOL || rs2[weft_isa_pkg::LOOP_CONV_WS_R1_NO_POOL_LSB];
          downsample_q[target] <= rs2[weft_isa_pkg::LOOP_CONV_WS_R1_DOWNSAMPLE_LSB];
          input_dilated_q[target] <= TRAINING_CONV &&
              rs2[weft_isa_pkg::LOOP_CONV_WS_R1_INPUT_DILATED_LSB];
          pixels_q[{target, 3'd0}+:8] <= run_pixels == 8'd0 || !PIXEL_REPEAT ? 8'd1 : run_pixels;
          activation_q[{target, 1'd0}+:2] <= rs2[weft_isa_pkg::LOOP_CONV_WS_R1_ACTIVATION_LSB+:2];
          a_id_q[{target, 1'd0}+:2] <= LATER ? rs1[weft_isa_pkg::LOOP_CONV_WS_R2_A_SPAD_ID_LSB+:2] :
              2'd0;
          b_id_q[{target, 1'd0}+:2] <= LATER ? rs1[weft_isa_pkg::LOOP_CONV_WS_R2_B_SPAD_ID_LSB+:2] :
              2'd0;
          half_q[target] <= next_half_q;
          if (output_q[{target, 6'd0}+:64] != '0) next_half_q <= !next_half_q;
        end
      endcase
    end
  end

  // --- what follows from the registers, for both slots -------------------------------------------
  logic [2*16-1:0] d_irows, d_icols, d_irows_unpadded, d_icols_unpadded, d_upad, d_dpad, d_lpad,
      d_rpad;
  logic [2*32-1:0] d_plane, d_bias_block, d_input_block, d_weight_block, d_a_row, d_b_row;
  logic [2*32-1:0] a_row_now, a_rows_now, b_row_now, b_rows_now;
  for (genvar s = 0; s < 2; s++) begin : g_slot
    logic [1:0] a_half, b_half;
    assign a_half = a_id_q[s*2+:2] == 2'd0 ? 2'(s) : a_id_q[s*2+:2] - 2'd1;
    assign b_half = b_id_q[s*2+:2] == 2'd0 ? 2'(s) : b_id_q[s*2+:2] - 2'd1;
    weft_loop_conv_derive #(.DIM(DIM), .SP_ROWS(SP_ROWS)) u_derive (
      .clk_i,
      .orows_i(orows_q[s*16+:16]), .ocols_i(ocols_q[s*16+:16]), .stride_i(stride_q[s*16+:16]),
      .krows_i(krows_q[s*16+:16]), .kcols_i(kcols_q[s*16+:16]),
      .kernel_dilation_i(kernel_dilation_q[s*16+:16]),
      .kchs_i(kchs_q[s*16+:16]), .pochs_i(pochs_q[s*16+:16]), .batches_i(batches_q[s*16+:16]),
      .upad_i(upad_q[s*16+:16]), .dpad_i(dpad_q[s*16+:16]), .lpad_i(lpad_q[s*16+:16]),
      .rpad_i(rpad_q[s*16+:16]),
      .input_dilated_i(input_dilated_q[s]), .downsample_i(downsample_q[s]),
      .trans_input_3120_i(trans_input_3120_q[s]), .trans_weight_0132_i(trans_weight_0132_q[s]),
      .a_half_i(a_half),
      .b_half_i(b_half), .irows_o(d_irows[s*16+:16]), .icols_o(d_icols[s*16+:16]),
      .irows_unpadded_o(d_irows_unpadded[s*16+:16]), .icols_unpadded_o(d_icols_unpadded[s*16+:16]),
      .upad_o(d_upad[s*16+:16]), .dpad_o(d_dpad[s*16+:16]), .lpad_o(d_lpad[s*16+:16]),
      .rpad_o(d_rpad[s*16+:16]),
      .plane_o(d_plane[s*32+:32]), .bias_block_o(d_bias_block[s*32+:32]),
      .input_block_o(d_input_block[s*32+:32]),
      .weight_block_o(d_weight_block[s*32+:32]), .a_row_o(d_a_row[s*32+:32]),
      .b_row_o(d_b_row[s*32+:32]),
      .a_row_now_o(a_row_now[s*32+:32]), .a_rows_now_o(a_rows_now[s*32+:32]),
      .b_row_now_o(b_row_now[s*32+:32]), .b_rows_now_o(b_rows_now[s*32+:32])
    );
  end

  // Do the operands that the tail loads touch rows that the head loads or computes with?
  logic operands_overlap;
  if (LATER) begin : g_overlap
    logic [3:0] touches;
    for (genvar n = 0; n < 4; n++) begin : g_pair
      logic [31:0] mine, theirs, my_rows, their_rows;
      assign mine = n < 2 ? a_row_now[{tail, 5'd0}+:32] : b_row_now[{tail, 5'd0}+:32];
      assign my_rows = n < 2 ? a_rows_now[{tail, 5'd0}+:32] : b_rows_now[{tail, 5'd0}+:32];
      assign theirs = n % 2 == 0 ? a_row_now[{head_q, 5'd0}+:32] : b_row_now[{head_q, 5'd0}+:32];
      assign their_rows = n % 2 == 0 ? a_rows_now[{head_q, 5'd0}+:32] :
          b_rows_now[{head_q, 5'd0}+:32];
      assign touches[n] = mine < theirs + their_rows && theirs < mine + my_rows;
    end
    assign operands_overlap = |touches;
  end else begin : g_alternate
    logic unused;
    assign unused = &{1'b0, a_row_now, a_rows_now, b_row_now, b_rows_now};
    assign operands_overlap = 1'b0;
  end

  // --- which slot each part may start ------------------------------------------------------------
  logic bias_ready, input_ready, weights_ready, ex_ready, st_ready;
  logic bias_slot, input_slot, weights_slot, ex_slot, st_slot;  // the slot to start
  logic bias_start, input_start, weights_start, ex_start, st_start;
  logic bias_idle, input_idle, weights_idle, ex_idle, st_idle;
  logic bias_at, input_at, weights_at, ex_at, st_at;  // the slot being worked on
  logic loads_done, same_half, wait_bias, wait_operands, wait_ex;
  assign loads_done = bias_done_q[head_q] && input_done_q[head_q] && weights_done_q[head_q];
  assign same_half = half_q[head_q] == half_q[tail];
  assign wait_bias = same_half && !(ex_done_q[head_q] && st_done_q[head_q]) &&
      bias_q[{tail, 6'd0}+:64] != '0;
  assign wait_operands = operands_overlap && !(loads_done && ex_done_q[head_q]);
  assign wait_ex = same_half && !st_done_q[head_q];

  assign bias_slot = bias_started_q[head_q] ? tail : head_q;
  assign input_slot = input_started_q[head_q] ? tail : head_q;
  assign weights_slot = weights_started_q[head_q] ? tail : head_q;
  assign ex_slot = ex_started_q[head_q] ? tail : head_q;
  assign st_slot = st_started_q[head_q] ? tail : head_q;
  assign bias_start = configured_q[bias_slot] && !bias_started_q[bias_slot] &&
      (bias_slot == head_q || !wait_bias);
  assign input_start = configured_q[input_slot] && !input_started_q[input_slot] &&
      (input_slot == head_q || !wait_operands);
  assign weights_start = configured_q[weights_slot] && !weights_started_q[weights_slot] &&
      (weights_slot == head_q || !wait_operands);
  assign ex_start = configured_q[ex_slot] && !ex_started_q[ex_slot] && bias_started_q[ex_slot] &&
      input_started_q[ex_slot] && weights_started_q[ex_slot] && (ex_slot == head_q || !wait_ex);
  assign st_start = configured_q[st_slot] && !st_started_q[st_slot] && ex_started_q[st_slot];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q <= 1'b0;
      configured_q <= '0;
      bias_started_q <= '0;
      input_started_q <= '0;
      weights_started_q <= '0;
      ex_started_q <= '0;
      st_started_q <= '0;
      bias_done_q <= '0;
      input_done_q <= '0;
      weights_done_q <= '0;
      ex_done_q <= '0;
      st_done_q <= '0;
    end else begin
      if (bias_start && bias_ready) bias_started_q[bias_slot] <= 1'b1;
      if (input_start && input_ready) input_started_q[input_slot] <= 1'b1;
      if (weights_start && weights_ready) weights_started_q[weights_slot] <= 1'b1;
      if (ex_start && ex_ready) ex_started_q[ex_slot] <= 1'b1;
      if (st_start && st_ready) st_started_q[st_slot] <= 1'b1;
      if (bias_idle && bias_started_q[bias_at]) bias_done_q[bias_at] <= 1'b1;
      if (input_idle && input_started_q[input_at]) input_done_q[input_at] <= 1'b1;
      if (weights_idle && weights_started_q[weights_at]) weights_done_q[weights_at] <= 1'b1;
      if (ex_idle && ex_started_q[ex_at]) ex_done_q[ex_at] <= 1'b1;
      if (st_idle && st_started_q[st_at]) st_done_q[st_at] <= 1'b1;
      if (run) configured_q[target] <= 1'b1;
      if (finish) begin
        head_q <= tail;
        configured_q[head_q] <= 1'b0;
        bias_started_q[head_q] <= 1'b0;
        input_started_q[head_q] <= 1'b0;
        weights_started_q[head_q] <= 1'b0;
        ex_started_q[head_q] <= 1'b0;
        st_started_q[head_q] <= 1'b0;
        bias_done_q[head_q] <= 1'b0;
        input_done_q[head_q] <= 1'b0;
        weights_done_q[head_q] <= 1'b0;
        ex_done_q[head_q] <= 1'b0;
        st_done_q[head_q] <= 1'b0;
      end
    end
  end

  // --- the parts ---------------------------------------------------------------------------------
  logic ld_blocked, ex_blocked, st_blocked, ex_waits, ex_loads_done, st_products_done;
  logic bias_valid, input_valid, weights_valid, ex_valid, st_valid;
  logic bias_take, input_take, weights_take, ex_take, st_take;
  logic [6:0] bias_funct, input_funct, weights_funct, ex_funct, st_funct;
  logic [63:0] bias_rs1, bias_rs2, input_rs1, input_rs2, weights_rs1, weights_rs2, ex_rs1, ex_rs2,
      st_rs1, st_rs2;
  assign ex_waits = ex_started_q[ex_at] && !ex_done_q[ex_at] &&
      !(bias_done_q[ex_at] && input_done_q[ex_at] && weights_done_q[ex_at]);
  assign ex_loads_done = (bias_at != ex_at || bias_idle) && (input_at != ex_at || input_idle) &&
      (weights_at != ex_at || weights_idle);
  // A dilated tile may have no products at all: its stores follow its loads.
  assign st_products_done = (ex_at != st_at || ex_idle) && (bias_at != st_at || bias_idle) &&
      (input_at != st_at || input_idle) && (weights_at != st_at || weights_idle);

  weft_loop_conv_bias #(.DIM(DIM), .ROW_BITS(ROW_BITS),
      .MAX_BLOCK_LEN_ACC(MAX_BLOCK_LEN_ACC)) u_load_bias (
    .clk_i, .rst_ni, .start_valid_i(bias_start), .start_ready_o(bias_ready),
    .start_slot_i(bias_slot),
    .bias_i(bias_q[{bias_at, 6'd0}+:64]), .no_bias_i(no_bias_q[bias_at]),
    .batches_i(batches_q[{bias_at, 4'd0}+:16]),
    .orows_i(orows_q[{bias_at, 4'd0}+:16]), .ocols_i(ocols_q[{bias_at, 4'd0}+:16]),
    .pochs_i(pochs_q[{bias_at, 4'd0}+:16]), .bias_block_i(d_bias_block[{bias_at, 5'd0}+:32]),
    .c_row_i(half_q[bias_at] ? ACC_HALF : '0), .wait_i(ex_waits && bias_at != ex_at),
    .blocked_i(ld_blocked),
    .cmd_valid_o(bias_valid), .cmd_ready_i(bias_take), .cmd_funct_o(bias_funct),
    .cmd_rs1_o(bias_rs1),
    .cmd_rs2_o(bias_rs2), .idle_o(bias_idle), .slot_o(bias_at)
  );

  weft_loop_conv_input #(.DIM(DIM), .ROW_BITS(ROW_BITS),
      .MAX_BLOCK_LEN(MAX_BLOCK_LEN)) u_load_input (
    .clk_i, .rst_ni, .start_valid_i(input_start), .start_ready_o(input_ready),
    .start_slot_i(input_slot),
    .input_i(input_q[{input_at, 6'd0}+:64]), .skip_empty_i(LATER),
    .downsample_i(downsample_q[input_at]),
    .trans_input_3120_i(trans_input_3120_q[input_at]), .pixels_i(pixels_q[{input_at, 3'd0}+:8]),
    .batch_size_i(batch_size_q[{input_at, 4'd0}+:16]), .in_rows_i(in_rows_q[{input_at, 4'd0}+:16]),
    .in_cols_i(in_cols_q[{input_at, 4'd0}+:16]), .in_stride_i(in_stride_q[{input_at, 4'd0}+:16]),
    .batches_i(batches_q[{input_at, 4'd0}+:16]), .kchs_i(kchs_q[{input_at, 4'd0}+:16]),
    .icols_i(d_icols[{input_at, 4'd0}+:16]),
    .irows_unpadded_i(d_irows_unpadded[{input_at, 4'd0}+:16]),
    .icols_unpadded_i(d_icols_unpadded[{input_at, 4'd0}+:16]),
    .upad_i(d_upad[{input_at, 4'd0}+:16]),
    .dpad_i(d_dpad[{input_at, 4'd0}+:16]), .lpad_i(d_lpad[{input_at, 4'd0}+:16]),
    .rpad_i(d_rpad[{input_at, 4'd0}+:16]), .plane_i(d_plane[{input_at, 5'd0}+:32]),
    .input_block_i(d_input_block[{input_at, 5'd0}+:32]), .a_row_i(d_a_row[{input_at, 5'd0}+:32]),
    .wait_i(ex_waits && input_at != ex_at), .blocked_i(ld_blocked), .cmd_valid_o(input_valid),
    .cmd_ready_i(input_take), .cmd_funct_o(input_funct), .cmd_rs1_o(input_rs1),
    .cmd_rs2_o(input_rs2),
    .idle_o(input_idle), .slot_o(input_at)
  );

  weft_loop_conv_weights #(.DIM(DIM), .ROW_BITS(ROW_BITS),
      .MAX_BLOCK_LEN(MAX_BLOCK_LEN)) u_load_weights (
    .clk_i, .rst_ni, .start_valid_i(weights_start), .start_ready_o(weights_ready),
    .start_slot_i(weights_slot),
    .weights_i(weights_q[{weights_at, 6'd0}+:64]), .skip_empty_i(LATER),
    .depthwise_i(depthwise_q[weights_at]),
    .trans_weight_1203_i(trans_weight_1203_q[weights_at]),
    .trans_weight_0132_i(trans_weight_0132_q[weights_at]),
    .kernel_i(kernel_q[{weights_at, 4'd0}+:16]),
    .in_channels_i(in_channels_q[{weights_at, 4'd0}+:16]),
    .out_channels_i(out_channels_q[{weights_at, 4'd0}+:16]),
    .weight_stride_i(weight_stride_q[{weights_at, 4'd0}+:16]),
    .krows_i(krows_q[{weights_at, 4'd0}+:16]),
    .kcols_i(kcols_q[{weights_at, 4'd0}+:16]), .kchs_i(kchs_q[{weights_at, 4'd0}+:16]),
    .pochs_i(pochs_q[{weights_at, 4'd0}+:16]),
    .weight_block_i(d_weight_block[{weights_at, 5'd0}+:32]),
    .b_row_i(d_b_row[{weights_at, 5'd0}+:32]), .wait_i(ex_waits && weights_at != ex_at),
    .blocked_i(ld_blocked),
    .cmd_valid_o(weights_valid), .cmd_ready_i(weights_take), .cmd_funct_o(weights_funct),
    .cmd_rs1_o(weights_rs1),
    .cmd_rs2_o(weights_rs2), .idle_o(weights_idle), .slot_o(weights_at)
  );

  weft_loop_conv_execute #(.DIM(DIM), .ROW_BITS(ROW_BITS)) u_execute (
    .clk_i, .rst_ni, .start_valid_i(ex_start), .start_ready_o(ex_ready), .start_slot_i(ex_slot),
    .start_strides_i(trans_input_3120_q[ex_slot]), .wrot180_i(wrot180_q[ex_at]),
    .downsample_i(downsample_q[ex_at]),
    .input_dilated_i(input_dilated_q[ex_at]), .trans_input_3120_i(trans_input_3120_q[ex_at]),
    .trans_weight_0132_i(trans_weight_0132_q[ex_at]), .pixels_i(pixels_q[{ex_at, 3'd0}+:8]),
    .stride_i(stride_q[{ex_at, 4'd0}+:16]),
    .kernel_dilation_i(kernel_dilation_q[{ex_at, 4'd0}+:16]),
    .batches_i(batches_q[{ex_at, 4'd0}+:16]), .pochs_i(pochs_q[{ex_at, 4'd0}+:16]),
    .krows_i(krows_q[{ex_at, 4'd0}+:16]), .kcols_i(kcols_q[{ex_at, 4'd0}+:16]),
    .kchs_i(kchs_q[{ex_at, 4'd0}+:16]),
    .orows_i(orows_q[{ex_at, 4'd0}+:16]), .ocols_i(ocols_q[{ex_at, 4'd0}+:16]),
    .upad_odd_i(upad_q[{ex_at, 4'd0}]),
    .lpad_odd_i(lpad_q[{ex_at, 4'd0}]), .irows_i(d_irows[{ex_at, 4'd0}+:16]),
    .icols_i(d_icols[{ex_at, 4'd0}+:16]),
    .plane_i(d_plane[{ex_at, 5'd0}+:32]), .bias_block_i(d_bias_block[{ex_at, 5'd0}+:32]),
    .input_block_i(d_input_block[{ex_at, 5'd0}+:32]),
    .weight_block_i(d_weight_block[{ex_at, 5'd0}+:32]),
    .a_row_i(d_a_row[{ex_at, 5'd0}+:32]), .b_row_i(d_b_row[{ex_at, 5'd0}+:32]),
    .c_row_i(half_q[ex_at] ? ACC_HALF : '0), .loads_done_i(ex_loads_done), .blocked_i(ex_blocked),
    .cmd_valid_o(ex_valid), .cmd_ready_i(ex_take), .cmd_funct_o(ex_funct), .cmd_rs1_o(ex_rs1),
    .cmd_rs2_o(ex_rs2),
    .idle_o(ex_idle), .slot_o(ex_at)
  );

  weft_loop_conv_store #(.DIM(DIM), .ROW_BITS(ROW_BITS)) u_store (
    .clk_i, .rst_ni, .start_valid_i(st_start), .start_ready_o(st_ready), .start_slot_i(st_slot),
    .output_i(output_q[{st_at, 6'd0}+:64]), .no_pool_i(no_pool_q[st_at]),
    .activation_i(activation_q[{st_at, 1'd0}+:2]), .trans_output_1203_i(trans_output_1203_q[st_at]),
    .batch_size_i(batch_size_q[{st_at, 4'd0}+:16]),
    .out_channels_i(out_channels_q[{st_at, 4'd0}+:16]),
    .out_rows_i(out_rows_q[{st_at, 4'd0}+:16]), .out_cols_i(out_cols_q[{st_at, 4'd0}+:16]),
    .out_stride_i(out_stride_q[{st_at, 4'd0}+:16]),
    .pool_out_rows_i(pool_out_rows_q[{st_at, 4'd0}+:16]),
    .pool_out_cols_i(pool_out_cols_q[{st_at, 4'd0}+:16]), .batches_i(batches_q[{st_at, 4'd0}+:16]),
    .orows_i(orows_q[{st_at, 4'd0}+:16]), .ocols_i(ocols_q[{st_at, 4'd0}+:16]),
    .pochs_i(pochs_q[{st_at, 4'd0}+:16]),
    .bias_block_i(d_bias_block[{st_at, 5'd0}+:32]), .c_row_i(half_q[st_at] ? ACC_HALF : '0),
    .pool_stride_i(pool_stride_q[{st_at, 4'd0}+:2]), .pool_size_i(pool_size_q[{st_at, 4'd0}+:2]),
    .pupad_i(pupad_q[{st_at, 4'd0}+:2]), .plpad_i(plpad_q[{st_at, 4'd0}+:2]),
    .porows_i(porows_q[{st_at, 4'd0}+:8]),
    .pocols_i(pocols_q[{st_at, 4'd0}+:8]), .products_done_i(st_products_done),
    .blocked_i(st_blocked),
    .cmd_valid_o(st_valid), .cmd_ready_i(st_take), .cmd_funct_o(st_funct), .cmd_rs1_o(st_rs1),
    .cmd_rs2_o(st_rs2),
    .idle_o(st_idle), .slot_o(st_at)
  );

  // --- arbitration and output --------------------------------------------------------------------
  logic active, ld_take;
  assign active = |configured_q;
  assign st_take = out_ready_i && st_valid;
  assign ex_take = out_ready_i && ex_valid && !st_valid;
  assign bias_take = out_ready_i && bias_valid && !ex_valid && !st_valid;
  assign weights_take = out_ready_i && weights_valid && !bias_valid && !ex_valid && !st_valid;
  assign input_take = out_ready_i && input_valid && !weights_valid && !bias_valid && !ex_valid &&
      !st_valid;
  assign ld_take = bias_take || weights_take || input_take;

  assign cmd_ready = is_run || is_config ? !configured_q[target] : !active && out_ready_i;
  assign busy_o = cmd_valid || active;
  assign out_from_conv_o = active;
  assign out_rd_o = active ? '0 : cmd_rd;
  always_comb begin
    out_valid_o = 1'b1;
    out_funct_o = funct;
    out_rs1_o = rs1;
    out_rs2_o = rs2;
    if (!active) begin
      out_valid_o = cmd_valid && !is_run && !is_config;
    end else if (st_valid) begin
      out_funct_o = st_funct;
      out_rs1_o = st_rs1;
      out_rs2_o = st_rs2;
    end else if (ex_valid) begin
      out_funct_o = ex_funct;
      out_rs1_o = ex_rs1;
      out_rs2_o = ex_rs2;
    end else if (bias_valid) begin
      out_funct_o = bias_funct;
      out_rs1_o = bias_rs1;
      out_rs2_o = bias_rs2;
    end else if (weights_valid) begin
      out_funct_o = weights_funct;
      out_rs1_o = weights_rs1;
      out_rs2_o = weights_rs2;
    end else begin
      out_valid_o = input_valid;
      out_funct_o = input_funct;
      out_rs1_o = input_rs1;
      out_rs2_o = input_rs2;
    end
  end

  // --- commands in flight ------------------------------------------------------------------------
  weft_in_flight #(.MAX(LOAD_ENTRIES)) u_ld_in_flight (
    .clk_i, .rst_ni, .take_i(ld_take), .completed_i(ld_completed_i), .full_o(ld_blocked)
  );
  weft_in_flight #(.MAX(EXECUTE_ENTRIES)) u_ex_in_flight (
    .clk_i, .rst_ni, .take_i(ex_take), .completed_i(ex_completed_i), .full_o(ex_blocked)
  );
  weft_in_flight #(.MAX(STORE_ENTRIES)) u_st_in_flight (
    .clk_i, .rst_ni, .take_i(st_take), .completed_i(st_completed_i), .full_o(st_blocked)
  );

  `WEFT_ASSERT(TailHasAHead, !configured_q[tail] || configured_q[head_q])
endmodule
