// SPDX-License-Identifier: Apache-2.0
// The program weft-bench, which `weft bench` runs: finds the bench, reads its options, and says where its tables go.
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "bench/bench.h"
#include "cli/cli.h"
#include "weft_version.h"

static void print_list(FILE *out) {
  for (size_t n = 0; n < bench_list_count; n++)
    fprintf(out, "  %-10s %s\n", bench_list[n]->name, bench_list[n]->summary);
}

static void print_help(FILE *out) {
  fputs("usage: weft bench BENCH [OPTIONS]\n\nbenches:\n", out);
  print_list(out);
  fputs("\n`weft bench BENCH --help` explains one; `weft bench --list` prints their list.\n", out);
}

static cli_exit exit_of(bench_end end) {
  static const cli_exit codes[] = {[BENCH_DONE] = CLI_OK,           [BENCH_BAD_INPUT] = CLI_BAD_INPUT,
                                   [BENCH_BAD_USAGE] = CLI_USAGE,   [BENCH_CANNOT_BUILD] = CLI_CANNOT_BUILD,
                                   [BENCH_MISMATCH] = CLI_MISMATCH, [BENCH_PROGRAM_FAILED] = CLI_PROGRAM_FAILED};
  return codes[end];
}

// JSON is written of every bench that came to results, good or not.
static cli_exit run(const bench *b, bench_job *job, const cli_common *common, const char *csv_path) {
  FILE *csv = csv_path == NULL ? NULL : cli_open_output(csv_path, job->diag);
  if (csv_path != NULL && csv == NULL) return CLI_BAD_INPUT;
  const bool to_stdout = csv == stdout || (common->json != NULL && strcmp(common->json, "-") == 0);
  job->report = bench_report_create(b->name, common->quiet || to_stdout ? NULL : stdout, csv);
  const bench_end end = b->run(job);
  cli_exit code = exit_of(end);
  if (!cli_end_output(csv, csv_path, code == CLI_OK || code == CLI_MISMATCH, job->diag)) code = CLI_BAD_INPUT;
  cJSON *document =
      common->json == NULL || code == CLI_BAD_INPUT || code == CLI_USAGE ? NULL : bench_report_json(job->report);
  if (document != NULL && !cli_write_json(common->json, document, job->diag)) code = CLI_BAD_INPUT;
  bench_report_destroy(job->report);
  return code;
}

// The values of a bench's options are followed by the name of the CSV file.
static size_t place_behind(const bench *b) { return wf_align_up(b->options_size, sizeof(const char *)); }

static const wf_option csv_rows[] = {{"csv", WF_OPTION_TEXT, 0, "FILE|-", "write the rows as CSV"}};

static cli_exit parse_and_run(const bench *b, const char *tool, int argc, char **argv, void *values) {
  const size_t csv_place = place_behind(b);
  const wf_option also[] = {{b->csv_also, WF_OPTION_TEXT, 0, "FILE|-", "the same"}};
  char *verb = wf_format("bench %s", b->name);
  const cli_usage usage = {.verb = verb,
                           .synopsis = b->synopsis,
                           .text = b->text,
                           .options = {{b->options, b->option_count, 0},
                                       CLI_OPTIONS(csv_rows, csv_place),
                                       {also, b->csv_also != NULL, csv_place}},
                           .min_arguments = b->min_arguments,
                           .max_arguments = b->max_arguments,
                           .takes_array = b->takes_array,
                           .takes_tech = b->takes_array};
  cli_common common;
  cli_exit code;
  const bool parsed = cli_parse(&usage, values, &argc, argv, &common, &code);
  wf_free(verb);
  if (!parsed) return code;
  wf_diag diag = wf_diag_to(stderr);
  hw_tech *tech = common.tech_path == NULL ? NULL : hw_tech_load(common.tech_path, &diag);
  if (common.tech_path != NULL && tech == NULL) return CLI_BAD_INPUT;
  bench_job job = {.options = values,
                   .arguments = argv,
                   .argument_count = (size_t)argc,
                   .array = common.array,
                   .tech = tech,
                   .isa = common.isa,
                   .tool = tool,
                   .version = WEFT_GIT_VERSION,
                   .quiet = common.quiet,
                   .diag = &diag};
  code = run(b, &job, &common, *(const char **)((char *)values + csv_place));
  wf_free(tech);
  return code;
}

static cli_exit run_bench(const char *tool, int argc, char **argv) {
  const bench *b = bench_find(argv[0]);
  if (b == NULL) {
    fprintf(stderr, "weft: error: unknown bench %s\n  hint: weft bench --help\n", argv[0]);
    return CLI_USAGE;
  }
  void *values = memcpy(wf_calloc(place_behind(b) + sizeof(const char *), 1), b->defaults, b->options_size);
  const cli_exit code = parse_and_run(b, tool, argc, argv, values);
  wf_free(values);
  return code;
}

static cli_exit run_words(const char *tool, int argc, char **argv) {
  if (argc == 0) {
    print_help(stderr);
    return CLI_USAGE;
  }
  if (strcmp(argv[0], "--help") == 0)
    print_help(stdout);
  else if (strcmp(argv[0], "--list") == 0)
    print_list(stdout);
  else
    return run_bench(tool, argc, argv);
  return CLI_OK;
}

// `weft` gives its own name and the verb. By itself the program finds the tool as shells do.
int main(int argc, char **argv) {
  const bool by_tool = argc > 1 && strcmp(argv[1], "bench") == 0;
  const int first = by_tool ? 2 : 1;
  return cli_end_of_output((int)run_words(by_tool ? argv[0] : "weft", argc - first, argv + first));
}
