// SPDX-License-Identifier: Apache-2.0
// `weft diff-engines`: one program on two engines with cycles, and the first record in which they differ.
//
// Each engine has its own memory and runs the whole program; its console output is dropped. What is compared is when
// each command was allocated, issued and done (sim/records.h) and, with equal records, the cycles of the run.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thousands.h"
#include "cli/cli.h"
#include "cli/sim_report.h"
#include "sim/records.h"
#include "sim/run.h"

enum { ENGINES = 2, NAME = 32, DEFAULT_CONTEXT = 8 };

typedef struct diff_options {
  const char *engines, *disturb;
  uint64_t context, jobs;
  bool any_array;
} diff_options;

typedef struct side {
  const sim_engine_ops *engine;
  uint64_t disturb;
  sim_records records;
  sim_run_result result;
} side;

typedef struct diff {
  const diff_options *options;
  const char *path;
  hw_array array;
  side sides[ENGINES];
  bool equal, records_differ;
  sim_difference difference;
} diff;

// ---- arguments

static bool choose_engine(const char *name, side *s, wf_diag *diag) {
  s->engine = sim_engine_find(name);
  if (s->engine == NULL) {
    wf_error(diag, wf_in_file(NULL), "this build has no engine %s", name);
    return false;
  }
  if (s->engine->set_events != NULL) return true;
  wf_error(diag, wf_in_file(NULL), "engine %s has no cycles to compare", name);
  wf_hint(diag, "its results are compared by replaying a trace: weft sim --trace, then weft sim TRACE --engine NAME");
  return false;
}

static bool choose_engines(const char *text, side sides[ENGINES], wf_diag *diag) {
  const char *comma = strchr(text, ',');
  size_t length = comma == NULL ? 0 : (size_t)(comma - text);
  char first[NAME];
  if (comma == NULL || length >= NAME || strchr(comma + 1, ',') != NULL) {
    wf_error(diag, wf_in_file(NULL), "--engines needs two names, such as cycle,rtl, not %s", text);
    return false;
  }
  snprintf(first, sizeof first, "%.*s", (int)length, text);
  return choose_engine(first, &sides[0], diag) && choose_engine(comma + 1, &sides[1], diag);
}

// One seed for both engines or one for each.
static bool choose_delays(const char *text, side sides[ENGINES], wf_diag *diag) {
  if (text == NULL) return true;
  char *end;
  sides[0].disturb = sides[1].disturb = strtoull(text, &end, 0);
  if (end != text && *end == ',') {
    text = end + 1;
    sides[1].disturb = strtoull(text, &end, 0);
  }
  if (end != text && *end == '\0') return true;
  wf_error(diag, wf_in_file(NULL), "--disturb needs a seed or two, such as 7 or 0,7");
  return false;
}

// ---- runs

static sim_run_result run_side(const diff *d, side *s, FILE *nowhere, wf_diag *diag) {
  const sim_events events = sim_records_sink(&s->records);
  const sim_engine_options engine_options = {.jobs = (unsigned)d->options->jobs, .disturb = s->disturb, .quiet = true};
  const sim_run_config config = {.array = &d->array,
                                 .engine = s->engine,
                                 .engine_options = &engine_options,
                                 .any_array = d->options->any_array,
                                 .console = nowhere,
                                 .console_error = nowhere,
                                 .events = &events};
  return sim_run_file(&config, d->path, diag);
}

// A program may fail or fault, on both engines alike; CLI_OK if there is something to compare.
static cli_exit run_both(diff *d, wf_diag *diag) {
  FILE *nowhere = fopen("/dev/null", "w");
  if (nowhere == NULL) {
    wf_error(diag, wf_in_file("/dev/null"), "cannot open it");
    return CLI_BAD_INPUT;
  }
  cli_exit code = CLI_OK;
  for (int i = 0; code == CLI_OK && i < ENGINES; i++) {
    side *s = &d->sides[i];
    s->result = run_side(d, s, nowhere, diag);
    cli_exit ended = sim_report_exit(&s->result);
    if (ended == CLI_BAD_INPUT || ended == CLI_CANNOT_BUILD) code = ended;
  }
  fclose(nowhere);
  return code;
}

