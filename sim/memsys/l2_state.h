// SPDX-License-Identifier: Apache-2.0
// What the L2 consists of: shared by l2.c (entrance, cycles), l2_registers.c, l2_data.c (data pipe and banks) and
// l2_port.c. Private to them.
#ifndef SIM_MEMSYS_L2_STATE_H
#define SIM_MEMSYS_L2_STATE_H

#include "base/number.h"
#include "sim/memsys/l2.h"
#include "sim/memsys/l2_tags.h"

#define NEVER UINT64_MAX

enum {
  REGISTERS = 64,
  NEARBY = 64,  // cycles, as many as bits in a word
  ITEMS = 4096,
  POLL = 0,  // the item of the front end's polls
  TRANSFERS = 256,
  RECENT = 256,
  BANKS = 4,         // of the data, as wide as a beat
  WRITE_CYCLES = 3,  // a beat is written behind its place in the data pipe
  NONE = UINT16_MAX,
  ENTER_CYCLES = 1,    // from the port
  LOOK_CYCLES = 2,     // from reading the tags to the first step
  PERMIT_CYCLES = 3,   // from asking for a line without data to having it
  RELEASE_CYCLES = 5,  // until a clean victim is taken note of, at least
  LEAVE_CYCLES = 3,    // until one counts among those on their way
  DEPARTURES = 4,      // on their way: no other victim leaves
  QUEUE_BEATS = 6,     // on the way from the port
  SPARE_BEATS = 8,     // that find room behind the data pipe while the port takes nothing
};

// The part of a request that lies in one line. It keeps its place in the pool from the port to the last step.
typedef struct l2_item {
  uint64_t number;  // of the line
  uint64_t entered;
  uint64_t order, late;
  uint16_t id;
  uint16_t beats;   // in this line
  uint16_t total;   // of the answer
  uint16_t offset;  // in the line
  uint16_t next;    // behind it on the way from the port, or at the same register
  bool write, whole;
  bool partial;  // a write that keeps some bytes: its beats are read first
  bool host;     // a line of the host's caches, fetched or written back
  bool parted;   // the request lies in several lines: the last part that is served gives the answer
} l2_item;

// Items one behind the other; head NONE: the list is empty.
typedef struct l2_items {
  uint16_t head, tail;
} l2_items;

typedef struct l2_station {
  l2_line *line;
  uint64_t victim;
  uint64_t last;       // cycle of the line's last word; NEVER: not known yet
  uint64_t released;   // the victim is; 0: there is none; NEVER: not known yet
  uint64_t done_from;  // of a line that arrives: the first cycle in which the register can be done; NEVER: likewise
  uint64_t wake;       // it is looked at again, of `far`
  uint16_t work;       // place in the pool
  l2_items waiting;    // for the set
  bool dirty_victim;
} l2_station;

// Lines that memory's side moves in or out, one after the other: word k in start + k, for `line_cycles`. By time.
typedef struct l2_transfers {
  uint64_t start[TRANSFERS];
  uint32_t head, end;
} l2_transfers;

typedef enum { MOVE_IN, MOVE_OUT, MOVES } l2_move;

// A clean victim that is not taken note of yet.
typedef struct l2_departure {
  uint64_t left;
  uint16_t index;  // the register
} l2_departure;

// A beat that is written.
typedef struct l2_written {
  uint64_t cycle;
  unsigned bank;
} l2_written;

struct memsys_l2 {
  l2_tags tags;
  memsys_backing *memory;
  memsys_answers *answers;
  memsys_counts *counts;
  unsigned bus_shift, bank_shift, line_bytes;  // bank: words that follow each other in one, as a power of two
  uint64_t poll_cycles, poll_at;
  uint64_t tail, spacing, line_cycles;
  uint64_t soonest, decided_soonest;  // memory brings the first word of a line: after it was asked; after a decision
  uint64_t now;                       // the first cycle that was not carried out
  uint64_t decided;                   // memory's decisions were looked at in this one
  // Registers, as masks. Of those used each is asleep or awake: awake ones want a turn, and take it as soon as the
  // pipes that they need are free.
  uint64_t all, used;
  uint64_t awake;
  uint64_t needs_pipe, needs_tags;  // what the next turn needs: the data pipe, a write of the tags
  // The next turn of those in none of these answers a hit, and is the last one.
  uint64_t evictions, asks, arriving;  // it evicts; asks memory; the line was asked for
  uint64_t unanswered;                 // of `arriving`
  uint64_t held;                       // of `arriving`: asleep until memory decides on the victim
  // Those asleep are looked at again in a cycle near by, or far away, or when memory has decided.
  uint64_t marked;                  // coming cycle n at bit n % NEARBY: a register is looked at in it
  uint64_t nearby[NEARBY];          // who
  uint64_t far;                     // who else
  uint64_t first_far;               // none of `far` before
  uint64_t answer_from[REGISTERS];  // no answer before
  uint64_t free_from[REGISTERS];    // not free before, as far as memory has decided; NEVER: it has not
  uint16_t *owner;                  // by set: the register that works for it + 1
  unsigned last_chosen;
  l2_station stations[REGISTERS];
  // pipes
  l2_transfers moved[MOVES];
  l2_written written[RECENT];  // by cycle
  uint64_t written_until;      // the last of them
  uint64_t data_free, evict_free;
  uint64_t waiting_beats, beat_limit;  // between data pipe and port
  uint64_t room_from;                  // there
  bool tags_full;                      // the queue of writes
  l2_departure departures[REGISTERS];  // a ring, by time
  uint32_t first_departure, departure_count;
  uint64_t departs_at;  // the first of them is looked at
  // requests
  l2_item *pool;
  uint16_t pool_free;
  l2_items queue;         // on the way from the port
  uint64_t head_entered;  // the head of it; NEVER: there is none
  uint32_t queue_beats;
  uint16_t parts[ITEMS];  // of a request that lies in several lines, by its order: not served yet
  uint64_t enter_from;
  uint64_t gate;  // nothing enters before; NEVER: nothing wants to, or can before a register is free
};

