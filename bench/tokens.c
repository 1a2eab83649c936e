// SPDX-License-Identifier: Apache-2.0
// `weft bench tokens`: the same array with a reservation station and with tokens (sync.by): cycles of published
// products and of each layer of ResNet-50, and the area of what orders the units.
//
// Neither array has loop unrollers, which an array with tokens cannot have; all programs are single commands, and the
// two get the same but for their tokens. Products are compared with the kernel's interpreter, nodes of the network with
// the int8 reference. Areas are those of an array of 8 x 8, as `weft rtl synth` finds them.
#include <string.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/placed.h"
#include "bench/published.h"
#include "compiler/compile.h"
#include "compiler/layer/kernel_files.h"
#include "compiler/network/target.h"
#include "compiler/quantise/quantise.h"
#include "hw/export/synth.h"
#include "runner/network.h"
#include "runner/oracle.h"
#include "runner/tune.h"
#include "workloads/networks/networks.h"

enum { STATION, TOKENS, ARRAYS, QUICK_SIZE = 56, SYNTH_SIDE = 8, SYNTH_SP_KIB = 128, SYNTH_ACC_KIB = 32 };

typedef struct options {
  const char *net;
  uint64_t seed;
  bool quick, no_area;
} options;

// What is measured, of both arrays.
typedef struct pair {
  uint64_t cycles[ARRAYS], wrong;
} pair;

static const bench_column columns[] = {
    {.title = "what", BENCH_DATA("what"), .width = -9},
    {.title = "name", BENCH_DATA("name"), .width = -24},
    {.title = "station", BENCH_DATA("station_cycles"), .width = 12},
    {.title = "tokens", BENCH_DATA("token_cycles"), .width = 12},
    {.title = "more %", BENCH_DATA("more"), .width = 7, .text_format = "%.2f", .scale = 100, .csv_format = "%.5f"},
    {.title = "wrong bytes", BENCH_DATA("wrong_bytes"), .width = 11},
};
static const bench_form form = {.list = "rows", BENCH_FORM(columns)};

static const bench_column area_columns[] = {
    {.title = "unit", .key = "unit", .width = -24},
    {.title = "cells", .key = "cells", .width = 8},
    {.title = "area um2", .key = "area_um2", .width = 12, .text_format = "%.0f"},
    {.title = "path ns", .key = "path_ns", .width = 8, .text_format = "%.2f"},
    {.title = "power mW", .key = "power_mw", .width = 9, .text_format = "%.1f"},
};
static const bench_form area_form = {.list = "areas", BENCH_FORM(area_columns)};

static void make_arrays(const hw_array *from, hw_array arrays[ARRAYS]) {
  for (int n = 0; n < ARRAYS; n++) {
    arrays[n] = *from;
    arrays[n].sync.by = n == TOKENS ? HW_SYNC_TOKENS : HW_SYNC_STATION;
    arrays[n].units.loop_matmul = arrays[n].units.loop_conv = false;
    arrays[n].store.order = HW_STORE_ORDER_ISSUED;
  }
}

static double more(const pair *p) { return (double)p->cycles[TOKENS] / (double)p->cycles[STATION] - 1; }

static void add_row(bench_table *table, const char *what, const char *name, const pair *p) {
  BENCH_ROW(table, bench_text(what), bench_text(name), bench_count(p->cycles[STATION]), bench_count(p->cycles[TOKENS]),
            bench_real(more(p)), bench_count(p->wrong));
}

// ---- products

static const char *kernel_text(const char *kernel) {
  char *file = wf_format("%s.py", kernel);
  const char *text = NULL;
  for (size_t n = 0; n < layer_kernel_file_count; n++)
    if (strcmp(layer_kernel_files[n].name, file) == 0) text = layer_kernel_files[n].text;
  wf_free(file);
  return text;
}

