// SPDX-License-Identifier: Apache-2.0
// Matrix loop unit (hw/rtl/weft_loop_matmul.sv): unrolls a product of I x J x K tiles into mvin, preload, compute and
// mvout.
//
// Two slots: the older one (head) and the next (tail), which may be configured, and whose parts may start, while the
// head is not finished. Five parts, each working on one slot at a time. The rules which part may start, and why, stand
// in the RTL; here they are evaluated only in cycles after something changed that they look at (`unsettled`): a part
// started or became idle, a slot was started or finished. In all other cycles the unit emits a command or waits.
//
// A clock edge is carried out in place, so everything it looks at is looked at first: the part whose command left, the
// decisions of the control (struct decisions), the command at the head of the queue.
#include "sim/cycle/loop_matmul.h"

#include <assert.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/loop_matmul_parts.h"
#include "sim/cycle/queue.h"

struct cycle_loop_matmul {
  bool active;     // a slot is configured
  bool unsettled;  // the control may have something to do
  bool stuck;      // the head of the queue waits for the end of a loop
  uint8_t head;
  // By part: has commands to emit; is busy for one cycle with nothing to do; the slot that it works on, or did.
  uint8_t running, skipping, at;
  uint8_t offered;  // the part whose command is at the output, CYCLE_MATMUL_PARTS: none; it follows from the other
                    // registers
  uint8_t in_flight[SIM_CLASSES], most[SIM_CLASSES];
  cycle_matmul_load a, b, d;
  cycle_matmul_execute execute;
  cycle_matmul_store store;
  cycle_queue queue;
  cycle_front_command commands[2];
  cycle_matmul_geometry geometry;
  cycle_matmul_slots slots;
};

static const uint8_t class_of_part[CYCLE_MATMUL_PARTS] = {SIM_CLASS_STORE, SIM_CLASS_EXECUTE, SIM_CLASS_LOAD,
                                                          SIM_CLASS_LOAD, SIM_CLASS_LOAD};

// ---- life

cycle_loop_matmul *cycle_loop_matmul_create(const cycle_engine *c) {
  cycle_loop_matmul *l = WF_NEW(cycle_loop_matmul);
  const hw_derived *d = &c->d;
  cycle_queue_init(&l->queue, 2, 1, false);
  l->most[SIM_CLASS_LOAD] = (uint8_t)c->array->load.reservation_entries;
  l->most[SIM_CLASS_EXECUTE] = (uint8_t)c->array->execute.reservation_entries;
  l->most[SIM_CLASS_STORE] = (uint8_t)c->array->store.reservation_entries;
  l->geometry = (cycle_matmul_geometry){.dim = d->dim,
                                        .dim_log2 = (uint32_t)__builtin_ctz(d->dim),
                                        .sp_half = d->sp_rows / 2,
                                        .acc_half = d->acc_rows / 2,
                                        .sp_rows = d->sp_rows,
                                        .later = c->array->isa.revision == 2,
                                        .row_mask = (UINT32_C(1) << d->row_bits) - 1,
                                        .blocks = (uint16_t)d->max_block_len,
                                        .blocks_acc = (uint16_t)d->max_block_len_acc,
                                        .norm_stats = (uint16_t)d->norm_stats};
  cycle_matmul_slots_reset(&l->slots, &l->geometry);
  l->offered = CYCLE_MATMUL_PARTS;
  return l;
}

void cycle_loop_matmul_destroy(cycle_loop_matmul *l) {
  if (l == NULL) return;
  cycle_queue_free(&l->queue);
  wf_free(l);
}

bool cycle_loop_matmul_room(const cycle_loop_matmul *l, uint64_t now) { return cycle_queue_room(&l->queue, now); }

void cycle_loop_matmul_push(cycle_loop_matmul *l, uint64_t now, const cycle_front_command *command) {
  l->commands[cycle_queue_push(&l->queue, now)] = *command;
}

bool cycle_loop_matmul_busy(const cycle_loop_matmul *l) { return l->active || l->queue.count > 0; }

// ---- the offer

static bool blocked(const cycle_loop_matmul *l, sim_class unit) { return l->in_flight[unit] == l->most[unit]; }

static bool has(unsigned parts, unsigned wanted) { return (parts & wanted) == wanted; }

static unsigned slot_of(const cycle_loop_matmul *l, cycle_matmul_part which) { return l->at >> which & 1; }

