// SPDX-License-Identifier: Apache-2.0
// Row spacing: keeps result rows apart that meet in one sub-bank of a single-ported accumulator.
//
// Adding a row reads and writes its sub-bank, so an accumulating row takes two accesses and must
// not be followed, one cycle later, by another row to the same sub-bank. Results cannot wait, but
// they leave the mesh in the rhythm in which the rows that push them out were fed: hold_o keeps
// such a row from being fed for one cycle.
//
// tag_i is the tag of execute_writeback of the product that row index_i of total_i pushes out. Rows
// of a product that are consecutive always differ in sub-bank; strides that are multiples of
// SUB_BANKS, and the border between two products, cause holds. Sub-banks of different banks count
// as one. SUB_BANKS 1: never holds (two-ported).
// hold_o depends on registers of this module and on the inputs except fed_i.
module weft_row_spacing #(
  parameter int SUB_BANKS = 1,
  parameter int ROW_BITS = 14,
  parameter int COUNT_BITS = 3,
  parameter int ID_BITS = 5,
  parameter int TAG_BITS = 3 + ID_BITS + ROW_BITS + 2 * COUNT_BITS  // derived
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  os_i,
  input  logic [ROW_BITS-1:0]   c_stride_i,
  input  logic [TAG_BITS-1:0]   tag_i,
  input  logic [COUNT_BITS-1:0] index_i,
  input  logic [COUNT_BITS-1:0] total_i,
  input  logic                  fed_i,   // the row is fed in this cycle
  output logic                  hold_o
);
  if (SUB_BANKS == 1) begin : g_two_ports
    logic unused;
    assign unused = &{1'b0, clk_i, rst_ni, os_i, c_stride_i, tag_i, index_i, total_i, fed_i};
    assign hold_o = 1'b0;
  end else begin : g_one_port
    localparam int SUB_BITS = $clog2(SUB_BANKS);

    logic tag_valid, is_acc, accumulate, visits, visited_q, accumulated_q;
    logic [ID_BITS-1:0] id;
    logic [ROW_BITS-1:0] base;
    logic [COUNT_BITS-1:0] rows, cols, final_index, index;
    logic [SUB_BITS-1:0] offset, sub, sub_q;

    assign {tag_valid, id, is_acc, accumulate, base, rows, cols} = tag_i;
    assign final_index = total_i - 1'b1;
    assign index = os_i ? final_index - index_i : index_i;
    assign visits = tag_valid && is_acc && index < rows;
    assign offset = SUB_BITS'(index_i) * SUB_BITS'(c_stride_i);
    assign sub = SUB_BITS'(base) + (os_i ? SUB_BITS'(final_index) - offset : offset);
    assign hold_o = visits && visited_q && sub == sub_q && (accumulate || accumulated_q);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) visited_q <= 1'b0;
      else visited_q <= visits && fed_i;
    end
    always_ff @(posedge clk_i) begin
      sub_q <= sub;
      accumulated_q <= accumulate;
    end

    logic unused;
    assign unused = &{1'b0, id, cols, c_stride_i, base};
  end
endmodule
