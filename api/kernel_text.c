// SPDX-License-Identifier: Apache-2.0
// Kernels as files and texts. See weft.h.
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "arch/memory.h"
#include "base/json.h"
#include "base/output.h"
#include "compiler/command/elf.h"

static bool write_trace(const weft_kernel *k, FILE *out, wf_diag *diag) {
  enum { TENSORS_MAX = 64 };
  const command_program *commands = k->result.commands;
  uint64_t address[TENSORS_MAX];
  if (commands->tensor_count > TENSORS_MAX) {
    wf_error(diag, wf_in_file(NULL), "a program of %d tensors has no trace, at most %d", commands->tensor_count,
             TENSORS_MAX);
    return false;
  }
  const command_layout layout = {.tensor_address = address};
  return command_place(commands, ARCH_MEMORY_BASE, address, diag) &&
         command_write_trace(commands, &layout, NULL, out, diag);
}

static bool write_c(const weft_kernel *k, FILE *out, wf_diag *diag) {
  return command_write_c(k->result.commands, out, diag);
}

static bool write_listing(const weft_kernel *k, FILE *out, wf_diag *diag) {
  (void)diag;
  command_write_listing(k->result.commands, out);
  return true;
}

// Only the text of commands shows loops.
static bool write_commands(const weft_kernel *k, FILE *out, wf_diag *diag) {
  (void)diag;
  command_program *rolled = command_roll(k->result.commands);
  command_print(rolled, out);
  command_destroy(rolled);
  return true;
}

// The driver takes mappings of products only.
static bool write_mapping(const weft_kernel *k, FILE *out, wf_diag *diag) {
  const compile_result *r = &k->result;
  if (r->mapped && map_print_c(&r->layer, &r->mapping, out)) return true;
  wf_error(diag, wf_in_file(NULL), "struct weft_mapping is for matrix products");
  return false;
}

// ---- JSON

uint64_t api_kernel_nodes(const weft_kernel *k) {
  command_program *rolled = command_roll(k->result.commands);
  const uint64_t nodes = rolled->count;
  command_destroy(rolled);
  return nodes;
}

cJSON *api_kernel_json(const weft_kernel *k) {
  const compile_result *r = &k->result;
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "file", k->file);
  if (r->instance != NULL) cJSON_AddStringToObject(object, "kernel", k->name);
  cJSON_AddStringToObject(object, "array", k->array.array.name);
  wf_json_hash(object, "array_hash", hw_array_hash(&k->array.array));
  cJSON_AddNumberToObject(object, "compile_seconds", k->seconds);
  wf_json_count(object, "commands", command_executions(r->commands));
  wf_json_count(object, "nodes", api_kernel_nodes(k));
  if (r->config >= 0) cJSON_AddNumberToObject(object, "config", r->config);
  if (!r->mapped) return object;
  wf_json_count(object, "macs", (uint64_t)map_macs(&r->layer));
  wf_json_hash(object, "mapping_hash", map_hash(&r->mapping));
  cJSON_AddStringToObject(object, "mapping", k->mapping);
  return object;
}

static bool write_json(const weft_kernel *k, FILE *out, wf_diag *diag) {
  (void)diag;
  wf_json_write(api_kernel_json(k), out);
  return true;
}

// ---- forms

static const struct {
  const char *name, *ending;  // of files; NULL: none
  bool (*write)(const weft_kernel *k, FILE *out, wf_diag *diag);
} forms[] = {{"trace", ".trace", write_trace},   {"c", ".c", write_c},
             {"lst", ".lst", write_listing},     {"command", ".command", write_commands},
             {"mapping-c", NULL, write_mapping}, {"json", NULL, write_json}};
enum { FORMS = sizeof forms / sizeof *forms };

// ---- files

static bool ends_in(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

static int form_of_file(const char *path) {
  for (int i = 0; i < FORMS; i++)
    if (forms[i].ending != NULL && ends_in(path, forms[i].ending)) return i;
  return -1;
}

static weft_status write_file(weft_session *s, const weft_kernel *k, int form, const char *path) {
  FILE *out = wf_output_open(path, &s->diag);
  if (out == NULL) return api_end(s, false, WEFT_BAD_INPUT);
  const bool written = forms[form].write(k, out, &s->diag);
  if (written) return api_end(s, wf_output_close(out, path, &s->diag), WEFT_BAD_INPUT);
  wf_output_drop(out, path);
  return api_end(s, false, WEFT_CANNOT_BUILD);
}

weft_status weft_kernel_write(weft_session *s, const weft_kernel *k, const char *path, const weft_kernel_form *form) {
  weft_kernel_form o = {0};
  if (!api_begin(s, "kernel") || !api_given(s, k, "the kernel") || !api_given(s, path, "the path") ||
      !api_take(s, form, &o, sizeof o))
    return WEFT_USAGE;
  const int found = form_of_file(path);
  if (found >= 0) return write_file(s, k, found, path);
  if (!ends_in(path, ".elf"))
    return api_refuse(s, "the name of a kernel's file ends in .elf, .c, .trace, .lst or .command");
  const command_elf_config config = {.seed = o.seed, .times = o.times};
  const bool good = command_write_elf(k->result.commands, &config, path, &s->diag) == COMMAND_ELF_DONE;
  return api_end(s, good, WEFT_CANNOT_BUILD);
}

// ---- texts

char *weft_kernel_text(weft_session *s, const weft_kernel *k, const char *form) {
  const char *names[FORMS];
  for (int i = 0; i < FORMS; i++) names[i] = forms[i].name;
  if (!api_begin(s, "kernel") || !api_given(s, k, "the kernel") || !api_given(s, form, "the form")) return NULL;
  const int found = api_choice(s, "form", form, names, FORMS);
  if (found < 0) return NULL;
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  bool good = out != NULL && forms[found].write(k, out, &s->diag);
  if (out != NULL) good = fclose(out) == 0 && good;
  if (api_end(s, good, WEFT_CANNOT_BUILD) == WEFT_OK) return text;
  free(text);
  return NULL;
}
