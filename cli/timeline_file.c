// SPDX-License-Identifier: Apache-2.0
// The files of --timeline and --konata: see timeline_file.h.
#include "cli/timeline_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"

const wf_option timeline_option_rows[TIMELINE_OPTIONS] = {
    {"timeline", WF_TEXT(timeline_options, path), "FILE",
     "engines with cycles: write the run as a trace for Perfetto or chrome://tracing; FILE.pftrace: in Perfetto's own "
     "form, which is smaller; FILE.gz, FILE.pftrace.gz: packed"},
    {"timeline-level", WF_TEXT(timeline_options, level), "step|command|burst",
     "of the timeline: the steps of a network; also the commands at work (default of networks); also waiting commands "
     "and bursts on the bus (default of programs)"},
    {"timeline-steps", WF_TEXT(timeline_options, steps), "N|N-M",
     "of a network's timeline and pipeline log: these steps alone, counted as in the table"},
    {"konata", WF_TEXT(timeline_options, konata), "FILE",
     "engines with cycles: write the commands as a pipeline log for Konata; FILE.gz: packed"},
};

static bool choose_level(const char *name, sim_timeline_level *level, wf_diag *diag) {
  for (unsigned l = 0; l < SIM_TIMELINE_LEVELS; l++) {
    if (strcmp(name, sim_timeline_level_names[l]) != 0) continue;
    *level = (sim_timeline_level)l;
    return true;
  }
  wf_error(diag, wf_in_file(NULL), "--timeline-level %s", name);
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

static bool choose_steps(const char *text, timeline_choice *choice, wf_diag *diag) {
  const char *rest = read_number(text, &choice->first);
  choice->last = choice->first;
  if (rest != NULL && *rest == '-') rest = read_number(rest + 1, &choice->last);
  if (rest != NULL && *rest == '\0' && choice->first <= choice->last) return true;
  wf_error(diag, wf_in_file(NULL), "--timeline-steps %s", text);
  wf_hint(diag, "a step, as 3, or a first and a last one, as 3-5");
  return false;
}

bool timeline_choose(const timeline_options *o, sim_timeline_level usual, timeline_choice *choice, wf_diag *diag) {
  *choice = (timeline_choice){.level = usual, .last = UINT64_MAX};
  if (o->path == NULL && (o->level != NULL || (o->steps != NULL && o->konata == NULL))) {
    wf_error(diag, wf_in_file(NULL), "%s is of a timeline, and there is no --timeline",
             o->level != NULL ? "--timeline-level" : "--timeline-steps");
    return false;
  }
  if (o->level != NULL && !choose_level(o->level, &choice->level, diag)) return false;
  return o->steps == NULL || choose_steps(o->steps, choice, diag);
}

// ---- files

// With path NULL there is none.
static bool open_file(timeline_file *file, const char *path, wf_diag *diag) {
  *file = (timeline_file){.out = NULL};
  if (path == NULL) return true;
  file->out = file->file = cli_open_output(path, diag);
  if (file->file == NULL || !wf_gzip_named(path)) return file->file != NULL;
  file->out = wf_gzip_open(file->file);
  if (file->out != NULL) return true;
  wf_error(diag, wf_in_file(path), "cannot pack");
  return false;
}

static bool close_file(timeline_file *file, const char *path, bool complete, wf_diag *diag) {
  const bool packed = file->out != NULL && file->out != file->file;
  if (packed && fclose(file->out) != 0 && complete) {
    wf_error(diag, wf_in_file(path), "cannot write the file");
    cli_end_output(file->file, path, false, diag);
    return false;
  }
  return cli_end_output(file->file, path, complete, diag);
}

bool timeline_files_open(timeline_files *files, const timeline_options *options, wf_diag *diag) {
  *files = (timeline_files){.timeline = {.out = NULL}};
  if (!open_file(&files->timeline, options->path, diag)) return false;
  if (open_file(&files->konata, options->konata, diag)) return true;
  close_file(&files->timeline, options->path, false, diag);
  return false;
}

bool timeline_files_close(timeline_files *files, const timeline_options *options, bool complete, wf_diag *diag) {
  const bool timeline = close_file(&files->timeline, options->path, complete, diag);
  return close_file(&files->konata, options->konata, complete, diag) && timeline;
}

const char *timeline_asked(const timeline_options *options) {
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

timeline_sinks timeline_sinks_open(const timeline_files *files, const timeline_options *options, const hw_array *array,
                                   const char *title, sim_timeline_level level) {
  timeline_sinks sinks = {.timeline = NULL};
  if (files->timeline.out != NULL)
    sinks.timeline = sim_timeline_open(files->timeline.out, form_of(options->path), array, title, level);
  if (files->konata.out != NULL) sinks.konata = sim_konata_open(files->konata.out, array);
  return sinks;
}

bool timeline_sinks_hear(const timeline_sinks *sinks, sim_timeline_level level) {
  return sinks->konata != NULL || (sinks->timeline != NULL && level != SIM_TIMELINE_STEP);
}

void timeline_sinks_event(const timeline_sinks *sinks, const sim_event *event) {
  if (sinks->timeline != NULL) sim_timeline_event(sinks->timeline, event);
  if (sinks->konata != NULL) sim_konata_event(sinks->konata, event);
}

void timeline_sinks_record(const timeline_sinks *sinks, bool on) {
  if (sinks->timeline != NULL) sim_timeline_record(sinks->timeline, on);
  if (sinks->konata != NULL) sim_konata_record(sinks->konata, on);
}

static bool is_written(bool good, const char *path, wf_diag *diag) {
  if (!good) wf_error(diag, wf_in_file(path), "cannot write the file");
  return good;
}

bool timeline_sinks_close(const timeline_sinks *sinks, const timeline_options *options, uint64_t cycles,
                          const sim_cycle_report *last, wf_diag *diag) {
  bool good = true;
  if (sinks->timeline != NULL)
    good = is_written(sim_timeline_close(sinks->timeline, cycles, last), options->path, diag);
  if (sinks->konata != NULL) good = is_written(sim_konata_close(sinks->konata, cycles), options->konata, diag) && good;
  return good;
}
