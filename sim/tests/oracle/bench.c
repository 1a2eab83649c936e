// SPDX-License-Identifier: Apache-2.0
// See bench.h.
#include "sim/tests/oracle/bench.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/tests/oracle/numerics.h"

enum { MEMORY_BYTES = 32 << 20, MARGIN_BYTES = 4096, REPORTED_FAILURES = 10 };

void bench_open(bench *b, const sim_engine_ops *ops, const char *program_name) {
  *b = (bench){.ops = ops, .program_name = program_name};
  b->memory = arch_memory_create(MEMORY_BYTES);
  b->want = arch_memory_create(MEMORY_BYTES);
  assert(b->memory != NULL && b->want != NULL);
}

void bench_close(bench *b) {
  arch_memory_destroy(b->memory);
  arch_memory_destroy(b->want);
  command_list_free(&b->program);
}

// ---- arrays

static uint32_t kib(int64_t rows, int64_t row_bytes) {
  int64_t value = rows * row_bytes / 1024;
  return (uint32_t)(value < 1 ? 1 : value);
}

hw_array oracle_array(int64_t dim, uint32_t revision, oracle_random *random) {
  static const uint32_t sp_banks[] = {1, 2, 4, 4, 8};
  static const uint32_t acc_banks[] = {1, 2, 2, 4};
  static const uint32_t widths[] = {20, 20, 20, 24, 32, 17};
  static const uint32_t bursts[] = {64, 64, 64, 32, 128};
  hw_array array;
  hw_array_default(&array);
  array.isa.revision = revision;
  int64_t tile_rows = random_one_in(random, 4) ? 2 : 1;
  int64_t tile_columns = random_one_in(random, 4) ? 2 : 1;
  array.mesh.tile_rows = (uint32_t)tile_rows;
  array.mesh.tile_columns = (uint32_t)tile_columns;
  array.mesh.rows = (uint32_t)(dim / tile_rows);
  array.mesh.columns = (uint32_t)(dim / tile_columns);
  array.types.output_bits = RANDOM_PICK(random, widths);
  array.scratchpad.banks = RANDOM_PICK(random, sp_banks);
  array.accumulator.banks = RANDOM_PICK(random, acc_banks);
  array.dma.max_burst_bytes = RANDOM_PICK(random, bursts);
  array.load.packed_int4 = random_one_in(random, 2);
  array.units.gate = random_one_in(random, 2);
  if (dim >= 8 && random_one_in(random, 8)) return array;  // the default capacities
  array.scratchpad.capacity_kib = kib(64 * dim << random_in(random, 0, 1), dim);
  array.accumulator.capacity_kib = kib(16 * dim << random_in(random, 0, 1), 4 * dim);
  return array;
}

// ---- a case

void bench_begin(bench *b, const char *group, uint64_t number, int64_t dim, uint64_t seed, uint32_t revision) {
  b->group = group;
  b->seed = seed;
  b->dim = dim;
  b->random = random_of(seed, number, (uint64_t)dim);
  uint32_t drawn = revision != 0 ? revision : (uint32_t)random_in(&b->random, 1, 2);
  b->array = oracle_array(dim, drawn, &b->random);
  b->size = hw_derive(&b->array);
  b->top = ARCH_MEMORY_BASE + MARGIN_BYTES;
  b->region_count = 0;
  b->what[0] = '\0';
  command_list_clear(&b->program);
  b->cases++;
}

void bench_describe(bench *b, const char *format, ...) {
  size_t used = strlen(b->what);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(b->what + used, sizeof b->what - used, format, arguments);
  va_end(arguments);
}

uint64_t bench_alloc(bench *b, const char *name, int64_t bytes) {
  assert(b->region_count < BENCH_REGIONS && bytes >= 0);
  uint64_t address = b->top + (uint64_t)random_in(&b->random, 0, 100);
  uint64_t end = (address + (uint64_t)bytes + 8) & ~UINT64_C(7);
  b->regions[b->region_count++] = (bench_region){name, address, (uint64_t)bytes};
  for (uint64_t at = b->top & ~UINT64_C(7); at < end; at += 8) {
    uint64_t noise = random_u64(&b->random);
    uint8_t *to = arch_memory_at(b->memory, at, 8);
    assert(to != NULL);
    if (at < b->top) continue;
    memcpy(to, &noise, 8);
    memcpy(arch_memory_at(b->want, at, 8), &noise, 8);
  }
  b->top = end;
  return address;
}

static void poke(const arch_memory *memory, uint64_t address, int64_t value, size_t size) {
  uint8_t *to = arch_memory_at(memory, address, size);
  assert(to != NULL);
  for (size_t i = 0; i < size; i++) to[i] = (uint8_t)((uint64_t)value >> (8 * i));
}

void bench_put8(bench *b, uint64_t address, int64_t value) {
  poke(b->memory, address, value, 1);
  poke(b->want, address, value, 1);
}

