// Transfers under products: see feed.h.
#include "driver/tiled/feed.h"

static size_t commands_of(const struct weft_transfer *t) {
  return ((t->rows + WEFT_DIM - 1) / WEFT_DIM) * ((t->cols + t->width - 1) / t->width);
}

void weft_feed_add(struct weft_feed *feed, const struct weft_transfer *transfer) {
  if (transfer->rows == 0 || transfer->cols == 0) return;
  if (feed->count == WEFT_FEED_MAX) weft_feed_drain(feed);
  feed->queue[(feed->first + feed->count++) % WEFT_FEED_MAX] = *transfer;
  feed->commands += commands_of(transfer);
}

void weft_feed_spread(struct weft_feed *feed, size_t products) {
  feed->gap = feed->commands == 0 ? 0 : products / (feed->commands + 1);
  feed->credit = (ptrdiff_t)feed->gap;
}

static inline void give(unsigned unit, uint64_t memory, uint64_t operand) {
  if (unit == WEFT_FEED_STORE)
    weft_command(WEFT_FUNCT_MVOUT, memory, operand);
  else if (unit == 0)
    weft_command(WEFT_FUNCT_MVIN, memory, operand);
  else if (unit == 1)
    weft_command(WEFT_FUNCT_MVIN2, memory, operand);
  else
    weft_command(WEFT_FUNCT_MVIN3, memory, operand);
}

// The group of columns at n->col.
static void start_columns(struct weft_feeding *n) {
  const struct weft_transfer *t = &n->t;
  const size_t group = n->col / t->width, cols = weft_min(t->cols - n->col, t->width);
  n->memory = t->memory == 0 ? 0 : t->memory + group * t->col_bytes;
  n->operand = weft_operand_of(t->local + (uint32_t)group * t->col_step, cols, WEFT_DIM);
  n->full = t->rows / WEFT_DIM;
}

static void start(struct weft_feed *feed) {
  struct weft_feeding *n = &feed->now;
  n->t = feed->queue[feed->first];
  feed->first = (feed->first + 1) % WEFT_FEED_MAX;
  feed->count--;
  n->unit = n->t.unit;
  n->memory_step = n->t.memory == 0 ? 0 : n->t.row_bytes * WEFT_DIM;
  n->operand_step = n->t.row_step;
  n->col = 0;
  start_columns(n);
}

// Behind the whole rows of a group: those that are left, or the first ones of the next group.
static void turn(struct weft_feed *feed) {
  struct weft_feeding *n = &feed->now;
  const size_t rest = n->t.rows % WEFT_DIM;
  if (n->col < n->t.cols && rest != 0) {
    give(n->unit, n->memory, n->operand - ((uint64_t)(WEFT_DIM - rest) << 48));
    feed->commands--;
  }
  n->col += n->t.width;
  if (n->col < n->t.cols)
    start_columns(n);
  else if (feed->count != 0)
    start(feed);
}

static inline void give_next(struct weft_feed *feed) {
  struct weft_feeding *n = &feed->now;
  const uint64_t memory = n->memory, operand = n->operand;
  n->memory = memory + n->memory_step;
  n->operand = operand + n->operand_step;
  n->full--;
  feed->commands--;
  give(n->unit, memory, operand);
}

// One command, at the end of rows or columns, too.
static __attribute__((noinline)) void give_at_turn(struct weft_feed *feed) {
  const size_t before = feed->commands;
  while (feed->now.full == 0 && feed->commands == before) turn(feed);
  if (feed->commands == before) give_next(feed);
}

static inline void give_one(struct weft_feed *feed) {
  if (feed->now.full != 0)
    give_next(feed);
  else
    give_at_turn(feed);
}

void weft_feed_give(struct weft_feed *feed) {
  do {
    if (feed->commands == 0) {
      feed->credit = PTRDIFF_MAX;
      return;
    }
    give_one(feed);
  } while ((feed->credit += (ptrdiff_t)feed->gap) <= 0 && feed->gap != 0);
}

void weft_feed_drain(struct weft_feed *feed) {
  while (feed->commands != 0) give_one(feed);
}
