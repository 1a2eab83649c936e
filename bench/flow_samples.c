// SPDX-License-Identifier: Apache-2.0
// Layers x mappings x arrays on engines flow and cycle: see bench_flow_samples.h. Sides are 4 to 32, memories fixed,
// DDR3 and DDR4, with and without L2, both dataflows; what bounds a sample is what the model of the machine says.
#include "bench/flow_samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "bench/flow_errors.h"
#include "runner/measure.h"
#include "search/model/machine.h"
#include "search/model/samples.h"

typedef struct outcome {
  samples_sample sample;
  machine_bound bound;
  uint64_t cycles[RUN_FIDELITY_COUNT];
} outcome;

// ---- runs

// False: it cannot be compiled or run.
static bool measure(outcome *x, run_programs *programs, double seconds[RUN_FIDELITY_COUNT]) {
  wf_diag silent = wf_diag_to(NULL);
  for (int f = 0; f < RUN_FIDELITY_COUNT; f++) {
    const run_measured m = run_measure(&(run_measure_request){.layer = &x->sample.layer,
                                                              .array = &x->sample.array,
                                                              .policy = {.mapping = &x->sample.mapping},
                                                              .programs = programs,
                                                              .fidelity = (run_fidelity)f},
                                       &silent);
    if (m.status != RUN_MEASURE_GOOD) return false;
    x->cycles[f] = m.cycles;
    seconds[f] += m.simulate_seconds;
  }
  return true;
}

// ---- what a sample is

typedef bool selector(const outcome *x, int which);

static bool every(const outcome *x, int which) { return (void)x, (void)which, true; }
static bool of_mapper(const outcome *x, int which) { return x->sample.by_default == (which == 1); }
static bool of_bound(const outcome *x, int which) { return (int)x->bound == which; }
static bool of_kind(const outcome *x, int which) { return (int)x->sample.layer.kind == which; }
static bool of_residual(const outcome *x, int which) { return (x->sample.layer.residual != 0) == (which == 1); }
static bool of_strides(const outcome *x, int which) {
  const map_layer *l = &x->sample.layer;
  return l->size[BLOCK_DIM_R] == 1 && l->size[BLOCK_DIM_S] == 1 && l->stride[0] > 1 && which == 1;
}
static bool of_slots(const outcome *x, int which) {
  const uint8_t *depth = x->sample.mapping.depth;
  return depth[MAP_WEIGHTS] == which && depth[MAP_INPUTS] == which && depth[MAP_RESULTS] == which;
}
static bool of_l2(const outcome *x, int which) { return x->sample.array.l2.present == (which == 1); }
static bool of_memory(const outcome *x, int which) { return (int)x->sample.array.memory.model == which; }
static bool of_dataflow(const outcome *x, int which) { return (int)x->sample.mapping.dataflow == which; }
static bool of_side(const outcome *x, int which) { return (int)hw_derive(&x->sample.array).dim == which; }

