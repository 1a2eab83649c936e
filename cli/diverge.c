// SPDX-License-Identifier: Apache-2.0
// Divergence of two runs as text and JSON: see diverge.h.
#include "cli/diverge.h"

#include <inttypes.h>

#include "api/kernel.h"
#include "base/alloc.h"
#include "base/progress.h"
#include "compiler/command/private.h"
#include "runner/oracle.h"

typedef struct report {
  const diverge_job *job;
  const command_program *judged;
  const run_divergence *found;
  const block_statement *statement;  // NULL: not known
} report;

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

static const block_statement *statement_of(const diverge_job *job, const command_program *judged,
                                           const command_insn *insn) {
  const block_program *block = job->kernel->kernel->result.block;
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
  const run_divergence *d = r->found;
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

static void print(const report *r, FILE *out) {
  const run_divergence *d = r->found;
  if (!d->found) {
    fprintf(out, "%s and %s agree in every row of both memories and every tensor\n", r->job->engine->name,
            r->job->against);
    return;
  }
  fprintf(out, "kernel      %s\n", r->job->path);
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
  cli_json_count(object, "number", c->number);
  cJSON_AddStringToObject(object, "command", text);
  return object;
}

static const char *place_name(const report *r) {
  static const char *const names[] = {[RUN_DIVERGE_SCRATCHPAD] = "scratchpad",
                                      [RUN_DIVERGE_ACCUMULATOR] = "accumulator",
                                      [RUN_DIVERGE_FAULT] = "fault"};
  const run_divergence *d = r->found;
  return d->place == RUN_DIVERGE_TENSOR ? r->judged->tensors[d->tensor].name : names[d->place];
}

static void add_result(const report *r, cJSON *object) {
  const run_divergence *d = r->found;
  cJSON_AddStringToObject(object, "place", place_name(r));
  if (d->place == RUN_DIVERGE_FAULT) return;
  cli_json_count(object, "row", d->row);
  cli_json_count(object, "column", d->column);
  cJSON_AddNumberToObject(object, "value", (double)d->value);
  cJSON_AddNumberToObject(object, "expected", (double)d->expected);
}

static cJSON *json(const report *r) {
  const run_divergence *d = r->found;
  cJSON *object = kernel_json(r->job->kernel, r->job->path);
  cJSON_AddStringToObject(object, "engine", r->job->engine->name);
  cJSON_AddStringToObject(object, "against", r->job->against);
  cJSON_AddBoolToObject(object, "equal", !d->found);
  cli_json_count(object, "runs", d->runs);
  if (!d->found) return object;
  cJSON_AddItemToObject(object, "first", json_command(r, &d->first));
  cJSON_AddItemToObject(object, "last", json_command(r, &d->last));
  if (r->statement != NULL) cJSON_AddNumberToObject(object, "line", r->statement->where.line);
  add_result(r, object);
  cJSON *setters = cJSON_AddArrayToObject(object, "goes_by");
  for (int i = 0; i < d->setter_count; i++) cJSON_AddItemToArray(setters, json_command(r, &d->setters[i]));
  return object;
}

// ---- the run

static bool locate(const diverge_job *job, const command_program *judged, const sim_engine_ops *against,
                   run_divergence *found, wf_diag *diag) {
  const sim_engine_options quiet = {.quiet = true};
  const run_config judge = {.engine = job->engine, .options = &quiet},
                   reference = {.engine = against, .options = &quiet};
  run_oracle o;
  if (!run_oracle_fill_as_elf(&o, &job->kernel->kernel->result, job->seed, diag)) return false;
  void *tensors[RUN_ORACLE_TENSORS] = {0};
  for (int t = 0; t < o.tensors; t++) tensors[t] = o.before[t];
  const run_diverge_request request = {
      .judged = {judged, &judge}, .reference = {job->kernel->kernel->result.commands, &reference}, .tensors = tensors};
  const bool good = run_diverge(&request, found, diag);
  run_oracle_release(&o);
  return good;
}

static cli_exit judge(const cli_common *common, const diverge_job *job, const command_program *judged,
                      const sim_engine_ops *against, wf_diag *diag) {
  run_divergence found;
  wf_busy *busy = wf_busy_begin(common->quiet, "looking for the first command with another result", CLI_BUSY_AFTER);
  const bool good = locate(job, judged, against, &found, diag);
  wf_busy_end(busy);
  if (!good) return CLI_CANNOT_BUILD;
  const report r = {.job = job,
                    .judged = judged,
                    .found = &found,
                    .statement = found.found ? statement_of(job, judged, &found.last.insn) : NULL};
  if (cli_prints(common)) print(&r, stdout);
  if (common->json != NULL && !cli_write_json(common->json, json(&r), diag)) return CLI_BAD_INPUT;
  return found.found ? CLI_MISMATCH : CLI_OK;
}

static command_program *read_commands(const diverge_job *job, wf_diag *diag) {
  size_t length;
  char *text = cli_read_file(job->commands, CLI_TEXT_MAX, &length, diag);
  command_program *program =
      text == NULL ? NULL : command_parse(job->commands, text, length, &job->kernel->kernel->array.array, diag);
  wf_free(text);
  return program;
}

cli_exit diverge_run(const cli_common *common, const diverge_job *job, wf_diag *diag) {
  const sim_engine_ops *against = sim_engine_find(job->against);
  if (against == NULL || against->timing_only || job->engine->timing_only) {
    fprintf(stderr, "weft: error: --against compares data: engine %s is none that has them\n",
            against == NULL || against->timing_only ? job->against : job->engine->name);
    return CLI_USAGE;
  }
  if (job->commands == NULL) return judge(common, job, job->kernel->kernel->result.commands, against, diag);
  command_program *judged = read_commands(job, diag);
  if (judged == NULL) return CLI_BAD_INPUT;
  const cli_exit code = judge(common, job, judged, against, diag);
  command_destroy(judged);
  return code;
}