static unsigned idle_parts(const cycle_loop_matmul *l) { return ~(unsigned)(l->running | l->skipping); }

// The parts that are through with a slot or never were at it.
static unsigned through_with(const cycle_loop_matmul *l, unsigned number) {
  return idle_parts(l) | (l->at ^ (0u - number));
}

static bool store_offers(const cycle_loop_matmul *l) {
  if (!cycle_matmul_has(l->running, CYCLE_MATMUL_STORE) || blocked(l, SIM_CLASS_STORE)) return false;
  unsigned number = slot_of(l, CYCLE_MATMUL_STORE), through = through_with(l, number);
  bool resadd = l->slots.of[number].resadd, added = has(through, 1u << CYCLE_MATMUL_A | 1u << CYCLE_MATMUL_B);
  if (!resadd && l->execute.k != l->store.last_k && !cycle_matmul_has(through, CYCLE_MATMUL_EXECUTE)) return false;
  return cycle_matmul_store_may(
      &l->store, &(cycle_matmul_made){.done = resadd ? added : cycle_matmul_has(through, CYCLE_MATMUL_EXECUTE),
                                      .by_rows = resadd,
                                      .k = l->execute.k,
                                      .j = resadd ? l->b.inner : l->execute.j,
                                      .i = resadd ? l->b.outer : l->execute.i});
}

// The loaders of the slot have passed the tile. B counts as passed within one k only while A is at that k.
static bool execute_offers(const cycle_loop_matmul *l) {
  if (!cycle_matmul_has(l->running, CYCLE_MATMUL_EXECUTE) || blocked(l, SIM_CLASS_EXECUTE)) return false;
  unsigned through = through_with(l, slot_of(l, CYCLE_MATMUL_EXECUTE));
  if (has(through, CYCLE_MATMUL_LOADS)) return true;
  if (!cycle_matmul_has(through, CYCLE_MATMUL_D)) return false;
  const cycle_matmul_execute *x = &l->execute;
  const cycle_matmul_load *a = &l->a, *b = &l->b;
  bool a_ahead = cycle_matmul_has(through, CYCLE_MATMUL_A) || a->outer > x->k || (a->outer == x->k && a->inner > x->i);
  bool b_ahead = cycle_matmul_has(through, CYCLE_MATMUL_B) || b->outer > x->k || (a->outer == x->k && b->inner > x->j);
  return a_ahead && b_ahead;
}

// Between A and B: the one that works for the head; in the same slot B while A is ahead of it in k and for its first
// command, A otherwise; a residual addition loads all of A first.
static bool b_has_turn(const cycle_loop_matmul *l) {
  unsigned number = slot_of(l, CYCLE_MATMUL_B), idle = idle_parts(l);
  if (slot_of(l, CYCLE_MATMUL_A) != number) return number == l->head;
  if (l->slots.of[number].resadd || cycle_matmul_has(idle, CYCLE_MATMUL_A))
    return cycle_matmul_has(idle, CYCLE_MATMUL_A);
  if (cycle_matmul_has(idle, CYCLE_MATMUL_B)) return false;
  return l->a.outer > l->b.outer || (l->b.outer == 0 && l->b.inner == 0);
}

// The part whose command is at the output; CYCLE_MATMUL_PARTS: none.
static cycle_matmul_part offering(const cycle_loop_matmul *l) {
  if (store_offers(l)) return CYCLE_MATMUL_STORE;
  if (execute_offers(l)) return CYCLE_MATMUL_EXECUTE;
  if ((l->running & CYCLE_MATMUL_LOADS) == 0 || blocked(l, SIM_CLASS_LOAD)) return CYCLE_MATMUL_PARTS;
  if (cycle_matmul_has(l->running, CYCLE_MATMUL_D)) return CYCLE_MATMUL_D;
  cycle_matmul_part turn = b_has_turn(l) ? CYCLE_MATMUL_B : CYCLE_MATMUL_A;
  return cycle_matmul_has(l->running, turn) ? turn : CYCLE_MATMUL_PARTS;
}

static bool is_loop_command(const cycle_front_command *command) {
  return isa_insn_at(command->insn)->unit == ISA_UNIT_LOOP_MATMUL;
}

