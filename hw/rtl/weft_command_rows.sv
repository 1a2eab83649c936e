// SPDX-License-Identifier: Apache-2.0
// The local rows that a command touches, as the reservation station compares them; combinational.
//
// Range a is the destination of commands that have one (a_writes_o), else the first operand; range
// b is the operand of a preload or a mvout_spad, the other factors of a gated store, else the
// second operand. A range is [first, end); a garbage address gives none. Strides count as rows *
// stride, so a range may end up to a stride late; ranges that run over the row field end with it.
//   mvin          a: destination, with the rows that pixel repetition writes below it
//   mvout         a: source; pooled and image stores read orows * ocols rows; b: gated rows of the
//                 scratchpad
//   mvout_spad    a: destination, b: source
//   preload       a: C, b: operand (columns count too where it is read transposed)
//   compute       a: A (rows or, transposed, columns times the stride of A), b: D or B
module weft_command_rows #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int SP_ROWS = 16384,
  parameter bit PIXEL_REPEAT = 1'b1
) (
  input  logic [6:0]          funct_i,
  input  logic [63:0]         rs1_i,
  input  logic [63:0]         rs2_i,
  input  logic                is_config_i,
  // configuration in program order
  input  logic                ws_i,             // weight-stationary
  input  logic                a_transpose_i,
  input  logic                b_transpose_i,
  input  logic [15:0]         a_stride_i,
  input  logic [15:0]         c_stride_i,
  input  logic [15:0]         block_stride_i,   // of the mvin's load state
  input  logic [7:0]          pixel_repeats_i,
  input  logic                image_i,          // pooled and image stores
  input  logic [15:0]         image_rows_i,
  input  logic                gate_i,           // int8 stores of the accumulator are gated
  input  logic [ROW_BITS-1:0] gate_offset_i,    // scratchpad row less accumulator row
  output logic                a_valid_o,
  output logic                a_writes_o,
  output logic                a_acc_o,
  output logic [ROW_BITS-1:0] a_first_o,
  output logic [ROW_BITS:0]   a_end_o,
  output logic                b_valid_o,
  output logic                b_acc_o,
  output logic [ROW_BITS-1:0] b_first_o,
  output logic [ROW_BITS:0]   b_end_o
);
  localparam int DIM_LOG2 = $clog2(DIM);
  localparam int W = 34;  // of a length: 16 x 16 bits and more
  localparam logic [W-1:0] TOP = W'(1) << ROW_BITS;
  localparam logic [ROW_BITS-1:0] HALF = ROW_BITS'(SP_ROWS / 2);

  logic is_mvin, is_mvout, is_mvout_spad, is_preload, is_compute;
  assign is_mvin = !is_config_i &&
      (funct_i == weft_isa_pkg::FUNCT_MVIN || funct_i == weft_isa_pkg::FUNCT_MVIN2 ||
      funct_i == weft_isa_pkg::FUNCT_MVIN3);
  assign is_mvout = !is_config_i && funct_i == weft_isa_pkg::FUNCT_MVOUT;
  assign is_mvout_spad = !is_config_i && funct_i == weft_isa_pkg::FUNCT_MVOUT_SPAD;
  assign is_preload = !is_config_i && funct_i == weft_isa_pkg::FUNCT_PRELOAD;
  assign is_compute = !is_config_i && (funct_i == weft_isa_pkg::FUNCT_COMPUTE_PRELOADED ||
      funct_i == weft_isa_pkg::FUNCT_COMPUTE_ACCUMULATED);

  logic [31:0] local1, local2;

  // All commands with an operand have its address, columns and rows at the same places.
  logic [15:0] rows1, cols1, rows2, cols2, blocks2, spad_stride, spad_block_stride;
  assign rows1 = rs1_i[weft_isa_pkg::PRELOAD_ROWS_LSB +: 16];
  assign cols1 = rs1_i[weft_isa_pkg::PRELOAD_COLS_LSB +: 16];
  assign rows2 = rs2_i[weft_isa_pkg::MVIN_ROWS_LSB +: 16];
  assign cols2 = rs2_i[weft_isa_pkg::MVIN_COLS_LSB +: 16];
  assign blocks2 = cols2 == '0 ? 16'd0 : (cols2 - 16'd1) >> DIM_LOG2;  // further column blocks

  // Rows that leave as int8 pass the gate.
  logic gated, mvout_garbage;
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_mvout_garbage (
    .local_i(local2), .garbage_o(mvout_garbage)
  );
  assign gated = gate_i && is_mvout && !image_i && !mvout_garbage &&
      local2[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB] && !local2[weft_isa_pkg::LOCAL_FULL_LSB] &&
      local2[weft_isa_pkg::LOCAL_NORM_LSB +: 3] == weft_isa_pkg::LOCAL_NORM_NONE;

  // Lengths.
  logic [15:0] b_rows1, b_rows2, a_rows, store_rows, a_step, c_step, spad_step;
  logic [W-1:0] blocks_length, store_length, a_length, b_length;
  assign b_rows1 = b_transpose_i && ws_i && cols1 > rows1 ? cols1 : rows1;
  assign b_rows2 = b_transpose_i && !ws_i && cols2 > rows2 ? cols2 : rows2;
  assign a_rows = a_transpose_i ? cols1 : rows1;
  assign blocks_length = W'(blocks2) << DIM_LOG2;
  assign store_rows = image_i && is_mvout ? image_rows_i : rows2;
  assign store_length = blocks_length + W'(store_rows);
  assign a_step = a_stride_i == '0 ? 16'd1 : a_stride_i;
  assign c_step = c_stride_i == '0 ? 16'd1 : c_stride_i;
  assign spad_stride = rs1_i[weft_isa_pkg::MVOUT_SPAD_R2_STRIDE_LSB +: 16];
  assign spad_block_stride = rs1_i[weft_isa_pkg::MVOUT_SPAD_R2_BLOCK_STRIDE_LSB +: 16];
  assign spad_step = spad_stride == '0 ? 16'd1 : spad_stride;
  always_comb begin
    a_length = '0;
    b_length = '0;
    if (is_mvin) a_length = W'(blocks2) * W'(block_stride_i) + W'(rows2);
    else if (is_mvout) begin
      a_length = store_length;
      if (gated) b_length = store_length;
    end
    else if (is_mvout_spad) begin
      a_length = W'(blocks2) * W'(spad_block_stride) + W'(rows2) * W'(spad_step);
      b_length = store_length;
    end else if (is_preload) begin
      a_length = W'(rows2) * W'(c_step);
      b_length = W'(b_rows1);
    end else if (is_compute) begin
      a_length = W'(a_rows) * W'(a_step);
      b_length = W'(b_rows2);
    end
  end

  // Addresses.
  logic [31:0] a_local, b_local;
  logic a_garbage, b_garbage;
  assign local1 = rs1_i[weft_isa_pkg::PRELOAD_LOCAL_LSB +: 32];
  assign local2 = rs2_i[weft_isa_pkg::MVIN_LOCAL_LSB +: 32];
  assign a_local = is_mvout_spad || is_compute ? local1 : local2;
  assign b_local = is_preload ? local1 : local2;
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_a_garbage (
    .local_i(a_local), .garbage_o(a_garbage)
  );
  weft_local_garbage #(.ROW_BITS(ROW_BITS)) u_b_garbage (
    .local_i(b_local), .garbage_o(b_garbage)
  );
  assign a_acc_o = a_local[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB];
  assign b_acc_o = b_local[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB] && !gated;

  // Repeated pixels go to the rows below the first one, down to the start of its half of the
  // scratchpad.
  logic [ROW_BITS-1:0] a_row, b_row, floor, repeats;
  logic [7:0] copies;
  logic [W-1:0] a_end, b_end;
  assign a_row = a_local[ROW_BITS-1:0];
  assign b_row = gated ? b_local[ROW_BITS-1:0] + gate_offset_i : b_local[ROW_BITS-1:0];
  assign floor = a_row >= HALF ? HALF : '0;
  assign copies = PIXEL_REPEAT && is_mvin && !a_acc_o && pixel_repeats_i != '0 ? pixel_repeats_i -
      8'd1 : '0;
  assign repeats = ROW_BITS'(copies);
  assign a_first_o = a_row - floor < repeats ? floor : a_row - repeats;
  assign b_first_o = b_row;
  assign a_end = W'(a_row) + a_length;
  assign b_end = W'(b_row) + b_length;
  assign a_end_o = a_end > TOP ? TOP[ROW_BITS:0] : a_end[ROW_BITS:0];
  assign b_end_o = b_end > TOP ? TOP[ROW_BITS:0] : b_end[ROW_BITS:0];
  assign a_valid_o = a_length != '0 && !a_garbage;
  assign b_valid_o = b_length != '0 && !b_garbage;
  assign a_writes_o = is_mvin || is_mvout_spad || is_preload;

  logic unused;
  assign unused = &{1'b0, a_local, b_local, rs1_i, rs2_i};
endmodule
