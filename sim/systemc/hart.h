// SPDX-License-Identifier: Apache-2.0
// The hart: a thread of the kernel in which the C host runs. Its commands and fences are transactions on the RoCC
// socket; its memory is reached by DMI (the C host works on the bytes themselves), or by blocking accesses with time.
//
// The C host owns the hart's clock. Before a transaction the kernel's time is brought to it; with a quantum only when
// the hart is that far ahead, and the rest goes along as the delay of the transaction.
#ifndef SIM_SYSTEMC_HART_H
#define SIM_SYSTEMC_HART_H

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include "sim/systemc/transactions.h"

namespace weft {

class hart : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<hart> rocc;
  tlm_utils::simple_initiator_socket<hart> memory;

  hart(const sc_core::sc_module_name &name, const weft_platform_config &config);

  // Runs the body in the hart's thread, from outside of the kernel.
  void enter(void (*body)(void *context), void *context);
  // True in the hart's thread.
  bool inside() const { return inside_; }

  // In the hart's thread:
  void call(rocc_call &call);
  uint64_t access(uint64_t cycle, tlm::tlm_command command, uint64_t address, void *data, unsigned length);

 private:
  void run();
  void take_memory();
  void synchronise(uint64_t cycle);

  const weft_platform_config config_;
  const cycle_clock clock_;
  tlm_utils::tlm_quantumkeeper keeper_;
  sc_core::sc_event begin_;
  void (*body_)(void *context) = nullptr;
  void *context_ = nullptr;
  bool inside_ = false;
};

}  // namespace weft

#endif
