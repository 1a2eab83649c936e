// SPDX-License-Identifier: Apache-2.0
// The verifier: a program that passes does only what the array can do, inside its tensors. See command.h.
//
// The rules of the machine are the checker's (arch/check.h), which sees every execution, and through it every primitive
// that a loop unroller makes. Tensors get addresses far apart, so that an access is found again by where it lies.
#include "compiler/command/verify.h"

#include <inttypes.h>
#include <stdarg.h>

#include "arch/check.h"
#include "base/alloc.h"
#include "compiler/command/order.h"
#include "compiler/command/private.h"

enum { REPORTS_MAX = 20, FUNCTS = 128, FUNCT_VALUES = UINT8_MAX + 1 };
#define EXECUTIONS_MAX (UINT64_C(1) << 30)

typedef struct verifier {
  const command_program *program;
  wf_diag *diag;
  hw_derived derived;
  arch_checker *checker;
  const command_insn *insn;  // being checked
  command_use use;
  uint64_t index;
  const isa_insn *by_funct[FUNCTS];
  bool plain[FUNCT_VALUES];  // instructions that are in order where they have no tensors
  unsigned reports;
} verifier;

static void report(verifier *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void report(verifier *v, const char *format, ...) {
  char reason[320], text[COMMAND_TEXT_MAX];
  if (v->reports++ >= REPORTS_MAX) return;
  va_list args;
  va_start(args, format);
  vsnprintf(reason, sizeof reason, format, args);
  va_end(args);
  command_print_insn(v->program, v->insn, text, sizeof text);
  wf_error(v->diag, wf_in_file(v->program->name), "command %" PRIu64 ": %s: %s", v->index, text, reason);
}

static bool wrong(verifier *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(verifier *v, const char *format, ...) {
  char text[320];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wf_error(v->diag, wf_in_file(v->program->name), "%s", text);
  v->reports++;
  return false;
}

// ---- the program as data

static void check_tensors(verifier *v) {
  if (!command_name_ok(v->program->name, true)) wrong(v, "'%s' is not a name", v->program->name);
  for (int t = 0; t < v->program->tensor_count; t++) {
    const command_tensor *tensor = &v->program->tensors[t];
    if (!command_name_ok(tensor->name, false)) wrong(v, "tensor %d: '%s' is not a name", t, tensor->name);
    if (tensor->element_bytes == 0 || tensor->elements > COMMAND_TENSOR_BYTES_MAX / tensor->element_bytes)
      wrong(v, "tensor %s: %" PRIu64 " elements of %u bytes are more than 4 GiB", tensor->name, tensor->elements,
            tensor->element_bytes);
    if (tensor->contents != NULL && (tensor->element_bytes != 1 || tensor->is_float || tensor->written))
      wrong(v, "tensor %s: a constant has elements of int8 and is not written", tensor->name);
  }
}

static bool tensor_ok(verifier *v, const isa_insn *insn, int tensor, unsigned reg) {
  if (tensor == COMMAND_NO_TENSOR) return true;
  if (tensor < 0 || tensor >= v->program->tensor_count) return wrong(v, "%s: no tensor %d", insn->name, tensor);
  return command_takes_tensor(insn, reg) || wrong(v, "%s has no address in rs%u", insn->name, reg);
}

// All but configuration is known by its funct.
static const isa_insn *find_insn(verifier *v, const command_insn *c) {
  const unsigned revision = v->program->array->isa.revision;
  if (c->funct == ISA_FUNCT_CONFIG_EX || c->funct >= FUNCTS) return isa_find(revision, c->funct, c->rs1);
  if (v->by_funct[c->funct] == NULL) v->by_funct[c->funct] = isa_find(revision, c->funct, c->rs1);
  return v->by_funct[c->funct];
}

static bool node_ok(verifier *v, const command_node *node, int *depth) {
  switch ((command_kind)node->kind) {
    case COMMAND_INSN: {
      const command_insn *c = &node->insn;
      const isa_insn *insn = find_insn(v, c);
      if (insn == NULL) return wrong(v, "no instruction has funct %u", c->funct);
      if (insn->returns) return wrong(v, "%s returns a value, which nobody takes", insn->name);
      return tensor_ok(v, insn, c->tensor_rs1, 1) && tensor_ok(v, insn, c->tensor_rs2, 2);
    }
    case COMMAND_LOOP:
      if (node->trips == 0) return wrong(v, "a loop without trips");
      return ++*depth <= COMMAND_LOOPS_MAX || wrong(v, "loops nested deeper than %d", COMMAND_LOOPS_MAX);
    case COMMAND_END:
      return --*depth >= 0 || wrong(v, "an end without a loop");
    case COMMAND_FENCE:
      return true;
  }
  return wrong(v, "a node of no kind");
}

// Most commands are products: of an instruction that was found good before, and without tensors. So many nodes from n
// on are.
static size_t skip_plain(const verifier *v, size_t n) {
  if (n == v->program->count) return 0;
  const command_node *first = v->program->nodes + n, *end = v->program->nodes + v->program->count, *node = first;
  for (; node < end; node++) {
    const command_insn *insn = &node->insn;
    if ((insn->tensor_rs1 & insn->tensor_rs2) != COMMAND_NO_TENSOR || !v->plain[insn->funct]) break;
    if (node->kind != COMMAND_INSN) break;
  }
  return (size_t)(node - first);
}

static bool check_structure(verifier *v) {
  int depth = 0;
  bool loops = false;
  for (size_t n = skip_plain(v, 0); n < v->program->count; n += 1 + skip_plain(v, n + 1)) {
    const command_node *node = &v->program->nodes[n];
    if (!node_ok(v, node, &depth)) return false;
    if (node->kind == COMMAND_INSN) v->plain[node->insn.funct] = node->insn.funct != ISA_FUNCT_CONFIG_EX;
    loops |= node->kind == COMMAND_LOOP;
  }
  if (depth != 0) return wrong(v, "a loop without end");
  if ((loops ? command_walk_length(v->program) : v->program->count) <= EXECUTIONS_MAX) return true;
  return wrong(v, "more than %" PRIu64 " commands and iterations", EXECUTIONS_MAX);
}

// ---- executions

static uint64_t address_of(verifier *v, int tensor, uint64_t offset) {
  if (tensor == COMMAND_NO_TENSOR) return offset;
  uint64_t half = COMMAND_TENSOR_DISTANCE / 2;
  if (offset + half >= COMMAND_TENSOR_DISTANCE) report(v, "the offset is far outside of the tensor");
  return command_virtual_address(tensor) + offset;
}

static void check_range(verifier *v, const command_range *range) {
  uint64_t start = range->address, half = COMMAND_TENSOR_DISTANCE / 2;
  if (range->bytes == 0) return;
  const uint64_t number = (start + half) / COMMAND_TENSOR_DISTANCE;
  const char *verb = range->writes ? "writes" : "reads";
  if (number == 0 || number > (uint64_t)v->program->tensor_count) {
    report(v, "%s at 0x%" PRIx64 ", which is in no tensor", verb, start);
    return;
  }
  const command_tensor *tensor = &v->program->tensors[number - 1];
  const int64_t first = (int64_t)(start - command_virtual_address((int)number - 1));
  const uint64_t size = command_tensor_bytes(tensor);
  if (first < 0 || (uint64_t)first > size || range->bytes > size - (uint64_t)first)
    report(v, "%s bytes %" PRId64 "..%" PRId64 " of tensor %s, which has %" PRIu64, verb, first,
           first + (int64_t)range->bytes - 1, tensor->name, size);
  else if (range->writes ? !tensor->written : !tensor->read)
    report(v, "%s tensor %s, which is not declared so", verb, tensor->name);
}

static void on_primitive(void *context, const arch_command *primitive) {
  verifier *v = context;
  const char *missing = command_use_note(&v->use, primitive);
  if (missing != NULL) report(v, "%s before any of the program's own configuration", missing);
  const command_range range = command_range_of(&v->derived, arch_checker_config(v->checker), primitive);
  check_range(v, &range);
}

static bool on_command(void *context, const command_insn *insn) {
  verifier *v = context;
  if (insn == NULL) return true;
  v->insn = insn;
  arch_fault fault;
  const arch_command command = {.insn = find_insn(v, insn),
                                .funct = insn->funct,
                                .rs1 = address_of(v, insn->tensor_rs1, insn->rs1),
                                .rs2 = address_of(v, insn->tensor_rs2, insn->rs2),
                                .index = v->index};
  if (!arch_checker_command(v->checker, &command, on_primitive, v, &fault)) report(v, "%s", fault.text);
  v->index++;
  return v->reports <= REPORTS_MAX;
}

// All executions of a program, or with `in_full` enough of them.
static bool check_executions(verifier *v, const bool *in_full) {
  v->checker = arch_checker_create(v->program->array, NULL);
  command_walk_ends(v->program, in_full, on_command, v);
  arch_checker_destroy(v->checker);
  return v->reports == 0;
}

// Products by their kinds, everything else in order; false if that does not say enough, too.
static bool check_sides(verifier *v) {
  v->checker = arch_checker_create(v->program->array, NULL);
  const bool good = command_walk_kinds(v->program, &v->derived, on_command, v);
  arch_checker_destroy(v->checker);
  return good && v->reports == 0;
}

// ---- loops by their ends
//
// In a loop the rows and bytes that a command touches move by constants, and nothing else changes: what is good in the
// first and the last iteration of all loops around is good in between. That holds if steps change row numbers and
// tensor offsets only, without carry out of them. A loop in which something else changes is gone through in full.

enum { COMBINATIONS_MAX = 256 };

// The loops around a command.
typedef struct nest {
  uint64_t trips[COMMAND_LOOPS_MAX];
  size_t node[COMMAND_LOOPS_MAX];
  int depth;
  bool *all;  // per node of a loop: every iteration counts
} nest;

// An operand that is a row or an offset: its value, and the range that it may go through.
typedef struct moving {
  const uint64_t *steps;
  uint64_t start, limit;
} moving;

static uint64_t distance(uint64_t step) { return (int64_t)step < 0 ? -step : step; }

static bool is_walked(const nest *n, int l) { return n->trips[l] <= 2 || n->all[n->node[l]]; }

// Whether the loops that are not gone through keep the operand in its range.
static bool within(const nest *n, const moving *m, uint64_t start) {
  uint64_t up = 0, down = 0;
  for (int l = 0; l < n->depth; l++) {
    uint64_t far;
    if (is_walked(n, l) || m->steps[l] == 0) continue;
    if (__builtin_mul_overflow(distance(m->steps[l]), n->trips[l] - 1, &far) || far > m->limit) return false;
    *((int64_t)m->steps[l] < 0 ? &down : &up) += far;
  }
  start &= m->limit;
  return down <= start && up <= m->limit - start;
}

// The same from each value that the other loops bring; false, too, if they are too many.
static bool within_all(const nest *n, const moving *m, int l, uint64_t start, unsigned *left) {
  while (l < n->depth && (!is_walked(n, l) || m->steps[l] == 0)) l++;
  if (l == n->depth) return (*left)-- != 0 && within(n, m, start);
  for (uint64_t i = 0; i < n->trips[l]; i++)
    if (!within_all(n, m, l + 1, start + i * m->steps[l], left)) return false;
  return true;
}

static void walk_in_full(nest *n, const uint64_t *steps, uint64_t longest) {
  for (int l = 0; l < n->depth; l++)
    if (distance(steps[l]) > longest) n->all[n->node[l]] = true;
}

static void choose_loops_of(nest *n, const moving *m) {
  unsigned left = COMBINATIONS_MAX;
  walk_in_full(n, m->steps, m->limit);
  if (!within_all(n, m, 0, m->start, &left)) walk_in_full(n, m->steps, 0);
}

static bool moves_rows(isa_id id) {
  return id == ISA_MVIN || id == ISA_MVIN2 || id == ISA_MVIN3 || id == ISA_MVOUT || id == ISA_PRELOAD ||
         id == ISA_COMPUTE_PRELOADED || id == ISA_COMPUTE_ACCUMULATED;
}

static void choose_loops(nest *n, const command_program *program, const command_node *node) {
  uint64_t steps[2][COMMAND_LOOPS_MAX];
  const command_insn *insn = &node->insn;
  const int tensor[2] = {insn->tensor_rs1, insn->tensor_rs2};
  const uint64_t value[2] = {insn->rs1, insn->rs2};
  const bool rows = moves_rows(command_isa(program, insn)->id);
  for (int l = 0; l < n->depth; l++) {
    steps[0][l] = node->steps[l].rs1;
    steps[1][l] = node->steps[l].rs2;
  }
  for (int o = 0; o < 2; o++) {
    const bool address = tensor[o] != COMMAND_NO_TENSOR;
    const moving m = {.steps = steps[o],
                      .start = address ? value[o] + COMMAND_TENSOR_DISTANCE / 2 : value[o],
                      .limit = address ? COMMAND_TENSOR_DISTANCE - 1 : ISA_LOCAL_ROW_MASK};
    if (rows)
      choose_loops_of(n, &m);
    else
      walk_in_full(n, steps[o], 0);
  }
}

// Per node, for loops: whether all iterations count.
static bool *loops_in_full(const command_program *program) {
  nest n = {.all = WF_NEW_ARRAY(program->count + 1, bool)};
  for (size_t i = 0; i < program->count; i++) {
    const command_node *node = &program->nodes[i];
    if (node->kind == COMMAND_LOOP) {
      n.node[n.depth] = i;
      n.trips[n.depth++] = node->trips;
    }
    if (node->kind == COMMAND_END) n.depth--;
    if (node->kind == COMMAND_INSN && node->steps != NULL) choose_loops(&n, program, node);
  }
  return n.all;
}

static bool check_ends(verifier *v) {
  bool *in_full = loops_in_full(v->program);
  const bool good = check_executions(v, in_full);
  wf_free(in_full);
  return good;
}

bool command_verify(const command_program *program, wf_diag *diag) {
  verifier v = {.program = program, .diag = diag, .derived = hw_derive(program->array)};
  check_tensors(&v);
  if (!check_structure(&v) || v.reports != 0) return false;
  wf_diag silent = wf_diag_to(NULL);
  verifier ends = v;
  ends.diag = &silent;
  if (check_sides(&ends)) return command_check_order(program, diag);
  ends = v;
  ends.diag = &silent;
  return (check_ends(&ends) || check_executions(&v, NULL)) &&  // the last one with the numbers of what is wrong
         command_check_order(program, diag);
}

bool command_prove(command_program *program, wf_diag *diag) {
  program->verified = command_verify(program, diag);
  program->verified_values = hw_array_values_hash(program->array);
  return program->verified;
}
