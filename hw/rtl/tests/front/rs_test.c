// SPDX-License-Identifier: Apache-2.0
// reservation_station against a model of its rules, cycle by cycle: random commands with many conflicts, random
// readiness of the controllers, random completions. The model keeps the commands in program order and asks in every
// cycle what a command still waits for; it knows no dependency bits. Then probes of single cycles. Usage: rs_test LOADS
// EXECUTES STORES ORDER PROGRAMS
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "hw/rtl/tests/front/dut.h"
#include "isa/isa_fields.h"

enum { DIM = 4, HALF = 8192, COMMANDS = 400, LOAD = 0, EXECUTE = 1, STORE = 2 };

typedef struct range {
  bool valid, writes, accumulator;
  uint64_t first, end;
} range;

typedef struct command {
  unsigned class, id;
  uint8_t funct;
  uint64_t rs1, rs2;
  bool matmul, conv, config;
  range ranges[2];
  bool present, issued, done;  // present: it took an entry
  bool waits[COMMANDS];        // by number: for the completion of the other, found when it took its entry
  bool follows[COMMANDS];      // for its issue
} command;

typedef struct machine {
  uint64_t random;
  unsigned entries[RS_CLASSES];
  bool stores_complete;
  command commands[COMMANDS];
  size_t count, next;  // next to allocate
  // configuration in program order, while the program is made
  bool ws, a_transpose, b_transpose, image;
  uint64_t a_stride, c_stride, block_stride[3], repeats[3], image_rows;
  uint64_t completion_percent, ready_percent;
} machine;

static uint64_t random_bits(machine *m) { return wf_random_next(&m->random); }
static uint64_t between(machine *m, uint64_t low, uint64_t high) { return low + random_bits(m) % (high - low + 1); }
static bool chance(machine *m, uint64_t percent) { return random_bits(m) % 100 < percent; }

// --- the program
// --------------------------------------------------------------------------------------------------------

static range make_range(uint64_t local, uint64_t rows, bool writes) {
  bool garbage = (local & UINT64_C(0xe0007fff)) == UINT64_C(0xe0007fff);
  return (range){.valid = !garbage && rows != 0,
                 .writes = writes,
                 .accumulator = local >> 31 & 1,
                 .first = local & 0x3fff,
                 .end = (local & 0x3fff) + rows};
}

static uint64_t local_address(machine *m, bool any_memory) {
  if (chance(m, 10)) return UINT32_MAX;
  uint64_t row = chance(m, 80) ? between(m, 0, 60) : between(m, 0, 1) ? between(m, HALF - 3, HALF + 20) : 16380;
  uint64_t flags = any_memory && chance(m, 50) ? UINT64_C(0x80000000) | (uint64_t)chance(m, 50) << 30 : 0;
  return flags | row;
}

static uint64_t operand(machine *m, uint64_t local, uint64_t cols) {
  return between(m, 1, DIM) << 48 | cols << 32 | local;
}
static uint64_t rows_of(uint64_t x) { return x >> 48; }
static uint64_t cols_of(uint64_t x) { return x >> 32 & 0xffff; }
static uint64_t blocks_of(uint64_t x) { return (cols_of(x) + DIM - 1) / DIM; }
static uint64_t at_least_one(uint64_t x) { return x == 0 ? 1 : x; }

static void make_config_ex(machine *m, command *c) {
  c->class = EXECUTE, c->config = true;
  c->rs1 = between(m, 0, 3) << 16 | (uint64_t)chance(m, 50) << 2 | (uint64_t)chance(m, 50) << 7 |
           (uint64_t)chance(m, 30) << 8 | (uint64_t)chance(m, 30) << 9;
  c->rs2 = between(m, 0, 3) << 48;
  m->a_stride = c->rs1 >> 16 & 0xffff, m->c_stride = c->rs2 >> 48;
  if (c->rs1 >> 7 & 1) return;
  m->ws = c->rs1 >> 2 & 1, m->a_transpose = c->rs1 >> 8 & 1, m->b_transpose = c->rs1 >> 9 & 1;
}

static void make_config_ld(machine *m, command *c) {
  uint64_t state = between(m, 0, 2), stride = between(m, 1, 20), repeats = chance(m, 70) ? 1 : between(m, 0, 4);
  c->class = LOAD, c->config = true;
  c->rs1 = 1 | state << 3 | repeats << 8 | stride << 16;
  m->block_stride[state] = stride, m->repeats[state] = repeats;
}