static void command_of(const cycle_loop_matmul *l, cycle_matmul_part from, cycle_front_command *command) {
  static const uint8_t loads[CYCLE_MATMUL_PARTS] = {
      [CYCLE_MATMUL_D] = ISA_MVIN3, [CYCLE_MATMUL_B] = ISA_MVIN2, [CYCLE_MATMUL_A] = ISA_MVIN};
  *command = (cycle_front_command){.insn = loads[from], .from_matmul = true};
  if (from == CYCLE_MATMUL_STORE)
    cycle_matmul_store_command(&l->store, &l->geometry, command);
  else if (from == CYCLE_MATMUL_EXECUTE)
    cycle_matmul_execute_command(&l->execute, &l->geometry, command);
  else
    cycle_matmul_load_command(from == CYCLE_MATMUL_D   ? &l->d
                              : from == CYCLE_MATMUL_B ? &l->b
                                                       : &l->a,
                              &l->geometry, command);
}

bool cycle_loop_matmul_offer(const cycle_loop_matmul *l, uint64_t now, cycle_front_command *command) {
  if (l->active) {
    if (l->offered == CYCLE_MATMUL_PARTS) return false;
    command_of(l, l->offered, command);
    return true;
  }
  if (!cycle_queue_valid(&l->queue, now)) return false;
  const cycle_front_command *head = &l->commands[cycle_queue_head(&l->queue)];
  if (is_loop_command(head)) return false;
  *command = *head;
  return true;
}

bool cycle_loop_matmul_offers(const cycle_loop_matmul *l) {
  if (l->active) return l->offered != CYCLE_MATMUL_PARTS;
  return l->queue.count > 0 && !is_loop_command(&l->commands[cycle_queue_head(&l->queue)]);
}

bool cycle_loop_matmul_due(const cycle_loop_matmul *l) {
  return l->unsettled || (l->queue.count > 0 && !l->stuck && (l->active || !cycle_loop_matmul_offers(l)));
}

unsigned cycle_loop_matmul_waiting(const cycle_loop_matmul *l) { return l->queue.count; }

bool cycle_loop_matmul_active(const cycle_loop_matmul *l) { return l->active; }

// ---- which parts start and which slot is finished

typedef struct decisions {
  uint8_t start, ended;  // by part
  uint8_t start_slot;    // by part
  bool finish;
} decisions;

static bool rows_touch(uint32_t first, uint32_t rows, uint32_t other, uint32_t other_rows) {
  return first < other + other_rows && other < first + rows;
}

static bool touches_head(const cycle_matmul_slot *head, uint32_t first, uint32_t rows) {
  return rows_touch(first, rows, head->lda_row, head->a_rows) || rows_touch(first, rows, head->ldb_row, head->b_rows) ||
         rows_touch(first, rows, head->ex_a_row, head->a_rows) || rows_touch(first, rows, head->ex_b_row, head->b_rows);
}

// Do the operands that the tail loads touch rows that the head loads or computes with?
static bool operands_overlap(const cycle_loop_matmul *l, const cycle_matmul_slot *head, const cycle_matmul_slot *tail) {
  if (!l->geometry.later || head->resadd) return false;
  return touches_head(head, tail->lda_row, tail->a_rows) || touches_head(head, tail->ldb_row, tail->b_rows);
}

// The parts of the tail that wait for something that the head still has to emit.
static unsigned held_back(const cycle_loop_matmul *l) {
  const cycle_matmul_slot *head = &l->slots.of[l->head], *tail = &l->slots.of[!l->head];
  bool loaded = has(head->done, CYCLE_MATMUL_LOADS), made = cycle_matmul_has(head->done, CYCLE_MATMUL_EXECUTE);
  bool stored = cycle_matmul_has(head->done, CYCLE_MATMUL_STORE);
  if ((head->to_spad && !stored) || head->resadd != tail->resadd) return CYCLE_MATMUL_ALL;
  bool making = !made || (head->resadd && !loaded);
  unsigned make_half = head->resadd ? l->head : head->ex_half, store_half = head->resadd ? l->head : head->c_half;
  unsigned held = 0;
  if (tail->d != 0 && ((making && make_half == tail->d_half) || (!stored && store_half == tail->d_half)))
    held |= 1u << CYCLE_MATMUL_D;
  if (!(loaded && made) && operands_overlap(l, head, tail)) held |= 1u << CYCLE_MATMUL_A | 1u << CYCLE_MATMUL_B;
  if (!loaded || (!stored && store_half == tail->ex_half)) held |= 1u << CYCLE_MATMUL_EXECUTE;
  if (!loaded || !made) held |= 1u << CYCLE_MATMUL_STORE;
  return held;
}

