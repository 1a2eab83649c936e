// SPDX-License-Identifier: Apache-2.0
// Turns read bursts into local rows. See beat_merger.c.
#ifndef SIM_CYCLE_BEAT_MERGER_H
#define SIM_CYCLE_BEAT_MERGER_H

#include "sim/cycle/dma_reader.h"
#include "sim/cycle/load_row.h"

// Alive at once: of int8 rows one in the input register of mvin_scale, three at work, one in the pixel repeater, one
// that leaves the merger; of int32 rows one and one.
enum { CYCLE_NARROW_RING = 8, CYCLE_WIDE_RING = 4 };

// A burst and how far it has come: its rows leave one after the other.
typedef struct cycle_burst_rows {
  uint64_t first_beat, last_beat, ready, spacing;
  uint64_t left;      // cycle in which the row before the next one left
  uint64_t last_row;  // of a whole burst: cycle in which the last row leaves
  uint64_t free;      // of a whole burst: the register of int32 rows is free for its first row from this cycle on
  bool ends;          // the last bytes of its command to come
  uint32_t sent;      // bytes of the rows that left
  uint32_t row;       // local row of the next one
  uint32_t row_bytes, row_shift;  // of a local row
  const uint8_t *data;            // the first wanted byte; NULL in timing-only mode
  cycle_burst burst;
} cycle_burst_rows;

enum { CYCLE_BURST_RING = 8 };  // whole bursts with rows that are not written (skip/whole.c)

typedef struct cycle_merger {
  bool open;             // rows of the burst at work have to leave
  uint64_t accept_from;  // not open: the next burst's first beat is taken from this cycle on
  cycle_burst_rows *at_work;
  uint32_t bus_shift, row_mask, dim_shift;
  uint32_t next_burst, next_buffer[2], next_row[2];  // [2]: int8, int32
  cycle_burst_rows bursts[CYCLE_BURST_RING];
  uint8_t *buffers[2][CYCLE_NARROW_RING];
  // packed rows as int8, those of the ring and one that is written at once; NULL where the array has none
  uint8_t *widened[CYCLE_NARROW_RING + 1];
  cycle_row rows[2][CYCLE_NARROW_RING];
} cycle_merger;

void cycle_merger_init(cycle_engine *c, cycle_merger *m);
void cycle_merger_free(cycle_merger *m);
// Takes the burst whose first beat is there in this cycle; only if !m->open and accept_from is not later.
void cycle_merger_open(cycle_engine *c, uint64_t now, cycle_merger *m);
// The earliest cycle in which the next row of the burst can leave.
uint64_t cycle_merger_row_from(const cycle_merger *m, const cycle_burst_rows *b);
// The next row leaves in cycle `at`.
const cycle_row *cycle_merger_take(cycle_merger *m, cycle_burst_rows *b, uint64_t at);
// The cycle in which the last row leaves when nothing keeps rows waiting.
uint64_t cycle_merger_last_row(const cycle_merger *m, const cycle_burst_rows *b);
// The last row of the burst at work leaves in cycle `at`.
void cycle_merger_close(cycle_merger *m, uint64_t at);

// `count` elements of a packed row as int8, until the next call.
const uint8_t *cycle_merger_widen(cycle_merger *m, const uint8_t *packed, uint32_t count);

// The next row of a burst: from which lane (int32, packed: byte) on, how many of them.
static inline uint32_t cycle_burst_first(const cycle_burst_rows *b) { return b->sent == 0 ? b->burst.row_offset : 0; }
static inline uint32_t cycle_burst_count(const cycle_burst_rows *b) {
  uint32_t room = b->row_bytes - cycle_burst_first(b), wanted = b->burst.bytes - b->sent;
  return room < wanted ? room : wanted;
}
// It has left.
static inline void cycle_burst_advance(cycle_burst_rows *b, uint32_t count, uint32_t row_mask) {
  b->sent += count;
  b->row = (b->row + b->burst.block_stride) & row_mask;
}

#endif
