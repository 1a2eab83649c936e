// SPDX-License-Identifier: Apache-2.0
// What lies behind the memory port, as times: memory.c, dram.c.
#ifndef SIM_FLOW_MEMORY_H
#define SIM_FLOW_MEMORY_H

#include "sim/flow/engine.h"
#include "sim/flow/registers.h"

typedef struct flow_memory flow_memory;

// Beat n of an answer is not there before ready + n * spacing.
typedef struct flow_answer {
  flow_time ready;
  uint64_t spacing;
} flow_answer;

flow_memory *flow_memory_create(const hw_array *array, flow_log *log);
void flow_memory_destroy(flow_memory *m);

// Up to the last request granted. `hart_bytes`: those of the hart among the bytes read and written.
memsys_counts flow_memory_counts(const flow_memory *m, uint64_t hart_bytes[2]);

// The first cycle from `at` on in which the way to memory has room for a request.
flow_time flow_memory_room(const flow_memory *m, flow_time at);
// Takes `beats` of the request channel, in a row, from `at` on.
flow_time flow_memory_grant(flow_memory *m, flow_time at, uint32_t beats);
// The reader's identifiers, and the bursts that it has to read behind the next one.
typedef struct flow_stream {
  const flow_ids *ids;
  uint32_t left;
} flow_stream;
void flow_memory_stream(flow_memory *m, const flow_stream *stream);
// A burst granted in cycle `at`. Cycles need not be in order, but nearly are.
flow_answer flow_memory_read(flow_memory *m, flow_time at, uint64_t address, uint32_t bytes);
// The answer of a write is there in the cycle returned.
flow_time flow_memory_write(flow_memory *m, flow_time at, uint64_t address, uint32_t bytes, bool partial);
// Takes `cycles` of the answer channel in a row.
flow_time flow_memory_answer(flow_memory *m, flow_time at, uint32_t cycles);
// The first cycle from which so many are free.
uint64_t flow_memory_answer_from(const flow_memory *m, uint64_t at, uint32_t cycles);
// An answer stands on the channel and is not taken.
void flow_memory_answer_waits(flow_memory *m, uint64_t from, uint64_t until);
// A line of the host; returns the cycle of its last beat.
flow_time flow_memory_host(flow_memory *m, flow_time at, uint64_t address, bool write);

// The DRAM: a read's data is complete, or a write's in the bank, in the cycle returned.
typedef struct flow_dram flow_dram;
flow_dram *flow_dram_create(const hw_array *array, flow_registers *registers, flow_log *log);
void flow_dram_destroy(flow_dram *d);
// A read's data, in cycles after its request at the earliest.
uint64_t flow_dram_soonest(const flow_dram *d);
flow_time flow_dram_ask(flow_dram *d, flow_time at, uint64_t address, uint32_t bytes, bool write);

// A dirty line of the L2, sent to the DRAM; its register is free when that has it and the line it made room for is
// there.
typedef struct flow_posted {
  flow_time sent, last;
  uint64_t address;
  uint32_t bytes, reg;
  uint32_t turn;  // of the register: which of its requests
} flow_posted;
// The cycle behind which the register is free, as far as is known; it is told when more is.
flow_time flow_dram_post(flow_dram *d, const flow_posted *line);

// A burst of a row of `left` bytes at `address`: the size that carries most of the bytes left, the smallest of equals.
static inline flow_burst flow_burst_of(uint64_t address, uint32_t left, uint32_t beat, uint32_t most) {
  if ((address & (most - 1)) == 0 && left >= most) return (flow_burst){.size = most, .bytes = most};
  flow_burst best = {0};
  for (uint32_t size = beat; size <= most && best.bytes < left; size *= 2) {
    const uint32_t offset = (uint32_t)address & (size - 1);
    const uint32_t bytes = size - offset < left ? size - offset : left;
    if (bytes > best.bytes) best = (flow_burst){.size = size, .bytes = bytes, .offset = offset};
  }
  return best;
}

#endif