static bool judge(const bench_job *job, compile_result *result, int n, pair *p) {
  const options *o = job->options;
  const sim_engine_options engine = {.quiet = true};
  const run_config config = {.engine = &sim_cycle_engine, .options = &engine, .times = 2};
  run_oracle expected;
  run_oracle_verdict verdict;
  bool good = run_oracle_fill(&expected, result, o->seed, job->diag) &&
              run_oracle_expect(&expected, result, job->diag) &&
              run_oracle_judge(&expected, result, &config, &verdict, job->diag);
  run_oracle_release(&expected);
  if (!good) return false;
  p->cycles[n] = verdict.run.cycles;
  p->wrong += verdict.wrong;
  return true;
}

static bool run_product(const bench_job *job, const hw_array *array, const bench_published_row *row, int n, pair *p) {
  const char *text = kernel_text(row->kernel);
  compile_request request = {
      .file = row->kernel, .text = text, .length = strlen(text), .array = array, .style = BLOCK_STYLE_PRIMITIVE};
  request.straight = true;
  compile_result result = {0};
  wf_arena *arena = wf_arena_create();
  const bool good = lang_read_args(row->shape, arena, &request.arguments, job->diag) &&
                    compile(&request, &result, job->diag) && judge(job, &result, n, p);
  compile_release(&result);
  wf_arena_destroy(arena);
  return good;
}

static bench_end run_products(const bench_job *job, bench_table *table, const hw_array arrays[ARRAYS]) {
  bench_published shapes;
  bench_end end = BENCH_DONE;
  if (!bench_published_load(&shapes, NULL, job->diag)) return BENCH_BAD_INPUT;
  for (size_t i = 0; i < shapes.count && end == BENCH_DONE; i++) {
    const bench_published_row *row = &shapes.rows[i];
    if (strcmp(row->set, "gemm") != 0) continue;
    pair p = {0};
    for (int n = 0; n < ARRAYS && end == BENCH_DONE; n++)
      if (!run_product(job, &arrays[n], row, n, &p)) end = BENCH_CANNOT_BUILD;
    if (end == BENCH_DONE) add_row(table, "product", row->name, &p);
    if (end == BENCH_DONE && p.wrong != 0) end = BENCH_MISMATCH;
  }
  bench_published_release(&shapes);
  return end;
}

// ---- the network

// The steps on the array, then all; false: it takes more than a hundredth longer, or a byte is wrong.
static bool add_steps(bench_table *table, const char *name, const bench_placed runs[ARRAYS]) {
  pair all = {.wrong = runs[STATION].result.wrong + runs[TOKENS].result.wrong};
  for (int s = 0; s < runs[STATION].net->step_count; s++) {
    pair p = {0};
    for (int n = 0; n < ARRAYS; n++) {
      p.cycles[n] = runs[n].result.steps[s].cycles;
      all.cycles[n] += p.cycles[n];
    }
    if (runs[STATION].result.steps[s].has_units && p.cycles[STATION] != 0)
      add_row(table, "layer", runs[STATION].net->steps[s].name, &p);
  }
  add_row(table, "network", name, &all);
  return all.wrong == 0 && more(&all) <= 0.01;
}

static bench_end run_nets(const bench_job *job, bench_table *table, const hw_array arrays[ARRAYS]) {
  const options *o = job->options;
  const networks_options made = {.seed = o->seed, .size = o->quick ? QUICK_SIZE : 0};
  graph *model = networks_create(o->net, &made, job->diag);
  if (model == NULL) return BENCH_BAD_INPUT;
  const quantise_options quantise = {.seed = o->seed, .int8_ends = true, .target = network_target(&arrays[STATION])};
  graph *placed = quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, job->diag);
  graph_destroy(model);
  if (placed == NULL) return BENCH_BAD_INPUT;
  bench_placed runs[ARRAYS] = {{0}};
  bench_end end = BENCH_CANNOT_BUILD;
  if (bench_placed_run(placed, (network_options){.array = &arrays[STATION]}, o->seed, &runs[STATION], job->diag) &&
      bench_placed_run(placed, (network_options){.array = &arrays[TOKENS]}, o->seed, &runs[TOKENS], job->diag))
    end = add_steps(table, o->net, runs) ? BENCH_DONE : BENCH_MISMATCH;
  for (int n = 0; n < ARRAYS; n++) bench_placed_release(&runs[n]);
  graph_destroy(placed);
  return end;
}

