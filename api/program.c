// SPDX-License-Identifier: Apache-2.0
// Programs of the hart and traces of commands on engines. See weft.h.
#define _GNU_SOURCE  // fopencookie
#include <stdlib.h>
#include <string.h>

#include "api/csv.h"
#include "api/ending.h"
#include "api/output.h"
#include "api/program_report.h"
#include "api/recording.h"
#include "api/report.h"
#include "base/alloc.h"
#include "base/json.h"
#include "sim/cycle/cycle.h"
#include "sim/ref/ref.h"
#include "sim/rtl/rtl.h"

// What the report is made of.
typedef struct program {
  weft_array array;
  char *path, *accelerator;
  sim_run_result result;
  sim_flow_account account;
  api_program_report report;
} program;

static void drop(void *thing) {
  program *p = thing;
  wf_free(p->path);
  wf_free(p->accelerator);
  wf_free(p);
}

// ---- report

static api_program_report report_of(const weft_run *run, const weft_run_form *form) {
  api_program_report report = ((const program *)run->report)->report;
  if (form->file != NULL) report.path = form->file;
  return report;
}

static void print(const void *thing, const weft_run_form *form, FILE *out) {
  const api_program_report report = report_of(thing, form);
  api_program_text(&report, out);
}

static void print_json(const void *thing, const weft_run_form *form, FILE *out) {
  const api_program_report report = report_of(thing, form);
  wf_json_write(api_program_json(&report), out);
}

static void print_csv(const void *thing, const weft_run_form *form, FILE *out) {
  const api_program_report report = report_of(thing, form);
  cJSON *document = api_program_json(&report);
  api_csv_print(document, out);
  cJSON_Delete(document);
}

static const api_form forms[] = {{"text", print}, {"json", print_json}, {"csv", print_csv}, {NULL, NULL}};

// ---- what the program prints

typedef struct console {
  const weft_run_options *options;
  bool error;
} console;

static ssize_t write_console(void *cookie, const char *bytes, size_t length) {
  const console *c = cookie;
  if (c->options->console != NULL) c->options->console(c->options->console_context, c->error, bytes, length);
  return (ssize_t)length;
}

static FILE *open_console(console *c) {
  FILE *file = fopencookie(c, "w", (cookie_io_functions_t){.write = write_console});
  if (file != NULL) setvbuf(file, NULL, c->error ? _IONBF : _IOLBF, BUFSIZ);
  return file;
}

// ---- the run

typedef struct running {
  weft_session *session;
  const weft_run_options *options;
  program *program;
  api_recording recording;
  FILE *trace;
} running;

static void watch_engine(void *context, const sim_engine *engine) {
  const running *r = context;
  if (r->recording.sinks.timeline != NULL) sim_timeline_watch(r->recording.sinks.timeline, engine);
}

static void take_account(void *context, const sim_engine *engine, uint64_t cycle) {
  const running *r = context;
  sim_flow_account_to(engine, cycle, &r->program->account);
}

static bool tell(void *context, uint64_t instructions, uint64_t cycles) {
  weft_session *s = context;
  (void)cycles;
  api_progress(s, instructions, 0, "instructions");
  return !wf_stop_wanted(&s->stop);
}

static void simulate(running *r, const sim_engine_ops *engine, FILE *out, FILE *errors) {
  const weft_run_options *o = r->options;
  program *p = r->program;
  const sim_engine_options of_engine = api_engine_options(r->session, o, engine);
  const sim_run_config config = {.array = &p->array.array,
                                 .engine = engine,
                                 .engine_options = &of_engine,
                                 .max_instructions = o->max_instructions,
                                 .any_array = o->any_array,
                                 .at_recorded_times = o->at_recorded_times,
                                 .console = out,
                                 .console_error = errors,
                                 .trace = r->trace,
                                 .events = api_recording_events(&r->recording),
                                 .watch = watch_engine,
                                 .watch_context = r,
                                 .ended = o->sensitivity ? take_account : NULL,
                                 .progress = tell,
                                 .progress_context = r->session};
  p->result = sim_run_file(&config, p->path, &r->session->diag);
}

// With the consoles; a run that did not begin is none.
static void run(running *r, const sim_engine_ops *engine) {
  console out = {.options = r->options}, error = {.options = r->options, .error = true};
  FILE *files[] = {open_console(&out), open_console(&error)};
  r->program->result.status = SIM_RUN_CANNOT_BUILD;
  if (files[0] != NULL && files[1] != NULL) simulate(r, engine, files[0], files[1]);
  for (int i = 0; i < 2; i++)
    if (files[i] != NULL) fclose(files[i]);
}

