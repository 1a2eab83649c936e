// SPDX-License-Identifier: Apache-2.0
// `weft bench all`: regenerates every published table. Each is a run of the tool with the arguments of `tables`; what
// it prints goes to a file that says how it came about. Until it is complete it is kept in a file without a name, so
// that nothing is left of a table whose making was killed.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bench/bench.h"

enum { ARGUMENTS = 16 };

typedef struct table {
  const char *name, *what;
  const char *arguments[ARGUMENTS];
  bool slow;  // more than some minutes
} table;

// The methods that are no part of another.
#define SIMULATED_METHODS "default,default-tuned,random,bayes,genetic,published,descent"

static const table tables[] = {
    {"kernels", "compiled kernels on published shapes", {"bench", "kernels"}, false},
    {"kernels-tuned",
     "compiled products with the fastest of the mapper's 64 best mappings",
     {"bench", "kernels", "--set", "gemm", "--tune", "64"},
     true},
    {"engines", "speed and memory of the engines", {"bench", "engines"}, true},
    {"flow", "accuracy and speed of engine flow", {"bench", "flow"}, true},
    {"codesign",
     "joint search of the whole machine, on spaces that are simulated whole",
     {"bench", "codesign", "--large", "0", "--nets", "conv_1d"},
     true},
    {"codesign-default",
     "joint search of the whole machine in the default space",
     {"bench", "codesign", "--spaces", "default", "--seeds", "3", "--methods", "gradient,neighbours,random", "--nets",
      "bert,conv_1d,resnet50,mobilenetv2,gpt2-block,retinanet,unet"},
     true},
    {"codesign-edp",
     "the same by energy x time, with one seed",
     {"bench", "codesign", "--spaces", "default", "--objective", "edp", "--seeds", "1", "--methods",
      "gradient,neighbours,random", "--nets", "bert,conv_1d,resnet50,mobilenetv2,gpt2-block,retinanet,unet"},
     true},
    {"gradient", "what engine flow says that parameters are worth", {"bench", "gradient"}, false},
    {"crosscheck", "cycles of ResNet-50's layers beside SCALE-Sim's closed form", {"crosscheck", "resnet50"}, false},
    {"schedule", "networks with neighbouring layers mixed", {"bench", "schedule"}, true},
    {"schedule-forwarded",
     "networks with neighbouring layers mixed, tensors between them in the scratchpad",
     {"bench", "schedule", "--isa", "2", "--nets", "resnet50,mobilenetv2,mobilenetv3-small"},
     true},
    {"fusion",
     "arrays chosen by whole networks with mixed steps",
     {"bench", "fusion", "--nets", "resnet50,mobilenetv2"},
     true},
    {"attention", "ways to run a layer of transformers", {"bench", "attention", "--isa", "2"}, true},
    {"optima", "layers beside the optima of a model", {"bench", "optima"}, false},
    {"schemes", "networks with kernels by cost", {"bench", "schemes"}, true},
    {"planner", "choosing the mixes of networks", {"bench", "planner"}, false},
    {"schedule-tuned",
     "networks with tuned mappings and neighbouring layers mixed",
     {"bench", "schedule", "--tune", "64", "--nets", "resnet50,mobilenetv2,mobilenetv3-small"},
     true},
    {"sparse", "layers with zeros in their weights, on arrays of sides 4 to 32", {"bench", "sparse"}, true},
    {"races", "programs of the compiler under the check for races", {"bench", "races"}, false},
    {"tokens", "units ordered by tokens beside the reservation station", {"bench", "tokens"}, false},
    {"transfer", "tuned mappings for other networks and arrays", {"bench", "transfer", "--size", "112"}, true},
    {"gemmini", "errors against cycles measured on Gemmini's own RTL", {"bench", "gemmini"}, false},
    {"networks", "whole networks, compared with the int8 reference", {"bench", "networks"}, true},
    {"decode", "one token behind a cache of keys and values", {"bench", "decode"}, true},
    {"groups", "convolutions in groups, beside their bounds", {"bench", "groups"}, false},
    {"depth", "blocks with 1 to 4 slots of each operand", {"bench", "depth"}, false},
    {"graph", "speed of the interpreter of graphs", {"bench", "graph"}, true},
    {"sweep", "speed of sweeps: 100 arrays x ResNet-50", {"bench", "sweep"}, true},
    {"study", "compression, lowering, mapping and arrays crossed", {"bench", "study"}, true},
    {"learn", "learned corrections of the machine model", {"bench", "learn"}, true},
    {"model",
     "the machine model against the cycle engine",
     {"bench", "model", "--samples", "160", "--seed", "11", "--spaces"},
     true},
    {"search", "methods of search under the plain model", {"bench", "search"}, true},
    {"operators", "methods of search on 540 single operators, under the plain model", {"bench", "operators"}, false},
    {"search-curve",
     "methods of search under the plain model, from few evaluations to many",
     {"bench", "search", "--curve", "--budget", "300000", "--methods", "random,bayes,genetic,published,descent"},
     true},
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

typedef struct options {
  const char *directory, *only, *runs;
  bool quick;
} options;

static void write_head(const table *t, const char *version, FILE *out) {
  struct utsname system = {0};
  char date[32] = "";
  const time_t now = time(NULL);
  struct tm utc;
  uname(&system);
  if (gmtime_r(&now, &utc) != NULL) strftime(date, sizeof date, "%Y-%m-%d", &utc);
  fprintf(out, "# %s\n# weft", t->what);
  for (int i = 0; i < ARGUMENTS && t->arguments[i] != NULL; i++) fprintf(out, " %s", t->arguments[i]);
  fprintf(out, "\n# weft %s, %s, %s %s, %ld processors\n\n", version, date, system.sysname, system.machine,
          sysconf(_SC_NPROCESSORS_ONLN));
  fflush(out);
}

// The tool, with its output in the file.
static int run(const table *t, const char *tool, const options *o, FILE *out) {
  const char *arguments[ARGUMENTS + 4] = {tool};
  int count = 1;
  bool simulates = false;
  for (int i = 0; i < ARGUMENTS && t->arguments[i] != NULL; i++) {
    arguments[count++] = t->arguments[i];
    simulates |= i == 2 && strcmp(t->arguments[1], "search") == 0 && strcmp(t->arguments[i], "--simulate") == 0;
  }
  if (simulates && o->runs != NULL) {
    arguments[count++] = "--runs";
    arguments[count++] = o->runs;
  }
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(fileno(out), STDOUT_FILENO);
    execvp(tool, (char *const *)(uintptr_t)arguments);
    _exit(127);
  }
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Beside the table first, so that the old one is whole until the new one is.
static bool deliver(FILE *made, const char *path) {
  char *fresh = wf_format("%s.new", path), part[4096];
  FILE *out = fopen(fresh, "w");
  bool good = out != NULL && !ferror(made);
  rewind(made);
  for (size_t n; good && (n = fread(part, 1, sizeof part, made)) > 0;) good = fwrite(part, 1, n, out) == n;
  if (out != NULL) good = fclose(out) == 0 && good && !ferror(made) && rename(fresh, path) == 0;
  if (!good) remove(fresh);
  wf_free(fresh);
  return good;
}

// A table is renewed only when it is complete.
static bool regenerate(const table *t, const bench_job *job, const char *path) {
  FILE *out = tmpfile();
  fprintf(stderr, "weft: %s\n", path);
  if (out != NULL) write_head(t, job->version, out);
  const int code = out == NULL ? 0 : run(t, job->tool, job->options, out);
  const bool good = out != NULL && code == 0 && deliver(out, path);
  if (code != 0)
    wf_error(job->diag, wf_in_file(path), "not renewed: the command ended with %d", code);
  else if (!good)
    wf_error(job->diag, wf_in_file(path), "cannot be written");
  if (out != NULL) fclose(out);
  return good;
}

// What killed programs left.
static void clear(const char *directory) {
  for (size_t i = 0; i < TABLES; i++) {
    char *fresh = wf_format("%s/%s.txt.new", directory, tables[i].name);
    remove(fresh);
    wf_free(fresh);
  }
}

static bool prepare(const char *directory, wf_diag *diag) {
  char *inside = wf_format("%s/.", directory);
  const bool made = mkdir(directory, 0777) == 0 || errno == EEXIST, good = made && access(inside, W_OK | X_OK) == 0;
  if (good)
    clear(directory);
  else
    wf_error(diag, wf_in_file(directory), "cannot be %s: %s", made ? "written" : "made", strerror(errno));
  wf_free(inside);
  return good;
}

static const bench_column columns[] = {{BENCH_DATA("table")}, {BENCH_DATA("file")}, {BENCH_DATA("renewed")}};
static const bench_form form = {.list = "tables", BENCH_FORM(columns)};

static bool is_chosen(const options *o, const table *t) {
  return o->only != NULL ? strcmp(o->only, t->name) == 0 : !o->quick || !t->slow;
}

static void refuse_name(const char *name, wf_diag *diag) {
  char *names = wf_strdup("");
  for (size_t i = 0; i < TABLES; i++) {
    char *longer = wf_format("%s %s", names, tables[i].name);
    wf_free(names);
    names = longer;
  }
  wf_error(diag, wf_in_file(NULL), "no table %s; there are%s", name, names);
  wf_free(names);
}

static bench_end run_all(const bench_job *job) {
  const options *o = job->options;
  if (!prepare(o->directory, job->diag)) return BENCH_BAD_INPUT;
  bench_table *made = bench_table_open(job->report, &form);
  unsigned count = 0, failed = 0;
  for (size_t i = 0; i < TABLES; i++) {
    if (!is_chosen(o, &tables[i])) continue;
    char *path = wf_format("%s/%s.txt", o->directory, tables[i].name);
    const bool good = regenerate(&tables[i], job, path);
    BENCH_ROW(made, bench_text(tables[i].name), bench_text(path), bench_flag(good));
    count++;
    failed += !good;
    wf_free(path);
  }
  if (count > 0) return failed == 0 ? BENCH_DONE : BENCH_CANNOT_BUILD;
  refuse_name(o->only, job->diag);
  return BENCH_BAD_USAGE;
}

static const wf_option option_rows[] = {
    {"o", WF_TEXT(options, directory), "DIR", "where the tables go (default: results)"},
    {"only", WF_TEXT(options, only), "NAME", "one table"},
    {"runs", WF_TEXT(options, runs), "FILE", "tables of simulated methods: as weft bench search --runs"},
    {"quick", WF_FLAG(options, quick), NULL, "leave out the tables that take more than some minutes"},
};
static const options defaults = {.directory = "results"};

const bench bench_all = {.name = "all",
                         .summary = "every published table, into results/",
                         .synopsis = "",
                         .text =
                             "Regenerates the published tables, each a file that begins with its command, the version\n"
                             "and the machine. A table whose command fails stays as it was.",
                         BENCH_OPTIONS(option_rows, defaults),
                         .run = run_all};
