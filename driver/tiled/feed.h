// Loads and stores that run under products: a queue of transfers, of which products take one command now and then.
//
// A transfer moves rows x cols elements between memory and local rows, by commands of at most WEFT_DIM rows and `width`
// columns. Products pay for it: every so many of them the next command is given, so that all are by the end of a stage,
// evenly; what is left then is drained. The accelerator's own hazard checks see the order of commands and keep
// what depends on it; a transfer must therefore stand before the products that need it and behind those that used its
// rows before.
#ifndef WEFT_TILED_FEED_H
#define WEFT_TILED_FEED_H

#include "weft/tiled.h"

enum { WEFT_FEED_LOADS = 3, WEFT_FEED_STORE = WEFT_FEED_LOADS, WEFT_FEED_MAX = 16 };

struct weft_transfer {
  unsigned unit;      // load state, or WEFT_FEED_STORE
  uintptr_t memory;   // 0: loads zeros
  size_t row_bytes;   // between rows, as configured
  size_t col_bytes;   // of `width` columns
  uint32_t local;     // with its flags
  uint32_t row_step;  // local rows from one command to that of the next rows
  uint32_t col_step;  // and of the next columns
  size_t rows, cols, width;
};

// A transfer under way goes down the rows of one group of columns, then of the next.
struct weft_feeding {
  uint64_t memory, operand;            // of the next command
  uint64_t memory_step, operand_step;  // to that of the next rows
  size_t full;                         // commands of whole rows before the end of the columns
  unsigned unit;
  size_t col;  // of the group
  struct weft_transfer t;
};

struct weft_feed {
  struct weft_feeding now;
  struct weft_transfer queue[WEFT_FEED_MAX];
  unsigned first, count;
  size_t commands;   // of all of it
  size_t gap;        // products that a command costs
  ptrdiff_t credit;  // until the next one
};

// Nothing happens for a transfer without rows or columns.
void weft_feed_add(struct weft_feed *feed, const struct weft_transfer *transfer);
// What was added shall be given under so many products.
void weft_feed_spread(struct weft_feed *feed, size_t products);
void weft_feed_drain(struct weft_feed *feed);

void weft_feed_give(struct weft_feed *feed);
// Behind so many products.
static inline void weft_feed_pay(struct weft_feed *feed, size_t products) {
  if ((feed->credit -= (ptrdiff_t)products) <= 0) weft_feed_give(feed);
}

static inline uint64_t weft_operand_of(uint32_t local, size_t cols, size_t rows) {
  return local | (uint64_t)cols << 32 | (uint64_t)rows << 48;
}

#endif
