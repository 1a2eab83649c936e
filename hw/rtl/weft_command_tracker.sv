// SPDX-License-Identifier: Apache-2.0
// Commands of a memory controller that are still being carried out: the work each has left, and its
// tag.
// An allocation takes the lowest free entry; returns count an entry down; an entry with nothing
// left completes, the lowest first, one per cycle.
//
// Latency: the last return at t -> done_valid_o at t+1. An allocation of 0 completes in the next
// cycle.
// No combinational path from an input to alloc_ready_o, alloc_id_o or done_*_o.
// Invariants: an entry's count never goes below zero; returns name allocated entries only.
`include "weft_assert.svh"

module weft_command_tracker #(
  parameter int ENTRIES = 2,
  parameter int TAG_BITS = 5,
  parameter int COUNT_BITS = 32
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  alloc_valid_i,
  output logic                  alloc_ready_o,
  input  logic [TAG_BITS-1:0]   alloc_tag_i,
  input  logic [COUNT_BITS-1:0] alloc_count_i,
  output logic [7:0]            alloc_id_o,
  input  logic                  return_valid_i,
  input  logic [7:0]            return_id_i,
  input  logic [COUNT_BITS-1:0] return_count_i,
  output logic                  done_valid_o,
  input  logic                  done_ready_i,
  output logic [TAG_BITS-1:0]   done_tag_o,
  output logic [ENTRIES-1:0]    valid_o   // occupied entries
);
  logic [ENTRIES-1:0] valid_q, finished;
  logic [ENTRIES*TAG_BITS-1:0] tag_q;
  logic [ENTRIES*COUNT_BITS-1:0] left_q;
  logic [7:0] done_id;

  assign valid_o = valid_q;
  assign alloc_ready_o = !(&valid_q);
  assign done_valid_o = |finished;

  always_comb begin
    alloc_id_o = '0;
    done_id = '0;
    done_tag_o = '0;
    for (int i = ENTRIES - 1; i >= 0; i--) begin
      finished[i] = valid_q[i] && left_q[i*COUNT_BITS +: COUNT_BITS] == '0;
      if (!valid_q[i]) alloc_id_o = 8'(i);
      if (finished[i]) begin
        done_id = 8'(i);
        done_tag_o = tag_q[i*TAG_BITS +: TAG_BITS];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      tag_q <= '0;
      left_q <= '0;
    end else begin
      for (int i = 0; i < ENTRIES; i++) begin
        if (alloc_valid_i && alloc_ready_o && alloc_id_o == 8'(i)) begin
          valid_q[i] <= 1'b1;
          tag_q[i*TAG_BITS +: TAG_BITS] <= alloc_tag_i;
          left_q[i*COUNT_BITS +: COUNT_BITS] <= alloc_count_i;
        end else if (return_valid_i && return_id_i == 8'(i)) begin
          left_q[i*COUNT_BITS +: COUNT_BITS] <= left_q[i*COUNT_BITS +: COUNT_BITS] - return_count_i;
        end else if (done_valid_o && done_ready_i && done_id == 8'(i)) begin
          valid_q[i] <= 1'b0;
        end
      end
    end
  end

  for (genvar i = 0; i < ENTRIES; i++) begin : g_assert
    `WEFT_ASSERT(ReturnsToACommand, !(return_valid_i && return_id_i == 8'(i)) || valid_q[i])
    `WEFT_ASSERT(ReturnsWhatIsLeft, !(return_valid_i && return_id_i == 8'(i)) ||
                 left_q[i*COUNT_BITS +: COUNT_BITS] >= return_count_i)
  end
  // Of several finished commands the lowest entry goes first, so that only valid is stable.
  `WEFT_ASSERT_STREAM(DoneStays, done_valid_o, done_ready_i, 1'b0)
endmodule