static inline uint64_t l2_bit(uint64_t index) { return UINT64_C(1) << index; }

// Answers that the port took make room behind the data pipe.
void l2_data_drain(memsys_l2 *l2);
// From when on the data pipe takes an answer; NEVER: that is not known before the port takes one.
static inline uint64_t l2_data_from(memsys_l2 *l2) {
  if (l2->waiting_beats >= l2->beat_limit) l2_data_drain(l2);
  return wf_max(l2->data_free, l2->room_from);
}
// What memory decides up to and including `cycle` is taken note of. That has time until the first word of such a line
// can come, unless something happens in `cycle` that memory or the banks of the data see. Once for a cycle, before
// that: what memory can decide on because of it, it decides in the next cycle.
void l2_take_note(memsys_l2 *l2, uint64_t cycle);
static inline void l2_decide(memsys_l2 *l2, uint64_t cycle) {
  l2->decided = cycle;
  if (memsys_backing_next(l2->memory) <= cycle) l2_take_note(l2, cycle);
}
static inline uint64_t l2_decisions_from(const memsys_l2 *l2) {
  const uint64_t decision = memsys_backing_next(l2->memory);
  return decision == NEVER ? NEVER : decision + l2->decided_soonest;
}
// When a register may evict, from `from` on; NEVER: only after memory's side has taken note of a clean victim.
static inline uint64_t l2_evicts_from(const memsys_l2 *l2, uint64_t from) {
  from = wf_max(from, l2->evict_free);
  if (l2->departure_count < DEPARTURES) return from;
  const l2_departure *last = &l2->departures[(l2->first_departure + DEPARTURES - 1) % REGISTERS];
  return from < last->left + LEAVE_CYCLES ? from : NEVER;
}
// The first clean victim on its way is taken note of in `cycle`, unless memory brings a word.
void l2_see_off(memsys_l2 *l2, uint64_t cycle);
// A free register; there is one.
unsigned l2_take_register(memsys_l2 *l2);
// It works on a request. The tags are read, or known because it served the same line before.
void l2_take_up(memsys_l2 *l2, unsigned index, uint16_t place, uint64_t cycle, bool same);
// A poll that hits: it takes a register and its turns, but no set.
void l2_poll(memsys_l2 *l2, uint64_t cycle);
// A request that waits behind a register that has answered has its turn when that register is done.
void l2_set_follower(memsys_l2 *l2, unsigned index);
// A line arrives at a register: its first word came, or the last one, or it has nothing more to wait for.
void l2_look_at_arriving(memsys_l2 *l2, unsigned index, uint64_t cycle);
// The register takes the turn of `cycle`. True: its work is done.
bool l2_step(memsys_l2 *l2, unsigned index, uint64_t cycle);
// An answer enters the data pipe in `cycle`; `given`: the port or the host gets it. Returns the cycle of its last beat
// there.
uint64_t l2_answer(memsys_l2 *l2, const l2_item *work, bool given, uint64_t cycle);
// Memory's side moves a line, from `start` on.
void l2_move_words(memsys_l2 *l2, l2_move direction, uint64_t start);
// A line leaves from `cycle` on: beats on their way to the banks wait while it is in theirs, and the pipe with them.
void l2_hold_up(memsys_l2 *l2, uint64_t cycle);
// Memory brings a word in `cycle`: the cycle behind the last word of its line; 0: it brings none.
uint64_t l2_words_until(memsys_l2 *l2, uint64_t cycle);
// Whether it moves one in `cycle` or later.
bool l2_moves(memsys_l2 *l2, uint64_t cycle);

static inline void l2_append(memsys_l2 *l2, l2_items *queue, uint16_t place) {
  l2->pool[place].next = NONE;
  if (queue->head == NONE)
    queue->head = place;
  else
    l2->pool[queue->tail].next = place;
  queue->tail = place;
}

// When something can enter, after what waits or who is free changed. Without a register the head waits until one is
// free, unless a register works for its set.
static inline void l2_set_gate(memsys_l2 *l2) {
  uint64_t from = l2->head_entered;
  if (l2->used != l2->all)
    from = l2->poll_at < from ? l2->poll_at : from;
  else if (from != NEVER && l2->owner[l2_set_of(&l2->tags, l2->pool[l2->queue.head].number)] == 0)
    from = NEVER;
  l2->gate = wf_max(from, l2->enter_from);
}

#endif
