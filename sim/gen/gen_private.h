// SPDX-License-Identifier: Apache-2.0
// Inside the generator: program.c is the frame, move.c draws loads and stores, execute.c products, loops.c loops.
//
// Drawing is generous, the judge is strict: a group of commands that it refuses is dropped whole. A group is what must
// stay together, such as a preload and its compute.
#ifndef SIM_GEN_GEN_PRIVATE_H
#define SIM_GEN_GEN_PRIVATE_H

#include "arch/config.h"
#include "arch/local.h"
#include "base/number.h"
#include "isa/isa.h"
#include "sim/gen/gen.h"
#include "sim/gen/judge.h"
#include "sim/gen/random.h"

enum { GEN_ANCHORS = 4, GEN_GROUP = 64 };

typedef struct sim_gen {
  sim_gen_random r;
  const hw_array *array;
  hw_derived d;
  sim_gen_options options;
  sim_gen_program *program;
  sim_gen_judge *judge, *trial;
  sim_gen_item group[GEN_GROUP];  // being put together
  size_t group_count;
  // Memory: loads read `input` (and after fences `output`), stores write `output`, the end writes `dump`.
  uint64_t input, output, dump;
  int64_t input_bytes, output_bytes;
  // Local rows around which operands gather, so that commands get in each other's way.
  int64_t anchors[2][GEN_ANCHORS];
  bool all_filled;     // every row of both memories was loaded at the start
  uint32_t max_delay;  // between two commands; 0: none
} sim_gen;

static inline bool sim_gen_has(const sim_gen *g, sim_gen_feature feature) {
  return (g->options.without >> feature & 1) == 0;
}

void sim_gen_put(sim_gen *g, uint8_t funct, uint64_t rs1, uint64_t rs2);
// Appends the group if the judge lets it pass, now and then with the fence that it wants. False: dropped.
bool sim_gen_commit(sim_gen *g);
void sim_gen_fence(sim_gen *g);

uint64_t sim_gen_operand(uint32_t local, int64_t rows, int64_t cols);
// A place for `extent` rows, garbage address if there is none; flags such as accumulate are the caller's.
uint32_t sim_gen_local(sim_gen *g, bool accumulator, int64_t extent);
uint32_t sim_gen_scale(sim_gen *g);       // finite and positive
uint32_t sim_gen_wild_scale(sim_gen *g);  // anything but the value that keeps the old one
const arch_config *sim_gen_config(const sim_gen *g);

void sim_gen_config_ld(sim_gen *g, unsigned state);
void sim_gen_mvin(sim_gen *g);
void sim_gen_config_st(sim_gen *g);
void sim_gen_mvout(sim_gen *g);
void sim_gen_gated_stores(sim_gen *g);
void sim_gen_mvout_spad(sim_gen *g);
void sim_gen_norm_store(sim_gen *g);
void sim_gen_products(sim_gen *g);
void sim_gen_loop_ws(sim_gen *g);
void sim_gen_loop_conv(sim_gen *g);

#endif
