// SPDX-License-Identifier: Apache-2.0
// `weft sim NET.onnx`: see sim_network.h. The table of steps goes to stdout, a step as soon as it has run; totals
// behind it.
#include "cli/sim_network.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/step_table.h"

const wf_option sim_network_rows[SIM_NETWORK_OPTIONS] = {
    {"seed", WF_COUNT(sim_network_options, job.seed), "N",
     "networks: of random inputs and of weights of generated networks (default 1)"},
    {"quality", WF_COUNT(sim_network_options, job.quality), "N",
     "networks: compare with the float model on N random inputs"},
    {"no-check", WF_FLAG(sim_network_options, no_check), NULL, "networks: compare nothing with the int8 reference"},
    {"native-host", WF_FLAG(sim_network_options, native_host), NULL,
     "networks: operators of the host run here, without cycles, instead of on the hart"},
    {"wide", WF_FLAG(sim_network_options, wide), NULL,
     "networks: the table of steps with all columns and whole names, however narrow the terminal is"},
};

// ---- the page: a folder, or a text

// "-", or a name that ends in .txt, gets the totals as text. Any other is the page's folder.
static bool is_text(const char *path) {
  static const char ending[] = ".txt";
  enum { ENDING = sizeof ending - 1 };
  const size_t length = strlen(path);
  return strcmp(path, "-") == 0 || (length > ENDING && strcmp(path + length - ENDING, ending) == 0);
}

static bool check_page(const char *dir) {
  struct stat about;
  if (stat(dir, &about) == 0 && !S_ISDIR(about.st_mode)) {
    cli_error(dir, "the page of a network is a folder, and this is a file");
    cli_hint("a name that ends in .txt gets the totals as text");
    return false;
  }
  if (!cli_make_folder(dir)) return false;
  char *path = cli_format("%s/index.html", dir);
  const bool good = cli_may_write(path);
  free(path);
  return good;
}

// Before the run: whether what it makes can be written.
static bool check_report(const char *path) {
  return path == NULL || is_text(path) ? cli_may_write(path) : check_page(path);
}

// ---- reports

typedef struct result {
  const cli_common *common;
  const char *path;
  weft_session *session;
  const weft_run *run;
} result;

static char *report_of(const result *r, const char *form) {
  const weft_run_form options = {.size = sizeof options, .form = form, .file = r->path};
  return weft_run_report(r->session, r->run, &options);
}

static void print(char *text, FILE *out) {
  if (text != NULL) fputs(text, out);
  weft_free(text);
}

static bool write_page(const result *r, const char *dir) {
  static const struct {
    const char *name, *form;
  } files[] = {{"index.html", "page"}, {"report.txt", "text"}, {"steps.csv", "csv"}};
  bool good = true;
  for (size_t i = 0; good && i < sizeof files / sizeof *files; i++) {
    char *path = cli_format("%s/%s", dir, files[i].name);
    good = cli_write_report(path, report_of(r, files[i].form));
    free(path);
  }
  char name[CLI_NAME];
  if (good && cli_prints(r->common)) printf("page         %s/index.html\n", cli_shown(dir, name));
  return good;
}

// The totals as text, or the page with its files.
static bool write_report(const result *r, const char *path) {
  if (path == NULL) return true;
  return is_text(path) ? cli_write_report(path, report_of(r, "text")) : write_page(r, path);
}

static cli_exit write_reports(const result *r, const sim_files *files) {
  const char *json = r->common->json;
  if (cli_prints(r->common)) print(report_of(r, "text"), stdout);
  if (!write_report(r, files->report)) return CLI_BAD_INPUT;
  if (files->csv != NULL && !cli_write_report(files->csv, report_of(r, "csv"))) return CLI_BAD_INPUT;
  if (json != NULL && !cli_write_report(json, report_of(r, "json"))) return CLI_BAD_INPUT;
  print(report_of(r, "wrong"), stderr);
  return (cli_exit)weft_run_ending(r->run);
}

// ---- while it runs

typedef struct watcher {
  const network_job *job;
  bool table;
  step_table shown;
  cli_line line;
} watcher;

static void show_step(void *context, size_t index, const weft_step *step) {
  watcher *w = context;
  if (w->table) {
    step_table_row(&w->shown, index, step);
    fflush(stdout);
  }
  if ((w->table && w->line.line.terminal) || !cli_line_due(&w->line)) return;
  cli_line_write(&w->line, "weft: step %zu of %d, %s", index + 1, (int)w->job->facts.steps, step->name);
}

static bool show_progress(void *context, const weft_progress *progress) {
  const watcher *w = context;
  cli_building_told(progress, w->job->array);
  return true;
}

static bool is_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

static cli_exit simulate(const cli_common *common, const sim_network_options *options, const sim_files *files,
                         const network_job *job, const char *path) {
  watcher w = {.job = job, .line = cli_line_begin(common, 0.2, 10)};
  weft_run_options run = files->run;
  run.check = !options->no_check && !run.timing_only;
  run.native_host = options->native_host;
  run.step = show_step;
  run.step_context = &w;
  w.table = cli_prints(common) && !is_stdout(files->csv);
  w.shown = step_table_create(job->network, options->wide);
  if (w.table) step_table_head(&w.shown);
  if (!common->quiet) weft_session_watch(job->session, show_progress, &w);
  weft_run *done = weft_network_run(job->session, job->network, &run, NULL);
  weft_session_watch(job->session, NULL, NULL);
  if (!cli_messages(job->session)) return (cli_exit)weft_session_status(job->session);
  const result r = {.common = common, .path = path, .session = job->session, .run = done};
  const cli_exit code = write_reports(&r, files);
  weft_run_destroy(done);
  return code;
}

cli_exit sim_network(const cli_common *common, const sim_network_options *options, const sim_files *files,
                     const char *path) {
  uint64_t first;
  if (!timeline_args_good(&files->timeline, &first)) return CLI_USAGE;
  const char *asked = timeline_args_asked(&files->timeline);
  if (asked != NULL && !files->engine->records) {
    cli_error(NULL, "engine %s has no cycles and so no %s", files->engine->name, asked);
    return CLI_USAGE;
  }
  if (!check_report(files->report) || !cli_may_write(files->csv) || !timeline_args_may_write(&files->timeline))
    return CLI_BAD_INPUT;
  network_job job;
  cli_exit code = network_job_open(common, &options->job, path, &job);
  if (code == CLI_OK && files->timeline.steps != NULL && first >= job.facts.steps) {
    cli_error(path, "--timeline-steps %s: the network has steps 0 to %d", files->timeline.steps,
              (int)job.facts.steps - 1);
    code = CLI_USAGE;
  }
  if (code == CLI_OK) code = simulate(common, options, files, &job, path);
  network_job_release(&job);
  return code;
}
