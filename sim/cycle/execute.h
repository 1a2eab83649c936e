// Inside the execute unit: what execute_controller, preload_unroller, operand_fetch, operand_select, mesh_with_delays,
// execute_writeback and execute_hazards share. Vectors of three are A, B, D from element (and bit) 0 up.
//
// Order inside a cycle (weft_accel.h): writeback, mesh, execute. A register of the RTL that an earlier step of the same
// cycle has already changed is looked at through what it was: the hazards and the mesh's queues keep the cycle of their
// last pop, windows that of theirs.
//
// Streams (execute_stream.c). Most cycles do nothing but move a row: one step of a plain operation fires, one entry of
// the control queue is taken, one row is fed, one row of results is written. Such cycles are left out: the units sleep
// until something else can happen, and who wants to know a unit's state first carries out what was left out.
//   fetch      while x->streams: the steps of the cycles from x->fetch_at on, before x->stream_until; commands may be
//              in the window already that come to it in one of these cycles
//   mesh       while m->sleeps: the rows of the cycles from m->at on
//   writeback  rows whose time has come, as long as they need no cycle of their own (execute_stream.c: is_quiet)
#ifndef SIM_CYCLE_EXECUTE_H
#define SIM_CYCLE_EXECUTE_H

#include "sim/cycle/mesh.h"
#include "sim/cycle/weft_accel.h"

enum { CYCLE_MESH_OPERANDS = CYCLE_WORKING + 1 };  // a cause of the mesh's account
enum { EXECUTE_OPERANDS = 3, EXECUTE_ALL = 7, EXECUTE_CONTROL = 32, EXECUTE_HAZARDS = 128 };

// ---- weft_window: a queue whose first entries are all visible

typedef struct execute_command {
  uint64_t rs1, rs2;
  uint8_t funct, id;
  bool id_valid;
  uint64_t came;  // cycle in which it was pushed, or will be
} execute_command;

typedef struct execute_window {
  execute_command *entries;
  uint32_t mask, depth, head, count;
  uint32_t popped;  // in the cycle before popped_at
  uint64_t popped_at;
  uint64_t pushed_at;  // cycle of the last push + 1
} execute_window;

static inline void execute_window_init(execute_window *w, uint32_t depth) {
  uint32_t slots = 1;
  while (slots < depth) slots *= 2;
  *w = (execute_window){.entries = WF_NEW_ARRAY(slots, execute_command), .mask = slots - 1, .depth = depth};
}

static inline const execute_command *execute_window_head(const execute_window *w, uint32_t place) {
  return &w->entries[(w->head + place) & w->mask];
}

// in_ready does not depend on the pops of this cycle.
static inline bool execute_window_room(const execute_window *w, uint64_t now) {
  return w->count + (w->popped_at == now + 1 ? w->popped : 0) < w->depth;
}

static inline void execute_window_push(execute_window *w, uint64_t now, const execute_command *command) {
  w->pushed_at = now + 1;
  execute_command *entry = &w->entries[(w->head + w->count++) & w->mask];
  *entry = *command;
  entry->came = now;
}

// Entries at the start of this cycle.
static inline uint32_t execute_window_seen(const execute_window *w, uint64_t now) {
  uint32_t count = w->count;
  while (count != 0 && w->entries[(w->head + count - 1) & w->mask].came >= now) count--;
  return count;
}

static inline void execute_window_pop(execute_window *w, uint64_t now, uint32_t number) {
  assert(number <= w->count);
  w->head = (w->head + number) & w->mask;
  w->count -= number;
  w->popped = number;
  w->popped_at = now + 1;
}

// ---- row_range: first and last local row of a matrix; one that runs over the end is the whole memory

typedef struct execute_range {
  uint32_t first, last;
} execute_range;

static inline execute_range execute_row_range(uint32_t row_mask, uint32_t base, uint32_t rows, uint32_t stride) {
  uint64_t last = base + (uint64_t)(rows == 0 ? 0 : rows - 1) * stride;
  return last > row_mask ? (execute_range){0, row_mask} : (execute_range){base, (uint32_t)last};
}

// ---- preload_unroller

typedef struct preload_unroller {
  execute_window window;
  uint8_t state;
  bool b_transposed;
  bool splits;  // the array can transpose a stationary operand at all
} preload_unroller;

