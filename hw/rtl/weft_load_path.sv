// SPDX-License-Identifier: Apache-2.0
// From row requests of the load controller to writes of local memory.
//
//   ld_req --zeros?--> zero_writer --> pixel_repeater ---------------------------> zero write
//        \--> issue queue (READ_DELAY + 1) --> dma_reader
//   dma_reader rows --int8--> mvin_scale --> pixel_repeater ----------------------> narrow write
//                   \-int32-> row register ---------------------------------------> wide write
//
// Narrow writes go to the scratchpad, or sign-extended to the accumulator; wide writes to the
// accumulator. At most one answer (ld_resp) per cycle: a wide write waits while a narrow one is the
// last of its request or also goes to the accumulator; a zero write waits while either of the
// others is the last of its request. An answer is given when the last write of a piece is taken.
//
// Latency: answer to a row's last beat at the reader's output t: narrow t+4, unscaled; wide t+2;
// pixel_repeater off: one less for narrow. Zeros: request t -> write t+2.
// Combinational: ld_req_ready_o on ld_req_zeros_i and rd_req_ready_i; rd_resp_ready_o on
// *_write_ready_i; the valids of wide and zero writes on the other writes' state.
// Invariants: a request's bytes are answered exactly once; *_write_valid_o stays until taken,
// except that narrow and wide hold back lower ones.
`include "weft_assert.svh"

module weft_load_path #(
  parameter int DIM = 16,
  parameter int ROW_BITS = 14,
  parameter int SP_ROWS = 16384,
  parameter int READ_DELAY = 4,
  parameter int SCALE_UNITS = 4,
  parameter int SCALE_LATENCY = 4,
  parameter bit PIXEL_REPEAT = 1'b1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  // load controller
  input  logic                ld_req_valid_i,
  output logic                ld_req_ready_o,
  input  logic [63:0]         ld_req_addr_i,
  input  logic [31:0]         ld_req_laddr_i,
  input  logic [15:0]         ld_req_cols_i,
  input  logic [15:0]         ld_req_repeats_i,
  input  logic [31:0]         ld_req_scale_i,
  input  logic                ld_req_acc_width_i,
  input  logic                ld_req_packed_i,
  input  logic                ld_req_zeros_i,
  input  logic [15:0]         ld_req_block_stride_i,
  input  logic [7:0]          ld_req_pixel_repeats_i,
  input  logic [7:0]          ld_req_cmd_i,
  output logic                ld_resp_valid_o,
  output logic [15:0]         ld_resp_bytes_o,
  output logic [7:0]          ld_resp_cmd_o,
  // DMA reader
  output logic                rd_req_valid_o,
  input  logic                rd_req_ready_i,
  output logic [63:0]         rd_req_addr_o,
  output logic [31:0]         rd_req_laddr_o,
  output logic [15:0]         rd_req_cols_o,
  output logic [15:0]         rd_req_repeats_o,
  output logic [31:0]         rd_req_scale_o,
  output logic                rd_req_acc_width_o,
  output logic                rd_req_packed_o,
  output logic [15:0]         rd_req_block_stride_o,
  output logic [7:0]          rd_req_pixel_repeats_o,
  output logic [7:0]          rd_req_cmd_o,
  input  logic                rd_resp_valid_i,
  output logic                rd_resp_ready_o,
  input  logic [DIM*32-1:0]   rd_resp_data_i,
  input  logic [ROW_BITS-1:0] rd_resp_addr_i,
  input  logic [DIM*4-1:0]    rd_resp_mask_i,  // per byte
  input  logic                rd_resp_is_acc_i,
  input  logic                rd_resp_accumulate_i,
  input  logic                rd_resp_acc_width_i,
  input  logic [31:0]         rd_resp_scale_i,
  input  logic [15:0]         rd_resp_repeats_i,
  input  logic [7:0]          rd_resp_pixel_repeats_i,
  input  logic [15:0]         rd_resp_cols_i,
  input  logic                rd_resp_last_i,
  input  logic [15:0]         rd_resp_bytes_i,
  input  logic [7:0]          rd_resp_cmd_i,
  // writes
  output logic                narrow_write_valid_o,
  input  logic                narrow_write_ready_i,
  output logic                narrow_write_is_acc_o,
  output logic                narrow_write_accumulate_o,
  output logic [ROW_BITS-1:0] narrow_write_row_o,
  output logic [DIM*8-1:0]    narrow_write_data_o,
  output logic [DIM-1:0]      narrow_write_mask_o,
  output logic                wide_write_valid_o,
  input  logic                wide_write_ready_i,
  output logic                wide_write_accumulate_o,
  output logic [ROW_BITS-1:0] wide_write_row_o,
  output logic [DIM*32-1:0]   wide_write_data_o,
  output logic [DIM*4-1:0]    wide_write_mask_o,
  output logic                zero_write_valid_o,
  input  logic                zero_write_ready_i,
  output logic                zero_write_is_acc_o,
  output logic                zero_write_accumulate_o,
  output logic [ROW_BITS-1:0] zero_write_row_o,
  output logic [DIM-1:0]      zero_write_mask_o
);
  localparam int REQUEST_BITS = 64 + 32 + 16 + 16 + 32 + 1 + 1 + 16 + 8 + 8;

  // Requests: zeros to the zero writer, the rest through the issue queue to the reader.
  logic issue_ready, zero_ready;
  logic [$clog2(READ_DELAY+2)-1:0] unused_issue_count;

  assign ld_req_ready_o = ld_req_zeros_i ? zero_ready : issue_ready;
  weft_fifo #(.WIDTH(REQUEST_BITS), .DEPTH(READ_DELAY + 1), .PIPE(1'b1)) u_issue_queue (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(ld_req_valid_i && !ld_req_zeros_i), .in_ready_o(issue_ready),
    .in_data_i({ld_req_addr_i, ld_req_laddr_i, ld_req_cols_i, ld_req_repeats_i, ld_req_scale_i,
                ld_req_acc_width_i, ld_req_packed_i, ld_req_block_stride_i, ld_req_pixel_repeats_i,
                ld_req_cmd_i}),
    .out_valid_o(rd_req_valid_o), .out_ready_i(rd_req_ready_i),
    .out_data_o({rd_req_addr_o, rd_req_laddr_o, rd_req_cols_o, rd_req_repeats_o, rd_req_scale_o,
                 rd_req_acc_width_o, rd_req_packed_o, rd_req_block_stride_o, rd_req_pixel_repeats_o,
                 rd_req_cmd_o}),
    .count_o(unused_issue_count)
  );

  // Zeros.
  localparam int ZERO_TAG_BITS = 1 + 1 + 16 + 16 + 8 + 8;
  localparam int ZERO_LAST_TAG_BITS = 1 + 16 + 8;
  logic                zw_valid, zw_ready, zw_last, zw_is_acc, zw_accumulate;
  logic [ROW_BITS-1:0] zw_row;
  logic [DIM-1:0]      zw_mask;
  logic [15:0]         zw_bytes, zw_cols, zero_bytes, zero_row_bytes;
  logic [7:0]          zw_pixel_repeats, zw_cmd, zero_cmd;
  logic                zero_valid, zero_last;
  logic [DIM*8-1:0]    unused_zero_data;

  assign zero_row_bytes = ld_req_acc_width_i ? {ld_req_cols_i[13:0], 2'b00} : ld_req_cols_i;
  weft_zero_writer #(.DIM(DIM), .ROW_BITS(ROW_BITS), .TAG_BITS(ZERO_TAG_BITS)) u_zero_writer (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .req_valid_i(ld_req_valid_i && ld_req_zeros_i), .req_ready_o(zero_ready),
    .req_row_i(ld_req_laddr_i[ROW_BITS-1:0]), .req_cols_i(ld_req_cols_i),
    .req_block_stride_i(ld_req_block_stride_i),
    .req_tag_i({ld_req_laddr_i[weft_isa_pkg::LOCAL_ACCUMULATOR_LSB],
                ld_req_laddr_i[weft_isa_pkg::LOCAL_ACCUMULATE_LSB], zero_row_bytes, ld_req_cols_i,
                ld_req_pixel_repeats_i, ld_req_cmd_i}),
    .out_valid_o(zw_valid), .out_ready_i(zw_ready), .out_row_o(zw_row), .out_mask_o(zw_mask),
    .out_last_o(zw_last),
    .out_tag_o({zw_is_acc, zw_accumulate, zw_bytes, zw_cols, zw_pixel_repeats, zw_cmd})
  );
  weft_pixel_repeater #(
    .ENABLE(PIXEL_REPEAT), .DIM(DIM), .ROW_BITS(ROW_BITS), .SP_ROWS(SP_ROWS),
    .TAG_BITS(ZERO_LAST_TAG_BITS)
  ) u_zero_repeater (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(zw_valid), .in_ready_o(zw_ready), .in_data_i({DIM*8{1'b0}}), .in_mask_i(zw_mask),
    .in_is_acc_i(zw_is_acc), .in_row_i(zw_row), .in_len_i(zw_cols), .in_repeats_i(zw_pixel_repeats),
    .in_last_i(zw_last), .in_tag_i({zw_accumulate, zw_bytes, zw_cmd}),
    .out_valid_o(zero_valid), .out_ready_i(zero_write_ready_i && zero_write_valid_o),
    .out_data_o(unused_zero_data),
    .out_mask_o(zero_write_mask_o), .out_is_acc_o(zero_write_is_acc_o),
    .out_row_o(zero_write_row_o),
    .out_last_o(zero_last), .out_tag_o({zero_write_accumulate_o, zero_bytes, zero_cmd})
  );

  // int8 rows.
  localparam int NARROW_TAG_BITS = ROW_BITS + DIM + 1 + 1 + 16 + 8 + 16 + 8;
  localparam int NARROW_LAST_TAG_BITS = 1 + 16 + 8;
  logic                to_narrow, scale_ready, scaled_valid, scaled_ready, scaled_last;
  logic [DIM*8-1:0]    scaled_data;
  logic [15:0]         scaled_row, scaled_cols, scaled_bytes, narrow_bytes;
  logic [ROW_BITS-1:0] scaled_first_row;
  logic [DIM-1:0]      scaled_mask;
  logic                scaled_is_acc, scaled_accumulate, narrow_last;
  logic [7:0]          scaled_pixel_repeats, scaled_cmd, narrow_cmd;

  assign to_narrow = !rd_resp_acc_width_i;
  weft_mvin_scale #(
    .DIM(DIM), .UNITS(SCALE_UNITS), .UNIT_LATENCY(SCALE_LATENCY), .TAG_BITS(NARROW_TAG_BITS)
  ) u_scale (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(rd_resp_valid_i && to_narrow), .in_ready_o(scale_ready),
    .in_data_i(rd_resp_data_i[DIM*8-1:0]),
    .in_scale_i(rd_resp_scale_i), .in_repeats_i(rd_resp_repeats_i), .in_last_i(rd_resp_last_i),
    .in_tag_i({rd_resp_addr_i, rd_resp_mask_i[DIM-1:0], rd_resp_is_acc_i, rd_resp_accumulate_i,
               rd_resp_bytes_i, rd_resp_pixel_repeats_i, rd_resp_cols_i, rd_resp_cmd_i}),
    .out_valid_o(scaled_valid), .out_ready_i(scaled_ready), .out_data_o(scaled_data),
    .out_row_o(scaled_row),
    .out_last_o(scaled_last),
    .out_tag_o({scaled_first_row, scaled_mask, scaled_is_acc, scaled_accumulate, scaled_bytes,
                scaled_pixel_repeats, scaled_cols, scaled_cmd})
  );
  localparam int ROW_SUM_BITS = ROW_BITS > 16 ? ROW_BITS : 16;
  weft_pixel_repeater #(
    .ENABLE(PIXEL_REPEAT), .DIM(DIM), .ROW_BITS(ROW_BITS), .SP_ROWS(SP_ROWS),
    .TAG_BITS(NARROW_LAST_TAG_BITS)
  ) u_repeater (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(scaled_valid), .in_ready_o(scaled_ready), .in_data_i(scaled_data),
    .in_mask_i(scaled_mask),
    .in_is_acc_i(scaled_is_acc),
    .in_row_i(ROW_BITS'(ROW_SUM_BITS'(scaled_first_row) + ROW_SUM_BITS'(scaled_row))),
    .in_len_i(scaled_cols), .in_repeats_i(scaled_pixel_repeats), .in_last_i(scaled_last),
    .in_tag_i({scaled_accumulate, scaled_bytes, scaled_cmd}),
    .out_valid_o(narrow_write_valid_o), .out_ready_i(narrow_write_ready_i),
    .out_data_o(narrow_write_data_o),
    .out_mask_o(narrow_write_mask_o), .out_is_acc_o(narrow_write_is_acc_o),
    .out_row_o(narrow_write_row_o),
    .out_last_o(narrow_last), .out_tag_o({narrow_write_accumulate_o, narrow_bytes, narrow_cmd})
  );

  // int32 rows: the same input register and repeats as mvin_scale, without scaling.
  localparam int WIDE_TAG_BITS = ROW_BITS + DIM*4 + 1 + 16 + 8;
  localparam int WIDE_LANES = DIM * 4;  // mvin_scale moves bytes
  logic                wide_ready, wide_valid, wide_last;
  logic [15:0]         wide_row, wide_bytes;
  logic [ROW_BITS-1:0] wide_first_row;
  logic [7:0]          wide_cmd;

  weft_mvin_scale #(.DIM(WIDE_LANES), .UNITS(0), .UNIT_LATENCY(1),
      .TAG_BITS(WIDE_TAG_BITS)) u_wide (
    .clk_i(clk_i), .rst_ni(rst_ni),
    .in_valid_i(rd_resp_valid_i && !to_narrow), .in_ready_o(wide_ready), .in_data_i(rd_resp_data_i),
    .in_scale_i(32'd0), .in_repeats_i(rd_resp_repeats_i), .in_last_i(rd_resp_last_i),
    .in_tag_i({rd_resp_addr_i, rd_resp_mask_i, rd_resp_accumulate_i, rd_resp_bytes_i,
    rd_resp_cmd_i}),
    .out_valid_o(wide_valid), .out_ready_i(wide_write_ready_i && wide_write_valid_o),
    .out_data_o(wide_write_data_o),
    .out_row_o(wide_row), .out_last_o(wide_last),
    .out_tag_o({wide_first_row, wide_write_mask_o, wide_write_accumulate_o, wide_bytes, wide_cmd})
  );
  assign wide_write_row_o = ROW_BITS'(ROW_SUM_BITS'(wide_first_row) + ROW_SUM_BITS'(wide_row));
  assign rd_resp_ready_o = to_narrow ? scale_ready : wide_ready;

  // One answer per cycle.
  logic narrow_ends, wide_ends, zero_ends;

  assign wide_write_valid_o = wide_valid &&
      !(narrow_write_valid_o && (narrow_write_is_acc_o || narrow_last));
  assign zero_write_valid_o = zero_valid && !(narrow_write_valid_o && narrow_last) &&
      !(wide_valid && wide_last);
  assign narrow_ends = narrow_write_valid_o && narrow_write_ready_i && narrow_last;
  assign wide_ends = wide_write_valid_o && wide_write_ready_i && wide_last;
  assign zero_ends = zero_write_valid_o && zero_write_ready_i && zero_last;
  assign ld_resp_valid_o = narrow_ends || wide_ends || zero_ends;
  assign ld_resp_bytes_o = narrow_ends ? narrow_bytes : wide_ends ? wide_bytes : zero_bytes;
  assign ld_resp_cmd_o = narrow_ends ? narrow_cmd : wide_ends ? wide_cmd : zero_cmd;

  `WEFT_ASSERT(OneAnswerPerCycle, 32'(narrow_ends) + 32'(wide_ends) + 32'(zero_ends) <= 1)
  `WEFT_ASSERT_STREAM(ReadStable, rd_req_valid_o, rd_req_ready_i,
                      {rd_req_addr_o, rd_req_laddr_o, rd_req_cols_o, rd_req_repeats_o,
                      rd_req_cmd_o})
  `WEFT_ASSERT_STREAM(NarrowWriteStable, narrow_write_valid_o, narrow_write_ready_i,
                      {narrow_write_row_o, narrow_write_data_o, narrow_write_mask_o,
                      narrow_write_is_acc_o})
  // int32 rows and zeros give way to the other writes; the streams behind them are stable.
  `WEFT_ASSERT_STREAM(WideStable, wide_valid, wide_write_ready_i && wide_write_valid_o,
                      {wide_write_row_o, wide_write_data_o, wide_write_mask_o,
                      wide_write_accumulate_o})
  `WEFT_ASSERT_STREAM(ZeroStable, zero_valid, zero_write_ready_i && zero_write_valid_o,
                      {zero_write_row_o, zero_write_mask_o, zero_write_is_acc_o,
                      zero_write_accumulate_o})
endmodule
