// `weft bench networks`: whole networks end to end, each compared layer by layer with the int8 reference.
//
// Every row names the command that repeats it. Cycles on the array, of the host's operators between its layers, and of
// the conversions at the ends stand apart: the last are no part of the network once its neighbours speak int8 (as those
// of resnet50-int8 do).
#include <inttypes.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/network_job.h"
#include "sim/figures.h"

typedef struct bench_row {
  const char *name;  // of the row; the network's, where `net` is NULL
  networks_options full, quick;
  const char *net;
  bool int8_ends;
} bench_row;

static const bench_row rows[] = {
    {"resnet18", .quick = {.size = 32, .divisor = 4}},
    {"resnet50", .quick = {.size = 32, .divisor = 4}},
    {"resnet50-int8", .quick = {.size = 32, .divisor = 4}, .net = "resnet50", .int8_ends = true},
    {"mobilenetv2", .quick = {.size = 32, .divisor = 4}},
    {"vgg16", .quick = {.size = 32, .divisor = 8}},
    {"unet", .quick = {.size = 32, .divisor = 8}},
    {"retinanet", .quick = {.size = 64, .divisor = 8}},
    {"bert-base", .full = {.sequence = 128}, .quick = {.sequence = 16, .divisor = 4, .layers = 1}},
    {"bert-base-512", .full = {.sequence = 512}, .quick = {.sequence = 32, .divisor = 4, .layers = 1},
     .net = "bert-base"},
    {"vit-b16", .quick = {.size = 32, .divisor = 4, .layers = 1}},
    {"gpt2-block", .quick = {.sequence = 16, .divisor = 4}},
    {"llama2-7b-block", .quick = {.sequence = 8, .divisor = 32}},
    {"lstm", .quick = {.sequence = 2, .divisor = 8, .layers = 1}},
    {"deepbench", .quick = {.divisor = 16}},
};
enum { ROWS = sizeof rows / sizeof rows[0], COMMAND_MAX = 256 };

typedef struct bench_options {
  network_job_options job;
  const char *net, *csv;
  bool quick, no_check;
} bench_options;

typedef struct measured {
  bool ran;
  char command[COMMAND_MAX];
  run_network_result result;
  double utilisation, energy_uj, compile_seconds;
  uint64_t weight_bytes, arena_bytes;
  int steps;
} measured;

// ---- one row

static void add_option(char *command, const char *name, int64_t value) {
  const size_t used = strlen(command);
  if (value != 0) snprintf(command + used, COMMAND_MAX - used, " --%s %" PRId64, name, value);
}

static const char *network_of(const bench_row *row) { return row->net == NULL ? row->name : row->net; }

static void write_command(const cli_common *common, const bench_options *options, const bench_row *row,
                          const networks_options *made, char *command) {
  snprintf(command, COMMAND_MAX, "weft sim %s%s", network_of(row), row->int8_ends ? " --int8-ends" : "");
  const size_t used = strlen(command);
  if (common->array != NULL) snprintf(command + used, COMMAND_MAX - used, " --array %s", common->array);
  add_option(command, "size", made->size);
  add_option(command, "seq", made->sequence);
  add_option(command, "divisor", made->divisor);
  add_option(command, "depth", made->layers);
  add_option(command, "seed", (int64_t)options->job.seed);
  add_option(command, "tune", (int64_t)options->job.tune);
}

static void take_figures(const network_job *job, measured *m) {
  const double dim = hw_derive(&job->array).dim, cycles = (double)m->result.array_cycles;
  m->utilisation = cycles > 0 ? (double)m->result.macs / (dim * dim * cycles) : 0;
  const sim_figures figures = sim_figures_of(&m->result.units, &job->array);
  m->energy_uj = figures.has_energy ? figures.energy_pj / 1e6 : 0;
  m->compile_seconds = job->net->compile_seconds;
  m->weight_bytes = job->net->weight_bytes;
  m->arena_bytes = job->net->arena_bytes;
  m->steps = job->net->step_count;
}

static void measure(const cli_common *common, const bench_options *options, const bench_row *row, measured *m,
                    wf_diag *diag) {
  network_job_options chosen = options->job;
  chosen.network = options->quick ? row->quick : row->full;
  chosen.int8_ends = row->int8_ends;
  write_command(common, options, row, &chosen.network, m->command);
  network_job job;
  if (network_job_open(common, &chosen, network_of(row), &job, diag) == CLI_OK) {
    const sim_engine_options engine = {.quiet = true};
    const run_network_config config = {.engine = &sim_cycle_engine,
                                       .options = &engine,
                                       .inputs = (const void *const *)job.inputs,
                                       .check = !options->no_check};
    m->ran = run_network(job.net, &config, &m->result, diag);
    if (m->ran) take_figures(&job, m);
    run_network_release(
        job.net,
        &(run_network_result){.steps = m->result.steps, .outputs = m->result.outputs, .digests = m->result.digests});
  }
  network_job_release(&job);
}

// ---- output

static void print_head(FILE *out) {
  fprintf(out, "| %-16s | %14s | %13s | %6s | %13s | %13s | %11s | %8s | %9s | %-16s | %s |\n", "network", "macs",
          "array cycles", "util %", "host cycles", "end cycles", "energy uJ", "MiB", "compile s", "digest", "result");
  fputs("|---|---|---|---|---|---|---|---|---|---|---|\n", out);
}

static const char *verdict(const bench_options *options, const measured *m) {
  return !m->ran ? "failed" : m->result.wrong != 0 ? "WRONG" : options->no_check ? "not checked" : "as the reference";
}

