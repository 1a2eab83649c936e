// SPDX-License-Identifier: Apache-2.0
// Performance counters: the counter file and its command.
//
// Each counter has an event number and an external flag. An internal counter counts the cycles in
// which event_i[number] is high; an external one reads a number kept elsewhere: 1 to 3 entries of
// the reservation station (load, store, execute), 4 and 5 bytes read and written, 6 and 7 requests
// in flight summed over cycles (read, write). Event 0 never happens. The command (operand rs1):
//   bit 0 clear all counters, the snapshot and the sums; bit 1 leave the snapshot; bit 2 freeze
//   what reads return; bit 3 give counter [6:4] the event [17:12], external if bit 31, and clear it
// and returns the value of counter [6:4] from before it took effect, from the snapshot while one is
// active.
// Latency: command taken in t, response from t + 1 until it is taken; one command at a time.
// COUNTERS 0: reads are 0. Without returns_i the command has its effect and no response.
`include "weft_assert.svh"

module weft_counters #(
  parameter int COUNTERS = 8,
  parameter int EVENTS = weft_isa_pkg::EVENTS     // numbers 0 to 44
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,
  input  logic                    cmd_valid_i,
  output logic                    cmd_ready_o,
  input  logic [63:0]             cmd_rs1_i,
  input  logic [4:0]              cmd_rd_i,
  input  logic                    cmd_returns_i,
  output logic                    resp_valid_o,
  input  logic                    resp_ready_i,
  output logic [4:0]              resp_rd_o,
  output logic [63:0]             resp_data_o,
  input  logic [EVENTS-1:0]       event_i,
  input  logic [7:0]              ld_entries_i,
  input  logic [7:0]              st_entries_i,
  input  logic [7:0]              ex_entries_i,
  input  logic [15:0]             bytes_read_i,      // in this cycle
  input  logic [15:0]             bytes_written_i,
  input  logic [15:0]             reads_in_flight_i,
  input  logic [15:0]             writes_in_flight_i
);
  logic take, clear, respond_q;
  logic [4:0] rd_q;
  logic [31:0] data_q, value;
  assign cmd_ready_o = !respond_q;
  assign take = cmd_valid_i && cmd_ready_o;
  assign clear = take && cmd_rs1_i[weft_isa_pkg::COUNTER_RESET_LSB];
  assign resp_valid_o = respond_q;
  assign resp_rd_o = rd_q;
  assign resp_data_o = {32'd0, data_q};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      respond_q <= 1'b0;
      rd_q <= '0;
      data_q <= '0;
    end else if (take) begin
      respond_q <= cmd_returns_i;
      rd_q <= cmd_rd_i;
      data_q <= value;
    end else if (resp_ready_i) begin
      respond_q <= 1'b0;
    end
  end

  if (COUNTERS > 0) begin : g_file
    logic snapshot_q;
    logic [COUNTERS*32-1:0] count_q, frozen_q;
    logic [COUNTERS*32-1:0] now;
    logic [2:0] index;
    logic [31:0] bytes_read_q, bytes_written_q, reads_q, writes_q;
    logic [weft_isa_pkg::EXTERNALS*32-1:0] external;
    always_comb begin
      external = '0;
      external[weft_isa_pkg::EXT_LOAD_ENTRIES*32 +: 32] = 32'(ld_entries_i);
      external[weft_isa_pkg::EXT_STORE_ENTRIES*32 +: 32] = 32'(st_entries_i);
      external[weft_isa_pkg::EXT_EXECUTE_ENTRIES*32 +: 32] = 32'(ex_entries_i);
      external[weft_isa_pkg::EXT_BYTES_READ*32 +: 32] = bytes_read_q;
      external[weft_isa_pkg::EXT_BYTES_WRITTEN*32 +: 32] = bytes_written_q;
      external[weft_isa_pkg::EXT_READS_IN_FLIGHT*32 +: 32] = reads_q;
      external[weft_isa_pkg::EXT_WRITES_IN_FLIGHT*32 +: 32] = writes_q;
    end
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        bytes_read_q <= '0;
        bytes_written_q <= '0;
        reads_q <= '0;
        writes_q <= '0;
      end else if (clear) begin
        bytes_read_q <= '0;
        bytes_written_q <= '0;
        reads_q <= '0;
        writes_q <= '0;
      end else begin
        bytes_read_q <= bytes_read_q + 32'(bytes_read_i);
        bytes_written_q <= bytes_written_q + 32'(bytes_written_i);
        reads_q <= reads_q + 32'(reads_in_flight_i);
        writes_q <= writes_q + 32'(writes_in_flight_i);
      end
    end
    assign index = cmd_rs1_i[weft_isa_pkg::COUNTER_INDEX_LSB+:3];
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) snapshot_q <= 1'b0;
      else if (clear) snapshot_q <= 1'b0;
      else if (take && cmd_rs1_i[weft_isa_pkg::COUNTER_SNAPSHOT_RESET_LSB]) snapshot_q <= 1'b0;
      else if (take && cmd_rs1_i[weft_isa_pkg::COUNTER_SNAPSHOT_LSB]) snapshot_q <= 1'b1;
    end
    for (genvar c = 0; c < COUNTERS; c++) begin : g_counter
      logic external_q, happens, configure;
      logic [5:0] event_q;
      logic [63:0] events;
      assign events = 64'(event_i);
      assign happens = events[event_q] && event_q != '0;
      assign configure = take && cmd_rs1_i[weft_isa_pkg::COUNTER_CONFIGURE_LSB] && index == 3'(c);
      assign now[c*32+:32] = external_q ?
          (event_q < 6'(weft_isa_pkg::EXTERNALS) ? external[{event_q[2:0], 5'd0}+:32] : '0) :
          count_q[c*32+:32];
      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) begin
          external_q <= 1'b0;
          event_q <= '0;
          count_q[c*32+:32] <= '0;
          frozen_q[c*32+:32] <= '0;
        end else begin
          if (configure) begin
            external_q <= cmd_rs1_i[weft_isa_pkg::COUNTER_EXTERNAL_LSB];
            event_q <= cmd_rs1_i[weft_isa_pkg::COUNTER_EVENT_LSB+:6];
          end
          if (clear || configure) count_q[c*32+:32] <= '0;
          else if (happens) count_q[c*32+:32] <= count_q[c*32+:32] + 32'd1;
          if (clear) frozen_q[c*32+:32] <= '0;
          else if (take && cmd_rs1_i[weft_isa_pkg::COUNTER_SNAPSHOT_LSB] &&
                   !cmd_rs1_i[weft_isa_pkg::COUNTER_SNAPSHOT_RESET_LSB]) frozen_q[c*32+:32] <=
                   now[c*32+:32];
        end
      end
    end
    always_comb begin
      value = '0;
      for (int c = 0; c < COUNTERS; c++)
        if (index == 3'(c)) value = snapshot_q ? frozen_q[c*32+:32] : now[c*32+:32];
    end
    logic unused;
    assign unused = &{1'b0, cmd_rs1_i};
  end else begin : g_none
    logic unused;
    assign value = '0;
    assign unused = &{1'b0, cmd_rs1_i, event_i, clear, ld_entries_i, st_entries_i, ex_entries_i,
        bytes_read_i, bytes_written_i, reads_in_flight_i, writes_in_flight_i};
  end

  `WEFT_ASSERT_STREAM(ResponseStable, resp_valid_o, resp_ready_i, {resp_rd_o, resp_data_o})
endmodule
