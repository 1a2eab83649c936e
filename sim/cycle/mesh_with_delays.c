// The mesh with what is around it: row buffers, the rows on their way through it, and the queues that tell which
// product a result row belongs to. The arithmetic stands in mesh.c.
//
// A request announces a product of `total` rows; its rows of A, B and D follow, the first together with the request. A
// row is fed when all three operands of it are in the buffers; a flush feeds dim rows of zeros. A row fed in cycle t
// leaves in t + latency, never held up. The tag of request n is handed out with the rows of request n + 1 when n is
// weight-stationary and with those of n + 2 when it is output-stationary; flushes carry tags but have none.
//
// In a cycle: what is in the buffers is fed; then the head of the control queue is taken if its rows are there, its
// buffers are free and, with the first row of an operation, a request is possible; without an entry a flush is.
// Invariant: at most tags_limit tags are outstanding.
#include "sim/cycle/execute.h"

enum { MESH_OPERANDS_WAIT = CYCLE_WORKING + 1, MESH_PRODUCTS_WAIT, MESH_FLUSHES, MESH_DRAINS };
const char *const cycle_mesh_causes[CYCLE_CAUSES] = {[CYCLE_IDLE] = "idle",
                                                     [CYCLE_WORKING] = "working",
                                                     [MESH_OPERANDS_WAIT] = "operands",
                                                     [MESH_PRODUCTS_WAIT] = "products in flight",
                                                     [MESH_FLUSHES] = "flush",
                                                     [MESH_DRAINS] = "results on their way"};

enum { EVENT_SP_WAIT = 29, EVENT_ACC_WAIT = 32, EVENT_GARBAGE = 35 };

// ---- life

static uint32_t power_of_two(uint32_t least) {
  uint32_t slots = 1;
  while (slots < least) slots *= 2;
  return slots;
}

void mesh_with_delays_create(cycle_engine *c, execute_mesh *m) {
  uint32_t step = c->array->mesh.tile_latency + 1;
  *m = (execute_mesh){.total = (uint8_t)c->d.dim, .next_leaves = CYCLE_NEVER, .tags_limit = c->d.max_matmuls + 1};
  m->latency = (uint64_t)(c->array->mesh.rows + c->array->mesh.columns - 1) * step + c->array->mesh.output_delay;
  m->sub_mask = c->array->accumulator.sub_banks - 1;
  m->limit = m->tags_limit + (uint32_t)m->latency / c->d.dim + 3;
  uint32_t slots = power_of_two(m->limit), runs = power_of_two((uint32_t)m->latency + 1);
  m->requests = WF_NEW_ARRAY(slots, mesh_request);
  m->mask = slots - 1;
  m->runs = WF_NEW_ARRAY(runs, mesh_run);
  m->run_mask = runs - 1;
}

void mesh_with_delays_destroy(execute_mesh *m) {
  wf_free(m->requests);
  wf_free(m->runs);
}

// ---- rows in the mesh

static inline void row_enters(cycle_engine *c, execute_mesh *m) {
  uint64_t leaves = c->now + m->latency;
  mesh_run *last = &m->runs[(m->run_head + m->run_count - 1) & m->run_mask];
  if (m->run_count != 0 && last->first + last->count == leaves) {
    last->count++;
    return;
  }
  assert(m->run_count <= m->run_mask);
  if (m->run_count == 0) c->wake[CYCLE_WRITEBACK] = m->next_leaves = leaves;
  m->runs[(m->run_head + m->run_count++) & m->run_mask] = (mesh_run){.first = leaves, .count = 1};
}

// ---- requests

// Registers of the start of the cycle: what left in this cycle still counts.
static bool room_for_request(const execute_mesh *m, uint64_t now) {
  bool left = m->left_at == now + 1;
  return m->tags + (left && m->left_held) != m->tags_limit && m->count + left != m->limit;
}

