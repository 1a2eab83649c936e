// SPDX-License-Identifier: Apache-2.0
// Verilated reservation_station behind dut.h.
#include "Vdut.h"
#include "hw/rtl/tests/front/dut.h"
#include "verilated.h"

struct rs_dut {
  VerilatedContext context;
  Vdut top{&context};
};

rs_dut *rs_create(void) {
  rs_dut *dut = new rs_dut;
  rs_pins pins = {};
  dut->top.clk_i = 0;
  dut->top.rst_ni = 0;
  rs_eval(dut, &pins);
  rs_clock(dut);
  dut->top.rst_ni = 1;
  dut->top.eval();
  return dut;
}

void rs_destroy(rs_dut *dut) { delete dut; }

void rs_clock(rs_dut *dut) {
  dut->top.clk_i = 1;
  dut->top.eval();
  dut->top.clk_i = 0;
  dut->top.eval();
}

static void drive(Vdut &top, const rs_pins *pins) {
  top.alloc_valid_i = pins->alloc_valid;
  top.alloc_funct_i = pins->funct;
  top.alloc_rs1_i = pins->rs1;
  top.alloc_rs2_i = pins->rs2;
  top.alloc_from_matmul_i = pins->from_matmul;
  top.alloc_from_conv_i = pins->from_conv;
  top.ld_ready_i = pins->issue_ready[0];
  top.ex_ready_i = pins->issue_ready[1];
  top.st_ready_i = pins->issue_ready[2];
  top.ld_done_valid_i = pins->done_valid[0];
  top.ex_done_valid_i = pins->done_valid[1];
  top.st_done_valid_i = pins->done_valid[2];
  top.ld_done_id_i = pins->done_id[0];
  top.ex_done_id_i = pins->done_id[1];
  top.st_done_id_i = pins->done_id[2];
  top.ex_solitary_preload_i = pins->solitary_preload;
}

void rs_eval(rs_dut *dut, rs_pins *pins) {
  Vdut &top = dut->top;
  drive(top, pins);
  top.eval();
  pins->alloc_ready = top.alloc_ready_o;
  pins->busy = top.busy_o;
#define CLASS(n, x)                                         \
  pins->issue_valid[n] = top.x##_valid_o;                   \
  pins->issue_funct[n] = top.x##_funct_o;                   \
  pins->issue_rs1[n] = top.x##_rs1_o;                       \
  pins->issue_rs2[n] = top.x##_rs2_o;                       \
  pins->issue_id[n] = top.x##_id_o;                         \
  pins->done_ready[n] = top.x##_done_ready_o;               \
  pins->count[n] = top.x##_count_o;                         \
  pins->matmul_completed[n] = top.matmul_##x##_completed_o; \
  pins->conv_completed[n] = top.conv_##x##_completed_o;     \
  pins->trace_issue[n] = top.trace_issue_valid_o >> n & 1;  \
  pins->trace_issue_index[n] = top.trace_issue_index_o[n];
  CLASS(0, ld)
  CLASS(1, ex)
  CLASS(2, st)
#undef CLASS
  pins->trace_alloc = top.trace_alloc_o;
  pins->trace_done = top.trace_done_valid_o;
  pins->trace_done_index = top.trace_done_index_o;
}