static void compare(diff *d) {
  const side *a = &d->sides[0], *b = &d->sides[1];
  d->records_differ = sim_records_differ(&a->records, &b->records, &d->difference);
  d->equal = !d->records_differ && a->result.host.cycles == b->result.host.cycles &&
             a->result.status == b->result.status && a->result.replay_digest == b->result.replay_digest;
}

// ---- text

// The command of a record as the side's own engine or the other one tells it.
static const sim_event *command_of(const diff *d, int which, uint32_t index) {
  const sim_event *own = sim_records_command(&d->sides[which].records, index);
  return own != NULL ? own : sim_records_command(&d->sides[1 - which].records, index);
}

static void print_record(const diff *d, int which, const sim_event *e) {
  char command[SIM_EVENT_TEXT];
  sim_event_command(command_of(d, which, e->index), d->array.isa.revision, command);
  printf("  %+8" PRId64 "  %-5s %6" PRIu32 "  %-7s  %s\n", (int64_t)(e->cycle - d->difference.event.cycle),
         sim_event_kind_name(e->kind), e->index, sim_class_name(e->unit), command);
}

static void print_records(const diff *d, int which, size_t first, size_t end) {
  const sim_records *records = &d->sides[which].records;
  for (size_t i = first; i < end && i < records->count; i++) print_record(d, which, &records->item[i]);
  if (first >= records->count) printf("  (no more records)\n");
}

static void print_when(const diff *d, int which) {
  const sim_difference *x = &d->difference;
  printf("  %-8s ", d->sides[which].engine->name);
  if (!x->found[which]) {
    printf("never\n");
    return;
  }
  char command[SIM_EVENT_TEXT] = "";
  if (x->other_command)
    sim_event_command(sim_records_command(&d->sides[which].records, x->event.index), d->array.isa.revision, command);
  printf("cycle %" PRIu64 "%s%s\n", x->cycles[which], *command == '\0' ? "" : "  ", command);
}

static void print_difference(const diff *d) {
  const sim_difference *x = &d->difference;
  char text[SIM_EVENT_TEXT];
  size_t context = d->options->context, first = x->at > context ? x->at - context : 0;
  const sim_records *teller = &d->sides[command_of(d, 0, x->event.index) != NULL && x->found[0] ? 0 : 1].records;
  printf("first difference: %s\n", sim_event_text(&x->event, teller, d->array.isa.revision, text));
  for (int i = 0; i < ENGINES; i++) print_when(d, i);
  printf("cycles from cycle %" PRIu64 ", both engines:\n", x->event.cycle);
  if (x->at == 0) printf("  (no records before)\n");
  print_records(d, 0, first, x->at);
  for (int i = 0; i < ENGINES; i++) {
    printf("%s, from record %zu on:\n", d->sides[i].engine->name, x->at);
    print_records(d, i, x->at, x->at + context);
  }
}

static void print_totals(const diff *d) {
  for (int i = 0; i < ENGINES; i++) {
    const side *s = &d->sides[i];
    char records[WF_THOUSANDS], cycles[WF_THOUSANDS];
    printf("%-8s %s records, %s cycles\n", s->engine->name, wf_thousands(s->records.count, records),
           wf_thousands(s->result.host.cycles, cycles));
  }
}

static void print(const diff *d) {
  if (d->equal) {
    char records[WF_THOUSANDS], cycles[WF_THOUSANDS];
    printf("%s and %s agree: %s records, %s cycles\n", d->sides[0].engine->name, d->sides[1].engine->name,
           wf_thousands(d->sides[0].records.count, records), wf_thousands(d->sides[0].result.host.cycles, cycles));
    return;
  }
  if (d->records_differ)
    print_difference(d);
  else
    printf("all records are equal, what is left behind is not\n");
  print_totals(d);
}

// ---- JSON

static cJSON *json_record(const diff *d, int which, const sim_event *e) {
  cJSON *record = cJSON_CreateObject();
  char command[SIM_EVENT_TEXT];
  cli_json_count(record, "cycle", e->cycle);
  cJSON_AddStringToObject(record, "kind", sim_event_kind_name(e->kind));
  cli_json_count(record, "index", e->index);
  cJSON_AddStringToObject(record, "unit", sim_class_name(e->unit));
  cJSON_AddStringToObject(record, "command",
                          sim_event_command(command_of(d, which, e->index), d->array.isa.revision, command));
  return record;
}

