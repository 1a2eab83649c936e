// SPDX-License-Identifier: Apache-2.0
// Stores: turns config_st, config_norm and mvout into row requests, one per cycle, and reports finished commands. See
// hw/rtl/weft_store_controller.sv, which also tells the forms of a mvout and its states.
//
// What follows from a command and the configuration is found once, when the command is taken up; the registers cannot
// change under it, because a config waits behind it in the queue.
// Invariant: outside ROWS and BLOCKED the position is at the start.
#include "sim/cycle/store_controller.h"

#include "arch/config.h"
#include "arch/local.h"
#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/cycle/command_tracker.h"
#include "sim/cycle/queue.h"
#include "sim/cycle/store_path.h"
#include "sim/ref/norm.h"

typedef enum { WAIT, BLOCKED, ROWS } store_state;

enum { WAIT_MEMORY = CYCLE_WORKING + 1, WAIT_TRACKED, WAIT_ROWS };
const char *const cycle_store_controller_causes[CYCLE_CAUSES] = {
    [CYCLE_IDLE] = "idle",
    [CYCLE_WORKING] = "working",
    [WAIT_MEMORY] = "local memory takes no row",
    [WAIT_TRACKED] = "too many commands under way",
    [WAIT_ROWS] = "waits for its last rows",
};

// A mvout under way.
typedef struct store_command {
  bool pooled, image, to_sp;
  bool gated;   // each row comes behind one of factors
  bool behind;  // of a gated row: its factors are requested
  uint32_t laddr, cols, blocks, rows;
  uint8_t norm, norm_collect;           // statistics command of the last block of a row and of those before it
  uint64_t base, stride, block_stride;  // block_stride: 0 but for the scratchpad
  uint32_t count;                       // requests
  // Position. Rows and images count rows and blocks; pooling counts pixels and window elements.
  uint32_t row, block, porow, pocol, wrow, wcol;
  bool at_start;
  cycle_store_row request;  // what all of its requests have in common, and the last one
} store_command;

struct cycle_store_controller {
  cycle_queue queue;
  cycle_issue *commands;
  store_state state;
  store_command now;
  arch_config config;
  cycle_tracker tracker;
};

typedef struct cycle_store_controller store;

void cycle_store_create(cycle_engine *c) {
  store *s = c->store = WF_NEW(store);
  cycle_queue_init(&s->queue, c->array->store.queue, 1, false);
  s->commands = WF_NEW_ARRAY(cycle_queue_slots(&s->queue), cycle_issue);
  cycle_tracker_init(&s->tracker, c->d.store_commands_tracked);
  s->now.at_start = true;
}

void cycle_store_destroy(cycle_engine *c) {
  store *s = c->store;
  if (s == NULL) return;
  cycle_queue_free(&s->queue);
  cycle_tracker_free(&s->tracker);
  wf_free(s->commands);
  wf_free(s);
}

bool cycle_store_ready(const cycle_engine *c, uint64_t now) { return cycle_queue_room(&c->store->queue, now); }

void cycle_store_take(cycle_engine *c, uint64_t now, const cycle_issue *command) {
  store *s = c->store;
  s->commands[cycle_queue_push(&s->queue, now)] = *command;
}

void cycle_store_done_taken(cycle_engine *c) { cycle_tracker_done_taken(&c->store->tracker); }

bool cycle_store_busy(const cycle_engine *c) {
  return c->store->queue.count > 0 || cycle_tracker_busy(&c->store->tracker);
}

// ---- configuration

static bool is_config(const cycle_issue *command) {
  return command->insn == ISA_CONFIG_ST || command->insn == ISA_CONFIG_NORM || command->insn == ISA_CONFIG_GATE;
}

static void configure(const cycle_engine *c, store *s, const cycle_issue *command) {
  if (command->insn != ISA_CONFIG_NORM || c->array->units.normaliser)
    arch_config_apply(&s->config, command->insn, command->rs1, command->rs2);
}

// ---- a mvout is taken up

static bool to_scratchpad(const cycle_issue *command) { return command->insn == ISA_MVOUT_SPAD_R2; }

static bool pools(const cycle_engine *c, const store *s, bool to_sp) {
  return c->array->units.max_pool && s->config.store.pool_stride != 0 && !to_sp;
}

static uint32_t requests_of(const cycle_engine *c, const store *s, const arch_local *from) {
  const store_command *n = &s->now;
  const arch_store_config *g = &s->config.store;
  bool statistics = c->array->units.normaliser && !from->garbage && from->accumulator && from->norm != ARCH_NORM_NONE;
  if (n->cols == 0) return 0;
  if (!n->pooled) return n->rows * n->blocks << n->gated;
  return statistics ? 0 : g->pool_orows * g->pool_ocols * g->pool_size * g->pool_size;
}

