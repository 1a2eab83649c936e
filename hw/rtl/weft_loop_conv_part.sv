// SPDX-License-Identifier: Apache-2.0
// What the five parts of weft_loop_conv have in common: the slot that the part works on, and the
// two-stage pipeline that its commands pass. What the first stage holds (early) is the part's own:
// a command is made of it on the way to the second, so that a product of products has two cycles.
//
// A start makes the part busy; busy_o lasts until the cycle with finish_i. While busy a command
// enters the pipeline in each cycle with emit_i and take_o.
// Latency: start in t, busy_o in t + 1; a command taken in t + 1 leaves in t + 3. Combinational:
// take_o on emit_i and cmd_ready_i (through full stages) and blocked_i; cmd_valid_o on blocked_i;
// idle_o on emit_i.
`include "weft_assert.svh"

module weft_loop_conv_part #(
  parameter int EARLY = 32
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_valid_i,
  output logic        start_ready_o,
  input  logic        start_slot_i,
  output logic        start_o,        // taken
  output logic        busy_o,
  output logic        first_o,        // no command of this slot has been taken
  input  logic        finish_i,
  // commands of the part
  input  logic        emit_i,
  output logic        take_o,
  input  logic [EARLY-1:0] early_i,
  // the command of what is in the first stage
  output logic [EARLY-1:0] early_o,
  input  logic [6:0]  funct_i,
  input  logic [63:0] rs1_i,
  input  logic [63:0] rs2_i,
  // to the loop
  input  logic        blocked_i,      // too many commands of this class in flight
  output logic        cmd_valid_o,
  input  logic        cmd_ready_i,
  output logic [6:0]  cmd_funct_o,
  output logic [63:0] cmd_rs1_o,
  output logic [63:0] cmd_rs2_o,
  output logic        idle_o,
  output logic        slot_o
);
  logic busy_q, first_q, slot_q;
  logic pipe_valid, pipe_ready, early_valid, early_ready, early_busy;
  logic pipe_out_valid, pipe_busy;

  assign pipe_valid = busy_q && emit_i;
  weft_pipe #(.WIDTH(EARLY), .STAGES(1)) u_early (
    .clk_i, .rst_ni,
    .in_valid_i(pipe_valid), .in_ready_o(pipe_ready), .in_data_i(early_i),
    .out_valid_o(early_valid), .out_ready_i(early_ready), .out_data_o(early_o),
    .busy_o(early_busy)
  );
  weft_pipe #(.WIDTH(7 + 64 + 64), .STAGES(1)) u_pipe (
    .clk_i, .rst_ni,
    .in_valid_i(early_valid), .in_ready_o(early_ready), .in_data_i({funct_i, rs1_i, rs2_i}),
    .out_valid_o(pipe_out_valid), .out_ready_i(cmd_ready_i && !blocked_i),
    .out_data_o({cmd_funct_o, cmd_rs1_o, cmd_rs2_o}), .busy_o(pipe_busy)
  );
  assign cmd_valid_o = pipe_out_valid && !blocked_i;
  assign take_o = pipe_valid && pipe_ready;
  assign idle_o = !busy_q && !early_busy && !pipe_busy;
  assign start_ready_o = idle_o;
  assign start_o = start_valid_i && start_ready_o;
  assign busy_o = busy_q;
  assign first_o = first_q;
  assign slot_o = slot_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      first_q <= 1'b0;
      slot_q <= 1'b0;
    end else if (start_o) begin
      busy_q <= 1'b1;
      first_q <= 1'b1;
      slot_q <= start_slot_i;
    end else begin
      if (finish_i) busy_q <= 1'b0;
      if (take_o) first_q <= 1'b0;
    end
  end

  `WEFT_ASSERT_STREAM(PipeStable, pipe_out_valid, cmd_ready_i && !blocked_i,
      {cmd_funct_o, cmd_rs1_o, cmd_rs2_o})
  `WEFT_ASSERT(FinishesWhileBusy, !finish_i || busy_q)
endmodule
