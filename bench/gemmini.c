// SPDX-License-Identifier: Apache-2.0
// `weft bench gemmini`: the microbenchmarks whose cycles on Gemmini's own RTL were measured (workloads/gemmini-rtl),
// run on an engine with the timed hart, and the error row by row.
//
// Each memory of the table is an array of ours, side8 that of another machine. Every group is a program of its own, as
// it was when it was measured: the layout of the code decides which windows pay for instruction lines. Rows that end
// before the fence measure the hart and stand apart as the group "issue"; "fence" is all others, "steady" those of them
// that take as long in both warm repetitions of the measurement.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/gemmini_elfs.h"
#include "bench/gemmini_table.h"
#include "sim/run.h"

// Windows of microbenchmarks, and random programs: those stand apart in the sums, too.
static const char *const groups[] = {"config", "mvin", "mvout", "ex", "dep", "loop", "random"};
enum { GROUPS = sizeof groups / sizeof groups[0], RANDOM = GROUPS - 1 };
enum { FENCE = GROUPS, STEADY, ISSUE, ALL, LINES };

// The last one is another machine, which has programs of its own.
static const struct {
  const char *memory, *array, *prefix;
} memories[] = {{"magic", "gemmini-magic", ""},
                {"ddr3_soc100MHz", "gemmini-ddr3-100mhz", ""},
                {"ddr3_soc1GHz", "gemmini-default", ""},
                {"side8", "gemmini-side8", "side8_"}};
enum { MEMORIES = sizeof memories / sizeof memories[0], SIDE8 = MEMORIES - 1 };
enum { WARM = 0, COLD, TEMPERATURES, WORST = 20 };

static const char *const temperatures[] = {"warm", "cold"};

typedef struct options {
  const char *engine, *memory, *group, *programs, *table, *max_warm, *max_cold;
  bool verbose;
} options;

typedef struct gemmini_bench {
  const options *options;
  bool quiet;
  const sim_engine_ops *engine;
  bench_report *report;
  bench_gemmini_table table;
  hw_array arrays[MEMORIES];
  bool ran[MEMORIES][GROUPS];
  bench_gemmini_errors errors[MEMORIES + 1][TEMPERATURES][LINES];  // the last: of all memories of the first machine
} gemmini_bench;

static const char *line_name(int line) {
  static const char *const sums[] = {"fence", "steady", "issue", "all"};
  return line < GROUPS ? groups[line] : sums[line - GROUPS];
}

// ---- running

static bool has_rows(const bench_gemmini_table *table, const char *group, const char *memory) {
  for (size_t i = 0; i < table->count; i++)
    if (strcmp(table->rows[i].group, group) == 0 && strcmp(table->rows[i].memory, memory) == 0) return true;
  return false;
}

// What the program prints, to free; NULL after an error was reported.
static char *run_program(const gemmini_bench *b, const hw_array *array, const char *path, bench_end *end,
                         wf_diag *diag) {
  char *printed = NULL;
  size_t length = 0;
  const sim_engine_options engine_options = {.quiet = b->quiet};
  sim_run_config config = {.array = array,
                           .engine = b->engine,
                           .engine_options = &engine_options,
                           .console = open_memstream(&printed, &length),
                           .console_error = stderr};
  sim_run_result result = sim_run_elf(&config, path, diag);
  fclose(config.console);
  if (result.status == SIM_RUN_OK && result.host.exit_code == 0) return printed;
  *end = result.status == SIM_RUN_CANNOT_BUILD ? BENCH_CANNOT_BUILD
         : result.status == SIM_RUN_BAD_INPUT  ? BENCH_BAD_INPUT
                                               : BENCH_PROGRAM_FAILED;
  free(printed);
  return NULL;
}

// A program that travels in this one as a file without a name; NULL after an error was reported.
static FILE *open_own_program(const char *program, wf_diag *diag) {
  for (size_t n = 0; n < bench_gemmini_elf_count; n++) {
    const bench_gemmini_elf *elf = &bench_gemmini_elfs[n];
    if (strcmp(elf->name, program) != 0) continue;
    FILE *file = tmpfile();
    if (file != NULL && fwrite(elf->bytes, 1, elf->size, file) == elf->size && fflush(file) == 0) return file;
    if (file != NULL) fclose(file);
    break;
  }
  wf_error(diag, wf_in_file(NULL), "no temporary file for program %s can be made", program);
  return NULL;
}

