// SPDX-License-Identifier: Apache-2.0
// Accumulator rows on their way out: each lane through acc_lane to int8, with the int32 row beside
// it.
//
// UNITS 0: one lane unit per lane, a pipeline of LATENCY stages that closes up its bubbles while
// the output waits; otherwise UNITS units shared by the lanes of up to three rows (row_scheduler).
// Latency: in at t -> out t + LATENCY with UNITS 0, t + ceil(DIM/UNITS) + LATENCY + 2 with shared
// units.
// Combinational: in_ready_o depends on out_ready_i.
// Invariants: rows keep their order; FULL_READS 0 leaves out_full_o zero, NARROW_READS 0
// out_narrow_o.
`include "weft_assert.svh"

module weft_acc_scale #(
  parameter int DIM = 16,
  parameter int UNITS = 0,
  parameter int LATENCY = 8,
  parameter bit FULL_READS = 1'b1,
  parameter bit NARROW_READS = 1'b1,
  parameter bit ACTIVATION = 1'b1,
  parameter bit NORMALISER = 1'b0,
  parameter bit FACTOR_THEN_SCALE = 1'b1,
  parameter int TAG_BITS = 4
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                in_valid_i,
  output logic                in_ready_o,
  input  logic [DIM*32-1:0]   in_data_i,
  input  logic [2:0]          in_act_i,
  input  logic [31:0]         in_scale_i,
  input  logic [4*32-1:0]     in_consts_i,  // qln2_inv, qln2, qc, qb
  input  logic [4*32-1:0]     in_stats_i,   // inv_sum_exp, inv_stddev, max, mean
  input  logic [TAG_BITS-1:0] in_tag_i,
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [DIM*8-1:0]    out_narrow_o,
  output logic [DIM*32-1:0]   out_full_o,
  output logic [TAG_BITS-1:0] out_tag_o
);
  localparam int FULL_BITS = FULL_READS ? DIM * 32 : 1;

  if (UNITS == 0 || !NARROW_READS) begin : g_parallel
    logic [DIM*8-1:0] narrow;
    logic [FULL_BITS-1:0] full;
    logic unused_busy;

    for (genvar i = 0; i < DIM; i++) begin : g_lane
      if (NARROW_READS) begin : g_unit
        weft_acc_lane #(
          .ACTIVATION(ACTIVATION), .NORMALISER(NORMALISER), .FACTOR_THEN_SCALE(FACTOR_THEN_SCALE)
        ) u_lane (
          .x_i(in_data_i[i*32 +: 32]), .act_i(in_act_i), .scale_i(in_scale_i),
          .qb_i(in_consts_i[0 +: 32]), .qc_i(in_consts_i[32 +: 32]), .qln2_i(in_consts_i[64 +: 32]),
          .qln2_inv_i(in_consts_i[96 +: 32]), .mean_i(in_stats_i[0 +: 32]),
          .max_i(in_stats_i[32 +: 32]),
          .inv_stddev_i(in_stats_i[64 +: 32]), .inv_sum_exp_i(in_stats_i[96 +: 32]),
          .y_o(narrow[i*8 +: 8])
        );
      end else begin : g_none
        assign narrow[i*8 +: 8] = '0;
      end
    end
    weft_pipe #(.WIDTH(DIM*8 + FULL_BITS + TAG_BITS), .STAGES(LATENCY)) u_pipe (
      .clk_i(clk_i), .rst_ni(rst_ni),
      .in_valid_i(in_valid_i), .in_ready_o(in_ready_o),
      .in_data_i({narrow, in_data_i[FULL_BITS-1:0], in_tag_i}),
      .out_valid_o(out_valid_o), .out_ready_i(out_ready_i),
      .out_data_o({out_narrow_o, full, out_tag_o}),
      .busy_o(unused_busy)
    );
    if (FULL_READS) begin : g_full
      assign out_full_o = full;
    end else begin : g_no_full
      assign out_full_o = '0;
      logic unused_full;
      assign unused_full = &{1'b0, full};
    end
    if (!NARROW_READS) begin : g_no_narrow
      logic unused_narrow;
      assign unused_narrow = &{1'b0, in_act_i, in_scale_i, in_consts_i, in_stats_i, ACTIVATION,
                               NORMALISER, FACTOR_THEN_SCALE};
    end
  end else begin : g_shared
    localparam int LANE_BITS = $clog2(DIM);
    localparam int ENTRIES = 3;

    logic [1:0] in_entry, out_entry;
    logic [UNITS-1:0] unit_valid, done_valid;
    logic [UNITS*2-1:0] unit_entry, done_entry;
    logic [UNITS*LANE_BITS-1:0] unit_lane, done_lane;

    weft_row_scheduler #(.LANES(DIM), .UNITS(UNITS), .UNIT_LATENCY(LATENCY),
        .REUSE(1'b1)) u_scheduler (
      .clk_i(clk_i), .rst_ni(rst_ni),
      .in_valid_i(in_valid_i), .in_ready_o(in_ready_o), .in_skip_i(1'b0), .in_entry_o(in_entry),
      .out_valid_o(out_valid_o), .out_ready_i(out_ready_i), .out_entry_o(out_entry),
      .unit_valid_o(unit_valid), .unit_entry_o(unit_entry), .unit_lane_o(unit_lane),
      .done_valid_o(done_valid), .done_entry_o(done_entry), .done_lane_o(done_lane)
    );

    logic [ENTRIES*DIM*32-1:0] rows_q;
    logic [ENTRIES*DIM*8-1:0] narrow_q;
    logic [ENTRIES*3-1:0] act_q;
    logic [ENTRIES*32-1:0] scale_q;
    logic [ENTRIES*128-1:0] consts_q, stats_q;
    logic [ENTRIES*TAG_BITS-1:0] tag_q;
    logic [UNITS*8-1:0] results;

    for (genvar u = 0; u < UNITS; u++) begin : g_unit
      logic [1:0] entry_q;
      logic [31:0] x_q;
      logic [2:0] act;
      logic [31:0] scale;
      logic [127:0] consts, stats;
      logic [7:0] result;
      logic [LATENCY*8-1:0] delay_q;
      // The row's other operands stay in their entry until the last lane is done.
      assign act = act_q[entry_q*3 +: 3];
      assign scale = scale_q[entry_q*32 +: 32];
      assign consts = consts_q[entry_q*128 +: 128];
      assign stats = stats_q[entry_q*128 +: 128];
      always_ff @(posedge clk_i) begin
        if (unit_valid[u]) begin
          entry_q <= unit_entry[u*2 +: 2];
          x_q <= rows_q[(unit_entry[u*2 +: 2]*DIM +
              32'(unit_lane[u*LANE_BITS +: LANE_BITS]))*32 +: 32];
        end
        delay_q <= (LATENCY*8)'({delay_q, result});
      end
      weft_acc_lane #(
        .ACTIVATION(ACTIVATION), .NORMALISER(NORMALISER), .FACTOR_THEN_SCALE(FACTOR_THEN_SCALE)
      ) u_lane (
        .x_i(x_q), .act_i(act), .scale_i(scale), .qb_i(consts[0 +: 32]), .qc_i(consts[32 +: 32]),
        .qln2_i(consts[64 +: 32]), .qln2_inv_i(consts[96 +: 32]), .mean_i(stats[0 +: 32]),
        .max_i(stats[32 +: 32]),
        .inv_stddev_i(stats[64 +: 32]), .inv_sum_exp_i(stats[96 +: 32]), .y_o(result)
      );
      assign results[u*8 +: 8] = delay_q[(LATENCY-1)*8 +: 8];
    end

    always_ff @(posedge clk_i) begin
      for (int u = 0; u < UNITS; u++) begin
        if (done_valid[u]) begin
          narrow_q[(done_entry[u*2 +: 2]*DIM + 32'(done_lane[u*LANE_BITS +: LANE_BITS]))*8 +: 8] <=
              results[u*8 +: 8];
        end
      end
      if (in_valid_i && in_ready_o) begin
        rows_q[in_entry*DIM*32 +: DIM*32] <= in_data_i;
        act_q[in_entry*3 +: 3] <= in_act_i;
        scale_q[in_entry*32 +: 32] <= in_scale_i;
        consts_q[in_entry*128 +: 128] <= in_consts_i;
        stats_q[in_entry*128 +: 128] <= in_stats_i;
        tag_q[in_entry*TAG_BITS +: TAG_BITS] <= in_tag_i;
      end
    end

    assign out_narrow_o = narrow_q[out_entry*DIM*8 +: DIM*8];
    assign out_full_o = FULL_READS ? rows_q[out_entry*DIM*32 +: DIM*32] : '0;
    assign out_tag_o = tag_q[out_entry*TAG_BITS +: TAG_BITS];
    logic unused;
    assign unused = FULL_BITS == 0;
  end

  `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i, {out_narrow_o, out_full_o, out_tag_o})
endmodule
