// SPDX-License-Identifier: Apache-2.0
// Execute unit: carries out config_ex, preload and compute, in order.
//
// Commands pass the preload unroller into a window whose first three entries are visible. An operation is
//   PRELOAD  a preload alone (D into the mesh; with the transposer in use, the compute's A or B too)
//   BOTH     a compute together with the preload behind it; it looks at the third command for hazards and transposing
//   COMPUTE  a compute alone
// All that it needs is put together in the cycle in which it starts; then operand_fetch walks its rows.
//
//   WAIT      nothing runs; the next operation starts here, so operations follow each other without a gap
//   COMPUTE   an operation runs, from its second cycle on
//   FLUSH     rows of zeros are to push results out: output-stationary with nothing to do, or a config is waiting
//   FLUSHING  they are being fed
//
// Completion: a compute when its last row has fired, a preload when the last row of C is written (C garbage: when its
// last row has fired), a config at once. One per cycle: products first, then computes, then preloads without C. The
// completion port is always ready for the execute unit.
#include "sim/cycle/execute_controller.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/isa_fields.h"
#include "sim/cycle/operand_fetch.h"
#include "sim/cycle/skip/feed.h"
#include "sim/cycle/skip/fetch.h"

enum {
  EXECUTE_COMMAND_WAIT = CYCLE_WORKING + 1,
  EXECUTE_HAZARD_WAIT,
  EXECUTE_PRODUCTS_WAIT,
  EXECUTE_CONFIG_WAIT,
  EXECUTE_BANK_WAIT,
  EXECUTE_MESH_WAIT,
  EXECUTE_COMPLETION_WAIT,
  EXECUTE_FLUSHES,
};
const char *const cycle_execute_causes[CYCLE_CAUSES] = {[CYCLE_IDLE] = "idle",
                                                        [CYCLE_WORKING] = "working",
                                                        [EXECUTE_COMMAND_WAIT] = "next command",
                                                        [EXECUTE_HAZARD_WAIT] = "operand being computed",
                                                        [EXECUTE_PRODUCTS_WAIT] = "products in flight",
                                                        [EXECUTE_CONFIG_WAIT] = "configuration",
                                                        [EXECUTE_BANK_WAIT] = "operand bank",
                                                        [EXECUTE_MESH_WAIT] = "mesh",
                                                        [EXECUTE_COMPLETION_WAIT] = "completion port",
                                                        [EXECUTE_FLUSHES] = "flush"};

#define A_BIT (1U << CYCLE_MESH_A)
#define B_BIT (1U << CYCLE_MESH_B)
#define D_BIT (1U << CYCLE_MESH_D)

// ---- life

static uint32_t mask_of_bits(uint32_t bits) { return (uint32_t)((UINT64_C(1) << bits) - 1); }

static void take_parameters(const cycle_engine *c, cycle_execute *x) {
  const hw_array *a = c->array;
  uint32_t count_bits = 1;
  while ((UINT32_C(1) << count_bits) < c->d.dim + 1) count_bits++;
  x->dim = c->d.dim;
  x->min_rows = x->dim < 4 ? x->dim : 4;
  x->row_mask = mask_of_bits(c->d.row_bits);
  x->sp_mask = c->d.sp_rows - 1;
  x->acc_mask = c->d.acc_rows - 1;
  x->count_mask = mask_of_bits(count_bits);
  x->garbage =
      ISA_LOCAL_ACCUMULATOR_MASK | ISA_LOCAL_ACCUMULATE_MASK | ISA_LOCAL_FULL_MASK | mask_of_bits(c->d.row_bits + 1);
  x->both_dataflows = a->mesh.dataflow == HW_DATAFLOW_BOTH;
  x->os = a->mesh.dataflow != HW_DATAFLOW_WS;
  x->transposer = a->units.transposer;
  x->has_activation = a->units.activation;
  x->bias_garbage = a->mesh.bias_garbage;
  x->reads_acc = a->accumulator.execute_reads;
  x->writes_sp = a->scratchpad.execute_writes;
  x->writes_acc = a->accumulator.execute_writes;
  x->raw_possible = x->reads_acc || x->writes_sp;
  x->control_depth = a->scratchpad.read_delay + 1;
  x->sp_latency = a->scratchpad.read_pipeline == HW_READ_PIPELINE_FIXED ? x->control_depth : 2;
  x->hazards.limit = c->d.max_matmuls + 4;
  x->unroller.splits = x->transposer && a->mesh.dataflow != HW_DATAFLOW_OS;
  assert(x->control_depth <= CYCLE_EXECUTE_CONTROL && x->hazards.limit < CYCLE_EXECUTE_HAZARDS);
}

