// SPDX-License-Identifier: Apache-2.0
// The execute unit as an actor: hw/rtl/weft_execute_controller.sv and the mesh behind it. A step is an operation.
//
//   visible   a command, 2 cycles after its issue
//   starts    behind the operation before, when its commands are visible: a compute together with the preload behind it
//             if that and the compute behind it are visible by then, else alone (OPERATION); no operand is on its way
//             (HAZARD), fewer products are in flight than the mesh and the hazard table hold (PRODUCTS)
//   rows      dim with weights or through the transposer, else those of A, B and the product, at least 4 (LENGTH); a
//             cycle more for each in which a load writes an operand's bank (BANK); operands that meet in a bank, and
//             those of the accumulator, walk (walk.c)
//   ends      a compute a cycle after its last row; a preload with the last row of C, which leaves the mesh with the
//             rows of the next operation (output-stationary: of the second next) (RESULTS)
//   flush     rows of zeros push results out that nothing follows: before a configuration, and output-stationary when
//             there is nothing to do (FLUSH)
#include <string.h>

#include "isa/isa.h"
#include "isa/isa_fields.h"
#include "sim/flow/repeats.h"
#include "sim/flow/station_end.h"
#include "sim/flow/units.h"
#include "sim/flow/walk.h"

enum { VISIBLE = 2, HAZARDS = 4, FLUSH_LEAD = 2 };

// Operations that read A and the preload's B alone, row by row: weight-stationary, nothing transposed.
static bool is_usual_config(const flow_execute *x) {
  return !x->os && !(x->transposer && (x->a_transpose || x->b_transpose));
}

void flow_execute_create(flow_engine *e) {
  const hw_array *a = e->array;
  flow_execute *x = &e->execute;
  const uint64_t step = a->mesh.tile_latency + 1;
  const uint64_t latency = (a->mesh.rows + a->mesh.columns - 1) * step + a->mesh.output_delay;
  const uint64_t read = a->scratchpad.read_pipeline == HW_READ_PIPELINE_FIXED ? a->scratchpad.read_delay + 1 : 2;
  x->both_dataflows = a->mesh.dataflow == HW_DATAFLOW_BOTH;
  x->os = a->mesh.dataflow != HW_DATAFLOW_WS;
  x->transposer = a->units.transposer;
  x->bias_garbage = a->mesh.bias_garbage;
  x->looks_ahead = a->accumulator.execute_reads || a->scratchpad.execute_writes;
  x->usual = is_usual_config(x);
  x->min_rows = e->d.dim < 4 ? e->d.dim : 4;
  x->enter_delay = read + 1;
  x->walk.sp_latency = read;
  x->walk.depth = a->scratchpad.read_delay + 1U;
  x->walk.acc_latency = e->store.latency + 2;
  if (a->accumulator.scale_units != 0 && a->accumulator.narrow_reads)
    x->walk.acc_spacing = (e->d.dim + a->accumulator.scale_units - 1) / a->accumulator.scale_units;
  x->result_delay = x->enter_delay + latency;
  x->limit = e->d.max_matmuls + HAZARDS;
  x->tags = e->d.max_matmuls;
  x->garbage = ISA_LOCAL_ACCUMULATOR_MASK | ISA_LOCAL_ACCUMULATE_MASK | ISA_LOCAL_FULL_MASK |
               (uint32_t)((UINT64_C(2) << e->d.row_bits) - 1);
  e->next[FLOW_EXECUTE] = FLOW_NEVER;
}

// ---- commands

static bool is_compute(const flow_issue *k) {
  return k->command.insn == ISA_COMPUTE_PRELOADED || k->command.insn == ISA_COMPUTE_ACCUMULATED;
}

static flow_time visible(const flow_issue *k) {
  return k == NULL ? FLOW_AT_NEVER : flow_after(k->issue, VISIBLE, FLOW_W_EXECUTE_START);
}

static bool is_visible(const flow_issue *k, uint64_t at) { return k != NULL && flow_cycle(k->issue) + VISIBLE <= at; }

// ---- products in flight

static flow_product *product_at(flow_execute *x, uint32_t n) { return &x->product[(x->first + n) % FLOW_PRODUCTS]; }

