// SPDX-License-Identifier: Apache-2.0
// See machine.h. Invariants:
//   sp[row * dim + lane] holds an int8 value, acc[row * dim + lane] an int32 value;
//   active and shadow are the two weight sets [k][j] of the weight-stationary array, sums its output-stationary
//   registers [i][j], already wrapped to the width of the array's outputs; bias is what the last preload brought for
//   OS.
#include "sim/tests/oracle/machine.h"

#include <stdio.h>

#include "base/alloc.h"
#include "sim/tests/oracle/commands.h"
#include "sim/tests/oracle/numerics.h"

typedef struct place {
  bool garbage;
  bool acc;
  bool accumulate;
  bool full;
  int64_t row;
  int64_t rows;  // logical size
  int64_t cols;
} place;

typedef struct machine {
  sim_engine engine;
  arch_memory *memory;
  arch_fault fault;
  int64_t dim, sp_rows, acc_rows;
  unsigned row_bits;
  unsigned output_bits;
  int *sp;
  int *acc;
  config_ld load[3];
  config_st store;
  config_gate gate;
  config_ex execute;
  int *active;
  int *shadow;
  int *sums;
  int *bias;
  place destination;  // C of the last preload
} machine;

static uint64_t bits(uint64_t word, unsigned high, unsigned low) {
  return (word >> low) & ((UINT64_C(2) << (high - low)) - 1);
}

static bool fail(machine *m, arch_fault_kind kind, const char *text, int64_t number) {
  if (m->fault.kind != ARCH_FAULT_NONE) return false;
  m->fault.kind = kind;
  snprintf(m->fault.text, sizeof m->fault.text, "%s (%lld)", text, (long long)number);
  return false;
}

static place decode_place(const machine *m, uint64_t word) {
  uint64_t row_mask = (UINT64_C(1) << m->row_bits) - 1;
  place p = {.acc = bits(word, 31, 31), .accumulate = bits(word, 30, 30), .full = bits(word, 29, 29)};
  p.row = (int64_t)(word & row_mask);
  p.cols = (int64_t)bits(word, 47, 32);
  p.rows = (int64_t)bits(word, 63, 48);
  bool garbage_bit = bits(word, m->row_bits, m->row_bits) != 0;
  p.garbage = p.acc && p.accumulate && p.full && garbage_bit && (uint64_t)p.row == row_mask;
  return p;
}

// The lanes of row `offset` rows after the place; NULL after a fault.
static int *lanes_of(machine *m, place p, int64_t offset) {
  int64_t field = INT64_C(1) << m->row_bits;
  int64_t row = (((p.row + offset) % field) + field) % field;
  if (row >= (p.acc ? m->acc_rows : m->sp_rows)) {
    fail(m, ARCH_FAULT_LOCAL, "no such local row", row);
    return NULL;
  }
  return (p.acc ? m->acc : m->sp) + row * m->dim;
}

static int64_t read_memory(machine *m, uint64_t address, size_t size) {
  uint8_t b[4] = {0};
  if (!arch_memory_read(m->memory, address, b, size))
    fail(m, ARCH_FAULT_MEMORY, "read outside memory", (int64_t)address);
  if (size == 1) return oracle_wrap(b[0], 8);
  return oracle_wrap(b[0] + b[1] * INT64_C(256) + b[2] * INT64_C(65536) + b[3] * INT64_C(16777216), 32);
}

static void write_memory(machine *m, uint64_t address, int64_t value, size_t size) {
  uint8_t b[4];
  for (size_t i = 0; i < 4; i++) b[i] = (uint8_t)((uint64_t)value >> (8 * i));
  if (!arch_memory_write(m->memory, address, b, size)) {
    fail(m, ARCH_FAULT_MEMORY, "write outside memory", (int64_t)address);
  }
}

// ---- configuration

