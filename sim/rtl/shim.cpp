// SPDX-License-Identifier: Apache-2.0
// The shell around the Verilated accelerator: copies the ports in and out, nothing else. Compiled at run time into the
// model's shared object (build.c).
#include "shim.h"

#include <cstring>

#if VM_SC
#include "shim_sc.h"
#else
#include "Vweft.h"
#endif
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

namespace {

#if VM_SC
using weft::from_port;
using weft::pins;
using weft::to_port;
#else
using pins = Vweft;

// Ports of every width lie in memory as little-endian words.
template <typename T, size_t N>
void to_port(T &port, const uint8_t (&bytes)[N]) {
  static_assert(sizeof(T) <= N, "the bus is wider than the shell");
  std::memcpy(&port, bytes, sizeof(T));
}
template <typename B, size_t N, typename T>
void from_port(B (&to)[N], const T &port) {
  std::memcpy(to, &port, sizeof(T) < sizeof to ? sizeof(T) : sizeof to);
}
#endif

struct model {
  VerilatedContext context;
  pins top;
#if VM_TRACE_FST
  VerilatedFstC wave;
#endif
#if VM_SC
  explicit model(uint64_t garbage) : top((prepare(garbage), "pins")) {}
#else
  explicit model(uint64_t garbage) : top((prepare(garbage), &context)) {}
#endif
  void prepare(uint64_t garbage) {
    context.randReset(garbage == 0 ? 0 : 2);
    context.randSeed(static_cast<int>(garbage % 0x7fffffff));
    context.fatalOnError(false);
#if VM_SC
    Verilated::threadContextp(&context);  // the model takes it from there
#endif
#if VM_TRACE_FST
    context.traceEverOn(true);
#endif
  }
};

void *create(uint64_t garbage, const char *wave) {
  model *m = new model(garbage);
#if VM_TRACE_FST
  if (wave != nullptr) {
    m->top.trace(&m->wave, 99);
    m->wave.open(wave);
  }
#else
  (void)wave;
#endif
  return m;
}

void eval(void *opaque, const weft_rtl_inputs *in, weft_rtl_outputs *out) {
  pins &top = static_cast<model *>(opaque)->top;
#if VM_SC
  top.wait_until(in->time_ps);
#endif
  top.clk_i = in->clk;
  top.rst_ni = in->rst_n;
  top.cmd_valid_i = in->cmd_valid;
  top.cmd_funct_i = in->cmd_funct;
  top.cmd_rs1_i = in->cmd_rs1;
  top.cmd_rs2_i = in->cmd_rs2;
  top.cmd_xd_i = in->cmd_xd;
  top.cmd_rd_i = in->cmd_rd;
  top.resp_ready_i = in->resp_ready;
  top.m_axi_arready_i = in->ar_ready;
  top.m_axi_rvalid_i = in->r_valid;
  top.m_axi_rid_i = in->r_id;
  to_port(top.m_axi_rdata_i, in->r_data);
  top.m_axi_rresp_i = 0;
  top.m_axi_rlast_i = in->r_last;
  top.m_axi_awready_i = in->aw_ready;
  top.m_axi_wready_i = in->w_ready;
  top.m_axi_bvalid_i = in->b_valid;
  top.m_axi_bid_i = in->b_id;
  top.m_axi_bresp_i = 0;
  top.eval();
  out->cmd_ready = top.cmd_ready_o;
  out->resp_valid = top.resp_valid_o;
  out->resp_data = top.resp_data_o;
  out->busy = top.busy_o;
  out->ar_valid = top.m_axi_arvalid_o;
  out->ar_len = top.m_axi_arlen_o;
  out->ar_size = top.m_axi_arsize_o;
  out->ar_id = top.m_axi_arid_o;
  out->ar_addr = top.m_axi_araddr_o;
  out->r_ready = top.m_axi_rready_o;
  out->aw_valid = top.m_axi_awvalid_o;
  out->aw_len = top.m_axi_awlen_o;
  out->aw_size = top.m_axi_awsize_o;
  out->aw_user = top.m_axi_awuser_o;
  out->aw_id = top.m_axi_awid_o;
  out->aw_addr = top.m_axi_awaddr_o;
  out->w_valid = top.m_axi_wvalid_o;
  out->w_last = top.m_axi_wlast_o;
  from_port(out->w_data, top.m_axi_wdata_o);
  from_port(out->w_strb, top.m_axi_wstrb_o);
  out->b_ready = top.m_axi_bready_o;
  out->trace_alloc = top.trace_alloc_o;
  out->trace_alloc_funct = top.trace_alloc_funct_o;
  out->trace_alloc_rs1 = top.trace_alloc_rs1_o;
  out->trace_alloc_rs2 = top.trace_alloc_rs2_o;
  out->trace_issue_valid = top.trace_issue_valid_o;
  from_port(out->trace_issue_index, top.trace_issue_index_o);
  out->trace_done_valid = top.trace_done_valid_o;
  out->trace_done_index = top.trace_done_index_o;
}

void dump(void *opaque, uint64_t time) {
#if VM_TRACE_FST
  static_cast<model *>(opaque)->wave.dump(time);
#else
  (void)opaque, (void)time;
#endif
}

int failed(void *opaque) { return static_cast<model *>(opaque)->context.gotError() ? 1 : 0; }

void destroy(void *opaque) {
  model *m = static_cast<model *>(opaque);
  m->top.final();
#if VM_TRACE_FST
  m->wave.close();
#endif
  delete m;
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const weft_rtl_api weft_rtl = {sizeof(weft_rtl_inputs), sizeof(weft_rtl_outputs), create, eval, dump, failed, destroy};
