// SPDX-License-Identifier: Apache-2.0
// Lowering, the common part: what every operator's function needs, and the table of these functions. See private.h.
#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/network/held.h"
#include "compiler/network/private.h"

// ---- refusals

bool network_lower_refuse(const network_lowering *l, const char *format, ...) {
  char text[256];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  wf_error(l->diag, wf_in_file(l->g->name), "node %s (%s) cannot be lowered: %s", l->node->name,
           graph_op_name(l->node->op), text);
  return false;
}

// ---- memory

network_place network_add_buffer(network *net, const network_buffer *buffer) {
  size_t count = (size_t)net->buffer_count;
  *WF_ARENA_PUSH(net->arena, net->buffers, count, &net->buffer_room) = *buffer;
  return (network_place){.buffer = net->buffer_count++};
}

static network_place add_buffer(network_lowering *l, const network_buffer *buffer) {
  return network_add_buffer(l->net, buffer);
}

network_place network_lower_rows(network_lowering *l, int tensor) {
  network_place *place = &l->net->tensors[tensor];
  if (place->buffer >= 0) return *place;
  const graph_tensor *t = network_lower_tensor(l, tensor);
  if (network_lower_is_columns(l, tensor)) {
    const network_columns *columns = &l->columns[tensor];
    const uint64_t element = graph_type_bytes(t->type);
    *place = network_lower_rows(l, columns->whole);
    place->offset += (uint64_t)columns->first * element;
    l->net->lies[tensor] = (network_lie){(uint64_t)t->dim[t->rank - 1] * element, (uint64_t)columns->pitch * element};
    return *place;
  }
  const uint64_t bytes = graph_bytes(t);
  *place = add_buffer(
      l, &(network_buffer){
             .name = t->name, .bytes = bytes, .contents = t->data, .content_bytes = t->data == NULL ? 0 : bytes});
  return *place;
}

network_place network_lower_place(network_lowering *l, int tensor) {
  assert(!network_lower_is_columns(l, tensor));
  return network_lower_rows(l, tensor);
}

void network_lower_same(network_lowering *l, int output, int input) {
  l->net->tensors[l->node->outputs[output]] = network_lower_place_of(l, input);
}

bool network_lower_is_output(const network_lowering *l, int tensor) {
  for (int o = 0; o < l->g->output_count; o++)
    if (l->g->outputs[o] == tensor) return true;
  return false;
}

bool network_lower_part(network_lowering *l, int output, network_place place) {
  const int tensor = l->node->outputs[output];
  const bool is_input = l->net->buffers[place.buffer].contents != NULL;
  if (!network_lower_is_output(l, tensor) && !is_input) {
    l->net->tensors[tensor] = place;
    return true;
  }
  const int64_t bytes = (int64_t)graph_bytes(network_lower_tensor(l, tensor));
  const network_lower_view from = network_lower_view_at(place, WEFT_I8, 1, &bytes),
                           to = network_lower_view_at(network_lower_result(l, output), WEFT_I8, 1, &bytes);
  network_lower_copy(l, &to, &from);
  return true;
}

network_place network_lower_scratch(network_lowering *l, uint64_t bytes) {
  return add_buffer(l, &(network_buffer){.name = l->node->name, .bytes = bytes});
}

network_place network_lower_constant(network_lowering *l, const char *name, const void *contents, uint64_t bytes) {
  return add_buffer(l, &(network_buffer){.name = name, .bytes = bytes, .contents = contents, .content_bytes = bytes});
}

void *network_lower_alloc(network_lowering *l, uint64_t bytes) {
  return wf_arena_alloc(l->net->arena, (size_t)bytes + 1, 1);
}

// ---- array steps

static network_step *add_step(network_lowering *l, graph_place place) {
  network *net = l->net;
  size_t count = (size_t)net->step_count++;
  network_step *step = WF_ARENA_PUSH(net->arena, net->steps, count, &net->step_room);
  *step = (network_step){.node = l->node, .place = place, .name = l->node->name, .what = ""};
  return step;
}

// `weights`: that are its own, or NULL.
static int find_kernel(network_lowering *l, const layer_call *call, const int8_t *weights, double zeros) {
  network *net = l->net;
  for (int k = 0; k < net->kernel_count; k++)
    if (net->kernels[k].call != NULL && net->kernels[k].weights == weights &&
        layer_call_equal(net->kernels[k].call, call))
      return k;
  layer_call *kept = WF_ARENA_NEW(net->arena, layer_call);
  *kept = *call;
  const lang_args arguments = layer_arguments(call);
  const char *text = lang_args_text(&arguments, net->arena);
  size_t count = (size_t)net->kernel_count;
  *WF_ARENA_PUSH(net->arena, net->kernels, count, &net->kernel_room) =
      (network_kernel){.call = kept,
                       .weights = weights,
                       .zeros = zeros,
                       .text = wf_arena_format(net->arena, "%s %s%s", layer_kernels[call->kernel].name, text,
                                               call->style == BLOCK_STYLE_LOOP ? " as loops" : "")};
  return net->kernel_count++;
}

