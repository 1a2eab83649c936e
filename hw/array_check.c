// SPDX-License-Identifier: Apache-2.0
// Rules between parameters: what no hardware can be built for, each with the reason and the keys and values that
// collide. The range of a single parameter is the table's business. A rule only refuses; it never repairs. A message
// stands at the first of its keys that the file states, so the most telling key comes first.
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>

#include "hw/array_internal.h"

enum {
  DIM_MIN = 2,
  DIM_MAX = 128,
  // The row number and the garbage bit above it lie below the norm command of a local address.
  ADDRESS_FLAGS_FROM_BIT = 26,
  KEYS_MAX = 6,
};

typedef struct checker {
  const hw_array *array;
  hw_derived derived;
  const char *file;
  const hw_positions *positions;
  wf_diag *diag;
} checker;

// A list of keys that ends with HW_PARAM_COUNT.
#define KEYS(...) ((const enum hw_param_id[KEYS_MAX]){__VA_ARGS__, HW_PARAM_COUNT})

static wf_location place_of(const checker *c, const enum hw_param_id *keys) {
  for (size_t i = 0; c->positions != NULL && keys[i] != HW_PARAM_COUNT; i++) {
    if (c->positions->of[keys[i]].line != 0) return c->positions->of[keys[i]];
  }
  return wf_in_file(c->file);
}

WF_PRINTF(3, 4)
static void refuse(const checker *c, const enum hw_param_id *keys, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wf_error(c->diag, place_of(c, keys), "%s", text);
}

static bool power_of_two(uint32_t value) { return value != 0 && (value & (value - 1)) == 0; }

// False: the other rules have no side length to speak of.
static bool check_square(const checker *c) {
  const hw_array *a = c->array;
  uint32_t high = a->mesh.rows * a->mesh.tile_rows, wide = a->mesh.columns * a->mesh.tile_columns;
  if (high != wide) {
    refuse(c, KEYS(HW_P_mesh_rows, HW_P_mesh_tile_rows, HW_P_mesh_columns, HW_P_mesh_tile_columns),
           "the array must be square: mesh.rows %" PRIu32 " x mesh.tile_rows %" PRIu32 " is %" PRIu32
           " PEs high, mesh.columns %" PRIu32 " x mesh.tile_columns %" PRIu32 " is %" PRIu32 " PEs wide",
           a->mesh.rows, a->mesh.tile_rows, high, a->mesh.columns, a->mesh.tile_columns, wide);
    return false;
  }
  if (high < DIM_MIN || high > DIM_MAX) {
    refuse(c, KEYS(HW_P_mesh_rows, HW_P_mesh_tile_rows, HW_P_mesh_columns, HW_P_mesh_tile_columns),
           "mesh.rows %" PRIu32 " x mesh.tile_rows %" PRIu32 " is an array of %" PRIu32
           " PEs per side; %d to %d can be built",
           a->mesh.rows, a->mesh.tile_rows, high, DIM_MIN, DIM_MAX);
    return false;
  }
  return true;
}

static void check_dataflow(const checker *c) {
  const hw_array *a = c->array;
  if (a->mesh.bias_garbage && a->mesh.dataflow != HW_DATAFLOW_WS) {
    refuse(c, KEYS(HW_P_mesh_bias_garbage, HW_P_mesh_dataflow),
           "mesh.bias_garbage true removes the D port, which output-stationary products need; "
           "mesh.dataflow must be ws, not %s",
           a->mesh.dataflow == HW_DATAFLOW_OS ? "os" : "both");
  }
  if (!a->units.transposer && a->mesh.dataflow != HW_DATAFLOW_WS) {
    refuse(c, KEYS(HW_P_units_transposer, HW_P_mesh_dataflow),
           "units.transposer false removes what output-stationary products bring A in with, column by column; "
           "mesh.dataflow must be ws, not %s",
           a->mesh.dataflow == HW_DATAFLOW_OS ? "os" : "both");
  }
  if (a->mesh.dataflow == HW_DATAFLOW_OS && (a->units.loop_matmul || a->units.loop_conv)) {
    bool matmul = a->units.loop_matmul;
    refuse(c, KEYS(matmul ? HW_P_units_loop_matmul : HW_P_units_loop_conv, HW_P_mesh_dataflow),
           "units.%s true unrolls into weight-stationary products, which mesh.dataflow os cannot run",
           matmul ? "loop_matmul" : "loop_conv");
  }
  const uint32_t safe_bits = hw_safe_output_bits(a);
  if (a->types.output_bits < safe_bits) {
    wf_warning(c->diag, place_of(c, KEYS(HW_P_types_output_bits, HW_P_mesh_rows, HW_P_mesh_tile_rows)),
               "types.output_bits %" PRIu32 " lets a sum over %" PRIu32 " products wrap; %" PRIu32 " or more cannot",
               a->types.output_bits, c->derived.dim, safe_bits);
  }
}