// Registers, before the step: a preload waits only for the command behind it; in the middle of a split.
bool preload_unroller_waiting(const preload_unroller *u);
bool preload_unroller_active(const preload_unroller *u);
// Hands at most one command to `out` if that has room; whether it did.
bool preload_unroller_step(preload_unroller *u, uint64_t now, execute_window *out, bool both_dataflows);

// ---- execute_hazards: destinations of products on their way

typedef struct hazard_entry {
  execute_range rows;
  bool acc;
} hazard_entry;

typedef struct execute_hazards {
  hazard_entry entries[EXECUTE_HAZARDS];
  uint32_t head, count, limit;
  uint32_t in_memory[2];  // entries in the scratchpad, in the accumulator
  bool popped_acc;
  uint64_t popped_at;  // cycle of the last pop + 1
} execute_hazards;

// Entries at the start of the cycle: writeback's pop of this cycle still counts.
static inline uint32_t execute_hazards_count(const execute_hazards *h, uint64_t now) {
  return h->count + (h->popped_at == now + 1);
}
void execute_hazards_push(execute_hazards *h, const hazard_entry *entry);
void execute_hazards_pop(execute_hazards *h, uint64_t now);
bool execute_hazards_hit(const execute_hazards *h, uint64_t now, const hazard_entry *query);

// ---- operations and the control queue

typedef enum { OP_NONE, OP_PRELOAD, OP_BOTH, OP_COMPUTE } execute_op_kind;

typedef struct execute_tag {
  uint32_t base;
  uint8_t id;
  bool valid;  // names a product
  bool acc, accumulate;
  uint8_t rows, cols;
} execute_tag;

// What fired in one cycle; `row` is the step of the walk, the same for all that fired together. Steps of a plain
// operation in consecutive cycles are one entry, of which only the first can be the first of the operation.
typedef struct execute_control {
  uint64_t ready;  // from this cycle on the scratchpad rows of the first step are there
  uint32_t steps;
  uint8_t op;
  bool first, uneven;             // uneven: not a step of a plain operation in which all fire
  uint8_t fire, waits, from_acc;  // `waits` have a row, `from_acc` out of the accumulator
  uint8_t row;
} execute_control;

// All that an operation needs from its start until its last row is in the mesh. Steps are those of the walk over its
// rows.
typedef struct execute_operation {
  // What every step of the walk needs. Plain: all operands that are read come from the scratchpad, each from one bank
  // and from another one. The steps before run_end: the same operands have a row, given in `control.waits`.
  bool plain;
  uint8_t total;
  uint8_t run_end;
  uint8_t rows_read;        // operands that have a row
  uint64_t all_banks;       // theirs
  execute_control control;  // of a step in which all fire together; ready: from the cycle of the step on
  int8_t *tile[3];          // rows as they were read, each cut to its columns; NULL in timing-only mode
  uint32_t first[3];        // row number in step 0
  uint32_t step[3];
  uint8_t rows[3], cols[3];  // as they lie in local memory, rows at most dim
  uint8_t kind;
  uint8_t read, acc, via;
  bool os, swaps;
  bool spread;  // a scratchpad operand crosses banks, so `banks` and `fires` change from step to step
  bool even;    // every operand that is read has a row in every step
  uint8_t shift;
  bool has_conflicts;        // `fires` is there
  uint8_t fires[8];          // which of the operands that wait fire; the others conflict with one of these
  uint64_t banks[3];         // scratchpad bank, as a mask; 0: not read from there
  uint8_t from[3], past[3];  // steps in which the operand has a row
  execute_tag tag;
} execute_operation;

// ---- mesh_with_delays

// A request whose rows are in the mesh, or will be.
typedef struct mesh_request {
  execute_tag tag;
  bool holds;  // a tag, whether it names a product or not; without one `tag` is not valid
  uint8_t total;
  uint8_t result;  // slot of its result rows, MESH_NO_RESULT: nobody wants them
} mesh_request;

// Rows that were fed in consecutive cycles; the first of them leaves at `first`.
typedef struct mesh_run {
  uint64_t first;
  uint64_t count;
} mesh_run;

