// SPDX-License-Identifier: Apache-2.0
// From row requests of the store controller to requests of the DMA writer or writes of the scratchpad, and accumulator
// operands for the execute unit. See hw/rtl/weft_store_path.sv; weft_acc_lane.sv is ref_narrow_row (sim/ref/norm.h).
//
//   request --> dispatch --bank read--> norm queue --> scale queue --> issue queue --> writer, scratchpad
//                accumulator rows:      normaliser --> scale units ---- +
//                execute's rows:        normaliser --> scale units --> operands
//
// A row of factors is kept where it would leave (`factors`); the row behind it passes the gate (weft_row_gate.sv, a
// pipeline) on its way to the writer. Other rows wait until the gate is empty.
// A row is one record from its request to its end; the queues hold numbers of records. Its bytes are taken when its
// bank read is: as the writer wants them if nothing else decides on them, else as int32 until it passes the normaliser.
// Steps go from the issue queue back to the norm queue, then dispatch; all queues but issue are without PIPE, so the
// room that a step makes is no use to the one behind it in the same cycle.
// Invariants: records in the norm, scale and issue queues are in the order of their requests; the row at the end of the
// scale units, if it is a store's, belongs to the first accumulator record of the issue queue, and the one at the end
// of the normaliser's queue to that of the scale queue.
#include "sim/cycle/store_path.h"

#include <assert.h>
#include <string.h>

#include "arch/config.h"
#include "arch/local.h"
#include "base/alloc.h"
#include "sim/cycle/acc_scale.h"
#include "sim/cycle/dma_writer.h"
#include "sim/cycle/local_memory.h"
#include "sim/ref/numeric.h"

enum { DISPATCH = 2 };

// A row of the store controller on its way. What the writer gets: `wide` if full, else `narrow`.
typedef struct store_record {
  bool garbage, acc;  // the source; acc: of the accumulator and not garbage
  bool full;          // leaves as int32
  bool late;          // becomes int8 when it passes the normaliser
  uint8_t command;    // arch_norm: not ARCH_NORM_NONE: ends at the normaliser
  uint8_t bank;
  uint32_t source;  // row
  cycle_store_row row;
  int32_t *wide;
  int8_t *narrow;
} store_record;

typedef struct record_queue {
  cycle_queue q;
  uint16_t *record;
} record_queue;

struct cycle_store_path {
  record_queue dispatch, norm, scale, issue;
  cycle_normaliser normaliser;
  cycle_acc_scale units;
  record_queue gate;
  bool has_gate, has_factors;
  uint16_t factors;      // record of the row that multiplies the next one
  uint32_t inside;       // rows behind dispatch, of stores and operands
  uint64_t write_asked;  // cycle + 1 in which a row last asked for a write of the scratchpad
  store_record *records;
  uint16_t *unused;  // records
  uint32_t unused_count;
  // Rows of execute's operands, a ring.
  int8_t *operands;
  uint32_t operand_mask, operand_next;
  int32_t *wide;
  int8_t *narrow;
};

typedef struct cycle_store_path path;

// ---- life

static void queue_init(record_queue *q, uint32_t capacity, uint32_t latency, bool pipe) {
  cycle_queue_init(&q->q, capacity, latency, pipe);
  q->record = WF_NEW_ARRAY(cycle_queue_slots(&q->q), uint16_t);
}

static void queue_free(record_queue *q) {
  wf_free(q->record);
  cycle_queue_free(&q->q);
}

static void create_records(cycle_engine *c, path *p) {
  uint32_t count = DISPATCH + p->norm.q.capacity + p->scale.q.capacity + p->issue.q.capacity;
  if (p->has_gate) count += p->gate.q.capacity + 1;
  p->records = WF_NEW_ARRAY(count, store_record);
  p->unused = WF_NEW_ARRAY(count, uint16_t);
  for (uint32_t i = 0; i < count; i++) p->unused[p->unused_count++] = (uint16_t)i;
  uint32_t operands = 1;
  while (operands < CYCLE_NORMALISER_QUEUE + cycle_acc_scale_capacity(&p->units)) operands *= 2;
  p->operand_mask = operands - 1;
  if (!c->data) return;
  p->operands = wf_calloc(operands, c->d.sp_row_bytes);
  p->wide = wf_calloc(count, c->d.acc_row_bytes);
  p->narrow = wf_calloc(count, c->d.sp_row_bytes);
  for (uint32_t i = 0; i < count; i++) {
    p->records[i].wide = p->wide + (size_t)i * c->d.dim;
    p->records[i].narrow = p->narrow + (size_t)i * c->d.dim;
  }
}

