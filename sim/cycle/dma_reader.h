// SPDX-License-Identifier: Apache-2.0
// What the bus, the load path and the load controller ask of the DMA reader. See dma_reader.c.
#ifndef SIM_CYCLE_DMA_READER_H
#define SIM_CYCLE_DMA_READER_H

#include "sim/cycle/engine.h"

extern const char *const cycle_dma_reader_causes[CYCLE_CAUSES];

void cycle_reader_create(cycle_engine *c);
void cycle_reader_destroy(cycle_engine *c);
// True: the load controller can go on.
bool cycle_reader_step(cycle_engine *c, uint64_t now);
// AR of this cycle, NULL: none.
const memsys_request *cycle_reader_offer(const cycle_engine *c, uint64_t now);
bool cycle_reader_busy(const cycle_engine *c, uint64_t now);
// As many bursts as may be in flight are with memory, and none of them was answered.
bool cycle_reader_full(const cycle_engine *c);
// A row would be taken in the next cycle.
bool cycle_reader_wants_row(const cycle_engine *c);

// A burst in flight (entry_q of weft_dma_reader.sv): `bytes` of its `length` are wanted, from `shift` on. They start at
// byte `row_offset` of local row `row`; further rows lie block_stride apart.
typedef struct cycle_burst {
  uint32_t row, scale;
  uint16_t length, shift, bytes, row_offset, block_stride, repeats, cols;
  uint8_t pixel_repeats, cmd;
  bool wide, packed, is_acc, accumulate;
} cycle_burst;

const cycle_burst *cycle_reader_burst(const cycle_engine *c, unsigned id);
// The last beat of burst `id` is taken in cycle `at`, which may lie ahead: the id is free from the next one on.
void cycle_reader_release(cycle_engine *c, unsigned id, uint64_t at);

#endif
