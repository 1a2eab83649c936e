// SPDX-License-Identifier: Apache-2.0
// Random loads and stores against the plain model, on a memory that answers as it likes.
//
// Every round loads (mvin of all kinds, overlapping each other), then stores (rows, blocks, int32, pooled, images,
// statistics, the scratchpad), then reads all of local memory back. In mixed rounds loads, stores and the execute unit
// are at work at the same time, each in its own third of every bank, so that they meet at the ports and the adder but
// not in a row.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/rtl/tests/memory/bench.h"
#include "hw/rtl/tests/memory/model.h"

enum {
  CONFIG = 0,
  MVOUT = 3,
  MVOUT_SPAD = 23,
  CONFIG_GATE = 26,
  LOADS = 24,
  STORES = 12,
  SOURCE_BYTES = 1 << 18,
  ROUND_LIMIT = 200000,
  QUEUE = 64,
};
static const uint8_t mvin_funct[LOAD_STATES] = {2, 1, 14};
static const uint32_t scales[] = {SCALE_ONE,  0x3f000000, 0x40000000, 0xbf800000, 0x3fd9999a,
                                  0x3dcccccd, 0x7f800000, 0x7fc00000, 0x00000001, 0x4b000000};

typedef struct expected {
  int8_t rows[QUEUE][DIM];
  uint32_t banks[QUEUE];
  uint32_t head, count;
} expected;

typedef struct stored {
  uint64_t dram;
  uint32_t local;
  unsigned cols, rows;
  model_store_state state;
} stored;

typedef struct test {
  bench *b;
  model m;
  uint8_t memory[BENCH_MEMORY_BYTES];
  uint64_t next_store;  // free memory for stores
  uint32_t third;       // which third of a bank loads use; the next is the stores', the one after execute's
  bool mixed;
  expected sp[T_SP_BANKS], acc;  // the answers of all accumulator banks come in the order of the reads
  bool sp_given[T_SP_BANKS], acc_given[T_ACC_BANKS];
  stored log[BENCH_COMMANDS_MAX];  // of the round
  uint32_t logged;
  uint64_t checked;
} test;

static void fail(const test *t, const char *what) {
  printf("cycle %" PRIu64 ": %s\n", t->b->cycle, what);
  exit(1);
}

static uint32_t below(test *t, uint32_t bound) { return bench_below(t->b, bound); }
static uint32_t between(test *t, uint32_t low, uint32_t high) { return low + below(t, high - low + 1); }

static uint64_t operand(uint32_t local, unsigned cols, unsigned rows) {
  return local | (uint64_t)cols << 32 | (uint64_t)rows << 48;
}

// A place for `span` rows: anywhere, or in the given third of one bank. False if there is none.
static bool place(test *t, bool is_acc, uint32_t third, uint32_t span, uint32_t *row) {
  uint32_t banks = is_acc ? T_ACC_BANKS : T_SP_BANKS, bank_rows = is_acc ? T_ACC_BANK_ROWS : T_SP_BANK_ROWS;
  uint32_t low = 0, room = banks * bank_rows;
  if (t->mixed) {
    room = bank_rows / 3;
    low = below(t, banks) * bank_rows + third % 3 * room;
  } else if (below(t, 2) != 0 && 6 * DIM >= span && 6 * DIM < room) {
    room = 6 * DIM;  // crowded, so that loads overlap
  }
  if (span > room) return false;
  *row = low + below(t, room - span + 1);
  return true;
}

static void random_config_ld(test *t, unsigned state, unsigned rows, bool is_acc) {
  model_load_state *s = &t->m.load[state];
  uint32_t kind = below(t, 4);
  *s = (model_load_state){.stride = kind == 0 ? 0 : between(t, 1, 300) * (is_acc ? 4 : 1),
                          .scale = scales[below(t, 3) == 0 ? below(t, sizeof scales / sizeof *scales) : 0],
                          .block_stride = rows + (below(t, 2) ? below(t, 2 * DIM) : 0),
                          .pixel_repeats = below(t, 4) == 0 ? below(t, 4) : 0,
                          .shrink = is_acc && below(t, 2)};
  if (T_PACKED_INT4) s->packed = !is_acc && below(t, 2) != 0;
  if (is_acc || T_LOAD_SCALE_UNITS == 0) s->pixel_repeats = 0;
  bench_load(t->b, CONFIG,
             (uint64_t)s->scale << 32 | (uint64_t)s->block_stride << 16 | (uint64_t)s->pixel_repeats << 8 |
                 (uint64_t)s->packed << 5 | (uint64_t)state << 3 | (uint64_t)s->shrink << 2 | 1,
             s->stride);
}

