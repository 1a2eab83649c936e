// SPDX-License-Identifier: Apache-2.0
// Turns config_ld, mvin, mvin2 and mvin3 into row requests, one per cycle, and reports finished commands.
// See hw/rtl/weft_load_controller.sv.
//
//   WAIT     head is a config: takes effect, one cycle. Head is a mvin and an entry is free: allocate, request row 0.
//   BLOCKED  allocated, row 0 not yet accepted.
//   ROWS     the remaining rows; the command leaves the queue with its last request (a single row one cycle later).
// A mvin waits while an older one that writes a common byte of local memory is in flight.
//
// Invariants: a command is decoded when it enters the queue, with the configuration that stands before it there;
// `meets` names the entries that the head has to wait for, found when it is first looked at as head: no entry is added
// while it waits.
#include "sim/cycle/load_controller.h"

#include <assert.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/bus.h"
#include "sim/cycle/command_tracker.h"
#include "sim/cycle/dma_reader.h"
#include "sim/cycle/load_overlap.h"
#include "sim/cycle/load_path.h"
#include "sim/cycle/port.h"
#include "sim/cycle/queue.h"

enum { STATES = 3, WORD_BITS = 64 };
enum { SHORTEST_LOAD = 6 };  // from the cycle of its first request to that in which a load of one beat is shown as done

enum { WAITS_OLDER = CYCLE_WORKING + 1, WAITS_ENTRY, WAITS_READER, WAITS_DATA };
const char *const cycle_load_controller_causes[CYCLE_CAUSES] = {
    "idle",
    "working",
    "waiting: an older load to the same rows",
    "waiting: all commands in flight",
    "waiting: the reader takes no row",
    "waiting: data on its way",
};

typedef struct load_state {
  uint64_t stride;
  uint32_t scale;
  uint16_t block_stride;
  uint8_t pixel_repeats;
  bool shrink, packed;
} load_state;

typedef enum { WAIT, BLOCKED, ROWS } controller_state;

// A command in the queue.
typedef struct load_command {
  bool config, empty;
  uint8_t id;
  uint16_t rows_read;
  uint64_t stride;
  uint32_t bytes;
  cycle_load_row first;  // its first request
  cycle_load_rows rows;
  cycle_port_use use;
} load_command;

typedef struct load_tracked {
  cycle_load_rows rows;
  cycle_port_use use;
} load_tracked;

struct cycle_load_controller {
  controller_state state;
  bool looked;  // `meets` belongs to the head of the queue
  uint16_t row;
  cycle_load_row head;  // the next request of the head
  uint64_t meets[CYCLE_TRACKER_WORDS];
  cycle_queue queue;
  load_command *commands;  // by slot
  cycle_tracker tracker;
  load_tracked *tracked;  // by entry
  uint32_t *coming;       // by entry: bytes that the load path has not taken from the bus
  load_state states[STATES];
  uint32_t row_mask, dim_shift, bus_shift;
};

void cycle_load_create(cycle_engine *c) {
  struct cycle_load_controller *l = c->load = WF_NEW(struct cycle_load_controller);
  cycle_queue_init(&l->queue, c->array->load.queue, 1, false);
  l->commands = WF_NEW_ARRAY(cycle_queue_slots(&l->queue), load_command);
  cycle_tracker_init(&l->tracker, c->d.load_commands_tracked);
  l->tracked = WF_NEW_ARRAY(c->d.load_commands_tracked, load_tracked);
  l->coming = WF_NEW_ARRAY(c->d.load_commands_tracked, uint32_t);
  l->row_mask = (UINT32_C(1) << c->d.row_bits) - 1;
  l->dim_shift = (uint32_t)__builtin_ctz(c->d.dim);
  l->bus_shift = (uint32_t)__builtin_ctz(c->array->dma.bus_bits / 8);
}

void cycle_load_destroy(cycle_engine *c) {
  struct cycle_load_controller *l = c->load;
  if (l == NULL) return;
  cycle_queue_free(&l->queue);
  cycle_tracker_free(&l->tracker);
  wf_free(l->commands);
  wf_free(l->tracked);
  wf_free(l->coming);
  wf_free(l);
}

