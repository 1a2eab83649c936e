// SPDX-License-Identifier: Apache-2.0
// `weft rtl`: the hardware of an array. `weft rtl ARRAY -o DIR` writes it with its parameters, `weft rtl build ARRAY`
// compiles it for the rtl engine ahead of its first use, `weft rtl synth ARRAY` maps it to standard cells, `weft rtl
// fit` makes a technology table of several such results.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"

typedef struct rtl_options {
  uint64_t jobs;
  bool wave;
  const char *directory;
  const char *unit;
  char **arguments;  // after the action
  size_t count;
} rtl_options;

typedef struct job {
  const cli_common *common;
  const rtl_options *options;
  weft_session *session;
  weft_array *array;  // NULL: it is not loaded yet
} job;

typedef struct rtl_action {
  const char *name;
  cli_exit (*run)(job *j);
  size_t arguments;  // at most; one alone names the array
} rtl_action;

static bool load_array(job *j) {
  j->array = cli_open_array(j->common, j->session);
  return j->array != NULL;
}

static cJSON *summary_of(const job *j) {
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "array", weft_array_name(j->array));
  wf_json_hash(document, "array_hash", weft_array_hash(j->array));
  return document;
}

// ---- build

static bool show_building(void *context, const weft_progress *progress) {
  const job *j = context;
  fprintf(stderr, "weft: hardware of array %s: %s\n", weft_array_name(j->array), progress->text);
  return true;
}

static void print_model(const job *j, const char *path, const weft_hardware_facts *facts) {
  printf("%s\n  %s, %s in %.1f s\n", path, weft_array_name(j->array), facts->cached ? "cached; was built" : "built",
         facts->seconds);
}

static cJSON *model_json(const job *j, const char *path, const weft_hardware_facts *facts) {
  cJSON *document = summary_of(j);
  cJSON_AddStringToObject(document, "path", path);
  cJSON_AddBoolToObject(document, "cached", facts->cached);
  cJSON_AddNumberToObject(document, "build_seconds", facts->seconds);
  return document;
}

static cli_exit build(job *j) {
  const weft_hardware_options options = {
      .size = sizeof options, .wave = j->options->wave, .jobs = (uint32_t)j->options->jobs};
  weft_hardware_facts facts = {.size = sizeof facts};
  if (!load_array(j)) return CLI_BAD_INPUT;
  if (!j->common->quiet) weft_session_watch(j->session, show_building, j);
  char *path = weft_hardware_build(j->session, j->array, &options, &facts);
  if (!cli_messages(j->session)) return CLI_CANNOT_BUILD;
  if (cli_prints(j->common)) print_model(j, path, &facts);
  const cli_exit code = cli_put_json(j->common, j->common->json == NULL ? NULL : model_json(j, path, &facts));
  weft_free(path);
  return code;
}

// ---- the set of files

static cJSON *limits_json(const weft_array *array) {
  weft_hardware_limit limit = {.size = sizeof limit};
  cJSON *list = cJSON_CreateArray();
  for (size_t i = 0; weft_hardware_limit_at(array, i, &limit) == WEFT_OK; i++) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "parameter", limit.parameter);
    cJSON_AddStringToObject(object, "value", limit.value);
    cJSON_AddStringToObject(object, "reason", limit.reason);
    cJSON_AddItemToArray(list, object);
  }
  return list;
}

static cJSON *set_json(const job *j, uint64_t files) {
  cJSON *document = summary_of(j);
  cJSON_AddStringToObject(document, "directory", j->options->directory);
  wf_json_count(document, "files", files);
  cJSON_AddItemToObject(document, "not_expressed_by_gemmini", limits_json(j->array));
  return document;
}

static cli_exit write_set(job *j) {
  const char *directory = j->options->directory;
  if (directory == NULL) {
    fputs("weft: error: weft rtl ARRAY needs -o DIR\n  hint: weft rtl --help\n", stderr);
    return CLI_USAGE;
  }
  uint64_t files = 0;
  if (!load_array(j)) return CLI_BAD_INPUT;
  weft_hardware_write(j->session, j->array, directory, &files);
  if (!cli_messages(j->session)) return CLI_BAD_INPUT;
  if (cli_prints(j->common)) printf("%s: %s, %" PRIu64 " files\n", directory, weft_array_name(j->array), files);
  return cli_put_json(j->common, j->common->json == NULL ? NULL : set_json(j, files));
}

// ---- synthesis

static bool show_unit(void *context, const weft_progress *progress) {
  const job *j = context;
  fprintf(stderr, "synth: %s: %s (%" PRIu64 " of %" PRIu64 ")\n", weft_array_name(j->array), progress->text,
          progress->done + 1, progress->total);
  return true;
}

static double off(double expected, double found) { return 100 * (expected / found - 1); }

