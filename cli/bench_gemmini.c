// `weft bench gemmini`: the microbenchmarks whose cycles on Gemmini's own RTL were measured (workloads/gemmini-rtl),
// run on an engine with the timed hart, and the error row by row.
//
// Each memory of the table is an array of ours. Every group is a program of its own, as it was when it was measured:
// the layout of the code decides which windows pay for instruction lines. Rows that end before the fence measure the
// hart and stand apart as the group "issue"; "fence" is all others, "steady" those of them that take as long in both
// warm repetitions of the measurement.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/bench.h"
#include "cli/gemmini_table.h"
#include "sim/run.h"

static const char *const groups[] = {"config", "mvin", "mvout", "ex", "dep", "loop"};
enum { GROUPS = sizeof groups / sizeof groups[0], FENCE = GROUPS, STEADY, ISSUE, ALL, LINES };

static const struct {
  const char *memory, *array;
} memories[] = {
    {"magic", "gemmini-magic"}, {"ddr3_soc100MHz", "gemmini-ddr3-100mhz"}, {"ddr3_soc1GHz", "gemmini-default"}};
enum { MEMORIES = sizeof memories / sizeof memories[0], WARM = 0, COLD, TEMPERATURES, WORST = 20 };

static const char *const temperatures[] = {"warm", "cold"};

typedef struct gemmini_options {
  const char *engine, *memory, *group, *programs, *table, *csv, *max_warm, *max_cold;
  bool verbose;
} gemmini_options;

typedef struct gemmini_bench {
  const gemmini_options *options;
  const cli_common *common;
  const sim_engine_ops *engine;
  gemmini_table table;
  hw_array arrays[MEMORIES];
  bool ran[MEMORIES][GROUPS];
  gemmini_errors errors[MEMORIES + 1][TEMPERATURES][LINES];  // the last: of all memories
} gemmini_bench;

static const char *line_name(int line) {
  static const char *const sums[] = {"fence", "steady", "issue", "all"};
  return line < GROUPS ? groups[line] : sums[line - GROUPS];
}

// ---- running

static bool wanted(const char *choice, const char *name) { return choice == NULL || strcmp(choice, name) == 0; }

static bool has_rows(const gemmini_table *table, const char *group, const char *memory) {
  for (size_t i = 0; i < table->count; i++)
    if (strcmp(table->rows[i].group, group) == 0 && strcmp(table->rows[i].memory, memory) == 0) return true;
  return false;
}

// What the program prints, to free; NULL after an error was reported.
static char *run_program(const gemmini_bench *b, const hw_array *array, const char *path, cli_exit *exit,
                         wf_diag *diag) {
  char *printed = NULL;
  size_t length = 0;
  const sim_engine_options engine_options = {.quiet = b->common->quiet};
  sim_run_config config = {.array = array,
                           .engine = b->engine,
                           .engine_options = &engine_options,
                           .console = open_memstream(&printed, &length),
                           .console_error = stderr};
  sim_run_result result = sim_run_elf(&config, path, diag);
  fclose(config.console);
  bool good = result.status == SIM_RUN_OK && result.host.exit_code == 0;
  if (result.status == SIM_RUN_BAD_INPUT)
    wf_hint(diag, "build the target weft_gemmini_programs, or name the folder with --programs");
  if (good) return printed;
  *exit = result.status == SIM_RUN_CANNOT_BUILD ? CLI_CANNOT_BUILD
          : result.status == SIM_RUN_BAD_INPUT  ? CLI_BAD_INPUT
                                                : CLI_PROGRAM_FAILED;
  free(printed);
  return NULL;
}

static bool run_group(gemmini_bench *b, int memory, int group, cli_exit *exit, wf_diag *diag) {
  char *path = wf_format("%s/%s.elf", b->options->programs, groups[group]);
  if (!b->common->quiet) fprintf(stderr, "weft: %s with memory %s\n", groups[group], memories[memory].memory);
  char *printed = run_program(b, &b->arrays[memory], path, exit, diag);
  bool good = printed != NULL;
  if (good && !gemmini_table_fill(&b->table, groups[group], memories[memory].memory, printed, path, diag)) {
    *exit = CLI_MISMATCH;
    good = false;
  }
  b->ran[memory][group] = good;
  free(printed);
  wf_free(path);
  return good;
}