typedef struct local_memory {
  const char *name;
  enum hw_param_id capacity, banks;
  uint32_t capacity_kib, bank_count, row_bytes, rows;
  uint32_t loop_tiles;  // that the unrollers need at once
  const char *loop_use;
} local_memory;

// A bank decodes its row from address bits and holds the consecutive rows of at least one tile.
static bool check_local_memory(const checker *c, const local_memory *m) {
  const uint32_t dim = c->derived.dim;
  const uint64_t bytes = UINT64_C(1024) * m->capacity_kib, bank_bytes = (uint64_t)m->row_bytes * m->bank_count;
  const uint32_t bank_rows = (uint32_t)(bytes / bank_bytes);
  const enum hw_param_id *keys = KEYS(m->capacity, m->banks, HW_P_mesh_rows, HW_P_mesh_tile_rows);
  if (bytes % bank_bytes != 0 || !power_of_two(bank_rows)) {
    refuse(c, keys,
           "%s.capacity_kib %" PRIu32 " in %s.banks %" PRIu32 " with rows of %" PRIu32
           " bytes is %.10g rows per bank; it must be a power of two",
           m->name, m->capacity_kib, m->name, m->bank_count, m->row_bytes, (double)bytes / (double)bank_bytes);
  } else if (bank_rows < dim) {
    refuse(c, keys,
           "%s.capacity_kib %" PRIu32 " in %s.banks %" PRIu32 " is %" PRIu32 " rows per bank; a tile has %" PRIu32
           " rows and must fit a bank",
           m->name, m->capacity_kib, m->name, m->bank_count, bank_rows, dim);
  } else if ((c->array->units.loop_matmul || c->array->units.loop_conv) && m->rows < m->loop_tiles * dim) {
    refuse(c, keys,
           "%s.capacity_kib %" PRIu32 " is %" PRIu32 " rows; the loop unrollers need %" PRIu32 " tiles of %" PRIu32
           " rows, %s",
           m->name, m->capacity_kib, m->rows, m->loop_tiles, dim, m->loop_use);
  } else {
    return true;
  }
  return false;
}

static bool check_local_memories(const checker *c) {
  const hw_array *a = c->array;
  const hw_derived *d = &c->derived;
  const local_memory scratchpad = {"scratchpad",
                                   HW_P_scratchpad_capacity_kib,
                                   HW_P_scratchpad_banks,
                                   a->scratchpad.capacity_kib,
                                   a->scratchpad.banks,
                                   d->sp_row_bytes,
                                   d->sp_rows,
                                   4,
                                   "one of A and one of B in each half"};
  const local_memory accumulator = {"accumulator",
                                    HW_P_accumulator_capacity_kib,
                                    HW_P_accumulator_banks,
                                    a->accumulator.capacity_kib,
                                    a->accumulator.banks,
                                    d->acc_row_bytes,
                                    d->acc_rows,
                                    2,
                                    "one of C in each half"};
  bool good = check_local_memory(c, &scratchpad);
  good = check_local_memory(c, &accumulator) && good;
  // The ranges of capacity and side length already see to it.
  assert(d->row_bits + 1 <= ADDRESS_FLAGS_FROM_BIT);
  return good;
}

