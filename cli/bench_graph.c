// `weft bench graph`: how fast the interpreter of graphs is, on generated networks in float and in int8, one core.
#include "base/clock.h"
#include "cli/bench.h"
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

static bool bench(const char *name, const networks_options *options, cJSON *rows, wf_diag *diag) {
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
    printf("%-16s %-6s %8.2f %9.3f %9.3f %10.1f\n", name, stages[s].name, macs * 1e-9, seconds, products,
           macs * 1e-9 / seconds);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "network", name);
    cJSON_AddStringToObject(row, "type", stages[s].name);
    cJSON_AddNumberToObject(row, "macs", macs);
    cJSON_AddNumberToObject(row, "processor_seconds", seconds);
    cJSON_AddNumberToObject(row, "product_seconds", products);
    cJSON_AddItemToArray(rows, row);
  }
  return true;
}

int cli_bench_graph(int argc, char **argv) {
  networks_options options = {.seed = 1};
  uint64_t divisor = 0;
  const cli_option rows[] = {
      {"divisor", CLI_OPTION_COUNT, &divisor, "N", "widths are divided by N"},
  };
  const cli_usage usage = {.verb = "bench graph",
                           .synopsis = "[NETWORK...]",
                           .text =
                               "Runs generated networks (weft net --list) with the graph interpreter, in float and in\n"
                               "int8: processor time of one core, and what of it products and convolutions take.",
                           .options = rows,
                           .option_count = sizeof rows / sizeof rows[0],
                           .max_arguments = 32};
  static char *by_default[] = {"resnet50", "mobilenetv2", "bert-base"};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  wf_diag diag = wf_diag_to(stderr);
  options.divisor = (int64_t)divisor;
  char **names = argc == 0 ? by_default : argv;
  const int count = argc == 0 ? (int)(sizeof by_default / sizeof by_default[0]) : argc;
  cJSON *document = cJSON_CreateArray();
  bool good = true;
  printf("%-16s %-6s %8s %9s %9s %10s\n", "network", "type", "GMAC", "cpu s", "products", "GMAC/cpu s");
  for (int i = 0; i < count && good; i++) good = bench(names[i], &options, document, &diag);
  if (common.json != NULL && good)
    good = cli_write_json(common.json, document, &diag);
  else
    cJSON_Delete(document);
  return good ? CLI_OK : CLI_BAD_INPUT;
}