static cJSON *json_records(const diff *d, int which, size_t first, size_t end) {
  cJSON *list = cJSON_CreateArray();
  const sim_records *records = &d->sides[which].records;
  for (size_t i = first; i < end && i < records->count; i++)
    cJSON_AddItemToArray(list, json_record(d, which, &records->item[i]));
  return list;
}

static cJSON *json_side(const diff *d, int which) {
  const side *s = &d->sides[which];
  cJSON *engine = cJSON_CreateObject();
  cJSON_AddStringToObject(engine, "engine", s->engine->name);
  cli_json_count(engine, "records", s->records.count);
  cli_json_count(engine, "cycles", s->result.host.cycles);
  if (!d->records_differ) return engine;
  if (d->difference.found[which]) cli_json_count(engine, "difference_cycle", d->difference.cycles[which]);
  size_t at = d->difference.at;
  cJSON_AddItemToObject(engine, "after", json_records(d, which, at, at + d->options->context));
  return engine;
}

static cJSON *json(const diff *d) {
  cJSON *document = cJSON_CreateObject(), *engines = cJSON_AddArrayToObject(document, "engines");
  cJSON_AddStringToObject(document, "file", d->path);
  cJSON_AddStringToObject(document, "array", d->array.name);
  cJSON_AddBoolToObject(document, "equal", d->equal);
  for (int i = 0; i < ENGINES; i++) cJSON_AddItemToArray(engines, json_side(d, i));
  if (!d->records_differ) return document;
  size_t at = d->difference.at, context = d->options->context;
  cJSON_AddItemToObject(document, "difference", json_record(d, d->difference.found[0] ? 0 : 1, &d->difference.event));
  cJSON_AddItemToObject(document, "before", json_records(d, 0, at > context ? at - context : 0, at));
  return document;
}

// ---- verb

static cli_exit diff_engines(const cli_common *common, diff *d, wf_diag *diag) {
  if (!choose_engines(d->options->engines, d->sides, diag) || !choose_delays(d->options->disturb, d->sides, diag))
    return CLI_USAGE;
  if (!cli_load_array(common, &d->array, diag)) return CLI_BAD_INPUT;
  cli_exit code = run_both(d, diag);
  if (code != CLI_OK) return code;
  compare(d);
  if (cli_prints(common)) print(d);
  if (common->json != NULL && !cli_write_json(common->json, json(d), diag)) return CLI_BAD_INPUT;
  return d->equal ? CLI_OK : CLI_MISMATCH;
}

static const wf_option diff_engines_rows[] = {
    {"engines", WF_TEXT(diff_options, engines), "A,B", "engines with cycles (default cycle,rtl)"},
    {"context", WF_COUNT(diff_options, context), "N", "records to show before and after (default 8)"},
    {"disturb", WF_TEXT(diff_options, disturb), "SEED[,SEED]",
     "random delays of memory, the same for both engines or one seed for each (0: none)"},
    {"jobs", WF_COUNT(diff_options, jobs), "N", "engine rtl: compilers at a time (default 2)"},
    {"any-array", WF_FLAG(diff_options, any_array), NULL, "run even if the program was built for another array"},
};

cli_exit cli_diff_engines(int argc, char **argv) {
  diff_options options = {.engines = "cycle,rtl", .context = DEFAULT_CONTEXT};
  static const cli_usage usage = {
      .verb = "diff-engines",
      .synopsis = "PROG.elf|TRACE",
      .text =
          "Runs a program or a command trace on two engines and shows the first command whose allocation,\n"
          "issue or completion falls into different cycles, with the records around it.\n"
          "Exit code: 0 the engines agree, 4 they differ, others as of weft sim.",
      .options = {CLI_OPTIONS(diff_engines_rows, 0)},
      .min_arguments = 1,
      .max_arguments = 1,
      .takes_array = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  diff d = {.options = &options, .path = argv[0]};
  code = diff_engines(&common, &d, &diag);
  for (int i = 0; i < ENGINES; i++) sim_records_free(&d.sides[i].records);
  return code;
}
