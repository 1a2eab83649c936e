// SPDX-License-Identifier: Apache-2.0
// What both loop expanders share: building primitives and stepping nested counters.
#ifndef ARCH_LOOPS_EMIT_H
#define ARCH_LOOPS_EMIT_H

#include "arch/local.h"
#include "arch/loops/loops.h"
#include "base/number.h"

// Memory offsets of the unrollers are 32 bits wide.
static inline uint64_t loop_dram(uint64_t base, uint64_t offset) { return base + (offset & UINT32_MAX); }

// A local address, or false after noting in the cursor that the row does not exist.
static inline bool loop_local(arch_loop_cursor *cursor, const hw_derived *derived, uint32_t flags, int64_t row,
                              uint32_t *local) {
  bool accumulator = isa_local_accumulator(flags) != 0;
  if (row < 0 || row >= arch_local_rows(derived, accumulator)) {
    cursor->accumulator = accumulator;
    cursor->row = row;
    return false;
  }
  *local = flags | (uint32_t)row;
  return true;
}

enum { LOOP_SPAD = 0 };
#define LOOP_ACC ISA_LOCAL_ACCUMULATOR_MASK
#define LOOP_ACC_ADD (ISA_LOCAL_ACCUMULATOR_MASK | ISA_LOCAL_ACCUMULATE_MASK)
#define LOOP_FULL ISA_LOCAL_FULL_MASK

static inline arch_command loop_command(const arch_command *run, isa_id id) {
  const isa_insn *insn = isa_insn_at(id);
  return (arch_command){.insn = insn, .pc = run->pc, .index = run->index, .funct = (uint8_t)insn->funct};
}

static inline uint64_t loop_operand(uint32_t local, int64_t rows, int64_t cols) {
  return (uint64_t)rows << 48 | (uint64_t)cols << 32 | local;
}

// Counters [0, count): adds `step` to the last one and carries into the one before when it reaches its end.
// Counter n runs from start[n] while below end[n]. False when the outermost one has reached its end.
static inline bool loop_step(int32_t *index, int count, const int32_t *start, const int32_t *end, const int32_t *step) {
  for (int n = count - 1; n >= 0; n--) {
    index[n] += step[n];
    if (index[n] < end[n]) return true;
    index[n] = start[n];
  }
  return false;
}

#endif
