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

enum { ENTRY_BITS = 8, ENTRIES = 1 << ENTRY_BITS, WAYS = 4 };

// Of one loop, without pointers; bytes that are no field are zero, and it is a whole number of words.
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
_Static_assert(sizeof(key) % sizeof(uint64_t) == 0, "the place of a loop follows from the words of its key");

typedef struct memo_entry {
  bool used;
  uint64_t hash;
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
  uint64_t hash;
  memo_entry *entry;
  uint64_t base[CHECK_OPERANDS];
  uint64_t undefined;  // before it
  arch_check_extent extents[CHECK_OPERANDS];
};

// ---- the key of a loop

static void begin(arch_checker *checker, uint64_t *const base[CHECK_OPERANDS], arch_command *run) {
  arch_check_memo *memo = checker->memo;
  key *k = &memo->key;
  run->pc = run->index = 0;
  run->insn = NULL;  // its number stays
  for (unsigned o = 0; o < CHECK_OPERANDS; o++) {
    memo->base[o] = *base[o];
    memo->extents[o] = (arch_check_extent){.low = UINT64_MAX};
    k->absent[o] = *base[o] == 0;
    *base[o] = 0;
  }
  k->config = checker->config;
  if (checker->preload.armed) k->preload = checker->preload;
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
  k->plan.ws.derived = NULL;
  arch_loop_ws_slot *s = &k->plan.ws.slot;
  begin(checker, (uint64_t *const[]){&s->d, &s->a, &s->b, &s->c}, &k->plan.ws.run);
}

void arch_check_memo_begin_conv(arch_checker *checker, const arch_loop_conv_plan *plan) {
  key *k = new_key(checker);
  k->plan.conv = *plan;
  k->plan.conv.derived = NULL;
  arch_loop_conv_slot *s = &k->plan.conv.slot;
  begin(checker, (uint64_t *const[]){&s->bias, &s->input, &s->weights, &s->output}, &k->plan.conv.run);
}

// Of the whole key, as one loop may come behind several others; places follow from its highest bits, as keys often
// differ in high bits of their numbers alone, which the low bits of a product do not see.
static uint64_t hash_of(const key *k) {
  uint64_t words[sizeof *k / sizeof(uint64_t)], mixed = WF_HASH_START;
  memcpy(words, k, sizeof words);
  for (size_t n = 0; n < sizeof words / sizeof *words; n++) {
    mixed = (mixed ^ words[n]) * UINT64_C(0x9e3779b97f4a7c15);
    mixed ^= mixed >> 32;
  }
  return mixed;
}

// Where the loop is, else where it may be kept: one of WAYS places.
static memo_entry *entry_of(arch_check_memo *memo) {
  memo->hash = hash_of(&memo->key);
  memo_entry *first = &memo->entries[(memo->hash >> (64 - ENTRY_BITS)) / WAYS * WAYS];
  for (memo_entry *e = first; e < first + WAYS; e++)
    if (e->used && e->hash == memo->hash && memcmp(&e->key, &memo->key, sizeof e->key) == 0) return e;
  for (memo_entry *e = first; e < first + WAYS; e++)
    if (!e->used) return e;
  return &first[memo->hash % WAYS];
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
  const memo_entry *e = checker->memo->entry = entry_of(checker->memo);
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
  checker->walked++;
  if (!bases_inside(checker)) return;
  memo_entry *e = memo->entry;
  e->used = true;
  e->hash = memo->hash;
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
