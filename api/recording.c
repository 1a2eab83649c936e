// SPDX-License-Identifier: Apache-2.0
// Engines of runs, and their records: see recording.h.
#include "api/recording.h"

#include <inttypes.h>

#include "api/output.h"
#include "api/sensitivity.h"
#include "sim/records.h"
#include "sim/systemc/systemc.h"

// ---- engines

static const sim_engine_ops *engine_named(weft_session *s, const weft_run_options *o,
                                          const sim_engine_ops *by_default) {
  enum { ENGINES_MAX = 16 };
  const char *names[ENGINES_MAX];
  int count = 0;
  for (; count < ENGINES_MAX && sim_engine_at((size_t)count) != NULL; count++)
    names[count] = sim_engine_at((size_t)count)->name;
  const int chosen = o->engine == NULL ? 0 : api_choice(s, "engine", o->engine, names, count);
  if (chosen < 0) return NULL;
  const sim_engine_ops *engine = o->engine == NULL ? by_default : sim_engine_at((size_t)chosen);
  if (engine != &sim_systemc_engine) {
    if (o->accelerator == NULL && o->quantum == 0) return engine;
    return api_refuse(s, "engine %s takes no accelerator and no quantum", engine->name), NULL;
  }
  engine = sim_systemc_engine_with(o->accelerator, &s->diag);
  if (engine == NULL) api_end(s, false, WEFT_CANNOT_BUILD);
  return engine;
}

const sim_engine_ops *api_run_engine(weft_session *s, const weft_run_options *o, const sim_engine_ops *by_default) {
  const sim_engine_ops *engine = engine_named(s, o, by_default);
  if (engine == NULL) return NULL;
  if (o->sensitivity) {
    engine = api_sensitivity_engine(engine, &s->diag);
    if (engine == NULL) api_end(s, false, WEFT_USAGE);
    return engine;
  }
  if (!o->timing_only || engine == &sim_cycle_engine || engine->timing_only) return engine;
  api_refuse(s, "engine %s always moves data: timing_only is for engine %s", engine->name, sim_cycle_engine.name);
  return NULL;
}

sim_engine_options api_engine_options(weft_session *s, const weft_run_options *o, const sim_engine_ops *engine) {
  return (sim_engine_options){.wave = o->wave,
                              .jobs = o->jobs,
                              .timing_only = o->timing_only || engine->timing_only,
                              .accelerator = o->accelerator,
                              .quantum = o->quantum,
                              .tell = api_tell_building,
                              .tell_context = s};
}

// ---- records

static void print_event(FILE *out, const sim_event *event) {
  static const char *const kinds[] = {"alloc", "issue", "done"};
  static const char *const units[] = {"load", "execute", "store", ""};
  fprintf(out, "%10" PRIu64 " %s %" PRIu32 " %s\n", event->cycle, kinds[event->kind], event->index, units[event->unit]);
}

// In the cycle of its request; when each beat of the answer was there.
static void print_burst(FILE *out, const memsys_seen *burst, uint32_t line_bytes) {
  fprintf(out, "%10" PRIu64 " %s %u 0x%" PRIx64 " %u %s beats", burst->asked, burst->write ? "write" : "read",
          burst->id, burst->address, burst->bytes, sim_burst_class(burst, line_bytes));
  for (unsigned beat = 0; beat < burst->beats; beat++) fprintf(out, " %" PRIu64, burst->beat_cycles[beat]);
  fputc('\n', out);
}

static void take_event(void *context, const sim_event *event) {
  const api_recording *r = context;
  if (r->events != NULL) print_event(r->events, event);
  api_timeline_sinks_event(&r->sinks, event);
}

static void take_burst(void *context, const memsys_seen *burst) {
  const api_recording *r = context;
  if (r->events != NULL) print_burst(r->events, burst, r->line_bytes);
  if (r->sinks.timeline != NULL && r->choice.level == SIM_TIMELINE_BURST) sim_timeline_burst(r->sinks.timeline, burst);
}

static bool has_records(weft_session *s, const api_recording *r, const sim_engine_ops *engine) {
  const char *asked = r->events_path != NULL ? "events" : api_timeline_asked(&r->options);
  if (asked == NULL || engine->set_events != NULL) return true;
  return api_refuse(s, "engine %s has no cycles and so no %s", engine->name, asked), false;
}

static bool open_files(api_recording *r, wf_diag *diag) {
  if (!api_output_open(&r->events, r->events_path, diag)) return false;
  if (api_timeline_files_open(&r->files, &r->options, diag)) return true;
  api_output_end(r->events, r->events_path, false, diag);
  return false;
}

bool api_recording_open(weft_session *s, api_recording *r, const weft_run_options *o, const sim_engine_ops *engine,
                        const hw_array *array, const char *title, sim_timeline_level usual) {
  *r = (api_recording){.options = {o->timeline, o->timeline_level, o->timeline_steps, o->konata},
                       .events_path = o->events,
                       .line_bytes = array->l2.line_bytes};
  if (!has_records(s, r, engine)) return false;
  if (!api_timeline_choose(&r->options, usual, &r->choice, &s->diag)) return api_end(s, false, WEFT_USAGE), false;
  if (!open_files(r, &s->diag)) return api_end(s, false, WEFT_BAD_INPUT), false;
  r->sinks = api_timeline_sinks_open(&r->files, &r->options, array, title, r->choice.level);
  return true;
}

const sim_events *api_recording_events(api_recording *r) {
  const bool bursts = r->events != NULL || (r->sinks.timeline != NULL && r->choice.level == SIM_TIMELINE_BURST);
  r->hear = (sim_events){.context = r, .event = take_event, .burst = bursts ? take_burst : NULL};
  return r->events != NULL || api_timeline_sinks_hear(&r->sinks, r->choice.level) ? &r->hear : NULL;
}

bool api_recording_close(api_recording *r, bool complete, uint64_t cycles, const sim_cycle_report *last,
                         wf_diag *diag) {
  const bool written = api_timeline_sinks_close(&r->sinks, &r->options, cycles, last, diag);
  const bool kept = complete && written;
  const bool events = api_output_end(r->events, r->events_path, complete, diag);
  return api_timeline_files_close(&r->files, &r->options, kept, diag) && events && written;
}
