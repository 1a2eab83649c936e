// SPDX-License-Identifier: Apache-2.0
// One lane of the narrow accumulator read: activation, normalisation, scale, clip to int8.
// Combinational.
//   none     x
//   relu     max(x, 0)
//   layernorm (x - mean) with inv_stddev       normaliser only
//   igelu    integer GELU with qb, qc          normaliser only
//   softmax  iexp(x - max) with inv_sum_exp    normaliser only
// The factor of layernorm and softmax is applied first, rounded to an integer, and the row's scale
// follows (FACTOR_THEN_SCALE, ISA revision 1), or it replaces the row's scale (revision 2).
// Activations that are not built act as none. All integers wrap at 32 bits.
module weft_acc_lane #(
  parameter bit ACTIVATION = 1'b1,
  parameter bit NORMALISER = 1'b0,
  parameter bit FACTOR_THEN_SCALE = 1'b1
) (
  input  logic [31:0] x_i,
  input  logic [2:0]  act_i,
  input  logic [31:0] scale_i,
  input  logic [31:0] qb_i,
  input  logic [31:0] qc_i,
  input  logic [31:0] qln2_i,
  input  logic [31:0] qln2_inv_i,
  input  logic [31:0] mean_i,
  input  logic [31:0] max_i,
  input  logic [31:0] inv_stddev_i,
  input  logic [31:0] inv_sum_exp_i,
  output logic [7:0]  y_o
);
  // The activation of config_st under the bit of config_norm.
  localparam logic [2:0] RELU = {1'b0, weft_isa_pkg::CONFIG_ST_ACTIVATION_RELU};
  localparam logic [2:0] LAYERNORM = {1'b0, weft_isa_pkg::CONFIG_ST_ACTIVATION_LAYERNORM};
  localparam logic [2:0] IGELU = {1'b0, weft_isa_pkg::CONFIG_ST_ACTIVATION_IGELU};
  localparam logic [2:0] SOFTMAX = {1'b1, weft_isa_pkg::CONFIG_ST_ACTIVATION_NONE};

  logic [31:0] activated, scale;

  if (NORMALISER) begin : g_normalise
    logic [31:0] gelu, exponential, chosen, factor, as_float, product, rounded;
    logic        has_factor;

    weft_integer_gelu u_gelu (.q_i(x_i), .qb_i(qb_i), .qc_i(qc_i), .y_o(gelu));
    weft_integer_exp u_exp (
      .q_i(x_i - max_i), .qb_i(qb_i), .qc_i(qc_i), .qln2_i(qln2_i), .qln2_inv_i(qln2_inv_i),
      .y_o(exponential)
    );
    always_comb begin
      unique case (act_i)
        RELU: chosen = x_i[31] ? 32'd0 : x_i;
        LAYERNORM: chosen = x_i - mean_i;
        IGELU: chosen = gelu;
        SOFTMAX: chosen = exponential;
        default: chosen = x_i;
      endcase
    end
    assign has_factor = act_i == LAYERNORM || act_i == SOFTMAX;
    assign factor = act_i == LAYERNORM ? inv_stddev_i : inv_sum_exp_i;
    weft_int_to_fp32 u_to_float (.int_i(chosen), .fp_o(as_float));
    weft_fp32_multiply u_multiply (.a_i(as_float), .b_i(factor), .product_o(product));
    weft_fp32_to_int u_to_int (.fp_i(product), .int_o(rounded));
    assign activated = FACTOR_THEN_SCALE && has_factor ? rounded : chosen;
    assign scale = !FACTOR_THEN_SCALE && has_factor ? factor : scale_i;
  end else begin : g_relu
    assign activated = ACTIVATION && act_i == RELU && x_i[31] ? 32'd0 : x_i;
    assign scale = scale_i;
    logic unused;
    assign unused = &{1'b0, act_i, qb_i, qc_i, qln2_i, qln2_inv_i, mean_i, max_i, inv_stddev_i,
                      inv_sum_exp_i, LAYERNORM, IGELU, SOFTMAX, FACTOR_THEN_SCALE};
  end

  weft_scale_element #(.WIDTH(32)) u_scale (.int_i(activated), .scale_i(scale), .int_o(y_o));
endmodule
