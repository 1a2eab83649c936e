// SPDX-License-Identifier: Apache-2.0
// loop_matmul or loop_conv (LOOP_CONV defined) of the cycle engine in lockstep with the Verilated module: behind dut.h,
// so that the testbenches in hw/rtl/tests/front drive both at once. Every output is compared in every cycle. There are
// two units: one is stepped in every cycle, the other one only when its step before changed something or something came
// to it, as in the engine; they must agree too. The array is argv of the testbench, which the environment repeats:
// LOCKSTEP_ARRAY, LOCKSTEP_REVISION.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "hw/rtl/tests/front/dut.h"
#include "sim/cycle/front_end.h"
#include "sim/cycle/loop_conv.h"
#include "sim/cycle/loop_matmul.h"

#ifdef LOOP_CONV
#define UNIT(name) cycle_loop_conv##name
#define COMPLETED conv_completed
#define FROM from_conv
#else
#define UNIT(name) cycle_loop_matmul##name
#define COMPLETED matmul_completed
#define FROM from_matmul
#endif

enum { UNITS = 2, START = 100 };

// loop_shell.cpp, compiled with these names.
loop_dut *rtl_loop_create(void);
void rtl_loop_destroy(loop_dut *dut);
void rtl_loop_cycle(loop_dut *dut, loop_pins *pins);

typedef struct tested {
  cycle_engine c;
  UNIT() * loop;
  bool lazy, quiet;  // quiet: the step before changed nothing
} tested;

struct loop_dut {
  loop_dut *rtl;
  hw_array array;
  tested units[UNITS];
};

static const char *setting(const char *name) {
  const char *text = getenv(name);
  if (text != NULL) return text;
  fprintf(stderr, "%s is not set\n", name);
  exit(2);
}

loop_dut *loop_create(void) {
  loop_dut *dut = WF_NEW(loop_dut);
  wf_diag diag = wf_diag_to(stderr);
  if (!hw_array_load(&dut->array, setting("LOCKSTEP_ARRAY"), &diag)) exit(2);
  dut->array.isa.revision = (uint32_t)atoi(setting("LOCKSTEP_REVISION"));
  dut->rtl = rtl_loop_create();
  for (unsigned n = 0; n < UNITS; n++) {
    tested *u = &dut->units[n];
    u->c = (cycle_engine){.array = &dut->array, .d = hw_derive(&dut->array), .now = START};
    u->loop = UNIT(_create)(&u->c);
    u->lazy = n != 0;
  }
  return dut;
}

void loop_destroy(loop_dut *dut) {
  for (unsigned n = 0; n < UNITS; n++) UNIT(_destroy)(dut->units[n].loop);
  rtl_loop_destroy(dut->rtl);
  wf_free(dut);
}

static void look(const tested *u, loop_pins *pins) {
  cycle_front_command out = {0};
  pins->in_ready = UNIT(_room)(u->loop, u->c.now);
  pins->busy = UNIT(_busy)(u->loop);
  pins->out_valid = UNIT(_offer)(u->loop, u->c.now, &out);
  pins->out_funct = (uint8_t)isa_insn_at(out.insn)->funct;
  pins->out_rs1 = out.rs1, pins->out_rs2 = out.rs2;
  pins->from_loop = out.FROM;
}

// In place of a step, a quiet unit only counts what completed.
static void step(tested *u, bool taken, bool completed) {
  if (!u->lazy || !u->quiet || taken)
    u->quiet = !UNIT(_step)(&u->c, u->c.now, u->loop, taken);
  else if (completed)
    UNIT(_completed)(&u->c, u->loop);
}

static void clock(tested *u, const loop_pins *pins) {
  bool taken = pins->out_valid && pins->out_ready, pushed = pins->in_valid && pins->in_ready, completed = false;
  for (unsigned n = 0; n < SIM_CLASSES; n++) {
    u->c.w.COMPLETED[n] = pins->completed[n];
    completed |= pins->completed[n] != 0;
  }
  step(u, taken, completed);
  if (pushed) {
    const isa_insn *insn = isa_find(u->c.array->isa.revision, pins->funct, pins->rs1);
    cycle_front_command in = {.insn = (uint8_t)insn->id, .rs1 = pins->rs1, .rs2 = pins->rs2};
    UNIT(_push)(u->loop, u->c.now, &in);
    u->quiet = false;
  }
  u->c.now++;
}

static bool same(const loop_pins *a, const loop_pins *b) {
  if (a->in_ready != b->in_ready || a->busy != b->busy || a->out_valid != b->out_valid) return false;
  return !a->out_valid || (a->out_funct == b->out_funct && a->out_rs1 == b->out_rs1 && a->out_rs2 == b->out_rs2 &&
                           a->from_loop == b->from_loop);
}

static void print(const char *who, const loop_pins *p) {
  fprintf(stderr, "  %s: ready %d busy %d valid %d from loop %d funct %u rs1 0x%" PRIx64 " rs2 0x%" PRIx64 "\n", who,
          p->in_ready, p->busy, p->out_valid, p->from_loop, p->out_funct, p->out_rs1, p->out_rs2);
}

void loop_cycle(loop_dut *dut, loop_pins *pins) {
  loop_pins in = *pins;
  rtl_loop_cycle(dut->rtl, pins);
  for (unsigned n = 0; n < UNITS; n++) {
    tested *u = &dut->units[n];
    loop_pins out = in;
    look(u, &out);
    if (!same(&out, pins)) {
      fprintf(stderr, "cycle %" PRIu64 ", %s:\n", u->c.now - START, u->lazy ? "skipping" : "every cycle");
      print("cycle", &out);
      print("rtl", pins);
      exit(1);
    }
    clock(u, &out);
  }
}
