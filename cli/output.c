// SPDX-License-Identifier: Apache-2.0
// Messages, progress, files, memory and JSON of verbs: see cli.h.
#include "base/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/name.h"
#include "base/nearest.h"
#include "base/terminal.h"
#include "base/thousands.h"
#include "cli/cli.h"

static char *format_list(const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int length = vsnprintf(NULL, 0, format, args);
  char *text = wf_alloc((size_t)length + 1, 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

bool cli_prints(const cli_common *common) {
  return !common->quiet && (common->json == NULL || strcmp(common->json, "-") != 0);
}

// ---- progress

cli_line cli_line_begin(const cli_common *common, double terminal_pause, double pause) {
  return (cli_line){wf_progress_begin(common->quiet, terminal_pause, pause)};
}

bool cli_line_due(const cli_line *line) { return wf_progress_due(&line->line); }

void cli_line_write(cli_line *line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = format_list(format, args);
  va_end(args);
  wf_progress_line(&line->line, "%s", text);
  wf_free(text);
}

void cli_line_end(cli_line *line, bool stays) { wf_progress_end(&line->line, stays); }

static bool show_progress(void *context, const weft_progress *progress) {
  cli_watch *w = context;
  char shown[WF_NAME_LINE];
  if (wf_progress_due(&w->line))
    wf_progress_line(&w->line, "%s %" PRIu64 " of %" PRIu64 ": %s", w->what, progress->done + 1, progress->total,
                     wf_name_shown(progress->text, shown));
  return true;
}

void cli_watch_begin(cli_watch *w, weft_session *session, const cli_common *common, double pause, const char *what) {
  *w = (cli_watch){wf_progress_begin(common->quiet, pause, pause), session, what};
  weft_session_watch(session, show_progress, w);
}

void cli_watch_end(cli_watch *w) {
  weft_session_watch(w->session, NULL, NULL);
  wf_progress_end(&w->line, false);
}

cli_busy *cli_busy_begin(const cli_common *common, const char *what) {
  return wf_busy_begin(common->quiet, what, CLI_BUSY_AFTER);
}

void cli_busy_end(cli_busy *busy) { wf_busy_end(busy); }

static void leave_stage(cli_stages *stages) {
  wf_busy_end(stages->busy);
  wf_free(stages->name);
  stages->busy = NULL;
  stages->name = NULL;
}

static bool enter_stage(void *context, const weft_progress *progress) {
  cli_stages *stages = context;
  leave_stage(stages);
  stages->name = wf_strdup(progress->text);
  stages->busy = cli_busy_begin(stages->common, stages->name);
  return true;
}

void cli_stages_begin(cli_stages *stages, weft_session *session, const cli_common *common) {
  *stages = (cli_stages){.common = common, .session = session};
  weft_session_watch(session, enter_stage, stages);
}

void cli_stages_end(cli_stages *stages) {
  weft_session_watch(stages->session, NULL, NULL);
  leave_stage(stages);
}

bool cli_building_told(const weft_progress *progress, const weft_array *array) {
  if (strcmp(progress->what, "hardware") != 0) return false;
  fprintf(stderr, "weft: hardware of array %s: %s\n", weft_array_name(array), progress->text);
  return true;
}

static bool tell_building(void *context, const weft_progress *progress) {
  const cli_building *b = context;
  cli_building_told(progress, b->array);
  return true;
}

void cli_building_begin(cli_building *b, weft_session *session, const cli_common *common, const weft_array *array) {
  *b = (cli_building){.session = session, .array = array};
  if (!common->quiet) weft_session_watch(session, tell_building, b);
}

void cli_building_end(cli_building *b) { weft_session_watch(b->session, NULL, NULL); }

// ---- messages

// Where the kind of a message begins in a line; NULL: it is a hint, or goes on.
static char *kind_in(char *line, wf_colour *colour) {
  char *at = strstr(line, ": error: ");
  *colour = at != NULL ? WF_COLOUR_BAD : WF_COLOUR_WARN;
  if (at == NULL) at = strstr(line, ": warning: ");
  return at == NULL ? NULL : at + 2;
}

static void print_coloured(char *line) {
  wf_colour colour;
  char *kind = kind_in(line, &colour);
  if (kind != NULL) {
    char *rest = kind + strcspn(kind, " ");
    *rest++ = '\0';
    fprintf(stderr, "%.*s%s%s%s ", (int)(kind - line), line, wf_terminal_colour(true, colour), kind,
            wf_terminal_colour(true, WF_COLOUR_NONE));
    line = rest;
  }
  fputs(line, stderr);
}

// Messages of sessions have no colours: here they get those of other messages.
static void print_messages(const char *text) {
  const bool coloured = wf_terminal_coloured(stderr);
  if (!coloured) fputs(text, stderr);
  for (int length; coloured && *text != '\0'; text += length) {
    length = (int)strcspn(text, "\n") + 1;
    char *line = wf_format("%.*s", length, text);
    print_coloured(line);
    wf_free(line);
  }
}

bool cli_messages(const weft_session *session) {
  print_messages(weft_session_messages(session));
  return weft_session_status(session) == WEFT_OK;
}

char *cli_read_file(const char *path, size_t most, size_t *length, wf_diag *diag) {
  char *text = wf_read_file(path, most, length, diag);
  if (text == NULL || *length <= most) return text;
  wf_error(diag, wf_in_file(path), "is larger than %zu MiB", most >> 20);
  wf_free(text);
  return NULL;
}

static bool is_stdout(const char *path) { return strcmp(path, "-") == 0; }

bool cli_check_output(const char *path, wf_diag *diag) {
  return path == NULL || is_stdout(path) || wf_output_check(path, diag);
}

bool cli_make_directory(const char *path, wf_diag *diag) {
  if (path == NULL || mkdir(path, 0777) == 0 || (errno == EEXIST && access(path, W_OK | X_OK) == 0)) return true;
  wf_error(diag, wf_in_file(path), "cannot make the folder: %s", strerror(errno));
  return false;
}

FILE *cli_open_output(const char *path, wf_diag *diag) { return is_stdout(path) ? stdout : wf_output_open(path, diag); }

// The end of stdout is reported once, by main.
bool cli_close(FILE *file, const char *path, wf_diag *diag) {
  if (file == stdout) return fflush(file) == 0 && !ferror(file);
  return wf_output_close(file, path, diag);
}

bool cli_end_output(FILE *file, const char *path, bool good, wf_diag *diag) {
  if (file == NULL || file == stdout || good) return file == NULL || cli_close(file, path, diag);
  wf_output_drop(file, path);
  return true;
}

void cli_error(const char *file, const char *format, ...) {
  wf_diag diag = wf_diag_to(stderr);
  va_list args;
  va_start(args, format);
  char *text = format_list(format, args);
  va_end(args);
  wf_error(&diag, wf_in_file(file), "%s", text);
  wf_free(text);
}

void cli_hint(const char *format, ...) {
  wf_diag diag = wf_diag_to(stderr);
  va_list args;
  va_start(args, format);
  char *text = format_list(format, args);
  va_end(args);
  wf_hint(&diag, "%s", text);
  wf_free(text);
}

void cli_hint_nearest(const char *word, const char *const *names, size_t count) {
  wf_nearest nearest = wf_nearest_start(word);
  for (size_t i = 0; i < count; i++) wf_nearest_offer(&nearest, names[i]);
  if (nearest.best[0] != '\0') cli_hint("did you mean %s?", nearest.best);
}

bool cli_make_folder(const char *path) {
  wf_diag diag = wf_diag_to(stderr);
  return cli_make_directory(path, &diag);
}

bool cli_may_write(const char *path) {
  wf_diag diag = wf_diag_to(stderr);
  return cli_check_output(path, &diag);
}

FILE *cli_create(const char *path) {
  wf_diag diag = wf_diag_to(stderr);
  return cli_open_output(path, &diag);
}

bool cli_finish(FILE *file, const char *path) {
  wf_diag diag = wf_diag_to(stderr);
  return cli_close(file, path, &diag);
}

bool cli_write_text(const char *path, const char *text) {
  FILE *out = cli_create(path);
  if (out == NULL) return false;
  fputs(text, out);
  return cli_finish(out, path);
}

char *cli_file_name(const char *name) { return wf_name_file(name); }

void cli_tell(const char *text) {
  fputs("weft: ", stderr);
  wf_name_write(WF_NAME_TERMINAL, text, stderr);
  fputc('\n', stderr);
}

char *cli_indented(const char *text, const char *more) {
  char *made = NULL;
  size_t length;
  FILE *out = open_memstream(&made, &length);
  for (; out != NULL && *text != '\0'; text++) {
    if (*text == '\n' && text[1] == '\0') break;
    fputc(*text, out);
    if (*text == '\n') fputs(more, out);
  }
  if (out == NULL || fclose(out) != 0) return cli_copy("null");
  return made;
}

void cli_csv_field(const char *text) { cli_csv_field_to(text, stdout); }
void cli_csv_field_to(const char *text, FILE *out) { wf_csv_field(text, out); }

void cli_cell(const char *text, unsigned width, bool cut) { wf_name_column(text, width, cut, stdout); }

unsigned cli_columns(void) { return wf_terminal_columns(stdout); }

_Static_assert((int)CLI_THOUSANDS >= (int)WF_THOUSANDS, "numbers have room");
const char *cli_thousands(uint64_t number, char text[CLI_THOUSANDS]) { return wf_thousands(number, text); }

_Static_assert(CLI_NAME == (int)WF_NAME_LINE, "shown names have room");
const char *cli_shown(const char *text, char line[CLI_NAME]) { return wf_name_shown(text, line); }

void *cli_resize(void *old, size_t count, size_t size) { return wf_realloc(old, count, size); }
char *cli_copy(const char *text) { return wf_strdup(text); }

char *cli_format(const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = format_list(format, args);
  va_end(args);
  return text;
}

void cli_head_colour(bool begin) {
  fputs(wf_terminal_colour(wf_terminal_coloured(stdout), begin ? WF_COLOUR_HEAD : WF_COLOUR_NONE), stdout);
}

bool cli_coloured(void) { return wf_terminal_coloured(stdout); }
const char *cli_colour(bool coloured, wf_colour colour) { return wf_terminal_colour(coloured, colour); }

bool cli_write_report(const char *path, char *text) {
  const bool good = text != NULL && cli_write_text(path, text);
  weft_free(text);
  return good;
}

bool cli_write_json(const char *path, cJSON *document, wf_diag *diag) {
  FILE *file = cli_open_output(path, diag);
  char *text = file == NULL ? NULL : cJSON_Print(document);
  if (text != NULL) wf_name_write(WF_NAME_DOCUMENT, text, file);
  if (text != NULL) fputc('\n', file);
  cJSON_free(text);
  cJSON_Delete(document);
  return file != NULL && cli_close(file, path, diag);
}

cli_exit cli_put_json(const cli_common *common, cJSON *document) {
  wf_diag diag = wf_diag_to(stderr);
  return document == NULL || cli_write_json(common->json, document, &diag) ? CLI_OK : CLI_BAD_INPUT;
}

int cli_end_of_output(int code) {
  errno = 0;
  bool good = fflush(stdout) == 0 && !ferror(stdout);
  if (fclose(stdout) != 0 && errno != EBADF) good = false;
  if (good) return code;
  fprintf(stderr, "weft: error: cannot write to stdout%s%s\n", errno == 0 ? "" : ": ",
          errno == 0 ? "" : strerror(errno));
  return code == CLI_OK ? CLI_BAD_INPUT : code;
}
