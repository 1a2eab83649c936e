// Reads the generated package the way RTL does: scoped names, slices by LSB and width.
module package_use (
    input  logic [63:0] rs1_i,
    input  logic [63:0] rs2_i,
    input  logic [6:0]  funct_i,
    output logic        is_ws_o,
    output logic [weft_isa_pkg::MVIN_COLS_WIDTH-1:0] cols_o,
    output logic        accumulate_o
);
  assign is_ws_o = funct_i == weft_isa_pkg::FUNCT_CONFIG_EX
      && rs1_i[weft_isa_pkg::CONFIG_EX_KIND_LSB+:weft_isa_pkg::CONFIG_EX_KIND_WIDTH] == weft_isa_pkg::CONFIG_EX_KIND
      && rs1_i[weft_isa_pkg::CONFIG_EX_DATAFLOW_LSB+:1] == weft_isa_pkg::CONFIG_EX_DATAFLOW_WS;
  assign cols_o = rs2_i[weft_isa_pkg::MVIN_COLS_LSB+:weft_isa_pkg::MVIN_COLS_WIDTH];
  assign accumulate_o = rs2_i[weft_isa_pkg::LOCAL_ACCUMULATE_LSB];
  logic unused;
  assign unused = ^{1'b0, rs1_i, rs2_i};
endmodule
