// The stages of the load path and what travels between them. See hw/rtl/load_path.sv and the modules named below.
//
// Time. Nothing here is stepped register by register: each stage tells from which cycle on it can give or take a row,
// and a row is moved on as soon as these cycles are known, which may lie ahead. Only the writes at the end of the path
// are asked for in their very cycle, because the banks decide.
//
// Rows are described once, by the merger, in a ring of descriptions; stages hold pointers to them. The bytes of a row
// stay where the bus put them until the row is written; only scaled rows have bytes of their own.
#ifndef SIM_CYCLE_LOAD_PATH_H
#define SIM_CYCLE_LOAD_PATH_H

#include "base/number.h"
#include "sim/cycle/dma_reader.h"
#include "sim/cycle/queue.h"
#include "sim/cycle/row_scheduler.h"
#include "sim/cycle/weft_accel.h"

// A row on its way to local memory: bytes[0] belongs to lane `first` (of an int32 row: to byte `first`), `count` of
// them are written. With `repeats` the same row goes to the `repeats` rows after `row` too.
typedef struct cycle_row {
  const uint8_t *bytes;  // NULL in timing-only mode
  uint32_t row, scale;
  uint16_t first, count, repeats, cols, answer;
  uint8_t pixel_repeats, cmd;
  bool is_acc, accumulate, last;
} cycle_row;

// A row, or a repeat of it, behind the input register.
typedef struct cycle_item {
  const cycle_row *row;
  const uint8_t *bytes;
  uint64_t ready;  // first cycle in which it can leave
  uint32_t to;     // local row
  bool last;
} cycle_item;

// ---- beat_merger.c
// Alive at once: of int8 rows one in the input register of mvin_scale, three at work, one in the pixel repeater, one
// that leaves the merger; of int32 rows one and one.
enum { CYCLE_NARROW_RING = 8, CYCLE_WIDE_RING = 4 };

// A burst and how far it has come: its rows leave one after the other.
typedef struct cycle_burst_rows {
  uint64_t first_beat, last_beat, ready, spacing;
  uint64_t left;      // cycle in which the row before the next one left
  uint64_t last_row;  // of a stream: cycle in which the last row leaves
  uint64_t free;      // of a stream: the register of int32 rows is free for its first row from this cycle on
  uint64_t gap;       // of a stream: cycles between two rows but for the last one; 0: it varies
  uint64_t banks;     // of a stream: scratchpad banks that its rows go to
  bool ends;          // the last bytes of its command to come
  uint32_t sent;      // bytes of the rows that left
  uint32_t row;       // local row of the next one
  uint32_t row_bytes, row_shift;  // of a local row
  const uint8_t *data;            // the first wanted byte; NULL in timing-only mode
  cycle_burst burst;
} cycle_burst_rows;

enum { CYCLE_BURST_RING = 8 };  // bursts with rows that are not written, in a stream (load_path.c)

typedef struct cycle_merger {
  bool open;             // rows of the burst at work have to leave
  uint64_t accept_from;  // not open: the next burst's first beat is taken from this cycle on
  cycle_burst_rows *at_work;
  uint32_t bus_shift, row_mask, dim_shift;
  uint32_t next_burst, next_buffer[2], next_row[2];  // [2]: int8, int32
  cycle_burst_rows bursts[CYCLE_BURST_RING];
  uint8_t *buffers[2][CYCLE_NARROW_RING];
  cycle_row rows[2][CYCLE_NARROW_RING];
} cycle_merger;

void cycle_merger_init(cycle_engine *c, cycle_merger *m);
void cycle_merger_free(cycle_merger *m);
// Takes the burst whose first beat is there in this cycle; only if !m->open and accept_from is not later.
void cycle_merger_open(cycle_engine *c, uint64_t now, cycle_merger *m);
// The first cycle in which the next row of the burst can leave.
uint64_t cycle_merger_row_from(const cycle_merger *m, const cycle_burst_rows *b);
// The next row leaves in cycle `at`.
const cycle_row *cycle_merger_take(cycle_merger *m, cycle_burst_rows *b, uint64_t at);
// The cycle in which the last row leaves when nothing keeps rows waiting.
uint64_t cycle_merger_last_row(const cycle_merger *m, const cycle_burst_rows *b);
// The last row of the burst at work leaves in cycle `at`.
void cycle_merger_close(cycle_merger *m, uint64_t at);

