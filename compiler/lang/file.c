// SPDX-License-Identifier: Apache-2.0
// Files: reading, checking, and finding kernels in them.
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/lang/check.h"

enum { FILE_BYTES_MAX = 4 << 20 };

lang_file *lang_parse(const char *name, const char *text, size_t length, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  lang_file *file = WF_ARENA_NEW(arena, lang_file);
  unsigned errors = diag->errors;
  file->arena = arena;
  lang_source_init(&file->s, arena, name, text, length);
  lang_ast_parse(&file->s, arena, diag, &file->module);
  if (diag->errors == errors) lang_check_names(file, diag);
  if (diag->errors == errors) lang_check_kernels(file, diag);
  if (diag->errors == errors && file->kernel_count == 0) {
    wf_error(diag, wf_in_file(name), "there is no kernel in this file");
    wf_hint(diag, "a kernel is a function with @jit");
  }
  if (diag->errors == errors) return file;
  lang_destroy(file);
  return NULL;
}

lang_file *lang_load(const char *path, wf_diag *diag) {
  size_t length;
  char *text = wf_read_file(path, FILE_BYTES_MAX, &length, diag);
  if (text == NULL) return NULL;
  lang_file *file = NULL;
  if (length > FILE_BYTES_MAX)
    wf_error(diag, wf_in_file(path), "this file is larger than %d bytes", FILE_BYTES_MAX);
  else
    file = lang_parse(path, text, length, diag);
  wf_free(text);
  return file;
}

void lang_destroy(lang_file *file) {
  if (file != NULL) wf_arena_destroy(file->arena);
}

void lang_show(const void *file, wf_location where, FILE *out) {
  const lang_source *s = &((const lang_file *)file)->s;
  if (where.file == NULL || strcmp(where.file, s->name) != 0) return;
  lang_source_show(s, out, (lang_source_span){where.line, where.column, where.line, where.column + 1});
}

int lang_kernel_count(const lang_file *file) { return file->kernel_count; }
const lang_kernel *lang_kernel_at(const lang_file *file, int index) { return &file->kernels[index]; }

const lang_kernel *lang_find_kernel(const lang_file *file, const char *name, wf_diag *diag) {
  if (name == NULL && file->kernel_count == 1) return file->kernels;
  for (int i = 0; i < file->kernel_count && name != NULL; i++)
    if (strcmp(file->kernels[i].name, name) == 0) return &file->kernels[i];
  if (name == NULL)
    wf_error(diag, wf_in_file(file->s.name), "this file has %d kernels; say which", file->kernel_count);
  else
    wf_error(diag, wf_in_file(file->s.name), "this file has no kernel '%s'", name);
  char *list = wf_arena_format(file->arena, "%s", file->kernels[0].name);
  for (int i = 1; i < file->kernel_count; i++)
    list = wf_arena_format(file->arena, "%s, %s", list, file->kernels[i].name);
  wf_hint(diag, "there is %s", list);
  return NULL;
}

int lang_find_param(const lang_kernel *kernel, const char *name) {
  for (int i = 0; i < kernel->param_count; i++)
    if (strcmp(kernel->params[i].name, name) == 0) return i;
  return -1;
}