void cycle_store_path_create(cycle_engine *c) {
  path *p = c->store_path = WF_NEW(path);
  uint32_t delay = c->array->scratchpad.read_delay;
  queue_init(&p->dispatch, DISPATCH, 1, false);
  queue_init(&p->norm, delay + 2, 1, false);
  queue_init(&p->scale, delay + 2, 1, false);
  p->has_gate = c->array->units.gate;
  queue_init(&p->issue, (delay + 1) << p->has_gate, 1, true);
  const uint32_t stages = c->array->accumulator.scale_latency;
  if (p->has_gate) queue_init(&p->gate, stages, stages, true);
  cycle_normaliser_init(&p->normaliser, c->array->units.normaliser, c->d.norm_stats);
  cycle_acc_scale_init(&p->units, c->array, c->d.dim);
  create_records(c, p);
}

void cycle_store_path_destroy(cycle_engine *c) {
  path *p = c->store_path;
  if (p == NULL) return;
  queue_free(&p->dispatch);
  queue_free(&p->norm);
  queue_free(&p->scale);
  queue_free(&p->issue);
  if (p->has_gate) queue_free(&p->gate);
  cycle_normaliser_free(&p->normaliser);
  cycle_acc_scale_free(&p->units);
  wf_free(p->records);
  wf_free(p->unused);
  wf_free(p->operands);
  wf_free(p->wide);
  wf_free(p->narrow);
  wf_free(p);
}

bool cycle_store_path_busy(const cycle_engine *c, uint64_t now) {
  const path *p = c->store_path;
  return p->dispatch.q.count + p->norm.q.count + p->scale.q.count + p->issue.q.count + p->gate.q.count > 0 ||
         now < p->normaliser.idle_from;
}

// ---- records

static uint16_t head_of(const record_queue *q) { return q->record[cycle_queue_head(&q->q)]; }

static uint16_t pop(record_queue *q, uint64_t now) {
  uint16_t record = head_of(q);
  cycle_queue_pop(&q->q, now);
  return record;
}

static void push(record_queue *q, uint64_t now, uint16_t record) { q->record[cycle_queue_push(&q->q, now)] = record; }

static void forget(path *p, uint16_t record) {
  p->unused[p->unused_count++] = record;
  p->inside--;
}

static ref_narrow how_of(const cycle_engine *c, const store_record *r) {
  const cycle_store_row *row = &r->row;
  return (ref_narrow){.normaliser = c->array->units.normaliser,
                      .factor_then_scale = c->array->isa.revision == 1,
                      .activation = c->array->units.activation ? row->act : ARCH_ACTIVATION_NONE,
                      .scale = row->scale,
                      .qb = row->qb,
                      .qc = row->qc,
                      .qln2 = row->qln2,
                      .qln2_inverse = row->qln2_inverse};
}

// The row becomes int8. Without a normaliser there is ReLU and scale, the case that costs time.
static void narrow(const cycle_engine *c, const store_record *r, const ref_stats *set, const int32_t *from) {
  if (c->array->units.normaliser) {
    const ref_narrow how = how_of(c, r);
    ref_narrow_row(&how, set, from, r->row.len, r->narrow);
  } else {
    bool relu = r->row.act == ARCH_ACTIVATION_RELU && c->array->units.activation;
    ref_scale_row(r->row.len, from, ref_float_of_bits(r->row.scale), relu, r->narrow);
  }
}

// ---- issue queue: to the writer or the scratchpad

static bool row_is_there(cycle_engine *c, uint64_t now, const path *p, const store_record *r) {
  if (r->garbage) return true;
  if (!r->acc) return cycle_local_sp_store_answer(c, now, r->bank);
  return cycle_acc_scale_valid(&p->units, now) && cycle_acc_scale_row(&p->units).for_store;
}