static void random_mvin(test *t) {
  unsigned state = below(t, LOAD_STATES), rows = between(t, 1, DIM);
  bool is_acc = below(t, 2) != 0;
  random_config_ld(t, state, rows, is_acc);
  const model_load_state *s = &t->m.load[state];
  bool wide = is_acc && !s->shrink;
  unsigned max_cols = (wide ? MAX_BLOCKS_ACC : MAX_BLOCKS) * DIM;
  if (s->pixel_repeats > 1) max_cols = DIM / s->pixel_repeats > 0 ? DIM / s->pixel_repeats : 1;
  if (s->packed && max_cols < 2) return;
  unsigned cols = between(t, 1, max_cols);
  if (s->packed) cols = (cols + 1) / 2 * 2 > max_cols ? cols / 2 * 2 : (cols + 1) / 2 * 2;
  unsigned blocks = (cols + DIM - 1) / DIM;
  uint32_t row, span = rows + (blocks - 1) * s->block_stride;
  if (!place(t, is_acc, t->third, span, &row)) return;
  // Copies of pixels go below the first row; in mixed rounds they would leave their third.
  if (s->pixel_repeats > 1 && (t->mixed || DIM / s->pixel_repeats == 0)) return;
  uint32_t local = row | (is_acc ? UINT32_C(1) << 31 | below(t, 2) << 30 : 0);
  uint64_t dram = below(t, 8) == 0 ? 0 : BENCH_MEMORY_BASE + below(t, SOURCE_BYTES - 8192) / 4 * 4;
  if (dram != 0 && !wide) dram += below(t, 4);
  bench_load(t->b, mvin_funct[state], dram, operand(local, cols, rows));
  model_mvin(&t->m, state, dram, local, cols, rows);
}

static void config_st(test *t) {
  const model_store_state *s = &t->m.store;
  bench_store(t->b, CONFIG,
              (uint64_t)s->ocols << 56 | (uint64_t)s->orows << 48 | (uint64_t)s->pocols << 40 |
                  (uint64_t)s->porows << 32 | (uint64_t)s->out_dim << 24 | (uint64_t)s->lpad << 10 |
                  (uint64_t)s->upad << 8 | (uint64_t)s->pool_size << 6 | (uint64_t)s->pool_stride << 4 |
                  (uint64_t)(s->act & 3) << 2 | 2,
              (uint64_t)s->scale << 32 | s->stride);
}

static void config_norm(test *t) {
  model_store_state *s = &t->m.store;
  s->stats_id = below(t, T_NORM_STATS);
  s->qb = (int32_t)between(t, 0, 2000) - 1000;
  s->qc = (int32_t)below(t, 100000);
  s->qln2 = (int32_t)between(t, 1, 60);
  s->qln2_inverse = 65536 / s->qln2;
  uint64_t common = 3 | (uint64_t)s->stats_id << 8 | (uint64_t)(s->act >> 2) << 16;
  uint64_t polynomial = (uint64_t)(uint32_t)s->qc << 32 | (uint32_t)s->qb;
  bench_store(t->b, CONFIG, common | (uint64_t)(uint32_t)s->qln2 << 32, polynomial);
  bench_store(t->b, CONFIG, common | 1 << 18 | (uint64_t)(uint32_t)s->qln2_inverse << 32, polynomial);
}