static void forget_products(flow_execute *x, uint64_t at) {
  while (x->count > 0 && flow_cycle(product_at(x, 0)->end) < at) {
    x->in_sp -= !product_at(x, 0)->acc;
    x->first++;
    x->count--;
    x->out--;
  }
}

static cycle_row_range range_of(const flow_operand *o) {
  return (cycle_row_range){.first = o->first, .end = o->first + o->length};
}

// The last end of products that write rows of the operand; FLOW_AT_NEVER: not known.
static flow_time hazard_of(flow_execute *x, const flow_operand *o, flow_time until) {
  if (o->garbage || (o->acc ? x->in_sp == x->count : x->in_sp == 0)) return until;
  const cycle_row_range range = range_of(o);
  for (uint32_t n = 0; n < x->count; n++) {
    const flow_product *p = product_at(x, n);
    if (p->acc != o->acc || !cycle_rows_overlap(p->rows, range)) continue;
    until = flow_later(until, p->end);
  }
  return until;
}

static bool in_accumulator(const flow_operand *o) { return o->acc && !o->garbage; }

// Whether products in flight could write what the preload or the compute behind it reads.
static inline bool may_meet(const flow_execute *x, const flow_issue *preload, const flow_issue *next) {
  if (!x->looks_ahead || x->count == 0) return false;
  if (x->in_sp != 0) return true;
  return in_accumulator(&next->operand[0]) || in_accumulator(&next->operand[1]) || in_accumulator(&preload->operand[0]);
}

// Of the preload's operand and of both of the compute behind it.
static flow_time hazard(flow_engine *e, const flow_issue *preload, const flow_issue *next) {
  flow_execute *x = &e->execute;
  if (!may_meet(x, preload, next)) return (flow_time){0};
  flow_time until = hazard_of(x, &next->operand[0], (flow_time){0});
  until = hazard_of(x, &next->operand[1], until);
  return hazard_of(x, &preload->operand[0], until);
}

// `total` result rows leave in the cycles up to `end`: those that go somewhere are the first ones or, as they come last
// row first, output-stationary the last ones.
static inline __attribute__((always_inline)) void write_results(flow_engine *e, const flow_product *p, uint32_t total) {
  const uint32_t rows = (uint32_t)wf_min(p->result_rows, total);
  const uint64_t from = flow_cycle(p->end) + 1 - (e->execute.os ? rows : total);
  if (!p->acc) {
    if (e->array->scratchpad.execute_writes)
      flow_calendar_mark(&e->sp_writes[(p->base & (e->d.sp_rows - 1)) >> e->sp_shift], from, rows);
    return;
  }
  const uint32_t bank = (p->base & (e->d.acc_rows - 1)) >> e->acc_shift;
  flow_calendar_mark(&e->acc_results[bank], from, rows);
  if (p->accumulate) flow_calendar_mark(&e->acc_adds[bank], from, rows);
}

// An operation of `total` rows, the last one fetched in `last`, pushes results out: those of older products first. A
// product ends with the last of these rows, wanted or not.
static inline __attribute__((always_inline)) void push_out_here(flow_engine *e, flow_time last, uint32_t total) {
  flow_execute *x = &e->execute;
  for (uint32_t n = x->out; n < x->count; n++) {
    flow_product *p = product_at(x, n);
    if (--p->passes != 0) continue;
    x->out++;
    p->end = flow_after(last, x->result_delay, FLOW_W_MESH_LATENCY);
    write_results(e, p, total);
    flow_station_ends(e, SIM_CLASS_EXECUTE, p->slot, p->end);
  }
  x->request[x->requests++ % FLOW_REQUESTS] = flow_after(last, x->result_delay, FLOW_W_MESH_LATENCY);
  x->fed_from = flow_cycle(last) + 1;
}

static __attribute__((noinline)) void push_out(flow_engine *e, flow_time last, uint32_t total) {
  push_out_here(e, last, total);
}

static inline __attribute__((always_inline)) void add_product(flow_engine *e, const flow_issue *preload, uint8_t slot) {
  flow_execute *x = &e->execute;
  const flow_operand *c = &preload->operand[1];
  flow_product *p = product_at(x, x->count++);
  *p = (flow_product){.rows = range_of(c),
                      .end = FLOW_AT_NEVER,
                      .base = c->first,
                      .slot = slot,
                      .result_rows = (uint8_t)c->rows,
                      .passes = x->os ? 2 : 1,
                      .acc = c->acc,
                      .accumulate = isa_local_accumulate((uint32_t)preload->command.rs2) != 0};
  x->in_sp += !c->acc;
}