static void set_execute(machine *m, const arch_command *c) {
  m->execute.a_stride = (uint32_t)bits(c->rs1, 31, 16);
  m->execute.c_stride = (uint32_t)bits(c->rs2, 63, 48);
  if (bits(c->rs1, 7, 7)) return;
  m->execute.ws = bits(c->rs1, 2, 2);
  m->execute.activation = (uint32_t)bits(c->rs1, 4, 3);
  m->execute.a_transpose = bits(c->rs1, 8, 8);
  m->execute.b_transpose = bits(c->rs1, 9, 9);
  m->execute.scale = (uint32_t)bits(c->rs1, 63, 32);
  m->execute.shift = (uint32_t)bits(c->rs2, 4, 0);
}

static void set_load(machine *m, const arch_command *c) {
  uint64_t state = bits(c->rs1, 4, 3);
  if (state > 2) {
    fail(m, ARCH_FAULT_ILLEGAL, "no such load state", (int64_t)state);
    return;
  }
  uint32_t repeats = (uint32_t)bits(c->rs1, 15, 8);
  m->load[state] = (config_ld){.state = (uint32_t)state,
                               .stride = c->rs2,
                               .block_stride = (uint32_t)bits(c->rs1, 31, 16),
                               .scale = (uint32_t)bits(c->rs1, 63, 32),
                               .repeats = repeats == 0 ? 1 : repeats,
                               .shrink = bits(c->rs1, 2, 2),
                               .packed = bits(c->rs1, 5, 5)};
}

static void set_store(machine *m, const arch_command *c) {
  config_st *s = &m->store;
  s->stride = (uint32_t)bits(c->rs2, 31, 0);
  if (bits(c->rs2, 63, 32) != SCALE_KEEP) s->scale = (uint32_t)bits(c->rs2, 63, 32);
  s->activation = (uint32_t)bits(c->rs1, 3, 2);
  s->pool_stride = (uint32_t)bits(c->rs1, 5, 4);
  s->pool_size = (uint32_t)bits(c->rs1, 7, 6);
  if (s->pool_stride == 0 && s->pool_size == 0) return;
  s->out_dim = (uint32_t)bits(c->rs1, 31, 24);
  s->orows = (uint32_t)bits(c->rs1, 55, 48);
  s->ocols = (uint32_t)bits(c->rs1, 63, 56);
  if (s->pool_stride == 0) return;
  s->upad = (uint32_t)bits(c->rs1, 9, 8);
  s->lpad = (uint32_t)bits(c->rs1, 11, 10);
  s->porows = (uint32_t)bits(c->rs1, 39, 32);
  s->pocols = (uint32_t)bits(c->rs1, 47, 40);
}

static void set_gate(machine *m, const arch_command *c) {
  m->gate = (config_gate){bits(c->rs1, 32, 32), (int32_t)(uint32_t)bits(c->rs1, 31, 0), (uint32_t)bits(c->rs2, 31, 0)};
}

static void do_config(machine *m, const arch_command *c) {
  switch (bits(c->rs1, 1, 0)) {
    case 0:
      set_execute(m, c);
      return;
    case 1:
      set_load(m, c);
      return;
    case 2:
      set_store(m, c);
      return;
    default:
      fail(m, ARCH_FAULT_ILLEGAL, "no normaliser", 0);
  }
}

// ---- loads

static void write_lane(machine *m, place to, int64_t row, int64_t lane, int64_t value) {
  int *lanes = lanes_of(m, to, row);
  if (lanes == NULL) return;
  if (to.acc && to.accumulate) value = oracle_wrap(lanes[lane] + value, 32);
  lanes[lane] = (int)value;
}

// Copy q of an element lands q rows earlier and q * cols lanes to the right, unless it would leave its half.
static void write_repeats(machine *m, place to, int64_t row, int64_t lane, int64_t value, int64_t repeats) {
  int64_t half = m->sp_rows / 2;
  int64_t target = to.row + row;
  int64_t least = target < half ? 0 : half;
  for (int64_t q = 1; q < repeats; q++) {
    if (target - q >= least) write_lane(m, to, row - q, lane + q * to.cols, value);
  }
}

// The first element of a byte is its value modulo 16, the second what is left divided by 16; both lie in -8 .. 7.
static int64_t packed_element(machine *m, uint64_t row, int64_t j) {
  int64_t byte = read_memory(m, row + (uint64_t)(j / 2), 1);
  int64_t first = (byte + 8 + 256) % 16 - 8;
  if (j % 2 == 0) return first;
  int64_t low = first < 0 ? first + 16 : first;
  return (byte - low) / 16;
}