static void mvout(test *t, uint32_t local, unsigned cols, unsigned rows, uint64_t bytes) {
  uint64_t dram = t->next_store;
  t->next_store += bytes + 64;
  if (t->next_store > BENCH_MEMORY_BASE + BENCH_MEMORY_BYTES) fail(t, "the test stores too much");
  t->log[t->logged++] = (stored){dram, local, cols, rows, t->m.store};
  bench_store(t->b, MVOUT, dram, operand(local, cols, rows));
  model_mvout(&t->m, dram, local, cols, rows);
}

// The gate for the rows of a store, or off. Rows that leave as int32 pass it.
static void random_gate(test *t, uint32_t row, uint32_t span) {
  model_store_state *s = &t->m.store;
  uint32_t factors;
  if (!T_GATE) return;
  s->gate = below(t, 3) != 0 && place(t, false, t->third + 1, span, &factors);
  if (s->gate) s->gate_offset = (int32_t)factors - (int32_t)row;
  s->gate_scale = scales[below(t, sizeof scales / sizeof *scales)];
  bench_store(t->b, CONFIG_GATE, (uint64_t)s->gate << 32 | (uint32_t)s->gate_offset, s->gate_scale);
}

static void gate_off(test *t) {
  if (T_GATE && t->m.store.gate) bench_store(t->b, CONFIG_GATE, 0, 0);
  t->m.store.gate = false;
}

static void random_rows(test *t) {
  bool is_acc = below(t, 2) != 0;
  bool full = is_acc && T_FULL_READS && (!T_NARROW_READS || below(t, 2) != 0);
  unsigned rows = between(t, 1, DIM), cols = between(t, 1, full ? DIM : MAX_BLOCKS * DIM);
  unsigned blocks = (cols + DIM - 1) / DIM;
  uint32_t row;
  if (!place(t, is_acc, t->third + 1, (blocks - 1) * DIM + rows, &row)) return;
  t->m.store.pool_stride = t->m.store.pool_size = 0;
  t->m.store.stride = cols * (full ? 4 : 1) + below(t, 40);
  config_st(t);
  if (is_acc) random_gate(t, row, (blocks - 1) * DIM + rows);
  mvout(t, row | (uint32_t)is_acc << 31 | (uint32_t)full << 29, cols, rows, (uint64_t)rows * t->m.store.stride);
  if (below(t, 2) != 0) gate_off(t);
}

static void random_image(test *t, bool pooled) {
  model_store_state *s = &t->m.store;
  bool is_acc = T_NARROW_READS && below(t, 2) != 0;
  s->orows = between(t, 1, 4);
  s->ocols = between(t, 1, 4);
  uint32_t row;
  if (!place(t, is_acc, t->third + 1, s->orows * s->ocols, &row)) return;
  s->pool_size = between(t, 1, 3);
  s->pool_stride = pooled ? between(t, 1, 3) : 0;
  if (pooled) {
    s->porows = between(t, 1, 3);
    s->pocols = between(t, 1, 3);
    s->upad = below(t, 3);
    s->lpad = below(t, 3);
  }
  s->out_dim = (pooled ? s->pocols : s->ocols) + below(t, 2);
  unsigned cols = between(t, 1, DIM), out_rows = pooled ? s->porows : s->orows;
  s->stride = cols + below(t, 10);
  config_st(t);
  mvout(t, row | (uint32_t)is_acc << 31, cols, below(t, DIM), (uint64_t)out_rows * s->out_dim * s->stride);
}

// A row through the statistics and then out, as the loop unroller does it.
static void random_norm(test *t) {
  static const unsigned layer[] = {2, 4, 0}, soft[] = {5, 7, 0};
  bool softmax = below(t, 2) != 0;
  unsigned cols = between(t, 1, MAX_BLOCKS * DIM), blocks = (cols + DIM - 1) / DIM;
  uint32_t row;
  if (!place(t, true, t->third + 1, (blocks - 1) * DIM + 1, &row)) return;
  model_store_state *s = &t->m.store;
  s->pool_stride = s->pool_size = 0;
  s->stride = cols;
  s->act = softmax ? 0 : 2 + below(t, 2);
  config_st(t);
  if (softmax) s->act = 4;
  config_norm(t);
  for (unsigned pass = 0; pass < 3; pass++)
    mvout(t, row | UINT32_C(1) << 31 | (softmax ? soft : layer)[pass] << 26, cols, 1, cols);
  s->act = 0;
}

