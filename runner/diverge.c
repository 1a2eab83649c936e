// SPDX-License-Identifier: Apache-2.0
// The first command with another result: see diverge.h.
#include "runner/diverge.h"

#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

enum { SIDES = 2, JUDGED = 0, REFERENCE = 1 };

// The executions of a program: commands, and fences.
typedef struct list {
  command_node *nodes;
  uint64_t *numbers;  // commands before it
  size_t count, room, number_room;
  uint64_t commands;
} list;

typedef struct search {
  const run_diverge_side *sides[SIDES];
  void *const *tensors;
  list lists[SIDES];
  hw_derived derived;
  size_t *cuts;  // executions behind which runs can be compared
  size_t cut_count;
  unsigned runs;
  wf_arena *arena;
} search;

// What a run leaves behind; tensors of both local memories stand behind those of the program.
typedef struct state {
  bool good;
  int count;
  void **tensors;
  command_tensor *what;
} state;

// ---- executions

typedef struct lister {
  wf_arena *arena;
  list *list;
} lister;

static bool add_execution(void *context, const command_insn *insn) {
  const lister *to = context;
  list *l = to->list;
  size_t numbers = l->count;
  *WF_ARENA_PUSH(to->arena, l->numbers, numbers, &l->number_room) = l->commands;
  command_node *node = WF_ARENA_PUSH(to->arena, l->nodes, l->count, &l->room);
  *node = (command_node){.kind = COMMAND_FENCE};
  if (insn == NULL) return true;
  node->insn = *insn;
  node->insn.kind = COMMAND_INSN;
  l->commands++;
  return true;
}

static isa_id id_at(const search *s, int side, size_t at) {
  const list *l = &s->lists[side];
  if (at >= l->count || l->nodes[at].kind != COMMAND_INSN) return ISA_ID_COUNT;
  return command_isa(s->sides[side]->program, &l->nodes[at].insn)->id;
}

// Between a preload and its product engines hold what no store shows.
static void find_cuts(search *s) {
  const size_t count = wf_max(s->lists[JUDGED].count, s->lists[REFERENCE].count);
  s->cuts = WF_ARENA_ARRAY(s->arena, count + 1, size_t);
  for (size_t at = 0; at <= count; at++) {
    const bool open =
        at > 0 && at < count && (id_at(s, JUDGED, at - 1) == ISA_PRELOAD || id_at(s, REFERENCE, at - 1) == ISA_PRELOAD);
    if (!open) s->cuts[s->cut_count++] = at;
  }
}

// ---- runs up to a command

static void add_probe_store(command_program *to, int tensor, uint64_t offset, uint32_t local, uint32_t rows,
                            uint32_t cols) {
  command_insn i = {.funct = ISA_FUNCT_MVOUT,
                    .tensor_rs1 = (int16_t)tensor,
                    .tensor_rs2 = COMMAND_NO_TENSOR,
                    .rs1 = offset,
                    .rs2 = local | (uint64_t)cols << 32 | (uint64_t)rows << 48};
  command_add(to, &i);
}

// Stores every row of a local memory, as wide as it is.
static void add_probe(const search *s, command_program *to, bool accumulator) {
  const bool full = accumulator && to->array->accumulator.full_reads;
  const uint32_t rows = accumulator ? s->derived.acc_rows : s->derived.sp_rows, dim = s->derived.dim;
  const unsigned bytes = full ? s->derived.acc_bytes : s->derived.input_bytes;
  const uint32_t flags =
      (accumulator ? (uint32_t)ISA_LOCAL_ACCUMULATOR_MASK : 0) | (full ? (uint32_t)ISA_LOCAL_FULL_MASK : 0);
  const command_tensor tensor = {.name = accumulator ? "accumulator rows" : "scratchpad rows",
                                 .element_bytes = bytes,
                                 .elements = (uint64_t)rows * dim,
                                 .written = true};
  const int number = command_add_tensor(to, &tensor);
  command_insn config = {
      .funct = ISA_FUNCT_CONFIG_ST, .tensor_rs1 = COMMAND_NO_TENSOR, .tensor_rs2 = COMMAND_NO_TENSOR};
  isa_init_config_st(&config.rs1, &config.rs2);
  isa_set_config_st_stride(&config.rs1, &config.rs2, (uint64_t)dim * bytes);
  isa_set_config_st_acc_scale(&config.rs1, &config.rs2, UINT32_C(0x3f800000));
  command_add(to, &config);
  for (uint32_t row = 0; row < rows; row += dim)
    add_probe_store(to, number, (uint64_t)row * dim * bytes, row | flags, wf_min(dim, rows - row), dim);
}

