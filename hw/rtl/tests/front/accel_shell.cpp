// Verilated weft_accel behind dut.h.
#include <cstring>

#include "Vdut.h"
#include "hw/rtl/tests/front/dut.h"
#include "verilated.h"

struct accel_dut {
  VerilatedContext context;
  Vdut top{&context};
};

// Ports are plain integers up to 64 bits and arrays of 32-bit words above.
template <typename Port>
static void to_port(Port &port, const uint8_t *bytes) {
  std::memcpy(&port, bytes, sizeof port);
}
template <typename Port>
static void from_port(uint8_t *bytes, const Port &port) {
  std::memcpy(bytes, &port, sizeof port);
}

accel_dut *accel_create(void) {
  accel_dut *dut = new accel_dut;
  accel_pins pins = {};
  dut->context.randReset(2);
  dut->top.clk_i = 0;
  dut->top.rst_ni = 0;
  accel_eval(dut, &pins);
  accel_clock(dut);
  accel_clock(dut);
  dut->top.rst_ni = 1;
  dut->top.eval();
  return dut;
}

void accel_destroy(accel_dut *dut) { delete dut; }

void accel_clock(accel_dut *dut) {
  dut->top.clk_i = 1;
  dut->top.eval();
  dut->top.clk_i = 0;
  dut->top.eval();
}

static void drive(Vdut &top, const accel_pins *pins) {
  top.cmd_valid_i = pins->cmd_valid;
  top.cmd_funct_i = pins->funct;
  top.cmd_rs1_i = pins->rs1;
  top.cmd_rs2_i = pins->rs2;
  top.cmd_xd_i = pins->cmd_xd;
  top.cmd_rd_i = pins->rd;
  top.resp_ready_i = pins->resp_ready;
  top.m_axi_arready_i = pins->ar_ready;
  top.m_axi_rvalid_i = pins->r_valid;
  top.m_axi_rid_i = pins->r_id;
  to_port(top.m_axi_rdata_i, pins->r_data);
  top.m_axi_rresp_i = 0;
  top.m_axi_rlast_i = pins->r_last;
  top.m_axi_awready_i = pins->aw_ready;
  top.m_axi_wready_i = pins->w_ready;
  top.m_axi_bvalid_i = pins->b_valid;
  top.m_axi_bid_i = pins->b_id;
  top.m_axi_bresp_i = 0;
}

void accel_eval(accel_dut *dut, accel_pins *pins) {
  Vdut &top = dut->top;
  drive(top, pins);
  top.eval();
  pins->cmd_ready = top.cmd_ready_o;
  pins->resp_valid = top.resp_valid_o;
  pins->resp_rd = top.resp_rd_o;
  pins->resp_data = top.resp_data_o;
  pins->busy = top.busy_o;
  pins->ar_valid = top.m_axi_arvalid_o;
  pins->ar_id = top.m_axi_arid_o;
  pins->ar_addr = top.m_axi_araddr_o;
  pins->ar_len = top.m_axi_arlen_o;
  pins->ar_size = top.m_axi_arsize_o;
  pins->ar_burst = top.m_axi_arburst_o;
  pins->r_ready = top.m_axi_rready_o;
  pins->aw_valid = top.m_axi_awvalid_o;
  pins->aw_id = top.m_axi_awid_o;
  pins->aw_addr = top.m_axi_awaddr_o;
  pins->aw_len = top.m_axi_awlen_o;
  pins->aw_size = top.m_axi_awsize_o;
  pins->aw_burst = top.m_axi_awburst_o;
  pins->w_valid = top.m_axi_wvalid_o;
  from_port(pins->w_data, top.m_axi_wdata_o);
  from_port(pins->w_strb, top.m_axi_wstrb_o);
  pins->w_last = top.m_axi_wlast_o;
  pins->b_ready = top.m_axi_bready_o;
  pins->alloc = top.trace_alloc_o;
  pins->done = top.trace_done_valid_o;
  pins->done_index = top.trace_done_index_o;
  for (int n = 0; n < RS_CLASSES; n++) {
    pins->issue[n] = top.trace_issue_valid_o >> n & 1;
    pins->issue_index[n] = top.trace_issue_index_o[n];
  }
}
