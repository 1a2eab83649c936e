// SPDX-License-Identifier: Apache-2.0
// `weft bench optima`: layers beside the optima of a model of the same array.
//
// The optima are those of AccelForge's mapper (commit 1c1929c, 2026) for a 16 x 16 weight-stationary array with the
// sizes and energies of gemmini-default: cycles are the larger of the mesh's and main memory's, without fills and
// latency, softmax takes 16 elements a cycle, and both memories are used whole. Ours are mapped for energy x delay and
// run on engine cycle, fused ones as one kernel or as a network with mixed steps; energy is the array's as such models
// count it, every byte of its port from main memory.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/placed.h"
#include "compiler/compile.h"
#include "compiler/layer/kernel_files.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "runner/judge.h"
#include "runner/oracle.h"
#include "sim/figures.h"

typedef struct options {
  const char *name;
  uint64_t seed, tune;
} options;

// Parts of one workload stand side by side.
static const struct {
  const char *name, *part, *array, *kernel, *shape, *network;  // a kernel, or a network
  double cycles, uj;
} rows[] = {
#define UNIT "transformer-16"
#define KERNEL(file, shape) file, shape, NULL
#define NETWORK(name) NULL, NULL, name
    {"bottleneck", "1x1 256-64", NULL,
     KERNEL("conv2d.py", "N=1,H=56,W=56,C=256,K=64,R=1,S=1,padding=0,scale=0.001,bias=False"), 200704, 199.1},
    {"bottleneck", "3x3 64-64", NULL,
     KERNEL("conv2d.py", "N=1,H=56,W=56,C=64,K=64,R=3,S=3,padding=1,scale=0.001,bias=False"), 451584, 252.8},
    {"bottleneck", "1x1 64-256", NULL,
     KERNEL("conv2d.py", "N=1,H=56,W=56,C=64,K=256,R=1,S=1,padding=0,scale=0.001,bias=False"), 200704, 195.0},
    {"bottleneck-fused", "mixed steps", NULL, NETWORK("bottleneck"), 852992, 603.0},
    {"attention-128", "scores", UNIT, KERNEL("attention_qk.py", "H=1,M=128,N=128,D=64,scale=0.001"), 4096, 5.30},
    {"attention-128", "softmax", UNIT, KERNEL("softmax.py", "M=128,N=128,scale=0.01,BLOCK=128"), 4096, 3.74},
    {"attention-128", "values", UNIT, KERNEL("attention_pv.py", "H=1,M=128,N=64,L=128,scale=0.001"), 4096, 5.36},
    {"attention-128-fused", "in one kernel", UNIT,
     KERNEL("attention.py", "H=1,M=128,L=128,D=64,N=64,scale=0.0005,ROWS=32"), 9216, 7.62},
    {"attention-512", "scores", UNIT, KERNEL("attention_qk.py", "H=1,M=512,N=512,D=64,scale=0.001"), 65536, 63.2},
    {"attention-512", "softmax", UNIT, KERNEL("softmax.py", "M=512,N=512,scale=0.01,BLOCK=512"), 65536, 59.7},
    {"attention-512", "values", UNIT, KERNEL("attention_pv.py", "H=1,M=512,N=64,L=512,scale=0.001"), 65536, 65.0},
    {"attention-512-fused", "in one kernel", UNIT, KERNEL("attention.py", "H=1,M=512,L=512,D=64,N=64,scale=0.001"),
     147456, 79.7},
    {"mlp", "768-3072", NULL, KERNEL("gemm.py", "M=128,N=3072,K=768,scale=0.001,bias=False,relu=False"), 1179648,
     853.2},
    {"mlp", "3072-768", NULL, KERNEL("gemm.py", "M=128,N=768,K=3072,scale=0.001,bias=False,relu=False"), 1179648,
     1065.4},
#undef UNIT
#undef KERNEL
#undef NETWORK
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct figures {
  double cycles, uj;
} figures;

// ---- one part

// By the energy that the optima count.
static compile_tuning tuning_of(const options *o) {
  return (compile_tuning){.count = (unsigned)o->tune, .judge = run_judge_array, .objective = COMPILE_EDP};
}

static bool judge(const options *o, const hw_array *array, compile_result *result, figures *f, wf_diag *diag) {
  const sim_engine_options engine = {.quiet = true};
  const run_config config = {.engine = &sim_cycle_engine, .options = &engine, .times = 1};
  run_oracle expected;
  run_oracle_verdict verdict;
  const bool good = run_oracle_fill(&expected, result, o->seed, diag) && run_oracle_expect(&expected, result, diag) &&
                    run_oracle_judge(&expected, result, &config, &verdict, diag);
  run_oracle_release(&expected);
  if (!good) return false;
  if (verdict.wrong != 0)
    wf_error(diag, wf_in_file(result->commands->name), "%llu bytes are wrong", (unsigned long long)verdict.wrong);
  f->cycles = (double)verdict.run.cycles;
  f->uj = sim_figures_of(&verdict.run.units, &(host_counts){0}, array).array_pj / 1e6;
  return verdict.wrong == 0;
}

static const char *text_of(const char *file) {
  for (size_t n = 0; n < layer_kernel_file_count; n++)
    if (strcmp(layer_kernel_files[n].name, file) == 0) return layer_kernel_files[n].text;
  return NULL;
}

// Mixed, with tensors between the steps in the scratchpad where that is possible.
static bool measure_network(const bench_job *job, int number, const hw_array *array, figures *f) {
  const options *o = job->options;
  const networks_options made = {.seed = o->seed};
  graph *model = networks_create(rows[number].network, &made, job->diag);
  if (model == NULL) return false;
  const quantise_options how = {.seed = o->seed, .int8_ends = true, .target = network_target(array)};
  graph *placed = quantise_network(model, &how, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  if (placed == NULL) return false;
  const network_options lowering = {.array = array, .tuning = tuning_of(o), .fuse = NETWORK_FUSE_AUTO};
  bench_placed run = {0};
  bool good = bench_placed_run_timed(placed, lowering, o->seed, &run, job->diag);
  if (good && run.result.wrong != 0) {
    wf_error(job->diag, wf_in_file(rows[number].network), "%llu bytes are wrong", (unsigned long long)run.result.wrong);
    good = false;
  }
  if (good) {
    f->cycles = (double)run.result.cycles;
    f->uj = sim_figures_of(&run.result.units, &run.result.hart, array).array_pj / 1e6;
  }
  bench_placed_release(&run);
  graph_destroy(placed);
  return good;
}

static bool measure(const bench_job *job, int number, figures *f) {
  const options *o = job->options;
  hw_array array;
  bench_job own = *job;
  if (own.array == NULL) own.array = rows[number].array;
  if (own.isa == 0 && rows[number].network != NULL) own.isa = 2;
  if (!bench_load_array(&own, &array)) return false;
  if (rows[number].network != NULL) return measure_network(job, number, &array, f);
  const char *text = text_of(rows[number].kernel);
  assert(text != NULL);  // kernels travel in the program
  compile_request request = {
      .file = rows[number].kernel, .text = text, .length = strlen(text), .array = &array, .tuning = tuning_of(o)};
  compile_result result = {0};
  wf_arena *arena = wf_arena_create();
  const bool good = lang_read_args(rows[number].shape, arena, &request.arguments, job->diag) &&
                    compile(&request, &result, job->diag) && judge(o, &array, &result, f, job->diag);
  compile_release(&result);
  wf_arena_destroy(arena);
  return good;
}

// ---- the table

static const bench_column columns[] = {
    {.title = "workload", BENCH_DATA("workload"), .width = -19},
    {.title = "part", BENCH_DATA("part"), .width = -13},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 9},
    {.title = "optimum", BENCH_DATA("optimum_cycles"), .width = 9},
    {.title = "uJ", BENCH_DATA("uj"), .width = 8, .text_format = "%.2f"},
    {.title = "optimum", BENCH_DATA("optimum_uj"), .width = 8, .text_format = "%.2f"},
    {.title = "cycles x", BENCH_DATA("cycles_ratio"), .width = 8, .text_format = "%.3f"},
    {.title = "uJ x", BENCH_DATA("uj_ratio"), .width = 6, .text_format = "%.3f"},
    {.title = "EDP x", BENCH_DATA("edp_ratio"), .width = 6, .text_format = "%.3f"},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static void add_row(bench_table *table, const char *name, const char *part, const figures *ours,
                    const figures *optimum) {
  const double cycles = ours->cycles / optimum->cycles, uj = ours->uj / optimum->uj;
  BENCH_ROW(table, bench_text(name), bench_text(part), bench_count((uint64_t)ours->cycles),
            bench_count((uint64_t)optimum->cycles), bench_real(ours->uj), bench_real(optimum->uj), bench_real(cycles),
            bench_real(uj), bench_real(cycles * uj));
}

// The parts of a workload, then all of them; `number` is the first, and then the first of the next workload.
static bool add_workload(const bench_job *job, bench_table *table, int *number) {
  const char *name = rows[*number].name;
  figures ours = {0}, optimum = {0};
  int parts = 0;
  for (; *number < ROWS && strcmp(rows[*number].name, name) == 0; ++*number, parts++) {
    const figures best = {rows[*number].cycles, rows[*number].uj};
    figures f;
    if (!measure(job, *number, &f)) return false;
    add_row(table, name, rows[*number].part, &f, &best);
    ours = (figures){ours.cycles + f.cycles, ours.uj + f.uj};
    optimum = (figures){optimum.cycles + best.cycles, optimum.uj + best.uj};
  }
  if (parts > 1) add_row(table, name, "all", &ours, &optimum);
  return true;
}

static bench_end run_optima(const bench_job *job) {
  const options *o = job->options;
  bool any = false;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  for (int n = 0; n < ROWS;) {
    if (!bench_takes(o->name, rows[n].name)) {
      n++;
      continue;
    }
    if (!add_workload(job, table, &n)) return BENCH_CANNOT_BUILD;
    any = true;
  }
  if (any) return BENCH_DONE;
  wf_error(job->diag, wf_in_file(NULL), "no workload %s in this bench", o->name);
  return BENCH_BAD_INPUT;
}

static const wf_option option_rows[] = {
    {"name", WF_TEXT(options, name), "NAME", "only this workload"},
    {"seed", WF_COUNT(options, seed), "N", "of the random data (default 1)"},
    {"tune", WF_COUNT(options, tune), "N", "mappings of each layer that are simulated (default 64)"},
};
static const options defaults = {.seed = 1, .tune = 64};

const bench bench_optima = {
    .name = "optima",
    .summary = "layers beside the optima of a model of the same array",
    .synopsis = "",
    .text =
        "Maps layers for energy x delay, runs them on engine cycle, compares every byte with the kernel's interpreter\n"
        "and prints cycles and the array's energy beside the optima of AccelForge's mapper for the same sizes and\n"
        "energies, which has no fills, no latency and memories that it uses whole.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_optima};