// Operations whose rows are not all in the mesh: one being fetched, one being fed, at most one per entry between them.
static void create_operations(cycle_engine *c, cycle_execute *x) {
  uint32_t ops = 1;
  while (ops < x->control_depth + 3) ops *= 2;
  x->ops = WF_NEW_ARRAY(ops, cycle_execute_operation);
  x->ops_mask = (uint8_t)(ops - 1);
  if (!c->data) return;
  x->mesh.data =
      cycle_mesh_data_create(x->dim, c->array->types.output_bits, CYCLE_EXECUTE_OPERANDS * ops, x->mesh.limit);
  for (uint32_t n = 0; n < ops; n++)
    for (uint32_t o = 0; o < CYCLE_EXECUTE_OPERANDS; o++)
      x->ops[n].tile[o] = cycle_mesh_data_tile(x->mesh.data, n * CYCLE_EXECUTE_OPERANDS + o);
}

static void set_via(cycle_execute *x) {
  bool via_a = x->os ? !x->a_transpose : x->a_transpose;
  x->via = !x->transposer ? 0 : (uint8_t)(via_a * A_BIT | (x->b_transpose ? (x->os ? B_BIT : D_BIT) : 0));
}

void cycle_execute_create(cycle_engine *c) {
  cycle_execute *x = c->execute = WF_NEW(cycle_execute);
  take_parameters(c, x);
  set_via(x);
  cycle_execute_window_init(&x->window, c->array->execute.queue);
  cycle_execute_window_init(&x->unroller.window, 2);
  cycle_mesh_with_delays_create(c, &x->mesh);
  create_operations(c, x);
}

void cycle_execute_destroy(cycle_engine *c) {
  cycle_execute *x = c->execute;
  if (x == NULL) return;
  cycle_mesh_data_destroy(x->mesh.data);
  cycle_mesh_with_delays_destroy(&x->mesh);
  wf_free(x->unroller.window.entries);
  wf_free(x->window.entries);
  wf_free(x->ops);
  wf_free(x);
  c->execute = NULL;
}

// ---- commands at the heads of the window

static bool is_compute(isa_id insn) { return insn == ISA_COMPUTE_PRELOADED || insn == ISA_COMPUTE_ACCUMULATED; }

static bool is_garbage(const cycle_execute *x, uint64_t word) { return (word & x->garbage) == x->garbage; }

// Rows and columns of an operand word; every command has them in the same place.
static uint8_t rows_of(const cycle_execute *x, uint64_t word, bool transposed) {
  uint64_t count = transposed ? isa_get_preload_cols(word, 0) : isa_get_preload_rows(word, 0);
  return (uint8_t)(count & x->count_mask);
}

static bool in_acc(uint64_t word) { return isa_local_accumulator((uint32_t)word) != 0; }

// The preload of the operation that could start, and the compute behind it (NULL: not there).
typedef struct candidate {
  const cycle_execute_command *first, *preload, *next;
  bool empty;  // first is the empty compute of a split
} candidate;

static candidate look(const cycle_execute *x) {
  const cycle_execute_window *w = &x->window;
  candidate k = {.first = cycle_execute_window_head(w, 0)};
  bool preloads = k.first->insn == ISA_PRELOAD;
  k.preload = preloads ? k.first : cycle_execute_window_head(w, 1);
  uint32_t place = preloads ? 1 : 2;
  k.next = w->count > place ? cycle_execute_window_head(w, place) : NULL;
  k.empty = is_compute(k.first->insn) && !k.first->id_valid;
  return k;
}

// ---- hazards: the preload's operand and both of the compute behind it

