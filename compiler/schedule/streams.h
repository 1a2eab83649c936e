// SPDX-License-Identifier: Apache-2.0
// Streams: loads per buffer, products and stores, each in the program's order, with what each command has to follow.
#ifndef COMPILER_SCHEDULE_STREAMS_H
#define COMPILER_SCHEDULE_STREAMS_H

#include "compiler/command/command.h"
#include "compiler/cost/cost.h"
#include "compiler/schedule/plan.h"

#define SCHED_NEVER UINT32_MAX  // number of no product and of no store

typedef struct sched_load {
  int tensor;      // COMMAND_NO_TENSOR: zeros
  int64_t offset;  // bytes in the tensor
  int64_t stride;  // bytes between rows
  uint32_t local;  // with its flags
  uint16_t rows, cols, block_stride;
  float scale;
  bool shrink;
  bool packed;  // two elements in a byte of memory
  bool again;   // of bytes that were loaded before, of a tensor that the cache may keep
  bool joined;  // begins in lines of the cache that the load before it brings
  bool unread;  // some of its rows are loaded again before a product reads them
  uint32_t instance;
  uint32_t after_products, after_stores;  // how many products and stores have to come first
  uint32_t before_product, before_store;  // the first that needs the load, or SCHED_NEVER
} sched_load;

// Products of one execution of a statement: columns outermost, depth, rows innermost.
typedef struct sched_nest {
  const sched_plan *plan;
  uint32_t first;         // number of its first product
  uint32_t target, a, b;  // where the instances begin
  bool kept;              // the weights of the product before serve it
  bool accumulate;        // products of the first block of depth add to results as well
  bool output_stationary, a_transposed, b_transposed;
  bool relu;    // results leave the mesh for the scratchpad behind relu
  bool biased;  // the rows from `bias` on are added to the results of each run of rows
  uint32_t bias;
} sched_nest;

// A product that has to follow the first `stores` stores.
typedef struct sched_wait {
  uint32_t product, stores;
} sched_wait;

typedef struct sched_store {
  int queue;  // of the loads of the same buffer
  int tensor;
  int64_t offset, stride;
  uint32_t local;
  uint16_t rows, cols;
  bool relu;
  float scale;
  const block_norm *norm;  // of rows that the normaliser makes, or of their statistics; NULL: it has none
  block_pool pool;
  uint8_t pool_rows, pool_cols, image_rows, image_cols, pool_out_dim;  // with a pool
  uint8_t image_skipped;  // columns before the image, which it does not begin with: its last row ends earlier
  bool gated;
  int32_t gate_offset;  // rows from what is stored to its factors in the scratchpad
  float gate_scale;
  uint32_t instance;
  uint32_t after_products;
  uint32_t before_product;  // the first that overwrites what it reads
} sched_store;

// Loads of one buffer.
typedef struct sched_queue {
  sched_load *loads;
  uint32_t count;
  size_t room;
} sched_queue;

// What touched each row of a memory last: numbers counted from 1; 0: no command of this kind did. Arrays of their own,
// since most commands touch rows side by side that have the same history.
typedef struct sched_touched {
  uint32_t *load, *product, *store;
  bool stored;  // any of the rows
} sched_touched;

// The queue that holds a load, and the load's index there.
typedef struct sched_place {
  int queue;
  uint32_t index;
} sched_place;

typedef struct sched_streams {
  wf_arena *arena;
  const cost_model *cost;
  hw_derived derived;
  sched_queue *queues;  // per buffer
  int queue_count;
  bool mixed;          // other programs' products stand between: there is time for loads and stores
  sched_place *loads;  // in the program's order
  size_t load_count, load_room;
  sched_nest *nests;
  size_t nest_count, nest_room;
  uint32_t product_count;  // of all nests
  sched_wait *waits;       // by their products
  size_t wait_count, wait_room;
  sched_store *stores;
  uint32_t store_count;
  size_t store_room;
  uint32_t *stages;  // first product of each execution of a product statement
  uint32_t stage_count;
  size_t stage_room;
  sched_touched sp, acc;
  uint8_t **loaded;  // per tensor that the cache may keep: what loads began with
} sched_streams;

void sched_streams_create(sched_streams *s, const block_program *program, const cost_model *cost, wf_arena *arena);

// Commands are added in the program's order; these functions fill in the constraints.
void sched_streams_load(sched_streams *s, int queue, const sched_load *load);
// The next product starts a statement.
void sched_streams_stage(sched_streams *s);
// Adds the products of a plan; the result is valid until the next nest is added.
const sched_nest *sched_streams_products(sched_streams *s, const sched_nest *nest);
void sched_streams_store(sched_streams *s, const sched_store *store);

// Rows that products first..last, which are added already, read or write: `step` rows apart, written rows side by side.
typedef struct sched_span {
  uint32_t local, count, step, first, last;
} sched_span;
void sched_streams_read(sched_streams *s, const sched_span *span);
void sched_streams_write(sched_streams *s, const sched_span *span);

// Orders each queue so that the loads that a command needs are a prefix of it: the loads whose before_product
// (before_store) is not behind the command. Loads at the end of a queue that no command needs fall away.
void sched_streams_finish(sched_streams *s, const block_program *program);

#endif