static bool to_scratchpad(cycle_engine *c, uint64_t now, path *p, const store_record *r) {
  uint32_t row = (uint32_t)r->row.address & ((UINT32_C(1) << c->d.row_bits) - 1);
  p->write_asked = now + 1;
  if (!cycle_local_stored_write(c, now, row)) return false;
  if (c->data) memcpy(cycle_sp_row(c, row), r->narrow, r->row.len < c->d.dim ? r->row.len : c->d.dim);
  c->w.store_answered = true;
  c->w.store_cmd = r->row.cmd;
  return true;
}

static bool to_writer(cycle_engine *c, uint64_t now, const store_record *r) {
  if (!cycle_writer_ready(c, now)) return false;
  cycle_writer_take(c, now,
                    &(cycle_write_row){.address = r->row.address,
                                       .bytes = r->full ? (const uint8_t *)r->wide : (const uint8_t *)r->narrow,
                                       .len = r->full ? (uint16_t)(r->row.len * 4) : r->row.len,
                                       .block = r->row.block,
                                       .pool = r->row.pool,
                                       .store = r->row.store});
  return true;
}

// ---- the gate

static bool leave_gate(cycle_engine *c, uint64_t now, path *p) {
  if (!cycle_queue_valid(&p->gate.q, now) || !to_writer(c, now, &p->records[head_of(&p->gate)])) return false;
  forget(p, pop(&p->gate, now));
  return true;
}

static bool keep_factors(cycle_engine *c, uint64_t now, path *p, const store_record *r) {
  cycle_local_sp_store_taken(c, now, r->bank);
  p->factors = pop(&p->issue, now);
  p->has_factors = true;
  return true;
}

static bool enter_gate(cycle_engine *c, uint64_t now, path *p, const store_record *r) {
  if (!cycle_queue_room(&p->gate.q, now)) return false;
  const store_record *by = &p->records[p->factors];
  const float scale = ref_float_of_bits((uint32_t)by->row.address);
  for (uint32_t j = 0; c->data && j < r->row.len; j++) r->narrow[j] = ref_gate(r->narrow[j], by->narrow[j], scale);
  cycle_acc_scale_pop(&p->units, now);
  push(&p->gate, now, pop(&p->issue, now));
  p->has_factors = false;
  forget(p, p->factors);
  return true;
}

static bool issue_head(cycle_engine *c, uint64_t now, path *p, bool gate_busy) {
  if (!cycle_queue_valid(&p->issue.q, now)) return false;
  const store_record *r = &p->records[head_of(&p->issue)];
  if (!row_is_there(c, now, p, r)) return false;
  if (r->row.factor) return keep_factors(c, now, p, r);
  if (p->has_factors) return enter_gate(c, now, p, r);
  if (gate_busy) return false;
  if (!(r->row.to_sp ? to_scratchpad(c, now, p, r) : to_writer(c, now, r))) return false;
  if (r->acc) {
    assert(cycle_acc_scale_row(&p->units).slot == head_of(&p->issue));
    cycle_acc_scale_pop(&p->units, now);
  } else if (!r->garbage) {
    cycle_local_sp_store_taken(c, now, r->bank);
  }
  forget(p, pop(&p->issue, now));
  return true;
}

static bool issue(cycle_engine *c, uint64_t now, path *p) {
  const bool gate_busy = p->gate.q.count != 0;
  const bool left = gate_busy && leave_gate(c, now, p);
  return issue_head(c, now, p, gate_busy) || left;
}

// ---- scale queue and the normaliser's queue: into the scale units and the issue queue

static bool scale(path *p, uint64_t now) {
  bool waits = cycle_queue_valid(&p->scale.q, now) && cycle_queue_room(&p->issue.q, now);
  bool needs_units = waits && p->records[head_of(&p->scale)].acc;
  bool changed = false;
  if (cycle_normaliser_valid(&p->normaliser, now) && cycle_acc_scale_room(&p->units, now)) {
    cycle_unit_row row = cycle_normaliser_row(&p->normaliser);
    if (row.for_store ? needs_units : true) {
      cycle_queue_pop(&p->normaliser.queue, now);
      cycle_acc_scale_push(&p->units, now, row);
      changed = true;
      if (row.for_store) push(&p->issue, now, pop(&p->scale, now));
    }
  }
  if (waits && !needs_units) {
    push(&p->issue, now, pop(&p->scale, now));
    changed = true;
  }
  return changed;
}

