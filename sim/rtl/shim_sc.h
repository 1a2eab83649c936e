// SPDX-License-Identifier: Apache-2.0
// The ports of the accelerator as signals of a SystemC kernel, under the names that they have in a plain Verilated
// model, so that shim.cpp treats both alike. A settled model is two delta cycles away: in the first the model
// evaluates, after the second its outputs can be read.
#ifndef SIM_RTL_SHIM_SC_H
#define SIM_RTL_SHIM_SC_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <systemc>

#include "Vweft.h"

namespace weft {

template <typename Port>
struct signal_of;
template <typename T>
struct signal_of<sc_core::sc_in<T> &> {
  using type = sc_core::sc_signal<T>;
};
template <typename T>
struct signal_of<sc_core::sc_out<T> &> {
  using type = sc_core::sc_signal<T>;
};

#define WEFT_PORTS(P)    \
  P(clk_i)               \
  P(rst_ni)              \
  P(cmd_valid_i)         \
  P(cmd_ready_o)         \
  P(cmd_funct_i)         \
  P(cmd_rs1_i)           \
  P(cmd_rs2_i)           \
  P(cmd_xd_i)            \
  P(cmd_rd_i)            \
  P(resp_valid_o)        \
  P(resp_ready_i)        \
  P(resp_rd_o)           \
  P(resp_data_o)         \
  P(busy_o)              \
  P(interrupt_o)         \
  P(m_axi_arvalid_o)     \
  P(m_axi_arready_i)     \
  P(m_axi_arid_o)        \
  P(m_axi_araddr_o)      \
  P(m_axi_arlen_o)       \
  P(m_axi_arsize_o)      \
  P(m_axi_arburst_o)     \
  P(m_axi_rvalid_i)      \
  P(m_axi_rready_o)      \
  P(m_axi_rid_i)         \
  P(m_axi_rdata_i)       \
  P(m_axi_rresp_i)       \
  P(m_axi_rlast_i)       \
  P(m_axi_awvalid_o)     \
  P(m_axi_awready_i)     \
  P(m_axi_awid_o)        \
  P(m_axi_awaddr_o)      \
  P(m_axi_awlen_o)       \
  P(m_axi_awsize_o)      \
  P(m_axi_awburst_o)     \
  P(m_axi_awuser_o)      \
  P(m_axi_wvalid_o)      \
  P(m_axi_wready_i)      \
  P(m_axi_wdata_o)       \
  P(m_axi_wstrb_o)       \
  P(m_axi_wlast_o)       \
  P(m_axi_bvalid_i)      \
  P(m_axi_bready_o)      \
  P(m_axi_bid_i)         \
  P(m_axi_bresp_i)       \
  P(trace_alloc_o)       \
  P(trace_alloc_funct_o) \
  P(trace_alloc_rs1_o)   \
  P(trace_alloc_rs2_o)   \
  P(trace_issue_valid_o) \
  P(trace_issue_index_o) \
  P(trace_done_valid_o)  \
  P(trace_done_index_o)

class pins : public sc_core::sc_module {
 public:
  explicit pins(const sc_core::sc_module_name &module_name) : sc_core::sc_module(module_name), top_("weft_accel") {
#define WEFT_BIND(name) top_.name(name);
    WEFT_PORTS(WEFT_BIND)
#undef WEFT_BIND
  }
#define WEFT_SIGNAL(name) signal_of<decltype(Vweft::name)>::type name{#name};
  WEFT_PORTS(WEFT_SIGNAL)
#undef WEFT_SIGNAL

  // Called from a process of the kernel.
  void wait_until(uint64_t time_ps) {
    const sc_core::sc_time time(static_cast<double>(time_ps), sc_core::SC_PS);
    if (time > sc_core::sc_time_stamp()) sc_core::wait(time - sc_core::sc_time_stamp());
  }
  void eval() {
    sc_core::wait(sc_core::SC_ZERO_TIME);
    sc_core::wait(sc_core::SC_ZERO_TIME);
  }
  void final() { top_.final(); }

 private:
  Vweft top_;
};

#undef WEFT_PORTS

// Bytes to and from signals of every width.
template <typename T, std::size_t N>
void to_port(sc_core::sc_signal<T> &port, const uint8_t (&bytes)[N]) {
  static_assert(sizeof(T) <= N, "the bus is wider than the shell");
  T value;
  std::memcpy(&value, bytes, sizeof value);
  port.write(value);
}
template <int Bits, std::size_t N>
void to_port(sc_core::sc_signal<sc_dt::sc_bv<Bits>> &port, const uint8_t (&bytes)[N]) {
  static_assert((Bits + 7) / 8 <= N, "the bus is wider than the shell");
  sc_dt::sc_bv<Bits> value;
  for (int w = 0; w < (Bits + 31) / 32; w++) {
    uint32_t word;
    std::memcpy(&word, bytes + 4 * w, sizeof word);
    value.set_word(w, word);
  }
  port.write(value);
}
template <typename B, std::size_t N, typename T>
void from_port(B (&to)[N], const sc_core::sc_signal<T> &port) {
  std::memcpy(to, &port.read(), sizeof(T) < sizeof to ? sizeof(T) : sizeof to);
}
template <typename B, std::size_t N, int Bits>
void from_port(B (&to)[N], const sc_core::sc_signal<sc_dt::sc_bv<Bits>> &port) {
  static_assert((Bits + 31) / 32 * 4 <= sizeof to, "the bus is wider than the shell");
  const sc_dt::sc_bv<Bits> &value = port.read();
  for (int w = 0; w < (Bits + 31) / 32; w++) {
    uint32_t word = static_cast<uint32_t>(value.get_word(w));
    std::memcpy(reinterpret_cast<uint8_t *>(to) + 4 * w, &word, sizeof word);
  }
}

}  // namespace weft

#endif
