// SPDX-License-Identifier: Apache-2.0
// A located YAML tree over libyaml's events: see yaml_tree.h. build() starts at the event behind the first of a node
// and ends at the node's last one.
#include "hw/yaml_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/text_map.h"

enum { DEPTH_MAX = 32, NODES_MAX = 1 << 20 };

typedef struct builder {
  yaml_parser_t parser;
  yaml_event_t event;
  wf_arena *arena;
  const char *file;
  wf_diag *diag;
  int depth, nodes;
} builder;

static wf_location place(const builder *b, yaml_mark_t mark) {
  return (wf_location){b->file, (unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

static bool next_event(builder *b) {
  yaml_event_delete(&b->event);
  if (yaml_parser_parse(&b->parser, &b->event)) return true;
  memset(&b->event, 0, sizeof b->event);
  const yaml_parser_t *p = &b->parser;
  wf_error(b->diag, place(b, p->problem_mark), "not valid YAML: %s", p->problem == NULL ? "no memory" : p->problem);
  if (p->context != NULL) wf_hint(b->diag, "%s", p->context);
  return false;
}

static bool refuse(builder *b, const char *what) {
  wf_error(b->diag, place(b, b->event.start_mark), "%s", what);
  return false;
}

static bool is_plain(builder *b) {
  const yaml_char_t *anchor = NULL, *tag = NULL;
  switch (b->event.type) {
    case YAML_ALIAS_EVENT:
      return refuse(b, "aliases are not used here: write the value out");
    case YAML_SCALAR_EVENT:
      anchor = b->event.data.scalar.anchor, tag = b->event.data.scalar.tag;
      break;
    case YAML_MAPPING_START_EVENT:
      anchor = b->event.data.mapping_start.anchor, tag = b->event.data.mapping_start.tag;
      break;
    case YAML_SEQUENCE_START_EVENT:
      anchor = b->event.data.sequence_start.anchor, tag = b->event.data.sequence_start.tag;
      break;
    default:
      break;
  }
  if (anchor != NULL) return refuse(b, "anchors are not used here: write the value out where it is needed");
  return tag == NULL || refuse(b, "tags have no meaning here");
}

// The text of the current scalar; NULL after an error: a zero inside.
static const char *scalar_text(builder *b) {
  const char *text = (const char *)b->event.data.scalar.value;
  const size_t length = b->event.data.scalar.length;
  if (strlen(text) != length) return refuse(b, "a zero byte in a text"), NULL;
  return wf_arena_text(b->arena, text, length);
}

static hw_yaml_node *build(builder *b);

static bool append(builder *b, hw_yaml_node *parent, hw_yaml_node **last, const char *key, wf_location key_where) {
  hw_yaml_node *entry = build(b);
  if (entry == NULL) return false;
  entry->key = key;
  entry->key_where = key_where;
  if (*last == NULL) {
    parent->first = entry;
  } else {
    (*last)->next = entry;
  }
  *last = entry;
  parent->count++;
  return true;
}

static bool build_list(builder *b, hw_yaml_node *list) {
  hw_yaml_node *last = NULL;
  for (;;) {
    if (!next_event(b)) return false;
    if (b->event.type == YAML_SEQUENCE_END_EVENT) return true;
    if (!append(b, list, &last, NULL, (wf_location){0})) return false;
  }
}

// The n-th key is at place n unless it was there before.
static bool build_entries(builder *b, hw_yaml_node *map, wf_text_map *keys) {
  hw_yaml_node *last = NULL;
  for (;;) {
    if (!next_event(b)) return false;
    if (b->event.type == YAML_MAPPING_END_EVENT) return true;
    if (b->event.type != YAML_SCALAR_EVENT) return refuse(b, "a key is a single word here");
    if (!is_plain(b)) return false;
    const wf_location where = place(b, b->event.start_mark);
    const char *key = scalar_text(b);
    if (key == NULL) return false;
    if (wf_text_map_add(keys, key) != map->count) {
      wf_error(b->diag, where, "key '%s' appears twice", key);
      return false;
    }
    if (!next_event(b) || !append(b, map, &last, key, where)) return false;
  }
}

static bool build_map(builder *b, hw_yaml_node *map) {
  wf_text_map keys = {0};
  const bool good = build_entries(b, map, &keys);
  wf_text_map_release(&keys);
  return good;
}

static bool build_inside(builder *b, hw_yaml_node *node) {
  switch (b->event.type) {
    case YAML_SCALAR_EVENT:
      node->kind = YAML_TREE_SCALAR;
      node->text = scalar_text(b);
      return node->text != NULL;
    case YAML_MAPPING_START_EVENT:
      node->kind = YAML_TREE_MAP;
      return build_map(b, node);
    case YAML_SEQUENCE_START_EVENT:
      node->kind = YAML_TREE_LIST;
      return build_list(b, node);
    default:
      return refuse(b, "a value was expected");
  }
}

// The node whose first event is the current one.
static hw_yaml_node *build(builder *b) {
  if (!is_plain(b)) return NULL;
  if (b->depth == DEPTH_MAX) return refuse(b, "nested too deeply"), NULL;
  if (b->nodes++ == NODES_MAX) return refuse(b, "too many values"), NULL;
  hw_yaml_node *node = WF_ARENA_NEW(b->arena, hw_yaml_node);
  node->where = place(b, b->event.start_mark);
  b->depth++;
  const bool good = build_inside(b, node);
  b->depth--;
  return good ? node : NULL;
}

static const hw_yaml_node *build_document(builder *b) {
  do {
    if (!next_event(b)) return NULL;
  } while (b->event.type == YAML_STREAM_START_EVENT || b->event.type == YAML_DOCUMENT_START_EVENT);
  if (b->event.type == YAML_STREAM_END_EVENT) return refuse(b, "the file is empty"), NULL;
  const hw_yaml_node *root = build(b);
  if (root == NULL) return NULL;
  do {
    if (!next_event(b)) return NULL;
    if (b->event.type == YAML_DOCUMENT_START_EVENT) return refuse(b, "a second document"), NULL;
  } while (b->event.type != YAML_STREAM_END_EVENT);
  return root;
}

const hw_yaml_node *hw_yaml_tree_parse(wf_arena *arena, const char *file, const char *text, size_t length,
                                       wf_diag *diag) {
  builder b = {.arena = arena, .file = file, .diag = diag};
  if (!yaml_parser_initialize(&b.parser)) {
    wf_error(diag, wf_in_file(file), "no memory for the YAML reader");
    return NULL;
  }
  yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, length);
  const hw_yaml_node *root = build_document(&b);
  yaml_event_delete(&b.event);
  yaml_parser_delete(&b.parser);
  return root;
}

// ---- reading values

const hw_yaml_node *hw_yaml_tree_find(const hw_yaml_node *map, const char *key) {
  for (const hw_yaml_node *entry = map->first; entry != NULL; entry = entry->next)
    if (strcmp(entry->key, key) == 0) return entry;
  return NULL;
}

bool hw_yaml_tree_is(const hw_yaml_node *node, hw_yaml_tree_kind kind, const char *what, wf_diag *diag) {
  static const char *const names[] = {"a single value", "a map", "a list"};
  if (node->kind == kind) return true;
  wf_error(diag, node->where, "%s must be %s, not %s", what, names[kind], names[node->kind]);
  return false;
}

const char *hw_yaml_tree_text(const hw_yaml_node *node, const char *what, wf_diag *diag) {
  return hw_yaml_tree_is(node, YAML_TREE_SCALAR, what, diag) ? node->text : NULL;
}

bool hw_yaml_tree_integer(const hw_yaml_node *node, const char *what, int64_t min, int64_t max, int64_t *value,
                          wf_diag *diag) {
  const char *text = hw_yaml_tree_text(node, what, diag);
  if (text == NULL) return false;
  char *end;
  errno = 0;
  const long long read = strtoll(text, &end, 10);
  if (end != text && *end == '\0' && errno == 0 && read >= min && read <= max) {
    *value = read;
    return true;
  }
  wf_error(diag, node->where, "%s must be a whole number from %" PRId64 " to %" PRId64 ", not '%s'", what, min, max,
           text);
  return false;
}

bool hw_yaml_tree_number(const hw_yaml_node *node, const char *what, double *value, wf_diag *diag) {
  const char *text = hw_yaml_tree_text(node, what, diag);
  if (text == NULL) return false;
  char *end;
  *value = strtod(text, &end);
  if (end != text && *end == '\0' && isfinite(*value)) return true;
  wf_error(diag, node->where, "%s must be a number, not '%s'", what, text);
  return false;
}

static void hint_words(const char *const *words, wf_diag *diag) {
  char list[512] = "";
  for (size_t i = 0; words[i] != NULL; i++) {
    const size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", words[i]);
  }
  wf_hint(diag, "one of %s", list);
}

bool hw_yaml_tree_choice(const hw_yaml_node *node, const char *what, const char *const *words, int *value,
                         wf_diag *diag) {
  const char *text = hw_yaml_tree_text(node, what, diag);
  if (text == NULL) return false;
  for (int i = 0; words[i] != NULL; i++)
    if (strcmp(words[i], text) == 0) return *value = i, true;
  wf_error(diag, node->where, "'%s' is no value for %s", text, what);
  hint_words(words, diag);
  return false;
}

bool hw_yaml_tree_keys(const hw_yaml_node *map, const char *what, const char *const *keys, wf_diag *diag) {
  enum { SHOWN = 20 };
  size_t unknown = 0;
  for (const hw_yaml_node *entry = map->first; entry != NULL; entry = entry->next) {
    size_t i = 0;
    while (keys[i] != NULL && strcmp(keys[i], entry->key) != 0) i++;
    if (keys[i] != NULL || unknown++ >= SHOWN) continue;
    wf_error(diag, entry->key_where, "unknown key '%s' in %s", entry->key, what);
    hint_words(keys, diag);
  }
  if (unknown > SHOWN) wf_error(diag, map->where, "%zu more unknown keys in %s", unknown - SHOWN, what);
  return unknown == 0;
}
