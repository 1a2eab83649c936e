// SPDX-License-Identifier: Apache-2.0
// Networks on engines: steps as they run, records, reports. See weft.h.
#include <inttypes.h>
#include <string.h>

#include "api/job.h"
#include "api/network_page.h"
#include "api/network_report.h"
#include "api/recording.h"
#include "api/report.h"
#include "api/steps.h"
#include "base/alloc.h"
#include "base/json.h"

// What the report needs besides the run.
typedef struct extra {
  const sim_engine_ops *engine;
  sim_flow_account *accounts;  // by step; NULL: not asked for
  bool checked, timing_only;
} extra;

static void drop(void *thing) {
  extra *e = thing;
  wf_free(e->accounts);
  wf_free(e);
}

// ---- reports

static api_network_report report_of(const weft_run *run, const weft_run_form *form) {
  const extra *e = run->report;
  const api_loaded *loaded = run->owner;
  return (api_network_report){.path = form->file != NULL ? form->file : loaded->path,
                              .job = &loaded->job,
                              .engine = e->engine,
                              .result = &run->result,
                              .accounts = e->accounts,
                              .checked = e->checked,
                              .timing_only = e->timing_only};
}

static void print(const void *thing, const weft_run_form *form, FILE *out) {
  const api_network_report report = report_of(thing, form);
  api_network_report_totals(&report, out);
}

static void print_json(const void *thing, const weft_run_form *form, FILE *out) {
  const api_network_report report = report_of(thing, form);
  wf_json_write(api_network_report_json(&report), out);
}

static void print_csv(const void *thing, const weft_run_form *form, FILE *out) {
  const api_network_report report = report_of(thing, form);
  api_network_report_csv(&report, out);
}

static void print_page(const void *thing, const weft_run_form *form, FILE *out) {
  const api_network_report report = report_of(thing, form);
  api_network_page_print(&report, out);
}

static void print_wrong(const void *thing, const weft_run_form *form, FILE *out) {
  const api_network_report report = report_of(thing, form);
  api_network_report_wrong(&report, out);
}

static const api_form forms[] = {{"text", print},      {"json", print_json},   {"csv", print_csv},
                                 {"page", print_page}, {"wrong", print_wrong}, {NULL, NULL}};

// ---- while it runs

typedef struct running {
  weft_session *session;
  const weft_run_options *options;
  api_recording recording;
  sim_flow_account *accounts;
} running;

static bool is_chosen(const running *r, uint64_t step) {
  return step >= r->recording.choice.first && step <= r->recording.choice.last;
}

// The step as a slice, with what the table says of it.
static void draw_step(const running *r, const network *net, int step, const run_step_result *result) {
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
  sim_timeline_step(r->recording.sinks.timeline, &slice);
  wf_free(program);
}

static void tell_step(void *context, const network *net, int step, const run_step_result *result) {
  const running *r = context;
  if (r->recording.sinks.timeline != NULL && is_chosen(r, (uint64_t)step)) draw_step(r, net, step, result);
  if (r->options->step != NULL) {
    api_step_texts texts;
    const weft_step full = api_step_of(net, step, result, &texts);
    r->options->step(r->options->step_context, (size_t)step, &full);
  }
  api_progress(r->session, (uint64_t)step + 1, (uint64_t)net->step_count, net->steps[step].name);
}

static void end_step(void *context, int step, const sim_engine *engine, uint64_t cycle) {
  const running *r = context;
  if (r->accounts != NULL) sim_flow_account_to(engine, cycle, &r->accounts[step]);
  if (is_chosen(r, (uint64_t)step) != is_chosen(r, (uint64_t)step + 1))
    api_timeline_sinks_record(&r->recording.sinks, is_chosen(r, (uint64_t)step + 1));
}

static void watch_engine(void *context, const sim_engine *engine) {
  const running *r = context;
  if (r->recording.sinks.timeline != NULL) sim_timeline_watch(r->recording.sinks.timeline, engine);
  if (!is_chosen(r, 0)) api_timeline_sinks_record(&r->recording.sinks, false);
}

// ---- the run

static bool inputs_good(weft_session *s, const weft_network *n, const void *const *inputs) {
  for (size_t i = 0; inputs != NULL && i < weft_network_inputs(n); i++)
    if (inputs[i] == NULL) return api_refuse(s, "input %zu is NULL", i), false;
  return true;
}

