// SPDX-License-Identifier: Apache-2.0
// What part of each instance of a buffer is needed. Loads move this part and no more, so neither padding nor what is
// cut off is moved or computed.
#ifndef COMPILER_SCHEDULE_REGION_H
#define COMPILER_SCHEDULE_REGION_H

#include "compiler/schedule/box.h"
#include "compiler/schedule/walk.h"
#include "compiler/schedule/zeros.h"

// What is read of each instance of a buffer; of a buffer in the accumulator, what is stored.
typedef struct sched_needs {
  sched_box *boxes;  // per instance
  size_t count, room;
} sched_needs;

// What the latest load brought into a buffer.
typedef struct sched_valid {
  bool set;
  uint32_t instance;
  sched_box inside;  // where the load found elements of the tensor; the rest is zeros
  sched_known known;
} sched_valid;

typedef struct sched_regions {
  const block_program *program;
  wf_arena *arena;
  sched_needs *needs;    // per buffer
  sched_valid *valid;    // per buffer
  bool *weights;         // per buffer: it has known weights (zeros.h)
  sched_pack *pack;      // of one of them; NULL: none are packed
  int packed;            // the buffer
  int64_t stored_bytes;  // that all stores write
} sched_regions;

void sched_regions_create(sched_regions *r, const block_program *program, wf_arena *arena);
// Packs the weights of the first buffer that has known ones; it must be created before all walks.
void sched_regions_pack(sched_regions *r, const hw_derived *derived);
// NULL: the buffer's weights are not packed.
static inline sched_pack *sched_region_pack(const sched_regions *r, int buffer) {
  return r->pack != NULL && r->packed == buffer ? r->pack : NULL;
}

// The part of an instance that is needed so far.
const sched_box *sched_region_need(const sched_regions *r, int buffer, uint32_t instance);
void sched_region_add_need(sched_regions *r, int buffer, uint32_t instance, const sched_box *more);
// Adds what a store keeps of a result; other statements change nothing. The context is the regions.
sched_walk_visitor sched_region_store_needs;

// Notes which elements a load brings.
void sched_region_note_load(sched_regions *r, const sched_walk *w, const block_statement *load);
// Forgets all loads: a new walk begins.
void sched_region_forget_loads(sched_regions *r);
// The elements of the buffer's instance that may be other than zero; NULL: any element.
const sched_box *sched_region_nonzero(const sched_regions *r, const sched_walk *w, int buffer);

// The elements of the buffer's instance, of known weights; NULL: they are not known.
const sched_known *sched_region_known(const sched_regions *r, const sched_walk *w, int buffer);

// Where an access finds elements of the tensor, in elements of the buffer.
sched_box sched_region_inside(const sched_walk *w, const block_view *view, const block_access *access);

#endif
