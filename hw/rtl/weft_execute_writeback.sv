// SPDX-License-Identifier: Apache-2.0
// Write-back: sends the mesh's result rows to the scratchpad or the accumulator, in the cycle in
// which they come.
//
// tag_i is zero for rows that belong to no product; otherwise its fields are, from the top:
//   id valid, id, accumulator, accumulate, first row of C, rows, columns
// Row n (from 0) of a weight-stationary result goes to C + n * stride; output-stationary results
// come last row first, so row n goes to C + (total - 1) - n * stride. Rows past the product's rows
// are dropped; columns past its columns are masked. To the scratchpad: clipped to INPUT_BITS, then
// ReLU if wanted. To the accumulator: sign-extended. done_valid_o comes with the product's last
// row. Combinational except for the row counter; writes are never held up.
module weft_execute_writeback #(
  parameter int DIM = 4,
  parameter int INPUT_BITS = 8,
  parameter int OUTPUT_BITS = 20,
  parameter int ACC_BITS = 32,
  parameter int ROW_BITS = 14,
  parameter int SP_BANKS = 4,
  parameter int SP_BANK_BITS = 12,
  parameter int ACC_BANKS = 2,
  parameter int ACC_BANK_BITS = 9,
  parameter int ID_BITS = 5,
  parameter bit WRITES_SP = 1'b1,
  parameter bit WRITES_ACC = 1'b1,
  parameter int COUNT_BITS = $clog2(DIM + 1),                        // derived
  parameter int TAG_BITS = 3 + ID_BITS + ROW_BITS + 2 * COUNT_BITS   // derived
) (
  input  logic                               clk_i,
  input  logic                               rst_ni,
  input  logic                               os_i,
  input  logic                               relu_i,
  input  logic [ROW_BITS-1:0]                c_stride_i,
  input  logic                               resp_valid_i,
  input  logic                               resp_last_i,
  input  logic [TAG_BITS-1:0]                resp_tag_i,
  input  logic [COUNT_BITS-1:0]              resp_total_rows_i,
  input  logic [DIM*OUTPUT_BITS-1:0]         resp_data_i,
  output logic                               done_valid_o,
  output logic [ID_BITS-1:0]                 done_id_o,
  output logic [SP_BANKS-1:0]                sp_wr_en_o,
  output logic [SP_BANKS*SP_BANK_BITS-1:0]   sp_wr_addr_o,
  output logic [DIM*INPUT_BITS-1:0]          sp_wr_data_o,
  output logic [DIM-1:0]                     sp_wr_mask_o,
  output logic [ACC_BANKS-1:0]               acc_wr_valid_o,
  output logic [ACC_BANKS*ACC_BANK_BITS-1:0] acc_wr_addr_o,
  output logic [DIM*ACC_BITS-1:0]            acc_wr_data_o,
  output logic                               acc_wr_accumulate_o,
  output logic [DIM-1:0]                     acc_wr_mask_o
);
  localparam int SP_SEL_BITS = SP_BANKS > 1 ? $clog2(SP_BANKS) : 1;
  localparam int ACC_SEL_BITS = ACC_BANKS > 1 ? $clog2(ACC_BANKS) : 1;

  logic tag_valid, is_acc, accumulate, active, write_row;
  logic [ROW_BITS-1:0] base, row, offset_q;
  logic [COUNT_BITS-1:0] rows, cols, count_q, index, final_index;

  assign {tag_valid, done_id_o, is_acc, accumulate, base, rows, cols} = resp_tag_i;
  assign active = resp_valid_i && tag_valid;
  assign done_valid_o = active && resp_last_i;
  assign final_index = resp_total_rows_i - 1'b1;
  assign index = os_i ? final_index - count_q : count_q;
  assign row = os_i ? base + ROW_BITS'(final_index) - offset_q : base + offset_q;
  assign write_row = active && index < rows;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      offset_q <= '0;
    end else if (active) begin
      count_q <= resp_last_i ? '0 : count_q + 1'b1;
      offset_q <= resp_last_i ? '0 : offset_q + c_stride_i;
    end
  end

  // Banks.
  logic [SP_SEL_BITS-1:0] sp_bank;
  logic [ACC_SEL_BITS-1:0] acc_bank;
  assign sp_bank = SP_BANKS > 1 ? SP_SEL_BITS'(row >> SP_BANK_BITS) : '0;
  assign acc_bank = ACC_BANKS > 1 ? ACC_SEL_BITS'(row >> ACC_BANK_BITS) : '0;
  for (genvar b = 0; b < SP_BANKS; b++) begin : g_sp
    assign sp_wr_en_o[b] = WRITES_SP && write_row && !is_acc && sp_bank == SP_SEL_BITS'(b);
    assign sp_wr_addr_o[b*SP_BANK_BITS+:SP_BANK_BITS] = row[SP_BANK_BITS-1:0];
  end
  for (genvar b = 0; b < ACC_BANKS; b++) begin : g_acc
    assign acc_wr_valid_o[b] = WRITES_ACC && write_row && is_acc && acc_bank == ACC_SEL_BITS'(b);
    assign acc_wr_addr_o[b*ACC_BANK_BITS+:ACC_BANK_BITS] = row[ACC_BANK_BITS-1:0];
  end

  // Data.
  function automatic logic [INPUT_BITS-1:0] clip(input logic [OUTPUT_BITS-1:0] value,
      input logic relu);
    logic negative, fits;
    negative = value[OUTPUT_BITS-1];
    fits = value[OUTPUT_BITS-1:INPUT_BITS-1] == {(OUTPUT_BITS - INPUT_BITS + 1) {negative}};
    clip = relu && negative ? '0 : fits ? value[INPUT_BITS-1:0] :
        {negative, {(INPUT_BITS - 1) {!negative}}};
  endfunction

  assign sp_wr_mask_o = ~({DIM{1'b1}} << cols);
  assign acc_wr_mask_o = sp_wr_mask_o;
  assign acc_wr_accumulate_o = accumulate;
  always_comb begin
    sp_wr_data_o = '0;
    acc_wr_data_o = '0;
    if (write_row && is_acc) begin
      for (int e = 0; e < DIM; e++)
        acc_wr_data_o[e*ACC_BITS+:ACC_BITS] =
            ACC_BITS'($signed(resp_data_i[e*OUTPUT_BITS+:OUTPUT_BITS]));
    end else if (write_row) begin
      for (int e = 0; e < DIM; e++)
        sp_wr_data_o[e*INPUT_BITS+:INPUT_BITS] =
            clip(resp_data_i[e*OUTPUT_BITS+:OUTPUT_BITS], relu_i);
    end
  end
endmodule
