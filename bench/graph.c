// SPDX-License-Identifier: Apache-2.0
// `weft bench graph`: how fast the interpreter of graphs is, on generated networks in float and in int8, one core.
#include "base/clock.h"
#include "bench/bench.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/quantise.h"
#include "workloads/networks/networks.h"

enum { ENDS_MAX = 64 };

static bool is_product(graph_op op) {
  return op == GRAPH_OP_CONV || op == GRAPH_OP_GEMM || op == GRAPH_OP_MAT_MUL || op == GRAPH_OP_QCONV ||
         op == GRAPH_OP_QMAT_MUL || op == GRAPH_OP_CONV_TRANSPOSE;
}

typedef struct stopwatch {
  double last, products;  // seconds: of the last node's end; in products and convolutions
} stopwatch;

static bool after_node(void *context, const graph *g, const graph_node *node, void *const *values) {
  stopwatch *watch = context;
  const double now = wf_process_seconds();
  (void)g, (void)values;
  if (is_product(node->op)) watch->products += now - watch->last;
  watch->last = now;
  return true;
}

// Seconds of one run on random inputs, or -1.
static double run(const graph *g, double *products, wf_diag *diag) {
  void *outputs[ENDS_MAX] = {0};
  if (g->output_count > ENDS_MAX) return -1;
  void **inputs = quantise_random_inputs(g, 1);
  const double start = wf_process_seconds();
  stopwatch watch = {.last = start};
  const graph_run_options options = {.after = after_node, .context = &watch, .file = g->name};
  const bool good = graph_run(g, (const void *const *)inputs, outputs, &options, diag);
  const double seconds = wf_process_seconds() - start;
  quantise_free_inputs(g, inputs);
  *products = watch.products;
  return good ? seconds : -1;
}

static const bench_column columns[] = {
    {.title = "network", BENCH_DATA("network"), .width = -16},
    {.title = "type", BENCH_DATA("type"), .width = -6},
    {.title = "GMAC",
     .key = "macs",
     .csv = "macs",
     .width = 8,
     .text_format = "%.2f",
     .scale = 1e-9,
     .csv_format = "%.0f"},
    {.title = "cpu s", BENCH_DATA("processor_seconds"), .width = 9, .text_format = "%.3f"},
    {.title = "products", BENCH_DATA("product_seconds"), .width = 9, .text_format = "%.3f"},
    {.title = "GMAC/cpu s", .width = 10, .text_format = "%.1f"},
};
static const bench_form form = {.list = "", BENCH_FORM(columns)};

static bool measure(const char *name, const networks_options *options, bench_table *table, wf_diag *diag) {
  static const struct {
    const char *name;
    quantise_stage stage;
  } stages[] = {{"float", QUANTISE_STAGE_MODEL}, {"int8", QUANTISE_STAGE_PLACED}};
  for (int s = 0; s < 2; s++) {
    graph *model = networks_create(name, options, diag), *g = model;
    if (model == NULL) return false;
    const double macs = networks_macs(model);
    const quantise_options quantise = {.samples = 1};
    if (stages[s].stage != QUANTISE_STAGE_MODEL) g = quantise_network(model, &quantise, stages[s].stage, diag);
    double products = 0, seconds = g == NULL ? -1 : run(g, &products, diag);
    if (g != model) graph_destroy(g);
    graph_destroy(model);
    if (seconds < 0) return false;
    BENCH_ROW(table, bench_text(name), bench_text(stages[s].name), bench_real(macs), bench_real(seconds),
              bench_real(products), bench_real(macs * 1e-9 / seconds));
  }
  return true;
}

typedef struct options {
  uint64_t divisor;
} options;

static const wf_option rows[] = {
    {"divisor", WF_POSITIVE(options, divisor), "N", "widths are divided by N"},
};
static const options defaults = {0};

static bench_end run_graph(const bench_job *job) {
  static const char *const by_default[] = {"resnet50", "mobilenetv2", "bert-base"};
  const options *o = job->options;
  const networks_options made = {.seed = 1, .divisor = (int64_t)o->divisor};
  const size_t count = job->argument_count == 0 ? sizeof by_default / sizeof *by_default : job->argument_count;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  for (size_t i = 0; i < count; i++)
    if (!measure(job->argument_count == 0 ? by_default[i] : job->arguments[i], &made, table, job->diag))
      return BENCH_BAD_INPUT;
  return BENCH_DONE;
}

const bench bench_graph = {.name = "graph",
                           .summary = "speed of the interpreter of graphs on whole networks",
                           .synopsis = "[NETWORK...]",
                           .text =
                               "Runs generated networks (weft net --list) with the graph interpreter, in float and in\n"
                               "int8: processor time of one core, and what of it products and convolutions take.",
                           BENCH_OPTIONS(rows, defaults),
                           .max_arguments = 32,
                           .run = run_graph};
