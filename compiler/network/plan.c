// SPDX-License-Identifier: Apache-2.0
// Where everything lies: constants one after the other, then one arena for what lives only for some steps.
//
// A result of the array never takes the place of an operand: in-place residuals cost 0.5 % more cycles on ResNet-50,
// because the next layer finds less of its input in the L2. A result of the hart or the normaliser does where it can,
// if the step finishes with each element before it writes there: the hart's data cache has the line already, which for
// a new one would have to come from main memory, and operand and result together may be more than the L2 holds.
// Buffers start at lines of 64 bytes.
// What wide loads read behind an end is memory, and stores write only what belongs to the tensor.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/network/arena.h"
#include "compiler/network/private.h"

static uint64_t in_lines(uint64_t bytes) { return (bytes + NETWORK_LINE - 1) / NETWORK_LINE * NETWORK_LINE; }

// ---- lives

static void use(network *net, network_place place, int step) {
  if (place.buffer < 0) return;
  network_buffer *buffer = &net->buffers[place.buffer];
  if (step < buffer->first) buffer->first = step;
  if (step > buffer->last) buffer->last = step;
}

static void use_constants(network *net, const network_kernel *kernel, int step) {
  for (int t = 0; t < kernel->program->tensor_count; t++) use(net, kernel->constants[t], step);
}

// An output without a reader stays, too, until its node is done: an observer of the node's result then finds it.
static void use_outputs(network *net, const graph_node *node, int step) {
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE) use(net, net->tensors[node->outputs[o]], step);
}

static void use_step(network *net, const network_step *step, int s) {
  for (int o = 0; o < step->operand_count; o++) use(net, step->operands[o].place, s);
  if (step->place == GRAPH_ON_ARRAY) use_constants(net, &net->kernels[step->kernel], s);
  for (int c = 0; c < step->call_count; c++)
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++) use(net, step->calls[c].place[o], s);
  if (step->makes) use_outputs(net, step->node, s);
  for (int n = 0; n < step->also_count; n++) use_outputs(net, step->also[n], s);
  for (int p = 0; p < step->part_count; p++) use_step(net, &step->part[p], s);
}

static void find_lives(network *net) {
  const graph *g = net->graph;
  for (int b = 0; b < net->buffer_count; b++) {
    net->buffers[b].first = net->step_count;
    net->buffers[b].last = -1;
  }
  for (int s = 0; s < net->step_count; s++) use_step(net, &net->steps[s], s);
  for (int i = 0; i < g->input_count; i++) use(net, net->tensors[g->inputs[i]], -1);
  for (int i = 0; i < g->output_count; i++) use(net, net->tensors[g->outputs[i]], net->step_count);
}

// ---- results in the place of an operand

// The operand that the result may overwrite; 0: none.
static int overwritten(const struct weft_host_call *call) {
  static const struct {
    enum weft_host_op op;
    int operand;
  } rows[] = {{WEFT_HOST_LUT, 1},
              {WEFT_HOST_QSOFTMAX, 1},
              {WEFT_HOST_QNORMALIZE, 1},
              {WEFT_HOST_QNORMALIZE_SUMS, 1},
              {WEFT_HOST_QCELL, 3}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct weft_host_operand *y = &call->operand[0], *x = &call->operand[rows[i].operand];
    if (call->op != (uint32_t)rows[i].op) continue;
    return y->element_bytes == x->element_bytes && memcmp(y->step, x->step, sizeof y->step) == 0 ? rows[i].operand : 0;
  }
  return 0;
}

static bool is_whole_arena(const network *net, network_place place) {
  return place.buffer >= 0 && place.offset == 0 && net->buffers[place.buffer].contents == NULL;
}

// Result and operand of a step that finishes with its operand, row by row or element by element, before it writes
// there: calls of the hart, and kernels of the normaliser, whose x and y are its only operands.
static bool find_in_place(const network *net, const network_step *step, network_place *x, network_place *y) {
  if (step->place == GRAPH_ON_ARRAY) {
    if (net->kernels[step->kernel].unit == NULL) return false;
    *x = step->operands[0].place;
    *y = step->operands[1].place;
    return true;
  }
  const int operand = step->call_count == 1 && step->part_count == 0 ? overwritten(&step->calls[0].call) : 0;
  if (operand == 0) return false;
  *y = step->calls[0].place[0];
  *x = step->calls[0].place[operand];
  return true;
}

