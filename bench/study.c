// SPDX-License-Identifier: Apache-2.0
// `weft bench study`: compression, lowering, mapping and arrays crossed on engine `flow`. Its stores are not kept.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/study_table.h"
#include "bench/texts.h"
#include "hw/export/tool.h"

enum { JOBS_MAX = 1024 };

typedef struct options {
  uint64_t jobs;
} options;

static const wf_option rows_of_options[] = {
    {"jobs", WF_COUNT(options, jobs), "N", "processes that measure (default 2)"},
};
static const options defaults = {.jobs = 2};

static bool run_and_print(const bench_job *job, const study_spec *spec, const char *directory) {
  const options *o = job->options;
  const study_options settings = {.directory = directory, .version = job->version, .jobs = (unsigned)o->jobs};
  study_progress progress;
  study_rows rows = {0};
  const double before = bench_children_seconds();
  bool good = study_run(spec, &settings, &progress, job->diag) == SWEEP_FINISHED;
  const double seconds = bench_children_seconds() - before;
  good = good && study_rows_read(&rows, spec, directory, job->diag);
  if (good) {
    bench_study_print(job->report, &rows);
    bench_report_say(job->report,
                     "\n%zu configurations, %" PRIu64 " measurements: %.0f s of processors, %.1f s with %u processes\n",
                     rows.count, progress.all.total, seconds, progress.all.seconds, (unsigned)o->jobs);
  }
  study_rows_release(&rows);
  return good;
}

static bool run_in_scratch(const bench_job *job, const study_spec *spec) {
  char directory[] = "/tmp/weft-bench-study-XXXXXX";
  if (mkdtemp(directory) == NULL) {
    wf_error(job->diag, wf_in_file("/tmp"), "no directory can be made there");
    return false;
  }
  const bool good = run_and_print(job, spec, directory);
  hw_tool_remove(directory);
  return good;
}

static bench_end run_study(const bench_job *job) {
  const options *o = job->options;
  if (o->jobs < 1 || o->jobs > JOBS_MAX) {
    wf_error(job->diag, wf_in_file(NULL), "--jobs must be from 1 to %d", JOBS_MAX);
    return BENCH_BAD_USAGE;
  }
  study_spec spec;
  bool good = job->argument_count > 0
                  ? study_spec_load(&spec, job->arguments[0], job->diag)
                  : study_spec_parse(&spec, "stack.yaml", bench_text_study, strlen(bench_text_study), job->diag);
  good = good && run_in_scratch(job, &spec);
  study_spec_release(&spec);
  return good ? BENCH_DONE : BENCH_BAD_INPUT;
}

const bench bench_study = {.name = "study",
                           .summary = "compression, lowering, mapping and arrays crossed",
                           .synopsis = "[SPEC.yaml]",
                           .text =
                               "Runs a study (default: workloads/studies/stack.yaml) and prints every configuration,\n"
                               "means of what compression promises and brings, and rankings (docs/study.md).",
                           BENCH_OPTIONS(rows_of_options, defaults),
                           .max_arguments = 1,
                           .run = run_study};
