// Matrix loop unit (hw/rtl/loop_matmul.sv): unrolls a product of I x J x K tiles into mvin, preload, compute and mvout.
//
// Two slots: the older one (head) and the next (tail), which may be configured, and whose parts may start, while the
// head is not finished. Five parts, each working on one slot at a time. The rules which part may start, and why, stand
// in the RTL; here they are evaluated only in cycles after something changed that they look at (`unsettled`): a part
// started or became idle, a slot was started or finished. In all other cycles the unit emits a command or waits.
//
// A clock edge is carried out in place, so everything it looks at is looked at first: the part whose command left, the
// decisions of the control (struct decisions), the command at the head of the queue.
#include "isa/isa_fields.h"
#include "sim/cycle/loop_matmul_parts.h"

struct cycle_loop_matmul {
  bool active;     // a slot is configured
  bool unsettled;  // the control may have something to do
  uint8_t head;
  cycle_matmul_part offered;  // in this cycle, while a slot is configured
  uint8_t in_flight[SIM_CLASSES], most[SIM_CLASSES];
  cycle_matmul_load a, b, d;
  cycle_matmul_execute execute;
  cycle_matmul_store store;
  cycle_queue queue;
  cycle_front_command commands[2];
  cycle_matmul_geometry geometry;
  cycle_matmul_slots slots;
};

static const uint8_t class_of_part[MATMUL_PARTS] = {SIM_CLASS_STORE, SIM_CLASS_EXECUTE, SIM_CLASS_LOAD, SIM_CLASS_LOAD,
                                                    SIM_CLASS_LOAD};

// ---- life

cycle_loop_matmul *cycle_loop_matmul_create(cycle_engine *c) {
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
  return l;
}

void cycle_loop_matmul_destroy(cycle_loop_matmul *l) {
  if (l == NULL) return;
  cycle_queue_free(&l->queue);
  wf_free(l);
}

bool cycle_loop_matmul_room(const cycle_engine *c, const cycle_loop_matmul *l) {
  return cycle_queue_room(&l->queue, c->now);
}

void cycle_loop_matmul_push(cycle_engine *c, cycle_loop_matmul *l, const cycle_front_command *command) {
  l->commands[cycle_queue_push(&l->queue, c->now)] = *command;
}

bool cycle_loop_matmul_busy(const cycle_engine *c, const cycle_loop_matmul *l) {
  (void)c;
  return l->active || l->queue.count > 0;
}

// ---- the offer

static bool blocked(const cycle_loop_matmul *l, sim_class unit) { return l->in_flight[unit] == l->most[unit]; }

static bool store_offers(const cycle_loop_matmul *l) {
  const cycle_matmul_store *st = &l->store;
  if (!st->busy || st->skip || blocked(l, SIM_CLASS_STORE)) return false;
  bool resadd = l->slots.of[st->slot].resadd;
  bool added = (l->a.slot != st->slot || !l->a.busy) && (l->b.slot != st->slot || !l->b.busy);
  bool multiplied = l->execute.slot != st->slot || !l->execute.busy;
  return cycle_matmul_store_may(st, &(cycle_matmul_made){.done = resadd ? added : multiplied,
                                                         .by_rows = resadd,
                                                         .k = l->execute.k,
                                                         .j = resadd ? l->b.inner : l->execute.j,
                                                         .i = resadd ? l->b.outer : l->execute.i});
}

// The loaders of the slot have passed the tile. B counts as passed within one k only while A is at that k.
static bool execute_offers(const cycle_loop_matmul *l) {
  const cycle_matmul_execute *x = &l->execute;
  if (!x->busy || x->skip || blocked(l, SIM_CLASS_EXECUTE)) return false;
  const cycle_matmul_load *a = &l->a, *b = &l->b;
  bool a_done = a->slot != x->slot || !a->busy, b_done = b->slot != x->slot || !b->busy;
  bool d_done = l->d.slot != x->slot || !l->d.busy;
  bool a_ahead = a_done || a->outer > x->k || (a->outer == x->k && a->inner > x->i);
  bool b_ahead = b_done || b->outer > x->k || (a->outer == x->k && b->inner > x->j);
  return a_ahead && b_ahead && d_done;
}

