// SPDX-License-Identifier: Apache-2.0
// One order for the commands of the streams.
#ifndef COMPILER_SCHEDULE_INTERLEAVE_H
#define COMPILER_SCHEDULE_INTERLEAVE_H

#include "compiler/schedule/streams.h"

typedef enum { SCHED_ORDER_LOAD, SCHED_ORDER_PRODUCT, SCHED_ORDER_STORE } sched_order_kind;

typedef struct sched_order_item {
  uint8_t kind;
  int16_t queue;  // of a load
  uint32_t index;
  uint32_t count;  // of products, which follow each other
} sched_order_item;

typedef struct sched_order {
  sched_order_item *items;
  size_t count, room;
  const int64_t *time;  // cycles of the products in front of each product, and of all
  double norm_cycles;   // of the normaliser, where they are more than those of the products; else 0
} sched_order;

// Cycles of the store unit for rows that the normaliser makes, or for their statistics; 0: the store is none of these.
double sched_norm_cycles(const sched_streams *s, const sched_store *store);

// `arena` owns the items and the times.
void sched_interleave(const sched_streams *s, sched_order *out, wf_arena *arena);

#endif