// Adds what a program prints to `out`.
static bool run_one(const gemmini_bench *b, int memory, const char *program, FILE *out, bench_end *end, wf_diag *diag) {
  const char *folder = b->options->programs;
  FILE *own = folder == NULL ? open_own_program(program, diag) : NULL;
  if (folder == NULL && own == NULL) return false;
  char *path = own != NULL ? wf_format("/proc/self/fd/%d", fileno(own)) : wf_format("%s/%s.elf", folder, program);
  if (!b->quiet) fprintf(stderr, "weft: %s with memory %s\n", program, memories[memory].memory);
  char *printed = run_program(b, &b->arrays[memory], path, end, diag);
  if (printed != NULL) fputs(printed, out);
  wf_free(path);
  if (own != NULL) fclose(own);
  const bool good = printed != NULL;
  free(printed);
  return good;
}

// The random programs are two, and print a line for each.
static bool run_programs(const gemmini_bench *b, int memory, int group, FILE *out, bench_end *end, wf_diag *diag) {
  if (group == RANDOM) {
    return run_one(b, memory, "random_0", out, end, diag) && run_one(b, memory, "random_1", out, end, diag);
  }
  char *program = wf_format("%s%s", memories[memory].prefix, groups[group]);
  const bool good = run_one(b, memory, program, out, end, diag);
  wf_free(program);
  return good;
}

static bool run_group(gemmini_bench *b, int memory, int group, bench_end *end, wf_diag *diag) {
  char *printed = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&printed, &length);
  bool good = run_programs(b, memory, group, out, end, diag);
  fclose(out);
  if (good && group == RANDOM) {
    char *rows = bench_gemmini_random_rows(printed);
    free(printed);
    printed = rows;
  }
  if (good &&
      !bench_gemmini_table_fill(&b->table, groups[group], memories[memory].memory, printed, groups[group], diag)) {
    *end = BENCH_MISMATCH;
    good = false;
  }
  b->ran[memory][group] = good;
  free(printed);
  return good;
}

static bool run_all(gemmini_bench *b, bench_end *end, wf_diag *diag) {
  bool any = false;
  for (int memory = 0; memory < MEMORIES; memory++) {
    if (!hw_array_load(&b->arrays[memory], memories[memory].array, diag)) return false;
    for (int group = 0; group < GROUPS; group++) {
      if (!bench_takes(b->options->memory, memories[memory].memory) || !bench_takes(b->options->group, groups[group]) ||
          !has_rows(&b->table, groups[group], memories[memory].memory))
        continue;
      any = true;
      if (!run_group(b, memory, group, end, diag)) return false;
    }
  }
  if (any) return true;
  wf_error(diag, wf_in_file(b->options->table), "no rows of that group and memory");
  wf_hint(diag, "groups: config mvin mvout ex dep loop random; memories: magic ddr3_soc100MHz ddr3_soc1GHz side8");
  *end = BENCH_BAD_INPUT;
  return false;
}

// ---- errors

