// SPDX-License-Identifier: Apache-2.0
// One scratchpad bank: a synchronous memory of ROWS rows with byte-masked writes, and one response
// register for each of its readers. The execute unit wins over the store path. SINGLE_PORTED: a
// write wins over any read.
//
// Latency: read taken at t -> response at t+1; it waits in the reader's own register until taken,
// so that one reader never blocks the other. Combinational: a read's ready depends on wr_en_i
// (single-ported), on ex_rd_valid_i (store path) and on that reader's response ready.
// Invariants: responses come in order per reader; a read of the row that is being written returns
// the old contents.
module weft_scratchpad_bank #(
  parameter int DIM = 16,
  parameter int ROWS = 4096,
  parameter bit SINGLE_PORTED = 1'b1,
  parameter int ADDR_BITS = $clog2(ROWS)  // derived
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 wr_en_i,
  input  logic [ADDR_BITS-1:0] wr_addr_i,
  input  logic [DIM*8-1:0]     wr_data_i,
  input  logic [DIM-1:0]       wr_mask_i,
  input  logic                 ex_rd_valid_i,
  output logic                 ex_rd_ready_o,
  input  logic [ADDR_BITS-1:0] ex_rd_addr_i,
  output logic                 ex_rsp_valid_o,
  input  logic                 ex_rsp_ready_i,
  output logic [DIM*8-1:0]     ex_rsp_data_o,
  input  logic                 st_rd_valid_i,
  output logic                 st_rd_ready_o,
  input  logic [ADDR_BITS-1:0] st_rd_addr_i,
  output logic                 st_rsp_valid_o,
  input  logic                 st_rsp_ready_i,
  output logic [DIM*8-1:0]     st_rsp_data_o
);
  logic [DIM*8-1:0] mem [ROWS];
  logic [DIM*8-1:0] row_q;
  logic             port_free, ex_fire, st_fire;

  assign port_free = !(SINGLE_PORTED && wr_en_i);
  assign ex_rd_ready_o = port_free && (!ex_rsp_valid_o || ex_rsp_ready_i);
  assign st_rd_ready_o = port_free && !ex_rd_valid_i && (!st_rsp_valid_o || st_rsp_ready_i);
  assign ex_fire = ex_rd_valid_i && ex_rd_ready_o;
  assign st_fire = st_rd_valid_i && st_rd_ready_o;

  // A process per byte: Verilator 5.006 takes no such loop of more than 64 turns.
  for (genvar i = 0; i < DIM; i++) begin : g_byte
    always_ff @(posedge clk_i) begin
      if (wr_en_i && wr_mask_i[i]) mem[wr_addr_i][i*8 +: 8] <= wr_data_i[i*8 +: 8];
    end
  end
  always_ff @(posedge clk_i) begin
    if (ex_fire || st_fire) row_q <= mem[ex_fire ? ex_rd_addr_i : st_rd_addr_i];
  end

  weft_read_response #(.WIDTH(DIM*8)) u_ex_response (
    .clk_i(clk_i), .rst_ni(rst_ni), .read_i(ex_fire), .data_i(row_q),
    .valid_o(ex_rsp_valid_o), .ready_i(ex_rsp_ready_i), .data_o(ex_rsp_data_o)
  );
  weft_read_response #(.WIDTH(DIM*8)) u_st_response (
    .clk_i(clk_i), .rst_ni(rst_ni), .read_i(st_fire), .data_i(row_q),
    .valid_o(st_rsp_valid_o), .ready_i(st_rsp_ready_i), .data_o(st_rsp_data_o)
  );
endmodule
