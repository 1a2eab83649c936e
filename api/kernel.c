// SPDX-License-Identifier: Apache-2.0
// Kernels: compile, describe, run on data of the caller. See weft.h.
#include "api/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "api/recording.h"
#include "api/schedules.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"

enum { TEXT_MAX = 1 << 26 };  // bytes of a source or a mapping

// ---- compilation

static bool is_pass(const char *name) {
  for (size_t i = 0; compile_pass_name(i) != NULL; i++)
    if (strcmp(compile_pass_name(i), name) == 0) return true;
  return false;
}

static bool set_choices(weft_session *s, const weft_kernel_options *o, compile_request *request) {
  static const char *const styles[] = {"primitive", "loop"};
  const int language = api_choice(s, "language", o->language, compile_language_names, COMPILE_LANGUAGES);
  if (language < 0) return false;
  const int style = api_choice(s, "style", o->style, styles, 2);
  if (style < 0) return false;
  request->from = (compile_language)language;
  request->style = (block_style)style;
  if (o->mapping != NULL && o->mapping_file != NULL)
    return api_refuse(s, "mapping and mapping_file exclude each other"), false;
  if ((o->after == NULL) != (o->tell == NULL)) return api_refuse(s, "after and tell go together"), false;
  if (o->after != NULL && !is_pass(o->after)) return api_refuse(s, "no pass has the name that `after` is"), false;
  return api_tuning(s, o->tune, o->tune_with, o->tune_objective, request->array, &request->tuning);
}

// Tells the caller what a pass left.
static void after_pass(void *context, const compile_stage *stage) {
  const weft_kernel_options *o = context;
  char *text = NULL;
  size_t length;
  if (strcmp(o->after, stage->pass) != 0) return;
  FILE *out = open_memstream(&text, &length);
  if (out == NULL) return;
  if (stage->block != NULL)
    block_print(stage->block, out);
  else
    command_print(stage->commands, out);
  fclose(out);
  o->tell(o->context, text);
  free(text);
}

// A file's text, to be freed; NULL after an error was reported.
static char *read_whole(const char *path, size_t *length, wf_diag *diag) {
  char *text = wf_read_file(path, TEXT_MAX, length, diag);
  if (text == NULL || *length <= TEXT_MAX) return text;
  wf_error(diag, wf_in_file(path), "is larger than %d MiB", TEXT_MAX >> 20);
  wf_free(text);
  return NULL;
}

// The same of the source.
static char *read_source(const weft_kernel_options *o, size_t *length, wf_diag *diag) {
  if (o->text == NULL) return read_whole(o->file, length, diag);
  *length = o->length == 0 ? strlen(o->text) : o->length;
  if (*length > TEXT_MAX) {
    wf_error(diag, wf_in_file(o->file), "is larger than %d MiB", TEXT_MAX >> 20);
    return NULL;
  }
  char *text = wf_alloc(*length + 1, 1);
  memcpy(text, o->text, *length);
  text[*length] = '\0';
  return text;
}

// The mapping that is given, if any is.
static bool read_mapping(const weft_kernel_options *o, map_mapping *mapping, compile_request *request, wf_diag *diag) {
  const char *name = o->mapping_file == NULL ? "mapping" : o->mapping_file;
  if (o->mapping == NULL && o->mapping_file == NULL) return true;
  request->mapping = mapping;
  if (o->mapping != NULL) return map_parse(mapping, name, o->mapping, strlen(o->mapping), diag);
  size_t length;
  char *text = read_whole(name, &length, diag);
  const bool good = text != NULL && map_parse(mapping, name, text, length, diag);
  wf_free(text);
  return good;
}

static bool compile_source(const weft_kernel_options *o, weft_kernel *k, compile_request *request, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  map_mapping mapping;
  api_asking asking;
  api_asking_begin(&asking, o->schedules, &k->array.array, &request->tuning);
  const bool good = (o->arguments == NULL || lang_read_args(o->arguments, arena, &request->arguments, diag)) &&
                    read_mapping(o, &mapping, request, diag) && compile(request, &k->result, diag);
  if (good) api_asking_add_kernel(&asking, o->file, &k->result);
  api_asking_end(&asking);
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
  k->array = *array;
  api_array_own(&k->array);
  compile_request request = {.file = o.file,
                             .array = &k->array.array,
                             .kernel = o.kernel,
                             .autotune = o.autotune,
                             .straight = true,
                             .for_c = o.for_c,
                             .after = o.after == NULL ? NULL : after_pass,
                             .context = &o};
  if (!set_choices(s, &o, &request)) return weft_kernel_destroy(k), NULL;
  bool good = hw_array_check(&k->array.array, k->array.array.name, &s->diag);
  char *text = good ? read_source(&o, &request.length, &s->diag) : NULL;
  request.text = text;
  const double start = wf_process_seconds();
  good = text != NULL && compile_source(&o, k, &request, &s->diag);
  k->seconds = wf_process_seconds() - start;
  wf_free(text);
  k->file = wf_strdup(o.file);
  if (good) describe(k);
  if (api_end(s, good, k->result.block != NULL ? WEFT_CANNOT_BUILD : WEFT_BAD_INPUT) == WEFT_OK) return k;
  weft_kernel_destroy(k);
  return NULL;
}

void weft_kernel_destroy(weft_kernel *k) {
  if (k == NULL) return;
  compile_release(&k->result);
  wf_free(k->name);
  wf_free(k->file);
  free(k->mapping);
  wf_free(k->tensors);
  wf_free(k);
}

weft_status weft_kernel_describe(const weft_kernel *k, weft_kernel_facts *facts) {
  if (k == NULL) return WEFT_USAGE;
  const compile_result *r = &k->result;
  const weft_kernel_facts full = {.name = k->name,
                                  .commands = command_executions(r->commands),
                                  .macs = k->macs,
                                  .mapping_hash = r->mapped ? map_hash(&r->mapping) : 0,
                                  .nodes = api_kernel_nodes(k),
                                  .layer_macs = r->mapped ? (uint64_t)map_macs(&r->layer) : 0,
                                  .config = r->config,
                                  .compile_seconds = k->seconds};
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
  const sim_engine_ops *engine = api_run_engine(s, &o, &sim_cycle_engine);
  if (engine == NULL) return NULL;
  const sim_engine_options of_engine = api_engine_options(s, &o, engine);
  const run_config config = {
      .engine = engine, .options = &of_engine, .times = o.times, .stop = &s->stop, .progress = tell, .context = s};
  run_result result;
  void **copies = copy_in(k, buffers);
  const bool good = run_commands_on(k->result.commands, &config, copies, &result, &s->diag);
  copy_out(k, copies, buffers, good && !of_engine.timing_only);
  if (api_end(s, good, WEFT_CANNOT_BUILD) != WEFT_OK) return NULL;
  return api_run_of_kernel(&k->array.array, &result, k->macs);
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
