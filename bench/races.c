// SPDX-License-Identifier: Apache-2.0
// `weft bench races`: programs of the compiler under the check of `weft check` (sim/races).
//
// Layers at random with mappings at random, on arrays at random, and networks whose neighbouring layers are mixed where
// they can be, which is where the compiler relies on orders most. Each program is checked three times: with all orders,
// without the reservation station, and without the room of the station. What is left then says that the check had
// something to find. Tensors hold zeros: no access depends on data.
#include "sim/races/races.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/progress.h"
#include "bench/bench.h"
#include "compiler/network/network.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/program.h"
#include "search/model/samples.h"
#include "workloads/networks/networks.h"

typedef struct options {
  const char *net;
  uint64_t samples, seed;
  bool tokens;
} options;

static const struct {
  const char *name;
  networks_options made;
} nets[] = {
    {"resnet18", {.size = 56}},
    {"mobilenetv2", {.size = 56}},
    {"efficientnet-b0", {.size = 56}},
    {"bert-base", {.sequence = 32, .layers = 1}},
};
enum { NETS = sizeof nets / sizeof *nets };

enum { ALL, NO_STATION, NO_ROOM, CHECKS };
static const unsigned ignored[CHECKS] = {[NO_STATION] = RACES_STATION, [NO_ROOM] = RACES_ROOM};

typedef struct sums {
  uint64_t programs, commands, ordered, races[CHECKS];
  uint64_t left_out;  // programs that could not be compiled
} sums;