// The parts of a slot that its own other parts let start: D of a residual addition before its sums, products after the
// start of the loads, stores after that of the products, without products after the loads.
static unsigned startable(const cycle_matmul_slot *s) {
  if (!s->configured) return 0;
  unsigned may = CYCLE_MATMUL_ALL & ~s->started & ~(1u << CYCLE_MATMUL_STORE | 1u << CYCLE_MATMUL_EXECUTE);
  if (s->resadd && !cycle_matmul_has(s->started, CYCLE_MATMUL_D) && s->d != 0)
    may &= ~(1u << CYCLE_MATMUL_A | 1u << CYCLE_MATMUL_B);
  if (has(s->started, CYCLE_MATMUL_LOADS)) may |= 1u << CYCLE_MATMUL_EXECUTE & ~(unsigned)s->started;
  bool added =
      has(s->started, 1u << CYCLE_MATMUL_A | 1u << CYCLE_MATMUL_B) && cycle_matmul_has(s->done, CYCLE_MATMUL_D);
  bool multiplied = cycle_matmul_has(s->started, CYCLE_MATMUL_EXECUTE) &&
                    (!cycle_matmul_has(s->done, CYCLE_MATMUL_EXECUTE) || has(s->done, CYCLE_MATMUL_LOADS));
  if (s->resadd ? added : multiplied) may |= 1u << CYCLE_MATMUL_STORE & ~(unsigned)s->started;
  return may;
}

static decisions decide(const cycle_loop_matmul *l) {
  const cycle_matmul_slot *head = &l->slots.of[l->head], *tail = &l->slots.of[!l->head];
  unsigned idle = idle_parts(l), at = l->at;
  unsigned for_tail = head->started;  // these parts may start the tail, the others the head
  unsigned start = startable(head) & ~for_tail;
  if (tail->configured && for_tail != 0) start |= startable(tail) & for_tail & ~held_back(l);
  unsigned started = (at & l->slots.of[1].started) | (~at & l->slots.of[0].started);
  return (decisions){.start = (uint8_t)(start & idle),
                     .start_slot = (uint8_t)(l->head == 0 ? for_tail : ~for_tail & CYCLE_MATMUL_ALL),
                     .ended = (uint8_t)(started & idle),
                     .finish = head->configured && head->done == CYCLE_MATMUL_ALL};
}

// ---- starting parts

static uint32_t half_row(const cycle_loop_matmul *l, bool second) { return second ? l->geometry.acc_half : 0; }

static uint32_t masked(const cycle_loop_matmul *l, uint32_t row) { return row & l->geometry.row_mask; }

static bool start_a(cycle_loop_matmul *l, unsigned number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  uint16_t deep = s->resadd ? s->j : s->k, pad_deep = s->resadd ? s->pad_j : s->pad_k;
  bool turned = s->a_transpose;
  cycle_matmul_load_start(&l->a, &(cycle_matmul_load){.rows = turned ? deep : s->i,
                                                      .cols = turned ? s->i : deep,
                                                      .pad_rows = turned ? pad_deep : s->pad_i,
                                                      .pad_cols = turned ? s->pad_i : pad_deep,
                                                      .blocks = l->geometry.blocks,
                                                      .row_is_outer = turned,
                                                      .base = s->a,
                                                      .stride = s->a_stride,
                                                      .flags = s->resadd ? ISA_LOCAL_ACCUMULATOR_MASK : 0,
                                                      .first = masked(l, s->lda_row)});
  return l->geometry.later && s->a == 0;
}

// The rows of the last tile of B are never cut: the reference compares a bound with itself.
static bool start_b(cycle_loop_matmul *l, unsigned number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  uint16_t deep = s->resadd ? s->i : s->k, pad_deep = s->resadd ? s->pad_i : s->pad_k;
  bool turned = s->b_transpose;
  cycle_matmul_load_start(
      &l->b, &(cycle_matmul_load){.rows = turned ? s->j : deep,
                                  .cols = turned ? deep : s->j,
                                  .pad_rows = turned ? s->pad_j : pad_deep,
                                  .pad_cols = turned ? pad_deep : s->pad_j,
                                  .blocks = l->geometry.blocks,
                                  .row_is_outer = !turned,
                                  .full_height = true,
                                  .base = s->b,
                                  .stride = s->b_stride,
                                  .flags = s->resadd ? ISA_LOCAL_ACCUMULATOR_MASK | ISA_LOCAL_ACCUMULATE_MASK : 0,
                                  .first = masked(l, s->ldb_row)});
  return l->geometry.later && s->b == 0;
}

