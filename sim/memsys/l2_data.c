// SPDX-License-Identifier: Apache-2.0
// The L2's data pipe and the banks behind it: see l2.h for the rules.
#include <assert.h>

#include "sim/memsys/l2_state.h"

void l2_data_drain(memsys_l2 *l2) {
  memsys_answers *a = l2->answers;
  while (l2->waiting_beats >= l2->beat_limit) {
    const memsys_answer *oldest = memsys_answer_at(a, a->drained);
    l2->room_from = NEVER;
    if (a->drained == a->end || oldest->taken == NEVER) return;
    l2->room_from = oldest->taken + 1;
    l2->waiting_beats -= oldest->beats;
    a->drained++;
  }
}

// ---- banks

static uint64_t first_of(const l2_transfers *t) { return t->head == t->end ? NEVER : t->start[t->head % TRANSFERS]; }

static void forget(l2_transfers *t, uint64_t line_cycles, uint64_t cycle) {
  while (t->head != t->end && t->start[t->head % TRANSFERS] + line_cycles <= cycle) t->head++;
}

bool l2_moves(memsys_l2 *l2, uint64_t cycle) {
  bool any = false;
  for (unsigned n = 0; n < MOVES; n++) {
    forget(&l2->moved[n], l2->line_cycles, cycle);
    any |= l2->moved[n].head != l2->moved[n].end;
  }
  return any;
}

uint64_t l2_words_until(memsys_l2 *l2, uint64_t cycle) {
  l2_transfers *t = &l2->moved[MOVE_IN];
  forget(t, l2->line_cycles, cycle);
  const uint64_t start = first_of(t);
  return start <= cycle ? start + l2->line_cycles : 0;
}

void l2_move_words(memsys_l2 *l2, l2_move direction, uint64_t start) {
  l2_transfers *t = &l2->moved[direction];
  forget(t, l2->line_cycles, l2->now);
  assert(t->end - t->head < TRANSFERS && (t->head == t->end || t->start[(t->end - 1) % TRANSFERS] <= start));
  t->start[t->end++ % TRANSFERS] = start;
}

// The line that memory's side moves, as cycles go on.
typedef struct mover {
  uint64_t start;  // NEVER: none
  uint32_t next;   // behind it
} mover;

static mover mover_of(const l2_transfers *t) { return (mover){first_of(t), t->head + 1}; }

static bool moves_in_bank(const memsys_l2 *l2, l2_move direction, mover *m, uint64_t cycle, unsigned bank) {
  const l2_transfers *t = &l2->moved[direction];
  while (m->start <= cycle) {
    const uint64_t word = cycle - m->start;
    if (word < l2->line_cycles) return (word >> l2->bank_shift) % BANKS == bank;
    m->start = (int32_t)(t->end - m->next) > 0 ? t->start[m->next % TRANSFERS] : NEVER;
    m->next++;
  }
  return false;
}

// Takes the beats that are written from `cycle` on out of the record, in their order; returns how many.
static unsigned take_unwritten(memsys_l2 *l2, uint64_t cycle, l2_written *beats) {
  unsigned count = 0;
  for (uint64_t at = cycle; at <= l2->written_until; at++) {
    l2_written *w = &l2->written[at % RECENT];
    if (w->cycle != at) continue;
    beats[count++] = *w;
    w->cycle = NEVER;
  }
  return count;
}

void l2_hold_up(memsys_l2 *l2, uint64_t cycle) {
  const uint64_t last = l2->written_until;
  if (last < cycle || last - cycle >= RECENT) return;
  l2_written beats[RECENT];
  const unsigned count = take_unwritten(l2, cycle, beats);
  mover in = mover_of(&l2->moved[MOVE_IN]), out = mover_of(&l2->moved[MOVE_OUT]);
  uint64_t at = cycle;
  for (unsigned i = 0; i < count; i++, at++) {
    const unsigned bank = beats[i].bank;
    at = wf_max(at, beats[i].cycle);
    while (moves_in_bank(l2, MOVE_IN, &in, at, bank) || moves_in_bank(l2, MOVE_OUT, &out, at, bank)) at++;
    l2->written[at % RECENT] = (l2_written){at, bank};
  }
  l2->written_until = at - 1;
  const bool behind_all = l2->data_free + WRITE_CYCLES == last + 1;
  if (behind_all) l2->data_free += l2->written_until - last;
}

static bool written_in_bank(const memsys_l2 *l2, uint64_t cycle, unsigned bank) {
  const l2_written *w = &l2->written[cycle % RECENT];
  return w->cycle == cycle && w->bank == bank;
}

// Beats of a burst that enters the data pipe in `cycle`: each waits while memory's side is in its bank.
typedef struct passage {
  uint64_t first, last;
} passage;

static passage pass_banks(memsys_l2 *l2, const l2_item *w, uint64_t cycle) {
  passage passed = {cycle, cycle};
  mover in = mover_of(&l2->moved[MOVE_IN]), out = mover_of(&l2->moved[MOVE_OUT]);
  const unsigned first = w->offset >> l2->bus_shift, behind = w->write ? WRITE_CYCLES : 0;
  const bool reads = !w->write || w->partial;
  mover in_read = in, out_read = out;
  uint64_t at = cycle;
  for (unsigned i = 0; i < w->beats; i++, at++) {
    const unsigned bank = (first + i) % BANKS;
    while (moves_in_bank(l2, MOVE_IN, &in, at + behind, bank) || moves_in_bank(l2, MOVE_OUT, &out, at + behind, bank) ||
           (reads && (written_in_bank(l2, at, bank) || moves_in_bank(l2, MOVE_IN, &in_read, at, bank) ||
                      moves_in_bank(l2, MOVE_OUT, &out_read, at, bank))))
      at++;
    if (w->write) l2->written[(at + behind) % RECENT] = (l2_written){at + behind, bank};
    if (i == 0) passed.first = at;
    passed.last = at;
  }
  if (w->write) l2->written_until = passed.last + behind;
  return passed;
}

// Memory's side is in no bank from `cycle` up to `last`.
static bool still(memsys_l2 *l2, uint64_t cycle, uint64_t last) {
  return !l2_moves(l2, cycle) || (first_of(&l2->moved[MOVE_IN]) > last && first_of(&l2->moved[MOVE_OUT]) > last);
}

uint64_t l2_answer(memsys_l2 *l2, const l2_item *w, bool given, uint64_t cycle) {
  passage passed = {cycle, cycle + w->beats - 1U};
  if (w->write || l2->written_until >= cycle || !still(l2, cycle, passed.last)) passed = pass_banks(l2, w, cycle);
  l2->data_free = passed.last + 1;
  if (!given || (w->parted && --l2->parts[w->order % ITEMS] != 0)) return passed.last;
  const uint64_t length = w->write || w->parted ? 0 : passed.last - passed.first,
                 steps = length == 0 ? 0 : w->beats - 1U;
  // Beats as fast as memory brings them, or else one after the other up to the last.
  const bool paced = length == steps * l2->spacing;
  memsys_answer *answer = memsys_answers_add(l2->answers);
  answer->shown = answer->ready = l2->tail + (paced ? passed.first : passed.first + length - steps);
  answer->spacing = paced ? l2->spacing : 1;
  answer->order = w->order;
  answer->id = w->id;
  answer->beats = w->write ? 1 : w->total;
  answer->write = w->write;
  answer->host = w->host;
  l2->waiting_beats += answer->beats;
  memsys_answers_pass_host(l2->answers, NEVER);
  return passed.last;
}
