// SPDX-License-Identifier: Apache-2.0
// Scales the int8 rows that come from memory and repeats them over local rows.
//
// A row waits in an input register and is sent on `repeats` + 1 times, with out_row_o counting down
// from `repeats`: the distance of its destination from the first one. out_last_o marks the last of
// them if the row was marked in_last_i. UNITS scale units are shared by the lanes through
// row_scheduler, UNITS elements per cycle; a scale of 1.0 needs none. UNITS 0 builds an array that
// cannot scale: rows pass unchanged and unbuffered.
//
// Latency: in at t -> out at t+2 unscaled (t+1 with UNITS 0), t + 3 + ceil(DIM/UNITS) +
// UNIT_LATENCY scaled.
// Combinational: in_ready_o depends on out_ready_i only with UNITS 0; out_* depend on registers
// only.
// Invariants: rows keep their order; in_tag_i travels with its row.
`include "weft_assert.svh"

module weft_mvin_scale #(
  parameter int DIM = 16,
  parameter int UNITS = 4,
  parameter int UNIT_LATENCY = 4,
  parameter int TAG_BITS = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                in_valid_i,
  output logic                in_ready_o,
  input  logic [DIM*8-1:0]    in_data_i,
  input  logic [31:0]         in_scale_i,
  input  logic [15:0]         in_repeats_i,
  input  logic                in_last_i,
  input  logic [TAG_BITS-1:0] in_tag_i,
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [DIM*8-1:0]    out_data_o,
  output logic [15:0]         out_row_o,
  output logic                out_last_o,
  output logic [TAG_BITS-1:0] out_tag_o
);
  localparam logic [31:0] ONE = 32'h3f80_0000;

  logic                valid_q, last_q, sent;
  logic [DIM*8-1:0]    data_q;
  logic [31:0]         scale_q;
  logic [15:0]         repeats_q;
  logic [TAG_BITS-1:0] tag_q;

  assign in_ready_o = !valid_q || (repeats_q == '0 && sent);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      repeats_q <= '0;
    end else if (in_valid_i && in_ready_o) begin
      valid_q <= 1'b1;
      repeats_q <= in_repeats_i;
    end else if (sent) begin
      if (repeats_q == '0) valid_q <= 1'b0;
      else repeats_q <= repeats_q - 16'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (in_valid_i && in_ready_o) begin
      data_q <= in_data_i;
      scale_q <= in_scale_i;
      last_q <= in_last_i;
      tag_q <= in_tag_i;
    end
  end

  if (UNITS == 0) begin : g_pass
    assign sent = valid_q && out_ready_i;
    assign out_valid_o = valid_q;
    assign out_data_o = data_q;
    assign out_row_o = repeats_q;
    assign out_last_o = last_q && repeats_q == '0;
    assign out_tag_o = tag_q;
    logic unused_scale;
    assign unused_scale = &{1'b0, scale_q, ONE};
  end else begin : g_scale
    localparam int LANE_BITS = $clog2(DIM);
    localparam int ENTRIES = 3;

    logic [1:0] in_entry, out_entry;
    logic ready;
    logic [UNITS-1:0] unit_valid, done_valid;
    logic [UNITS*2-1:0] unit_entry, done_entry;
    logic [UNITS*LANE_BITS-1:0] unit_lane, done_lane;

    assign sent = valid_q && ready;
    weft_row_scheduler #(.LANES(DIM), .UNITS(UNITS), .UNIT_LATENCY(UNIT_LATENCY)) u_scheduler (
      .clk_i(clk_i), .rst_ni(rst_ni),
      .in_valid_i(valid_q), .in_ready_o(ready), .in_skip_i(scale_q == ONE), .in_entry_o(in_entry),
      .out_valid_o(out_valid_o), .out_ready_i(out_ready_i), .out_entry_o(out_entry),
      .unit_valid_o(unit_valid), .unit_entry_o(unit_entry), .unit_lane_o(unit_lane),
      .done_valid_o(done_valid), .done_entry_o(done_entry), .done_lane_o(done_lane)
    );

    // Rows at work. Results overwrite the operands, lane by lane.
    logic [ENTRIES*DIM*8-1:0] rows_q;
    logic [ENTRIES*32-1:0] scales_q;
    logic [ENTRIES*16-1:0] repeat_q;
    logic [ENTRIES-1:0] lasts_q;
    logic [ENTRIES*TAG_BITS-1:0] tags_q;
    logic [UNITS*8-1:0] results;

    for (genvar u = 0; u < UNITS; u++) begin : g_unit
      logic [7:0] operand_q, result;
      logic [31:0] factor_q;
      logic [UNIT_LATENCY*8-1:0] delay_q;
      always_ff @(posedge clk_i) begin
        if (unit_valid[u]) begin
          operand_q <= rows_q[(unit_entry[u*2 +: 2]*DIM +
              32'(unit_lane[u*LANE_BITS +: LANE_BITS]))*8 +: 8];
          factor_q <= scales_q[unit_entry[u*2 +: 2]*32 +: 32];
        end
        delay_q <= (UNIT_LATENCY*8)'({delay_q, result});
      end
      weft_scale_element #(.WIDTH(8)) u_scale (.int_i(operand_q), .scale_i(factor_q),
          .int_o(result));
      assign results[u*8 +: 8] = delay_q[(UNIT_LATENCY-1)*8 +: 8];
    end

    always_ff @(posedge clk_i) begin
      for (int u = 0; u < UNITS; u++) begin
        if (done_valid[u]) begin
          rows_q[(done_entry[u*2 +: 2]*DIM + 32'(done_lane[u*LANE_BITS +: LANE_BITS]))*8 +: 8] <=
              results[u*8 +: 8];
        end
      end
      if (sent) begin
        rows_q[in_entry*DIM*8 +: DIM*8] <= data_q;
        scales_q[in_entry*32 +: 32] <= scale_q;
        repeat_q[in_entry*16 +: 16] <= repeats_q;
        lasts_q[in_entry] <= last_q && repeats_q == '0;
        tags_q[in_entry*TAG_BITS +: TAG_BITS] <= tag_q;
      end
    end

    assign out_data_o = rows_q[out_entry*DIM*8 +: DIM*8];
    assign out_row_o = repeat_q[out_entry*16 +: 16];
    assign out_last_o = lasts_q[out_entry];
    assign out_tag_o = tags_q[out_entry*TAG_BITS +: TAG_BITS];
  end

  `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i,
      {out_data_o, out_row_o, out_last_o, out_tag_o})
endmodule
