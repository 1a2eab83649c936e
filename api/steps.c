// SPDX-License-Identifier: Apache-2.0
// Steps of networks: see steps.h.
#include "api/steps.h"

#include <inttypes.h>
#include <string.h>

weft_step api_step_of(const network *net, int number, const run_step_result *result, api_step_texts *texts) {
  const network_step *step = &net->steps[number];
  api_shape_text(net->graph, step->node, texts->shape, sizeof texts->shape);
  texts->bound[0] = '\0';
  weft_step full = {.size = sizeof full,
                    .name = step->name,
                    .operation = graph_op_name(step->node->op),
                    .kind = network_step_place(step),
                    .program = step->what,
                    .bound = texts->bound,
                    .edge = step->edge,
                    .macs = step->macs,
                    .result = texts->shape,
                    .reason = step->node->reason,
                    .makes = step->makes,
                    .products = step->macs != 0,
                    .parts = (uint32_t)step->part_count};
  if (result == NULL) return full;
  const run_step_result *r = result;
  const run_step_figures f = run_step_figures_of(net, step, r);
  snprintf(texts->bound, sizeof texts->bound, "%s", f.bound);
  full.macs = r->macs;
  full.cycles = r->cycles;
  full.commands = r->commands;
  full.read_bytes = r->units.bus_read_bytes;
  full.written_bytes = r->units.bus_written_bytes;
  full.utilisation = f.utilisation;
  full.energy_uj = f.energy_uj;
  full.array_energy_uj = f.run.array_pj / 1e6;
  full.compared = r->compared;
  full.wrong = r->wrong;
  full.start = r->start;
  full.timed = r->timed;
  full.counted = r->has_units;
  full.has_energy = f.has_energy;
  return full;
}

// ---- texts

void api_shape_text(const graph *g, const graph_node *node, char *text, size_t size) {
  api_tensor_text(&g->tensors[node->outputs[0]], text, size);
}

void api_tensor_text(const graph_tensor *t, char *text, size_t size) {
  size_t length = (size_t)snprintf(text, size, "%s[", graph_type_names[t->type]);
  for (int d = 0; d < t->rank && length < size; d++)
    length += (size_t)snprintf(text + length, size - length, "%s%" PRId64, d == 0 ? "" : ",", t->dim[d]);
  if (length < size) snprintf(text + length, size - length, "]");
}

// Where a name's last part may begin.
static size_t up_to_separator(const char *name, size_t length) {
  while (length > 0 && name[length - 1] != '/' && name[length - 1] != '.') length--;
  return length;
}

size_t api_steps_prefix(const network *net) {
  const char *first = NULL;
  size_t length = 0;
  for (int s = 0; s < net->step_count; s++) {
    const char *name = net->steps[s].name;
    if (net->steps[s].edge) continue;
    if (first == NULL) length = strlen(first = name);
    size_t same = 0;
    while (same < length && name[same] == first[same]) same++;
    length = same;
  }
  return first == NULL ? 0 : up_to_separator(first, length);
}
