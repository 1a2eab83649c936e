// SPDX-License-Identifier: Apache-2.0
// The next naturally aligned burst of a transfer: of the sizes BUS_BYTES, 2 * BUS_BYTES ...
// MAX_BYTES the one that carries most of the bytes left, the smallest of equals. Purely
// combinational, no latency.
//
//   size_o    bytes of the burst, a power of two
//   offset_o  bytes of the burst before the first byte wanted: address_i modulo size_o
//   bytes_o   bytes wanted that the burst carries
// Invariants: offset_o + bytes_o <= size_o; bytes_o is zero exactly when left_i is.
module weft_burst_cut #(
  parameter int BUS_BYTES = 16,
  parameter int MAX_BYTES = 64,
  parameter int LEFT_BITS = 16,
  parameter int BYTE_BITS = $clog2(MAX_BYTES + 1)  // derived
) (
  input  logic [LEFT_BITS-1:0] address_i,  // low bits of the first byte's address
  input  logic [LEFT_BITS-1:0] left_i,     // bytes
  output logic [BYTE_BITS-1:0] size_o,
  output logic [BYTE_BITS-1:0] offset_o,
  output logic [BYTE_BITS-1:0] bytes_o
);
  localparam int SIZES = $clog2(MAX_BYTES / BUS_BYTES) + 1;

  // Sizes from the smallest; a larger one must carry more to replace it.
  always_comb begin
    size_o = '0;
    offset_o = '0;
    bytes_o = '0;
    for (int s = 0; s < SIZES; s++) begin
      logic [LEFT_BITS-1:0] size, offset, bytes;
      size = LEFT_BITS'(BUS_BYTES) << s;
      offset = address_i & (size - LEFT_BITS'(1));
      bytes = size - offset < left_i ? size - offset : left_i;
      if (bytes > LEFT_BITS'(bytes_o)) begin
        size_o = BYTE_BITS'(size);
        offset_o = BYTE_BITS'(offset);
        bytes_o = BYTE_BITS'(bytes);
      end
    end
  end
endmodule