// ---- areas

static void make_small(hw_array *array) {
  array->mesh.rows = array->mesh.columns = SYNTH_SIDE;
  array->mesh.tile_rows = array->mesh.tile_columns = 1;
  array->scratchpad.capacity_kib = SYNTH_SP_KIB;
  array->accumulator.capacity_kib = SYNTH_ACC_KIB;
}

static bool add_area(const bench_job *job, bench_table *table, hw_array *array, const char *unit, double *area) {
  const hw_synth_options synth = {.unit = unit};
  hw_synth_result *result = WF_NEW(hw_synth_result);
  make_small(array);
  const bool good = hw_synth(array, &synth, result, job->diag) && result->count != 0;
  if (good) {
    const hw_synth_unit *u = &result->units[0];
    *area = u->area_um2;
    BENCH_ROW(table, bench_text(unit), bench_count(u->cells), bench_real(u->area_um2), bench_real(u->path_ns),
              bench_real(u->power_mw));
  }
  wf_free(result);
  return good;
}

static bench_end run_areas(const bench_job *job, const hw_array arrays[ARRAYS]) {
  const char *missing = hw_synth_missing();
  if (missing != NULL) {
    bench_report_say(job->report, "no areas: %s is not installed\n", missing);
    return BENCH_DONE;
  }
  hw_array small[ARRAYS] = {arrays[STATION], arrays[TOKENS]};
  double area[ARRAYS] = {0};
  bench_table *table = bench_table_open(job->report, &area_form);
  bench_table_heading(table);
  if (!add_area(job, table, &small[STATION], "reservation_station", &area[STATION]) ||
      !add_area(job, table, &small[TOKENS], "token_queues", &area[TOKENS]))
    return BENCH_CANNOT_BUILD;
  bench_report_say(job->report, "tokens take %.1f %% less area than the station\n",
                   100 * (1 - area[TOKENS] / area[STATION]));
  return BENCH_DONE;
}

// ---- the bench

static bench_end run_tokens(const bench_job *job) {
  const options *o = job->options;
  hw_array array, arrays[ARRAYS];
  if (!bench_load_array(job, &array)) return BENCH_BAD_INPUT;
  make_arrays(&array, arrays);
  bench_table *table = bench_table_open(job->report, &form);
  bench_table_heading(table);
  bench_end end = run_products(job, table, arrays);
  if (end == BENCH_DONE) end = run_nets(job, table, arrays);
  if (end == BENCH_DONE && !o->no_area) end = run_areas(job, arrays);
  return end;
}

static const wf_option option_rows[] = {
    {"net", WF_TEXT(options, net), "NAME", "the network (default resnet50)"},
    {"seed", WF_COUNT(options, seed), "N", "of weights and data (default 1)"},
    {"quick", WF_FLAG(options, quick), NULL, "small images"},
    {"no-area", WF_FLAG(options, no_area), NULL, "no synthesis, which takes minutes"},
};
static const options defaults = {.net = "resnet50", .seed = 1};

const bench bench_tokens = {
    .name = "tokens",
    .summary = "units ordered by tokens beside the reservation station",
    .synopsis = "",
    .text =
        "Runs published products and each layer of a network on an array with a reservation station and on the same\n"
        "with tokens (sync.by), both without loop unrollers, and synthesises what orders the units of an 8 x 8 array.\n"
        "Ends with 4 if a byte is wrong or the network takes more than 1 % longer.",
    BENCH_OPTIONS(option_rows, defaults),
    .takes_array = true,
    .run = run_tokens};