bool cycle_load_ready(const cycle_engine *c, uint64_t now) { return cycle_queue_room(&c->load->queue, now); }

bool cycle_load_comes(cycle_engine *c, uint8_t cmd, uint32_t bytes) {
  uint32_t *coming = &c->load->coming[cmd];
  assert(*coming >= bytes);
  *coming -= bytes;
  return *coming == 0;
}

void cycle_load_answered(cycle_engine *c, uint8_t cmd, uint32_t bytes) {
  cycle_tracker_return(&c->load->tracker, cmd, bytes);
}

bool cycle_load_busy(const cycle_engine *c) {
  return c->load->queue.count > 0 || cycle_tracker_busy(&c->load->tracker);
}

// ---- commands that enter

static void configure(struct cycle_load_controller *l, const cycle_issue *command) {
  uint64_t rs1 = command->rs1, rs2 = command->rs2;
  uint64_t slot = isa_get_config_ld_state(rs1, rs2);
  if (slot >= STATES) return;
  l->states[slot] = (load_state){.stride = isa_get_config_ld_stride(rs1, rs2),
                                 .scale = (uint32_t)isa_get_config_ld_scale(rs1, rs2),
                                 .block_stride = (uint16_t)isa_get_config_ld_block_stride(rs1, rs2),
                                 .pixel_repeats = (uint8_t)isa_get_config_ld_pixel_repeats(rs1, rs2),
                                 .shrink = isa_get_config_ld_shrink(rs1, rs2) != 0,
                                 .packed = isa_get_config_ld_packed(rs1, rs2) != 0};
}

static unsigned slot_of(isa_id insn) { return insn == ISA_MVIN2 ? 1 : insn == ISA_MVIN3 ? 2 : 0; }

// What it writes in local memory.
static void find_rows(const struct cycle_load_controller *l, load_command *m, uint16_t rows) {
  const cycle_load_row *h = &m->first;
  m->rows = (cycle_load_rows){.row = h->laddr & l->row_mask,
                              .rows = rows,
                              .cols = h->cols,
                              .copies = (uint8_t)(h->pixel_repeats - 1),
                              .blocks = (uint16_t)((h->cols + (UINT32_C(1) << l->dim_shift) - 1) >> l->dim_shift),
                              .stride = h->block_stride,
                              .is_acc = isa_local_accumulator(h->laddr) != 0};
}

// A burst may leave main memory: then the cycle counts in which it is sent.
static bool leaves_memory(const cycle_engine *c, const load_command *m) {
  uint64_t most = c->array->dma.max_burst_bytes, from = m->first.address & ~(most - 1);
  uint64_t rows = (m->rows_read - UINT64_C(1)) * m->stride, row = UINT64_C(4) * m->first.cols;
  if (m->stride > UINT32_MAX) return true;
  return arch_memory_at(c->memory, from, rows + row + 2 * most) == NULL;
}

// The banks between the first local row, that of the last copy, and the last one.
static uint64_t banks_between(const cycle_load_rows *r, unsigned bank_shift, uint32_t banks) {
  uint64_t first = r->row > r->copies ? r->row - r->copies : 0;
  uint64_t last = r->row + r->rows - UINT64_C(1) + (r->blocks - UINT64_C(1)) * r->stride;
  unsigned low = (unsigned)(first >> bank_shift), high = (unsigned)(last >> bank_shift);
  if (last >> bank_shift >= banks) return UINT64_MAX >> (64 - banks);
  return (UINT64_MAX >> (63 - (high - low))) << low;
}

