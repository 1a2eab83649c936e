// SPDX-License-Identifier: Apache-2.0
// The `weft` command: finds the verb and runs it.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "weft_version.h"

static const cli_verb verbs[] = {
    {"compile", "compile a kernel to the commands of an array", cli_compile},
    {"run", "compile a kernel, run it on random data and check the result", cli_run},
    {"sim", "run a program or a command trace on an engine", cli_sim},
    {"sweep", "measure networks on many arrays into a store", cli_sweep},
    {"study", "cross compression, lowering, mapping and arrays, and rank them", cli_study},
    {"query", "ask the store of a sweep", cli_query},
    {"schedules", "list, join and clear stores of tuned mappings", cli_schedules},
    {"report", "write the page and the figures of a sweep", cli_report},
    {"diff-engines", "find the first cycle in which two engines differ on a program", cli_diff_engines},
    {"check", "find races and deadlocks of a program", cli_check},
    {"bench", "compare engines with each other on the same programs", cli_bench},
    {"search", "search hardware and mappings for networks", cli_search},
    {"crosscheck", "compare cycles of layers with the closed forms of other simulators", cli_crosscheck},
    {"rtl", "write, build or synthesise the hardware of an array", cli_rtl},
    {"net", "make a known network as an ONNX file or a layer table", cli_net},
    {"array", "list, show, check and compare array descriptions", cli_array},
    {"graph", "print the graph of an ONNX model", cli_graph},
    {"example", "things to try: their command lines and files", cli_example},
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
  fputs("\n`weft help VERB` explains a verb; `weft --version` prints the version.\n", out);
}

static bool is_one_of(const char *word, const char *const *words) {
  for (; *words != NULL; words++)
    if (strcmp(word, *words) == 0) return true;
  return false;
}

static int unknown_verb(const char *word) {
  char shown[WF_NAME_LINE];
  fprintf(stderr, "weft: error: unknown verb %s\n", wf_name_shown(word, shown));
  wf_nearest nearest = wf_nearest_start(word);
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) wf_nearest_offer(&nearest, verbs[i].name);
  if (nearest.best[0] != '\0') fprintf(stderr, "  hint: did you mean %s?\n", nearest.best);
  fputs("  hint: weft --help\n", stderr);
  return CLI_USAGE;
}

static int run_verb(int argc, char **argv) {
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(argv[0], verbs[i].name) == 0) return (int)verbs[i].run(argc, argv);
  return unknown_verb(argv[0]);
}

// `help VERB ..` is `VERB .. --help`.
static int help(int argc, char **argv) {
  enum { WORDS = 3 };
  char *words[WORDS + 1] = {NULL};
  if (argc == 1) {
    print_help(stdout);
    return CLI_OK;
  }
  int count = 0;
  for (int i = 1; i < argc && count < WORDS - 1; i++) words[count++] = argv[i];
  words[count++] = (char[]){"--help"};
  return run_verb(count, words);
}

static int run(int argc, char **argv) {
  static const char *const helps[] = {"help", "--help", "-h", NULL};
  static const char *const versions[] = {"version", "--version", "-V", NULL};
  if (argc < 2) {
    print_help(stderr);
    return CLI_USAGE;
  }
  if (is_one_of(argv[1], helps)) return help(argc - 1, argv + 1);
  if (!is_one_of(argv[1], versions)) return run_verb(argc - 1, argv + 1);
  puts("weft " WEFT_VERSION " (" WEFT_GIT_VERSION ")");
  return CLI_OK;
}

int main(int argc, char **argv) { return cli_end_of_output(run(argc, argv)); }