static void make_config_st(machine *m, command *c) {
  uint64_t pool = chance(m, 60) ? 0 : between(m, 1, 3), size = chance(m, 60) ? 0 : between(m, 1, 3);
  uint64_t orows = between(m, 0, 5), ocols = between(m, 1, 5);
  c->class = STORE, c->config = true;
  c->rs1 = 2 | pool << 4 | size << 6 | orows << 48 | ocols << 56;
  if (chance(m, 20)) {
    c->rs1 = 3 | orows << 48;  // config_norm
    return;
  }
  m->image = pool != 0 || size != 0;
  if (m->image) m->image_rows = orows * ocols;
}

static void make_mvin(machine *m, command *c) {
  static const uint8_t functs[3] = {ISA_FUNCT_MVIN, ISA_FUNCT_MVIN2, ISA_FUNCT_MVIN3};
  uint64_t state = between(m, 0, 2), local = local_address(m, true) & ~UINT64_C(0x20000000);
  c->class = LOAD, c->funct = functs[state];
  c->rs1 = random_bits(m), c->rs2 = operand(m, local, between(m, 1, 3 * DIM));
  range r = make_range(local, (blocks_of(c->rs2) - 1) * m->block_stride[state] + rows_of(c->rs2), true);
  uint64_t floor = r.first >= HALF ? HALF : 0, below = at_least_one(m->repeats[state]) - 1;
  if (!r.accumulator) r.first = r.first - floor < below ? floor : r.first - below;
  c->ranges[0] = r;
}

static void make_mvout(machine *m, command *c) {
  uint64_t local = local_address(m, true);
  c->class = STORE, c->funct = ISA_FUNCT_MVOUT;
  c->rs1 = random_bits(m), c->rs2 = operand(m, local, between(m, 1, 2 * DIM));
  c->ranges[0] = make_range(local, (blocks_of(c->rs2) - 1) * DIM + (m->image ? m->image_rows : rows_of(c->rs2)), false);
}

static void make_mvout_spad(machine *m, command *c) {
  uint64_t source = local_address(m, true), dest = local_address(m, false), stride = between(m, 0, 2),
           block_stride = between(m, 0, 20);
  c->class = STORE, c->funct = ISA_FUNCT_MVOUT_SPAD;
  c->rs1 = block_stride << 48 | stride << 32 | dest, c->rs2 = operand(m, source, between(m, 1, 3 * DIM));
  uint64_t further = blocks_of(c->rs2) - 1;
  c->ranges[0] = make_range(source, further * DIM + rows_of(c->rs2), false);
  c->ranges[1] = make_range(dest, further * block_stride + rows_of(c->rs2) * at_least_one(stride), true);
}

static void make_preload(machine *m, command *c) {
  c->class = EXECUTE, c->funct = ISA_FUNCT_PRELOAD;
  c->rs1 = operand(m, local_address(m, true), between(m, 1, DIM));
  c->rs2 = operand(m, local_address(m, true), between(m, 1, DIM));
  bool transposed = m->ws && m->b_transpose;
  c->ranges[0] =
      make_range(c->rs1 & UINT32_MAX, transposed ? wf_max(rows_of(c->rs1), cols_of(c->rs1)) : rows_of(c->rs1), false);
  c->ranges[1] = make_range(c->rs2 & UINT32_MAX, rows_of(c->rs2) * at_least_one(m->c_stride), true);
}

static void make_compute(machine *m, command *c) {
  c->class = EXECUTE, c->funct = chance(m, 50) ? ISA_FUNCT_COMPUTE_PRELOADED : ISA_FUNCT_COMPUTE_ACCUMULATED;
  c->rs1 = operand(m, local_address(m, true), between(m, 1, DIM));
  c->rs2 = operand(m, local_address(m, true), between(m, 1, DIM));
  uint64_t a_rows = m->a_transpose ? cols_of(c->rs1) : rows_of(c->rs1);
  bool transposed = !m->ws && m->b_transpose;
  c->ranges[0] = make_range(c->rs1 & UINT32_MAX, a_rows * at_least_one(m->a_stride), false);
  c->ranges[1] =
      make_range(c->rs2 & UINT32_MAX, transposed ? wf_max(rows_of(c->rs2), cols_of(c->rs2)) : rows_of(c->rs2), false);
}