static void random_mvout(test *t) {
  t->m.store.act = below(t, 2);
  t->m.store.scale = scales[below(t, sizeof scales / sizeof *scales)];
  uint32_t kind = below(t, 10);
  if (kind < 4 || kind >= 7) gate_off(t);
  if (T_NORMALISER && kind < 4)
    random_norm(t);
  else if (kind < 7)
    random_rows(t);
  else
    random_image(t, kind < 9);
}

// Rows to the scratchpad; the last of a group of stores, because nothing here keeps later ones from reading too soon.
static void random_spad_store(test *t) {
  if (!T_SP_STORES) return;
  model_store_state *s = &t->m.store;
  bool is_acc = T_NARROW_READS && below(t, 2) != 0;
  unsigned rows = between(t, 1, DIM), cols = between(t, 1, below(t, 2) != 0 ? DIM : 3 * DIM),
           further = (cols - 1) / DIM;
  model_spad_place to = {.stride = between(t, 1, 3), .block_stride = between(t, 0, 2 * DIM)};
  uint32_t from, span = (rows - 1) * to.stride + further * to.block_stride + 1, source = rows + further * DIM;
  if (!place(t, is_acc, t->third + 1, source, &from) || !place(t, false, t->third + 1, span, &to.row)) return;
  if (!is_acc && from < to.row + span && to.row < from + source) return;
  s->pool_stride = s->pool_size = 0;
  s->act = below(t, 2);
  s->scale = scales[below(t, sizeof scales / sizeof *scales)];
  gate_off(t);
  config_st(t);
  uint32_t local = from | (uint32_t)is_acc << 31;
  bench_store(t->b, MVOUT_SPAD, to.row | (uint64_t)to.stride << 32 | (uint64_t)to.block_stride << 48,
              operand(local, cols, rows));
  model_mvout_spad(&t->m, &to, local, cols, rows);
}

// Everything in local memory, raw.
static void read_back(test *t) {
  model_store_state *s = &t->m.store;
  gate_off(t);
  *s = (model_store_state){.stride = DIM,
                           .scale = SCALE_ONE,
                           .stats_id = s->stats_id,
                           .qb = s->qb,
                           .qc = s->qc,
                           .qln2 = s->qln2,
                           .qln2_inverse = s->qln2_inverse};
  config_st(t);
  for (uint32_t row = 0; row < SP_ROWS; row += DIM) mvout(t, row, DIM, DIM, DIM * DIM);
  s->stride = T_FULL_READS ? 4 * DIM : DIM;
  config_st(t);
  for (uint32_t row = 0; row < ACC_ROWS; row += DIM)
    mvout(t, row | UINT32_C(1) << 31 | (uint32_t)T_FULL_READS << 29, DIM, DIM, (uint64_t)DIM * s->stride);
}

// The execute unit: one cycle of random reads and writes in its third, and its answers.
static uint32_t third_row(test *t, uint32_t bank_rows) {
  uint32_t room = bank_rows / 3;
  return (t->third + 2) % 3 * room + below(t, room);
}

