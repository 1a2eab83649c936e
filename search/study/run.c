// SPDX-License-Identifier: Apache-2.0
// Runs the sweeps of a study, one after the other, each into its store.
#include "base/alloc.h"
#include "search/study/parts.h"

typedef struct runner {
  const study_options *options;
  study_progress *progress;
  sweep_progress before;  // of the sweeps that have ended
} runner;

static sweep_progress sum(const sweep_progress *a, const sweep_progress *b) {
  return (sweep_progress){.done = a->done + b->done,
                          .total = a->total + b->total,
                          .fresh = a->fresh + b->fresh,
                          .failed = a->failed + b->failed,
                          .spared = a->spared + b->spared,
                          .shared = a->shared + b->shared,
                          .compile_seconds = a->compile_seconds + b->compile_seconds,
                          .simulate_seconds = a->simulate_seconds + b->simulate_seconds,
                          .workers = b->workers,
                          .seconds = a->seconds + b->seconds};
}

static void show(void *context, const sweep_progress *now) {
  const runner *r = context;
  r->progress->now = *now;
  r->progress->all = sum(&r->before, now);
  if (r->options->progress != NULL) r->options->progress(r->options->context, r->progress);
}

static sweep_outcome run_part(runner *r, const study_part *part, wf_diag *diag) {
  char *path = wf_format("%s/%s", r->options->directory, part->file);
  sweep_store *store = sweep_store_open(path, &part->spec, r->options->version, r->options->flags, diag);
  wf_free(path);
  if (store == NULL) return SWEEP_FAILED;
  const sweep_options options = {.version = r->options->version,
                                 .fidelity = part->spec.fidelity,
                                 .jobs = r->options->jobs,
                                 .stop = r->options->stop,
                                 .progress = show,
                                 .join_socket = -1,
                                 .context = r};
  sweep_progress end = {0};
  const sweep_outcome outcome = sweep_run(&part->spec, store, &options, &end, diag);
  sweep_store_close(store);
  r->before = sum(&r->before, &end);
  r->progress->all = r->before;
  return outcome;
}

sweep_outcome study_run(const study_spec *spec, const study_options *options, study_progress *progress, wf_diag *diag) {
  study_parts parts = study_parts_of(spec);
  runner r = {.options = options, .progress = progress};
  sweep_outcome outcome = SWEEP_FINISHED;
  *progress = (study_progress){.parts = parts.count};
  for (size_t p = 0; p < parts.count && outcome == SWEEP_FINISHED; p++) {
    progress->part = p;
    progress->name = parts.part[p].spec.name;
    outcome = run_part(&r, &parts.part[p], diag);
  }
  progress->name = NULL;
  study_parts_release(&parts);
  return outcome;
}
