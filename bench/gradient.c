// SPDX-License-Identifier: Apache-2.0
// `weft bench gradient`: what engine flow says that a parameter of the array is worth, against what it is worth.
//
// A layer is compiled once and recorded (`--sensitivity`); then one parameter of the array is changed and the same
// commands run on flow and on cycle. A change is a share of a weight's cycles that goes, or one more of a depth.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "compiler/compile.h"
#include "compiler/layer/kernel_files.h"
#include "runner/program.h"
#include "sim/flow/flow.h"

typedef struct options {
  bool quick;
} options;

// ---- layers

typedef struct layer {
  const char *name, *kernel, *shape;
} layer;

static const layer layers[] = {
    {"gemm 196x1024x256", "gemm.py", "M=196,N=1024,K=256,scale=0.001"},
    {"gemm 3136x64x256", "gemm.py", "M=3136,N=64,K=256,scale=0.001"},
    {"gemm residual", "gemm.py", "M=784,N=256,K=64,scale=0.001,residual=1"},
    {"gemm 49x512x1024", "gemm.py", "M=49,N=512,K=1024,scale=0.001"},
    {"gemm 8x1000x512", "gemm.py", "M=8,N=1000,K=512,scale=0.001"},
    {"conv 14x14x256", "conv2d.py", "N=1,H=14,W=14,C=256,K=64,scale=0.001,padding=1"},
    {"conv 1x1 stride 2", "conv2d.py", "N=1,H=28,W=28,C=256,K=128,R=1,S=1,stride=2,scale=0.001"},
    {"conv 28x28x32", "conv2d.py", "N=1,H=28,W=28,C=32,K=32,scale=0.001,padding=1"},
    {"depthwise 28x28x64", "depthwise_conv2d.py", "N=1,H=28,W=28,C=64,scale=0.01"},
    {"residual addition", "residual_add.py", "M=784,N=256"},
};

// ---- changes

// `less` of the change of the way to the DRAM, which is in whole cycles and nanoseconds.
enum { PATH = -1 };

// A share of the weights' cycles that goes, or one more of a depth.
typedef struct change {
  const char *name;
  const char *weights[3];  // keys
  double less;             // share of their cycles that goes; 0: depths
  void (*apply)(hw_array *array);
} change;

static void less_latency(hw_array *a) { a->memory.latency_cycles -= a->memory.latency_cycles / 10; }
static void less_hit_latency(hw_array *a) { a->l2.hit_latency -= 1; }
static void less_controller(hw_array *a) {
  a->memory.controller_ns /= 2;
  a->memory.path_cycles /= 2;
}
static void wider_bus(hw_array *a) { a->dma.bus_bits *= 2; }
static void wider_memory(hw_array *a) {
  a->memory.bytes_per_cycle *= 2;
  a->dma.bus_bits *= 2;
}
static void more_registers(hw_array *a) { a->l2.misses_in_flight += 1; }
static void more_reads(hw_array *a) { a->dma.reads_in_flight += hw_derive(a).dim; }
static void more_load_entries(hw_array *a) { a->load.reservation_entries += 1; }
static void more_execute_entries(hw_array *a) { a->execute.reservation_entries += 1; }
static void more_store_entries(hw_array *a) { a->store.reservation_entries += 1; }
static void more_load_queue(hw_array *a) { a->load.queue += 1; }

static const change fixed_changes[] = {
    {"latency, 10 % less", {"memory-latency"}, 0.1, less_latency},
    {"bus, memory twice as wide", {"bus", "memory-width"}, 0.5, wider_memory},
    {"one more load under way", {"loads-under-way", "reads-in-flight"}, 0, more_reads},
    {"load entries + 1", {"station-load"}, 0, more_load_entries},
    {"execute entries + 1", {"station-execute"}, 0, more_execute_entries},
    {"store entries + 1", {"station-store"}, 0, more_store_entries},
};
static const change cached_changes[] = {
    {"half of path and controller", {"memory-latency"}, PATH, less_controller},
    {"L2's latency - 1 of 10", {"l2-latency"}, 0.1, less_hit_latency},
    {"bus twice as wide", {"bus", "l2-pipe"}, 0.5, wider_bus},
    {"L2's registers + 1", {"l2-registers"}, 0, more_registers},
    {"one more load under way", {"loads-under-way", "reads-in-flight"}, 0, more_reads},
    {"load entries + 1", {"station-load"}, 0, more_load_entries},
    {"execute entries + 1", {"station-execute"}, 0, more_execute_entries},
    {"load queue + 1", {"queue-load"}, 0, more_load_queue},
};

