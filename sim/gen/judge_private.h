// SPDX-License-Identifier: Apache-2.0
// Inside the judge: judge.c keeps the books, judge_rules.c says what each primitive reads and writes and what must
// hold.
#ifndef SIM_GEN_JUDGE_PRIVATE_H
#define SIM_GEN_JUDGE_PRIVATE_H

#include "arch/check.h"
#include "arch/local.h"
#include "isa/isa.h"
#include "sim/gen/judge.h"

typedef enum { JUDGE_NO_LOOP, JUDGE_LOOP_WS, JUDGE_LOOP_CONV } sim_judge_loop_kind;
// The units of an unroller, each of which emits in order. Outside loops they mean nothing.
typedef enum { JUDGE_A, JUDGE_B, JUDGE_D, JUDGE_EXECUTE, JUDGE_STORE } sim_judge_part;

// Which parts read and wrote each row: bits by sim_judge_part.
typedef struct sim_judge_loop {
  uint8_t *reads, *writes;
} sim_judge_loop;

// Rows of one operand.
typedef struct sim_judge_span {
  bool used, accumulator;
  int64_t first, last;
} sim_judge_span;

// What a set of statistics holds, and what it is collecting.
typedef struct sim_judge_stats {
  arch_norm collecting;  // the command that ends the collection, ARCH_NORM_NONE: nothing
  bool mean, deviation, running_max, max, exponentials;
} sim_judge_stats;

enum { JUDGE_STATS = 16 };

struct sim_gen_judge {
  const hw_array *array;
  hw_derived derived;
  size_t rows, memory_bytes;
  arch_memory *memory;  // for its bounds
  arch_checker *checker;
  uint8_t *lanes;    // rows x dim: written
  uint8_t *dirty;    // rows: written since the last clean
  uint8_t *touched;  // bytes of memory: read, written since the last fence
  uint64_t primitives, completions;
  // products
  bool dataflow_known, weight_stationary;
  bool weights_known;  // the active ones
  bool preloaded;
  arch_local c;
  uint32_t c_rows, c_cols;
  sim_judge_span loaded;
  bool chain_open;
  sim_judge_stats stats[JUDGE_STATS];
  // loops
  sim_judge_loop_kind loop_kind;
  bool in_loop;
  sim_judge_part part;
  sim_judge_loop loops[2];  // the one at hand and the one before
  bool failed;
  char *why;
};

bool sim_judge_fail(sim_gen_judge *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool sim_judge_read(sim_gen_judge *j, bool accumulator, int64_t row, uint32_t lanes);
bool sim_judge_write(sim_gen_judge *j, bool accumulator, int64_t row, uint32_t first, uint32_t lanes);
bool sim_judge_memory(sim_gen_judge *j, uint64_t address, uint64_t length, bool write);
bool sim_judge_loop_access(sim_gen_judge *j, size_t row, bool write);
bool sim_judge_primitive(sim_gen_judge *j, isa_id id, uint64_t rs1, uint64_t rs2);

#endif
