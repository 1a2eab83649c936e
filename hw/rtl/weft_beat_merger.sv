// SPDX-License-Identifier: Apache-2.0
// Unpacks the beats of one read transaction at a time into local rows.
//
// A transaction brings `length` bytes, of which `bytes` from offset `shift` on are wanted. They are
// collected in a buffer; a row goes out as soon as ROW bytes of it, or all that are wanted, are
// there, so a row of a transaction follows its last beat by one cycle. The first row starts at byte
// row_offset of its local row; further rows lie block_stride apart. The next transaction's first
// beat is accepted in the cycle in which the last row leaves, if all beats have come by then; when
// wanted bytes end before the last beat, up to two cycles pass without a beat.
// Packed rows (PACKED_INT4) are DIM / 2 bytes of two int4 elements each, the first in the low half;
// they go out as DIM int8 elements. row_offset and bytes count what is in memory.
//
// Latency: beat at t -> row t+1. Combinational: in_ready_o depends on out_ready_i and in_valid_i.
// Invariants: the beats of a transaction follow each other; each wanted byte goes out once,
// out_last_o with the last.
`include "weft_assert.svh"

module weft_beat_merger #(
  parameter int DIM = 16,
  parameter int BUS_BYTES = 16,
  parameter int MAX_BYTES = 64,   // of a transaction
  parameter int ROW_BITS = 14,
  parameter int INFO_BITS = 8,    // of what travels with a transaction
  parameter bit PACKED_INT4 = 1'b0,
  parameter int BYTE_BITS = $clog2(MAX_BYTES + 1)  // derived
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   in_valid_i,
  output logic                   in_ready_o,
  input  logic [BUS_BYTES*8-1:0] in_data_i,
  // the transaction that an incoming beat belongs to
  input  logic [BYTE_BITS-1:0]   in_length_i,
  input  logic [BYTE_BITS-1:0]   in_shift_i,
  input  logic [BYTE_BITS-1:0]   in_bytes_i,
  input  logic [ROW_BITS-1:0]    in_row_i,
  input  logic [15:0]            in_row_offset_i,
  input  logic [15:0]            in_block_stride_i,
  input  logic                   in_wide_i,  // int32 elements
  input  logic                   in_packed_i,
  input  logic [INFO_BITS-1:0]   in_info_i,
  output logic                   out_valid_o,
  input  logic                   out_ready_i,
  output logic [DIM*32-1:0]      out_data_o,
  output logic [DIM*4-1:0]       out_mask_o,
  output logic [ROW_BITS-1:0]    out_row_o,
  output logic                   out_wide_o,
  output logic                   out_last_o,
  output logic [BYTE_BITS-1:0]   out_bytes_o,
  output logic [INFO_BITS-1:0]   out_info_o
);
  localparam int WIDE_BYTES = DIM * 4;
  // room for selects past the end
  localparam int BUFFER = MAX_BYTES + (WIDE_BYTES > BUS_BYTES ? WIDE_BYTES : BUS_BYTES);
  localparam int B = 16;                              // byte counts in arithmetic
  localparam int W = ROW_BITS > 16 ? ROW_BITS : 16;   // row sums

  // The transaction at work.
  logic                 valid_q, wide_q, packed_q, packed_row;
  logic [BYTE_BITS-1:0] length_q, shift_q, bytes_q, read_q, sent_q;
  logic [ROW_BITS-1:0]  row_q;
  logic [15:0]          offset_q, block_stride_q;
  logic [INFO_BITS-1:0] info_q;
  logic [BUFFER*8-1:0]  buffer_q;

  logic         complete, accept_new, in_fire, out_fire, leaves;
  logic [B-1:0] row_bytes, useful, sent_next, offset;

  assign complete = read_q == length_q;
  assign packed_row = PACKED_INT4 && packed_q;
  assign row_bytes = wide_q ? B'(WIDE_BYTES) : packed_row ? B'(DIM / 2) : B'(DIM);
  always_comb begin
    useful = B'(read_q) > B'(shift_q) ? B'(read_q) - B'(shift_q) : '0;
    if (useful > B'(bytes_q)) useful = B'(bytes_q);
  end
  // Only a transaction's first row can start inside a local row.
  assign offset = sent_q == '0 ? offset_q : '0;
  assign sent_next = B'(sent_q) + row_bytes - offset > B'(bytes_q) ? B'(bytes_q) : B'(sent_q) +
      row_bytes - offset;

  assign out_valid_o = valid_q && useful > B'(sent_q) &&
      (useful - B'(sent_q) >= row_bytes || useful == B'(bytes_q));
  assign out_last_o = sent_next == B'(bytes_q);
  assign out_fire = out_valid_o && out_ready_i;
  assign out_wide_o = wide_q;
  assign out_bytes_o = bytes_q;
  assign out_info_o = info_q;

  // The row that the next byte belongs to, counted in local rows from the first.
  logic [B-1:0] bytes_before;
  logic [15:0]  blocks_before;
  assign bytes_before = offset_q + B'(sent_q);
  assign blocks_before = wide_q ? bytes_before >> $clog2(WIDE_BYTES)
                       : packed_row ? bytes_before >> $clog2(DIM / 2) : bytes_before >> $clog2(DIM);
  assign out_row_o = ROW_BITS'(W'(row_q) + W'(block_stride_q) * W'(blocks_before));

  logic [WIDE_BYTES*8-1:0] row_data;
  logic [WIDE_BYTES-1:0]   row_mask;
  assign row_data = buffer_q[32'(sent_q)*8 +: WIDE_BYTES*8] << {offset, 3'd0};
  always_comb begin
    for (int i = 0; i < WIDE_BYTES; i++) begin
      row_mask[i] = B'(i) >= offset && B'(i) < offset + B'(bytes_q) - B'(sent_q);
    end
  end

  // Element i of a packed row is half of its byte i / 2.
  always_comb begin
    out_data_o = row_data;
    out_mask_o = row_mask;
    for (int i = 0; i < DIM; i++) begin
      if (packed_row) begin
        out_data_o[i*8 +: 8] = {{4{row_data[i*4 + 3]}}, row_data[i*4 +: 4]};
        out_mask_o[i] = row_mask[i / 2];
      end
    end
  end

  assign accept_new = !valid_q || (out_fire && out_last_o && complete);
  assign in_ready_o = (in_valid_i && accept_new) || (valid_q && !complete);
  assign in_fire = in_valid_i && in_ready_o;

  // A transaction leaves when its rows are out and its beats are in, whichever comes last.
  logic last_reading;
  assign last_reading = B'(BUS_BYTES) >= B'(length_q) - B'(read_q);
  assign leaves = (complete && (sent_q == bytes_q || (out_fire && out_last_o)))
                || (in_fire && !accept_new && sent_q == bytes_q && last_reading);

  logic [B-1:0] base_read, base_shift, discarded, place, skip;
  assign base_read = accept_new ? '0 : B'(read_q);
  assign base_shift = accept_new ? B'(in_shift_i) : B'(shift_q);
  // Of the bytes before this beat, how many were not wanted; of this beat, how many are not.
  assign discarded = base_read < base_shift ? base_read : base_shift;
  assign skip = base_shift - discarded;
  assign place = accept_new ? '0 : useful;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      read_q <= '0;
      sent_q <= '0;
    end else begin
      if (leaves) valid_q <= 1'b0;
      if (out_fire) sent_q <= BYTE_BITS'(sent_next);
      if (in_fire) begin
        read_q <= BYTE_BITS'(base_read + B'(BUS_BYTES));
        if (accept_new) begin
          valid_q <= 1'b1;
          sent_q <= '0;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (in_fire) begin
      if (accept_new) begin
        length_q <= in_length_i;
        shift_q <= in_shift_i;
        bytes_q <= in_bytes_i;
        row_q <= in_row_i;
        offset_q <= in_row_offset_i;
        block_stride_q <= in_block_stride_i;
        wide_q <= in_wide_i;
        packed_q <= in_packed_i;
        info_q <= in_info_i;
      end
      // Bytes past the wanted ones are never sent, and later beats overwrite what this one leaves
      // above its own.
      if (skip < B'(BUS_BYTES)) buffer_q[32'(place)*8 +: BUS_BYTES*8] <= in_data_i >> {skip, 3'd0};
    end
  end

`ifdef WEFT_ASSERT_ON
  // Bytes that the row does not hold change while beats arrive.
  logic [DIM*32-1:0] held;
  always_comb begin
    for (int i = 0; i < WIDE_BYTES; i++) begin
      held[i*8 +: 8] = out_mask_o[i] && B'(i) < (packed_row ? B'(DIM) : row_bytes) ?
          out_data_o[i*8 +: 8] : 8'd0;
    end
  end
`endif
  `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i,
                      {held, out_mask_o, out_row_o, out_wide_o, out_last_o, out_bytes_o,
                      out_info_o})
endmodule
