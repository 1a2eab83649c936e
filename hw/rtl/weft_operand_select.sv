// SPDX-License-Identifier: Apache-2.0
// Operand select: the rows that one entry of the control queue feeds to the mesh, taken from the
// banks' answers.
//
// For each operand (0 A, 1 B, 2 D) that fired: no columns means a row of zeros, otherwise the row
// is the head of its bank's answers, cut to its columns. The entry is taken as a whole, when every
// answer that it needs is there and the mesh takes every row (take_i comes back from the caller,
// which also looks at the mesh's request port). Combinational; *_rsp_ready_o depends on take_i,
// data_ready_o and the rows on the answers only.
module weft_operand_select #(
  parameter int DIM = 4,
  parameter int INPUT_BITS = 8,
  parameter int SP_BANKS = 4,
  parameter int ACC_BANKS = 2,
  parameter int COUNT_BITS = 3,
  parameter int SEL_BITS = 2
) (
  input  logic [2:0]                         fire_i,
  input  logic [2:0]                         acc_i,
  input  logic [3*SEL_BITS-1:0]              bank_i,
  input  logic [3*COUNT_BITS-1:0]            cols_i,
  input  logic                               take_i,
  output logic [2:0]                         data_ready_o,
  output logic [3*DIM*INPUT_BITS-1:0]        row_o,
  input  logic [SP_BANKS-1:0]                sp_rsp_valid_i,
  output logic [SP_BANKS-1:0]                sp_rsp_ready_o,
  input  logic [SP_BANKS*DIM*INPUT_BITS-1:0] sp_rsp_data_i,
  input  logic [ACC_BANKS-1:0]               acc_rsp_valid_i,
  output logic [ACC_BANKS-1:0]               acc_rsp_ready_o,
  input  logic [DIM*INPUT_BITS-1:0]          acc_rsp_data_i
);
  localparam int ROW_BITS = DIM * INPUT_BITS;

  logic [2:0] needs;
  for (genvar o = 0; o < 3; o++) begin : g_operand
    logic [SEL_BITS-1:0] bank;
    logic [COUNT_BITS-1:0] cols;
    logic [ROW_BITS-1:0] answer;
    logic valid;
    assign bank = bank_i[o*SEL_BITS+:SEL_BITS];
    assign cols = cols_i[o*COUNT_BITS+:COUNT_BITS];
    assign needs[o] = fire_i[o] && cols != '0;
    always_comb begin
      answer = acc_rsp_data_i;
      valid = 1'b0;
      if (acc_i[o]) begin
        for (int b = 0; b < ACC_BANKS; b++) if (bank == SEL_BITS'(b)) valid = acc_rsp_valid_i[b];
      end else begin
        for (int b = 0; b < SP_BANKS; b++) begin
          if (bank == SEL_BITS'(b)) begin
            valid = sp_rsp_valid_i[b];
            answer = sp_rsp_data_i[b*ROW_BITS+:ROW_BITS];
          end
        end
      end
    end
    assign data_ready_o[o] = !needs[o] || valid;
    assign row_o[o*ROW_BITS+:ROW_BITS] = answer & ~({ROW_BITS{1'b1}} << (cols * INPUT_BITS));
  end

  for (genvar b = 0; b < SP_BANKS; b++) begin : g_sp
    logic [2:0] used;
    for (genvar o = 0; o < 3; o++) begin : g_operand
      assign used[o] = needs[o] && !acc_i[o] && bank_i[o*SEL_BITS+:SEL_BITS] == SEL_BITS'(b);
    end
    assign sp_rsp_ready_o[b] = take_i && |used;
  end
  for (genvar b = 0; b < ACC_BANKS; b++) begin : g_acc
    logic [2:0] used;
    for (genvar o = 0; o < 3; o++) begin : g_operand
      assign used[o] = needs[o] && acc_i[o] && bank_i[o*SEL_BITS+:SEL_BITS] == SEL_BITS'(b);
    end
    assign acc_rsp_ready_o[b] = take_i && |used;
  end
endmodule
