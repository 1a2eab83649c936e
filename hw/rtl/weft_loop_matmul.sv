// SPDX-License-Identifier: Apache-2.0
// LOOP_WS: unrolls a matrix product of I x J x K tiles into mvin, preload, compute and mvout.
//
// Commands pass a two-entry queue. Loop commands write the configuration registers of a slot or
// start it; all others go straight to the output while no loop is active, so program order is kept.
// Two slots: the older one (head) and the next (tail), which may be configured, and whose parts may
// start, while the head is not finished. Five parts, each working on one slot at a time: loads of
// A, B and D, products, stores. Output priority: store, products, D, then A or B:
// the one whose slot is the head; in the same slot B while A is ahead of it in k and for its very
// first command, else A. A residual addition emits all of A before B.
//
// A class is held back while as many of its commands are in flight (output to completion in the
// reservation station) as the station has entries.
//
// Program order between the slots: the reservation station orders commands that were emitted, so a
// part of the tail must not emit before the head has emitted what it conflicts with. Halves and
// slots alternate, so that the following rules delay nothing in the usual sequences:
//   D       waits for products and stores of the head in the same accumulator half
//   A, B    wait for loads and products of the head where the rows of the operands overlap
//           (revision 2: explicit places)
//   product waits for loads of the head, and for stores of the head in the same half
//   store   waits for loads and products of the head
//   all     wait for the stores of a head that stores to the scratchpad, and for a head that is a
//           residual addition when they are not (and the reverse)
// Within a slot, stores to the scratchpad wait for all products, and a residual addition loads D
// first.
//
// Latency: a command that is not part of a loop takes one cycle. Run command taken in t (queue t,
// registers t + 1): loads start in t + 1, the first mvin leaves in t + 2, products start in t + 2,
// stores in t + 3.
// in_ready_o is registered; out_valid_o depends on no input of the same cycle.
`include "weft_assert.svh"

module weft_loop_matmul #(
  parameter int ISA_REVISION = 1,
  parameter int DIM = 16,
  parameter int SP_ROWS = 16384,
  parameter int ACC_ROWS = 1024,
  parameter int ROW_BITS = 14,
  parameter int MAX_BLOCK_LEN = 4,
  parameter int MAX_BLOCK_LEN_ACC = 1,
  parameter int NORM_STATS = 4,
  parameter int LOAD_ENTRIES = 8,
  parameter int EXECUTE_ENTRIES = 16,
  parameter int STORE_ENTRIES = 4
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [6:0]  in_funct_i,
  input  logic [63:0] in_rs1_i,
  input  logic [63:0] in_rs2_i,
  input  logic [5:0]  in_rd_i,         // whether the command returns a value, and where
  input  logic        in_from_conv_i,
  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [6:0]  out_funct_o,
  output logic [63:0] out_rs1_o,
  output logic [63:0] out_rs2_o,
  output logic [5:0]  out_rd_o,
  output logic        out_from_matmul_o,
  output logic        out_from_conv_o,
  // commands of this unit that completed in this cycle
  input  logic [1:0]  ld_completed_i,
  input  logic [1:0]  ex_completed_i,
  input  logic [1:0]  st_completed_i,
  output logic        busy_o
);
  localparam int SP_HALF = SP_ROWS / 2;
  localparam int ACC_HALF = ACC_ROWS / 2;
  localparam int DIM_LOG2 = $clog2(DIM);
  localparam bit LATER = ISA_REVISION == 2;
  localparam logic [15:0] BLOCKS = 16'(MAX_BLOCK_LEN);
  localparam logic [15:0] BLOCKS_ACC = 16'(MAX_BLOCK_LEN_ACC);

  // --- command queue -----------------------------------------------------------------------------
  localparam int CMD_BITS = 7 + 64 + 64 + 6 + 1;
  logic cmd_valid, cmd_ready, cmd_from_conv;
  logic [6:0] funct;
  logic [63:0] rs1, rs2;
  logic [5:0] cmd_rd;
  logic [1:0] unused_count;
  weft_fifo #(.WIDTH(CMD_BITS), .DEPTH(2)) u_queue (
    .clk_i, .rst_ni,
    .in_valid_i(in_valid_i), .in_ready_o(in_ready_o),
    .in_data_i({in_funct_i, in_rs1_i, in_rs2_i, in_rd_i, in_from_conv_i}),
    .out_valid_o(cmd_valid), .out_ready_i(cmd_ready),
    .out_data_o({funct, rs1, rs2, cmd_rd, cmd_from_conv}),
    .count_o(unused_count)
  );

  // --- slots: registers of both in one vector, slot s at {s, zeros} ------------------------------
  // target: the slot that configuration commands write
  logic head_q, tail, target;
  logic [1:0] configured_q;
  logic [2*16-1:0] i_q, j_q, k_q, pad_i_q, pad_j_q, pad_k_q;
  logic [2*64-1:0] a_q, b_q, c_q, d_q;
  logic [2*32-1:0] a_stride_q, b_stride_q, c_stride_q, d_stride_q, a_row_q, b_end_q, c_spad_q;
  logic [1:0] accumulate_q, full_c_q, low_d_q, a_transpose_q, b_transpose_q, resadd_q, to_spad_q;
  logic [1:0] norm_q, softmax_q;                  // activations that need statistics
  logic [2*2-1:0] a_id_q, b_id_q;
  logic [1:0] d_half_q, ex_half_q, c_half_q;      // accumulator half of each part
  logic next_d_half_q, next_ex_half_q, next_c_half_q;
  logic [1:0] lda_started_q, ldb_started_q, ldd_started_q, ex_started_q, st_started_q;
  logic [1:0] lda_done_q, ldb_done_q, ldd_done_q, ex_done_q, st_done_q;

  logic is_run, is_config, write, run, finish;
  assign is_run = funct == weft_isa_pkg::FUNCT_LOOP_WS;
  assign is_config = (funct >= weft_isa_pkg::FUNCT_LOOP_WS_BOUNDS && funct <=
      weft_isa_pkg::FUNCT_LOOP_WS_STRIDES_DC) ||
          (LATER && (funct == weft_isa_pkg::FUNCT_LOOP_WS_SPAD_AB ||
          funct == weft_isa_pkg::FUNCT_LOOP_WS_SPAD_C));
  assign tail = !head_q;
  assign target = configured_q[head_q] ? tail : head_q;
  assign write = cmd_valid && (is_run || is_config) && !configured_q[target];
  assign run = write && is_run;
  assign finish = configured_q[head_q] && lda_done_q[head_q] && ldb_done_q[head_q] &&
      ldd_done_q[head_q] && ex_done_q[head_q] && st_done_q[head_q];

  logic [2:0] run_activation;
  assign run_activation = rs1[weft_isa_pkg::LOOP_WS_R1_ACTIVATION_LSB+:3];
  // Options that only revision 2 has.
  logic run_resadd, run_to_spad, skip_a, skip_b, skip_d, skip_ex, skip_st, stores;
  assign run_resadd = LATER && rs2[weft_isa_pkg::LOOP_WS_R2_RESADD_LSB];
  assign run_to_spad = LATER && rs2[weft_isa_pkg::LOOP_WS_R2_SPAD_ONLY_LSB] && !run_resadd;
  assign skip_a = LATER && rs2[weft_isa_pkg::LOOP_WS_R2_SKIP_LDA_LSB];
  assign skip_b = LATER && rs2[weft_isa_pkg::LOOP_WS_R2_SKIP_LDB_LSB];
  assign skip_d = LATER && rs2[weft_isa_pkg::LOOP_WS_R2_SKIP_LDD_LSB];
  assign skip_ex = LATER && rs2[weft_isa_pkg::LOOP_WS_R2_SKIP_EX_LSB];
  assign skip_st = LATER && rs2[weft_isa_pkg::LOOP_WS_R2_SKIP_STC_LSB];
  assign stores = c_q[{target, 6'd0}+:64] != '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      i_q <= '0;
      j_q <= '0;
      k_q <= '0;
      pad_i_q <= '0;
      pad_j_q <= '0;
      pad_k_q <= '0;
      a_q <= '0;
      b_q <= '0;
      c_q <= '0;
      d_q <= '0;
      a_stride_q <= '0;
      b_stride_q <= '0;
      c_stride_q <= '0;
      d_stride_q <= '0;
      c_spad_q <= '0;
      a_row_q <= {32'(SP_HALF), 32'd0};
      b_end_q <= {32'(SP_ROWS), 32'(SP_HALF)};
      accumulate_q <= '0;
      full_c_q <= '0;
      low_d_q <= '0;
      a_transpose_q <= '0;
      b_transpose_q <= '0;
      resadd_q <= '0;
      to_spad_q <= '0;
      norm_q <= '0;
      softmax_q <= '0;
      a_id_q <= '0;
      b_id_q <= '0;
      d_half_q <= '0;
      ex_half_q <= '0;
      c_half_q <= '0;
      next_d_half_q <= '0;
      next_ex_half_q <= '0;
      next_c_half_q <= '0;
    end else if (write) begin
      unique case (funct)
        weft_isa_pkg::FUNCT_LOOP_WS_BOUNDS: begin
          pad_i_q[{target, 4'd0}+:16] <= rs1[weft_isa_pkg::LOOP_WS_BOUNDS_PAD_I_LSB+:16];
          pad_j_q[{target, 4'd0}+:16] <= rs1[weft_isa_pkg::LOOP_WS_BOUNDS_PAD_J_LSB+:16];
          pad_k_q[{target, 4'd0}+:16] <= rs1[weft_isa_pkg::LOOP_WS_BOUNDS_PAD_K_LSB+:16];
          i_q[{target, 4'd0}+:16] <= rs2[weft_isa_pkg::LOOP_WS_BOUNDS_I_LSB+:16];
          j_q[{target, 4'd0}+:16] <= rs2[weft_isa_pkg::LOOP_WS_BOUNDS_J_LSB+:16];
          k_q[{target, 4'd0}+:16] <= rs2[weft_isa_pkg::LOOP_WS_BOUNDS_K_LSB+:16];
        end
        weft_isa_pkg::FUNCT_LOOP_WS_ADDRS_AB: begin
          a_q[{target, 6'd0}+:64] <= rs1;
          b_q[{target, 6'd0}+:64] <= rs2;
        end
        weft_isa_pkg::FUNCT_LOOP_WS_ADDRS_DC: begin
          d_q[{target, 6'd0}+:64] <= rs1;
          c_q[{target, 6'd0}+:64] <= rs2;
        end
        weft_isa_pkg::FUNCT_LOOP_WS_STRIDES_AB: begin
          a_stride_q[{target, 5'd0}+:32] <= rs1[weft_isa_pkg::LOOP_WS_STRIDES_AB_A_LSB+:32];
          b_stride_q[{target, 5'd0}+:32] <= rs2[weft_isa_pkg::LOOP_WS_STRIDES_AB_B_LSB+:32];
        end
        weft_isa_pkg::FUNCT_LOOP_WS_STRIDES_DC: begin
          d_stride_q[{target, 5'd0}+:32] <= rs1[weft_isa_pkg::LOOP_WS_STRIDES_DC_D_LSB+:32];
          c_stride_q[{target, 5'd0}+:32] <= rs2[weft_isa_pkg::LOOP_WS_STRIDES_DC_C_LSB+:32];
        end
        weft_isa_pkg::FUNCT_LOOP_WS_SPAD_AB: begin
          a_row_q[{target, 5'd0}+:32] <= rs1[weft_isa_pkg::LOOP_WS_SPAD_AB_R2_A_LSB+:32];
          b_end_q[{target, 5'd0}+:32] <= rs2[weft_isa_pkg::LOOP_WS_SPAD_AB_R2_B_END_LSB+:32];
        end
        weft_isa_pkg::FUNCT_LOOP_WS: begin
          accumulate_q[target] <= rs1[weft_isa_pkg::LOOP_WS_R1_EX_ACCUMULATE_LSB];
          full_c_q[target] <= rs1[weft_isa_pkg::LOOP_WS_R1_FULL_C_LSB];
          low_d_q[target] <= rs1[weft_isa_pkg::LOOP_WS_R1_LOW_D_LSB];
          norm_q[target] <= run_activation == weft_isa_pkg::LOOP_WS_R1_ACTIVATION_LAYERNORM ||
              run_activation == weft_isa_pkg::LOOP_WS_R1_ACTIVATION_SOFTMAX;
          softmax_q[target] <= run_activation == weft_isa_pkg::LOOP_WS_R1_ACTIVATION_SOFTMAX;
          a_transpose_q[target] <= rs2[weft_isa_pkg::LOOP_WS_R1_A_TRANSPOSE_LSB];
          b_transpose_q[target] <= rs2[weft_isa_pkg::LOOP_WS_R1_B_TRANSPOSE_LSB];
          resadd_q[target] <= run_resadd;
          to_spad_q[target] <= run_to_spad;
          a_id_q[{target, 1'd0}+:2] <= LATER ? rs1[weft_isa_pkg::LOOP_WS_R2_A_SPAD_ID_LSB+:2] :
              2'd0;
          b_id_q[{target, 1'd0}+:2] <= LATER ? rs1[weft_isa_pkg::LOOP_WS_R2_B_SPAD_ID_LSB+:2] :
              2'd0;
          c_spad_q[{target, 5'd0}+:32] <= rs2[weft_isa_pkg::LOOP_WS_R2_C_SPAD_LSB+:32];
          d_half_q[target] <= next_d_half_q;
          ex_half_q[target] <= next_ex_half_q;
          c_half_q[target] <= next_c_half_q;
          // The halves move on after a loop that stores to memory; a skipped part keeps its half.
          if (stores && !skip_d) next_d_half_q <= !next_d_half_q;
          if (stores && !skip_ex) next_ex_half_q <= !next_ex_half_q;
          if (stores && !skip_st) next_c_half_q <= !next_c_half_q;
        end
        default: ;  // LOOP_WS_SPAD_C: the run command carries the address that counts
      endcase
    end
  end

  // --- rows of the operands, for both slots ------------------------------------------------------
  logic operands_overlap;
  logic [2*32-1:0] lda_row, ldb_row, ex_a_row, ex_b_row, a_rows, b_rows;
  for (genvar s = 0; s < 2; s++) begin : g_slot
    logic [31:0] a_place, b_place;
    logic [1:0] a_id, b_id;
    assign a_id = a_id_q[s*2+:2];
    assign b_id = b_id_q[s*2+:2];
    assign a_rows[s*32+:32] = (32'(i_q[s*16+:16]) * 32'(k_q[s*16+:16])) << DIM_LOG2;
    assign b_rows[s*32+:32] = (32'(k_q[s*16+:16]) * 32'(j_q[s*16+:16])) << DIM_LOG2;
    assign a_place = a_id == 2'd0 ? a_row_q[s*32+:32] : (32'(a_id) - 32'd1) * 32'(SP_HALF);
    assign b_place = (b_id == 2'd0 ? b_end_q[s*32+:32] : 32'(b_id) * 32'(SP_HALF)) -
        b_rows[s*32+:32];
    assign lda_row[s*32+:32] = resadd_q[s] ? 32'(s * ACC_HALF) : a_place;
    assign ldb_row[s*32+:32] = resadd_q[s] ? 32'(s * ACC_HALF) : b_place;
    // A loop that stays in the scratchpad takes its operands from the registers even when ids are
    // given.
    assign ex_a_row[s*32+:32] = to_spad_q[s] ? a_row_q[s*32+:32] : a_place;
    assign ex_b_row[s*32+:32] = to_spad_q[s] ? b_end_q[s*32+:32] - b_rows[s*32+:32] : b_place;
  end

  // Do the operands that the tail loads touch rows that the head loads or computes with?
  if (LATER) begin : g_overlap
    logic [7:0] touches;
    for (genvar n = 0; n < 8; n++) begin : g_pair
      logic [31:0] mine, theirs, my_rows, their_rows;
      assign mine = n < 4 ? lda_row[{tail, 5'd0}+:32] : ldb_row[{tail, 5'd0}+:32];
      assign my_rows = n < 4 ? a_rows[{tail, 5'd0}+:32] : b_rows[{tail, 5'd0}+:32];
      assign theirs = n % 4 == 0 ? lda_row[{head_q, 5'd0}+:32] : n % 4 == 1 ?
          ldb_row[{head_q, 5'd0}+:32] :
          n % 4 == 2 ? ex_a_row[{head_q, 5'd0}+:32] : ex_b_row[{head_q, 5'd0}+:32];
      assign their_rows = n % 2 == 0 ? a_rows[{head_q, 5'd0}+:32] : b_rows[{head_q, 5'd0}+:32];
      assign touches[n] = mine < theirs + their_rows && theirs < mine + my_rows;
    end
    assign operands_overlap = |touches && !resadd_q[head_q];
  end else begin : g_alternate
    logic unused;
    assign unused = &{1'b0, a_rows};
    assign operands_overlap = 1'b0;
  end

  // --- which slot each part may start ------------------------------------------------------------
  logic lda_ready, ldb_ready, ldd_ready, ex_ready, st_ready;
  logic lda_slot, ldb_slot, ldd_slot, ex_slot, st_slot;          // the slot to start
  logic lda_start, ldb_start, ldd_start, ex_start, st_start;
  logic lda_idle, ldb_idle, ldd_idle, ex_idle, st_idle;
  logic lda_at, ldb_at, ldd_at, ex_at, st_at;                    // the slot being worked on
  logic loads_done, wait_all, wait_d, wait_ab, wait_ex, wait_st, making, make_half, store_half;

  assign loads_done = lda_done_q[head_q] && ldb_done_q[head_q] && ldd_done_q[head_q];
  assign making = !ex_done_q[head_q] || (resadd_q[head_q] && !loads_done);
  assign make_half = resadd_q[head_q] ? head_q : ex_half_q[head_q];
  assign store_half = resadd_q[head_q] ? head_q : c_half_q[head_q];
  assign wait_all = (to_spad_q[head_q] && !st_done_q[head_q]) || resadd_q[head_q] != resadd_q[tail];
  assign wait_d = wait_all || (d_q[{tail, 6'd0}+:64] != '0 &&
      ((making && make_half == d_half_q[tail]) ||
      (!st_done_q[head_q] && store_half == d_half_q[tail])));
  assign wait_ab = wait_all || (operands_overlap && !(loads_done && ex_done_q[head_q]));
  assign wait_ex = wait_all || !loads_done || (!st_done_q[head_q] && store_half == ex_half_q[tail]);
  assign wait_st = wait_all || !loads_done || !ex_done_q[head_q];

  assign lda_slot = lda_started_q[head_q] ? tail : head_q;
  assign ldb_slot = ldb_started_q[head_q] ? tail : head_q;
  assign ldd_slot = ldd_started_q[head_q] ? tail : head_q;
  assign ex_slot = ex_started_q[head_q] ? tail : head_q;
  assign st_slot = st_started_q[head_q] ? tail : head_q;
  // A residual addition may be given a D, which must not overwrite its sums.
  logic [1:0] d_first;
  assign d_first = resadd_q & ~ldd_started_q & {d_q[127:64] != '0, d_q[63:0] != '0};
  assign lda_start = configured_q[lda_slot] && !lda_started_q[lda_slot] && !d_first[lda_slot] &&
      (lda_slot == head_q || !wait_ab);
  assign ldb_start = configured_q[ldb_slot] && !ldb_started_q[ldb_slot] && !d_first[ldb_slot] &&
      (ldb_slot == head_q || !wait_ab);
  assign ldd_start = configured_q[ldd_slot] && !ldd_started_q[ldd_slot] &&
      (ldd_slot == head_q || !wait_d);
  assign ex_start = configured_q[ex_slot] && !ex_started_q[ex_slot] && lda_started_q[ex_slot] &&
      ldb_started_q[ex_slot] && ldd_started_q[ex_slot] && (ex_slot == head_q || !wait_ex);
  // Without products the stores follow the loads.
  logic st_follows;
  assign st_follows = resadd_q[st_slot] ? lda_started_q[st_slot] && ldb_started_q[st_slot] &&
      ldd_done_q[st_slot] :
      ex_started_q[st_slot] &&
          (!ex_done_q[st_slot] ||
          (lda_done_q[st_slot] && ldb_done_q[st_slot] && ldd_done_q[st_slot]));
  assign st_start = configured_q[st_slot] && !st_started_q[st_slot] &&
      (st_slot == head_q || !wait_st) && st_follows;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_q <= 1'b0;
      configured_q <= '0;
      lda_started_q <= '0;
      ldb_started_q <= '0;
      ldd_started_q <= '0;
      ex_started_q <= '0;
      st_started_q <= '0;
      lda_done_q <= '0;
      ldb_done_q <= '0;
      ldd_done_q <= '0;
      ex_done_q <= '0;
      st_done_q <= '0;
    end else begin
      if (lda_start && lda_ready) lda_started_q[lda_slot] <= 1'b1;
      if (ldb_start && ldb_ready) ldb_started_q[ldb_slot] <= 1'b1;
      if (ldd_start && ldd_ready) ldd_started_q[ldd_slot] <= 1'b1;
      if (ex_start && ex_ready) ex_started_q[ex_slot] <= 1'b1;
      if (st_start && st_ready) st_started_q[st_slot] <= 1'b1;
      if (lda_idle && lda_started_q[lda_at]) lda_done_q[lda_at] <= 1'b1;
      if (ldb_idle && ldb_started_q[ldb_at]) ldb_done_q[ldb_at] <= 1'b1;
      if (ldd_idle && ldd_started_q[ldd_at]) ldd_done_q[ldd_at] <= 1'b1;
      if (ex_idle && ex_started_q[ex_at]) ex_done_q[ex_at] <= 1'b1;
      if (st_idle && st_started_q[st_at]) st_done_q[st_at] <= 1'b1;
      if (run) begin
        configured_q[target] <= 1'b1;
        lda_started_q[target] <= skip_a;
        ldb_started_q[target] <= skip_b;
        ldd_started_q[target] <= skip_d;
        ex_started_q[target] <= skip_ex;
        st_started_q[target] <= skip_st;
        lda_done_q[target] <= skip_a;
        ldb_done_q[target] <= skip_b;
        ldd_done_q[target] <= skip_d;
        ex_done_q[target] <= skip_ex;
        st_done_q[target] <= skip_st;
      end
      if (finish) begin
        head_q <= tail;
        configured_q[head_q] <= 1'b0;
        lda_started_q[head_q] <= 1'b0;
        ldb_started_q[head_q] <= 1'b0;
        ldd_started_q[head_q] <= 1'b0;
        ex_started_q[head_q] <= 1'b0;
        st_started_q[head_q] <= 1'b0;
        lda_done_q[head_q] <= 1'b0;
        ldb_done_q[head_q] <= 1'b0;
        ldd_done_q[head_q] <= 1'b0;
        ex_done_q[head_q] <= 1'b0;
        st_done_q[head_q] <= 1'b0;
      end
    end
  end

  // --- the parts ---------------------------------------------------------------------------------
  logic ld_blocked, ex_blocked, st_blocked;
  logic lda_valid, ldb_valid, ldd_valid, ex_valid, st_valid;
  logic lda_take, ldb_take, ldd_take, ex_take, st_take;
  logic [63:0] lda_rs1, lda_rs2, ldb_rs1, ldb_rs2, ldd_rs1, ldd_rs2, ex_rs1, ex_rs2, st_rs1, st_rs2;
  logic [6:0] ex_funct, st_funct;
  logic [15:0] lda_k, lda_i, ldb_k, ldb_j, unused_ldd_outer, unused_ldd_inner, ex_k, ex_j, ex_i;

  logic lda_resadd, lda_transpose;
  logic [15:0] lda_deep, lda_pad_deep, lda_high, lda_pad_high;
  assign lda_resadd = resadd_q[lda_slot];
  assign lda_transpose = a_transpose_q[lda_slot];
  assign lda_high = i_q[{lda_slot, 4'd0}+:16];
  assign lda_pad_high = pad_i_q[{lda_slot, 4'd0}+:16];
  assign lda_deep = lda_resadd ? j_q[{lda_slot, 4'd0}+:16] : k_q[{lda_slot, 4'd0}+:16];
  assign lda_pad_deep = lda_resadd ? pad_j_q[{lda_slot, 4'd0}+:16] : pad_k_q[{lda_slot, 4'd0}+:16];
  weft_loop_matmul_load #(.DIM(DIM), .ROW_BITS(ROW_BITS)) u_load_a (
    .clk_i, .rst_ni,
    .start_valid_i(lda_start), .start_ready_o(lda_ready), .start_slot_i(lda_slot),
    .start_skip_i(LATER && a_q[{lda_slot, 6'd0}+:64] == '0),
    .start_rows_i(lda_transpose ? lda_deep : lda_high),
    .start_cols_i(lda_transpose ? lda_high : lda_deep),
    .start_pad_rows_i(lda_transpose ? lda_pad_deep : lda_pad_high),
    .start_pad_cols_i(lda_transpose ? lda_pad_high : lda_pad_deep),
    .start_blocks_i(BLOCKS), .start_wide_i(1'b0), .start_row_is_outer_i(lda_transpose),
    .start_full_height_i(1'b0),
    .start_base_i(a_q[{lda_slot, 6'd0}+:64]), .start_stride_i(a_stride_q[{lda_slot, 5'd0}+:32]),
    .start_flags_i({lda_resadd, 2'b00}), .start_first_i(ROW_BITS'(lda_row[{lda_slot, 5'd0}+:32])),
    .blocked_i(ld_blocked), .cmd_valid_o(lda_valid), .cmd_ready_i(lda_take), .cmd_rs1_o(lda_rs1),
    .cmd_rs2_o(lda_rs2),
    .idle_o(lda_idle), .slot_o(lda_at), .outer_o(lda_k), .inner_o(lda_i)
  );

  // The rows of the last tile of B are never cut: the reference compares a bound with itself.
  logic ldb_resadd, ldb_transpose;
  logic [15:0] ldb_deep, ldb_pad_deep, ldb_wide, ldb_pad_wide;
  assign ldb_resadd = resadd_q[ldb_slot];
  assign ldb_transpose = b_transpose_q[ldb_slot];
  assign ldb_deep = ldb_resadd ? i_q[{ldb_slot, 4'd0}+:16] : k_q[{ldb_slot, 4'd0}+:16];
  assign ldb_pad_deep = ldb_resadd ? pad_i_q[{ldb_slot, 4'd0}+:16] : pad_k_q[{ldb_slot, 4'd0}+:16];
  assign ldb_wide = j_q[{ldb_slot, 4'd0}+:16];
  assign ldb_pad_wide = pad_j_q[{ldb_slot, 4'd0}+:16];
  weft_loop_matmul_load #(.DIM(DIM), .ROW_BITS(ROW_BITS)) u_load_b (
    .clk_i, .rst_ni,
    .start_valid_i(ldb_start), .start_ready_o(ldb_ready), .start_slot_i(ldb_slot),
    .start_skip_i(LATER && b_q[{ldb_slot, 6'd0}+:64] == '0),
    .start_rows_i(ldb_transpose ? ldb_wide : ldb_deep),
    .start_cols_i(ldb_transpose ? ldb_deep : ldb_wide),
    .start_pad_rows_i(ldb_transpose ? ldb_pad_wide : ldb_pad_deep),
    .start_pad_cols_i(ldb_transpose ? ldb_pad_deep : ldb_pad_wide),
    .start_blocks_i(BLOCKS), .start_wide_i(1'b0), .start_row_is_outer_i(!ldb_transpose),
    .start_full_height_i(1'b1),
    .start_base_i(b_q[{ldb_slot, 6'd0}+:64]), .start_stride_i(b_stride_q[{ldb_slot, 5'd0}+:32]),
    .start_flags_i({ldb_resadd, ldb_resadd, 1'b0}),
    .start_first_i(ROW_BITS'(ldb_row[{ldb_slot, 5'd0}+:32])),
    .blocked_i(ld_blocked), .cmd_valid_o(ldb_valid), .cmd_ready_i(ldb_take), .cmd_rs1_o(ldb_rs1),
    .cmd_rs2_o(ldb_rs2),
    .idle_o(ldb_idle), .slot_o(ldb_at), .outer_o(ldb_k), .inner_o(ldb_j)
  );

  weft_loop_matmul_load #(.DIM(DIM), .ROW_BITS(ROW_BITS)) u_load_d (
    .clk_i, .rst_ni,
    .start_valid_i(ldd_start), .start_ready_o(ldd_ready), .start_slot_i(ldd_slot),
    .start_skip_i(d_q[{ldd_slot, 6'd0}+:64] == '0),
    .start_rows_i(i_q[{ldd_slot, 4'd0}+:16]), .start_cols_i(j_q[{ldd_slot, 4'd0}+:16]),
    .start_pad_rows_i(pad_i_q[{ldd_slot, 4'd0}+:16]),
    .start_pad_cols_i(pad_j_q[{ldd_slot, 4'd0}+:16]),
    .start_blocks_i(low_d_q[ldd_slot] ? BLOCKS : BLOCKS_ACC), .start_wide_i(!low_d_q[ldd_slot]),
    .start_row_is_outer_i(1'b0), .start_full_height_i(1'b0),
    .start_base_i(d_q[{ldd_slot, 6'd0}+:64]), .start_stride_i(d_stride_q[{ldd_slot, 5'd0}+:32]),
    .start_flags_i(3'b100), .start_first_i(d_half_q[ldd_slot] ? ROW_BITS'(ACC_HALF) : '0),
    .blocked_i(ld_blocked), .cmd_valid_o(ldd_valid), .cmd_ready_i(ldd_take), .cmd_rs1_o(ldd_rs1),
    .cmd_rs2_o(ldd_rs2),
    .idle_o(ldd_idle), .slot_o(ldd_at), .outer_o(unused_ldd_outer), .inner_o(unused_ldd_inner)
  );

  weft_loop_matmul_execute #(.DIM(DIM), .ROW_BITS(ROW_BITS)) u_execute (
    .clk_i, .rst_ni,
    .start_valid_i(ex_start), .start_ready_o(ex_ready), .start_slot_i(ex_slot),
    .start_skip_i(resadd_q[ex_slot]),
    .start_i_i(i_q[{ex_slot, 4'd0}+:16]), .start_j_i(j_q[{ex_slot, 4'd0}+:16]),
    .start_k_i(k_q[{ex_slot, 4'd0}+:16]),
    .start_pad_i_i(pad_i_q[{ex_slot, 4'd0}+:16]), .start_pad_j_i(pad_j_q[{ex_slot, 4'd0}+:16]),
    .start_pad_k_i(pad_k_q[{ex_slot, 4'd0}+:16]),
    .start_a_transpose_i(a_transpose_q[ex_slot]), .start_b_transpose_i(b_transpose_q[ex_slot]),
    .start_accumulate_i(accumulate_q[ex_slot]),
    .start_a_row_i(ROW_BITS'(ex_a_row[{ex_slot, 5'd0}+:32])),
    .start_b_row_i(ROW_BITS'(ex_b_row[{ex_slot, 5'd0}+:32])),
    .start_c_row_i(ex_half_q[ex_slot] ? ROW_BITS'(ACC_HALF) : '0),
    .a_done_i(lda_at != ex_at || lda_idle), .a_k_i(lda_k), .a_i_i(lda_i),
    .b_done_i(ldb_at != ex_at || ldb_idle), .b_k_i(ldb_k), .b_j_i(ldb_j),
    .d_done_i(ldd_at != ex_at || ldd_idle),
    .blocked_i(ex_blocked), .cmd_valid_o(ex_valid), .cmd_ready_i(ex_take), .cmd_funct_o(ex_funct),
    .cmd_rs1_o(ex_rs1), .cmd_rs2_o(ex_rs2),
    .idle_o(ex_idle), .slot_o(ex_at), .k_o(ex_k), .j_o(ex_j), .i_o(ex_i)
  );

  logic st_resadd, added;
  assign st_resadd = resadd_q[st_at];
  assign added = (lda_at != st_at || lda_idle) && (ldb_at != st_at || ldb_idle);
  weft_loop_matmul_store #(.DIM(DIM), .ROW_BITS(ROW_BITS), .MAX_BLOCK_LEN(MAX_BLOCK_LEN),
      .NORM_STATS(NORM_STATS)) u_store (
    .clk_i, .rst_ni,
    .start_valid_i(st_start), .start_ready_o(st_ready), .start_slot_i(st_slot),
    .start_skip_i(c_q[{st_slot, 6'd0}+:64] == '0 && !to_spad_q[st_slot]),
    .start_i_i(i_q[{st_slot, 4'd0}+:16]), .start_j_i(j_q[{st_slot, 4'd0}+:16]),
    .start_last_k_i(k_q[{st_slot, 4'd0}+:16] - 16'd1),
    .start_pad_i_i(pad_i_q[{st_slot, 4'd0}+:16]), .start_pad_j_i(pad_j_q[{st_slot, 4'd0}+:16]),
    .start_full_i(full_c_q[st_slot]), .start_norm_i(norm_q[st_slot]),
    .start_softmax_i(softmax_q[st_slot]),
    .start_to_spad_i(to_spad_q[st_slot]),
    .start_whole_i(to_spad_q[st_slot] || (resadd_q[st_slot] && b_transpose_q[st_slot])),
    .start_base_i(c_q[{st_slot, 6'd0}+:64]), .start_stride_i(c_stride_q[{st_slot, 5'd0}+:32]),
    .start_c_row_i((resadd_q[st_slot] ? st_slot : c_half_q[st_slot]) ? ROW_BITS'(ACC_HALF) : '0),
    .start_spad_row_i(ROW_BITS'(c_spad_q[{st_slot, 5'd0}+:32])),
    .made_done_i(st_resadd ? added : ex_at != st_at || ex_idle), .made_by_rows_i(st_resadd),
    .made_k_i(ex_k), .made_j_i(st_resadd ? ldb_j : ex_j), .made_i_i(st_resadd ? ldb_k : ex_i),
    .blocked_i(st_blocked), .cmd_valid_o(st_valid), .cmd_ready_i(st_take), .cmd_funct_o(st_funct),
    .cmd_rs1_o(st_rs1), .cmd_rs2_o(st_rs2), .idle_o(st_idle), .slot_o(st_at)
  );

  // --- arbitration and output --------------------------------------------------------------------
  logic pick_b, active, lda_wants, ldb_wants;
  always_comb begin
    if (lda_at != ldb_at) pick_b = ldb_at == head_q;
    else if (resadd_q[ldb_at]) pick_b = lda_idle;
    else if (lda_idle) pick_b = 1'b1;
    else if (ldb_idle) pick_b = 1'b0;
    else pick_b = lda_k > ldb_k || (ldb_k == 16'd0 && ldb_j == 16'd0);
  end
  assign active = |configured_q;
  assign lda_wants = lda_valid && !pick_b;
  assign ldb_wants = ldb_valid && pick_b;
  assign st_take = out_ready_i && st_valid;
  assign ex_take = out_ready_i && ex_valid && !st_valid;
  assign ldd_take = out_ready_i && ldd_valid && !ex_valid && !st_valid;
  assign lda_take = out_ready_i && lda_wants && !ldd_valid && !ex_valid && !st_valid;
  assign ldb_take = out_ready_i && ldb_wants && !ldd_valid && !ex_valid && !st_valid;

  assign cmd_ready = is_run || is_config ? !configured_q[target] : !active && out_ready_i;
  assign busy_o = cmd_valid || active;
  assign out_from_matmul_o = active;
  assign out_from_conv_o = !active && cmd_from_conv;
  assign out_rd_o = active ? '0 : cmd_rd;
  always_comb begin
    out_valid_o = 1'b1;
    out_funct_o = funct;
    out_rs1_o = rs1;
    out_rs2_o = rs2;
    if (!active) begin
      out_valid_o = cmd_valid && !is_run && !is_config;
    end else if (st_valid) begin
      out_funct_o = st_funct;
      out_rs1_o = st_rs1;
      out_rs2_o = st_rs2;
    end else if (ex_valid) begin
      out_funct_o = ex_funct;
      out_rs1_o = ex_rs1;
      out_rs2_o = ex_rs2;
    end else if (ldd_valid) begin
      out_funct_o = weft_isa_pkg::FUNCT_MVIN3;
      out_rs1_o = ldd_rs1;
      out_rs2_o = ldd_rs2;
    end else if (ldb_wants) begin
      out_funct_o = weft_isa_pkg::FUNCT_MVIN2;
      out_rs1_o = ldb_rs1;
      out_rs2_o = ldb_rs2;
    end else begin
      out_valid_o = lda_wants;
      out_funct_o = weft_isa_pkg::FUNCT_MVIN;
      out_rs1_o = lda_rs1;
      out_rs2_o = lda_rs2;
    end
  end

  // --- commands in flight ------------------------------------------------------------------------
  logic ld_take;
  assign ld_take = lda_take || ldb_take || ldd_take;
  weft_in_flight #(.MAX(LOAD_ENTRIES)) u_ld_in_flight (
    .clk_i, .rst_ni, .take_i(ld_take), .completed_i(ld_completed_i), .full_o(ld_blocked)
  );
  weft_in_flight #(.MAX(EXECUTE_ENTRIES)) u_ex_in_flight (
    .clk_i, .rst_ni, .take_i(ex_take), .completed_i(ex_completed_i), .full_o(ex_blocked)
  );
  weft_in_flight #(.MAX(STORE_ENTRIES)) u_st_in_flight (
    .clk_i, .rst_ni, .take_i(st_take), .completed_i(st_completed_i), .full_o(st_blocked)
  );

  `WEFT_ASSERT(TailHasAHead, !configured_q[tail] || configured_q[head_q])
endmodule
