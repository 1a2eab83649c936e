// SPDX-License-Identifier: Apache-2.0
// See onnx_dims.h.
#include "cli/onnx_dims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

// The name ends at the last '=' of an entry: names of exporters have any character.
static bool parse_entry(cli_dims *d, char *entry) {
  char *equals = strrchr(entry, '='), *end;
  if (equals == NULL || equals == entry || d->count == CLI_DIMS_MAX) return false;
  *equals = '\0';
  errno = 0;
  int64_t value = strtoll(equals + 1, &end, 10);
  d->names[d->count] = entry;
  d->values[d->count++] = value;
  return errno == 0 && end != equals + 1 && *end == '\0' && value >= 0;
}

bool cli_dims_parse(cli_dims *d, const char *argument) {
  *d = (cli_dims){0};
  if (argument == NULL) return true;
  d->text = cli_copy(argument);
  char *rest = NULL;
  for (char *entry = strtok_r(d->text, ",", &rest); entry != NULL; entry = strtok_r(NULL, ",", &rest))
    if (!parse_entry(d, entry)) {
      cli_error(NULL, "--dims %s: not of the form NAME=N,NAME=N", argument);
      return false;
    }
  return true;
}

void cli_dims_release(cli_dims *d) {
  free(d->text);
  d->text = NULL;
}

bool cli_names_parse(cli_names *n, const char *option, const char *argument) {
  *n = (cli_names){0};
  if (argument == NULL) return true;
  n->text = cli_copy(argument);
  char *rest = NULL, *name = strtok_r(n->text, ",", &rest);
  for (; name != NULL && n->count < CLI_NAMES_MAX; name = strtok_r(NULL, ",", &rest)) n->names[n->count++] = name;
  if (name == NULL && n->count > 0) return true;
  cli_error(NULL, "--%s %s: not of the form NAME,NAME with at most %d names", option, argument, CLI_NAMES_MAX);
  return false;
}

void cli_names_release(cli_names *n) {
  free(n->text);
  n->text = NULL;
}

// Cuts an entry in two at its last '='.
static void cut(cli_values *v, int i) {
  char *entry = v->entries.text + (v->entries.names[i] - v->entries.text), *equals = strrchr(entry, '=');
  v->inputs[i] = equals == NULL ? NULL : entry;
  v->files[i] = equals == NULL ? entry : equals + 1;
  if (equals != NULL) *equals = '\0';
}

bool cli_values_parse(cli_values *v, const char *argument) {
  *v = (cli_values){0};
  const bool good = cli_names_parse(&v->entries, "values", argument);
  for (int i = 0; good && i < v->entries.count; i++) cut(v, i);
  return good;
}

void cli_values_release(cli_values *v) { cli_names_release(&v->entries); }
