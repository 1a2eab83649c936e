// SPDX-License-Identifier: Apache-2.0
// The bias of a convolution tile: config_ld of state 2, then an mvin3 for each (b, orow, DIM ocols,
// group of channels), channels innermost, into the accumulator. All pixels get the same bias: the
// memory stride is 0; with no_bias the address 0 loads zeros. A tile without a bias address emits
// nothing.
// Latency: start in t, the first command leaves the two-stage command pipeline in t + 3, then one
// per cycle. The tile's registers (every input but start_*) must be those of slot_o and stay stable
// until idle_o.
module weft_loop_conv_bias #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCK_LEN_ACC = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_valid_i,
  output logic                start_ready_o,
  input  logic                start_slot_i,
  input  logic [63:0]         bias_i,
  input  logic                no_bias_i,
  input  logic [15:0]         batches_i,
  input  logic [15:0]         orows_i,
  input  logic [15:0]         ocols_i,
  input  logic [15:0]         pochs_i,
  input  logic [31:0]         bias_block_i,
  input  logic [31:0]         c_row_i,
  // the products of the slot before still wait for their loads
  input  logic                wait_i,
  input  logic                blocked_i,     // too many loads in flight
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
  localparam logic [15:0] WIDEST = 16'(MAX_BLOCK_LEN_ACC * DIM);
  localparam logic [31:0] ROWS = (32'd1 << ROW_BITS) - 32'd1;  // row numbers wrap

  // The position, channels innermost; config_ld comes before the first one.
  logic unused_start, busy, config_first, take;
  logic [15:0] b_at, orow_at, ocol_at, och_at;
  logic [3:0] last;

  logic [15:0] width, cols_left, och_left, rows, cols;
  logic skip;
  assign skip = bias_i == '0;
  assign width = pochs_i < WIDEST ? pochs_i : WIDEST;
  assign cols_left = ocols_i - ocol_at;
  assign och_left = pochs_i - och_at;
  assign rows = cols_left < SIDE ? cols_left : SIDE;
  assign cols = och_left < width ? och_left : width;
  weft_nest #(.LOOPS(4)) u_nest (
    .clk_i, .rst_ni, .step_i(take && !config_first),
    .end_i({batches_i, orows_i, ocols_i, pochs_i}),
    .by_i({16'd1, 16'd1, SIDE, width}),
    .at_o({b_at, orow_at, ocol_at, och_at}), .last_o(last)
  );

  // What the first stage holds.
  localparam int EARLY = 1 + 16 + 16 + 16 + 16 + 32;
  logic config_e;
  logic [15:0] rows_e, cols_e, ocol_e, och_e;
  logic [31:0] line, line_e;
  assign line = 32'(b_at) * 32'(orows_i) + 32'(orow_at);

  logic [15:0] block;
  logic [31:0] row, bytes;
  assign block = och_e >> DIM_LOG2;
  assign row = (c_row_i + 32'(block) * bias_block_i + line_e * 32'(ocols_i) + 32'(ocol_e)) & ROWS;
  assign bytes = {14'd0, och_e, 2'd0};

  logic [6:0] funct;
  logic [63:0] rs1, rs2, config_rs1;
  always_comb begin
    config_rs1 = '0;
    config_rs1[weft_isa_pkg::CONFIG_LD_KIND_LSB+:2] = weft_isa_pkg::CONFIG_LD_KIND;
    config_rs1[weft_isa_pkg::CONFIG_LD_STATE_LSB+:2] = 2'd2;
    config_rs1[weft_isa_pkg::CONFIG_LD_PIXEL_REPEATS_LSB+:8] = 8'd1;
    config_rs1[weft_isa_pkg::CONFIG_LD_BLOCK_STRIDE_LSB+:16] = bias_block_i[15:0];
    config_rs1[weft_isa_pkg::CONFIG_LD_SCALE_LSB+:32] = 32'h3f800000;
  end
  assign funct = config_e ? weft_isa_pkg::FUNCT_CONFIG_LD : weft_isa_pkg::FUNCT_MVIN3;
  assign rs1 = config_e ? config_rs1 : no_bias_i ? '0 : bias_i + {32'd0, bytes};
  assign rs2 = config_e ? '0 : {rows_e, cols_e, weft_isa_pkg::LOCAL_ACCUMULATOR_MASK | row};
  weft_loop_conv_part #(.EARLY(EARLY)) u_part (
    .clk_i, .rst_ni,
    .start_valid_i, .start_ready_o, .start_slot_i, .start_o(unused_start), .busy_o(busy),
    .first_o(config_first),
    .finish_i(busy && (skip || (take && !config_first && (&last)))), .emit_i(!skip && !wait_i),
    .take_o(take),
    .early_i({config_first, rows, cols, ocol_at, och_at, line}),
    .early_o({config_e, rows_e, cols_e, ocol_e, och_e, line_e}),
    .funct_i(funct), .rs1_i(rs1), .rs2_i(rs2),
    .blocked_i, .cmd_valid_o, .cmd_ready_i, .cmd_funct_o, .cmd_rs1_o, .cmd_rs2_o, .idle_o, .slot_o
  );
endmodule