static void print_part(const weft_synthesis_part *part) {
  printf("%-24s %14.0f %14.0f %+9.1f", part->name, part->area_um2, part->expected_um2,
         off(part->expected_um2, part->area_um2));
  if (part->path_ns > 0 && part->expected_path_ns > 0)
    printf(" %10.2f %14.2f %+9.1f", part->path_ns, part->expected_path_ns, off(part->expected_path_ns, part->path_ns));
  putchar('\n');
}

static void add_part(weft_synthesis_part *all, const weft_synthesis_part *part) {
  all->area_um2 += part->area_um2;
  all->expected_um2 += part->expected_um2;
  all->path_ns = fmax(all->path_ns, part->path_ns);
  all->expected_path_ns = fmax(all->expected_path_ns, part->expected_path_ns);
}

static void print_parts(const weft_synthesis *synthesis) {
  weft_synthesis_part part = {.size = sizeof part}, all = {.name = "all"};
  for (size_t i = 0; weft_synthesis_part_at(synthesis, i, &part) == WEFT_OK; i++) {
    if (i == 0)
      printf("\n%-24s %14s %14s %9s %10s %14s %9s\n", "part", "area um2", "cost model um2", "off %", "path ns",
             "cost model ns", "off %");
    print_part(&part);
    add_part(&all, &part);
  }
  if (all.area_um2 > 0) print_part(&all);
}

static void print_synthesis(const weft_synthesis *synthesis, const weft_synthesis_facts *all) {
  weft_synthesis_unit unit = {.size = sizeof unit};
  printf("%-24s %9s %8s %14s %10s %10s\n", "unit", "instances", "cells", "area um2", "path ns", "power mW");
  for (size_t i = 0; weft_synthesis_at(synthesis, i, &unit) == WEFT_OK; i++)
    printf("%-24s %9u %8u %14.0f %10.2f %10.4f\n", unit.name, unit.instances, unit.cells, unit.area_um2, unit.path_ns,
           unit.power_mw);
  printf("%-24s %9s %8s %14.0f %10s %10.4f\n", "all instances", "", "", all->area_um2, "", all->power_mw);
  printf("cells, area and power are of one instance without the units inside it; power at %g MHz, 180 nm\n",
         all->clock_mhz);
  if (all->memory_bits != 0)
    printf("memory: %" PRIu64 " bits of scratchpad and accumulator, not in the area\n", all->memory_bits);
  print_parts(synthesis);
}

static cJSON *unit_json(const weft_synthesis_unit *unit) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "unit", unit->name);
  cJSON_AddStringToObject(object, "part", unit->part);
  wf_json_count(object, "instances", unit->instances);
  wf_json_count(object, "cells", unit->cells);
  cJSON_AddNumberToObject(object, "area_um2", unit->area_um2);
  cJSON_AddNumberToObject(object, "path_ns", unit->path_ns);
  cJSON_AddNumberToObject(object, "power_mw", unit->power_mw);
  wf_json_count(object, "memory_bits", unit->memory_bits);
  return object;
}

static cJSON *part_json(const weft_synthesis_part *part) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "part", part->name);
  cJSON_AddNumberToObject(object, "area_um2", part->area_um2);
  cJSON_AddNumberToObject(object, "expected_um2", part->expected_um2);
  cJSON_AddNumberToObject(object, "path_ns", part->path_ns);
  cJSON_AddNumberToObject(object, "expected_path_ns", part->expected_path_ns);
  return object;
}

static cJSON *synthesis_json(const job *j, const weft_synthesis *synthesis, const weft_synthesis_facts *all) {
  cJSON *document = summary_of(j), *units = cJSON_AddArrayToObject(document, "units");
  weft_synthesis_unit unit = {.size = sizeof unit};
  for (size_t i = 0; weft_synthesis_at(synthesis, i, &unit) == WEFT_OK; i++)
    cJSON_AddItemToArray(units, unit_json(&unit));
  cJSON *parts = cJSON_AddArrayToObject(document, "parts");
  weft_synthesis_part part = {.size = sizeof part};
  for (size_t i = 0; weft_synthesis_part_at(synthesis, i, &part) == WEFT_OK; i++)
    cJSON_AddItemToArray(parts, part_json(&part));
  cJSON_AddStringToObject(document, "library", all->library);
  cJSON_AddNumberToObject(document, "clock_mhz", all->clock_mhz);
  cJSON_AddNumberToObject(document, "area_um2", all->area_um2);
  cJSON_AddNumberToObject(document, "power_mw", all->power_mw);
  wf_json_count(document, "memory_bits", all->memory_bits);
  return document;
}

static cli_exit synth(job *j) {
  if (!load_array(j)) return CLI_BAD_INPUT;
  if (!j->common->quiet) weft_session_watch(j->session, show_unit, j);
  weft_synthesis *synthesis = weft_synthesis_run(j->session, j->array, j->options->unit);
  weft_synthesis_facts all = {.size = sizeof all};
  if (!cli_messages(j->session)) return CLI_CANNOT_BUILD;
  weft_synthesis_describe(synthesis, &all);
  if (cli_prints(j->common)) print_synthesis(synthesis, &all);
  const cli_exit code = cli_put_json(j->common, j->common->json == NULL ? NULL : synthesis_json(j, synthesis, &all));
  weft_synthesis_destroy(synthesis);
  return code;
}

