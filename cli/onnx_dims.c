// SPDX-License-Identifier: Apache-2.0
// See onnx_dims.h.
#include "cli/onnx_dims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

// The name ends at the last '=' of an entry: names of exporters have any character.
static bool parse_entry(cli_dims *d, char *entry) {
  char *equals = strrchr(entry, '='), *end;
  if (equals == NULL || equals == entry || d->count == CLI_DIMS_MAX) return false;
  *equals = '\0';
  errno = 0;
  int64_t value = strtoll(equals + 1, &end, 10);
  d->dims[d->count++] = (onnx_dim){entry, value};
  return errno == 0 && end != equals + 1 && *end == '\0' && value >= 0;
}

bool cli_dims_parse(cli_dims *d, const char *argument, wf_diag *diag) {
  *d = (cli_dims){0};
  if (argument == NULL) return true;
  d->text = wf_strdup(argument);
  char *rest = NULL;
  for (char *entry = strtok_r(d->text, ",", &rest); entry != NULL; entry = strtok_r(NULL, ",", &rest))
    if (!parse_entry(d, entry)) {
      wf_error(diag, wf_in_file(NULL), "--dims %s: not of the form NAME=N,NAME=N", argument);
      return false;
    }
  return true;
}

void cli_dims_release(cli_dims *d) {
  wf_free(d->text);
  d->text = NULL;
}

bool cli_names_parse(cli_names *n, const char *option, const char *argument, wf_diag *diag) {
  *n = (cli_names){0};
  if (argument == NULL) return true;
  n->text = wf_strdup(argument);
  char *rest = NULL, *name = strtok_r(n->text, ",", &rest);
  for (; name != NULL && n->count < CLI_NAMES_MAX; name = strtok_r(NULL, ",", &rest)) n->names[n->count++] = name;
  if (name == NULL && n->count > 0) return true;
  wf_error(diag, wf_in_file(NULL), "--%s %s: not of the form NAME,NAME with at most %d names", option, argument,
           CLI_NAMES_MAX);
  return false;
}

void cli_names_release(cli_names *n) {
  wf_free(n->text);
  n->text = NULL;
}

static bool read_value(cli_values *v, const char *entry, wf_diag *diag) {
  const char *equals = strrchr(entry, '=');
  graph_tensor *tensor = &v->tensors[v->count];
  if (!onnx_read_tensor(equals == NULL ? entry : equals + 1, v->arena, tensor, diag)) return false;
  const char *input = equals == NULL ? tensor->name : wf_arena_text(v->arena, entry, (size_t)(equals - entry));
  v->values[v->count++] = (onnx_value){input, tensor};
  return true;
}

bool cli_values_parse(cli_values *v, const char *argument, wf_diag *diag) {
  *v = (cli_values){.arena = wf_arena_create()};
  bool good = cli_names_parse(&v->entries, "values", argument, diag);
  for (int i = 0; i < v->entries.count && good; i++) good = read_value(v, v->entries.names[i], diag);
  return good;
}

void cli_values_release(cli_values *v) {
  cli_names_release(&v->entries);
  if (v->arena != NULL) wf_arena_destroy(v->arena);
  v->arena = NULL;
}
