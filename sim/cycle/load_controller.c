// Turns config_ld, mvin, mvin2 and mvin3 into row requests, one per cycle, and reports finished commands.
// See hw/rtl/load_controller.sv.
//
//   WAIT     head is a config: takes effect, one cycle. Head is a mvin and an entry is free: allocate, request row 0.
//   BLOCKED  allocated, row 0 not yet accepted.
//   ROWS     the remaining rows; the command leaves the queue with its last request (a single row one cycle later).
// A mvin waits while an older one that writes a common local row is in flight.
//
// Invariants: a mvin is decoded once, when it is first looked at as head of the queue; `meets` then names the entries
// that it has to wait for, and no entry is added while it waits.

#include "hw/base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/command_tracker.h"
#include "sim/cycle/load_overlap.h"
#include "sim/cycle/weft_accel.h"

enum { EVENT_DMA_WAIT = 8, EVENT_ACTIVE = 9, EVENT_SPAD_WAIT = 10 };
enum { STATES = 3, WORD_BITS = 64 };

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
  bool shrink;
} load_state;

typedef enum { WAIT, BLOCKED, ROWS } controller_state;

struct cycle_load_controller {
  controller_state state;
  bool decoded;  // `head` and `meets` belong to the head of the queue
  uint16_t row;
  // the head
  uint16_t rows_read;
  bool empty;
  uint64_t stride;
  uint32_t bytes;
  cycle_load_row head;
  cycle_load_rows rows;
  uint64_t meets[CYCLE_TRACKER_WORDS];
  cycle_queue queue;
  cycle_issue *commands;  // by slot
  cycle_tracker tracker;
  cycle_load_rows *tracked;  // by entry
  load_state states[STATES];
  uint32_t row_mask, dim_shift;
};

void cycle_load_create(cycle_engine *c) {
  struct cycle_load_controller *l = c->load = WF_NEW(struct cycle_load_controller);
  cycle_queue_init(&l->queue, c->array->load.queue, 1, false);
  l->commands = WF_NEW_ARRAY(cycle_queue_slots(&l->queue), cycle_issue);
  cycle_tracker_init(&l->tracker, c->d.load_commands_tracked);
  l->tracked = WF_NEW_ARRAY(c->d.load_commands_tracked, cycle_load_rows);
  l->row_mask = (UINT32_C(1) << c->d.row_bits) - 1;
  l->dim_shift = (uint32_t)__builtin_ctz(c->d.dim);
}

void cycle_load_destroy(cycle_engine *c) {
  struct cycle_load_controller *l = c->load;
  if (l == NULL) return;
  cycle_queue_free(&l->queue);
  cycle_tracker_free(&l->tracker);
  wf_free(l->commands);
  wf_free(l->tracked);
  wf_free(l);
}

bool cycle_load_ready(const cycle_engine *c) { return cycle_queue_room(&c->load->queue, c->now); }

void cycle_load_take(cycle_engine *c, const cycle_issue *command) {
  c->load->commands[cycle_queue_push(&c->load->queue, c->now)] = *command;
}

void cycle_load_done_taken(cycle_engine *c) { cycle_tracker_done_taken(&c->load->tracker); }

bool cycle_load_busy(const cycle_engine *c) {
  return c->load->queue.count > 0 || cycle_tracker_busy(&c->load->tracker);
}

// ---- the head of the queue

static void configure(struct cycle_load_controller *l, const cycle_issue *command) {
  uint64_t rs1 = command->rs1, rs2 = command->rs2;
  uint64_t slot = isa_get_config_ld_state(rs1, rs2);
  if (slot >= STATES) return;
  l->states[slot] = (load_state){.stride = isa_get_config_ld_stride(rs1, rs2),
                                 .scale = (uint32_t)isa_get_config_ld_scale(rs1, rs2),
                                 .block_stride = (uint16_t)isa_get_config_ld_block_stride(rs1, rs2),
                                 .pixel_repeats = (uint8_t)isa_get_config_ld_pixel_repeats(rs1, rs2),
                                 .shrink = isa_get_config_ld_shrink(rs1, rs2) != 0};
}