static bool load_offers(const cycle_matmul_load *load) { return load->busy && !load->skip; }

// Between A and B: the one that works for the head; in the same slot B while A is ahead of it in k and for its first
// command, A otherwise; a residual addition loads all of A first.
static bool b_has_turn(const cycle_loop_matmul *l) {
  const cycle_matmul_load *a = &l->a, *b = &l->b;
  if (a->slot != b->slot) return b->slot == l->head;
  if (l->slots.of[b->slot].resadd) return !a->busy;
  if (!a->busy) return true;
  if (!b->busy) return false;
  return a->outer > b->outer || (b->outer == 0 && b->inner == 0);
}

// The part whose command is at the output; MATMUL_PARTS: none.
static cycle_matmul_part offering(const cycle_loop_matmul *l) {
  if (store_offers(l)) return MATMUL_STORE;
  if (execute_offers(l)) return MATMUL_EXECUTE;
  if (blocked(l, SIM_CLASS_LOAD)) return MATMUL_PARTS;
  if (load_offers(&l->d)) return MATMUL_D;
  cycle_matmul_part turn = b_has_turn(l) ? MATMUL_B : MATMUL_A;
  return load_offers(turn == MATMUL_B ? &l->b : &l->a) ? turn : MATMUL_PARTS;
}

static bool is_run(const cycle_front_command *command) { return command->funct == ISA_FUNCT_LOOP_WS; }

static bool is_loop_command(const cycle_loop_matmul *l, const cycle_front_command *command) {
  uint8_t funct = command->funct;
  bool common = funct >= ISA_FUNCT_LOOP_WS_BOUNDS && funct <= ISA_FUNCT_LOOP_WS_STRIDES_DC;
  bool later = funct == ISA_FUNCT_LOOP_WS_SPAD_AB || funct == ISA_FUNCT_LOOP_WS_SPAD_C;
  return is_run(command) || common || (l->geometry.later && later);
}

static void command_of(const cycle_loop_matmul *l, cycle_matmul_part from, cycle_front_command *command) {
  static const uint8_t load_functs[MATMUL_PARTS] = {
      [MATMUL_D] = ISA_FUNCT_MVIN3, [MATMUL_B] = ISA_FUNCT_MVIN2, [MATMUL_A] = ISA_FUNCT_MVIN};
  *command = (cycle_front_command){.funct = load_functs[from], .from_matmul = true};
  if (from == MATMUL_STORE)
    cycle_matmul_store_command(&l->store, &l->geometry, command);
  else if (from == MATMUL_EXECUTE)
    cycle_matmul_execute_command(&l->execute, &l->geometry, command);
  else
    cycle_matmul_load_command(from == MATMUL_D ? &l->d : from == MATMUL_B ? &l->b : &l->a, &l->geometry, command);
}

bool cycle_loop_matmul_offer(const cycle_engine *c, cycle_loop_matmul *l, cycle_front_command *command) {
  if (l->active) {
    cycle_matmul_part from = l->offered = offering(l);
    if (from == MATMUL_PARTS) return false;
    command_of(l, from, command);
    return true;
  }
  if (!cycle_queue_valid(&l->queue, c->now)) return false;
  const cycle_front_command *head = &l->commands[cycle_queue_head(&l->queue)];
  if (is_loop_command(l, head)) return false;
  *command = *head;
  return true;
}

// ---- which parts start and which slot is finished

typedef struct decisions {
  uint8_t start, ended;  // by part
  uint8_t start_slot;    // by part
  bool finish;
} decisions;

static unsigned busy_parts(const cycle_loop_matmul *l) {
  return (unsigned)l->store.busy << MATMUL_STORE | (unsigned)l->execute.busy << MATMUL_EXECUTE |
         (unsigned)l->d.busy << MATMUL_D | (unsigned)l->b.busy << MATMUL_B | (unsigned)l->a.busy << MATMUL_A;
}

