// SPDX-License-Identifier: Apache-2.0
// The table of benches, and what they share: see bench.h.
#include "bench/bench.h"

#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/nearest.h"

const bench *const bench_list[] = {&bench_all,      &bench_attention, &bench_codesign, &bench_decode,  &bench_depth,
                                   &bench_engines,  &bench_flow,      &bench_fusion,   &bench_gemmini, &bench_gradient,
                                   &bench_graph,    &bench_groups,    &bench_kernels,  &bench_learn,   &bench_model,
                                   &bench_networks, &bench_operators, &bench_optima,   &bench_planner, &bench_races,
                                   &bench_rtl,      &bench_schedule,  &bench_schemes,  &bench_search,  &bench_skips,
                                   &bench_sparse,   &bench_study,     &bench_sweep,    &bench_tokens,  &bench_transfer};
const size_t bench_list_count = sizeof bench_list / sizeof *bench_list;

const bench *bench_find(const char *name) {
  for (size_t n = 0; n < bench_list_count; n++)
    if (strcmp(bench_list[n]->name, name) == 0) return bench_list[n];
  return NULL;
}

bool bench_load_array(const bench_job *job, hw_array *array) {
  if (!hw_array_load(array, job->array == NULL ? "gemmini-default" : job->array, job->diag)) return false;
  if (job->isa != 0) array->isa.revision = job->isa;
  array->tech = job->tech;
  return true;
}

bool bench_takes(const char *choice, const char *name) { return choice == NULL || strcmp(choice, name) == 0; }

bool bench_takes_of(const char *choice, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = choice; at != NULL; at += *at == ',') {
    const size_t part = strcspn(at, ",");
    if (part == length && strncmp(at, name, length) == 0) return true;
    at += part;
    if (*at == '\0') return false;
  }
  return true;
}

static bool knows(const char *option, const char *name, const char *const *names, size_t count, wf_diag *diag) {
  for (size_t n = 0; n < count; n++)
    if (strcmp(names[n], name) == 0) return true;
  wf_nearest nearest = wf_nearest_start(name);
  for (size_t n = 0; n < count; n++) wf_nearest_offer(&nearest, names[n]);
  wf_error(diag, wf_in_file(NULL), "--%s: '%s' is not known here", option, name);
  if (nearest.best[0] != '\0') wf_hint(diag, "did you mean '%s'?", nearest.best);
  return false;
}

bool bench_knows(const char *option, const char *choice, const char *const *names, size_t count, wf_diag *diag) {
  if (choice == NULL) return true;
  char *text = wf_strdup(choice), *rest = text;
  bool good = true;
  for (const char *name; (name = strsep(&rest, ",")) != NULL;) good &= knows(option, name, names, count, diag);
  wf_free(text);
  return good;
}

char *bench_read(const char *path, const char *own, wf_diag *diag) {
  size_t length;
  return path == NULL ? wf_strdup(own) : wf_read_file(path, 0, &length, diag);
}

double bench_children_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}