// ---- an operation

static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t total_rows(const flow_engine *e, const flow_operation *op, const flow_operands *o) {
  const flow_execute *x = &e->execute;
  const bool via = x->transposer && (x->os ? true : x->a_transpose || x->b_transpose);
  uint32_t total = x->min_rows;
  if (x->os || via || o->d != NULL) return e->d.dim;
  if (op->preload != NULL && (op->next == NULL || op->next->command.insn == ISA_COMPUTE_PRELOADED)) return e->d.dim;
  if (op->compute != NULL) total = most(most(total, op->compute->operand[0].rows), x->product_rows);
  if (o->b != NULL) total = most(total, o->b->rows);
  return total < e->d.dim ? total : e->d.dim;
}

static const flow_operand *if_read(const flow_operand *o, bool present) { return present && o->read ? o : NULL; }

// Weight-stationary, and A is not transposed and no D read: what is read is A, and the preload's B.
static bool is_plain(const flow_execute *x, const flow_operation *op) {
  if (x->os || (x->transposer && x->a_transpose)) return false;
  return x->bias_garbage || op->compute == NULL || !op->compute->operand[1].read;
}

// What it reads: of a transposed operand that of the compute behind it.
static flow_operands operands_of(const flow_execute *x, const flow_operation *op) {
  const flow_issue *c = op->compute, *p = op->preload;
  const bool ahead_a = x->transposer && (x->os ? !x->a_transpose : x->a_transpose);
  const bool ahead_b = x->transposer && x->os && x->b_transpose;
  const flow_issue *ahead = p != NULL ? op->next : NULL, *from_a = ahead_a ? ahead : c, *from_b = ahead_b ? ahead : c;
  flow_operands o = {NULL, NULL, NULL};
  if (from_a != NULL) o.a = if_read(&from_a->operand[0], true);
  if (from_b != NULL) o.b = if_read(&from_b->operand[1], !(x->bias_garbage && !x->os));
  if (p != NULL) o.d = if_read(&p->operand[0], !(x->bias_garbage && x->os));
  return o;
}

static flow_operands operands_of_plain(const flow_operation *op) {
  return (flow_operands){.a = op->compute != NULL ? if_read(&op->compute->operand[0], true) : NULL,
                         .d = op->preload != NULL ? if_read(&op->preload->operand[0], true) : NULL};
}

static void measure(flow_engine *e, flow_operation *op) {
  const flow_execute *x = &e->execute;
  const flow_operands o = is_plain(x, op) ? operands_of_plain(op) : operands_of(x, op);
  uint32_t n = 0;
  op->total = total_rows(e, op, &o);
  op->walks = !flow_walk_is_plain(e, &o, op->total);
  if (op->walks) {
    flow_walk_begin(e, &o, op->total);
    return;
  }
  if (o.a != NULL) op->banks[n++] = o.a->bank;
  if (o.b != NULL) op->banks[n++] = o.b->bank;
  if (o.d != NULL) op->banks[n++] = o.d->bank;
}

static uint64_t later_by(uint64_t at, uint64_t cycles) { return at == FLOW_NEVER ? FLOW_NEVER : at + cycles; }

// What loads write before and in the cycle returned is known: a load that starts has its first burst granted 4 cycles
// later, a command that enters the station starts 2 cycles later, and rows come `lead` behind a grant.
static uint64_t writes_known(const flow_engine *e) {
  enum { GRANT = 4, START = 2 };
  const uint64_t load = later_by(e->next[FLOW_LOAD], e->load.active ? 0 : GRANT);
  const uint64_t front = later_by(e->next[FLOW_FRONT], START + GRANT);
  const uint64_t others = wf_min(e->next[FLOW_STORE], e->next[FLOW_REPEATS]);
  return later_by(wf_min(wf_min(load, front), others), e->repeats.lead);
}

