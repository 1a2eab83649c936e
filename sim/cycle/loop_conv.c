// SPDX-License-Identifier: Apache-2.0
// LOOP_CONV_WS: unrolls a tile of a convolution into mvin, preload, compute and mvout.
//
// A two-entry command queue, two slots of configuration registers, five parts that each work on one slot at a time and
// have a command pipeline of two stages. Commands that are not part of a convolution loop pass while no slot is active.
// Products wait until all loads of their slot were emitted, stores until all products were; while the products of a
// slot wait for loads, the other slot loads nothing. A class is held back while as many of its commands are in flight
// (output to completion in the reservation station) as the station has entries.
//
// Which part is started, running, done is one bit each, by cycle_conv_part_id; the rules between them are masks. All of
// a step's decisions are made on the state at the start of the cycle: `edge` is that state.
#include "sim/cycle/loop_conv.h"

#include <assert.h>

#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/cycle/loop_conv_parts.h"

enum {
  STORE = 1 << CYCLE_CONV_STORE,
  EXECUTE = 1 << CYCLE_CONV_EXECUTE,
  BIAS = 1 << CYCLE_CONV_BIAS,
  WEIGHTS = 1 << CYCLE_CONV_WEIGHTS,
  INPUT = 1 << CYCLE_CONV_INPUT,
  LOADS = BIAS | WEIGHTS | INPUT,
  ALL = STORE | EXECUTE | LOADS,
  QUEUE = 2,   // commands
  STAGES = 2,  // of a part's pipeline
};

static const struct {
  cycle_conv_begin *begin;
  cycle_conv_step *step;
  sim_class unit;
} kinds[CYCLE_CONV_PARTS] = {
    [CYCLE_CONV_STORE] = {cycle_conv_store_begin, cycle_conv_store_step, SIM_CLASS_STORE},
    [CYCLE_CONV_EXECUTE] = {cycle_conv_execute_begin, cycle_conv_execute_step, SIM_CLASS_EXECUTE},
    [CYCLE_CONV_BIAS] = {cycle_conv_bias_begin, cycle_conv_bias_step, SIM_CLASS_LOAD},
    [CYCLE_CONV_WEIGHTS] = {cycle_conv_weights_begin, cycle_conv_weights_step, SIM_CLASS_LOAD},
    [CYCLE_CONV_INPUT] = {cycle_conv_input_begin, cycle_conv_input_step, SIM_CLASS_LOAD},
};

struct cycle_loop_conv {
  cycle_queue queue;
  // Sets of parts.
  uint8_t running;              // the part has steps left
  uint8_t silent;               // its next step has no command
  uint8_t queued, full;         // its pipeline holds commands, has no room
  uint8_t at;                   // it works on slot 1
  uint8_t started[2], done[2];  // by slot
  uint8_t configured;           // slots with a tile, one bit each
  uint8_t head;                 // the older slot
  bool operands_overlap;        // the operands of the two tiles touch common rows
  bool next_half;
  // Parts start and end only after one became idle, or one of these changed: then `unordered`.
  uint8_t idle;
  bool unordered;
  bool due;       // the next step has something to do of itself
  uint8_t waits;  // parts that wait for others, while nothing is due
  uint32_t in_flight[SIM_CLASSES], entries[SIM_CLASSES];
  cycle_front_command commands[QUEUE];
  cycle_conv_shape shape;
  cycle_conv_part parts[CYCLE_CONV_PARTS];
  cycle_conv_tile tiles[2];
  arch_loop_conv registers;
  const hw_array *array;
};

cycle_loop_conv *cycle_loop_conv_create(const cycle_engine *c) {
  cycle_loop_conv *l = WF_NEW(cycle_loop_conv);
  const hw_derived *d = &c->d;
  l->array = c->array;
  l->shape = (cycle_conv_shape){.dim = d->dim,
                                .widest = d->max_block_len * d->dim,
                                .widest_acc = d->max_block_len_acc * d->dim,
                                .row_mask = (UINT32_C(1) << d->row_bits) - 1,
                                .sp_rows = d->sp_rows,
                                .acc_rows = d->acc_rows,
                                .later = c->array->isa.revision == 2};
  while (UINT32_C(1) << l->shape.dim_log2 < d->dim) l->shape.dim_log2++;
  l->entries[SIM_CLASS_LOAD] = c->array->load.reservation_entries;
  l->entries[SIM_CLASS_EXECUTE] = c->array->execute.reservation_entries;
  l->entries[SIM_CLASS_STORE] = c->array->store.reservation_entries;
  cycle_queue_init(&l->queue, QUEUE, 1, false);
  for (unsigned n = 0; n < CYCLE_CONV_PARTS; n++) cycle_queue_init(&l->parts[n].pipe, STAGES, STAGES, true);
  return l;
}

