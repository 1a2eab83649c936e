// SPDX-License-Identifier: Apache-2.0
// Reads the text of print.c. Stops at the first error. What it makes is checked by graph_verify: this reader only sees
// that every name is known and made once, and that constants have as many bytes as their shape says.
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/element.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/names.h"

enum { LIST_MAX = 4096, NUMBER_MAX = 64 };

typedef enum { END, LINE, WORD, TEXT, NUMBER, SIGN } token_kind;

typedef struct parser {
  const char *file, *next, *end, *line_start;
  unsigned line;
  token_kind kind;
  const char *text;  // of the token: in the source, a text without its quotes
  size_t length;
  wf_location where;
  wf_diag *diag;
  bool failed;
  graph *g;
  graph_names *names;
} parser;

static bool fail(parser *p, wf_location where, const char *format, ...) WF_PRINTF(3, 4);
static bool fail(parser *p, wf_location where, const char *format, ...) {
  if (p->failed) return false;
  char message[256];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  wf_error(p->diag, where, "%s", message);
  p->failed = true;
  p->kind = END;
  return false;
}

// ---- tokens

static char ahead(const parser *p, size_t n) { return (size_t)(p->end - p->next) > n ? p->next[n] : '\0'; }

static bool in_word(char c) { return isalnum((unsigned char)c) || (c != '\0' && strchr("_./:", c) != NULL); }

static bool starts_number(const parser *p) {
  size_t sign = ahead(p, 0) == '-' ? 1 : 0;
  if (isdigit((unsigned char)ahead(p, sign))) return true;
  size_t left = (size_t)(p->end - p->next) - sign;
  const char *at = p->next + sign;
  return left >= 3 && (memcmp(at, "inf", 3) == 0 || memcmp(at, "nan", 3) == 0) && !in_word(ahead(p, sign + 3));
}

static size_t number_length(const parser *p) {
  size_t length = 1;
  while (isalnum((unsigned char)ahead(p, length)) || ahead(p, length) == '.' ||
         (strchr("+-", ahead(p, length)) != NULL && ahead(p, length) != '\0' && ahead(p, length - 1) == 'e'))
    length++;
  return length;
}

static void step_text(parser *p) {
  size_t length = 1;
  while (ahead(p, length) != '"' && ahead(p, length) != '\n' && p->next + length < p->end)
    length += ahead(p, length) == '\\' && p->next + length + 1 < p->end ? 2 : 1;
  if (ahead(p, length) != '"') {
    fail(p, p->where, "a text without its end");
    return;
  }
  p->kind = TEXT;
  p->text = p->next + 1;
  p->length = length - 1;
  p->next += length + 1;
}

static void skip_space(parser *p) {
  while (p->next < p->end && (*p->next == ' ' || *p->next == '\t' || *p->next == '\r')) p->next++;
  if (ahead(p, 0) == '#')
    while (p->next < p->end && *p->next != '\n') p->next++;
}

static void step(parser *p) {
  if (p->failed) return;
  skip_space(p);
  p->where = (wf_location){p->file, p->line, (unsigned)(p->next - p->line_start) + 1};
  p->text = p->next;
  p->kind = END;
  p->length = 0;
  if (p->next == p->end) return;
  if (*p->next == '"') {
    step_text(p);
    return;
  }
  p->length = 1;
  if (*p->next == '\n') {
    p->kind = LINE;
    p->line++;
    p->line_start = p->next + 1;
  } else if (starts_number(p)) {
    p->kind = NUMBER;
    p->length = number_length(p);
  } else if (in_word(*p->next)) {
    p->kind = WORD;
    while (in_word(ahead(p, p->length))) p->length++;
  } else {
    p->kind = SIGN;
    if (ahead(p, 0) == '-' && ahead(p, 1) == '>') p->length = 2;
  }
  p->next += p->length;
}

