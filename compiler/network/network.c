// SPDX-License-Identifier: Apache-2.0
// From a placed graph to a network program: lower, compile, plan. See network.h.
#include "compiler/network/network.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "compiler/network/private.h"

static network *begin(const graph *g, const network_options *options) {
  network *net = WF_NEW(network);
  net->arena = wf_arena_create();
  net->graph = g;
  net->options = *options;
  net->tensors = WF_ARENA_ARRAY(net->arena, (size_t)g->tensor_count + 1, network_place);
  net->lies = WF_ARENA_ARRAY(net->arena, (size_t)g->tensor_count + 1, network_lie);
  for (int t = 0; t < g->tensor_count; t++) net->tensors[t].buffer = -1;
  return net;
}

network *network_sketch(const graph *g, const network_options *options, wf_diag *diag) {
  network *net = begin(g, options);
  if (network_lower_graph(net, diag)) return net;
  network_destroy(net);
  return NULL;
}

network *network_create(const graph *g, const network_options *options, wf_diag *diag) {
  network *net = begin(g, options);
  bool good = network_check_size(g, options->array, false, diag) && network_lower_graph(net, diag);
  if (good) network_chain(net);
  good = good && network_compile(net, diag) && network_fuse(net, diag);
  if (good) network_overlap(net);
  good = good && network_plan(net, diag);
  if (good) network_fill_commands(net);
  if (good) return net;
  network_destroy(net);
  return NULL;
}

void network_destroy(network *net) {
  if (net == NULL) return;
  for (int k = 0; k < net->kernel_count; k++) command_destroy(net->kernels[k].loops);
  for (int k = 0; k < net->kernel_count; k++)
    if (net->kernels[k].program != NULL && !net->kernels[k].shared) command_destroy(net->kernels[k].program);
  wf_arena_destroy(net->arena);
  wf_free(net);
}

// ---- text

static void print_place(const network *net, const char *what, network_place place, FILE *out) {
  if (place.buffer < 0) return;
  const network_buffer *buffer = &net->buffers[place.buffer];
  fprintf(out, "    %-10s 0x%08" PRIx64 " ", what, buffer->address + place.offset);
  wf_name_write(WF_NAME_TERMINAL, buffer->name, out);
  if (place.offset != 0) fprintf(out, " + %" PRIu64, place.offset);
  fputc('\n', out);
}

static void print_host(const network *net, const network_step *step, FILE *out) {
  for (int c = 0; c < step->call_count; c++) {
    const network_call *call = &step->calls[c];
    fputs("   ", out);
    for (unsigned d = 0; d < call->call.rank; d++)
      fprintf(out, "%s%" PRId64, d == 0 ? " [" : d == call->call.outer ? " | " : " ", call->call.dim[d]);
    fputs(call->call.rank == 0 ? " []\n" : "]\n", out);
    static const char *const names[WEFT_HOST_OPERANDS] = {"result", "x", "y", "z"};
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++) print_place(net, names[o], call->place[o], out);
  }
}

void network_print(const network *net, FILE *out) {
  fputs("network ", out);
  wf_name_write(WF_NAME_TERMINAL, net->graph->name, out);
  fprintf(out, " for array %s: %d steps, %d kernels, weights %" PRIu64 " bytes, arena %" PRIu64 " bytes\n",
          net->options.array->name, net->step_count, net->kernel_count, net->weight_bytes, net->arena_bytes);
  for (int s = 0; s < net->step_count; s++) {
    const network_step *step = &net->steps[s];
    fprintf(out, "  %4d ", s);
    wf_name_write(WF_NAME_TERMINAL, step->name, out);
    fprintf(out, ": %s %s\n", network_step_place(step), step->what);
    for (int o = 0; o < step->operand_count; o++)
      print_place(net, step->operands[o].param, step->operands[o].place, out);
    print_host(net, step, out);
  }
}