static bool word_hit(const cycle_execute *x, uint64_t now, uint64_t word, uint8_t rows, uint32_t stride) {
  if (is_garbage(x, word)) return false;
  cycle_hazard_entry query = {.acc = in_acc(word)};
  query.rows = cycle_execute_row_range(x->row_mask, (uint32_t)word & x->row_mask, rows, stride);
  return cycle_execute_hazards_hit(&x->hazards, now, &query);
}

static bool hazard(const cycle_execute *x, uint64_t now, const candidate *k) {
  if (!x->raw_possible || cycle_execute_hazards_count(&x->hazards, now) == 0) return false;
  bool b_exchanged = x->os && x->b_transpose, d_exchanged = !x->os && x->b_transpose;
  uint64_t a = k->next->rs1, b = k->next->rs2, d = k->preload->rs1;
  return word_hit(x, now, a, rows_of(x, a, x->a_transpose), x->a_stride) ||
         word_hit(x, now, b, rows_of(x, b, b_exchanged), 1) || word_hit(x, now, d, rows_of(x, d, d_exchanged), 1);
}

static void push_product(cycle_execute *x, const cycle_execute_operation *op) {
  cycle_hazard_entry entry = {.acc = op->tag.acc};
  entry.rows = cycle_execute_row_range(x->row_mask, op->tag.base, op->tag.rows, x->os ? 1 : x->c_stride);
  cycle_execute_hazards_push(&x->hazards, &entry);
}

// ---- starting an operation

static void set_operand(const cycle_execute *x, cycle_execute_operation *op, unsigned o, uint64_t word, bool transposed,
                        uint32_t base[3]) {
  uint8_t rows = rows_of(x, word, transposed);
  op->rows[o] = rows < x->dim ? rows : (uint8_t)x->dim;
  op->cols[o] = rows_of(x, word, !transposed);
  op->acc |= (uint8_t)(in_acc(word) << o);
  base[o] = (uint32_t)word & x->row_mask;
}

static cycle_execute_tag tag_of(const cycle_execute *x, const cycle_execute_command *preload) {
  uint64_t word = preload->rs2;
  return (cycle_execute_tag){.base = (uint32_t)word & x->row_mask,
                             .id = preload->id,
                             .valid = !is_garbage(x, word),
                             .acc = in_acc(word),
                             .accumulate = isa_local_accumulate((uint32_t)word) != 0,
                             .rows = rows_of(x, word, false),
                             .cols = rows_of(x, word, true)};
}

static uint8_t most(uint8_t a, uint8_t b) { return a > b ? a : b; }

// Operations that load no weights and use no transposer are as short as their operands.
static uint8_t total_rows(const cycle_execute *x, const cycle_execute_operation *op, unsigned present, bool next_swaps,
                          uint8_t a_rows, uint8_t b_rows) {
  uint8_t dim = (uint8_t)x->dim, total = (uint8_t)x->min_rows;
  if (x->os || (x->via & (A_BIT | D_BIT)) != 0 || (op->read & D_BIT) != 0) return dim;
  if ((present & D_BIT) != 0 && next_swaps) return dim;
  if ((present & A_BIT) != 0) total = most(most(total, a_rows), x->product_rows);
  if ((op->read & B_BIT) != 0) total = most(total, b_rows);
  return total < dim ? total : dim;
}

static unsigned operands_present(const cycle_execute *x, cycle_execute_op_kind kind) {
  unsigned ahead = x->via & (A_BIT | B_BIT);
  return kind == CYCLE_OP_BOTH      ? CYCLE_EXECUTE_ALL
         : kind == CYCLE_OP_PRELOAD ? D_BIT | ahead
                                    : (A_BIT | B_BIT) & ~ahead;
}

static unsigned operands_garbage(const cycle_execute *x, const candidate *k, uint64_t a, uint64_t b) {
  bool a_garbage = is_garbage(x, a) || k->empty;
  bool b_garbage = is_garbage(x, b) || k->empty || (x->bias_garbage && !x->os);
  bool d_garbage = is_garbage(x, k->preload->rs1) || (x->bias_garbage && x->os);
  return a_garbage * A_BIT | b_garbage * B_BIT | d_garbage * D_BIT;
}

