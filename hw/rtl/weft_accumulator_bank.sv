// SPDX-License-Identifier: Apache-2.0
// One accumulator bank: int32 rows, written plainly or added to (read-modify-write), read by the
// execute unit and the store path.
//
// A write taken at t is in stage 0 at t+1, where an accumulating one meets the row it read at t in
// the adder shared by the banks (add_*), and is written to memory from stage LATENCY-1, at
// t+LATENCY. Sums are right for any sequence of writes: what a younger write reads is overridden,
// byte by byte, by older writes still on their way.
// Urgent writes (execute) are always taken. Others wait while the row they add to is on its way;
// the parent sees to it that the adder is used by one bank at a time.
// Reads wait while any accumulating write asks for this bank or a write to the same row is on its
// way. The execute unit wins over the store path.
//
// Two-ported: one memory, a read and a write per cycle.
// SINGLE_PORTED: SUB_BANKS memories interleaved by the low row bits, one access per cycle each: the
// row read of an accumulating write first, then queued writes, then plain reads. Other writes also
// wait while two writes to the sub-bank are on their way. Rule: urgent writes visit a sub-bank at
// most every other cycle if one of them accumulates (row_spacing of the execute unit sees to it);
// they cannot wait.
//
// Latency: read taken at t -> response t+1, kept until taken.
// Combinational: wr_ready_o on the write's address; read ready on the write's valid, the address,
// response ready.
`include "weft_assert.svh"

module weft_accumulator_bank #(
  parameter int DIM = 16,
  parameter int ROWS = 512,
  parameter bit SINGLE_PORTED = 1'b0,
  parameter int SUB_BANKS = 1,
  parameter int LATENCY = 2,
  parameter int ADDR_BITS = $clog2(ROWS)  // derived
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 wr_valid_i,
  output logic                 wr_ready_o,
  input  logic                 wr_urgent_i,
  input  logic [ADDR_BITS-1:0] wr_addr_i,
  input  logic                 wr_accumulate_i,
  input  logic [DIM*32-1:0]    wr_data_i,
  input  logic [DIM*4-1:0]     wr_mask_i,
  output logic                 add_valid_o,
  output logic [DIM*32-1:0]    add_a_o,
  output logic [DIM*32-1:0]    add_b_o,
  input  logic [DIM*32-1:0]    add_sum_i,
  input  logic                 ex_rd_valid_i,
  output logic                 ex_rd_ready_o,
  input  logic [ADDR_BITS-1:0] ex_rd_addr_i,
  output logic                 ex_rsp_valid_o,
  input  logic                 ex_rsp_ready_i,
  output logic [DIM*32-1:0]    ex_rsp_data_o,
  input  logic                 st_rd_valid_i,
  output logic                 st_rd_ready_o,
  input  logic [ADDR_BITS-1:0] st_rd_addr_i,
  output logic                 st_rsp_valid_o,
  input  logic                 st_rsp_ready_i,
  output logic [DIM*32-1:0]    st_rsp_data_o
);
  localparam int ROW = DIM * 32;
  localparam int MASK = DIM * 4;

  // Stages 0 to LATENCY; the last holds the write that memory received in the cycle before. From
  // stage 1 on the data is final.
  logic [LATENCY:0]               valid_q;
  logic [(LATENCY+1)*ADDR_BITS-1:0] addr_q;
  logic [(LATENCY+1)*MASK-1:0]    mask_q;
  logic [(LATENCY+1)*ROW-1:0]     data_q;
  logic                           accumulate_q;  // of stage 0
  logic [ROW-1:0]                 stage_0_final, old_row;

  logic wr_fire, wr_row_pending, rd_row_pending, rd_blocked, wr_blocked;
  logic ex_fire, st_fire, rd_is_ex;
  logic [ADDR_BITS-1:0] rd_addr;

  assign wr_fire = wr_valid_i && wr_ready_o;
  assign wr_ready_o = wr_urgent_i || (!(wr_accumulate_i && wr_row_pending) && !wr_blocked);
  assign rd_is_ex = ex_rd_valid_i;
  assign rd_addr = rd_is_ex ? ex_rd_addr_i : st_rd_addr_i;
  assign ex_rd_ready_o = !rd_blocked && (!ex_rsp_valid_o || ex_rsp_ready_i);
  assign st_rd_ready_o = !rd_blocked && !ex_rd_valid_i && (!st_rsp_valid_o || st_rsp_ready_i);
  assign ex_fire = ex_rd_valid_i && ex_rd_ready_o;
  assign st_fire = st_rd_valid_i && st_rd_ready_o;

  always_comb begin
    wr_row_pending = 1'b0;
    rd_row_pending = 1'b0;
    for (int k = 0; k < LATENCY; k++) begin
      if (valid_q[k] && addr_q[k*ADDR_BITS +: ADDR_BITS] == wr_addr_i) wr_row_pending = 1'b1;
      if (valid_q[k] && addr_q[k*ADDR_BITS +: ADDR_BITS] == rd_addr) rd_row_pending = 1'b1;
    end
  end

  assign add_valid_o = valid_q[0] && accumulate_q;
  assign add_a_o = old_row;
  assign add_b_o = data_q[0 +: ROW];
  assign stage_0_final = accumulate_q ? add_sum_i : data_q[0 +: ROW];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= (LATENCY+1)'({valid_q, wr_fire});
  end
  always_ff @(posedge clk_i) begin
    addr_q <= ((LATENCY+1)*ADDR_BITS)'({addr_q, wr_addr_i});
    mask_q <= ((LATENCY+1)*MASK)'({mask_q, wr_mask_i});
    accumulate_q <= wr_accumulate_i;
    data_q[0 +: ROW] <= wr_data_i;
    data_q[ROW +: ROW] <= stage_0_final;
    for (int k = 2; k <= LATENCY; k++) data_q[k*ROW +: ROW] <= data_q[(k-1)*ROW +: ROW];
  end

  // What reaches memory in this cycle (two-ported) or the write queues.
  logic                 commit_valid;
  logic [ADDR_BITS-1:0] commit_addr;
  logic [MASK-1:0]      commit_mask;
  logic [ROW-1:0]       commit_data;
  assign commit_valid = valid_q[LATENCY-1];
  assign commit_addr = addr_q[(LATENCY-1)*ADDR_BITS +: ADDR_BITS];
  assign commit_mask = mask_q[(LATENCY-1)*MASK +: MASK];
  assign commit_data = LATENCY == 1 ? stage_0_final : data_q[(LATENCY-1)*ROW +: ROW];

  logic [ROW-1:0] ex_row, st_row;
  if (!SINGLE_PORTED) begin : g_two_ports
    logic [ROW-1:0] mem [ROWS];
    logic [ROW-1:0] row_q;
    logic           rmw;

    assign rmw = wr_fire && wr_accumulate_i;
    assign wr_blocked = 1'b0;
    assign rd_blocked = (wr_valid_i && wr_accumulate_i) || rd_row_pending;
    assign ex_row = row_q;
    assign st_row = row_q;

    // A process per byte: Verilator 5.006 takes no such loop of more than 64 turns.
    for (genvar i = 0; i < MASK; i++) begin : g_byte
      always_ff @(posedge clk_i) begin
        if (commit_valid && commit_mask[i]) mem[commit_addr][i*8 +: 8] <= commit_data[i*8 +: 8];
      end
    end
    always_ff @(posedge clk_i) begin
      if (rmw || ex_fire || st_fire) row_q <= mem[rmw ? wr_addr_i : rd_addr];
    end

    always_comb begin
      old_row = row_q;
      for (int k = LATENCY; k >= 1; k--) begin
        for (int i = 0; i < MASK; i++) begin
          if (valid_q[k] && addr_q[k*ADDR_BITS +: ADDR_BITS] == addr_q[0 +: ADDR_BITS] &&
              mask_q[k*MASK + i]) begin
            old_row[i*8 +: 8] = data_q[k*ROW + i*8 +: 8];
          end
        end
      end
    end
  end else begin : g_one_port
    localparam int SUB_BITS = $clog2(SUB_BANKS);
    localparam int SUB_ROWS = ROWS / SUB_BANKS;
    localparam int SUB_ADDR_BITS = $clog2(SUB_ROWS);
    localparam int QUEUE = 4;

    logic [SUB_BANKS-1:0]     sub_wr_full, sub_rd_blocked;
    logic [SUB_BANKS*ROW-1:0] sub_old, sub_row;
    logic [SUB_BITS-1:0]      read_sub_q;

    assign wr_blocked = sub_wr_full[wr_addr_i[SUB_BITS-1:0]];
    assign rd_blocked = (wr_valid_i && wr_accumulate_i) || rd_row_pending ||
        sub_rd_blocked[rd_addr[SUB_BITS-1:0]];
    assign old_row = sub_old[addr_q[SUB_BITS-1:0]*ROW +: ROW];
    assign ex_row = sub_row[read_sub_q*ROW +: ROW];
    assign st_row = ex_row;
    always_ff @(posedge clk_i) begin
      if (ex_fire || st_fire) read_sub_q <= rd_addr[SUB_BITS-1:0];
    end

    for (genvar s = 0; s < SUB_BANKS; s++) begin : g_sub_bank
      logic [ROW-1:0] mem [SUB_ROWS];
      logic [ROW-1:0] row_q;
      // Queued writes, the oldest at 0.
      logic [2:0]                    count_q, count_after;
      logic [QUEUE*SUB_ADDR_BITS-1:0] q_addr_q, q_addr_after;
      logic [QUEUE*MASK-1:0]         q_mask_q, q_mask_after;
      logic [QUEUE*ROW-1:0]          q_data_q, q_data_after;
      logic                          rmw, read, write, push;
      logic [2:0]                    on_the_way;

      assign rmw = wr_fire && wr_accumulate_i && wr_addr_i[SUB_BITS-1:0] == SUB_BITS'(s);
      assign write = !rmw && count_q != '0;
      assign read = !rmw && !write && (ex_fire || st_fire) && rd_addr[SUB_BITS-1:0] == SUB_BITS'(s);
      assign push = commit_valid && commit_addr[SUB_BITS-1:0] == SUB_BITS'(s);
      assign sub_rd_blocked[s] = count_q != '0;
      assign sub_row[s*ROW +: ROW] = row_q;

      always_comb begin
        on_the_way = count_q;
        for (int k = 0; k < LATENCY; k++) begin
          if (valid_q[k] && addr_q[k*ADDR_BITS +: SUB_BITS] == SUB_BITS'(s) &&
              on_the_way != 3'd7) begin
            on_the_way = on_the_way + 3'd1;
          end
        end
      end
      assign sub_wr_full[s] = on_the_way >= 3'd2;

      always_comb begin
        count_after = count_q;
        q_addr_after = q_addr_q;
        q_mask_after = q_mask_q;
        q_data_after = q_data_q;
        if (write) begin
          count_after = count_after - 3'd1;
          q_addr_after = q_addr_after >> SUB_ADDR_BITS;
          q_mask_after = q_mask_after >> MASK;
          q_data_after = q_data_after >> ROW;
        end
        for (int i = 0; i < QUEUE; i++) begin
          if (push && count_after == 3'(i)) begin
            q_addr_after[i*SUB_ADDR_BITS +: SUB_ADDR_BITS] = commit_addr[ADDR_BITS-1:SUB_BITS];
            q_mask_after[i*MASK +: MASK] = commit_mask;
            q_data_after[i*ROW +: ROW] = commit_data;
          end
        end
        if (push) count_after = count_after + 3'd1;
      end

      always_ff @(posedge clk_i or negedge rst_ni) begin
        if (!rst_ni) count_q <= '0;
        else count_q <= count_after;
      end
      always_ff @(posedge clk_i) begin
        q_addr_q <= q_addr_after;
        q_mask_q <= q_mask_after;
        q_data_q <= q_data_after;
        if (!write && (rmw || read)) begin
          row_q <= mem[rmw ? wr_addr_i[ADDR_BITS-1:SUB_BITS] : rd_addr[ADDR_BITS-1:SUB_BITS]];
        end
      end
      for (genvar i = 0; i < MASK; i++) begin : g_byte
        always_ff @(posedge clk_i) begin
          if (write && q_mask_q[i]) mem[q_addr_q[SUB_ADDR_BITS-1:0]][i*8 +: 8] <=
              q_data_q[i*8 +: 8];
        end
      end

      // Older writes to the row in stage 0: those queued, then those in the stages behind it.
      always_comb begin
        sub_old[s*ROW +: ROW] = row_q;
        for (int i = 0; i < QUEUE; i++) begin
          for (int j = 0; j < MASK; j++) begin
            if (count_q > 3'(i) &&
                q_addr_q[i*SUB_ADDR_BITS +: SUB_ADDR_BITS] == addr_q[ADDR_BITS-1:SUB_BITS]
                && q_mask_q[i*MASK + j]) begin
              sub_old[s*ROW + j*8 +: 8] = q_data_q[i*ROW + j*8 +: 8];
            end
          end
        end
        for (int k = LATENCY - 1; k >= 1; k--) begin
          for (int j = 0; j < MASK; j++) begin
            if (valid_q[k] && addr_q[k*ADDR_BITS +: ADDR_BITS] == addr_q[0 +: ADDR_BITS] &&
                mask_q[k*MASK + j]) begin
              sub_old[s*ROW + j*8 +: 8] = data_q[k*ROW + j*8 +: 8];
            end
          end
        end
      end

      // Urgent writes visit a sub-bank only so often.
      `WEFT_ASSERT(QueueHasRoom, !push || write || count_q < 3'(QUEUE))
    end

    logic unused_last_stage;
    assign unused_last_stage = &{1'b0, valid_q[LATENCY], addr_q, mask_q, data_q};
  end

  weft_read_response #(.WIDTH(ROW)) u_ex_response (
    .clk_i(clk_i), .rst_ni(rst_ni), .read_i(ex_fire), .data_i(ex_row),
    .valid_o(ex_rsp_valid_o), .ready_i(ex_rsp_ready_i), .data_o(ex_rsp_data_o)
  );
  weft_read_response #(.WIDTH(ROW)) u_st_response (
    .clk_i(clk_i), .rst_ni(rst_ni), .read_i(st_fire), .data_i(st_row),
    .valid_o(st_rsp_valid_o), .ready_i(st_rsp_ready_i), .data_o(st_rsp_data_o)
  );
endmodule
