// SPDX-License-Identifier: Apache-2.0
// A straight program with products and loads judged by kinds: see verify.h.
//
// Whether a product is legal depends on its fields, on the configuration, and on rows, which have to lie in the
// memories. Of the products that differ in rows only, those with the lowest and those with the highest speak for all.
// The same is true of loads of a tensor that differ in rows and in where they read.
#include <string.h>

#include "base/alloc.h"
#include "compiler/command/private.h"
#include "compiler/command/verify.h"

enum { SLOTS = 1024, KINDS_MAX = SLOTS / 2, OPERANDS = 4 };

// Configuration, preload, compute: operands with rows left out, and these rows.
typedef struct kind {
  bool used;
  command_insn config, preload, compute;
  uint64_t low[OPERANDS], high[OPERANDS];
} kind;

typedef bool visitor(void *context, const command_insn *insn);

typedef struct kinds {
  const command_program *program;
  uint64_t row_mask;
  kind *slots;
  unsigned count;
  const command_insn *config;  // of the latest product
  kind *last[2];               // under it, with new weights and with weights that stay
} kinds;

static bool same(const command_insn *a, const command_insn *b) {
  return a->funct == b->funct && a->rs1 == b->rs1 && a->rs2 == b->rs2;
}

static bool is_kind(const kind *k, const kind *wanted) {
  return same(&k->compute, &wanted->compute) && same(&k->preload, &wanted->preload) &&
         same(&k->config, &wanted->config);
}

static uint32_t slot_of(const kind *k) {
  const uint64_t words[] = {k->config.rs1,  k->config.rs2,  k->preload.rs1,  k->preload.rs2,
                            k->compute.rs1, k->compute.rs2, k->compute.funct};
  uint64_t state = 0;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    state = (state ^ words[i] ^ words[i] >> 29) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(state >> 32) % SLOTS;
}

// NULL: there are too many.
static kind *find(kinds *all, const kind *wanted) {
  uint32_t at = slot_of(wanted);
  while (all->slots[at].used && !is_kind(&all->slots[at], wanted)) at = (at + 1) % SLOTS;
  if (!all->slots[at].used) {
    if (all->count == KINDS_MAX) return NULL;
    all->count++;
    all->slots[at] = *wanted;
    all->slots[at].used = true;
    memset(all->slots[at].low, -1, sizeof all->slots[at].low);
  }
  return &all->slots[at];
}

// Whether a product has the configuration and the kind of the product with these weights before it: operands differ in
// rows only.
static bool is_as_last(const kinds *all, const kind *last, const command_insn *preload, const command_insn *compute) {
  if (last == NULL) return false;
  const uint64_t differ = (last->preload.rs1 ^ preload->rs1) | (last->preload.rs2 ^ preload->rs2) |
                          (last->compute.rs1 ^ compute->rs1) | (last->compute.rs2 ^ compute->rs2);
  return (differ & ~all->row_mask) == 0;
}

static command_insn without_rows(const kinds *all, const command_insn *insn) {
  command_insn left = *insn;
  left.rs1 &= ~all->row_mask;
  left.rs2 &= ~all->row_mask;
  return left;
}

static void note_row(kind *k, int operand, uint64_t row) {
  if (row < k->low[operand]) k->low[operand] = row;
  if (row > k->high[operand]) k->high[operand] = row;
}

static void note_rows(const kinds *all, kind *k, const command_insn *preload, const command_insn *compute) {
  const uint64_t mask = all->row_mask;
  note_row(k, 0, preload->rs1 & mask);
  note_row(k, 1, preload->rs2 & mask);
  note_row(k, 2, compute->rs1 & mask);
  note_row(k, 3, compute->rs2 & mask);
}

static bool note(kinds *all, const command_insn *config, const command_insn *preload, const command_insn *compute) {
  kind **last = &all->last[compute->funct == ISA_FUNCT_COMPUTE_PRELOADED], *k = *last;
  if (config != all->config) all->last[0] = all->last[1] = k = NULL;
  all->config = config;
  if (!is_as_last(all, k, preload, compute)) {
    const kind wanted = {
        .config = *config, .preload = without_rows(all, preload), .compute = without_rows(all, compute)};
    k = *last = find(all, &wanted);
  }
  if (k == NULL) return false;
  note_rows(all, k, preload, compute);
  return true;
}