static void drive_execute(test *t, bool active) {
  bench *b = t->b;
  static const char *const names[] = {"sp_rd_valid_i", "acc_rd_valid_i", "sp_wr_en_i", "acc_wr_valid_i"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) bench_set(bench_find(b, names[i]), 0);
  bench_set(bench_find(b, "sp_rsp_ready_i"), bench_random(b) & ((1u << T_SP_BANKS) - 1));
  bench_set(bench_find(b, "acc_rsp_ready_i"), bench_random(b) & ((1u << T_ACC_BANKS) - 1));
  if (!active) return;
  uint32_t sp_bits = 0, acc_bits = 0;
  while (1u << sp_bits < T_SP_BANK_ROWS) sp_bits++;
  while (1u << acc_bits < T_ACC_BANK_ROWS) acc_bits++;
  for (uint32_t bank = 0; bank < T_SP_BANKS; bank++) {
    if (t->sp[bank].count < QUEUE / 2 && below(t, 2) != 0) {
      bench_set_field(bench_find(b, "sp_rd_valid_i"), bank, 1, 1);
      bench_set_field(bench_find(b, "sp_rd_addr_i"), bank, sp_bits, third_row(t, T_SP_BANK_ROWS));
    }
  }
  if (T_NARROW_READS && below(t, 3) != 0) {
    uint32_t bank = below(t, T_ACC_BANKS);
    if (t->acc.count < QUEUE / 2) {
      bench_set_field(bench_find(b, "acc_rd_valid_i"), bank, 1, 1);
      bench_set_field(bench_find(b, "acc_rd_addr_i"), bank, acc_bits, third_row(t, T_ACC_BANK_ROWS));
      bench_set(bench_find(b, "acc_rd_scale_i"), scales[below(t, 6)]);
      bench_set(bench_find(b, "acc_rd_act_i"), below(t, 2));
    }
  }
  for (uint32_t lane = 0; lane < DIM; lane++) {
    bench_set_field(bench_find(b, "sp_wr_data_i"), lane, 8, bench_random(b));
    bench_set_field(bench_find(b, "acc_wr_data_i"), lane, 32, bench_random(b) >> 40);
    bench_set_field(bench_find(b, "sp_wr_mask_i"), lane, 1, below(t, 4) != 0);
    bench_set_field(bench_find(b, "acc_wr_mask_i"), lane, 1, below(t, 4) != 0);
  }
  if (below(t, 3) == 0) {
    uint32_t bank = below(t, T_SP_BANKS);
    bench_set_field(bench_find(b, "sp_wr_en_i"), bank, 1, 1);
    bench_set_field(bench_find(b, "sp_wr_addr_i"), bank, sp_bits, third_row(t, T_SP_BANK_ROWS));
  }
  if (below(t, 4) != 0) {
    // Rows of a tile follow each other; one-ported banks count on it. Two-ported ones take any.
    uint32_t bank = below(t, T_ACC_BANKS), row = third_row(t, T_ACC_BANK_ROWS);
    if (T_ACC_SUB_BANKS > 1) row = row / T_ACC_SUB_BANKS * T_ACC_SUB_BANKS + (uint32_t)b->cycle % T_ACC_SUB_BANKS;
    if (row / (T_ACC_BANK_ROWS / 3) != (t->third + 2) % 3) return;
    bench_set_field(bench_find(b, "acc_wr_valid_i"), bank, 1, 1);
    bench_set_field(bench_find(b, "acc_wr_addr_i"), bank, acc_bits, row);
    bench_set(bench_find(b, "acc_wr_accumulate_i"), below(t, 3) != 0);
  }
}

static void expect(test *t, expected *e, uint32_t bank, const int8_t *row) {
  if (e->count == QUEUE) fail(t, "too many reads without an answer");
  uint32_t last = (e->head + e->count++) % QUEUE;
  e->banks[last] = bank;
  memcpy(e->rows[last], row, DIM);
}

static void answer(test *t, expected *e, uint32_t bank, bench_port data, uint32_t offset) {
  if (e->count == 0) fail(t, "an answer to no read");
  if (e->banks[e->head] != bank) fail(t, "an answer before that to an older read");
  for (uint32_t lane = 0; lane < DIM; lane++)
    if ((int8_t)bench_get_field(data, offset + lane, 8) != e->rows[e->head][lane]) fail(t, "an operand differs");
  e->head = (e->head + 1) % QUEUE;
  e->count--;
  t->checked++;
}

