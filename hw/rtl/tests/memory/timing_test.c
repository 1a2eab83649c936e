// SPDX-License-Identifier: Apache-2.0
// The cycle counts of loads and stores on the default array (DIM 16) against those of Gemmini's RTL.
//
// A row of the table is one of its microbenchmarks: commands pushed as fast as the controller takes them, the memory
// answering like its level-2 cache on a hit. `reference` is the measured window (rdcycle ... fence ... rdcycle, the
// lower of the warm repetitions); `ours` is the same window here: from the issue of the first command to the completion
// of the last load or the answer to the last write, plus what the front end and the host take in the reference: 5
// cycles from the core to the issue, 1 until busy falls, 6 around the measurement, and 3 more in the programs that read
// rdcycle once more (series). A single command must agree within 2 cycles. In a series the reference's cache loses up
// to a cycle in 60 to itself (bank conflicts, which our memory here does not have), so there the window may be shorter
// by that much.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hw/rtl/tests/memory/bench.h"

enum { DIM = 16, CONFIG = 0, MVIN = 2, MVOUT = 3, FRONT_END = 12, SERIES = 3, READ_SLACK = 40, WIDE_SLACK = 25 };
#define ONE UINT64_C(0x3f800000)
#define TWO UINT64_C(0x40000000)
#define ACC UINT64_C(0x80000000)
#define ACCUMULATE UINT64_C(0x40000000)
#define FULL UINT64_C(0x20000000)
#define DRAM BENCH_MEMORY_BASE

static unsigned failures;

static uint64_t operand(uint64_t local, unsigned cols, unsigned rows) {
  return local | (uint64_t)cols << 32 | (uint64_t)rows << 48;
}

static void config_ld(bench *b, uint64_t stride, bool shrink, uint64_t scale) {
  bench_load(b, CONFIG, scale << 32 | (uint64_t)DIM << 16 | 1 << 8 | (uint64_t)shrink << 2 | 1, stride);
}

static void config_st(bench *b, uint64_t stride) { bench_store(b, CONFIG, 2, ONE << 32 | stride); }

static void config_pool(bench *b, uint64_t stride, unsigned pool_stride, unsigned size, unsigned out, unsigned in,
                        unsigned pad) {
  bench_store(b, CONFIG,
              (uint64_t)in << 56 | (uint64_t)in << 48 | (uint64_t)out << 40 | (uint64_t)out << 32 |
                  (uint64_t)out << 24 | (uint64_t)pad << 10 | (uint64_t)pad << 8 | (uint64_t)size << 6 |
                  (uint64_t)pool_stride << 4 | 2,
              ONE << 32 | stride);
}

static void settle(bench *b) {
  if (!bench_run(b, 100000)) {
    printf("the unit does not come to rest\n");
    failures++;
  }
  bench_mark(b);
}

static void report(const char *name, unsigned n, uint64_t ours, unsigned reference, bool series,
                   unsigned slack_divisor) {
  int difference = (int)ours - (int)reference;
  int slack = series ? (int)reference / (int)slack_divisor : 0;
  bool good = difference <= 2 && difference >= -2 - slack;
  printf("%-34s %3u %9u %6" PRIu64 " %+5d%s\n", name, n, reference, ours, difference, good ? "" : "  <-- differs");
  failures += !good;
}

static uint64_t load_window(bench *b) {
  uint64_t issued = b->load.commands[0].issued, done = 0;
  if (!bench_run(b, 100000)) failures++;
  for (uint32_t i = 0; i < b->load.pushed; i++)
    if (b->load.commands[i].done > done) done = b->load.commands[i].done;
  issued = b->load.commands[0].issued;
  bench_mark(b);
  return done - issued + FRONT_END;
}

static uint64_t store_window(bench *b) {
  if (!bench_run(b, 100000)) failures++;
  uint64_t window = b->last_answer - b->store.commands[0].issued + FRONT_END;
  bench_mark(b);
  return window;
}

static void mvin(bench *b, const char *name, unsigned rows, unsigned cols, unsigned offset, unsigned reference) {
  config_ld(b, 256, false, ONE);
  settle(b);
  bench_load(b, MVIN, DRAM + offset, operand(0, cols, rows));
  report(name, rows, load_window(b) + (offset != 0 ? SERIES : 0), reference, false, 1);
}

typedef struct load_series {
  const char *name;
  unsigned stride;
  bool shrink;
  uint64_t scale, local;
  unsigned local_step, local_rows, cols, step;
  bool zeros;
  unsigned n, reference;
} load_series;

static void mvin_series(bench *b, const load_series *s) {
  config_ld(b, s->stride, s->shrink, s->scale);
  settle(b);
  for (unsigned i = 0; i < s->n; i++)
    bench_load(b, MVIN, s->zeros ? 0 : DRAM + i * s->step,
               operand(s->local + i * s->local_step % s->local_rows, s->cols, DIM));
  report(s->name, s->n, load_window(b) + SERIES, s->reference, s->n > 1, READ_SLACK);
}

