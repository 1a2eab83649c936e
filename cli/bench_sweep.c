// `weft bench sweep`: how fast sweeps are, with one process and with several. Each run sweeps into a store of its own,
// which is not kept.
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/bench.h"
#include "cli/bench_sweep_text.h"
#include "search/sweep/sweep.h"
#include "weft_version.h"

enum { JOBS_MAX = 1024 };

// Of the children that have ended.
static double children_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

typedef struct outcome {
  sweep_progress progress;
  double cpu_seconds;
} outcome;

static bool sweep_once(const sweep_spec *spec, unsigned jobs, const char *path, outcome *o, wf_diag *diag) {
  sweep_store *s = sweep_store_open(path, spec, WEFT_GIT_VERSION, false, diag);
  if (s == NULL) return false;
  const sweep_options options = {.version = WEFT_GIT_VERSION, .jobs = jobs, .join_socket = -1};
  const double before = children_seconds();
  const sweep_outcome end = sweep_run(spec, s, &options, &o->progress, diag);
  o->cpu_seconds = children_seconds() - before;
  sweep_store_close(s);
  return end == SWEEP_FINISHED;
}

static void report(const sweep_spec *spec, unsigned jobs, const outcome *o, cJSON *rows) {
  const double points = (double)sweep_point_count(spec), count = (double)o->progress.fresh;
  printf("%9u %7.0f %12.0f %11.0f %7.0f %9.1f %9.1f %15.3f %12.1f\n", jobs, points, count, (double)o->progress.spared,
         (double)o->progress.failed, o->progress.seconds, o->cpu_seconds, o->cpu_seconds / points,
         count / o->progress.seconds);
  cJSON *row = cJSON_CreateObject();
  cli_json_count(row, "processes", jobs);
  cJSON_AddNumberToObject(row, "arrays", points);
  cJSON_AddNumberToObject(row, "measurements", count);
  cli_json_count(row, "without_run", o->progress.spared);
  cli_json_count(row, "failed", o->progress.failed);
  cJSON_AddNumberToObject(row, "seconds", o->progress.seconds);
  cJSON_AddNumberToObject(row, "processor_seconds", o->cpu_seconds);
  cJSON_AddItemToArray(rows, row);
}

static bool bench(const sweep_spec *spec, unsigned jobs_max, cJSON *rows, wf_diag *diag) {
  char directory[] = "/tmp/weft-bench-sweep-XXXXXX";
  if (mkdtemp(directory) == NULL) {
    wf_error(diag, wf_in_file("/tmp"), "no directory can be made there");
    return false;
  }
  char *path = wf_format("%s/store.sqlite", directory);
  bool good = true;
  printf("processes  arrays measurements without run  failed    wall s     cpu s cpu s per array   per wall s\n");
  for (unsigned jobs = 1; jobs <= jobs_max && good; jobs *= 2) {
    outcome o = {0};
    good = sweep_once(spec, jobs, path, &o, diag);
    if (good) report(spec, jobs, &o, rows);
    fflush(stdout);
    unlink(path);
  }
  wf_free(path);
  rmdir(directory);
  return good;
}

int cli_bench_sweep(int argc, char **argv) {
  uint64_t jobs = 2;
  const cli_option table[] = {
      {"jobs", CLI_OPTION_COUNT, &jobs, "N", "1, 2, 4, .. processes up to N (default 2)"},
  };
  const cli_usage usage = {.verb = "bench sweep",
                           .synopsis = "[SPEC.yaml]",
                           .text =
                               "Sweeps (default: workloads/sweeps/resnet50.yaml, 100 arrays x ResNet-50) and says how\n"
                               "long it took: wall clock, and time of processors, which other work hardly changes.",
                           .options = table,
                           .option_count = sizeof table / sizeof *table,
                           .max_arguments = 1};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  if (jobs < 1 || jobs > JOBS_MAX) {
    fprintf(stderr, "weft: error: --jobs must be from 1 to %d\n", JOBS_MAX);
    return CLI_USAGE;
  }
  wf_diag diag = wf_diag_to(stderr);
  sweep_spec spec;
  bool good = argc > 0 ? sweep_spec_load(&spec, argv[0], &diag)
                       : sweep_spec_parse(&spec, "resnet50.yaml", bench_sweep_text, strlen(bench_sweep_text), &diag);
  cJSON *rows = cJSON_CreateArray();
  good = good && bench(&spec, (unsigned)jobs, rows, &diag);
  sweep_spec_release(&spec);
  if (common.json != NULL && good) return cli_write_json(common.json, rows, &diag) ? CLI_OK : CLI_BAD_INPUT;
  cJSON_Delete(rows);
  return good ? CLI_OK : CLI_BAD_INPUT;
}