static cycle_store_row common_request(const arch_store_config *g, bool to_sp) {
  return (cycle_store_row){.act = (uint8_t)g->activation,
                           .scale = g->scale,
                           .qb = g->qb,
                           .qc = g->qc,
                           .qln2 = g->qln2,
                           .qln2_inverse = g->qln2_inverse,
                           .stats_id = (uint8_t)g->stats_id,
                           .to_sp = to_sp};
}

static void take_up(const cycle_engine *c, store *s, const cycle_issue *command) {
  const arch_store_config *g = &s->config.store;
  store_command *n = &s->now;
  bool to_sp = to_scratchpad(command);
  uint64_t rs1 = command->rs1, rs2 = command->rs2;
  *n = (store_command){.to_sp = to_sp,
                       .pooled = pools(c, s, to_sp),
                       .laddr = (uint32_t)isa_get_mvout_local(rs1, rs2),
                       .cols = (uint32_t)isa_get_mvout_cols(rs1, rs2),
                       .base = to_sp ? isa_get_mvout_spad_r2_dest(rs1, rs2) : isa_get_mvout_dram(rs1, rs2),
                       .stride = to_sp ? isa_get_mvout_spad_r2_stride(rs1, rs2) : g->stride_bytes,
                       .block_stride = to_sp ? isa_get_mvout_spad_r2_block_stride(rs1, rs2) : 0,
                       .at_start = true,
                       .request = common_request(g, to_sp)};
  n->image = !n->pooled && g->pool_size != 0 && !to_sp;
  n->rows = n->image ? g->orows * g->ocols : (uint32_t)isa_get_mvout_rows(rs1, rs2);
  n->blocks = (n->cols + c->d.dim - 1) / c->d.dim;
  const arch_local from = arch_local_decode(&c->d, n->laddr);
  bool norm = c->array->units.normaliser && !from.garbage && !to_sp;
  n->norm = norm ? (uint8_t)from.norm : ARCH_NORM_NONE;
  n->norm_collect = (uint8_t)ref_norm_collecting((arch_norm)n->norm);
  n->gated = g->gate && !n->pooled && !n->image && !to_sp && arch_local_narrows(&from);
  n->count = requests_of(c, s, &from);
}

// ---- its requests

// The row of the source, relative to the command's local address; UINT32_MAX outside the image.
static uint32_t source_row(const cycle_engine *c, const arch_store_config *g, const store_command *n) {
  if (!n->pooled) return n->block * c->d.dim + n->row;
  int32_t row = (int32_t)(n->porow * g->pool_stride + n->wrow) - (int32_t)g->pool_upad;
  int32_t col = (int32_t)(n->pocol * g->pool_stride + n->wcol) - (int32_t)g->pool_lpad;
  if (row < 0 || col < 0 || row >= (int32_t)g->orows || col >= (int32_t)g->ocols) return UINT32_MAX;
  return (uint32_t)row * g->ocols + (uint32_t)col;
}

// Row numbers wrap inside their field.
static uint32_t source_address(const cycle_engine *c, const store_command *n, uint32_t row, bool last_block) {
  if (row == UINT32_MAX) return ARCH_LOCAL_GARBAGE;
  uint32_t rows = (UINT32_C(1) << c->d.row_bits) - 1;
  uint32_t local = (n->laddr & ~rows) | ((n->laddr + row) & rows);
  return isa_local_with_norm(local, last_block ? n->norm : n->norm_collect);
}

// The scratchpad row of the other factors.
static uint32_t factor_address(const cycle_engine *c, const arch_store_config *g, const store_command *n) {
  const uint32_t rows = (UINT32_C(1) << c->d.row_bits) - 1;
  return (n->laddr + source_row(c, g, n) + (uint32_t)g->gate_offset) & rows;
}

static bool last_in_window(const arch_store_config *g, const store_command *n) {
  return n->wcol == g->pool_size - 1 && n->wrow == g->pool_size - 1;
}

static const cycle_store_row *request_of(const cycle_engine *c, store *s) {
  const arch_store_config *g = &s->config.store;
  store_command *n = &s->now;
  cycle_store_row *r = &n->request;
  bool last_block = n->block == n->blocks - 1;
  bool pixels = n->pooled || n->image;
  uint64_t place = pixels ? (uint64_t)n->porow * g->pool_out_dim + n->pocol : n->row;
  r->address = n->base + place * n->stride + n->block * n->block_stride;
  r->laddr = source_address(c, n, source_row(c, g, n), last_block);
  r->len = (uint16_t)(last_block ? n->cols - n->block * c->d.dim : c->d.dim);
  r->block = (uint8_t)n->block;
  r->pool = n->pooled && (n->wrow != 0 || n->wcol != 0);
  r->store = n->pooled ? last_in_window(g, n) : last_block;
  r->factor = n->gated && !n->behind;
  if (!r->factor) return r;
  r->address = g->gate_scale;
  r->laddr = factor_address(c, g, n);
  r->store = false;
  return r;
}