// The next row of a burst: from which lane (int32: byte) on, how many of them.
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

// ---- mvin_scale.c
typedef struct cycle_mvin_scale {
  bool held;           // a row is in the input register
  uint16_t repeats;    // of it, still to come
  uint64_t since;      // first cycle in the register
  uint64_t free_from;  // not held: a row can enter the register from this cycle on
  const cycle_row *in;
  // rows at work, by entry of the scheduler, and when the entry was last emptied
  uint32_t units, dim, head, count;
  uint64_t last_push;
  uint64_t popped[CYCLE_SCHEDULER_ROWS];
  cycle_item items[CYCLE_SCHEDULER_ROWS];
  cycle_row_scheduler scheduler;
  // results: one more than entries, for the row that the pixel repeater holds
  uint8_t *results[CYCLE_SCHEDULER_ROWS + 1];
  uint32_t next_result;
  int32_t *operands;
} cycle_mvin_scale;

// units 0: rows pass unscaled and unbuffered.
void cycle_mvin_scale_init(cycle_engine *c, cycle_mvin_scale *s, uint32_t units, uint32_t latency);
void cycle_mvin_scale_free(cycle_mvin_scale *s);
// A row enters the input register in cycle `at`; only if !s->held and free_from is not later.
void cycle_mvin_scale_put(cycle_mvin_scale *s, const cycle_row *row, uint64_t at);
// The next item, if there is one.
bool cycle_mvin_scale_next(const cycle_mvin_scale *s, cycle_item *item);
// It leaves in cycle `at`.
void cycle_mvin_scale_pop(cycle_mvin_scale *s, uint64_t at);

// ---- pixel_repeater.c: the end of a path, with or without the unit
typedef struct cycle_path_end {
  bool valid;
  bool repeats;    // there is a pixel_repeater
  uint8_t copy;    // copies still to come after this one
  uint64_t at;     // valid: the cycle in which the write is asked for next
  uint64_t freed;  // cycle of the last write of the item before
  cycle_item item;
  uint32_t half, row_mask;
} cycle_path_end;

void cycle_path_end_init(const cycle_engine *c, cycle_path_end *e, bool repeats);
// Puts in an item; with a repeater it leaves the stage before in the cycle returned, else with its write.
uint64_t cycle_path_end_put(cycle_path_end *e, const cycle_item *item);
// The write of this cycle was taken; returns whether the item has left.
bool cycle_path_end_taken(cycle_path_end *e, uint64_t now);

static inline uint32_t cycle_path_end_row(const cycle_path_end *e) { return (e->item.to - e->copy) & e->row_mask; }
static inline bool cycle_path_end_last(const cycle_path_end *e) { return e->item.last && e->copy == 0; }
static inline bool cycle_path_end_offers(const cycle_path_end *e, uint64_t now) { return e->valid && e->at <= now; }

// ---- zero_writer.c
typedef struct cycle_zero_writer {
  bool held;           // blocks of the request have to leave
  uint64_t since;      // first cycle in which the next block can leave
  uint64_t free_from;  // not held: a request is taken from this cycle on
  uint32_t row, left;  // of the next block; columns from it on
  uint32_t block_stride, dim, row_mask;
  cycle_row request;
  cycle_row block;  // the one at the end of the path
} cycle_zero_writer;

void cycle_zero_writer_init(cycle_engine *c, cycle_zero_writer *z);
// A request of cycle `now`; only if !z->held and free_from is not later.
void cycle_zero_writer_put(cycle_zero_writer *z, const cycle_load_row *request, uint64_t now);
bool cycle_zero_writer_next(cycle_zero_writer *z, cycle_item *item);
void cycle_zero_writer_pop(cycle_zero_writer *z, uint64_t at);

#endif
