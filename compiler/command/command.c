// SPDX-License-Identifier: Apache-2.0
// Making programs and walking their executions: see command.h.
//
// Invariant: nodes added through the functions here nest (every END has its LOOP), a loop has at least one trip, and a
// tensor operand stands only where the instruction has a memory address.
#include "compiler/command/command.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/command/private.h"

command_program *command_create(const char *name, const hw_array *array) {
  wf_arena *arena = wf_arena_create();
  command_program *program = WF_ARENA_NEW(arena, command_program);
  program->arena = arena;
  program->name = wf_arena_text(arena, name, strlen(name));
  program->array = array;
  return program;
}

void command_destroy(command_program *program) {
  if (program == NULL) return;
  wf_free(program->nodes);
  wf_arena_destroy(program->arena);
}

command_program *command_create_like(const command_program *program) {
  command_program *copy = command_create(program->name, program->array);
  copy->macs = program->macs;
  for (int t = 0; t < program->tensor_count; t++) command_add_tensor(copy, &program->tensors[t]);
  return copy;
}

int command_add_tensor(command_program *program, const command_tensor *tensor) {
  assert(program->tensor_count < COMMAND_TENSORS_MAX);
  size_t count = (size_t)program->tensor_count, room = count;
  if ((count & (count - 1)) == 0)  // room for the next power of two
    program->tensors = wf_arena_grow(program->arena, program->tensors, count, &room, sizeof *program->tensors);
  command_tensor *added = &program->tensors[count];
  program->verified = false;
  *added = *tensor;
  added->name = wf_arena_text(program->arena, tensor->name, strlen(tensor->name));
  if (tensor->contents != NULL) {
    int8_t *contents = WF_ARENA_ARRAY(program->arena, tensor->elements, int8_t);
    memcpy(contents, tensor->contents, tensor->elements);
    added->contents = contents;
  }
  return program->tensor_count++;
}

// Nodes are not in the arena: growing there would keep every smaller copy.
void command_reserve(command_program *program, size_t count) {
  if (count <= program->room) return;
  program->room = count;
  program->nodes = wf_realloc(program->nodes, count, sizeof *program->nodes);
}

static command_node *push(command_program *program, command_kind kind) {
  program->verified = false;
  if (program->count == program->room) command_reserve(program, 2 * program->room + 64);
  command_node *node = &program->nodes[program->count++];
  *node = (command_node){.kind = (uint8_t)kind};
  return node;
}

const isa_insn *command_isa(const command_program *program, const command_insn *insn) {
  const isa_insn *found = isa_find(program->array->isa.revision, insn->funct, insn->rs1);
  assert(found != NULL);
  return found;
}

bool command_takes_tensor(const isa_insn *insn, unsigned reg) {
  for (size_t i = 0; i < insn->field_count; i++)
    if (insn->fields[i].type == ISA_TYPE_DRAM && insn->fields[i].reg == reg) return true;
  return false;
}

static bool tensor_exists(const command_program *program, int tensor) {
  return tensor == COMMAND_NO_TENSOR || (tensor >= 0 && tensor < program->tensor_count);
}

static bool tensors_fit(const command_program *program, const command_insn *insn) {
  if (!tensor_exists(program, insn->tensor_rs1) || !tensor_exists(program, insn->tensor_rs2)) return false;
  if (insn->tensor_rs1 == COMMAND_NO_TENSOR && insn->tensor_rs2 == COMMAND_NO_TENSOR) return true;
  const isa_insn *found = command_isa(program, insn);
  return (insn->tensor_rs1 == COMMAND_NO_TENSOR || command_takes_tensor(found, 1)) &&
         (insn->tensor_rs2 == COMMAND_NO_TENSOR || command_takes_tensor(found, 2));
}

void command_add(command_program *program, const command_insn *insn) { command_add_stepped(program, insn, NULL); }

void command_add_stepped(command_program *program, const command_insn *insn, const command_step *steps) {
  assert(tensors_fit(program, insn));
  command_node *node = push(program, COMMAND_INSN);
  node->insn = *insn;
  bool moves = false;
  for (int i = 0; steps != NULL && i < program->open; i++) moves |= steps[i].rs1 != 0 || steps[i].rs2 != 0;
  if (!moves) return;
  command_step *copy = WF_ARENA_ARRAY(program->arena, (size_t)program->open, command_step);
  memcpy(copy, steps, (size_t)program->open * sizeof *copy);
  node->steps = copy;
}

