// SPDX-License-Identifier: Apache-2.0
// Every form of the shared cells side by side, driven by the same inputs.
//   FIFO v:    depth 1 + v / 4, PIPE = v bit 0, FLOW = v bit 1
//   pipe v:    v stages
//   window v:  depth 2 + v, 2 + v / 2 heads (2, 2, 3, 3)
//   arbiter v: v + 1 inputs
//   skew v:    4 elements, step 1 + v / 2, REVERSE = v bit 0
//   nest:      3 loops, which step with out_ready_i
//   burst cut: bursts of 4, 8 and 16 bytes; address and bytes left are the low bytes of vector_i
//   id pool:   5 identifiers; takes one with in_valid_i, frees in_data_i with out_ready_i
//   in flight: up to 5 commands, one more with in_valid_i
module weft_cells_top #(
  parameter int FIFOS = 16,
  parameter int PIPES = 4,
  parameter int WINDOWS = 4,
  parameter int ARBITERS = 6,
  parameter int SKEWS = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   in_valid_i,
  input  logic [7:0]             in_data_i,
  input  logic                   out_ready_i,
  input  logic [1:0]             pop_i,
  input  logic [5:0]             request_i,
  input  logic [31:0]            vector_i,
  input  logic [11:0]            nest_end_i,
  input  logic [11:0]            nest_by_i,
  input  logic [1:0]             completed_i,
  output logic [FIFOS-1:0]       fifo_ready_o,
  output logic [FIFOS-1:0]       fifo_valid_o,
  output logic [FIFOS*8-1:0]     fifo_data_o,
  output logic [FIFOS*4-1:0]     fifo_count_o,
  output logic [PIPES-1:0]       pipe_ready_o,
  output logic [PIPES-1:0]       pipe_valid_o,
  output logic [PIPES*8-1:0]     pipe_data_o,
  output logic [PIPES-1:0]       pipe_busy_o,
  output logic [WINDOWS-1:0]     window_ready_o,
  output logic [WINDOWS*3-1:0]   window_valid_o,
  output logic [WINDOWS*24-1:0]  window_data_o,
  output logic [ARBITERS*6-1:0]  grant_o,
  output logic [SKEWS*32-1:0]    skew_o,
  output logic [11:0]            nest_at_o,
  output logic [2:0]             nest_last_o,
  output logic [14:0]            cut_o,      // size, offset, bytes
  output logic [4:0]             ids_used_o,
  output logic [2:0]             ids_count_o,
  output logic [2:0]             ids_next_o,
  output logic                   ids_available_o,
  output logic                   flight_full_o
);
  for (genvar v = 0; v < FIFOS; v++) begin : g_fifo
    localparam int DEPTH = 1 + v / 4;
    logic [$clog2(DEPTH+1)-1:0] count;
    weft_fifo #(.WIDTH(8), .DEPTH(DEPTH), .PIPE((v & 1) != 0), .FLOW((v & 2) != 0)) u_fifo (
      .clk_i,
      .rst_ni,
      .in_valid_i,
      .in_ready_o(fifo_ready_o[v]),
      .in_data_i,
      .out_valid_o(fifo_valid_o[v]),
      .out_ready_i,
      .out_data_o(fifo_data_o[v*8+:8]),
      .count_o(count)
    );
    assign fifo_count_o[v*4+:4] = 4'(count);
  end
  for (genvar v = 0; v < PIPES; v++) begin : g_pipe
    weft_pipe #(.WIDTH(8), .STAGES(v)) u_pipe (
      .clk_i,
      .rst_ni,
      .in_valid_i,
      .in_ready_o(pipe_ready_o[v]),
      .in_data_i,
      .out_valid_o(pipe_valid_o[v]),
      .out_ready_i,
      .out_data_o(pipe_data_o[v*8+:8]),
      .busy_o(pipe_busy_o[v])
    );
  end
  for (genvar v = 0; v < WINDOWS; v++) begin : g_window
    localparam int HEADS = 2 + v / 2;
    logic [HEADS-1:0] valid;
    logic [1:0] present;
    always_comb begin
      present = '0;
      for (int h = 0; h < HEADS; h++) present = present + 2'(valid[h]);
    end
    weft_window #(.WIDTH(8), .DEPTH(2 + v), .HEADS(HEADS)) u_window (
      .clk_i,
      .rst_ni,
      .in_valid_i,
      .in_ready_o(window_ready_o[v]),
      .in_data_i,
      .head_valid_o(valid),
      .head_data_o(window_data_o[v*24+:HEADS*8]),
      .pop_i(pop_i < present ? pop_i : present)
    );
    if (HEADS < 3) begin : g_fill
      assign window_data_o[v*24+16+:8] = '0;
    end
    assign window_valid_o[v*3+:3] = 3'(valid);
  end
  for (genvar v = 0; v < ARBITERS; v++) begin : g_arbiter
    logic [v:0] grant;
    weft_arbiter #(.INPUTS(v + 1)) u_arbiter (.request_i(request_i[v:0]), .grant_o(grant));
    assign grant_o[v*6+:6] = 6'(grant);
  end
  for (genvar v = 0; v < SKEWS; v++) begin : g_skew
    weft_skew #(.ELEMENTS(4), .WIDTH(8), .STEP(1 + v / 2), .REVERSE((v & 1) != 0)) u_skew (
      .clk_i, .in_i(vector_i), .out_o(skew_o[v*32+:32]));
  end
  weft_nest #(.LOOPS(3), .WIDTH(4)) u_nest (
    .clk_i, .rst_ni, .step_i(out_ready_i), .end_i(nest_end_i), .by_i(nest_by_i), .at_o(nest_at_o),
    .last_o(nest_last_o)
  );
  weft_burst_cut #(.BUS_BYTES(4), .MAX_BYTES(16), .LEFT_BITS(8)) u_cut (
    .address_i(vector_i[7:0]), .left_i(vector_i[15:8]),
    .size_o(cut_o[14:10]), .offset_o(cut_o[9:5]), .bytes_o(cut_o[4:0])
  );
  weft_id_pool #(.IDS(5)) u_ids (
    .clk_i, .rst_ni, .take_i(in_valid_i && ids_available_o),
    .free_i(out_ready_i && ids_used_o[in_data_i[2:0]]),
    .free_id_i(in_data_i[2:0]), .available_o(ids_available_o), .id_o(ids_next_o),
    .used_o(ids_used_o),
    .count_o(ids_count_o)
  );
  weft_in_flight #(.MAX(5)) u_flight (
    .clk_i, .rst_ni, .take_i(in_valid_i && !flight_full_o), .completed_i, .full_o(flight_full_o)
  );
endmodule
