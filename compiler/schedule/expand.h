// Inside of sched_commands: a placed block program becomes three kinds of straight commands (streams), which interleave
// merges into one order.
//
//   walk        runs the loops and tells which instance of each buffer a statement works on
//   region      what part of each instance is needed, so that neither padding nor what is cut off is moved or computed
//   streams     the commands, and what each has to follow in program order, row by row
//   interleave  one order
//   emit        the commands of that order, with configuration where it changes
#ifndef COMPILER_SCHEDULE_EXPAND_H
#define COMPILER_SCHEDULE_EXPAND_H

#include <assert.h>

#include "compiler/block/layout.h"
#include "compiler/schedule/schedule.h"

// ---- walk

typedef struct walk {
  const block_program *program;
  const block_statement **home;  // per buffer: the loop in whose body it lives; NULL: the whole program
  int64_t iteration[BLOCK_LOOPS_MAX];
  uint32_t *instance;  // per buffer: iterations of its home so far, less one
} walk;

typedef bool walk_visitor(void *context, const walk *w, const block_statement *statement);

// Finds the homes. Everything is in the program's order; `arena` owns the result.
void walk_create(walk *w, const block_program *program, wf_arena *arena);
// Runs the program: calls `visit` for each execution of each statement other than loops, until it returns false.
bool walk_run(walk *w, walk_visitor *visit, void *context);

// ---- boxes: a part of a buffer, [lo, hi) in each dimension

typedef struct box {
  int64_t lo[BLOCK_RANK_MAX], hi[BLOCK_RANK_MAX];
} box;

bool box_empty(const box *b, int rank);
box box_meet(const box *a, const box *b, int rank);
void box_join(box *b, const box *more, int rank);  // the smallest that holds both

// ---- plans of products

// Elements that one command handles.
typedef struct dot_run {
  int64_t first, second;  // m: rows of result and A; k: column of A and row of B (transposed: the other way round)
  int64_t count;
  int64_t step;                        // of `second`
  uint32_t first_local, second_local;  // what they add to the local addresses of the two operands
} dot_run;

typedef struct dot_runs {
  dot_run *runs;
  size_t count, room;
} dot_runs;

// What the products of one execution of a statement are, beside the places of the instances.
typedef struct dot_plan {
  struct dot_plan *next;
  const int64_t *key;  // what it depends on
  size_t key_words;
  dot_runs m, k, n;
  box a, b;        // what it reads of the operands
  bool needed;     // there are products
  bool unaligned;  // operands do not start at whole blocks of columns
} dot_plan;

// Blocks of depth: without depth there are products of nothing.
static inline size_t dot_depth(const dot_plan *plan) { return plan->k.count == 0 ? 1 : plan->k.count; }
static inline size_t dot_products(const dot_plan *plan) { return plan->m.count * plan->n.count * dot_depth(plan); }

enum { DOT_SITE_SLOTS = 64 };

// The plans of a statement.
typedef struct dot_site {
  struct dot_site *next;
  const block_statement *statement;
  int loops[BLOCK_LOOPS_MAX], loop_count;  // those that choose parts of buffers
  dot_plan *plans[DOT_SITE_SLOTS];
} dot_site;

// ---- streams

#define STREAM_NEVER UINT32_MAX
#define EXPAND_GARBAGE UINT32_MAX  // the local address that is none

typedef struct stream_load {
  int tensor;      // COMMAND_NO_TENSOR: zeros
  int64_t offset;  // bytes in the tensor
  int64_t stride;  // bytes between rows
  uint32_t local;  // with its flags
  uint16_t rows, cols, block_stride;
  float scale;
  bool shrink;
  bool again;   // of bytes that were loaded before, of a tensor that the cache may keep
  bool joined;  // begins in lines of the cache that the load before it brings
  uint32_t instance;
  uint32_t after_products, after_stores;  // that many have to come first
  uint32_t before_product, before_store;  // the first that needs it, or STREAM_NEVER
} stream_load;

// Products of one execution of a statement: columns outermost, depth, rows innermost.
typedef struct stream_nest {
  const dot_plan *plan;
  uint32_t first;         // number of its first product
  uint32_t target, a, b;  // where the instances begin
  bool kept;              // the weights of the product before serve it
  bool accumulate;        // products of the first block of depth add to results as well
  bool output_stationary, a_transposed, b_transposed;
} stream_nest;

// A product that has to follow so many stores.
typedef struct stream_wait {
  uint32_t product, stores;
} stream_wait;

typedef struct stream_store {
  int queue;  // of the loads of the same buffer
  int tensor;
  int64_t offset, stride;
  uint32_t local;
  uint16_t rows, cols;
  bool relu;
  float scale;
  block_pool pool;
  uint8_t pool_rows, pool_cols, image_rows, image_cols, pool_out_dim;  // with a pool
  uint32_t instance;
  uint32_t after_products;
  uint32_t before_product;  // the first that overwrites what it reads
} stream_store;

// Loads of one buffer.
typedef struct stream_queue {
  stream_load *loads;
  uint32_t count;
  size_t room;
} stream_queue;

// What touched each row of a memory last, counted from 1; 0: nothing did. Arrays of their own, since most commands
// touch rows side by side that have the same history.
typedef struct stream_rows {
  uint32_t *load, *product, *store;
  bool stored;  // any of them
} stream_rows;

