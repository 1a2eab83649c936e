// SPDX-License-Identifier: Apache-2.0
// Products and the steps of the feed between them: see products.h.
#include "driver/tiled/products.h"

#include "weft/stream.h"

void weft_add_run(struct weft_products *p, size_t count, uint64_t a, uint64_t c) {
  struct weft_run *run = p->last == NULL ? p->run : p->last + 1;
  run->fours = count / 4;
  run->rest = count % 4;
  run->a = a - p->a_step;
  run->c = c - p->c_step;
  p->last = run;
}

static inline void start_row(struct weft_products *p) {
  p->a = p->row.a;
  p->b = p->row.b;
  p->c = p->row.c;
  p->stays = p->row.stays;
  p->blocks = p->row.blocks;
}

// The block behind the blocks of full width.
static void start_tail(struct weft_products *p) {
  const uint64_t fewer = (uint64_t)(WEFT_DIM - p->row.tail) << 32;
  p->b += p->b_next - fewer;
  p->c += p->c_next - fewer;
  p->stays -= fewer;
  p->blocks = 1;
}

// Behind the blocks of a row that are as wide as any; false: that was all.
static inline bool next_blocks(struct weft_products *p) {
  if (__builtin_expect(p->row.tail != 0, 0) && (p->in_tail = !p->in_tail)) {
    start_tail(p);
    return true;
  }
  p->row.c |= WEFT_ACC_ADD;
  if (__builtin_expect(--p->row.rows != 0, 1)) {
    p->row.a += p->a_down;
    p->row.b += p->b_down;
  } else if (!p->next_rows(p)) {
    return false;
  }
  start_row(p);
  return true;
}

static inline ptrdiff_t pay(struct weft_feed *feed, ptrdiff_t debt) {
  feed->debt = debt;
  do weft_feed_step(feed);
  while (feed->debt > 0);
  return feed->debt;
}

#define NEXT_PRODUCT                          \
  WEFT_STEP(a, a_step);                       \
  WEFT_STEP(c, c_step);                       \
  weft_command(WEFT_FUNCT_PRELOAD, stays, c); \
  weft_command(WEFT_FUNCT_COMPUTE_ACCUMULATED, a, nothing)

void weft_multiply(struct weft_feed *feed, struct weft_products *p) {
  const uint64_t nothing = weft_operand(weft_operand_of(WEFT_GARBAGE, WEFT_DIM, WEFT_DIM));
  start_row(p);
  do {
    const uint64_t a_step = p->a_step, c_step = p->c_step, stays = p->stays;
    const struct weft_run *run = p->run;
    uint64_t a = p->a + run->a, c = p->c + run->c;
    size_t fours = run->fours, rest = run->rest;
    ptrdiff_t debt = feed->debt;
    const ptrdiff_t rate = feed->rate, rate_of_four = 4 * rate;
    WEFT_STEP(a, a_step);
    WEFT_STEP(c, c_step);
    weft_command(WEFT_FUNCT_PRELOAD, p->b, c);
    weft_command(WEFT_FUNCT_COMPUTE_PRELOADED, a, nothing);
    if (__builtin_expect(fours != 0, 1)) {
      NEXT_PRODUCT;
      NEXT_PRODUCT;
      NEXT_PRODUCT;
      fours--;
      debt += rate_of_four;
    } else {
      debt += rate;
      rest--;
    }
    for (;;) {
      if (__builtin_expect(debt > 0, 0)) debt = pay(feed, debt);
      for (; fours != 0; fours--) {
        NEXT_PRODUCT;
        NEXT_PRODUCT;
        NEXT_PRODUCT;
        NEXT_PRODUCT;
        debt += rate_of_four;
        if (__builtin_expect(debt > 0, 0)) debt = pay(feed, debt);
      }
      for (; rest != 0; rest--) {
        NEXT_PRODUCT;
        debt += rate;
      }
      if (run == p->last) break;
      run++;
      a = p->a + run->a;
      c = p->c + run->c;
      fours = run->fours;
      rest = run->rest;
    }
    feed->debt = debt;
    if (--p->blocks != 0) p->b += p->b_next, p->c += p->c_next;
  } while (p->blocks != 0 || next_blocks(p));
}
