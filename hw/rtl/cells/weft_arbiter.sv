// SPDX-License-Identifier: Apache-2.0
// Fixed-priority arbiter: request 0 wins over 1 over 2 ...; at most one grant. Purely
// combinational, no latency.
// Invariants: a grant is a request; there is a grant exactly when there is a request.
module weft_arbiter #(
  parameter int INPUTS = 2
) (
  input  logic [INPUTS-1:0] request_i,
  output logic [INPUTS-1:0] grant_o
);
  // The lowest set bit of a vector is the vector and its two's complement.
  assign grant_o = request_i & (~request_i + 1'b1);
endmodule