// The result lives on where the operand ends.
static void share(network *net, int s) {
  const network_step *step = &net->steps[s];
  network_place x, y;
  if (!find_in_place(net, step, &x, &y)) return;
  if (!is_whole_arena(net, x) || !is_whole_arena(net, y) || x.buffer == y.buffer) return;
  network_buffer *from = &net->buffers[x.buffer], *to = &net->buffers[y.buffer];
  if (from->last != s || to->first != s || from->bytes < to->bytes) return;
  to->home = from->home == NULL ? from : from->home;
  to->home->until = to->last;
}

static void share_places(network *net) {
  for (int b = 0; b < net->buffer_count; b++) {
    net->buffers[b].home = NULL;
    net->buffers[b].until = net->buffers[b].last;
  }
  for (int s = 0; s < net->step_count; s++) share(net, s);
}

// ---- places

static bool has_own_place(const network_buffer *b) {
  return b->contents == NULL && b->home == NULL && b->last >= b->first;
}

static void place_arena(network *net) {
  network_piece *pieces = WF_NEW_ARRAY((size_t)net->buffer_count + 1, network_piece);
  size_t count = 0;
  for (int b = 0; b < net->buffer_count; b++) {
    const network_buffer *buffer = &net->buffers[b];
    if (has_own_place(buffer))
      pieces[count++] =
          (network_piece){.bytes = in_lines(buffer->bytes), .first = buffer->first, .until = buffer->until};
  }
  net->arena_least_bytes = network_arena_least(pieces, count);
  net->arena_bytes = network_arena_place(pieces, count);
  count = 0;
  for (int b = 0; b < net->buffer_count; b++)
    if (has_own_place(&net->buffers[b])) net->buffers[b].address = pieces[count++].address;
  wf_free(pieces);
  for (int b = 0; b < net->buffer_count; b++)
    if (net->buffers[b].home != NULL) net->buffers[b].address = net->buffers[b].home->address;
}

static uint64_t place_constants(network *net, uint64_t start) {
  uint64_t at = start;
  for (int b = 0; b < net->buffer_count; b++) {
    network_buffer *buffer = &net->buffers[b];
    if (buffer->contents == NULL || buffer->last < buffer->first) continue;
    buffer->address = at;
    at += in_lines(buffer->bytes);
  }
  net->weight_bytes = at - start;
  return at;
}

static bool is_unread(const command_program *program, const char *param) {
  for (int t = 0; t < program->tensor_count; t++)
    if (strcmp(program->tensors[t].name, param) == 0) return !program->tensors[t].read && !program->tensors[t].written;
  return false;
}

// A kernel that has packed its weights needs no others.
static void forget_weights(const network *net, network_step *step) {
  int left = 0;
  if (step->place != GRAPH_ON_ARRAY || net->kernels[step->kernel].weights == NULL) return;
  for (int o = 0; o < step->operand_count; o++)
    if (!is_unread(net->kernels[step->kernel].program, step->operands[o].param))
      step->operands[left++] = step->operands[o];
  step->operand_count = left;
}

bool network_plan(network *net, wf_diag *diag) {
  for (int s = 0; s < net->step_count; s++) forget_weights(net, &net->steps[s]);
  find_lives(net);
  share_places(net);
  const uint64_t start = place_constants(net, ARCH_MEMORY_BASE + NETWORK_RESERVED);
  place_arena(net);
  for (int b = 0; b < net->buffer_count; b++)
    if (net->buffers[b].contents == NULL) net->buffers[b].address += start;
  net->end = start + net->arena_bytes;
  const uint64_t size = (uint64_t)net->options.array->memory.capacity_mib << 20;
  if (net->end - ARCH_MEMORY_BASE <= size) return true;
  wf_error(diag, wf_in_file(net->graph->name),
           "weights of %" PRIu64 " bytes and activations of %" PRIu64 " bytes do not fit in main memory of %" PRIu64
           " MiB",
           net->weight_bytes, net->arena_bytes, size >> 20);
  wf_hint(diag, "raise memory.capacity_mib of the array");
  return false;
}

// ---- addresses

network_place network_operand_of(const network_step *step, const char *param) {
  for (int o = 0; o < step->operand_count; o++)
    if (strcmp(step->operands[o].param, param) == 0) return step->operands[o].place;
  return (network_place){.buffer = -1};
}

void network_layout(const network *net, const network_step *step, uint64_t *address) {
  const network_kernel *kernel = &net->kernels[step->kernel];
  for (int t = 0; t < kernel->program->tensor_count; t++) {
    const network_place constant = kernel->constants[t];
    address[t] = network_address(
        net, constant.buffer >= 0 ? constant : network_operand_of(step, kernel->program->tensors[t].name));
  }
}
