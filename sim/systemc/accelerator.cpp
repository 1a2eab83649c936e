// SPDX-License-Identifier: Apache-2.0
// The accelerator: see accelerator.h.
#include "sim/systemc/accelerator.h"

#include <algorithm>

namespace weft {

enum { STACK_BYTES = 8 << 20 };
static const uint64_t NEVER = UINT64_MAX;

accelerator::accelerator(const sc_core::sc_module_name &name, const weft_platform_config &config)
    : sc_core::sc_module(name),
      rocc("rocc"),
      memory("memory"),
      clock_(config.half_cycle_ps),
      view_(*config.memory),
      next_(NEVER) {
  view_.observer = arch_memory_observer();
  view_.carrier.context = this;
  view_.carrier.read = [](void *context, uint64_t address, void *to, size_t length) {
    return static_cast<accelerator *>(context)->move(tlm::TLM_READ_COMMAND, address, to, length);
  };
  view_.carrier.write = [](void *context, uint64_t address, const void *from, size_t length) {
    return static_cast<accelerator *>(context)->move(tlm::TLM_WRITE_COMMAND, address, const_cast<void *>(from), length);
  };
  SC_HAS_PROCESS(accelerator);
  SC_THREAD(run);
  set_stack_size(STACK_BYTES);
  rocc.register_b_transport(this, &accelerator::b_transport);
  engine_ = config.make_accelerator(config.context, &view_);
}

bool accelerator::move(tlm::tlm_command command, uint64_t address, void *data, size_t length) {
  tlm::tlm_generic_payload payload;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char *>(data));
  payload.set_data_length(static_cast<unsigned>(length));
  payload.set_streaming_width(static_cast<unsigned>(length));
  payload.set_extension(&mark_);
  memory->b_transport(payload, delay);
  payload.clear_extension(&mark_);
  return payload.is_response_ok();
}

void accelerator::b_transport(tlm::tlm_generic_payload &payload, sc_core::sc_time &) {
  rocc_call *call = payload.get_extension<rocc_call>();
  if (call == nullptr) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  call_ = call;
  posted_.notify();
  while (call_ != nullptr) wait(answered_);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

uint64_t accelerator::come_to(uint64_t cycle) {
  uint64_t next = engine_->ops->advance(engine_, cycle);
  reached_ = std::max(reached_, cycle);
  next_ = next == NEVER ? NEVER : std::max(next, reached_ + 1);
  return next;
}

// A fence ends in the first idle cycle. An engine may still name a cycle to look at then, in which nothing comes of it.
bool accelerator::answers_now(const rocc_call &call) const {
  return call.what != rocc_call::FENCE || !engine_->ops->busy(engine_);
}

void accelerator::answer(rocc_call &call) {
  const sim_engine_ops *ops = engine_->ops;
  switch (call.what) {
    case rocc_call::PUSH:
      call.result = ops->push(engine_, call.cycle, call.command, &call.value);
      reached_ = std::max(reached_, call.cycle);
      if (ops->timed) next_ = reached_ + 1;
      break;
    case rocc_call::ADVANCE:
      call.value = come_to(call.cycle);
      break;
    case rocc_call::BUSY:
      call.flag = ops->busy(engine_);
      break;
    case rocc_call::FENCE:
      reached_ = call.value = ops->drain(engine_, std::max(reached_, call.cycle));
      break;
  }
}

void accelerator::run() {
  for (;;) {
    if (call_ != nullptr && answers_now(*call_)) {
      answer(*call_);
      call_ = nullptr;
      answered_.notify();
    } else if (next_ == NEVER) {
      wait(posted_);
    } else {
      sc_core::sc_time edge = clock_.at(next_) - clock_.half(), now = sc_core::sc_time_stamp();
      if (edge > now) wait(edge - now, posted_);
      if (edge <= sc_core::sc_time_stamp()) come_to(next_);
    }
  }
}

}  // namespace weft
