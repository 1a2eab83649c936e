// SPDX-License-Identifier: Apache-2.0
// Reads a technology table in one pass over libyaml's events, so that every message has its place. A number is known by
// the path of keys that leads to it, "energy_pj.mac" or "area_um2.mesh.pe"; the paths come from tech_params.def.
// Anchors, aliases, tags and lists are refused.
//
// The read_ and skip_ functions start at the first event of what they read and end at its last; false is a syntax
// error.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "hw/array_text.h"
#include "hw/tech.h"

enum { PATH_MAX_CHARS = 192, SHOWN_MAX = 40 };

typedef struct tech_number {
  const char *path;
  size_t offset;  // in hw_tech
} tech_number;

static const tech_number numbers[] = {
#define GROUP(group, doc)
#define END(group)
#define NUMBER(group, field, ...) {#group "." #field, offsetof(hw_tech, group.field)},
#define AREA(group, field, ...)                                             \
  {#group "." #field ".constant", offsetof(hw_tech, group.field.constant)}, \
      {#group "." #field ".lane", offsetof(hw_tech, group.field.lane)},     \
      {#group "." #field ".pe", offsetof(hw_tech, group.field.pe)},
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

typedef struct tech_text {
  const char *path;
  size_t offset, size;
} tech_text;

static const tech_text texts[] = {
    {"name", offsetof(hw_tech, name), HW_NAME_MAX},
    {"description", offsetof(hw_tech, description), HW_DESCRIPTION_MAX},
};
enum { TEXTS = sizeof texts / sizeof *texts, KEYS = NUMBERS + TEXTS };

typedef struct reader {
  yaml_parser_t parser;
  yaml_event_t event;  // the current one
  hw_tech tech;
  const char *file;
  wf_diag *diag;
  unsigned line_of[KEYS];  // where a key stands; 0: not yet
} reader;

static const char *path_of(size_t key) { return key < NUMBERS ? numbers[key].path : texts[key - NUMBERS].path; }

static wf_location at_mark(const reader *r, yaml_mark_t mark) {
  return (wf_location){r->file, (unsigned)mark.line + 1, (unsigned)mark.column + 1};
}

static wf_location here(const reader *r) { return at_mark(r, r->event.start_mark); }

static bool next(reader *r) {
  yaml_event_delete(&r->event);
  if (yaml_parser_parse(&r->parser, &r->event)) return true;
  const yaml_parser_t *p = &r->parser;
  wf_error(r->diag, at_mark(r, p->problem_mark), "not valid YAML: %s", p->problem != NULL ? p->problem : "no memory");
  return false;
}

static bool skip_value(reader *r) {
  for (size_t depth = 0;;) {
    const yaml_event_type_t type = r->event.type;
    if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) depth++;
    if (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT) depth--;
    if (depth == 0) return true;
    if (!next(r)) return false;
  }
}

static const char *scalar_text(const reader *r) { return (const char *)r->event.data.scalar.value; }

// A scalar or mapping without anchor or tag, and without a zero byte inside.
static bool is_plain_event(const reader *r) {
  if (r->event.type == YAML_MAPPING_START_EVENT)
    return r->event.data.mapping_start.anchor == NULL && r->event.data.mapping_start.tag == NULL;
  return r->event.type == YAML_SCALAR_EVENT && r->event.data.scalar.anchor == NULL &&
         r->event.data.scalar.tag == NULL && strlen(scalar_text(r)) == r->event.data.scalar.length;
}

static size_t find_key(const char *path) {
  size_t i = 0;
  while (i < KEYS && strcmp(path_of(i), path) != 0) i++;
  return i;
}

static bool is_group(const char *path) {
  const size_t length = strlen(path);
  for (size_t i = 0; i < KEYS; i++)
    if (strncmp(path_of(i), path, length) == 0 && path_of(i)[length] == '.') return true;
  return false;
}

static void refuse_key(reader *r, const char *path) {
  char shown[SHOWN_MAX];
  hw_text_shown(scalar_text(r), shown, sizeof shown);
  wf_error(r->diag, here(r), "a technology table has no key \"%s\" here", shown);
  wf_nearest nearest = wf_nearest_start(path);
  for (size_t i = 0; i < KEYS; i++) wf_nearest_offer(&nearest, path_of(i));
  if (nearest.best[0] != '\0') wf_hint(r->diag, "did you mean \"%s\"?", nearest.best);
}

// What the model of mappings needs, and fitted areas, are numbers.
static bool may_be_unknown(const char *path) {
  static const char *const known[] = {"energy_pj.", "words_per_cycle.", "area_um2."};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strncmp(path, known[i], strlen(known[i])) == 0) return false;
  return true;
}

static bool parse_number(const char *text, double *value) {
  if (*text == '\0' || strspn(text, "0123456789.eE+-") != strlen(text)) return false;
  char *end;
  errno = 0;
  *value = strtod(text, &end);
  return *end == '\0' && errno == 0 && isfinite(*value) && *value >= 0;
}

static void take_number(reader *r, const tech_number *number) {
  char shown[SHOWN_MAX];
  hw_text_shown(scalar_text(r), shown, sizeof shown);
  double value = NAN;
  const bool unknown = may_be_unknown(number->path);
  const bool said = unknown && strcmp(scalar_text(r), "unknown") == 0;
  if (!said && (r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE || !parse_number(scalar_text(r), &value))) {
    wf_error(r->diag, here(r), "%s is a number of 0 or more%s, not \"%s\"", number->path, unknown ? ", or unknown" : "",
             shown);
    return;
  }
  memcpy((char *)&r->tech + number->offset, &value, sizeof value);
}

static void take_text(reader *r, const tech_text *text) {
  if (r->event.data.scalar.length >= text->size) {
    wf_error(r->diag, here(r), "%s has %zu bytes; %zu fit", text->path, r->event.data.scalar.length, text->size - 1);
    return;
  }
  memcpy((char *)&r->tech + text->offset, scalar_text(r), r->event.data.scalar.length + 1);
}

static bool read_value(reader *r, size_t key) {
  if (!is_plain_event(r) || r->event.type != YAML_SCALAR_EVENT) {
    wf_error(r->diag, here(r), "%s is a single plain value", path_of(key));
  } else if (key < NUMBERS) {
    take_number(r, &numbers[key]);
  } else {
    take_text(r, &texts[key - NUMBERS]);
  }
  return skip_value(r);
}

static bool read_mapping(reader *r, const char *prefix);

// At a value whose key stands at `where`.
static bool read_entry(reader *r, const char *path, wf_location where) {
  const size_t key = find_key(path);
  if (key == KEYS) return read_mapping(r, path);
  if (r->line_of[key] == 0) {
    r->line_of[key] = where.line;
    return read_value(r, key);
  }
  wf_error(r->diag, where, "\"%s\" is given twice", path);
  wf_hint(r->diag, "the first is in line %u", r->line_of[key]);
  return skip_value(r);
}

// At a key: its path, or false after a message.
static bool take_key(reader *r, const char *prefix, char path[PATH_MAX_CHARS]) {
  if (!is_plain_event(r) || r->event.type != YAML_SCALAR_EVENT) {
    wf_error(r->diag, here(r), "a key is a plain name");
    return false;
  }
  char shown[SHOWN_MAX];
  hw_text_shown(scalar_text(r), shown, sizeof shown);
  snprintf(path, PATH_MAX_CHARS, "%s%s%s", prefix, *prefix != '\0' ? "." : "", shown);
  const bool known = strchr(shown, '.') == NULL && (find_key(path) != KEYS || is_group(path));
  if (!known) refuse_key(r, path);
  return known;
}

// The depth is that of the known paths: an unknown key is skipped, not entered.
static bool read_mapping(reader *r, const char *prefix) {
  if (!is_plain_event(r) || r->event.type != YAML_MAPPING_START_EVENT) {
    wf_error(r->diag, here(r), "%s is a mapping of keys to values", *prefix != '\0' ? prefix : "a technology table");
    return skip_value(r);
  }
  for (;;) {
    char path[PATH_MAX_CHARS];
    if (!next(r)) return false;
    if (r->event.type == YAML_MAPPING_END_EVENT) return true;
    const wf_location where = here(r);
    const bool known = take_key(r, prefix, path);
    if (!skip_value(r) || !next(r)) return false;
    if (!(known ? read_entry(r, path, where) : skip_value(r))) return false;
  }
}

static bool read_stream(reader *r) {
  if (!next(r) || !next(r)) return false;  // past the start of the stream
  if (r->event.type == YAML_STREAM_END_EVENT) {
    wf_error(r->diag, wf_in_file(r->file), "the file is empty");
    return true;
  }
  if (!next(r) || !read_mapping(r, "") || !next(r) || !next(r)) return false;
  if (r->event.type != YAML_STREAM_END_EVENT) wf_error(r->diag, here(r), "a second document; a file holds one table");
  return true;
}

static bool has_group(const reader *r, const char *group) {
  const size_t length = strlen(group);
  for (size_t i = 0; i < NUMBERS; i++)
    if (r->line_of[i] != 0 && strncmp(numbers[i].path, group, length) == 0 && numbers[i].path[length] == '.')
      return true;
  return false;
}

static void note_groups(reader *r) {
#define GROUP(group, doc) r->tech.has.group = has_group(r, #group);
#define END(group)
#define NUMBER(group, field, ...)
#define AREA(group, field, ...)
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
}

// What a table does not say is not known, where that may be.
static void note_unknown(reader *r) {
  const double unknown = NAN;
  for (size_t i = 0; i < NUMBERS; i++)
    if (r->line_of[i] == 0 && may_be_unknown(numbers[i].path))
      memcpy((char *)&r->tech + numbers[i].offset, &unknown, sizeof unknown);
}

// The texts are required, and the numbers of every group of which one is there.
static void check_complete(reader *r) {
  bool any = false;
  for (size_t i = 0; i < KEYS; i++) {
    char group[PATH_MAX_CHARS];
    snprintf(group, sizeof group, "%.*s", (int)strcspn(path_of(i), "."), path_of(i));
    const bool wanted = i >= NUMBERS || has_group(r, group);
    any |= i < NUMBERS && wanted;
    if (wanted && r->line_of[i] == 0) wf_error(r->diag, wf_in_file(r->file), "the key \"%s\" is missing", path_of(i));
  }
  if (!any)
    wf_error(r->diag, wf_in_file(r->file), "a technology table has energies, bandwidths or areas; here are none");
}

bool hw_tech_parse(hw_tech *tech, const char *file, const char *text, size_t length, wf_diag *diag) {
  const unsigned errors = diag->errors;
  if (length > HW_TECH_TEXT_MAX) {
    wf_error(diag, wf_in_file(file), "larger than the %d bytes a technology table may have", HW_TECH_TEXT_MAX);
    return false;
  }
  reader r = {.file = file, .diag = diag};
  if (!yaml_parser_initialize(&r.parser)) {
    wf_error(diag, wf_in_file(file), "no memory for the YAML reader");
    return false;
  }
  yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
  if (read_stream(&r) && diag->errors == errors) check_complete(&r);
  note_groups(&r);
  note_unknown(&r);
  yaml_event_delete(&r.event);
  yaml_parser_delete(&r.parser);
  if (diag->errors == errors) *tech = r.tech;
  return diag->errors == errors;
}
