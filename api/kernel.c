// SPDX-License-Identifier: Apache-2.0
// Kernels: compile, describe, run on data of the caller. See weft.h.
#include <stdlib.h>
#include <string.h>

#include "api/run.h"
#include "base/alloc.h"
#include "base/file.h"
#include "compiler/compile.h"
#include "runner/judge.h"

enum { TEXT_MAX = 1 << 26 };  // bytes of a source or a mapping

struct weft_kernel {
  hw_array array;  // of which the commands are
  compile_result result;
  char *name, *mapping;
  uint64_t macs;
  int *tensors;  // tensors of the program that the caller gives
  size_t tensor_count;
};

// ---- compilation

static bool set_choices(weft_session *s, const weft_kernel_options *o, compile_request *request) {
  const int language = api_choice(s, "language", o->language, compile_language_names, COMPILE_LANGUAGES);
  if (language < 0) return false;
  request->from = (compile_language)language;
  if (o->tune <= MAP_BEST_MAX) return true;
  api_refuse(s, "tune is at most %d", MAP_BEST_MAX);
  return false;
}

// The source, to be freed; NULL after an error was reported.
static char *read_source(const weft_kernel_options *o, size_t *length, wf_diag *diag) {
  *length = o->text != NULL && o->length == 0 ? strlen(o->text) : o->length;
  char *text = NULL;
  if (o->text == NULL) text = wf_read_file(o->file, TEXT_MAX, length, diag);
  if (o->text != NULL && *length <= TEXT_MAX) {
    text = wf_alloc(*length + 1, 1);
    memcpy(text, o->text, *length);
    text[*length] = '\0';
  }
  if (*length <= TEXT_MAX) return text;
  wf_error(diag, wf_in_file(o->file), "is larger than %d MiB", TEXT_MAX >> 20);
  wf_free(text);
  return NULL;
}

static bool compile_source(const weft_kernel_options *o, weft_kernel *k, compile_request *request, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  map_mapping mapping;
  bool good = o->arguments == NULL || lang_read_args(o->arguments, arena, &request->arguments, diag);
  if (good && o->mapping != NULL) {
    good = map_parse(&mapping, "mapping", o->mapping, strlen(o->mapping), diag);
    request->mapping = &mapping;
  }
  good = good && compile(request, &k->result, diag);
  wf_arena_destroy(arena);
  return good;
}

// ---- description

static char *mapping_text(const map_mapping *mapping) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (out == NULL) return NULL;
  map_print(mapping, out);
  fclose(out);
  return text;
}

// Neither a constant nor memory that the compiler works in.
static bool is_callers(const compile_result *r, int t) {
  const bool working = r->block != NULL && t < r->block->tensor_count && r->block->tensors[t].working;
  return r->commands->tensors[t].contents == NULL && !working;
}

static void describe(weft_kernel *k) {
  const compile_result *r = &k->result;
  k->name = wf_strdup(r->instance != NULL ? r->instance->kernel->name : r->commands->name);
  if (r->mapped) k->mapping = mapping_text(&r->mapping);
  if (r->mapped) k->macs = command_useful_macs(r->commands, (uint64_t)map_macs(&r->layer));
  k->tensors = WF_NEW_ARRAY((size_t)r->commands->tensor_count + 1, int);
  for (int t = 0; t < r->commands->tensor_count; t++)
    if (is_callers(r, t)) k->tensors[k->tensor_count++] = t;
}

weft_kernel *weft_kernel_compile(weft_session *s, const weft_array *array, const weft_kernel_options *options) {
  weft_kernel_options o = {0};
  if (!api_begin(s, "kernel") || !api_given(s, array, "the array") || !api_given(s, options, "the options") ||
      !api_take(s, options, &o, sizeof o))
    return NULL;
  if (o.file == NULL && o.text == NULL) return api_refuse(s, "neither a file nor a text is given"), NULL;
  if (o.file == NULL) o.file = "kernel";
  weft_kernel *k = WF_NEW(weft_kernel);
  k->array = array->array;
  compile_request request = {.file = o.file,
                             .array = &k->array,
                             .kernel = o.kernel,
                             .autotune = o.autotune,
                             .tuning = run_tuning(o.tune, RUN_FIDELITY_CYCLE, COMPILE_CYCLES),
                             .straight = true};
  if (!set_choices(s, &o, &request)) return weft_kernel_destroy(k), NULL;
  bool good = hw_array_check(&k->array, k->array.name, &s->diag);
  char *text = good ? read_source(&o, &request.length, &s->diag) : NULL;
  request.text = text;
  good = text != NULL && compile_source(&o, k, &request, &s->diag);
  wf_free(text);
  if (good) describe(k);
  if (api_end(s, good, k->result.block != NULL ? WEFT_CANNOT_BUILD : WEFT_BAD_INPUT) == WEFT_OK) return k;
  weft_kernel_destroy(k);
  return NULL;
}

void weft_kernel_destroy(weft_kernel *k) {
  if (k == NULL) return;
  compile_release(&k->result);
  wf_free(k->name);
  free(k->mapping);
  wf_free(k->tensors);
  wf_free(k);
}

weft_status weft_kernel_describe(const weft_kernel *k, weft_kernel_facts *facts) {
  if (k == NULL) return WEFT_USAGE;
  const weft_kernel_facts full = {.name = k->name,
                                  .commands = command_executions(k->result.commands),
                                  .macs = k->macs,
                                  .mapping_hash = k->result.mapped ? map_hash(&k->result.mapping) : 0};
  return api_give(&full, sizeof full, facts);
}

