// SPDX-License-Identifier: Apache-2.0
// Gives C tests access to the Verilated module. DUT_PORTS names the list of its ports.
#include <cstring>
#include <memory>

#include "Vdut.h"
#include "hw/rtl/tests/memory/dut.h"
#include "verilated.h"

struct dut {
  VerilatedContext context;
  std::unique_ptr<Vdut> model;
  dut() : model(new Vdut(&context)) {}
};

dut *dut_create(void) { return new dut; }

void dut_destroy(dut *d) {
  d->model->final();
  delete d;
}

void dut_eval(dut *d) { d->model->eval(); }

void *dut_port(dut *d, const char *name, size_t *bytes) {
#define PORT(port)                   \
  if (!std::strcmp(name, #port)) {   \
    *bytes = sizeof(d->model->port); \
    return &d->model->port;          \
  }
#include DUT_PORTS
#undef PORT
  return nullptr;
}