static void make_command(machine *m, command *c) {
  static void (*const makers[])(machine *, command *) = {
      make_config_ex, make_config_ld, make_config_st, make_mvin,    make_mvin,    make_mvin,       make_mvin,
      make_mvout,     make_mvout,     make_preload,   make_preload, make_compute, make_mvout_spad, make_compute};
  memset(c, 0, sizeof *c);
  uint64_t from = between(m, 0, 3);
  c->matmul = from == 1, c->conv = from == 2;
  makers[between(m, 0, sizeof makers / sizeof *makers - 1)](m, c);
}

// --- the rules
// -----------------------------------------------------------------------------------------------------------

static bool overlap(const range *x, const range *y) {
  return x->valid && y->valid && (x->writes || y->writes) && x->accumulator == y->accumulator && x->first < y->end &&
         y->first < x->end;
}

static bool conflict(const command *x, const command *y) {
  return overlap(&x->ranges[0], &y->ranges[0]) || overlap(&x->ranges[0], &y->ranges[1]) ||
         overlap(&x->ranges[1], &y->ranges[0]) || overlap(&x->ranges[1], &y->ranges[1]);
}

// Whether the younger of two stores reads what the older one writes.
static bool reads_what_is_written(const command *younger, const command *older) {
  for (int y = 0; y < 2; y++)
    for (int o = 0; o < 2; o++)
      if (!younger->ranges[y].writes && overlap(&younger->ranges[y], &older->ranges[o])) return true;
  return false;
}

static bool alive(const command *c) { return c->present && !c->done; }

static void note_waits(machine *m, size_t number) {
  command *c = &m->commands[number];
  for (size_t n = 0; n < number; n++) {
    const command *older = &m->commands[n];
    if (!alive(older)) continue;
    bool same = older->class == c->class;
    c->follows[n] = same;
    c->waits[n] =
        same ? c->class == STORE && (m->stores_complete || reads_what_is_written(c, older)) : conflict(c, older);
  }
}

static bool may_issue(const machine *m, size_t number) {
  const command *c = &m->commands[number];
  if (!alive(c) || c->issued) return false;
  for (size_t n = 0; n < number; n++) {
    const command *older = &m->commands[n];
    if (c->follows[n] && !older->issued) return false;
    if (c->waits[n] && !older->done) return false;
  }
  return true;
}

static bool entry_taken(const machine *m, unsigned class, unsigned id) {
  for (size_t n = 0; n < m->next; n++) {
    const command *c = &m->commands[n];
    if (alive(c) && c->class == class && c->id == id) return true;
  }
  return false;
}

static unsigned free_entry(const machine *m, unsigned class) {
  unsigned id = 0;
  while (id < m->entries[class] && entry_taken(m, class, id)) id++;
  return id;
}

// The command of a class that issues: the lowest entry of those that may. COMMANDS: none.
static size_t issuing(const machine *m, unsigned class) {
  size_t best = COMMANDS;
  for (size_t n = 0; n < m->next; n++) {
    if (m->commands[n].class != class || !may_issue(m, n)) continue;
    if (best == COMMANDS || m->commands[n].id < m->commands[best].id) best = n;
  }
  return best;
}

static bool expected_busy(const machine *m, bool solitary) {
  size_t entries = 0;
  bool preload = false;
  for (size_t n = 0; n < m->next; n++) {
    if (!alive(&m->commands[n])) continue;
    entries++;
    preload = m->commands[n].funct == ISA_FUNCT_PRELOAD;
  }
  return entries != 0 && !(entries == 1 && preload && solitary);
}

// --- the run
// --------------------------------------------------------------------------------------------------------------

#define CHECK(condition, ...)                \
  do {                                       \
    if (!(condition)) {                      \
      fprintf(stderr, "cycle %zu: ", cycle); \
      fprintf(stderr, __VA_ARGS__);          \
      fprintf(stderr, "\n");                 \
      return false;                          \
    }                                        \
  } while (0)