static bool start_d(cycle_loop_matmul *l, unsigned number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  cycle_matmul_load_start(&l->d, &(cycle_matmul_load){.rows = s->i,
                                                      .cols = s->j,
                                                      .pad_rows = s->pad_i,
                                                      .pad_cols = s->pad_j,
                                                      .blocks = s->low_d ? l->geometry.blocks : l->geometry.blocks_acc,
                                                      .wide = !s->low_d,
                                                      .base = s->d,
                                                      .stride = s->d_stride,
                                                      .flags = ISA_LOCAL_ACCUMULATOR_MASK,
                                                      .first = masked(l, half_row(l, s->d_half != 0))});
  return s->d == 0;
}

static bool start_execute(cycle_loop_matmul *l, unsigned number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  cycle_matmul_execute_start(&l->execute, &(cycle_matmul_execute){.end_i = s->i,
                                                                  .end_j = s->j,
                                                                  .end_k = s->k,
                                                                  .pad_i = s->pad_i,
                                                                  .pad_j = s->pad_j,
                                                                  .pad_k = s->pad_k,
                                                                  .a_transpose = s->a_transpose,
                                                                  .b_transpose = s->b_transpose,
                                                                  .accumulate = s->accumulate,
                                                                  .a_row = masked(l, s->ex_a_row),
                                                                  .b_row = masked(l, s->ex_b_row),
                                                                  .c_row = masked(l, half_row(l, s->ex_half != 0))});
  return s->resadd;
}

static bool start_store(cycle_loop_matmul *l, unsigned number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  bool second = s->resadd ? number != 0 : s->c_half != 0;
  cycle_matmul_store_start(&l->store, &l->geometry,
                           &(cycle_matmul_store){.end_i = s->i,
                                                 .end_j = s->j,
                                                 .last_k = (uint16_t)(s->k - 1),
                                                 .pad_i = s->pad_i,
                                                 .pad_j = s->pad_j,
                                                 .full = s->full_c,
                                                 .norm = s->norm,
                                                 .softmax = s->softmax,
                                                 .to_spad = s->to_spad,
                                                 .whole = s->to_spad || (s->resadd && s->b_transpose),
                                                 .base = s->c,
                                                 .stride = s->c_stride,
                                                 .c_row = masked(l, half_row(l, second)),
                                                 .spad_row = masked(l, s->c_spad)});
  return s->c == 0 && !s->to_spad;
}

static void start(cycle_loop_matmul *l, cycle_matmul_part which, unsigned number) {
  static bool (*const starts[CYCLE_MATMUL_PARTS])(cycle_loop_matmul *, unsigned) = {
      [CYCLE_MATMUL_STORE] = start_store,
      [CYCLE_MATMUL_EXECUTE] = start_execute,
      [CYCLE_MATMUL_D] = start_d,
      [CYCLE_MATMUL_B] = start_b,
      [CYCLE_MATMUL_A] = start_a};
  uint8_t bit = (uint8_t)(1u << which);
  bool skip = starts[which](l, number);
  *(skip ? &l->skipping : &l->running) |= bit;
  l->at = (uint8_t)((l->at & ~bit) | number << which);
  l->slots.of[number].started |= bit;
}

// The slot that configuration commands write.
static unsigned target_of(const cycle_loop_matmul *l) { return l->slots.of[l->head].configured ? !l->head : l->head; }

// The head of the queue: a loop command writes the target if it is free, another leaves if the output took it.
static bool take_command(cycle_loop_matmul *l, uint64_t now, unsigned target, bool passed) {
  if (!cycle_queue_valid(&l->queue, now)) return false;
  const cycle_front_command *head = &l->commands[cycle_queue_head(&l->queue)];
  bool loop_command = is_loop_command(head);
  l->stuck = loop_command ? l->slots.of[target].configured : !passed;
  if (l->stuck) return false;
  cycle_queue_pop(&l->queue, now);
  if (loop_command && cycle_matmul_slot_write(&l->slots, target, &l->geometry, head)) l->active = l->unsettled = true;
  return true;
}