// ---- loads

enum { LOAD_KINDS_MAX = 32, LOAD_STATES = 3 };

// Configuration and load, row and offset left out, and these.
typedef struct load_kind {
  command_insn config, load;
  uint64_t low_row, high_row;
  int64_t low_offset, high_offset;
} load_kind;

typedef struct load_kinds {
  load_kind list[LOAD_KINDS_MAX];
  int count;
  const command_insn *config[LOAD_STATES];  // in force
  load_kind *last[LOAD_STATES];             // under it
} load_kinds;

static int state_of(const command_insn *load) {
  return load->funct == ISA_FUNCT_MVIN    ? 0
         : load->funct == ISA_FUNCT_MVIN2 ? 1
         : load->funct == ISA_FUNCT_MVIN3 ? 2
                                          : -1;
}

static void configure(load_kinds *all, const command_program *program, const command_insn *insn) {
  if (insn->funct != ISA_FUNCT_CONFIG_LD || command_isa(program, insn)->id != ISA_CONFIG_LD) return;
  const uint64_t state = isa_get_config_ld_state(insn->rs1, insn->rs2);
  if (state >= LOAD_STATES) return;
  all->config[state] = insn;
  all->last[state] = NULL;
}

// Loads of nothing have no offset.
static bool is_load_kind(const load_kind *k, const command_insn *load, uint64_t row_mask) {
  return k->load.funct == load->funct && k->load.tensor_rs1 == load->tensor_rs1 &&
         ((k->load.rs2 ^ load->rs2) & ~row_mask) == 0 &&
         (load->tensor_rs1 != COMMAND_NO_TENSOR || k->load.rs1 == load->rs1);
}

static load_kind *find_load(load_kinds *all, const command_insn *load, int state, uint64_t row_mask) {
  for (int n = 0; n < all->count; n++)
    if (same(&all->list[n].config, all->config[state]) && is_load_kind(&all->list[n], load, row_mask))
      return &all->list[n];
  if (all->count == LOAD_KINDS_MAX) return NULL;
  all->list[all->count] = (load_kind){.config = *all->config[state],
                                      .load = *load,
                                      .low_row = UINT64_MAX,
                                      .low_offset = INT64_MAX,
                                      .high_offset = INT64_MIN};
  return &all->list[all->count++];
}

// False: the load stands for itself.
static bool take_load(load_kinds *all, const command_insn *load, uint64_t row_mask) {
  const int state = state_of(load);
  if (state < 0 || all->config[state] == NULL || load->tensor_rs2 != COMMAND_NO_TENSOR) return false;
  load_kind *k = all->last[state];
  if (k == NULL || !is_load_kind(k, load, row_mask)) k = all->last[state] = find_load(all, load, state, row_mask);
  if (k == NULL) return false;
  const uint64_t row = load->rs2 & row_mask;
  const int64_t offset = (int64_t)load->rs1;
  if (row < k->low_row) k->low_row = row;
  if (row > k->high_row) k->high_row = row;
  if (offset < k->low_offset) k->low_offset = offset;
  if (offset > k->high_offset) k->high_offset = offset;
  return true;
}

static bool visit_load(const load_kind *k, int64_t offset, uint64_t row, uint64_t row_mask, visitor *visit,
                       void *context) {
  command_insn load = k->load;
  load.rs1 = (uint64_t)offset;
  load.rs2 = (load.rs2 & ~row_mask) | row;
  return visit(context, &load);
}

static bool visit_loads(const load_kinds *all, uint64_t row_mask, visitor *visit, void *context) {
  for (int n = 0; n < all->count; n++) {
    const load_kind *k = &all->list[n];
    if (!visit(context, &k->config) || !visit_load(k, k->low_offset, k->low_row, row_mask, visit, context) ||
        !visit_load(k, k->high_offset, k->high_row, row_mask, visit, context))
      return false;
  }
  return true;
}

