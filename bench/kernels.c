// SPDX-License-Identifier: Apache-2.0
// `weft bench kernels`: the shapes that others published, compiled by us, beside their figures.
//
// Every row is compiled, run on random data on engine cycle, and compared byte by byte with the kernel's interpreter.
// The cycles are those of the last of --times runs in a row, so that caches are as warm as they were in the published
// measurements. Utilisation is multiply-accumulates of the layer / (cycles x processing elements).
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/number.h"
#include "bench/bench.h"
#include "bench/published.h"
#include "compiler/compile.h"
#include "compiler/layer/kernel_files.h"
#include "runner/judge.h"
#include "runner/oracle.h"
#include "sim/figures.h"

typedef struct options {
  const char *set, *name, *style, *table, *kernels;
  uint64_t times, seed, tune;
  bool no_check, targets;
} options;

typedef struct measured {
  bool ran, checked;
  uint64_t cycles, wrong, read_bytes, written_bytes, digest;
  double utilisation, compile_seconds;
  char bound[SIM_BOUND_TEXT];
} measured;

typedef struct totals {
  unsigned rows, failed, wrong, missed;
} totals;

// ---- one row

static bool judge(const options *o, const hw_array *array, compile_result *result, measured *m, wf_diag *diag) {
  const sim_engine_options engine_options = {.timing_only = o->no_check, .quiet = true};
  const run_config config = {.engine = &sim_cycle_engine, .options = &engine_options, .times = (unsigned)o->times};
  run_oracle expected;
  run_oracle_verdict verdict;
  bool good = run_oracle_fill(&expected, result, o->seed, diag);
  if (good && !o->no_check) good = run_oracle_expect(&expected, result, diag);
  good = good && run_oracle_judge(&expected, result, &config, &verdict, diag);
  run_oracle_release(&expected);
  if (!good) return false;
  const double dim = hw_derive(array).dim;
  m->ran = true;
  m->checked = !o->no_check;
  m->wrong = m->checked ? verdict.wrong : 0;
  m->digest = verdict.digest;
  m->cycles = verdict.run.cycles;
  m->read_bytes = verdict.run.units.bus_read_bytes / o->times;
  m->written_bytes = verdict.run.units.bus_written_bytes / o->times;
  const uint64_t macs = command_useful_macs(result->commands, (uint64_t)map_macs(&result->layer));
  m->utilisation = (double)macs / (dim * dim * (double)m->cycles);
  sim_figures_bound(&verdict.run.units, m->bound);
  return true;
}

// The text of a kernel of the folder, or of one that travels in the program; to be freed.
static char *read_kernel(const options *o, const char *file, wf_diag *diag) {
  if (o->kernels != NULL) {
    char *path = wf_format("%s/%s", o->kernels, file), *text = bench_read(path, NULL, diag);
    wf_free(path);
    return text;
  }
  for (size_t n = 0; n < layer_kernel_file_count; n++)
    if (strcmp(layer_kernel_files[n].name, file) == 0) return bench_read(NULL, layer_kernel_files[n].text, diag);
  wf_error(diag, wf_in_file(file), "no such kernel in this program");
  wf_hint(diag, "--kernels names a folder of kernels");
  return NULL;
}

static void compile_and_judge(const options *o, const hw_array *array, const char *file, const char *text,
                              const bench_published_row *row, measured *m, wf_diag *diag) {
  compile_request request = {.file = file,
                             .text = text,
                             .length = strlen(text),
                             .array = array,
                             .style = strcmp(o->style, "loop") == 0 ? BLOCK_STYLE_LOOP : BLOCK_STYLE_PRIMITIVE,
                             .tuning = run_tuning((unsigned)o->tune, RUN_FIDELITY_CYCLE, COMPILE_CYCLES),
                             .straight = true};
  compile_result result = {0};
  wf_arena *arena = wf_arena_create();
  const double start = wf_process_seconds();
  const bool good = lang_read_args(row->shape, arena, &request.arguments, diag) && compile(&request, &result, diag);
  m->compile_seconds = wf_process_seconds() - start;
  if (good) judge(o, array, &result, m, diag);
  compile_release(&result);
  wf_arena_destroy(arena);
}

static measured measure(const options *o, const hw_array *array, const bench_published_row *row, wf_diag *diag) {
  measured m = {0};
  char *file = wf_format("%s.py", row->kernel), *text = read_kernel(o, file, diag);
  if (text != NULL) compile_and_judge(o, array, file, text, row, &m, diag);
  wf_free(text);
  wf_free(file);
  return m;
}

// ---- the table

static const bench_column columns[] = {
    {BENCH_DATA("set")},
    {.title = "shape", BENCH_DATA("name"), .width = -22},
    {BENCH_DATA("kernel")},
    {.key = "shape"},
    {.csv = "shape"},
    {.key = "ran"},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 12},
    {.title = "util %",
     BENCH_DATA("utilisation"),
     .width = 7,
     .text_format = "%.2f",
     .scale = 100,
     .csv_format = "%.4f"},
    {.title = "target", .width = 7, .text_format = "%.1f"},
    {.title = "bytes read", BENCH_DATA("read_bytes"), .width = 13},
    {.title = "written", BENCH_DATA("written_bytes"), .width = 13},
    {.title = "published", BENCH_DATA("published_cycles"), .width = 12, .csv_none = "0"},
    {.title = "ratio", .width = 6, .text_format = "%.3f"},
    {BENCH_DATA("library_cycles"), .csv_none = "0"},
    {BENCH_DATA("target_percent"), .csv_format = "%.1f", .csv_none = "0.0"},
    {.title = "ms", .key = "compile_seconds", .width = 8, .text_format = "%.1f", .scale = 1e3},
    {.title = "execute waits most for; front end", .key = "bound", .gap = "  "},
    {.title = "", .gap = ""},
    {.key = "checked"},
    {.key = "wrong_bytes"},
    {.key = "digest"},
    {.csv = "result"},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static const char *verdict_of(const measured *m) {
  return !m->ran ? "failed" : !m->checked ? "not checked" : m->wrong == 0 ? "as the oracle's" : "WRONG";
}