void bench_put32(bench *b, uint64_t address, int64_t value) {
  poke(b->memory, address, value, 4);
  poke(b->want, address, value, 4);
}

void bench_want8(bench *b, uint64_t address, int64_t value) { poke(b->want, address, value, 1); }
void bench_want32(bench *b, uint64_t address, int64_t value) { poke(b->want, address, value, 4); }

// ---- operands

fill_style bench_style(bench *b) { return (fill_style)random_in(&b->random, 0, FILL_STYLES - 1); }

int64_t bench_draw8(bench *b, fill_style style) {
  static const int64_t extremes[] = {-128, -128, 127, 127, -127, 0};
  int64_t uniform = random_in(&b->random, -128, 127);
  switch (style) {
    case FILL_EXTREME:
      return RANDOM_PICK(&b->random, extremes);
    case FILL_SPARSE:
      return random_one_in(&b->random, 5) ? uniform : 0;
    case FILL_SMALL:
      return uniform / 32;
    default:
      return uniform;
  }
}

int64_t bench_draw32(bench *b, fill_style style) {
  static const int64_t extremes[] = {INT32_MIN, INT32_MAX, 1 << 19, -(1 << 19), 16777217, 33554435, -1, 0};
  int64_t uniform = random_in(&b->random, INT32_MIN, INT32_MAX);
  switch (style) {
    case FILL_EXTREME:
      return RANDOM_PICK(&b->random, extremes);
    case FILL_SPARSE:
      return random_one_in(&b->random, 5) ? uniform / 4096 : 0;
    case FILL_SMALL:
      return uniform >> 22;
    default:
      return uniform >> random_in(&b->random, 0, 20);
  }
}

uint32_t bench_scale(bench *b) {
  static const uint32_t round[] = {0x3f800000, 0x3f800000, 0x3f000000, 0x3e800000, 0x3c800000, 0x3b800000, 0x3eaaaaab};
  if (random_one_in(&b->random, 2)) return RANDOM_PICK(&b->random, round);
  uint32_t exponent = (uint32_t)random_in(&b->random, 127 - 12, 127 + 1);
  return exponent << 23 | (uint32_t)random_in(&b->random, 0, 0x7fffff);
}

// Sums of products of int8 values mostly lie between 2^8 and 2^18: most results of this scale are not saturated.
uint32_t bench_sum_scale(bench *b) {
  if (random_one_in(&b->random, 4)) return bench_scale(b);
  uint32_t exponent = (uint32_t)random_in(&b->random, 127 - 12, 127 - 4);
  return exponent << 23 | (uint32_t)random_in(&b->random, 0, 0x7fffff);
}

uint32_t bench_wild_scale(bench *b) {
  static const uint32_t special[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00000, 0x00000001,
                                     0x807fffff, 0x00000000, 0x80000000, 0x7f7fffff, 0xbf800000, 0x00800000};
  if (random_one_in(&b->random, 3)) return RANDOM_PICK(&b->random, special);
  uint32_t scale = random_one_in(&b->random, 4) ? (uint32_t)random_u64(&b->random) : bench_scale(b);
  if (scale == SCALE_KEEP) scale = FLOAT_ONE;
  return random_one_in(&b->random, 3) ? scale ^ 0x80000000 : scale;
}

// ---- running

// The cycle after the one that took the command, or that met the fault.
static uint64_t push_one(const sim_engine_ops *ops, sim_engine *engine, const arch_command *c, uint64_t cycle) {
  uint64_t response = 0;
  while (ops->push(engine, cycle, c, &response) == SIM_PUSH_FULL) {
    uint64_t next = ops->advance(engine, cycle);
    cycle = next > cycle && next != UINT64_MAX ? next : cycle + 1;
  }
  return cycle + 1;
}

// After a fault an engine accepts nothing more: the rest of the program is pushed all the same.
static bool execute_on(bench *b, const sim_engine_ops *ops, sim_engine *engine, char *text, size_t text_size) {
  uint64_t cycle = 0;
  for (size_t i = 0; i < b->program.count; i++) {
    const command *c = &b->program.items[i];
    arch_command sent = {.rs1 = c->rs1, .rs2 = c->rs2, .index = i, .funct = c->funct, .returns = c->funct == F_COUNTER};
    arch_command_find(&sent, b->array.isa.revision);
    cycle = c->funct == F_FENCE ? ops->drain(engine, cycle) : push_one(ops, engine, &sent, cycle);
  }
  ops->drain(engine, cycle);
  b->fault = *ops->fault(engine);
  if (b->fault.kind == ARCH_FAULT_NONE) return true;
  const arch_command *bad = &b->fault.command;
  snprintf(text, text_size, "fault %d of command %llu (funct %u rs1 %#llx rs2 %#llx): %s", (int)b->fault.kind,
           (unsigned long long)bad->index, bad->funct, (unsigned long long)bad->rs1, (unsigned long long)bad->rs2,
           b->fault.text);
  return false;
}