typedef struct execute_mesh {
  // the request that is being fed
  bool busy, flush, propagate, os;
  bool sleeps;
  uint64_t at;
  uint8_t shift, via, total, fed, written, op;
  uint32_t feeding;  // its slot among the requests
  // a request is possible in this cycle (not kept up to date while rows stream); a flush was taken
  bool ready, flush_taken;
  // tags
  bool before, before_os, older;
  execute_tag before_tag, older_tag;
  uint32_t tags, tags_limit;
  // requests in the mesh
  mesh_request *requests;
  uint32_t head, count, mask, limit;
  uint32_t left;     // rows of the first that have left
  uint64_t left_at;  // cycle of the last pop + 1
  bool left_held;    // and whether it held a tag
  // row_spacing: the last row whose result goes to the accumulator, if it was fed in the cycle before
  uint32_t sub_mask;  // sub-banks - 1
  uint32_t visited_sub;
  uint64_t visited_at;  // its cycle + 1
  bool visited_adds;
  // rows in the mesh
  uint64_t latency;
  mesh_run *runs;
  uint32_t run_head, run_count, run_mask;
  uint64_t next_leaves;  // of the first run; CYCLE_NEVER: no row is in the mesh
  mesh_data *data;       // NULL in timing-only mode
} execute_mesh;

// ---- the unit

typedef enum { STATE_WAIT, STATE_COMPUTE, STATE_FLUSH, STATE_FLUSHING } execute_state;

typedef struct cycle_execute {
  // the operation that runs
  uint8_t state, op_slot;
  bool streams;
  uint64_t fetch_at, stream_until;
  uint8_t row, ahead;  // operands that have fired step `row`; the others stand before it
  uint8_t pending;     // completions to be reported: bit 0 a compute or a preload alone, bit 1 a preload
  uint8_t pending_id[2];
  bool flush_swaps;
  uint8_t product_rows;  // of C of the product that is computed next
  uint8_t ops_open;
  // configuration
  bool os, a_transpose, b_transpose;
  uint8_t shift, activation;
  uint8_t via;
  uint32_t scale;
  uint32_t a_stride, c_stride;
  // control queue: `control_count` steps in `control_entries` entries, of which `control_uneven` are uneven
  execute_control control[EXECUTE_CONTROL];
  uint8_t control_bank[EXECUTE_CONTROL][3];  // of accumulator operands
  uint32_t control_head, control_entries, control_count, control_uneven, control_depth;
  uint32_t sp_latency;  // from the read of a scratchpad row until it is there
  // constants
  uint32_t dim, min_rows, row_mask, sp_mask, acc_mask, count_mask;
  uint64_t garbage;
  bool both_dataflows, transposer, has_activation, bias_garbage, reads_acc, writes_sp, writes_acc, raw_possible;
  uint8_t ops_mask;
  execute_operation *ops;
  execute_window window;
  preload_unroller unroller;
  uint64_t ready_at;  // from this cycle on the unroller has room; CYCLE_NEVER: until a command leaves it
  uint64_t taken;     // the cycle in which the last command came, or will, + 1
  execute_mesh mesh;
  execute_hazards hazards;
} cycle_execute;

// Units are stepped in every cycle, and nothing is left out.
static inline bool execute_every_cycle(const cycle_engine *c) { return c->eager || c->counting; }

// The tile row behind `tile`, cut to `cols` elements; the rest is zero.
void execute_copy_row(int8_t *to, const int8_t *from, uint32_t dim, uint32_t cols);

// operand_fetch.c: prepares the walk; one cycle of it, which appends what fired to the control queue and returns it;
// copies the rows of the next `steps` steps from the scratchpad into the tiles.
void operand_fetch_begin(const cycle_engine *c, cycle_execute *x, execute_operation *op, const uint32_t base[3]);
unsigned operand_fetch_step(cycle_engine *c, uint64_t now, cycle_execute *x, execute_operation *op);
void operand_fetch_copy(cycle_engine *c, const cycle_execute *x, const execute_operation *op, unsigned operands,
                        uint32_t steps);

// Appends `steps` steps of a plain operation, the first of them fired in `cycle`.
void operand_fetch_append(cycle_engine *c, cycle_execute *x, execute_operation *op, uint64_t cycle, uint32_t steps);

