// SPDX-License-Identifier: Apache-2.0
// Reads the YAML text of an array description in one pass over libyaml's events, so that every message has its place.
// The accepted form is small on purpose: one document, one mapping with `name`, `description` and the sections of the
// table, each a mapping of keys to plain scalars. Anchors, aliases and tags are refused: a description says each thing
// once, in full. After a wrong value or key reading goes on to find the next; after a syntax error it stops.
//
// The read_ and skip_ functions start at the first event of what they read and end at its last; false is a syntax
// error.
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "hw/array_internal.h"
#include "hw/array_text.h"

enum { SHOWN_MAX = 40 };

enum top_key { TOP_NAME, TOP_DESCRIPTION, TOP_COUNT };
static const char *const top_names[TOP_COUNT] = {"name", "description"};

typedef struct reader {
  yaml_parser_t parser;
  yaml_event_t event;  // the current one
  bool refused;        // the current event was reported for an anchor, alias or tag
  hw_array array;
  const char *file;
  const char *text;
  size_t length;
  wf_diag *diag;
  hw_positions positions;
  wf_location top[TOP_COUNT];
  wf_location sections[HW_SECTION_COUNT];
} reader;

static wf_location at_mark(const reader *r, yaml_mark_t mark) {
  return (wf_location){r->file, (unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

static wf_location here(const reader *r) { return at_mark(r, r->event.start_mark); }

// libyaml gives byte offsets for undecodable input; a column counts characters.
static wf_location at_offset(const reader *r, size_t offset) {
  wf_location where = {r->file, 1, 1};
  for (size_t i = 0; i < offset && i < r->length; i++) {
    unsigned char byte = (unsigned char)r->text[i];
    if (byte == '\n') {
      where.line++;
      where.column = 1;
    } else if ((byte & 0xc0) != 0x80) {
      where.column++;
    }
  }
  return where;
}

static void report_syntax(reader *r) {
  const yaml_parser_t *p = &r->parser;
  if (p->error == YAML_MEMORY_ERROR) {
    wf_error(r->diag, wf_in_file(r->file), "no memory for the YAML reader");
    return;
  }
  if (p->error == YAML_READER_ERROR) {
    wf_error(r->diag, at_offset(r, p->problem_offset), "not valid YAML text: %s (0x%02x)", p->problem,
             (unsigned)p->problem_value);
  } else {
    wf_error(r->diag, at_mark(r, p->problem_mark), "not valid YAML: %s", p->problem);
  }
  if (p->context != NULL) wf_hint(r->diag, "%s", p->context);
}

static const char *refused_property(const yaml_event_t *event) {
  const yaml_char_t *anchor = NULL, *tag = NULL;
  switch (event->type) {
    case YAML_ALIAS_EVENT:
      return "aliases";
    case YAML_SCALAR_EVENT:
      anchor = event->data.scalar.anchor;
      tag = event->data.scalar.tag;
      break;
    case YAML_SEQUENCE_START_EVENT:
      anchor = event->data.sequence_start.anchor;
      tag = event->data.sequence_start.tag;
      break;
    case YAML_MAPPING_START_EVENT:
      anchor = event->data.mapping_start.anchor;
      tag = event->data.mapping_start.tag;
      break;
    default:
      break;
  }
  return anchor != NULL ? "anchors" : tag != NULL ? "tags" : NULL;
}

static bool next(reader *r) {
  yaml_event_delete(&r->event);
  if (!yaml_parser_parse(&r->parser, &r->event)) {
    report_syntax(r);
    return false;
  }
  const char *property = refused_property(&r->event);
  r->refused = property != NULL;
  if (r->refused) wf_error(r->diag, here(r), "YAML %s are not part of an array description", property);
  return true;
}

// Depth is a count, so nesting costs no stack.
static bool skip_value(reader *r) {
  for (size_t depth = 0;;) {
    yaml_event_type_t type = r->event.type;
    if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) depth++;
    if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT) depth--;
    if (depth == 0) return true;
    if (!next(r)) return false;
  }
}

static const char *scalar_text(const reader *r) { return (const char *)r->event.data.scalar.value; }

static bool is_plain(const reader *r) { return r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE; }

// A scalar without a zero byte inside; others cannot be compared as C strings.
static bool is_text(const reader *r) {
  return r->event.type == YAML_SCALAR_EVENT && strlen(scalar_text(r)) == r->event.data.scalar.length;
}

static const char *kind_of_value(const reader *r) {
  switch (r->event.type) {
    case YAML_SEQUENCE_START_EVENT:
      return "a list";
    case YAML_MAPPING_START_EVENT:
      return "a mapping";
    case YAML_ALIAS_EVENT:
      return "an alias";
    default:
      return "text with a zero byte";
  }
}

// True: the first time, and the place is noted.
static bool note_once(reader *r, wf_location *place, const char *name) {
  if (place->line == 0) {
    *place = here(r);
    return true;
  }
  wf_error(r->diag, here(r), "\"%s\" is given twice", name);
  wf_hint(r->diag, "the first is at line %u, column %u", place->line, place->column);
  return false;
}

static void refuse_number(reader *r, const hw_param *param, const char *shown) {
  const char *text = scalar_text(r);
  size_t digits = strspn(text, "0123456789");
  if (!is_plain(r) || digits == 0 || text[digits] != '\0' || (text[0] == '0' && digits > 1)) {
    wf_error(r->diag, here(r), "%s.%s is a whole number, not %s\"%s\"", param->section, param->name,
             is_plain(r) ? "" : "the text ", shown);
    return;
  }
  uint64_t value = digits > 18 ? UINT64_MAX : strtoull(text, NULL, 10);
  if (value < param->min || value > param->max) {
    wf_error(r->diag, here(r), "%s.%s is %s, outside %" PRIu32 " to %" PRIu32 "%s%s", param->section, param->name,
             shown, param->min, param->max, param->unit[0] != '\0' ? " " : "", param->unit);
    return;
  }
  uint64_t below = param->min;
  while (below * 2 <= value) below *= 2;
  wf_error(r->diag, here(r), "%s.%s is %s, not a power of two", param->section, param->name, shown);
  wf_hint(r->diag, "the nearest are %" PRIu64 " and %" PRIu64, below, below * 2);
}

static void refuse_choice(reader *r, const hw_param *param, const char *shown) {
  const char *values = param->kind == HW_PARAM_FLAG ? "true|false" : param->values;
  char list[HW_WORD_MAX];
  hw_text_list(values, list, sizeof list);
  wf_error(r->diag, here(r), "%s.%s is one of: %s; not %s\"%s\"", param->section, param->name, list,
           is_plain(r) ? "" : "the text ", shown);
  wf_nearest nearest = wf_nearest_start(scalar_text(r));
  wf_nearest_offer_list(&nearest, values);
  if (nearest.best[0] != '\0' && nearest.distance > 0) wf_hint(r->diag, "did you mean \"%s\"?", nearest.best);
}

static void take_value(reader *r, const hw_param *param) {
  char shown[SHOWN_MAX];
  uint32_t value;
  hw_text_shown(scalar_text(r), shown, sizeof shown);
  bool number = param->kind == HW_PARAM_U32 || param->kind == HW_PARAM_POW2;
  bool right_style = is_plain(r) || param->kind == HW_PARAM_ENUM;
  if (right_style && hw_param_value(param, scalar_text(r), &value)) {
    hw_param_set(&r->array, param, value);
  } else if (number) {
    refuse_number(r, param, shown);
  } else {
    refuse_choice(r, param, shown);
  }
}

static bool read_value(reader *r, const hw_param *param) {
  if (is_text(r)) {
    if (!r->refused) take_value(r, param);
  } else if (!r->refused) {
    wf_error(r->diag, here(r), "%s.%s is a single value, not %s", param->section, param->name, kind_of_value(r));
  }
  return skip_value(r);
}

// The key exists, but in a section: the likeliest slip after a typing error.
static void hint_section_of(reader *r, const char *key) {
  size_t count;
  const hw_param *params = hw_params(&count);
  if (hw_param_find(key) != NULL) {
    wf_hint(r->diag, "write %.*s as a section and %s as a key in it", (int)strcspn(key, "."), key,
            strchr(key, '.') + 1);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (strcmp(params[i].name, key) != 0) continue;
    wf_hint(r->diag, "section \"%s\" has a key of that name", params[i].section);
    return;
  }
}

static void hint_key(reader *r, const wf_nearest *nearest) {
  if (nearest->best[0] != '\0') {
    wf_hint(r->diag, "did you mean \"%s\"?", nearest->best);
  } else {
    hint_section_of(r, scalar_text(r));
  }
}

static void refuse_key(reader *r, const hw_section *section) {
  char shown[SHOWN_MAX];
  size_t count;
  const hw_param *params = hw_params(&count);
  wf_nearest nearest = wf_nearest_start(scalar_text(r));
  for (size_t i = 0; i < count; i++) {
    if (strcmp(params[i].section, section->name) == 0) wf_nearest_offer(&nearest, params[i].name);
  }
  hw_text_shown(scalar_text(r), shown, sizeof shown);
  wf_error(r->diag, here(r), "section \"%s\" has no key \"%s\"", section->name, shown);
  hint_key(r, &nearest);
}

static void refuse_section(reader *r) {
  char shown[SHOWN_MAX];
  wf_nearest nearest = wf_nearest_start(scalar_text(r));
  for (size_t i = 0; i < TOP_COUNT; i++) wf_nearest_offer(&nearest, top_names[i]);
  for (size_t i = 0; i < HW_SECTION_COUNT; i++) wf_nearest_offer(&nearest, hw_section_at(i)->name);
  hw_text_shown(scalar_text(r), shown, sizeof shown);
  wf_error(r->diag, here(r), "unknown section \"%s\"", shown);
  hint_key(r, &nearest);
}

// The index of a section's key, or HW_PARAM_COUNT.
static size_t find_key(const hw_section *section, const char *key) {
  size_t count, i = 0;
  const hw_param *params = hw_params(&count);
  while (i < count && (strcmp(params[i].section, section->name) != 0 || strcmp(params[i].name, key) != 0)) i++;
  return i;
}

// At a key of a section: the parameter to read, or HW_PARAM_COUNT after a message.
static size_t take_key(reader *r, const hw_section *section) {
  if (r->refused) return HW_PARAM_COUNT;
  if (!is_text(r)) {
    wf_error(r->diag, here(r), "a key of section \"%s\" is a name, not %s", section->name, kind_of_value(r));
    return HW_PARAM_COUNT;
  }
  size_t index = find_key(section, scalar_text(r));
  if (index == HW_PARAM_COUNT) {
    refuse_key(r, section);
  } else if (!note_once(r, &r->positions.of[index], scalar_text(r))) {
    return HW_PARAM_COUNT;
  }
  return index;
}

static bool read_entry(reader *r, const hw_section *section) {
  size_t count, index = take_key(r, section);
  if (!skip_value(r) || !next(r)) return false;
  if (index == HW_PARAM_COUNT) return skip_value(r);
  r->positions.of[index] = here(r);  // rules point at the value
  return read_value(r, &hw_params(&count)[index]);
}

static bool read_section(reader *r, const hw_section *section) {
  bool empty = r->event.type == YAML_SCALAR_EVENT && is_plain(r) && r->event.data.scalar.length == 0;  // "mesh:"
  if (r->refused || empty) return skip_value(r);
  if (r->event.type != YAML_MAPPING_START_EVENT) {
    wf_error(r->diag, here(r), "section \"%s\" is a mapping of keys to values", section->name);
    return skip_value(r);
  }
  for (;;) {
    if (!next(r)) return false;
    if (r->event.type == YAML_MAPPING_END_EVENT) return true;
    if (!read_entry(r, section)) return false;
  }
}

bool hw_array_name_valid(const char *name) {
  size_t length = strlen(name);
  return length > 0 && length < HW_NAME_MAX && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static void take_name(reader *r) {
  if (hw_array_name_valid(scalar_text(r))) {
    snprintf(r->array.name, sizeof r->array.name, "%s", scalar_text(r));
    return;
  }
  char shown[SHOWN_MAX];
  hw_text_shown(scalar_text(r), shown, sizeof shown);
  wf_error(r->diag, here(r), "name is 1 to %d of the characters a-z, 0-9 and -; not \"%s\"", HW_NAME_MAX - 1, shown);
}

static void take_description(reader *r) {
  size_t length = r->event.data.scalar.length;
  if (length >= HW_DESCRIPTION_MAX) {
    wf_error(r->diag, here(r), "description has %zu bytes; %d fit", length, HW_DESCRIPTION_MAX - 1);
    return;
  }
  memcpy(r->array.description, scalar_text(r), length + 1);
  while (length > 0 && r->array.description[length - 1] == '\n') r->array.description[--length] = '\0';
}

static bool read_top(reader *r, enum top_key key) {
  if (!r->refused && !is_text(r)) {
    wf_error(r->diag, here(r), "%s is text, not %s", top_names[key], kind_of_value(r));
  } else if (!r->refused && key == TOP_NAME) {
    take_name(r);
  } else if (!r->refused) {
    take_description(r);
  }
  return skip_value(r);
}

static size_t find_top(const char *key) {
  size_t i = 0;
  while (i < TOP_COUNT && strcmp(top_names[i], key) != 0) i++;
  return i;
}

static size_t find_section(const char *key) {
  size_t i = 0;
  while (i < HW_SECTION_COUNT && strcmp(hw_section_at(i)->name, key) != 0) i++;
  return i;
}

static bool skip_pair(reader *r) { return skip_value(r) && next(r) && skip_value(r); }

// At a key of the document.
static bool read_pair(reader *r) {
  if (r->refused) return skip_pair(r);
  if (!is_text(r)) {
    wf_error(r->diag, here(r), "a section has a name, not %s", kind_of_value(r));
    return skip_pair(r);
  }
  size_t top = find_top(scalar_text(r)), section = find_section(scalar_text(r));
  if (top == TOP_COUNT && section == HW_SECTION_COUNT) {
    refuse_section(r);
    return skip_pair(r);
  }
  wf_location *place = top < TOP_COUNT ? &r->top[top] : &r->sections[section];
  if (!note_once(r, place, scalar_text(r))) return skip_pair(r);
  if (!next(r)) return false;
  return top < TOP_COUNT ? read_top(r, (enum top_key)top) : read_section(r, hw_section_at(section));
}

static bool read_mapping(reader *r) {
  if (r->event.type != YAML_MAPPING_START_EVENT) {
    if (!r->refused) wf_error(r->diag, here(r), "an array description is a mapping of sections");
    return skip_value(r);
  }
  for (;;) {
    if (!next(r)) return false;
    if (r->event.type == YAML_MAPPING_END_EVENT) return true;
    if (!read_pair(r)) return false;
  }
}

static bool read_stream(reader *r) {
  if (!next(r) || !next(r)) return false;  // past the start of the stream
  if (r->event.type == YAML_STREAM_END_EVENT) {
    wf_error(r->diag, wf_in_file(r->file), "the file is empty; {} is the default array");
    return true;
  }
  if (!next(r) || !read_mapping(r) || !next(r) || !next(r))
    return false;  // the last two: end of document, what follows
  if (r->event.type != YAML_STREAM_END_EVENT) {
    wf_error(r->diag, here(r), "a second document; a file describes one array");
  }
  return true;
}

bool hw_array_parse_named(hw_array *array, const char *default_name, const char *file, const char *text, size_t length,
                          wf_diag *diag) {
  const unsigned errors = diag->errors;
  if (length > HW_TEXT_MAX) {
    wf_error(diag, wf_in_file(file), "larger than the %d bytes an array description may have", HW_TEXT_MAX);
    return false;
  }
  reader r = {.file = file, .text = text, .length = length, .diag = diag};
  hw_array_default(&r.array);
  snprintf(r.array.name, sizeof r.array.name, "%s", default_name);
  if (!yaml_parser_initialize(&r.parser)) {
    wf_error(diag, wf_in_file(file), "no memory for the YAML reader");
    return false;
  }
  yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
  bool whole = read_stream(&r);
  yaml_event_delete(&r.event);
  yaml_parser_delete(&r.parser);
  if (!whole || diag->errors != errors || !hw_array_check_at(&r.array, file, &r.positions, diag)) return false;
  *array = r.array;
  return true;
}

bool hw_array_parse(hw_array *array, const char *file, const char *text, size_t length, wf_diag *diag) {
  return hw_array_parse_named(array, "unnamed", file, text, length, diag);
}
