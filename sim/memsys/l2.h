// SPDX-License-Identifier: Apache-2.0
// The shared L2: one bank of an inclusive cache, set-associative, write-back, write-allocate, after SiFive's.
//
// A request enters in the cycle after the port took it, one per cycle, in order. It takes the free miss register with
// the lowest number and reads the tags; if a register works for its set already, it waits behind that one, in order. A
// register is scheduled in steps, one register per cycle, round robin from the one behind the last:
//   hit       2 cycles after the tags were read (1 after the register served the same line): answer, register free
//   miss      as soon: evict a valid victim (one dirty victim at a time, its words go to memory); then ask memory; one
//             cycle after the first word came: acknowledge, and answer if the request starts with the line; one cycle
//             after the last word and after the victim's write: answer, if that is still to be done, register free
//   whole line written   nothing is fetched: the permission comes 3 cycles after it was asked for
// Answers share one data pipe, a beat per cycle: a register that wants to answer waits until the last beat before is in
// the pipe, and while too many beats wait for the port. Beats of a line that is arriving follow its words. Words that
// memory brings or takes go first in the banks of the data: beats that are read or written there wait, also those that
// are in the pipe to be written when a victim begins to leave.
// The tags have one port; reads go first. A write (clean line written, miss, victim) waits in a queue of one, and a
// register that needs it while it is full waits too.
// Memory's side takes note of a clean victim five cycles after it left at the earliest, one per cycle, and only in a
// cycle in which it brings no word. While four of them are on their way no register can evict.
// A poll of the front end is a request that hits, in order behind earlier requests.
// The victim is drawn by a shift register of 16 bits that moves with every read of the tags, even if ways are empty.
// A register that becomes free takes the next waiting request of its set in the same cycle.
#ifndef SIM_MEMSYS_L2_H
#define SIM_MEMSYS_L2_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"
#include "sim/memsys/answers.h"
#include "sim/memsys/backing.h"
#include "sim/memsys/memsys.h"

typedef struct memsys_l2 memsys_l2;

// Answers and counts are written to; all three are borrowed.
memsys_l2 *memsys_l2_create(const hw_array *array, memsys_backing *memory, memsys_answers *answers,
                            memsys_counts *counts);
void memsys_l2_destroy(memsys_l2 *l2);

// Carries out all cycles before `cycle` (no further than needed). Requests of those cycles were given.
void memsys_l2_run(memsys_l2 *l2, uint64_t cycle);
// After memsys_l2_run: is there room for a burst on the way to the L2; if not, a cycle before which there is none.
bool memsys_l2_room(const memsys_l2 *l2);
uint64_t memsys_l2_next_room(memsys_l2 *l2);
// A request whose first beat the port took in `cycle`. `late`: cycles by which its answer is put off.
void memsys_l2_send(memsys_l2 *l2, uint64_t cycle, const memsys_request *request, bool write, uint64_t order,
                    uint64_t late);
// A cycle before which no answer enters the data pipe that was not given yet; UINT64_MAX: none will come.
uint64_t memsys_l2_next_data(memsys_l2 *l2);
// A cycle before which no answer is shown that was not given yet; UINT64_MAX: none will come.
uint64_t memsys_l2_next_answer(memsys_l2 *l2);
// Of a request that was sent in `cycle`: a cycle before which it has no answer.
uint64_t memsys_l2_next_own(const memsys_l2 *l2, uint64_t cycle);
// One line for the host, asked for or written back in `cycle`. It goes the way of the port's requests, behind those
// that were sent before.
void memsys_l2_host(memsys_l2 *l2, uint64_t cycle, uint64_t address, bool write);

#endif
