// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels of a network, one thread per job. Kernels share nothing but the array, which is only read; each
// thread collects its messages, so that they do not mix.
#include "compiler/compile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/tasks.h"
#include "compiler/layer/layer.h"
#include "compiler/network/private.h"

typedef struct shared {
  network *net;
  pthread_mutex_t lock;  // of what follows
  wf_diag *diag;
  bool good;
} shared;

// Takes the program out of the result, of which nothing else is needed.
static bool compile_kernel(const network *net, network_kernel *kernel, wf_diag *diag) {
  compile_request request = layer_request(kernel->call, net->options.array);
  request.tune = net->options.tune;
  request.judge = net->options.judge;
  request.straight = request.for_c = net->options.straight;
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

static void deliver(shared *s, const char *messages, unsigned errors, bool good) {
  pthread_mutex_lock(&s->lock);
  if (messages != NULL && s->diag->out != NULL) fputs(messages, s->diag->out);
  s->diag->errors += errors;
  s->good = s->good && good;
  pthread_mutex_unlock(&s->lock);
}

static void compile_one(void *context, size_t number) {
  shared *s = context;
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  const bool good = compile_kernel(s->net, &s->net->kernels[number], &diag);
  if (out != NULL) fclose(out);
  deliver(s, messages, diag.errors, good);
  free(messages);
}

// Constants of the program get places, like weights.
static void add_constants(network *net, network_kernel *kernel) {
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
static void widen(network *net, const network_step *step) {
  const command_program *program = net->kernels[step->kernel].program;
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

bool network_compile(network *net, wf_diag *diag) {
  shared s = {.net = net, .lock = PTHREAD_MUTEX_INITIALIZER, .diag = diag, .good = true};
  wf_run_tasks((size_t)net->kernel_count, net->options.jobs == 0 ? 1 : net->options.jobs, compile_one, &s);
  pthread_mutex_destroy(&s.lock);
  for (int k = 0; k < net->kernel_count; k++) net->compile_seconds += net->kernels[k].seconds;
  if (!s.good) return false;
  for (int k = 0; k < net->kernel_count; k++) add_constants(net, &net->kernels[k]);
  for (int n = 0; n < net->step_count; n++)
    if (net->steps[n].place == GRAPH_ON_ARRAY) widen(net, &net->steps[n]);
  return true;
}