static bool options_good(weft_session *s, const weft_run_options *o, bool timing_only) {
  if (o->check && timing_only) return api_refuse(s, "a run that moves no data cannot be checked"), false;
  if (o->trace != NULL || o->events != NULL || o->wave != NULL || o->at_recorded_times || o->any_array)
    return api_refuse(s, "a network takes no trace, events, wave, any_array and at_recorded_times"), false;
  return true;
}

// Before the run: whether there are the steps that are to be recorded.
static bool steps_good(weft_session *s, const running *r, const network *net) {
  const char *text = r->options->timeline_steps;
  if (text == NULL || r->recording.choice.first < (uint64_t)net->step_count) return true;
  return api_refuse(s, "timeline_steps %s: the network has steps 0 to %d", text, net->step_count - 1), false;
}

// The clock at the end of the last step, which goes on in the hart's start-up, too.
static uint64_t end_of(const network *net, const run_network_result *result) {
  if (result->has_units) return result->units.cycles;
  if (net->step_count == 0 || result->steps == NULL) return 0;
  const run_step_result *last = &result->steps[net->step_count - 1];
  return last->start + last->cycles;
}

static weft_run *finish(const weft_network *n, const run_network_result *result, extra *e) {
  atomic_fetch_add(&n->loaded->users, 1);
  weft_run *run = api_run_of_network(n->loaded->job.net, result, n->loaded, api_network_drop);
  run->report = e;
  run->drop_report = drop;
  run->forms = forms;
  run->ending = result->wrong == 0 ? WEFT_ENDED : WEFT_MISMATCH;
  return run;
}

static bool simulate(running *r, const api_job *job, const sim_engine_ops *engine, const void *const *inputs,
                     run_network_result *result) {
  const weft_run_options *o = r->options;
  const sim_engine_options of_engine = api_engine_options(r->session, o, engine);
  const bool hart = !o->native_host && engine->timed && engine->host_access != NULL;
  const run_network_config config = {.engine = engine,
                                     .options = &of_engine,
                                     .inputs = inputs != NULL ? inputs : (const void *const *)job->inputs,
                                     .check = o->check,
                                     .hart = hart ? RUN_HART_TIMED : RUN_HART_NATIVE,
                                     .events = api_recording_events(&r->recording),
                                     .ended = end_step,
                                     .watch = watch_engine,
                                     .progress = tell_step,
                                     .context = r,
                                     .stop = &r->session->stop};
  return run_network(job->net, &config, result, &r->session->diag);
}

weft_run *weft_network_run(weft_session *s, const weft_network *n, const weft_run_options *options,
                           const void *const *inputs) {
  weft_run_options o = {0};
  if (!api_begin(s, "network") || !api_given(s, n, "the network") || !api_take(s, options, &o, sizeof o) ||
      !inputs_good(s, n, inputs))
    return NULL;
  const sim_engine_ops *engine = api_run_engine(s, &o, &sim_cycle_engine);
  if (engine == NULL || !options_good(s, &o, o.timing_only || engine->timing_only)) return NULL;
  const api_job *job = &n->loaded->job;
  running r = {.session = s, .options = &o};
  if (!api_recording_open(s, &r.recording, &o, engine, &job->array.array, n->loaded->path, SIM_TIMELINE_COMMAND))
    return NULL;
  if (!steps_good(s, &r, job->net)) return api_recording_close(&r.recording, false, 0, NULL, &s->diag), NULL;
  if (o.sensitivity) r.accounts = WF_NEW_ARRAY((size_t)job->net->step_count + 1, sim_flow_account);
  run_network_result result = {0};
  bool good = simulate(&r, job, engine, inputs, &result);
  const bool written = api_recording_close(&r.recording, good, end_of(job->net, &result),
                                           result.has_units ? &result.units : NULL, &s->diag);
  extra *e = WF_NEW(extra);
  *e = (extra){.engine = engine,
               .accounts = r.accounts,
               .checked = o.check,
               .timing_only = o.timing_only || engine->timing_only};
  if (api_end(s, good && written, good ? WEFT_BAD_INPUT : WEFT_CANNOT_BUILD) == WEFT_OK) return finish(n, &result, e);
  drop(e);
  run_network_release(job->net, &result);
  return NULL;
}
