// The bias of a convolution tile: config_ld of state 2, then an mvin3 for each (b, orow, DIM ocols, group of channels),
// channels innermost, into the accumulator. All pixels get the same bias: the memory stride is 0; with no_bias the
// address 0 loads zeros. A tile without a bias address emits nothing.
// Latency: start in t, the first command leaves the two-stage command pipeline in t + 3, then one per cycle. The tile's
// registers (every input but start_*) must be those of slot_o and stay stable until idle_o.
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
  input  logic                wait_i,        // the products of the slot before still wait for their loads
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
  localparam int CMD_BITS = 7 + 64 + 64;

  logic busy_q, config_q, slot_q;
  logic [15:0] b_q, orow_q, ocol_q, och_q;

  logic [15:0] width, cols_left, och_left, rows, cols;
  logic last_och, last_ocol, last_orow, last_b, skip;
  assign skip = bias_i == '0;
  assign width = pochs_i < WIDEST ? pochs_i : WIDEST;
  assign cols_left = ocols_i - ocol_q;
  assign och_left = pochs_i - och_q;
  assign rows = cols_left < SIDE ? cols_left : SIDE;
  assign cols = och_left < width ? och_left : width;
  assign last_och = och_left <= width;
  assign last_ocol = cols_left <= SIDE;
  assign last_orow = orows_i - orow_q <= 16'd1;
  assign last_b = batches_i - b_q <= 16'd1;

  logic [15:0] block;
  logic [31:0] pixel, row, bytes;
  assign pixel = (32'(b_q) * 32'(orows_i) + 32'(orow_q)) * 32'(ocols_i) + 32'(ocol_q);
  assign block = och_q >> DIM_LOG2;
  assign row = (c_row_i + 32'(block) * bias_block_i + pixel) & ROWS;
  assign bytes = {14'd0, och_q, 2'd0};

  logic pipe_valid, pipe_ready, pipe_out_valid, pipe_busy;
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
  assign funct = config_q ? weft_isa_pkg::FUNCT_CONFIG_LD : weft_isa_pkg::FUNCT_MVIN3;
  assign rs1 = config_q ? config_rs1 : no_bias_i ? '0 : bias_i + {32'd0, bytes};
  assign rs2 = config_q ? '0 : {rows, cols, 32'h80000000 | row};
  assign pipe_valid = busy_q && !skip && !wait_i;
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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      config_q <= 1'b0;
      slot_q <= 1'b0;
      b_q <= '0;
      orow_q <= '0;
      ocol_q <= '0;
      och_q <= '0;
    end else if (start_valid_i && start_ready_o) begin
      busy_q <= 1'b1;
      config_q <= 1'b1;
      slot_q <= start_slot_i;
      b_q <= '0;
      orow_q <= '0;
      ocol_q <= '0;
      och_q <= '0;
    end else if (busy_q && skip) begin
      busy_q <= 1'b0;
    end else if (pipe_valid && pipe_ready) begin
      config_q <= 1'b0;
      if (!config_q) begin
        och_q <= last_och ? '0 : och_q + width;
        if (last_och) ocol_q <= last_ocol ? '0 : ocol_q + SIDE;
        if (last_och && last_ocol) orow_q <= last_orow ? '0 : orow_q + 16'd1;
        if (last_och && last_ocol && last_orow) b_q <= last_b ? '0 : b_q + 16'd1;
        if (last_och && last_ocol && last_orow && last_b) busy_q <= 1'b0;
      end
    end
  end
endmodule
