// SPDX-License-Identifier: Apache-2.0
// Timelines and pipeline logs of a run: see timeline.h.
#include "api/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/output.h"
#include "base/gzip.h"

static bool choose_level(const char *name, sim_timeline_level *level, wf_diag *diag) {
  for (unsigned l = 0; l < SIM_TIMELINE_LEVELS; l++) {
    if (strcmp(name, sim_timeline_level_names[l]) != 0) continue;
    *level = (sim_timeline_level)l;
    return true;
  }
  wf_error(diag, wf_in_file(NULL), "timeline_level \"%s\" is not known", name);
  wf_hint(diag, "one of step, command, burst");
  return false;
}

// A number and what follows it; NULL: there is none.
static const char *read_number(const char *text, uint64_t *value) {
  if (*text < '0' || *text > '9') return NULL;
  char *end;
  *value = strtoull(text, &end, 10);
  return end;
}

static bool choose_steps(const char *text, api_timeline_choice *choice, wf_diag *diag) {
  const char *rest = read_number(text, &choice->first);
  choice->last = choice->first;
  if (rest != NULL && *rest == '-') rest = read_number(rest + 1, &choice->last);
  if (rest != NULL && *rest == '\0' && choice->first <= choice->last) return true;
  wf_error(diag, wf_in_file(NULL), "timeline_steps \"%s\" are no steps", text);
  wf_hint(diag, "a step, as 3, or a first and a last one, as 3-5");
  return false;
}

bool api_timeline_choose(const api_timeline_options *o, sim_timeline_level usual, api_timeline_choice *choice,
                         wf_diag *diag) {
  *choice = (api_timeline_choice){.level = usual, .last = UINT64_MAX};
  if (o->level != NULL && !choose_level(o->level, &choice->level, diag)) return false;
  return o->steps == NULL || choose_steps(o->steps, choice, diag);
}

// ---- files

// With path NULL there is none.
static bool open_file(api_timeline_file *file, const char *path, wf_diag *diag) {
  *file = (api_timeline_file){.out = NULL};
  if (path == NULL) return true;
  if (!api_output_open(&file->file, path, diag)) return false;
  file->out = file->file;
  if (!wf_gzip_named(path)) return true;
  file->out = wf_gzip_open(file->file);
  if (file->out != NULL) return true;
  wf_error(diag, wf_in_file(path), "cannot pack");
  return false;
}

static bool close_file(api_timeline_file *file, const char *path, bool complete, wf_diag *diag) {
  const bool packed = file->out != NULL && file->out != file->file;
  if (packed && fclose(file->out) != 0 && complete) {
    wf_error(diag, wf_in_file(path), "cannot write the file");
    api_output_end(file->file, path, false, diag);
    return false;
  }
  return api_output_end(file->file, path, complete, diag);
}

bool api_timeline_files_open(api_timeline_files *files, const api_timeline_options *options, wf_diag *diag) {
  *files = (api_timeline_files){.timeline = {.out = NULL}};
  if (!open_file(&files->timeline, options->path, diag)) return false;
  if (open_file(&files->konata, options->konata, diag)) return true;
  close_file(&files->timeline, options->path, false, diag);
  return false;
}

bool api_timeline_files_close(api_timeline_files *files, const api_timeline_options *options, bool complete,
                              wf_diag *diag) {
  const bool timeline = close_file(&files->timeline, options->path, complete, diag);
  return close_file(&files->konata, options->konata, complete, diag) && timeline;
}

const char *api_timeline_asked(const api_timeline_options *options) {
  if (options->path != NULL) return "timeline";
  return options->konata != NULL ? "pipeline log" : NULL;
}

// ---- sinks

// Whether the name ends so, before a ".gz".
static bool has_ending(const char *path, const char *ending) {
  const size_t length = strlen(path) - (wf_gzip_named(path) ? strlen(".gz") : 0), size = strlen(ending);
  return length > size && strncmp(path + length - size, ending, size) == 0;
}

static const sim_timeline_form *form_of(const char *path) {
  return has_ending(path, ".pftrace") ? &sim_timeline_perfetto : &sim_timeline_json;
}

api_timeline_sinks api_timeline_sinks_open(const api_timeline_files *files, const api_timeline_options *options,
                                           const hw_array *array, const char *title, sim_timeline_level level) {
  api_timeline_sinks sinks = {.timeline = NULL};
  if (files->timeline.out != NULL)
    sinks.timeline = sim_timeline_open(files->timeline.out, form_of(options->path), array, title, level);
  if (files->konata.out != NULL) sinks.konata = sim_konata_open(files->konata.out, array);
  return sinks;
}

bool api_timeline_sinks_hear(const api_timeline_sinks *sinks, sim_timeline_level level) {
  return sinks->konata != NULL || (sinks->timeline != NULL && level != SIM_TIMELINE_STEP);
}

void api_timeline_sinks_event(const api_timeline_sinks *sinks, const sim_event *event) {
  if (sinks->timeline != NULL) sim_timeline_event(sinks->timeline, event);
  if (sinks->konata != NULL) sim_konata_event(sinks->konata, event);
}

void api_timeline_sinks_record(const api_timeline_sinks *sinks, bool on) {
  if (sinks->timeline != NULL) sim_timeline_record(sinks->timeline, on);
  if (sinks->konata != NULL) sim_konata_record(sinks->konata, on);
}

static bool is_written(bool good, const char *path, wf_diag *diag) {
  if (!good) wf_error(diag, wf_in_file(path), "cannot write the file");
  return good;
}

bool api_timeline_sinks_close(const api_timeline_sinks *sinks, const api_timeline_options *options, uint64_t cycles,
                              const sim_cycle_report *last, wf_diag *diag) {
  bool good = true;
  if (sinks->timeline != NULL)
    good = is_written(sim_timeline_close(sinks->timeline, cycles, last), options->path, diag);
  if (sinks->konata != NULL) good = is_written(sim_konata_close(sinks->konata, cycles), options->konata, diag) && good;
  return good;
}
