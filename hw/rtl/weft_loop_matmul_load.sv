// SPDX-License-Identifier: Apache-2.0
// Loads a rectangle of tiles: one of the three loaders (A, B, D) of loop_matmul.
//
// Walks rows x cols tiles with two counters and emits one mvin for each group of up to `blocks`
// tiles side by side:
//   address = base + 32 bits of ((row * stride + col) * DIM * bytes of an element)
//   local   = first + (row * cols + col) * DIM
// The last row of tiles is cut by pad_rows (unless full_height), the last tile of a row by
// pad_cols. row_is_outer says which counter is the tile row.
// Invariants: outer_o and inner_o name the next group to be emitted; they are zero when idle.
// Latency: start in cycle t, the first command in t + 1, then one per cycle while it is taken. A
// start with skip set stays busy for one cycle and emits nothing. cmd_valid_o depends
// combinationally on blocked_i only.
`include "weft_assert.svh"

module weft_loop_matmul_load #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // start: taken when start_ready_o
  input  logic                start_valid_i,
  output logic                start_ready_o,
  input  logic                start_slot_i,
  input  logic                start_skip_i,
  input  logic [15:0]         start_rows_i,        // tiles
  input  logic [15:0]         start_cols_i,
  input  logic [15:0]         start_pad_rows_i,    // elements
  input  logic [15:0]         start_pad_cols_i,
  input  logic [15:0]         start_blocks_i,      // most tiles of one command
  input  logic                start_wide_i,        // elements of 4 bytes rather than 1
  input  logic                start_row_is_outer_i,
  input  logic                start_full_height_i,
  input  logic [63:0]         start_base_i,
  input  logic [31:0]         start_stride_i,      // elements
  input  logic [2:0]          start_flags_i,       // accumulator, accumulate, full
  input  logic [ROW_BITS-1:0] start_first_i,
  // mvin
  input  logic                blocked_i,           // too many loads in flight
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output logic [63:0]         cmd_rs1_o,
  output logic [63:0]         cmd_rs2_o,
  // progress
  output logic                idle_o,
  output logic                slot_o,
  output logic [15:0]         outer_o,
  output logic [15:0]         inner_o
);
  localparam int DIM_LOG2 = $clog2(DIM);
  localparam logic [15:0] HEIGHT = 16'(DIM);

  logic busy_q, slot_q, skip_q, wide_q, row_is_outer_q, full_height_q;
  logic [15:0] rows_q, cols_q, pad_rows_q, pad_cols_q, blocks_q, outer, inner;
  logic [63:0] base_q;
  logic [31:0] stride_q;
  logic [2:0] flags_q;
  logic [ROW_BITS-1:0] first_q;

  logic [15:0] row, col, blocks_left, blocks, width, height;
  logic [31:0] offset, bytes, tile;
  logic [ROW_BITS-1:0] local_row;
  logic last_row, last_col;

  assign row = row_is_outer_q ? outer : inner;
  assign col = row_is_outer_q ? inner : outer;
  assign blocks_left = cols_q - col;
  assign last_row = row == rows_q - 16'd1;
  assign last_col = blocks_left <= blocks_q;
  assign blocks = last_col ? blocks_left : blocks_q;
  assign width = (blocks << DIM_LOG2) - (last_col ? pad_cols_q : 16'd0);
  assign height = HEIGHT - (last_row && !full_height_q ? pad_rows_q : 16'd0);
  assign offset = (32'(row) * stride_q + 32'(col)) << DIM_LOG2;
  assign bytes = wide_q ? offset << 2 : offset;
  assign tile = 32'(row) * 32'(cols_q) + 32'(col);
  assign local_row = first_q + ROW_BITS'(tile << DIM_LOG2);

  assign start_ready_o = !busy_q;
  assign idle_o = !busy_q;
  assign slot_o = slot_q;
  assign outer_o = outer;
  assign inner_o = inner;
  assign cmd_valid_o = busy_q && !skip_q && !blocked_i;
  assign cmd_rs1_o = base_q + {32'd0, bytes};
  assign cmd_rs2_o = {height, width, flags_q, 29'(local_row)};

  // The counter of columns steps by groups, the other by one; the inner one carries into the outer
  // one.
  logic [15:0] outer_step, inner_step, outer_end, inner_end;
  logic take;
  logic [1:0] last;
  assign outer_step = row_is_outer_q ? 16'd1 : blocks_q;
  assign inner_step = row_is_outer_q ? blocks_q : 16'd1;
  assign outer_end = row_is_outer_q ? rows_q : cols_q;
  assign inner_end = row_is_outer_q ? cols_q : rows_q;
  assign take = cmd_valid_o && cmd_ready_i;
  weft_nest #(.LOOPS(2)) u_nest (
    .clk_i, .rst_ni, .step_i(take), .end_i({outer_end, inner_end}), .by_i({outer_step, inner_step}),
    .at_o({outer, inner}), .last_o(last)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      slot_q <= 1'b0;
    end else if (start_valid_i && start_ready_o) begin
      busy_q <= 1'b1;
      slot_q <= start_slot_i;
    end else if (skip_q || (take && (&last))) begin
      busy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_valid_i && start_ready_o) begin
      skip_q <= start_skip_i;
      rows_q <= start_rows_i;
      cols_q <= start_cols_i;
      pad_rows_q <= start_pad_rows_i;
      pad_cols_q <= start_pad_cols_i;
      blocks_q <= start_cols_i < start_blocks_i ? start_cols_i : start_blocks_i;
      wide_q <= start_wide_i;
      row_is_outer_q <= start_row_is_outer_i;
      full_height_q <= start_full_height_i;
      base_q <= start_base_i;
      stride_q <= start_stride_i;
      flags_q <= start_flags_i;
      first_q <= start_first_i;
    end
  end

  `WEFT_ASSERT(TileInRectangle, !busy_q || skip_q || (row < rows_q && col < cols_q))
endmodule
