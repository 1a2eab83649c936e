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
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/bench.h"
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

static double children_cpu_seconds(void) {
  struct rusage u;
  getrusage(RUSAGE_CHILDREN, &u);
  return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
         1e-6 * ((double)u.ru_utime.tv_usec + (double)u.ru_stime.tv_usec);
}

static bool build(const speed_bench *b, const hw_array *array, speed_result *r, wf_diag *diag) {
  const sim_rtl_build_options options = {.jobs = (unsigned)b->jobs, .quiet = b->quiet};
  const double before = children_cpu_seconds();
  sim_rtl_model model;
  if (!sim_rtl_build(array, &options, &model, diag)) return false;
  r->build_cpu_seconds = children_cpu_seconds() - before;
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

static int measure(const speed_bench *b, const char *name, speed_result *r, wf_diag *diag) {
  hw_array array;
  if (!hw_array_load(&array, name, diag)) return CLI_BAD_INPUT;
  // Programs first: without them no model needs to be built.
  for (unsigned engine = 0; engine < RTL; engine++)
    if (!run(b, &array, engine, &r->row[engine], diag)) return CLI_BAD_INPUT;
  if (!build(b, &array, r, diag)) return CLI_CANNOT_BUILD;
  if (!run(b, &array, RTL, &r->row[RTL], diag)) return CLI_BAD_INPUT;
  if (r->row[CYCLE].cycles == r->row[RTL].cycles && r->row[CYCLE].host_cycles == r->row[RTL].host_cycles) return CLI_OK;
  wf_error(diag, wf_in_file(NULL), "%s: rtl takes %" PRIu64 " cycles and cycle %" PRIu64, name, r->row[RTL].host_cycles,
           r->row[CYCLE].host_cycles);
  return CLI_MISMATCH;
}

// ---- output

// ref has no cycles: those that the program takes on the others, in its time.
static double rate(const speed_result *r, unsigned engine) {
  const double cpu = r->row[engine].cpu_seconds;
  return cpu > 0 ? (double)r->row[RTL].cycles / cpu : 0;
}

static void print_header(void) {
  printf("%-7s %12s %12s  %-7s %12s %10s %10s %14s %8s\n", "array", "build wall s", "build cpu s", "engine", "cycles",
         "wall s", "cpu s", "cycles/cpu s", "x rtl");
}

static void print_result(const char *name, const speed_result *r) {
  for (unsigned engine = ENGINES; engine-- > 0;) {
    const speed_row *row = &r->row[engine];
    char cycles[CLI_NUMBER] = "-", speed[CLI_NUMBER];
    if (engine != REF) cli_number(row->cycles, cycles);
    if (engine == RTL)
      printf("%-7s %12.1f %12.1f", name, r->build_wall_seconds, r->build_cpu_seconds);
    else
      printf("%-7s %12s %12s", "", "", "");
    printf("  %-7s %12s %10.3f %10.3f %14s %8.1f\n", engines[engine], cycles, row->wall_seconds, row->cpu_seconds,
           cli_number((uint64_t)rate(r, engine), speed), rate(r, engine) / rate(r, RTL));
  }
  fflush(stdout);
}

static cJSON *result_json(const char *name, const speed_result *r) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "array", name);
  cJSON_AddNumberToObject(object, "build_wall_seconds", r->build_wall_seconds);
  cJSON_AddNumberToObject(object, "build_cpu_seconds", r->build_cpu_seconds);
  cli_json_count(object, "cycles", r->row[RTL].cycles);
  cJSON *list = cJSON_AddArrayToObject(object, "engines");
  for (unsigned engine = 0; engine < ENGINES; engine++) {
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "engine", engines[engine]);
    cJSON_AddNumberToObject(row, "wall_seconds", r->row[engine].wall_seconds);
    cJSON_AddNumberToObject(row, "cpu_seconds", r->row[engine].cpu_seconds);
    cJSON_AddNumberToObject(row, "cycles_per_cpu_second", rate(r, engine));
    cJSON_AddItemToArray(list, row);
  }
  return object;
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

static int run_bench(const speed_bench *b, const cli_common *common) {
  const bool table = !common->quiet && (common->json == NULL || strcmp(common->json, "-") != 0);
  wf_diag diag = wf_diag_to(stderr);
  char *cache = make_cache(&diag);
  if (cache == NULL) return CLI_CANNOT_BUILD;
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "bench", "rtl");
  cJSON *list = cJSON_AddArrayToObject(document, "arrays");
  if (table) print_header();
  int code = CLI_OK;
  for (size_t n = 0; n < ARRAYS && code == CLI_OK; n++) {
    speed_result result = {0};
    code = measure(b, arrays[n], &result, &diag);
    if (code != CLI_OK) break;
    if (table) print_result(arrays[n], &result);
    cJSON_AddItemToArray(list, result_json(arrays[n], &result));
  }
  if (common->json == NULL || code != CLI_OK)
    cJSON_Delete(document);
  else if (!cli_write_json(common->json, document, &diag))
    code = CLI_BAD_INPUT;
  hw_tool_remove(cache);
  wf_free(cache);
  return code;
}

int cli_bench_rtl(int argc, char **argv) {
  uint64_t jobs = 0;
  const cli_option table[] = {{"jobs", CLI_OPTION_COUNT, &jobs, "N", "compilers at a time (default 2)"}};
  const cli_usage usage = {
      .verb = "bench rtl",
      .synopsis = "DIR",
      .text =
          "Builds the hardware of dim4, dim8 and dim16 from nothing and runs a matrix product on it, on the\n"
          "cycle engine and on ref, each with the hart; prints build times and cycles per second of processor\n"
          "time. DIR holds dim4/speed_gemm.elf and so on: driver/examples/speed of the build.\n"
          "Exit code: 0 good, 1 a program is missing or failed, 3 a model cannot be built, 4 cycles differ.",
      .options = table,
      .option_count = sizeof table / sizeof table[0],
      .min_arguments = 1,
      .max_arguments = 1};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  const speed_bench bench = {.programs = argv[0], .jobs = jobs, .quiet = common.quiet};
  return run_bench(&bench, &common);
}
