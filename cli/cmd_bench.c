// `weft bench`: measurements that compare parts of the project with each other; one file for each.
#include <string.h>

#include "cli/bench.h"

static const cli_verb benches[] = {
    {"all", "every published table, into results/", cli_bench_all},
    {"engines", "speed and memory of the engines on the same programs", cli_bench_engines},
    {"gemmini", "errors against cycles measured on Gemmini's own RTL", cli_bench_gemmini},
    {"graph", "speed of the interpreter of graphs on whole networks", cli_bench_graph},
    {"kernels", "compiled kernels on the shapes that others published", cli_bench_kernels},
    {"model", "the model of the machine against engine cycle", cli_bench_model},
    {"networks", "whole networks, compared layer by layer with the int8 reference", cli_bench_networks},
    {"rtl", "build times of the hardware and its speed beside the other engines", cli_bench_rtl},
    {"search", "speed of the models that searches evaluate", cli_bench_search},
    {"sweep", "how many arrays a sweep measures in a minute", cli_bench_sweep},
};

enum { BENCHES = sizeof benches / sizeof benches[0] };

static void print_help(FILE *out) {
  fputs("usage: weft bench BENCH [OPTIONS]\n\nbenches:\n", out);
  for (size_t n = 0; n < BENCHES; n++) fprintf(out, "  %-10s %s\n", benches[n].name, benches[n].summary);
  fputs("\n`weft bench BENCH --help` explains one.\n", out);
}

int cli_bench(int argc, char **argv) {
  if (argc < 2) {
    print_help(stderr);
    return CLI_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0) {
    print_help(stdout);
    return CLI_OK;
  }
  for (size_t n = 0; n < BENCHES; n++)
    if (strcmp(argv[1], benches[n].name) == 0) return benches[n].run(argc - 1, argv + 1);
  fprintf(stderr, "weft: error: unknown bench %s\n  hint: weft bench --help\n", argv[1]);
  return CLI_USAGE;
}
