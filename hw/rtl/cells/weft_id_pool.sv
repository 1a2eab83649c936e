// SPDX-License-Identifier: Apache-2.0
// Identifiers 0 ... IDS-1 of transfers in flight. take_i takes the lowest free one, id_o; free_i
// gives free_id_i back.
//
// An identifier given back in t is free from t + 1 on. Combinational: outputs on registers only.
// Invariants: take_i only while available_o; free_i only of an identifier in use.
`include "weft_assert.svh"

module weft_id_pool #(
  parameter int IDS = 16,
  parameter int ID_BITS = IDS > 1 ? $clog2(IDS) : 1,  // derived
  parameter int COUNT_BITS = $clog2(IDS + 1)          // derived
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  take_i,
  input  logic                  free_i,
  input  logic [ID_BITS-1:0]    free_id_i,
  output logic                  available_o,
  output logic [ID_BITS-1:0]    id_o,
  output logic [IDS-1:0]        used_o,
  output logic [COUNT_BITS-1:0] count_o       // in use
);
  logic [IDS-1:0] used_q;

  assign available_o = !(&used_q);
  assign used_o = used_q;
  always_comb begin
    id_o = '0;
    count_o = '0;
    for (int i = IDS - 1; i >= 0; i--) begin
      if (!used_q[i]) id_o = ID_BITS'(i);
      count_o = count_o + COUNT_BITS'(used_q[i]);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q <= '0;
    end else begin
      for (int i = 0; i < IDS; i++) begin
        if (take_i && id_o == ID_BITS'(i)) used_q[i] <= 1'b1;
        else if (free_i && free_id_i == ID_BITS'(i)) used_q[i] <= 1'b0;
      end
    end
  end

  `WEFT_ASSERT(TakesOneThatIsFree, !take_i || available_o)
  `WEFT_ASSERT(FreesOneInUse, !free_i || used_q[free_id_i])
endmodule