static void add_row(bench_table *table, const bench_published_row *row, const measured *m) {
  const bench_cell target = bench_if(row->target_percent > 0, bench_real(row->target_percent));
  const char *remark = m->checked || !m->ran ? m->wrong != 0 ? "  WRONG RESULT" : "" : "  (not checked)";
  const bool known = row->published_cycles != 0, checked = m->ran && m->checked;
  bench_table_add(
      table, m->ran ? NULL : "failed",
      BENCH_CELLS(bench_text(row->set), bench_text(row->name), bench_text(row->kernel), bench_text(row->shape),
                  bench_text(row->plain_shape), bench_flag(m->ran), bench_if(m->ran, bench_count(m->cycles)),
                  bench_if(m->ran, bench_real(m->utilisation)), target, bench_if(m->ran, bench_count(m->read_bytes)),
                  bench_if(m->ran, bench_count(m->written_bytes)), bench_if(known, bench_count(row->published_cycles)),
                  bench_if(known && m->ran, bench_real((double)row->published_cycles / (double)m->cycles)),
                  bench_if(row->library_cycles != 0, bench_count(row->library_cycles)), target,
                  bench_if(m->ran, bench_real(m->compile_seconds)), bench_if(m->ran, bench_text(m->bound)),
                  bench_text(remark), bench_if(m->ran, bench_flag(m->checked)),
                  bench_if(checked, bench_count(m->wrong)), bench_if(checked, bench_hash(m->digest)),
                  bench_text(verdict_of(m))));
}

// ---- the bench

static void count(totals *t, const bench_published_row *row, const measured *m) {
  t->rows++;
  t->failed += !m->ran;
  t->wrong += m->wrong != 0;
  t->missed += row->target_percent > 0 && 100 * m->utilisation < row->target_percent;
}

static const bench_column head_columns[] = {{.key = "times"}};
static const bench_form head_form = {BENCH_FORM(head_columns)};

static totals run_rows(const bench_job *job, const options *o, const hw_array *array, const bench_published *shapes) {
  totals t = {0};
  BENCH_ROW(bench_table_open(job->report, &head_form), bench_count(o->times));
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  for (size_t i = 0; i < shapes->count; i++) {
    const bench_published_row *row = &shapes->rows[i];
    if (!bench_takes(o->set, row->set) || !bench_takes(o->name, row->name)) continue;
    const measured m = measure(o, array, row, job->diag);
    count(&t, row, &m);
    add_row(table, row, &m);
  }
  bench_report_say(job->report, "%u rows, %u failed, %u wrong, %u below their target\n", t.rows, t.failed, t.wrong,
                   t.missed);
  return t;
}

static bench_end run_kernels(const bench_job *job) {
  options o = *(const options *)job->options;
  if (o.times == 0) o.times = 1;
  if (strcmp(o.style, "primitive") != 0 && strcmp(o.style, "loop") != 0) {
    wf_error(job->diag, wf_in_file(NULL), "--style %s", o.style);
    wf_hint(job->diag, "one of primitive, loop");
    return BENCH_BAD_USAGE;
  }
  bench_published shapes;
  hw_array array;
  if (!bench_load_array(job, &array) || !bench_published_load(&shapes, o.table, job->diag)) return BENCH_BAD_INPUT;
  const totals t = run_rows(job, &o, &array, &shapes);
  bench_published_release(&shapes);
  if (t.wrong != 0 || (o.targets && t.missed != 0)) return BENCH_MISMATCH;
  return t.failed != 0 ? BENCH_CANNOT_BUILD : BENCH_DONE;
}

static const wf_option option_rows[] = {
    {"set", WF_TEXT(options, set), "NAME", "only the rows of a set: gemm, conv, small, other"},
    {"name", WF_TEXT(options, name), "NAME", "only the row of this name"},
    {"times", WF_COUNT(options, times), "N", "runs in a row, the last is measured (default 2: warm caches)"},
    {"seed", WF_COUNT(options, seed), "N", "of the random data (default 1)"},
    {"style", WF_TEXT(options, style), "primitive|loop", "of the mappings (default primitive)"},
    {"tune", WF_COUNT(options, tune), "N", "simulate the mapper's N best mappings and take the fastest"},
    {"no-check", WF_FLAG(options, no_check), NULL, "move no data and compare nothing: faster"},
    {"targets", WF_FLAG(options, targets), NULL, "end with 4 if a row is below its target utilisation"},
    {"table", WF_TEXT(options, table), "FILE",
     "another table of shapes (default: workloads/published.csv as it was built in)"},
    {"kernels", WF_TEXT(options, kernels), "DIR",
     "another folder of kernels (default: workloads/kernels as it was built in)"},
};
static const options defaults = {.times = 2, .seed = 1, .style = "primitive"};

const bench bench_kernels = {
    .name = "kernels",
    .summary = "compiled kernels on the shapes that others published",
    .synopsis = "",
    .text =
        "Compiles the shapes that other projects published, runs them on engine cycle, compares every byte with the\n"
        "kernel's interpreter and prints cycles and utilisation beside the published figures.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_kernels};
