// SPDX-License-Identifier: Apache-2.0
// Main memory as a TLM target. Its addresses start at 0. Data are in the arch_memory that all engines share.
//
// Two kinds of access. The accelerator's are marked, moved by arch_memory (which counts them and tells the trace) and
// take no time here, because its port has arbitrated for every beat of them. All others are blocking accesses in lines
// whose time is that of the shared memory timing, annotated on the delay. DMI is given for everything.
#ifndef SIM_SYSTEMC_DRAM_H
#define SIM_SYSTEMC_DRAM_H

#include <tlm_utils/simple_target_socket.h>

#include "sim/systemc/transactions.h"

namespace weft {

class dram : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<dram> socket;

  dram(const sc_core::sc_module_name &name, const weft_platform_config &config);

 private:
  void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi);
  unsigned transport_dbg(tlm::tlm_generic_payload &payload);
  bool move_counted(const tlm::tlm_generic_payload &payload) const;
  bool move_plain(const tlm::tlm_generic_payload &payload) const;
  sc_core::sc_time lines(const tlm::tlm_generic_payload &payload, const sc_core::sc_time &start) const;

  const weft_platform_config config_;
  const cycle_clock clock_;
};

}  // namespace weft

#endif