// The request of this cycle; `op` is NULL for a flush.
static void take_request(cycle_execute *x, const execute_operation *op, uint8_t slot) {
  execute_mesh *m = &x->mesh;
  bool ws_before = m->before && !m->before_os;
  m->feeding = (m->head + m->count++) & m->mask;
  m->requests[m->feeding] = (mesh_request){.tag = ws_before ? m->before_tag : m->older_tag,
                                           .holds = ws_before || m->older,
                                           .total = op == NULL ? (uint8_t)x->dim : op->total,
                                           .result = MESH_NO_RESULT};
  m->requests[m->feeding].tag.valid &= m->requests[m->feeding].holds;
  // Only after a change of dataflow are both there; the older names no product then.
  m->tags += (op != NULL) - (uint32_t)(ws_before && m->older);
  m->older = m->before && m->before_os;
  m->older_tag = m->before_tag;
  m->before = op != NULL;
  m->before_os = op == NULL ? x->os : op->os;
  if (op != NULL) m->before_tag = op->tag;
  m->busy = true;
  m->flush = op == NULL;
  m->fed = 0;
  m->total = m->requests[m->feeding].total;
  m->op = slot;
  m->os = m->before_os;
  m->propagate = op == NULL ? x->flush_swaps : op->swaps;
  m->shift = op == NULL ? x->shift : op->shift;
  m->via = op == NULL ? x->via : op->via;
}

// ---- rows that are fed

static uint8_t rows_in_tile(const cycle_execute *x, const execute_operation *op, unsigned o) {
  if ((op->read >> o & 1) == 0 || op->cols[o] == 0) return 0;
  uint8_t most = o == MESH_D ? (uint8_t)x->dim : op->total;
  return op->rows[o] < most ? op->rows[o] : most;
}

static void begin_data(cycle_execute *x) {
  execute_mesh *m = &x->mesh;
  mesh_request *r = &m->requests[m->feeding];
  bool wanted = r->tag.valid;
  mesh_feed feed = {.os = m->os, .swap = m->propagate, .shift = m->shift, .via = m->via, .total = m->total};
  if (wanted) feed.wanted = r->tag.rows < m->total ? r->tag.rows : m->total;
  if (!m->flush) {
    execute_operation *op = &x->ops[m->op];
    for (unsigned o = 0; o < EXECUTE_OPERANDS; o++) feed.rows[o] = rows_in_tile(x, op, o);
    feed.tile = op->tile;
  }
  r->result = mesh_data_begin(m->data, &feed);
}

// row_spacing: with a single-ported accumulator a result that is added takes two accesses to its sub-bank, and must not
// be followed by another row to the same one. The row that would push that out is held for a cycle. False: it goes
// elsewhere.
static bool visits_sub_bank(const cycle_execute *x, uint32_t *sub) {
  const execute_mesh *m = &x->mesh;
  const mesh_request *r = &m->requests[m->feeding];
  uint32_t last = m->total - 1U, index = x->os ? last - m->fed : m->fed, offset = m->fed * x->c_stride;
  *sub = (r->tag.base + (x->os ? last - offset : offset)) & m->sub_mask;
  return r->tag.valid && r->tag.acc && index < r->tag.rows;
}

static bool row_held(const cycle_execute *x, uint64_t now) {
  const execute_mesh *m = &x->mesh;
  uint32_t sub;
  if (m->visited_at != now || !visits_sub_bank(x, &sub) || sub != m->visited_sub) return false;
  return m->requests[m->feeding].tag.accumulate || m->visited_adds;
}

static void note_visit(execute_mesh *m, const cycle_execute *x, uint64_t now) {
  if (!visits_sub_bank(x, &m->visited_sub)) return;
  m->visited_at = now + 1;
  m->visited_adds = m->requests[m->feeding].tag.accumulate;
}

static void feed_row(cycle_engine *c, cycle_execute *x, bool last) {
  execute_mesh *m = &x->mesh;
  row_enters(c, m);
  if (m->fed == 0 && c->data) begin_data(x);
  if (m->sub_mask != 0) note_visit(m, x, c->now);
  m->fed++;
  m->written = 0;
  if (!last) return;
  if (c->data) mesh_data_end(m->data);
  m->busy = false;
  if (!m->flush) x->ops_open--;
}

// ---- the cycle

// `free` are the operand buffers that have room.
static void count_waits(cycle_engine *c, const execute_operation *op, const execute_control *entry, unsigned waits,
                        bool taken) {
  unsigned garbage = taken ? entry->fire & (unsigned)~op->read : 0;
  c->ev.bits |= (uint64_t)(waits & ~op->acc & 7U) << EVENT_SP_WAIT | (uint64_t)(waits & op->acc) << EVENT_ACC_WAIT |
                (uint64_t)garbage << EVENT_GARBAGE;
}

