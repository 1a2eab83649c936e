// SPDX-License-Identifier: Apache-2.0
// Networks: read or generate, quantise, compile, run. See weft.h.
#include <stdlib.h>
#include <string.h>

#include "api/job.h"
#include "api/run.h"
#include "api/steps.h"
#include "base/alloc.h"
#include "base/output.h"
#include "compiler/network/elf.h"

void api_network_drop(void *owner) {
  api_loaded *n = owner;
  if (atomic_fetch_sub(&n->users, 1) > 1) return;
  api_job_release(&n->job);
  wf_free(n->path);
  wf_free(n);
}

static const network *net_of(const weft_network *n) { return n->loaded->job.net; }

api_loaded *api_network_load(weft_session *s, const weft_array *array, const char *path,
                             const weft_network_options *o) {
  api_loaded *n = WF_NEW(api_loaded);
  n->users = 1;
  n->path = wf_strdup(path);
  n->job.array = *array;
  api_array_own(&n->job.array);
  if (api_job_open(s, &n->job, path, o)) return n;
  api_network_drop(n);
  return NULL;
}

weft_network *weft_network_compile(weft_session *s, const weft_array *array, const char *name_or_path,
                                   const weft_network_options *options) {
  weft_network_options o = {0};
  if (!api_begin(s, "network") || !api_given(s, array, "the array") || !api_given(s, name_or_path, "the network") ||
      !api_take(s, options, &o, sizeof o))
    return NULL;
  api_loaded *n =
      api_ways_asked(&o) ? api_ways_open(s, array, name_or_path, &o) : api_network_load(s, array, name_or_path, &o);
  if (n == NULL) return NULL;
  api_end(s, true, WEFT_OK);
  weft_network *handle = WF_NEW(weft_network);
  handle->loaded = n;
  return handle;
}

void weft_network_destroy(weft_network *n) {
  if (n == NULL) return;
  api_network_drop(n->loaded);
  wf_free(n);
}

weft_status weft_network_describe(const weft_network *n, weft_network_facts *facts) {
  if (n == NULL) return WEFT_USAGE;
  const network *net = net_of(n);
  const weft_network_facts full = {.name = net->graph->name,
                                   .steps = (uint64_t)net->step_count,
                                   .kernels = (uint64_t)net->kernel_count,
                                   .weight_bytes = net->weight_bytes,
                                   .arena_bytes = net->arena_bytes,
                                   .compile_seconds = net->compile_seconds,
                                   .arena_least_bytes = net->arena_least_bytes,
                                   .read_seconds = n->loaded->job.read_seconds,
                                   .quantise_seconds = n->loaded->job.quantise_seconds};
  return api_give(&full, sizeof full, facts);
}

weft_status weft_network_step(const weft_network *n, size_t index, weft_step *step) {
  if (n == NULL || index >= (size_t)net_of(n)->step_count) return WEFT_USAGE;
  api_step_texts texts;
  weft_step full = api_step_of(net_of(n), (int)index, NULL, &texts);
  full.bound = full.result = "";
  return api_give(&full, sizeof full, step);
}

// ---- files

static bool ends_in(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

static weft_status write_elf(weft_session *s, const weft_network *n, const char *path) {
  const network_elf_config config = {.inputs = (const void *const *)n->loaded->job.inputs, .jobs = n->loaded->job.jobs};
  const bool good = network_write_elf(net_of(n), &config, path, &s->diag) == COMMAND_ELF_DONE;
  return api_end(s, good, WEFT_CANNOT_BUILD);
}

weft_status weft_network_write(weft_session *s, const weft_network *n, const char *path) {
  if (!api_begin(s, "network") || !api_given(s, n, "the network") || !api_given(s, path, "the path")) return WEFT_USAGE;
  if (ends_in(path, ".elf")) return write_elf(s, n, path);
  if (!ends_in(path, ".steps")) return api_refuse(s, "the name of a network's file ends in .elf or .steps");
  FILE *out = wf_output_open(path, &s->diag);
  if (out != NULL) network_print(net_of(n), out);
  return api_end(s, out != NULL && wf_output_close(out, path, &s->diag), WEFT_BAD_INPUT);
}

char *weft_network_text(weft_session *s, const weft_network *n) {
  if (!api_begin(s, "network") || !api_given(s, n, "the network")) return NULL;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out != NULL) network_print(net_of(n), out);
  if (api_end(s, out != NULL && fclose(out) == 0, WEFT_CANNOT_BUILD) == WEFT_OK) return text;
  free(text);
  return NULL;
}

// ---- tensors

weft_tensor api_tensor_of(const graph *g, int tensor, bool written) {
  const graph_tensor *from = &g->tensors[tensor];
  weft_tensor to = {.name = from->name,
                    .type = graph_type_names[from->type],
                    .rank = from->rank,
                    .bytes = graph_bytes(from),
                    .read = !written,
                    .written = written};
  for (int d = 0; d < from->rank && d < WEFT_RANK_MAX; d++) to.dim[d] = from->dim[d];
  return to;
}

size_t weft_network_inputs(const weft_network *n) { return n == NULL ? 0 : (size_t)net_of(n)->graph->input_count; }
size_t weft_network_outputs(const weft_network *n) { return n == NULL ? 0 : (size_t)net_of(n)->graph->output_count; }

weft_status weft_network_input(const weft_network *n, size_t index, weft_tensor *tensor) {
  if (index >= weft_network_inputs(n)) return WEFT_USAGE;
  const weft_tensor full = api_tensor_of(net_of(n)->graph, net_of(n)->graph->inputs[index], false);
  return api_give(&full, sizeof full, tensor);
}

weft_status weft_network_output(const weft_network *n, size_t index, weft_tensor *tensor) {
  if (index >= weft_network_outputs(n)) return WEFT_USAGE;
  const weft_tensor full = api_tensor_of(net_of(n)->graph, net_of(n)->graph->outputs[index], true);
  return api_give(&full, sizeof full, tensor);
}
