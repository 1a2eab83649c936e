// SPDX-License-Identifier: Apache-2.0
// Faults in compiled programs are found at their commands. Whether a fault changes a result at all is said by the
// interpreter of the kernel, which knows nothing of commands.
#include "runner/diverge.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/test.h"
#include "compiler/layer/layer.h"
#include "runner/oracle.h"
#include "sim/ref/ref.h"

enum { DEFAULT_FAULTS = 20, KIND_TRIES = 10000 };

// ---- programs

static const map_layer layers[] = {
    {.kind = MAP_GEMM, .size = {1, 40, 1, 36, 52, 1, 1}, .result_bytes = 1, .bias = true},
    {.kind = MAP_CONV,
     .size = {1, 9, 9, 20, 12, 3, 3},
     .stride = {1, 1},
     .padding = {1, 1, 1, 1},
     .result_bytes = 1,
     .bias = true},
    {.kind = MAP_GEMM, .size = {1, 17, 1, 70, 33, 1, 1}, .result_bytes = 4},
};
static const char *const arrays[] = {"dim4", "dim8", "dim16"};
enum { LAYERS = sizeof layers / sizeof *layers };

typedef struct subject {
  hw_array array;
  compile_result compiled;
  run_oracle oracle;
  command_program *straight;
} subject;

static bool add_straight(void *context, const command_insn *insn) {
  command_program *to = context;
  if (insn == NULL)
    command_add_fence(to);
  else
    command_add(to, insn);
  return true;
}

static command_program *straight_of(const command_program *from) {
  command_program *to = command_create(from->name, from->array);
  for (int t = 0; t < from->tensor_count; t++) command_add_tensor(to, &from->tensors[t]);
  command_walk(from, add_straight, to);
  return to;
}

static subject *open_subject(int number) {
  wf_diag diag = wf_diag_to(stderr);
  subject *s = WF_NEW(subject);
  assert_true(hw_array_load(&s->array, arrays[number], &diag));
  const layer_policy policy = {.straight = true};
  assert_true(layer_compile(&layers[number], &s->array, &policy, &s->compiled, &diag));
  assert_true(run_oracle_fill(&s->oracle, &s->compiled, 5, &diag));
  assert_true(run_oracle_expect(&s->oracle, &s->compiled, &diag));
  s->straight = straight_of(s->compiled.commands);
  return s;
}

static void close_subject(subject *s) {
  command_destroy(s->straight);
  run_oracle_release(&s->oracle);
  compile_release(&s->compiled);
  wf_free(s);
}

// ---- faults

// What a fault hits: a field of this type loses or gains a bit, or the command is not given.
typedef struct fault_kind {
  const char *name;
  isa_type type;
  const char *field;   // NULL: any of the type
  unsigned low, bits;  // which bits
} fault_kind;

