// SPDX-License-Identifier: Apache-2.0
// The matrix loop unit between the command queue and the unrolled queue. See loop_matmul.c.
#ifndef SIM_CYCLE_LOOP_MATMUL_H
#define SIM_CYCLE_LOOP_MATMUL_H

#include "sim/cycle/engine.h"

typedef struct cycle_loop_matmul cycle_loop_matmul;

SIM_CYCLE_VISIBLE cycle_loop_matmul *cycle_loop_matmul_create(const cycle_engine *c);
SIM_CYCLE_VISIBLE void cycle_loop_matmul_destroy(cycle_loop_matmul *l);
// Room in its queue of two commands.
SIM_CYCLE_VISIBLE bool cycle_loop_matmul_room(const cycle_loop_matmul *l, uint64_t now);
SIM_CYCLE_VISIBLE void cycle_loop_matmul_push(cycle_loop_matmul *l, uint64_t now, const cycle_front_command *command);
// What it offers in this cycle, from its registers alone.
SIM_CYCLE_VISIBLE bool cycle_loop_matmul_offer(const cycle_loop_matmul *l, uint64_t now, cycle_front_command *command);
// Its clock edge; `taken`: the offer was taken. True: anything changed. The completions of this cycle are in c->w.
SIM_CYCLE_VISIBLE bool cycle_loop_matmul_step(cycle_engine *c, uint64_t now, cycle_loop_matmul *l, bool taken);
// Counts the completions of this cycle in place of a step; true if they let the unit offer a command in the next one.
SIM_CYCLE_VISIBLE bool cycle_loop_matmul_completed(const cycle_engine *c, cycle_loop_matmul *l);
// One command of that class has ended, in place of the completions of c->w.
SIM_CYCLE_VISIBLE void cycle_loop_matmul_complete(cycle_loop_matmul *l, sim_class unit);
SIM_CYCLE_VISIBLE bool cycle_loop_matmul_busy(const cycle_loop_matmul *l);

// After a step, of the next cycle: it offers a command; its step has something to do of itself.
SIM_CYCLE_VISIBLE bool cycle_loop_matmul_offers(const cycle_loop_matmul *l);
SIM_CYCLE_VISIBLE bool cycle_loop_matmul_due(const cycle_loop_matmul *l);
SIM_CYCLE_VISIBLE unsigned cycle_loop_matmul_waiting(const cycle_loop_matmul *l);  // commands in its queue
SIM_CYCLE_VISIBLE bool cycle_loop_matmul_active(const cycle_loop_matmul *l);       // it unrolls a loop

#endif