static int find_unit_kernel(network_lowering *l, const network_unit *unit) {
  network *net = l->net;
  for (int k = 0; k < net->kernel_count; k++)
    if (net->kernels[k].unit != NULL && network_unit_equal(net->kernels[k].unit, unit)) return k;
  network_unit *kept = WF_ARENA_NEW(net->arena, network_unit);
  *kept = *unit;
  if (unit->held != NULL) kept->held = memcpy(WF_ARENA_NEW(net->arena, network_held), unit->held, sizeof *unit->held);
  const graph_unit *what = &unit->what;
  const char *gains = unit->held != NULL    ? wf_arena_format(net->arena, "0 depth=%lld", (long long)unit->held->depth)
                      : unit->curve != NULL ? wf_arena_format(net->arena, "%d ramps", unit->curve->count)
                      : what->offset != 0   ? wf_arena_format(net->arena, "%d offset=%d", what->gain[0], what->offset)
                      : what->two_copies    ? wf_arena_format(net->arena, "%d,%d", what->gain[0], what->gain[1])
                                            : wf_arena_format(net->arena, "%d", what->gain[0]);
  size_t count = (size_t)net->kernel_count;
  *WF_ARENA_PUSH(net->arena, net->kernels, count, &net->kernel_room) =
      (network_kernel){.unit = kept,
                       .text = wf_arena_format(net->arena, "%s rows=%lld cols=%lld gains=%s", network_unit_name(unit),
                                               (long long)unit->rows, (long long)unit->cols, gains)};
  return net->kernel_count++;
}

network_step *network_lower_unit(network_lowering *l, const network_unit *unit, network_place x, network_place y) {
  network_step *step = add_step(l, GRAPH_ON_ARRAY);
  step->kernel = find_unit_kernel(l, unit);
  step->what = l->net->kernels[step->kernel].text;
  network_lower_bind(step, NETWORK_UNIT_X, x);
  network_lower_bind(step, NETWORK_UNIT_Y, y);
  return step;
}

static network_step *add_call(network_lowering *l, const layer_call *call, const int8_t *weights, double zeros) {
  network_step *step = add_step(l, GRAPH_ON_ARRAY);
  step->kernel = find_kernel(l, call, weights, zeros);
  step->what = l->net->kernels[step->kernel].text;
  return step;
}

network_step *network_lower_array(network_lowering *l, const layer_call *call) { return add_call(l, call, NULL, 0); }

void network_lower_bind(network_step *step, const char *param, network_place place) {
  step->operands[step->operand_count++] = (network_operand){param, place};
}

layer_desc network_lower_sums(const network_lowering *l) {
  const graph_node *node = l->node;
  return (layer_desc){.map = {.groups = 1,
                              .bias = network_lower_has(node, 2),
                              .residual = network_lower_has(node, 3) ? graph_int(node, "factor", 1) : 0,
                              .result_bytes = graph_find_attribute(node, "scale") != NULL ? 1 : 4},
                      .scale = (double)graph_float(node, "scale", 1),
                      .relu = graph_int(node, "relu", 0) != 0};
}

network_step *network_lower_layer(network_lowering *l, const layer_desc *layer,
                                  const network_lower_operands *operands) {
  layer_call call;
  const bool known = layer_call_of(layer, l->array, &call, l->diag);
  assert(known);
  (void)known;
  const layer_kernel_entry *kernel = &layer_kernels[call.kernel];
  double zeros = 0;
  const int8_t *weights = network_lower_own_weights(l, layer, call.kernel, operands, &zeros);
  if (weights != NULL && !operands->beside) call.layer.zeros = zeros;  // else the estimate knew what it chose
  network_step *step = add_call(l, &call, weights, zeros);
  network_lower_bind(step, kernel->inputs, operands->inputs);
  if (kernel->weights != NULL) network_lower_bind(step, kernel->weights, operands->weights);
  if (layer->map.bias) network_lower_bind(step, LAYER_BIAS, operands->bias);
  if (layer->map.residual != 0) network_lower_bind(step, LAYER_RESIDUAL, operands->residual);
  network_lower_bind(step, kernel->results, operands->results);
  if (layer->map.kind != MAP_WINDOW) step->macs = (uint64_t)map_macs(&layer->map);
  return step;
}

