// SPDX-License-Identifier: Apache-2.0
// Steps of a slot as one step: see overlap.h.
#include "compiler/network/overlap/overlap.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "compiler/network/overlap/agenda.h"
#include "compiler/network/private.h"

// ---- one slot

static const char *list_of(const network *net, const network_step *parts, int count, bool names) {
  const char *text = "";
  for (int n = 0; n < count; n++)
    text = wf_arena_format(net->arena, "%s%s%s", text,
                           n == 0  ? ""
                           : names ? ".."
                                   : ", ",
                           names ? parts[n].name : parts[n].what);
  return text;
}

static void add_nodes(const network *net, network_step *step) {
  size_t most = 0;
  for (int n = 0; n < step->part_count; n++) most += 1 + (size_t)step->part[n].also_count;
  step->also = WF_ARENA_ARRAY(net->arena, most, const graph_node *);
  for (int n = 0; n < step->part_count; n++) {
    const network_step *part = &step->part[n];
    if (part->makes) step->also[step->also_count++] = part->node;
    for (int i = 0; i < part->also_count; i++) step->also[step->also_count++] = part->also[i];
  }
}

static network_place add_turns(network *net, const network_agenda *agenda) {
  const uint64_t bytes = (uint64_t)agenda->turn_count * sizeof *agenda->turns;
  return network_add_buffer(
      net, &(network_buffer){.name = "turns", .bytes = bytes, .contents = agenda->turns, .content_bytes = bytes});
}

// They are filled in when everything has its place.
static network_place add_commands(network *net, const network_agenda *agenda) {
  const uint64_t bytes = (uint64_t)agenda->command_count * sizeof(struct weft_host_command);
  return network_add_buffer(net, &(network_buffer){.name = "commands",
                                                   .bytes = bytes,
                                                   .contents = wf_arena_alloc(net->arena, (size_t)bytes + 1, 1),
                                                   .content_bytes = bytes,
                                                   .commands = agenda->commands});
}

static network_step make_step(network *net, network_step *parts, const uint64_t *cycles, int count) {
  const network_step **steps = WF_ARENA_ARRAY(net->arena, (size_t)count, const network_step *);
  for (int n = 0; n < count; n++) steps[n] = &parts[n];
  network_step step = {.node = parts[0].node, .place = GRAPH_ON_HOST, .part = parts, .part_count = count};
  step.name = list_of(net, parts, count, true);
  step.what = list_of(net, parts, count, false);
  for (int n = 0; n < count; n++) step.macs += parts[n].macs;
  add_nodes(net, &step);
  const network_agenda agenda = network_make_agenda(net, steps, cycles, count);
  agenda.calls[0].place[1] = add_turns(net, &agenda);
  agenda.calls[0].place[2] = add_commands(net, &agenda);
  step.calls = agenda.calls;
  step.call_count = agenda.call_count;
  return step;
}

// ---- all of them

static network_step *arrange(network *net, const network_slots *slots) {
  network_step *steps = WF_ARENA_ARRAY(net->arena, (size_t)slots->count + 1, network_step);
  const int *next = slots->steps;
  for (int s = 0; s < slots->count; next += slots->counts[s], s++) {
    const size_t count = (size_t)slots->counts[s];
    network_step *parts = WF_ARENA_ARRAY(net->arena, count, network_step);
    uint64_t *cycles = WF_ARENA_ARRAY(net->arena, count, uint64_t);
    for (size_t n = 0; n < count; n++) {
      parts[n] = net->steps[next[n]];
      cycles[n] = slots->cycles[next[n]];
    }
    steps[s] = count == 1 ? parts[0] : make_step(net, parts, cycles, (int)count);
  }
  return steps;
}

// ---- the order of the nodes

typedef struct ordered {
  int key, node;
} ordered;

static int compare(const void *a, const void *b) {
  const ordered *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->node > y->node) - (x->node < y->node);
}

// Nodes are done in the order of their last steps; one without steps, as soon as what it reads is.
static void find_keys(const network *net, ordered *keys) {
  const graph *g = net->graph;
  int *made = WF_NEW_ARRAY((size_t)g->tensor_count + 1, int);
  for (int n = 0; n < g->node_count; n++) keys[n] = (ordered){.key = -1, .node = n};
  for (int s = 0; s < net->step_count; s++) {
    const network_step *step = &net->steps[s];
    const int parts = step->part_count == 0 ? 1 : step->part_count;
    for (int p = 0; p < parts; p++) keys[(step->part_count == 0 ? step : &step->part[p])->node - g->nodes].key = s;
    for (int n = 0; n < step->also_count; n++) keys[step->also[n] - g->nodes].key = s;
  }
  for (int n = 0; n < g->node_count; n++) {
    const graph_node *node = &g->nodes[n];
    for (int i = 0; i < node->input_count && keys[n].key < 0; i++) {
      if (node->inputs[i] == GRAPH_NONE) continue;
      keys[n].key = wf_max(keys[n].key, made[node->inputs[i]]);
    }
    for (int o = 0; o < node->output_count; o++)
      if (node->outputs[o] != GRAPH_NONE) made[node->outputs[o]] = keys[n].key;
  }
  wf_free(made);
}

static void move_node(const network *net, const graph *to, const int *place, const graph_node **node) {
  *node = &to->nodes[place[*node - net->graph->nodes]];
}

static void move_nodes(const network *net, const graph *to, const int *place, network_step *step) {
  move_node(net, to, place, &step->node);
  for (int n = 0; n < step->also_count; n++) move_node(net, to, place, &step->also[n]);
  for (int p = 0; p < step->part_count; p++) move_nodes(net, to, place, &step->part[p]);
}

// The graph with its nodes in the order in which the steps make them: an interpreter beside the steps needs it.
static void follow_steps(network *net) {
  const size_t count = (size_t)net->graph->node_count;
  ordered *keys = WF_NEW_ARRAY(count + 1, ordered);
  int *place = WF_NEW_ARRAY(count + 1, int);
  find_keys(net, keys);
  qsort(keys, count, sizeof *keys, compare);
  graph *view = WF_ARENA_NEW(net->arena, graph);
  *view = *net->graph;
  view->nodes = WF_ARENA_ARRAY(net->arena, count + 1, graph_node);
  for (size_t n = 0; n < count; n++) {
    view->nodes[n] = net->graph->nodes[keys[n].node];
    place[keys[n].node] = (int)n;
  }
  for (int s = 0; s < net->step_count; s++) move_nodes(net, view, place, &net->steps[s]);
  net->graph = view;
  wf_free(keys);
  wf_free(place);
}

void network_overlap(network *net) {
  const network_slots *slots = net->options.slots;
  if (slots == NULL) return;
  net->steps = arrange(net, slots);
  net->step_count = slots->count;
  follow_steps(net);
}

// ---- addresses

static uint64_t word_of(const network *net, uint64_t word, network_place place) {
  return place.buffer < 0 ? word : word + network_address(net, place);
}

void network_fill_commands(network *net) {
  for (int b = 0; b < net->buffer_count; b++) {
    const network_slot_command *from = net->buffers[b].commands;
    if (from == NULL) continue;
    struct weft_host_command *to = (void *)(uintptr_t)net->buffers[b].contents;
    for (size_t c = 0; c < net->buffers[b].content_bytes / sizeof *to; c++)
      to[c] = (struct weft_host_command){.funct = from[c].funct,
                                         .rs1 = word_of(net, from[c].rs1, from[c].place_rs1),
                                         .rs2 = word_of(net, from[c].rs2, from[c].place_rs2)};
  }
}
