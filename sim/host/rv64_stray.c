// SPDX-License-Identifier: Apache-2.0
// What fetch does on a path that is given up: until the pipeline turns back, blocks of that path arrive, and what they
// hold moves the history of branches and the return addresses. A mispredicted branch takes back the history; an
// instruction that starts again takes back nothing. No path that is given up fills a cache.
#include <string.h>

#include "sim/host/rv64_timing.h"

enum { BRANCH_OPCODE = 0x63, JAL_OPCODE = 0x6f, JALR_OPCODE = 0x67, OPCODE_MASK = 0x7f };

// What matters of an instruction at a glance.
typedef struct glance {
  enum { GOES_ON, BRANCHES, JUMPS, JUMPS_INDIRECT } kind;
  unsigned length;
  bool calls, returns;
  uint64_t target;  // of a branch or direct jump
} glance;

static uint32_t bits(uint32_t word, unsigned low, unsigned count, unsigned to) {
  return (word >> low & ((UINT32_C(1) << count) - 1)) << to;
}

static uint64_t target_of(uint64_t pc, uint32_t offset, unsigned width) {
  return pc + (uint64_t)(int64_t)((int32_t)(offset << (32 - width)) >> (32 - width));
}

static bool is_link(uint32_t reg) { return reg == 1 || reg == 5; }

static glance glance_at_word(uint64_t pc, uint32_t word, unsigned length) {
  glance g = {.length = length};
  uint32_t rd = bits(word, 7, 5, 0);
  switch (word & OPCODE_MASK) {
    case BRANCH_OPCODE:
      g.kind = BRANCHES;
      g.target =
          target_of(pc, bits(word, 31, 1, 12) | bits(word, 7, 1, 11) | bits(word, 25, 6, 5) | bits(word, 8, 4, 1), 13);
      break;
    case JAL_OPCODE:
      g.kind = JUMPS;
      g.calls = is_link(rd);
      g.target = target_of(
          pc, bits(word, 31, 1, 20) | bits(word, 12, 8, 12) | bits(word, 20, 1, 11) | bits(word, 21, 10, 1), 21);
      break;
    case JALR_OPCODE:
      g.kind = JUMPS_INDIRECT;
      g.calls = is_link(rd);
      g.returns = rd == 0 && is_link(bits(word, 15, 5, 0));
      break;
    default:
      break;
  }
  return g;
}

// Compressed jumps and branches: quadrant 1 with funct3 5 to 7, quadrant 2 with funct3 4.
static bool may_jump(uint16_t low) {
  unsigned quadrant = low & 3, funct3 = low >> 13;
  return (quadrant == 1 && funct3 >= 5) || (quadrant == 2 && funct3 == 4);
}

static bool glance_at(const host *h, uint64_t pc, glance *g) {
  uint32_t word = rv64_fetch(h, pc);
  if (word == 0) return false;
  if ((word & 3) == 3)
    *g = glance_at_word(pc, word, 4);
  else if (may_jump((uint16_t)word))
    *g = glance_at_word(pc, rv64_expand((uint16_t)word), 2);
  else
    *g = (glance){.length = 2};
  return true;
}

// The block in which the instruction ends arrives by `until`, and its line is there. Then the instruction leaves decode
// one cycle behind the last, at the earliest.
static bool arrives(rv64_timing *t, uint64_t end, uint64_t until, uint64_t *decode) {
  bool fresh = t->block != end;
  ++*decode;
  while (t->block != end) {
    uint64_t there = rv64_timing_ask(t);
    if (there > until || rv64_l1_find(&t->icache, t->block >> t->line_blocks_shift) == NULL) return false;
    *decode = wf_max(*decode, there);
  }
  if (fresh) t->left[t->count % RV64_LEFT] = *decode;
  return true;
}

static void go(rv64_timing *t, uint64_t target) {
  if (rv64_predict_target(&t->predictor, t->block) == NULL) t->asked++;
  t->block = (target >> RV64_BLOCK_SHIFT) - 1;
}

static uint64_t guess_indirect(rv64_timing *t, const glance *g) {
  return g->returns ? rv64_predict_return(&t->predictor, t->block) : rv64_predict_indirect(&t->predictor, t->block);
}

// The effects of one instruction; where fetch goes on.
static uint64_t pass(rv64_timing *t, uint64_t pc, const glance *g) {
  uint64_t next = pc + g->length;
  if (g->kind == BRANCHES && rv64_predict_guess(&t->predictor, t->block)) next = g->target;
  if (g->kind == JUMPS) next = g->target;
  if (g->kind == JUMPS_INDIRECT) next = guess_indirect(t, g);
  if (g->calls) rv64_predict_call(&t->predictor, pc + g->length);
  if (next != RV64_NO_BLOCK && next != pc + g->length) go(t, next);
  return next;
}

void rv64_timing_stray(host *h, uint64_t now, uint64_t pc, uint64_t until) {
  rv64_timing *t = h->timing;
  uint64_t block = t->block, asked = t->asked, asked_before = t->asked_before;
  unsigned count = t->count;
  if (pc >> RV64_BLOCK_SHIFT != t->block && pc >> RV64_BLOCK_SHIFT != t->block + 1) go(t, pc);
  glance g;
  while (glance_at(h, pc, &g) && arrives(t, (pc + g.length - 2) >> RV64_BLOCK_SHIFT, until, &now)) {
    pc = pass(t, pc, &g);
    if (pc == RV64_NO_BLOCK) break;
  }
  t->block = block;
  t->asked = asked;
  t->asked_before = asked_before;
  t->count = count;
}
