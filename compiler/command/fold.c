// SPDX-License-Identifier: Apache-2.0
// Drops configuration that has no effect: see command.h. The result is straight (no loops).
//
// Backwards: a configuration command goes when every part that it sets is set again before a command uses it, or is
// never used. Then forwards: it goes when the registers have its values already. What a program finds in the registers
// when it starts is not known, nor what a loop unroller leaves in them: two copies of the registers start with
// different values, and a command is without effect if it changes neither.
#include <string.h>

#include "arch/config.h"
#include "base/alloc.h"
#include "compiler/command/private.h"

// ---- parts of the configuration

enum {
  PART_LOAD = 1,                         // and the next two bits: the load states
  PART_EXECUTE = 1 << ARCH_LOAD_STATES,  // all but the strides
  PART_STRIDES = PART_EXECUTE << 1,      // of operands and results of products
  PART_STORE = PART_EXECUTE << 2,        // what every config_st sets
  PART_SCALE = PART_EXECUTE << 3,        // unless it keeps the scale
  PART_IMAGE = PART_EXECUTE << 4,        // only with pooling or a 1-D store
  PART_POOL = PART_EXECUTE << 5,         // only with pooling
  PARTS_STORE = PART_STORE | PART_SCALE | PART_IMAGE | PART_POOL,
  PARTS_ALL = (PART_POOL << 1) - 1,
  RUNS_LOOP = PART_POOL << 1,  // used by loop unrollers, beside all parts
};

static unsigned parts_of_store(uint64_t rs1, uint64_t rs2) {
  const bool pools = isa_get_config_st_pool_stride(rs1, rs2) != 0;
  unsigned parts = PART_STORE;
  if (isa_get_config_st_acc_scale(rs1, rs2) != ARCH_SCALE_KEEP) parts |= PART_SCALE;
  if (pools || isa_get_config_st_pool_size(rs1, rs2) != 0) parts |= PART_IMAGE;
  return pools ? parts | PART_POOL : parts;
}

// The parts that a configuration command sets as a whole. config_norm changes a bit of the store's activation and has
// registers of its own: it sets no part and stays. config_gate has a funct of its own and always stays.
static unsigned parts_set(isa_id id, uint64_t rs1, uint64_t rs2) {
  switch (id) {
    case ISA_CONFIG_LD:
      return (unsigned)PART_LOAD << isa_get_config_ld_state(rs1, rs2);
    case ISA_CONFIG_EX:
      return isa_get_config_ex_strides_only(rs1, rs2) ? PART_STRIDES : PART_EXECUTE | PART_STRIDES;
    case ISA_CONFIG_ST:
      return parts_of_store(rs1, rs2);
    default:
      return 0;
  }
}

static unsigned parts_used(const isa_insn *insn) {
  switch (insn->id) {
    case ISA_MVIN:
      return PART_LOAD;
    case ISA_MVIN2:
      return PART_LOAD << 1;
    case ISA_MVIN3:
      return PART_LOAD << 2;
    default:
      break;
  }
  switch (insn->unit) {
    case ISA_UNIT_STORE:
      return PARTS_STORE;
    case ISA_UNIT_EXECUTE:
      return PART_EXECUTE | PART_STRIDES;
    case ISA_UNIT_LOOP_MATMUL:
    case ISA_UNIT_LOOP_CONV:
      return PARTS_ALL | RUNS_LOOP;
    default:
      return PARTS_ALL;
  }
}

// Per funct, of instructions other than configuration.
typedef struct usage {
  unsigned parts[128];
} usage;

static usage usage_of(const hw_array *array) {
  usage u = {{0}};
  for (unsigned funct = 1; funct < 128; funct++) {
    const isa_insn *insn = isa_find(array->isa.revision, funct, 0);
    if (insn != NULL) u.parts[funct] = parts_used(insn);
  }
  return u;
}

static bool is_config(const command_node *node) {
  return node->kind == COMMAND_INSN && node->insn.funct == ISA_FUNCT_CONFIG_EX;
}

// A configuration command, and what the commands up to the next one use.
typedef struct setting {
  size_t node;
  bool kept;
  unsigned used_behind;
} setting;

typedef struct settings {
  setting *list;  // allocated
  size_t count, room;
} settings;

static void add_setting(settings *all, size_t node) {
  if (all->count == all->room) {
    all->room = all->room == 0 ? 64 : 2 * all->room;
    all->list = wf_realloc(all->list, all->room, sizeof *all->list);
  }
  all->list[all->count++] = (setting){.node = node, .kept = true};
}

static settings find_settings(const command_program *program) {
  const usage used = usage_of(program->array);
  settings all = {.list = NULL};
  unsigned since = 0;  // the last one
  for (size_t n = 0; n < program->count; n++) {
    const command_node *node = &program->nodes[n];
    if (is_config(node)) {
      if (all.count != 0) all.list[all.count - 1].used_behind = since;
      add_setting(&all, n);
      since = 0;
    } else if (node->kind == COMMAND_INSN) {
      since |= used.parts[node->insn.funct];
    }
  }
  if (all.count != 0) all.list[all.count - 1].used_behind = since;
  return all;
}

