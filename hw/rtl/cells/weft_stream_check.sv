// Assertions of a stream: once valid it stays valid, with the same payload, until it is taken. For use under WEFT_ASSERT.
module weft_stream_check #(
  parameter int WIDTH = 8
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic             valid_i,
  input logic             ready_i,
  input logic [WIDTH-1:0] data_i
);
  logic             waits_q;
  logic [WIDTH-1:0] data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
      data_q <= '0;
    end else begin
      waits_q <= valid_i && !ready_i;
      data_q <= data_i;
    end
  end
`ifndef SYNTHESIS
  always @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni !== 1'b0 && waits_q) begin
      assert (valid_i) else $error("%m: valid withdrawn");
      assert (data_i == data_q) else $error("%m: payload changed");
    end
  end
`endif
endmodule
