// SPDX-License-Identifier: Apache-2.0
// `weft bench schemes`: what choosing kernels by cost brings, inside of whole networks.
//
// A network is lowered by the rules and with the schemes that `--kernels auto` chooses; both run on engine cycle, and
// every node of the second is compared with the int8 reference. A row is a layer that has another scheme than by the
// rules, with what follows it up to the next layer that has a choice; the last rows of a network are what the other
// layers gain or lose by it, and all of it.
#include <string.h>

#include "bench/placed.h"
#include "compiler/quantise/quantise.h"
#include "runner/judge.h"
#include "runner/kernels.h"
#include "runner/network.h"

static const char *const names[] = {"mobilenetv2", "efficientnet-b0", "mobilenetv3-small", "resnet50",
                                    "resnet18",    "vgg16",           "shufflenetv2",      "resnext50-32x4d"};
enum { NETWORKS = sizeof names / sizeof *names, QUICK_SIZE = 64, COMPILERS = 2 };

typedef struct options {
  const char *nets;
  uint64_t seed;
  bool quick;
} options;

static const bench_column columns[] = {
    {.title = "network", BENCH_DATA("network"), .width = -17},
    {.title = "layer", BENCH_DATA("layer"), .width = -30},
    {.title = "scheme", BENCH_DATA("scheme"), .width = -34},
    {.title = "by the rules", BENCH_DATA("cycles_by_rule"), .width = 12},
    {.title = "by cost", BENCH_DATA("cycles"), .width = 11},
    {.title = "saved", BENCH_DATA("saved"), .width = 9, .text_format = "%.0f", .csv_format = "%.0f"},
    {.title = "saved %",
     BENCH_DATA("saved_share"),
     .width = 7,
     .text_format = "%.2f",
     .scale = 100,
     .csv_format = "%.4f"},
    {.title = "listed", BENCH_DATA("listed"), .width = 6},
    {.title = "judged", BENCH_DATA("judged"), .width = 6},
    {.title = "cpu s", BENCH_DATA("seconds"), .width = 6, .text_format = "%.1f"},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static void add_row(bench_table *table, const char *name, const char *layer, const char *scheme, uint64_t before,
                    uint64_t cycles) {
  const double saved = (double)before - (double)cycles;
  BENCH_ROW(table, bench_text(name), bench_text(layer), bench_text(scheme), bench_count(before), bench_count(cycles),
            bench_real(saved), bench_real(before == 0 ? 0 : saved / (double)before), bench_none(), bench_none(),
            bench_none());
}

static void add_rows(bench_table *table, const char *name, const run_kernels_result *r) {
  uint64_t before = 0, cycles = 0;
  for (size_t l = 0; l < r->layer_count; l++) {
    const run_kernels_layer *layer = &r->layers[l];
    if (strcmp(layer->scheme, layer->tries[0].text) != 0) {
      add_row(table, name, layer->node->name, layer->scheme, layer->before, layer->cycles);
      continue;
    }
    before += layer->before, cycles += layer->cycles;
  }
  add_row(table, name, "others", "rules", before, cycles);
  const double saved = (double)r->before - (double)r->cycles;
  BENCH_ROW(table, bench_text(name), bench_text("all"), bench_text(""), bench_count(r->before), bench_count(r->cycles),
            bench_real(saved), bench_real(saved / (double)r->before), bench_count(r->schemes_listed),
            bench_count(r->schemes_judged), bench_real(r->seconds));
}

// Whether the network with these schemes leaves the reference's bytes and takes the cycles that were told.
static bool is_as_told(const run_tune_request *request, const network *net, const run_kernels_result *r,
                       wf_diag *diag) {
  const sim_engine_options engine = {.quiet = true};
  const run_network_config config = {.engine = &sim_cycle_engine,
                                     .options = &engine,
                                     .inputs = request->inputs,
                                     .check = true,
                                     .hart = RUN_HART_TIMED};
  run_network_result result;
  const bool ran = run_network(net, &config, &result, diag);
  const bool good = ran && result.wrong == 0 && result.cycles == r->cycles && r->cycles <= r->before;
  if (ran) run_network_release(net, &result);
  return good;
}

static bench_end measure(const bench_job *job, bench_table *table, const char *name, const hw_array *array,
                         const graph *placed) {
  const options *o = job->options;
  const network_options lowering = {.array = array, .jobs = COMPILERS, .tuning.judge = run_judge};
  void **inputs = quantise_random_inputs(placed, o->seed);
  const run_tune_request request = {.placed = placed, .options = &lowering, .inputs = (const void *const *)inputs};
  run_kernels_result result;
  network *net = run_kernels_network(&request, &result, job->diag);
  bench_end end = net == NULL ? BENCH_CANNOT_BUILD : BENCH_DONE;
  if (net != NULL) add_rows(table, name, &result);
  if (net != NULL && !is_as_told(&request, net, &result, job->diag)) end = BENCH_MISMATCH;
  network_destroy(net);
  run_kernels_release(&result);
  quantise_free_inputs(placed, inputs);
  return end;
}

static bench_end run_schemes(const bench_job *job) {
  const options *o = job->options;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  const bench_network_list list = {.only = o->nets,
                                   .names = names,
                                   .count = NETWORKS,
                                   .made = {.seed = o->seed, .size = o->quick ? QUICK_SIZE : 0},
                                   .measure = measure};
  return bench_networks_run(job, table, &list);
}

static const wf_option option_rows[] = {
    {"nets", WF_TEXT(options, nets), "NAME,..", "only these generated networks"},
    {"quick", WF_FLAG(options, quick), NULL, "images of 64 x 64"},
    {"seed", WF_COUNT(options, seed), "N", "of weights and inputs (default 1)"},
};
static const options defaults = {.seed = 1};

const bench bench_schemes = {
    .name = "schemes",
    .summary = "kernels of layers chosen by cost, and by the rules",
    .synopsis = "",
    .text =
        "Runs networks by the rules and with the kernels that --kernels auto chooses, on engine cycle, and compares\n"
        "the latter with the int8 reference. Ends with 4 if a byte is wrong or a network takes longer.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_schemes};