static void check_sub_banks(const checker *c) {
  const hw_array *a = c->array;
  const uint32_t sub_banks = a->accumulator.sub_banks, bank_rows = c->derived.acc_bank_rows;
  const enum hw_param_id *keys = KEYS(HW_P_accumulator_sub_banks, HW_P_accumulator_single_ported);
  if (!a->accumulator.single_ported && sub_banks != 1) {
    refuse(c, keys,
           "accumulator.sub_banks %" PRIu32
           " belongs to accumulator.single_ported true; "
           "a two-ported bank is one memory (sub_banks 1)",
           sub_banks);
  } else if (a->accumulator.single_ported && sub_banks < 2) {
    refuse(c, keys,
           "accumulator.single_ported true needs accumulator.sub_banks 2 or more, not %" PRIu32
           ": accumulating reads one row while it writes another",
           sub_banks);
  } else if (!power_of_two(sub_banks) || sub_banks > bank_rows) {
    refuse(c, keys,
           "accumulator.sub_banks %" PRIu32 " cannot share the %" PRIu32
           " rows of a bank by low address bits; it must be a power of two up to that number",
           sub_banks, bank_rows);
  }
}

static void check_data_paths(const checker *c) {
  const hw_array *a = c->array;
  if (!a->scratchpad.execute_writes && !a->accumulator.execute_writes) {
    refuse(c, KEYS(HW_P_scratchpad_execute_writes, HW_P_accumulator_execute_writes),
           "scratchpad.execute_writes and accumulator.execute_writes are both false: results have nowhere to go");
  }
  if (!a->accumulator.full_reads && !a->accumulator.narrow_reads) {
    refuse(c, KEYS(HW_P_accumulator_full_reads, HW_P_accumulator_narrow_reads),
           "accumulator.full_reads and accumulator.narrow_reads are both false: nothing can leave the accumulator");
  } else if (a->accumulator.execute_reads && !a->accumulator.narrow_reads) {
    refuse(c, KEYS(HW_P_accumulator_narrow_reads, HW_P_accumulator_execute_reads),
           "accumulator.execute_reads true needs accumulator.narrow_reads true: operands are scaled int8 rows");
  }
  if (a->units.normaliser && !a->accumulator.narrow_reads) {
    refuse(c, KEYS(HW_P_units_normaliser, HW_P_accumulator_narrow_reads),
           "units.normaliser true needs accumulator.narrow_reads true: normalised rows leave as scaled int8");
  }
  if (a->units.gate && !a->accumulator.narrow_reads) {
    refuse(c, KEYS(HW_P_units_gate, HW_P_accumulator_narrow_reads),
           "units.gate true needs accumulator.narrow_reads true: it multiplies rows that leave as scaled int8");
  }
  if (a->units.normaliser && !a->units.activation) {
    refuse(c, KEYS(HW_P_units_normaliser, HW_P_units_activation),
           "units.normaliser true needs units.activation true: layer norm, softmax and GELU are activations");
  }
}

static void check_bus(const checker *c) {
  const hw_array *a = c->array;
  const uint32_t beat_bytes = a->dma.bus_bits / 8;
  if (a->dma.max_burst_bytes < beat_bytes) {
    refuse(c, KEYS(HW_P_dma_max_burst_bytes, HW_P_dma_bus_bits),
           "dma.max_burst_bytes %" PRIu32 " is less than one beat of dma.bus_bits %" PRIu32 " (%" PRIu32 " bytes)",
           a->dma.max_burst_bytes, a->dma.bus_bits, beat_bytes);
  }
  if (a->l2.present && beat_bytes > a->l2.line_bytes) {
    refuse(c, KEYS(HW_P_dma_bus_bits, HW_P_l2_line_bytes),
           "a beat of dma.bus_bits %" PRIu32 " (%" PRIu32 " bytes) is wider than l2.line_bytes %" PRIu32,
           a->dma.bus_bits, beat_bytes, a->l2.line_bytes);
  }
}

