// SPDX-License-Identifier: Apache-2.0
// `weft bench flow`: engine flow against engine cycle, both without data, in the same run.
//
// Tables: the steps of networks that run on the array; random legal programs on the built-in arrays and on random
// ones, which are not those of any network; layers x mappings x arrays by what they are, and pairs of mappings
// (bench_flow_samples.h); speed on the programs of `weft bench engines`. An error is (flow - cycle) / cycle. Rates are
// per second of processor time, as engines share the machine with others.
#include "sim/flow/flow.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/statistics.h"
#include "bench/bench.h"
#include "bench/flow_errors.h"
#include "bench/flow_samples.h"
#include "bench/run.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/network.h"
#include "sim/gen/gen.h"
#include "workloads/networks/networks.h"

enum { NAME_MAX_BYTES = 64, COMPILERS = 2 };

typedef struct options {
  const char *net;
  uint64_t seed, programs, repeats, samples, groups;
  bool quick;
} options;

// ---- networks

typedef struct bench_row {
  const char *name;
  networks_options full, quick;
} bench_row;

static const bench_row rows[] = {
    {"resnet18", .quick = {.size = 32, .divisor = 4}},
    {"resnet50", .quick = {.size = 32, .divisor = 4}},
    {"mobilenetv2", .quick = {.size = 32, .divisor = 4}},
    {"vgg16", .quick = {.size = 32, .divisor = 8}},
    {"unet", .quick = {.size = 32, .divisor = 8}},
    {"retinanet", .quick = {.size = 64, .divisor = 8}},
    {"bert-base", .full = {.sequence = 128}, .quick = {.sequence = 16, .divisor = 4, .layers = 1}},
    {"vit-b16", .quick = {.size = 32, .divisor = 4, .layers = 1}},
    {"gpt2-block", .quick = {.sequence = 16, .divisor = 4}},
    {"lstm", .quick = {.sequence = 2, .divisor = 8, .layers = 1}},
    {"deepbench", .quick = {.divisor = 16}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static bool run_on(const network *net, const sim_engine_ops *engine, const void *const *inputs,
                   run_network_result *result, wf_diag *diag) {
  const sim_engine_options chosen = {.timing_only = true, .quiet = true};
  const run_network_config config = {.engine = engine, .options = &chosen, .inputs = inputs};
  return run_network(net, &config, result, diag);
}

// Steps that give the array commands; those of the host take the hart's time in both.
static void compare_steps(const network *net, const run_network_result results[2], bench_flow_errors *e) {
  for (int s = 0; s < net->step_count; s++) {
    const run_step_result *cycle = &results[0].steps[s], *flow = &results[1].steps[s];
    char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "step %d", s);
    if (cycle->commands != 0 && cycle->cycles != 0) bench_flow_errors_add(e, name, cycle->cycles, flow->cycles);
  }
}

static bool compare_network(const bench_job *job, const network *net, const graph *placed, bench_table *table,
                            const char *name) {
  const options *o = job->options;
  run_network_result results[2] = {0};
  void **inputs = quantise_random_inputs(placed, o->seed);
  bench_flow_errors e = {0};
  const bool good = run_on(net, &sim_cycle_engine, (const void *const *)inputs, &results[0], job->diag) &&
                    run_on(net, &sim_flow_engine, (const void *const *)inputs, &results[1], job->diag);
  if (good) {
    compare_steps(net, results, &e);
    bench_flow_errors_row(table, "networks", name, &e, results[0].run_seconds / results[1].run_seconds);
  }
  bench_flow_errors_free(&e);
  quantise_free_inputs(placed, inputs);
  for (unsigned n = 0; n < 2; n++) run_network_release(net, &results[n]);
  return good;
}

static bool measure_network(const bench_job *job, const bench_row *row, bench_table *table) {
  const options *o = job->options;
  networks_options made = o->quick ? row->quick : row->full;
  made.seed = o->seed;
  hw_array array;
  graph *model = bench_load_array(job, &array) ? networks_create(row->name, &made, job->diag) : NULL;
  if (model == NULL) return false;
  const quantise_options quantise = {.seed = o->seed, .int8_ends = true, .target = network_target(&array)};
  graph *placed = quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  const network_options lowering = {.array = &array, .jobs = COMPILERS};
  network *net = placed == NULL ? NULL : network_create(placed, &lowering, job->diag);
  const bool good = net != NULL && compare_network(job, net, placed, table, row->name);
  network_destroy(net);
  if (placed != NULL) graph_destroy(placed);
  return good;
}

// ---- random programs

// The cycle in which the program is over; 0: the engine stopped.
static uint64_t run_random(const sim_engine_ops *ops, const sim_gen_program *program, double *seconds) {
  const sim_engine_options chosen = {.timing_only = true, .quiet = true};
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create(program->image_bytes);
  if (memory == NULL) return 0;
  memcpy(memory->bytes, program->image, program->image_bytes);
  sim_engine *engine = sim_engine_create(ops, program->array, memory, &chosen, &diag);
  const double start = wf_process_seconds();
  uint64_t cycle = 0;
  bool good = true;
  for (size_t i = 0; good && i < program->count; i++) {
    const sim_gen_item *item = &program->items[i];
    cycle += item->delay;
    if (item->fence)
      cycle = ops->drain(engine, cycle);
    else
      good = sim_engine_push(engine, &cycle, &item->command, NULL) == SIM_PUSH_DONE;
  }
  cycle = ops->drain(engine, cycle);
  *seconds += wf_process_seconds() - start;
  const arch_fault *fault = ops->fault(engine);
  if (fault->kind != ARCH_FAULT_NONE) {
    fprintf(stderr, "weft: %s: seed %llu: %s\n", ops->name, (unsigned long long)program->seed, fault->text);
    cycle = 0;
  }
  ops->destroy(engine);
  arch_memory_destroy(memory);
  return cycle;
}

// False: the engine stopped in one of them.
static bool measure_random(const hw_array *array, uint64_t first, uint64_t count, bool draw, bench_flow_errors *e,
                           double seconds[2]) {
  const sim_gen_options without = {.without = 1U << GEN_COUNTER};
  bool good = true;
  for (uint64_t seed = first; seed < first + count; seed++) {
    hw_array drawn = *array;
    if (draw) sim_gen_array(seed, &drawn);
    sim_gen_program *program = sim_gen_program_create(&drawn, seed, &without);
    const uint64_t cycle = run_random(&sim_cycle_engine, program, &seconds[0]);
    const uint64_t flow = run_random(&sim_flow_engine, program, &seconds[1]);
    char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    if (cycle != 0 && flow != 0) bench_flow_errors_add(e, name, cycle, flow);
    good &= flow != 0 || cycle == 0;
    sim_gen_program_destroy(program);
  }
  return good;
}

static bool add_random(bench_table *table, const char *name, const hw_array *array, bool draw, const options *o) {
  bench_flow_errors e = {0};
  double seconds[2] = {0};
  const bool good = measure_random(array, o->seed, o->programs, draw, &e, seconds);
  bench_flow_errors_row(table, "random programs", name, &e, seconds[0] / seconds[1]);
  bench_flow_errors_free(&e);
  return good;
}

static bool measure_arrays(const bench_job *job, bench_table *table) {
  enum { LARGEST = 32 };
  hw_array array;
  bool good = true;
  for (size_t n = 0; hw_builtin_name(n) != NULL; n++) {
    if (!hw_array_load(&array, hw_builtin_name(n), job->diag)) return false;
    if (hw_derive(&array).dim <= LARGEST) good &= add_random(table, hw_builtin_name(n), &array, false, job->options);
  }
  hw_array_default(&array);
  return add_random(table, "random arrays", &array, true, job->options) && good;
}

// ---- speed

static const bench_column speed_columns[] = {
    {.title = "program", .key = "program", .width = -12},
    {.title = "cycles", .key = "cycles", .width = 12},
    {.title = "flow", .key = "flow_cycles", .width = 12},
    {.title = "error %", .key = "error", .width = 8, .text_format = "%.2f"},
    {.title = "cycle, cycles/s", .key = "cycle_rate", .width = 16},
    {.title = "flow, cycles/s", .key = "flow_rate", .width = 15},
    {.title = "times", .key = "speed", .width = 6, .text_format = "%.2f"},
};
static const bench_form speed_form = {.list = "speed", BENCH_FORM(speed_columns)};

static bench_measured measure_program(const bench_program *p, const hw_array *array, const sim_engine_ops *engine,
                                      const options *o) {
  const sim_engine_options chosen = {.timing_only = true, .quiet = true};
  return bench_run_program(&(bench_run){
      .program = p, .array = array, .engine = engine, .options = &chosen, .repeats = (unsigned)o->repeats});
}

static bool measure_speed(const bench_job *job, bench_table *table, wf_summary *times) {
  const options *o = job->options;
  hw_array array;
  hw_array_default(&array);
  bool good = true;
  for (size_t n = 0; n < bench_program_count(); n++) {
    bench_program *p = bench_program_create(n, o->quick);
    const bench_measured cycle = measure_program(p, &array, &sim_cycle_engine, o);
    const bench_measured flow = measure_program(p, &array, &sim_flow_engine, o);
    if (flow.status == BENCH_RUN_GOOD && cycle.status == BENCH_RUN_GOOD) {
      const double cycle_rate = (double)cycle.cycles / cycle.cpu_seconds;
      const double flow_rate = (double)flow.cycles / flow.cpu_seconds;
      wf_summary_add(times, flow_rate / cycle_rate);
      BENCH_ROW(table, bench_text(p->name), bench_count(cycle.cycles), bench_count(flow.cycles),
                bench_real(100 * ((double)flow.cycles / (double)cycle.cycles - 1)), bench_count((uint64_t)cycle_rate),
                bench_count((uint64_t)flow_rate), bench_real(flow_rate / cycle_rate));
    } else {
      fprintf(stderr, "weft: error: %s: %s\n", p->name, flow.fault);
      good = false;
    }
    bench_program_destroy(p);
  }
  return good;
}

// ---- the bench

static bench_end run_flow(const bench_job *job) {
  const options *o = job->options;
  bool good = true;
  bench_report_say(job->report, "steps of networks, array %s\n\n", job->array == NULL ? "gemmini-default" : job->array);
  bench_table *table = bench_table_open(job->report, &bench_flow_errors_form);
  bench_table_heading(table);
  for (size_t n = 0; n < ROWS; n++)
    if (bench_takes(o->net, rows[n].name)) good &= measure_network(job, &rows[n], table);
  if (o->net != NULL) return good ? BENCH_DONE : BENCH_MISMATCH;
  bench_report_say(job->report, "\n%llu random programs on each array; on random arrays one on each\n\n",
                   (unsigned long long)o->programs);
  bench_table_heading(table);
  good &= measure_arrays(job, table);
  good &= bench_flow_samples_run(
      job, &(bench_flow_samples){.samples = o->samples, .groups = o->groups, .seed = o->seed}, table);
  bench_report_say(job->report, "\nprograms of `weft bench engines`, best of %llu runs\n\n",
                   (unsigned long long)o->repeats);
  bench_table *speed = bench_table_open(job->report, &speed_form);
  bench_table_heading(speed);
  wf_summary times = {0};
  good &= measure_speed(job, speed, &times);
  bench_report_say(job->report, "\nflow is %.1f times as fast as cycle --timing-only (geometric mean; %.1f to %.1f)\n",
                   wf_summary_geometric(&times), times.least, times.most);
  return good ? BENCH_DONE : BENCH_MISMATCH;
}

static const wf_option flow_rows[] = {
    {"net", WF_TEXT(options, net), "NAME", "only this network, and no other table"},
    {"seed", WF_COUNT(options, seed), "N", "of weights, and of the first random program (default 1)"},
    {"programs", WF_COUNT(options, programs), "N", "random programs on each array (default 200)"},
    {"samples", WF_COUNT(options, samples), "N", "layers with a mapping and an array, of each set (default 200)"},
    {"groups", WF_COUNT(options, groups), "N", "layers of which mappings are compared in pairs (default 50)"},
    {"repeat", WF_COUNT(options, repeats), "N",
     "runs of the programs; the one with the least CPU time counts (default 3)"},
    {"quick", WF_FLAG(options, quick), NULL, "small variants: some seconds for all"},
};
static const options defaults = {.seed = 1, .programs = 200, .repeats = 3, .samples = 200, .groups = 50};

const bench bench_flow = {
    .name = "flow",
    .summary = "accuracy and speed of engine flow against cycle",
    .synopsis = "",
    .text =
        "Runs networks, random legal programs, layers with mappings and arrays at random, and the programs of\n"
        "`weft bench engines` on the engines flow and cycle, both without data, and prints how far the cycles of flow\n"
        "are off, by what a layer is, whether mappings come in the same order, and how much faster it is.\n"
        "Exit code: 0 good, 4 flow stops in a program that cycle runs to its end.",
    BENCH_OPTIONS(flow_rows, defaults),
    .takes_array = true,
    .run = run_flow};
