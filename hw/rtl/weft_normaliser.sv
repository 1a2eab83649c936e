// SPDX-License-Identifier: Apache-2.0
// Statistics of accumulator rows for layer norm and softmax, one set per stats id, in the row
// stream between the accumulator and its scale units.
//
// Commands of a row (the norm field of its local address):
//   0 none         the row passes on, with the statistics of its set; with in_restart_i sum and
//                  count start anew
//   1 sum          sum += elements, count += len          2 mean         the same, then mean = sum
//                  / count
//   3 variance     sum += (element - mean)^2, count       4 inv_stddev   the same, then 1 /
//                  isqrt(sum / count)
//   5 max          running maximum, count += len          6 sum_exp      sum += iexp(element -
//                  maximum)
//   7 inv_sum_exp  the same, then 127 / sum
// Divisions truncate; a standard deviation of 0 counts as 1; the reciprocals are binary32, rounded
// to nearest even. Rows with a command other than none end here. Sums wrap at 32 bits.
// ENABLE 0 builds the queue alone: every row passes.
//
// Latency: a passing row 1 cycle (queue of 2). Commands enter one per cycle; behind one, a passing
// row waits for a second cycle. Nothing enters for 20 cycles from a mean on, 54 from an inverse
// standard deviation, 18 from an inverse sum.
// Combinational: none from an input to in_ready_o or out_* (in_ready_o depends on in_cmd_i).
// Invariants: rows keep their order, so a passing row sees the statistics of everything before it.
`include "weft_assert.svh"

module weft_normaliser #(
  parameter bit ENABLE = 1'b0,
  parameter int DIM = 16,
  parameter int SETS = 4,
  parameter int TAG_BITS = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                in_valid_i,
  output logic                in_ready_o,
  input  logic [DIM*32-1:0]   in_data_i,
  input  logic [2:0]          in_cmd_i,
  input  logic [7:0]          in_stats_id_i,
  input  logic [15:0]         in_len_i,
  input  logic                in_restart_i, // a passing row ends its set's sum and count
  input  logic [4*32-1:0]     in_consts_i,  // qln2_inv, qln2, qc, qb
  input  logic [TAG_BITS-1:0] in_tag_i,
  output logic                out_valid_o,
  input  logic                out_ready_i,
  output logic [DIM*32-1:0]   out_data_o,
  output logic [4*32-1:0]     out_consts_o,
  output logic [4*32-1:0]     out_stats_o,  // inv_sum_exp, inv_stddev, max, mean
  output logic [TAG_BITS-1:0] out_tag_o,
  output logic                busy_o        // a command is being carried out
);
  logic [1:0] unused_count;

  if (!ENABLE) begin : g_pass
    weft_fifo #(.WIDTH(DIM*32 + TAG_BITS), .DEPTH(2)) u_queue (
      .clk_i(clk_i), .rst_ni(rst_ni),
      .in_valid_i(in_valid_i), .in_ready_o(in_ready_o), .in_data_i({in_data_i, in_tag_i}),
      .out_valid_o(out_valid_o), .out_ready_i(out_ready_i), .out_data_o({out_data_o, out_tag_o}),
      .count_o(unused_count)
    );
    assign out_consts_o = '0;
    assign out_stats_o = '0;
    assign busy_o = 1'b0;
    logic unused;
    assign unused = &{1'b0, in_cmd_i, in_stats_id_i, in_len_i, in_restart_i, in_consts_i, SETS[0]};
  end else begin : g_norm
    localparam int SET_BITS = SETS > 1 ? $clog2(SETS) : 1;
    localparam logic [2:0] NONE = weft_isa_pkg::LOCAL_NORM_NONE,
                           MEAN = weft_isa_pkg::LOCAL_NORM_MEAN,
                           VARIANCE = weft_isa_pkg::LOCAL_NORM_VARIANCE,
                           INV_STDDEV = weft_isa_pkg::LOCAL_NORM_INV_STDDEV,
                           MAX = weft_isa_pkg::LOCAL_NORM_MAX,
                           SUM_EXP = weft_isa_pkg::LOCAL_NORM_SUM_EXP,
                           INV_SUM_EXP = weft_isa_pkg::LOCAL_NORM_INV_SUM_EXP;
    localparam logic [31:0] SMALLEST = 32'h8000_0000;
    typedef enum logic [2:0] {IDLE, REDUCE, DIVIDE, ROOT, RECIPROCAL} state_e;

    // Sets.
    logic [SETS*32-1:0] sum_q, running_max_q, mean_q, max_q, inv_stddev_q, inv_sum_exp_q;
    logic [SETS*16-1:0] count_q;

    // The command at work.
    state_e              state_q, state_d;
    logic [2:0]          cmd_q;
    logic [SET_BITS-1:0] set, in_set;
    logic [SET_BITS-1:0] set_q;
    logic [15:0]         len_q;
    logic [DIM*32-1:0]   row_q;
    logic [127:0]        consts_q;
    logic                queue_ready, is_pass, divides, take;

    assign in_set = SETS > 1 ? in_stats_id_i[SET_BITS-1:0] : '0;
    assign set = set_q;
    assign is_pass = in_cmd_i == NONE;
    assign divides = cmd_q == MEAN || cmd_q == INV_STDDEV || cmd_q == INV_SUM_EXP;
    assign in_ready_o = is_pass ? state_q == IDLE && queue_ready
                                : state_q == IDLE || (state_q == REDUCE && !divides);
    assign take = in_valid_i && in_ready_o;
    assign busy_o = state_q != IDLE;

    weft_fifo #(.WIDTH(DIM*32 + 128 + 128 + TAG_BITS), .DEPTH(2)) u_queue (
      .clk_i(clk_i), .rst_ni(rst_ni),
      .in_valid_i(take && is_pass), .in_ready_o(queue_ready),
      .in_data_i({in_data_i, in_consts_i, inv_sum_exp_q[in_set*32 +: 32],
                  inv_stddev_q[in_set*32 +: 32], max_q[in_set*32 +: 32], mean_q[in_set*32 +: 32],
                  in_tag_i}),
      .out_valid_o(out_valid_o), .out_ready_i(out_ready_i),
      .out_data_o({out_data_o, out_consts_o, out_stats_o, out_tag_o}),
      .count_o(unused_count)
    );

    // What a row adds.
    logic [DIM*32-1:0] values;
    logic [31:0] row_sum, row_max;
    for (genvar i = 0; i < DIM; i++) begin : g_lane
      logic [31:0] x, difference, exponential;
      assign x = row_q[i*32 +: 32];
      assign difference = x - mean_q[set*32 +: 32];
      weft_integer_exp u_exp (
        .q_i(x - running_max_q[set*32 +: 32]), .qb_i(consts_q[0 +: 32]), .qc_i(consts_q[32 +: 32]),
        .qln2_i(consts_q[64 +: 32]), .qln2_inv_i(consts_q[96 +: 32]), .y_o(exponential)
      );
      always_comb begin
        unique case (cmd_q)
          VARIANCE, INV_STDDEV: values[i*32 +: 32] = difference * difference;
          SUM_EXP, INV_SUM_EXP: values[i*32 +: 32] = exponential;
          default: values[i*32 +: 32] = x;
        endcase
      end
    end
    always_comb begin
      row_sum = '0;
      row_max = running_max_q[set*32 +: 32];
      for (int i = 0; i < DIM; i++) begin
        if (16'(i) < len_q) begin
          row_sum = row_sum + values[i*32 +: 32];
          if ($signed(row_q[i*32 +: 32]) > $signed(row_max)) row_max = row_q[i*32 +: 32];
        end
      end
    end

    // Dividers: integers, and mantissas for the reciprocals.
    localparam int MANTISSA_BITS = 24, RECIPROCAL_BITS = 28, STEP = 2;
    logic        divide_start, divide_done, root_start, reciprocal_start, reciprocal_done;
    logic [31:0] sum, magnitude, quotient, unused_remainder, average;
    logic [RECIPROCAL_BITS-1:0] mantissa_quotient;
    logic [MANTISSA_BITS-1:0] mantissa_rest;
    logic [31:0] divisor_float, reciprocal, reciprocal_of;
    logic [23:0] top_mantissa;
    logic [7:0]  top_exponent;

    assign sum = sum_q[set*32 +: 32];
    assign magnitude = sum[31] ? -sum : sum;
    // A count that has wrapped to zero divides nothing.
    assign average = count_q[set*16 +: 16] == '0 ? 32'd0 : sum[31] ? -quotient : quotient;
    weft_sequential_divide #(.WIDTH(32), .BITS(32), .STEP(STEP)) u_divide (
      .clk_i(clk_i), .rst_ni(rst_ni), .start_i(divide_start), .first_i('0), .dividend_i(magnitude),
      .divisor_i(32'(count_q[set*16 +: 16])), .done_o(divide_done), .quotient_o(quotient),
      .remainder_o(unused_remainder)
    );

    // Integer square root, two bits of the argument per cycle.
    logic [31:0] root_arg_q;
    logic [15:0] root_q;
    logic [15:0] root_rest_q;
    logic [17:0] root_trial, root_probe;
    logic [4:0]  root_left_q;
    logic        root_fits;
    assign root_trial = {root_rest_q, root_arg_q[31:30]};
    assign root_probe = {root_q, 2'b01};
    assign root_fits = root_trial >= root_probe;

    assign reciprocal_of = cmd_q == INV_SUM_EXP ? sum : root_q == '0 ? 32'd1 : 32'(root_q);
    weft_int_to_fp32 u_to_float (.int_i(reciprocal_of), .fp_o(divisor_float));
    assign top_mantissa = cmd_q == INV_SUM_EXP ? 24'hfe_0000 : 24'h80_0000;  // 127 or 1
    assign top_exponent = cmd_q == INV_SUM_EXP ? 8'd133 : 8'd127;
    // The two lowest bits of the dividend's mantissa are zeros, and the divisor's highest is set.
    weft_sequential_divide #(
      .WIDTH(MANTISSA_BITS), .BITS(RECIPROCAL_BITS), .STEP(STEP)
    ) u_reciprocal (
      .clk_i(clk_i), .rst_ni(rst_ni), .start_i(reciprocal_start),
      .first_i(top_mantissa >> 2), .dividend_i('0),
      .divisor_i({1'b1, divisor_float[22:0]}), .done_o(reciprocal_done),
      .quotient_o(mantissa_quotient),
      .remainder_o(mantissa_rest)
    );
    // The quotient of two mantissas lies in (2^25, 2^27).
    logic [26:0] normal;
    logic [7:0]  exponent;
    logic        sticky, round_up;
    assign normal = mantissa_quotient[26] ? mantissa_quotient[26:0] :
        {mantissa_quotient[25:0], 1'b0};
    assign exponent = top_exponent - divisor_float[30:23] + 8'd127 -
        (mantissa_quotient[26] ? 8'd0 : 8'd1);
    assign sticky = normal[1:0] != '0 || mantissa_rest != '0;
    assign round_up = normal[2] && (normal[3] || sticky);
    assign reciprocal = divisor_float[30:0] == '0 ? 32'h7f80_0000
                      : {divisor_float[31], {exponent, normal[25:3]} + 31'(round_up)};
    logic unused_bits;
    assign unused_bits = &{1'b0, normal[26], mantissa_quotient[27], in_stats_id_i};

    logic started_q;  // the unit of this state has been started
    assign divide_start = state_q == DIVIDE && !started_q;
    assign root_start = state_q == ROOT && !started_q;
    assign reciprocal_start = state_q == RECIPROCAL && !started_q;

    always_comb begin
      state_d = state_q;
      unique case (state_q)
        IDLE: if (take && !is_pass) state_d = REDUCE;
        REDUCE: begin
          if (cmd_q == MEAN || cmd_q == INV_STDDEV) state_d = DIVIDE;
          else if (cmd_q == INV_SUM_EXP) state_d = RECIPROCAL;
          else state_d = take ? REDUCE : IDLE;
        end
        DIVIDE: begin
          if (divide_done && cmd_q == MEAN) state_d = IDLE;
          else if (divide_done) state_d = ROOT;
        end
        ROOT: if (!root_start && root_left_q == '0) state_d = RECIPROCAL;
        RECIPROCAL: if (reciprocal_done) state_d = IDLE;
        default: state_d = IDLE;
      endcase
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        state_q <= IDLE;
        started_q <= 1'b0;
        cmd_q <= NONE;
        set_q <= '0;
        len_q <= '0;
        sum_q <= '0;
        count_q <= '0;
        running_max_q <= {SETS{SMALLEST}};
        max_q <= {SETS{SMALLEST}};
        mean_q <= '0;
        inv_stddev_q <= '0;
        inv_sum_exp_q <= '0;
        root_arg_q <= '0;
        root_q <= '0;
        root_rest_q <= '0;
        root_left_q <= '0;
      end else begin
        state_q <= state_d;
        if (take && !is_pass) begin
          cmd_q <= in_cmd_i;
          set_q <= in_set;
          len_q <= in_len_i;
        end
        unique case (state_q)
          IDLE: begin
            started_q <= 1'b0;
            if (take && is_pass && in_restart_i) begin
              sum_q[in_set*32 +: 32] <= '0;
              count_q[in_set*16 +: 16] <= '0;
            end
          end
          REDUCE: begin
            if (cmd_q == MAX) running_max_q[set*32 +: 32] <= row_max;
            else sum_q[set*32 +: 32] <= sum + row_sum;
            if (cmd_q == SUM_EXP || cmd_q == INV_SUM_EXP)
              max_q[set*32 +: 32] <= running_max_q[set*32 +: 32];
            count_q[set*16 +: 16] <= count_q[set*16 +: 16] + len_q;
          end
          DIVIDE: begin
            started_q <= !divide_done;
            if (divide_done) begin
              sum_q[set*32 +: 32] <= '0;
              count_q[set*16 +: 16] <= '0;
              if (cmd_q == MEAN) mean_q[set*32 +: 32] <= average;
              // A wrapped, negative variance has no root.
              root_arg_q <= average[31] ? 32'd0 : average;
            end
          end
          ROOT: begin
            started_q <= 1'b1;
            if (root_start) begin
              root_q <= '0;
              root_rest_q <= '0;
              root_left_q <= 5'd16;
            end else if (root_left_q != '0) begin
              root_arg_q <= root_arg_q << 2;
              root_q <= {root_q[14:0], root_fits};
              // the last one is not needed
              root_rest_q <= 16'(root_fits ? root_trial - root_probe : root_trial);
              root_left_q <= root_left_q - 5'd1;
            end else begin
              started_q <= 1'b0;
            end
          end
          RECIPROCAL: begin
            started_q <= 1'b1;
            if (reciprocal_done) begin
              if (cmd_q == INV_SUM_EXP) begin
                inv_sum_exp_q[set*32 +: 32] <= reciprocal;
                running_max_q[set*32 +: 32] <= SMALLEST;
              end else begin
                inv_stddev_q[set*32 +: 32] <= reciprocal;
              end
            end
          end
          default: started_q <= 1'b0;
        endcase
      end
    end
    always_ff @(posedge clk_i) begin
      if (take) begin
        row_q <= in_data_i;
        consts_q <= in_consts_i;
      end
    end
  end

  `WEFT_ASSERT_STREAM(OutStable, out_valid_o, out_ready_i,
      {out_data_o, out_consts_o, out_stats_o, out_tag_o})
endmodule
