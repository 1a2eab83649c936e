// SPDX-License-Identifier: Apache-2.0
// The stores of a convolution tile. Without pooling an mvout for each (b, orow, DIM ocols, DIM
// channels), channels innermost; with pooling a config_st that switches it on, one mvout for each
// (b, DIM channels), and a config_st that switches it off. Both keep the accumulator scale. A tile
// without an output address emits nothing.
// Nothing is emitted before all products of the tile were (products_done_i).
// Latency: start in t, the first command leaves the two-stage command pipeline in t + 3, then one
// per cycle. The tile's registers (every input but start_*) must be those of slot_o and stay stable
// until idle_o.
module weft_loop_conv_store #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_valid_i,
  output logic        start_ready_o,
  input  logic        start_slot_i,
  input  logic [63:0] output_i,
  input  logic        no_pool_i,
  input  logic [1:0]  activation_i,
  input  logic        trans_output_1203_i,
  input  logic [15:0] batch_size_i,      // of the tensor
  input  logic [15:0] out_channels_i,
  input  logic [15:0] out_rows_i,
  input  logic [15:0] out_cols_i,
  input  logic [15:0] out_stride_i,
  input  logic [15:0] pool_out_rows_i,
  input  logic [15:0] pool_out_cols_i,
  input  logic [15:0] batches_i,         // of the tile
  input  logic [15:0] orows_i,
  input  logic [15:0] ocols_i,
  input  logic [15:0] pochs_i,
  input  logic [31:0] bias_block_i,
  input  logic [31:0] c_row_i,
  // pooling geometry as config_st takes it
  input  logic [1:0]  pool_stride_i,
  input  logic [1:0]  pool_size_i,
  input  logic [1:0]  pupad_i,
  input  logic [1:0]  plpad_i,
  input  logic [7:0]  porows_i,
  input  logic [7:0]  pocols_i,
  input  logic        products_done_i,
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

  // The position, channels innermost; a pooled store covers all rows and columns. config_before,
  // config_after: the config_st around pooled stores is due.
  logic start, busy, config_before, config_after_q, take, step;
  logic [15:0] b_at, orow_at, ocol_at, och_at;
  logic [3:0] last;

  logic skip;
  logic [15:0] ocol_left, och_left, rows, cols;
  assign skip = output_i == '0;
  assign ocol_left = ocols_i - ocol_at;
  assign och_left = pochs_i - och_at;
  assign rows = ocol_left < SIDE ? ocol_left : SIDE;
  assign cols = och_left < SIDE ? och_left : SIDE;
  assign step = take && (no_pool_i || (!config_before && !config_after_q));
  weft_nest #(.LOOPS(4)) u_nest (
    .clk_i, .rst_ni, .step_i(step),
    .end_i({batches_i, no_pool_i ? orows_i : 16'd1, no_pool_i ? ocols_i : 16'd1, pochs_i}),
    .by_i({16'd1, 16'd1, SIDE, SIDE}),
    .at_o({b_at, orow_at, ocol_at, och_at}), .last_o(last)
  );

  // In memory a line of `major` is pitch_q elements from the next, a step of `minor` by_minor of
  // them, channels are side by side. 32 bits of the offset count, but all of a pooled image.
  // Registered: pitch_q is first used when a command leaves the first stage.
  //            major                  lines of     minor    by_minor
  //   pooled   b x pool_out_rows      pool_out_cols  0      out_stride
  //   1203     orow x out_cols + ocol batch_size   b        out_channels
  //   else     b x out_rows + orow    out_cols     ocol     out_stride
  logic turned;
  logic [15:0] outer, inner, outer_by, lines_of, minor, by_minor;
  logic [31:0] major, part, line, pitch_q;
  assign turned = no_pool_i && trans_output_1203_i;
  assign outer = turned ? orow_at : b_at;
  assign inner = !no_pool_i ? '0 : turned ? ocol_at : orow_at;
  assign minor = !no_pool_i ? '0 : turned ? b_at : ocol_at;
  assign outer_by = !no_pool_i ? pool_out_rows_i : turned ? out_cols_i : out_rows_i;
  assign lines_of = !no_pool_i ? pool_out_cols_i : turned ? batch_size_i : out_cols_i;
  assign by_minor = turned ? out_channels_i : out_stride_i;
  assign major = 32'(outer) * 32'(outer_by) + 32'(inner);
  assign part = 32'(minor) * 32'(by_minor) + 32'(och_at);
  assign line = 32'(b_at) * 32'(orows_i) + 32'(orow_at);
  always_ff @(posedge clk_i) pitch_q <= 32'(lines_of) * 32'(by_minor);

  // What the first stage holds.
  localparam int EARLY = 2 + 4 * 16 + 3 * 32;
  logic before_e, after_e;
  logic [15:0] rows_e, cols_e, ocol_e, och_e, block;
  logic [31:0] major_e, part_e, line_e, place;
  logic [63:0] offset;
  assign block = och_e >> DIM_LOG2;
  assign place = (c_row_i + 32'(block) * bias_block_i + line_e * 32'(ocols_i) + 32'(ocol_e)) & ROWS;
  assign offset = 64'(major_e) * 64'(pitch_q) + 64'(part_e);

  logic [6:0] funct;
  logic [63:0] rs1, rs2;
  always_comb begin
    rs1 = '0;
    if (!no_pool_i && (before_e || after_e)) begin
      funct = weft_isa_pkg::FUNCT_CONFIG_ST;
      rs1[weft_isa_pkg::CONFIG_ST_KIND_LSB+:2] = weft_isa_pkg::CONFIG_ST_KIND;
      rs1[weft_isa_pkg::CONFIG_ST_ACTIVATION_LSB+:2] = activation_i;
      if (before_e) begin
        rs1[weft_isa_pkg::CONFIG_ST_POOL_STRIDE_LSB+:2] = pool_stride_i;
        rs1[weft_isa_pkg::CONFIG_ST_POOL_SIZE_LSB+:2] = pool_size_i;
        rs1[weft_isa_pkg::CONFIG_ST_POOL_UPAD_LSB+:2] = pupad_i;
        rs1[weft_isa_pkg::CONFIG_ST_POOL_LPAD_LSB+:2] = plpad_i;
        rs1[weft_isa_pkg::CONFIG_ST_POOL_OUT_DIM_LSB+:8] = pool_out_cols_i[7:0];
        rs1[weft_isa_pkg::CONFIG_ST_POOL_OROWS_LSB+:8] = porows_i;
        rs1[weft_isa_pkg::CONFIG_ST_POOL_OCOLS_LSB+:8] = pocols_i;
        rs1[weft_isa_pkg::CONFIG_ST_OROWS_LSB+:8] = orows_i[7:0];
        rs1[weft_isa_pkg::CONFIG_ST_OCOLS_LSB+:8] = ocols_i[7:0];
      end
      rs2 = {32'hffffffff, 16'd0, out_stride_i};
    end else begin
      funct = weft_isa_pkg::FUNCT_MVOUT;
      rs1 = output_i + {no_pool_i ? 32'd0 : offset[63:32], offset[31:0]};
      rs2 = {no_pool_i ? rows_e : 16'd0, cols_e, weft_isa_pkg::LOCAL_ACCUMULATOR_MASK | place};
    end
  end
  weft_loop_conv_part #(.EARLY(EARLY)) u_part (
    .clk_i, .rst_ni,
    .start_valid_i, .start_ready_o, .start_slot_i, .start_o(start), .busy_o(busy),
    .first_o(config_before),
    .finish_i(busy && (skip || (take && (no_pool_i ? (&last) : config_after_q)))),
    .emit_i(!skip && products_done_i), .take_o(take),
    .early_i({config_before, config_after_q, rows, cols, ocol_at, och_at, major, part, line}),
    .early_o({before_e, after_e, rows_e, cols_e, ocol_e, och_e, major_e, part_e, line_e}),
    .funct_i(funct), .rs1_i(rs1), .rs2_i(rs2),
    .blocked_i, .cmd_valid_o, .cmd_ready_i, .cmd_funct_o, .cmd_rs1_o, .cmd_rs2_o, .idle_o, .slot_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) config_after_q <= 1'b0;
    else if (start) config_after_q <= 1'b0;
    else if (step && (&last)) config_after_q <= 1'b1;
  end
endmodule
