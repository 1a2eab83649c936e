// SPDX-License-Identifier: Apache-2.0
// Splits a weight-stationary preload of a transposed B in two, so that B can pass the transposer first:
//   preload B -> garbage;  empty compute;  preload garbage -> C;  compute_preloaded A
// Everything else passes. Such a preload waits for the command behind it, which decides: compute_accumulated keeps the
// weights and needs no split. The transposition is taken from config_ex as it passes.
#include "sim/cycle/preload_unroller.h"

#include "isa/isa_fields.h"

enum { UNROLL_IDLE, UNROLL_COMPUTE, UNROLL_PRELOAD };

static bool holds_back(const cycle_preload_unroller *u) {
  return u->b_transposed && cycle_execute_window_head(&u->window, 0)->insn == ISA_PRELOAD;
}

bool cycle_preload_unroller_waiting(const cycle_preload_unroller *u) {
  return u->state == UNROLL_IDLE && u->window.count == 1 && holds_back(u);
}

bool cycle_preload_unroller_active(const cycle_preload_unroller *u) { return u->state != UNROLL_IDLE; }

static void note_config(cycle_preload_unroller *u, const cycle_execute_command *command, bool both_dataflows) {
  if (isa_get_config_ex_strides_only(command->rs1, command->rs2) != 0) return;
  bool ws = isa_get_config_ex_dataflow(command->rs1, command->rs2) == ISA_CONFIG_EX_DATAFLOW_WS;
  u->b_transposed =
      u->splits && isa_get_config_ex_b_transpose(command->rs1, command->rs2) != 0 && (ws || !both_dataflows);
}

// The command that goes out; the next state is set, and whether the head is used up.
static cycle_execute_command next_command(cycle_preload_unroller *u, bool *pops) {
  cycle_execute_command out = *cycle_execute_window_head(&u->window, 0);
  const cycle_execute_command *next = cycle_execute_window_head(&u->window, 1);
  *pops = false;
  switch (u->state) {
    case UNROLL_COMPUTE:
      out = (cycle_execute_command){.insn = ISA_COMPUTE_ACCUMULATED, .rs1 = next->rs1, .rs2 = next->rs2, .id = out.id};
      u->state = UNROLL_PRELOAD;
      return out;
    case UNROLL_PRELOAD:
      out.rs1 |= ISA_LOCAL_GARBAGE;
      u->state = UNROLL_IDLE;
      break;
    default:
      if (holds_back(u) && next->insn == ISA_COMPUTE_PRELOADED) {
        out.rs2 |= ISA_LOCAL_GARBAGE;
        out.id_valid = false;
        u->state = UNROLL_COMPUTE;
        return out;
      }
      break;
  }
  *pops = true;
  return out;
}

bool cycle_preload_unroller_step(cycle_preload_unroller *u, uint64_t now, cycle_execute_window *out,
                                 bool both_dataflows) {
  if (u->window.count == 0 || !cycle_execute_window_room(out, now) || cycle_preload_unroller_waiting(u)) return false;
  bool pops;
  cycle_execute_command command = next_command(u, &pops);
  if (command.insn == ISA_CONFIG_EX) note_config(u, &command, both_dataflows);
  if (pops) cycle_execute_window_pop(&u->window, now, 1);
  cycle_execute_window_push(out, now, &command);
  return true;
}
