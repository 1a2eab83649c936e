// SPDX-License-Identifier: Apache-2.0
// What follows from the registers of a convolution tile; combinational.
//
//   input rows  = orows * stride + dilated krows - 1, the same for columns; a dilated input counts
//               every second one
//   blocks      = local rows of a block of DIM channels of output, input and weights
//   places      = first local rows: input from half a_half up, weights up to the end of half b_half
// All numbers are non-negative for tiles that have more rows and columns than padding.
module weft_loop_conv_derive #(
  parameter int DIM = 16,
  parameter int SP_ROWS = 16384
) (
  input  logic [15:0] orows_i,
  input  logic [15:0] ocols_i,
  input  logic [15:0] stride_i,
  input  logic [15:0] krows_i,
  input  logic [15:0] kcols_i,
  input  logic [15:0] kernel_dilation_i,
  input  logic [15:0] kchs_i,
  input  logic [15:0] pochs_i,
  input  logic [15:0] batches_i,
  input  logic [15:0] upad_i,
  input  logic [15:0] dpad_i,
  input  logic [15:0] lpad_i,
  input  logic [15:0] rpad_i,
  input  logic        input_dilated_i,
  input  logic        downsample_i,
  input  logic        trans_input_3120_i,
  input  logic        trans_weight_0132_i,
  input  logic [1:0]  a_half_i,               // 0 or 1
  input  logic [1:0]  b_half_i,
  output logic [15:0] irows_o,                // with padding
  output logic [15:0] icols_o,
  output logic [15:0] irows_unpadded_o,
  output logic [15:0] icols_unpadded_o,
  output logic [15:0] upad_o,                 // of the input as it is stored
  output logic [15:0] dpad_o,
  output logic [15:0] lpad_o,
  output logic [15:0] rpad_o,
  output logic [31:0] plane_o,                // local rows of one image, one block of channels
  output logic [31:0] bias_block_o,
  output logic [31:0] input_block_o,
  output logic [31:0] weight_block_o,
  output logic [31:0] a_row_o,
  output logic [31:0] a_rows_o,
  output logic [31:0] b_row_o,
  output logic [31:0] b_rows_o
);
  localparam int DIM_LOG2 = $clog2(DIM);

  logic [15:0] dilated_krows, dilated_kcols;
  logic [31:0] rows_without, cols_without, rows_unpadded, cols_unpadded;
  assign dilated_krows = krows_i + (kernel_dilation_i - 16'd1) * (krows_i - 16'd1);
  assign dilated_kcols = kcols_i + (kernel_dilation_i - 16'd1) * (kcols_i - 16'd1);
  assign rows_without = 32'(orows_i) * 32'(stride_i) + 32'(dilated_krows) - 32'd1;
  assign cols_without = 32'(ocols_i) * 32'(stride_i) + 32'(dilated_kcols) - 32'd1;
  assign rows_unpadded = rows_without - 32'(upad_i) - 32'(dpad_i);
  assign cols_unpadded = cols_without - 32'(lpad_i) - 32'(rpad_i);

  // Every second row of a dilated input is an implied zero: half of them, rounded up, are stored.
  logic [31:0] rows_stored, cols_stored;
  assign rows_stored = input_dilated_i ? (rows_unpadded + 32'd1) >> 1 : rows_unpadded;
  assign cols_stored = input_dilated_i ? (cols_unpadded + 32'd1) >> 1 : cols_unpadded;
  assign upad_o = input_dilated_i ? (upad_i + 16'd1) >> 1 : upad_i;
  assign dpad_o = input_dilated_i ? (dpad_i + 16'd1) >> 1 : dpad_i;
  assign lpad_o = input_dilated_i ? (lpad_i + 16'd1) >> 1 : lpad_i;
  assign rpad_o = input_dilated_i ? (rpad_i + 16'd1) >> 1 : rpad_i;
  assign irows_unpadded_o = rows_stored[15:0];
  assign icols_unpadded_o = cols_stored[15:0];
  assign irows_o = input_dilated_i ? irows_unpadded_o + upad_o + dpad_o : rows_without[15:0];
  assign icols_o = input_dilated_i ? icols_unpadded_o + lpad_o + rpad_o : cols_without[15:0];

  logic [15:0] rows_sampled, cols_sampled;
  assign rows_sampled = downsample_i ? irows_o >> 1 : irows_o;
  assign cols_sampled = downsample_i ? icols_o >> 1 : icols_o;
  assign plane_o = 32'(rows_sampled) * 32'(cols_sampled);
  assign bias_block_o = 32'(batches_i) * 32'(orows_i) * 32'(ocols_i);

  // The operand of each kind is `wide` channels in blocks and `deep` rows or images of each.
  logic [15:0] a_wide, a_deep, b_wide, b_deep;
  logic [31:0] a_blocks, b_blocks;
  assign a_wide = trans_input_3120_i ? batches_i : kchs_i;
  assign a_deep = trans_input_3120_i ? kchs_i : batches_i;
  assign b_wide = trans_weight_0132_i ? kchs_i : pochs_i;
  assign b_deep = trans_weight_0132_i ? pochs_i : kchs_i;
  assign input_block_o = 32'(a_deep) * plane_o;
  assign weight_block_o = 32'(krows_i) * 32'(kcols_i) * 32'(b_deep);
  assign a_blocks = (32'(a_wide) + 32'(DIM - 1)) >> DIM_LOG2;
  assign b_blocks = (32'(b_wide) + 32'(DIM - 1)) >> DIM_LOG2;
  assign a_row_o = 32'(a_half_i) * 32'(SP_ROWS / 2);
  assign a_rows_o = a_blocks * input_block_o;
  assign b_rows_o = b_blocks * weight_block_o;
  assign b_row_o = (32'(b_half_i) + 32'd1) * 32'(SP_ROWS / 2) - b_rows_o;

  logic unused;
  assign unused = &{1'b0, rows_stored[31:16], cols_stored[31:16]};
endmodule