static int64_t load_element(machine *m, const config_ld *c, place to, uint64_t address, int64_t i, int64_t j) {
  bool wide = to.acc && !c->shrink;
  size_t size = wide ? 4 : 1;
  if (address == 0) return 0;
  uint64_t row_address = address + (uint64_t)i * c->stride;
  int64_t value =
      c->packed ? packed_element(m, row_address, j) : read_memory(m, row_address + (uint64_t)j * size, size);
  return wide || c->scale == FLOAT_ONE ? value : oracle_scale(value, c->scale);
}

static void do_mvin(machine *m, const arch_command *c, unsigned state) {
  const config_ld *config = &m->load[state];
  place to = decode_place(m, c->rs2);
  for (int64_t i = 0; i < to.rows; i++) {
    for (int64_t j = 0; j < to.cols; j++) {
      int64_t value = load_element(m, config, to, c->rs1, i, j);
      int64_t row = i + j / m->dim * config->block_stride;
      write_lane(m, to, row, j % m->dim, value);
      if (!to.acc) write_repeats(m, to, row, j % m->dim, value, config->repeats);
    }
  }
}

// ---- stores

static int64_t narrow(int64_t value, uint32_t activation, uint32_t scale) {
  return oracle_scale(activation == 1 ? oracle_relu(value) : value, scale);
}

// The int8 value that leaves the store unit.
static int64_t stored_int8(machine *m, place from, int64_t row, int64_t lane) {
  const int *lanes = lanes_of(m, from, row);
  if (lanes == NULL) return 0;
  return from.acc ? narrow(lanes[lane], m->store.activation, m->store.scale) : lanes[lane];
}

// The product of what leaves the accumulator and an element of the scratchpad.
static int64_t gated_int8(machine *m, place from, int64_t row, int64_t lane) {
  const int64_t value = stored_int8(m, from, row, lane);
  if (!m->gate.on || !from.acc) return value;
  const int *factors = lanes_of(m, (place){.row = from.row + m->gate.offset}, row);
  return factors == NULL ? 0 : oracle_scale(value * factors[lane], m->gate.scale);
}

static void store_row(machine *m, place from, int64_t row, uint64_t address) {
  for (int64_t j = 0; j < from.cols; j++) {
    int64_t local_row = row + j / m->dim * m->dim;
    if (from.acc && from.full) {
      const int *lanes = lanes_of(m, from, local_row);
      if (lanes != NULL) write_memory(m, address + 4 * (uint64_t)j, lanes[j % m->dim], 4);
    } else {
      write_memory(m, address + (uint64_t)j, gated_int8(m, from, local_row, j % m->dim), 1);
    }
  }
}

static int64_t window_maximum(machine *m, place from, int64_t prow, int64_t pcol, int64_t channel) {
  const config_st *s = &m->store;
  int64_t best = -128;
  for (int64_t wr = 0; wr < s->pool_size; wr++) {
    for (int64_t wc = 0; wc < s->pool_size; wc++) {
      int64_t r = prow * s->pool_stride + wr - s->upad;
      int64_t c = pcol * s->pool_stride + wc - s->lpad;
      bool inside = r >= 0 && r < s->orows && c >= 0 && c < s->ocols;
      int64_t value = inside ? stored_int8(m, from, r * s->ocols + c, channel) : 0;
      if (value > best) best = value;
    }
  }
  return best;
}

static void do_pooled_mvout(machine *m, place from, uint64_t address) {
  const config_st *s = &m->store;
  for (int64_t r = 0; r < s->porows; r++) {
    for (int64_t c = 0; c < s->pocols; c++) {
      for (int64_t j = 0; j < from.cols; j++) {
        uint64_t pixel = (uint64_t)(r * s->out_dim + c);
        write_memory(m, address + pixel * s->stride + (uint64_t)j, window_maximum(m, from, r, c, j), 1);
      }
    }
  }
}

