// SPDX-License-Identifier: Apache-2.0
// Splits a weight-stationary preload of a transposed B in two, so that B can pass the transposer
// first.
//
// The transposer hands a matrix out during the product after the one in which it went in. With B
// transposed and weight-stationary, `preload B -> C; compute_preloaded A` therefore becomes
//   preload B -> garbage;  empty compute;  preload garbage -> C;  compute_preloaded A
// where the first preload fills the transposer and the second takes the columns out into the
// weights. Only the second preload and the compute carry their ids; a compute without one is empty:
// it must be carried out together with the preload behind it, reads nothing and names its operands
// only so that the first preload waits for them.
// Everything else passes unchanged. Such a preload waits for the command behind it, which decides:
// compute_accumulated keeps the weights and needs no split.
//
// The transposition is taken from config_ex as it passes. Latency 1 cycle; in_ready_o does not
// depend on out_ready_i.
// waiting_o: a preload is held back only because the command behind it has not come. active_o: in
// the middle of a split.
`include "weft_assert.svh"

module weft_preload_unroller #(
  parameter int ID_BITS = 5,
  parameter int DATAFLOW = weft_pkg::MESH_DATAFLOW_BOTH,
  parameter bit TRANSPOSER = 1'b1
) (
  input  logic               clk_i,
  input  logic               rst_ni,
  input  logic               in_valid_i,
  output logic               in_ready_o,
  input  logic [6:0]         in_funct_i,
  input  logic [63:0]        in_rs1_i,
  input  logic [63:0]        in_rs2_i,
  input  logic [ID_BITS-1:0] in_id_i,
  output logic               out_valid_o,
  input  logic               out_ready_i,
  output logic [6:0]         out_funct_o,
  output logic [63:0]        out_rs1_o,
  output logic [63:0]        out_rs2_o,
  output logic [ID_BITS-1:0] out_id_o,
  output logic               out_id_valid_o,
  output logic               waiting_o,
  output logic               active_o
);
  localparam int COMMAND_BITS = 7 + 64 + 64 + ID_BITS;
  typedef enum logic [1:0] {
    IDLE,
    COMPUTE,  // send the empty compute next
    PRELOAD   // send the second preload next
  } state_e;

  logic [1:0] head_valid;
  logic [2*COMMAND_BITS-1:0] head_data;
  logic [6:0] funct, next_funct;
  logic [63:0] rs1, rs2, next_rs1, next_rs2;
  logic [ID_BITS-1:0] id, next_id;
  logic pop;

  weft_window #(.WIDTH(COMMAND_BITS), .DEPTH(2), .HEADS(2)) u_window (
    .clk_i,
    .rst_ni,
    .in_valid_i,
    .in_ready_o,
    .in_data_i({in_funct_i, in_rs1_i, in_rs2_i, in_id_i}),
    .head_valid_o(head_valid),
    .head_data_o(head_data),
    .pop_i({1'b0, pop})
  );
  assign {next_funct, next_rs1, next_rs2, next_id, funct, rs1, rs2, id} = head_data;
  logic unused;
  assign unused = &{1'b0, next_id};

  state_e state_q, state_d;
  logic b_transposed_q, b_transposed_d, is_preload, is_config, split, fire;

  assign is_preload = funct == weft_isa_pkg::FUNCT_PRELOAD;
  assign is_config = funct == weft_isa_pkg::FUNCT_CONFIG_EX;
  assign split = is_preload && b_transposed_q &&
      next_funct == weft_isa_pkg::FUNCT_COMPUTE_PRELOADED;
  assign waiting_o = state_q == IDLE && head_valid[0] && is_preload && b_transposed_q &&
      !head_valid[1];
  assign active_o = state_q != IDLE;

  assign out_valid_o = head_valid[0] && !waiting_o;
  assign fire = out_valid_o && out_ready_i;
  assign out_id_o = id;
  always_comb begin
    out_funct_o = funct;
    out_rs1_o = rs1;
    out_rs2_o = rs2;
    out_id_valid_o = 1'b1;
    pop = fire;
    state_d = state_q;
    unique case (state_q)
      COMPUTE: begin
        out_funct_o = weft_isa_pkg::FUNCT_COMPUTE_ACCUMULATED;
        out_rs1_o = next_rs1;
        out_rs2_o = next_rs2;
        out_id_valid_o = 1'b0;
        pop = 1'b0;
        if (fire) state_d = PRELOAD;
      end
      PRELOAD: begin
        out_rs1_o = {rs1[63:weft_isa_pkg::PRELOAD_COLS_LSB], weft_isa_pkg::LOCAL_GARBAGE};
        if (fire) state_d = IDLE;
      end
      default: begin
        if (split) begin
          out_rs2_o = {rs2[63:weft_isa_pkg::PRELOAD_DEST_COLS_LSB], weft_isa_pkg::LOCAL_GARBAGE};
          out_id_valid_o = 1'b0;
          pop = 1'b0;
          if (fire) state_d = COMPUTE;
        end
      end
    endcase
  end

  // config_ex: only the execute unit's configurations come here.
  always_comb begin
    b_transposed_d = b_transposed_q;
    if (fire && is_config && !rs1[weft_isa_pkg::CONFIG_EX_STRIDES_ONLY_LSB])
      b_transposed_d = TRANSPOSER && rs1[weft_isa_pkg::CONFIG_EX_B_TRANSPOSE_LSB] &&
                       (DATAFLOW == weft_pkg::MESH_DATAFLOW_WS ||
                        (DATAFLOW == weft_pkg::MESH_DATAFLOW_BOTH &&
                         rs1[weft_isa_pkg::CONFIG_EX_DATAFLOW_LSB] ==
                         weft_isa_pkg::CONFIG_EX_DATAFLOW_WS));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= IDLE;
      b_transposed_q <= 1'b0;
    end else begin
      state_q <= state_d;
      b_transposed_q <= b_transposed_d;
    end
  end

  `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i,
                      {out_funct_o, out_rs1_o, out_rs2_o, out_id_o, out_id_valid_o})
endmodule
