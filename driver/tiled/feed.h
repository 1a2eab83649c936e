// SPDX-License-Identifier: Apache-2.0
// Loads and stores that run under products, of which products take a step now and then.
//
// A transfer moves rows between memory and local rows: `planes` times `rows` x `cols` elements, by commands of at most
// `height` rows and `width` columns. The feed holds one. A step gives one command or, when there is none left, does
// some other work, such as making the next transfer; all are short, because the host has little time between two
// products.
//
// Products pay for steps: each adds `rate` to a debt, and a step takes `period` off it, so that `rate` steps come
// evenly under `period` products. The accelerator's own hazard checks see the order of commands and keep what depends
// on it; a transfer must therefore stand before the products that need it and behind the products that used its rows
// before.
#ifndef WEFT_TILED_FEED_H
#define WEFT_TILED_FEED_H

#include "weft/tiled.h"

enum { WEFT_FEED_LOADS = 3, WEFT_FEED_STORE = WEFT_FEED_LOADS };

struct weft_transfer {
  unsigned unit;       // load state, or WEFT_FEED_STORE
  uintptr_t memory;    // 0: loads zeros, and the steps in memory are 0
  size_t row_bytes;    // between rows, as configured
  size_t plane_bytes;  // between planes
  size_t col_bytes;    // of `width` columns
  uint32_t local;      // with its flags
  uint32_t row_step;   // local rows from one command to that of the next rows
  uint32_t plane_step, col_step;
  size_t rows, planes, cols, height, width;  // nothing is moved if one of the first three is 0
};

struct weft_feed {
  // The command at hand, and how many there are from it on that differ by constants.
  uint64_t memory, operand, memory_step, operand_step;
  size_t left;
  unsigned unit;
  // The transfer goes through the planes of one group of columns, then of the next; `rest` rows end a plane.
  const struct weft_transfer *t;
  size_t rest, planes, cols;
  uint64_t plane_memory, plane_operand, col_memory, col_local;
  void (*work)(struct weft_feed *feed);  // that is next when no command is left; NULL: nothing
  ptrdiff_t rate, period, debt;
};

// Steps that the commands of a transfer take.
size_t weft_feed_steps(const struct weft_transfer *transfer);
// What is left of the last transfer must have been given. One without elements is none.
void weft_feed_begin(struct weft_feed *feed, const struct weft_transfer *transfer);
void weft_feed_step(struct weft_feed *feed);
// All steps that are left.
void weft_feed_drain(struct weft_feed *feed);

static inline uint64_t weft_operand_of(uint32_t local, size_t cols, size_t rows) {
  return local | (uint64_t)cols << 32 | (uint64_t)rows << 48;
}

#endif