void cycle_loop_conv_destroy(cycle_loop_conv *l) {
  if (l == NULL) return;
  for (unsigned n = 0; n < CYCLE_CONV_PARTS; n++) cycle_queue_free(&l->parts[n].pipe);
  cycle_queue_free(&l->queue);
  wf_free(l);
}

bool cycle_loop_conv_room(const cycle_loop_conv *l, uint64_t now) { return cycle_queue_room(&l->queue, now); }

void cycle_loop_conv_push(cycle_loop_conv *l, uint64_t now, const cycle_front_command *command) {
  l->commands[cycle_queue_push(&l->queue, now)] = *command;
  l->due = true;
}

bool cycle_loop_conv_busy(const cycle_loop_conv *l) { return l->queue.count > 0 || l->configured != 0; }

// --- output ----------------------------------------------------------------------------------------------------------

// Parts whose commands are not held back.
static unsigned unblocked(const cycle_loop_conv *l) {
  unsigned set = l->queued;
  if (l->in_flight[SIM_CLASS_STORE] == l->entries[SIM_CLASS_STORE]) set &= ~(unsigned)STORE;
  if (l->in_flight[SIM_CLASS_EXECUTE] == l->entries[SIM_CLASS_EXECUTE]) set &= ~(unsigned)EXECUTE;
  if (l->in_flight[SIM_CLASS_LOAD] == l->entries[SIM_CLASS_LOAD]) set &= ~(unsigned)LOADS;
  return set;
}

// The part whose command is at the output in cycle `now`, CYCLE_CONV_PARTS if there is none.
static unsigned offering(const cycle_loop_conv *l, uint64_t now) {
  for (unsigned set = unblocked(l); set != 0; set &= set - 1) {
    unsigned n = (unsigned)__builtin_ctz(set);
    if (cycle_queue_valid(&l->parts[n].pipe, now)) return n;
  }
  return CYCLE_CONV_PARTS;
}

// The command is for this unit.
static bool is_loop_command(const cycle_front_command *command) {
  return isa_insn_at(command->insn)->unit == ISA_UNIT_LOOP_CONV;
}

static const cycle_front_command *command_at_head(const cycle_loop_conv *l, uint64_t now) {
  return cycle_queue_valid(&l->queue, now) ? &l->commands[cycle_queue_head(&l->queue)] : NULL;
}

// The command of part n, which is at the output.
static void command_of(const cycle_loop_conv *l, unsigned n, cycle_front_command *command) {
  const cycle_conv_part *part = &l->parts[n];
  const cycle_conv_command *out = &part->commands[cycle_queue_head(&part->pipe)];
  *command = (cycle_front_command){.rs1 = out->rs1, .rs2 = out->rs2, .insn = out->insn, .from_conv = true};
}

bool cycle_loop_conv_offer(const cycle_loop_conv *l, uint64_t now, cycle_front_command *command) {
  if (l->configured == 0) {
    const cycle_front_command *head = command_at_head(l, now);
    if (head == NULL || is_loop_command(head)) return false;
    *command = *head;
    return true;
  }
  unsigned n = offering(l, now);
  if (n == CYCLE_CONV_PARTS) return false;
  command_of(l, n, command);
  return true;
}

static bool count_completions(const cycle_engine *c, cycle_loop_conv *l) {
  const uint8_t *completed = c->w.conv_completed;
  if ((completed[0] | completed[1] | completed[2]) == 0) return false;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    assert(l->in_flight[unit] >= completed[unit]);
    l->in_flight[unit] -= completed[unit];
  }
  return true;
}

void cycle_loop_conv_complete(cycle_loop_conv *l, sim_class unit) {
  assert(l->in_flight[unit] > 0);
  l->in_flight[unit]--;
}

bool cycle_loop_conv_completed(const cycle_engine *c, cycle_loop_conv *l) {
  return count_completions(c, l) && unblocked(l) != 0;
}

uint64_t cycle_loop_conv_offers_at(const cycle_loop_conv *l) {
  uint64_t first = CYCLE_NEVER;
  if (l->configured == 0)
    return l->queue.count > 0 && !is_loop_command(&l->commands[cycle_queue_head(&l->queue)]) ? 0 : CYCLE_NEVER;
  for (unsigned set = unblocked(l); set != 0; set &= set - 1) {
    uint64_t next = cycle_queue_next(&l->parts[__builtin_ctz(set)].pipe);
    if (next < first) first = next;
  }
  return first;
}

