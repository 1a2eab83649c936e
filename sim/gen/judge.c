// SPDX-License-Identifier: Apache-2.0
// The judge: see judge.h. Local rows are numbered through: scratchpad first, then accumulator.
#include "sim/gen/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "arch/check.h"
#include "base/alloc.h"
#include "sim/gen/judge_private.h"

bool sim_judge_fail(sim_gen_judge *j, const char *format, ...) {
  if (j->failed) return false;
  j->failed = true;
  va_list args;
  va_start(args, format);
  vsnprintf(j->why, GEN_WHY, format, args);
  va_end(args);
  return false;
}

// ---- life

static void clear_loop(sim_gen_judge *j, sim_judge_loop *loop) {
  memset(loop->reads, 0, j->rows);
  memset(loop->writes, 0, j->rows);
}

sim_gen_judge *sim_gen_judge_create(const hw_array *array, size_t memory_bytes) {
  sim_gen_judge *j = WF_NEW(sim_gen_judge);
  j->array = array;
  j->derived = hw_derive(array);
  j->rows = (size_t)j->derived.sp_rows + j->derived.acc_rows;
  j->memory_bytes = memory_bytes;
  j->memory = arch_memory_create(memory_bytes);
  if (j->memory == NULL) {
    wf_free(j);
    return NULL;
  }
  j->checker = arch_checker_create(array, j->memory);
  j->lanes = wf_calloc(j->rows, j->derived.dim);
  j->dirty = wf_calloc(j->rows, 1);
  j->touched = wf_calloc(memory_bytes, 1);
  for (int i = 0; i < 2; i++) {
    j->loops[i].reads = wf_calloc(j->rows, 1);
    j->loops[i].writes = wf_calloc(j->rows, 1);
  }
  return j;
}

void sim_gen_judge_destroy(sim_gen_judge *j) {
  if (j == NULL) return;
  arch_checker_destroy(j->checker);
  arch_memory_destroy(j->memory);
  wf_free(j->lanes);
  wf_free(j->dirty);
  wf_free(j->touched);
  for (int i = 0; i < 2; i++) {
    wf_free(j->loops[i].reads);
    wf_free(j->loops[i].writes);
  }
  wf_free(j);
}

void sim_gen_judge_copy(sim_gen_judge *to, const sim_gen_judge *from) {
  sim_gen_judge kept = *to;
  *to = *from;
  to->checker = kept.checker;
  to->memory = kept.memory;
  to->lanes = kept.lanes;
  to->dirty = kept.dirty;
  to->touched = kept.touched;
  arch_checker_copy(to->checker, from->checker);
  memcpy(to->lanes, from->lanes, from->rows * from->derived.dim);
  memcpy(to->dirty, from->dirty, from->rows);
  memcpy(to->touched, from->touched, from->memory_bytes);
  for (int i = 0; i < 2; i++) {
    to->loops[i].reads = kept.loops[i].reads;
    to->loops[i].writes = kept.loops[i].writes;
    if (from->loop_kind == JUDGE_NO_LOOP) {  // all zero
      if (kept.loop_kind != JUDGE_NO_LOOP) clear_loop(to, &to->loops[i]);
      continue;
    }
    memcpy(to->loops[i].reads, from->loops[i].reads, from->rows);
    memcpy(to->loops[i].writes, from->loops[i].writes, from->rows);
  }
}

// ---- local rows

static size_t number(const sim_gen_judge *j, bool accumulator, int64_t row) {
  return (accumulator ? j->derived.sp_rows : 0) + (size_t)row;
}

static uint8_t *lanes_of(const sim_gen_judge *j, size_t row) { return j->lanes + row * j->derived.dim; }

static const char *memory_of(bool accumulator) { return accumulator ? "accumulator" : "scratchpad"; }

bool sim_judge_read(sim_gen_judge *j, bool accumulator, int64_t row, uint32_t lanes) {
  size_t n = number(j, accumulator, row);
  const uint8_t *defined = lanes_of(j, n);
  for (uint32_t lane = 0; lane < lanes; lane++)
    if (!defined[lane])
      return sim_judge_fail(j, "reads lane %u of %s row %" PRId64 ", which nothing has written", lane,
                            memory_of(accumulator), row);
  return sim_judge_loop_access(j, n, false);
}

