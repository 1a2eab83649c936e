// SPDX-License-Identifier: Apache-2.0
// What the verbs of the `weft` command share: exit codes, options, output files. A verb does argument handling and
// printing; the work is in the libraries.
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "api/include/weft/weft.h"
#include "base/diag.h"
#include "base/option.h"
#include "base/progress.h"
#include "base/terminal.h"

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

// Options that every verb takes; the usage of a verb may exclude some.
typedef struct cli_common {
  const char *array;  // NULL: not given
  unsigned isa;       // 0: as the array says
  const char *json;   // NULL: no; "-": stdout
  bool quiet;
  const char *tech_path;  // a technology table for arrays that are loaded; NULL: none
} cli_common;

typedef struct cli_verb {
  const char *name;
  const char *summary;
  cli_exit (*run)(int argc, char **argv);  // argv[0] is the verb
} cli_verb;

cli_exit cli_array(int argc, char **argv);
cli_exit cli_bench(int argc, char **argv);
cli_exit cli_check(int argc, char **argv);
cli_exit cli_example(int argc, char **argv);
cli_exit cli_graph(int argc, char **argv);
cli_exit cli_isa(int argc, char **argv);
cli_exit cli_disasm(int argc, char **argv);
cli_exit cli_sim(int argc, char **argv);
cli_exit cli_diff_engines(int argc, char **argv);
cli_exit cli_rtl(int argc, char **argv);
cli_exit cli_compile(int argc, char **argv);
cli_exit cli_crosscheck(int argc, char **argv);
cli_exit cli_net(int argc, char **argv);
cli_exit cli_run(int argc, char **argv);
cli_exit cli_search(int argc, char **argv);
cli_exit cli_study(int argc, char **argv);
cli_exit cli_sweep(int argc, char **argv);
cli_exit cli_query(int argc, char **argv);
cli_exit cli_schedules(int argc, char **argv);
cli_exit cli_report(int argc, char **argv);

// ---- options: constant tables, and a struct of values for each call

// A table and the place in the struct of values that its offsets count from.
typedef struct cli_options {
  const wf_option *rows;
  size_t count, place;
} cli_options;
#define CLI_OPTIONS(rows, place) \
  { (rows), sizeof(rows) / sizeof *(rows), (place) }

enum { CLI_TABLES = 5 };
typedef struct cli_usage {
  const char *verb;      // "sim"
  const char *synopsis;  // "PROG.elf|TRACE"
  const char *text;      // what it does, a few lines
  const char *examples;  // lines of two blanks and a call; NULL: none
  cli_options options[CLI_TABLES];
  size_t min_arguments, max_arguments;
  bool takes_array;  // --array and --isa
  bool takes_tech;   // --tech
  bool no_json;      // there is no --json
} cli_usage;

// Parses options into `values` (NULL: there are no tables) and all of *common, and leaves the other arguments in
// argv[0..*argc). False when the verb should end with *exit: help was printed, or a usage error.
bool cli_parse(const cli_usage *usage, void *values, int *argc, char **argv, cli_common *common, cli_exit *exit);

// Work that shows nothing of itself says after so many seconds what it is (wf_busy_begin).
enum { CLI_BUSY_AFTER = 2 };
typedef struct wf_busy cli_busy;
cli_busy *cli_busy_begin(const cli_common *common, const char *what);
void cli_busy_end(cli_busy *busy);

// Says so of the stages of a session's calls, which name themselves (weft_progress.text). The stages stay in their
// place until the end.
typedef struct cli_stages {
  const cli_common *common;
  weft_session *session;
  cli_busy *busy;
  char *name;
} cli_stages;
void cli_stages_begin(cli_stages *stages, weft_session *session, const cli_common *common);
void cli_stages_end(cli_stages *stages);

// Says how far the hardware is that a session's calls build ("weft: hardware of array dim4: ..").
typedef struct cli_building {
  weft_session *session;
  const weft_array *array;
} cli_building;
void cli_building_begin(cli_building *building, weft_session *session, const cli_common *common,
                        const weft_array *array);
void cli_building_end(cli_building *building);
// What a progress is of a build; false: it is of something else.
bool cli_building_told(const weft_progress *progress, const weft_array *array);

// Whether a verb prints its report to stdout: not with --quiet, and not where JSON stands there, which stands alone.
bool cli_prints(const cli_common *common);

// The array of --array (default gemmini-default) with --isa and --tech applied; NULL after the session's messages were
// printed.
weft_array *cli_open_array(const cli_common *common, weft_session *session);