static void do_mvout(machine *m, const arch_command *c) {
  const config_st *s = &m->store;
  place from = decode_place(m, c->rs2);
  if (from.garbage && from.rows > 1) {
    fail(m, ARCH_FAULT_LOCAL, "a garbage store of several rows is outside the contract", from.rows);
  } else if (from.garbage) {
    for (int64_t j = 0; j < from.cols; j++) write_memory(m, c->rs1 + (uint64_t)j, 0, 1);
  } else if (s->pool_stride != 0) {
    do_pooled_mvout(m, from, c->rs1);
  } else if (s->pool_size != 0) {
    for (int64_t n = 0; n < (int64_t)s->orows * s->ocols; n++) {
      int64_t pixel = n / s->ocols * s->out_dim + n % s->ocols;
      store_row(m, from, n, c->rs1 + (uint64_t)pixel * s->stride);
    }
  } else {
    for (int64_t i = 0; i < from.rows; i++) store_row(m, from, i, c->rs1 + (uint64_t)i * s->stride);
  }
}

// ---- matrix products

// Element (i, j) of a logical operand: zero outside its size. Transposed, rows and lanes change places.
static int64_t element(machine *m, place p, int64_t i, int64_t j, bool transposed, int64_t stride) {
  if (p.garbage || i >= p.rows || j >= p.cols) return 0;
  const int *lanes = lanes_of(m, p, (transposed ? j : i) * stride);
  if (lanes == NULL) return 0;
  int64_t value = lanes[transposed ? i : j];
  return p.acc ? narrow(value, m->execute.activation, m->execute.scale) : value;
}

static void do_preload(machine *m, const arch_command *c) {
  place stationary = decode_place(m, c->rs1);
  m->destination = decode_place(m, c->rs2);
  bool transposed = m->execute.ws && m->execute.b_transpose;
  int *set = m->execute.ws ? m->shadow : m->bias;
  for (int64_t i = 0; i < m->dim; i++) {
    for (int64_t j = 0; j < m->dim; j++) set[i * m->dim + j] = (int)element(m, stationary, i, j, transposed, 1);
  }
}

static void write_result(machine *m, int64_t i, int64_t j, int64_t value) {
  place c = m->destination;
  if (c.garbage || i >= c.rows || j >= c.cols) return;
  if (!c.acc) {
    value = oracle_clip8(value);
    if (m->execute.activation == 1) value = oracle_relu(value);
  }
  write_lane(m, c, i * m->execute.c_stride, j, value);
}

static void compute_ws(machine *m, place a, place d, int64_t *results) {
  for (int64_t i = 0; i < m->dim; i++) {
    for (int64_t j = 0; j < m->dim; j++) {
      int64_t sum = element(m, d, i, j, false, 1);
      for (int64_t k = 0; k < m->dim; k++) {
        sum += element(m, a, i, k, m->execute.a_transpose, m->execute.a_stride) * m->active[k * m->dim + j];
      }
      results[i * m->dim + j] = oracle_wrap(sum, m->output_bits);
    }
  }
}

static void compute_os(machine *m, place a, place b, int64_t *results) {
  for (int64_t i = 0; i < m->dim; i++) {
    for (int64_t j = 0; j < m->dim; j++) {
      int64_t sum = m->sums[i * m->dim + j];
      for (int64_t k = 0; k < m->dim; k++) {
        sum += element(m, a, i, k, m->execute.a_transpose, m->execute.a_stride) *
               element(m, b, k, j, m->execute.b_transpose, 1);
      }
      sum = oracle_wrap(sum, m->output_bits);
      m->sums[i * m->dim + j] = (int)sum;
      results[i * m->dim + j] = oracle_saturate(oracle_shift_even(sum, m->execute.shift), m->output_bits);
    }
  }
}

