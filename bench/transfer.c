// SPDX-License-Identifier: Apache-2.0
// `weft bench transfer`: what mappings that were tuned for one network and array are worth for another.
//
// The source is tuned with --tune mappings of each layer; what it finds is the store. The target is then tuned with few
// tries, from scratch and with the store, and with --tune of both kinds; the fastest of all is the best that is known.
// The share of a try is the share of the best's gain over the mapper's first. Every answer of tuning is a run of the
// whole network, so no share is below 0.
#include <string.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/judge.h"
#include "runner/tune.h"
#include "search/schedules/schedules.h"
#include "workloads/networks/networks.h"

typedef struct place {
  const char *net, *array;
  unsigned scratchpad;  // the part of it that there is: 1, 2 (a half)
  bool tokens;          // a network of tokens, not of images
} place;

static const struct {
  const char *name;
  place from, to;
} cases[] = {
    {"resnet50-resnet18", {"resnet50", "gemmini-default", 1, false}, {"resnet18", "gemmini-default", 1, false}},
    {"resnet18-resnet50", {"resnet18", "gemmini-default", 1, false}, {"resnet50", "gemmini-default", 1, false}},
    {"efficientnet-mobilenet",
     {"efficientnet-b0", "gemmini-default", 1, false},
     {"mobilenetv2", "gemmini-default", 1, false}},
    {"vit-bert", {"vit-b16", "gemmini-default", 1, false}, {"bert-base", "gemmini-default", 1, true}},
    {"side32", {"resnet18", "gemmini-default", 1, false}, {"resnet18", "dim32", 1, false}},
    {"half-scratchpad", {"resnet18", "gemmini-default", 1, false}, {"resnet18", "gemmini-default", 2, false}},
};
enum {
  CASES = sizeof cases / sizeof *cases,
  JOBS = 2,
  QUICK_SIZE = 56,
  QUICK_DIVISOR = 2,
  TOKENS = 128,
  QUICK_TOKENS = 32
};

typedef struct options {
  const char *only;
  uint64_t tune, tries, seed, size;
  bool quick;
} options;

// ---- networks

typedef struct loaded {
  hw_array array;
  graph *placed;
  void **inputs;
} loaded;

static bool load(const bench_job *job, const place *p, loaded *l) {
  const options *o = job->options;
  networks_options made = {.seed = o->seed, .divisor = o->quick ? QUICK_DIVISOR : 0};
  if (p->tokens) {
    made.sequence = o->quick ? QUICK_TOKENS : TOKENS;
    made.layers = o->quick ? 1 : 0;
  } else {
    made.size = o->quick ? QUICK_SIZE : (int64_t)o->size;
  }
  *l = (loaded){.placed = NULL};
  if (!hw_array_load(&l->array, p->array, job->diag)) return false;
  l->array.scratchpad.capacity_kib /= p->scratchpad;
  graph *model = networks_create(p->net, &made, job->diag);
  if (model == NULL) return false;
  const quantise_options quantise = {
      .seed = o->seed, .samples = 1, .int8_ends = true, .target = network_target(&l->array)};
  l->placed = quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  if (l->placed == NULL) return false;
  l->inputs = quantise_random_inputs(l->placed, o->seed);
  return true;
}

static void release(loaded *l) {
  if (l->placed == NULL) return;
  quantise_free_inputs(l->placed, l->inputs);
  graph_destroy(l->placed);
}

// ---- tuning

typedef struct tuned {
  uint64_t cycles, before, steps;
} tuned;

static void keep(const run_tune_result *r, const hw_array *array, schedules *store) {
  for (size_t i = 0; i < r->shape_count; i++) {
    schedules_row row = {.layer = r->shapes[i].call->layer,
                         .mapping = r->shapes[i].mapping,
                         .cycles = r->shapes[i].cycles,
                         .before = r->shapes[i].before,
                         .engine = "cycle",
                         .objective = "cycles"};
    schedules_set_array(&row, array);
    schedules_add(store, &row);
  }
}

// With what the lookup knows, unless it is NULL; what is found goes to `store`, unless that is.
static bool tune(const bench_job *job, const loaded *l, uint64_t count, schedules_lookup *known, schedules *store,
                 tuned *t) {
  network_options lowering = {
      .array = &l->array, .tuning = run_tuning((unsigned)count, RUN_FIDELITY_CYCLE, COMPILE_CYCLES), .jobs = JOBS};
  if (known != NULL) {
    lowering.tuning.known = schedules_known;
    lowering.tuning.known_context = known;
  }
  const run_tune_request request = {
      .placed = l->placed, .options = &lowering, .inputs = (const void *const *)l->inputs};
  run_tune_result r;
  const bool good = run_tune(&request, &r, job->diag);
  if (good) *t = (tuned){r.cycles, r.before, r.steps};
  if (good && store != NULL) keep(&r, &l->array, store);
  run_tune_release(&r);
  return good;
}

// ---- rows