static bool check_outputs(const machine *m, const rs_pins *p, size_t cycle) {
  for (unsigned class = 0; class < RS_CLASSES; class ++) {
    size_t n = issuing(m, class);
    CHECK(p->issue_valid[class] == (n != COMMANDS), "class %u offers %d, model command %zu", class,
          p->issue_valid[class], n);
    if (n == COMMANDS) continue;
    const command *c = &m->commands[n];
    CHECK(p->issue_funct[class] == c->funct && p->issue_rs1[class] == c->rs1 && p->issue_rs2[class] == c->rs2 &&
              p->issue_id[class] == c->id,
          "class %u offers another command than %zu", class, n);
    CHECK(
        p->trace_issue[class] == p->issue_ready[class] && (!p->trace_issue[class] || p->trace_issue_index[class] == n),
        "trace of the issue of %zu", n);
  }
  CHECK(p->busy == expected_busy(m, p->solitary_preload), "busy %d", p->busy);
  return true;
}

static bool choose_completions(machine *m, rs_pins *p, size_t *chosen) {
  for (unsigned class = 0; class < RS_CLASSES; class ++) {
    chosen[class] = COMMANDS;
    p->done_valid[class] = false;
    for (size_t n = 0; n < m->next; n++) {
      const command *c = &m->commands[n];
      if (!alive(c) || !c->issued || c->class != class || !chance(m, m->completion_percent)) continue;
      chosen[class] = n;
      p->done_valid[class] = true;
      p->done_id[class] = (uint8_t)c->id;
      break;
    }
  }
  return true;
}

// What happens at the clock edge; the completion pulses are checked on the way.
static bool advance(machine *m, const rs_pins *p, const size_t *chosen, size_t cycle) {
  unsigned matmul[RS_CLASSES] = {0}, conv[RS_CLASSES] = {0};
  size_t issue[RS_CLASSES];
  bool port_free = true;
  static const unsigned priority[RS_CLASSES] = {EXECUTE, LOAD, STORE};
  for (unsigned class = 0; class < RS_CLASSES; class ++) issue[class] = issuing(m, class);
  bool alloc = p->alloc_valid && p->alloc_ready;
  if (alloc) note_waits(m, m->next);
  for (unsigned i = 0; i < RS_CLASSES; i++) {
    unsigned class = priority[i];
    CHECK(p->done_ready[class] == port_free, "completion port of class %u", class);
    if (!p->done_valid[class] || !port_free) continue;
    port_free = false;
    command *c = &m->commands[chosen[class]];
    c->done = true;
    matmul[class] += c->matmul, conv[class] += c->conv;
    CHECK(p->trace_done && p->trace_done_index == chosen[class], "trace of the completion of %zu", chosen[class]);
  }
  CHECK(p->trace_done == !port_free, "trace of a completion");
  for (unsigned class = 0; class < RS_CLASSES; class ++) {
    if (issue[class] != COMMANDS && p->issue_ready[class]) {
      command *c = &m->commands[issue[class]];
      c->issued = true;
      if (c->config && class != EXECUTE) c->done = true, matmul[class] += c->matmul, conv[class] += c->conv;
    }
    CHECK(p->matmul_completed[class] == matmul[class] && p->conv_completed[class] == conv[class],
          "completed loop commands of class %u", class);
  }
  if (!alloc) return true;
  CHECK(p->trace_alloc, "trace of an allocation");
  m->commands[m->next++].present = true;
  return true;
}

static bool cycle_once(machine *m, rs_dut *dut, rs_pins *p, size_t cycle) {
  if (!p->alloc_valid && m->next < m->count && chance(m, 85)) {
    const command *c = &m->commands[m->next];
    p->alloc_valid = true, p->funct = c->funct, p->rs1 = c->rs1, p->rs2 = c->rs2;
    p->from_matmul = c->matmul, p->from_conv = c->conv;
  }
  size_t chosen[RS_CLASSES];
  choose_completions(m, p, chosen);
  for (unsigned class = 0; class < RS_CLASSES; class ++) p->issue_ready[class] = chance(m, m->ready_percent);
  p->solitary_preload = chance(m, 50);
  rs_eval(dut, p);
  if (!check_outputs(m, p, cycle)) return false;
  if (p->alloc_valid) {
    command *c = &m->commands[m->next];
    unsigned id = free_entry(m, c->class);
    CHECK(p->alloc_ready == (id < m->entries[c->class]), "alloc_ready %d", p->alloc_ready);
    c->id = id;
  }
  bool taken = p->alloc_valid && p->alloc_ready;
  if (!advance(m, p, chosen, cycle)) return false;
  if (taken) p->alloc_valid = false;
  rs_clock(dut);
  return true;
}

