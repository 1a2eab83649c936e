// SPDX-License-Identifier: Apache-2.0
// The joint search: see search_joint.h.
#include "cli/search_joint.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const wf_option search_joint_rows[] = {
    {"space", WF_TEXT(search_joint_options, space), "FILE",
     "search all parameters that the space leaves open, all networks together; default is the shipped one"},
    {"method", WF_TEXT(search_joint_options, method), "NAME",
     "--space: who proposes points: gradient (default), machine, neighbours, evolution, random"},
    {"weights", WF_TEXT(search_joint_options, weights), "N,..", "--space: of the networks, in their order (default 1)"},
    {"pareto", WF_TEXT(search_joint_options, front), "WHAT", "--space: a front of the objective and this one"},
    {"max-latency", WF_TEXT(search_joint_options, latency), "MS", "--space: the longest time of all networks together"},
    {"fuse", WF_TEXT(search_joint_options, fuse), "off|auto",
     "--space: auto runs whole networks, neighbouring steps mixed where that is better, and takes the best point so"},
    {"whole", WF_POSITIVE(search_joint_options, whole), "N", "--fuse auto: on so many points at most (default 12)"},
    {"check-rtl", WF_POSITIVE(search_joint_options, check_rtl), "N",
     "--space: build the answer's hardware with Verilator and compare the cycles of N layers"},
};

// ---- options

static cli_exit usage_error(const char *text) {
  fprintf(stderr, "weft: error: %s\n  hint: weft search --help\n", text);
  return CLI_USAGE;
}

static bool is_one_of(const char *word, const char *const *names) {
  for (; *names != NULL; names++)
    if (strcmp(word, *names) == 0) return true;
  return false;
}

// "2,1": a weight for each network.
static bool read_weights(const char *text, double *weights, int count) {
  for (int n = 0; n < count; n++) weights[n] = 1;
  if (text == NULL) return true;
  for (int n = 0; n < count; n++) {
    char *end;
    weights[n] = strtod(text, &end);
    if (end == text || !isfinite(weights[n]) || weights[n] <= 0) return false;
    if (*end != (n + 1 < count ? ',' : '\0')) return false;
    text = end + 1;
  }
  return true;
}

// Simulations, or "60s".
static bool read_budget(const char *text, weft_joint_options *o) {
  char *end;
  if (text == NULL) return true;
  if (!isdigit((unsigned char)*text)) return false;
  const double value = strtod(text, &end);
  if (!isfinite(value) || value <= 0) return false;
  o->simulations = *end == '\0' ? value : 0;
  o->seconds = strcmp(end, "s") == 0 ? value : 0;
  return o->simulations > 0 || o->seconds > 0;
}

// NULL, or what is wrong.
static const char *read_options(const search_joint_options *s, const search_joint_shared *shared, double *weights,
                                int count, weft_joint_options *o) {
  static const char *const objectives[] = {"edap", "edp", "latency", "energy", "area", "throughput-per-mm2", NULL};
  static const char *const methods[] = {"gradient", "machine", "neighbours", "evolution", "random", NULL};
  if (shared->objective != NULL && !is_one_of(shared->objective, objectives))
    return "--objective with --space is edap, edp, latency, energy, area or throughput-per-mm2";
  if (s->front != NULL && !is_one_of(s->front, objectives))
    return "--pareto is edap, edp, latency, energy, area or throughput-per-mm2";
  if (s->front != NULL && strcmp(s->front, shared->objective == NULL ? *objectives : shared->objective) == 0)
    return "--pareto is another than --objective";
  if (s->method != NULL && !is_one_of(s->method, methods))
    return "--method is gradient, machine, neighbours, evolution or random";
  if (!search_parse_positive(shared->area, &o->max_area_mm2) ||
      !search_parse_positive(shared->power, &o->max_power_mw) || !search_parse_positive(s->latency, &o->max_latency_ms))
    return "--max-area, --max-power and --max-latency take numbers above 0";
  if (s->fuse != NULL && strcmp(s->fuse, "off") != 0 && strcmp(s->fuse, "auto") != 0) return "--fuse is off or auto";
  const bool mixes = s->fuse != NULL && strcmp(s->fuse, "auto") == 0;
  if (mixes && s->front != NULL) return "--pareto has no mixes: without --fuse auto";
  if (s->whole > 0 && !mixes) return "--whole is for --fuse auto";
  if (s->whole > 10000) return "--whole takes at most 10000 points";
  if (s->check_rtl > 1000) return "--check-rtl takes at most 1000 layers";
  if (!read_budget(shared->budget, o)) return "--budget takes a number of simulations, or seconds as 60s";
  return read_weights(s->weights, weights, count) ? NULL : "--weights takes a number above 0 for each network";
}

// ---- the search

static bool show_progress(void *context, const weft_progress *progress) {
  (void)context;
  fprintf(stderr, "weft: %s\n", progress->text);
  return true;
}

static bool put(weft_session *s, const weft_joint *joint, const char *form, const char *path) {
  const weft_run_form options = {.size = sizeof options, .form = form};
  return cli_write_report(path, weft_joint_report(s, joint, &options));
}

static bool write_folder(weft_session *s, const weft_joint *joint, const char *directory) {
  if (directory == NULL) return true;
  weft_joint_write(s, joint, directory);
  return cli_messages(s);
}

// The answer as far as it is known: without the hardware where that could not be built.
static cli_exit give(const cli_common *common, const search_joint_options *o, const search_joint_shared *shared,
                     weft_session *s, const weft_joint *joint) {
  weft_joint_facts facts = {.size = sizeof facts};
  weft_joint_describe(joint, &facts);
  if (cli_prints(common)) put(s, joint, "text", "-");
  if (!write_folder(s, joint, shared->directory)) return CLI_BAD_INPUT;
  if (common->json != NULL && !put(s, joint, "json", common->json)) return CLI_BAD_INPUT;
  if (o->check_rtl == 0) return CLI_OK;
  return !facts.checked ? CLI_CANNOT_BUILD : facts.agrees ? CLI_OK : CLI_MISMATCH;
}

cli_exit search_jointly(const search_joint_options *s, const search_joint_shared *shared, const cli_common *common,
                        int count, char **names) {
  double *weights = cli_resize(NULL, (size_t)count + 1, sizeof *weights);
  weft_joint_options o = {.size = sizeof o,
                          .space = strcmp(s->space, "default") == 0 ? NULL : s->space,
                          .method = s->method,
                          .objective = shared->objective,
                          .second = s->front,
                          .weights = weights,
                          .seed = shared->seed,
                          .threads = (uint32_t)shared->threads,
                          .check_rtl = (uint32_t)s->check_rtl,
                          .fuse = s->fuse,
                          .whole = (uint32_t)s->whole,
                          .technology = common->tech_path,
                          .dim_names = shared->file->dim_names,
                          .dim_values = shared->file->dim_values,
                          .outputs = shared->file->outputs,
                          .dims = shared->file->dims,
                          .output_count = shared->file->output_count};
  const char *wrong = read_options(s, shared, weights, count, &o);
  if (wrong != NULL) return free(weights), usage_error(wrong);
  weft_session *session = weft_session_create();
  if (!common->quiet) weft_session_watch(session, show_progress, NULL);
  weft_joint *joint = weft_joint_search(session, (const char *const *)names, (size_t)count, &o);
  weft_session_watch(session, NULL, NULL);
  cli_messages(session);
  const cli_exit code =
      joint == NULL ? (cli_exit)weft_session_status(session) : give(common, s, shared, session, joint);
  weft_joint_destroy(joint);
  weft_session_destroy(session);
  free(weights);
  return code;
}