// Cycles that are lost to banks.
static flow_time lose(flow_engine *e, flow_time at, uint64_t cycles) {
  return flow_event(e->log, flow_after(flow_event(e->log, at), cycles, FLOW_W_LOCAL_BANKS));
}

static void walk(flow_engine *e) {
  flow_execute *x = &e->execute;
  const uint64_t from = flow_cycle(x->at);
  uint64_t passed;
  const uint64_t at = flow_walk_on(e, from, writes_known(e), &x->left, &passed);
  if (at == from) return;
  if (at - from > passed) x->at = lose(e, x->at, at - from - passed);
  x->at = flow_after(x->at, passed, FLOW_W_MESH);
}

// Fetches rows as far as it is known which banks loads write: a cycle in which one writes an operand's bank is lost.
static void fetch(flow_engine *e) {
  flow_execute *x = &e->execute;
  const uint64_t known = writes_known(e);
  uint64_t at = flow_cycle(x->at), lost_cycles = 0, rows = 0;
  while (x->left > 0 && at <= known) {
    const uint64_t n = wf_min(wf_min(x->left, FLOW_CALENDAR_BITS), known - at < x->left ? known - at + 1 : x->left);
    uint64_t lost = 0;
    for (unsigned i = 0; i < 3; i++)
      if (x->op.banks[i] != 0) lost |= flow_calendar_from(&e->sp_writes[x->op.banks[i] - 1], at);
    lost &= flow_low_bits(n);
    const unsigned more = lost == 0 ? 0 : (unsigned)__builtin_popcountll(lost);
    at += n;
    rows += n;
    lost_cycles += more;
    x->left = x->left - n + more;
  }
  if (rows == 0) return;
  if (lost_cycles != 0) x->at = lose(e, x->at, lost_cycles);
  x->at = flow_after(x->at, rows - lost_cycles, FLOW_W_MESH);
}

// The request that has to leave the mesh before one more enters it.
static inline flow_time last_request(const flow_execute *x) {
  if (x->requests < x->tags) return (flow_time){0};
  return x->request[(x->requests - x->tags) % FLOW_REQUESTS];
}

static inline uint64_t mesh_free(const flow_execute *x, flow_time left) {
  return flow_cycle(left) > x->enter_delay ? flow_cycle(left) - x->enter_delay + 1 : 0;
}

// When the mesh has room for one more request, which enters it `enter_delay` behind the start. Edges behind it are
// those of the mesh's cycles: other ones take an event of its own.
static flow_time mesh_room(flow_engine *e, flow_time start) {
  const flow_execute *x = &e->execute;
  const flow_time left = last_request(x);
  const uint64_t from = mesh_free(x, left);
  if (from <= flow_cycle(start)) return flow_event_unless(e->log, start, FLOW_W_MESH);
  const flow_time room = flow_event(e->log, flow_at(left, from, FLOW_W_MESH_LATENCY));
  return flow_event_released(e->log, flow_after(room, 0, FLOW_W_PRODUCTS), start);
}

static inline __attribute__((always_inline)) unsigned take(flow_engine *e, flow_time last) {
  return flow_station_take_out(e, SIM_CLASS_EXECUTE, last);
}

// A transposed B passes the transposer before its products: the unroller makes a second operation of the preload.
static bool splits(const flow_execute *x, const flow_operation *op) {
  const bool turned = x->transposer && x->b_transpose && !x->os;
  return op->preload != NULL && turned && op->next != NULL && op->next->command.insn == ISA_COMPUTE_PRELOADED;
}

// Its rows; returns the cycle of the last one.
static flow_time second_operation(flow_engine *e, flow_time last) {
  const flow_time start = mesh_room(e, flow_after(last, 1, FLOW_W_MESH));
  const flow_time end = flow_after(start, e->d.dim - 1, FLOW_W_MESH);
  push_out(e, end, e->d.dim);
  return end;
}

static inline __attribute__((always_inline)) void end_preload(flow_engine *e, const flow_issue *preload, flow_time last,
                                                              bool computes) {
  flow_execute *x = &e->execute;
  const bool results = !preload->operand[1].garbage;
  const unsigned slot = take(e, last);
  x->product_rows = results ? preload->operand[1].rows : 0;
  if (results)
    add_product(e, preload, (uint8_t)slot);
  else
    flow_station_end(e, SIM_CLASS_EXECUTE, slot, flow_after(last, 1 + computes, FLOW_W_MESH));
}