// Commands of an unroller carry no tokens, and a token says nothing about two commands of one unit.
static void check_sync(const checker *c) {
  const hw_array *a = c->array;
  if (a->sync.by != HW_SYNC_TOKENS) return;
  if (a->units.loop_matmul || a->units.loop_conv) {
    bool matmul = a->units.loop_matmul;
    refuse(c, KEYS(matmul ? HW_P_units_loop_matmul : HW_P_units_loop_conv, HW_P_sync_by),
           "units.%s true unrolls into commands without tokens; sync.by tokens needs units.loop_matmul and "
           "units.loop_conv false",
           matmul ? "loop_matmul" : "loop_conv");
  }
  if (a->store.order == HW_STORE_ORDER_COMPLETED)
    refuse(c, KEYS(HW_P_store_order, HW_P_sync_by),
           "store.order completed is a wait of the reservation station; sync.by tokens needs store.order issued");
}

typedef struct cache {
  const char *section, *capacity_name, *ways_name;
  enum hw_param_id capacity, ways, line;
  uint32_t capacity_kib, way_count, line_bytes;
} cache;

static void check_cache(const checker *c, const cache *k) {
  if (UINT64_C(1024) * k->capacity_kib >= (uint64_t)k->way_count * k->line_bytes) return;
  refuse(c, KEYS(k->capacity, k->ways, k->line),
         "%s.%s %" PRIu32 " does not hold one set: %s.%s %" PRIu32 " lines of %s.line_bytes %" PRIu32, k->section,
         k->capacity_name, k->capacity_kib, k->section, k->ways_name, k->way_count, k->section, k->line_bytes);
}

static void check_caches(const checker *c) {
  const hw_array *a = c->array;
  const cache caches[] = {
      {"host", "icache_kib", "icache_ways", HW_P_host_icache_kib, HW_P_host_icache_ways, HW_P_host_line_bytes,
       a->host.icache_kib, a->host.icache_ways, a->host.line_bytes},
      {"host", "dcache_kib", "dcache_ways", HW_P_host_dcache_kib, HW_P_host_dcache_ways, HW_P_host_line_bytes,
       a->host.dcache_kib, a->host.dcache_ways, a->host.line_bytes},
      {"l2", "capacity_kib", "ways", HW_P_l2_capacity_kib, HW_P_l2_ways, HW_P_l2_line_bytes, a->l2.capacity_kib,
       a->l2.ways, a->l2.line_bytes},
  };
  const size_t count = sizeof caches / sizeof *caches;
  for (size_t i = 0; i < (a->l2.present ? count : count - 1); i++) check_cache(c, &caches[i]);
}

bool hw_array_check_at(const hw_array *array, const char *file, const hw_positions *positions, wf_diag *diag) {
  const unsigned errors = diag->errors;
  checker c = {array, {0}, file, positions, diag};
  if (check_square(&c)) {
    c.derived = hw_derive(array);
    check_dataflow(&c);
    if (check_local_memories(&c)) check_sub_banks(&c);
  }
  check_data_paths(&c);
  check_sync(&c);
  check_bus(&c);
  check_caches(&c);
  return diag->errors == errors;
}

// Reports a value that is outside its parameter's range; only a caller that built the struct itself can have one.
static bool check_ranges(const hw_array *array, const char *file, wf_diag *diag) {
  const unsigned errors = diag->errors;
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) {
    uint32_t value = hw_param_get(array, &params[i]), ignored;
    char text[32];
    hw_param_text(&params[i], value, text, sizeof text);
    if (hw_param_value(&params[i], text, &ignored)) continue;
    wf_error(diag, wf_in_file(file), "%s.%s cannot be %s", params[i].section, params[i].name, text);
  }
  return diag->errors == errors;
}

bool hw_array_check(const hw_array *array, const char *file, wf_diag *diag) {
  return check_ranges(array, file, diag) && hw_array_check_at(array, file, NULL, diag);
}