// ---- into the normaliser, and the norm queue into the scale queue

// The lowest bank that has an accumulator row for the execute unit, -1: none.
static int execute_bank(const cycle_engine *c, uint64_t now, cycle_acc_operand *operand) {
  for (uint64_t banks = c->local->execute_held; banks != 0; banks &= banks - 1)
    if (cycle_local_acc_execute_answer(c, now, (unsigned)__builtin_ctzll(banks), operand))
      return __builtin_ctzll(banks);
  return -1;
}

// Layer norm and GELU belong to stores; an operand knows ReLU alone.
static void enter_operand(cycle_engine *c, uint64_t now, path *p, unsigned bank, const cycle_acc_operand *operand) {
  uint32_t slot = p->operand_next++ & p->operand_mask;
  p->inside++;
  if (c->data) {
    bool relu = operand->act == ARCH_ACTIVATION_RELU && c->array->units.activation;
    ref_scale_row(c->d.dim, operand->row, ref_float_of_bits(operand->scale), relu,
                  p->operands + (size_t)slot * c->d.dim);
  }
  cycle_normaliser_pass(&p->normaliser, now, (cycle_unit_row){.slot = (uint16_t)slot, .bank = (uint8_t)bank});
  cycle_local_acc_execute_taken(c, now, bank);
}

static void normalise(cycle_engine *c, path *p, const store_record *r) {
  if (!c->data || !p->normaliser.enabled) return;
  ref_stats *set = cycle_normaliser_set(&p->normaliser, r->row.stats_id);
  if (r->command != ARCH_NORM_NONE) {
    const ref_narrow how = how_of(c, r);
    ref_stats_row(set, (arch_norm)r->command, &how, r->wide, r->row.len);
    return;
  }
  if (r->late) narrow(c, r, set, r->wide);
  if (!isa_local_full(r->row.laddr)) ref_stats_restart(set);
}

// A statistics command ends here.
static void enter_stored(cycle_engine *c, uint64_t now, path *p) {
  uint16_t record = pop(&p->norm, now);
  const store_record *r = &p->records[record];
  normalise(c, p, r);
  cycle_local_acc_store_taken(c, now, r->bank);
  if (r->command != ARCH_NORM_NONE) {
    cycle_normaliser_command(&p->normaliser, now, (arch_norm)r->command);
    forget(p, record);
    return;
  }
  cycle_normaliser_pass(&p->normaliser, now, (cycle_unit_row){.slot = record, .bank = r->bank, .for_store = true});
  push(&p->scale, now, record);
}

static bool enter(cycle_engine *c, uint64_t now, path *p) {
  cycle_acc_operand operand;
  int bank = execute_bank(c, now, &operand);
  bool changed = false, room = cycle_queue_room(&p->scale.q, now);
  if (bank >= 0 && cycle_normaliser_ready(&p->normaliser, now, true)) {
    enter_operand(c, now, p, (unsigned)bank, &operand);
    changed = true;
  }
  if (!room || !cycle_queue_valid(&p->norm.q, now)) return changed;
  const store_record *r = &p->records[head_of(&p->norm)];
  if (!r->acc) {
    push(&p->scale, now, pop(&p->norm, now));
    changed = true;
  } else if (bank < 0 && cycle_local_acc_store_answer(c, now, r->bank) &&
             cycle_normaliser_ready(&p->normaliser, now, r->command == ARCH_NORM_NONE)) {
    enter_stored(c, now, p);
    changed = true;
  }
  return changed;
}

// ---- a cycle

// Rows behind the banks are local memory's business.
static uint64_t next_change(const path *p, uint64_t now) {
  uint64_t next = CYCLE_NEVER, scaled = cycle_acc_scale_next(&p->units);
  if (scaled > now) next = scaled;
  const uint64_t gated = p->gate.q.count == 0 ? CYCLE_NEVER : cycle_queue_next(&p->gate.q);
  if (gated > now && gated < next) next = gated;
  return p->normaliser.idle_from > now && p->normaliser.idle_from < next ? p->normaliser.idle_from : next;
}