bool sim_judge_write(sim_gen_judge *j, bool accumulator, int64_t row, uint32_t first, uint32_t lanes) {
  size_t n = number(j, accumulator, row);
  memset(lanes_of(j, n) + first, 1, lanes);
  j->dirty[n] = 1;
  return sim_judge_loop_access(j, n, true);
}

// ---- main memory

enum { TOUCHED_READ = 1, TOUCHED_WRITTEN = 2 };

bool sim_judge_memory(sim_gen_judge *j, uint64_t address, uint64_t length, bool write) {
  uint8_t own = write ? TOUCHED_WRITTEN : TOUCHED_READ, other = write ? TOUCHED_READ : TOUCHED_WRITTEN;
  uint8_t *at = j->touched + (address - ARCH_MEMORY_BASE);
  for (uint64_t i = 0; i < length; i++) {
    if ((at[i] & other) != 0)
      return sim_judge_fail(j, "%s memory 0x%" PRIx64 " that has been %s since the last fence",
                            write ? "writes" : "reads", address + i, write ? "read" : "written");
    at[i] |= own;
  }
  return true;
}

// ---- loops

static sim_judge_part part_of(isa_id id) {
  switch (id) {
    case ISA_MVIN:
      return JUDGE_A;
    case ISA_MVIN2:
      return JUDGE_B;
    case ISA_MVIN3:
      return JUDGE_D;
    case ISA_MVOUT:
    case ISA_MVOUT_SPAD_R2:
      return JUDGE_STORE;
    default:
      return JUDGE_EXECUTE;
  }
}

enum { LOADS = 1 << JUDGE_A | 1 << JUDGE_B | 1 << JUDGE_D };

// Parts of the loop before whose accesses of a row come before those of the part at hand, whatever the timing.
static unsigned ordered_before(const sim_gen_judge *j, size_t row) {
  unsigned ordered = 1U << j->part;
  bool computed = (j->loops[0].writes[row] >> JUDGE_EXECUTE & 1) != 0;
  if (j->part == JUDGE_EXECUTE) ordered |= LOADS;
  if (j->part == JUDGE_STORE && computed) ordered |= LOADS | 1 << JUDGE_EXECUTE;
  return ordered;
}

// The same for parts of this loop, which functional order runs before the part at hand.
static unsigned ordered_within(const sim_gen_judge *j, size_t row, bool write) {
  unsigned ordered = 1U << j->part;
  bool accumulator = row >= j->derived.sp_rows;
  if (j->part == JUDGE_EXECUTE) ordered |= LOADS;
  if (j->part == JUDGE_STORE && !write) ordered |= LOADS | 1 << JUDGE_EXECUTE;
  if (j->part == JUDGE_B && accumulator) ordered |= 1 << JUDGE_A;  // residual addition
  return ordered;
}

static const char *const part_names[] = {"the load of A", "the load of B", "the load of D", "the products",
                                         "the store"};

static bool unordered(sim_gen_judge *j, size_t row, unsigned parts, const char *where) {
  unsigned part = 0;
  while ((parts >> part & 1) == 0) part++;
  bool accumulator = row >= j->derived.sp_rows;
  return sim_judge_fail(j, "%s shares %s row %zu with %s of the %s loop", part_names[j->part], memory_of(accumulator),
                        accumulator ? row - j->derived.sp_rows : row, part_names[part], where);
}

bool sim_judge_loop_access(sim_gen_judge *j, size_t row, bool write) {
  if (!j->in_loop) return true;
  sim_judge_loop *now = &j->loops[0], *before = &j->loops[1];
  unsigned others = before->writes[row] | (write ? before->reads[row] : 0);
  others &= ~ordered_before(j, row);
  if (others != 0) return unordered(j, row, others, "previous");
  others = now->writes[row] | (write ? now->reads[row] : 0);
  others &= ~ordered_within(j, row, write);
  if (others != 0) return unordered(j, row, others, "same");
  *(write ? &now->writes[row] : &now->reads[row]) |= (uint8_t)(1U << j->part);
  return true;
}