static double path_ns(const hw_array *a) {
  return a->memory.controller_ns + 1e3 * a->memory.path_cycles / a->memory.clock_mhz;
}

static double said(const change *c, const hw_array *from, const hw_array *to, const sim_flow_account *account) {
  double saves = 0;
  const double less = c->less < 0 ? 1 - path_ns(to) / path_ns(from) : c->less;
  for (unsigned n = 0; sim_flow_weight_at(n) != NULL; n++)
    for (unsigned k = 0; k < sizeof c->weights / sizeof *c->weights && c->weights[k] != NULL; k++)
      if (strcmp(sim_flow_weight_at(n)->key, c->weights[k]) == 0)
        saves += c->less == 0 ? (double)account->released[n] : less * (double)account->cycles[n];
  return saves;
}

// ---- runs

static void take_account(void *context, const sim_engine *engine, uint64_t cycle) {
  sim_flow_account_to(engine, cycle, context);
}

// Cycles of the commands on an array, which differs from that of the program in times alone; 0: reported.
static uint64_t run_on(const command_program *program, const hw_array *array, const sim_engine_ops *engine,
                       sim_flow_account *account, wf_diag *diag) {
  const sim_engine_options chosen = {.timing_only = true, .quiet = true};
  const run_config config = {
      .engine = engine, .options = &chosen, .ended = account == NULL ? NULL : take_account, .context = account};
  command_program placed = *program;
  placed.array = array;
  void **tensors = WF_NEW_ARRAY((size_t)program->tensor_count + 1, void *);
  run_result result;
  const bool good = run_commands_on(&placed, &config, tensors, &result, diag);
  wf_free(tensors);
  return good ? result.cycles : 0;
}

// ---- the table

static const bench_column columns[] = {
    {.title = "layer", BENCH_DATA("layer"), .width = -20},
    {.title = "change", BENCH_DATA("change"), .width = -31},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 9},
    {.title = "said", BENCH_DATA("said"), .width = 9, .text_format = "%.0f"},
    {.title = "flow saves", BENCH_DATA("flow_saves"), .width = 10, .text_format = "%.0f"},
    {.title = "cycle saves", BENCH_DATA("cycle_saves"), .width = 11, .text_format = "%.0f"},
};
static const bench_form form = {.list = "changes", BENCH_FORM(columns)};

typedef struct score {
  unsigned changes, large, sign[2], near[2];  // of those over 1 % in cycle: the gradient, differences of flow
  unsigned small_wrong;                       // under 1 % in cycle, over 1 % in the gradient
} score;

static void keep_score(score *s, double cycles, double of_chain, double of_flow, double of_cycle) {
  const double values[2] = {of_chain, of_flow};
  s->changes++;
  if (fabs(of_cycle) < cycles / 100) {
    s->small_wrong += fabs(of_chain) >= cycles / 100;
    return;
  }
  s->large++;
  for (unsigned n = 0; n < 2; n++) {
    s->sign[n] += (values[n] > 0) == (of_cycle > 0);
    s->near[n] += fabs(values[n] - of_cycle) <= 0.2 * fabs(of_cycle);
  }
}

typedef struct base {
  const char *name;
  const change *changes;
  size_t count;
} base;

static bool compare_layer(const bench_job *job, const layer *l, const command_program *program, const hw_array *array,
                          const base *b, bench_table *table, score *s) {
  sim_flow_account account = {.cycles = {0}};
  const uint64_t flow = run_on(program, array, &sim_flow_recording_engine, &account, job->diag);
  const uint64_t cycle = run_on(program, array, &sim_cycle_engine, NULL, job->diag);
  if (flow == 0 || cycle == 0) return false;
  for (size_t n = 0; n < b->count; n++) {
    hw_array changed = *array;
    b->changes[n].apply(&changed);
    const uint64_t flow_changed = run_on(program, &changed, &sim_flow_engine, NULL, job->diag);
    const uint64_t cycle_changed = run_on(program, &changed, &sim_cycle_engine, NULL, job->diag);
    if (flow_changed == 0 || cycle_changed == 0) return false;
    const double of_flow = (double)flow - (double)flow_changed, of_cycle = (double)cycle - (double)cycle_changed;
    const double of_chain = said(&b->changes[n], array, &changed, &account);
    keep_score(s, (double)cycle, of_chain, of_flow, of_cycle);
    BENCH_ROW(table, bench_text(l->name), bench_text(b->changes[n].name), bench_count(cycle), bench_real(of_chain),
              bench_real(of_flow), bench_real(of_cycle));
  }
  return true;
}