static void do_compute(machine *m, const arch_command *c, bool preloaded) {
  place a = decode_place(m, c->rs1);
  place bd = decode_place(m, c->rs2);
  int64_t *results = WF_NEW_ARRAY((size_t)(m->dim * m->dim), int64_t);
  if (a.garbage) fail(m, ARCH_FAULT_LOCAL, "a garbage A is outside the contract", 0);
  for (int64_t n = 0; preloaded && n < m->dim * m->dim; n++) {
    if (m->execute.ws) m->active[n] = m->shadow[n];
    if (!m->execute.ws) m->sums[n] = m->bias[n];
  }
  if (m->execute.ws) {
    compute_ws(m, a, bd, results);
  } else {
    compute_os(m, a, bd, results);
  }
  for (int64_t n = 0; n < m->dim * m->dim; n++) write_result(m, n / m->dim, n % m->dim, results[n]);
  wf_free(results);
}

// ---- the engine

static sim_engine *machine_create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  (void)diag;
  hw_derived d = hw_derive(array);
  machine *m = WF_NEW(machine);
  m->engine.ops = &oracle_machine_ops;
  m->memory = memory;
  m->dim = d.dim;
  m->sp_rows = d.sp_rows;
  m->acc_rows = d.acc_rows;
  m->row_bits = d.row_bits;
  m->output_bits = array->types.output_bits;
  size_t tile = (size_t)d.dim * d.dim;
  m->sp = WF_NEW_ARRAY((size_t)d.sp_rows * d.dim, int);
  m->acc = WF_NEW_ARRAY((size_t)d.acc_rows * d.dim, int);
  m->active = WF_NEW_ARRAY(tile, int);
  m->shadow = WF_NEW_ARRAY(tile, int);
  m->sums = WF_NEW_ARRAY(tile, int);
  m->bias = WF_NEW_ARRAY(tile, int);
  return &m->engine;
}

static void machine_destroy(sim_engine *engine) {
  machine *m = (machine *)engine;
  wf_free(m->sp);
  wf_free(m->acc);
  wf_free(m->active);
  wf_free(m->shadow);
  wf_free(m->sums);
  wf_free(m->bias);
  wf_free(m);
}

static sim_push_result machine_push(sim_engine *engine, uint64_t cycle, const arch_command *c, uint64_t *response) {
  machine *m = (machine *)engine;
  (void)cycle;
  if (m->fault.kind != ARCH_FAULT_NONE) return SIM_PUSH_FAULT;
  m->fault.command = *c;
  switch (c->funct) {
    case F_CONFIG:
      do_config(m, c);
      break;
    case F_CONFIG_GATE:
      set_gate(m, c);
      break;
    case F_MVIN:
      do_mvin(m, c, 0);
      break;
    case F_MVIN2:
      do_mvin(m, c, 1);
      break;
    case F_MVIN3:
      do_mvin(m, c, 2);
      break;
    case F_MVOUT:
      do_mvout(m, c);
      break;
    case F_PRELOAD:
      do_preload(m, c);
      break;
    case F_COMPUTE_PRELOADED:
      do_compute(m, c, true);
      break;
    case F_COMPUTE_ACCUMULATED:
      do_compute(m, c, false);
      break;
    case F_FLUSH:
    case F_CLOCK_GATE:
      break;
    case F_COUNTER:
      *response = 0;
      break;
    default:
      fail(m, ARCH_FAULT_ILLEGAL, "no such command in this machine", c->funct);
  }
  return m->fault.kind == ARCH_FAULT_NONE ? SIM_PUSH_DONE : SIM_PUSH_FAULT;
}

static uint64_t machine_advance(sim_engine *engine, uint64_t cycle) {
  (void)engine;
  (void)cycle;
  return UINT64_MAX;
}

static bool machine_busy(const sim_engine *engine) {
  (void)engine;
  return false;
}

static uint64_t machine_drain(sim_engine *engine, uint64_t cycle) {
  (void)engine;
  return cycle;
}

static const arch_fault *machine_fault(const sim_engine *engine) { return &((const machine *)engine)->fault; }

const sim_engine_ops oracle_machine_ops = {
    .name = "oracle",
    .summary = "primitive commands, one element at a time",
    .timed = false,
    .create = machine_create,
    .destroy = machine_destroy,
    .push = machine_push,
    .advance = machine_advance,
    .busy = machine_busy,
    .drain = machine_drain,
    .fault = machine_fault,
};