static sim_judge_loop_kind kind_of(const isa_insn *insn) {
  if (insn == NULL) return JUDGE_NO_LOOP;
  if (insn->unit == ISA_UNIT_LOOP_MATMUL) return JUDGE_LOOP_WS;
  return insn->unit == ISA_UNIT_LOOP_CONV ? JUDGE_LOOP_CONV : JUDGE_NO_LOOP;
}

static bool is_run(const isa_insn *insn) {
  return insn->id == ISA_LOOP_WS_R1 || insn->id == ISA_LOOP_WS_R2 || insn->id == ISA_LOOP_CONV_WS_R1 ||
         insn->id == ISA_LOOP_CONV_WS_R2;
}

// Other commands wait until all loops have been unrolled, and so do the loops of the other unit.
static void follow_loops(sim_gen_judge *j, sim_judge_loop_kind kind) {
  if (j->loop_kind != JUDGE_NO_LOOP && kind != j->loop_kind)
    for (int i = 0; i < 2; i++) clear_loop(j, &j->loops[i]);
  j->loop_kind = kind;
}

static void begin_loop(sim_gen_judge *j) {
  sim_judge_loop spare = j->loops[1];
  j->loops[1] = j->loops[0];
  j->loops[0] = spare;
  clear_loop(j, &j->loops[0]);
  j->in_loop = true;
}

// ---- items

static void on_primitive(void *context, const arch_command *command) {
  sim_gen_judge *j = context;
  const isa_id id = command->insn->id;
  j->part = part_of(id);
  if (!j->failed) sim_judge_primitive(j, id, command->rs1, command->rs2);
}

static void fence(sim_gen_judge *j) {
  memset(j->touched, 0, j->memory_bytes);
  follow_loops(j, JUDGE_NO_LOOP);
}

bool sim_gen_judge_item(sim_gen_judge *j, const sim_gen_item *item, char why[GEN_WHY]) {
  j->why = why;
  if (item->fence) {
    fence(j);
    return true;
  }
  const isa_insn *insn = item->command.insn;
  follow_loops(j, kind_of(insn));
  if (insn != NULL && is_run(insn)) begin_loop(j);
  arch_fault fault;
  if (!arch_checker_command(j->checker, &item->command, on_primitive, j, &fault)) sim_judge_fail(j, "%s", fault.text);
  j->in_loop = false;
  return !j->failed;
}

bool sim_gen_judge_end(const sim_gen_judge *j, char why[GEN_WHY]) {
  const char *open = j->preloaded ? "a preload waits for its compute" : j->chain_open ? "the chain has no C" : NULL;
  if (open != NULL) snprintf(why, GEN_WHY, "%s", open);
  return open == NULL;
}

bool sim_gen_judge_program(const sim_gen_program *program, char why[GEN_WHY]) {
  sim_gen_judge *j = sim_gen_judge_create(program->array, program->image_bytes);
  bool good = j != NULL;
  for (size_t i = 0; good && i < program->count; i++) good = sim_gen_judge_item(j, &program->items[i], why);
  good = good && sim_gen_judge_end(j, why);
  sim_gen_judge_destroy(j);
  return good;
}

// ---- what is known

const arch_config *sim_gen_judge_config(const sim_gen_judge *j) { return arch_checker_config(j->checker); }

bool sim_gen_judge_defined(const sim_gen_judge *j, bool accumulator, int64_t row, uint32_t lanes) {
  const uint8_t *defined = lanes_of(j, number(j, accumulator, row));
  for (uint32_t lane = 0; lane < lanes; lane++)
    if (!defined[lane]) return false;
  return true;
}

bool sim_gen_judge_dirty(const sim_gen_judge *j, bool accumulator, int64_t row) {
  return j->dirty[number(j, accumulator, row)] != 0;
}

void sim_gen_judge_clean(sim_gen_judge *j) { memset(j->dirty, 0, j->rows); }

uint64_t sim_gen_judge_primitives(const sim_gen_judge *j) { return j->primitives; }

uint64_t sim_gen_judge_completions(const sim_gen_judge *j) { return j->completions; }
