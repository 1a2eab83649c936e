// SPDX-License-Identifier: Apache-2.0
// The accelerator: a RoCC target and a memory initiator around any engine of sim/engine.h, which has its own thread.
//
// The thread alone touches the engine. It brings a timed engine forward at the pace of the kernel: in the middle of
// cycle n - 1, when the hart has had its chance in that cycle, to cycle n. A call of the hart waits until the thread
// has answered it. An engine with pins of its own (the RTL) lets time pass inside of its functions.
#ifndef SIM_SYSTEMC_ACCELERATOR_H
#define SIM_SYSTEMC_ACCELERATOR_H

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "sim/systemc/transactions.h"

namespace weft {

class accelerator : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<accelerator> rocc;
  tlm_utils::simple_initiator_socket<accelerator> memory;

  accelerator(const sc_core::sc_module_name &name, const weft_platform_config &config);
  sim_engine *engine() const { return engine_; }

 private:
  void run();
  void b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &delay);
  bool answers_now(const rocc_call &call) const;
  void answer(rocc_call &call);
  uint64_t come_to(uint64_t cycle);  // what the engine's advance returned
  bool move(tlm::tlm_command command, uint64_t address, void *data, size_t length);

  const cycle_clock clock_;
  arch_memory view_;  // main memory as the engine sees it: behind the socket
  sim_engine *engine_;
  accelerator_access mark_;
  rocc_call *call_ = nullptr;
  sc_core::sc_event posted_, answered_;
  uint64_t reached_ = 0;  // cycle
  uint64_t next_;         // to come to; NEVER: idle
};

}  // namespace weft

#endif