// The compute behind the preload feeds the transposer ahead of its own operation.
static void start(cycle_engine *c, cycle_execute *x, cycle_execute_op_kind kind, const candidate *k) {
  x->op_slot = (uint8_t)((x->op_slot + 1) & x->ops_mask);
  cycle_execute_operation *op = &x->ops[x->op_slot];
  bool preloads = kind == CYCLE_OP_PRELOAD;
  static const cycle_execute_command none = {0};
  const cycle_execute_command *next = k->next != NULL ? k->next : &none;
  uint64_t a = preloads || (x->via & A_BIT) != 0 ? next->rs1 : k->first->rs1;
  uint64_t b = preloads || (x->via & B_BIT) != 0 ? next->rs2 : k->first->rs2;
  unsigned present = operands_present(x, kind);
  uint32_t base[3];
  op->kind = (uint8_t)kind;
  op->acc = 0;
  set_operand(x, op, CYCLE_MESH_A, a, x->a_transpose, base);
  set_operand(x, op, CYCLE_MESH_B, b, x->os && x->b_transpose, base);
  set_operand(x, op, CYCLE_MESH_D, k->preload->rs1, !x->os && x->b_transpose, base);
  op->read =
      (uint8_t)(present & ~operands_garbage(x, k, a, b) & (x->reads_acc ? CYCLE_EXECUTE_ALL : ~(unsigned)op->acc));
  op->tag = (cycle_execute_tag){0};
  if (kind != CYCLE_OP_COMPUTE) op->tag = tag_of(x, k->preload);
  bool next_swaps = k->next == NULL || k->next->insn == ISA_COMPUTE_PRELOADED;
  op->total =
      total_rows(x, op, present, next_swaps, rows_of(x, a, x->a_transpose), rows_of(x, b, x->os && x->b_transpose));
  op->os = x->os;
  op->shift = x->shift;
  op->via = x->via;
  op->swaps = preloads ? x->flush_swaps : k->first->insn == ISA_COMPUTE_PRELOADED;
  if (op->tag.valid) push_product(x, op);
  x->ops_open++;
  assert(x->ops_open <= x->ops_mask);
  cycle_operand_fetch_begin(c, x, op, base);
  if ((op->read & A_BIT) != 0) c->macs += (uint64_t)op->rows[CYCLE_MESH_A] * op->cols[CYCLE_MESH_A] * x->dim;
}

static void configure(cycle_execute *x, const cycle_execute_command *k) {
  uint64_t rs1 = k->rs1, rs2 = k->rs2;
  x->a_stride = (uint32_t)isa_get_config_ex_a_stride(rs1, rs2);
  x->c_stride = (uint32_t)isa_get_config_ex_c_stride(rs1, rs2);
  if (isa_get_config_ex_strides_only(rs1, rs2) != 0) return;
  if (x->both_dataflows) x->os = isa_get_config_ex_dataflow(rs1, rs2) == ISA_CONFIG_EX_DATAFLOW_OS;
  x->shift = isa_get_config_ex_in_shift(rs1, rs2) & 31;
  x->activation = isa_get_config_ex_activation(rs1, rs2) & 3;
  x->scale = (uint32_t)isa_get_config_ex_acc_scale(rs1, rs2);
  x->a_transpose = isa_get_config_ex_a_transpose(rs1, rs2) != 0;
  x->b_transpose = isa_get_config_ex_b_transpose(rs1, rs2) != 0;
  set_via(x);
}

// ---- control

// What a cycle in WAIT leads to.
typedef struct decision {
  cycle_execute_op_kind starts;
  bool configures;  // if no completion is to be reported
  unsigned cause;   // of the wait
} decision;

static decision decide_preload(const cycle_execute *x, uint64_t now, const candidate *k) {
  if (k->next == NULL) return (decision){.cause = EXECUTE_COMMAND_WAIT};
  if (hazard(x, now, k)) return (decision){.cause = EXECUTE_HAZARD_WAIT};
  if (cycle_execute_hazards_count(&x->hazards, now) == x->hazards.limit)
    return (decision){.cause = EXECUTE_PRODUCTS_WAIT};
  return (decision){.starts = CYCLE_OP_PRELOAD};
}

