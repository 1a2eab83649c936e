// SPDX-License-Identifier: Apache-2.0
// `weft schedules`: stores of tuned mappings, looked at, joined and cleared, through libweft
// (docs/schedules.md).
#include <inttypes.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"

typedef struct schedules_options {
  bool other_versions;
} schedules_options;

typedef struct job {
  const cli_common *common;
  const schedules_options *options;
  const char *path;
  char **others;  // further files
  int other_count;
  weft_session *session;
  weft_schedules *store;
} job;

// ---- list

static const char sizes[] = "NPQKCRS";

static void print_row(const weft_schedule *row) {
  printf("%s", row->layer);
  for (int d = 0; d < WEFT_LAYER_DIMS; d++)
    if (row->dim[d] != 1) printf(" %c=%" PRId64, sizes[d], row->dim[d]);
  printf(": %s, %s, %" PRIu64 " cycles", row->array, row->objective, row->cycles);
  if (row->before > 0) printf(" of %" PRIu64, row->before);
  printf(", %s\n", row->origin);
}

static cJSON *json_row(const weft_schedule *row) {
  cJSON *object = cJSON_CreateObject(), *size = cJSON_AddArrayToObject(object, "sizes");
  for (int d = 0; d < WEFT_LAYER_DIMS; d++) cJSON_AddItemToArray(size, cJSON_CreateNumber((double)row->dim[d]));
  cJSON_AddStringToObject(object, "class", row->layer);
  cJSON_AddStringToObject(object, "array", row->array);
  wf_json_hash(object, "array_hash", row->array_hash);
  cJSON_AddStringToObject(object, "engine", row->engine);
  cJSON_AddStringToObject(object, "objective", row->objective);
  wf_json_count(object, "cycles", row->cycles);
  wf_json_count(object, "before", row->before);
  cJSON_AddStringToObject(object, "origin", row->origin);
  cJSON_AddStringToObject(object, "version", row->version);
  return object;
}

static bool list(job *j) {
  cJSON *rows = j->common->json == NULL ? NULL : cJSON_CreateArray();
  weft_schedule row = {.size = sizeof row};
  for (size_t i = 0; weft_schedules_at(j->store, i, &row) == WEFT_OK; i++) {
    if (rows == NULL)
      print_row(&row);
    else
      cJSON_AddItemToArray(rows, json_row(&row));
  }
  return cli_put_json(j->common, rows) == CLI_OK;
}

// ---- export

static bool export_row(job *j, size_t index, const weft_schedule *row) {
  char *mapping = weft_schedules_mapping(j->session, j->store, index);
  if (!cli_messages(j->session)) return false;
  cli_csv_field(row->layer);
  for (int d = 0; d < WEFT_LAYER_DIMS; d++) printf(",%" PRId64, row->dim[d]);
  putchar(',');
  cli_csv_field(row->array);
  printf(",%016" PRIx64 ",%s,%s,%" PRIu64 ",%" PRIu64 ",", row->array_hash, row->engine, row->objective, row->cycles,
         row->before);
  cli_csv_field(row->origin);
  putchar(',');
  cli_csv_field(row->version);
  putchar(',');
  cli_csv_field(mapping);
  putchar('\n');
  weft_free(mapping);
  return true;
}

static bool export_rows(job *j) {
  weft_schedule row = {.size = sizeof row};
  puts("class,n,p,q,k,c,r,s,array,array_hash,engine,objective,cycles,before,origin,version,mapping");
  bool good = true;
  for (size_t i = 0; good && weft_schedules_at(j->store, i, &row) == WEFT_OK; i++) good = export_row(j, i, &row);
  return good;
}

// ---- import

static weft_schedules *open_store(weft_session *s, const char *path, bool may_be_new) {
  weft_schedules *store = weft_schedules_open(s, path, may_be_new);
  cli_messages(s);
  return store;
}

static bool save(job *j) {
  weft_schedules_save(j->session, j->store, j->path);
  return cli_messages(j->session);
}

static bool import_from(job *j, const char *path) {
  weft_schedules *from = open_store(j->session, path, false);
  if (from == NULL) return false;
  uint64_t taken = 0;
  weft_schedules_import(j->session, j->store, from, &taken);
  printf("%s: %" PRIu64 " of %zu rows taken\n", path, taken, weft_schedules_count(from));
  weft_schedules_destroy(from);
  return cli_messages(j->session);
}

static bool import(job *j) {
  for (int i = 0; i < j->other_count; i++)
    if (!import_from(j, j->others[i])) return false;
  return save(j);
}

// ---- prune

static bool prune(job *j) {
  const size_t all = weft_schedules_count(j->store);
  uint64_t gone = 0;
  weft_schedules_prune(j->session, j->store, j->options->other_versions, &gone);
  if (!cli_messages(j->session) || !save(j)) return false;
  printf("%s: %" PRIu64 " of %zu rows removed\n", j->path, gone, all);
  return true;
}

// ---- the verb

static const struct {
  const char *name;
  bool (*run)(job *j);
  bool may_be_new, takes_more;
} actions[] = {{"list", list, false, false},
               {"export", export_rows, false, false},
               {"import", import, true, true},
               {"prune", prune, false, false}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static cli_exit run(job *j, const char *name) {
  int a = 0;
  while (a < ACTIONS && strcmp(name, actions[a].name) != 0) a++;
  if (a == ACTIONS) {
    fprintf(stderr, "weft: error: schedules %s\n  hint: one of list, export, import, prune\n", name);
    return CLI_USAGE;
  }
  if ((j->other_count > 0) != actions[a].takes_more) {
    fprintf(stderr, "weft: error: schedules %s takes %s\n", name,
            actions[a].takes_more ? "a store and those to take rows from" : "one store");
    return CLI_USAGE;
  }
  if (j->options->other_versions && actions[a].run != prune) {
    fprintf(stderr, "weft: error: --other-versions is for prune\n");
    return CLI_USAGE;
  }
  if (j->common->json != NULL && actions[a].run != list) {
    fprintf(stderr, "weft: error: --json is for list\n");
    return CLI_USAGE;
  }
  j->session = weft_session_create();
  j->store = open_store(j->session, j->path, actions[a].may_be_new);
  const bool good = j->store != NULL && actions[a].run(j);
  weft_schedules_destroy(j->store);
  weft_session_destroy(j->session);
  return good ? CLI_OK : CLI_BAD_INPUT;
}

static const wf_option schedules_rows[] = {
    {"other-versions", WF_FLAG(schedules_options, other_versions), NULL,
     "prune: also rows that other versions of weft have written"},
};

cli_exit cli_schedules(int argc, char **argv) {
  enum { ARGUMENTS_MOST = 64 };
  schedules_options o = {0};
  static const cli_usage usage = {
      .verb = "schedules",
      .synopsis = "list|export|import|prune STORE [FROM..]",
      .text =
          "Stores of tuned mappings, as --tune N --schedules STORE writes them. list: a line for each; export: all\n"
          "of them as CSV, with their mappings; import: takes the rows of other stores that this one does not have,\n"
          "or has with more cycles in the same network; prune: removes rows that are no faster than the mapper's.",
      .options = {CLI_OPTIONS(schedules_rows, 0)},
      .min_arguments = 2,
      .max_arguments = ARGUMENTS_MOST};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &o, &argc, argv, &common, &code)) return code;
  job j = {.common = &common, .options = &o, .path = argv[1], .others = argv + 2, .other_count = argc - 2};
  return run(&j, argv[0]);
}
