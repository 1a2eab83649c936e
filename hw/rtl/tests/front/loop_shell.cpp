// SPDX-License-Identifier: Apache-2.0
// Verilated loop_matmul or loop_conv (LOOP_CONV defined) behind dut.h.
#include "Vdut.h"
#include "hw/rtl/tests/front/dut.h"
#include "verilated.h"

struct loop_dut {
  VerilatedContext context;
  Vdut top{&context};
};

static void edge(loop_dut *dut) {
  dut->top.clk_i = 1;
  dut->top.eval();
  dut->top.clk_i = 0;
  dut->top.eval();
}

loop_dut *loop_create(void) {
  loop_dut *dut = new loop_dut;
  dut->top.clk_i = 0;
  dut->top.rst_ni = 0;
  dut->top.in_valid_i = 0;
  dut->top.in_rd_i = 0;
  dut->top.out_ready_i = 0;
#ifndef LOOP_CONV
  dut->top.in_from_conv_i = 0;
#endif
  dut->top.ld_completed_i = dut->top.ex_completed_i = dut->top.st_completed_i = 0;
  dut->top.eval();
  edge(dut);
  dut->top.rst_ni = 1;
  dut->top.eval();
  return dut;
}

void loop_destroy(loop_dut *dut) { delete dut; }

void loop_cycle(loop_dut *dut, loop_pins *pins) {
  Vdut &top = dut->top;
  top.in_valid_i = pins->in_valid;
  top.in_funct_i = pins->funct;
  top.in_rs1_i = pins->rs1;
  top.in_rs2_i = pins->rs2;
  top.out_ready_i = pins->out_ready;
  top.ld_completed_i = pins->completed[0];
  top.ex_completed_i = pins->completed[1];
  top.st_completed_i = pins->completed[2];
  top.eval();
  pins->in_ready = top.in_ready_o;
  pins->out_valid = top.out_valid_o;
  pins->busy = top.busy_o;
  pins->out_funct = top.out_funct_o;
  pins->out_rs1 = top.out_rs1_o;
  pins->out_rs2 = top.out_rs2_o;
#ifdef LOOP_CONV
  pins->from_loop = top.out_from_conv_o;
#else
  pins->from_loop = top.out_from_matmul_o;
#endif
  edge(dut);
}
