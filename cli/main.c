// SPDX-License-Identifier: Apache-2.0
// The `weft` command: finds the verb and runs it.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "weft_version.h"

static const cli_verb verbs[] = {
    {"compile", "compile a kernel to the commands of an array", cli_compile},
    {"run", "compile a kernel, run it on random data and check the result", cli_run},
    {"sim", "run a program or a command trace on an engine", cli_sim},
    {"sweep", "measure networks on many arrays into a store", cli_sweep},
    {"query", "ask the store of a sweep", cli_query},
    {"report", "write the page and the figures of a sweep", cli_report},
    {"diff-engines", "find the first cycle in which two engines differ on a program", cli_diff_engines},
    {"bench", "compare engines with each other on the same programs", cli_bench},
    {"search", "search hardware and mappings for networks", cli_search},
    {"crosscheck", "compare cycles of layers with the closed forms of other simulators", cli_crosscheck},
    {"rtl", "write, build or synthesise the hardware of an array", cli_rtl},
    {"net", "make a known network as an ONNX file or a layer table", cli_net},
    {"array", "list, show, check and compare array descriptions", cli_array},
    {"graph", "print the graph of an ONNX model", cli_graph},
    {"isa", "print the instruction set", cli_isa},
    {"disasm", "disassemble a program, custom instructions included", cli_disasm},
};

static void print_help(FILE *out) {
  fputs(
      "weft: hardware/software co-design for systolic arrays with RISC-V custom instructions\n\n"
      "usage: weft VERB [OPTIONS] ARGUMENTS\n\nverbs:\n",
      out);
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    fprintf(out, "  %-12s %s\n", verbs[i].name, verbs[i].summary);
  fputs("\n`weft VERB --help` explains a verb; `weft --version` prints the version.\n", out);
}

// Results that stdout did not take are lost, whatever the verb says. A verb that printed nothing may have no stdout.
static int end_of_output(int code) {
  errno = 0;
  bool good = fflush(stdout) == 0 && !ferror(stdout);
  if (fclose(stdout) != 0 && errno != EBADF) good = false;
  if (good) return code;
  fprintf(stderr, "weft: error: cannot write to stdout%s%s\n", errno == 0 ? "" : ": ",
          errno == 0 ? "" : strerror(errno));
  return code == CLI_OK ? CLI_BAD_INPUT : code;
}

static int run(int argc, char **argv) {
  if (argc < 2) {
    print_help(stderr);
    return CLI_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
    print_help(stdout);
    return CLI_OK;
  }
  if (strcmp(argv[1], "--version") == 0) {
    puts("weft " WEFT_VERSION " (" WEFT_GIT_VERSION ")");
    return CLI_OK;
  }
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(argv[1], verbs[i].name) == 0) return (int)verbs[i].run(argc - 1, argv + 1);
  fprintf(stderr, "weft: error: unknown verb %s\n  hint: weft --help\n", argv[1]);
  return CLI_USAGE;
}

int main(int argc, char **argv) { return end_of_output(run(argc, argv)); }