static bool run_program(machine *m, uint64_t seed) {
  m->random = seed;
  m->count = COMMANDS, m->next = 0;
  m->ws = m->a_transpose = m->b_transpose = m->image = false;
  m->a_stride = m->c_stride = m->image_rows = 0;
  memset(m->block_stride, 0, sizeof m->block_stride);
  memset(m->repeats, 0, sizeof m->repeats);
  m->completion_percent = between(m, 2, 40), m->ready_percent = between(m, 30, 100);
  for (size_t n = 0; n < m->count; n++) make_command(m, &m->commands[n]);
  rs_dut *dut = rs_create();
  rs_pins pins = {.alloc_valid = false};
  bool good = true, finished = false;
  for (size_t cycle = 0; good && !finished && cycle < 400000; cycle++) {
    good = cycle_once(m, dut, &pins, cycle);
    finished = m->next == m->count;
    for (size_t n = 0; n < m->count; n++) finished &= m->commands[n].done;
  }
  rs_destroy(dut);
  if (good && !finished) fprintf(stderr, "the program does not end\n");
  if (!good || !finished) fprintf(stderr, "program %" PRIu64 "\n", seed);
  return good && finished;
}

// --- single cycles
// ----------------------------------------------------------------------------------------------------------

static void put(rs_pins *p, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  p->alloc_valid = true, p->funct = funct, p->rs1 = rs1, p->rs2 = rs2;
}

// A mvin into the row that a preload reads: the preload issues in the cycle after the completion, not in the same one.
static bool probe_issue_after_completion(void) {
  const uint64_t rows = UINT64_C(0x0004000400000000);
  rs_dut *dut = rs_create();
  rs_pins p = {.issue_ready = {true, true, true}};
  put(&p, ISA_FUNCT_MVIN, 0x1000, rows | 8);
  rs_eval(dut, &p);
  bool good = p.alloc_ready && !p.issue_valid[LOAD];
  rs_clock(dut);
  put(&p, ISA_FUNCT_PRELOAD, rows | 11, rows | UINT32_MAX);
  rs_eval(dut, &p);
  good &= p.issue_valid[LOAD];  // one cycle after its allocation
  rs_clock(dut);
  p.alloc_valid = false;
  for (int n = 0; n < 5; n++) {
    rs_eval(dut, &p);
    good &= !p.issue_valid[EXECUTE];
    rs_clock(dut);
  }
  p.done_valid[LOAD] = true, p.done_id[LOAD] = 0;
  rs_eval(dut, &p);
  good &= !p.issue_valid[EXECUTE];  // t
  rs_clock(dut);
  p.done_valid[LOAD] = false;
  rs_eval(dut, &p);
  good &= p.issue_valid[EXECUTE];  // t + 1
  rs_clock(dut);
  rs_destroy(dut);
  return good;
}

// A configuration of loads is free one cycle after its issue; the station is idle then.
static bool probe_config(void) {
  rs_dut *dut = rs_create();
  rs_pins p = {.issue_ready = {true, true, true}};
  put(&p, ISA_FUNCT_CONFIG_LD, 1, 0);
  rs_eval(dut, &p);
  bool good = p.alloc_ready && !p.busy;
  rs_clock(dut);
  p.alloc_valid = false;
  rs_eval(dut, &p);
  good &= p.issue_valid[LOAD] && p.busy;
  rs_clock(dut);
  rs_eval(dut, &p);
  good &= !p.issue_valid[LOAD] && !p.busy;
  rs_destroy(dut);
  return good;
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  static machine m;
  for (unsigned class = 0; class < RS_CLASSES; class ++) m.entries[class] = (unsigned)atoi(argv[1 + class]);
  m.stores_complete = atoi(argv[4]) == 1;
  uint64_t programs = strtoull(argv[5], NULL, 10);
  for (uint64_t n = 0; n < programs; n++)
    if (!run_program(&m, n)) return 1;
  if (!probe_issue_after_completion() || !probe_config()) {
    fprintf(stderr, "a probe failed\n");
    return 1;
  }
  printf("%" PRIu64 " programs of %d commands equal\n", programs, COMMANDS);
  return programs == 0;
}