static const struct {
  const char *name;
  selector *select;
  int which;
} rows[] = {
    {"all", every, 0},
    {"default mappings", of_mapper, 1},
    {"random mappings", of_mapper, 0},
    {"one slot each", of_slots, 1},
    {"bound by compute", of_bound, MACHINE_COMPUTE},
    {"bound by bandwidth", of_bound, MACHINE_BANDWIDTH},
    {"bound by latency", of_bound, MACHINE_LATENCY},
    {"bound by issue", of_bound, MACHINE_ISSUE},
    {"gemm", of_kind, MAP_GEMM},
    {"gemv", of_kind, MAP_GEMV},
    {"conv", of_kind, MAP_CONV},
    {"depthwise", of_kind, MAP_DEPTHWISE},
    {"with a residual", of_residual, 1},
    {"strided 1 x 1", of_strides, 1},
    {"with L2", of_l2, 1},
    {"without L2", of_l2, 0},
    {"fixed latency", of_memory, HW_MEMORY_FIXED},
    {"DDR3", of_memory, HW_MEMORY_DDR3},
    {"DDR4", of_memory, HW_MEMORY_DDR4},
    {"weight-stationary", of_dataflow, BLOCK_WS},
    {"output-stationary", of_dataflow, BLOCK_OS},
    {"side 4", of_side, 4},
    {"side 8", of_side, 8},
    {"side 16", of_side, 16},
    {"side 32", of_side, 32},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void name_sample(const samples_sample *s, char name[FLOW_ERRORS_NAME]) {
  const int64_t *size = s->layer.size;
  snprintf(name, FLOW_ERRORS_NAME,
           "%s N %" PRId64 " P %" PRId64 " Q %" PRId64 " K %" PRId64 " C %" PRId64 " R %" PRId64 ", side %u",
           map_kind_names[s->layer.kind], size[BLOCK_DIM_N], size[BLOCK_DIM_P], size[BLOCK_DIM_Q], size[BLOCK_DIM_K],
           size[BLOCK_DIM_C], size[BLOCK_DIM_R], hw_derive(&s->array).dim);
}

static void report(const char *set, const outcome *outcomes, size_t count, const double seconds[RUN_FIDELITY_COUNT],
                   bench_table *table) {
  for (size_t r = 0; r < ROWS; r++) {
    bench_flow_errors e = {0};
    for (size_t i = 0; i < count; i++) {
      char name[FLOW_ERRORS_NAME];
      const outcome *x = &outcomes[i];
      name_sample(&x->sample, name);
      if (rows[r].select(x, rows[r].which))
        bench_flow_errors_add(&e, name, x->cycles[RUN_FIDELITY_CYCLE], x->cycles[RUN_FIDELITY_FLOW]);
    }
    const double speed = r == 0 ? seconds[RUN_FIDELITY_CYCLE] / seconds[RUN_FIDELITY_FLOW] : 0;
    if (e.count > 0) bench_flow_errors_row(table, set, rows[r].name, &e, speed);
    bench_flow_errors_free(&e);
  }
}

static bool run_set(const bench_job *job, const bench_flow_samples *o, samples_set set, const char *name,
                    bench_table *table) {
  samples_source source;
  const bool good = samples_open(&source, set, o->seed, job->diag);
  outcome *outcomes = WF_NEW_ARRAY(o->samples + 1, outcome);
  run_programs *programs = run_programs_create();
  double seconds[RUN_FIDELITY_COUNT] = {0};
  size_t count = 0;
  for (uint64_t i = 0; i < o->samples && good; i++) {
    outcome *x = &outcomes[count];
    samples_draw(&source, &x->sample);
    x->bound = machine_predict(&x->sample.layer, &x->sample.mapping, &x->sample.array, &cost_fitted).bound;
    count += measure(x, programs, seconds);
  }
  report(name, outcomes, count, seconds, table);
  run_programs_destroy(programs);
  wf_free(outcomes);
  samples_close(&source);
  return good;
}

// ---- pairs of mappings of a layer

static const bench_column pair_columns[] = {
    {.title = "pairs of mappings, apart in cycle", .key = "apart", .width = -34},
    {.title = "pairs", .key = "pairs", .width = 6},
    {.title = "in the right order %", .key = "right_percent", .width = 20, .text_format = "%.2f"},
};
static const bench_form pair_form = {.list = "pairs", BENCH_FORM(pair_columns)};

static const struct {
  const char *name;
  double least, most;
} distances[] = {{"more than 2 %", 0.02, INFINITY}, {"2 to 5 %", 0.02, 0.05}, {"more than 5 %", 0.05, INFINITY}};
enum { DISTANCES = sizeof distances / sizeof *distances };

typedef struct pair_counts {
  uint64_t all[DISTANCES], right[DISTANCES];
} pair_counts;

static void count_pair(const outcome *a, const outcome *b, pair_counts *counts) {
  const double x = (double)a->cycles[RUN_FIDELITY_CYCLE], y = (double)b->cycles[RUN_FIDELITY_CYCLE];
  const double apart = fmax(x, y) / fmin(x, y) - 1;
  const bool right = (x < y) == (a->cycles[RUN_FIDELITY_FLOW] < b->cycles[RUN_FIDELITY_FLOW]);
  for (unsigned d = 0; d < DISTANCES; d++) {
    if (apart <= distances[d].least || apart > distances[d].most) continue;
    counts->all[d]++;
    counts->right[d] += right;
  }
}

static void run_group(samples_source *source, run_programs *programs, pair_counts *counts) {
  samples_sample group[SAMPLES_GROUP];
  outcome outcomes[SAMPLES_GROUP];
  double seconds[RUN_FIDELITY_COUNT] = {0};
  size_t count = 0;
  samples_draw_group(source, group);
  for (unsigned i = 0; i < SAMPLES_GROUP; i++) {
    outcomes[count].sample = group[i];
    count += measure(&outcomes[count], programs, seconds);
  }
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < i; k++) count_pair(&outcomes[i], &outcomes[k], counts);
}

static bool run_pairs(const bench_job *job, const bench_flow_samples *o) {
  samples_source source;
  const bool good = samples_open(&source, SAMPLES_JUDGE, o->seed, job->diag);
  run_programs *programs = run_programs_create();
  pair_counts counts = {0};
  for (uint64_t g = 0; g < o->groups && good; g++) run_group(&source, programs, &counts);
  run_programs_destroy(programs);
  samples_close(&source);
  bench_report_say(job->report, "\n%" PRIu64 " layers on the default array, %d mappings of each\n\n", o->groups,
                   SAMPLES_GROUP);
  bench_table *table = bench_table_open(job->report, &pair_form);
  bench_table_heading(table);
  for (unsigned d = 0; d < DISTANCES && good; d++)
    BENCH_ROW(table, bench_text(distances[d].name), bench_count(counts.all[d]),
              bench_if(counts.all[d] > 0, bench_real(100 * (double)counts.right[d] / (double)counts.all[d])));
  return good;
}

bool bench_flow_samples_run(const bench_job *job, const bench_flow_samples *o, bench_table *errors) {
  static const struct {
    samples_set set;
    const char *text;
  } sets[] = {{SAMPLES_JUDGE, "layers of the shipped tables"}, {SAMPLES_FIT, "layers at random"}};
  bool good = true;
  for (unsigned s = 0; s < sizeof sets / sizeof *sets && good; s++) {
    bench_report_say(job->report, "\n%" PRIu64 " %s, each with a mapping and an array at random\n\n", o->samples,
                     sets[s].text);
    bench_table_heading(errors);
    good = run_set(job, o, sets[s].set, sets[s].text, errors);
  }
  return good && run_pairs(job, o);
}