static decision decide_compute(const cycle_execute *x, uint64_t now, const candidate *k) {
  bool looks_ahead = x->raw_possible || x->os || (x->via & (A_BIT | B_BIT)) != 0;
  bool preload = x->window.count > 1 && k->preload->insn == ISA_PRELOAD;
  bool full = cycle_execute_hazards_count(&x->hazards, now) == x->hazards.limit;
  if (preload && !full && (k->next != NULL ? !hazard(x, now, k) : !looks_ahead))
    return (decision){.starts = CYCLE_OP_BOTH};
  if (!k->empty) return (decision){.starts = CYCLE_OP_COMPUTE};
  return (decision){.cause = full ? EXECUTE_PRODUCTS_WAIT : k->next ? EXECUTE_HAZARD_WAIT : EXECUTE_COMMAND_WAIT};
}

static decision decide(const cycle_execute *x, uint64_t now) {
  if (x->window.count == 0) return (decision){.cause = CYCLE_IDLE};
  candidate k = look(x);
  if (k.first->insn == ISA_PRELOAD) return decide_preload(x, now, &k);
  if (k.first->insn != ISA_CONFIG_EX) return decide_compute(x, now, &k);
  return (decision){.configures = cycle_execute_hazards_count(&x->hazards, now) == 0, .cause = EXECUTE_CONFIG_WAIT};
}

// ---- completion

// Reports a product or one of the pending completions; true if none of these is left.
static bool report_completion(cycle_engine *c, cycle_execute *x) {
  cycle_done *done = &c->w.done[SIM_CLASS_EXECUTE];
  if (c->w.product_done) {
    *done = (cycle_done){true, c->w.product_id};
  } else if (x->pending != 0) {
    *done = (cycle_done){true, x->pending_id[(x->pending & 1) == 0]};
    x->pending = (x->pending & 1) != 0 ? x->pending & 2 : 0;
  }
  return x->pending == 0;
}

// The last row of the operation has fired.
static void finish(cycle_execute *x, uint64_t now) {
  const cycle_execute_operation *op = &x->ops[x->op_slot];
  const cycle_execute_command *first = cycle_execute_window_head(&x->window, 0),
                              *second = cycle_execute_window_head(&x->window, 1);
  bool garbage = !op->tag.valid;
  x->pending = (uint8_t)(first->id_valid && (op->kind != CYCLE_OP_PRELOAD || garbage));
  if (op->kind == CYCLE_OP_BOTH && second->id_valid && garbage) x->pending |= 2;
  x->pending_id[0] = first->id;
  x->pending_id[1] = second->id;
  if (op->kind != CYCLE_OP_COMPUTE) {
    x->product_rows = op->tag.valid ? op->tag.rows : 0;
    if (x->os) x->flush_swaps = op->tag.valid;
  }
  cycle_execute_window_pop(&x->window, now, op->kind == CYCLE_OP_BOTH ? 2 : 1);
  x->state = CYCLE_EXECUTE_WAIT;
}

// ---- the cycle

bool cycle_execute_solitary_preload(const cycle_engine *c) {
  const cycle_execute *x = c->execute;
  if (x->window.count == 0) return cycle_preload_unroller_waiting(&x->unroller);
  return x->window.count == 1 && cycle_execute_window_head(&x->window, 0)->insn == ISA_PRELOAD;
}

bool cycle_execute_busy(const cycle_engine *c, uint64_t now) {
  const cycle_execute *x = c->execute;
  return x->window.count != 0 || cycle_execute_hazards_count(&x->hazards, now) != 0;
}