// ---- a technology table

static char *command_of(const rtl_options *o) {
  char *command = cli_format("weft rtl fit -o %s", o->directory);
  for (size_t n = 0; n < o->count; n++) {
    char *longer = cli_format("%s %s", command, o->arguments[n]);
    free(command);
    command = longer;
  }
  return command;
}

static cli_exit fit(job *j) {
  const rtl_options *o = j->options;
  if (o->directory == NULL || o->count < WEFT_FIT_LEAST || o->count > WEFT_FIT_MOST) {
    fprintf(stderr, "weft: error: weft rtl fit needs -o FILE and the results of %d to %d arrays\n", WEFT_FIT_LEAST,
            WEFT_FIT_MOST);
    fputs("  hint: weft rtl --help\n", stderr);
    return CLI_USAGE;
  }
  if (!cli_may_write(o->directory)) return CLI_BAD_INPUT;
  char *command = command_of(o);
  char *table = weft_synthesis_fit(j->session, (const char *const *)o->arguments, o->count, command);
  free(command);
  const bool good = cli_messages(j->session) && cli_write_text(o->directory, table);
  weft_free(table);
  return good ? CLI_OK : CLI_BAD_INPUT;
}

// ---- the verb

static const rtl_action actions[] = {{"build", build, 1}, {"synth", synth, 1}, {"fit", fit, WEFT_FIT_MOST}};

// An action's name, else the name of an array whose set is written.
static const rtl_action *find_action(const char *name) {
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
    if (strcmp(actions[i].name, name) == 0) return &actions[i];
  return NULL;
}

static const wf_option rtl_rows[] = {
    {"o", WF_TEXT(rtl_options, directory), "DIR", "where the set is written; fit: the table's file"},
    {"jobs", WF_COUNT(rtl_options, jobs), "N", "build: compilers at a time (default 2)"},
    {"wave", WF_FLAG(rtl_options, wave), NULL, "build: the variant with waveforms"},
    {"unit", WF_TEXT(rtl_options, unit), "NAME", "synth: only this unit, such as pe"},
};

cli_exit cli_rtl(int argc, char **argv) {
  rtl_options options = {0};
  static const cli_usage usage = {
      .verb = "rtl",
      .synopsis = "ARRAY -o DIR | build [ARRAY] | synth [ARRAY] | fit -o FILE JSON...",
      .text =
          "ARRAY -o DIR  writes the hardware of an array with its parameters: SystemVerilog (rtl/) with\n"
          "              a file list (weft.f), a core of FuseSoC (weft.core) and a component of IP-XACT\n"
          "              (weft.xml), Gemmini's Scala configuration (gemmini_config.scala) and C header\n"
          "              (gemmini_params.h), a Timeloop architecture (timeloop.yaml, timeloop-v4.yaml) with\n"
          "              energies (accelergy-ert.yaml), one of AccelForge (accelforge.yaml), configurations of ONNXim "
          "(onnxim.json) and\n"
          "              STONNE (stonne.cfg), the description (array.yaml, array.json); README.txt says\n"
          "              what each file is\n"
          "build         compiles the hardware of an array for `weft sim --engine rtl`, which\n"
          "              otherwise does it at its first run, and prints where the model is. Models\n"
          "              are kept in $WEFT_CACHE, else $XDG_CACHE_HOME/weft, else ~/.cache/weft;\n"
          "              removing them is safe\n"
          "synth         area, critical path and power of each unit in a 180 nm cell library, for\n"
          "              arrays of up to 16 x 16, and what the cost model of searches says of it;\n"
          "              takes minutes, half an hour at 16 x 16\n"
          "fit           a technology table of areas from what synth --json wrote of three arrays or\n"
          "              more; hw/tech/180nm.yaml is one",
      .examples =
          "  weft rtl dim8 -o DIR\n"
          "  weft rtl build dim4\n",
      .options = {CLI_OPTIONS(rtl_rows, 0)},
      .min_arguments = 1,
      .max_arguments = 1 + WEFT_FIT_MOST,
      .takes_array = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  const rtl_action *action = find_action(argv[0]);
  if ((size_t)argc > (action == NULL ? 1 : 1 + action->arguments)) {
    fprintf(stderr, "weft: error: weft rtl cannot %s\n  hint: weft rtl --help\n", argv[action == NULL ? 0 : argc - 1]);
    return CLI_USAGE;
  }
  if (action == NULL || argc == 2) common.array = argv[argc - 1];
  options.arguments = argv + 1;
  options.count = (size_t)argc - 1;
  job j = {.common = &common, .options = &options, .session = weft_session_create()};
  code = action == NULL ? write_set(&j) : action->run(&j);
  weft_array_destroy(j.array);
  weft_session_destroy(j.session);
  return code;
}
