// SPDX-License-Identifier: Apache-2.0
// The input of a convolution tile: config_ld of state 0, then an mvin for each (b, irow, run of
// icols, group of channels), channels innermost. Rows and columns count from the padding; runs end
// at the edges of the image and after a block of local rows; what lies outside the image is loaded
// as zeros (address 0). trans_input_3120 swaps batch and channel.
// A tile without an input address emits nothing if skip_empty_i (revision 2).
// Latency: start in t, the first command leaves the two-stage command pipeline in t + 3, then one
// per cycle. The tile's registers (every input but start_*) must be those of slot_o and stay stable
// until idle_o.
module weft_loop_conv_input #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCK_LEN = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_valid_i,
  output logic                start_ready_o,
  input  logic                start_slot_i,
  input  logic [63:0]         input_i,
  input  logic                skip_empty_i,
  input  logic                downsample_i,
  input  logic                trans_input_3120_i,
  input  logic [7:0]          pixels_i,       // repeats of each row
  input  logic [15:0]         batch_size_i,   // of the tensor
  input  logic [15:0]         in_rows_i,
  input  logic [15:0]         in_cols_i,
  input  logic [15:0]         in_stride_i,
  input  logic [15:0]         batches_i,      // of the tile
  input  logic [15:0]         kchs_i,
  input  logic [15:0]         icols_i,
  input  logic [15:0]         irows_unpadded_i,
  input  logic [15:0]         icols_unpadded_i,
  input  logic [15:0]         upad_i,
  input  logic [15:0]         dpad_i,
  input  logic [15:0]         lpad_i,
  input  logic [15:0]         rpad_i,
  input  logic [31:0]         plane_i,
  input  logic [31:0]         input_block_i,
  input  logic [31:0]         a_row_i,
  input  logic                wait_i,
  input  logic                blocked_i,
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output logic [6:0]          cmd_funct_o,
  output logic [63:0]         cmd_rs1_o,
  output logic [63:0]         cmd_rs2_o,
  output logic                idle_o,
  output logic                slot_o
);
  localparam int DIM_LOG2 = $clog2(DIM);
  localparam logic [15:0] SIDE = 16'(DIM);
  localparam logic [15:0] WIDEST = 16'(MAX_BLOCK_LEN * DIM);
  localparam logic [31:0] ROWS = (32'd1 << ROW_BITS) - 32'd1;  // row numbers wrap

  // The position, channels innermost; rows and columns count from the first one of padding.
  // config_ld comes before the first position.
  logic unused_start, busy, config_first, take;
  logic [15:0] b_at, row_at, col_at, ch_at;
  logic [3:0] last;

  // Position and length of the run.
  logic left, inside_cols, inside_rows, zeros;
  logic [15:0] to_edge, longest, run, rows;
  assign left = col_at < lpad_i;
  assign inside_cols = !left && col_at < lpad_i + icols_unpadded_i;
  assign inside_rows = row_at >= upad_i && row_at < upad_i + irows_unpadded_i;
  assign zeros = !inside_rows || !inside_cols;
  assign to_edge = (left ? lpad_i : inside_cols ? lpad_i + icols_unpadded_i : lpad_i +
      icols_unpadded_i + rpad_i) - col_at;
  assign longest = inside_cols && downsample_i ? SIDE << 1 : SIDE;
  assign run = to_edge < longest ? to_edge : longest;
  assign rows = downsample_i ? run >> 1 : run;

  logic [15:0] channels, width, channel, channels_left, cols;
  assign channels = trans_input_3120_i ? batches_i : kchs_i;
  assign width = channels < WIDEST ? channels : WIDEST;
  assign channel = trans_input_3120_i ? b_at : ch_at;
  assign channels_left = channels - channel;
  assign cols = channels_left < width ? channels_left : width;

  // Addresses: 32 bits of the offset count. A pixel has so many elements in memory, an input row
  // (pitch_q) in_cols of them. Registered: the first command is config_ld, which needs no address.
  logic [15:0] image, pixel;
  logic [31:0] line, icol, part, pitch_q;
  assign pixel = trans_input_3120_i ? batches_i : in_stride_i;
  assign icol = 32'(col_at) - 32'(lpad_i);
  assign image = trans_input_3120_i ? ch_at : b_at;
  assign line = 32'(image) * 32'(in_rows_i) + 32'(row_at) - 32'(upad_i);
  assign part = icol * 32'(pixel) + 32'(channel);
  always_ff @(posedge clk_i) pitch_q <= 32'(in_cols_i) * 32'(pixel);

  logic [15:0] row_sampled, col_sampled, icols_sampled, outer, block, inner;
  logic [31:0] spot;
  assign row_sampled = downsample_i ? row_at >> 1 : row_at;
  assign col_sampled = downsample_i ? col_at >> 1 : col_at;
  assign icols_sampled = downsample_i ? icols_i >> 1 : icols_i;
  assign outer = trans_input_3120_i ? b_at : ch_at;
  assign inner = trans_input_3120_i ? ch_at : b_at;
  assign block = outer >> DIM_LOG2;
  assign spot = 32'(inner) * plane_i + 32'(row_sampled) * 32'(icols_sampled) + 32'(col_sampled);

  // What the first stage holds.
  localparam int EARLY = 2 + 16 + 16 + 16 + 32 + 32 + 32;
  logic config_e, zeros_e;
  logic [15:0] rows_e, cols_e, block_e;
  logic [31:0] line_e, part_e, spot_e, element, place;
  assign element = line_e * pitch_q + part_e;
  assign place = (a_row_i + 32'(block_e) * input_block_i + spot_e) & ROWS;

  logic skip;
  logic [6:0] funct;
  logic [15:0] memory_stride;
  logic [63:0] rs1, rs2, config_rs1;
  always_comb begin
    config_rs1 = '0;
    config_rs1[weft_isa_pkg::CONFIG_LD_KIND_LSB+:2] = weft_isa_pkg::CONFIG_LD_KIND;
    config_rs1[weft_isa_pkg::CONFIG_LD_PIXEL_REPEATS_LSB+:8] = pixels_i;
    config_rs1[weft_isa_pkg::CONFIG_LD_BLOCK_STRIDE_LSB+:16] = input_block_i[15:0];
    config_rs1[weft_isa_pkg::CONFIG_LD_SCALE_LSB+:32] = 32'h3f800000;
  end
  assign memory_stride = trans_input_3120_i ? batch_size_i : in_stride_i;
  assign skip = skip_empty_i && input_i == '0;
  assign funct = config_e ? weft_isa_pkg::FUNCT_CONFIG_LD : weft_isa_pkg::FUNCT_MVIN;
  assign rs1 = config_e ? config_rs1 : zeros_e ? '0 : input_i + {32'd0, element};
  assign rs2 = config_e ?
      (downsample_i ? {47'd0, memory_stride, 1'b0} : {48'd0, memory_stride}) :
      {rows_e, cols_e, place};
  weft_loop_conv_part #(.EARLY(EARLY)) u_part (
    .clk_i, .rst_ni,
    .start_valid_i, .start_ready_o, .start_slot_i, .start_o(unused_start), .busy_o(busy),
    .first_o(config_first),
    .finish_i(busy && (skip || (take && !config_first && (&last)))), .emit_i(!skip && !wait_i),
    .take_o(take),
    .early_i({config_first, zeros, rows, cols, block, line, part, spot}),
    .early_o({config_e, zeros_e, rows_e, cols_e, block_e, line_e, part_e, spot_e}),
    .funct_i(funct), .rs1_i(rs1), .rs2_i(rs2),
    .blocked_i, .cmd_valid_o, .cmd_ready_i, .cmd_funct_o, .cmd_rs1_o, .cmd_rs2_o, .idle_o, .slot_o
  );

  logic [15:0] ch_step, row_step, b_step, end_row, end_col;
  assign ch_step = trans_input_3120_i ? 16'd1 : width;
  assign row_step = downsample_i ? 16'd2 : 16'd1;
  assign b_step = trans_input_3120_i ? width : 16'd1;
  assign end_row = upad_i + irows_unpadded_i + dpad_i;
  assign end_col = lpad_i + icols_unpadded_i + rpad_i;
  weft_nest #(.LOOPS(4)) u_nest (
    .clk_i, .rst_ni, .step_i(take && !config_first),
    .end_i({batches_i, end_row, end_col, kchs_i}),
    .by_i({b_step, row_step, run, ch_step}),
    .at_o({b_at, row_at, col_at, ch_at}), .last_o(last)
  );
endmodule
