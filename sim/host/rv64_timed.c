// SPDX-License-Identifier: Apache-2.0
// The interpreter with the pipeline of rv64_timing.h.
//
// Kept in registers besides what rv64_exec.inc keeps: t (the timing), now (when the last instruction left decode) and
// seen (the last fetch block that decode has seen, counted from the page's start).
#include <string.h>

#include "sim/host/rv64_alu.h"
#include "sim/host/rv64_fp.h"
#include "sim/host/rv64_timing.h"

// What each format reads and writes, as constants.
enum { KIND_N, KIND_X, KIND_F };
enum {
#define FORMAT(name, mask, rd, rs1, rs2, rs3, imm) WRITES_##name = KIND_##rd,
#include "sim/host/rv64_formats.def"
};
enum {
#define FORMAT(name, mask, rd, rs1, rs2, rs3, imm) READS1_##name = KIND_##rs1,
#include "sim/host/rv64_formats.def"
};
enum {
#define FORMAT(name, mask, rd, rs1, rs2, rs3, imm) READS2_##name = KIND_##rs2,
#include "sim/host/rv64_formats.def"
};
enum {
#define FORMAT(name, mask, rd, rs1, rs2, rs3, imm) READS3_##name = KIND_##rs3,
#include "sim/host/rv64_formats.def"
};

// Constants of the instruction at hand.
#define CLASS_IS(class) ((int)CLASS == (int)RV64_CLASS_##class)
#define OPCODE_IS(name) ((int)OPCODE == (int)RV64_OP_##name)
#define WRITES_KIND(kind) ((int)WRITES == (int)(kind))

#define EXEC rv64_run_timed

#define HOOK_BEGIN                  \
  rv64_timing *const t = h->timing; \
  uint64_t now = t->now;            \
  intptr_t seen = 0;

// The interpreter returns before requests are too many for an unsigned.
#define HOOK_END                              \
  t->now = now;                               \
  t->counts.fetches += t->count - t->counted; \
  t->counted = t->count;

// The clock that programs read is that of write-back.
#define HOOK_SYNC() h->extra_cycles = now + RV64_BACK + 1 - (h->retired_end - (uint64_t)left)

#define HOOK_LAND() seen = (intptr_t)(t->block - (page->pc >> RV64_BLOCK_SHIFT))

#define READY(kind, r) t->ready[(int)(kind) == KIND_F ? RV64_READY_F + (r) : (r)]
#define WAIT_FOR(kind, r) \
  if ((int)(kind) != KIND_N) issue = wf_max(issue, READY(kind, r))