// A counter with `size` values; true when it starts anew.
static bool advance(uint32_t *counter, uint32_t size) {
  *counter = *counter + 1 == size ? 0 : *counter + 1;
  return *counter == 0;
}

// To the next request; true if that was the last one.
static bool next_position(const arch_store_config *g, store_command *n) {
  if (n->pooled)
    return advance(&n->wcol, g->pool_size) && advance(&n->wrow, g->pool_size) && advance(&n->pocol, g->pool_ocols) &&
           advance(&n->porow, g->pool_orows);
  n->behind = n->gated && !n->behind;
  if (n->behind) return false;
  if (!advance(&n->block, n->blocks)) return false;
  if (n->image && advance(&n->pocol, g->ocols)) n->porow++;
  return advance(&n->row, n->rows);
}

// ---- a cycle

static bool send(cycle_engine *c, uint64_t now, store *s) {
  if (!cycle_store_path_ready(c, now)) {
    if (c->counting) cycle_event(c, ISA_EVENT_STORE_SPAD_WAIT);
    return false;
  }
  cycle_store_path_request(c, now, request_of(c, s));
  s->now.at_start = next_position(&s->config.store, &s->now);
  return true;
}

// Head of the queue in WAIT. What the cycle was spent on.
static unsigned start(cycle_engine *c, uint64_t now, store *s) {
  const cycle_issue *command = &s->commands[cycle_queue_head(&s->queue)];
  if (is_config(command)) {
    configure(c, s, command);
    cycle_queue_pop(&s->queue, now);
    return CYCLE_WORKING;
  }
  if (!cycle_tracker_room(&s->tracker)) return WAIT_TRACKED;
  take_up(c, s, command);
  s->now.request.cmd = cycle_tracker_alloc(&s->tracker, command->id, s->now.count);
  if (s->now.count == 0)
    cycle_queue_pop(&s->queue, now);
  else
    s->state = send(c, now, s) ? ROWS : BLOCKED;
  return CYCLE_WORKING;
}

// A single request leaves the queue a cycle after it was sent.
static unsigned rows(cycle_engine *c, uint64_t now, store *s) {
  bool finished = s->now.at_start;
  if (!finished) {
    if (!send(c, now, s)) return WAIT_MEMORY;
    finished = s->now.at_start;
  }
  if (finished) {
    s->state = WAIT;
    cycle_queue_pop(&s->queue, now);
  }
  return CYCLE_WORKING;
}

static unsigned work(cycle_engine *c, uint64_t now, store *s) {
  if (!cycle_queue_valid(&s->queue, now)) return cycle_tracker_busy(&s->tracker) ? WAIT_ROWS : CYCLE_IDLE;
  switch (s->state) {
    case WAIT:
      return start(c, now, s);
    case BLOCKED:
      if (!send(c, now, s)) return WAIT_MEMORY;
      s->state = ROWS;
      return CYCLE_WORKING;
    default:
      return rows(c, now, s);
  }
}

static void report(cycle_engine *c, uint64_t now, const store *s) {
  bool head = cycle_queue_valid(&s->queue, now);
  bool to_sp = head && to_scratchpad(&s->commands[cycle_queue_head(&s->queue)]);
  if (s->state == BLOCKED) cycle_event(c, ISA_EVENT_STORE_DMA_WAIT);
  if (s->state == ROWS) cycle_event(c, ISA_EVENT_STORE_ACTIVE);
  if (pools(c, s, to_sp)) cycle_event(c, ISA_EVENT_STORE_POOLING);
}

bool cycle_store_step(cycle_engine *c, uint64_t now) {
  store *s = c->store;
  if (c->counting) report(c, now, s);
  if (!cycle_store_busy(c)) {
    cycle_spend(c, now, CYCLE_STORE_CONTROLLER, CYCLE_IDLE);
    return false;
  }
  c->w.done[SIM_CLASS_STORE].valid = cycle_tracker_done(&s->tracker, &c->w.done[SIM_CLASS_STORE].id);
  if (c->w.store_answered) cycle_tracker_return(&s->tracker, c->w.store_cmd, 1);
  unsigned cause = work(c, now, s);
  cycle_spend(c, now, CYCLE_STORE_CONTROLLER, cause);
  return c->w.store_answered || cause == CYCLE_WORKING;
}
