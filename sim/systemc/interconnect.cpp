// SPDX-License-Identifier: Apache-2.0
// The interconnect: see interconnect.h.
#include "sim/systemc/interconnect.h"

#include <algorithm>

namespace weft {

interconnect::interconnect(const sc_core::sc_module_name &name, unsigned initiator_count, unsigned target_count)
    : sc_core::sc_module(name), initiators("initiator", initiator_count), targets("target", target_count) {
  for (unsigned i = 0; i < initiator_count; i++) {
    initiators[i].register_b_transport(this, &interconnect::b_transport, static_cast<int>(i));
    initiators[i].register_get_direct_mem_ptr(this, &interconnect::get_direct_mem_ptr, static_cast<int>(i));
    initiators[i].register_transport_dbg(this, &interconnect::transport_dbg, static_cast<int>(i));
  }
  for (unsigned i = 0; i < target_count; i++)
    targets[i].register_invalidate_direct_mem_ptr(this, &interconnect::invalidate_direct_mem_ptr, static_cast<int>(i));
}

const interconnect::range *interconnect::find(uint64_t address) const {
  for (const range &r : ranges_)
    if (address - r.base < r.size) return &r;
  return nullptr;
}

void interconnect::b_transport(int, tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
  uint64_t address = payload.get_address();
  const range *r = find(address);
  if (r == nullptr) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  payload.set_address(address - r->base);
  targets[r->target]->b_transport(payload, delay);
  payload.set_address(address);
}

bool interconnect::get_direct_mem_ptr(int, tlm::tlm_generic_payload &payload, tlm::tlm_dmi &dmi) {
  uint64_t address = payload.get_address();
  const range *r = find(address);
  if (r == nullptr) return false;
  payload.set_address(address - r->base);
  bool given = targets[r->target]->get_direct_mem_ptr(payload, dmi);
  payload.set_address(address);
  dmi.set_end_address(r->base + std::min<uint64_t>(dmi.get_end_address(), r->size - 1));
  dmi.set_start_address(r->base + dmi.get_start_address());
  return given;
}

unsigned interconnect::transport_dbg(int, tlm::tlm_generic_payload &payload) {
  uint64_t address = payload.get_address();
  const range *r = find(address);
  if (r == nullptr) return 0;
  payload.set_address(address - r->base);
  unsigned count = targets[r->target]->transport_dbg(payload);
  payload.set_address(address);
  return count;
}

void interconnect::invalidate_direct_mem_ptr(int target, sc_dt::uint64 start, sc_dt::uint64 end) {
  for (const range &r : ranges_) {
    if (r.target != static_cast<unsigned>(target) || start >= r.size) continue;
    for (initiator_side &initiator : initiators)
      initiator->invalidate_direct_mem_ptr(r.base + start, r.base + std::min<uint64_t>(end, r.size - 1));
  }
}

}  // namespace weft
