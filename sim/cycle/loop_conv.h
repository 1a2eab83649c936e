// SPDX-License-Identifier: Apache-2.0
// The convolution loop unit between the command queue and loop_matmul. See loop_conv.c.
#ifndef SIM_CYCLE_LOOP_CONV_H
#define SIM_CYCLE_LOOP_CONV_H

#include "sim/cycle/engine.h"

typedef struct cycle_loop_conv cycle_loop_conv;

SIM_CYCLE_VISIBLE cycle_loop_conv *cycle_loop_conv_create(const cycle_engine *c);
SIM_CYCLE_VISIBLE void cycle_loop_conv_destroy(cycle_loop_conv *l);
// Room in its queue of two commands.
SIM_CYCLE_VISIBLE bool cycle_loop_conv_room(const cycle_loop_conv *l, uint64_t now);
SIM_CYCLE_VISIBLE void cycle_loop_conv_push(cycle_loop_conv *l, uint64_t now, const cycle_front_command *command);
// What it offers in this cycle, from its registers alone.
SIM_CYCLE_VISIBLE bool cycle_loop_conv_offer(const cycle_loop_conv *l, uint64_t now, cycle_front_command *command);
// Its clock edge; `taken`: the offer was taken. True: anything changed. The completions of this cycle are in c->w.
SIM_CYCLE_VISIBLE bool cycle_loop_conv_step(cycle_engine *c, uint64_t now, cycle_loop_conv *l, bool taken);
// Counts the completions of this cycle in place of a step; true if they let the unit offer a command in the next one.
SIM_CYCLE_VISIBLE bool cycle_loop_conv_completed(const cycle_engine *c, cycle_loop_conv *l);
// One command of that class has ended, in place of the completions of c->w.
SIM_CYCLE_VISIBLE void cycle_loop_conv_complete(cycle_loop_conv *l, sim_class unit);
// Offer and step in one, with nothing due and a loop unrolled: what is at the output, if anything is, is taken.
SIM_CYCLE_VISIBLE bool cycle_loop_conv_put_out(cycle_loop_conv *l, uint64_t now, cycle_front_command *command);
SIM_CYCLE_VISIBLE bool cycle_loop_conv_busy(const cycle_loop_conv *l);

// After a step: the earliest cycle in which it offers a command (0: the next one); in the next cycle its step has
// something to do of itself.
SIM_CYCLE_VISIBLE uint64_t cycle_loop_conv_offers_at(const cycle_loop_conv *l);
SIM_CYCLE_VISIBLE bool cycle_loop_conv_due(const cycle_loop_conv *l);
SIM_CYCLE_VISIBLE unsigned cycle_loop_conv_waiting(const cycle_loop_conv *l);  // commands in its queue
SIM_CYCLE_VISIBLE bool cycle_loop_conv_active(const cycle_loop_conv *l);       // it unrolls a loop

#endif