// Takes the head of the control queue if it can be taken. `free` are the operand buffers that have room.
static bool take_entry(cycle_engine *c, cycle_execute *x, unsigned free, unsigned *cause) {
  execute_mesh *m = &x->mesh;
  const execute_control *entry = &x->control[x->control_head];
  unsigned missing = entry->ready <= c->now && entry->from_acc == 0 ? 0 : operand_select_missing(c, x);
  bool takes = missing == 0 && (entry->fire & ~free) == 0 && (!entry->first || m->ready);
  if (c->counting) count_waits(c, &x->ops[entry->op], entry, missing & free, takes);
  if (!takes) {
    *cause = missing != 0 ? MESH_OPERANDS_WAIT : MESH_PRODUCTS_WAIT;
    return false;
  }
  if (entry->from_acc != 0) operand_select_take(c, x);
  if (entry->first) take_request(x, &x->ops[entry->op], entry->op);
  m->written |= entry->fire;
  x->control_head = (x->control_head + 1) % EXECUTE_CONTROL;
  x->control_count--;
  return true;
}

static unsigned cause_without_entry(const execute_mesh *m, bool fed) {
  if (fed) return m->flush ? MESH_FLUSHES : CYCLE_WORKING;
  if (m->busy) return MESH_OPERANDS_WAIT;
  return m->run_count != 0 ? MESH_DRAINS : CYCLE_IDLE;
}

static bool flushes(const cycle_execute *x) { return x->state == STATE_FLUSH || x->state == STATE_FLUSHING; }

// A row that is neither the first nor the last of its operation is fed and the next one taken: what most cycles are.
// False: it is not such a cycle, nothing was done.
static inline bool stream_row(cycle_engine *c, cycle_execute *x) {
  execute_mesh *m = &x->mesh;
  const execute_control *entry = &x->control[x->control_head];
  if (x->control_count == 0 || m->written != EXECUTE_ALL || m->fed == 0 || m->fed + 1 >= m->total) return false;
  if (entry->ready > c->now || entry->fire != EXECUTE_ALL || entry->from_acc != 0) return false;
  if (c->counting || m->sub_mask != 0) return false;
  assert(m->busy && !m->flush && !entry->first);
  row_enters(c, m);
  m->fed++;
  x->control_head = (x->control_head + 1) % EXECUTE_CONTROL;
  x->control_count--;
  return true;
}

static __attribute__((noinline)) bool whole_step(cycle_engine *c, cycle_execute *x) {
  execute_mesh *m = &x->mesh;
  bool entry = x->control_count != 0, changed = false;
  if (!m->busy && !entry && !flushes(x)) {
    c->wake[CYCLE_MESH] = CYCLE_NEVER;
    cycle_spend(c, CYCLE_MESH, m->run_count != 0 ? MESH_DRAINS : CYCLE_IDLE);
    return false;
  }
  bool feeds = m->busy && (m->flush || m->written == EXECUTE_ALL) && !row_held(x, c->now);
  bool last = feeds && m->fed + 1 == m->total;
  unsigned free = feeds ? EXECUTE_ALL : EXECUTE_ALL & ~m->written, cause = CYCLE_WORKING;
  m->ready = (!m->busy || last) && room_for_request(m, c->now);
  if (feeds) feed_row(c, x, last);
  if (!feeds || m->flush) cause = cause_without_entry(m, feeds);
  if (entry) {
    changed = take_entry(c, x, free, &cause);
  } else if (x->state == STATE_FLUSH && m->ready) {
    m->flush_taken = changed = true;
    take_request(x, NULL, 0);
  }
  cycle_spend(c, CYCLE_MESH, cause);
  c->wake[CYCLE_MESH] = m->busy || x->control_count != 0 || flushes(x) ? c->now + 1 : CYCLE_NEVER;
  return feeds || changed;
}

bool cycle_mesh_step(cycle_engine *c) {
  cycle_execute *x = c->execute;
  if (!stream_row(c, x)) return whole_step(c, x);
  cycle_spend(c, CYCLE_MESH, CYCLE_WORKING);
  c->wake[CYCLE_MESH] = c->now + 1;
  return true;
}
