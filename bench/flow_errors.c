// SPDX-License-Identifier: Apache-2.0
// Errors of engine flow: see bench_flow_errors.h.
#include "bench/flow_errors.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/statistics.h"

enum { WITHIN = 3 };

static double error_of(double cycle, double flow) { return 100 * (flow / cycle - 1); }

void bench_flow_errors_add(bench_flow_errors *e, const char *name, uint64_t cycle, uint64_t flow) {
  if (e->count == e->room) {
    e->room = e->room == 0 ? 256 : 2 * e->room;
    e->cycle = wf_realloc(e->cycle, e->room, sizeof *e->cycle);
    e->flow = wf_realloc(e->flow, e->room, sizeof *e->flow);
  }
  e->cycle[e->count] = (double)cycle;
  e->flow[e->count++] = (double)flow;
  const double error = error_of((double)cycle, (double)flow);
  if (fabs(error) <= fabs(e->worst)) return;
  e->worst = error;
  snprintf(e->worst_name, sizeof e->worst_name, "%s", name);
}

void bench_flow_errors_free(bench_flow_errors *e) {
  wf_free(e->cycle);
  wf_free(e->flow);
  *e = (bench_flow_errors){0};
}

static const bench_column columns[] = {
    {BENCH_DATA("set")},
    {.title = "of", BENCH_DATA("name"), .width = -20},
    {.title = "runs", BENCH_DATA("runs"), .width = 5},
    {.title = "cycles", BENCH_DATA("cycles"), .width = 13},
    {.title = "flow", BENCH_DATA("flow_cycles"), .width = 13},
    {.title = "total %", BENCH_DATA("total_error"), .width = 8, .text_format = "%.2f"},
    {.title = "mean %", BENCH_DATA("mean_error"), .width = 7, .text_format = "%.2f"},
    {.title = "median", BENCH_DATA("median_error"), .width = 7, .text_format = "%.2f"},
    {.title = "95 of 100", BENCH_DATA("percentile_95"), .width = 9, .text_format = "%.2f"},
    {.title = "in 3 %", BENCH_DATA("within_3"), .width = 6, .text_format = "%.1f"},
    {.title = "ranks", BENCH_DATA("rank_correlation"), .width = 6, .text_format = "%.4f"},
    {.title = "worst %", BENCH_DATA("worst_error"), .width = 8, .text_format = "%.1f"},
    {.title = "speed", BENCH_DATA("speed"), .width = 6, .text_format = "%.1f"},
    {.title = "worst", BENCH_DATA("worst")},
};
const bench_form bench_flow_errors_form = {.list = "errors", BENCH_FORM(columns)};

void bench_flow_errors_row(bench_table *table, const char *set, const char *name, const bench_flow_errors *e,
                           double speed) {
  if (e->count == 0) {
    bench_cell cells[sizeof columns / sizeof *columns] = {bench_text(set), bench_text(name)};
    bench_table_add(table, "nothing ran", cells, sizeof cells / sizeof *cells);
    return;
  }
  double *errors = WF_NEW_ARRAY(e->count, double), cycles = 0, flow = 0;
  size_t within = 0;
  for (size_t i = 0; i < e->count; i++) {
    errors[i] = fabs(error_of(e->cycle[i], e->flow[i]));
    within += errors[i] <= WITHIN;
    cycles += e->cycle[i];
    flow += e->flow[i];
  }
  wf_sort(errors, e->count);
  BENCH_ROW(table, bench_text(set), bench_text(name), bench_count(e->count), bench_count((uint64_t)cycles),
            bench_count((uint64_t)flow), bench_real(error_of(cycles, flow)), bench_real(wf_mean(errors, e->count)),
            bench_real(wf_median(errors, e->count)), bench_real(wf_percentile(errors, e->count, 95)),
            bench_real(100 * (double)within / (double)e->count),
            bench_real(wf_rank_correlation(e->cycle, e->flow, e->count)), bench_real(e->worst),
            bench_if(speed > 0, bench_real(speed)), bench_text(e->worst_name));
  wf_free(errors);
}