// By part: the slot that it works on, or did.
static unsigned part_slots(const cycle_loop_matmul *l) {
  return (unsigned)l->store.slot << MATMUL_STORE | (unsigned)l->execute.slot << MATMUL_EXECUTE |
         (unsigned)l->d.slot << MATMUL_D | (unsigned)l->b.slot << MATMUL_B | (unsigned)l->a.slot << MATMUL_A;
}

static bool has(unsigned parts, unsigned wanted) { return (parts & wanted) == wanted; }

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
  bool loaded = has(head->done, MATMUL_LOADS), made = cycle_matmul_has(head->done, MATMUL_EXECUTE);
  bool stored = cycle_matmul_has(head->done, MATMUL_STORE);
  if ((head->to_spad && !stored) || head->resadd != tail->resadd) return MATMUL_ALL;
  bool making = !made || (head->resadd && !loaded);
  unsigned make_half = head->resadd ? l->head : head->ex_half, store_half = head->resadd ? l->head : head->c_half;
  unsigned held = 0;
  if (tail->d != 0 && ((making && make_half == tail->d_half) || (!stored && store_half == tail->d_half)))
    held |= 1u << MATMUL_D;
  if (!(loaded && made) && operands_overlap(l, head, tail)) held |= 1u << MATMUL_A | 1u << MATMUL_B;
  if (!loaded || (!stored && store_half == tail->ex_half)) held |= 1u << MATMUL_EXECUTE;
  if (!loaded || !made) held |= 1u << MATMUL_STORE;
  return held;
}

// The parts of a slot that its own other parts let start: D of a residual addition before its sums, products after the
// start of the loads, stores after that of the products, without products after the loads.
static unsigned startable(const cycle_matmul_slot *s) {
  if (!s->configured) return 0;
  unsigned may = MATMUL_ALL & ~s->started & ~(1u << MATMUL_STORE | 1u << MATMUL_EXECUTE);
  if (s->resadd && !cycle_matmul_has(s->started, MATMUL_D) && s->d != 0) may &= ~(1u << MATMUL_A | 1u << MATMUL_B);
  if (has(s->started, MATMUL_LOADS)) may |= 1u << MATMUL_EXECUTE & ~(unsigned)s->started;
  bool added = has(s->started, 1u << MATMUL_A | 1u << MATMUL_B) && cycle_matmul_has(s->done, MATMUL_D);
  bool multiplied = cycle_matmul_has(s->started, MATMUL_EXECUTE) &&
                    (!cycle_matmul_has(s->done, MATMUL_EXECUTE) || has(s->done, MATMUL_LOADS));
  if (s->resadd ? added : multiplied) may |= 1u << MATMUL_STORE & ~(unsigned)s->started;
  return may;
}

static decisions decide(const cycle_loop_matmul *l) {
  const cycle_matmul_slot *head = &l->slots.of[l->head], *tail = &l->slots.of[!l->head];
  unsigned busy = busy_parts(l), at = part_slots(l);
  unsigned for_tail = head->started;  // these parts may start the tail, the others the head
  unsigned start = startable(head) & ~for_tail;
  if (tail->configured && for_tail != 0) start |= startable(tail) & for_tail & ~held_back(l);
  unsigned started = (at & l->slots.of[1].started) | (~at & l->slots.of[0].started);
  return (decisions){.start = (uint8_t)(start & ~busy),
                     .start_slot = (uint8_t)(l->head == 0 ? for_tail : ~for_tail & MATMUL_ALL),
                     .ended = (uint8_t)(started & ~busy),
                     .finish = head->configured && head->done == MATMUL_ALL};
}

// ---- starting parts

static uint32_t half_row(const cycle_loop_matmul *l, bool second) { return second ? l->geometry.acc_half : 0; }

