// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of a network, one thread per job. Kernels share nothing but the array, which is only read; each
// thread collects its messages, so that they do not mix.
#include "compiler/compile.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/tasks.h"
#include "compiler/layer/layer.h"
#include "compiler/network/private.h"
#include "isa/isa_fields.h"

typedef struct shared {
  network *net;
  pthread_mutex_t lock;  // of what follows
  wf_diag *diag;
  bool good;
} shared;

// Rows for the normaliser are commands already; only their loops are found, if they shall be.
static bool compile_unit(const network *net, network_kernel *kernel, wf_diag *diag) {
  const double start = wf_thread_seconds();
  kernel->program = network_unit_program(kernel->unit, net->options.array, diag);
  if (kernel->program != NULL) kernel->program = command_give_tokens(kernel->program);
  const bool good = kernel->program != NULL && command_prove(kernel->program, diag);
  if (!good) wf_hint(diag, "compiling %s for array %s", kernel->text, net->options.array->name);
  kernel->seconds = wf_thread_seconds() - start;
  return good;
}

void network_know_weights(const network_kernel *kernel, compile_request *request) {
  request->known_tensor = layer_kernels[kernel->call->kernel].weights;
  request->known = kernel->weights;
}

static bool brings_constants(const command_program *program) {
  for (int t = 0; t < program->tensor_count; t++)
    if (program->tensors[t].contents != NULL) return true;
  return false;
}

static bool has_loops(const command_program *program) {
  for (size_t n = 0; n < program->count; n++) {
    const command_node *node = &program->nodes[n];
    if (node->kind == COMMAND_INSN &&
        (node->insn.funct == ISA_FUNCT_LOOP_WS || node->insn.funct == ISA_FUNCT_LOOP_CONV_WS))
      return true;
  }
  return false;
}

// Takes the program out of the result, of which nothing else is needed.
static bool compile_kernel(const network *net, network_kernel *kernel, wf_diag *diag) {
  if (kernel->unit != NULL) return compile_unit(net, kernel, diag);
  compile_request request = layer_request(kernel->call, net->options.array);
  request.tuning.known = net->options.tuning.known;
  request.tuning.known_context = net->options.tuning.known_context;
  request.straight = request.for_c = net->options.straight;
  network_know_weights(kernel, &request);
  if (net->options.mapping != NULL) request.mapping = net->options.mapping(net->options.context, kernel->call);
  const double start = wf_thread_seconds();
  compile_result result = {0};
  const bool good = compile(&request, &result, diag);
  if (good) {
    kernel->program = result.commands;
    result.commands = NULL;
    kernel->mapping = result.mapping;
  } else {
    wf_hint(diag, "compiling %s for array %s", kernel->text, net->options.array->name);
  }
  compile_release(&result);
  kernel->seconds = wf_thread_seconds() - start;
  return good;
}

// Takes as much of the sums into one loop as half of the memories can hold: fewer loops, each of which lasts longer.
static void lengthen(const map_layer *layer, const hw_array *array, map_mapping *mapping) {
  const int64_t dim = hw_derive(array).dim, depth = layer->size[BLOCK_DIM_C];
  for (int64_t loops = 1; loops < mapping->dram[BLOCK_DIM_C]; loops++) {
    map_mapping longer = *mapping;
    longer.tile[BLOCK_DIM_C] = wf_align_up(wf_ceil_div(depth, loops), dim);
    longer.dram[BLOCK_DIM_C] = wf_ceil_div(depth, longer.tile[BLOCK_DIM_C]);
    if (!map_check(layer, &longer, array, NULL)) continue;
    *mapping = longer;
    return;
  }
}

// The kernel by the hardware's loops, where these can do it.
static void compile_loops(const network *net, network_kernel *kernel) {
  if (!net->options.loops || kernel->call == NULL || kernel->weights != NULL || !kernel->call->is_layer) return;
  wf_diag silent = wf_diag_to(NULL);
  const hw_array *array = net->options.array;
  map_mapping mapping;
  if (!map_default(&kernel->call->layer, array, NULL, BLOCK_STYLE_LOOP, &mapping, &silent)) return;
  lengthen(&kernel->call->layer, array, &mapping);
  compile_request request = layer_request(kernel->call, array);
  request.mapping = &mapping;
  compile_result result = {0};
  if (compile(&request, &result, &silent) && !brings_constants(result.commands) && has_loops(result.commands)) {
    kernel->loops = result.commands;
    result.commands = NULL;
  }
  compile_release(&result);
}

static void deliver(shared *s, const char *messages, unsigned errors, bool good) {
  pthread_mutex_lock(&s->lock);
  if (messages != NULL && s->diag->out != NULL) fputs(messages, s->diag->out);
  s->diag->errors += errors;
  s->good = s->good && good;
  pthread_mutex_unlock(&s->lock);
}