// After the combinational paths have settled: what was taken in this cycle. Reads see what was written before it.
static void record_execute(test *t) {
  bench *b = t->b;
  uint32_t sp_bits = 0, acc_bits = 0;
  while (1u << sp_bits < T_SP_BANK_ROWS) sp_bits++;
  while (1u << acc_bits < T_ACC_BANK_ROWS) acc_bits++;
  for (uint32_t bank = 0; bank < T_SP_BANKS; bank++) {
    if (bench_get_field(bench_find(b, "sp_rsp_valid_o"), bank, 1) &&
        bench_get_field(bench_find(b, "sp_rsp_ready_i"), bank, 1))
      answer(t, &t->sp[bank], bank, bench_find(b, "sp_rsp_data_o"), bank * DIM);
    if (bench_get_field(bench_find(b, "sp_rd_valid_i"), bank, 1) &&
        bench_get_field(bench_find(b, "sp_rd_ready_o"), bank, 1))
      expect(t, &t->sp[bank], bank,
             t->m.sp[bank * T_SP_BANK_ROWS + bench_get_field(bench_find(b, "sp_rd_addr_i"), bank, sp_bits)]);
  }
  for (uint32_t bank = 0; bank < T_ACC_BANKS; bank++) {
    if (bench_get_field(bench_find(b, "acc_rsp_valid_o"), bank, 1) &&
        bench_get_field(bench_find(b, "acc_rsp_ready_i"), bank, 1))
      answer(t, &t->acc, bank, bench_find(b, "acc_rsp_data_o"), 0);
    if (bench_get_field(bench_find(b, "acc_rd_valid_i"), bank, 1) &&
        bench_get_field(bench_find(b, "acc_rd_ready_o"), bank, 1)) {
      const int32_t *row =
          t->m.acc[bank * T_ACC_BANK_ROWS + bench_get_field(bench_find(b, "acc_rd_addr_i"), bank, acc_bits)];
      bool relu = bench_get(bench_find(b, "acc_rd_act_i")) == 1;
      int8_t scaled[DIM];
      for (uint32_t lane = 0; lane < DIM; lane++)
        scaled[lane] =
            model_scale(relu && row[lane] < 0 ? 0 : row[lane], (uint32_t)bench_get(bench_find(b, "acc_rd_scale_i")));
      expect(t, &t->acc, bank, scaled);
    }
  }
  for (uint32_t bank = 0; bank < T_SP_BANKS; bank++) {
    if (!bench_get_field(bench_find(b, "sp_wr_en_i"), bank, 1)) continue;
    int8_t *row = t->m.sp[bank * T_SP_BANK_ROWS + bench_get_field(bench_find(b, "sp_wr_addr_i"), bank, sp_bits)];
    for (uint32_t lane = 0; lane < DIM; lane++)
      if (bench_get_field(bench_find(b, "sp_wr_mask_i"), lane, 1))
        row[lane] = (int8_t)bench_get_field(bench_find(b, "sp_wr_data_i"), lane, 8);
  }
  for (uint32_t bank = 0; bank < T_ACC_BANKS; bank++) {
    if (!bench_get_field(bench_find(b, "acc_wr_valid_i"), bank, 1)) continue;
    int32_t *row = t->m.acc[bank * T_ACC_BANK_ROWS + bench_get_field(bench_find(b, "acc_wr_addr_i"), bank, acc_bits)];
    bool accumulate = bench_get(bench_find(b, "acc_wr_accumulate_i")) != 0;
    for (uint32_t lane = 0; lane < DIM; lane++) {
      uint32_t value = (uint32_t)bench_get_field(bench_find(b, "acc_wr_data_i"), lane, 32);
      if (bench_get_field(bench_find(b, "acc_wr_mask_i"), lane, 1))
        row[lane] = (int32_t)(value + (accumulate ? (uint32_t)row[lane] : 0));
    }
  }
}

static bool operands_open(const test *t) {
  bool open = t->acc.count != 0;
  for (uint32_t i = 0; i < T_SP_BANKS; i++) open |= t->sp[i].count != 0;
  return open;
}

static void run(test *t, bool execute) {
  uint64_t end = t->b->cycle + ROUND_LIMIT;
  while (!bench_idle(t->b) || operands_open(t)) {
    if (t->b->cycle == end) fail(t, "no end in sight");
    drive_execute(t, execute && !bench_idle(t->b));
    bench_settle(t->b);
    record_execute(t);
    bench_clock(t->b);
  }
  drive_execute(t, false);
  bench_mark(t->b);
}

