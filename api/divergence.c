// SPDX-License-Identifier: Apache-2.0
// The first command whose result is another one than on a second engine. See weft.h.
#include <inttypes.h>

#include "api/kernel.h"
#include "api/report.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "compiler/command/private.h"
#include "runner/diverge.h"
#include "runner/oracle.h"
#include "sim/cycle/cycle.h"

enum { COMMANDS_MAX = 1 << 26 };  // bytes of a file

struct weft_divergence {
  const weft_kernel *kernel;
  const char *engine, *against;
  command_program *read;  // of a file; NULL: the kernel's are judged
  const command_program *judged;
  run_divergence found;
  const block_statement *statement;  // NULL: not known
};
typedef struct weft_divergence report;

// ---- the statement that a command carries out

static int tensor_of(const block_statement *s) {
  return s->kind == BLOCK_LOAD ? s->load.access.tensor : s->kind == BLOCK_STORE ? s->store.access.tensor : BLOCK_NONE;
}

// The first statement of a kind; loads and stores: of the tensor. NULL: there is none.
static const block_statement *find_statement(const block_statement *list, block_kind kind, int tensor) {
  for (const block_statement *s = list; s != NULL; s = s->next) {
    const block_statement *inside = s->kind == BLOCK_FOR ? find_statement(s->loop.body, kind, tensor) : NULL;
    if (inside != NULL) return inside;
    if (s->kind == kind && tensor_of(s) == tensor) return s;
  }
  return NULL;
}

static const block_statement *statement_of(const weft_kernel *kernel, const command_program *judged,
                                           const command_insn *insn) {
  const block_program *block = kernel->result.block;
  if (block == NULL) return NULL;
  switch (command_isa(judged, insn)->id) {
    case ISA_MVIN:
    case ISA_MVIN2:
    case ISA_MVIN3:
      return find_statement(block->body, BLOCK_LOAD, insn->tensor_rs1);
    case ISA_MVOUT:
      return find_statement(block->body, BLOCK_STORE, insn->tensor_rs1);
    case ISA_PRELOAD:
    case ISA_COMPUTE_PRELOADED:
    case ISA_COMPUTE_ACCUMULATED:
      return find_statement(block->body, BLOCK_DOT, BLOCK_NONE);
    default:
      return NULL;
  }
}

static const char *kind_name(const block_statement *s) {
  return s->kind == BLOCK_LOAD ? "load" : s->kind == BLOCK_STORE ? "store" : "product";
}

// ---- text

static void print_command(const report *r, const char *title, const run_diverge_command *c, FILE *out) {
  char text[COMMAND_TEXT_MAX];
  command_print_insn(r->judged, &c->insn, text, sizeof text);
  fprintf(out, "%-11s %" PRIu64 ": %s\n", title, c->number, text);
}

static void print_place(const report *r, FILE *out) {
  const run_divergence *d = &r->found;
  if (d->place == RUN_DIVERGE_FAULT) {
    fprintf(out, "result      one of the engines stops with a fault\n");
    return;
  }
  fprintf(out, "result      ");
  if (d->place == RUN_DIVERGE_TENSOR)
    fprintf(out, "tensor %s, byte %" PRIu64, r->judged->tensors[d->tensor].name, d->column);
  else
    fprintf(out, "%s row %" PRIu64 ", column %" PRIu64,
            d->place == RUN_DIVERGE_SCRATCHPAD ? "scratchpad" : "accumulator", d->row, d->column);
  fprintf(out, ": %" PRId64 ", not %" PRId64 "\n", d->value, d->expected);
}

static void print(const void *thing, const weft_run_form *form, FILE *out) {
  const report *r = thing;
  (void)form;
  const run_divergence *d = &r->found;
  if (!d->found) {
    fprintf(out, "%s and %s agree in every row of both memories and every tensor\n", r->engine, r->against);
    return;
  }
  fprintf(out, "kernel      %s\n", r->kernel->file);
  if (r->statement != NULL)
    fprintf(out, "statement   %s:%u: %s\n", r->statement->where.file, r->statement->where.line,
            kind_name(r->statement));
  print_command(r, "command", &d->first, out);
  if (d->last.number != d->first.number) print_command(r, "  with", &d->last, out);
  print_place(r, out);
  for (int i = 0; i < d->setter_count; i++) print_command(r, i == 0 ? "goes by" : "", &d->setters[i], out);
}

// ---- JSON

static cJSON *json_command(const report *r, const run_diverge_command *c) {
  cJSON *object = cJSON_CreateObject();
  char text[COMMAND_TEXT_MAX];
  command_print_insn(r->judged, &c->insn, text, sizeof text);
  wf_json_count(object, "number", c->number);
  cJSON_AddStringToObject(object, "command", text);
  return object;
}

static const char *place_name(const report *r) {
  static const char *const names[] = {[RUN_DIVERGE_SCRATCHPAD] = "scratchpad",
                                      [RUN_DIVERGE_ACCUMULATOR] = "accumulator",
                                      [RUN_DIVERGE_FAULT] = "fault"};
  const run_divergence *d = &r->found;
  return d->place == RUN_DIVERGE_TENSOR ? r->judged->tensors[d->tensor].name : names[d->place];
}

