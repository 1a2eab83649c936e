// SPDX-License-Identifier: Apache-2.0
// Runs a network program, step by step: see network.h.
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "compiler/graph/run.h"
#include "runner/machine.h"
#include "weft/data.h"

typedef struct network_runner {
  run_machine machine;
  const network *net;
  const run_network_config *config;
  run_network_result *result;
  int next;    // step
  int *lasts;  // by node: the last step that makes it; -1: none does
} network_runner;

static void add_up(run_network_result *all, const network_step *step, const run_step_result *one) {
  all->cycles += one->cycles;
  if (step->part_count > 0)
    all->both_cycles += one->cycles;
  else if (step->place == GRAPH_ON_ARRAY)
    all->array_cycles += one->cycles;
  else if (step->edge)
    all->edge_cycles += one->cycles;
  else
    all->host_cycles += one->cycles;
  all->commands += one->commands;
  all->macs += one->macs;
  host_counts_add(&all->hart, &one->hart, 1);
}

// ---- which steps make a node

static void add_lasts(const network_runner *r, const network_step *step, int number) {
  const graph_node *nodes = r->net->graph->nodes;
  r->lasts[step->node - nodes] = number;
  for (int n = 0; n < step->also_count; n++) r->lasts[step->also[n] - nodes] = number;
  for (int p = 0; p < step->part_count; p++) add_lasts(r, &step->part[p], number);
}

static void find_lasts(network_runner *r) {
  r->lasts = WF_NEW_ARRAY((size_t)r->net->graph->node_count + 1, int);
  for (int n = 0; n < r->net->graph->node_count; n++) r->lasts[n] = -1;
  for (int s = 0; s < r->net->step_count; s++) add_lasts(r, &r->net->steps[s], s);
}

static int last_of(const network_runner *r, const graph_node *node) { return r->lasts[node - r->net->graph->nodes]; }

// ---- steps

// The steps up to the last one of a node.
static bool run_node(network_runner *r, const graph_node *node) {
  while (r->next <= last_of(r, node)) {
    if (wf_stop_wanted(r->config->stop)) return false;
    const network_step *step = &r->net->steps[r->next];
    run_step_result *one = &r->result->steps[r->next];
    const double start = wf_process_seconds();
    if (!run_machine_step(&r->machine, step, one)) return false;
    r->result->run_seconds += wf_process_seconds() - start;
    add_up(r->result, step, one);
    if (r->config->ended != NULL)
      r->config->ended(r->config->context, r->next, run_session_engine(r->machine.session),
                       run_session_cycle(r->machine.session));
    r->next++;
  }
  return true;
}

static void take_outputs(const network_runner *r) {
  const graph *g = r->net->graph;
  run_network_result *result = r->result;
  result->digests = WF_NEW_ARRAY((size_t)g->output_count + 1, uint64_t);
  result->outputs = WF_NEW_ARRAY((size_t)g->output_count + 1, void *);
  for (int o = 0; o < g->output_count; o++) {
    const size_t bytes = graph_bytes(&g->tensors[g->outputs[o]]);
    result->outputs[o] = wf_alloc(bytes + 1, 1);
    run_machine_take(&r->machine, g->outputs[o], result->outputs[o]);
    result->digests[o] = weft_digest(result->outputs[o], bytes);
  }
  result->digest = wf_hash(WF_HASH_START, result->digests, (size_t)g->output_count * sizeof *result->digests);
}

static void report(const network_runner *r, int first) {
  if (r->config->progress == NULL) return;
  for (int s = first; s < r->next; s++) r->config->progress(r->config->context, r->net, s, &r->result->steps[s]);
}

static bool run_all(network_runner *r) {
  const graph *g = r->net->graph;
  for (int n = 0; n < g->node_count; n++) {
    const int first = r->next;
    if (!run_node(r, &g->nodes[n])) return false;
    report(r, first);
  }
  return true;
}

// The interpreter leads, and each node's steps follow it.
static bool after_node(void *context, const graph *g, const graph_node *node, void *const *values) {
  network_runner *r = context;
  (void)g;
  const int first = r->next;
  if (!run_node(r, node)) return false;
  const uint64_t compared = r->result->compared, wrong = r->result->wrong;
  const int last = last_of(r, node);
  if (last >= 0) {
    run_check_node(&r->machine, node, last, values, r->result);
    r->result->steps[last].compared += r->result->compared - compared;
    r->result->steps[last].wrong += r->result->wrong - wrong;
  }
  report(r, first);
  return true;
}

static bool run_checked(network_runner *r, wf_diag *diag) {
  const graph *g = r->net->graph;
  const graph_run_options options = {.after = after_node, .context = r, .file = g->name};
  void **outputs = WF_NEW_ARRAY((size_t)g->output_count + 1, void *);
  const double start = wf_process_seconds();
  const bool good = graph_run(g, r->config->inputs, outputs, &options, diag);
  r->result->check_seconds = wf_process_seconds() - start - r->result->run_seconds;
  wf_free(outputs);
  return good;
}

bool run_network(const network *net, const run_network_config *config, run_network_result *result, wf_diag *diag) {
  *result = (run_network_result){.steps = WF_NEW_ARRAY((size_t)net->step_count + 1, run_step_result)};
  network_runner r = {.net = net, .config = config, .result = result};
  find_lasts(&r);
  const bool good =
      run_machine_open(&r.machine, net, config, diag) && (config->check ? run_checked(&r, diag) : run_all(&r));
  if (good) {
    take_outputs(&r);
    result->has_units = run_session_units(r.machine.session, &result->units);
  }
  run_machine_close(&r.machine);
  wf_free(r.lasts);
  result->stopped = !good && wf_stop_wanted(config->stop);
  return good;
}

void run_network_release(const network *net, run_network_result *result) {
  for (int o = 0; result->outputs != NULL && o < net->graph->output_count; o++) wf_free(result->outputs[o]);
  wf_free(result->outputs);
  wf_free(result->digests);
  wf_free(result->steps);
  *result = (run_network_result){0};
}