static void compile_one(void *context, size_t number) {
  shared *s = context;
  if (s->net->kernels[number].shared) return;
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  const bool good = compile_kernel(s->net, &s->net->kernels[number], &diag);
  if (good) compile_loops(s->net, &s->net->kernels[number]);
  if (out != NULL) fclose(out);
  deliver(s, messages, diag.errors, good);
  free(messages);
}

// ---- kernels that are only timed

// Scales take no time. Those that are equal stay so, and 1 and signs stay: kernels may leave a scale of 1 out.
static layer_call forget_scales(const layer_call *call) {
  layer_call plain = *call;
  for (int i = 0; i < plain.argument_count; i++) {
    lang_value *value = &plain.arguments[i].value;
    if (value->kind != LANG_FLOAT || !isfinite(value->number) || fabs(value->number) == 1) continue;
    int first = 0;
    while (!lang_value_equal(&call->arguments[first].value, &call->arguments[i].value)) first++;
    value->number = copysign(1.0 / (2 + first), value->number);
  }
  return plain;
}

// The kernel whose program another one takes: the first that is alike.
static int first_alike(const network *net, const layer_call *plain, int kernel) {
  int k = 0;
  while (k < kernel && (net->kernels[k].call == NULL || net->kernels[k].weights != net->kernels[kernel].weights ||
                        !layer_call_equal(&plain[k], &plain[kernel])))
    k++;
  return k;
}

// Marks kernels that take the program of another, or gives it to them.
static void share_programs(network *net, bool give) {
  layer_call *plain = WF_NEW_ARRAY((size_t)net->kernel_count + 1, layer_call);
  for (int k = 0; k < net->kernel_count; k++) {
    network_kernel *kernel = &net->kernels[k];
    if (kernel->call == NULL) continue;  // of the normaliser, or a curve
    plain[k] = forget_scales(kernel->call);
    const network_kernel *first = &net->kernels[first_alike(net, plain, k)];
    kernel->shared = first != kernel;
    if (!give || !kernel->shared) continue;
    kernel->program = first->program;
    kernel->mapping = first->mapping;
  }
  wf_free(plain);
}

// ---- what programs bring along

// Constants of the program get places, like weights.
void network_add_constants(network *net, network_kernel *kernel) {
  const command_program *program = kernel->program;
  kernel->constants = WF_ARENA_ARRAY(net->arena, (size_t)program->tensor_count, network_place);
  for (int t = 0; t < program->tensor_count; t++) {
    const command_tensor *tensor = &program->tensors[t];
    kernel->constants[t].buffer = -1;
    if (tensor->contents == NULL) continue;
    kernel->constants[t] = network_add_buffer(net, &(network_buffer){.name = tensor->name,
                                                                     .bytes = command_tensor_bytes(tensor),
                                                                     .contents = tensor->contents,
                                                                     .content_bytes = command_tensor_bytes(tensor)});
  }
}

// What the commands of a step reach of its operands' buffers, which may be more than the tensors.
static void widen_for(network *net, const network_step *step, const command_program *program) {
  for (int o = 0; o < step->operand_count; o++) {
    const network_operand *operand = &step->operands[o];
    if (operand->place.buffer < 0) continue;
    for (int t = 0; t < program->tensor_count; t++) {
      if (strcmp(program->tensors[t].name, operand->param) != 0) continue;
      network_buffer *buffer = &net->buffers[operand->place.buffer];
      const uint64_t end = operand->place.offset + command_tensor_bytes(&program->tensors[t]);
      if (buffer->bytes < end) buffer->bytes = end;
    }
  }
}

void network_widen(network *net, const network_step *step) {
  const network_kernel *kernel = &net->kernels[step->kernel];
  widen_for(net, step, kernel->program);
  if (kernel->loops != NULL && net->options.slots != NULL) widen_for(net, step, kernel->loops);
}

bool network_compile(network *net, wf_diag *diag) {
  shared s = {.net = net, .lock = PTHREAD_MUTEX_INITIALIZER, .diag = diag, .good = true};
  if (net->options.timing) share_programs(net, false);
  wf_run_tasks((size_t)net->kernel_count, net->options.jobs == 0 ? 1 : net->options.jobs, compile_one, &s);
  pthread_mutex_destroy(&s.lock);
  for (int k = 0; k < net->kernel_count; k++) net->compile_seconds += net->kernels[k].seconds;
  if (!s.good) return false;
  if (net->options.timing) share_programs(net, true);
  for (int k = 0; k < net->kernel_count; k++) network_add_constants(net, &net->kernels[k]);
  for (int n = 0; n < net->step_count; n++)
    if (net->steps[n].place == GRAPH_ON_ARRAY) network_widen(net, &net->steps[n]);
  return true;
}
