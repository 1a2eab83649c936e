// SPDX-License-Identifier: Apache-2.0
// `weft diff-engines`: one program on two engines with cycles, and the first record in which they differ.
//
// Each engine has its own memory and runs the whole program; its console output is dropped. What is compared is when
// each command was allocated, issued and done (sim/records.h) and, with equal records, the cycles of the run.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"

enum { ENGINES = 2, NAME = 32, DEFAULT_CONTEXT = 8 };

typedef struct diff_options {
  const char *engines, *disturb;
  uint64_t context, jobs;
  bool any_array;
} diff_options;

typedef struct diff {
  const diff_options *options;
  const char *path;
  weft_session *session;
  weft_array *array;
  weft_contrast *contrast;
  weft_contrast_facts facts;
  weft_contrast_side sides[ENGINES];
  weft_record first;  // that differs
} diff;

// ---- arguments

static bool check_engine(const char *name) {
  bool timed = false;
  size_t i = 0;
  while (weft_engine_at(i, &timed) != NULL && strcmp(weft_engine_at(i, NULL), name) != 0) i++;
  if (weft_engine_at(i, NULL) == NULL) {
    cli_error(NULL, "this build has no engine %s", name);
    return false;
  }
  if (timed) return true;
  cli_error(NULL, "engine %s has no cycles to compare", name);
  cli_hint("its results are compared by replaying a trace: weft sim --trace, then weft sim TRACE --engine NAME");
  return false;
}

static bool choose_engines(const char *text, char first[NAME], weft_contrast_options *o) {
  const char *comma = strchr(text, ',');
  size_t length = comma == NULL ? 0 : (size_t)(comma - text);
  if (comma == NULL || length >= NAME || strchr(comma + 1, ',') != NULL) {
    cli_error(NULL, "--engines needs two names, such as cycle,rtl, not %s", text);
    return false;
  }
  snprintf(first, NAME, "%.*s", (int)length, text);
  o->first = first;
  o->second = comma + 1;
  return check_engine(o->first) && check_engine(o->second);
}

// One seed for both engines or one for each.
static bool choose_delays(const char *text, weft_contrast_options *o) {
  if (text == NULL) return true;
  char *end;
  o->first_disturb = o->second_disturb = strtoull(text, &end, 0);
  if (end != text && *end == ',') {
    text = end + 1;
    o->second_disturb = strtoull(text, &end, 0);
  }
  if (end != text && *end == '\0') return true;
  cli_error(NULL, "--disturb needs a seed or two, such as 7 or 0,7");
  return false;
}

// ---- text

// Records of a side from `index` on, fewer than `end`.
static bool record_at(const diff *d, int which, size_t index, size_t end, weft_record *record) {
  record->size = sizeof *record;
  return index < end && weft_contrast_record(d->contrast, which != 0, index, record) == WEFT_OK;
}

static size_t first_shown(const diff *d) {
  const size_t at = (size_t)d->facts.at, context = d->options->context;
  return at > context ? at - context : 0;
}

static void print_records(const diff *d, int which, size_t first, size_t end) {
  weft_record r;
  for (size_t i = first; record_at(d, which, i, end, &r); i++)
    printf("  %+8" PRId64 "  %-5s %6" PRIu64 "  %-7s  %s\n", (int64_t)(r.cycle - d->first.cycle), r.kind, r.number,
           r.unit, r.command);
  if (first >= d->sides[which].records) printf("  (no more records)\n");
}

static void print_when(const weft_contrast_side *side) {
  printf("  %-8s ", side->engine);
  if (side->found)
    printf("cycle %" PRIu64 "%s%s\n", side->cycle, *side->command == '\0' ? "" : "  ", side->command);
  else
    printf("never\n");
}

static void print_difference(const diff *d) {
  const size_t at = (size_t)d->facts.at;
  printf("first difference: %s\n", d->facts.text);
  for (int i = 0; i < ENGINES; i++) print_when(&d->sides[i]);
  printf("cycles from cycle %" PRIu64 ", both engines:\n", d->first.cycle);
  if (at == 0) printf("  (no records before)\n");
  print_records(d, 0, first_shown(d), at);
  for (int i = 0; i < ENGINES; i++) {
    printf("%s, from record %zu on:\n", d->sides[i].engine, at);
    print_records(d, i, at, at + d->options->context);
  }
}

static void print_totals(const diff *d) {
  for (int i = 0; i < ENGINES; i++) {
    const weft_contrast_side *s = &d->sides[i];
    char records[CLI_THOUSANDS], cycles[CLI_THOUSANDS];
    printf("%-8s %s records, %s cycles\n", s->engine, cli_thousands(s->records, records),
           cli_thousands(s->cycles, cycles));
  }
}