static bool is(const parser *p, const char *text) {
  return (p->kind == SIGN || p->kind == WORD) && p->length == strlen(text) && memcmp(p->text, text, p->length) == 0;
}

static bool take(parser *p, const char *text) {
  if (!is(p, text)) return false;
  step(p);
  return true;
}

static bool unexpected(parser *p, const char *what) {
  if (p->kind == END || p->kind == LINE) return fail(p, p->where, "expected %s at the end of the line", what);
  return fail(p, p->where, "expected %s instead of '%.*s'", what, p->length < 40 ? (int)p->length : 40, p->text);
}

static bool expect(parser *p, const char *text) { return take(p, text) || unexpected(p, text); }

// ---- names and numbers

static char *unquote(parser *p) {
  char *text = wf_arena_text(p->g->arena, p->text, p->length), *to = text;
  for (const char *from = text; *from != '\0'; from++) {
    unsigned code;
    if (*from != '\\') {
      *to++ = *from;
    } else if (from[1] == 'x' && isxdigit((unsigned char)from[2]) && isxdigit((unsigned char)from[3]) &&
               sscanf(from + 2, "%2x", &code) == 1 && code != 0) {
      *to++ = (char)code;
      from += 3;
    } else {
      *to++ = *++from;
      if (*from != '"' && *from != '\\') fail(p, p->where, "an unknown escape in a text");
      if (*from == '\0') break;
    }
  }
  *to = '\0';
  return text;
}

// NULL after an error.
static const char *name(parser *p, const char *what) {
  const char *text = NULL;
  if (p->kind == WORD)
    text = wf_arena_text(p->g->arena, p->text, p->length);
  else if (p->kind == TEXT)
    text = unquote(p);
  else
    unexpected(p, what);
  if (text != NULL && text[0] == '\0') fail(p, p->where, "an empty name");
  step(p);
  return p->failed ? NULL : text;
}

static bool number_text(parser *p, const char *what, char text[NUMBER_MAX]) {
  if (p->kind != NUMBER || p->length >= NUMBER_MAX) return unexpected(p, what);
  memcpy(text, p->text, p->length);
  text[p->length] = '\0';
  return true;
}

static int64_t integer(parser *p, const char *what) {
  char text[NUMBER_MAX], *end;
  if (!number_text(p, what, text)) return 0;
  errno = 0;
  int64_t value = text[0] == '-' ? strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0') fail(p, p->where, "'%s' is no integer of 64 bits", text);
  step(p);
  return value;
}

static bool is_real(const parser *p) {
  for (size_t i = 0; i < p->length; i++)
    if (strchr(".en", p->text[i]) != NULL) return true;
  return false;
}

static double real(parser *p, const char *what) {
  char text[NUMBER_MAX], *end;
  if (!number_text(p, what, text)) return 0;
  double value = strtod(text, &end);
  if (*end != '\0') fail(p, p->where, "'%s' is no number", text);
  step(p);
  return value;
}

// ---- tensors

static bool find_type(parser *p, graph_type *type) {
  for (int t = 0; t < GRAPH_TYPE_COUNT; t++)
    if (is(p, graph_type_names[t])) {
      *type = (graph_type)t;
      step(p);
      return true;
    }
  return unexpected(p, "a type");
}

static bool shape(parser *p, graph_tensor *t) {
  if (!find_type(p, &t->type) || !expect(p, "[")) return false;
  wf_location where = p->where;
  while (!p->failed && !is(p, "]")) {
    if (t->rank == GRAPH_RANK_MAX) return fail(p, p->where, "more than %d dimensions", GRAPH_RANK_MAX);
    t->dim[t->rank++] = integer(p, "a dimension");
    if (!take(p, ",")) break;
  }
  int64_t elements;
  if (!p->failed && !graph_count_elements(t->rank, t->dim, &elements)) return fail(p, where, "an impossible shape");
  return expect(p, "]");
}