// ---- all of a program

// Products wait for their pair here.
typedef struct pairing {
  kinds all;
  load_kinds loads;
  const command_insn *config, *preload;
} pairing;

// False where products are not pairs of preload and compute under a whole configuration.
static bool take_product(pairing *p, const command_insn *insn) {
  const bool config = insn->funct == ISA_FUNCT_CONFIG_EX;
  if (config || insn->funct == ISA_FUNCT_PRELOAD) {
    if (p->preload != NULL || (config && isa_get_config_ex_strides_only(insn->rs1, insn->rs2))) return false;
    *(config ? &p->config : &p->preload) = insn;
    return true;
  }
  const bool good = p->preload != NULL && p->config != NULL && note(&p->all, p->config, p->preload, insn);
  p->preload = NULL;
  return good;
}

static bool visit_corner(const kind *k, const uint64_t *rows, visitor *visit, void *context) {
  command_insn preload = k->preload, compute = k->compute;
  preload.rs1 |= rows[0], preload.rs2 |= rows[1];
  compute.rs1 |= rows[2], compute.rs2 |= rows[3];
  return visit(context, &k->config) && visit(context, &preload) && visit(context, &compute);
}

static bool visit_kinds(const kinds *all, visitor *visit, void *context) {
  for (size_t i = 0; i < SLOTS; i++) {
    const kind *k = &all->slots[i];
    if (k->used && (!visit_corner(k, k->low, visit, context) || !visit_corner(k, k->high, visit, context))) break;
  }
  return true;
}

// Most products are like the one before them: how many pairs from node n on are.
static size_t take_alike(pairing *p, size_t n) {
  const command_program *program = p->all.program;
  const command_node *node = &program->nodes[n], *end = program->nodes + program->count;
  size_t pairs = 0;
  if (p->preload != NULL || p->config != p->all.config) return 0;
  for (; node + 1 < end; node += 2, pairs++) {
    const command_insn *preload = &node->insn, *compute = &node[1].insn;
    if (preload->funct != ISA_FUNCT_PRELOAD || !command_is_compute(compute)) break;
    if (node->kind != COMMAND_INSN || node[1].kind != COMMAND_INSN) break;
    kind *k = p->all.last[compute->funct == ISA_FUNCT_COMPUTE_PRELOADED];
    if (!is_as_last(&p->all, k, preload, compute)) break;
    note_rows(&p->all, k, preload, compute);
  }
  return pairs;
}

static bool walk(pairing *p, visitor *visit, void *context) {
  const command_program *program = p->all.program;
  const command_sides sides = command_sides_of(program->array);
  for (size_t n = 0; n < program->count; n++) {
    n += 2 * take_alike(p, n);
    if (n == program->count) break;
    const command_node *node = &program->nodes[n];
    if (node->kind == COMMAND_FENCE && n + 1 == program->count) break;
    switch (node->kind == COMMAND_INSN ? command_side_of(&sides, &node->insn) : COMMAND_NO_SIDE) {
      case COMMAND_PRODUCTS:
        if (!take_product(p, &node->insn)) return false;
        if (node->insn.funct == ISA_FUNCT_CONFIG_EX && !visit(context, &node->insn)) return true;
        break;
      case COMMAND_MOVES:
        configure(&p->loads, program, &node->insn);
        if (!take_load(&p->loads, &node->insn, p->all.row_mask) && !visit(context, &node->insn)) return true;
        break;
      case COMMAND_NO_SIDE:
        return false;
    }
  }
  if (p->preload != NULL) return false;
  return !visit_loads(&p->loads, p->all.row_mask, visit, context) || visit_kinds(&p->all, visit, context);
}

bool command_walk_kinds(const command_program *program, const hw_derived *derived, visitor *visit, void *context) {
  pairing p = {.all = {.program = program, .row_mask = (UINT64_C(1) << derived->row_bits) - 1}};
  p.all.slots = WF_NEW_ARRAY(SLOTS, kind);
  const bool enough = walk(&p, visit, context);
  wf_free(p.all.slots);
  return enough;
}
