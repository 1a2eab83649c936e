// SPDX-License-Identifier: Apache-2.0
// Address translation as a requester sees it when translation is off: addresses pass unchanged, but
// a request for another page than the requester's last one has to ask the shared translation
// buffer, which answers one of the two per cycle. With translation off the buffer never misses, so
// only two such requests in the same cycle cost a cycle; the buffer's size has no effect.
//
// A requester looks its page up in the cycle before its address is used (look_valid_i,
// look_page_i). From the next cycle on miss_o tells whether the request must wait; it is low at
// once if the page was the last one or the buffer answers.
// Round robin: after client i was answered the other one comes first; after reset client 1.
// flush_i forgets the last pages.
// Combinational: none from an input to an output.
// Invariants: a waiting client is answered within two cycles.
module weft_page_filter #(
  parameter int PAGE_BITS = 52
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   flush_i,
  input  logic [1:0]             look_valid_i,
  input  logic [2*PAGE_BITS-1:0] look_page_i,
  output logic [1:0]             miss_o,
  output logic                   ev_miss_cycle_o,  // of the shared buffer: never
  output logic                   ev_hit_o,
  output logic                   ev_request_o
);
  logic [1:0] known_q, asks_q, answered;
  logic [2*PAGE_BITS-1:0] last_q, page_q;
  logic last_answered_q;

  always_comb begin
    answered = asks_q;
    if (&asks_q) answered = last_answered_q ? 2'b01 : 2'b10;
  end
  assign miss_o = asks_q & ~answered;
  assign ev_request_o = |answered;
  assign ev_hit_o = |answered;
  assign ev_miss_cycle_o = 1'b0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q <= '0;
      asks_q <= '0;
      last_q <= '0;
      page_q <= '0;
      last_answered_q <= 1'b0;
    end else begin
      if (|answered) last_answered_q <= answered[1];
      for (int i = 0; i < 2; i++) begin
        if (answered[i]) begin
          asks_q[i] <= 1'b0;
          known_q[i] <= 1'b1;
          last_q[i*PAGE_BITS +: PAGE_BITS] <= page_q[i*PAGE_BITS +: PAGE_BITS];
        end
        if (look_valid_i[i]) begin
          page_q[i*PAGE_BITS +: PAGE_BITS] <= look_page_i[i*PAGE_BITS +: PAGE_BITS];
          asks_q[i] <= !known_q[i] ||
              last_q[i*PAGE_BITS +: PAGE_BITS] != look_page_i[i*PAGE_BITS +: PAGE_BITS];
        end
        if (flush_i) known_q[i] <= 1'b0;
      end
    end
  end
endmodule
