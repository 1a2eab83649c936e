// Between the command queue and the reservation station: what front_end and the loop units share.
//
//   command queue (2) -> loop_conv -> loop_matmul -> unrolled queue (2) -> reservation station, counters, flush
//
// In a step of the front end, after the station's: the unrolled queue's head leaves; loop_matmul's offer enters the
// unrolled queue; loop_matmul is stepped; loop_conv's offer enters loop_matmul's queue; loop_conv is stepped; the
// command queue's head enters loop_conv's queue. A unit that the array lacks is left out of the chain.
#ifndef SIM_CYCLE_FRONT_END_H
#define SIM_CYCLE_FRONT_END_H

#include "sim/cycle/weft_accel.h"

typedef struct cycle_front_command {
  uint64_t rs1, rs2;
  uint8_t funct;
  bool returns;
  bool from_matmul, from_conv;
} cycle_front_command;

typedef struct cycle_loop_matmul cycle_loop_matmul;
typedef struct cycle_loop_conv cycle_loop_conv;

// Each loop unit: room in its two-entry queue, what it offers in this cycle (from registers alone), and its clock edge:
// `taken` tells that the offer was taken. step returns whether anything changed; the completions of this cycle are in
// c->w.
cycle_loop_matmul *cycle_loop_matmul_create(cycle_engine *c);
void cycle_loop_matmul_destroy(cycle_loop_matmul *l);
bool cycle_loop_matmul_room(const cycle_loop_matmul *l, uint64_t now);
void cycle_loop_matmul_push(cycle_loop_matmul *l, uint64_t now, const cycle_front_command *command);
bool cycle_loop_matmul_offer(const cycle_loop_matmul *l, uint64_t now, cycle_front_command *command);
bool cycle_loop_matmul_step(cycle_engine *c, uint64_t now, cycle_loop_matmul *l, bool taken);
// Counts the completions of this cycle in place of a step; true if they let the unit offer a command in the next one.
bool cycle_loop_matmul_completed(const cycle_engine *c, cycle_loop_matmul *l);
bool cycle_loop_matmul_busy(const cycle_loop_matmul *l);
// After a step, of the next cycle: whether it offers a command; whether its step has something to do of itself; whether
// in the next two cycles no loop command leaves its queue.
bool cycle_loop_matmul_offers(const cycle_loop_matmul *l);
bool cycle_loop_matmul_due(const cycle_loop_matmul *l);
bool cycle_loop_matmul_steady(const cycle_loop_matmul *l);
unsigned cycle_loop_matmul_waiting(const cycle_loop_matmul *l);             // commands in its queue
bool cycle_loop_matmul_active(const cycle_loop_matmul *l);                  // it unrolls a loop
bool cycle_loop_matmul_unrolls(const cycle_loop_matmul *l, uint8_t funct);  // the command is for this unit

cycle_loop_conv *cycle_loop_conv_create(cycle_engine *c);
void cycle_loop_conv_destroy(cycle_loop_conv *l);
bool cycle_loop_conv_room(const cycle_loop_conv *l, uint64_t now);
void cycle_loop_conv_push(cycle_loop_conv *l, uint64_t now, const cycle_front_command *command);
bool cycle_loop_conv_offer(const cycle_loop_conv *l, uint64_t now, cycle_front_command *command);
bool cycle_loop_conv_step(cycle_engine *c, uint64_t now, cycle_loop_conv *l, bool taken);
// Counts the completions of this cycle in place of a step; true if they let the unit offer a command in the next one.
bool cycle_loop_conv_completed(const cycle_engine *c, cycle_loop_conv *l);
bool cycle_loop_conv_busy(const cycle_loop_conv *l);
// As those of loop_matmul; the first cycle in which it offers a command (0: in the next one).
uint64_t cycle_loop_conv_offers_at(const cycle_loop_conv *l);
bool cycle_loop_conv_due(const cycle_loop_conv *l);
bool cycle_loop_conv_steady(const cycle_loop_conv *l);  // it is active, too
unsigned cycle_loop_conv_waiting(const cycle_loop_conv *l);
bool cycle_loop_conv_active(const cycle_loop_conv *l);
bool cycle_loop_conv_unrolls(uint8_t funct);

#endif
