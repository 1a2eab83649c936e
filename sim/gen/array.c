// SPDX-License-Identifier: Apache-2.0
// Draws arrays: small ones of every kind.
#include <string.h>

#include "sim/gen/gen.h"
#include "sim/gen/random.h"

enum { TRIES = 1000 };

static uint32_t pick(sim_gen_random *r, const uint32_t *table, size_t count) {
  return table[sim_gen_in(r, 0, (int64_t)count - 1)];
}
#define PICK(...) pick(r, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
static bool flag(sim_gen_random *r, int64_t off_in) { return !sim_gen_one_in(r, off_in); }
static uint32_t between(sim_gen_random *r, int64_t low, int64_t high) { return (uint32_t)sim_gen_in(r, low, high); }

static void draw_mesh(sim_gen_random *r, hw_array *a) {
  uint32_t dim = PICK(2, 2, 4, 4, 4, 8, 8, 16);
  // Up to a mesh without any register.
  uint32_t tile_rows = sim_gen_one_in(r, 3) ? PICK(2, 2, dim) : 1,
           tile_columns = sim_gen_one_in(r, 3) ? PICK(2, 2, dim) : 1;
  a->mesh.tile_rows = tile_rows;
  a->mesh.tile_columns = tile_columns;
  a->mesh.rows = dim / tile_rows;
  a->mesh.columns = dim / tile_columns;
  a->mesh.dataflow = PICK(HW_DATAFLOW_WS, HW_DATAFLOW_OS, HW_DATAFLOW_BOTH, HW_DATAFLOW_BOTH, HW_DATAFLOW_BOTH);
  a->mesh.tile_latency = PICK(0, 0, 0, 1, 2);
  a->mesh.output_delay = PICK(0, 1, 1, 2, 3);
  a->mesh.bias_garbage = a->mesh.dataflow == HW_DATAFLOW_WS && sim_gen_one_in(r, 3);
  a->mesh.zero_skip = sim_gen_one_in(r, 6);
  a->types.output_bits = PICK(20, 20, 20, 24, 32, 18);
}

static void draw_memories(sim_gen_random *r, hw_array *a) {
  uint32_t dim = a->mesh.rows * a->mesh.tile_rows;
  a->scratchpad.banks = PICK(1, 2, 4, 4, 8);
  a->accumulator.banks = PICK(1, 2, 2, 4);
  // 64 to 256 tiles of operands, 16 to 64 of results.
  a->scratchpad.capacity_kib = 1U << sim_gen_in(r, 0, 2);
  while (a->scratchpad.capacity_kib * 1024 < 64 * dim * dim) a->scratchpad.capacity_kib *= 2;
  a->accumulator.capacity_kib = 1U << sim_gen_in(r, 0, 2);
  while (a->accumulator.capacity_kib * 1024 < 16 * dim * dim * 4) a->accumulator.capacity_kib *= 2;
  a->scratchpad.single_ported = sim_gen_one_in(r, 2);
  a->scratchpad.read_delay = PICK(4, 4, 1, 2, 3, 6);
  a->scratchpad.read_pipeline = PICK(HW_READ_PIPELINE_FIXED, HW_READ_PIPELINE_QUEUE);
  a->scratchpad.execute_writes = flag(r, 4);
  a->accumulator.single_ported = sim_gen_one_in(r, 4);
  a->accumulator.sub_banks = a->accumulator.single_ported ? PICK(2, 4) : 1;
  a->accumulator.latency = PICK(2, 2, 1, 3, 4);
  a->accumulator.execute_reads = flag(r, 4);
  a->accumulator.execute_writes = flag(r, 6);
  a->accumulator.full_reads = flag(r, 6);
  a->accumulator.narrow_reads = flag(r, 8);
  a->accumulator.scale_units = PICK(0, 0, 1, 2, 4);
  a->accumulator.scale_latency = PICK(8, 4, 1, 2, 12);
}

