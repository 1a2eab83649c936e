// SPDX-License-Identifier: Apache-2.0
// Inside the reference engine: its state and what its files offer each other.
//
// Every command has passed the checker before it gets here, so rows and bytes exist. `config` points at the checker's
// registers, which hold the values in force at the command.
#ifndef SIM_REF_STATE_H
#define SIM_REF_STATE_H

#include "arch/check.h"
#include "arch/local.h"
#include "sim/ref/norm.h"
#include "sim/ref/ref.h"

typedef struct ref_counter {
  uint32_t event;
  bool external;
  uint32_t snapshot;
} ref_counter;

typedef struct ref_counters {
  ref_counter *file;
  uint32_t count;
  bool frozen;  // reads return the snapshots
  uint32_t read_bytes, written_bytes;
} ref_counters;

// A preload that waits for its compute.
typedef struct ref_preload {
  bool armed;
  arch_local c;
  uint32_t c_rows, c_cols;
} ref_preload;

typedef struct ref_engine {
  sim_engine base;
  const hw_array *array;
  arch_memory *memory;
  hw_derived derived;
  arch_checker *checker;
  const arch_config *config;
  arch_fault fault;

  int8_t *spad;  // sp_rows x dim
  int32_t *acc;  // acc_rows x dim

  // Weight-stationary: two sets of weights. Output-stationary: the sums and the D that the next chain starts from.
  int16_t *weights, *shadow_weights;
  int32_t *sums, *next_sums;
  ref_preload preload;

  ref_stats *stats;
  ref_counters counters;
  uint64_t response;

  // Room for one tile or one row of each kind.
  int8_t *tile_a;
  int16_t *tile_b;
  int32_t *tile_c;
  int8_t *row;
} ref_engine;

static inline int8_t *ref_spad_row(const ref_engine *ref, int64_t row) {
  return ref->spad + (size_t)row * ref->derived.dim;
}
static inline int32_t *ref_acc_row(const ref_engine *ref, int64_t row) {
  return ref->acc + (size_t)row * ref->derived.dim;
}

void ref_mvin(ref_engine *ref, unsigned state, uint64_t rs1, uint64_t rs2);
void ref_mvout(ref_engine *ref, uint64_t rs1, uint64_t rs2);
void ref_mvout_spad(ref_engine *ref, uint64_t rs1, uint64_t rs2);

void ref_preload_command(ref_engine *ref, uint64_t rs1, uint64_t rs2);
void ref_compute(ref_engine *ref, bool preloaded, uint64_t rs1, uint64_t rs2);

// Answers in ref->response.
void ref_counter_command(ref_engine *ref, uint64_t rs1, uint64_t rs2);

#endif
