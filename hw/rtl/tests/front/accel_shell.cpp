// SPDX-License-Identifier: Apache-2.0
// Verilated weft_accel behind dut.h.
#include <cstring>

#include "Vdut.h"
#include "hw/rtl/tests/front/dut.h"
#include "verilated.h"

struct accel_dut {
  VerilatedContext context;
  Vdut top{&context};
};

// Ports are plain integers up to 64 bits and arrays of 32-bit words above.
template <typename Port>
static void to_port(Port &port, const uint8_t *bytes) {
  std::memcpy(&port, bytes, sizeof port);
}
template <typename Port>
static void from_port(uint8_t *bytes, const Port &port) {
  std::memcpy(bytes, &port, sizeof port);
}

accel_dut *accel_create(void) {
  accel_dut *dut = new accel_dut;
  accel_pins pins = {};
  dut->context.randReset(2);
  dut->top.clk_i = 0;
  dut->top.rst_ni = 0;
  accel_eval(dut, &pins);
  accel_clock(dut);
  accel_clock(dut);
  dut->top.rst_ni = 1;
  dut->top.eval();
  return dut;
}

void accel_destroy(accel_dut *dut) { delete dut; }

void accel_clock(accel_dut *dut) {
  dut->top.clk_i = 1;
  dut->top.eval();
  dut->top.clk_i = 0;
  dut->top.eval();
}

#define PORT(name) name
#include "hw/rtl/tests/front/accel_ports.inc"

void accel_eval(accel_dut *dut, accel_pins *pins) {
  Vdut &top = dut->top;
  drive(top, pins);
  top.eval();
  read(top, pins);
}
