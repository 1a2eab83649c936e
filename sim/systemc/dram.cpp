// SPDX-License-Identifier: Apache-2.0
// Main memory as a TLM target: see dram.h.
#include "sim/systemc/dram.h"

#include <cstring>

namespace weft {

dram::dram(const sc_core::sc_module_name &name, const weft_platform_config &config)
    : sc_core::sc_module(name), socket("socket"), config_(config), clock_(config.half_cycle_ps) {
  socket.register_b_transport(this, &dram::b_transport);
  socket.register_get_direct_mem_ptr(this, &dram::get_direct_mem_ptr);
  socket.register_transport_dbg(this, &dram::transport_dbg);
}

bool dram::move_counted(const tlm::tlm_generic_payload &payload) const {
  uint64_t address = ARCH_MEMORY_BASE + payload.get_address();
  if (payload.is_read())
    return config_.read(config_.memory, address, payload.get_data_ptr(), payload.get_data_length());
  return config_.write(config_.memory, address, payload.get_data_ptr(), payload.get_data_length());
}

bool dram::move_plain(const tlm::tlm_generic_payload &payload) const {
  uint8_t *bytes = arch_memory_at(config_.memory, ARCH_MEMORY_BASE + payload.get_address(), payload.get_data_length());
  if (bytes == nullptr) return false;
  if (payload.is_read())
    std::memcpy(payload.get_data_ptr(), bytes, payload.get_data_length());
  else
    std::memcpy(bytes, payload.get_data_ptr(), payload.get_data_length());
  return true;
}

// Its lines are asked for in as many cycles; when they are there the engine tells.
sc_core::sc_time dram::lines(const tlm::tlm_generic_payload &payload, const sc_core::sc_time &start) const {
  uint64_t cycle = clock_.cycles(start), line = config_.unit_bytes;
  uint64_t first = ARCH_MEMORY_BASE + payload.get_address(), end = first + payload.get_data_length();
  for (uint64_t address = first & ~(line - 1); address < end; address += line)
    cycle = config_.host_access(config_.timing, cycle, address, payload.is_write());
  return clock_.at(cycle);
}

void dram::b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay) {
  bool of_accelerator = payload.get_extension<accelerator_access>() != nullptr;
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND || payload.get_byte_enable_ptr() != nullptr ||
      payload.get_streaming_width() < payload.get_data_length()) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return;
  }
  bool moved = of_accelerator ? move_counted(payload) : move_plain(payload);
  payload.set_response_status(moved ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  payload.set_dmi_allowed(moved);
  if (!moved || of_accelerator) return;
  sc_core::sc_time now = sc_core::sc_time_stamp();
  delay = lines(payload, now + delay) - now;
}

bool dram::get_direct_mem_ptr(tlm::tlm_generic_payload &, tlm::tlm_dmi &dmi) {
  dmi.set_dmi_ptr(config_.memory->bytes);
  dmi.set_start_address(0);
  dmi.set_end_address(config_.memory->size - 1);
  dmi.allow_read_write();
  return true;
}

unsigned dram::transport_dbg(tlm::tlm_generic_payload &payload) {
  return payload.get_command() != tlm::TLM_IGNORE_COMMAND && move_plain(payload) ? payload.get_data_length() : 0;
}

}  // namespace weft
