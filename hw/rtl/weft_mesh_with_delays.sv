// SPDX-License-Identifier: Apache-2.0
// The mesh with what it needs around it: row buffers, transposer, skew of the operands, deskew of
// the results, and the queues that tell which product a result row belongs to.
//
// A request announces a product of req_total_rows_i rows; its rows of A, B and D follow, the first
// together with the request. A row enters the mesh when all three operands of it are there; a flush
// request needs none and feeds zeros for ROWS rows. With req_propagate_i the elements swap their
// registers at the request's first row.
// req_transpose_i names the operand (bit 0 A, 1 B, 2 D, at most one) that passes through the
// transposer: its rows come out, as columns, during the next request.
//
// hold_i keeps the row that waits (row_*_o) from entering in this cycle.
//
// Results come out LATENCY + 1 cycles after the request's first row was taken, in the rhythm of its
// rows, never held up:
//   LATENCY = (MESH_ROWS + MESH_COLUMNS - 1) * STEP + OUTPUT_DELAY,  STEP = TILE_LATENCY + 1
// The tag of request n is handed out with the rows of request n + 1 when n is weight-stationary (n
// preloads, n + 1 computes) and with those of n + 2 when it is output-stationary (n + 2 pushes the
// sums out). Flush requests carry tags but have none. Rows without a tag have resp_tag_o zero; a
// tag that names a product has its top bit set.
//
// req_ready_o and op_ready_o depend on registers and hold_i, row_*_o on registers only; the caller
// may look at them before it sets the valids.
// Invariants: at most MAX_MATMULS + 1 tags are outstanding; op_valid_i comes with or after the
// request's handshake.
`include "weft_assert.svh"

module weft_mesh_with_delays #(
  parameter int MESH_ROWS = 4,
  parameter int MESH_COLUMNS = 4,
  parameter int TILE_ROWS = 1,
  parameter int TILE_COLUMNS = 1,
  parameter int DATAFLOW = weft_pkg::MESH_DATAFLOW_BOTH,
  parameter int INPUT_BITS = 8,
  parameter int OUTPUT_BITS = 20,
  parameter int SHIFT_BITS = 5,
  parameter int TILE_LATENCY = 0,
  parameter int OUTPUT_DELAY = 1,
  parameter int MAX_MATMULS = 5,
  parameter bit TRANSPOSER = 1'b1,
  parameter int TAG_BITS = 8,
  parameter int ROWS = MESH_ROWS * TILE_ROWS,  // derived
  parameter int COUNT_BITS = $clog2(ROWS + 1)  // derived
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,
  input  logic                       req_valid_i,
  output logic                       req_ready_o,
  input  logic                       req_flush_i,
  input  logic                       req_propagate_i,
  input  logic                       req_os_i,
  input  logic [SHIFT_BITS-1:0]      req_shift_i,
  input  logic [2:0]                 req_transpose_i,
  input  logic [COUNT_BITS-1:0]      req_total_rows_i,
  input  logic [TAG_BITS-1:0]        req_tag_i,
  input  logic [2:0]                 op_valid_i,
  output logic [2:0]                 op_ready_o,
  input  logic [ROWS*INPUT_BITS-1:0] a_i,
  input  logic [ROWS*INPUT_BITS-1:0] b_i,
  input  logic [ROWS*INPUT_BITS-1:0] d_i,
  // of the product whose row this row pushes out; zero: none
  output logic [TAG_BITS-1:0]        row_tag_o,
  output logic [COUNT_BITS-1:0]      row_index_o,
  output logic [COUNT_BITS-1:0]      row_total_o,
  output logic                       row_feed_o,   // it enters now
  input  logic                       hold_i,
  output logic                       resp_valid_o,
  output logic                       resp_last_o,
  output logic [TAG_BITS-1:0]        resp_tag_o,
  output logic [COUNT_BITS-1:0]      resp_total_rows_o,
  output logic [ROWS*OUTPUT_BITS-1:0] resp_data_o
);
  localparam int STEP = TILE_LATENCY + 1;
  localparam int LATENCY = (MESH_ROWS + MESH_COLUMNS - 1) * STEP + OUTPUT_DELAY;
  localparam int TAGS = MAX_MATMULS + 1;
  localparam int TAGS_BITS = $clog2(TAGS + 1);
  localparam int IN_MESH = TAGS + LATENCY / ROWS + 3;  // requests, flushes included
  localparam int ROW_BITS = ROWS * INPUT_BITS;
  localparam logic [COUNT_BITS-1:0] ALL_ROWS = COUNT_BITS'(ROWS);

  // The request whose rows are being fed.
  logic busy_q, flush_q, propagate_q, os_q;
  logic [SHIFT_BITS-1:0] shift_q;
  logic [2:0] transpose_q;
  logic [COUNT_BITS-1:0] total_q, fed_q;
  logic [2:0] written_q;
  logic [ROW_BITS-1:0] a_q, b_q, d_q;
  logic tags_ready, queue_ready, req_fire, feed, last;
  logic [2:0] op_fire;

  assign feed = busy_q && (flush_q || &written_q) && !hold_i;
  assign last = feed && fed_q == total_q - 1'b1;
  assign req_ready_o = (!busy_q || last) && tags_ready && queue_ready;
  assign req_fire = req_valid_i && req_ready_o;
  assign op_ready_o = ~written_q | {3{feed}};
  assign op_fire = op_valid_i & op_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      flush_q <= 1'b0;
      propagate_q <= 1'b0;
      os_q <= 1'b0;
      shift_q <= '0;
      transpose_q <= '0;
      total_q <= ALL_ROWS;
      fed_q <= '0;
      written_q <= '0;
    end else begin
      if (req_fire) begin
        busy_q <= 1'b1;
        flush_q <= req_flush_i;
        propagate_q <= req_propagate_i;
        os_q <= req_os_i;
        shift_q <= req_shift_i;
        transpose_q <= req_transpose_i;
        total_q <= req_flush_i ? ALL_ROWS : req_total_rows_i;
      end else if (last) begin
        busy_q <= 1'b0;
      end
      if (feed) fed_q <= last ? '0 : fed_q + 1'b1;
      written_q <= (feed ? 3'b000 : written_q) | op_fire;
    end
  end

  always_ff @(posedge clk_i) begin
    if (op_fire[0]) a_q <= a_i;
    if (op_fire[1]) b_q <= b_i;
    if (op_fire[2]) d_q <= d_i;
  end

  // Operands of the row: from the buffer or, as columns of the request before, from the transposer.
  // D enters last row first, so it passes the transposer reversed on both sides.
  logic [ROW_BITS-1:0] a_row, b_row, d_row, a_in, b_in, d_in;
  assign a_row = flush_q ? '0 : a_q;
  assign b_row = flush_q ? '0 : b_q;
  assign d_row = flush_q ? '0 : d_q;
  if (TRANSPOSER) begin : g_transposer
    logic [ROW_BITS-1:0] d_reversed, row, column, column_reversed;
    for (genvar i = 0; i < ROWS; i++) begin : g_reverse
      assign d_reversed[i*INPUT_BITS+:INPUT_BITS] = d_row[(ROWS-1-i)*INPUT_BITS+:INPUT_BITS];
      assign column_reversed[i*INPUT_BITS+:INPUT_BITS] = column[(ROWS-1-i)*INPUT_BITS+:INPUT_BITS];
    end
    assign row = transpose_q[2] ? d_reversed : transpose_q[1] ? b_row : a_row;
    weft_transposer #(.DIM(ROWS), .WIDTH(INPUT_BITS)) u_transposer (
      .clk_i,
      .rst_ni,
      .enable_i(feed && |transpose_q),
      .row_i(row),
      .column_o(column)
    );
    assign a_in = transpose_q[0] ? column : a_row;
    assign b_in = transpose_q[1] ? column : b_row;
    assign d_in = transpose_q[2] ? column_reversed : d_row;
  end else begin : g_direct
    assign {a_in, b_in, d_in} = {a_row, b_row, d_row};
    logic unused;
    assign unused = &{1'b0, transpose_q};
  end

  logic [ROW_BITS-1:0] a_skewed, b_skewed, d_skewed;
  weft_skew #(.ELEMENTS(MESH_ROWS), .WIDTH(TILE_ROWS * INPUT_BITS), .STEP(STEP)) u_skew_a (
    .clk_i, .in_i(a_in), .out_o(a_skewed));
  weft_skew #(.ELEMENTS(MESH_COLUMNS), .WIDTH(TILE_COLUMNS * INPUT_BITS), .STEP(STEP)) u_skew_b (
    .clk_i, .in_i(b_in), .out_o(b_skewed));
  weft_skew #(.ELEMENTS(MESH_COLUMNS), .WIDTH(TILE_COLUMNS * INPUT_BITS), .STEP(STEP)) u_skew_d (
    .clk_i, .in_i(d_in), .out_o(d_skewed));

  logic [ROWS*OUTPUT_BITS-1:0] result;
  weft_mesh #(
    .MESH_ROWS(MESH_ROWS),
    .MESH_COLUMNS(MESH_COLUMNS),
    .TILE_ROWS(TILE_ROWS),
    .TILE_COLUMNS(TILE_COLUMNS),
    .DATAFLOW(DATAFLOW),
    .INPUT_BITS(INPUT_BITS),
    .OUTPUT_BITS(OUTPUT_BITS),
    .SHIFT_BITS(SHIFT_BITS),
    .TILE_LATENCY(TILE_LATENCY),
    .OUTPUT_DELAY(OUTPUT_DELAY)
  ) u_mesh (
    .clk_i,
    .rst_ni,
    .valid_i(feed),
    .swap_i(propagate_q && fed_q == '0),
    .os_i(os_q),
    .shift_i(shift_q),
    .a_i(a_skewed),
    .b_i(b_skewed),
    .d_i(d_skewed),
    .result_o(result)
  );
  weft_skew #(.ELEMENTS(MESH_COLUMNS), .WIDTH(TILE_COLUMNS * OUTPUT_BITS), .STEP(STEP),
      .REVERSE(1'b1)) u_deskew (
    .clk_i, .in_i(result), .out_o(resp_data_o));

  // Valid and last travel beside the rows.
  logic [LATENCY-1:0] valid_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= LATENCY'({valid_q, feed});
  end
  assign resp_valid_o = valid_q[LATENCY-1];
  weft_delay #(.WIDTH(1), .CYCLES(LATENCY)) u_last (.clk_i, .in_i(last), .out_o(resp_last_o));

  // Tags wait here for the request whose rows they belong to: the last request's, and the one's
  // before if it was output-stationary. A request takes what it carries along into the queue of the
  // requests in the mesh.
  // After a change from output- to weight-stationary both can be there; the older one then names no
  // product and is dropped.
  logic before_q, before_os_q, older_q, carries, dropped, leaves, holds;
  logic [TAG_BITS-1:0] before_tag_q, older_tag_q, carried_tag;
  assign carries = (before_q && !before_os_q) || older_q;
  assign dropped = req_fire && before_q && !before_os_q && older_q;
  assign carried_tag = before_q && !before_os_q ? before_tag_q : older_tag_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      before_q <= 1'b0;
      before_os_q <= 1'b0;
      older_q <= 1'b0;
    end else if (req_fire) begin
      before_q <= !req_flush_i;
      before_os_q <= req_os_i;
      older_q <= before_q && before_os_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (req_fire) begin
      before_tag_q <= req_tag_i;
      older_tag_q <= before_tag_q;
    end
  end

  // The tag that the request being fed carries.
  logic [TAG_BITS-1:0] row_tag_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) row_tag_q <= '0;
    else if (req_fire) row_tag_q <= carries ? carried_tag : '0;
  end
  assign row_tag_o = row_tag_q;
  assign row_index_o = fed_q;
  assign row_total_o = total_q;
  assign row_feed_o = feed;

  logic in_mesh;
  logic [TAG_BITS-1:0] tag;
  logic [$clog2(IN_MESH+1)-1:0] in_mesh_count;
  assign leaves = resp_valid_o && resp_last_o;
  assign resp_tag_o = holds ? tag : '0;
  weft_fifo #(.WIDTH(1 + TAG_BITS + COUNT_BITS), .DEPTH(IN_MESH)) u_in_mesh (
    .clk_i,
    .rst_ni,
    .in_valid_i(req_fire),
    .in_ready_o(queue_ready),
    .in_data_i({carries, carried_tag, req_flush_i ? ALL_ROWS : req_total_rows_i}),
    .out_valid_o(in_mesh),
    .out_ready_i(leaves),
    .out_data_o({holds, tag, resp_total_rows_o}),
    .count_o(in_mesh_count)
  );

  // The number of tags on their way, whether they name a product or not, limits the requests in the
  // mesh.
  logic [TAGS_BITS-1:0] tags_q;
  assign tags_ready = tags_q != TAGS_BITS'(TAGS);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) tags_q <= '0;
    else tags_q <= tags_q + TAGS_BITS'(req_fire && !req_flush_i) - TAGS_BITS'(leaves && holds) -
        TAGS_BITS'(dropped);
  end
  logic unused;
  assign unused = &{1'b0, in_mesh, in_mesh_count};

  `WEFT_ASSERT_INITIAL(MeshIsSquare, MESH_ROWS * TILE_ROWS == MESH_COLUMNS * TILE_COLUMNS)
  `WEFT_ASSERT(OperandsHaveARequest, !(|op_fire) || busy_q || req_fire)
  `WEFT_ASSERT(OneOperandIsTransposed, !req_fire || $onehot0(req_transpose_i))
  `WEFT_ASSERT(ProductHasRows, !req_fire || req_flush_i || req_total_rows_i != '0)
  `WEFT_ASSERT(RowsHaveARequest, !resp_valid_o || in_mesh)
  // Output-stationary products are pushed out by a later request.
  `WEFT_ASSERT(ProductIsPushedOut, !(dropped && older_tag_q[TAG_BITS-1]))
endmodule
