// SPDX-License-Identifier: Apache-2.0
// `weft schedules`: stores of tuned mappings, looked at, joined and cleared (docs/schedules.md).
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "cli/cli.h"
#include "search/schedules/schedules.h"
#include "weft_version.h"

typedef struct schedules_options {
  bool other_versions;
} schedules_options;

typedef struct job {
  const cli_common *common;
  const schedules_options *options;
  const char *path;
  char **others;  // further files
  int other_count;
  schedules *store;
  wf_diag *diag;
} job;

// ---- list

static const char sizes[] = "NPQKCRS";

static void print_row(const schedules_row *row) {
  char class[SCHEDULES_CLASS];
  schedules_class(&row->layer, class);
  printf("%s", class);
  for (int d = 0; d < BLOCK_DIMS; d++)
    if (row->layer.size[d] != 1) printf(" %c=%" PRId64, sizes[d], row->layer.size[d]);
  printf(": %s, %s, %" PRIu64 " cycles", row->array_name, row->objective, row->cycles);
  if (row->before > 0) printf(" of %" PRIu64, row->before);
  printf(", %s\n", row->origin);
}

static cJSON *json_row(const schedules_row *row) {
  cJSON *object = cJSON_CreateObject(), *size = cJSON_AddArrayToObject(object, "sizes");
  char class[SCHEDULES_CLASS];
  schedules_class(&row->layer, class);
  for (int d = 0; d < BLOCK_DIMS; d++) cJSON_AddItemToArray(size, cJSON_CreateNumber((double)row->layer.size[d]));
  cJSON_AddStringToObject(object, "class", class);
  cJSON_AddStringToObject(object, "array", row->array_name);
  cli_json_hash(object, "array_hash", row->array);
  cJSON_AddStringToObject(object, "engine", row->engine);
  cJSON_AddStringToObject(object, "objective", row->objective);
  cli_json_count(object, "cycles", row->cycles);
  cli_json_count(object, "before", row->before);
  cJSON_AddStringToObject(object, "origin", row->origin);
  cJSON_AddStringToObject(object, "version", row->version);
  return object;
}

static bool list(job *j) {
  cJSON *rows = j->common->json == NULL ? NULL : cJSON_CreateArray();
  for (size_t i = 0; i < schedules_count(j->store); i++) {
    if (rows == NULL)
      print_row(schedules_at(j->store, i));
    else
      cJSON_AddItemToArray(rows, json_row(schedules_at(j->store, i)));
  }
  return rows == NULL || cli_write_json(j->common->json, rows, j->diag);
}

// ---- export

static void export_row(const schedules_row *row) {
  char class[SCHEDULES_CLASS], *mapping = NULL;
  size_t length = 0;
  schedules_class(&row->layer, class);
  FILE *out = open_memstream(&mapping, &length);
  map_print(&row->mapping, out);
  fclose(out);
  wf_csv_field(class, stdout);
  for (int d = 0; d < BLOCK_DIMS; d++) printf(",%" PRId64, row->layer.size[d]);
  putchar(',');
  wf_csv_field(row->array_name, stdout);
  printf(",%016" PRIx64 ",%s,%s,%" PRIu64 ",%" PRIu64 ",", row->array, row->engine, row->objective, row->cycles,
         row->before);
  wf_csv_field(row->origin, stdout);
  putchar(',');
  wf_csv_field(row->version, stdout);
  putchar(',');
  wf_csv_field(mapping, stdout);
  putchar('\n');
  free(mapping);
}

static bool export_rows(job *j) {
  puts("class,n,p,q,k,c,r,s,array,array_hash,engine,objective,cycles,before,origin,version,mapping");
  for (size_t i = 0; i < schedules_count(j->store); i++) export_row(schedules_at(j->store, i));
  return true;
}

// ---- import

// Whether the store has as good a row for the same; rows without a network's cycles cannot be compared and stay.
static bool has_better(const schedules *store, const schedules_row *row) {
  for (size_t i = 0; i < schedules_count(store); i++) {
    const schedules_row *own = schedules_at(store, i);
    if (own->array == row->array && map_layer_hash(&own->layer) == map_layer_hash(&row->layer) &&
        strcmp(own->engine, row->engine) == 0 && strcmp(own->objective, row->objective) == 0)
      return strcmp(own->origin, row->origin) != 0 || own->cycles <= row->cycles;
  }
  return false;
}

static bool import_from(job *j, const char *path) {
  schedules *from = schedules_open(path, false, j->diag);
  if (from == NULL) return false;
  size_t taken = 0;
  for (size_t i = 0; i < schedules_count(from); i++) {
    if (has_better(j->store, schedules_at(from, i))) continue;
    schedules_add(j->store, schedules_at(from, i));
    taken++;
  }
  printf("%s: %zu of %zu rows taken\n", path, taken, schedules_count(from));
  schedules_destroy(from);
  return true;
}

static bool import(job *j) {
  for (int i = 0; i < j->other_count; i++)
    if (!import_from(j, j->others[i])) return false;
  return schedules_save(j->store, j->path, j->diag);
}

// ---- prune

static bool is_to_go(void *context, const schedules_row *row) {
  const schedules_options *o = context;
  static const char version[] = WEFT_VERSION " (" WEFT_GIT_VERSION ")";
  if (o->other_versions && strcmp(row->version, version) != 0) return true;
  return row->before > 0 && row->cycles >= row->before && strcmp(row->objective, "cycles") == 0;
}

static bool prune(job *j) {
  schedules_options options = *j->options;
  const size_t all = schedules_count(j->store), gone = schedules_remove(j->store, is_to_go, &options);
  if (!schedules_save(j->store, j->path, j->diag)) return false;
  printf("%s: %zu of %zu rows removed\n", j->path, gone, all);
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
  j->store = schedules_open(j->path, actions[a].may_be_new, j->diag);
  const bool good = j->store != NULL && actions[a].run(j);
  schedules_destroy(j->store);
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
  wf_diag diag = wf_diag_to(stderr);
  job j = {
      .common = &common, .options = &o, .path = argv[1], .others = argv + 2, .other_count = argc - 2, .diag = &diag};
  return run(&j, argv[0]);
}
