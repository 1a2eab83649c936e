// SPDX-License-Identifier: Apache-2.0
// `weft bench attention`: ways to run one layer of transformers, each simulated with its hart.
//
// Softmax and norms are the hart's, one step after the other or while the array works; or the normaliser's, step by
// step or mixed with the products beside them. What the normaliser cannot take stays on the hart, and the row says why.
// Every node of every way is compared with the int8 reference of its own way: bytes of the hart and of the normaliser
// differ.
#include "base/alloc.h"
#include "base/number.h"
#include "bench/bench.h"
#include "bench/placed.h"
#include "compiler/network/target.h"
#include "compiler/network/unit.h"
#include "compiler/quantise/quantise.h"
#include "runner/judge.h"
#include "sim/figures.h"

typedef struct options {
  const char *net;
  uint64_t seed;
  bool quick;
} options;

static const struct {
  const char *name, *network;
  networks_options made, quick;
} networks[] = {
    {"bert-128", "bert-base", {.sequence = 128, .layers = 1}, {.sequence = 32, .layers = 1, .divisor = 4}},
    {"bert-512", "bert-base", {.sequence = 512, .layers = 1}, {.sequence = 64, .layers = 1, .divisor = 4}},
    {"vit-197", "vit-b16", {.layers = 1}, {.size = 64, .layers = 1, .divisor = 4}},
    {"detr-1050",
     "bert-base",
     {.sequence = 1050, .layers = 1, .divisor = 3},
     {.sequence = 1050, .layers = 1, .divisor = 12}},
    {"gpt2-block", "gpt2-block", {.seed = 0}, {.sequence = 32, .divisor = 4}},
    {"llama3-block", "llama3-8b-block", {.divisor = 4}, {.sequence = 32, .divisor = 16}},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

static const struct {
  const char *name;
  bool normaliser, overlap;
  network_fuse_mode fuse;
} ways[] = {
    {"hart", false, false, NETWORK_FUSE_OFF},
    {"hart beside array", false, true, NETWORK_FUSE_OFF},
    {"hart, mixed", false, false, NETWORK_FUSE_AUTO},
    {"normaliser", true, false, NETWORK_FUSE_OFF},
    {"normaliser, mixed", true, false, NETWORK_FUSE_AUTO},
};
enum { WAYS = sizeof ways / sizeof *ways };

typedef struct measured {
  uint64_t cycles, hart_cycles, kept_bytes, wrong;
  double energy_uj;
  bool has_energy;
  int mixes;
  const char *why;  // rows are the hart's though the way says the normaliser; NULL: none are
} measured;

// ---- one way

// The columns of the widest rows of softmax.
static int64_t widest_softmax(const graph *model) {
  int64_t cols = 0;
  for (int n = 0; n < model->node_count; n++) {
    if (model->nodes[n].op != GRAPH_OP_SOFTMAX) continue;
    const graph_tensor *x = &model->tensors[model->nodes[n].inputs[0]];
    cols = wf_max(cols, x->dim[x->rank - 1]);
  }
  return cols;
}

// Why rows of softmax are left to the hart; NULL: none are.
static const char *left_to_hart(const graph *placed, int64_t cols, const hw_array *array, wf_arena *arena) {
  const int64_t most = network_unit_columns(array);
  bool left = false;
  for (int n = 0; n < placed->node_count; n++)
    left |= placed->nodes[n].op == GRAPH_OP_QSOFTMAX || placed->nodes[n].op == GRAPH_OP_QHEADROOM;
  if (!left) return NULL;
  if (cols <= most) return "softmax is the hart's: its mask or gains do not fit, or the choice's 1 dB says so";
  return wf_arena_format(arena, "softmax is the hart's: rows of %lld columns, the normaliser takes %lld",
                         (long long)cols, (long long)most);
}

static void take_result(const network *net, const run_network_result *r, const hw_array *array, measured *m) {
  *m = (measured){.cycles = r->cycles, .hart_cycles = r->host_cycles, .wrong = r->wrong, .why = m->why};
  const sim_figures figures = r->has_units ? sim_figures_of(&r->units, &r->hart, array) : (sim_figures){0};
  m->has_energy = figures.has_energy;
  m->energy_uj = figures.energy_pj / 1e6;
  for (int s = 0; s < net->step_count; s++) m->mixes += net->steps[s].parts > 1;
  for (int b = 0; b < net->buffer_count; b++)
    if (net->buffers[b].forwarded) m->kept_bytes += net->buffers[b].bytes;
}

static bool run_way(const bench_job *job, int number, const hw_array *array, int way, wf_arena *arena, measured *m) {
  const options *o = job->options;
  networks_options made = o->quick ? networks[number].quick : networks[number].made;
  made.seed = o->seed;
  graph *model = networks_create(networks[number].network, &made, job->diag);
  if (model == NULL) return false;
  quantise_options how = {.seed = o->seed, .int8_ends = true, .target = network_target(array)};
  if (!ways[way].normaliser) how.target.unit_columns = 0;
  const int64_t cols = widest_softmax(model);
  graph *placed = quantise_network(model, &how, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  if (placed == NULL) return false;
  *m = (measured){.why = ways[way].normaliser ? left_to_hart(placed, cols, array, arena) : NULL};
  const network_options lowering = {
      .array = array, .tuning.judge = run_judge, .fuse = ways[way].fuse, .overlap = ways[way].overlap};
  bench_placed run = {0};
  const bool good = bench_placed_run_timed(placed, lowering, o->seed, &run, job->diag);
  if (good) take_result(run.net, &run.result, array, m);
  bench_placed_release(&run);
  graph_destroy(placed);
  return good;
}

// ---- the table

static const bench_column columns[] = {
    {.title = "network", BENCH_DATA("network"), .width = -13},
    {.title = "softmax and norms", BENCH_DATA("way"), .width = -18},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 12},
    {.title = "hart's", BENCH_DATA("hart_cycles"), .width = 12},
    {.title = "energy uJ", BENCH_DATA("energy_uj"), .width = 10, .text_format = "%.1f"},
    {.title = "mixes", BENCH_DATA("mixes"), .width = 5},
    {.title = "kept bytes", BENCH_DATA("kept_bytes"), .width = 10},
    {.title = "fastest", BENCH_DATA("fastest"), .width = -7},
    {.title = "", BENCH_DATA("note")},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static void add_rows(bench_table *table, const char *name, const measured *m) {
  int best = 0;
  for (int w = 1; w < WAYS; w++)
    if (m[w].cycles < m[best].cycles) best = w;
  for (int w = 0; w < WAYS; w++)
    BENCH_ROW(table, bench_text(name), bench_text(ways[w].name), bench_count(m[w].cycles),
              bench_count(m[w].hart_cycles), bench_if(m[w].has_energy, bench_real(m[w].energy_uj)),
              bench_count((uint64_t)m[w].mixes), bench_count(m[w].kept_bytes), bench_text(w == best ? "*" : ""),
              bench_text(m[w].wrong != 0    ? "WRONG"
                         : m[w].why == NULL ? ""
                                            : m[w].why));
}

static bench_end measure(const bench_job *job, bench_table *table, const hw_array *array, int number) {
  wf_arena *arena = wf_arena_create();
  measured m[WAYS];
  uint64_t wrong = 0;
  int w = 0;
  for (; w < WAYS && run_way(job, number, array, w, arena, &m[w]); w++) wrong += m[w].wrong;
  if (w == WAYS) add_rows(table, networks[number].name, m);
  wf_arena_destroy(arena);
  return w < WAYS ? BENCH_CANNOT_BUILD : wrong != 0 ? BENCH_MISMATCH : BENCH_DONE;
}

static bench_end run_attention(const bench_job *job) {
  const options *o = job->options;
  hw_array array;
  bench_job own = *job;
  bench_end end = BENCH_DONE;
  bool any = false;
  if (own.array == NULL) own.array = "transformer-16";
  if (!bench_load_array(&own, &array)) return BENCH_BAD_INPUT;
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  for (int n = 0; n < NETWORKS; n++) {
    if (!bench_takes(o->net, networks[n].name)) continue;
    const bench_end one = measure(job, table, &array, n);
    if (one != BENCH_DONE) end = one;
    any = true;
  }
  if (any) return end;
  wf_error(job->diag, wf_in_file(NULL), "no network %s in this bench", o->net);
  return BENCH_BAD_INPUT;
}

static const wf_option option_rows[] = {
    {"net", WF_TEXT(options, net), "NAME", "only this network"},
    {"quick", WF_FLAG(options, quick), NULL, "small variants: some seconds for all"},
    {"seed", WF_COUNT(options, seed), "N", "of weights and inputs (default 1)"},
};
static const options defaults = {.seed = 1};

const bench bench_attention = {
    .name = "attention",
    .summary = "ways to run a layer of transformers: hart, hart beside the array, normaliser, mixed",
    .synopsis = "",
    .text =
        "Runs one layer of transformers with softmax and norms on the hart, there while the array works, and in the\n"
        "normaliser, step by step and mixed with the products beside them, on engine cycle with the hart's cycles\n"
        "(--array: default transformer-16; --isa 2 keeps tensors in the scratchpad). What the normaliser cannot\n"
        "take stays on the hart, and the row says why. Every node is compared with the int8 reference.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_attention};
