// SPDX-License-Identifier: Apache-2.0
// The destinations of all products on their way, to hold back an operation that would read one of
// them too early.
//
// A destination enters with push_i, when the operation that carries it starts, and the oldest
// leaves with pop_i, when the last row of its result is written; from the next cycle on its rows
// may be read. A query hits when its rows and those of a destination in the same memory have a row
// number between their first and last in common; strided matrices that interleave count as
// overlapping.
// hit_o is combinational in the queries. Invariants: order of push is order of pop; never more than
// ENTRIES (full_o).
`include "weft_assert.svh"

module weft_execute_hazards #(
  parameter int ROW_BITS = 14,
  parameter int ENTRIES = 8,
  parameter int QUERIES = 3
) (
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        push_i,
  input  logic                        push_acc_i,
  input  logic [ROW_BITS-1:0]         push_first_i,
  input  logic [ROW_BITS-1:0]         push_last_i,
  input  logic                        pop_i,
  input  logic [QUERIES-1:0]          query_valid_i,
  input  logic [QUERIES-1:0]          query_acc_i,
  input  logic [QUERIES*ROW_BITS-1:0] query_first_i,
  input  logic [QUERIES*ROW_BITS-1:0] query_last_i,
  output logic                        hit_o,
  output logic                        any_o,
  output logic                        full_o
);
  localparam int PTR_BITS = $clog2(ENTRIES);
  localparam logic [PTR_BITS-1:0] LAST = PTR_BITS'(ENTRIES - 1);

  logic [ENTRIES-1:0] valid_q, hits;
  logic [PTR_BITS-1:0] oldest_q, next_q;

  for (genvar e = 0; e < ENTRIES; e++) begin : g_entry
    logic acc_q;
    logic [ROW_BITS-1:0] first_q, last_q;
    logic [QUERIES-1:0] hit;
    always_ff @(posedge clk_i) begin
      if (push_i && next_q == PTR_BITS'(e)) begin
        acc_q <= push_acc_i;
        first_q <= push_first_i;
        last_q <= push_last_i;
      end
    end
    for (genvar q = 0; q < QUERIES; q++) begin : g_query
      assign hit[q] = query_valid_i[q] && query_acc_i[q] == acc_q &&
                      query_first_i[q*ROW_BITS+:ROW_BITS] <= last_q && first_q <=
                      query_last_i[q*ROW_BITS+:ROW_BITS];
    end
    assign hits[e] = valid_q[e] && |hit;
  end
  assign hit_o = |hits;
  assign any_o = |valid_q;
  assign full_o = &valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      oldest_q <= '0;
      next_q <= '0;
    end else begin
      if (pop_i) begin
        valid_q[oldest_q] <= 1'b0;
        oldest_q <= oldest_q == LAST ? '0 : oldest_q + 1'b1;
      end
      if (push_i) begin
        valid_q[next_q] <= 1'b1;
        next_q <= next_q == LAST ? '0 : next_q + 1'b1;
      end
    end
  end

  `WEFT_ASSERT(RoomForAProduct, !(push_i && full_o))
  `WEFT_ASSERT(ResultHasAProduct, !(pop_i && !any_o))
endmodule