static uint32_t masked(const cycle_loop_matmul *l, uint32_t row) { return row & l->geometry.row_mask; }

enum { FLAG_ACCUMULATOR = 4, FLAG_ACCUMULATE = 2 };  // of a load

static void start_a(cycle_loop_matmul *l, uint8_t number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  uint16_t deep = s->resadd ? s->j : s->k, pad_deep = s->resadd ? s->pad_j : s->pad_k;
  bool turned = s->a_transpose;
  cycle_matmul_load_start(&l->a, &(cycle_matmul_load){.slot = number,
                                                      .skip = l->geometry.later && s->a == 0,
                                                      .rows = turned ? deep : s->i,
                                                      .cols = turned ? s->i : deep,
                                                      .pad_rows = turned ? pad_deep : s->pad_i,
                                                      .pad_cols = turned ? s->pad_i : pad_deep,
                                                      .blocks = l->geometry.blocks,
                                                      .row_is_outer = turned,
                                                      .base = s->a,
                                                      .stride = s->a_stride,
                                                      .flags = s->resadd ? FLAG_ACCUMULATOR : 0,
                                                      .first = masked(l, s->lda_row)});
}

// The rows of the last tile of B are never cut: the reference compares a bound with itself.
static void start_b(cycle_loop_matmul *l, uint8_t number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  uint16_t deep = s->resadd ? s->i : s->k, pad_deep = s->resadd ? s->pad_i : s->pad_k;
  bool turned = s->b_transpose;
  cycle_matmul_load_start(&l->b, &(cycle_matmul_load){.slot = number,
                                                      .skip = l->geometry.later && s->b == 0,
                                                      .rows = turned ? s->j : deep,
                                                      .cols = turned ? deep : s->j,
                                                      .pad_rows = turned ? s->pad_j : pad_deep,
                                                      .pad_cols = turned ? pad_deep : s->pad_j,
                                                      .blocks = l->geometry.blocks,
                                                      .row_is_outer = !turned,
                                                      .full_height = true,
                                                      .base = s->b,
                                                      .stride = s->b_stride,
                                                      .flags = s->resadd ? FLAG_ACCUMULATOR | FLAG_ACCUMULATE : 0,
                                                      .first = masked(l, s->ldb_row)});
}

static void start_d(cycle_loop_matmul *l, uint8_t number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  cycle_matmul_load_start(&l->d, &(cycle_matmul_load){.slot = number,
                                                      .skip = s->d == 0,
                                                      .rows = s->i,
                                                      .cols = s->j,
                                                      .pad_rows = s->pad_i,
                                                      .pad_cols = s->pad_j,
                                                      .blocks = s->low_d ? l->geometry.blocks : l->geometry.blocks_acc,
                                                      .wide = !s->low_d,
                                                      .base = s->d,
                                                      .stride = s->d_stride,
                                                      .flags = FLAG_ACCUMULATOR,
                                                      .first = masked(l, half_row(l, s->d_half != 0))});
}