static const bench_column columns[] = {
    {.title = "programs of", BENCH_DATA("of"), .width = -16},
    {.title = "number", BENCH_DATA("programs"), .width = 6},
    {.title = "commands", BENCH_DATA("commands"), .width = 10},
    {.title = "in order", BENCH_DATA("ordered"), .width = 10},
    {.title = "races", BENCH_DATA("races"), .width = 5},
    {.title = "no station", BENCH_DATA("without_station"), .width = 10},
    {.title = "no room", BENCH_DATA("without_room"), .width = 8},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

// ---- checks

static void keep(void *context, const sim_engine *engine, uint64_t cycle) {
  (void)cycle;
  races_report_of(engine, context);
}

static bool check_program(const command_program *program, sums *s, wf_diag *diag) {
  void **zeros = WF_NEW_ARRAY((size_t)program->tensor_count + 1, void *);
  bool good = true;
  for (int c = 0; c < CHECKS && good; c++) {
    races_report report = {0};
    const sim_engine_options engine_options = {.ignored_orders = ignored[c]};
    const run_config config = {
        .engine = &sim_races_engine, .options = &engine_options, .ended = keep, .context = &report};
    run_result result;
    good = run_commands_on(program, &config, zeros, &result, diag) && result.fault.kind == ARCH_FAULT_NONE;
    s->races[c] += report.races;
    if (c != ALL) continue;
    s->programs++;
    s->commands += report.commands;
    s->ordered += report.ordered;
  }
  wf_free(zeros);
  return good;
}

static void add_row(bench_table *table, const char *name, const sums *s) {
  BENCH_ROW(table, bench_text(name), bench_count(s->programs), bench_count(s->commands), bench_count(s->ordered),
            bench_count(s->races[ALL]), bench_count(s->races[NO_STATION]), bench_count(s->races[NO_ROOM]));
}

// ---- programs

// The array with tokens in place of its reservation station, where the job wants that.
static void order_by(const bench_job *job, hw_array *array) {
  if (!((const options *)job->options)->tokens) return;
  array->sync.by = HW_SYNC_TOKENS;
  array->units.loop_matmul = array->units.loop_conv = false;
  array->store.order = HW_STORE_ORDER_ISSUED;
}

static bool check_samples(const bench_job *job, sums *s) {
  const options *o = job->options;
  samples_source source;
  if (!samples_open(&source, SAMPLES_FIT, o->seed, job->diag)) return false;
  wf_diag silent = wf_diag_to(NULL);
  wf_progress line = wf_progress_begin(job->quiet, 2, 2);
  bool good = true;
  for (uint64_t n = 0; n < o->samples && good; n++) {
    samples_sample sample;
    samples_draw(&source, &sample);
    order_by(job, &sample.array);
    if (wf_progress_due(&line)) wf_progress_line(&line, "layer %u of %u", (unsigned)n + 1, (unsigned)o->samples);
    const layer_policy policy = {.mapping = &sample.mapping, .straight = true};
    compile_result made;
    if (layer_compile(&sample.layer, &sample.array, &policy, &made, &silent))
      good = check_program(made.commands, s, job->diag);
    else
      s->left_out++;
    compile_release(&made);
  }
  wf_progress_end(&line, false);
  samples_close(&source);
  return good;
}

static bool check_kernels(const network *net, sums *s, wf_diag *diag) {
  bool good = true;
  for (int k = 0; k < net->kernel_count && good; k++)
    if (net->kernels[k].program != NULL && !net->kernels[k].shared)
      good = check_program(net->kernels[k].program, s, diag);
  return good;
}

static bool check_network(const bench_job *job, const hw_array *array, const char *name, const networks_options *made,
                          sums *s) {
  graph *model = networks_create(name, made, job->diag);
  if (model == NULL) return false;
  const quantise_options how = {.seed = 1, .int8_ends = true, .target = network_target(array)};
  graph *placed = quantise_network(model, &how, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  if (placed == NULL) return false;
  const network_options lowering = {.array = array, .jobs = 2, .fuse = NETWORK_FUSE_ALL};
  network *net = network_create(placed, &lowering, job->diag);
  const bool good = net != NULL && check_kernels(net, s, job->diag);
  network_destroy(net);
  graph_destroy(placed);
  return good;
}

// ---- the bench

static bench_end add_samples(const bench_job *job, bench_table *table, uint64_t *races) {
  sums s = {0};
  if (!check_samples(job, &s)) return BENCH_CANNOT_BUILD;
  add_row(table, "random layers", &s);
  if (s.left_out != 0)
    bench_report_say(job->report, "(%u layers with a mapping that needs more than the array has are left out)\n",
                     (unsigned)s.left_out);
  *races += s.races[ALL];
  return BENCH_DONE;
}

static bench_end run_races(const bench_job *job) {
  const options *o = job->options;
  hw_array array;
  if (!bench_load_array(job, &array)) return BENCH_BAD_INPUT;
  order_by(job, &array);
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  uint64_t races = 0;
  bench_end end = o->samples == 0 ? BENCH_DONE : add_samples(job, table, &races);
  for (int n = 0; n < NETS && end == BENCH_DONE; n++) {
    if (!bench_takes(o->net, nets[n].name)) continue;
    sums s = {0};
    if (!check_network(job, &array, nets[n].name, &nets[n].made, &s)) end = BENCH_CANNOT_BUILD;
    add_row(table, nets[n].name, &s);
    races += s.races[ALL];
  }
  return end == BENCH_DONE && races != 0 ? BENCH_MISMATCH : end;
}

static const wf_option option_rows[] = {
    {"samples", WF_COUNT(options, samples), "N", "layers at random (default 200; 0: none)"},
    {"net", WF_TEXT(options, net), "NAME", "of the networks only this one; none: none"},
    {"seed", WF_COUNT(options, seed), "N", "of the layers (default 1)"},
    {"tokens", WF_FLAG(options, tokens), NULL, "every array with tokens in place of its reservation station"},
};
static const options defaults = {.samples = 200, .seed = 1};

const bench bench_races = {
    .name = "races",
    .summary = "programs of the compiler under the check for races",
    .synopsis = "",
    .text =
        "Checks programs of the compiler for accesses that nothing orders (docs/races.md): layers at random, and\n"
        "networks with neighbouring layers mixed. Beside the races stand those that would be there without the\n"
        "reservation station (or tokens), and without what its room orders. Ends with 4 if there is a race.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_races};