// ---- what goes together

static bool trace_good(weft_session *s, const weft_run_options *o, const sim_engine_ops *engine) {
  if (o->trace == NULL) return true;
  if (engine->timed && engine != &sim_cycle_engine && engine != &sim_rtl_engine)
    return api_refuse(s, "engine %s cannot write a trace", engine->name), false;
  return !o->timing_only || (api_refuse(s, "a trace holds data: it needs a run without timing_only"), false);
}

static bool options_good(weft_session *s, const weft_run_options *o, const sim_engine_ops *engine) {
  if (!trace_good(s, o, engine)) return false;
  if (o->at_recorded_times && !engine->timed)
    return api_refuse(s, "engine %s has no cycles: it takes no at_recorded_times", engine->name), false;
  if (o->timeline_steps != NULL || (o->timeline_level != NULL && strcmp(o->timeline_level, "step") == 0))
    return api_refuse(s, "steps are of networks: a program has none"), false;
  return true;
}

static program *prepare(const weft_array *array, const char *path, const weft_run_options *o,
                        const sim_engine_ops *engine) {
  program *p = WF_NEW(program);
  p->array = *array;
  api_array_own(&p->array);
  p->path = wf_strdup(path);
  p->accelerator = o->accelerator == NULL ? NULL : wf_strdup(o->accelerator);
  p->report = (api_program_report){.path = p->path,
                                   .array = &p->array.array,
                                   .engine = engine,
                                   .accelerator = p->accelerator,
                                   .timing_only = o->timing_only || engine->timing_only,
                                   .result = &p->result,
                                   .sensitivity = o->sensitivity ? &p->account : NULL};
  return p;
}

static weft_run *finish(program *p) {
  const sim_run_result *r = &p->result;
  const run_result as_kernel = {
      .cycles = r->host.cycles, .commands = r->port.commands, .has_units = r->has_units, .units = r->units};
  weft_run *run = api_run_of_kernel(&p->array.array, &as_kernel, r->has_units ? r->units.macs : 0);
  run->report = p;
  run->drop_report = drop;
  run->forms = forms;
  run->ending = api_ending_of(r);
  run->totals.digest = r->replay_digest;
  p->report.exit = (int)run->ending;
  return run;
}

weft_run *weft_program_run(weft_session *s, const char *path, const weft_array *array,
                           const weft_run_options *options) {
  weft_run_options o = {0};
  if (!api_begin(s, "program") || !api_given(s, path, "the path") || !api_given(s, array, "the array") ||
      !api_take(s, options, &o, sizeof o))
    return NULL;
  const sim_engine_ops *engine = api_run_engine(s, &o, o.trace != NULL ? &sim_ref_engine : &sim_cycle_engine);
  if (engine == NULL || !options_good(s, &o, engine)) return NULL;
  if (!hw_array_check(&array->array, array->array.name, &s->diag)) return api_end(s, false, WEFT_BAD_INPUT), NULL;
  running r = {.session = s, .options = &o, .program = prepare(array, path, &o, engine)};
  if (!api_output_open(&r.trace, o.trace, &s->diag)) return api_end(s, false, WEFT_BAD_INPUT), drop(r.program), NULL;
  if (!api_recording_open(s, &r.recording, &o, engine, &r.program->array.array, path, SIM_TIMELINE_BURST))
    return api_output_end(r.trace, o.trace, false, &s->diag), drop(r.program), NULL;
  run(&r, engine);
  const sim_run_result *result = &r.program->result;
  weft_status status = wf_stop_wanted(&s->stop) ? WEFT_CANCELLED : api_ended(result);
  const bool ran = status == WEFT_OK;
  const uint64_t cycles = result->has_units ? result->units.cycles : result->host.cycles;
  if (!api_recording_close(&r.recording, ran, cycles, result->has_units ? &result->units : NULL, &s->diag) && ran)
    status = WEFT_BAD_INPUT;
  if (!api_output_end(r.trace, o.trace, ran, &s->diag) && ran) status = WEFT_BAD_INPUT;
  if (api_end(s, status == WEFT_OK, status) == WEFT_OK) return finish(r.program);
  drop(r.program);
  return NULL;
}