static void print(const diff *d) {
  if (d->facts.equal) {
    char records[CLI_THOUSANDS], cycles[CLI_THOUSANDS];
    printf("%s and %s agree: %s records, %s cycles\n", d->sides[0].engine, d->sides[1].engine,
           cli_thousands(d->sides[0].records, records), cli_thousands(d->sides[0].cycles, cycles));
    return;
  }
  if (d->facts.records_differ)
    print_difference(d);
  else
    printf("all records are equal, what is left behind is not\n");
  print_totals(d);
}

// ---- JSON

static cJSON *json_record(const weft_record *r) {
  cJSON *record = cJSON_CreateObject();
  wf_json_count(record, "cycle", r->cycle);
  cJSON_AddStringToObject(record, "kind", r->kind);
  wf_json_count(record, "index", r->number);
  cJSON_AddStringToObject(record, "unit", r->unit);
  cJSON_AddStringToObject(record, "command", r->command);
  return record;
}

static cJSON *json_records(const diff *d, int which, size_t first, size_t end) {
  cJSON *list = cJSON_CreateArray();
  weft_record r;
  for (size_t i = first; record_at(d, which, i, end, &r); i++) cJSON_AddItemToArray(list, json_record(&r));
  return list;
}

static cJSON *json_side(const diff *d, int which) {
  const weft_contrast_side *s = &d->sides[which];
  cJSON *engine = cJSON_CreateObject();
  cJSON_AddStringToObject(engine, "engine", s->engine);
  wf_json_count(engine, "records", s->records);
  wf_json_count(engine, "cycles", s->cycles);
  if (!d->facts.records_differ) return engine;
  if (s->found) wf_json_count(engine, "difference_cycle", s->cycle);
  const size_t at = (size_t)d->facts.at;
  cJSON_AddItemToObject(engine, "after", json_records(d, which, at, at + d->options->context));
  return engine;
}

static cJSON *json(const diff *d) {
  cJSON *document = cJSON_CreateObject(), *engines = cJSON_AddArrayToObject(document, "engines");
  cJSON_AddStringToObject(document, "file", d->path);
  cJSON_AddStringToObject(document, "array", weft_array_name(d->array));
  cJSON_AddBoolToObject(document, "equal", d->facts.equal);
  for (int i = 0; i < ENGINES; i++) cJSON_AddItemToArray(engines, json_side(d, i));
  if (!d->facts.records_differ) return document;
  cJSON_AddItemToObject(document, "difference", json_record(&d->first));
  cJSON_AddItemToObject(document, "before", json_records(d, 0, first_shown(d), (size_t)d->facts.at));
  return document;
}

// ---- verb

static void ask(diff *d) {
  d->facts = (weft_contrast_facts){.size = sizeof d->facts};
  d->first = (weft_record){.size = sizeof d->first};
  weft_contrast_describe(d->contrast, &d->facts);
  weft_contrast_first(d->contrast, &d->first);
  for (int i = 0; i < ENGINES; i++) {
    d->sides[i] = (weft_contrast_side){.size = sizeof d->sides[i]};
    weft_contrast_side_of(d->contrast, i != 0, &d->sides[i]);
  }
}

static cli_exit diff_engines(const cli_common *common, diff *d) {
  char first[NAME];
  weft_contrast_options options = {
      .size = sizeof options, .jobs = (uint32_t)d->options->jobs, .any_array = d->options->any_array};
  if (!choose_engines(d->options->engines, first, &options) || !choose_delays(d->options->disturb, &options))
    return CLI_USAGE;
  d->array = cli_open_array(common, d->session);
  if (d->array == NULL) return CLI_BAD_INPUT;
  d->contrast = weft_contrast_run(d->session, d->path, d->array, &options);
  cli_messages(d->session);
  if (d->contrast == NULL) return (cli_exit)weft_session_status(d->session);
  ask(d);
  if (cli_prints(common)) print(d);
  if (cli_put_json(common, common->json == NULL ? NULL : json(d)) != CLI_OK) return CLI_BAD_INPUT;
  return d->facts.equal ? CLI_OK : CLI_MISMATCH;
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
  diff d = {.options = &options, .path = argv[0], .session = weft_session_create()};
  code = diff_engines(&common, &d);
  weft_contrast_destroy(d.contrast);
  weft_array_destroy(d.array);
  weft_session_destroy(d.session);
  return code;
}