// Fetch, wait for operands, units and what the destination still waits for; the result is ready later.
#define HOOK_ISSUE(op, name, format, class)                               \
  enum {                                                                  \
    WRITES = WRITES_##format,                                             \
    USES_DIVIDER = CLASS_IS(MUL) || CLASS_IS(DIV),                        \
    BEHIND_FENCE = CLASS_IS(LOAD) || CLASS_IS(STORE) || CLASS_IS(CUSTOM), \
    FLOATS = CLASS_IS(FP_ADD) || CLASS_IS(FP_MUL) || CLASS_IS(FP_DIV),    \
  };                                                                      \
  t->counts.instructions[CLASS]++;                                        \
  const intptr_t place = (intptr_t)((uintptr_t)op - (uintptr_t)page);     \
  const bool spans = LEN == 4 && (place >> 4 & 1) != 0;                   \
  const intptr_t end = (place + (LEN - 2) * 8) >> 5;                      \
  const bool fresh = end != seen;                                         \
  if (fresh) now = rv64_timing_fetch(h, t, now, end - seen, spans);       \
  seen = end;                                                             \
  uint64_t issue = now + 1;                                               \
  WAIT_FOR(READS1_##format, op->rs1);                                     \
  WAIT_FOR(READS2_##format, op->rs2);                                     \
  WAIT_FOR(READS3_##format, op->rs3);                                     \
  WAIT_FOR(WRITES_##format, op->rd);                                      \
  if (USES_DIVIDER) issue = wf_max(issue, t->unit_free);                  \
  if (BEHIND_FENCE) issue = wf_max(issue, t->after_fence);                \
  if (FLOATS) issue = wf_max(issue, t->float_free);                       \
  now = issue;                                                            \
  if (fresh) t->left[t->count % RV64_LEFT] = now;                         \
  if (WRITES_KIND(KIND_X)) rv64_timing_writes(t, now);                    \
  RESULT(op)

// When the result can be read; loads say it themselves, commands as well.
#define RESULT(op)                                                         \
  if (CLASS_IS(MUL))                                                       \
    rv64_timing_multiply(t, now, op->rd, RS1, IS_HIGH, IS_WORD);           \
  else if (CLASS_IS(DIV))                                                  \
    rv64_timing_divide(t, now, op->rd, RS1, RS2, IS_SIGNED, IS_WORD);      \
  else if (CLASS_IS(CSR) && WRITES_KIND(KIND_X))                           \
    t->ready[op->rd] = now + RV64_BACK;                                    \
  else if (FLOATS && WRITES_KIND(KIND_X))                                  \
    t->ready[op->rd] = now + RV64_BACK;                                    \
  else if (FLOATS)                                                         \
    t->ready[RV64_READY_F + op->rd] = now + FLOAT_CYCLES();                \
  else if (CLASS_IS(ALU) || CLASS_IS(JUMP))                                \
    t->ready[op->rd] = now + 1 + (OPCODE_IS(jalr) && op->rd != RV64_SINK); \
  if (CLASS_IS(FP_DIV)) t->float_free = t->ready[RV64_READY_F + op->rd] - RV64_FLOAT_STAGES

#define IS_WORD (OPCODE_IS(mulw) || OPCODE_IS(divw) || OPCODE_IS(divuw) || OPCODE_IS(remw) || OPCODE_IS(remuw))
#define IS_SIGNED (OPCODE_IS(div) || OPCODE_IS(rem) || OPCODE_IS(divw) || OPCODE_IS(remw))
#define IS_HIGH (OPCODE_IS(mulh) || OPCODE_IS(mulhsu) || OPCODE_IS(mulhu))

#define IS_ARITHMETIC \
  (CLASS_IS(FP_MUL) || OPCODE_IS(fadd_s) || OPCODE_IS(fsub_s) || OPCODE_IS(fadd_d) || OPCODE_IS(fsub_d))
#define FLOAT_CYCLES() \
  (CLASS_IS(FP_DIV) ? rv64_timing_float_divide(t, DOUBLE) : 1 + rv64_timing_float(t, IS_ARITHMETIC, DOUBLE))

// ---- memory

enum { READS_MEMORY = 1, WRITES_MEMORY = 2 };

#define TOO_EARLY(address, size) \
  (CLASS_IS(LOAD) && UNLIKELY(now <= t->store_watch) && rv64_timing_too_early(t, now, (address), (size)))

#define HOOK_ACCESS(address, size, stores)                                                          \
  do {                                                                                              \
    if (TOO_EARLY(address, size)) {                                                                 \
      now = rv64_timing_reload(h, now, 1 + spans, PC + LEN);                                        \
      if (WRITES_KIND(KIND_X)) rv64_timing_writes(t, now);                                          \
    }                                                                                               \
    rv64_line *line = rv64_timing_data_line(t, (address));                                          \
    bool inside = ((address)&t->dcache.offset_mask) + (size) <= t->dcache.offset_mask + 1;          \
    if (LIKELY(line != NULL && inside)) {                                                           \
      *line |= (stores);                                                                            \
    } else {                                                                                        \
      now = rv64_timing_miss(h, now, (address), (size), (stores), 1 + spans, PC + LEN);             \
      if (WRITES_KIND(KIND_X)) rv64_timing_writes(t, now);                                          \
    }                                                                                               \
    t->accessed = now;                                                                              \
    if (stores) rv64_timing_store(t, now, (address), (size));                                       \
    if (WRITES_KIND(KIND_X)) t->ready[op->rd] = now + 1 + t->load_delay + ((size) < 4 || (stores)); \
    if (WRITES_KIND(KIND_F)) t->ready[RV64_READY_F + op->rd] = now + 1 + RV64_FLOAT_STAGES;         \
  } while (0)

// ---- control

#define IS_LINK(r) ((r) == 1 || (r) == 5)

#define HOOK_JUMP(to)                                                                  \
  do {                                                                                 \
    if (CLASS_IS(BRANCH))                                                              \
      rv64_timing_branch(h, t, now, (to), PC + LEN, true);                             \
    else if (CLASS_IS(CSR))                                                            \
      HOOK_RESTART(to);                                                                \
    else if (OPCODE_IS(jal))                                                           \
      rv64_timing_jump(t, now, (to));                                                  \
    else if (IS_LINK(op->rs1) && op->rd == RV64_SINK)                                  \
      rv64_timing_return(h, now, (to));                                                \
    else                                                                               \
      rv64_timing_indirect(h, now, (to));                                              \
    if (CLASS_IS(JUMP) && IS_LINK(op->rd)) rv64_predict_call(&t->predictor, PC + LEN); \
  } while (0)

#define HOOK_FALL()                                           \
  do {                                                        \
    rv64_timing_branch(h, t, now, PC + LEN, PC + IMM, false); \
    HOOK_LAND();                                              \
  } while (0)

#define HOOK_RESTART(to) rv64_timing_refetch(t, now + RV64_BACK, (to), true)

#define HOOK_FLUSH() rv64_timing_flush(t)

// A variable whose address is taken would not stay in a register: the clock travels in t.
#define WITH_CLOCK(call) (t->now = now, outcome = (call), now = t->now, outcome)
#define HOOK_COMMAND(op, returns) WITH_CLOCK(rv64_timing_command(h, op, PC, (returns), 1 + spans, LEN))
#define HOOK_FENCE() WITH_CLOCK(rv64_timing_fence(h))

#include "sim/host/rv64_exec.inc"