static cycle_port_use use_of(const cycle_engine *c, const load_command *m) {
  const hw_array *a = c->array;
  if (m->empty || m->first.zeros || leaves_memory(c, m)) return (cycle_port_use){.other = true};
  if (!m->rows.is_acc) return (cycle_port_use){.banks = banks_between(&m->rows, c->sp_bank_shift, a->scratchpad.banks)};
  bool adds = isa_local_accumulate(m->first.laddr) != 0;
  if (adds || a->accumulator.single_ported) return (cycle_port_use){.other = true};
  return (cycle_port_use){.acc_banks = banks_between(&m->rows, c->acc_bank_shift, a->accumulator.banks)};
}

static void decode(const struct cycle_load_controller *l, const cycle_issue *command, load_command *m) {
  uint64_t rs1 = command->rs1, rs2 = command->rs2;
  const load_state *s = &l->states[slot_of(command->insn)];
  uint32_t laddr = (uint32_t)isa_get_mvin_local(rs1, rs2);
  uint16_t rows = (uint16_t)isa_get_mvin_rows(rs1, rs2), cols = (uint16_t)isa_get_mvin_cols(rs1, rs2);
  bool is_acc = isa_local_accumulator(laddr) != 0, zeros = rs1 == 0, repeated = s->stride == 0 && !zeros;
  m->empty = rows == 0 || cols == 0;
  m->rows_read = repeated ? 1 : rows;
  m->stride = s->stride;
  m->first = (cycle_load_row){.address = rs1,
                              .laddr = laddr,
                              .scale = s->scale,
                              .cols = cols,
                              .repeats = (uint16_t)(repeated ? rows - 1 : 0),
                              .block_stride = s->block_stride,
                              .pixel_repeats = is_acc || s->pixel_repeats == 0 ? 1 : s->pixel_repeats,
                              .acc_width = is_acc && !s->shrink,
                              .packed = s->packed && !is_acc && !zeros,
                              .zeros = zeros};
  m->bytes = ((uint32_t)cols * m->rows_read) << (m->first.acc_width ? 2 : 0) >> m->first.packed;
  find_rows(l, m, rows);
}

void cycle_load_take(cycle_engine *c, uint64_t now, const cycle_issue *command) {
  struct cycle_load_controller *l = c->load;
  load_command *m = &l->commands[cycle_queue_push(&l->queue, now)];
  m->config = command->insn == ISA_CONFIG_LD;
  m->id = command->id;
  if (m->config) {
    configure(l, command);
  } else {
    decode(l, command, m);
    m->use = use_of(c, m);
    cycle_port_uses(c, now, m->use);
  }
  c->port.room_wanted = false;
  if (c->wake[CYCLE_LOAD_CONTROLLER] > now + 1) c->wake[CYCLE_LOAD_CONTROLLER] = now + 1;
  cycle_port_touch(c);
}

void cycle_load_done_taken(cycle_engine *c, uint64_t now) {
  struct cycle_load_controller *l = c->load;
  cycle_port_used(c, l->tracked[l->tracker.shown].use);
  cycle_tracker_done_taken(&l->tracker);
  c->wake[CYCLE_LOAD_CONTROLLER] = now + 1;
  cycle_port_touch(c);
}

// ---- the head of the queue

static void find_conflicts(struct cycle_load_controller *l, const load_command *m) {
  l->looked = true;
  for (uint32_t w = 0; w < l->tracker.words; w++) {
    l->meets[w] = 0;
    for (uint64_t valid = m->empty ? 0 : l->tracker.valid[w]; valid != 0; valid &= valid - 1) {
      uint32_t bit = (uint32_t)__builtin_ctzll(valid);
      if (cycle_load_overlap(&l->tracked[w * WORD_BITS + bit].rows, &m->rows)) l->meets[w] |= UINT64_C(1) << bit;
    }
  }
}

static bool hazard(const struct cycle_load_controller *l) {
  uint64_t waits = 0;
  for (uint32_t w = 0; w < l->tracker.words; w++) waits |= l->meets[w] & l->tracker.valid[w];
  return waits != 0;
}

static void leave_queue(struct cycle_load_controller *l, uint64_t now) {
  cycle_queue_pop(&l->queue, now);
  l->state = WAIT;
  l->looked = false;
}

// ---- row requests

