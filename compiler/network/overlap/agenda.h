// SPDX-License-Identifier: Apache-2.0
// The order in which the hart of a slot gives commands and computes.
#ifndef COMPILER_NETWORK_OVERLAP_AGENDA_H
#define COMPILER_NETWORK_OVERLAP_AGENDA_H

#include "compiler/network/network.h"

// A command whose operands may be places in memory: rs1 and rs2 count from there.
typedef struct network_slot_command {
  uint8_t funct;
  uint64_t rs1, rs2;
  network_place place_rs1, place_rs2;  // buffer -1: none
} network_slot_command;

typedef struct network_agenda {
  network_call *calls;  // that of TURNS, and those of the hart's steps behind it
  int call_count;
  struct weft_host_turn *turns;
  int turn_count;
  network_slot_command *commands;
  int command_count;
} network_agenda;

// The agenda of a slot: `steps` are its parts, `cycles` what each takes by itself. Where the lists of turns and
// commands lie is the caller's. Fences stand between steps of the array and at the end.
network_agenda network_make_agenda(const network *net, const network_step *const *steps, const uint64_t *cycles,
                                   int count);

#endif