// Where the n-th load is.
typedef struct stream_place {
  int queue;
  uint32_t index;
} stream_place;

typedef struct streams {
  wf_arena *arena;
  const hw_array *array;
  hw_derived derived;
  stream_queue *queues;  // per buffer
  int queue_count;
  stream_place *loads;  // in the program's order
  size_t load_count, load_room;
  stream_nest *nests;
  size_t nest_count, nest_room;
  uint32_t product_count;  // of all nests
  stream_wait *waits;      // by their products
  size_t wait_count, wait_room;
  stream_store *stores;
  uint32_t store_count;
  size_t store_room;
  uint32_t *stages;  // first product of each execution of a product statement
  uint32_t stage_count;
  size_t stage_room;
  stream_rows sp, acc;
  uint8_t **loaded;  // per tensor that the cache may keep: what loads began with
} streams;

void streams_create(streams *s, const block_program *program, const hw_array *array, wf_arena *arena);
// Commands in the program's order; constraints are filled in here.
void streams_load(streams *s, int queue, const stream_load *load);
// Products with numbers first..last, which are there already, read rows `step` apart, or write rows side by side.
typedef struct stream_span {
  uint32_t local, count, step, first, last;
} stream_span;
void streams_read(streams *s, const stream_span *span);
void streams_write(streams *s, const stream_span *span);
// The products of a plan; valid until the next.
const stream_nest *streams_products(streams *s, const stream_nest *nest);
// The next product starts a statement.
void streams_stage(streams *s);
void streams_store(streams *s, const stream_store *store);
// Orders each queue so that the loads that a command needs are a prefix of it: those whose before_product
// (before_store) is not behind it. Loads that nobody needs fall away.
void streams_finish(streams *s, const block_program *program);

// ---- expansion of statements

// What is known about the instance of a buffer that the walk is at.
typedef struct expand_valid {
  bool set;
  uint32_t instance;
  box inside;  // where its load found elements of the tensor; the rest is zeros
} expand_valid;

typedef struct expand_needs {
  box *boxes;  // per instance
  size_t count, room;
} expand_needs;

typedef struct expand {
  const block_program *program;
  const hw_array *array;
  wf_diag *diag;
  wf_arena *arena;
  hw_derived derived;
  block_layout *layouts;  // per buffer
  expand_needs *needs;    // per buffer: what is read of each instance (accumulator: what is stored)
  expand_valid *valid;    // per buffer
  bool whole_stores;      // are not cut so that banks of main memory take turns
  size_t products;        // that the statements will have, at most
  int64_t stored_bytes;
  streams streams;
  dot_site *sites;
  // Room for the lists of one plan, for the commands of one load and of one store at a time.
  dot_runs lists[3];
  stream_load *pending_loads;
  size_t pending_load_room;
  stream_store *pending_stores;
  size_t pending_store_room;
} expand;

// The part of an instance that is needed so far.
const box *expand_need(const expand *e, int buffer, uint32_t instance);
void expand_add_need(expand *e, int buffer, uint32_t instance, const box *more);
// Where a load finds elements of the tensor, in elements of the buffer.
box expand_inside(const walk *w, const block_view *view, const block_access *access);
// Whether one of these loops is in an iteration other than its first.
bool expand_repeats(const walk *w, uint32_t loops);
// Notes what a load gives.
void expand_note_load(expand *e, const walk *w, const block_statement *statement);

// The plan of a part of a product statement (of one block of columns, or of all) at this place of the walk.
const dot_plan *expand_plan(expand *e, const walk *w, const block_statement *statement, int64_t part);
int64_t expand_part_count(const expand *e, const block_statement *statement);

walk_visitor expand_store_needs, expand_dot_needs, expand_command;  // the three walks, context: expand
bool expand_load(expand *e, const walk *w, const block_statement *statement);
bool expand_dot(expand *e, const walk *w, const block_statement *statement);
bool expand_store(expand *e, const walk *w, const block_statement *statement);
bool expand_pooled_store(expand *e, const walk *w, const block_statement *statement);

// ---- runs of rows: leading dimensions of a box, outermost first, as rows that are evenly spaced in memory

typedef struct run_dim {
  int64_t count, local, memory;  // local rows and bytes between two
} run_dim;
typedef struct run {
  int64_t local, memory, rows, stride;  // consecutive local rows
} run;
// Calls `visit` for each run of at most `limit` rows that crosses no multiple of `tile` rows (0: may cross).
void run_visit(const run_dim *dims, int count, int64_t local, int64_t memory, int64_t limit, int64_t tile,
               void (*visit)(void *context, const run *rows), void *context);

// ---- the hardware's loop unroller instead of streams

command_program *expand_loop_style(const block_program *program, const hw_array *array, wf_diag *diag);

// ---- order and commands

typedef enum { ORDER_LOAD, ORDER_PRODUCT, ORDER_STORE } order_kind;
typedef struct order_item {
  uint8_t kind;
  int16_t queue;  // of a load
  uint32_t index;
  uint32_t count;  // of products, which follow each other
} order_item;
typedef struct order {
  order_item *items;
  size_t count, room;
} order;

void interleave(const streams *s, order *out, wf_arena *arena);
void emit_tensors(const block_program *program, command_program *out);
void emit(const streams *s, const block_program *program, const order *all, command_program *out);

#endif
