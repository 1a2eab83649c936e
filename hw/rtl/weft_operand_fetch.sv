// SPDX-License-Identifier: Apache-2.0
// Operand fetch: walks the rows of A, B and D (bits and fields 0, 1, 2 of every vector) of one
// operation and reads them from the banks.
//
// An operation starts in the first cycle of active_i and takes total_rows_i rows; D is walked last
// row first. Each operand counts its own rows and fires row n when no other is still at row n - 1,
// so the three stay within one row of each other. Two operands conflict when they read one
// scratchpad bank, or both the accumulator: A fires before B before D, and each row then takes as
// many cycles as there are operands in conflict.
// An operand that is not read (read_i low: absent or garbage), or whose row lies outside its rows
// or has no columns, fires without a request; its row is zeros (cols_o zero).
//
// fire_o tells which operands fired in this cycle, with bank and columns of each; first_o is high
// until something fired; done_o with the last row of the last operand. Nothing fires unless
// enable_i; no last row fires while hold_last_i.
// Combinational: enable_i, hold_last_i -> *_rd_valid_o; *_rd_ready_i -> fire_o, done_o.
// *_rd_valid_o does not depend on *_rd_ready_i; a request that is not accepted may be withdrawn.
`include "weft_assert.svh"

module weft_operand_fetch #(
  parameter int DIM = 4,
  parameter int ROW_BITS = 14,
  parameter int SP_BANKS = 4,
  parameter int SP_BANK_BITS = 12,
  parameter int ACC_BANKS = 2,
  parameter int ACC_BANK_BITS = 9,
  parameter int COUNT_BITS = $clog2(DIM + 1),                 // derived
  parameter int SP_SEL_BITS = SP_BANKS > 1 ? $clog2(SP_BANKS) : 1,     // derived
  parameter int ACC_SEL_BITS = ACC_BANKS > 1 ? $clog2(ACC_BANKS) : 1,  // derived
  parameter int SEL_BITS = SP_SEL_BITS > ACC_SEL_BITS ? SP_SEL_BITS : ACC_SEL_BITS  // derived
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  input  logic                               active_i,
  input  logic                               enable_i,
  input  logic                               hold_last_i,
  input  logic [COUNT_BITS-1:0]              total_rows_i,
  input  logic [2:0]                         read_i,
  input  logic [2:0]                         acc_i,
  input  logic [3*ROW_BITS-1:0]              base_i,
  input  logic [3*COUNT_BITS-1:0]            rows_i,
  input  logic [3*COUNT_BITS-1:0]            cols_i,
  input  logic [ROW_BITS-1:0]                a_stride_i,
  output logic [2:0]                         fire_o,
  output logic                               first_o,
  output logic                               done_o,
  output logic [3*SEL_BITS-1:0]              bank_o,
  output logic [3*COUNT_BITS-1:0]            cols_o,
  output logic [SP_BANKS-1:0]                sp_rd_valid_o,
  input  logic [SP_BANKS-1:0]                sp_rd_ready_i,
  output logic [SP_BANKS*SP_BANK_BITS-1:0]   sp_rd_addr_o,
  output logic [ACC_BANKS-1:0]               acc_rd_valid_o,
  input  logic [ACC_BANKS-1:0]               acc_rd_ready_i,
  output logic [ACC_BANKS*ACC_BANK_BITS-1:0] acc_rd_addr_o
);
  logic [3*ROW_BITS-1:0] row;
  logic [3*COUNT_BITS-1:0] count_q;
  logic [ROW_BITS-1:0] a_offset_q;
  logic [2:0] may_fire, request, accepted, finishes;

  // Bank of a row. Row bits above the memory's are ignored.
  function automatic logic [SP_SEL_BITS-1:0] sp_bank(input logic [ROW_BITS-1:0] address);
    sp_bank = SP_BANKS > 1 ? SP_SEL_BITS'(address >> SP_BANK_BITS) : '0;
  endfunction
  function automatic logic [ACC_SEL_BITS-1:0] acc_bank(input logic [ROW_BITS-1:0] address);
    acc_bank = ACC_BANKS > 1 ? ACC_SEL_BITS'(address >> ACC_BANK_BITS) : '0;
  endfunction

  for (genvar o = 0; o < 3; o++) begin : g_operand
    logic [COUNT_BITS-1:0] count, index;
    logic [ROW_BITS-1:0] address;
    logic [2:0] waits;
    logic in_last, live;

    assign count = count_q[o*COUNT_BITS+:COUNT_BITS];
    assign index = o == 2 ? COUNT_BITS'(DIM - 1) - count : count;
    assign address = base_i[o*ROW_BITS+:ROW_BITS] + (o == 0 ? a_offset_q : ROW_BITS'(index));
    assign row[o*ROW_BITS+:ROW_BITS] = address;
    assign in_last = count == total_rows_i - 1'b1;
    assign live = read_i[o] && index < rows_i[o*COUNT_BITS+:COUNT_BITS] &&
        cols_i[o*COUNT_BITS+:COUNT_BITS] != '0;
    assign cols_o[o*COUNT_BITS+:COUNT_BITS] = live ? cols_i[o*COUNT_BITS+:COUNT_BITS] : '0;
    assign bank_o[o*SEL_BITS+:SEL_BITS] = acc_i[o] ? SEL_BITS'(acc_bank(address)) :
        SEL_BITS'(sp_bank(address));

    for (genvar p = 0; p < 3; p++) begin : g_other
      if (p == o) begin : g_self
        assign waits[p] = 1'b0;
      end else begin : g_pair
        logic conflict;
        assign conflict = read_i[o] && read_i[p] && acc_i[o] == acc_i[p] &&
                          (acc_i[o] || sp_bank(address) == sp_bank(row[p*ROW_BITS+:ROW_BITS]));
        assign waits[p] = count > count_q[p*COUNT_BITS+:COUNT_BITS] ||
                          (p < o && conflict && count == count_q[p*COUNT_BITS+:COUNT_BITS]);
      end
    end
    assign may_fire[o] = active_i && enable_i && count != total_rows_i && waits == '0 &&
        !(in_last && hold_last_i);
    assign request[o] = may_fire[o] && live;
    assign accepted[o] = acc_i[o] ? acc_rd_ready_i[acc_bank(address)] :
        sp_rd_ready_i[sp_bank(address)];
    assign fire_o[o] = may_fire[o] && (!live || accepted[o]);
    assign finishes[o] = count == total_rows_i || (in_last && fire_o[o]);
  end

  // At most one operand requests a bank in one cycle.
  for (genvar b = 0; b < SP_BANKS; b++) begin : g_sp
    logic [2:0] wanted;
    for (genvar o = 0; o < 3; o++) begin : g_operand
      assign wanted[o] = request[o] && !acc_i[o] &&
          sp_bank(row[o*ROW_BITS+:ROW_BITS]) == SP_SEL_BITS'(b);
    end
    assign sp_rd_valid_o[b] = |wanted;
    assign sp_rd_addr_o[b*SP_BANK_BITS+:SP_BANK_BITS] =
        wanted[0] ? SP_BANK_BITS'(row[0*ROW_BITS+:ROW_BITS]) :
        wanted[1] ? SP_BANK_BITS'(row[1*ROW_BITS+:ROW_BITS]) :
        SP_BANK_BITS'(row[2*ROW_BITS+:ROW_BITS]);
  end
  for (genvar b = 0; b < ACC_BANKS; b++) begin : g_acc
    logic [2:0] wanted;
    for (genvar o = 0; o < 3; o++) begin : g_operand
      assign wanted[o] = request[o] && acc_i[o] &&
          acc_bank(row[o*ROW_BITS+:ROW_BITS]) == ACC_SEL_BITS'(b);
    end
    assign acc_rd_valid_o[b] = |wanted;
    assign acc_rd_addr_o[b*ACC_BANK_BITS+:ACC_BANK_BITS] =
        wanted[0] ? ACC_BANK_BITS'(row[0*ROW_BITS+:ROW_BITS]) :
        wanted[1] ? ACC_BANK_BITS'(row[1*ROW_BITS+:ROW_BITS]) :
        ACC_BANK_BITS'(row[2*ROW_BITS+:ROW_BITS]);
  end

  assign first_o = count_q == '0;
  assign done_o = active_i && finishes == '1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      a_offset_q <= '0;
    end else if (!active_i || done_o) begin
      count_q <= '0;
      a_offset_q <= '0;
    end else begin
      for (int o = 0; o < 3; o++) begin
        if (fire_o[o]) count_q[o*COUNT_BITS+:COUNT_BITS] <= count_q[o*COUNT_BITS+:COUNT_BITS] +
            1'b1;
      end
      if (fire_o[0]) a_offset_q <= a_offset_q + a_stride_i;
    end
  end

  for (genvar b = 0; b < SP_BANKS; b++) begin : g_assert_sp
    `WEFT_ASSERT(OneOperandReads, $onehot0(g_sp[b].wanted))
  end
  for (genvar b = 0; b < ACC_BANKS; b++) begin : g_assert_acc
    `WEFT_ASSERT(OneOperandReads, $onehot0(g_acc[b].wanted))
  end
endmodule