static const load_command *head_command(const struct cycle_load_controller *l) {
  return &l->commands[cycle_queue_head(&l->queue)];
}

// Asks for the current row; true if it was accepted.
static bool request(cycle_engine *c, uint64_t now, struct cycle_load_controller *l) {
  const load_command *m = head_command(l);
  cycle_load_row *h = &l->head;
  if (!cycle_load_path_ready(c, now, h->zeros)) {
    if (c->counting) cycle_event(c, ISA_EVENT_LOAD_SPAD_WAIT);
    return false;
  }
  cycle_load_path_request(c, now, h);
  h->address += m->stride;
  h->laddr = (h->laddr & ~l->row_mask) | ((h->laddr + 1) & l->row_mask);
  l->row = (uint16_t)(l->row + 1 == m->rows_read ? 0 : l->row + 1);
  return true;
}

// Each state's cycle returns what the cycle was spent on.
static unsigned step_wait(cycle_engine *c, uint64_t now, struct cycle_load_controller *l) {
  if (!cycle_queue_valid(&l->queue, now)) return cycle_tracker_busy(&l->tracker) ? WAITS_DATA : CYCLE_IDLE;
  const load_command *m = head_command(l);
  if (m->config) {
    leave_queue(l, now);
    return CYCLE_WORKING;
  }
  if (!l->looked) find_conflicts(l, m);
  if (hazard(l)) return WAITS_OLDER;
  if (!cycle_tracker_room(&l->tracker)) return WAITS_ENTRY;
  l->head = m->first;
  l->head.cmd = cycle_tracker_alloc(&l->tracker, m->id, m->empty ? 0 : m->bytes);
  l->tracked[l->head.cmd] = (load_tracked){.rows = m->rows, .use = m->use};
  l->coming[l->head.cmd] = m->bytes;
  if (m->empty)
    leave_queue(l, now);
  else
    l->state = request(c, now, l) ? ROWS : BLOCKED;
  return CYCLE_WORKING;
}

static unsigned step_blocked(cycle_engine *c, uint64_t now, struct cycle_load_controller *l) {
  if (c->counting) cycle_event(c, ISA_EVENT_LOAD_DMA_WAIT);
  if (!request(c, now, l)) return WAITS_READER;
  l->state = ROWS;
  return CYCLE_WORKING;
}

static unsigned step_rows(cycle_engine *c, uint64_t now, struct cycle_load_controller *l) {
  if (c->counting) cycle_event(c, ISA_EVENT_LOAD_ACTIVE);
  if (l->row != 0 && !request(c, now, l)) return WAITS_READER;
  if (l->row == 0) leave_queue(l, now);
  return CYCLE_WORKING;
}

// ---- the cycle

// The next cycle has work that needs no other unit. A full issue queue has to be emptied first.
static bool goes_on(const cycle_engine *c, uint64_t now, const struct cycle_load_controller *l, unsigned cause) {
  if (cause != CYCLE_WORKING) return false;
  if (l->state == WAIT) return l->queue.count > 0;
  return l->row == 0 || l->head.zeros || cycle_load_path_ready(c, now, false);
}

// What it waits for after a cycle of work, if the next one has none.
static unsigned waits_for(const struct cycle_load_controller *l) {
  if (l->state != WAIT) return WAITS_READER;
  return cycle_tracker_busy(&l->tracker) ? WAITS_DATA : CYCLE_IDLE;
}

bool cycle_load_waits(const cycle_engine *c) {
  const struct cycle_load_controller *l = c->load;
  return l->state == BLOCKED || (l->state == ROWS && l->row != 0);
}