// Prints the messages of the session's last call; whether the call was good.
bool cli_messages(const weft_session *session);

// A line of progress on stderr: on a terminal it is written over, at most every so many seconds. Its end leaves the
// line on the terminal, or takes it away.
typedef struct cli_line {
  wf_progress line;
} cli_line;
cli_line cli_line_begin(const cli_common *common, double terminal_pause, double pause);
bool cli_line_due(const cli_line *line);
void cli_line_write(cli_line *line, const char *format, ...) WF_PRINTF(2, 3);
void cli_line_end(cli_line *line, bool stays);

// Shows the progress of a session's calls: "layer 3 of 20: conv1", where `what` is "layer", at most every `pause`
// seconds. The watch stays in its place until the end.
typedef struct cli_watch {
  wf_progress line;
  weft_session *session;
  const char *what;
} cli_watch;
void cli_watch_begin(cli_watch *watch, weft_session *session, const cli_common *common, double pause, const char *what);
void cli_watch_end(cli_watch *watch);

// The whole of a file with a zero behind it, to be freed; NULL after the reason was reported, also for one that is
// larger than `most` bytes.
enum { CLI_TEXT_MAX = 1 << 26 };  // of kernels and mappings
char *cli_read_file(const char *path, size_t most, size_t *length, wf_diag *diag);

// Opens `path` for writing ("-": stdout); reports failure. The file appears under its name when cli_close has closed it
// (base/output.h).
FILE *cli_open_output(const char *path, wf_diag *diag);
bool cli_close(FILE *file, const char *path, wf_diag *diag);
// Closes what is complete, and forgets the rest. NULL is good.
bool cli_end_output(FILE *file, const char *path, bool complete, wf_diag *diag);
// Before long work: whether files can be written at its end, and the folder of its files. NULL is good. The file of
// --json is checked by cli_parse.
bool cli_check_output(const char *path, wf_diag *diag);
bool cli_make_directory(const char *path, wf_diag *diag);

// The same with messages on stderr at once, for verbs that have no wf_diag.
void cli_error(const char *file, const char *format, ...) WF_PRINTF(2, 3);
void cli_hint(const char *format, ...) WF_PRINTF(1, 2);
// A hint that names the one of several that a word was most likely meant to be, if there is one.
void cli_hint_nearest(const char *word, const char *const *names, size_t count);
bool cli_may_write(const char *path);
bool cli_make_folder(const char *path);
bool cli_write_text(const char *path, const char *text);
// Writes and frees what a report is; NULL is none, after the reason was reported.
bool cli_write_report(const char *path, char *text);
FILE *cli_create(const char *path);
bool cli_finish(FILE *file, const char *path);
// Of a text that may hold any bytes, to be freed.
char *cli_file_name(const char *text);

// A line of progress of a search, of any length.
void cli_tell(const char *text);
// A text whose lines but the first begin with more, without the end of the last one, to be freed.
char *cli_indented(const char *text, const char *more);

// Texts of others on stdout: a field of CSV; a cell of a table that is `width` wide, and cut there if `cut`.
void cli_csv_field(const char *text);
void cli_csv_field_to(const char *text, FILE *out);
void cli_cell(const char *text, unsigned width, bool cut);
// Characters of a line of stdout, 0: any number; and the colour of the head of a table on a terminal.
unsigned cli_columns(void);
void cli_head_colour(bool begin);
bool cli_coloured(void);  // whether stdout has colours
const char *cli_colour(bool coloured, wf_colour colour);
// A number with a comma between thousands.
enum { CLI_THOUSANDS = 32 };
const char *cli_thousands(uint64_t number, char text[CLI_THOUSANDS]);
// The text, or one of `line` in which it stands for people on a line of its own.
enum { CLI_NAME = 256 };
const char *cli_shown(const char *text, char line[CLI_NAME]);

// Memory of verbs, for free(): without any the process ends (docs/cli.md).
void *cli_resize(void *old, size_t count, size_t size);
char *cli_copy(const char *text);
char *cli_format(const char *format, ...) WF_PRINTF(1, 2);

// Prints and frees a JSON document to --json's file.
bool cli_write_json(const char *path, cJSON *document, wf_diag *diag);
// The same as the end of a verb. NULL: there is none, as without --json.
cli_exit cli_put_json(const cli_common *common, cJSON *document);

// The end of a program: results that stdout did not take are lost, whatever the verb says. A verb that printed nothing
// may have no stdout.
int cli_end_of_output(int code);

#endif
