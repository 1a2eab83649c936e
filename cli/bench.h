// The benches of `weft bench`: the table is in cmd_bench.c.
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli/cli.h"

int cli_bench_all(int argc, char **argv);
int cli_bench_engines(int argc, char **argv);
int cli_bench_gemmini(int argc, char **argv);
int cli_bench_graph(int argc, char **argv);
int cli_bench_kernels(int argc, char **argv);
int cli_bench_model(int argc, char **argv);
int cli_bench_networks(int argc, char **argv);
int cli_bench_rtl(int argc, char **argv);
int cli_bench_search(int argc, char **argv);
int cli_bench_sweep(int argc, char **argv);

#endif
