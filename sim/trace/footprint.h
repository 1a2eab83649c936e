// SPDX-License-Identifier: Apache-2.0
// The part of main memory that an accelerator program touched: a sparse copy of the bytes it read or wrote. Like the
// memory itself it starts as zeros.
//
// A trace needs it twice. The writer compares each accelerator read with the copy and records only bytes that changed
// (the host wrote them); both writer and reader take the digest of all bytes that the accelerator wrote, in address
// order, so it does not depend on the order of the writes.
#ifndef SIM_TRACE_FOOTPRINT_H
#define SIM_TRACE_FOOTPRINT_H

#include <stddef.h>
#include <stdint.h>

typedef struct sim_footprint sim_footprint;

sim_footprint *sim_footprint_create(void);
void sim_footprint_destroy(sim_footprint *print);

// Calls `changed` for every maximal run of bytes of [address, address + length) where the copy
// holds another value, then makes the copy equal.
void sim_footprint_read(sim_footprint *print, uint64_t address, const uint8_t *bytes, size_t length,
                        void (*changed)(void *context, uint64_t address, const uint8_t *bytes, size_t length),
                        void *context);
void sim_footprint_write(sim_footprint *print, uint64_t address, const uint8_t *bytes, size_t length);

uint64_t sim_footprint_written_bytes(const sim_footprint *print);  // distinct bytes
uint64_t sim_footprint_digest(const sim_footprint *print);         // of the distinct bytes written

#endif
