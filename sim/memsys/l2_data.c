// The L2's data pipe and the banks behind it: see l2.h for the rules.
#include <assert.h>

#include "sim/memsys/l2_state.h"

enum {
  WINDOW = 32,  // cycles that are looked up at once
  MOVING = 4,   // lines in them, in either direction
};

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

static uint64_t first_of(const transfers *t) { return t->head == t->end ? NEVER : t->start[t->head % TRANSFERS]; }

static void forget(transfers *t, uint64_t line_cycles, uint64_t cycle) {
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

void l2_move_words(memsys_l2 *l2, move direction, uint64_t start) {
  transfers *t = &l2->moved[direction];
  forget(t, l2->line_cycles, l2->now);
  assert(t->end - t->head < TRANSFERS && (t->head == t->end || t->start[(t->end - 1) % TRANSFERS] <= start));
  t->start[t->end++ % TRANSFERS] = start;
}

// What memory's side moves in the cycles before `until`, from when on it was looked up.
typedef struct moving {
  uint64_t until;
  unsigned count;
  uint64_t start[MOVES * MOVING];
} moving;

static void look_up(const memsys_l2 *l2, moving *m, uint64_t cycle) {
  m->until = cycle + WINDOW;
  m->count = 0;
  for (unsigned n = 0; n < MOVES; n++) {
    const transfers *t = &l2->moved[n];
    const unsigned most = m->count + MOVING;
    for (uint32_t i = t->head; i != t->end && t->start[i % TRANSFERS] < m->until; i++) {
      if (t->start[i % TRANSFERS] + l2->line_cycles <= cycle) continue;
      if (m->count == most)
        m->until = t->start[i % TRANSFERS];
      else
        m->start[m->count++] = t->start[i % TRANSFERS];
    }
  }
  assert(m->until > cycle);
}

static bool moves_in_bank(const memsys_l2 *l2, moving *m, uint64_t cycle, unsigned bank) {
  if (cycle >= m->until) look_up(l2, m, cycle);
  for (unsigned i = 0; i < m->count; i++) {
    const uint64_t word = cycle - m->start[i];
    if (word < l2->line_cycles && (word >> l2->bank_shift) % BANKS == bank) return true;
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
  return first_of(&l2->moved[MOVE_IN]) > last && first_of(&l2->moved[MOVE_OUT]) > last;
}

static passage pass(memsys_l2 *l2, const item *w, uint64_t cycle) {
  passage passed = {cycle, cycle + w->beats - 1U};
  if (!w->write && l2->written_until < cycle && (!l2_moves(l2, cycle) || still(l2, passed.last))) return passed;
  uint64_t at = cycle;
  moving m;
  look_up(l2, &m, cycle);
  for (unsigned i = 0; i < w->beats; i++, at++) {
    unsigned bank = ((w->offset >> l2->bus_shift) + i) % BANKS;
    if (w->write) {
      while (moves_in_bank(l2, &m, at + WRITE_CYCLES, bank)) at++;
      l2->written_until = at + WRITE_CYCLES;
      l2->written[l2->written_until % RECENT] = (written){l2->written_until, bank};
    } else {
      while (moves_in_bank(l2, &m, at, bank) || written_in_bank(l2, at, bank)) at++;
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