network_scheme network_lower_scheme(const network_lowering *l) {
  const network_options *o = &l->net->options;
  const network_scheme *given = o->scheme == NULL ? NULL : o->scheme(o->scheme_context, l->node);
  return given == NULL ? (network_scheme){.way = NETWORK_BY_RULES} : *given;
}

// ---- host steps

network_step *network_lower_host(network_lowering *l) { return add_step(l, GRAPH_ON_HOST); }

static const char *const host_op_names[] = {
#define WEFT_HOST_OP(NAME, text, inputs) text,
#include "weft/host_ops.def"
};

const char *network_host_op_name(enum weft_host_op op) { return host_op_names[op]; }

network_call *network_lower_call(network_lowering *l, network_step *step, enum weft_host_op op) {
  wf_arena *arena = l->net->arena;
  size_t count = (size_t)step->call_count++;
  network_call *call = WF_ARENA_PUSH(arena, step->calls, count, &step->call_room);
  *call = (network_call){.call = {.op = (uint32_t)op}};
  for (int o = 0; o < WEFT_HOST_OPERANDS; o++) call->place[o].buffer = -1;
  step->what =
      step->call_count == 1 ? host_op_names[op] : wf_arena_format(arena, "%s, %s", step->what, host_op_names[op]);
  return call;
}

uint32_t network_lower_type_bytes(enum weft_host_type type) {
  static const uint32_t bytes[WEFT_HOST_TYPES] = {4, 1, 1, 4, 8, 1, 8, 2, 2, 4, 8};
  return bytes[type];
}

network_lower_view network_lower_view_at(network_place place, enum weft_host_type type, int rank, const int64_t *dim) {
  network_lower_view view = {
      .place = place, .type = type, .element_bytes = network_lower_type_bytes(type), .rank = rank};
  int64_t step = view.element_bytes;
  for (int d = rank - 1; d >= 0; d--) {
    view.dim[d] = dim[d];
    view.step[d] = step;
    step *= dim[d];
  }
  return view;
}

bool network_lower_view_of(network_lowering *l, int tensor, network_lower_view *view) {
  static const struct {
    graph_type from;
    enum weft_host_type to;
  } types[] = {{GRAPH_F32, WEFT_F32}, {GRAPH_I8, WEFT_I8},     {GRAPH_U8, WEFT_U8},   {GRAPH_I32, WEFT_I32},
               {GRAPH_I64, WEFT_I64}, {GRAPH_BOOL, WEFT_BOOL}, {GRAPH_F64, WEFT_F64}, {GRAPH_I16, WEFT_I16},
               {GRAPH_U16, WEFT_U16}, {GRAPH_U32, WEFT_U32},   {GRAPH_U64, WEFT_U64}};
  const graph_tensor *t = network_lower_tensor(l, tensor);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (types[i].from != t->type) continue;
    *view = network_lower_view_at(network_lower_rows(l, tensor), types[i].to, t->rank, t->dim);
    if (t->rank > 0) network_lower_spread(view, t->dim[t->rank - 1], network_lower_pixel(l, tensor));
    return true;
  }
  return network_lower_refuse(l, "tensor %s has type %s, which the host's operators lack", t->name,
                              graph_type_names[t->type]);
}

network_lower_view network_lower_broadcast(const network_lower_view *view, int rank, const int64_t *dim) {
  network_lower_view wide = *view;
  wide.rank = rank;
  const int more = rank - view->rank;
  for (int d = 0; d < rank; d++) {
    wide.dim[d] = dim[d];
    wide.step[d] = d < more || view->dim[d - more] == 1 ? 0 : view->step[d - more];
  }
  return wide;
}

void network_lower_set(network_call *call, int operand, const network_lower_view *view) {
  struct weft_host_operand *o = &call->call.operand[operand];
  call->place[operand] = view->place;
  o->type = (uint32_t)view->type;
  o->element_bytes = view->element_bytes;
  for (int d = 0; d < view->rank; d++) o->step[d] = view->step[d];
  if (operand != 0) return;
  call->call.rank = call->call.outer = (uint32_t)view->rank;
  for (int d = 0; d < view->rank; d++) call->call.dim[d] = view->dim[d];
}

static void drop_dim(struct weft_host_call *c, uint32_t dim) {
  for (uint32_t d = dim; d + 1 < c->rank; d++) {
    c->dim[d] = c->dim[d + 1];
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++) c->operand[o].step[d] = c->operand[o].step[d + 1];
  }
  c->rank--;
  if (dim < c->outer) c->outer--;
}

