// SPDX-License-Identifier: Apache-2.0
// What the bus, the store path and the port ask of the DMA writer. See dma_writer.c.
#ifndef SIM_CYCLE_DMA_WRITER_H
#define SIM_CYCLE_DMA_WRITER_H

#include "sim/cycle/engine.h"

extern const char *const cycle_dma_writer_causes[CYCLE_CAUSES];

void cycle_writer_create(cycle_engine *c);
void cycle_writer_destroy(cycle_engine *c);
// Looks at w.write_granted and the answer on the bus.
bool cycle_writer_step(cycle_engine *c, uint64_t now);
// W of this cycle (with AW), NULL: none.
const memsys_request *cycle_writer_offer(cycle_engine *c, uint64_t now);
// wr_req_ready, after its step; only then it takes a row.
bool cycle_writer_ready(cycle_engine *c, uint64_t now);
void cycle_writer_take(cycle_engine *c, uint64_t now, const cycle_write_row *row);
// The register behind wr_req_ready.
bool cycle_writer_idle(const cycle_engine *c);
bool cycle_writer_busy(const cycle_engine *c);

#endif