bool cycle_loop_conv_due(const cycle_loop_conv *l) { return l->due; }

// The command of part n, which is at the output, is taken.
static void take(cycle_loop_conv *l, unsigned n, uint64_t now) {
  assert(n != CYCLE_CONV_PARTS);
  cycle_queue_pop(&l->parts[n].pipe, now);
  l->full &= (uint8_t) ~(1U << n);
  if (l->parts[n].pipe.count == 0) l->queued &= (uint8_t) ~(1U << n);
  l->in_flight[kinds[n].unit]++;
}

// --- which part starts, waits, is done -------------------------------------------------------------------------------

// The state of the parts at the start of the cycle.
typedef struct edge {
  unsigned idle, running, at;
  unsigned started[2], done[2];  // of the head, of the tail
  unsigned head, configured;
} edge;

static edge look(const cycle_loop_conv *l) {
  unsigned head = l->head;
  return (edge){.idle = ALL & ~((unsigned)l->running | l->queued),
                .running = l->running,
                .at = l->at,
                .started = {l->started[head], l->started[head ^ 1]},
                .done = {l->done[head], l->done[head ^ 1]},
                .head = head,
                .configured = l->configured};
}

// Parts of the slot `at` that work on it.
static unsigned working_on(const edge *e, unsigned slot) { return slot ? e->at : ALL & ~e->at; }

// Parts that wait for others: products for their loads, stores for everything, loads for the products of the slot
// before.
static unsigned waiting(const cycle_loop_conv *l, const edge *e) {
  unsigned set = 0, busy = ALL & ~e->idle;
  unsigned ex_slot = e->at / EXECUTE & 1, st_slot = e->at / STORE & 1;
  unsigned with_ex = working_on(e, ex_slot), with_st = working_on(e, st_slot);
  if (busy & with_ex & LOADS) set |= EXECUTE;
  if (busy & with_st & (LOADS | EXECUTE)) set |= STORE;
  bool products_wait =
      (l->started[ex_slot] & EXECUTE) && !(l->done[ex_slot] & EXECUTE) && (l->done[ex_slot] & LOADS) != LOADS;
  return products_wait ? set | (LOADS & ~with_ex) : set;
}

// Parts of a slot that may be started, going by the order within the slot.
static unsigned due(unsigned started) {
  unsigned set = ALL & ~started;
  if ((started & LOADS) != LOADS) set &= ~(unsigned)EXECUTE;
  if (!(started & EXECUTE)) set &= ~(unsigned)STORE;
  return set;
}

// What the tail may not start yet because the head still has to emit something that touches the same rows.
static unsigned held_back(const cycle_loop_conv *l, const edge *e) {
  const cycle_conv_tile *head = &l->tiles[e->head], *tail = &l->tiles[e->head ^ 1];
  unsigned set = 0, done = e->done[0];
  if (head->half == tail->half) {
    if ((done & (EXECUTE | STORE)) != (EXECUTE | STORE) && tail->r.bias != 0) set |= BIAS;
    if (!(done & STORE)) set |= EXECUTE;
  }
  if (l->operands_overlap && (done & (LOADS | EXECUTE)) != (LOADS | EXECUTE)) set |= INPUT | WEIGHTS;
  return set;
}

static void start(cycle_loop_conv *l, unsigned set, unsigned slot) {
  l->at = (uint8_t)(slot ? l->at | set : l->at & ~set);
  l->started[slot] |= (uint8_t)set;
  l->running |= (uint8_t)set;
  l->silent &= (uint8_t)~set;
  for (; set != 0; set &= set - 1) {
    unsigned n = (unsigned)__builtin_ctz(set);
    cycle_conv_part *p = &l->parts[n];
    p->tile = &l->tiles[slot];
    p->och = p->krow = p->kcol = p->kch = p->b = p->row = p->col = 0;
    p->config = p->fresh = true;
    p->after = p->compute = false;
    kinds[n].begin(&l->shape, p);
    if (p->silent) l->silent |= (uint8_t)(1U << n);
  }
}

// A part turns to the tail once it was started for the head.
static bool start_parts(cycle_loop_conv *l, const edge *e) {
  unsigned for_head = e->idle & due(e->started[0]), for_tail = 0;
  if (e->configured == 3) for_tail = e->idle & e->started[0] & due(e->started[1]);
  if (for_tail != 0) for_tail &= ~held_back(l, e);
  if ((for_head | for_tail) == 0) return false;
  start(l, for_head, e->head);
  start(l, for_tail, e->head ^ 1);
  return true;
}

