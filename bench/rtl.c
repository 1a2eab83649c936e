// SPDX-License-Identifier: Apache-2.0
// `weft bench rtl`: how long the hardware of several arrays takes to build, and how fast it then is, beside the other
// engines, on the same program (driver/examples/speed_gemm.c) with the hart.
//
// The models are built from nothing, in a cache of the bench's own that it removes. A run's time is the processor time
// of all of it: engine, hart, loading. Its cycles are those that the program measured around its products, the same for
// cycle and rtl; what the hart computes before and after, with an idle accelerator, is in the time but not in the
// cycles, and the run on ref tells how much that is.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "hw/export/tool.h"
#include "sim/rtl/build.h"
#include "sim/run.h"

static const char *const arrays[] = {"dim4", "dim8", "dim16"};
static const char *const engines[] = {"ref", "cycle", "rtl"};
enum { ARRAYS = sizeof arrays / sizeof arrays[0], REF = 0, CYCLE, RTL, ENGINES };

typedef struct speed_row {
  double wall_seconds, cpu_seconds;
  uint64_t cycles;  // that the program measured
  uint64_t host_cycles;
} speed_row;

typedef struct speed_result {
  double build_wall_seconds, build_cpu_seconds;
  speed_row row[ENGINES];
} speed_result;

typedef struct speed_bench {
  const char *programs;  // directory of ARRAY/speed_gemm.elf
  uint64_t jobs;
  bool quiet;
} speed_bench;

static bool build(const speed_bench *b, const hw_array *array, speed_result *r, wf_diag *diag) {
  const sim_rtl_build_options options = {.jobs = (unsigned)b->jobs, .quiet = b->quiet};
  const double before = bench_children_seconds();
  sim_rtl_model model;
  if (!sim_rtl_build(array, &options, &model, diag)) return false;
  r->build_cpu_seconds = bench_children_seconds() - before;
  r->build_wall_seconds = model.seconds;
  wf_free(model.path);
  return true;
}

