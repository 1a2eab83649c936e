// SPDX-License-Identifier: Apache-2.0
// Arguments: values for parameters by name, and their text.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lang/builtins.h"

bool lang_value_equal(const lang_value *a, const lang_value *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case LANG_INT:
    case LANG_BOOL:
    case LANG_TYPE:
      return a->integer == b->integer;
    case LANG_FLOAT:
      return memcmp(&a->number, &b->number, sizeof a->number) == 0;
    case LANG_TEXT:
      return strcmp(a->text, b->text) == 0;
    default:
      return true;
  }
}

bool lang_args_equal(const lang_args *a, const lang_args *b) {
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++)
    if (strcmp(a->items[i].name, b->items[i].name) != 0 || !lang_value_equal(&a->items[i].value, &b->items[i].value))
      return false;
  return true;
}

const lang_value *lang_args_find(const lang_args *args, const char *name) {
  for (int i = args->count; i-- > 0;)
    if (strcmp(args->items[i].name, name) == 0) return &args->items[i].value;
  return NULL;
}

// ---- from text

// Digits with a sign that no integer has room for.
static bool is_too_long(const char *text) {
  char *end;
  errno = 0;
  strtoll(text, &end, 10);
  return *text != '\0' && *end == '\0' && errno == ERANGE;
}

static lang_value value_of_text(const char *text) {
  char *end;
  if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0) return lang_bool(text[0] == 'T');
  if (strcmp(text, "None") == 0) return (lang_value){.kind = LANG_NONE};
  errno = 0;
  long long integer = strtoll(text, &end, 10);
  if (*text != 0 && *end == 0 && errno == 0) return lang_int(integer);
  double number = strtod(text, &end);
  if (*text != 0 && *end == 0) return lang_float(number);
  const int type = lang_dtype_find(text);
  return type >= 0 ? lang_type((lang_dtype)type) : (lang_value){.kind = LANG_TEXT, .text = text};
}

static bool has_name(const lang_arg *items, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(items[i].name, name) == 0) return true;
  return false;
}

bool lang_read_args(const char *text, wf_arena *arena, lang_args *args, wf_diag *diag) {
  lang_arg *items = NULL;
  size_t count = 0, room = 0;
  while (*text != 0) {
    const size_t length = strcspn(text, ",");
    const char *equals = memchr(text, '=', length);
    if (equals == NULL) {
      wf_error(diag, (wf_location){0}, "expected NAME=VALUE, found '%.*s'", (int)length, text);
      return false;
    }
    const char *value = wf_arena_text(arena, equals + 1, (size_t)(text + length - equals) - 1);
    const char *name = wf_arena_text(arena, text, (size_t)(equals - text));
    if (is_too_long(value) || has_name(items, count, name)) {
      wf_error(diag, (wf_location){0},
               is_too_long(value) ? "%s=%s: an integer has at most 64 bits" : "%s is given twice", name, value);
      return false;
    }
    *WF_ARENA_PUSH(arena, items, count, &room) = (lang_arg){name, value_of_text(value)};
    text += length;
    text += *text == ',';
  }
  *args = (lang_args){items, (int)count};
  return true;
}

// ---- to text

// A number with a point, an exponent or letters, so that it is no integer.
static const char *float_text(double number, wf_arena *arena) {
  const char *text = wf_arena_format(arena, "%.17g", number);
  return strpbrk(text, ".en") != NULL ? text : wf_arena_format(arena, "%s.0", text);
}

static const char *value_text(const lang_value *value, wf_arena *arena) {
  switch (value->kind) {
    case LANG_INT:
      return wf_arena_format(arena, "%" PRId64, value->integer);
    case LANG_FLOAT:
      return float_text(value->number, arena);
    case LANG_BOOL:
      return value->integer != 0 ? "True" : "False";
    case LANG_TEXT:
      return value->text;
    case LANG_TYPE:
      return lang_dtype_names[value->integer];
    default:
      return "None";
  }
}

const char *lang_args_text(const lang_args *args, wf_arena *arena) {
  const char *text = "";
  for (int i = 0; i < args->count; i++)
    text = wf_arena_format(arena, "%s%s%s=%s", text, i == 0 ? "" : ",", args->items[i].name,
                           value_text(&args->items[i].value, arena));
  return text;
}