// ---- the clock edge

static void advance(cycle_loop_matmul *l, cycle_matmul_part taken) {
  l->in_flight[class_of_part[taken]]++;
  bool last;
  if (taken == CYCLE_MATMUL_EXECUTE)
    last = cycle_matmul_execute_advance(&l->execute);
  else if (taken == CYCLE_MATMUL_STORE)
    last = cycle_matmul_store_advance(&l->store, &l->geometry);
  else
    last = cycle_matmul_load_advance(taken == CYCLE_MATMUL_D ? &l->d : taken == CYCLE_MATMUL_B ? &l->b : &l->a);
  if (!last) return;
  l->running &= (uint8_t) ~(1u << taken);
  l->unsettled = true;
}

static bool count_completions(const cycle_engine *c, cycle_loop_matmul *l) {
  const uint8_t *completed = c->w.matmul_completed;
  if ((completed[0] | completed[1] | completed[2]) == 0) return false;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    assert(l->in_flight[unit] >= completed[unit]);
    l->in_flight[unit] = (uint8_t)(l->in_flight[unit] - completed[unit]);
  }
  return true;
}

void cycle_loop_matmul_complete(cycle_loop_matmul *l, sim_class unit) {
  assert(l->in_flight[unit] > 0);
  l->in_flight[unit]--;
  l->offered = (uint8_t)offering(l);
}

bool cycle_loop_matmul_completed(const cycle_engine *c, cycle_loop_matmul *l) {
  if (!count_completions(c, l)) return false;
  l->offered = (uint8_t)offering(l);
  return l->offered != CYCLE_MATMUL_PARTS;
}

static bool end_parts(cycle_loop_matmul *l, unsigned ended, unsigned at) {
  cycle_matmul_slot *first = &l->slots.of[0], *second = &l->slots.of[1];
  uint8_t before[2] = {first->done, second->done};
  first->done |= (uint8_t)(ended & ~at);
  second->done |= (uint8_t)(ended & at);
  return first->done != before[0] || second->done != before[1];
}

static void finish_head(cycle_loop_matmul *l) {
  cycle_matmul_slot *head = &l->slots.of[l->head];
  head->configured = false;
  head->started = head->done = 0;
  l->head = !l->head;
  l->active = l->slots.of[l->head].configured;
}

// Carries out what was decided; true if there may be more to do in the next cycle.
static bool settle(cycle_loop_matmul *l, const decisions *x, unsigned at) {
  bool more = l->skipping != 0;  // started with nothing to do, they end
  l->skipping = 0;
  more |= end_parts(l, x->ended, at);
  for (unsigned which = 0; which < CYCLE_MATMUL_PARTS; which++) {
    if (!cycle_matmul_has(x->start, which)) continue;
    start(l, (cycle_matmul_part)which, cycle_matmul_has(x->start_slot, which));
    more = true;
  }
  if (x->finish) finish_head(l);
  return more || x->finish;
}

// The control and the head of the queue, from the registers at the start of the cycle.
static bool control(cycle_loop_matmul *l, uint64_t now, bool passed, cycle_matmul_part emitted) {
  unsigned target = target_of(l), at = l->at;
  bool settles = l->unsettled;
  decisions x = {0};
  if (settles) x = decide(l);
  l->unsettled = false;
  if (emitted != CYCLE_MATMUL_PARTS) advance(l, emitted);
  if (settles && settle(l, &x, at)) l->unsettled = true;
  bool popped = (!l->stuck || settles || passed) && take_command(l, now, target, passed);
  return popped || settles || l->unsettled;
}

bool cycle_loop_matmul_step(cycle_engine *c, uint64_t now, cycle_loop_matmul *l, bool taken) {
  bool changed = count_completions(c, l) || taken;
  bool waits = l->queue.count == 0 || l->stuck;
  cycle_matmul_part emitted = taken && l->active ? l->offered : CYCLE_MATMUL_PARTS;
  if (l->unsettled || !waits || (taken && !l->active))
    changed |= control(l, now, taken && !l->active, emitted);
  else if (emitted != CYCLE_MATMUL_PARTS)
    advance(l, emitted);
  if (changed) l->offered = (uint8_t)offering(l);
  return changed;
}
