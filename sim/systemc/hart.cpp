// SPDX-License-Identifier: Apache-2.0
// The hart: see hart.h.
#include "sim/systemc/hart.h"

namespace weft {

enum { STACK_BYTES = 8 << 20 };

hart::hart(const sc_core::sc_module_name &name, const weft_platform_config &config)
    : sc_core::sc_module(name), rocc("rocc"), memory("memory"), config_(config), clock_(config.half_cycle_ps) {
  SC_HAS_PROCESS(hart);
  SC_THREAD(run);
  set_stack_size(STACK_BYTES);
  tlm_utils::tlm_quantumkeeper::set_global_quantum(clock_.at(config.quantum_cycles));
  keeper_.reset();
}

// The C host reads and writes the bytes of main memory: that is what the interconnect must lead to.
void hart::take_memory() {
  tlm::tlm_generic_payload payload;
  tlm::tlm_dmi dmi;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(ARCH_MEMORY_BASE);
  if (!memory->get_direct_mem_ptr(payload, dmi) || !dmi.is_read_write_allowed() ||
      dmi.get_dmi_ptr() != config_.memory->bytes ||
      dmi.get_end_address() - dmi.get_start_address() != config_.memory->size - 1)
    SC_REPORT_FATAL(name(), "the interconnect gives no direct access to main memory");
}

void hart::run() {
  take_memory();
  for (;;) {
    while (body_ == nullptr) wait(begin_);
    inside_ = true;
    body_(context_);
    inside_ = false;
    body_ = nullptr;
    sc_core::sc_pause();
  }
}

void hart::enter(void (*body)(void *context), void *context) {
  body_ = body;
  context_ = context;
  begin_.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start();
  if (body_ != nullptr) SC_REPORT_FATAL(name(), "the platform stopped before the program");
}

void hart::synchronise(uint64_t cycle) {
  sc_core::sc_time at = clock_.at(cycle), now = sc_core::sc_time_stamp();
  keeper_.set(at > now ? at - now : sc_core::SC_ZERO_TIME);
  if (keeper_.need_sync() && keeper_.get_local_time() != sc_core::SC_ZERO_TIME) keeper_.sync();
}

void hart::call(rocc_call &call) {
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_IGNORE_COMMAND);
  payload.set_extension(&call);
  synchronise(call.cycle);
  sc_core::sc_time delay = keeper_.get_local_time();
  rocc->b_transport(payload, delay);
  payload.clear_extension(&call);
  if (!payload.is_response_ok()) SC_REPORT_FATAL(name(), "the accelerator does not know the command's transaction");
}

uint64_t hart::access(uint64_t cycle, tlm::tlm_command command, uint64_t address, void *data, unsigned length) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char *>(data));
  payload.set_data_length(length);
  payload.set_streaming_width(length);
  synchronise(cycle);
  sc_core::sc_time delay = keeper_.get_local_time();
  memory->b_transport(payload, delay);
  if (!payload.is_response_ok()) return UINT64_MAX;
  return clock_.cycles(sc_core::sc_time_stamp() + delay);
}

}  // namespace weft
