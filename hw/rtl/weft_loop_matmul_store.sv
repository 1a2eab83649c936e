// SPDX-License-Identifier: Apache-2.0
// The stores of loop_matmul: mvout of C for j (groups of tiles), i innermost, mvout_spad when C
// stays in the scratchpad, or, with the layer-norm and softmax activations, three passes of
// statistics commands over every row.
//
// A group is stored when the products of its slot have passed it in the last k; with statistics,
// when they are complete.
// Statistics: for i, groups of NORM_STATS rows, the three passes, the rows of the group: one
// config_norm that selects the row's set, then one mvout of one row for each group of columns.
// Latency: start in t, first command in t + 1, then one per cycle. cmd_valid_o depends
// combinationally on blocked_i and the progress of the products.
`include "weft_assert.svh"

module weft_loop_matmul_store #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCK_LEN = 4,
  parameter int NORM_STATS = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_valid_i,
  output logic                start_ready_o,
  input  logic                start_slot_i,
  input  logic                start_skip_i,
  input  logic [15:0]         start_i_i,        // tiles
  input  logic [15:0]         start_j_i,
  input  logic [15:0]         start_last_k_i,   // the k in which C becomes complete
  input  logic [15:0]         start_pad_i_i,    // elements
  input  logic [15:0]         start_pad_j_i,
  input  logic                start_full_i,     // int32 rather than scaled int8
  input  logic                start_norm_i,     // layer norm or softmax
  input  logic                start_softmax_i,
  input  logic                start_to_spad_i,
  // wait until the products of the slot are all emitted
  input  logic                start_whole_i,
  input  logic [63:0]         start_base_i,
  input  logic [31:0]         start_stride_i,   // elements
  input  logic [ROW_BITS-1:0] start_c_row_i,    // accumulator
  input  logic [ROW_BITS-1:0] start_spad_row_i, // destination with to_spad
  // progress of what produces C: a residual addition passes its second load here (i outer, j inner)
  input  logic                made_done_i,
  input  logic                made_by_rows_i,
  input  logic [15:0]         made_k_i,
  input  logic [15:0]         made_j_i,
  input  logic [15:0]         made_i_i,
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
  localparam logic [15:0] HEIGHT = 16'(DIM);
  localparam logic [15:0] BLOCKS = 16'(MAX_BLOCK_LEN);
  localparam logic [15:0] SETS = 16'(NORM_STATS);
  localparam logic [1:0] LAST_PASS = 2'd2;

  logic busy_q, slot_q, skip_q, full_q, to_spad_q, whole_q, norm_q, softmax_q, config_q;
  logic [15:0] end_i_q, end_j_q, last_k_q, pad_i_q, pad_j_q, blocks_q;
  logic [63:0] base_q;
  logic [31:0] stride_q;
  logic [ROW_BITS-1:0] c_row_q, spad_row_q;
  logic [15:0] i_q, j_q, group_q, set_q;  // group: first row of the statistics group
  logic [1:0] pass_q;

  logic [15:0] row;  // of the tile, in a statistics pass

  // The group of tiles (i, j).
  logic last_i, last_j;
  logic [15:0] blocks_left, blocks, width, height;
  logic [31:0] tile, offset, bytes, row_bytes;
  assign last_i = i_q == end_i_q - 16'd1;
  assign blocks_left = end_j_q - j_q;
  assign last_j = blocks_left <= blocks_q;
  assign blocks = last_j ? blocks_left : blocks_q;
  assign width = (blocks << DIM_LOG2) - (last_j ? pad_j_q : 16'd0);
  assign height = HEIGHT - (last_i ? pad_i_q : 16'd0);
  assign tile = 32'(i_q) * 32'(end_j_q) + 32'(j_q);
  assign offset = (32'(i_q) * stride_q + 32'(j_q)) << DIM_LOG2;
  assign bytes = full_q ? offset << 2 : offset;
  assign row_bytes = offset + 32'(row) * stride_q;

  // A row of statistics.
  logic [15:0] rows_left, sets;
  logic [2:0] norm;
  logic last_set, last_pass, last_group;
  assign row = group_q + set_q;
  assign rows_left = height - group_q;
  assign sets = rows_left < SETS ? rows_left : SETS;
  assign last_set = set_q == sets - 16'd1;
  assign last_pass = pass_q == LAST_PASS;
  assign last_group = rows_left <= SETS;
  always_comb begin
    unique case ({softmax_q, pass_q})
      3'b000: norm = last_j ? weft_isa_pkg::LOCAL_NORM_MEAN : weft_isa_pkg::LOCAL_NORM_SUM;
      3'b001: norm = last_j ? weft_isa_pkg::LOCAL_NORM_INV_STDDEV :
          weft_isa_pkg::LOCAL_NORM_VARIANCE;
      3'b100: norm = weft_isa_pkg::LOCAL_NORM_MAX;
      3'b101: norm = last_j ? weft_isa_pkg::LOCAL_NORM_INV_SUM_EXP :
          weft_isa_pkg::LOCAL_NORM_SUM_EXP;
      default: norm = weft_isa_pkg::LOCAL_NORM_NONE;
    endcase
  end

  // What produces C has passed the group.
  logic made, made_columns;
  assign made_columns = made_j_i >= j_q + blocks;
  always_comb begin
    if (made_done_i) made = 1'b1;
    else if (whole_q) made = 1'b0;
    else if (made_by_rows_i) made = made_i_i > i_q || (made_i_i == i_q && made_columns);
    else made = made_k_i == last_k_q &&
        (made_columns || (made_j_i == j_q + blocks - 16'd1 && made_i_i > i_q));
  end

  assign start_ready_o = !busy_q;
  assign idle_o = !busy_q;
  assign slot_o = slot_q;
  assign cmd_valid_o = busy_q && !skip_q && !blocked_i && made;

  logic [ROW_BITS-1:0] c_local, spad_local;
  assign c_local = c_row_q + ROW_BITS'(tile << DIM_LOG2) + (norm_q ? ROW_BITS'(row) : '0);
  assign spad_local = spad_row_q + ROW_BITS'(tile << DIM_LOG2);
  always_comb begin
    if (norm_q && config_q) begin
      cmd_funct_o = weft_isa_pkg::FUNCT_CONFIG_NORM;
      cmd_rs1_o = '0;
      cmd_rs1_o[weft_isa_pkg::CONFIG_NORM_KIND_LSB+:weft_isa_pkg::CONFIG_NORM_KIND_WIDTH] =
          weft_isa_pkg::CONFIG_NORM_KIND;
      cmd_rs1_o[weft_isa_pkg::CONFIG_NORM_STATS_ID_LSB+:weft_isa_pkg::CONFIG_NORM_STATS_ID_WIDTH] =
          set_q[7:0];
      cmd_rs1_o[weft_isa_pkg::CONFIG_NORM_STATS_ID_ONLY_LSB] = 1'b1;
      cmd_rs2_o = '0;
    end else if (norm_q) begin
      cmd_funct_o = weft_isa_pkg::FUNCT_MVOUT;
      cmd_rs1_o = base_q + {32'd0, row_bytes};
      cmd_rs2_o = {16'd1, width, 2'b10, full_q, norm, 26'(c_local)};
    end else begin
      cmd_funct_o = to_spad_q ? weft_isa_pkg::FUNCT_MVOUT_SPAD : weft_isa_pkg::FUNCT_MVOUT;
      cmd_rs1_o = to_spad_q ? {32'd1, 32'(spad_local)} : base_q + {32'd0, bytes};
      cmd_rs2_o = {height, width, 2'b10, full_q, 3'd0, 26'(c_local)};
    end
  end

  logic take;
  assign take = cmd_valid_o && cmd_ready_i;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      slot_q <= 1'b0;
      config_q <= 1'b0;
      i_q <= '0;
      j_q <= '0;
      group_q <= '0;
      set_q <= '0;
      pass_q <= '0;
    end else if (start_valid_i && start_ready_o) begin
      busy_q <= 1'b1;
      slot_q <= start_slot_i;
      config_q <= 1'b1;
      i_q <= '0;
      j_q <= '0;
      group_q <= '0;
      set_q <= '0;
      pass_q <= '0;
    end else if (busy_q && skip_q) begin
      busy_q <= 1'b0;
    end else if (take && !norm_q) begin
      i_q <= last_i ? '0 : i_q + 16'd1;
      if (last_i) j_q <= last_j ? '0 : j_q + blocks_q;
      if (last_i && last_j) busy_q <= 1'b0;
    end else if (take && config_q) begin
      config_q <= 1'b0;
    end else if (take) begin
      j_q <= last_j ? '0 : j_q + blocks_q;
      if (last_j) begin
        config_q <= 1'b1;
        set_q <= last_set ? '0 : set_q + 16'd1;
        if (last_set) pass_q <= last_pass ? '0 : pass_q + 2'd1;
        if (last_set && last_pass) group_q <= last_group ? '0 : group_q + SETS;
        if (last_set && last_pass && last_group) i_q <= last_i ? '0 : i_q + 16'd1;
        if (last_set && last_pass && last_group && last_i) busy_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_valid_i && start_ready_o) begin
      skip_q <= start_skip_i;
      full_q <= start_full_i;
      to_spad_q <= start_to_spad_i;
      whole_q <= start_whole_i || (start_norm_i && !start_to_spad_i);
      norm_q <= start_norm_i && !start_to_spad_i;
      softmax_q <= start_softmax_i;
      end_i_q <= start_i_i;
      end_j_q <= start_j_i;
      last_k_q <= start_last_k_i;
      pad_i_q <= start_pad_i_i;
      pad_j_q <= start_pad_j_i;
      blocks_q <= start_full_i || start_to_spad_i ? 16'd1 : start_j_i < BLOCKS ? start_j_i : BLOCKS;
      base_q <= start_base_i;
      stride_q <= start_stride_i;
      c_row_q <= start_c_row_i;
      spad_row_q <= start_spad_row_i;
    end
  end

  `WEFT_ASSERT(GroupInBounds, !busy_q || skip_q || (i_q < end_i_q && j_q < end_j_q))
endmodule