void command_add_fence(command_program *program) {
  push(program, COMMAND_FENCE);
  program->fences++;
}

void command_add_loop(command_program *program, uint64_t trips) {
  assert(trips != 0 && program->open < COMMAND_LOOPS_MAX);
  push(program, COMMAND_LOOP)->trips = trips;
  program->loops++;
  program->open++;
}

void command_add_end(command_program *program) {
  assert(program->open > 0);
  program->open--;
  push(program, COMMAND_END);
}

// ---- executions

typedef struct walker {
  const command_program *program;
  bool (*visit)(void *context, const command_insn *insn);
  void *context;
  const bool *in_full;  // per node of a loop: whether more than its first and last iteration counts; NULL: all do
  size_t at;
  int depth;
  uint64_t iteration[COMMAND_LOOPS_MAX];
} walker;

static bool walk_insn(const walker *w, const command_node *node) {
  if (node->steps == NULL) return w->visit(w->context, &node->insn);
  command_insn insn = node->insn;
  for (int i = 0; i < w->depth; i++) {
    insn.rs1 += node->steps[i].rs1 * w->iteration[i];
    insn.rs2 += node->steps[i].rs2 * w->iteration[i];
  }
  return w->visit(w->context, &insn);
}

static bool walk_loop(walker *w, uint64_t trips);

// Up to the END of the loop around, or of the program; w->at is left there.
static bool walk_nodes(walker *w) {
  for (; w->at < w->program->count; w->at++) {
    const command_node *node = &w->program->nodes[w->at];
    bool more = true;
    switch ((command_kind)node->kind) {
      case COMMAND_INSN:
        more = walk_insn(w, node);
        break;
      case COMMAND_LOOP:
        w->at++;
        more = walk_loop(w, node->trips);
        break;
      case COMMAND_FENCE:
        more = w->visit(w->context, NULL);
        break;
      case COMMAND_END:
        return true;
    }
    if (!more) return false;
  }
  return true;
}

static bool walk_loop(walker *w, uint64_t trips) {
  const size_t body = w->at;
  const bool ends = w->in_full != NULL && !w->in_full[body - 1];
  assert(w->depth < COMMAND_LOOPS_MAX && trips != 0);
  w->depth++;
  for (uint64_t i = 0; i < trips; i = ends && i + 1 < trips ? trips - 1 : i + 1) {
    w->iteration[w->depth - 1] = i;
    w->at = body;
    if (!walk_nodes(w)) return false;
  }
  w->depth--;
  return true;
}

bool command_walk(const command_program *program, bool (*visit)(void *context, const command_insn *insn),
                  void *context) {
  assert(program->open == 0);
  walker w = {.program = program, .visit = visit, .context = context};
  return walk_nodes(&w);
}

bool command_walk_ends(const command_program *program, const bool *in_full,
                       bool (*visit)(void *context, const command_insn *insn), void *context) {
  walker w = {.program = program, .visit = visit, .context = context, .in_full = in_full};
  return walk_nodes(&w);
}

static bool add_execution(void *context, const command_insn *insn) {
  if (insn == NULL)
    command_add_fence(context);
  else
    command_add(context, insn);
  return true;
}

const command_program *command_straight(const command_program *program) {
  if (program->loops == 0) return program;
  command_program *straight = command_create_like(program);
  command_walk(program, add_execution, straight);
  return straight;
}

static uint64_t saturating_product(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// Executions of nodes of some kinds.
static uint64_t count_executions(const command_program *program, unsigned kinds) {
  uint64_t times[COMMAND_LOOPS_MAX + 1] = {1}, total = 0;
  int depth = 0;
  for (size_t n = 0; n < program->count; n++) {
    const command_node *node = &program->nodes[n];
    if (node->kind == COMMAND_LOOP) {
      times[depth + 1] = saturating_product(times[depth], node->trips);
      depth++;
    }
    if ((kinds >> node->kind & 1) != 0 && __builtin_add_overflow(total, times[depth], &total)) return UINT64_MAX;
    if (node->kind == COMMAND_END) depth--;
  }
  return total;
}

uint64_t command_executions(const command_program *program) {
  if (program->loops == 0) return program->count - program->fences;
  return count_executions(program, 1u << COMMAND_INSN);
}

uint64_t command_walk_length(const command_program *program) {
  return count_executions(program, 1u << COMMAND_INSN | 1u << COMMAND_FENCE | 1u << COMMAND_LOOP);
}
