// `weft bench kernels`: the shapes that others published, compiled by us, beside their figures.
//
// Every row is compiled, run on random data on engine cycle, and compared byte by byte with the kernel's interpreter.
// The cycles are those of the last of --times runs in a row, so that caches are as warm as they were in the published
// measurements. Utilisation is multiply-accumulates of the layer / (cycles x processing elements).
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/bench.h"
#include "cli/kernel.h"
#include "cli/published.h"
#include "runner/oracle.h"
#include "sim/figures.h"

typedef struct bench_options {
  kernel_options kernel;
  const char *set, *name, *csv, *table, *kernels;
  uint64_t times, seed;
  bool no_check, targets;
} bench_options;

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

static bool judge(const bench_options *options, const kernel_job *job, measured *m, wf_diag *diag) {
  const sim_engine_options engine_options = {.timing_only = options->no_check, .quiet = true};
  const run_config config = {
      .engine = &sim_cycle_engine, .options = &engine_options, .times = (unsigned)options->times};
  run_oracle o;
  run_oracle_verdict verdict;
  bool good = run_oracle_fill(&o, &job->result, options->seed, diag);
  if (good && !options->no_check) good = run_oracle_expect(&o, &job->result, diag);
  good = good && run_oracle_judge(&o, &job->result, &config, &verdict, diag);
  run_oracle_release(&o);
  if (!good) return false;
  const double dim = hw_derive(&job->array).dim;
  m->ran = true;
  m->checked = !options->no_check;
  m->wrong = m->checked ? verdict.wrong : 0;
  m->digest = verdict.digest;
  m->cycles = verdict.run.cycles;
  m->read_bytes = verdict.run.units.bus_read_bytes / options->times;
  m->written_bytes = verdict.run.units.bus_written_bytes / options->times;
  m->utilisation = (double)map_macs(&job->result.layer) / (dim * dim * (double)m->cycles);
  sim_figures_bound(&verdict.run.units, m->bound);
  return true;
}

static measured measure(const cli_common *common, const bench_options *options, const published_row *row,
                        wf_diag *diag) {
  measured m = {0};
  char *path = wf_format("%s/%s.py", options->kernels, row->kernel);
  kernel_options kernel = options->kernel;
  kernel.shape = row->shape;
  kernel_job job;
  if (kernel_compile(common, &kernel, path, &job, diag) == CLI_OK) {
    m.compile_seconds = job.seconds;
    judge(options, &job, &m, diag);
  }
  kernel_release(&job);
  wf_free(path);
  return m;
}

// ---- output

static void print_head(FILE *out) {
  fprintf(out, "%-22s %12s %7s %7s %13s %13s %12s %6s %8s  %s\n", "shape", "cycles", "util %", "target", "bytes read",
          "written", "published", "ratio", "ms", "execute waits most for; front end");
}

static double ratio_to(uint64_t theirs, uint64_t cycles) {
  return theirs == 0 || cycles == 0 ? 0 : (double)theirs / (double)cycles;
}

static void print_row(const published_row *row, const measured *m, FILE *out) {
  char cycles[CLI_NUMBER], read[CLI_NUMBER], written[CLI_NUMBER], theirs[CLI_NUMBER];
  fprintf(out, "%-22s ", row->name);
  if (!m->ran) {
    fputs("failed\n", out);
    return;
  }
  fprintf(out, "%12s %7.2f ", cli_number(m->cycles, cycles), 100 * m->utilisation);
  if (row->target_percent > 0)
    fprintf(out, "%7.1f ", row->target_percent);
  else
    fprintf(out, "%7s ", "");
  fprintf(out, "%13s %13s ", cli_number(m->read_bytes, read), cli_number(m->written_bytes, written));
  if (row->published_cycles != 0)
    fprintf(out, "%12s %6.3f ", cli_number(row->published_cycles, theirs), ratio_to(row->published_cycles, m->cycles));
  else
    fprintf(out, "%12s %6s ", "", "");
  fprintf(out, "%8.1f  %s%s\n", 1e3 * m->compile_seconds, m->bound,
          !m->checked     ? "  (not checked)"
          : m->wrong != 0 ? "  WRONG RESULT"
                          : "");
}

static cJSON *row_json(const published_row *row, const measured *m) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "set", row->set);
  cJSON_AddStringToObject(object, "name", row->name);
  cJSON_AddStringToObject(object, "kernel", row->kernel);
  cJSON_AddStringToObject(object, "shape", row->shape);
  cJSON_AddBoolToObject(object, "ran", m->ran);
  if (row->published_cycles != 0) cli_json_count(object, "published_cycles", row->published_cycles);
  if (row->library_cycles != 0) cli_json_count(object, "library_cycles", row->library_cycles);
  if (row->target_percent > 0) cJSON_AddNumberToObject(object, "target_percent", row->target_percent);
  if (!m->ran) return object;
  cli_json_count(object, "cycles", m->cycles);
  cJSON_AddNumberToObject(object, "utilisation", m->utilisation);
  cli_json_count(object, "read_bytes", m->read_bytes);
  cli_json_count(object, "written_bytes", m->written_bytes);
  cJSON_AddNumberToObject(object, "compile_seconds", m->compile_seconds);
  cJSON_AddStringToObject(object, "bound", m->bound);
  cJSON_AddBoolToObject(object, "checked", m->checked);
  if (!m->checked) return object;
  cli_json_count(object, "wrong_bytes", m->wrong);
  cli_json_hash(object, "digest", m->digest);
  return object;
}

