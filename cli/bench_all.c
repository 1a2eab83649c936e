// `weft bench all`: regenerates every published table. Each is a run of this program with the arguments of `tables`;
// what it prints goes to a file that says how it came about.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/bench.h"
#include "weft_version.h"

enum { ARGUMENTS = 16 };

typedef struct table {
  const char *name, *what;
  const char *arguments[ARGUMENTS];
  bool slow;  // more than some minutes
} table;

// Those that are no part of another.
#define SIMULATED_METHODS "default,default-tuned,random,bayes,genetic,published,descent"

static const table tables[] = {
    {"kernels", "compiled kernels on published shapes", {"bench", "kernels"}, false},
    {"kernels-tuned",
     "compiled products with the fastest of the mapper's 64 best mappings",
     {"bench", "kernels", "--set", "gemm", "--tune", "64"},
     true},
    {"engines", "speed and memory of the engines", {"bench", "engines"}, true},
    {"gemmini", "errors against cycles measured on Gemmini's own RTL", {"bench", "gemmini"}, false},
    {"networks", "whole networks, compared with the int8 reference", {"bench", "networks"}, true},
    {"graph", "speed of the interpreter of graphs", {"bench", "graph"}, true},
    {"sweep", "speed of sweeps: 100 arrays x ResNet-50", {"bench", "sweep"}, true},
    {"model",
     "the machine model against the cycle engine",
     {"bench", "model", "--samples", "160", "--seed", "11", "--spaces"},
     true},
    {"search", "methods of search under the plain model", {"bench", "search"}, true},
    {"search-resnet50",
     "methods of search on ResNet-50, simulated",
     {"bench", "search", "--simulate", "--nets", "resnet50", "--methods", SIMULATED_METHODS},
     true},
    {"search-bert",
     "methods of search on BERT, simulated",
     {"bench", "search", "--simulate", "--nets", "bert", "--methods", SIMULATED_METHODS},
     true},
    {"search-retinanet",
     "methods of search on RetinaNet, simulated",
     {"bench", "search", "--simulate", "--nets", "retinanet", "--methods", SIMULATED_METHODS},
     true},
    {"search-operators",
     "methods of search on single operators, simulated",
     {"bench", "search", "--simulate", "--nets", "mm,gemv,conv_1d,conv", "--methods", SIMULATED_METHODS},
     true},
    {"search-unet",
     "methods of search on U-Net, simulated with one seed",
     {"bench", "search", "--simulate", "--nets", "unet", "--seeds", "1", "--simulations", "2", "--methods",
      SIMULATED_METHODS},
     true},
    {"exact",
     "proven optima of the plain model",
     {"search", "resnet50", "bert", "retinanet", "unet", "--exact"},
     false},
    {"resnet50",
     "an array found for ResNet-50, simulated",
     {"search", "resnet50", "--simulate", "--model", "machine"},
     false},
    {"bert", "an array found for BERT, simulated", {"search", "bert", "--simulate", "--model", "machine"}, false},
};
enum { TABLES = sizeof tables / sizeof *tables };

typedef struct all_options {
  const char *directory, *only, *runs;
  bool quick;
} all_options;

static void write_head(const table *t, FILE *out) {
  struct utsname system = {0};
  char date[32] = "";
  const time_t now = time(NULL);
  struct tm utc;
  uname(&system);
  if (gmtime_r(&now, &utc) != NULL) strftime(date, sizeof date, "%Y-%m-%d", &utc);
  fprintf(out, "# %s\n# weft", t->what);
  for (int i = 0; i < ARGUMENTS && t->arguments[i] != NULL; i++) fprintf(out, " %s", t->arguments[i]);
  fprintf(out, "\n# weft %s, %s, %s %s, %ld processors\n\n", WEFT_GIT_VERSION, date, system.sysname, system.machine,
          sysconf(_SC_NPROCESSORS_ONLN));
  fflush(out);
}

// The program itself, with its output in the file.
static int run(const table *t, const all_options *options, FILE *out) {
  const char *arguments[ARGUMENTS + 4] = {"weft"};
  int count = 1;
  bool simulates = false;
  for (int i = 0; i < ARGUMENTS && t->arguments[i] != NULL; i++) {
    arguments[count++] = t->arguments[i];
    simulates |= i == 2 && strcmp(t->arguments[1], "search") == 0 && strcmp(t->arguments[i], "--simulate") == 0;
  }
  if (simulates && options->runs != NULL) {
    arguments[count++] = "--runs";
    arguments[count++] = options->runs;
  }
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(fileno(out), STDOUT_FILENO);
    execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
    _exit(127);
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A table is renewed only when it is complete.
static bool regenerate(const table *t, const all_options *options, wf_diag *diag) {
  char *path = wf_format("%s/%s.txt", options->directory, t->name), *fresh = wf_format("%s.new", path);
  FILE *out = cli_open_output(fresh, diag);
  bool good = out != NULL;
  if (good) {
    fprintf(stderr, "weft: %s\n", path);
    write_head(t, out);
    const int code = run(t, options, out);
    good = cli_close(out, fresh, diag) && code == CLI_OK;
    if (code != CLI_OK) wf_error(diag, wf_in_file(path), "not renewed: the command ended with %d", code);
    good = good && rename(fresh, path) == 0;
    if (!good) remove(fresh);
  }
  wf_free(path);
  wf_free(fresh);
  return good;
}

int cli_bench_all(int argc, char **argv) {
  all_options options = {.directory = "results"};
  const cli_option rows[] = {
      {"o", CLI_OPTION_TEXT, &options.directory, "DIR", "where the tables go (default: results)"},
      {"only", CLI_OPTION_TEXT, &options.only, "NAME", "one table"},
      {"runs", CLI_OPTION_TEXT, &options.runs, "FILE", "tables of simulated methods: as weft bench search --runs"},
      {"quick", CLI_OPTION_FLAG, &options.quick, NULL, "leave out those that take more than some minutes"},
  };
  const cli_usage usage = {
      .verb = "bench all",
      .synopsis = "",
      .text =
          "Regenerates the published tables, each a file that begins with its command, the version\n"
          "and the machine. A table whose command fails stays as it was.",
      .options = rows,
      .option_count = sizeof rows / sizeof *rows};
  cli_common common;
  int code = CLI_OK;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  wf_diag diag = wf_diag_to(stderr);
  if (mkdir(options.directory, 0777) != 0 && errno != EEXIST) {
    wf_error(&diag, wf_in_file(options.directory), "cannot be made: %s", strerror(errno));
    return CLI_BAD_INPUT;
  }
  unsigned made = 0, failed = 0;
  for (size_t i = 0; i < TABLES; i++) {
    if (options.only != NULL ? strcmp(options.only, tables[i].name) != 0 : options.quick && tables[i].slow) continue;
    made++;
    failed += !regenerate(&tables[i], &options, &diag);
  }
  if (made > 0) return failed == 0 ? CLI_OK : CLI_CANNOT_BUILD;
  fprintf(stderr, "weft: error: no table %s; there are", options.only);
  for (size_t i = 0; i < TABLES; i++) fprintf(stderr, " %s", tables[i].name);
  fputc('\n', stderr);
  return CLI_USAGE;
}
