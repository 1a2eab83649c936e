// A straight program with products judged by kinds: see verify.h.
//
// Whether a product is legal depends on its fields, on the configuration, and on rows, which have to lie in the
// memories. Of the products that differ in rows only, those with the lowest and those with the highest speak for all.
#include <string.h>

#include "compiler/command/private.h"
#include "compiler/command/verify.h"
#include "hw/base/alloc.h"

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
  kind *last[2];               // under it, with new weights and with those that stay
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

// Whether two operands differ in rows only.
static bool alike(const kinds *all, uint64_t a, uint64_t b) { return ((a ^ b) & ~all->row_mask) == 0; }

// Whether a product has the configuration and the kind of the product with these weights before it.
static bool is_as_last(const kinds *all, const kind *last, const command_insn *preload, const command_insn *compute) {
  return last != NULL && alike(all, last->preload.rs1, preload->rs1) && alike(all, last->preload.rs2, preload->rs2) &&
         alike(all, last->compute.rs1, compute->rs1) && alike(all, last->compute.rs2, compute->rs2);
}

static command_insn without_rows(const kinds *all, const command_insn *insn) {
  command_insn left = *insn;
  left.rs1 &= ~all->row_mask;
  left.rs2 &= ~all->row_mask;
  return left;
}

static bool note(kinds *all, const command_insn *config, const command_insn *preload, const command_insn *compute) {
  const uint64_t operands[OPERANDS] = {preload->rs1, preload->rs2, compute->rs1, compute->rs2};
  kind **last = &all->last[compute->funct == ISA_FUNCT_COMPUTE_PRELOADED], *k = *last;
  if (config != all->config) all->last[0] = all->last[1] = k = NULL;
  all->config = config;
  if (!is_as_last(all, k, preload, compute)) {
    const kind wanted = {
        .config = *config, .preload = without_rows(all, preload), .compute = without_rows(all, compute)};
    k = *last = find(all, &wanted);
  }
  if (k == NULL) return false;
  for (int o = 0; o < OPERANDS; o++) {
    const uint64_t row = operands[o] & all->row_mask;
    if (row < k->low[o]) k->low[o] = row;
    if (row > k->high[o]) k->high[o] = row;
  }
  return true;
}

// Products wait for their pair here.
typedef struct pairing {
  kinds all;
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

static bool walk(pairing *p, visitor *visit, void *context) {
  const command_program *program = p->all.program;
  const command_sides sides = command_sides_of(program->array);
  for (size_t n = 0; n < program->count; n++) {
    const command_node *node = &program->nodes[n];
    if (node->kind == COMMAND_FENCE && n + 1 == program->count) break;
    switch (node->kind == COMMAND_INSN ? command_side_of(&sides, &node->insn) : COMMAND_NO_SIDE) {
      case COMMAND_PRODUCTS:
        if (!take_product(p, &node->insn)) return false;
        if (node->insn.funct == ISA_FUNCT_CONFIG_EX && !visit(context, &node->insn)) return true;
        break;
      case COMMAND_MOVES:
        if (!visit(context, &node->insn)) return true;
        break;
      case COMMAND_NO_SIDE:
        return false;
    }
  }
  return p->preload == NULL && visit_kinds(&p->all, visit, context);
}

bool command_walk_kinds(const command_program *program, const hw_derived *derived, visitor *visit, void *context) {
  pairing p = {.all = {.program = program, .row_mask = (UINT64_C(1) << derived->row_bits) - 1}};
  p.all.slots = WF_NEW_ARRAY(SLOTS, kind);
  const bool enough = walk(&p, visit, context);
  wf_free(p.all.slots);
  return enough;
}
