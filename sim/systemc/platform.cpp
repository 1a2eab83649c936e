// SPDX-License-Identifier: Apache-2.0
// The platform: its modules, how they are wired, and the functions that the C program sees.
#include <memory>

#include "sim/systemc/accelerator.h"
#include "sim/systemc/dram.h"
#include "sim/systemc/hart.h"
#include "sim/systemc/interconnect.h"

namespace weft {

class platform : public sc_core::sc_module {
 public:
  platform(const sc_core::sc_module_name &name, const weft_platform_config &config)
      : sc_core::sc_module(name),
        core("hart", config),
        device("accelerator", config),
        bus("interconnect", 2, 1),
        main_memory("dram", config) {
    core.rocc.bind(device.rocc);
    core.memory.bind(bus.initiators[0]);
    device.memory.bind(bus.initiators[1]);
    bus.targets[0].bind(main_memory.socket);
    bus.map(0, ARCH_MEMORY_BASE, config.memory->size);
  }

  hart core;
  accelerator device;
  interconnect bus;
  dram main_memory;
};

}  // namespace weft

struct weft_platform {
  explicit weft_platform(const weft_platform_config &config) : top("weft", config) {}
  weft::platform top;
};

// The library of SystemC has a main() that wants this; the C program starts the kernel itself.
__attribute__((visibility("default"))) int sc_main(int, char *[]) { return 0; }

namespace {

// A call of the hart; from outside of its thread it is the whole of what the hart does.
void call(weft_platform *platform, weft::rocc_call &call) {
  struct errand {
    weft::hart &hart;
    weft::rocc_call &call;
  } errand = {platform->top.core, call};
  auto body = [](void *context) {
    struct errand *e = static_cast<struct errand *>(context);
    e->hart.call(e->call);
  };
  if (platform->top.core.inside())
    body(&errand);
  else
    platform->top.core.enter(body, &errand);
}

bool available() {
  return sc_core::sc_get_status() == sc_core::SC_ELABORATION && sc_core::sc_get_top_level_objects().empty();
}

weft_platform *create(const weft_platform_config *config) {
  std::unique_ptr<weft_platform> made(new weft_platform(*config));
  return made->top.device.engine() == nullptr ? nullptr : made.release();
}

void destroy(weft_platform *platform) { delete platform; }

sim_engine *accelerator(weft_platform *platform) { return platform->top.device.engine(); }

void enter(weft_platform *platform, void (*body)(void *context), void *context) {
  platform->top.core.enter(body, context);
}

sim_push_result push(weft_platform *platform, uint64_t cycle, const arch_command *command, uint64_t *response) {
  weft::rocc_call request(weft::rocc_call::PUSH, cycle, command);
  call(platform, request);
  if (response != nullptr) *response = request.value;
  return request.result;
}

uint64_t advance(weft_platform *platform, uint64_t cycle) {
  weft::rocc_call request(weft::rocc_call::ADVANCE, cycle);
  call(platform, request);
  return request.value;
}

bool busy(weft_platform *platform) {
  weft::rocc_call request(weft::rocc_call::BUSY, 0);
  call(platform, request);
  return request.flag;
}

uint64_t drain(weft_platform *platform, uint64_t cycle) {
  weft::rocc_call request(weft::rocc_call::FENCE, cycle);
  call(platform, request);
  return request.value;
}

uint64_t access(weft_platform *platform, uint64_t cycle, bool write, uint64_t address, void *data, unsigned length) {
  struct errand {
    weft::hart &hart;
    uint64_t cycle;
    tlm::tlm_command command;
    uint64_t address;
    void *data;
    unsigned length;
  } errand = {platform->top.core, cycle, write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, data, length};
  auto body = [](void *context) {
    struct errand *e = static_cast<struct errand *>(context);
    e->cycle = e->hart.access(e->cycle, e->command, e->address, e->data, e->length);
  };
  if (platform->top.core.inside())
    body(&errand);
  else
    platform->top.core.enter(body, &errand);
  return errand.cycle;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const weft_platform_api weft_platform_shell;
extern "C" const weft_platform_api weft_platform_shell = {
    sizeof(weft_platform_config), available, create, destroy, accelerator, enter, push, advance, busy, drain, access};