// The cycle in which the last row would have been fetched if it had gone straight to the mesh: rows wait for those on
// their way there. Of an operation that did not walk *last moves on with them.
static inline flow_time behind_control(flow_execute *x, flow_time *last, uint32_t total, bool walks) {
  flow_walk *w = &x->walk;
  const uint64_t taken = flow_cycle(*last) + w->sp_latency;
  w->even = !walks;
  if (w->even) {
    w->last_taken = wf_max(w->last_taken + total, taken);
    if (w->last_taken != taken) *last = flow_not_before(*last, w->last_taken - w->depth, FLOW_W_LOCAL_BANKS);
  }
  return flow_not_before(*last, w->last_taken - w->sp_latency, FLOW_W_LOCAL_BANKS);
}

// All rows are fetched, the last one in `last`.
static void finish(flow_engine *e, flow_time last) {
  flow_execute *x = &e->execute;
  const flow_operation op = x->op;  // its commands stay in their ring behind their end
  const bool computes = op.compute != NULL, preloads = op.preload != NULL, split = splits(x, &op);
  x->fetching = false;
  const flow_time fed = behind_control(x, &last, op.total, op.walks);
  last = flow_event(e->log, last);
  push_out(e, flow_later(fed, last), op.total);
  if (computes) flow_station_end(e, SIM_CLASS_EXECUTE, take(e, last), flow_after(last, 1, FLOW_W_MESH));
  if (split) last = second_operation(e, last);
  x->free_at = flow_after(last, 1, FLOW_W_MESH);
  flow_busy_until(e, x->free_at);
  if (preloads) end_preload(e, op.preload, last, computes);
}

static void go_on(flow_engine *e) {
  flow_execute *x = &e->execute;
  if (x->op.walks)
    walk(e);
  else
    fetch(e);
  if (x->left == 0) finish(e, flow_at(x->at, flow_cycle(x->at) - 1, FLOW_W_MESH));
}

static bool loads_come(const flow_engine *e) {
  return e->load.active || e->next[FLOW_LOAD] != FLOW_NEVER || e->load.tracked > 0;
}

static void carry_out(flow_engine *e, const flow_operation *op, flow_time start) {
  flow_execute *x = &e->execute;
  x->op = *op;
  measure(e, &x->op);
  x->at = mesh_room(e, start);
  x->started = flow_cycle(x->at);
  x->left = x->op.total;
  if (!x->op.walks && (!e->array->scratchpad.single_ported || !loads_come(e))) {
    finish(e, flow_after(x->at, x->op.total - 1, FLOW_W_MESH));
    return;
  }
  x->fetching = true;
  go_on(e);
}

// ---- an operation as most are

// A compute and the preload behind it, weight-stationary and nothing transposed: it reads A and the preload's B alone.
static inline __attribute__((always_inline)) bool is_usual(const flow_execute *x, const flow_issue *compute,
                                                           const flow_issue *preload, const flow_issue *next,
                                                           uint64_t now) {
  return is_visible(next, now) && is_compute(compute) && preload->command.insn == ISA_PRELOAD && is_compute(next) &&
         x->count < x->limit && (x->bias_garbage || !compute->operand[1].read) && !may_meet(x, preload, next);
}

static inline __attribute__((always_inline)) uint32_t usual_rows(const flow_engine *e, const flow_issue *compute,
                                                                 const flow_issue *preload, const flow_issue *next) {
  const flow_execute *x = &e->execute;
  if (preload->operand[0].read || next->command.insn == ISA_COMPUTE_PRELOADED) return e->d.dim;
  const uint32_t rows = most(most(x->min_rows, compute->operand[0].rows), x->product_rows);
  return rows < e->d.dim ? rows : e->d.dim;
}

// Whether the operand stays in a bank of the scratchpad while it is read.
static inline bool stays_in_bank(const flow_engine *e, const flow_operand *o, uint64_t end) {
  return !o->acc && o->first >> e->sp_shift == end >> e->sp_shift;
}