static bool note_done(cycle_loop_conv *l, const edge *e) {
  bool changed = false;
  for (unsigned n = 0; n < 2; n++) {
    unsigned slot = e->head ^ n, set = e->idle & working_on(e, slot) & e->started[n] & ~e->done[n];
    l->done[slot] |= (uint8_t)set;
    changed |= set != 0;
  }
  return changed;
}

static bool finish(cycle_loop_conv *l, const edge *e) {
  if (e->done[0] != ALL) return false;
  l->configured &= (uint8_t) ~(1U << e->head);
  l->started[e->head] = l->done[e->head] = 0;
  l->head ^= 1;
  return true;
}

// --- the parts -------------------------------------------------------------------------------------------------------

static void step_part(cycle_loop_conv *l, unsigned n, uint64_t now) {
  cycle_conv_part *p = &l->parts[n];
  uint8_t bit = (uint8_t)(1U << n);
  cycle_conv_command *out = NULL;
  if (!p->silent) {
    out = &p->commands[cycle_queue_push(&p->pipe, now)];
    l->queued |= bit;
    if (!cycle_queue_room(&p->pipe, now)) l->full |= bit;
  }
  if (!kinds[n].step(&l->shape, p, out)) l->running &= (uint8_t)~bit;
  l->silent = p->silent ? l->silent | bit : l->silent & (uint8_t)~bit;
}

// Parts that move on in this cycle.
static unsigned movable(const cycle_loop_conv *l, const edge *e) {
  unsigned set = e->running & (unsigned)(l->silent | ~l->full);
  return set == 0 ? 0 : set & (l->silent | ~waiting(l, e));
}

static bool step_parts(cycle_loop_conv *l, const edge *e, uint64_t now) {
  unsigned moving = movable(l, e);
  for (unsigned set = moving; set != 0; set &= set - 1) step_part(l, (unsigned)__builtin_ctz(set), now);
  return moving != 0;
}

static bool step_tiles(cycle_loop_conv *l, bool taken, uint64_t now) {
  edge e = look(l);
  if (taken) take(l, offering(l, now), now);
  bool changed = step_parts(l, &e, now);
  if (l->unordered || e.idle != l->idle) {
    l->idle = (uint8_t)e.idle;
    l->unordered = note_done(l, &e);
    l->unordered |= start_parts(l, &e);
    l->unordered |= finish(l, &e);
    changed |= l->unordered;
  }
  return changed;
}

// --- configuration -------------------------------------------------------------------------------------------------

static bool overlap(uint32_t a, uint32_t a_rows, uint32_t b, uint32_t b_rows) {
  return a < b + b_rows && b < a + a_rows;
}

static bool operands_overlap(const cycle_conv_tile *x, const cycle_conv_tile *y) {
  return overlap(x->a_row, x->a_rows, y->a_row, y->a_rows) || overlap(x->a_row, x->a_rows, y->b_row, y->b_rows) ||
         overlap(x->b_row, x->b_rows, y->a_row, y->a_rows) || overlap(x->b_row, x->b_rows, y->b_row, y->b_rows);
}

// Both revisions share these operand bits.
static void set_flags(cycle_conv_tile *t, const hw_array *array, uint64_t rs1, uint64_t rs2) {
  bool training = array->units.training_conv;
  uint64_t pixels = isa_get_loop_conv_ws_r1_max_pixels_per_row(rs1, rs2);
  t->no_bias = isa_get_loop_conv_ws_r1_no_bias(rs1, rs2);
  t->wrot180 = training && isa_get_loop_conv_ws_r1_wrot180(rs1, rs2);
  t->trans_output_1203 = training && isa_get_loop_conv_ws_r1_trans_output_1203(rs1, rs2);
  t->trans_weight_1203 = training && isa_get_loop_conv_ws_r1_trans_weight_1203(rs1, rs2);
  t->trans_weight_0132 = training && isa_get_loop_conv_ws_r1_trans_weight_0132(rs1, rs2);
  t->trans_input_3120 = training && isa_get_loop_conv_ws_r1_trans_input_3120(rs1, rs2);
  t->depthwise = array->units.depthwise_conv && isa_get_loop_conv_ws_r1_depthwise(rs1, rs2);
  t->no_pool = !array->units.max_pool || isa_get_loop_conv_ws_r1_no_pool(rs1, rs2);
  t->downsample = isa_get_loop_conv_ws_r1_downsample(rs1, rs2);
  t->input_dilated = training && isa_get_loop_conv_ws_r1_input_dilated(rs1, rs2);
  t->activation = (uint8_t)isa_get_loop_conv_ws_r1_activation(rs1, rs2);
  t->pixels = pixels == 0 || !array->units.pixel_repeat ? 1 : (uint32_t)pixels;
}

