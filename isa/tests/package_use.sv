// SPDX-License-Identifier: Apache-2.0
// Reads the generated package the way RTL does: scoped names, slices by LSB and width.
module package_use (
    input  logic [63:0] rs1_i,
    input  logic [63:0] rs2_i,
    input  logic [6:0]  funct_i,
    output logic        is_ws_o,
    output logic [weft_isa_pkg::MVIN_COLS_WIDTH-1:0] cols_o,
    output logic        accumulate_o,
    output logic [31:0] row_o,
    output logic [weft_isa_pkg::EVENTS-1:0] events_o,
    output logic [32*weft_isa_pkg::EXTERNALS-1:0] external_o
);
  assign is_ws_o = funct_i == weft_isa_pkg::FUNCT_CONFIG_EX
      && rs1_i[weft_isa_pkg::CONFIG_EX_KIND_LSB+:weft_isa_pkg::CONFIG_EX_KIND_WIDTH]
         == weft_isa_pkg::CONFIG_EX_KIND
      && rs1_i[weft_isa_pkg::CONFIG_EX_DATAFLOW_LSB+:1] == weft_isa_pkg::CONFIG_EX_DATAFLOW_WS;
  assign cols_o = rs2_i[weft_isa_pkg::MVIN_COLS_LSB+:weft_isa_pkg::MVIN_COLS_WIDTH];
  assign accumulate_o = rs2_i[weft_isa_pkg::LOCAL_ACCUMULATE_LSB];
  assign row_o = rs2_i[31:0] & weft_isa_pkg::LOCAL_ROW_MASK;
  always_comb begin
    events_o = '0;
    events_o[weft_isa_pkg::EV_LOAD_ACTIVE] = rs2_i[31:0] != weft_isa_pkg::LOCAL_GARBAGE;
    external_o = '0;
    external_o[32*weft_isa_pkg::EXT_BYTES_READ+:32] = row_o;
  end
  logic unused;
  assign unused = ^{1'b0, rs1_i, rs2_i};
endmodule
