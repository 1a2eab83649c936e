// SPDX-License-Identifier: Apache-2.0
// The weights of a convolution tile: config_ld of state 1, then an mvin2 for each (group of och,
// krow, kcol, DIM kchs), kch innermost. trans_weight_0132 swaps the roles of input and output
// channels, trans_weight_1203 and depthwise change the layout in memory. A tile without a weight
// address emits nothing if skip_empty_i (revision 2).
// Latency: start in t, the first command leaves the two-stage command pipeline in t + 3, then one
// per cycle. The tile's registers (every input but start_*) must be those of slot_o and stay stable
// until idle_o.
module weft_loop_conv_weights #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCK_LEN = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_valid_i,
  output logic                start_ready_o,
  input  logic                start_slot_i,
  input  logic [63:0]         weights_i,
  input  logic                skip_empty_i,
  input  logic                depthwise_i,
  input  logic                trans_weight_1203_i,
  input  logic                trans_weight_0132_i,
  input  logic [15:0]         kernel_i,
  input  logic [15:0]         in_channels_i,
  input  logic [15:0]         out_channels_i,
  input  logic [15:0]         weight_stride_i,
  input  logic [15:0]         krows_i,
  input  logic [15:0]         kcols_i,
  input  logic [15:0]         kchs_i,
  input  logic [15:0]         pochs_i,
  input  logic [31:0]         weight_block_i,
  input  logic [31:0]         b_row_i,
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

  // The position, input channels innermost; config_ld comes before the first one.
  logic unused_start, busy, config_first, take;
  logic [15:0] och_at, krow_at, kcol_at, kch_at;
  logic [3:0] last;

  // Columns of the operand are output channels, its rows input channels; 0132 swaps them.
  logic [15:0] wide_all, deep_all, wide, deep, width, wide_left, deep_left, rows, cols;
  assign wide_all = trans_weight_0132_i ? kchs_i : pochs_i;
  assign deep_all = trans_weight_0132_i ? pochs_i : kchs_i;
  assign wide = trans_weight_0132_i ? kch_at : och_at;
  assign deep = trans_weight_0132_i ? och_at : kch_at;
  assign width = wide_all < WIDEST ? wide_all : WIDEST;
  assign wide_left = wide_all - wide;
  assign deep_left = deep_all - deep;
  assign rows = deep_left < SIDE ? deep_left : SIDE;
  assign cols = wide_left < width ? wide_left : width;

  // In memory a tap is pitch_q elements from the next, a step of `middle` by_middle of them, and
  // `inner` are side by side. Registered: the first command is config_ld, which needs no address.
  //              middle             by_middle         inner
  //   depthwise  0                                    0
  //   1203       kch x kernel^2     out_channels      och
  //   0132       och                in_channels       kch
  //   else       kch                weight_stride     och
  logic [15:0] by_middle, by_middle_q, inner, taps_by;
  logic [31:0] tap, middle, square_q, pitch_q;
  assign tap = 32'(krow_at) * 32'(kernel_i) + 32'(kcol_at);
  always_comb begin
    middle = 32'(kch_at);
    by_middle = weight_stride_i;
    inner = och_at;
    taps_by = in_channels_i;
    if (depthwise_i) begin
      middle = '0;
      inner = '0;
      by_middle = 16'd1;
      taps_by = 16'd1;
    end else if (trans_weight_1203_i) begin
      middle = 32'(kch_at) * square_q;
      by_middle = out_channels_i;
      taps_by = 16'd1;
    end else if (trans_weight_0132_i) begin
      middle = 32'(och_at);
      by_middle = in_channels_i;
      inner = kch_at;
      taps_by = out_channels_i;
    end
  end
  always_ff @(posedge clk_i) begin
    square_q <= 32'(kernel_i) * 32'(kernel_i);
    pitch_q <= 32'(taps_by) * 32'(by_middle);
    by_middle_q <= by_middle;
  end

  logic [15:0] block;
  logic [31:0] spot;
  assign block = wide >> DIM_LOG2;
  assign spot = 32'(krow_at) * 32'(kcols_i) + 32'(kcol_at);

  // What the first stage holds.
  localparam int EARLY = 1 + 5 * 16 + 3 * 32;
  logic config_e;
  logic [15:0] rows_e, cols_e, block_e, deep_e, inner_e;
  logic [31:0] tap_e, middle_e, spot_e, element, place;
  assign element = tap_e * pitch_q + middle_e * 32'(by_middle_q) + 32'(inner_e);
  assign place = (b_row_i + 32'(block_e) * weight_block_i + spot_e * 32'(deep_all) +
      32'(deep_e)) & ROWS;

  logic skip;
  logic [6:0] funct;
  logic [63:0] memory_stride, rs1, rs2, config_rs1;
  always_comb begin
    config_rs1 = '0;
    config_rs1[weft_isa_pkg::CONFIG_LD_KIND_LSB+:2] = weft_isa_pkg::CONFIG_LD_KIND;
    config_rs1[weft_isa_pkg::CONFIG_LD_STATE_LSB+:2] = 2'd1;
    config_rs1[weft_isa_pkg::CONFIG_LD_PIXEL_REPEATS_LSB+:8] = 8'd1;
    config_rs1[weft_isa_pkg::CONFIG_LD_BLOCK_STRIDE_LSB+:16] = weight_block_i[15:0];
    config_rs1[weft_isa_pkg::CONFIG_LD_SCALE_LSB+:32] = 32'h3f800000;
    if (depthwise_i) memory_stride = 64'd1;
    else if (trans_weight_1203_i) memory_stride = 64'(square_q) * 64'(out_channels_i);
    else if (trans_weight_0132_i) memory_stride = 64'(in_channels_i);
    else memory_stride = 64'(weight_stride_i);
  end
  assign skip = skip_empty_i && weights_i == '0;
  assign funct = config_e ? weft_isa_pkg::FUNCT_CONFIG_LD : weft_isa_pkg::FUNCT_MVIN2;
  assign rs1 = config_e ? config_rs1 : weights_i + {32'd0, element};
  assign rs2 = config_e ? memory_stride : {rows_e, cols_e, place};
  weft_loop_conv_part #(.EARLY(EARLY)) u_part (
    .clk_i, .rst_ni,
    .start_valid_i, .start_ready_o, .start_slot_i, .start_o(unused_start), .busy_o(busy),
    .first_o(config_first),
    .finish_i(busy && (skip || (take && !config_first && (&last)))), .emit_i(!skip && !wait_i),
    .take_o(take),
    .early_i({config_first, rows, cols, block, deep, inner, tap, middle, spot}),
    .early_o({config_e, rows_e, cols_e, block_e, deep_e, inner_e, tap_e, middle_e, spot_e}),
    .funct_i(funct), .rs1_i(rs1), .rs2_i(rs2),
    .blocked_i, .cmd_valid_o, .cmd_ready_i, .cmd_funct_o, .cmd_rs1_o, .cmd_rs2_o, .idle_o, .slot_o
  );

  logic [15:0] och_step, kch_step;
  assign och_step = trans_weight_0132_i ? SIDE : width;
  assign kch_step = trans_weight_0132_i ? width : SIDE;
  weft_nest #(.LOOPS(4)) u_nest (
    .clk_i, .rst_ni, .step_i(take && !config_first),
    .end_i({pochs_i, krows_i, kcols_i, kchs_i}),
    .by_i({och_step, 16'd1, 16'd1, kch_step}),
    .at_o({och_at, krow_at, kcol_at, kch_at}), .last_o(last)
  );
endmodule
