// What the verbs of the `weft` command share: exit codes, options, output files. A verb does argument handling and
// printing; the work is in the libraries.
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/option.h"
#include "hw/array.h"

// Scripts depend on these numbers (docs/cli.md).
typedef enum {
  CLI_OK = 0,
  CLI_BAD_INPUT = 1,
  CLI_USAGE = 2,
  CLI_CANNOT_BUILD = 3,
  CLI_MISMATCH = 4,
  CLI_PROGRAM_FAILED = 5,
  CLI_TRAP = 6,
  CLI_ILLEGAL_COMMAND = 7,
  CLI_LOCAL_ADDRESS = 8,
  CLI_MEMORY_ACCESS = 9,
  CLI_LIMIT = 10,
} cli_exit;

// Options that every verb takes.
typedef struct cli_common {
  const char *array;  // NULL: not given
  unsigned isa;       // 0: as the array says
  const char *json;   // NULL: no; "-": stdout
  bool quiet;
} cli_common;

typedef struct cli_verb {
  const char *name;
  const char *summary;
  int (*run)(int argc, char **argv);  // argv[0] is the verb
} cli_verb;

int cli_array(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_graph(int argc, char **argv);
int cli_isa(int argc, char **argv);
int cli_disasm(int argc, char **argv);
int cli_sim(int argc, char **argv);
int cli_diff_engines(int argc, char **argv);
int cli_rtl(int argc, char **argv);
int cli_compile(int argc, char **argv);
int cli_net(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_search(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_query(int argc, char **argv);
int cli_report(int argc, char **argv);

// ---- options: a table per verb, parsed by cli_parse

typedef struct cli_option {
  const char *name;  // "max-instructions"; of one letter: a short option
  wf_option_kind kind;
  void *value;           // bool *, const char **, uint64_t *
  const char *argument;  // in the help: "N"
  const char *help;
} cli_option;

typedef struct cli_usage {
  const char *verb;      // "sim"
  const char *synopsis;  // "PROG.elf|TRACE"
  const char *text;      // what it does, a few lines
  const cli_option *options;
  size_t option_count;
  const wf_option *table;  // and these, in front of them, with the struct that they point into
  size_t table_count;
  void *values;
  size_t min_arguments, max_arguments;
  bool takes_array;  // --array and --isa
} cli_usage;

// Parses options, setting all of *common, and leaves the other arguments in argv[0..*argc). Returns CLI_OK, or -1 when
// the verb should return *exit (help was printed, or a usage error).
int cli_parse(const cli_usage *usage, int *argc, char **argv, cli_common *common, int *exit);

// The array of --array (default gemmini-default) with --isa applied.
bool cli_load_array(const cli_common *common, hw_array *array, wf_diag *diag);

// The whole of a file with a zero behind it, to be freed; NULL after the reason was reported.
char *cli_read_file(const char *path, size_t *length, wf_diag *diag);

// Opens `path` for writing ("-": stdout); reports failure. Close with cli_close.
FILE *cli_open_output(const char *path, wf_diag *diag);
bool cli_close(FILE *file, const char *path, wf_diag *diag);

// Prints and frees a JSON document to --json's file.
bool cli_write_json(const char *path, cJSON *document, wf_diag *diag);
void cli_json_hash(cJSON *object, const char *key, uint64_t hash);
void cli_json_count(cJSON *object, const char *key, uint64_t value);

#endif