// operand_select.c: operands of the first entry whose rows are not there; takes the answers of that entry.
unsigned operand_select_missing(const cycle_engine *c, uint64_t now, const cycle_execute *x);
void operand_select_take(cycle_engine *c, uint64_t now, const cycle_execute *x);

// The first step of the control queue is taken.
static inline void execute_control_taken(cycle_execute *x, uint32_t steps) {
  execute_control *entry = &x->control[x->control_head];
  x->control_count -= steps;
  entry->ready += steps;
  entry->row = (uint8_t)(entry->row + steps);
  entry->first = false;
  x->control_uneven -= entry->uneven;
  entry->steps -= steps;
  if (entry->steps != 0) return;
  x->control_head = (x->control_head + 1) % EXECUTE_CONTROL;
  x->control_entries--;
}

// mesh_with_delays.c
void mesh_with_delays_create(cycle_engine *c, execute_mesh *m);
void mesh_with_delays_destroy(execute_mesh *m);
// The first row of a request enters: its arithmetic begins.
void mesh_with_delays_begin(cycle_execute *x);

// Rows are fed in `cycle` and those after it.
static inline void execute_rows_enter(execute_mesh *m, uint64_t cycle, uint64_t rows) {
  uint64_t leaves = cycle + m->latency;
  mesh_run *last = &m->runs[(m->run_head + m->run_count - 1) & m->run_mask];
  if (m->run_count != 0 && last->first + last->count == leaves) {
    last->count += rows;
    return;
  }
  assert(m->run_count <= m->run_mask);
  if (m->run_count == 0) m->next_leaves = leaves;
  m->runs[(m->run_head + m->run_count++) & m->run_mask] = (mesh_run){.first = leaves, .count = rows};
}

// Rows of the first request leave, not its last one.
static inline void execute_rows_leave(execute_mesh *m, uint64_t rows) {
  mesh_run *first = &m->runs[m->run_head];
  m->left += (uint32_t)rows;
  first->first += rows;
  first->count -= rows;
  m->next_leaves = first->first;
  if (first->count != 0) return;
  m->run_head = (m->run_head + 1) & m->run_mask;
  m->next_leaves = --m->run_count == 0 ? CYCLE_NEVER : m->runs[m->run_head].first;
}

// The last row of the first request leaves, and the request with it.
static inline void execute_request_leaves(execute_mesh *m, uint64_t now) {
  const mesh_request *r = &m->requests[m->head];
  execute_rows_leave(m, 1);
  m->left = 0;
  m->left_at = now + 1;
  m->left_held = r->holds;
  m->tags -= r->holds;
  m->head = (m->head + 1) & m->mask;
  m->count--;
}

// execute_writeback.c: row n of the results of a request that carries a product goes to its place in this cycle.
void execute_write_row(cycle_engine *c, uint64_t now, const mesh_request *request, uint32_t n);
// The same of rows n, n + 1, ... that left in the cycles from `at` on, all before this one, and went to the
// accumulator.
void execute_write_past_rows(cycle_engine *c, uint64_t now, const mesh_request *request, uint32_t n, uint64_t at,
                             uint32_t rows);

// execute_stream.c
// Fetch and mesh as they are at the start of this cycle.
void execute_stream_to_now(cycle_engine *c, uint64_t now, cycle_execute *x);
// The mesh as it is after this cycle, if it sleeps through it.
void execute_stream_mesh(cycle_engine *c, uint64_t now, cycle_execute *x);
// Lets fetch, or the mesh, stream from cycle `from` on if nothing else can happen in it. Fetch must be stepped in
// stream_until; the mesh's wake time is set.
bool execute_stream_fetch_from(cycle_engine *c, uint64_t now, cycle_execute *x, uint64_t from);
bool execute_stream_mesh_from(cycle_engine *c, cycle_execute *x, uint64_t from);
// Fetch must be stepped in `cycle` if it streams still.
void execute_stream_end(cycle_engine *c, cycle_execute *x, uint64_t cycle);
// The rows of the request need no cycle of their own, but for the last.
bool execute_stream_is_quiet(const cycle_execute *x, const mesh_request *r);
// Rows that left before this cycle are written. Sets write-back's wake time.
void execute_stream_results(cycle_engine *c, uint64_t now, cycle_execute *x);
void execute_stream_results_sleep(cycle_engine *c, uint64_t now, cycle_execute *x);

#endif
