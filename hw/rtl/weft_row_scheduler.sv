// SPDX-License-Identifier: Apache-2.0
// Shares UNITS arithmetic units among the lanes of up to three rows: the control of the scale units
// of mvin and of the accumulator. Each unit takes one element per cycle; element (entry e, lane w)
// belongs to unit (e*LANES + w) mod UNITS. A unit serves the oldest row first and its lanes in
// order. The parent keeps the rows' data, entry by entry.
//
// Per element: grant at t (unit_valid_o; the parent captures the operand), UNIT_LATENCY + 1 cycles
// later the result is reported (unit_done_o) and the parent stores it; a row leaves when all its
// lanes are done, in the order the rows came. Latency of a row of L lanes: enters at t -> first
// grant t+1 -> leaves at t + ceil(L/UNITS) + UNIT_LATENCY + 2.
// A row that enters with in_skip_i needs no unit and can leave at t+1.
// Combinational: with REUSE in_ready_o depends on out_ready_i (a full set of entries accepts while
// its head leaves).
// Invariants: every lane of a row is granted exactly once unless skipped; head and tail move in a
// ring.
`include "weft_assert.svh"

module weft_row_scheduler #(
  parameter int LANES = 16,
  parameter int UNITS = 4,
  parameter int UNIT_LATENCY = 4,
  parameter bit REUSE = 1'b0,
  parameter int LANE_BITS = $clog2(LANES)  // derived
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       in_valid_i,
  output logic                       in_ready_o,
  input  logic                       in_skip_i,
  output logic [1:0]                 in_entry_o,    // where the parent puts the row
  output logic                       out_valid_o,
  input  logic                       out_ready_i,
  output logic [1:0]                 out_entry_o,
  output logic [UNITS-1:0]           unit_valid_o,
  output logic [UNITS*2-1:0]         unit_entry_o,
  output logic [UNITS*LANE_BITS-1:0] unit_lane_o,
  output logic [UNITS-1:0]           done_valid_o,
  output logic [UNITS*2-1:0]         done_entry_o,
  output logic [UNITS*LANE_BITS-1:0] done_lane_o
);
  localparam int ENTRIES = 3;
  localparam int STAGES = UNIT_LATENCY + 1;  // capture register and the unit itself
  localparam int INFO = 2 + LANE_BITS;

  logic [1:0] head_q, tail_q;
  logic [ENTRIES-1:0] valid_q;
  logic [ENTRIES*LANES-1:0] fired_q, done_q, fired, finished;
  logic push, pop;

  assign in_entry_o = tail_q;
  assign out_entry_o = head_q;
  assign out_valid_o = valid_q[head_q] && (&done_q[head_q*LANES +: LANES]);
  assign pop = out_valid_o && out_ready_i;
  assign in_ready_o = !valid_q[tail_q] || (REUSE && tail_q == head_q && pop);
  assign push = in_valid_i && in_ready_o;

  // Each unit's oldest waiting element. Entries are visited from the youngest place of the ring to
  // the head, lanes from the last, so that the first choice is written last.
  always_comb begin
    unit_valid_o = '0;
    unit_entry_o = '0;
    unit_lane_o = '0;
    fired = '0;
    for (int u = 0; u < UNITS; u++) begin
      for (int age = ENTRIES - 1; age >= 0; age--) begin
        for (int w = LANES - 1; w >= 0; w--) begin
          for (int e = 0; e < ENTRIES; e++) begin
            if ((e * LANES + w) % UNITS == u && (32'(head_q) + age) % ENTRIES == e && valid_q[e]
                && !fired_q[e*LANES + w]) begin
              unit_valid_o[u] = 1'b1;
              unit_entry_o[u*2 +: 2] = 2'(e);
              unit_lane_o[u*LANE_BITS +: LANE_BITS] = LANE_BITS'(w);
            end
          end
        end
      end
      for (int e = 0; e < ENTRIES; e++) begin
        for (int w = 0; w < LANES; w++) begin
          if (unit_valid_o[u] && unit_entry_o[u*2 +: 2] == 2'(e)
              && unit_lane_o[u*LANE_BITS +: LANE_BITS] == LANE_BITS'(w)) fired[e*LANES + w] = 1'b1;
        end
      end
    end
  end

  // Which element is where in each unit.
  for (genvar u = 0; u < UNITS; u++) begin : g_unit
    logic [STAGES-1:0] busy_q;
    logic [STAGES*INFO-1:0] info_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        busy_q <= '0;
        info_q <= '0;
      end else begin
        busy_q <= STAGES'({busy_q, unit_valid_o[u]});
        info_q <= (STAGES*INFO)'({info_q, unit_entry_o[u*2 +: 2],
            unit_lane_o[u*LANE_BITS +: LANE_BITS]});
      end
    end
    assign done_valid_o[u] = busy_q[STAGES-1];
    assign {done_entry_o[u*2 +: 2], done_lane_o[u*LANE_BITS +: LANE_BITS]} =
        info_q[(STAGES-1)*INFO +: INFO];
  end

  always_comb begin
    finished = '0;
    for (int u = 0; u < UNITS; u++) begin
      for (int e = 0; e < ENTRIES; e++) begin
        for (int w = 0; w < LANES; w++) begin
          if (done_valid_o[u] && done_entry_o[u*2 +: 2] == 2'(e)
              && done_lane_o[u*LANE_BITS +: LANE_BITS] == LANE_BITS'(w)) finished[e*LANES + w] =
                  1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q <= '0;
      tail_q <= '0;
      valid_q <= '0;
      fired_q <= '0;
      done_q <= '0;
    end else begin
      fired_q <= fired_q | fired;
      done_q <= done_q | finished;
      if (pop) begin
        valid_q[head_q] <= 1'b0;
        head_q <= head_q == 2'd2 ? 2'd0 : head_q + 2'd1;
      end
      if (push) begin
        valid_q[tail_q] <= 1'b1;
        fired_q[tail_q*LANES +: LANES] <= {LANES{in_skip_i}};
        done_q[tail_q*LANES +: LANES] <= {LANES{in_skip_i}};
        tail_q <= tail_q == 2'd2 ? 2'd0 : tail_q + 2'd1;
      end
    end
  end

  `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i, out_entry_o)
endmodule