const char *weft_kernel_mapping(const weft_kernel *k) { return k == NULL || k->mapping == NULL ? "" : k->mapping; }

// ---- tensors

size_t weft_kernel_tensors(const weft_kernel *k) { return k == NULL ? 0 : k->tensor_count; }

// As the source knows it: commands may read some bytes behind it.
static uint64_t elements_of(const weft_kernel *k, int tensor) {
  const compile_result *r = &k->result;
  return r->block == NULL ? r->commands->tensors[tensor].elements : (uint64_t)r->block->tensors[tensor].elements;
}

static size_t bytes_of(const weft_kernel *k, int tensor) {
  return elements_of(k, tensor) * k->result.commands->tensors[tensor].element_bytes;
}

weft_status weft_kernel_tensor(const weft_kernel *k, size_t index, weft_tensor *tensor) {
  if (index >= weft_kernel_tensors(k)) return WEFT_USAGE;
  const int t = k->tensors[index];
  const command_tensor *from = &k->result.commands->tensors[t];
  const weft_tensor full = {.name = from->name,
                            .type = from->element_bytes == 1 ? "i8"
                                    : from->is_float         ? "f32"
                                                             : "i32",
                            .rank = 1,
                            .dim = {(int64_t)elements_of(k, t)},
                            .bytes = bytes_of(k, t),
                            .read = from->read,
                            .written = from->written};
  return api_give(&full, sizeof full, tensor);
}

// ---- runs

// Copies of the caller's tensors, constants beside them, each with the bytes that commands may reach.
static void **copy_in(const weft_kernel *k, void *const *buffers) {
  const command_program *program = k->result.commands;
  void **copies = WF_NEW_ARRAY((size_t)program->tensor_count + 1, void *);
  for (int t = 0; t < program->tensor_count; t++) {
    const size_t bytes = command_tensor_bytes(&program->tensors[t]), own = bytes_of(k, t);
    copies[t] = wf_calloc((bytes > own ? bytes : own) + 1, 1);
    if (program->tensors[t].contents != NULL) memcpy(copies[t], program->tensors[t].contents, bytes);
  }
  for (size_t i = 0; i < k->tensor_count && buffers != NULL; i++)
    if (buffers[i] != NULL) memcpy(copies[k->tensors[i]], buffers[i], bytes_of(k, k->tensors[i]));
  return copies;
}

static void copy_out(const weft_kernel *k, void **copies, void *const *buffers, bool good) {
  for (size_t i = 0; i < k->tensor_count && good && buffers != NULL; i++)
    if (buffers[i] != NULL && k->result.commands->tensors[k->tensors[i]].written)
      memcpy(buffers[i], copies[k->tensors[i]], bytes_of(k, k->tensors[i]));
  for (int t = 0; t < k->result.commands->tensor_count; t++) wf_free(copies[t]);
  wf_free(copies);
}

static void tell(void *context, uint64_t commands) {
  weft_session *s = context;
  api_progress(s, commands, 0, "commands");
}

weft_run *weft_kernel_run(weft_session *s, const weft_kernel *k, const weft_run_options *options,
                          void *const *buffers) {
  weft_run_options o = {0};
  if (!api_begin(s, "run") || !api_given(s, k, "the kernel") || !api_take(s, options, &o, sizeof o)) return NULL;
  const sim_engine_ops *engine = api_engine(s, &o);
  if (engine == NULL) return NULL;
  const sim_engine_options of_engine = {.timing_only = o.timing_only || engine->timing_only, .quiet = true};
  const run_config config = {
      .engine = engine, .options = &of_engine, .times = o.times, .stop = &s->stop, .progress = tell, .context = s};
  run_result result;
  void **copies = copy_in(k, buffers);
  const bool good = run_commands_on(k->result.commands, &config, copies, &result, &s->diag);
  copy_out(k, copies, buffers, good && !of_engine.timing_only);
  if (api_end(s, good, WEFT_CANNOT_BUILD) != WEFT_OK) return NULL;
  return api_run_of_kernel(&k->array, &result, k->macs);
}

static bool interpret(const weft_kernel *k, void **copies, wf_diag *diag) {
  const compile_result *r = &k->result;
  if (r->instance == NULL) return block_run(r->block, copies, diag);
  lang_tensor *tensors = WF_NEW_ARRAY((size_t)r->block->tensor_count + 1, lang_tensor);
  for (int t = 0; t < r->block->tensor_count; t++)
    tensors[t] = (lang_tensor){.data = copies[t], .elements = r->block->tensors[t].elements};
  const bool good = lang_run(r->instance, tensors, diag);
  wf_free(tensors);
  return good;
}

weft_status weft_kernel_interpret(weft_session *s, const weft_kernel *k, void *const *buffers) {
  if (!api_begin(s, "run") || !api_given(s, k, "the kernel")) return WEFT_USAGE;
  if (k->result.block == NULL) return api_refuse(s, "commands have no interpreter");
  void **copies = copy_in(k, buffers);
  const bool good = interpret(k, copies, &s->diag);
  copy_out(k, copies, buffers, good);
  return api_end(s, good, WEFT_CANNOT_BUILD);
}