// Eight loads of 16 pixels of 3 channels, each repeated twice into the rows before, `apart` rows from each other.
static uint64_t pixels(bench *b, unsigned apart, unsigned narrower) {
  enum { LOADS = 8, CHANNELS = 3, REPEATS = 3 };
  bench_load(b, CONFIG, ONE << 32 | (uint64_t)DIM << 16 | REPEATS << 8 | 1, 16);
  settle(b);
  for (unsigned i = 0; i < LOADS; i++)
    bench_load(b, MVIN, DRAM + i * 256, operand(DIM + i * apart, CHANNELS - (i % 2) * narrower, DIM));
  return load_window(b);
}

// Neighbours share rows and write other lanes of them: they wait as little as loads far from each other. With other
// channels the lanes may be the same: then each waits for the one before.
static void neighbours(bench *b) {
  const uint64_t far = pixels(b, 4 * DIM, 0), near = pixels(b, DIM, 0), mixed = pixels(b, DIM, 1);
  report("mvin of neighbouring pixels", 8, near, (unsigned)far, false, 1);
  if (mixed > far + 7 * 8) return;
  printf("neighbouring pixels of other widths do not wait: %u\n", (unsigned)mixed);
  failures++;
}

static void loads(bench *b) {
  static const struct {
    unsigned rows, cols, offset, reference;
  } singles[] = {{1, 16, 0, 32},    {2, 16, 0, 33},   {4, 16, 0, 35},   {8, 16, 0, 39},    {16, 16, 0, 47},
                 {16, 32, 0, 63},   {16, 48, 0, 109}, {16, 64, 0, 95},  {16, 1, 0, 47},    {16, 11, 0, 47},
                 {16, 16, 16, 51},  {16, 16, 32, 50}, {16, 16, 48, 50}, {16, 64, 16, 115}, {16, 64, 32, 99},
                 {16, 64, 48, 128}, {16, 16, 8, 66},  {16, 16, 56, 67}, {16, 64, 56, 116}, {16, 64, 8, 130},
                 {16, 64, 4, 130}};
  for (size_t i = 0; i < sizeof singles / sizeof *singles; i++) {
    char name[64];
    snprintf(name, sizeof name, "mvin rows x %u, offset %u", singles[i].cols, singles[i].offset);
    mvin(b, name, singles[i].rows, singles[i].cols, singles[i].offset, singles[i].reference);
  }
  static const load_series series[] = {
      {"mvin 16x16", 256, false, ONE, 0, 64, 16384, 16, 4096, false, 1, 51},
      {"mvin 16x16", 256, false, ONE, 0, 64, 16384, 16, 4096, false, 2, 67},
      {"mvin 16x16", 256, false, ONE, 0, 64, 16384, 16, 4096, false, 4, 102},
      {"mvin 16x16", 256, false, ONE, 0, 64, 16384, 16, 4096, false, 8, 175},
      {"mvin 16x16", 256, false, ONE, 0, 64, 16384, 16, 4096, false, 16, 318},
      {"mvin 16x32", 256, false, ONE, 0, 64, 16384, 32, 4096, false, 1, 67},
      {"mvin 16x32", 256, false, ONE, 0, 64, 16384, 32, 4096, false, 2, 100},
      {"mvin 16x32", 256, false, ONE, 0, 64, 16384, 32, 4096, false, 8, 296},
      {"mvin 16x64", 256, false, ONE, 0, 64, 16384, 64, 4096, false, 1, 99},
      {"mvin 16x64", 256, false, ONE, 0, 64, 16384, 64, 4096, false, 2, 165},
      {"mvin 16x64", 256, false, ONE, 0, 64, 16384, 64, 4096, false, 8, 553},
      {"mvin 16x64", 256, false, ONE, 0, 64, 16384, 64, 4096, false, 32, 2108},
      {"mvin 16x64 scaled", 256, false, TWO, 0, 64, 16384, 64, 4096, false, 1, 296},
      {"mvin 16x64 scaled", 256, false, TWO, 0, 64, 16384, 64, 4096, false, 4, 1064},
      {"mvin 16x16 int32", 1024, false, ONE, ACC, 16, 1024, 16, 16384, false, 1, 97},
      {"mvin 16x16 int32", 1024, false, ONE, ACC, 16, 1024, 16, 16384, false, 4, 292},
      {"mvin 16x16 int32 accumulate", 1024, false, ONE, ACC | ACCUMULATE, 16, 1024, 16, 16384, false, 1, 97},
      {"mvin 16x16 int32 accumulate", 1024, false, ONE, ACC | ACCUMULATE, 16, 1024, 16, 16384, false, 8, 550},
      {"mvin 16x16 int32 one row", 0, false, ONE, ACC, 16, 1024, 16, 64, false, 1, 51},
      {"mvin 16x16 int32 one row", 0, false, ONE, ACC, 16, 1024, 16, 64, false, 2, 67},
      {"mvin 16x16 int32 one row", 0, false, ONE, ACC, 16, 1024, 16, 64, false, 8, 175},
      {"mvin 16x64 shrunk", 256, true, ONE, ACC, 64, 1024, 64, 4096, false, 1, 98},
      {"mvin 16x64 shrunk", 256, true, ONE, ACC, 64, 1024, 64, 4096, false, 8, 552},
      {"mvin 16x64 zeros", 256, false, ONE, 0, 64, 16384, 64, 0, true, 1, 81},
      {"mvin 16x64 zeros", 256, false, ONE, 0, 64, 16384, 64, 0, true, 8, 529},
  };
  for (size_t i = 0; i < sizeof series / sizeof *series; i++) mvin_series(b, &series[i]);
}