static const fault_kind kinds[] = {
    {"a scale", ISA_TYPE_F32, NULL, 20, 11},
    {"an address in main memory", ISA_TYPE_DRAM, NULL, 0, 10},
    {"a local row", ISA_TYPE_LOCAL_ADDRESS, NULL, 0, 8},
    {"a flag to accumulate", ISA_TYPE_LOCAL_ADDRESS, "dest", 30, 1},
    {"a memory", ISA_TYPE_LOCAL_ADDRESS, NULL, 31, 1},
    {"a stride in bytes", ISA_TYPE_BYTES, NULL, 0, 8},
    {"rows", ISA_TYPE_ROWS, NULL, 0, 4},
    {"elements", ISA_TYPE_ELEMS, NULL, 0, 3},
    {"a switch", ISA_TYPE_BOOL, NULL, 0, 1},
    {"a command that is not given", ISA_TYPE_CONST, NULL, 0, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct fault {
  const fault_kind *kind;
  uint64_t command;
  const isa_insn *insn;
} fault;

static const isa_field *field_of(const isa_insn *insn, const fault_kind *kind) {
  for (size_t f = 0; f < insn->field_count; f++)
    if (insn->fields[f].type == kind->type && (kind->field == NULL || strcmp(insn->fields[f].name, kind->field) == 0))
      return &insn->fields[f];
  return NULL;
}

static uint64_t number_at(const command_program *p, size_t node) {
  uint64_t number = 0;
  for (size_t n = 0; n < node; n++) number += p->nodes[n].kind == COMMAND_INSN;
  return number;
}

// Puts a fault of the kind into a command that can have it; false: none was met.
static bool put_fault(command_program *p, const fault_kind *kind, uint64_t *random, fault *f) {
  for (int tries = 0; tries < KIND_TRIES; tries++) {
    const size_t at = wf_random_below(random, p->count);
    command_node *node = &p->nodes[at];
    if (node->kind != COMMAND_INSN) continue;
    *f = (fault){kind, number_at(p, at), command_isa(p, &node->insn)};
    if (kind->type == ISA_TYPE_CONST) {
      node->kind = COMMAND_FENCE;
      return true;
    }
    const isa_field *field = field_of(f->insn, kind);
    if (field == NULL) continue;
    const uint64_t bit = UINT64_C(1) << (kind->low + wf_random_below(random, kind->bits));
    const uint64_t value = isa_field_get(field, node->insn.rs1, node->insn.rs2);
    isa_field_set(field, &node->insn.rs1, &node->insn.rs2, value ^ bit);
    return true;
  }
  return false;
}

// ---- who says what

// Whether the results are other ones, or the program does not come to its end.
static bool has_effect(const subject *s, command_program *faulty) {
  wf_diag silent = wf_diag_to(NULL);
  compile_result with = s->compiled;
  with.commands = faulty;
  run_oracle_verdict verdict;
  const run_config config = {.engine = &sim_ref_engine};
  return !run_oracle_judge(&s->oracle, &with, &config, &verdict, &silent) || verdict.wrong != 0;
}

static run_divergence locate(const subject *s, const command_program *faulty, const sim_engine_ops *engine) {
  wf_diag diag = wf_diag_to(stderr);
  const sim_engine_options quiet = {.quiet = true};
  const run_config judged = {.engine = engine, .options = &quiet}, reference = {.engine = &sim_ref_engine};
  void *tensors[RUN_ORACLE_TENSORS] = {0};
  for (int t = 0; t < s->straight->tensor_count; t++) {
    const size_t bytes = command_tensor_bytes(&s->straight->tensors[t]);
    tensors[t] = wf_calloc(bytes + s->oracle.bytes[t] + 1, 1);
    memcpy(tensors[t], s->oracle.before[t], s->oracle.bytes[t]);
  }
  const run_diverge_request request = {
      .judged = {faulty, &judged}, .reference = {s->straight, &reference}, .tensors = tensors};
  run_divergence found;
  assert_true(run_diverge(&request, &found, &diag));
  for (int t = 0; t < s->straight->tensor_count; t++) wf_free(tensors[t]);
  return found;
}

static bool is_named(const run_divergence *d, const fault *f) {
  for (int i = 0; i < d->setter_count; i++)
    if (d->setters[i].number == f->command) return true;
  return d->first.number <= f->command && f->command <= d->last.number;
}

static unsigned log2_of(size_t count) {
  unsigned bits = 0;
  while (count >> bits != 0) bits++;
  return bits;
}

// ---- tests

typedef struct counts {
  unsigned put, without_effect, caught, named, in_place;
  unsigned names;  // commands that were told, of all that were caught
} counts;

static void try_fault(const subject *s, int number, uint64_t *random, counts *c) {
  command_program *faulty = straight_of(s->straight);
  fault f;
  if (put_fault(faulty, &kinds[number % KINDS], random, &f)) {
    c->put++;
    const bool effect = has_effect(s, faulty);
    const run_divergence d = effect ? locate(s, faulty, &sim_ref_engine) : (run_divergence){0};
    c->without_effect += !effect;
    c->caught += d.found;
    c->named += d.found && is_named(&d, &f);
    c->names += d.found ? (unsigned)(1 + (d.first.number != d.last.number) + d.setter_count) : 0;
    c->in_place += d.found && d.first.number <= f.command && f.command <= d.last.number;
    assert_true(d.runs <= 2 * (1 + log2_of(s->straight->count + 1)));
    if (effect && !(d.found && is_named(&d, &f)))
      print_message("%s in command %llu (%s): %s at %llu\n", f.kind->name, (unsigned long long)f.command, f.insn->name,
                    d.found ? "named" : "not caught", (unsigned long long)d.first.number);
  }
  command_destroy(faulty);
}

static unsigned fault_count = DEFAULT_FAULTS;

static void test_faults_are_named(void **state) {
  (void)state;
  subject *subjects[LAYERS];
  for (int n = 0; n < LAYERS; n++) subjects[n] = open_subject(n);
  uint64_t random = 11;
  counts c = {0};
  for (int n = 0; c.put - c.without_effect < fault_count; n++)
    try_fault(subjects[wf_random_below(&random, LAYERS)], n, &random, &c);
  for (int n = 0; n < LAYERS; n++) close_subject(subjects[n]);
  const unsigned effective = c.put - c.without_effect;
  print_message(
      "%u faults, %u without effect; of %u others %u caught, %u named, %u by their own results; %.2f names each\n",
      c.put, c.without_effect, effective, c.caught, c.named, c.in_place, (double)c.names / effective);
  assert_true(100 * c.caught >= 95 * effective && 100 * c.named >= 95 * effective);
  assert_true(c.in_place > effective / 4 && c.in_place < effective);
  assert_true(c.names <= 4 * effective);  // of some hundred commands
}

// Without a fault nothing is named; with one the engine cycle, too, shows where.
static void test_engines(void **state) {
  (void)state;
  subject *s = open_subject(0);
  const run_divergence none = locate(s, s->straight, &sim_cycle_engine);
  assert_false(none.found);
  assert_int_equal(none.runs, 2);
  uint64_t random = 4;
  fault f;
  command_program *faulty = straight_of(s->straight);
  assert_true(put_fault(faulty, &kinds[KINDS - 1], &random, &f));
  assert_true(has_effect(s, faulty));
  const run_divergence d = locate(s, faulty, &sim_cycle_engine), same = locate(s, faulty, &sim_ref_engine);
  assert_true(d.found && is_named(&d, &f));
  assert_int_equal(d.first.number, same.first.number);
  assert_int_equal(d.value, same.value);
  command_destroy(faulty);
  close_subject(s);
}

static void test_other_tensors(void **state) {
  (void)state;
  wf_diag silent = wf_diag_to(NULL);
  subject *s = open_subject(0), *other = open_subject(1);
  const run_config config = {.engine = &sim_ref_engine};
  run_divergence found;
  const run_diverge_request request = {.judged = {s->straight, &config}, .reference = {other->straight, &config}};
  assert_false(run_diverge(&request, &found, &silent));
  assert_int_equal(silent.errors, 1);
  close_subject(s);
  close_subject(other);
}

int main(int argc, char **argv) {
  if (argc > 1) fault_count = (unsigned)atoi(argv[1]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults_are_named), cmocka_unit_test(test_engines),
                                     cmocka_unit_test(test_other_tensors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
