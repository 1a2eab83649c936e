// SPDX-License-Identifier: Apache-2.0
// `weft bench planner`: what choosing the mixes of a network takes.
//
// Networks are planned as `weft sim --fuse auto` does before it runs them: windows are judged on engine `cycle`, or on
// `flow` first, and then the best cut is looked for (compiler/network/cut.h). Random chains have judged windows
// already: what is left is the search for the cut, the mean of many.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench/bench.h"
#include "compiler/network/cut.h"
#include "compiler/network/network.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/candidate.h"
#include "runner/judge.h"
#include "workloads/networks/networks.h"

enum { COMPILERS = 2, QUICK_SIZE = 56, REPEATS = 1000 };

typedef struct options {
  bool quick;
} options;

typedef struct subject {
  const char *name;
  networks_options made;
} subject;

// A decoder block has 12 operators: two norms, seven products with those of attention, its softmax, two sums.
static const subject subjects[] = {
    {"gpt2-block", {.seed = 1, .layers = 1}},
    {"mobilenetv2", {.seed = 1}},
    {"resnet50", {.seed = 1}},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static const bench_column columns[] = {
    {.title = "steps of", BENCH_DATA("network"), .width = -15},
    {.title = "judge", BENCH_DATA("judge"), .width = -5},
    {.title = "steps", BENCH_DATA("steps"), .width = 5},
    {.title = "mixes", BENCH_DATA("mixes"), .width = 5},
    {.title = "judged", BENCH_DATA("judged"), .width = 6},
    {.title = "visited", BENCH_DATA("visited"), .width = 7},
    {.title = "judging, cpu s", BENCH_DATA("judge_seconds"), .width = 14, .text_format = "%.2f"},
    {.title = "by the clock", BENCH_DATA("judge_clock"), .width = 12, .text_format = "%.2f"},
    {.title = "cut, cpu us",
     BENCH_DATA("cut_seconds"),
     .width = 11,
     .text_format = "%.2f",
     .scale = 1e6,
     .csv_format = "%.9f"},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

// ---- networks

static void add_network(bench_table *table, const char *name, const char *judge, const network *net) {
  int steps = 0, mixes = 0;
  for (int s = 0; s < net->step_count; s++) {
    steps += net->steps[s].parts == 0 ? 1 : net->steps[s].parts;
    mixes += net->steps[s].parts > 1;
  }
  const network_planning *p = &net->planning;
  BENCH_ROW(table, bench_text(name), bench_text(judge), bench_count((uint64_t)steps), bench_count((uint64_t)mixes),
            bench_count(p->judged), bench_count(p->visited), bench_real(p->judge_seconds), bench_real(p->judge_clock),
            bench_real(p->cut_seconds));
}

// As runner/settle.c does it: the planner knows what the steps take in the network.
static bool plan(const run_candidate *apart, const char *name, run_fidelity with, bench_table *table, wf_diag *diag) {
  network_options lowering = apart->net->options;
  lowering.fuse = NETWORK_FUSE_AUTO;
  lowering.tuning = run_tuning(0, with, COMPILE_CYCLES);
  lowering.tuning.judge = run_judge_once;
  lowering.judgements = network_judgements_create();
  run_candidate_tell_steps(apart, lowering.judgements);
  network *net = network_create(apart->net->graph, &lowering, diag);
  if (net != NULL) add_network(table, name, with == RUN_FIDELITY_FLOW ? "flow" : "cycle", net);
  network_destroy(net);
  network_judgements_destroy(lowering.judgements);
  return net != NULL;
}

static bool plan_both(const graph *placed, const char *name, const hw_array *array, bench_table *table, wf_diag *diag) {
  const network_options lowering = {.array = array, .jobs = COMPILERS, .timing = true};
  void **inputs = quantise_random_inputs(placed, 1);
  run_candidate apart = {0};
  const bool good = run_candidate_make(&apart, placed, &lowering, false, (const void *const *)inputs, diag) &&
                    plan(&apart, name, RUN_FIDELITY_CYCLE, table, diag) &&
                    plan(&apart, name, RUN_FIDELITY_FLOW, table, diag);
  run_candidate_drop(&apart);
  for (int i = 0; i < placed->input_count; i++) wf_free(inputs[i]);
  wf_free(inputs);
  return good;
}

static bool plan_network(const bench_job *job, const hw_array *array, const subject *s, bench_table *table) {
  const options *o = job->options;
  networks_options made = s->made;
  if (o->quick && networks_find(s->name)->size != 0) made.size = QUICK_SIZE;
  graph *model = networks_create(s->name, &made, job->diag);
  const quantise_options quantise = {.seed = 1, .int8_ends = true, .target = network_target(array)};
  graph *placed = model == NULL ? NULL : quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  const bool good = placed != NULL && plan_both(placed, s->name, array, table, job->diag);
  graph_destroy(placed);
  return good;
}

// ---- chains

static int64_t saved(const void *context, int first, int count) {
  const int64_t *all = context;
  return all[first * NETWORK_MIXED_MAX + count - 1];
}

static void plan_chain(int steps, bench_table *table) {
  uint64_t random = (uint64_t)steps;
  int64_t *all = WF_NEW_ARRAY((size_t)steps * NETWORK_MIXED_MAX, int64_t);
  network_cut *cuts = WF_NEW_ARRAY((size_t)steps + 1, network_cut);
  for (int i = 0; i < steps * NETWORK_MIXED_MAX; i++) all[i] = wf_random_in(&random, -100000, 100000);
  const network_cut_problem problem = {.steps = steps, .most = NETWORK_MIXED_MAX, .saved = saved, .context = all};
  const double start = wf_thread_seconds();
  for (int n = 0; n < REPEATS; n++) network_cut_best(&problem, cuts);
  const double seconds = (wf_thread_seconds() - start) / REPEATS;
  int mixes = 0;
  for (int s = 0; s < steps; s += cuts[s].count) mixes += cuts[s].count > 1;
  BENCH_ROW(table, bench_text("a random chain"), bench_none(), bench_count((uint64_t)steps),
            bench_count((uint64_t)mixes), bench_count(0), bench_count(cuts[0].visited), bench_none(), bench_none(),
            bench_real(seconds));
  wf_free(all);
  wf_free(cuts);
}

static bench_end run_planner(const bench_job *job) {
  static const int lengths[] = {8, 16, 32, 64, 125, 250, 500};
  hw_array array;
  if (!bench_load_array(job, &array)) return BENCH_BAD_INPUT;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) plan_chain(lengths[i], table);
  for (int n = 0; n < SUBJECTS; n++)
    if (!plan_network(job, &array, &subjects[n], table)) return BENCH_CANNOT_BUILD;
  return BENCH_DONE;
}

static const wf_option option_rows[] = {
    {"quick", WF_FLAG(options, quick), NULL, "images of 56 x 56"},
};
static const options defaults = {0};

const bench bench_planner = {
    .name = "planner",
    .summary = "what choosing the mixes of networks takes",
    .synopsis = "",
    .text =
        "Plans networks as --fuse auto does before it runs them, with windows judged on engine cycle, and on flow\n"
        "first: windows that were judged, windows that the search for the best cut looked at, processor seconds of\n"
        "both, and seconds of judging by the clock with two processes. Chains of 8 to 500 steps have random savings.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_planner};