// Dimension d and the next one walk through memory like one.
static bool is_one(const struct weft_host_call *c, uint32_t d) {
  if (d + 1 == c->outer) return false;
  for (int o = 0; o < WEFT_HOST_OPERANDS; o++)
    if (c->operand[o].step[d] != c->operand[o].step[d + 1] * c->dim[d + 1]) return false;
  return true;
}

static void swap_dims(struct weft_host_call *c, uint32_t a, uint32_t b) {
  const int64_t dim = c->dim[a];
  c->dim[a] = c->dim[b], c->dim[b] = dim;
  for (int o = 0; o < WEFT_HOST_OPERANDS; o++) {
    int64_t *step = c->operand[o].step, one = step[a];
    step[a] = step[b], step[b] = one;
  }
}

// The order of the outer dimensions is free: a long one goes innermost if the innermost is short, because each row
// costs the hart as much as some elements.
static void lengthen_rows(struct weft_host_call *c) {
  enum { SHORT = 8 };
  if (c->outer != c->rank || c->rank < 2 || c->dim[c->rank - 1] >= SHORT) return;
  uint32_t longest = c->rank - 1;
  for (uint32_t d = c->rank - 1; d-- > 0;)
    if (c->dim[d] > c->dim[longest]) longest = d;
  swap_dims(c, longest, c->rank - 1);
}

void network_lower_squeeze(network_call *call) {
  struct weft_host_call *c = &call->call;
  for (uint32_t d = 0; d < c->rank;) {
    const bool is_last_inner = c->outer + 1 == c->rank && d == c->outer;
    if (c->dim[d] == 1 && !is_last_inner)
      drop_dim(c, d);
    else
      d++;
  }
  for (uint32_t d = 0; d + 1 < c->rank;) {
    if (!is_one(c, d)) {
      d++;
      continue;
    }
    c->dim[d + 1] *= c->dim[d];
    drop_dim(c, d);
  }
  lengthen_rows(c);
}

// ---- the graph

typedef struct network_lower_entry {
  graph_op op;
  network_lower_node *lower;
} network_lower_entry;

static const network_lower_entry entries[] = {
#define LOWER(OP, function) {GRAPH_OP_##OP, function},
#include "compiler/network/lower.def"
#undef LOWER
};

static network_lower_node *find_lowering(graph_op op) {
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (entries[i].op == op) return entries[i].lower;
  return NULL;
}

// The hart's loops run at least once. A call without points is left out; inner loops without elements, whose result the
// call writes all the same, become one loop without elements, the last, which the operators take.
static bool has_points(struct weft_host_call *call) {
  bool inner = true;
  for (unsigned d = 0; d < call->outer; d++)
    if (call->dim[d] == 0) return false;
  for (unsigned d = call->outer; d < call->rank; d++) inner = inner && call->dim[d] > 0;
  for (unsigned d = call->outer; !inner && d < call->rank; d++) call->dim[d] = d + 1 == call->rank ? 0 : 1;
  return true;
}

static void leave_out_empty_calls(network *net, int first) {
  int kept_steps = first;
  for (int s = first; s < net->step_count; s++) {
    network_step *step = &net->steps[s];
    const int calls = step->call_count;
    step->call_count = 0;
    for (int c = 0; c < calls; c++)
      if (has_points(&step->calls[c].call)) step->calls[step->call_count++] = step->calls[c];
    if (calls == 0 || step->call_count > 0) net->steps[kept_steps++] = *step;
  }
  net->step_count = kept_steps;
}

static bool network_lower_one(network_lowering *l, const graph_node *node) {
  l->node = node;
  network_lower_node *lower = find_lowering(node->op);
  if (lower == NULL) return network_lower_refuse(l, "neither the array nor the host has this operator");
  const int steps = l->net->step_count;
  if (!lower(l)) return false;
  leave_out_empty_calls(l->net, steps);
  if (l->net->step_count > steps) l->net->steps[l->net->step_count - 1].makes = true;
  return true;
}

bool network_lower_graph(network *net, wf_diag *diag) {
  network_lowering l = {.net = net, .g = net->graph, .array = net->options.array, .diag = diag};
  bool good = true;
  network_lower_index(&l, net->arena);
  for (int n = 0; n < l.g->node_count; n++) good = network_lower_one(&l, &l.g->nodes[n]) && good;
  for (int i = 0; i < l.g->input_count; i++) network_lower_place(&l, l.g->inputs[i]);
  for (int o = 0; o < l.g->output_count && good; o++) network_lower_place(&l, l.g->outputs[o]);
  return good;
}
