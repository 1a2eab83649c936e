// SPDX-License-Identifier: Apache-2.0
// What travels over the sockets besides plain reads and writes, and the clock that all modules count in.
#ifndef SIM_SYSTEMC_TRANSACTIONS_H
#define SIM_SYSTEMC_TRANSACTIONS_H

#include <systemc>
#include <tlm>

#include "sim/systemc/shell.h"

namespace weft {

// Cycles of the accelerator as time of the kernel.
class cycle_clock {
 public:
  explicit cycle_clock(uint64_t half_cycle_ps) : half_(static_cast<double>(half_cycle_ps), sc_core::SC_PS) {}
  sc_core::sc_time at(uint64_t cycle) const { return sc_core::sc_time::from_value(2 * half_.value() * cycle); }
  sc_core::sc_time half() const { return half_; }
  uint64_t cycles(const sc_core::sc_time &time) const { return time.value() / (2 * half_.value()); }

 private:
  sc_core::sc_time half_;
};

// An extension that lives on the stack of who sends it.
template <typename T>
class borrowed_extension : public tlm::tlm_extension<T> {
 public:
  tlm::tlm_extension_base *clone() const override { return nullptr; }
  void copy_from(const tlm::tlm_extension_base &) override {}
  void free() override {}
};

// What the hart wants of the accelerator, at a cycle. The answer is in result, value and flag.
class rocc_call : public borrowed_extension<rocc_call> {
 public:
  enum kind { PUSH, ADVANCE, BUSY, FENCE };
  rocc_call(kind asked, uint64_t at_cycle, const arch_command *rocc_command = nullptr)
      : what(asked), cycle(at_cycle), command(rocc_command) {}

  const kind what;
  const uint64_t cycle;
  const arch_command *const command;       // PUSH
  sim_push_result result = SIM_PUSH_FULL;  // PUSH
  uint64_t value = 0;                      // PUSH: response; ADVANCE: next cycle; FENCE: cycle reached
  bool flag = false;                       // BUSY
};

// Marks an access of the accelerator: counted as such, and already timed at its port.
class accelerator_access : public borrowed_extension<accelerator_access> {};

}  // namespace weft

#endif