// Registers of this cycle, and what would start.
static void set_events(cycle_engine *c, uint64_t now, const cycle_execute *x) {
  const uint32_t count = x->window.count;
  c->w.solitary_preload = cycle_execute_solitary_preload(c);
  bool active =
      x->state == CYCLE_EXECUTE_COMPUTE || (x->state == CYCLE_EXECUTE_WAIT && decide(x, now).starts != CYCLE_OP_NONE);
  if (x->state == CYCLE_EXECUTE_COMPUTE) cycle_event(c, ISA_EVENT_EXECUTE_ACTIVE);
  if (x->state == CYCLE_EXECUTE_FLUSH || x->state == CYCLE_EXECUTE_FLUSHING) cycle_event(c, ISA_EVENT_EXECUTE_FLUSH);
  if (active && x->control_count == x->control_depth) cycle_event(c, ISA_EVENT_EXECUTE_CONTROL_BLOCK);
  if (cycle_preload_unroller_active(&x->unroller)) cycle_event(c, ISA_EVENT_UNROLLER_ACTIVE);
  if (count < 2) return;
  candidate k = look(x);
  bool preload0 = k.first->insn == ISA_PRELOAD;
  bool both = count >= 3 && is_compute(k.first->insn) && k.preload->insn == ISA_PRELOAD;
  if (preload0 && hazard(x, now, &k)) cycle_event(c, ISA_EVENT_EXECUTE_PRELOAD_HAZARD);
  if (both && hazard(x, now, &k)) cycle_event(c, ISA_EVENT_EXECUTE_OVERLAP_HAZARD);
}

// One cycle of the running operation; returns the cause that it stands for.
static unsigned run(cycle_engine *c, uint64_t now, cycle_execute *x, bool reported, bool *changed) {
  cycle_execute_operation *op = &x->ops[x->op_slot];
  if (x->control_count == x->control_depth) return EXECUTE_MESH_WAIT;
  if (!reported && x->row + 1 == op->total) return EXECUTE_COMPLETION_WAIT;
  if (cycle_operand_fetch_step(c, now, x, op) == 0) return EXECUTE_BANK_WAIT;
  if (x->row == op->total) finish(x, now);
  *changed = true;
  return CYCLE_WORKING;
}

static void configure_step(cycle_engine *c, uint64_t now, cycle_execute *x) {
  const cycle_execute_command *first = cycle_execute_window_head(&x->window, 0);
  c->w.done[SIM_CLASS_EXECUTE] = (cycle_done){true, first->id};
  configure(x, first);
  cycle_execute_window_pop(&x->window, now, 1);
}

// A cycle in WAIT; returns the cause that it stands for.
static unsigned wait_step(cycle_engine *c, uint64_t now, cycle_execute *x, bool pending, bool reported, bool *changed) {
  decision d = decide(x, now);
  if (d.starts != CYCLE_OP_NONE) {
    candidate k = look(x);
    start(c, x, d.starts, &k);
    x->state = CYCLE_EXECUTE_COMPUTE;
    *changed = true;
    return run(c, now, x, reported, changed);
  }
  if (d.configures && !pending) {
    configure_step(c, now, x);
    *changed = true;
    return CYCLE_WORKING;
  }
  if (cycle_execute_hazards_count(&x->hazards, now) != 0 && (x->os || d.cause == EXECUTE_CONFIG_WAIT)) {
    x->state = CYCLE_EXECUTE_FLUSH;
    *changed = true;
  }
  return d.cause;
}

static unsigned flush_step(cycle_execute *x, bool *changed) {
  uint8_t state = x->state;
  if (state == CYCLE_EXECUTE_FLUSH && x->mesh.flush_taken) {
    x->state = CYCLE_EXECUTE_FLUSHING;
    x->mesh.flush_taken = false;
  }
  if (state == CYCLE_EXECUTE_FLUSHING && x->mesh.ready) x->state = CYCLE_EXECUTE_WAIT;
  *changed |= x->state != state;
  return EXECUTE_FLUSHES;
}

// A completion or a command may move in the next cycle.
static bool moves_on(const cycle_execute *x) {
  const cycle_execute_window *waiting = &x->unroller.window;
  return x->pending != 0 ||
         (waiting->count != 0 && x->window.count < x->window.depth && !cycle_preload_unroller_waiting(&x->unroller));
}

// A command has left the unroller, whose room is seen in the next cycle.
static void note_room(cycle_execute *x, uint64_t now) {
  if (x->ready_at == CYCLE_NEVER && x->unroller.window.count < x->unroller.window.depth) x->ready_at = now + 1;
}