// The half that a scratchpad id of revision 2 pins an operand to; 0 leaves it to the slot.
static uint8_t pinned(uint64_t id, unsigned slot) { return (uint8_t)(id == 0 ? slot : id - 1); }

static void run(cycle_loop_conv *l, unsigned slot, uint64_t rs1, uint64_t rs2) {
  cycle_conv_tile *t = &l->tiles[slot];
  t->r = l->registers.slots[slot];
  set_flags(t, l->array, rs1, rs2);
  t->a_half = pinned(l->shape.later ? isa_get_loop_conv_ws_r2_a_spad_id(rs1, rs2) : 0, slot);
  t->b_half = pinned(l->shape.later ? isa_get_loop_conv_ws_r2_b_spad_id(rs1, rs2) : 0, slot);
  t->half = l->next_half;
  if (t->r.output != 0) l->next_half = !l->next_half;
  cycle_conv_derive(&l->shape, t);
  l->operands_overlap = l->shape.later && operands_overlap(&l->tiles[0], &l->tiles[1]);
  l->configured |= (uint8_t)(1U << slot);
  l->unordered = true;
}

static void write_slot(cycle_loop_conv *l, unsigned slot, const cycle_front_command *command) {
  const isa_id insn = command->insn;
  if (insn == ISA_LOOP_CONV_WS_R1 || insn == ISA_LOOP_CONV_WS_R2) {
    run(l, slot, command->rs1, command->rs2);
    return;
  }
  l->registers.current = slot;
  arch_loop_conv_configure(&l->registers, insn, command->rs1, command->rs2);
}

// The slot that configuration commands write: the one that will be free next.
static unsigned target_of(const cycle_loop_conv *l) { return l->configured >> l->head & 1 ? l->head ^ 1u : l->head; }

static bool is_free(const cycle_loop_conv *l, unsigned slot) { return (l->configured >> slot & 1) == 0; }

// Whether the next step has something to do though no command is taken and none comes.
static bool is_due(cycle_loop_conv *l) {
  if (l->queue.count > 0 && is_loop_command(&l->commands[cycle_queue_head(&l->queue)]) && is_free(l, target_of(l)))
    return true;
  if (l->configured == 0) return false;
  edge e = look(l);
  l->waits = (uint8_t)waiting(l, &e);
  return l->unordered || e.idle != l->idle || movable(l, &e) != 0;
}

// The command of part n is taken and nothing else is due: the part alone moves on.
static void step_taken(cycle_loop_conv *l, unsigned n, uint64_t now) {
  uint8_t part = (uint8_t)(1U << n);
  take(l, n, now);
  if (l->running & part & ~l->waits) step_part(l, n, now);
  unsigned idle = ALL & ~((unsigned)l->running | l->queued);
  l->due = idle != l->idle || (l->running & part & (l->silent | ~l->full) & (l->silent | ~l->waits)) != 0;
}

unsigned cycle_loop_conv_waiting(const cycle_loop_conv *l) { return l->queue.count; }

bool cycle_loop_conv_active(const cycle_loop_conv *l) { return l->configured != 0; }

static bool step_edge(cycle_loop_conv *l, uint64_t now, bool taken) {
  // Which slot is written is settled before anything moves.
  bool active = l->configured != 0, changed = taken;
  unsigned slot = target_of(l);
  const cycle_front_command *head = command_at_head(l, now);
  bool write = head != NULL && is_loop_command(head) && is_free(l, slot);

  if (active) changed |= step_tiles(l, taken, now);
  if (write) write_slot(l, slot, head);
  if (write || (!active && taken)) {
    cycle_queue_pop(&l->queue, now);
    changed = true;
  }
  return changed;
}

bool cycle_loop_conv_step(cycle_engine *c, uint64_t now, cycle_loop_conv *l, bool taken) {
  if (!l->due && !taken) return count_completions(c, l);
  if (!l->due && l->configured != 0) {
    step_taken(l, offering(l, now), now);
    count_completions(c, l);
    return true;
  }
  bool changed = step_edge(l, now, taken);  // the output was chosen without this cycle's completions
  changed |= count_completions(c, l);
  l->due = is_due(l);
  return changed || l->due;
}

bool cycle_loop_conv_put_out(cycle_loop_conv *l, uint64_t now, cycle_front_command *command) {
  assert(!l->due && l->configured != 0);
  unsigned n = offering(l, now);
  if (n == CYCLE_CONV_PARTS) return false;
  command_of(l, n, command);
  step_taken(l, n, now);
  return true;
}
