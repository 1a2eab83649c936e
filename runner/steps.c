// SPDX-License-Identifier: Apache-2.0
// Times step lists: see steps.h.
#include "runner/steps.h"

#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "compiler/graph/run.h"
#include "runner/machine.h"

typedef struct timer {
  const run_steps_request *request;
  run_steps_result *result;
  run_machine machine;
  int next;  // the step behind the last one that ran
} timer;

// ---- sums

static void add(uint64_t *to, const uint64_t *what, uint64_t times, size_t count) {
  for (size_t i = 0; i < count; i++) to[i] += what[i] * times;
}

#define ADD(field) add((uint64_t *)&to->field, (const uint64_t *)&one->field, times, sizeof to->field / 8)
static void add_units(sim_cycle_report *to, const sim_cycle_report *one, uint64_t times) {
  if (to->units == 0) {
    memcpy(to->unit, one->unit, sizeof to->unit);
    to->units = one->units;
    for (unsigned u = 0; u < to->units; u++) memset(to->unit[u].cycles, 0, sizeof to->unit[u].cycles);
  }
  ADD(cycles);
  ADD(carried_out);
  for (unsigned u = 0; u < to->units; u++) ADD(unit[u].cycles);
  ADD(macs);
  ADD(bus_read_bytes);
  ADD(bus_written_bytes);
  ADD(sp_row_reads);
  ADD(sp_row_writes);
  ADD(acc_row_reads);
  ADD(acc_row_writes);
  ADD(memory);
}

void run_steps_add(run_step_result *to, const run_step_result *one, uint64_t times) {
  to->timed = one->timed;
  to->cycles += one->cycles * times;
  to->commands += one->commands * times;
  to->macs += one->macs * times;
  host_counts_add(&to->hart, &one->hart, times);
  to->has_units = one->has_units;
  if (one->has_units) add_units(&to->units, &one->units, times);
}

// ---- what the hart reads

typedef struct value_taker {
  void **values;
  const bool *needed;
} value_taker;

// Inputs of the graph are in memory from the start. False: nothing is needed. How long it takes to make numbers of
// results does not depend on them.
static bool find_needed(const graph *g, bool *needed) {
  bool any = false;
  for (int i = 0; i < g->input_count; i++) needed[g->inputs[i]] = true;
  for (int n = 0; n < g->node_count; n++) {
    const graph_node *node = &g->nodes[n];
    if (node->place != GRAPH_ON_HOST) continue;
    for (int i = 0; i < node->input_count; i++) {
      const int tensor = node->inputs[i];
      if (tensor == GRAPH_NONE || g->tensors[tensor].data != NULL || needed[tensor]) continue;
      needed[tensor] = true;
      any = any || node->op != GRAPH_OP_DEQUANTIZE;
    }
  }
  for (int i = 0; i < g->input_count; i++) needed[g->inputs[i]] = false;
  return any;
}

static bool take_values(void *context, const graph *g, const graph_node *node, void *const *values) {
  const value_taker *t = context;
  for (int o = 0; o < node->output_count; o++) {
    const int tensor = node->outputs[o];
    if (tensor == GRAPH_NONE || !t->needed[tensor] || values[tensor] == NULL) continue;
    const size_t bytes = graph_bytes(&g->tensors[tensor]);
    t->values[tensor] = memcpy(wf_alloc(bytes + 1, 1), values[tensor], bytes);
  }
  return true;
}

void **run_steps_values(const graph *placed, const void *const *inputs, wf_diag *diag) {
  const size_t tensors = (size_t)placed->tensor_count + 1;
  bool *needed = WF_NEW_ARRAY(tensors, bool), good = true;
  value_taker taker = {.values = WF_NEW_ARRAY(tensors, void *), .needed = needed};
  if (find_needed(placed, needed)) {
    const graph_run_options options = {.after = take_values, .context = &taker, .file = placed->name};
    void **outputs = WF_NEW_ARRAY((size_t)placed->output_count + 1, void *);
    good = graph_run(placed, inputs, outputs, &options, diag);
    wf_free(outputs);
  }
  wf_free(needed);
  if (good) return taker.values;
  run_steps_free_values(placed, taker.values);
  return NULL;
}