static bool run_all(gemmini_bench *b, cli_exit *exit, wf_diag *diag) {
  bool any = false;
  for (int memory = 0; memory < MEMORIES; memory++) {
    if (!hw_array_load(&b->arrays[memory], memories[memory].array, diag)) return false;
    for (int group = 0; group < GROUPS; group++) {
      if (!wanted(b->options->memory, memories[memory].memory) || !wanted(b->options->group, groups[group]) ||
          !has_rows(&b->table, groups[group], memories[memory].memory))
        continue;
      any = true;
      if (!run_group(b, memory, group, exit, diag)) return false;
    }
  }
  if (any) return true;
  wf_error(diag, wf_in_file(b->options->table), "no rows of that group and memory");
  wf_hint(diag, "groups: config mvin mvout ex dep loop; memories: magic ddr3_soc100MHz ddr3_soc1GHz");
  *exit = CLI_BAD_INPUT;
  return false;
}

// ---- errors

static int index_of(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

static int memory_of(const gemmini_row *row) {
  for (int i = 0; i < MEMORIES; i++)
    if (strcmp(memories[i].memory, row->memory) == 0) return i;
  return -1;
}

static bool was_run(const gemmini_bench *b, const gemmini_row *row) {
  int memory = memory_of(row), group = index_of(groups, GROUPS, row->group);
  return memory >= 0 && group >= 0 && b->ran[memory][group];
}

static void add_up(gemmini_bench *b) {
  for (size_t i = 0; i < b->table.count; i++) {
    const gemmini_row *row = &b->table.rows[i];
    if (!was_run(b, row)) continue;
    const int place[] = {memory_of(row), MEMORIES};
    for (int p = 0; p < 2; p++) {
      gemmini_errors *errors = b->errors[place[p]][row->cold ? COLD : WARM];
      if (!row->issue) gemmini_errors_add(&errors[index_of(groups, GROUPS, row->group)], row);
      gemmini_errors_add(&errors[row->issue ? ISSUE : FENCE], row);
      if (!row->issue && row->again == row->measured) gemmini_errors_add(&errors[STEADY], row);
      gemmini_errors_add(&errors[ALL], row);
    }
  }
}

// ---- report

static void print_line(const char *temperature, int line, const gemmini_errors *e) {
  printf("%-5s %-7s %5zu %5zu %9.2f %7.2f %7.2f ", temperature, line_name(line), e->rows, e->exact,
         gemmini_mean(e, e->cycles), gemmini_mean(e, e->percent), gemmini_mean(e, e->bias));
  if (e->repeated == 0)
    printf("%7s", "-");
  else
    printf("%7.2f", gemmini_repeat(e));
  printf(" %7.0f %8.2f  %s\n", e->max_cycles, e->max_percent, e->max_percent == 0 ? "" : e->worst->key);
}

static void print_errors(const char *memory, const char *array, gemmini_errors errors[TEMPERATURES][LINES]) {
  if (errors[WARM][ALL].rows + errors[COLD][ALL].rows == 0) return;
  printf("memory %s%s%s\n", memory, array == NULL ? "" : ", array ", array == NULL ? "" : array);
  printf("%-5s %-7s %5s %5s %9s %7s %7s %7s %7s %8s  %s\n", "", "group", "rows", "exact", "mean cyc", "mean %",
         "bias %", "other %", "max cyc", "max %", "worst");
  for (int t = 0; t < TEMPERATURES; t++)
    for (int line = 0; line < LINES; line++)
      if (errors[t][line].rows != 0) print_line(temperatures[t], line, &errors[t][line]);
  putchar('\n');
}

static int by_percent(const void *a, const void *b) {
  const gemmini_row *x = *(const gemmini_row *const *)a, *y = *(const gemmini_row *const *)b;
  double p = gemmini_percent(x), q = gemmini_percent(y);
  p = p < 0 ? -p : p;
  q = q < 0 ? -q : q;
  return p < q ? 1 : p > q ? -1 : x < y ? -1 : 1;
}

static void print_worst(const gemmini_bench *b) {
  const gemmini_row **rows = WF_NEW_ARRAY(b->table.count + 1, const gemmini_row *);
  size_t count = 0;
  for (size_t i = 0; i < b->table.count; i++)
    if (was_run(b, &b->table.rows[i])) rows[count++] = &b->table.rows[i];
  qsort(rows, count, sizeof rows[0], by_percent);
  printf("worst rows\n%-7s %-15s %-40s %9s %9s %8s\n", "group", "memory", "name, p1 to p6, rep", "measured",
         "simulated", "error %");
  for (size_t i = 0; i < count && i < WORST; i++)
    printf("%-7s %-15s %-40s %9" PRIu64 " %9" PRIu64 " %8.2f\n", rows[i]->group, rows[i]->memory, rows[i]->key,
           rows[i]->measured, rows[i]->simulated, gemmini_percent(rows[i]));
  wf_free(rows);
}

static cJSON *errors_json(const gemmini_errors *e) {
  cJSON *object = cJSON_CreateObject();
  cli_json_count(object, "rows", e->rows);
  cli_json_count(object, "exact", e->exact);
  cJSON_AddNumberToObject(object, "mean_cycles", gemmini_mean(e, e->cycles));
  cJSON_AddNumberToObject(object, "mean_percent", gemmini_mean(e, e->percent));
  cJSON_AddNumberToObject(object, "bias_percent", gemmini_mean(e, e->bias));
  if (e->repeated != 0) cJSON_AddNumberToObject(object, "other_percent", gemmini_repeat(e));
  cJSON_AddNumberToObject(object, "max_cycles", e->max_cycles);
  cJSON_AddNumberToObject(object, "max_percent", e->max_percent);
  cJSON_AddStringToObject(object, "worst", e->worst == NULL ? "" : e->worst->key);
  return object;
}

static cJSON *memory_json(const char *memory, const hw_array *array, gemmini_errors errors[TEMPERATURES][LINES]) {
  cJSON *object = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(object, "groups");
  cJSON_AddStringToObject(object, "memory", memory);
  if (array != NULL) cJSON_AddStringToObject(object, "array", array->name);
  if (array != NULL) cli_json_hash(object, "array_hash", hw_array_hash(array));
  for (int line = 0; line < LINES; line++) {
    cJSON *group = cJSON_CreateObject();
    cJSON_AddStringToObject(group, "group", line_name(line));
    for (int t = 0; t < TEMPERATURES; t++) cJSON_AddItemToObject(group, temperatures[t], errors_json(&errors[t][line]));
    cJSON_AddItemToArray(list, group);
  }
  return object;
}

static bool write_json(gemmini_bench *b, wf_diag *diag) {
  cJSON *document = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(document, "memories");
  cJSON_AddStringToObject(document, "bench", "gemmini");
  cJSON_AddStringToObject(document, "engine", b->engine->name);
  for (int m = 0; m < MEMORIES; m++)
    if (b->errors[m][WARM][ALL].rows != 0)
      cJSON_AddItemToArray(list, memory_json(memories[m].memory, &b->arrays[m], b->errors[m]));
  cJSON_AddItemToArray(list, memory_json("all", NULL, b->errors[MEMORIES]));
  return cli_write_json(b->common->json, document, diag);
}

static bool write_csv(const gemmini_bench *b, wf_diag *diag) {
  FILE *out = cli_open_output(b->options->csv, diag);
  if (out == NULL) return false;
  fputs("group,memory,name,p1,p2,p3,p4,p5,p6,rep,measured,simulated,error_percent\n", out);
  for (size_t i = 0; i < b->table.count; i++) {
    const gemmini_row *row = &b->table.rows[i];
    if (was_run(b, row))
      fprintf(out, "%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%.3f\n", row->group, row->memory, row->key, row->measured,
              row->simulated, gemmini_percent(row));
  }
  return cli_close(out, b->options->csv, diag);
}

static bool report(gemmini_bench *b, wf_diag *diag) {
  add_up(b);
  if (!b->common->quiet) {
    for (int m = 0; m < MEMORIES; m++) print_errors(memories[m].memory, memories[m].array, b->errors[m]);
    print_errors("all", NULL, b->errors[MEMORIES]);
    puts("other %: what the other warm repetition of the window, as measured, misses the row by");
    puts("steady: rows of `fence` whose other warm repetition took the same cycles\n");
    if (b->options->verbose) print_worst(b);
  }
  bool good = b->common->json == NULL || write_json(b, diag);
  return (b->options->csv == NULL || write_csv(b, diag)) && good;
}

// ---- command

// A limit of the mean error in percent; NULL: none.
static bool within(const char *limit, const char *option, const gemmini_errors *errors, cli_exit *exit, wf_diag *diag) {
  if (limit == NULL) return true;
  char *end;
  double value = strtod(limit, &end), mean = gemmini_mean(errors, errors->percent);
  if (end == limit || *end != '\0') {
    wf_error(diag, wf_in_file(NULL), "--%s %s is not a number", option, limit);
    *exit = CLI_USAGE;
    return false;
  }
  if (mean <= value) return true;
  wf_error(diag, wf_in_file(NULL), "the mean error of %.3f %% exceeds --%s %s", mean, option, limit);
  *exit = CLI_MISMATCH;
  return false;
}

static cli_exit bench(gemmini_bench *b, wf_diag *diag) {
  cli_exit exit = CLI_OK;
  if (!gemmini_table_load(&b->table, b->options->table, diag)) return CLI_BAD_INPUT;
  if (run_all(b, &exit, diag)) {
    if (!report(b, diag)) exit = CLI_BAD_INPUT;
    bool good = within(b->options->max_warm, "max-warm", &b->errors[MEMORIES][WARM][ALL], &exit, diag);
    if (good) within(b->options->max_cold, "max-cold", &b->errors[MEMORIES][COLD][ALL], &exit, diag);
  }
  gemmini_table_free(&b->table);
  return exit;
}

int cli_bench_gemmini(int argc, char **argv) {
  gemmini_options options = {.engine = "cycle", .programs = WEFT_GEMMINI_PROGRAMS, .table = WEFT_GEMMINI_TABLE};
  const cli_option table[] = {
      {"engine", CLI_OPTION_TEXT, &options.engine, "NAME", "an engine with cycles (default cycle)"},
      {"memory", CLI_OPTION_TEXT, &options.memory, "NAME", "only magic, ddr3_soc100MHz or ddr3_soc1GHz"},
      {"group", CLI_OPTION_TEXT, &options.group, "NAME", "only config, mvin, mvout, ex, dep or loop"},
      {"csv", CLI_OPTION_TEXT, &options.csv, "FILE|-", "write every row"},
      {"verbose", CLI_OPTION_FLAG, &options.verbose, NULL, "list the worst rows"},
      {"max-warm", CLI_OPTION_TEXT, &options.max_warm, "PERCENT", "fail (4) if the mean error of warm rows is larger"},
      {"max-cold", CLI_OPTION_TEXT, &options.max_cold, "PERCENT", "the same of cold rows"},
      {"programs", CLI_OPTION_TEXT, &options.programs, "FOLDER", "where the programs are (default: the build folder)"},
      {"table", CLI_OPTION_TEXT, &options.table, "FILE", "the measured rows"},
  };
  const cli_usage usage = {
      .verb = "bench gemmini",
      .synopsis = "",
      .text =
          "Runs the microbenchmarks that were measured on Gemmini's own RTL and prints the errors:\n"
          "per group and memory, warm and cold rows apart, in cycles and percent of the measured ones.",
      .options = table,
      .option_count = sizeof table / sizeof table[0]};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  wf_diag diag = wf_diag_to(stderr);
  gemmini_bench b = {.options = &options, .common = &common, .engine = sim_engine_find(options.engine)};
  if (b.engine == NULL || !b.engine->timed) {
    wf_error(&diag, wf_in_file(NULL), "no engine %s with cycles", options.engine);
    wf_hint(&diag, "cycle and rtl have them");
    return CLI_USAGE;
  }
  return (int)bench(&b, &diag);
}