static const bench_column columns[] = {
    {.title = "case", BENCH_DATA("case"), .width = -23},
    {.title = "mapper", BENCH_DATA("mapper_cycles"), .width = 10},
    {.title = "tuned", BENCH_DATA("tuned_cycles"), .width = 10},
    {.title = "steps", BENCH_DATA("tuned_steps"), .width = 6},
    {.title = "store, tuned", BENCH_DATA("store_tuned_cycles"), .width = 12},
    {.title = "few", BENCH_DATA("few_cycles"), .width = 10},
    {.title = "share %",
     BENCH_DATA("few_share"),
     .width = 7,
     .text_format = "%.1f",
     .scale = 100,
     .csv_format = "%.4f"},
    {.title = "store, few", BENCH_DATA("store_few_cycles"), .width = 10},
    {.title = "share %",
     BENCH_DATA("store_few_share"),
     .width = 7,
     .text_format = "%.1f",
     .scale = 100,
     .csv_format = "%.4f"},
    {.title = "steps", BENCH_DATA("store_few_steps"), .width = 6},
    {.title = "known", BENCH_DATA("exact"), .width = 5},
    {.title = "carried", BENCH_DATA("carried"), .width = 7},
    {.title = "smaller", BENCH_DATA("made_smaller"), .width = 7},
    {.title = "refused", BENCH_DATA("refused"), .width = 7},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static double share_of(const tuned *t, uint64_t best) {
  return t->before == best ? 1 : (double)(t->before - t->cycles) / (double)(t->before - best);
}

static bool measure(const bench_job *job, bench_table *table, int number, const loaded *from, const loaded *to) {
  const options *o = job->options;
  schedules *store = schedules_create();
  schedules_lookup few_known = {.store = store, .array = &to->array}, known = few_known;
  tuned source, scratch, all, few, store_few;
  const bool good = tune(job, from, o->tune, NULL, store, &source) && tune(job, to, o->tune, NULL, NULL, &scratch) &&
                    tune(job, to, o->tune, &known, NULL, &all) && tune(job, to, o->tries, NULL, NULL, &few) &&
                    tune(job, to, o->tries, &few_known, NULL, &store_few);
  if (good) {
    uint64_t best = scratch.cycles;
    const tuned *const others[] = {&all, &few, &store_few};
    for (int i = 0; i < 3; i++) best = others[i]->cycles < best ? others[i]->cycles : best;
    BENCH_ROW(table, bench_text(cases[number].name), bench_count(scratch.before), bench_count(scratch.cycles),
              bench_count(scratch.steps), bench_count(all.cycles), bench_count(few.cycles),
              bench_real(share_of(&few, best)), bench_count(store_few.cycles), bench_real(share_of(&store_few, best)),
              bench_count(store_few.steps), bench_count(few_known.exact), bench_count(few_known.fitted),
              bench_count(few_known.clamped), bench_count(few_known.rejected));
  }
  schedules_destroy(store);
  return good;
}

static bench_end run_transfer(const bench_job *job) {
  const options *o = job->options;
  bool found = false;
  for (int c = 0; c < CASES; c++) found = found || bench_takes(o->only, cases[c].name);
  if (!found) {
    wf_error(job->diag, wf_in_file(NULL), "there is no case %s", o->only);
    return BENCH_BAD_INPUT;
  }
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  bool good = true;
  for (int c = 0; c < CASES && good; c++) {
    loaded from = {.placed = NULL}, to = {.placed = NULL};
    if (!bench_takes(o->only, cases[c].name)) continue;
    good = load(job, &cases[c].from, &from) && load(job, &cases[c].to, &to) && measure(job, table, c, &from, &to);
    release(&from);
    release(&to);
  }
  return good ? BENCH_DONE : BENCH_CANNOT_BUILD;
}

static const wf_option option_rows[] = {
    {"case", WF_TEXT(options, only), "NAME", "only this row"},
    {"tune", WF_POSITIVE(options, tune), "N", "mappings of each layer in full tuning (default 16)"},
    {"tries", WF_POSITIVE(options, tries), "N", "of few tries, the mapper's first among them (default 4)"},
    {"size", WF_COUNT(options, size), "N", "rows and columns of images (default 224)"},
    {"quick", WF_FLAG(options, quick), NULL, "images of 56 x 56, 32 tokens, one layer of BERT, half as wide"},
    {"seed", WF_COUNT(options, seed), "N", "of weights and inputs (default 1)"},
};
static const options defaults = {.seed = 1, .tune = 16, .tries = 4};

const bench bench_transfer = {
    .name = "transfer",
    .summary = "tuned mappings of one network and array for another, against tuning from scratch",
    .synopsis = "",
    .text =
        "Tunes a network, carries the mappings that it found over to another network or array, and tunes that with\n"
        "few tries, with them and without, beside full tuning. Shares are of the best gain over the mapper's first\n"
        "that is known. Ends with 3 if a network cannot be built.",
    BENCH_OPTIONS(option_rows, defaults),
    .run = run_transfer};
