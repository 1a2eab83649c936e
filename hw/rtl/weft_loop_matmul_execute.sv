// SPDX-License-Identifier: Apache-2.0
// The products of loop_matmul: for k, j, i (i innermost) a preload and a compute per tile.
//
// The first i of a (k, j) preloads the weights B and computes with them, the others keep them:
// preload of the garbage address and compute_accumulated. A tile is emitted when the loaders of its
// slot have passed it; that the data has arrived is the reservation station's business. B counts as
// passed within one k only while A is at that k, as in the reference: it costs a few cycles with
// more than MAX_BLOCK_LEN columns of tiles and is always safe.
// Invariants: k_o, j_o, i_o name the next tile; they are zero when idle. A preload is followed by
// its compute.
// Latency: start in t, first command in t + 1, then one per cycle. cmd_valid_o depends
// combinationally on blocked_i and the progress of the loaders.
`include "weft_assert.svh"

module weft_loop_matmul_execute #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                start_valid_i,
  output logic                start_ready_o,
  input  logic                start_slot_i,
  input  logic                start_skip_i,
  input  logic [15:0]         start_i_i,          // tiles
  input  logic [15:0]         start_j_i,
  input  logic [15:0]         start_k_i,
  input  logic [15:0]         start_pad_i_i,      // elements
  input  logic [15:0]         start_pad_j_i,
  input  logic [15:0]         start_pad_k_i,
  input  logic                start_a_transpose_i,
  input  logic                start_b_transpose_i,
  input  logic                start_accumulate_i, // also for k = 0
  input  logic [ROW_BITS-1:0] start_a_row_i,
  input  logic [ROW_BITS-1:0] start_b_row_i,
  input  logic [ROW_BITS-1:0] start_c_row_i,
  // progress of the loaders; done: finished with this slot or never at it
  input  logic                a_done_i,
  input  logic [15:0]         a_k_i,
  input  logic [15:0]         a_i_i,
  input  logic                b_done_i,
  input  logic [15:0]         b_k_i,
  input  logic [15:0]         b_j_i,
  input  logic                d_done_i,
  input  logic                blocked_i,          // too many execute commands in flight
  output logic                cmd_valid_o,
  input  logic                cmd_ready_i,
  output logic [6:0]          cmd_funct_o,
  output logic [63:0]         cmd_rs1_o,
  output logic [63:0]         cmd_rs2_o,
  output logic                idle_o,
  output logic                slot_o,
  output logic [15:0]         k_o,
  output logic [15:0]         j_o,
  output logic [15:0]         i_o
);
  localparam int DIM_LOG2 = $clog2(DIM);
  localparam logic [15:0] SIDE = 16'(DIM);

  logic busy_q, compute_q, slot_q, skip_q, a_transpose_q, b_transpose_q, accumulate_q;
  logic [15:0] end_i_q, end_j_q, end_k_q, pad_i_q, pad_j_q, pad_k_q, k, j, i;
  logic [ROW_BITS-1:0] a_row_q, b_row_q, c_row_q;

  logic take, last_i, last_j, last_k, a_ahead, b_ahead;
  logic [15:0] rows, cols, depth;
  logic [31:0] a_tile, b_tile, c_tile;
  logic [ROW_BITS-1:0] a_local, b_local, c_local;

  assign take = cmd_valid_o && cmd_ready_i;
  weft_nest #(.LOOPS(3)) u_nest (
    .clk_i, .rst_ni, .step_i(take && compute_q), .end_i({end_k_q, end_j_q, end_i_q}),
    .by_i({16'd1, 16'd1, 16'd1}), .at_o({k, j, i}), .last_o({last_k, last_j, last_i})
  );
  assign rows = SIDE - (last_i ? pad_i_q : 16'd0);
  assign cols = SIDE - (last_j ? pad_j_q : 16'd0);
  assign depth = SIDE - (last_k ? pad_k_q : 16'd0);

  assign a_tile = a_transpose_q ? 32'(k) * 32'(end_i_q) + 32'(i) : 32'(i) * 32'(end_k_q) + 32'(k);
  assign b_tile = b_transpose_q ? 32'(j) * 32'(end_k_q) + 32'(k) : 32'(k) * 32'(end_j_q) + 32'(j);
  assign c_tile = 32'(i) * 32'(end_j_q) + 32'(j);
  assign a_local = a_row_q + ROW_BITS'(a_tile << DIM_LOG2);
  assign b_local = b_row_q + ROW_BITS'(b_tile << DIM_LOG2);
  assign c_local = c_row_q + ROW_BITS'(c_tile << DIM_LOG2);

  assign a_ahead = a_done_i || a_k_i > k || (a_k_i == k && a_i_i > i);
  assign b_ahead = b_done_i || b_k_i > k || (a_k_i == k && b_j_i > j);

  assign start_ready_o = !busy_q;
  assign idle_o = !busy_q;
  assign slot_o = slot_q;
  assign k_o = k;
  assign j_o = j;
  assign i_o = i;
  assign cmd_valid_o = busy_q && !skip_q && !blocked_i && a_ahead && b_ahead && d_done_i;

  always_comb begin
    if (!compute_q) begin
      cmd_funct_o = weft_isa_pkg::FUNCT_PRELOAD;
      cmd_rs1_o = {depth, cols, i == 16'd0 ? 32'(b_local) : weft_isa_pkg::LOCAL_GARBAGE};
      cmd_rs2_o = {rows, cols, 1'b1, accumulate_q || k != 16'd0, 30'(c_local)};
    end else begin
      cmd_funct_o = i == 16'd0 ? weft_isa_pkg::FUNCT_COMPUTE_PRELOADED :
          weft_isa_pkg::FUNCT_COMPUTE_ACCUMULATED;
      cmd_rs1_o = {rows, depth, 32'(a_local)};
      cmd_rs2_o = {SIDE, SIDE, weft_isa_pkg::LOCAL_GARBAGE};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      compute_q <= 1'b0;
      slot_q <= 1'b0;
    end else if (start_valid_i && start_ready_o) begin
      busy_q <= 1'b1;
      compute_q <= 1'b0;
      slot_q <= start_slot_i;
    end else if (busy_q && skip_q) begin
      busy_q <= 1'b0;
    end else if (take) begin
      compute_q <= !compute_q;
      if (compute_q && last_i && last_j && last_k) busy_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_valid_i && start_ready_o) begin
      skip_q <= start_skip_i;
      end_i_q <= start_i_i;
      end_j_q <= start_j_i;
      end_k_q <= start_k_i;
      pad_i_q <= start_pad_i_i;
      pad_j_q <= start_pad_j_i;
      pad_k_q <= start_pad_k_i;
      a_transpose_q <= start_a_transpose_i;
      b_transpose_q <= start_b_transpose_i;
      accumulate_q <= start_accumulate_i;
      a_row_q <= start_a_row_i;
      b_row_q <= start_b_row_i;
      c_row_q <= start_c_row_i;
    end
  end

  `WEFT_ASSERT(TileInBounds, !busy_q || skip_q || (i < end_i_q && j < end_j_q && k < end_k_q))
endmodule