// The sum of "N cycles" over the lines of the program's output.
static uint64_t measured_cycles(const char *output) {
  uint64_t sum = 0;
  for (const char *at = output; (at = strstr(at, " cycles\n")) != NULL; at++) {
    const char *digits = at;
    while (digits > output && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    sum += strtoull(digits, NULL, 10);
  }
  return sum;
}

static bool run(const speed_bench *b, const hw_array *array, unsigned engine, speed_row *row, wf_diag *diag) {
  char *output = NULL, *path = wf_format("%s/%s/speed_gemm.elf", b->programs, array->name);
  size_t length;
  FILE *console = open_memstream(&output, &length);
  if (console == NULL) wf_error(diag, wf_in_file(NULL), "no memory for the program's output");
  bool good = false;
  if (console != NULL) {
    const sim_engine_options options = {.quiet = b->quiet};
    const sim_run_config config = {.array = array,
                                   .engine = sim_engine_find(engines[engine]),
                                   .engine_options = &options,
                                   .console = console,
                                   .console_error = stderr};
    const double wall = wf_seconds(), cpu = wf_process_seconds();
    const sim_run_result result = sim_run_elf(&config, path, diag);
    *row = (speed_row){.wall_seconds = wf_seconds() - wall, .cpu_seconds = wf_process_seconds() - cpu};
    fclose(console);
    good = result.status == SIM_RUN_OK && result.host.exit_code == 0 && strstr(output, "PASS speed_gemm\n") != NULL;
    if (!good && result.status != SIM_RUN_BAD_INPUT && result.status != SIM_RUN_CANNOT_BUILD)
      wf_error(diag, wf_in_file(path), "did not pass on engine %s", engines[engine]);
    row->cycles = measured_cycles(output);
    row->host_cycles = result.host.cycles;
  }
  free(output);
  wf_free(path);
  return good;
}

static bench_end measure(const speed_bench *b, const char *name, speed_result *r, wf_diag *diag) {
  hw_array array;
  if (!hw_array_load(&array, name, diag)) return BENCH_BAD_INPUT;
  // Programs first: without them no model needs to be built.
  for (unsigned engine = 0; engine < RTL; engine++)
    if (!run(b, &array, engine, &r->row[engine], diag)) return BENCH_BAD_INPUT;
  if (!build(b, &array, r, diag)) return BENCH_CANNOT_BUILD;
  if (!run(b, &array, RTL, &r->row[RTL], diag)) return BENCH_BAD_INPUT;
  if (r->row[CYCLE].cycles == r->row[RTL].cycles && r->row[CYCLE].host_cycles == r->row[RTL].host_cycles)
    return BENCH_DONE;
  wf_error(diag, wf_in_file(NULL), "%s: rtl takes %" PRIu64 " cycles and cycle %" PRIu64, name, r->row[RTL].host_cycles,
           r->row[CYCLE].host_cycles);
  return BENCH_MISMATCH;
}

// ---- the table

// The column `cycles` of the text is of the engine, that of the data of the array.
static const bench_column columns[] = {
    {.title = "array", BENCH_DATA("array"), .width = -7},
    {.title = "build wall s",
     .key = "build_wall_seconds",
     .csv = "build_wall_seconds",
     .width = 12,
     .text_format = "%.1f"},
    {.title = "build cpu s",
     .key = "build_cpu_seconds",
     .csv = "build_cpu_seconds",
     .width = 12,
     .text_format = "%.1f"},
    {BENCH_DATA("cycles")},
    {.title = "engine", BENCH_DATA("engine"), .gap = "  ", .width = -7},
    {.title = "cycles", .width = 12, .none = "-"},
    {.title = "wall s", BENCH_DATA("wall_seconds"), .width = 10, .text_format = "%.3f"},
    {.title = "cpu s", BENCH_DATA("cpu_seconds"), .width = 10, .text_format = "%.3f"},
    {.title = "cycles/cpu s", BENCH_DATA("cycles_per_cpu_second"), .width = 14},
    {.title = "x rtl", .width = 8, .text_format = "%.1f"},
};
static const bench_form form = {.list = "arrays", .inner = "engines", .outer = 4, BENCH_FORM(columns)};

// ref has no cycles: those that the program takes on the others, in its time.
static double rate(const speed_result *r, unsigned engine) {
  const double cpu = r->row[engine].cpu_seconds;
  return cpu > 0 ? (double)r->row[RTL].cycles / cpu : 0;
}

static void add_rows(bench_table *table, const char *name, const speed_result *r) {
  for (unsigned engine = ENGINES; engine-- > 0;) {
    const speed_row *row = &r->row[engine];
    BENCH_ROW(table, bench_text(name), bench_real(r->build_wall_seconds), bench_real(r->build_cpu_seconds),
              bench_count(r->row[RTL].cycles), bench_text(engines[engine]),
              bench_if(engine != REF, bench_count(row->cycles)), bench_real(row->wall_seconds),
              bench_real(row->cpu_seconds), bench_real(rate(r, engine)), bench_real(rate(r, engine) / rate(r, RTL)));
  }
}

// ---- the bench

// Models go where WEFT_CACHE says; the caller removes the directory.
static char *make_cache(wf_diag *diag) {
  const char *base = getenv("TMPDIR");
  char *path = wf_format("%s/weft-bench-XXXXXX", base != NULL ? base : "/tmp");
  if (mkdtemp(path) != NULL && setenv("WEFT_CACHE", path, 1) == 0) return path;
  wf_error(diag, wf_in_file(path), "cannot make a directory for the models");
  wf_free(path);
  return NULL;
}

typedef struct options {
  uint64_t jobs;
} options;

static const wf_option rows[] = {{"jobs", WF_COUNT(options, jobs), "N", "compilers at a time (default 2)"}};
static const options defaults = {0};

static bench_end run_rtl(const bench_job *job) {
  const options *o = job->options;
  const speed_bench b = {.programs = job->arguments[0], .jobs = o->jobs, .quiet = job->quiet};
  char *cache = make_cache(job->diag);
  if (cache == NULL) return BENCH_CANNOT_BUILD;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  bench_end end = BENCH_DONE;
  for (size_t n = 0; n < ARRAYS && end == BENCH_DONE; n++) {
    speed_result result = {0};
    end = measure(&b, arrays[n], &result, job->diag);
    if (end == BENCH_DONE) add_rows(table, arrays[n], &result);
  }
  hw_tool_remove(cache);
  wf_free(cache);
  return end;
}

const bench bench_rtl = {
    .name = "rtl",
    .summary = "build times of the hardware and its speed beside the other engines",
    .synopsis = "DIR",
    .text =
        "Builds the hardware of dim4, dim8 and dim16 from nothing and runs a matrix product on it, on the\n"
        "cycle engine and on ref, each with the hart; prints build times and cycles per second of processor\n"
        "time. DIR holds dim4/speed_gemm.elf and so on: driver/examples/speed of the build.\n"
        "Exit code: 0 good, 1 a program is missing or failed, 3 a model cannot be built, 4 cycles differ.",
    BENCH_OPTIONS(rows, defaults),
    .min_arguments = 1,
    .max_arguments = 1,
    .run = run_rtl};