bool bench_execute(bench *b, const sim_engine_ops *ops, arch_memory *memory, char *text, size_t text_size) {
  wf_diag diag = wf_diag_to(NULL);  // narrow sums are warned of, and wanted here
  sim_engine *engine = ops->create(&b->array, memory, &diag);
  if (engine == NULL) {
    diag = wf_diag_to(stderr);
    ops->create(&b->array, memory, &diag);  // again, for its message
    b->fault = (arch_fault){0};
    snprintf(text, text_size, "the engine refuses the array");
    return false;
  }
  bool good = execute_on(b, ops, engine, text, text_size);
  ops->destroy(engine);
  return good;
}

// ---- judging

static void describe_array(const bench *b) {
  const hw_array *a = &b->array;
  fprintf(
      stderr,
      "  array: dim %u (tiles %ux%u of %ux%u), revision %u, %u-bit sums, scratchpad %u rows in %u banks, accumulator "
      "%u rows in %u banks, burst %u bytes\n",
      b->size.dim, a->mesh.rows, a->mesh.columns, a->mesh.tile_rows, a->mesh.tile_columns, a->isa.revision,
      a->types.output_bits, b->size.sp_rows, a->scratchpad.banks, b->size.acc_rows, a->accumulator.banks,
      a->dma.max_burst_bytes);
}

static void describe_commands(const bench *b) {
  for (size_t i = 0; i < b->program.count; i++) {
    const command *c = &b->program.items[i];
    fprintf(stderr, "  %4zu funct %3u rs1 %016llx rs2 %016llx\n", i, c->funct, (unsigned long long)c->rs1,
            (unsigned long long)c->rs2);
  }
}

static void report(bench *b, const char *text) {
  b->failures++;
  if (b->failures > REPORTED_FAILURES) return;
  fprintf(stderr, "FAIL %s dim %lld seed %llu: %s\n  case: %s\n", b->group, (long long)b->dim,
          (unsigned long long)b->seed, text, b->what);
  describe_array(b);
  fprintf(stderr, "  rerun: %s --engine %s --only %s --dim %lld --seed %llu --count 1\n", b->program_name, b->ops->name,
          b->group, (long long)b->dim, (unsigned long long)b->seed);
  if (b->print_commands) describe_commands(b);
}

static void name_address(const bench *b, uint64_t address, char *text, size_t size) {
  snprintf(text, size, "outside every region");
  for (size_t i = 0; i < b->region_count; i++) {
    const bench_region *r = &b->regions[i];
    if (address >= r->address && address - r->address < r->bytes) {
      snprintf(text, size, "%s+%llu", r->name, (unsigned long long)(address - r->address));
    }
  }
}

static bool compare(bench *b) {
  uint64_t length = b->top + MARGIN_BYTES - ARCH_MEMORY_BASE;
  if (memcmp(b->memory->bytes, b->want->bytes, length) == 0) return true;
  uint64_t first = length, wrong = 0;
  for (uint64_t i = 0; i < length; i++) {
    if (b->memory->bytes[i] == b->want->bytes[i]) continue;
    if (first == length) first = i;
    wrong++;
  }
  char where[64], text[256];
  name_address(b, ARCH_MEMORY_BASE + first, where, sizeof where);
  snprintf(text, sizeof text, "%llu bytes differ, the first at %#llx (%s): got %d, want %d", (unsigned long long)wrong,
           (unsigned long long)(ARCH_MEMORY_BASE + first), where, (int)(int8_t)b->memory->bytes[first],
           (int)(int8_t)b->want->bytes[first]);
  report(b, text);
  // The next case must not inherit stray bytes.
  memcpy(b->memory->bytes, b->want->bytes, length);
  return false;
}

bool bench_finish(bench *b) {
  char text[512];
  if (bench_execute(b, b->ops, b->memory, text, sizeof text)) return compare(b);
  report(b, text);
  memcpy(b->memory->bytes, b->want->bytes, b->top + MARGIN_BYTES - ARCH_MEMORY_BASE);
  return false;
}

bool bench_finish_refused(bench *b, arch_fault_kind kind, uint64_t last) {
  char fault[512], text[640];
  bool accepted = bench_execute(b, b->ops, b->memory, fault, sizeof fault);
  if (!accepted && b->fault.kind == kind && b->fault.command.index <= last) return compare(b);
  snprintf(text, sizeof text, "wanted fault %d by command %llu, got %s", (int)kind, (unsigned long long)last,
           accepted ? "none" : fault);
  report(b, text);
  memcpy(b->memory->bytes, b->want->bytes, b->top + MARGIN_BYTES - ARCH_MEMORY_BASE);
  return false;
}
