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

typedef struct gen {
  gen_random r;
  const hw_array *array;
  hw_derived d;
  gen_options options;
  gen_program *program;
  gen_judge *judge, *trial;
  gen_item group[GEN_GROUP];  // being put together
  size_t group_count;
  // Memory: loads read `input` (and after fences `output`), stores write `output`, the end writes `dump`.
  uint64_t input, output, dump;
  int64_t input_bytes, output_bytes;
  // Local rows around which operands gather, so that commands get in each other's way.
  int64_t anchors[2][GEN_ANCHORS];
  bool all_filled;     // every row of both memories was loaded at the start
  uint32_t max_delay;  // between two commands; 0: none
} gen;

static inline bool gen_has(const gen *g, gen_feature feature) { return (g->options.without >> feature & 1) == 0; }

void gen_put(gen *g, uint8_t funct, uint64_t rs1, uint64_t rs2);
// Appends the group if the judge lets it pass, now and then with the fence that it wants. False: dropped.
bool gen_commit(gen *g);
void gen_fence(gen *g);

uint64_t gen_operand(uint32_t local, int64_t rows, int64_t cols);
// A place for `extent` rows, garbage address if there is none; flags such as accumulate are the caller's.
uint32_t gen_local(gen *g, bool accumulator, int64_t extent);
uint32_t gen_scale(gen *g);       // finite and positive
uint32_t gen_wild_scale(gen *g);  // anything but the value that keeps the old one
const arch_config *gen_config(const gen *g);

void gen_config_ld(gen *g, unsigned state);
void gen_mvin(gen *g);
void gen_config_st(gen *g);
void gen_mvout(gen *g);
void gen_mvout_spad(gen *g);
void gen_norm_store(gen *g);
void gen_products(gen *g);
void gen_loop_ws(gen *g);
void gen_loop_conv(gen *g);

#endif