static void start_execute(cycle_loop_matmul *l, uint8_t number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  cycle_matmul_execute_start(&l->execute, &(cycle_matmul_execute){.slot = number,
                                                                  .skip = s->resadd,
                                                                  .end_i = s->i,
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
}

static void start_store(cycle_loop_matmul *l, uint8_t number) {
  const cycle_matmul_slot *s = &l->slots.of[number];
  bool second = s->resadd ? number != 0 : s->c_half != 0;
  cycle_matmul_store_start(&l->store, &l->geometry,
                           &(cycle_matmul_store){.slot = number,
                                                 .skip = s->c == 0 && !s->to_spad,
                                                 .end_i = s->i,
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
}

static void start(cycle_loop_matmul *l, cycle_matmul_part which, uint8_t number) {
  static void (*const starts[MATMUL_PARTS])(cycle_loop_matmul *, uint8_t) = {[MATMUL_STORE] = start_store,
                                                                             [MATMUL_EXECUTE] = start_execute,
                                                                             [MATMUL_D] = start_d,
                                                                             [MATMUL_B] = start_b,
                                                                             [MATMUL_A] = start_a};
  starts[which](l, number);
  l->slots.of[number].started |= (uint8_t)(1u << which);
}

// ---- loop commands

// The slot that configuration commands write.
static uint8_t target_of(const cycle_loop_matmul *l) { return l->slots.of[l->head].configured ? !l->head : l->head; }

// The head of the queue: a loop command writes the target if it is free, another leaves if the output took it.
static bool take_command(const cycle_engine *c, cycle_loop_matmul *l, uint8_t target, bool passed) {
  if (!cycle_queue_valid(&l->queue, c->now)) return false;
  const cycle_front_command *head = &l->commands[cycle_queue_head(&l->queue)];
  bool loop_command = is_loop_command(l, head);
  if (loop_command ? l->slots.of[target].configured : !passed) return false;
  cycle_queue_pop(&l->queue, c->now);
  if (loop_command && cycle_matmul_slot_write(&l->slots, target, &l->geometry, head)) l->active = l->unsettled = true;
  return true;
}

// ---- the clock edge

static void advance(cycle_loop_matmul *l, cycle_matmul_part taken) {
  l->in_flight[class_of_part[taken]]++;
  unsigned before = busy_parts(l);
  if (taken == MATMUL_STORE)
    cycle_matmul_store_advance(&l->store, &l->geometry);
  else if (taken == MATMUL_EXECUTE)
    cycle_matmul_execute_advance(&l->execute);
  else
    cycle_matmul_load_advance(taken == MATMUL_D ? &l->d : taken == MATMUL_B ? &l->b : &l->a);
  if (busy_parts(l) != before) l->unsettled = true;
}

static bool count_completions(const cycle_engine *c, cycle_loop_matmul *l) {
  bool any = false;
  for (unsigned unit = 0; unit < SIM_CLASSES; unit++) {
    unsigned completed = c->w.matmul_completed[unit];
    assert(l->in_flight[unit] >= completed);
    l->in_flight[unit] = (uint8_t)(l->in_flight[unit] - completed);
    any |= completed != 0;
  }
  return any;
}

// A part that was started with nothing to do.
static bool end_skipped(bool *busy, bool skip) {
  bool ends = *busy && skip;
  if (ends) *busy = false;
  return ends;
}

static bool end_skipped_parts(cycle_loop_matmul *l) {
  bool ended = end_skipped(&l->a.busy, l->a.skip);
  ended |= end_skipped(&l->b.busy, l->b.skip);
  ended |= end_skipped(&l->d.busy, l->d.skip);
  ended |= end_skipped(&l->execute.busy, l->execute.skip);
  ended |= end_skipped(&l->store.busy, l->store.skip);
  return ended;
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
  bool more = end_skipped_parts(l);
  more |= end_parts(l, x->ended, at);
  for (unsigned which = 0; which < MATMUL_PARTS; which++) {
    if (!cycle_matmul_has(x->start, which)) continue;
    start(l, (cycle_matmul_part)which, cycle_matmul_has(x->start_slot, which));
    more = true;
  }
  if (x->finish) finish_head(l);
  return more || x->finish;
}

bool cycle_loop_matmul_step(cycle_engine *c, cycle_loop_matmul *l, bool taken) {
  if (!l->active && l->queue.count == 0) return count_completions(c, l);
  cycle_matmul_part left = taken && l->active ? l->offered : MATMUL_PARTS;
  uint8_t target = target_of(l);
  bool passed = taken && !l->active, settles = l->unsettled;
  decisions x = {0};
  unsigned at = part_slots(l);
  if (settles) x = decide(l);
  l->unsettled = false;
  bool changed = count_completions(c, l);
  if (left != MATMUL_PARTS) advance(l, left);
  if (settles && settle(l, &x, at)) l->unsettled = true;
  changed |= take_command(c, l, target, passed);
  return changed || taken || l->unsettled;
}
