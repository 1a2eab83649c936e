// SPDX-License-Identifier: Apache-2.0
// Hart and array at one time: commands from a list in memory, parts of calls, fences, in the order of a list of turns.
// The funct of a command is a part of the instruction, so there is a pair of instructions for each of the 128: the
// command, and the way back.
#include "private.h"

// ---- parts of calls

static void move_to(struct weft_host_call *call, unsigned dim, int64_t point, int64_t points) {
  call->dim[dim] = points;
  if (point == 0) return;
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++)
    call->operand[o].data = (char *)call->operand[o].data + point * call->operand[o].step[dim];
}

void host_take_part(struct weft_host_call *call, const struct weft_host_turn *part) {
  for (unsigned d = 0; d < part->dim; d++) move_to(call, d, part->at[d], 1);
  move_to(call, part->dim, part->at[part->dim], part->count);
}

#ifdef __riscv
#include "weft/port.h"

// What a part changes of a call.
struct whole {
  int64_t dim[WEFT_HOST_TURN_DIMS];
  void *data[WEFT_HOST_OPERANDS];
};

static void keep(struct whole *whole, const struct weft_host_call *call, unsigned dim) {
  for (unsigned d = 0; d <= dim; d++) whole->dim[d] = call->dim[d];
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) whole->data[o] = call->operand[o].data;
}

static void make_whole(struct weft_host_call *call, const struct whole *whole, unsigned dim) {
  for (unsigned d = 0; d <= dim; d++) call->dim[d] = whole->dim[d];
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) call->operand[o].data = whole->data[o];
}

// The calls become the part for as long as it takes: to copy them would take longer.
static enum weft_host_status run_part(struct weft_host_call *calls, const struct weft_host_turn *turn) {
  const size_t count = calls->chain == 0 ? 1 : calls->chain;
  if (turn->count == 0) return weft_host_run_all(calls, count);
  struct whole whole[WEFT_HOST_CHAIN];
  for (size_t c = 0; c < count; c++) {
    keep(&whole[c], &calls[c], turn->dim);
    host_take_part(&calls[c], turn);
  }
  const enum weft_host_status status = weft_host_run_all(calls, count);
  for (size_t c = 0; c < count; c++) make_whole(&calls[c], &whole[c], turn->dim);
  return status;
}

// ---- commands

enum { FUNCTS = 128, PAIR_BYTES = 8 };

__asm__(
    ".text\n"
    ".option push\n"
    ".option norvc\n"
    ".balign 8\n"
    "host_command_pairs:\n"
    ".set host_command_funct, 0\n"
    ".rept 128\n"
    ".insn r 0x7b, 0x3, host_command_funct, x0, a0, a1\n"
    "ret\n"
    ".set host_command_funct, host_command_funct + 1\n"
    ".endr\n"
    ".option pop\n");
extern const char host_command_pairs[];

static void give_commands(const struct weft_host_command *commands, size_t count) {
  typedef void pair(uint64_t rs1, uint64_t rs2);
  for (size_t i = 0; i < count; i++) {
    const char *at = host_command_pairs + commands[i].funct % FUNCTS * PAIR_BYTES;
    ((pair *)(uintptr_t)at)(commands[i].rs1, commands[i].rs2);
  }
}

static enum weft_host_status run_turn(struct weft_host_call *calls, const struct weft_host_turn *turn) {
  const struct weft_host_command *commands = calls->operand[2].data;
  switch ((enum weft_host_turn_kind)turn->kind) {
    case WEFT_HOST_TURN_COMMANDS:
      give_commands(commands + turn->first, turn->count);
      return WEFT_HOST_OK;
    case WEFT_HOST_TURN_CALLS:
      return run_part(calls + 1 + turn->first, turn);
    case WEFT_HOST_TURN_FENCE:
      weft_fence();
      return WEFT_HOST_OK;
  }
  return WEFT_HOST_NO_SUCH_OP;
}

enum weft_host_status host_turns_run(struct weft_host_call *calls) {
  const struct weft_host_turn *turns = calls->operand[1].data;
  enum weft_host_status status = WEFT_HOST_OK;
  for (int64_t t = 0; t < calls->integer[0] && status == WEFT_HOST_OK; t++) status = run_turn(calls, &turns[t]);
  return status;
}

#else

enum weft_host_status host_turns_run(struct weft_host_call *calls) {
  (void)calls;
  return WEFT_HOST_NO_SUCH_OP;
}

#endif