static unsigned slot_of(uint8_t funct) { return funct == ISA_FUNCT_MVIN2 ? 1 : funct == ISA_FUNCT_MVIN3 ? 2 : 0; }

// Local rows of the head. Copies of pixels go to the rows below the first.
static void find_rows(struct cycle_load_controller *l, uint16_t rows) {
  const cycle_load_row *h = &l->head;
  uint32_t row = h->laddr & l->row_mask, below = (h->pixel_repeats - 1U) & l->row_mask;
  l->rows = (cycle_load_rows){.row = row > below ? row - below : 0,
                              .span = (uint16_t)(rows + h->pixel_repeats - 1),
                              .blocks = (uint16_t)((h->cols + (UINT32_C(1) << l->dim_shift) - 1) >> l->dim_shift),
                              .stride = h->block_stride,
                              .is_acc = h->laddr >> 31 != 0};
}

static void find_conflicts(struct cycle_load_controller *l, uint32_t max_blocks) {
  for (uint32_t w = 0; w < l->tracker.words; w++) {
    l->meets[w] = 0;
    for (uint64_t valid = l->empty ? 0 : l->tracker.valid[w]; valid != 0; valid &= valid - 1) {
      uint32_t bit = (uint32_t)__builtin_ctzll(valid);
      if (cycle_load_overlap(&l->tracked[w * WORD_BITS + bit], &l->rows, max_blocks)) l->meets[w] |= UINT64_C(1) << bit;
    }
  }
}

static void decode(struct cycle_load_controller *l, const cycle_issue *command, uint32_t max_blocks) {
  uint64_t rs1 = command->rs1, rs2 = command->rs2;
  const load_state *s = &l->states[slot_of(command->funct)];
  uint32_t laddr = (uint32_t)isa_get_mvin_local(rs1, rs2);
  uint16_t rows = (uint16_t)isa_get_mvin_rows(rs1, rs2), cols = (uint16_t)isa_get_mvin_cols(rs1, rs2);
  bool is_acc = laddr >> 31 != 0, zeros = rs1 == 0, repeated = s->stride == 0 && !zeros;
  l->decoded = true;
  l->empty = rows == 0 || cols == 0;
  l->rows_read = repeated ? 1 : rows;
  l->stride = s->stride;
  l->head = (cycle_load_row){.address = rs1,
                             .laddr = laddr,
                             .scale = s->scale,
                             .cols = cols,
                             .repeats = (uint16_t)(repeated ? rows - 1 : 0),
                             .block_stride = s->block_stride,
                             .pixel_repeats = is_acc || s->pixel_repeats == 0 ? 1 : s->pixel_repeats,
                             .acc_width = is_acc && !s->shrink,
                             .zeros = zeros};
  l->bytes = ((uint32_t)cols * l->rows_read) << (l->head.acc_width ? 2 : 0);
  find_rows(l, rows);
  find_conflicts(l, max_blocks);
}

static bool hazard(const struct cycle_load_controller *l) {
  uint64_t waits = 0;
  for (uint32_t w = 0; w < l->tracker.words; w++) waits |= l->meets[w] & l->tracker.valid[w];
  return waits != 0;
}

static void leave_queue(cycle_engine *c, struct cycle_load_controller *l) {
  cycle_queue_pop(&l->queue, c->now);
  l->state = WAIT;
  l->decoded = false;
}

// ---- row requests