bool cycle_load_step(cycle_engine *c, uint64_t now) {
  struct cycle_load_controller *l = c->load;
  bool busy = cycle_queue_valid(&l->queue, now) || cycle_tracker_busy(&l->tracker);
  if (!busy) {
    cycle_spend(c, now, CYCLE_LOAD_CONTROLLER, CYCLE_IDLE);
    c->wake[CYCLE_LOAD_CONTROLLER] = CYCLE_NEVER;
    return false;
  }
  c->w.done[SIM_CLASS_LOAD].valid = cycle_tracker_done(&l->tracker, &c->w.done[SIM_CLASS_LOAD].id);
  unsigned cause = l->state == WAIT      ? step_wait(c, now, l)
                   : l->state == BLOCKED ? step_blocked(c, now, l)
                                         : step_rows(c, now, l);
  if (c->w.load_answered) cycle_tracker_return(&l->tracker, c->w.load_cmd, c->w.load_bytes);
  const bool more = goes_on(c, now, l, cause);
  c->wake[CYCLE_LOAD_CONTROLLER] = l->tracker.complete > 0 || more ? now + 1 : CYCLE_NEVER;
  cycle_spend(c, now, CYCLE_LOAD_CONTROLLER, cause);
  if (cause == CYCLE_WORKING && !more) cycle_spend(c, now + 1, CYCLE_LOAD_CONTROLLER, waits_for(l));
  return cause == CYCLE_WORKING;
}

// ---- what other units wait for

// The earliest cycle that shows a command as done. Of its bytes that have not come, the first beat comes with the next
// answer at the earliest; the row that the last beat completes leaves the merger a cycle later, is written at the
// earliest in the next cycle, and its command shown as done in the one after. A request that is still to be sent may be
// answered before one that was sent.
static uint64_t done_from(const cycle_engine *c, const struct cycle_load_controller *l) {
  if (!cycle_load_path_whole(c)) return 0;
  uint32_t least = UINT32_MAX;
  for (uint32_t w = 0; w < l->tracker.words; w++)
    for (uint64_t valid = l->tracker.valid[w]; valid != 0; valid &= valid - 1) {
      uint32_t cmd = w * WORD_BITS + (uint32_t)__builtin_ctzll(valid);
      uint32_t left = l->coming[cmd];
      if (left != 0 && left < least) least = left;
    }
  uint64_t ends = c->wake[CYCLE_LOAD_PATH], first = cycle_bus_answer_at(c);
  if (ends != CYCLE_NEVER) ends++;
  if (least == UINT32_MAX) return ends;
  if (!cycle_reader_full(c)) {
    const uint64_t unsent = memsys_soonest_answer(c->timing, c->port.time);
    if (unsent < first) first = unsent;
  }
  if (first < c->port.time) first = c->port.time;
  first += (least >> l->bus_shift) + 2;
  return first < ends ? first : ends;
}

// The same for a command without an entry: the shortest one may be the next.
static uint64_t started_from(const cycle_engine *c, const struct cycle_load_controller *l) {
  uint32_t least = UINT32_MAX;
  for (uint32_t n = l->state == WAIT ? 0 : 1; n < l->queue.count; n++) {
    const load_command *m = &l->commands[cycle_queue_at(&l->queue, n)];
    if (!m->config && m->bytes < least) least = m->bytes;
  }
  return least == UINT32_MAX ? CYCLE_NEVER : c->port.time + (least >> l->bus_shift) + SHORTEST_LOAD;
}

// One row is requested per cycle.
static uint64_t room_from(const cycle_engine *c, const struct cycle_load_controller *l) {
  if (l->state == WAIT) return c->port.time;
  return c->port.time + (l->row == 0 ? 0 : head_command(l)->rows_read - l->row - 1U);
}

bool cycle_load_shows(const cycle_engine *c, bool room) {
  const struct cycle_load_controller *l = c->load;
  return l->tracker.complete > 0 || (room && l->queue.count < l->queue.capacity);
}

uint64_t cycle_load_visible(const cycle_engine *c, bool room) {
  const struct cycle_load_controller *l = c->load;
  if (l->tracker.occupied == 0 && l->queue.count == 0) return CYCLE_NEVER;
  uint64_t done = done_from(c, l), started = started_from(c, l);
  if (started < done) done = started;
  uint64_t taken = room ? room_from(c, l) : CYCLE_NEVER;
  return done < taken ? done : taken;
}
