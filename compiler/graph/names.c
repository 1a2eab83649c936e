// SPDX-License-Identifier: Apache-2.0
// A hash table with open addressing, at most half full.
#include "compiler/graph/names.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "compiler/graph/graph.h"

typedef struct entry {
  const char *name;
  int value, next;  // next: the number that the next name made of this one gets; 0: none was made
} entry;

struct graph_names {
  entry *entries;
  size_t size, used;  // size: a power of two
};

graph_names *graph_names_create(void) {
  graph_names *names = WF_NEW(graph_names);
  names->size = 64;
  names->entries = WF_NEW_ARRAY(names->size, entry);
  return names;
}

void graph_names_destroy(graph_names *names) {
  if (names == NULL) return;
  wf_free(names->entries);
  wf_free(names);
}

// The entry of that name, or the free one where it belongs.
static entry *slot(const graph_names *names, const char *name) {
  size_t at = (size_t)wf_hash(WF_HASH_START, name, strlen(name));
  for (;; at++) {
    entry *e = &names->entries[at & (names->size - 1)];
    if (e->name == NULL || strcmp(e->name, name) == 0) return e;
  }
}

int graph_names_find(const graph_names *names, const char *name) {
  const entry *e = slot(names, name);
  return e->name != NULL ? e->value : GRAPH_NONE;
}

static void grow(graph_names *names) {
  graph_names larger = {.entries = WF_NEW_ARRAY(2 * names->size, entry), .size = 2 * names->size, .used = names->used};
  for (size_t i = 0; i < names->size; i++)
    if (names->entries[i].name != NULL) *slot(&larger, names->entries[i].name) = names->entries[i];
  wf_free(names->entries);
  *names = larger;
}

void graph_names_add(graph_names *names, const char *name, int value) {
  if (2 * names->used >= names->size) grow(names);
  entry *e = slot(names, name);
  if (e->name == NULL) names->used++;
  *e = (entry){name, value, e->next};
}

void graph_names_clear(graph_names *names) {
  memset(names->entries, 0, names->size * sizeof *names->entries);
  names->used = 0;
}

const char *graph_names_unused(graph_names *names, wf_arena *arena, const char *base, const char *separator,
                               int first) {
  entry *e = slot(names, base);
  if (e->name == NULL) return base;
  const char *name = base;
  for (int i = e->next > first ? e->next : first; name == base; i++) {
    const char *numbered = wf_arena_format(arena, "%s%s%d", base, separator, i);
    if (slot(names, numbered)->name == NULL) name = numbered;
    e->next = i + 1;
  }
  return name;
}

static const char *skip_digits(const char *text) {
  while (*text >= '0' && *text <= '9') text++;
  return text;
}

static const char *skip_letters(const char *text) {
  while ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_') text++;
  return text;
}

bool graph_names_is_number(const char *name) {
  const char *behind = skip_digits(name);
  if (strncmp(name, "onnx::", 6) == 0) return true;
  return behind != name && (*behind == '\0' || *behind == '.' || *behind == '_');
}

// Of what stands behind a number: the parts that name a form or a repetition, `.i8` or `_2`.
static const char *skip_forms(const char *text) {
  for (const char *at = text; *at == '.' || *at == '_'; text = at) {
    const char *digits = at + 1 + (strchr("iuf", at[1]) != NULL && at[1] != '\0');
    at = skip_digits(digits);
    if (at == digits) break;
  }
  return text;
}

bool graph_names_may_be_counted(const char *name) {
  const char *word = skip_letters(name);
  if (graph_names_is_number(name)) return true;
  if (word == name || *word != '.') return false;
  const char *number = skip_digits(word + 1);
  return number != word + 1 && *skip_forms(number) == '\0';
}
