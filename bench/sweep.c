// SPDX-License-Identifier: Apache-2.0
// `weft bench sweep`: how fast sweeps are, with one process and with several. Each run sweeps into a store of its own,
// which is not kept.
#include "search/sweep/sweep.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/texts.h"

enum { JOBS_MAX = 1024 };

typedef struct outcome {
  sweep_progress progress;
  double cpu_seconds;
} outcome;

static bool sweep_once(const sweep_spec *spec, unsigned jobs, const char *path, outcome *o, const bench_job *job) {
  sweep_store *s = sweep_store_open(path, spec, job->version, 0, job->diag);
  if (s == NULL) return false;
  const sweep_options options = {.version = job->version, .fidelity = spec->fidelity, .jobs = jobs, .join_socket = -1};
  const double before = bench_children_seconds();
  const sweep_outcome end = sweep_run(spec, s, &options, &o->progress, job->diag);
  o->cpu_seconds = bench_children_seconds() - before;
  sweep_store_close(s);
  return end == SWEEP_FINISHED;
}

static const bench_column columns[] = {
    {.title = "processes", BENCH_DATA("processes"), .width = 9},
    {.title = "arrays", BENCH_DATA("arrays"), .width = 7, .text_format = "%.0f"},
    {.title = "measurements", BENCH_DATA("measurements"), .width = 12, .text_format = "%.0f"},
    {.title = "without run", BENCH_DATA("without_run"), .width = 11, .text_format = "%.0f"},
    {.title = "failed", BENCH_DATA("failed"), .width = 7, .text_format = "%.0f"},
    {.title = "wall s", BENCH_DATA("seconds"), .width = 9, .text_format = "%.1f"},
    {.title = "cpu s", BENCH_DATA("processor_seconds"), .width = 9, .text_format = "%.1f"},
    {.title = "cpu s per array", .width = 15, .text_format = "%.3f"},
    {.title = "per wall s", .width = 12, .text_format = "%.1f"},
};
static const bench_form form = {.list = "", BENCH_FORM(columns)};

static void add_row(bench_table *table, const sweep_spec *spec, unsigned jobs, const outcome *o) {
  const size_t points = sweep_point_count(spec);
  const sweep_progress *p = &o->progress;
  BENCH_ROW(table, bench_count(jobs), bench_count(points), bench_count(p->fresh), bench_count(p->spared),
            bench_count(p->failed), bench_real(p->seconds), bench_real(o->cpu_seconds),
            bench_real(o->cpu_seconds / (double)points), bench_real((double)p->fresh / p->seconds));
}

static bool sweep_with_all(const bench_job *job, const sweep_spec *spec, unsigned jobs_max) {
  char directory[] = "/tmp/weft-bench-sweep-XXXXXX";
  if (mkdtemp(directory) == NULL) {
    wf_error(job->diag, wf_in_file("/tmp"), "no directory can be made there");
    return false;
  }
  char *path = wf_format("%s/store.sqlite", directory);
  bench_table *table = bench_table_open(job->report, &form);
  bool good = true;
  bench_table_heading(table);
  for (unsigned jobs = 1; jobs <= jobs_max && good; jobs *= 2) {
    outcome o = {0};
    good = sweep_once(spec, jobs, path, &o, job);
    if (good) add_row(table, spec, jobs, &o);
    unlink(path);
  }
  wf_free(path);
  rmdir(directory);
  return good;
}

typedef struct options {
  uint64_t jobs;
} options;

static const wf_option rows[] = {
    {"jobs", WF_COUNT(options, jobs), "N", "1, 2, 4, .. processes up to N (default 2)"},
};
static const options defaults = {.jobs = 2};

static bench_end run_sweep(const bench_job *job) {
  const options *o = job->options;
  if (o->jobs < 1 || o->jobs > JOBS_MAX) {
    wf_error(job->diag, wf_in_file(NULL), "--jobs must be from 1 to %d", JOBS_MAX);
    return BENCH_BAD_USAGE;
  }
  sweep_spec spec;
  bool good = job->argument_count > 0
                  ? sweep_spec_load(&spec, job->arguments[0], job->diag)
                  : sweep_spec_parse(&spec, "resnet50.yaml", bench_text_sweep, strlen(bench_text_sweep), job->diag);
  good = good && sweep_with_all(job, &spec, (unsigned)o->jobs);
  sweep_spec_release(&spec);
  return good ? BENCH_DONE : BENCH_BAD_INPUT;
}

const bench bench_sweep = {.name = "sweep",
                           .summary = "how many arrays a sweep measures in a minute",
                           .synopsis = "[SPEC.yaml]",
                           .text =
                               "Sweeps (default: workloads/sweeps/resnet50.yaml, 100 arrays x ResNet-50) and says how\n"
                               "long it took: wall clock, and time of processors, which other work hardly changes.",
                           BENCH_OPTIONS(rows, defaults),
                           .max_arguments = 1,
                           .run = run_sweep};
