// SPDX-License-Identifier: Apache-2.0
// `weft example`: things to try that need no file and no checkout. Each is a list of command lines (examples.def);
// `run` writes the files that they name into a folder and runs the lines there, one after the other, as they are shown.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/include/weft/weft.h"
#include "cli/cli.h"

enum { FILES_MAX = 2, LINES_MAX = 4, WORDS_MAX = 16 };

typedef struct example {
  const char *name, *summary;
  const char *files[FILES_MAX], *lines[LINES_MAX + 1];
} example;

static const example examples[] = {
#define FILES(...) \
  { __VA_ARGS__ }
#define LINES(...) \
  { __VA_ARGS__ }
#define EXAMPLE(name, summary, files, lines) {name, summary, files, lines},
#include "cli/examples.def"
#undef EXAMPLE
#undef LINES
#undef FILES
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

typedef struct example_options {
  const char *dir;
} example_options;

static const example *find(const char *name) {
  const char *names[EXAMPLES];
  for (size_t i = 0; i < EXAMPLES; i++) {
    names[i] = examples[i].name;
    if (strcmp(names[i], name) == 0) return &examples[i];
  }
  cli_error(NULL, "there is no example %s", name);
  cli_hint_nearest(name, names, EXAMPLES);
  cli_hint("`weft example list` names them");
  return NULL;
}

// ---- files

static const char *text_of(const char *name) {
  weft_file file = {.size = sizeof file};
  for (size_t i = 0; weft_file_at(i, &file) == WEFT_OK; i++)
    if (strcmp(file.name, name) == 0) return file.text;
  return NULL;
}

// A file that is there stays: it may have been changed since.
static bool write_file(const char *dir, const char *name) {
  char *path = cli_format("%s/%s", dir, name);
  const bool good = access(path, F_OK) == 0 || cli_write_text(path, text_of(name));
  free(path);
  return good;
}

static bool write_files(const example *e, const char *dir) {
  if (!cli_make_folder(dir)) return false;
  for (unsigned f = 0; f < FILES_MAX && e->files[f] != NULL; f++)
    if (!write_file(dir, e->files[f])) return false;
  return true;
}

// ---- lines

// Splits a line in place; blanks between apostrophes separate nothing.
static void split(char *line, char *words[WORDS_MAX + 1]) {
  unsigned count = 0;
  while (*(line += strspn(line, " ")) != '\0' && count < WORDS_MAX) {
    const char *end = *line == '\'' ? "'" : " ";
    if (*line == '\'') line++;
    words[count++] = line;
    line += strcspn(line, end);
    if (*line != '\0') *line++ = '\0';
  }
  words[count] = NULL;
}

static _Noreturn void become(const char *dir, const char *text) {
  char *line = cli_format("weft %s", text), *words[WORDS_MAX + 1];
  split(line, words);
  if (chdir(dir) == 0) execv("/proc/self/exe", words);
  fprintf(stderr, "weft: error: cannot run weft %s: %s\n", text, strerror(errno));
  _exit(CLI_CANNOT_BUILD);
}

static int run_line(const char *dir, const char *line) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) become(dir, line);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : CLI_CANNOT_BUILD;
}

static void show_line(const char *line) {
  cli_head_colour(true);
  printf("$ weft %s", line);
  cli_head_colour(false);
  putchar('\n');
}

// ---- actions

static cJSON *texts_json(const char *const *texts, unsigned most) {
  cJSON *list = cJSON_CreateArray();
  for (unsigned i = 0; i < most && texts[i] != NULL; i++) cJSON_AddItemToArray(list, cJSON_CreateString(texts[i]));
  return list;
}

static cJSON *list_json(void) {
  cJSON *list = cJSON_CreateArray();
  for (size_t i = 0; i < EXAMPLES; i++) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", examples[i].name);
    cJSON_AddStringToObject(object, "summary", examples[i].summary);
    cJSON_AddItemToObject(object, "files", texts_json(examples[i].files, FILES_MAX));
    cJSON_AddItemToObject(object, "lines", texts_json(examples[i].lines, LINES_MAX));
    cJSON_AddItemToArray(list, object);
  }
  return list;
}

static cli_exit list(const cli_common *common) {
  if (cli_prints(common))
    for (size_t i = 0; i < EXAMPLES; i++) printf("%-10s %s\n", examples[i].name, examples[i].summary);
  return cli_put_json(common, common->json == NULL ? NULL : list_json());
}

static cli_exit show(const example *e) {
  for (unsigned f = 0; f < FILES_MAX && e->files[f] != NULL; f++)
    printf("# needs %s, which `run` writes\n", e->files[f]);
  for (unsigned l = 0; e->lines[l] != NULL; l++) show_line(e->lines[l]);
  return CLI_OK;
}

static cli_exit run(const cli_common *common, const example *e, const char *dir) {
  if (!write_files(e, dir)) return CLI_BAD_INPUT;
  if (!common->quiet) fprintf(stderr, "weft: in the folder %s\n", dir);
  for (unsigned l = 0; e->lines[l] != NULL; l++) {
    if (l > 0) putchar('\n');
    show_line(e->lines[l]);
    const int code = run_line(dir, e->lines[l]);
    if (code != CLI_OK) return (cli_exit)code;
  }
  return CLI_OK;
}

static const wf_option example_rows[] = {
    {"o", WF_TEXT(example_options, dir), "DIR",
     "of run: the folder to run in, made if it is not there (default: weft-NAME)"},
};

// `list` has no name behind it, `show` and `run` have one.
static cli_exit usage_error(const char *message) {
  fprintf(stderr, "weft: error: %s\n  hint: weft example --help\n", message);
  return CLI_USAGE;
}

static cli_exit act(const cli_common *common, const example_options *o, const char *action, const char *name) {
  const bool runs = strcmp(action, "run") == 0;
  if (!runs && strcmp(action, "show") != 0) return usage_error("the action is list, show or run");
  if (name == NULL) return usage_error("missing argument: NAME");
  if (common->json != NULL) return usage_error("--json is for list");
  if (!runs && o->dir != NULL) return usage_error("-o is for run");
  const example *e = find(name);
  if (e == NULL) return CLI_USAGE;
  if (!runs) return show(e);
  char *dir = o->dir == NULL ? cli_format("weft-%s", name) : cli_copy(o->dir);
  const cli_exit code = run(common, e, dir);
  free(dir);
  return code;
}

cli_exit cli_example(int argc, char **argv) {
  example_options o = {0};
  static const cli_usage usage = {.verb = "example",
                                  .synopsis = "list | show NAME | run NAME",
                                  .text =
                                      "list  things to try\n"
                                      "show  their command lines\n"
                                      "run   writes the files that they need into a folder and runs them there",
                                  .options = {CLI_OPTIONS(example_rows, 0)},
                                  .min_arguments = 1,
                                  .max_arguments = 2};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &o, &argc, argv, &common, &code)) return code;
  if (strcmp(argv[0], "list") != 0) return act(&common, &o, argv[0], argc == 2 ? argv[1] : NULL);
  return argc == 2 || o.dir != NULL ? usage_error("list takes no NAME and no -o") : list(&common);
}
