// SPDX-License-Identifier: Apache-2.0
// What follows from the registers of a convolution tile.
//
//   input rows  = orows * stride + dilated krows - 1, the same for columns; a dilated input counts
//               every second one
//   blocks      = local rows of a block of DIM channels of output, input and weights
//   places      = first local rows: input from half a_half up, weights up to the end of half b_half
// All numbers are non-negative for tiles that have more rows and columns than padding.
// Latency: products of what configuration commands set are registered, which is soon enough, since
// the run command comes after them. What parts work with is registered once more: they start when
// the run command's registers are there, and need it in the next cycle; only their second stage
// needs input_block_o, a cycle later. Places and lengths of the operands (*_now_o) depend on the
// run command's registers in the same cycle.
module weft_loop_conv_derive #(
  parameter int DIM = 16,
  parameter int SP_ROWS = 16384
) (
  input  logic        clk_i,
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
  output logic [31:0] b_row_o,
  output logic [31:0] a_row_now_o,
  output logic [31:0] a_rows_now_o,
  output logic [31:0] b_row_now_o,
  output logic [31:0] b_rows_now_o
);
  localparam int DIM_LOG2 = $clog2(DIM);

  // Of configuration commands alone.
  logic [15:0] dilated_krows, dilated_kcols;
  logic [31:0] rows_q, cols_q, taps_q, pixels_q, kch_blocks_q, image_blocks_q, och_deep_q,
      kch_deep_q;
  logic [15:0] kch_blocks, image_blocks, och_blocks;
  assign dilated_krows = krows_i + (kernel_dilation_i - 16'd1) * (krows_i - 16'd1);
  assign dilated_kcols = kcols_i + (kernel_dilation_i - 16'd1) * (kcols_i - 16'd1);
  assign kch_blocks = 16'((17'(kchs_i) + 17'(DIM - 1)) >> DIM_LOG2);
  assign image_blocks = 16'((17'(batches_i) + 17'(DIM - 1)) >> DIM_LOG2);
  assign och_blocks = 16'((17'(pochs_i) + 17'(DIM - 1)) >> DIM_LOG2);
  always_ff @(posedge clk_i) begin
    rows_q <= 32'(orows_i) * 32'(stride_i) + 32'(dilated_krows) - 32'd1;
    cols_q <= 32'(ocols_i) * 32'(stride_i) + 32'(dilated_kcols) - 32'd1;
    taps_q <= 32'(krows_i) * 32'(kcols_i);
    pixels_q <= 32'(orows_i) * 32'(ocols_i);
    // Blocks of the channels of an operand times rows or images of each.
    kch_blocks_q <= 32'(kch_blocks) * 32'(batches_i);
    image_blocks_q <= 32'(image_blocks) * 32'(kchs_i);
    och_deep_q <= 32'(och_blocks) * 32'(kchs_i);
    kch_deep_q <= 32'(kch_blocks) * 32'(pochs_i);
  end

  // Every second row of a dilated input is an implied zero: half of them, rounded up, are stored.
  logic [31:0] rows_unpadded, cols_unpadded, rows_stored, cols_stored;
  logic [15:0] upad, dpad, lpad, rpad, irows, icols;
  assign rows_unpadded = rows_q - 32'(upad_i) - 32'(dpad_i);
  assign cols_unpadded = cols_q - 32'(lpad_i) - 32'(rpad_i);
  assign rows_stored = input_dilated_i ? (rows_unpadded + 32'd1) >> 1 : rows_unpadded;
  assign cols_stored = input_dilated_i ? (cols_unpadded + 32'd1) >> 1 : cols_unpadded;
  assign upad = input_dilated_i ? (upad_i + 16'd1) >> 1 : upad_i;
  assign dpad = input_dilated_i ? (dpad_i + 16'd1) >> 1 : dpad_i;
  assign lpad = input_dilated_i ? (lpad_i + 16'd1) >> 1 : lpad_i;
  assign rpad = input_dilated_i ? (rpad_i + 16'd1) >> 1 : rpad_i;
  assign irows = input_dilated_i ? rows_stored[15:0] + upad + dpad : rows_q[15:0];
  assign icols = input_dilated_i ? cols_stored[15:0] + lpad + rpad : cols_q[15:0];

  // The operand of each kind is `wide` channels in blocks and `deep` rows or images of each.
  logic [15:0] rows_sampled, cols_sampled, a_deep, b_deep;
  logic [31:0] plane, a_row, b_row, b_rows;
  assign rows_sampled = downsample_i ? irows >> 1 : irows;
  assign cols_sampled = downsample_i ? icols >> 1 : icols;
  assign plane = 32'(rows_sampled) * 32'(cols_sampled);
  assign a_deep = trans_input_3120_i ? kchs_i : batches_i;
  assign b_deep = trans_weight_0132_i ? pochs_i : kchs_i;
  assign a_row = 32'(a_half_i) * 32'(SP_ROWS / 2);
  assign b_rows = (trans_weight_0132_i ? kch_deep_q : och_deep_q) * taps_q;
  assign b_row = (32'(b_half_i) + 32'd1) * 32'(SP_ROWS / 2) - b_rows;
  assign a_row_now_o = a_row;
  assign a_rows_now_o = (trans_input_3120_i ? image_blocks_q : kch_blocks_q) * plane;
  assign b_row_now_o = b_row;
  assign b_rows_now_o = b_rows;

  always_ff @(posedge clk_i) begin
    irows_o <= irows;
    icols_o <= icols;
    irows_unpadded_o <= rows_stored[15:0];
    icols_unpadded_o <= cols_stored[15:0];
    upad_o <= upad;
    dpad_o <= dpad;
    lpad_o <= lpad;
    rpad_o <= rpad;
    plane_o <= plane;
    bias_block_o <= 32'(batches_i) * pixels_q;
    input_block_o <= 32'(a_deep) * plane_o;
    weight_block_o <= taps_q * 32'(b_deep);
    a_row_o <= a_row;
    b_row_o <= b_row;
  end

  logic unused;
  assign unused = &{1'b0, rows_stored[31:16], cols_stored[31:16]};
endmodule