// Asks for the current row; true if it was accepted.
static bool request(cycle_engine *c, struct cycle_load_controller *l) {
  cycle_load_row *h = &l->head;
  if (!cycle_load_path_ready(c, h->zeros)) {
    if (c->counting) cycle_event(c, EVENT_SPAD_WAIT);
    return false;
  }
  cycle_load_path_request(c, h);
  h->address += l->stride;
  h->laddr = (h->laddr & ~l->row_mask) | ((h->laddr + 1) & l->row_mask);
  l->row = (uint16_t)(l->row + 1 == l->rows_read ? 0 : l->row + 1);
  return true;
}

// Each state's cycle returns what the cycle was spent on.
static unsigned step_wait(cycle_engine *c, struct cycle_load_controller *l) {
  if (!cycle_queue_valid(&l->queue, c->now)) return cycle_tracker_busy(&l->tracker) ? WAITS_DATA : CYCLE_IDLE;
  const cycle_issue *command = &l->commands[cycle_queue_head(&l->queue)];
  if (command->funct == ISA_FUNCT_CONFIG_LD) {
    configure(l, command);
    leave_queue(c, l);
    return CYCLE_WORKING;
  }
  if (!l->decoded) decode(l, command, c->d.max_block_len);
  if (hazard(l)) return WAITS_OLDER;
  if (!cycle_tracker_room(&l->tracker)) return WAITS_ENTRY;
  l->head.cmd = cycle_tracker_alloc(&l->tracker, command->id, l->empty ? 0 : l->bytes);
  l->tracked[l->head.cmd] = l->rows;
  if (l->empty)
    leave_queue(c, l);
  else
    l->state = request(c, l) ? ROWS : BLOCKED;
  return CYCLE_WORKING;
}

static unsigned step_blocked(cycle_engine *c, struct cycle_load_controller *l) {
  if (c->counting) cycle_event(c, EVENT_DMA_WAIT);
  if (!request(c, l)) return WAITS_READER;
  l->state = ROWS;
  return CYCLE_WORKING;
}

static unsigned step_rows(cycle_engine *c, struct cycle_load_controller *l) {
  if (c->counting) cycle_event(c, EVENT_ACTIVE);
  if (l->row != 0 && !request(c, l)) return WAITS_READER;
  if (l->row == 0) leave_queue(c, l);
  return CYCLE_WORKING;
}

// ---- the cycle

// The next cycle can go on without anybody else. A full issue queue has to be emptied first.
static bool goes_on(const cycle_engine *c, const struct cycle_load_controller *l, unsigned cause) {
  if (cause != CYCLE_WORKING) return false;
  if (l->state == WAIT) return l->queue.count > 0;
  return l->row == 0 || l->head.zeros || cycle_load_path_ready(c, false);
}

bool cycle_load_waits(const cycle_engine *c) {
  const struct cycle_load_controller *l = c->load;
  return l->state == BLOCKED || (l->state == ROWS && l->row != 0);
}

bool cycle_load_step(cycle_engine *c) {
  struct cycle_load_controller *l = c->load;
  bool busy = cycle_queue_valid(&l->queue, c->now) || cycle_tracker_busy(&l->tracker);
  if (!busy) {
    cycle_spend(c, CYCLE_LOAD_CONTROLLER, CYCLE_IDLE);
    c->wake[CYCLE_LOAD_CONTROLLER] = CYCLE_NEVER;
    return false;
  }
  c->w.done[SIM_CLASS_LOAD].valid = cycle_tracker_done(&l->tracker, &c->w.done[SIM_CLASS_LOAD].id);
  unsigned cause = l->state == WAIT ? step_wait(c, l) : l->state == BLOCKED ? step_blocked(c, l) : step_rows(c, l);
  if (c->w.load_answered) cycle_tracker_return(&l->tracker, c->w.load_cmd, c->w.load_bytes);
  c->wake[CYCLE_LOAD_CONTROLLER] = l->tracker.complete > 0 || goes_on(c, l, cause) ? c->now + 1 : CYCLE_NEVER;
  cycle_spend(c, CYCLE_LOAD_CONTROLLER, cause);
  return cause == CYCLE_WORKING;
}
