// What the load path needs of the DMA reader besides weft_accel.h: the bursts in flight.
#ifndef SIM_CYCLE_DMA_READER_H
#define SIM_CYCLE_DMA_READER_H

#include "sim/cycle/weft_accel.h"

// A burst in flight (entry_q of dma_reader.sv): `bytes` of its `length` are wanted, from `shift` on. They start at byte
// `row_offset` of local row `row`; further rows lie block_stride apart.
typedef struct cycle_burst {
  uint32_t row, scale;
  uint16_t length, shift, bytes, row_offset, block_stride, repeats, cols;
  uint8_t pixel_repeats, cmd;
  bool wide, is_acc, accumulate;
} cycle_burst;

const cycle_burst *cycle_reader_burst(const cycle_engine *c, unsigned id);
// A row would be taken in the next cycle.
bool cycle_reader_wants_row(const cycle_engine *c);
// The last beat of burst `id` is taken in cycle `at`, which may lie ahead: the id is free from the next one on.
void cycle_reader_release(cycle_engine *c, unsigned id, uint64_t at);

#endif
