// SPDX-License-Identifier: Apache-2.0
// Transfers under products: see feed.h.
#include "driver/tiled/feed.h"

static inline size_t parts(size_t all, size_t part) { return (all + part - 1) / part; }

size_t weft_feed_steps(const struct weft_transfer *t) {
  if (t->rows == 0 || t->planes == 0 || t->cols == 0) return 0;
  return parts(t->rows, t->height) * t->planes * parts(t->cols, t->width);
}

static inline void give(unsigned unit, uint64_t memory, uint64_t operand) {
  if (unit == 0)
    weft_command(WEFT_FUNCT_MVIN, memory, operand);
  else if (unit == 1)
    weft_command(WEFT_FUNCT_MVIN2, memory, operand);
  else if (unit == WEFT_FEED_STORE)
    weft_command(WEFT_FUNCT_MVOUT, memory, operand);
  else
    weft_command(WEFT_FUNCT_MVIN3, memory, operand);
}

static void start_plane(struct weft_feed *feed) {
  const struct weft_transfer *t = feed->t;
  feed->memory = feed->plane_memory;
  feed->operand = feed->plane_operand;
  feed->plane_memory += t->plane_bytes;
  feed->plane_operand += t->plane_step;
  feed->planes--;
  feed->left = t->rows / t->height;
  feed->rest = t->rows - feed->left * t->height;
}

// The group of columns from col_memory on. Planes that take a command each are like rows.
static void start_columns(struct weft_feed *feed) {
  const struct weft_transfer *t = feed->t;
  const bool small = t->rows <= t->height;
  const uint64_t operand =
      weft_operand_of((uint32_t)feed->col_local, weft_min(feed->cols, t->width), small ? t->rows : t->height);
  if (small) {
    feed->memory = feed->col_memory;
    feed->operand = operand;
    feed->left = t->planes;
    feed->planes = feed->rest = 0;
    return;
  }
  feed->plane_memory = feed->col_memory;
  feed->plane_operand = operand;
  feed->planes = t->planes;
  start_plane(feed);
}

void weft_feed_begin(struct weft_feed *feed, const struct weft_transfer *t) {
  const bool small = t->rows <= t->height;
  if (t->rows == 0 || t->planes == 0 || t->cols == 0) return;
  feed->t = t;
  feed->unit = t->unit;
  feed->memory_step = small ? t->plane_bytes : t->row_bytes * t->height;
  feed->operand_step = small ? t->plane_step : t->row_step;
  feed->cols = t->cols;
  feed->col_memory = t->memory;
  feed->col_local = t->local;
  start_columns(feed);
}

// Behind the commands that differ by constants: the rest of the plane, the next plane, or the next columns.
static __attribute__((noinline)) void turn(struct weft_feed *feed) {
  const struct weft_transfer *t = feed->t;
  if (feed->rest != 0) {
    feed->operand -= (uint64_t)(t->height - feed->rest) << 48;
    feed->left = 1;
    feed->rest = 0;
  } else if (feed->planes != 0) {
    start_plane(feed);
  } else if (feed->cols > t->width) {
    feed->cols -= t->width;
    feed->col_memory += t->col_bytes;
    feed->col_local += t->col_step;
    start_columns(feed);
  }
}

static void __attribute__((noinline)) do_work(struct weft_feed *feed) {
  if (feed->work == NULL)
    feed->debt = PTRDIFF_MIN / 2;
  else
    feed->work(feed);
}

// Without a frame of its own: what is rare is called at its end.
void weft_feed_step(struct weft_feed *feed) {
  const size_t left = feed->left;
  const uint64_t memory = feed->memory, operand = feed->operand;
  feed->debt -= feed->period;
  if (__builtin_expect(left == 0, 0)) {
    do_work(feed);
    return;
  }
  feed->left = left - 1;
  feed->memory = memory + feed->memory_step;
  feed->operand = operand + feed->operand_step;
  give(feed->unit, memory, operand);
  if (__builtin_expect(left == 1, 0)) turn(feed);
}

void weft_feed_drain(struct weft_feed *feed) {
  while (feed->left != 0 || feed->work != NULL) weft_feed_step(feed);
}