static void draw_units(sim_gen_random *r, hw_array *a) {
  a->load.queue = PICK(8, 1, 2, 4);
  a->load.reservation_entries = PICK(8, 1, 2, 4, 16);
  a->load.scale_units = PICK(4, 0, 1, 2, 8);
  a->load.scale_latency = PICK(4, 1, 2, 7);
  a->store.queue = PICK(2, 1, 4);
  a->store.reservation_entries = PICK(4, 1, 2, 8);
  a->store.order = PICK(HW_STORE_ORDER_ISSUED, HW_STORE_ORDER_COMPLETED);
  a->execute.queue = PICK(8, 3, 4, 6);
  a->execute.reservation_entries = PICK(16, 2, 4, 8);
  a->units.max_pool = flag(r, 4);
  a->units.activation = flag(r, 6);
  a->units.normaliser = sim_gen_one_in(r, 4);
  a->units.transposer = flag(r, 4);
  a->units.loop_matmul = a->mesh.dataflow != HW_DATAFLOW_OS && flag(r, 4);
  a->units.loop_conv = a->mesh.dataflow != HW_DATAFLOW_OS && flag(r, 4);
  a->units.training_conv = flag(r, 3);
  a->units.depthwise_conv = flag(r, 3);
  a->units.pixel_repeat = flag(r, 3);
  a->units.counters = PICK(8, 8, 2, 0);
}

static void draw_bus(sim_gen_random *r, hw_array *a) {
  a->dma.bus_bits = PICK(128, 128, 64, 32, 256);
  a->dma.max_burst_bytes = PICK(64, 64, 32, 16, 128);
  a->dma.reads_in_flight = PICK(16, 4, 1, 8, 32);
  a->dma.writes_in_flight = PICK(16, 4, 1, 8, 32);
  a->dma.tlb_entries = PICK(4, 1, 8);
}

void sim_gen_memory_timing(uint64_t seed, hw_array *a) {
  sim_gen_random of = sim_gen_random_of(seed, 3), *r = &of;
  a->memory.model = PICK(HW_MEMORY_FIXED, HW_MEMORY_FIXED, HW_MEMORY_DDR3, HW_MEMORY_DDR4);
  a->memory.latency_cycles = PICK(50, 0, 1, 10, 100, 200);
  a->memory.bytes_per_cycle = PICK(8, 1, 4, 16, 64);
  a->memory.clock_mhz = PICK(1000, 100, 500);
  a->memory.banks = PICK(8, 4, 16);
  a->memory.row_bytes = PICK(8192, 256, 2048);
  a->memory.path_cycles = PICK(5, 0, 20);
  a->memory.row_accesses = PICK(4, 1, 100);
  a->memory.controller_ns = PICK(12, 0, 40);
  a->l2.present = flag(r, 4);
  a->l2.capacity_kib = PICK(512, 4, 16);
  a->l2.ways = PICK(8, 1, 2);
  a->l2.line_bytes = PICK(64, 128);
  a->l2.misses_in_flight = PICK(12, 1, 2, 4);
  a->l2.hit_latency = PICK(10, 4, 6, 30);
  wf_diag silent = wf_diag_to(NULL);
  if (hw_array_check(a, NULL, &silent)) return;
  a->l2.line_bytes = 128;  // no narrower than the bus
}

void sim_gen_array(uint64_t seed, hw_array *a) {
  sim_gen_random of = sim_gen_random_of(seed, 2), *r = &of;
  for (int i = 0; i < TRIES; i++) {
    hw_array_default(a);
    a->isa.revision = between(r, 1, 2);
    a->memory.capacity_mib = 256;
    draw_mesh(r, a);
    draw_memories(r, a);
    draw_units(r, a);
    draw_bus(r, a);
    sim_gen_memory_timing(sim_gen_bits(r), a);
    a->load.packed_int4 = sim_gen_one_in(r, 2);
    a->units.gate = a->accumulator.narrow_reads && sim_gen_one_in(r, 2);
    snprintf(a->name, sizeof a->name, "random-%llu", (unsigned long long)seed);
    wf_diag silent = wf_diag_to(NULL);
    if (hw_array_check(a, NULL, &silent)) return;
  }
  hw_array_default(a);
}
