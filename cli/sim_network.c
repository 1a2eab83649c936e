// SPDX-License-Identifier: Apache-2.0
// `weft sim NET.onnx`: see sim_network.h. The table of steps goes to stdout, a step as soon as it has run; totals
// behind it.
#include "cli/sim_network.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "api/sensitivity.h"
#include "base/alloc.h"
#include "base/name.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "cli/network_page.h"
#include "cli/network_report.h"
#include "cli/step_table.h"
#include "runner/figures.h"
#include "sim/timeline.h"

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

// ---- while it runs

typedef struct watcher {
  const sim_network_options *options;
  bool table;
  step_table shown;
  wf_progress progress;
  timeline_sinks timelines;
  timeline_choice choice;
  sim_flow_account *accounts;  // by step, from the start of the run; NULL: not asked for
} watcher;

static bool is_chosen(const watcher *w, uint64_t step) { return step >= w->choice.first && step <= w->choice.last; }

// The step as a slice, with what the table says of it.
static void draw_step(const watcher *w, const network *net, int step, const run_step_result *result) {
  const network_step *s = &net->steps[step];
  const run_step_figures f = run_step_figures_of(net, s, result);
  char *program = wf_format("%.*s", (int)strcspn(s->what, " \"\\"), s->what);
  const uint64_t bytes = result->units.bus_read_bytes + result->units.bus_written_bytes;
  const sim_timeline_argument arguments[] = {
      {.name = "step", .value = step},
      {.name = "operator", .text = graph_op_name(s->node->op)},
      {.name = "program", .text = program},
      {.name = "macs", .value = (double)s->macs},
      {.name = "percent of the mesh", .value = 100 * f.utilisation, .decimals = 2},
      {.name = "bytes", .value = (double)bytes}};
  const sim_timeline_step_slice slice = {.name = s->name,
                                         .arguments = arguments,
                                         .argument_count = sizeof arguments / sizeof *arguments,
                                         .on_array = s->place == GRAPH_ON_ARRAY,
                                         .start = result->start,
                                         .cycles = result->cycles};
  sim_timeline_step(w->timelines.timeline, &slice);
  wf_free(program);
}

static void show_step(void *context, const network *net, int step, const run_step_result *result) {
  watcher *w = context;
  if (w->timelines.timeline != NULL && is_chosen(w, (uint64_t)step)) draw_step(w, net, step, result);
  if (w->table) {
    step_table_row(&w->shown, step, result, stdout);
    fflush(stdout);
  }
  if ((w->table && w->progress.terminal) || !wf_progress_due(&w->progress)) return;
  wf_progress_line(&w->progress, "weft: step %d of %d, %s", step + 1, net->step_count, net->steps[step].name);
}

static void end_step(void *context, int step, const sim_engine *engine, uint64_t cycle) {
  const watcher *w = context;
  if (w->accounts != NULL) sim_flow_account_to(engine, cycle, &w->accounts[step]);
  if (is_chosen(w, (uint64_t)step) != is_chosen(w, (uint64_t)step + 1))
    timeline_sinks_record(&w->timelines, is_chosen(w, (uint64_t)step + 1));
}

static void watch_engine(void *context, const sim_engine *engine) {
  watcher *w = context;
  if (w->timelines.timeline != NULL) sim_timeline_watch(w->timelines.timeline, engine);
  if (!is_chosen(w, 0)) timeline_sinks_record(&w->timelines, false);
}

static void take_event(void *context, const sim_event *event) {
  const watcher *w = context;
  timeline_sinks_event(&w->timelines, event);
}

static void take_burst(void *context, const memsys_seen *burst) {
  const watcher *w = context;
  sim_timeline_burst(w->timelines.timeline, burst);
}

// ---- reports

static bool write_file(const char *path, const network_report *report,
                       void (*print)(const network_report *report, FILE *out), wf_diag *diag) {
  if (path == NULL) return true;
  FILE *out = cli_open_output(path, diag);
  if (out == NULL) return false;
  print(report, out);
  return cli_close(out, path, diag);
}

// The totals as text, or the page with its files.
static bool write_report(const cli_common *common, const char *path, const network_report *report, wf_diag *diag) {
  if (path == NULL || network_page_is_text(path)) return write_file(path, report, network_report_totals, diag);
  if (!network_page_write(report, path, diag)) return false;
  char name[WF_NAME_LINE];
  if (cli_prints(common)) printf("page         %s/index.html\n", wf_name_shown(path, name));
  return true;
}

// Before the run: whether what it makes can be written.
static bool check_report(const char *path, wf_diag *diag) {
  return path == NULL || network_page_is_text(path) ? cli_check_output(path, diag) : network_page_check(path, diag);
}

static cli_exit write_reports(const cli_common *common, const sim_network_options *options,
                              const network_report *report, wf_diag *diag) {
  if (cli_prints(common)) network_report_totals(report, stdout);
  if (!write_report(common, options->report, report, diag)) return CLI_BAD_INPUT;
  if (!write_file(options->csv, report, network_report_csv, diag)) return CLI_BAD_INPUT;
  if (common->json != NULL && !cli_write_json(common->json, network_report_json(report), diag)) return CLI_BAD_INPUT;
  network_report_wrong(report, stderr);
  return report->result->wrong == 0 ? CLI_OK : CLI_MISMATCH;
}

