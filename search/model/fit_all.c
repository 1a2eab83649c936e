// SPDX-License-Identifier: Apache-2.0
// All constants fitted again: see fit_all.h.
#include "search/model/fit_all.h"

#include "base/alloc.h"

// Samples of the model: any arrays and mappings. Returns how many; in whole groups.
static size_t draw_any(samples_source *source, samples_sample *samples) {
  for (size_t i = 0; i < SAMPLES_GROUP; i++) samples_draw(source, &samples[i]);
  return SAMPLES_GROUP;
}

static size_t draw_group(samples_source *source, samples_sample *samples) {
  samples_draw_group(source, samples);
  return SAMPLES_GROUP;
}

// The mapper's mapping of a layer: commands are placed in programs that users have.
static size_t draw_first(samples_source *source, samples_sample *samples) {
  samples_draw_group(source, samples);
  return 1;
}

typedef size_t drawer(samples_source *source, samples_sample *samples);
static drawer *const drawers[COST_JUDGES] = {
    [COST_MODEL] = draw_any, [COST_ESTIMATE] = draw_group, [COST_ORDER] = draw_first};

// Samples that can be run, at least `count` of them.
static bool fill(fit_set *set, cost_judge judge, samples_set of, uint64_t seed, size_t count,
                 const cost_constants *constants, wf_diag *diag) {
  samples_source source;
  set->samples = WF_NEW_ARRAY(count + SAMPLES_GROUP, fit_sample);
  set->count = 0;
  const bool good = samples_open(&source, of, seed, diag);
  while (good && set->count < count) {
    samples_sample drawn[SAMPLES_GROUP];
    const size_t drawn_count = drawers[judge](&source, drawn);
    size_t runs = 0;
    for (; runs < drawn_count; runs++) {
      fit_sample *s = &set->samples[set->count + runs];
      *s = (fit_sample){.sample = drawn[runs], .cycles = set->simulate(&drawn[runs], constants)};
      if (s->cycles == 0) break;
    }
    if (runs == drawn_count) set->count += drawn_count;
  }
  samples_close(&source);
  return good;
}

static bool fit_judge(const fit_options *o, cost_judge judge, fit_result *result, wf_diag *diag) {
  fit_set set = {.simulate = o->simulate}, held = {.simulate = o->simulate};
  fit_verdict *v = &result->verdicts[judge];
  bool matters[COST_CONSTANTS];
  const bool good = fill(&set, judge, SAMPLES_FIT, o->seed, o->samples, &result->constants, diag) &&
                    fill(&held, judge, SAMPLES_JUDGE, o->seed, (o->samples + 3) / 4, &result->constants, diag);
  if (good) {
    *v = (fit_verdict){.count = set.count, .held_count = held.count};
    v->fitted[0] = fit_loss(judge, &set, &result->constants);
    v->held[0] = fit_loss(judge, &held, &result->constants);
    v->fitted[1] = fit_constants(judge, &set, o->rounds, &result->constants, matters);
    v->held[1] = fit_loss(judge, &held, &result->constants);
    for (size_t i = 0; i < COST_CONSTANTS; i++) result->matters[i] = result->matters[i] || matters[i];
  }
  wf_free(set.samples);
  wf_free(held.samples);
  return good;
}

bool fit_all(const fit_options *options, fit_result *result, wf_diag *diag) {
  static const cost_judge order[] = {COST_ORDER, COST_MODEL, COST_ESTIMATE};
  *result = (fit_result){.constants = cost_fitted};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (!fit_judge(options, order[i], result, diag)) return false;
  return true;
}

void fit_print(const fit_result *result, FILE *out) {
  for (int j = COST_GIVEN; j < COST_JUDGES; j++) {
    const fit_verdict *v = &result->verdicts[j];
    if (j != COST_GIVEN)
      fprintf(out, "// %s: loss %.4f before, %.4f after on %zu samples; %.4f before, %.4f after on %zu held out\n",
              cost_judge_names[j], v->fitted[0], v->fitted[1], v->count, v->held[0], v->held[1], v->held_count);
    for (size_t i = 0; i < COST_CONSTANTS; i++) {
      if (cost_numbers[i].judge != (cost_judge)j) continue;
      const bool fitted = j == COST_GIVEN || result->matters[i];
      cost_print(&result->constants, i, fitted ? NULL : "no sample depends on it", out);
    }
  }
}