// The cycles from `from` on in which loads write the operand's bank, a bit each.
static inline uint64_t bank_writes(const flow_engine *e, const flow_operand *o, uint64_t from, uint32_t total) {
  return o->read ? flow_calendar_window(&e->sp_writes[o->bank - 1], from, total) : 0;
}

// Rows pass one in a cycle from `from` on: each operand in a bank of its own, which no load writes.
static inline __attribute__((always_inline)) bool passes_evenly(const flow_engine *e, const flow_operand *a,
                                                                const flow_operand *b, uint64_t from, uint32_t total) {
  if (a->read && !stays_in_bank(e, a, a->first + (uint64_t)e->execute.a_stride * (total - 1))) return false;
  if (b->read && (!stays_in_bank(e, b, b->first + e->d.dim - 1) || (a->read && a->bank == b->bank))) return false;
  if (!e->array->scratchpad.single_ported || !loads_come(e)) return true;
  if (total > FLOW_CALENDAR_BITS || from + total - 1 > writes_known(e)) return false;
  return (bank_writes(e, a, from, total) | bank_writes(e, b, from, total)) == 0;
}

// The same as carry_out and finish do with such an operation, in one go; false: it is none, or its rows have to wait.
static inline __attribute__((always_inline)) bool carry_out_usual(flow_engine *e, flow_time at, uint64_t now) {
  flow_execute *x = &e->execute;
  const flow_issue *compute = flow_station_head(e, SIM_CLASS_EXECUTE, 0);
  const flow_issue *preload = flow_station_head(e, SIM_CLASS_EXECUTE, 1);
  const flow_issue *next = flow_station_head(e, SIM_CLASS_EXECUTE, 2);
  if (!x->usual || x->never_usual || !is_usual(x, compute, preload, next, now)) return false;
  const uint32_t total = usual_rows(e, compute, preload, next);
  const uint64_t from = wf_max(now, mesh_free(x, last_request(x)));
  if (!passes_evenly(e, &compute->operand[0], &preload->operand[0], from, total)) return false;
  flow_time last = flow_after(mesh_room(e, at), total - 1, FLOW_W_MESH);
  const flow_time fed = behind_control(x, &last, total, false);
  last = flow_event(e->log, last);
  push_out_here(e, flow_later(fed, last), total);
  const unsigned slot = take(e, last);
  flow_station_ends(e, SIM_CLASS_EXECUTE, slot, flow_after(last, 1, FLOW_W_MESH));
  x->free_at = flow_after(last, 1, FLOW_W_MESH);
  flow_busy_until(e, x->free_at);
  end_preload(e, preload, last, true);
  return true;
}

// ---- control

static void flush(flow_engine *e, flow_time at) {
  flow_execute *x = &e->execute;
  const uint64_t now = flow_cycle(at), lead = now + FLUSH_LEAD > x->enter_delay ? now + FLUSH_LEAD - x->enter_delay : 0;
  const uint64_t first = wf_max(lead, x->fed_from);
  at = flow_event(e->log, at);
  x->free_at = flow_at(at, first + x->enter_delay + e->d.dim, FLOW_W_MESH);
  push_out(e, flow_at(at, first + e->d.dim - 1, FLOW_W_MESH), e->d.dim);
}

static void configure(flow_engine *e, flow_time at) {
  flow_execute *x = &e->execute;
  const flow_issue *head = flow_station_head(e, SIM_CLASS_EXECUTE, 0);
  const uint64_t rs1 = head->command.rs1, rs2 = head->command.rs2;
  if (x->count > 0) {
    flush(e, at);
    return;
  }
  x->a_stride = (uint32_t)isa_get_config_ex_a_stride(rs1, rs2);
  x->c_stride = (uint32_t)isa_get_config_ex_c_stride(rs1, rs2);
  if (isa_get_config_ex_strides_only(rs1, rs2) == 0) {
    if (x->both_dataflows) x->os = isa_get_config_ex_dataflow(rs1, rs2) == ISA_CONFIG_EX_DATAFLOW_OS;
    x->a_transpose = isa_get_config_ex_a_transpose(rs1, rs2) != 0;
    x->b_transpose = isa_get_config_ex_b_transpose(rs1, rs2) != 0;
  }
  x->usual = is_usual_config(x);
  at = flow_event(e->log, at);
  x->free_at = flow_after(at, 1, FLOW_W_EXECUTE_START);
  flow_station_end(e, SIM_CLASS_EXECUTE, take(e, at), at);
}