// NAME TYPE[...] with scale: a new tensor; GRAPH_NONE after an error.
static int new_tensor(parser *p) {
  wf_location where = p->where;
  graph_tensor t = {.name = name(p, "a name")};
  if (t.name == NULL || !shape(p, &t)) return GRAPH_NONE;
  if (take(p, "scale")) {
    t.scale = (float)real(p, "a scale");
    if (expect(p, "zero")) t.zero = (int32_t)integer(p, "a zero point");
  }
  if (graph_names_find(p->names, t.name) != GRAPH_NONE) fail(p, where, "a second tensor '%s'", t.name);
  if (p->failed) return GRAPH_NONE;
  int index = graph_add_tensor(p->g, &t);
  graph_names_add(p->names, p->g->tensors[index].name, index);
  return index;
}

static int known_tensor(parser *p) {
  wf_location where = p->where;
  const char *text = name(p, "a tensor");
  if (text == NULL) return GRAPH_NONE;
  int index = graph_names_find(p->names, text);
  if (index == GRAPH_NONE) fail(p, where, "no tensor '%s' so far", text);
  return index;
}

static int hex_digit(char c) {
  return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

static bool hex_data(parser *p, unsigned char *data, size_t bytes) {
  if (p->kind != TEXT || p->length != 2 * bytes) return fail(p, p->where, "expected %zu bytes in hexadecimal", bytes);
  for (size_t i = 0; i < bytes; i++) {
    int high = hex_digit(p->text[2 * i]), low = hex_digit(p->text[2 * i + 1]);
    if (high < 0 || low < 0) return fail(p, p->where, "expected hexadecimal digits");
    data[i] = (unsigned char)(16 * high + low);
  }
  step(p);
  return true;
}

static bool list_data(parser *p, graph_type type, void *data, size_t elements) {
  for (size_t i = 0; i < elements; i++) {
    if (i != 0 && !expect(p, ",")) return false;
    if (graph_is_real(type))
      graph_put_real(type, data, i, real(p, "a number"));
    else
      graph_put_int(type, data, i, integer(p, "an integer"));
  }
  return expect(p, "]");
}

static bool constant(parser *p) {
  int index = new_tensor(p);
  if (index == GRAPH_NONE || !expect(p, "=")) return false;
  graph_tensor *t = &p->g->tensors[index];
  size_t bytes = graph_bytes(t), left = (size_t)(p->end - p->next);
  if (is(p, "digest")) return fail(p, p->where, "the data of '%s' was not printed", t->name);
  if (bytes > 8 * (left + 1)) return fail(p, p->where, "the data of '%s' is missing", t->name);
  void *data = wf_arena_alloc(p->g->arena, bytes + 1, 1);
  t->data = data;
  if (take(p, "hex")) return hex_data(p, data, bytes);
  return expect(p, "[") && list_data(p, t->type, data, (size_t)graph_elements(t));
}

// ---- nodes

static bool list_value(parser *p, graph_node *node, const char *key) {
  int64_t *integers = wf_alloc(LIST_MAX, sizeof integers[0]);
  float *numbers = wf_alloc(LIST_MAX, sizeof numbers[0]);
  int count = 0;
  bool floats = take(p, ".") || (p->kind == NUMBER && is_real(p));
  while (!p->failed && !is(p, "]")) {
    if (count == LIST_MAX)
      fail(p, p->where, "more than %d values", LIST_MAX);
    else if (floats)
      numbers[count++] = (float)real(p, "a number");
    else
      integers[count++] = integer(p, "an integer");
    if (!take(p, ",")) break;
  }
  if (floats)
    graph_set_floats(p->g, node, key, numbers, count);
  else
    graph_set_ints(p->g, node, key, integers, count);
  wf_free(integers);
  wf_free(numbers);
  return expect(p, "]");
}

static void attribute(parser *p, graph_node *node) {
  wf_location where = p->where;
  const char *key = name(p, "an attribute");
  if (key == NULL || !expect(p, "=")) return;
  if (graph_find_attribute(node, key) != NULL) fail(p, where, "a second attribute '%s'", key);
  if (take(p, "[")) {
    list_value(p, node, key);
  } else if (p->kind == TEXT) {
    graph_set_text(p->g, node, key, unquote(p));
    step(p);
  } else if (p->kind == NUMBER && is_real(p)) {
    graph_set_float(p->g, node, key, (float)real(p, "a number"));
  } else {
    graph_set_int(p->g, node, key, integer(p, "a value"));
  }
}

static void place(parser *p, graph_node *node) {
  if (take(p, "array"))
    node->place = GRAPH_ON_ARRAY;
  else if (take(p, "host"))
    node->place = GRAPH_ON_HOST;
  if (node->place == GRAPH_UNPLACED || p->kind != TEXT) return;
  node->reason = unquote(p);
  step(p);
}

static int references(parser *p, int *list, bool made) {
  int count = 0;
  while (!p->failed && !is(p, ")")) {
    if (count == LIST_MAX) fail(p, p->where, "more than %d tensors", LIST_MAX);
    if (p->failed) break;
    list[count++] = take(p, "_") ? GRAPH_NONE : made ? new_tensor(p) : known_tensor(p);
    if (!take(p, ",")) break;
  }
  return count;
}

static void node(parser *p) {
  const char *label = name(p, "a name");
  char *op_name = p->kind == WORD ? wf_arena_text(p->g->arena, p->text, p->length) : NULL;
  graph_op op = op_name != NULL ? graph_find_op(op_name) : GRAPH_OP_COUNT;
  if (op == GRAPH_OP_COUNT) unexpected(p, "an operator");
  step(p);
  int *lists = wf_alloc(2 * LIST_MAX, sizeof lists[0]), *outputs = lists + LIST_MAX;
  int input_count = expect(p, "(") ? references(p, lists, false) : 0;
  int output_count = expect(p, ")") && expect(p, "->") ? references(p, outputs, true) : 0;
  if (!p->failed) {
    graph_node *added = graph_add_node(p->g, op, label, lists, input_count, outputs, output_count);
    if (take(p, "{")) {
      while (!p->failed && !is(p, "}")) {
        attribute(p, added);
        if (!take(p, ",")) break;
      }
      expect(p, "}");
    }
    place(p, added);
  }
  wf_free(lists);
}

// ---- the file

typedef struct ends {
  int *list, count;
  size_t room;
} ends;

static void add_end(parser *p, ends *e, int tensor) {
  if (tensor == GRAPH_NONE) return;
  e->list = wf_arena_grow(p->g->arena, e->list, (size_t)e->count, &e->room, sizeof e->list[0]);
  e->list[e->count++] = tensor;
}

static void statements(parser *p) {
  ends inputs = {0}, outputs = {0};
  while (p->kind != END) {
    if (take(p, "input"))
      add_end(p, &inputs, new_tensor(p));
    else if (take(p, "output"))
      add_end(p, &outputs, known_tensor(p));
    else if (take(p, "constant"))
      constant(p);
    else if (take(p, "node"))
      node(p);
    else if (p->kind != LINE)
      unexpected(p, "input, constant, node or output");
    if (p->kind != LINE && p->kind != END) unexpected(p, "the end of the line");
    step(p);
  }
  graph_set_ends(p->g, inputs.list, inputs.count, outputs.list, outputs.count);
}

graph *graph_parse(const char *file, const char *text, size_t length, wf_diag *diag) {
  parser p = {.file = file, .next = text, .end = text + length, .line_start = text, .line = 1, .diag = diag};
  p.g = graph_create("");
  p.names = graph_names_create();
  do step(&p);
  while (p.kind == LINE);
  if (!take(&p, "graph")) unexpected(&p, "graph");
  p.g->name = name(&p, "a name");
  statements(&p);
  graph_names_destroy(p.names);
  if (!p.failed) return p.g;
  graph_destroy(p.g);
  return NULL;
}