void run_steps_free_values(const graph *placed, void **values) {
  for (int t = 0; values != NULL && t < placed->tensor_count; t++) wf_free(values[t]);
  wf_free(values);
}

// Before the first step of a node, or where its first steps were left out.
static void give_values(const timer *t, int step) {
  const network *net = t->request->net;
  const graph_node *node = net->steps[step].node;
  if (step > 0 && net->steps[step - 1].node == node && t->next == step) return;
  for (int i = 0; i < node->input_count; i++) {
    const int tensor = node->inputs[i];
    if (tensor == GRAPH_NONE || t->request->values[tensor] == NULL || net->tensors[tensor].buffer < 0) continue;
    run_machine_put(&t->machine, tensor, t->request->values[tensor]);
  }
}

// ---- the walk

static bool run_step(timer *t, int step, run_step_result *one) {
  give_values(t, step);
  t->result->runs++;
  t->next = step + 1;
  return run_machine_step(&t->machine, &t->request->net->steps[step], one);
}

// The step from which on those before `step` touch as many bytes as the L2 has.
static int lead_in_from(const timer *t, int step) {
  const hw_array *array = t->request->net->options.array;
  const uint64_t capacity = array->l2.present ? (uint64_t)array->l2.capacity_kib << 10 : 0;
  int first = step;
  for (uint64_t bytes = 0; first > t->next && bytes < capacity; first--)
    bytes += network_bytes_of(t->request->net, &t->request->net->steps[first - 1]);
  return first;
}

// Steps that were left out, for what they leave in the caches.
static bool lead_in(timer *t, int step) {
  run_step_result uncounted;
  for (int s = lead_in_from(t, step); s < step; s++)
    if (!run_step(t, s, &uncounted)) return false;
  return true;
}

// For how many steps of its entry a step counts, as the n-th of them (from 0): 0, it does not run. Numbers 1, 3, 9 ..
// count for those up to the next.
static uint64_t weight_of(const run_steps_request *q, const network_entry *entry, int64_t n) {
  if (q->all || n == 0) return 1;
  int64_t power = 1;
  while (3 * power <= n) power *= 3;
  return n == power ? (uint64_t)(wf_min(3 * power, entry->count) - power) : 0;
}

static bool run_some(timer *t, int64_t *met) {
  const run_steps_request *q = t->request;
  for (int s = 0; s < q->net->step_count; s++) {
    const int e = q->list->entry_of[s];
    const uint64_t weight = weight_of(q, &q->list->entries[e], met[e]++);
    run_step_result one;
    if (weight == 0) continue;
    if (!lead_in(t, s) || !run_step(t, s, &one)) return false;
    run_steps_add(&t->result->entries[e], &one, weight);
  }
  return true;
}

static bool run_all(timer *t) {
  int64_t *met = WF_NEW_ARRAY((size_t)t->request->list->count + 1, int64_t);
  const bool good = run_some(t, met);
  wf_free(met);
  return good;
}

static void add_up(const run_steps_request *request, run_steps_result *result) {
  for (int e = 0; e < request->list->count; e++) {
    result->cycles += result->entries[e].cycles;
    result->commands += result->entries[e].commands;
    result->macs += result->entries[e].macs;
  }
}

bool run_steps(const run_steps_request *request, run_steps_result *result, wf_diag *diag) {
  *result = (run_steps_result){.entries = WF_NEW_ARRAY((size_t)request->list->count + 1, run_step_result)};
  const sim_engine_options options = {.timing_only = true, .quiet = true};
  const run_network_config config = {.engine = run_fidelity_engine(request->fidelity),
                                     .options = &options,
                                     .inputs = request->inputs,
                                     .hart = RUN_HART_TIMED};
  timer t = {.request = request, .result = result};
  const bool good = run_machine_open(&t.machine, request->net, &config, diag) && run_all(&t);
  if (good) add_up(request, result);
  run_machine_close(&t.machine);
  return good;
}

void run_steps_release(run_steps_result *result) {
  wf_free(result->entries);
  *result = (run_steps_result){0};
}
