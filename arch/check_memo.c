// SPDX-License-Identifier: Apache-2.0
// Loops that have been checked already. A program runs the same few loops again and again at other addresses of main
// memory; engines that only want to know whether a loop is legal then need not walk through its primitives.
//
// What the verdict on a loop depends on is its plan without the addresses of main memory, the configuration registers,
// the preload that waits, and main memory. All but the last is the key. Of main memory an entry keeps, for each
// operand, the bytes from the first to the last that is touched, relative to the operand's address: a loop with the
// same key is legal if these are inside of main memory. If they are not, or if the loop was not legal, its primitives
// say why.
#include <string.h>

#include "arch/check_private.h"
#include "base/alloc.h"
#include "base/hash.h"

enum { ENTRIES = 64 };

// Of one loop; bytes that are no field are zero.
typedef struct key {
  union {
    arch_loop_ws_plan ws;
    arch_loop_conv_plan conv;
  } plan;
  arch_config config;
  arch_check_preload preload;
  bool sums_left;
  bool absent[CHECK_OPERANDS];  // its address is 0
} key;

typedef struct memo_entry {
  bool used;
  key key;
  arch_check_extent extents[CHECK_OPERANDS];  // from the operand's address on
  // What the loop left.
  arch_config config;
  arch_check_preload preload;
  bool sums_left;
  uint64_t undefined;  // commands
} memo_entry;

struct arch_check_memo {
  memo_entry entries[ENTRIES];
  key key;  // of the loop that is being checked
  uint64_t base[CHECK_OPERANDS];
  uint64_t undefined;  // before it
  arch_check_extent extents[CHECK_OPERANDS];
};

// ---- the key of a loop

static void begin(arch_checker *checker, uint64_t *const base[CHECK_OPERANDS], arch_command *run) {
  arch_check_memo *memo = checker->memo;
  key *k = &memo->key;
  run->pc = run->index = 0;
  for (unsigned o = 0; o < CHECK_OPERANDS; o++) {
    memo->base[o] = *base[o];
    memo->extents[o] = (arch_check_extent){.low = UINT64_MAX};
    k->absent[o] = *base[o] == 0;
    *base[o] = 0;
  }
  k->config = checker->config;
  k->preload = checker->preload;
  k->sums_left = checker->sums_left;
  memo->undefined = checker->undefined;
}

static key *new_key(arch_checker *checker) {
  if (checker->memo == NULL) checker->memo = WF_NEW(arch_check_memo);
  memset(&checker->memo->key, 0, sizeof checker->memo->key);
  return &checker->memo->key;
}

// Operands in the order of the parts.
void arch_check_memo_begin_ws(arch_checker *checker, const arch_loop_ws_plan *plan) {
  key *k = new_key(checker);
  k->plan.ws = *plan;
  arch_loop_ws_slot *s = &k->plan.ws.slot;
  begin(checker, (uint64_t *const[]){&s->d, &s->a, &s->b, &s->c}, &k->plan.ws.run);
}

void arch_check_memo_begin_conv(arch_checker *checker, const arch_loop_conv_plan *plan) {
  key *k = new_key(checker);
  k->plan.conv = *plan;
  arch_loop_conv_slot *s = &k->plan.conv.slot;
  begin(checker, (uint64_t *const[]){&s->bias, &s->input, &s->weights, &s->output}, &k->plan.conv.run);
}

static memo_entry *entry_of(arch_check_memo *memo) {
  return &memo->entries[wf_hash(WF_HASH_START, &memo->key.plan, sizeof memo->key.plan) % ENTRIES];
}

// ---- verdicts

static bool inside(const arch_checker *checker, const memo_entry *e) {
  const uint64_t *base = checker->memo->base;
  for (unsigned o = 0; o < CHECK_OPERANDS && checker->memory != NULL; o++) {
    const arch_check_extent *x = &e->extents[o];
    if (x->low >= x->end) continue;
    if (arch_memory_at(checker->memory, base[o] + x->low, x->end - x->low) == NULL) return false;
  }
  return true;
}

bool arch_check_memo_passes(arch_checker *checker) {
  const memo_entry *e = entry_of(checker->memo);
  if (!e->used || memcmp(&e->key, &checker->memo->key, sizeof e->key) != 0 || !inside(checker, e)) return false;
  checker->config = e->config;
  checker->preload = e->preload;
  arch_check_forget_products(checker);
  checker->sums_left = e->sums_left;
  checker->undefined += e->undefined;
  return true;
}

arch_check_extent *arch_check_memo_extent(arch_checker *checker, unsigned part) {
  static const uint8_t operand_of[] = {0, 1, 2, CHECK_OPERANDS, 3};  // execute touches no main memory
  return operand_of[part] == CHECK_OPERANDS ? NULL : &checker->memo->extents[operand_of[part]];
}

// An operand outside of main memory could reach address 0, which is not touched, with one of its offsets.
static bool bases_inside(const arch_checker *checker) {
  const arch_check_memo *memo = checker->memo;
  for (unsigned o = 0; o < CHECK_OPERANDS && checker->memory != NULL; o++)
    if (memo->base[o] != 0 && arch_memory_at(checker->memory, memo->base[o], 1) == NULL) return false;
  return true;
}

void arch_check_memo_keep(arch_checker *checker) {
  arch_check_memo *memo = checker->memo;
  if (!bases_inside(checker)) return;
  memo_entry *e = entry_of(memo);
  e->used = true;
  e->key = memo->key;
  for (unsigned o = 0; o < CHECK_OPERANDS; o++) {
    const arch_check_extent *x = &memo->extents[o];
    e->extents[o] = x->low >= x->end
                        ? (arch_check_extent){0}
                        : (arch_check_extent){.low = x->low - memo->base[o], .end = x->end - memo->base[o]};
  }
  e->config = checker->config;
  e->preload = checker->preload;
  e->sums_left = checker->sums_left;
  e->undefined = checker->undefined - memo->undefined;
}
