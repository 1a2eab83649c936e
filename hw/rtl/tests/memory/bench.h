// SPDX-License-Identifier: Apache-2.0
// Drives memory_bench: commands in, an AXI memory behind it, the execute unit's ports by hand.
//
// A cycle: the caller sets ports, bench_step settles the combinational paths, records every handshake and clocks.
// The memory answers in one of two ways:
//   fixed   like the reference's level-2 cache on a hit: a read's first beat `latency` cycles after its address, one
//   beat per
//           cycle, in order; a write's answer `latency` cycles after its first beat
//   random  any order of bursts, random latency, random back-pressure on every channel
#ifndef HW_RTL_TESTS_MEMORY_BENCH_H
#define HW_RTL_TESTS_MEMORY_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/rtl/tests/memory/dut.h"

enum {
  BENCH_MEMORY_BYTES = 1 << 20,
  BENCH_COMMANDS_MAX = 4096,
  BENCH_BURSTS_MAX = 512,
  BENCH_BEATS_MAX = 2048,
  BENCH_BEAT_BYTES_MAX = 128,
};
#define BENCH_MEMORY_BASE UINT64_C(0x80000000)

typedef struct bench_port {
  uint8_t *data;
  size_t bytes;
} bench_port;

typedef struct bench_command {
  uint8_t funct;
  uint64_t rs1, rs2;
  uint64_t issued, done;  // cycles; done 0: not yet
} bench_command;

typedef struct bench_class {
  bench_command commands[BENCH_COMMANDS_MAX];
  uint32_t pushed, issued, completed;
  bench_port valid, ready, funct, rs1, rs2, id, done_valid, done_id;
} bench_class;

typedef struct bench_burst {
  uint32_t id;
  uint64_t addr;
  uint32_t beats, sent;
  uint64_t ready_at;
} bench_burst;

typedef struct bench_beat {
  uint8_t data[BENCH_BEAT_BYTES_MAX], strobe[BENCH_BEAT_BYTES_MAX / 8];
  bool last;
  uint64_t cycle;
} bench_beat;

typedef struct bench {
  dut *dut;
  uint64_t cycle;
  bool random;
  uint32_t latency;
  uint64_t rng;
  uint8_t memory[BENCH_MEMORY_BYTES];
  bench_class load, store;
  uint64_t first_read_address, last_answer;  // cycles of AXI events since the last bench_mark
  uint32_t read_bursts, write_bursts, write_beats;

  uint32_t beat_bytes;
  bench_burst reads[BENCH_BURSTS_MAX], writes[BENCH_BURSTS_MAX], answers[BENCH_BURSTS_MAX];
  uint32_t read_count, write_count, answer_count;
  bench_beat beats[BENCH_BEATS_MAX];
  uint32_t beat_count;
  int current_read, current_answer;  // index of what the R and B channels show, -1: nothing
  bool read_shown;                   // RVALID is up and has to stay

  bench_port clk, rst, arvalid, arready, arid, araddr, arlen, rvalid, rready, rid, rdata, rlast;
  bench_port awvalid, awready, awid, awaddr, awlen, wvalid, wready, wdata, wstrb, wlast, bvalid, bid;
  bench_port ld_busy, st_busy, dma_busy;
} bench;

bench *bench_create(bool random, uint32_t latency, uint64_t seed);
void bench_destroy(bench *b);

bench_port bench_find(bench *b, const char *name);
uint64_t bench_get(bench_port p);
void bench_set(bench_port p, uint64_t value);
// Field `index` of `width` bits in a wide port.
uint64_t bench_get_field(bench_port p, uint32_t index, uint32_t width);
void bench_set_field(bench_port p, uint32_t index, uint32_t width, uint64_t value);

uint64_t bench_random(bench *b);
uint32_t bench_below(bench *b, uint32_t bound);

// Queue a command; it is issued as soon as its controller takes it.
bench_command *bench_load(bench *b, uint8_t funct, uint64_t rs1, uint64_t rs2);
bench_command *bench_store(bench *b, uint8_t funct, uint64_t rs1, uint64_t rs2);

// Two halves of a cycle, for a caller that looks at outputs in between; bench_step is both.
void bench_settle(bench *b);
void bench_clock(bench *b);
void bench_step(bench *b);
bool bench_idle(bench *b);
// Runs until nothing is queued or under way; false after `limit` cycles.
bool bench_run(bench *b, uint64_t limit);
// Forgets recorded commands and events.
void bench_mark(bench *b);

#endif