static command_program *prefix_of(const search *s, int side, size_t count) {
  const command_program *from = s->sides[side]->program;
  const list *l = &s->lists[side];
  command_program *to = command_create(from->name, from->array);
  for (int t = 0; t < from->tensor_count; t++) {
    command_tensor tensor = from->tensors[t];
    tensor.written = tensor.contents == NULL;
    command_add_tensor(to, &tensor);
  }
  for (size_t at = 0; at < wf_min(count, l->count); at++)
    if (l->nodes[at].kind == COMMAND_FENCE)
      command_add_fence(to);
    else
      command_add(to, &l->nodes[at].insn);
  command_add_fence(to);
  add_probe(s, to, false);
  add_probe(s, to, true);
  command_add_fence(to);
  return to;
}

static state run_to(search *s, int side, size_t count) {
  command_program *program = prefix_of(s, side, count);
  state r = {.count = program->tensor_count};
  r.tensors = WF_NEW_ARRAY((size_t)r.count, void *);
  r.what = WF_NEW_ARRAY((size_t)r.count, command_tensor);
  memcpy(r.what, program->tensors, (size_t)r.count * sizeof *r.what);
  for (int t = 0; t < r.count; t++) {
    const size_t bytes = command_tensor_bytes(&r.what[t]);
    r.tensors[t] = wf_calloc(bytes + 1, 1);
    if (t < s->sides[side]->program->tensor_count && s->tensors[t] != NULL && r.what[t].contents == NULL)
      memcpy(r.tensors[t], s->tensors[t], bytes);
  }
  run_result result;
  wf_diag silent = wf_diag_to(NULL);
  r.good = run_commands_on(program, s->sides[side]->config, r.tensors, &result, &silent);
  s->runs++;
  command_destroy(program);
  return r;
}

static void release(state *r) {
  for (int t = 0; t < r->count; t++) wf_free(r->tensors[t]);
  wf_free(r->tensors);
  wf_free(r->what);
}

// ---- differences

static int64_t element_at(const state *r, int tensor, uint64_t element) {
  int32_t wide;
  if (r->what[tensor].element_bytes != sizeof wide) return ((const int8_t *)r->tensors[tensor])[element];
  memcpy(&wide, (const uint8_t *)r->tensors[tensor] + element * sizeof wide, sizeof wide);
  return wide;
}

static void describe(const search *s, const state *judged, const state *reference, int tensor, run_divergence *d) {
  const command_tensor *what = &judged->what[tensor];
  const int own = s->sides[JUDGED]->program->tensor_count;
  uint64_t e = 0;
  while (element_at(judged, tensor, e) == element_at(reference, tensor, e)) e++;
  d->expected = element_at(reference, tensor, e);
  d->value = element_at(judged, tensor, e);
  d->tensor = tensor;
  d->place = tensor < own ? RUN_DIVERGE_TENSOR : tensor == own ? RUN_DIVERGE_SCRATCHPAD : RUN_DIVERGE_ACCUMULATOR;
  d->row = tensor < own ? 0 : e / s->derived.dim;
  d->column = tensor < own ? e * what->element_bytes : e % s->derived.dim;
}

// The first place in which two states differ, local memories first: they are what the tensors come from.
static bool differ(const search *s, const state *judged, const state *reference, run_divergence *d) {
  if (!judged->good && !reference->good) return false;
  d->place = RUN_DIVERGE_FAULT;
  if (!judged->good || !reference->good) return true;
  for (int t = judged->count; t-- > 0;) {
    if (memcmp(judged->tensors[t], reference->tensors[t], command_tensor_bytes(&judged->what[t])) == 0) continue;
    describe(s, judged, reference, t, d);
    return true;
  }
  return false;
}

static bool differ_at(search *s, size_t cut, run_divergence *d) {
  state judged = run_to(s, JUDGED, s->cuts[cut]), reference = run_to(s, REFERENCE, s->cuts[cut]);
  const bool other = differ(s, &judged, &reference, d);
  release(&judged);
  release(&reference);
  return other;
}

// ---- commands

// The number that it has in the reference, if that is as long; the operands of the judged program, if it has a command.
static run_diverge_command command_at(const search *s, size_t at) {
  const list *counts = &s->lists[at < s->lists[REFERENCE].count ? REFERENCE : JUDGED];
  const list *l = &s->lists[id_at(s, JUDGED, at) != ISA_ID_COUNT ? JUDGED : REFERENCE];
  if (at >= counts->count) return (run_diverge_command){.number = counts->commands};
  return (run_diverge_command){counts->numbers[at], at < l->count ? l->nodes[at].insn : (command_insn){0}};
}

// What a command goes by besides its operands: the latest command of a kind, of a load state, or of weights.
typedef struct rule {
  isa_id user, setter;
  bool (*sets)(const command_insn *insn);  // NULL: each of the kind
} rule;

static bool sets_load_0(const command_insn *i) { return isa_get_config_ld_state(i->rs1, i->rs2) == 0; }
static bool sets_load_1(const command_insn *i) { return isa_get_config_ld_state(i->rs1, i->rs2) == 1; }
static bool sets_load_2(const command_insn *i) { return isa_get_config_ld_state(i->rs1, i->rs2) == 2; }
static bool sets_all(const command_insn *i) { return isa_get_config_ex_strides_only(i->rs1, i->rs2) == 0; }
static bool sets_scale(const command_insn *i) {
  return isa_get_config_st_acc_scale(i->rs1, i->rs2) != UINT32_C(0xffffffff);
}
static bool sets_weights(const command_insn *i) { return (uint32_t)i->rs1 != ISA_LOCAL_GARBAGE; }