static void explain(const test *t, uint64_t address) {
  const stored *s = NULL;
  for (uint32_t i = 0; i < t->logged; i++)
    if (t->log[i].dram <= address) s = &t->log[i];
  if (s == NULL) return;
  printf(
      "mvout of %08x, %u x %u, stride %u, scale %08x, act %u, pool %u of %u to %u x %u in %u x %u, out %u; byte "
      "%" PRIu64 " of it\n",
      s->local, s->rows, s->cols, s->state.stride, s->state.scale, s->state.act, s->state.pool_stride,
      s->state.pool_size, s->state.porows, s->state.pocols, s->state.orows, s->state.ocols, s->state.out_dim,
      address - s->dram);
}

static void compare_memory(test *t) {
  for (uint32_t i = 0; i < BENCH_MEMORY_BYTES; i++) {
    if (t->b->memory[i] != t->memory[i]) {
      printf("byte %x: %02x, expected %02x\n", i, t->b->memory[i], t->memory[i]);
      explain(t, BENCH_MEMORY_BASE + i);
      fail(t, "memory differs");
    }
  }
  t->checked += t->next_store - BENCH_MEMORY_BASE - SOURCE_BYTES;
}

static void start_round(test *t, bool mixed) {
  t->mixed = mixed;
  t->logged = 0;
  t->third = below(t, 3);
  t->next_store = BENCH_MEMORY_BASE + SOURCE_BYTES + below(t, 64);
}

static void finish_round(test *t) {
  read_back(t);
  run(t, false);
  compare_memory(t);
}

static void fill(test *t) {
  for (uint32_t i = 0; i < BENCH_MEMORY_BYTES; i++) t->b->memory[i] = (uint8_t)(bench_random(t->b) >> 32);
  memcpy(t->memory, t->b->memory, sizeof t->memory);
  model_reset(&t->m, t->memory, BENCH_MEMORY_BASE);
  // All of local memory, so that nothing undefined is ever read.
  t->m.load[0] = (model_load_state){.stride = 4 * DIM, .scale = SCALE_ONE, .block_stride = DIM};
  bench_load(t->b, CONFIG, (uint64_t)SCALE_ONE << 32 | (uint64_t)DIM << 16 | 1 << 8 | 1, 4 * DIM);
  for (uint32_t row = 0; row < SP_ROWS + ACC_ROWS; row += DIM) {
    uint32_t local = row < SP_ROWS ? row : (row - SP_ROWS) | UINT32_C(1) << 31;
    uint64_t dram = BENCH_MEMORY_BASE + (uint64_t)(row % 1024) * 4 * DIM;
    bench_load(t->b, mvin_funct[0], dram, operand(local, DIM, DIM));
    model_mvin(&t->m, 0, dram, local, DIM, DIM);
  }
  run(t, false);
}

int main(int argc, char **argv) {
  unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  test *t = calloc(1, sizeof *t);
  if (t == NULL) return 1;
  t->b = bench_create(true, 0, seed);
  fill(t);
  for (unsigned round = 0; round < rounds; round++) {
    start_round(t, false);
    for (unsigned i = 0; i < LOADS; i++) random_mvin(t);
    run(t, false);
    for (unsigned i = 0; i < STORES; i++) random_mvout(t);
    random_spad_store(t);
    t->m.store.pool_stride = t->m.store.pool_size = 0;
    config_st(t);
    mvout(t, GARBAGE, DIM, 1, DIM);
    run(t, false);
    finish_round(t);

    start_round(t, true);
    for (unsigned i = 0; i < LOADS; i++) random_mvin(t);
    for (unsigned i = 0; i < STORES; i++) random_mvout(t);
    random_spad_store(t);
    run(t, true);
    finish_round(t);
  }
  printf("%u rounds, %" PRIu64 " cycles, %" PRIu64 " bytes and operands checked\n", rounds, t->b->cycle, t->checked);
  bench_destroy(t->b);
  free(t);
  return 0;
}
