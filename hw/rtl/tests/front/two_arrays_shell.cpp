// SPDX-License-Identifier: Apache-2.0
// Verilated weft_two_arrays behind dut.h: two accelerators that share a clock. The clock ticks when both have been
// clocked.
#include <cstring>

#include "Vdut.h"
#include "hw/rtl/tests/front/two_arrays.h"
#include "verilated.h"

namespace {
struct pair {
  VerilatedContext context;
  Vdut top{&context};
  int clocked = 0, users = 2;
};

// Ports are plain integers up to 64 bits and arrays of 32-bit words above.
template <typename Port>
void to_port(Port &port, const uint8_t *bytes) {
  std::memcpy(&port, bytes, sizeof port);
}
template <typename Port>
void from_port(uint8_t *bytes, const Port &port) {
  std::memcpy(bytes, &port, sizeof port);
}

namespace four {
#define PORT(name) four_##name
#include "hw/rtl/tests/front/accel_ports.inc"
#undef PORT
}  // namespace four
namespace eight {
#define PORT(name) eight_##name
#include "hw/rtl/tests/front/accel_ports.inc"
#undef PORT
}  // namespace eight

void tick(Vdut &top) {
  top.clk_i = 1;
  top.eval();
  top.clk_i = 0;
  top.eval();
}
}  // namespace

struct accel_dut {
  pair *shared;
  bool second;
};

void two_arrays_create(accel_dut *duts[2]) {
  pair *p = new pair;
  accel_pins pins = {};
  p->context.randReset(2);
  p->top.clk_i = 0;
  p->top.rst_ni = 0;
  four::drive(p->top, &pins);
  eight::drive(p->top, &pins);
  p->top.eval();
  tick(p->top);
  tick(p->top);
  p->top.rst_ni = 1;
  p->top.eval();
  for (int n = 0; n < 2; n++) duts[n] = new accel_dut{p, n == 1};
}

void accel_destroy(accel_dut *dut) {
  if (--dut->shared->users == 0) delete dut->shared;
  delete dut;
}

void accel_clock(accel_dut *dut) {
  pair &p = *dut->shared;
  if (++p.clocked < 2) return;
  tick(p.top);
  p.clocked = 0;
}

void accel_eval(accel_dut *dut, accel_pins *pins) {
  Vdut &top = dut->shared->top;
  dut->second ? eight::drive(top, pins) : four::drive(top, pins);
  top.eval();
  dut->second ? eight::read(top, pins) : four::read(top, pins);
}

accel_dut *accel_create(void) { return nullptr; }  // an accelerator of a pair is not created alone
