// The stages of the load path and what travels between them. See hw/rtl/load_path.sv and the modules named below.
//
// Rows of a burst are described once, by the merger, in a ring of descriptions; stages hold pointers to them. The bytes
// of a row stay where the bus put them until the row is written; only scaled rows have bytes of their own.
//
// All functions are about the cycle c->now. Order within a cycle: the end of the path first (load_path.c).
#ifndef SIM_CYCLE_LOAD_PATH_H
#define SIM_CYCLE_LOAD_PATH_H

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

// A write as the end of the path asks for it.
typedef struct cycle_row_write {
  const cycle_row *row;
  const uint8_t *bytes;
  uint32_t to;     // local row
  uint32_t shift;  // lanes that the data moves up
  bool last;
} cycle_row_write;

// ---- beat_merger.c
// Alive at once: of int8 rows one in the input register of mvin_scale, three at work, one in the pixel repeater, one
// that leaves the merger; of int32 rows one and one.
enum { CYCLE_NARROW_RING = 8, CYCLE_WIDE_RING = 4 };

typedef struct cycle_merger {
  bool valid;
  uint32_t read, sent;  // bytes
  uint32_t row_bytes, row_shift;
  const uint8_t *data;  // the first wanted byte
  cycle_burst burst;
  uint32_t bus_bytes, row_mask, dim_shift;
  uint32_t next_buffer[2], next_row[2];  // int8, int32
  uint8_t *buffers[2][CYCLE_NARROW_RING];
  cycle_row rows[2][CYCLE_NARROW_RING];
} cycle_merger;

void cycle_merger_init(cycle_engine *c, cycle_merger *m);
void cycle_merger_free(cycle_merger *m);
// out_valid_o
bool cycle_merger_valid(const cycle_merger *m);
// The clock edge: `out` takes the row if it leaves (NULL: it stays), a beat of the bus is taken if it may be. Returns
// whether anything changed.
bool cycle_merger_step(cycle_engine *c, cycle_merger *m, const cycle_row **out);

// ---- mvin_scale.c
typedef struct cycle_mvin_scale {
  bool valid;  // input register
  uint16_t repeats;
  uint32_t units, dim;
  const cycle_row *in;
  // rows at work, by entry of the scheduler
  cycle_row_scheduler scheduler;
  cycle_row_write rows[CYCLE_SCHEDULER_ROWS];
  // results: one more than entries, for the row that the pixel repeater holds
  uint8_t *results[CYCLE_SCHEDULER_ROWS + 1];
  uint32_t next_result;
  int32_t *operands;
} cycle_mvin_scale;

// units 0: rows pass unscaled and unbuffered.
void cycle_mvin_scale_init(cycle_engine *c, cycle_mvin_scale *s, uint32_t units, uint32_t latency);
void cycle_mvin_scale_free(cycle_mvin_scale *s);
bool cycle_mvin_scale_offer(const cycle_mvin_scale *s, uint64_t now, cycle_row_write *out);  // out_valid_o
void cycle_mvin_scale_taken(cycle_mvin_scale *s, uint64_t now);
// Moves the input register on; returns whether anything changed. Afterwards a row may be put in if !s->valid.
bool cycle_mvin_scale_step(cycle_engine *c, cycle_mvin_scale *s);
static inline void cycle_mvin_scale_put(cycle_mvin_scale *s, const cycle_row *row) {
  s->valid = true;
  s->in = row;
  s->repeats = row->repeats;
}

// ---- pixel_repeater.c
typedef struct cycle_repeater {
  bool valid;
  uint8_t copy;  // copies still to come after this one
  uint32_t half, row_mask;
  cycle_row_write in;
} cycle_repeater;

// Whether a copy is offered (out_valid_o). A copy that is dropped in this cycle is counted here and sets *changed.
bool cycle_repeater_offer(cycle_repeater *r, cycle_row_write *out, bool *changed);
void cycle_repeater_taken(cycle_repeater *r);
void cycle_repeater_put(cycle_repeater *r, const cycle_row_write *in);  // only if !r->valid

// ---- zero_writer.c
typedef struct cycle_zero_writer {
  bool valid;
  uint32_t row, left;  // columns from this block on
  uint32_t block_stride, dim, row_mask;
  uint32_t next;       // of rows
  cycle_row template;  // of the request
  cycle_row rows[2];   // the block offered, the one in the repeater
} cycle_zero_writer;

void cycle_zero_writer_init(cycle_engine *c, cycle_zero_writer *z);
void cycle_zero_writer_put(cycle_zero_writer *z, const cycle_load_row *request);  // only if !z->valid
void cycle_zero_writer_offer(cycle_zero_writer *z, cycle_row_write *out);         // if z->valid
void cycle_zero_writer_taken(cycle_zero_writer *z);

#endif
