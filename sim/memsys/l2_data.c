// The L2's data pipe and the banks behind it: see l2.h for the rules.
#include <assert.h>

#include "sim/memsys/l2_state.h"

uint64_t l2_data_drain(memsys_l2 *l2) {
  memsys_answers *a = l2->answers;
  while (l2->waiting_beats >= l2->beat_limit) {
    const memsys_answer *oldest = memsys_answer_at(a, a->drained);
    if (a->drained == a->end || oldest->taken == NEVER) return NEVER;
    l2->data_free = l2_later(l2->data_free, oldest->taken + 1);
    l2->waiting_beats -= oldest->beats;
    a->drained++;
  }
  return l2->data_free;
}

// ---- banks

bool l2_moves(memsys_l2 *l2, uint64_t cycle) {
  while (l2->transfer_head != l2->transfer_end && l2->transfers[l2->transfer_head % TRANSFERS].end <= cycle)
    l2->transfer_head++;
  return l2->transfer_head != l2->transfer_end;
}

void l2_move_words(memsys_l2 *l2, uint64_t start) {
  l2_moves(l2, l2->now);
  assert(l2->transfer_end - l2->transfer_head < TRANSFERS);
  l2->transfers[l2->transfer_end++ % TRANSFERS] = (transfer){start, start + l2->line_cycles};
}

static bool moves_in_bank(const memsys_l2 *l2, uint64_t cycle, unsigned bank) {
  for (uint32_t i = l2->transfer_head; i != l2->transfer_end; i++) {
    const transfer *t = &l2->transfers[i % TRANSFERS];
    if (cycle >= t->start && cycle < t->end && ((cycle - t->start) >> l2->bank_shift) % BANKS == bank) return true;
  }
  return false;
}

// Beats of a burst that enters the data pipe in `cycle`: each waits while memory's side is in its bank.
typedef struct passage {
  uint64_t first, last;
} passage;

static bool written_in_bank(const memsys_l2 *l2, uint64_t cycle, unsigned bank) {
  const written *w = &l2->written[cycle % RECENT];
  return w->cycle == cycle && w->bank == bank;
}

// Memory's side is in no bank up to `last`.
static bool still(const memsys_l2 *l2, uint64_t last) {
  for (uint32_t i = l2->transfer_head; i != l2->transfer_end; i++)
    if (l2->transfers[i % TRANSFERS].start <= last) return false;
  return true;
}

static passage pass(memsys_l2 *l2, const item *w, uint64_t cycle) {
  passage passed = {cycle, cycle + w->beats - 1U};
  if (!w->write && l2->written_until < cycle && (!l2_moves(l2, cycle) || still(l2, passed.last))) return passed;
  uint64_t at = cycle;
  for (unsigned i = 0; i < w->beats; i++, at++) {
    unsigned bank = ((w->offset >> l2->bus_shift) + i) % BANKS;
    if (w->write) {
      while (moves_in_bank(l2, at + WRITE_CYCLES, bank)) at++;
      l2->written_until = at + WRITE_CYCLES;
      l2->written[l2->written_until % RECENT] = (written){l2->written_until, bank};
    } else {
      while (moves_in_bank(l2, at, bank) || written_in_bank(l2, at, bank)) at++;
    }
    if (i == 0) passed.first = at;
    passed.last = at;
  }
  return passed;
}

void l2_answer(memsys_l2 *l2, station *s, uint64_t cycle) {
  const item *w = &s->work;
  s->todo &= (uint8_t)~ANSWER;
  passage passed = pass(l2, w, cycle);
  l2->data_free = passed.last + 1;
  if (w->poll) {
    l2->poll_at = passed.last + l2->tail + l2->poll_cycles;
    return;
  }
  if (w->parted && --l2->parts[w->order % ITEMS] != 0) return;
  unsigned total = w->write ? 1 : w->total;
  uint64_t length = w->write || w->parted ? 0 : passed.last - passed.first, steps = length == 0 ? 0 : w->beats - 1U;
  // Beats as fast as memory brings them, or else one after the other up to the last.
  bool paced = length == steps * l2->spacing;
  uint64_t first = l2->tail + (paced ? passed.first : passed.first + length - steps);
  memsys_answer given = {.shown = first,
                         .ready = first,
                         .spacing = paced ? l2->spacing : 1,
                         .order = w->order,
                         .id = w->id,
                         .beats = total,
                         .write = w->write};
  l2->waiting_beats += given.beats;
  memsys_answers_add(l2->answers, &given);
}