// A preload at the head: it waits for operands on their way, and for room.
static void step_preload(flow_engine *e, flow_time at) {
  flow_execute *x = &e->execute;
  flow_operation op = {.preload = flow_station_head(e, SIM_CLASS_EXECUTE, 0),
                       .next = flow_station_head(e, SIM_CLASS_EXECUTE, 1)};
  const flow_time until = hazard(e, op.preload, op.next);
  if (flow_is_never(until)) {
    flush(e, at);
    return;
  }
  const bool full = x->count >= x->limit;
  if (flow_cycle(until) >= flow_cycle(at) || full) {
    const flow_time room = full && !flow_is_never(product_at(x, 0)->end) ? product_at(x, 0)->end : at;
    x->free_at = flow_after(flow_later(until, room), 1, FLOW_W_MESH_LATENCY);
    return;
  }
  carry_out(e, &op, at);
}

static void step_compute(flow_engine *e, flow_time at) {
  flow_execute *x = &e->execute;
  flow_operation op = {.compute = flow_station_head(e, SIM_CLASS_EXECUTE, 0)};
  const flow_issue *preload = flow_station_head(e, SIM_CLASS_EXECUTE, 1);
  const flow_issue *next = flow_station_head(e, SIM_CLASS_EXECUTE, 2);
  const uint64_t now = flow_cycle(at);
  const bool there = is_visible(preload, now) && preload->command.insn == ISA_PRELOAD && x->count < x->limit;
  if (there && is_visible(next, now) ? flow_cycle(hazard(e, preload, next)) < now : there && !x->looks_ahead) {
    op.preload = preload;
    op.next = is_visible(next, now) ? next : NULL;
  }
  carry_out(e, &op, at);
}

static __attribute__((noinline)) void step_other(flow_engine *e, flow_time at, uint64_t now) {
  const flow_issue *head = flow_station_head(e, SIM_CLASS_EXECUTE, 0);
  if (e->execute.fetching)
    go_on(e);
  else if (!is_visible(head, now))
    flush(e, at);
  else if (head->command.insn == ISA_CONFIG_EX)
    configure(e, at);
  else if (is_compute(head))
    step_compute(e, at);
  else if (!is_visible(flow_station_head(e, SIM_CLASS_EXECUTE, 1), now))
    flush(e, at);
  else
    step_preload(e, at);
}

void flow_execute_step(flow_engine *e) {
  flow_execute *x = &e->execute;
  const flow_time at = x->next;
  const uint64_t now = e->next[FLOW_EXECUTE];
  forget_products(x, now);
  x->stepping = true;
  if (x->fetching || !carry_out_usual(e, at, now)) step_other(e, at, now);
  x->stepping = false;
  flow_execute_wake(e);
  flow_repeats_wake(e);
}

// Nothing to do, but results in the mesh: output-stationary they are pushed out at once.
static flow_time idle_time(const flow_engine *e) {
  const flow_execute *x = &e->execute;
  for (uint32_t n = 0; x->os && n < x->count; n++) {
    const flow_product *p = &x->product[(x->first + n) % FLOW_PRODUCTS];
    if (flow_cycle(p->end) >= flow_cycle(x->free_at)) return x->free_at;
  }
  return FLOW_AT_NEVER;
}

void flow_execute_wake(flow_engine *e) {
  flow_execute *x = &e->execute;
  if (x->stepping) return;
  if (x->fetching) {
    const uint64_t now = flow_cycle(x->at);
    e->next[FLOW_EXECUTE] = now > e->repeats.lead ? now - e->repeats.lead : 0;
    return;
  }
  const flow_issue *head = flow_station_head(e, SIM_CLASS_EXECUTE, 0);
  flow_time at = visible(head);
  if (head != NULL && head->command.insn == ISA_PRELOAD)
    at = flow_later(at, visible(flow_station_head(e, SIM_CLASS_EXECUTE, 1)));
  if (!flow_is_never(at)) at = flow_later(at, x->free_at);
  x->next = flow_earlier(at, idle_time(e));
  e->next[FLOW_EXECUTE] = flow_known_cycle(x->next);
}