static int index_of(const char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

static int memory_of(const bench_gemmini_row *row) {
  for (int i = 0; i < MEMORIES; i++)
    if (strcmp(memories[i].memory, row->memory) == 0) return i;
  return -1;
}

static bool was_run(const gemmini_bench *b, const bench_gemmini_row *row) {
  int memory = memory_of(row), group = index_of(groups, GROUPS, row->group);
  return memory >= 0 && group >= 0 && b->ran[memory][group];
}

static void add_up(gemmini_bench *b) {
  for (size_t i = 0; i < b->table.count; i++) {
    const bench_gemmini_row *row = &b->table.rows[i];
    if (!was_run(b, row)) continue;
    const int place[] = {memory_of(row), MEMORIES}, group = index_of(groups, GROUPS, row->group);
    for (int p = 0; p < (place[0] == SIDE8 ? 1 : 2); p++) {
      bench_gemmini_errors *errors = b->errors[place[p]][row->cold ? COLD : WARM];
      if (!row->issue) bench_gemmini_errors_add(&errors[group], row);
      if (group == RANDOM) continue;
      bench_gemmini_errors_add(&errors[row->issue ? ISSUE : FENCE], row);
      if (!row->issue && row->again == row->measured) bench_gemmini_errors_add(&errors[STEADY], row);
      bench_gemmini_errors_add(&errors[ALL], row);
    }
  }
}

// ---- tables

static const bench_column error_columns[] = {
    {.title = "", .width = -5},
    {.title = "group", .width = -7},
    {.title = "rows", .width = 5, .text_format = "%.0f"},
    {.title = "exact", .width = 5, .text_format = "%.0f"},
    {.title = "mean cyc", .width = 9, .text_format = "%.2f"},
    {.title = "mean %", .width = 7, .text_format = "%.2f"},
    {.title = "bias %", .width = 7, .text_format = "%.2f"},
    {.title = "other %", .width = 7, .text_format = "%.2f", .none = "-"},
    {.title = "max cyc", .width = 7, .text_format = "%.0f"},
    {.title = "max %", .width = 8, .text_format = "%.2f"},
    {.title = "worst", .gap = "  "},
};
static const bench_form error_form = {BENCH_FORM(error_columns)};

// The cells of the errors of some rows, but for the worst of them.
#define ERRORS(e)                                                                                                \
  bench_count((e)->percent.count), bench_count((e)->exact), bench_real(wf_summary_mean(&(e)->cycles)),           \
      bench_real(wf_summary_mean(&(e)->percent)), bench_real(wf_summary_mean(&(e)->bias)),                       \
      bench_if((e)->repeat.count != 0, bench_real(wf_summary_mean(&(e)->repeat))), bench_real((e)->cycles.most), \
      bench_real((e)->percent.most)

static bench_cell worst_of(const bench_gemmini_errors *e) { return bench_text(e->worst == NULL ? "" : e->worst->key); }

static void add_errors(bench_table *table, int temperature, int line, const bench_gemmini_errors *e) {
  if (e->percent.count > 0)
    BENCH_ROW(table, bench_text(temperatures[temperature]), bench_text(line_name(line)), ERRORS(e),
              bench_if(e->percent.most > 0, worst_of(e)));
}

static bool has_errors(const gemmini_bench *b, int m) {
  const bench_gemmini_errors *warm = b->errors[m][WARM], *cold = b->errors[m][COLD];
  return warm[ALL].percent.count + cold[ALL].percent.count + warm[RANDOM].percent.count != 0;
}

// The errors with one memory, or with all of the first machine: the last.
static void report_memory(const gemmini_bench *b, bench_table *table, int m) {
  const bool all = m == MEMORIES;
  if (!has_errors(b, m)) return;
  bench_report_say(b->report, "memory %s%s%s\n", all ? "all but side8" : memories[m].memory, all ? "" : ", array ",
                   all ? "" : memories[m].array);
  bench_table_heading(table);
  for (int t = 0; t < TEMPERATURES; t++)
    for (int line = 0; line < LINES; line++) add_errors(table, t, line, &b->errors[m][t][line]);
  bench_report_say(b->report, "\n");
}

static const bench_column head_columns[] = {{.key = "engine"}};
static const bench_form head_form = {BENCH_FORM(head_columns)};

#define TEMPERATURE(name)                                                                                     \
  {.key = name ".rows"}, {.key = name ".exact"}, {.key = name ".mean_cycles"}, {.key = name ".mean_percent"}, \
      {.key = name ".bias_percent"}, {.key = name ".other_percent"}, {.key = name ".max_cycles"},             \
      {.key = name ".max_percent"}, {                                                                         \
    .key = name ".worst"                                                                                      \
  }
static const bench_column memory_columns[] = {{.key = "memory"}, {.key = "array"},    {.key = "array_hash"},
                                              {.key = "group"},  TEMPERATURE("warm"), TEMPERATURE("cold")};
static const bench_form memory_form = {.list = "memories", .inner = "groups", .outer = 3, BENCH_FORM(memory_columns)};

static void add_memory(const gemmini_bench *b, bench_table *table, int m) {
  const bool all = m == MEMORIES;
  if (!all && !has_errors(b, m)) return;
  for (int line = 0; line < LINES; line++) {
    const bench_gemmini_errors *warm = &b->errors[m][WARM][line], *cold = &b->errors[m][COLD][line];
    BENCH_ROW(table, bench_text(all ? "all" : memories[m].memory), all ? bench_none() : bench_text(b->arrays[m].name),
              all ? bench_none() : bench_hash(hw_array_hash(&b->arrays[m])), bench_text(line_name(line)), ERRORS(warm),
              worst_of(warm), ERRORS(cold), worst_of(cold));
  }
}

static int by_percent(const void *a, const void *b) {
  const bench_gemmini_row *x = *(const bench_gemmini_row *const *)a, *y = *(const bench_gemmini_row *const *)b;
  double p = bench_gemmini_percent(x), q = bench_gemmini_percent(y);
  p = p < 0 ? -p : p;
  q = q < 0 ? -q : q;
  return p < q ? 1 : p > q ? -1 : x < y ? -1 : 1;
}

static const bench_column worst_columns[] = {
    {.title = "group", .width = -7},
    {.title = "memory", .width = -15},
    {.title = "name, p1 to p6, rep", .width = -40},
    {.title = "measured", .width = 9, .text_format = "%.0f"},
    {.title = "simulated", .width = 9, .text_format = "%.0f"},
    {.title = "error %", .width = 8, .text_format = "%.2f"},
};
static const bench_form worst_form = {BENCH_FORM(worst_columns)};

static void report_worst(const gemmini_bench *b) {
  const bench_gemmini_row **rows = WF_NEW_ARRAY(b->table.count + 1, const bench_gemmini_row *);
  size_t count = 0;
  for (size_t i = 0; i < b->table.count; i++)
    if (was_run(b, &b->table.rows[i])) rows[count++] = &b->table.rows[i];
  qsort(rows, count, sizeof rows[0], by_percent);
  bench_table *table = bench_table_open(b->report, &worst_form);
  bench_report_say(b->report, "worst rows\n");
  bench_table_heading(table);
  for (size_t i = 0; i < count && i < WORST; i++)
    BENCH_ROW(table, bench_text(rows[i]->group), bench_text(rows[i]->memory), bench_text(rows[i]->key),
              bench_count(rows[i]->measured), bench_count(rows[i]->simulated),
              bench_real(bench_gemmini_percent(rows[i])));
  wf_free(rows);
}

// The key of a row is "name,p1,...,p6,rep".
enum { KEY_FIELDS = 8 };
static const bench_column window_columns[] = {{.csv = "group"},
                                              {.csv = "memory"},
                                              {.csv = "name"},
                                              {.csv = "p1"},
                                              {.csv = "p2"},
                                              {.csv = "p3"},
                                              {.csv = "p4"},
                                              {.csv = "p5"},
                                              {.csv = "p6"},
                                              {.csv = "rep"},
                                              {.csv = "measured"},
                                              {.csv = "simulated"},
                                              {.csv = "error_percent", .csv_format = "%.3f"}};
static const bench_form window_form = {BENCH_FORM(window_columns)};

static void add_window(bench_table *table, const bench_gemmini_row *row) {
  char *key = wf_strdup(row->key), *rest = key;
  bench_cell cells[2 + KEY_FIELDS + 3] = {bench_text(row->group), bench_text(row->memory)};
  for (int i = 0; i < KEY_FIELDS; i++) {
    const char *field = strsep(&rest, ",");
    cells[2 + i] = bench_text(field == NULL ? "" : field);
  }
  cells[2 + KEY_FIELDS] = bench_count(row->measured);
  cells[3 + KEY_FIELDS] = bench_count(row->simulated);
  cells[4 + KEY_FIELDS] = bench_real(bench_gemmini_percent(row));
  bench_table_add(table, NULL, cells, sizeof cells / sizeof *cells);
  wf_free(key);
}

static void report(gemmini_bench *b) {
  add_up(b);
  BENCH_ROW(bench_table_open(b->report, &head_form), bench_text(b->engine->name));
  bench_table *errors = bench_table_open(b->report, &error_form);
  bench_table *lines = bench_table_open(b->report, &memory_form);
  for (int m = 0; m <= MEMORIES; m++) {
    report_memory(b, errors, m);
    add_memory(b, lines, m);
  }
  bench_report_say(b->report,
                   "other %%: what the other warm repetition of the window, as measured, misses the row by\n"
                   "steady: rows of `fence` whose other warm repetition took the same cycles\n\n");
  if (b->options->verbose) report_worst(b);
  bench_table *windows = bench_table_open(b->report, &window_form);
  for (size_t i = 0; i < b->table.count; i++)
    if (was_run(b, &b->table.rows[i])) add_window(windows, &b->table.rows[i]);
}

// ---- the bench

// A limit of the mean error in percent; NULL: none.
static bool within(const char *limit, const char *option, const bench_gemmini_errors *errors, bench_end *end,
                   wf_diag *diag) {
  if (limit == NULL) return true;
  char *rest;
  double value = strtod(limit, &rest), mean = wf_summary_mean(&errors->percent);
  if (rest == limit || *rest != '\0') {
    wf_error(diag, wf_in_file(NULL), "--%s %s is not a number", option, limit);
    *end = BENCH_BAD_USAGE;
    return false;
  }
  if (mean <= value) return true;
  wf_error(diag, wf_in_file(NULL), "the mean error of %.3f %% exceeds --%s %s", mean, option, limit);
  *end = BENCH_MISMATCH;
  return false;
}

// What the limits are for: all rows of the first machine that ran, or else the random programs, or the other machine.
static const bench_gemmini_errors *limited(const gemmini_bench *b, int temperature) {
  const bench_gemmini_errors *first = b->errors[MEMORIES][temperature];
  if (first[ALL].percent.count != 0) return &first[ALL];
  return first[RANDOM].percent.count != 0 ? &first[RANDOM] : &b->errors[SIDE8][temperature][FENCE];
}

static bench_end run_and_report(gemmini_bench *b, wf_diag *diag) {
  bench_end end = BENCH_BAD_INPUT;
  if (!bench_gemmini_table_load(&b->table, b->options->table, diag)) return BENCH_BAD_INPUT;
  if (run_all(b, &end, diag)) {
    end = BENCH_DONE;
    report(b);
    const bool good = within(b->options->max_warm, "max-warm", limited(b, WARM), &end, diag);
    if (good) within(b->options->max_cold, "max-cold", limited(b, COLD), &end, diag);
  }
  bench_gemmini_table_free(&b->table);
  return end;
}

static bench_end run_gemmini(const bench_job *job) {
  const options *o = job->options;
  const sim_engine_ops *engine = sim_engine_find(o->engine);
  if (engine == NULL || !engine->timed) {
    wf_error(job->diag, wf_in_file(NULL), "no engine %s with cycles", o->engine);
    wf_hint(job->diag, "cycle and rtl have them");
    return BENCH_BAD_USAGE;
  }
  gemmini_bench *b = WF_NEW(gemmini_bench);
  *b = (gemmini_bench){.options = o, .quiet = job->quiet, .engine = engine, .report = job->report};
  const bench_end end = run_and_report(b, job->diag);
  wf_free(b);
  return end;
}

static const wf_option option_rows[] = {
    {"engine", WF_TEXT(options, engine), "NAME", "an engine with cycles (default cycle)"},
    {"memory", WF_TEXT(options, memory), "NAME", "only magic, ddr3_soc100MHz, ddr3_soc1GHz or side8"},
    {"group", WF_TEXT(options, group), "NAME", "only config, mvin, mvout, ex, dep, loop or random"},
    {"verbose", WF_FLAG(options, verbose), NULL, "list the worst rows"},
    {"max-warm", WF_TEXT(options, max_warm), "PERCENT", "fail (4) if the mean error of warm rows is larger"},
    {"max-cold", WF_TEXT(options, max_cold), "PERCENT", "the same of cold rows"},
    {"programs", WF_TEXT(options, programs), "DIR", "another folder of programs (default: those that were built in)"},
    {"table", WF_TEXT(options, table), "FILE", "other measured rows (default: those built in)"},
};
static const options defaults = {.engine = "cycle"};

const bench bench_gemmini = {
    .name = "gemmini",
    .summary = "errors against cycles measured on Gemmini's own RTL",
    .synopsis = "",
    .text =
        "Runs the programs that were measured on Gemmini's own RTL and prints the errors:\n"
        "per group and memory, warm and cold rows apart, in cycles and percent of the measured ones.",
    BENCH_OPTIONS(option_rows, defaults),
    .run = run_gemmini};