static const char *kernel_text(const char *file) {
  for (size_t n = 0; n < layer_kernel_file_count; n++)
    if (strcmp(layer_kernel_files[n].name, file) == 0) return layer_kernel_files[n].text;
  return NULL;
}

static bool measure_layer(const bench_job *job, const layer *l, const hw_array *array, const base *b,
                          bench_table *table, score *s) {
  const char *text = kernel_text(l->kernel);
  if (text == NULL) return false;
  compile_request request = {.file = l->kernel,
                             .text = text,
                             .length = strlen(text),
                             .array = array,
                             .style = BLOCK_STYLE_PRIMITIVE,
                             .straight = true};
  compile_result result = {0};
  wf_arena *arena = wf_arena_create();
  const bool good = lang_read_args(l->shape, arena, &request.arguments, job->diag) &&
                    compile(&request, &result, job->diag) && compare_layer(job, l, result.commands, array, b, table, s);
  compile_release(&result);
  wf_arena_destroy(arena);
  return good;
}

static void say_score(const bench_job *job, const char *name, const score *s) {
  bench_report_say(job->report,
                   "\n%s: of %u changes cycle changes by over 1 %% in %u. Of these\n"
                   "the gradient has the sign of %u and lies within 20 %% in %u; differences of flow: %u and %u.\n"
                   "Of those under 1 %% the gradient says more in %u.\n",
                   name, s->changes, s->large, s->sign[0], s->near[0], s->sign[1], s->near[1], s->small_wrong);
}

static bool measure_base(const bench_job *job, const hw_array *array, const base *b, bench_table *table) {
  const options *o = job->options;
  enum { QUICK = 1 };
  const size_t count = o->quick ? QUICK : sizeof layers / sizeof *layers;
  score s = {0};
  bool good = true;
  bench_report_say(job->report, "\n%s\n\n", b->name);
  bench_table_heading(table);
  for (size_t n = 0; n < count; n++) good &= measure_layer(job, &layers[n], array, b, table, &s);
  say_score(job, b->name, &s);
  return good;
}

static bench_end run_gradient(const bench_job *job) {
  static const base bases[] = {
      {"fixed latency of 200 cycles, 16 bytes a cycle, no L2", fixed_changes,
       sizeof fixed_changes / sizeof *fixed_changes},
      {"as described", cached_changes, sizeof cached_changes / sizeof *cached_changes},
  };
  hw_array described;
  if (!bench_load_array(job, &described)) return BENCH_BAD_INPUT;
  hw_array fixed = described;
  fixed.l2.present = false;
  fixed.memory.model = HW_MEMORY_FIXED;
  fixed.memory.latency_cycles = 200;
  fixed.memory.bytes_per_cycle = 16;
  bench_table *table = bench_table_open(job->report, &form);
  const bool good = measure_base(job, &fixed, &bases[0], table) && measure_base(job, &described, &bases[1], table);
  return good ? BENCH_DONE : BENCH_CANNOT_BUILD;
}

static const wf_option gradient_rows[] = {{"quick", WF_FLAG(options, quick), NULL, "one layer"}};
static const options defaults = {.quick = false};

const bench bench_gradient = {
    .name = "gradient",
    .summary = "what engine flow says a parameter is worth, and what it is worth",
    .synopsis = "",
    .text =
        "Compiles layers, records on engine flow what their cycles depend on, changes one parameter of the array\n"
        "at a time, and runs the same commands on flow and on cycle.\n"
        "Exit code: 0 good, 3 a layer cannot be compiled or run.",
    BENCH_OPTIONS(gradient_rows, defaults),
    .takes_array = true,
    .run = run_gradient};