static bool is_stdout(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

// The clock at the end of the last step, which goes on in the hart's start-up, too.
static uint64_t end_of(const network *net, const run_network_result *result) {
  if (result->has_units) return result->units.cycles;
  if (net->step_count == 0) return 0;
  const run_step_result *last = &result->steps[net->step_count - 1];
  return last->start + last->cycles;
}

static cli_exit simulate(const cli_common *common, const sim_network_options *options, const sim_engine_ops *engine,
                         const api_job *job, const char *path, const timeline_files *files,
                         const timeline_choice *choice, wf_diag *diag) {
  const bool hart = !options->native_host && engine->timed && engine->host_access != NULL;
  watcher w = {.options = options, .progress = wf_progress_begin(common->quiet, 0.2, 10)};
  w.table = cli_prints(common) && !is_stdout(options->csv);
  w.choice = *choice;
  w.timelines = timeline_sinks_open(files, &options->timeline, &job->array.array, path, choice->level);
  const bool bursts = w.timelines.timeline != NULL && choice->level == SIM_TIMELINE_BURST;
  const sim_events events = {.context = &w, .event = take_event, .burst = bursts ? take_burst : NULL};
  const sim_engine_options engine_options = {.timing_only = options->timing_only, .quiet = common->quiet};
  const run_network_config config = {.engine = engine,
                                     .options = &engine_options,
                                     .inputs = (const void *const *)job->inputs,
                                     .check = !options->no_check && !options->timing_only,
                                     .hart = hart ? RUN_HART_TIMED : RUN_HART_NATIVE,
                                     .events = timeline_sinks_hear(&w.timelines, choice->level) ? &events : NULL,
                                     .ended = end_step,
                                     .watch = watch_engine,
                                     .progress = show_step,
                                     .context = &w};
  run_network_result result;
  if (options->sensitivity) w.accounts = WF_NEW_ARRAY((size_t)job->net->step_count + 1, sim_flow_account);
  w.shown = step_table_create(job->net, options->wide ? 0 : wf_terminal_columns(stdout), wf_terminal_coloured(stdout));
  if (w.table) step_table_head(&w.shown, stdout);
  const bool ran = run_network(job->net, &config, &result, diag);
  const bool written = timeline_sinks_close(&w.timelines, &options->timeline, end_of(job->net, &result),
                                            result.has_units ? &result.units : NULL, diag);
  const network_report report = {.path = path,
                                 .job = job,
                                 .engine = engine,
                                 .result = &result,
                                 .accounts = w.accounts,
                                 .checked = config.check,
                                 .timing_only = options->timing_only};
  cli_exit code = !ran ? CLI_CANNOT_BUILD : CLI_BAD_INPUT;
  if (ran && written) code = write_reports(common, options, &report, diag);
  wf_free(w.accounts);
  run_network_release(job->net, &result);
  return code;
}

static cli_exit run_job(const cli_common *common, const sim_network_options *options, const sim_engine_ops *engine,
                        const char *path, const timeline_files *files, const timeline_choice *choice, wf_diag *diag) {
  network_job job;
  cli_exit code = network_job_open(common, &options->job, path, &job);
  const int steps = (int)job.facts.steps;
  if (code == CLI_OK && options->timeline.steps != NULL && choice->first >= (uint64_t)steps) {
    wf_error(diag, wf_in_file(path), "--timeline-steps %s: the network has steps 0 to %d", options->timeline.steps,
             steps - 1);
    code = CLI_USAGE;
  }
  if (code == CLI_OK) code = simulate(common, options, engine, api_network_job(job.network), path, files, choice, diag);
  network_job_release(&job);
  return code;
}

cli_exit sim_network(const cli_common *common, const sim_network_options *options, const sim_engine_ops *engine,
                     const char *path, wf_diag *diag) {
  timeline_choice choice;
  if (!timeline_choose(&options->timeline, SIM_TIMELINE_COMMAND, &choice, diag)) return CLI_USAGE;
  const char *asked = timeline_asked(&options->timeline);
  if (asked != NULL && engine->set_events == NULL) {
    wf_error(diag, wf_in_file(NULL), "engine %s has no cycles and so no %s", engine->name, asked);
    return CLI_USAGE;
  }
  if (!check_report(options->report, diag) || !cli_check_output(options->csv, diag)) return CLI_BAD_INPUT;
  timeline_files files;
  if (!timeline_files_open(&files, &options->timeline, diag)) return CLI_BAD_INPUT;
  cli_exit code = run_job(common, options, engine, path, &files, &choice, diag);
  const bool complete = code == CLI_OK || code == CLI_MISMATCH;
  if (!timeline_files_close(&files, &options->timeline, complete, diag)) code = CLI_BAD_INPUT;
  return code;
}