static const rule rules[] = {
    {ISA_MVIN, ISA_CONFIG_LD, sets_load_0},
    {ISA_MVIN2, ISA_CONFIG_LD, sets_load_1},
    {ISA_MVIN3, ISA_CONFIG_LD, sets_load_2},
    {ISA_PRELOAD, ISA_CONFIG_EX, NULL},
    {ISA_COMPUTE_PRELOADED, ISA_CONFIG_EX, NULL},
    {ISA_COMPUTE_PRELOADED, ISA_CONFIG_EX, sets_all},
    {ISA_COMPUTE_ACCUMULATED, ISA_CONFIG_EX, NULL},
    {ISA_COMPUTE_ACCUMULATED, ISA_CONFIG_EX, sets_all},
    {ISA_COMPUTE_ACCUMULATED, ISA_PRELOAD, sets_weights},
    {ISA_MVOUT, ISA_CONFIG_ST, NULL},
    {ISA_MVOUT, ISA_CONFIG_ST, sets_scale},
    {ISA_MVOUT, ISA_CONFIG_NORM, NULL},
};
enum { RULES = sizeof rules / sizeof *rules };

static void add_setter(run_divergence *d, run_diverge_command c) {
  for (int i = 0; i < d->setter_count; i++)
    if (d->setters[i].number == c.number) return;
  if (d->setter_count < RUN_DIVERGE_SETTERS) d->setters[d->setter_count++] = c;
}

static void add_latest(const search *s, int side, size_t before, const rule *r, run_divergence *d) {
  const list *l = &s->lists[side];
  for (size_t at = wf_min(before, l->count); at-- > 0;) {
    if (id_at(s, side, at) != r->setter || (r->sets != NULL && !r->sets(&l->nodes[at].insn))) continue;
    add_setter(d, command_at(s, at));
    return;
  }
}

// Either program may lack what the other one has.
static void add_setters(const search *s, size_t first, size_t end, run_divergence *d) {
  for (int side = SIDES; side-- > 0;)
    for (size_t at = first; at < end; at++)
      for (int r = 0; r < RULES; r++)
        if (id_at(s, side, at) == rules[r].user) add_latest(s, side, first, &rules[r], d);
}

// ----

// Alike behind cut `low`, not behind cut `high`.
static void halve(search *s, run_divergence *d) {
  size_t low = 0, high = s->cut_count - 1;
  if (high == 0 || !differ_at(s, high, d)) return;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    run_divergence here = *d;
    if (differ_at(s, middle, &here)) {
      high = middle;
      *d = here;
    } else {
      low = middle;
    }
  }
  d->found = true;
  d->first = command_at(s, s->cuts[low]);
  d->last = command_at(s, s->cuts[high] - 1);
  add_setters(s, s->cuts[low], s->cuts[high], d);
}

static bool check_tensors(const command_program *a, const command_program *b, wf_diag *diag) {
  bool good = a->tensor_count == b->tensor_count;
  for (int t = 0; good && t < a->tensor_count; t++)
    good = strcmp(a->tensors[t].name, b->tensors[t].name) == 0 &&
           command_tensor_bytes(&a->tensors[t]) == command_tensor_bytes(&b->tensors[t]);
  if (!good) wf_error(diag, wf_in_file(a->name), "the commands do not have the tensors of %s", b->name);
  return good;
}

// Whether both engines can be made: later runs end with faults alone.
static bool check_engine(const run_diverge_side *side, wf_diag *diag) {
  arch_memory *memory = arch_memory_create((uint64_t)side->program->array->memory.capacity_mib << 20);
  sim_engine *engine =
      sim_engine_create(side->config->engine, side->program->array, memory, side->config->options, diag);
  if (engine != NULL) engine->ops->destroy(engine);
  arch_memory_destroy(memory);
  return engine != NULL;
}

bool run_diverge(const run_diverge_request *request, run_divergence *found, wf_diag *diag) {
  *found = (run_divergence){0};
  search s = {.sides = {&request->judged, &request->reference}, .tensors = request->tensors};
  if (!check_tensors(s.sides[JUDGED]->program, s.sides[REFERENCE]->program, diag)) return false;
  for (int side = 0; side < SIDES; side++)
    if (!check_engine(s.sides[side], diag)) return false;
  s.derived = hw_derive(s.sides[JUDGED]->program->array);
  s.arena = wf_arena_create();
  for (int side = 0; side < SIDES; side++)
    command_walk(s.sides[side]->program, add_execution, &(lister){s.arena, &s.lists[side]});
  find_cuts(&s);
  halve(&s, found);
  found->runs = s.runs;
  wf_arena_destroy(s.arena);
  return true;
}
