// SPDX-License-Identifier: Apache-2.0
// The interconnect: any number of initiators and targets, and a map of address ranges. A target sees addresses from the
// start of its range. It takes no time of its own: one cycle to the memory is part of the memory timing.
#ifndef SIM_SYSTEMC_INTERCONNECT_H
#define SIM_SYSTEMC_INTERCONNECT_H

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <vector>

#include "sim/systemc/transactions.h"

namespace weft {

class interconnect : public sc_core::sc_module {
 public:
  using initiator_side = tlm_utils::simple_target_socket_tagged<interconnect>;
  using target_side = tlm_utils::simple_initiator_socket_tagged<interconnect>;
  sc_core::sc_vector<initiator_side> initiators;
  sc_core::sc_vector<target_side> targets;

  interconnect(const sc_core::sc_module_name &name, unsigned initiator_count, unsigned target_count);
  // Ranges do not overlap.
  void map(unsigned target, uint64_t base, uint64_t size) { ranges_.push_back({base, size, target}); }

 private:
  struct range {
    uint64_t base, size;
    unsigned target;
  };
  const range *find(uint64_t address) const;
  void b_transport(int initiator, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
  bool get_direct_mem_ptr(int initiator, tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi);
  unsigned transport_dbg(int initiator, tlm::tlm_generic_payload &payload);
  void invalidate_direct_mem_ptr(int target, sc_dt::uint64 start, sc_dt::uint64 end);

  std::vector<range> ranges_;
};

}  // namespace weft

#endif