// Keeps what is set for a later command.
static void mark_live(const command_program *program, settings *all) {
  unsigned live = 0;
  for (size_t n = all->count; n-- > 0;) {
    setting *s = &all->list[n];
    const command_insn *insn = &program->nodes[s->node].insn;
    const unsigned sets = parts_set(command_isa(program, insn)->id, insn->rs1, insn->rs2);
    live |= s->used_behind;
    s->kept = sets == 0 || (sets & live) != 0;
    live &= ~sets;
  }
}

// ---- registers

static bool same_load(const arch_load_config *a, const arch_load_config *b) {
  return a->stride_bytes == b->stride_bytes && a->scale == b->scale && a->block_stride_rows == b->block_stride_rows &&
         a->pixel_repeats == b->pixel_repeats && a->shrink == b->shrink && a->packed == b->packed;
}

static bool same_store(const arch_store_config *a, const arch_store_config *b) {
  return a->stride_bytes == b->stride_bytes && a->scale == b->scale && a->activation == b->activation &&
         a->pool_stride == b->pool_stride && a->pool_size == b->pool_size && a->pool_upad == b->pool_upad &&
         a->pool_lpad == b->pool_lpad && a->pool_out_dim == b->pool_out_dim && a->pool_orows == b->pool_orows &&
         a->pool_ocols == b->pool_ocols && a->orows == b->orows && a->ocols == b->ocols && a->stats_id == b->stats_id &&
         a->qb == b->qb && a->qc == b->qc && a->qln2 == b->qln2 && a->qln2_inverse == b->qln2_inverse &&
         a->gate == b->gate && a->gate_offset == b->gate_offset && a->gate_scale == b->gate_scale;
}

static bool same_execute(const arch_execute_config *a, const arch_execute_config *b) {
  return a->weight_stationary == b->weight_stationary && a->a_transpose == b->a_transpose &&
         a->b_transpose == b->b_transpose && a->activation == b->activation && a->in_shift == b->in_shift &&
         a->acc_scale == b->acc_scale && a->a_stride_rows == b->a_stride_rows && a->c_stride_rows == b->c_stride_rows;
}

// Whether the command changed the registers; it wrote those of its own unit only.
static bool changed(isa_id id, uint64_t rs1, const arch_config *before, const arch_config *after) {
  if (id == ISA_CONFIG_EX) return !same_execute(&before->execute, &after->execute);
  if (id != ISA_CONFIG_LD) return !same_store(&before->store, &after->store);
  const uint64_t state = isa_get_config_ld_state(rs1, 0);
  return !same_load(&before->load[state], &after->load[state]);
}

// Two sets of registers that differ in every field.
typedef struct registers {
  arch_config low, high;
} registers;

static registers unknown(const hw_array *array) {
  registers r;
  arch_config_reset(&r.low, array);
  r.low.execute.weight_stationary = false;
  r.high = (arch_config){
      .store = {UINT64_MAX, ~1u, 7, 3, 3, 3, 3, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, -1, -1, -1, -1, true, -1, ~0u},
      .execute = {true, true, true, ~0u, ~0u, ~0u, ~0u, ~0u},
  };
  for (int s = 0; s < ARCH_LOAD_STATES; s++) r.high.load[s] = (arch_load_config){UINT64_MAX, ~0u, ~0u, ~0u, true, true};
  return r;
}

static bool has_effect(registers *r, const isa_insn *insn, uint64_t rs1, uint64_t rs2) {
  const registers before = *r;
  arch_config_apply(&r->low, insn->id, rs1, rs2);
  arch_config_apply(&r->high, insn->id, rs1, rs2);
  return changed(insn->id, rs1, &before.low, &r->low) || changed(insn->id, rs1, &before.high, &r->high);
}

// Drops what sets the values in force.
static void mark_needed(const command_program *program, settings *all) {
  registers r = unknown(program->array);
  for (size_t n = 0; n < all->count; n++) {
    setting *s = &all->list[n];
    const command_insn *insn = &program->nodes[s->node].insn;
    if (s->kept) s->kept = has_effect(&r, command_isa(program, insn), insn->rs1, insn->rs2);
    if ((s->used_behind & RUNS_LOOP) != 0) r = unknown(program->array);
  }
}

// Moves together what lies around the others.
static void drop_others(command_program *program, const settings *all) {
  command_node *nodes = program->nodes;
  size_t count = 0, from = 0;
  for (size_t n = 0; n <= all->count; n++) {
    if (n < all->count && all->list[n].kept) continue;
    const size_t end = n < all->count ? all->list[n].node : program->count;
    if (count != from) memmove(nodes + count, nodes + from, (end - from) * sizeof *nodes);
    count += end - from;
    from = end + 1;
  }
  program->count = count;
}

command_program *command_fold_own(command_program *program) {
  command_program *straight = (command_program *)(uintptr_t)command_straight(program);
  if (straight != program) command_destroy(program);
  straight->verified = false;
  settings all = find_settings(straight);
  mark_live(straight, &all);
  mark_needed(straight, &all);
  drop_others(straight, &all);
  wf_free(all.list);
  return straight;
}

command_program *command_fold_config(const command_program *program) {
  command_program *copy = command_create_like(program);
  const command_program *straight = command_straight(program);
  command_reserve(copy, straight->count);
  if (straight->count != 0) memcpy(copy->nodes, straight->nodes, straight->count * sizeof *copy->nodes);
  copy->count = straight->count;
  copy->fences = straight->fences;
  if (straight != program) command_destroy((command_program *)(uintptr_t)straight);
  return command_fold_own(copy);
}
