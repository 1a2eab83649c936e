// SPDX-License-Identifier: Apache-2.0
// Mappings of kernels: see mappings.h.
#include "compiler/network/mappings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/network/steps.h"

static void append(network_mappings *mappings, const network_mapping *one) {
  if (mappings->arena == NULL) mappings->arena = wf_arena_create();
  network_mapping *place = WF_ARENA_PUSH(mappings->arena, mappings->items, mappings->count, &mappings->room);
  *place = *one;
  place->text = wf_arena_text(mappings->arena, one->text, strlen(one->text));
}

void network_mappings_add(network_mappings *mappings, const layer_call *call, const map_mapping *mapping) {
  wf_arena *arena = wf_arena_create();
  const lang_args arguments = layer_arguments(call);
  append(mappings, &(network_mapping){.shape = network_shape_of(call),
                                      .text = wf_arena_format(arena, "%s %s", layer_kernels[call->kernel].name,
                                                              lang_args_text(&arguments, arena)),
                                      .mapping = *mapping});
  wf_arena_destroy(arena);
}

const map_mapping *network_mappings_find(void *context, const layer_call *call) {
  const network_mappings *mappings = context;
  const uint64_t shape = network_shape_of(call);
  for (size_t i = 0; i < mappings->count; i++)
    if (mappings->items[i].shape == shape) return &mappings->items[i].mapping;
  return NULL;
}

void network_mappings_print(const network_mappings *mappings, FILE *out) {
  for (size_t i = 0; i < mappings->count; i++) {
    fprintf(out, "kernel %016" PRIx64 " %s\n", mappings->items[i].shape, mappings->items[i].text);
    map_print(&mappings->items[i].mapping, out);
  }
}

// ---- reading

static bool is_head(const char *line) { return strncmp(line, "kernel ", strlen("kernel ")) == 0; }

static const char *next_line(const char *at) {
  const char *end = strchr(at, '\n');
  return end == NULL ? at + strlen(at) : end + 1;
}

// "kernel HASH TEXT": the place behind it.
static bool read_head(const char *line, wf_location where, network_mapping *one, wf_arena *arena, wf_diag *diag) {
  const char *number = line + strlen("kernel ");
  char *end;
  one->shape = strtoull(number, &end, 16);
  if (end - number != 16 || (*end != ' ' && *end != '\n')) {
    wf_error(diag, where, "a kernel has a hash of 16 digits");
    return false;
  }
  one->text = wf_arena_text(arena, end + (*end == ' '), strcspn(end + (*end == ' '), "\n"));
  return true;
}

static bool read_one(network_mappings *mappings, wf_location where, const char **at, wf_arena *arena, wf_diag *diag) {
  network_mapping one;
  if (!is_head(*at)) {
    wf_error(diag, where, "a list of mappings has lines that begin with `kernel`");
    wf_hint(diag, "`weft search NET --simulate -o DIR` writes DIR/NET/program.maps");
    return false;
  }
  if (!read_head(*at, where, &one, arena, diag)) return false;
  const char *first = next_line(*at), *end = first;
  while (*end != '\0' && !is_head(end)) end = next_line(end);
  *at = end;
  if (!map_parse(&one.mapping, where.file, first, (size_t)(end - first), diag)) return false;
  append(mappings, &one);
  return true;
}

bool network_mappings_parse(network_mappings *mappings, const char *file, const char *text, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  wf_location where = {.file = file, .line = 1};
  bool good = true;
  for (const char *at = text; *at != '\0' && good;) {
    const char *before = at;
    good = read_one(mappings, where, &at, arena, diag);
    for (; good && before < at; before++) where.line += *before == '\n';
  }
  wf_arena_destroy(arena);
  return good;
}

void network_mappings_release(network_mappings *mappings) {
  if (mappings->arena != NULL) wf_arena_destroy(mappings->arena);
  *mappings = (network_mappings){0};
}