static void unroll(cycle_execute *x, uint64_t now) {
  if (x->unroller.window.count == 0 || !cycle_execute_window_room(&x->window, now)) return;
  cycle_preload_unroller_step(&x->unroller, now, &x->window, x->both_dataflows);
  note_room(x, now);
}

// What other units see of it: room for commands, reads of the accumulator.
static bool seen(const cycle_engine *c, uint64_t now, const cycle_execute *x) {
  return x->ready_at == now + 1 || c->w.acc_asked != 0;
}

// A cycle of a stream: rows move by themselves.
static void step_beside_stream(cycle_engine *c, uint64_t now, cycle_execute *x) {
  report_completion(c, x);
  unroll(x, now);
  c->wake[CYCLE_EXECUTE] = moves_on(x) ? now + 1 : x->stream_until;
}

static void whole_step(cycle_engine *c, uint64_t now, cycle_execute *x) {
  bool pending = x->pending != 0, changed = pending, os = x->os;
  unsigned cause;
  if (c->counting) set_events(c, now, x);
  bool reported = report_completion(c, x);
  if (x->state == CYCLE_EXECUTE_COMPUTE)
    cause = run(c, now, x, reported, &changed);
  else if (x->state == CYCLE_EXECUTE_WAIT)
    cause = wait_step(c, now, x, pending, reported, &changed);
  else
    cause = flush_step(x, &changed);
  unroll(x, now);
  // A register: an operation that starts in the cycle after a change of dataflow still sees it.
  if (!os) x->flush_swaps = false;
  cycle_spend(c, now, CYCLE_EXECUTE, cause);
  bool waits = !changed && x->state == CYCLE_EXECUTE_WAIT && !moves_on(x) && x->hazards.popped_at != now + 1 &&
               x->window.pushed_at != now + 1;
  c->wake[CYCLE_EXECUTE] = waits ? CYCLE_NEVER : now + 1;
}

// Entries that the mesh does not know of, or must not sleep over.
static void wake_mesh(cycle_engine *c, uint64_t now, cycle_execute *x) {
  bool flushes = x->state == CYCLE_EXECUTE_FLUSH || x->state == CYCLE_EXECUTE_FLUSHING;
  if (x->control_uneven != 0 || flushes) cycle_feed_leave(c, now + 1);
  if ((x->control_count != 0 || flushes) && c->wake[CYCLE_MESH] == CYCLE_NEVER) c->wake[CYCLE_MESH] = now + 1;
}

bool cycle_execute_step(cycle_engine *c, uint64_t now) {
  cycle_execute *x = c->execute;
  if (x->streams && now < x->stream_until) {
    step_beside_stream(c, now, x);
    return seen(c, now, x);
  }
  cycle_fetch_catch_up(c, now);
  cycle_feed_catch_up(c, x->control_count >= x->control_depth ? now + 1 : now);
  if (x->streams) c->execute_until = now;
  x->streams = false;
  whole_step(c, now, x);
  wake_mesh(c, now, x);
  bool fired = c->execute_until == now + 1;  // a plain step, as those of the stream will
  if (fired && x->state == CYCLE_EXECUTE_COMPUTE && cycle_fetch_enter(c, now + 1) && !moves_on(x))
    c->wake[CYCLE_EXECUTE] = x->stream_until;
  return seen(c, now, x);
}

uint64_t cycle_execute_ready_at(const cycle_engine *c) {
  const cycle_execute *x = c->execute;
  return x->ready_at > x->taken ? x->ready_at : x->taken;
}

bool cycle_execute_ready(const cycle_engine *c, uint64_t now) { return now >= cycle_execute_ready_at(c); }

void cycle_execute_take(cycle_engine *c, uint64_t now, const cycle_issue *command) {
  cycle_execute *x = c->execute;
  cycle_execute_command taken = {
      .rs1 = command->rs1, .rs2 = command->rs2, .insn = command->insn, .id = command->id, .id_valid = true};
  x->taken = now + 1;
  cycle_execute_window_push(&x->unroller.window, now, &taken);
  if (x->unroller.window.count == x->unroller.window.depth) x->ready_at = CYCLE_NEVER;
  if (moves_on(x) && c->wake[CYCLE_EXECUTE] > now + 1) c->wake[CYCLE_EXECUTE] = now + 1;
}