static void mvout(bench *b, const char *name, uint64_t local, unsigned rows, unsigned cols, unsigned stride,
                  unsigned reference) {
  config_st(b, stride);
  settle(b);
  bench_store(b, MVOUT, DRAM, operand(local, cols, rows));
  report(name, rows, store_window(b), reference, false, 1);
}

static void mvout_series(bench *b, const char *name, uint64_t local, unsigned local_step, unsigned cols,
                         unsigned stride, unsigned step, unsigned n, unsigned reference) {
  config_st(b, stride);
  settle(b);
  for (unsigned i = 0; i < n; i++)
    bench_store(b, MVOUT, DRAM + i * step, operand(local + i * local_step % 1024, cols, DIM));
  report(name, n, store_window(b) + SERIES, reference, n > 1, (local & FULL) != 0 ? WIDE_SLACK : READ_SLACK);
}

static void stores(bench *b) {
  static const struct {
    unsigned rows, cols, scratchpad, accumulator;
  } singles[] = {{1, 16, 32, 37},  {2, 16, 33, 38},  {4, 16, 35, 40},    {8, 16, 39, 47},
                 {16, 16, 47, 61}, {16, 32, 78, 88}, {16, 48, 124, 129}, {16, 64, 140, 145}};
  for (size_t i = 0; i < sizeof singles / sizeof *singles; i++) {
    char name[64];
    snprintf(name, sizeof name, "mvout rows x %u, scratchpad", singles[i].cols);
    mvout(b, name, 0, singles[i].rows, singles[i].cols, 256, singles[i].scratchpad);
    snprintf(name, sizeof name, "mvout rows x %u, accumulator", singles[i].cols);
    mvout(b, name, ACC, singles[i].rows, singles[i].cols, 256, singles[i].accumulator);
  }
  mvout(b, "mvout rows x 16, int32", ACC | FULL, 16, 16, 1024, 98);
  static const unsigned n[] = {1, 2, 4, 8, 16};
  static const unsigned sp[] = {143, 255, 479, 927, 1823}, acc[] = {148, 260, 484, 932, 1828},
                        acc16[] = {64, 89, 139, 243, 448}, full[] = {101, 167, 298, 561, 1099};
  for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
    mvout_series(b, "mvout 16x64, scratchpad", 0, 64, 64, 256, 4096, n[i], sp[i]);
    mvout_series(b, "mvout 16x64, accumulator", ACC, 64, 64, 256, 4096, n[i], acc[i]);
    mvout_series(b, "mvout 16x16, accumulator", ACC, 16, 16, 256, 4096, n[i], acc16[i]);
    mvout_series(b, "mvout 16x16, int32", ACC | FULL, 16, 16, 1024, 16384, n[i], full[i]);
  }
  static const struct {
    const char *name;
    unsigned size, pad, reference;
  } pools[] = {{"mvout 8x8 pooled 2x2 to 4x4", 2, 0, 136}, {"mvout 8x8 pooled 3x3 to 4x4, padded", 3, 1, 258}};
  for (size_t i = 0; i < 2; i++) {
    config_pool(b, 64, 2, pools[i].size, 4, 8, pools[i].pad);
    settle(b);
    bench_store(b, MVOUT, DRAM, operand(ACC, DIM, 0));
    report(pools[i].name, 1, store_window(b), pools[i].reference, false, 1);
  }
}

int main(void) {
  bench *b = bench_create(false, 10, 1);
  printf("%-34s %3s %9s %6s %5s\n", "command", "n", "reference", "ours", "diff");
  loads(b);
  neighbours(b);
  stores(b);
  bench_destroy(b);
  printf("%u of the windows differ\n", failures);
  return failures != 0;
}