bool cycle_store_path_step(cycle_engine *c, uint64_t now) {
  path *p = c->store_path;
  if (p->inside == 0 && c->local->execute_held == 0) {
    c->wake[CYCLE_STORE_PATH] = p->normaliser.idle_from > now ? p->normaliser.idle_from : CYCLE_NEVER;
    return false;
  }
  bool changed = issue(c, now, p);
  changed |= scale(p, now);
  changed |= enter(c, now, p);
  c->wake[CYCLE_STORE_PATH] = changed ? now + 1 : next_change(p, now);
  return changed;
}

// ---- operands of the execute unit

bool cycle_store_path_operand(const cycle_engine *c, uint64_t now, unsigned bank) {
  const path *p = c->store_path;
  if (!cycle_acc_scale_valid(&p->units, now)) return false;
  cycle_unit_row row = cycle_acc_scale_row(&p->units);
  return !row.for_store && row.bank == bank;
}

void cycle_store_path_operand_taken(cycle_engine *c, uint64_t now, unsigned bank, int8_t *row) {
  c->w.operand_taken = true;
  path *p = c->store_path;
  assert(cycle_store_path_operand(c, now, bank));
  (void)bank;
  uint16_t slot = cycle_acc_scale_row(&p->units).slot;
  cycle_acc_scale_pop(&p->units, now);
  p->inside--;
  if (c->data) memcpy(row, p->operands + (size_t)slot * c->d.dim, c->d.sp_row_bytes);
}

// ---- dispatch

// The row's bytes as of its bank read.
static void capture(cycle_engine *c, store_record *r) {
  uint32_t len = r->row.len;
  if (r->garbage) {
    memset(r->narrow, 0, len);
  } else if (!r->acc) {
    memcpy(r->narrow, cycle_sp_row(c, r->source), len);
  } else if (r->full || r->late || r->command != ARCH_NORM_NONE) {
    memcpy(r->wide, cycle_acc_row(c, r->source), len * sizeof(int32_t));
  } else {
    narrow(c, r, NULL, cycle_acc_row(c, r->source));
  }
}

bool cycle_store_dispatch_step(cycle_engine *c, uint64_t now) {
  path *p = c->store_path;
  if (!cycle_queue_valid(&p->dispatch.q, now) || !cycle_queue_room(&p->norm.q, now)) return false;
  store_record *r = &p->records[head_of(&p->dispatch)];
  // One answer in a cycle.
  bool answer_taken = p->write_asked == now + 1 && !r->row.to_sp;
  if (answer_taken) return false;
  if (!r->garbage && !cycle_local_store_read(c, now, r->acc, r->source)) return false;
  if (c->data) capture(c, r);
  if (!r->row.to_sp) {
    c->w.store_answered = true;
    c->w.store_cmd = r->row.cmd;
  }
  push(&p->norm, now, pop(&p->dispatch, now));
  p->inside++;
  return true;
}

bool cycle_store_path_ready(const cycle_engine *c, uint64_t now) {
  return cycle_queue_room(&c->store_path->dispatch.q, now);
}

// The local address taken apart: all that follows from it and the array is found once.
static void decode(const cycle_engine *c, store_record *r) {
  const arch_local from = arch_local_decode(&c->d, r->row.laddr);
  bool normaliser = c->array->units.normaliser;
  r->garbage = from.garbage;
  r->acc = from.accumulator && !from.garbage;
  r->full = r->acc && from.full && c->array->accumulator.full_reads;
  r->command = normaliser && r->acc ? (uint8_t)from.norm : ARCH_NORM_NONE;
  r->source = from.row & ((UINT32_C(1) << c->d.row_bits) - 1);
  r->bank = (uint8_t)(r->source >> (r->acc ? c->acc_bank_shift : c->sp_bank_shift));
  r->late = normaliser && r->acc && !r->full && ref_needs_statistics(r->row.act);
}

void cycle_store_path_request(cycle_engine *c, uint64_t now, const cycle_store_row *row) {
  path *p = c->store_path;
  uint16_t record = p->unused[--p->unused_count];
  store_record *r = &p->records[record];
  r->row = *row;
  decode(c, r);
  push(&p->dispatch, now, record);
}
