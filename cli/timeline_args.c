// SPDX-License-Identifier: Apache-2.0
// The options of timelines and pipeline logs: see timeline_args.h.
#include "cli/timeline_args.h"

#include <stdlib.h>
#include <string.h>

const wf_option timeline_arg_rows[TIMELINE_ARGS] = {
    {"timeline", WF_TEXT(timeline_args, path), "FILE",
     "engines with cycles: write the run as a trace for Perfetto or chrome://tracing; FILE.pftrace: in Perfetto's own "
     "form, which is smaller; FILE.gz, FILE.pftrace.gz: packed"},
    {"timeline-level", WF_TEXT(timeline_args, level), "step|command|burst",
     "of the timeline: the steps of a network; also the commands at work (default of networks); also waiting commands "
     "and bursts on the bus (default of programs)"},
    {"timeline-steps", WF_TEXT(timeline_args, steps), "N|N-M",
     "of a network's timeline and pipeline log: these steps alone, counted as in the table"},
    {"konata", WF_TEXT(timeline_args, konata), "FILE",
     "engines with cycles: write the commands as a pipeline log for Konata; FILE.gz: packed"},
};

static bool level_good(const char *name) {
  if (strcmp(name, "step") == 0 || strcmp(name, "command") == 0 || strcmp(name, "burst") == 0) return true;
  cli_error(NULL, "--timeline-level %s", name);
  cli_hint("one of step, command, burst");
  return false;
}

// A number and what follows it; NULL: there is none.
static const char *read_number(const char *text, uint64_t *value) {
  if (*text < '0' || *text > '9') return NULL;
  char *end;
  *value = strtoull(text, &end, 10);
  return end;
}

static bool steps_good(const char *text, uint64_t *first) {
  uint64_t last;
  const char *rest = read_number(text, first);
  last = *first;
  if (rest != NULL && *rest == '-') rest = read_number(rest + 1, &last);
  if (rest != NULL && *rest == '\0' && *first <= last) return true;
  cli_error(NULL, "--timeline-steps %s", text);
  cli_hint("a step, as 3, or a first and a last one, as 3-5");
  return false;
}

bool timeline_args_good(const timeline_args *a, uint64_t *first) {
  uint64_t step = 0;
  if (a->path == NULL && (a->level != NULL || (a->steps != NULL && a->konata == NULL))) {
    cli_error(NULL, "%s is of a timeline, and there is no --timeline",
              a->level != NULL ? "--timeline-level" : "--timeline-steps");
    return false;
  }
  if (a->level != NULL && !level_good(a->level)) return false;
  if (a->steps != NULL && !steps_good(a->steps, &step)) return false;
  if (first != NULL) *first = step;
  return true;
}

const char *timeline_args_asked(const timeline_args *a) {
  return a->path != NULL ? "timeline" : a->konata != NULL ? "pipeline log" : NULL;
}

bool timeline_args_may_write(const timeline_args *a) { return cli_may_write(a->path) && cli_may_write(a->konata); }

void timeline_args_set(const timeline_args *a, weft_run_options *options) {
  options->timeline = a->path;
  options->timeline_level = a->level;
  options->timeline_steps = a->steps;
  options->konata = a->konata;
}
