// SPDX-License-Identifier: Apache-2.0
// A calendar: the cycles (or ticks) of a pipe or port that is shared, a bit each, set where it is taken. What comes
// later in the order of calls may lie earlier in time, so gaps are filled.
//
// The words are a ring: one is cleared when a later stretch of time comes to its place. Time that has left the ring
// counts as free and is not noted.
#ifndef SIM_FLOW_CALENDAR_H
#define SIM_FLOW_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOW_CALENDAR_WORDS = 512, FLOW_CALENDAR_BITS = 64 };

typedef struct flow_calendar {
  // None of the times from full_from to full_to begins full_count free ones in a row, so that who waits behind others
  // need not look at them.
  uint64_t full_from, full_to, full_count;
  struct {
    uint64_t bits, number;  // number of the word: time / 64
  } words[FLOW_CALENDAR_WORDS];
} flow_calendar;

// The lowest `count` bits, 1 to 64.
static inline uint64_t flow_low_bits(uint64_t count) { return UINT64_MAX >> (FLOW_CALENDAR_BITS - count); }

static inline uint64_t flow_calendar_word(const flow_calendar *c, uint64_t number) {
  const uint64_t place = number % FLOW_CALENDAR_WORDS;
  return c->words[place].number == number ? c->words[place].bits : 0;
}

// The 64 times from `at` on; the first one is bit 0.
static inline uint64_t flow_calendar_from(const flow_calendar *c, uint64_t at) {
  const uint64_t number = at / FLOW_CALENDAR_BITS, shift = at % FLOW_CALENDAR_BITS;
  const uint64_t low = flow_calendar_word(c, number) >> shift;
  return shift == 0 ? low : low | flow_calendar_word(c, number + 1) << (FLOW_CALENDAR_BITS - shift);
}

// The bits of the word, cleared if an older one was in its place; NULL: it has left the ring.
static inline uint64_t *flow_calendar_bits(flow_calendar *c, uint64_t number) {
  const uint64_t place = number % FLOW_CALENDAR_WORDS, there = c->words[place].number;
  if (there != number) {
    if (there > number) return NULL;
    c->words[place].number = number;
    c->words[place].bits = 0;
  }
  return &c->words[place].bits;
}

static inline void flow_calendar_set(flow_calendar *c, uint64_t number, uint64_t bits) {
  uint64_t *word = flow_calendar_bits(c, number);
  if (word != NULL) *word |= bits;
}

// As flow_calendar_mark, of times in more than one word.
static __attribute__((noinline, unused)) void flow_calendar_mark_words(flow_calendar *c, uint64_t at, uint64_t count) {
  const uint64_t end = at + count, last = end / FLOW_CALENDAR_BITS;
  uint64_t number = at / FLOW_CALENDAR_BITS;
  if (count == 0) return;
  flow_calendar_set(c, number++, UINT64_MAX << at % FLOW_CALENDAR_BITS);
  for (; number < last; number++) flow_calendar_set(c, number, UINT64_MAX);
  if (end % FLOW_CALENDAR_BITS != 0) flow_calendar_set(c, last, flow_low_bits(end % FLOW_CALENDAR_BITS));
}

// Marks `count` times from `at` on, taken or not.
static inline __attribute__((always_inline)) void flow_calendar_mark(flow_calendar *c, uint64_t at, uint64_t count) {
  const uint64_t shift = at % FLOW_CALENDAR_BITS;
  if (count - 1 < FLOW_CALENDAR_BITS - shift)
    flow_calendar_set(c, at / FLOW_CALENDAR_BITS, flow_low_bits(count) << shift);
  else
    flow_calendar_mark_words(c, at, count);
}

// `count` times from `at` on (at most 64), as flow_calendar_from.
static inline uint64_t flow_calendar_window(const flow_calendar *c, uint64_t at, uint64_t count) {
  const uint64_t shift = at % FLOW_CALENDAR_BITS;
  if (shift + count > FLOW_CALENDAR_BITS) return flow_calendar_from(c, at) & flow_low_bits(count);
  return flow_calendar_word(c, at / FLOW_CALENDAR_BITS) >> shift & flow_low_bits(count);
}

// Bits from which `count` bits in a row are set.
static inline uint64_t flow_runs(uint64_t bits, uint64_t count) {
  while (count > 1) {
    const uint64_t half = count / 2;
    bits &= bits >> half;
    count -= half;
  }
  return bits;
}

// The first time, from `at` on, from which `count` times (at most 64) in a row are free. The words are looked at.
static inline uint64_t flow_calendar_find_behind(const flow_calendar *c, uint64_t at, uint64_t count) {
  while (true) {
    const uint64_t taken = flow_calendar_from(c, at), free = flow_runs(~taken, count);
    if (free != 0) return at + (uint64_t)__builtin_ctzll(free);
    at += FLOW_CALENDAR_BITS - (uint64_t)__builtin_clzll(taken);
    if (flow_calendar_window(c, at, count) == 0) return at;
  }
}

// The same; mostly it is `at`.
static inline uint64_t flow_calendar_find(const flow_calendar *c, uint64_t at, uint64_t count) {
  return flow_calendar_window(c, at, count) == 0 ? at : flow_calendar_find_behind(c, at, count);
}

// Takes `count` times from `at` on if they are in one word and free.
static inline bool flow_calendar_try(flow_calendar *c, uint64_t at, uint64_t count) {
  const uint64_t shift = at % FLOW_CALENDAR_BITS;
  if (shift + count > FLOW_CALENDAR_BITS) return false;
  uint64_t *word = flow_calendar_bits(c, at / FLOW_CALENDAR_BITS);
  const uint64_t wanted = flow_low_bits(count) << shift;
  if (word == NULL || (*word & wanted) != 0) return false;
  *word |= wanted;
  return true;
}

// As flow_calendar_take; some of the times from `at` on are taken.
static __attribute__((noinline, unused)) uint64_t flow_calendar_wait(flow_calendar *c, uint64_t at, uint64_t count) {
  const bool full = count >= c->full_count && at >= c->full_from && at < c->full_to;
  const uint64_t bits = count < FLOW_CALENDAR_BITS ? count : FLOW_CALENDAR_BITS;
  const uint64_t start = flow_calendar_find_behind(c, full ? c->full_to : at, bits);
  flow_calendar_mark(c, start, count);
  if (count > FLOW_CALENDAR_BITS || (full && count != c->full_count)) return start;
  if (!full) c->full_from = at;
  c->full_to = start + count;
  c->full_count = count;
  return start;
}

// Takes the first `count` times in a row that are free from `at` on. Of more than 64 only the first 64 have to be.
static inline uint64_t flow_calendar_take(flow_calendar *c, uint64_t at, uint64_t count) {
  if (flow_calendar_try(c, at, count)) return at;
  const uint64_t behind = c->full_to;
  if (count != c->full_count || at < c->full_from || at >= behind || !flow_calendar_try(c, behind, count))
    return flow_calendar_wait(c, at, count);
  c->full_to = behind + count;
  return behind;
}

// How many of `count` times (at most 64) from `at` on are taken.
static inline unsigned flow_calendar_count(const flow_calendar *c, uint64_t at, uint64_t count) {
  return (unsigned)__builtin_popcountll(flow_calendar_window(c, at, count));
}

#endif