static void print_row(const bench_options *options, const bench_row *row, const measured *m, FILE *out) {
  char macs[CLI_NUMBER], array[CLI_NUMBER], host[CLI_NUMBER], ends[CLI_NUMBER];
  const run_network_result *r = &m->result;
  fprintf(out, "| %-16s | %14s | %13s | %6.2f | %13s | %13s | %11.1f | %8.1f | %9.2f | %016" PRIx64 " | %s |\n",
          row->name, cli_number(r->macs, macs), cli_number(r->array_cycles, array), 100 * m->utilisation,
          cli_number(r->host_cycles, host), cli_number(r->edge_cycles, ends), m->energy_uj,
          (double)(m->weight_bytes + m->arena_bytes) / (1 << 20), m->compile_seconds, r->digest, verdict(options, m));
  fflush(out);
}

static void csv_row(const bench_options *options, const bench_row *row, const measured *m, FILE *out) {
  if (out == NULL) return;
  const run_network_result *r = &m->result;
  fprintf(out,
          "%s,%" PRIu64 ",%" PRIu64 ",%.4f,%" PRIu64 ",%" PRIu64 ",%.1f,%" PRIu64 ",%" PRIu64 ",%" PRIu64
          ",%.3f,%.3f,%016" PRIx64 ",%s,%s\n",
          row->name, r->macs, r->array_cycles, m->utilisation, r->host_cycles, r->edge_cycles, m->energy_uj,
          r->commands, m->weight_bytes, m->arena_bytes, m->compile_seconds, r->run_seconds, r->digest,
          verdict(options, m), m->command);
  fflush(out);
}

static cJSON *row_json(const bench_options *options, const bench_row *row, const measured *m) {
  cJSON *object = cJSON_CreateObject();
  const run_network_result *r = &m->result;
  cJSON_AddStringToObject(object, "network", row->name);
  cJSON_AddStringToObject(object, "command", m->command);
  cJSON_AddStringToObject(object, "result", verdict(options, m));
  if (!m->ran) return object;
  cli_json_count(object, "macs", r->macs);
  cli_json_count(object, "array_cycles", r->array_cycles);
  cli_json_count(object, "host_cycles", r->host_cycles);
  cli_json_count(object, "edge_cycles", r->edge_cycles);
  cJSON_AddNumberToObject(object, "utilisation", m->utilisation);
  cJSON_AddNumberToObject(object, "energy_uj", m->energy_uj);
  cli_json_count(object, "weight_bytes", m->weight_bytes);
  cli_json_count(object, "arena_bytes", m->arena_bytes);
  cJSON_AddNumberToObject(object, "compile_seconds", m->compile_seconds);
  cJSON_AddNumberToObject(object, "run_seconds", r->run_seconds);
  cli_json_hash(object, "digest", r->digest);
  return object;
}

// ---- the bench

static int run_rows(const cli_common *common, const bench_options *options, FILE *csv, wf_diag *diag) {
  int failed = 0, wrong = 0, count = 0;
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "bench", "networks");
  cJSON *list = cJSON_AddArrayToObject(document, "rows");
  if (csv != NULL)
    fputs(
        "network,macs,array_cycles,utilisation,host_cycles,edge_cycles,energy_uj,commands,weight_bytes,arena_bytes,"
        "compile_seconds,run_seconds,digest,result,command\n",
        csv);
  if (!common->quiet) print_head(stdout);
  for (int n = 0; n < ROWS; n++) {
    if (options->net != NULL && strcmp(options->net, rows[n].name) != 0) continue;
    measured m = {0};
    measure(common, options, &rows[n], &m, diag);
    count++;
    failed += !m.ran;
    wrong += m.result.wrong != 0;
    if (!common->quiet) print_row(options, &rows[n], &m, stdout);
    csv_row(options, &rows[n], &m, csv);
    cJSON_AddItemToArray(list, row_json(options, &rows[n], &m));
  }
  const bool written = common->json == NULL || cli_write_json(common->json, document, diag);
  if (common->json == NULL) cJSON_Delete(document);
  if (count == 0) wf_error(diag, wf_in_file(NULL), "no row %s in this bench", options->net);
  if (!written || count == 0) return CLI_BAD_INPUT;
  return wrong != 0 ? CLI_MISMATCH : failed != 0 ? CLI_CANNOT_BUILD : CLI_OK;
}

int cli_bench_networks(int argc, char **argv) {
  bench_options options = {.job = {.seed = 1, .jobs = 2}};
  const cli_option table[] = {
      {"net", CLI_OPTION_TEXT, &options.net, "NAME", "only the row of this name"},
      {"quick", CLI_OPTION_FLAG, &options.quick, NULL, "small variants: a few seconds for all"},
      {"seed", CLI_OPTION_COUNT, &options.job.seed, "N", "of weights and inputs (default 1)"},
      {"tune", CLI_OPTION_COUNT, &options.job.tune, "N", "simulate N mappings of each layer, take the fastest"},
      {"no-check", CLI_OPTION_FLAG, &options.no_check, NULL, "compare nothing: faster"},
      {"csv", CLI_OPTION_TEXT, &options.csv, "FILE|-", "write the rows as CSV, each with its command"},
  };
  const cli_usage usage = {
      .verb = "bench networks",
      .synopsis = "",
      .text =
          "Generates the networks, quantises them to int8, compiles and runs them on engine cycle, and compares every\n"
          "layer with the int8 reference. The table is Markdown.",
      .options = table,
      .option_count = sizeof table / sizeof table[0],
      .takes_array = true};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  wf_diag diag = wf_diag_to(stderr);
  FILE *csv = options.csv == NULL ? NULL : cli_open_output(options.csv, &diag);
  code = options.csv != NULL && csv == NULL ? CLI_BAD_INPUT : run_rows(&common, &options, csv, &diag);
  if (csv != NULL && !cli_close(csv, options.csv, &diag)) code = CLI_BAD_INPUT;
  return code;
}