static void add_result(const report *r, cJSON *object) {
  const run_divergence *d = &r->found;
  cJSON_AddStringToObject(object, "place", place_name(r));
  if (d->place == RUN_DIVERGE_FAULT) return;
  wf_json_count(object, "row", d->row);
  wf_json_count(object, "column", d->column);
  cJSON_AddNumberToObject(object, "value", (double)d->value);
  cJSON_AddNumberToObject(object, "expected", (double)d->expected);
}

static cJSON *json(const report *r) {
  const run_divergence *d = &r->found;
  cJSON *object = api_kernel_json(r->kernel);
  cJSON_AddStringToObject(object, "engine", r->engine);
  cJSON_AddStringToObject(object, "against", r->against);
  cJSON_AddBoolToObject(object, "equal", !d->found);
  wf_json_count(object, "runs", d->runs);
  if (!d->found) return object;
  cJSON_AddItemToObject(object, "first", json_command(r, &d->first));
  cJSON_AddItemToObject(object, "last", json_command(r, &d->last));
  if (r->statement != NULL) cJSON_AddNumberToObject(object, "line", r->statement->where.line);
  add_result(r, object);
  cJSON *setters = cJSON_AddArrayToObject(object, "goes_by");
  for (int i = 0; i < d->setter_count; i++) cJSON_AddItemToArray(setters, json_command(r, &d->setters[i]));
  return object;
}

static void print_json(const void *thing, const weft_run_form *form, FILE *out) {
  (void)form;
  wf_json_write(json(thing), out);
}

// ---- the run

static bool locate(report *r, const weft_divergence_options *o, const sim_engine_ops *engine,
                   const sim_engine_ops *against, wf_diag *diag) {
  const sim_engine_options quiet = {.quiet = true};
  const run_config judge = {.engine = engine, .options = &quiet}, reference = {.engine = against, .options = &quiet};
  run_oracle oracle;
  if (!run_oracle_fill_as_elf(&oracle, &r->kernel->result, o->seed, diag)) return false;
  void *tensors[RUN_ORACLE_TENSORS] = {0};
  for (int t = 0; t < oracle.tensors; t++) tensors[t] = oracle.before[t];
  const run_diverge_request request = {
      .judged = {r->judged, &judge}, .reference = {r->kernel->result.commands, &reference}, .tensors = tensors};
  const bool good = run_diverge(&request, &r->found, diag);
  run_oracle_release(&oracle);
  return good;
}

static command_program *read_commands(const char *path, const hw_array *array, wf_diag *diag) {
  size_t length;
  char *text = wf_read_file(path, COMMANDS_MAX, &length, diag);
  if (text != NULL && length > COMMANDS_MAX)
    wf_error(diag, wf_in_file(path), "is larger than %d MiB", COMMANDS_MAX >> 20);
  command_program *program =
      text == NULL || length > COMMANDS_MAX ? NULL : command_parse(path, text, length, array, diag);
  wf_free(text);
  return program;
}

// An engine that has data; NULL after the call was refused.
static const sim_engine_ops *engine_named(weft_session *s, const char *name) {
  const sim_engine_ops *engine = name == NULL ? &sim_cycle_engine : sim_engine_find(name);
  if (engine != NULL && !engine->timing_only) return engine;
  api_refuse(s, "results are compared: engine %s is none that has them", name);
  return NULL;
}

weft_divergence *weft_kernel_diverge(weft_session *s, const weft_kernel *k, const weft_divergence_options *options) {
  weft_divergence_options o = {0};
  if (!api_begin(s, "run") || !api_given(s, k, "the kernel") || !api_take(s, options, &o, sizeof o)) return NULL;
  const sim_engine_ops *engine = engine_named(s, o.engine),
                       *against = engine == NULL ? NULL : engine_named(s, o.against);
  if (against == NULL) return NULL;
  report *r = WF_NEW(report);
  *r = (report){.kernel = k, .engine = engine->name, .against = against->name, .judged = k->result.commands};
  if (o.commands != NULL) r->judged = r->read = read_commands(o.commands, &k->array.array, &s->diag);
  const bool read = r->judged != NULL, good = read && locate(r, &o, engine, against, &s->diag);
  if (good && r->found.found) r->statement = statement_of(k, r->judged, &r->found.last.insn);
  if (api_end(s, good, read ? WEFT_CANNOT_BUILD : WEFT_BAD_INPUT) == WEFT_OK) return r;
  weft_divergence_destroy(r);
  return NULL;
}

void weft_divergence_destroy(weft_divergence *r) {
  if (r == NULL) return;
  if (r->read != NULL) command_destroy(r->read);
  wf_free(r);
}

weft_status weft_divergence_describe(const weft_divergence *r, weft_divergence_facts *facts) {
  if (r == NULL) return WEFT_USAGE;
  const run_divergence *d = &r->found;
  weft_divergence_facts full = {.equal = !d->found, .runs = d->runs};
  if (d->found) {
    full.first = d->first.number;
    full.last = d->last.number;
    full.place = place_name(r);
    full.line = r->statement == NULL ? 0 : r->statement->where.line;
    command_print_insn(r->judged, &d->last.insn, full.command, sizeof full.command);
    if (d->place != RUN_DIVERGE_FAULT) {
      full.row = d->row;
      full.column = d->column;
      full.value = d->value;
      full.expected = d->expected;
    }
  }
  return api_give(&full, sizeof full, facts);
}

char *weft_divergence_report(weft_session *s, const weft_divergence *r, const weft_run_form *form) {
  static const api_form forms[] = {{"text", print}, {"json", print_json}, {NULL, NULL}};
  return api_report(s, "run", r, forms, form);
}