static void csv_row(const published_row *row, const measured *m, FILE *out) {
  if (out == NULL || !m->ran) return;
  fprintf(out, "%s,%s,%s,%s,%" PRIu64 ",%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.1f,%s\n", row->set,
          row->name, row->kernel, row->plain_shape, m->cycles, m->utilisation, m->read_bytes, m->written_bytes,
          row->published_cycles, row->library_cycles, row->target_percent,
          !m->checked     ? "not checked"
          : m->wrong == 0 ? "as the oracle's"
                          : "WRONG");
}

// ---- the bench

static bool chosen(const bench_options *options, const published_row *row) {
  return (options->set == NULL || strcmp(options->set, row->set) == 0) &&
         (options->name == NULL || strcmp(options->name, row->name) == 0);
}

static void count(totals *t, const published_row *row, const measured *m) {
  t->rows++;
  t->failed += !m->ran;
  t->wrong += m->wrong != 0;
  t->missed += row->target_percent > 0 && 100 * m->utilisation < row->target_percent;
}

static int run_rows(const cli_common *common, const bench_options *options, const published *table, FILE *csv,
                    wf_diag *diag) {
  totals t = {0};
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "bench", "kernels");
  cJSON_AddNumberToObject(document, "times", (double)options->times);
  cJSON *list = cJSON_AddArrayToObject(document, "rows");
  if (csv != NULL)
    fputs(
        "set,name,kernel,shape,cycles,utilisation,read_bytes,written_bytes,published_cycles,library_cycles,"
        "target_percent,result\n",
        csv);
  if (!common->quiet) print_head(stdout);
  for (size_t i = 0; i < table->count; i++) {
    const published_row *row = &table->rows[i];
    if (!chosen(options, row)) continue;
    const measured m = measure(common, options, row, diag);
    count(&t, row, &m);
    if (!common->quiet) print_row(row, &m, stdout);
    fflush(stdout);
    csv_row(row, &m, csv);
    cJSON_AddItemToArray(list, row_json(row, &m));
  }
  if (!common->quiet)
    printf("%u rows, %u failed, %u wrong, %u below their target\n", t.rows, t.failed, t.wrong, t.missed);
  const bool written = common->json == NULL || cli_write_json(common->json, document, diag);
  if (common->json == NULL) cJSON_Delete(document);
  if (!written) return CLI_BAD_INPUT;
  if (t.wrong != 0 || (options->targets && t.missed != 0)) return CLI_MISMATCH;
  return t.failed != 0 ? CLI_CANNOT_BUILD : CLI_OK;
}

int cli_bench_kernels(int argc, char **argv) {
  bench_options options = {
      .kernel = {.straight = true}, .times = 2, .seed = 1, .table = WEFT_PUBLISHED, .kernels = WEFT_KERNELS};
  const cli_option table[] = {
      {"set", CLI_OPTION_TEXT, &options.set, "NAME", "only the rows of a set: gemm, conv, small, other"},
      {"name", CLI_OPTION_TEXT, &options.name, "NAME", "only the row of this name"},
      {"times", CLI_OPTION_COUNT, &options.times, "N", "runs in a row, the last is measured (default 2: warm caches)"},
      {"seed", CLI_OPTION_COUNT, &options.seed, "N", "of the random data (default 1)"},
      {"style", CLI_OPTION_TEXT, &options.kernel.style, "primitive|loop", "of the mappings (default primitive)"},
      {"tune", CLI_OPTION_COUNT, &options.kernel.tune, "N",
       "simulate the mapper's N best mappings and take the fastest"},
      {"no-check", CLI_OPTION_FLAG, &options.no_check, NULL, "move no data and compare nothing: faster"},
      {"targets", CLI_OPTION_FLAG, &options.targets, NULL, "end with 4 if a row is below its target utilisation"},
      {"csv", CLI_OPTION_TEXT, &options.csv, "FILE|-", "write the rows as CSV"},
      {"table", CLI_OPTION_TEXT, &options.table, "FILE", "another table of shapes (default workloads/published.csv)"},
      {"kernels", CLI_OPTION_TEXT, &options.kernels, "DIR", "another folder of kernels (default workloads/kernels)"},
  };
  const cli_usage usage = {
      .verb = "bench kernels",
      .synopsis = "",
      .text =
          "Compiles the shapes that other projects published, runs them on engine cycle, compares every byte with the\n"
          "kernel's interpreter and prints cycles and utilisation beside the published figures.",
      .options = table,
      .option_count = sizeof table / sizeof table[0],
      .takes_array = true};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  if (options.times == 0) options.times = 1;
  wf_diag diag = wf_diag_to(stderr);
  published rows;
  if (!published_load(&rows, options.table, &diag)) return CLI_BAD_INPUT;
  FILE *csv = options.csv == NULL ? NULL : cli_open_output(options.csv, &diag);
  code = options.csv != NULL && csv == NULL ? CLI_BAD_INPUT : run_rows(&common, &options, &rows, csv, &diag);
  if (csv != NULL && !cli_close(csv, options.csv, &diag)) code = CLI_BAD_INPUT;
  published_release(&rows);
  return code;
}
