// SPDX-License-Identifier: Apache-2.0
// The table of a network's steps: see step_table.h.
//
// A column has a least and a most width. What a line has beyond the least widths goes to the names first, then to the
// last column; where it has not even these, columns go in the order of `wanted`.
#include "cli/step_table.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { BOUND = 96 };          // characters of what a step waits for
enum { FIELD = BOUND + 16 };  // characters of a field, at most
enum { STEP, NODE, OPERATOR, RESULT, PLACE, CYCLES, UTILISATION, BYTES, ENERGY, WAITS };

// The fields of one step.
typedef struct fields {
  char text[STEP_TABLE_COLUMNS][FIELD];
} fields;

typedef struct column {
  const char *head;
  unsigned least;
  bool right;
  unsigned wanted;  // the lowest goes first; 0: it stays
} column;

static const column columns_of[STEP_TABLE_COLUMNS] = {
    [STEP] = {"step", 4, true, 0},           [NODE] = {"node", 16, false, 0},
    [OPERATOR] = {"operator", 14, false, 5}, [RESULT] = {"result", 22, false, 1},
    [PLACE] = {"place", 5, false, 4},        [CYCLES] = {"cycles", 12, true, 0},
    [UTILISATION] = {"util %", 7, true, 0},  [BYTES] = {"bytes", 12, true, 2},
    [ENERGY] = {"energy uJ", 10, true, 3},   [WAITS] = {"waits most for", 14, false, 0}};

enum { NAME_MOST = 60, WAITS_MOST = BOUND };

// ---- layout

// Where a name's last part may begin.
static size_t up_to_separator(const char *name, size_t length) {
  while (length > 0 && name[length - 1] != '/' && name[length - 1] != '.') length--;
  return length;
}

// The bytes of their names that all steps begin with; those of ends do not count.
static size_t prefix_of(const weft_network *net) {
  char *first = NULL;
  size_t length = 0;
  weft_step step = {.size = sizeof step};
  for (size_t i = 0; weft_network_step(net, i, &step) == WEFT_OK; i++) {
    if (step.edge) continue;
    if (first == NULL) length = strlen(first = cli_copy(step.name));
    size_t same = 0;
    while (same < length && step.name[same] == first[same]) same++;
    length = same;
  }
  length = first == NULL ? 0 : up_to_separator(first, length);
  free(first);
  return length;
}

static const char *name_of(const step_table *t, const weft_step *step) {
  return step->name + (step->edge ? 0 : t->prefix);
}

static unsigned longest_name(const step_table *t) {
  size_t longest = columns_of[NODE].least;
  weft_step step = {.size = sizeof step};
  for (size_t i = 0; weft_network_step(t->network, i, &step) == WEFT_OK; i++) {
    const size_t length = strlen(name_of(t, &step));
    if (length > longest) longest = length;
  }
  return longest < NAME_MOST ? (unsigned)longest : NAME_MOST;
}

static unsigned line_length(const step_table *t) {
  unsigned length = 0;
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++)
    if (t->width[c] != 0) length += t->width[c] + 1;
  return length - 1;
}

// Leaves out the least wanted column that is still there; false: all that are left stay.
static bool leave_out(step_table *t) {
  unsigned least = STEP_TABLE_COLUMNS;
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++)
    if (t->width[c] != 0 && columns_of[c].wanted != 0 &&
        (least == STEP_TABLE_COLUMNS || columns_of[c].wanted < columns_of[least].wanted))
      least = c;
  if (least == STEP_TABLE_COLUMNS) return false;
  t->width[least] = 0;
  return true;
}

static void widen(step_table *t, unsigned c, unsigned most, unsigned line) {
  const unsigned used = line_length(t);
  if (t->width[c] != 0 && t->width[c] < most && used < line)
    t->width[c] = most - t->width[c] < line - used ? most : t->width[c] + (line - used);
}

step_table step_table_create(const weft_network *network, bool wide) {
  const unsigned columns = wide ? 0 : cli_columns();
  step_table t = {.network = network, .coloured = cli_coloured(), .cut = columns != 0, .prefix = prefix_of(network)};
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++) t.width[c] = columns_of[c].least;
  const unsigned line = columns == 0 ? UINT32_MAX : columns;
  while (line_length(&t) > line && leave_out(&t)) continue;
  widen(&t, NODE, longest_name(&t), line);
  widen(&t, WAITS, WAITS_MOST, line);
  return t;
}

// ---- text

// Of a name that is too long the end: that is where names of layers differ.
static void print_name(const char *name, unsigned width) {
  static const char cut[] = "..";
  enum { CUT = sizeof cut - 1 };
  const size_t length = strlen(name);
  const char *from = name + (length > width ? length - (width - CUT) : 0);
  while (((unsigned char)*from & 0xc0) == 0x80) from++;  // a character of UTF-8 stays whole
  if (from != name) fputs(cut, stdout);
  cli_cell(from, from == name ? width : width - CUT, true);
}

// The last column's width is that of the line: it is not filled up.
static void print_field(const step_table *t, unsigned c, const char *text) {
  const unsigned width = t->width[c];
  if (c == NODE)
    print_name(text, width);
  else if (c == WAITS)
    printf("%.*s", t->cut ? (int)width : FIELD, text);
  else
    printf(columns_of[c].right ? "%*.*s" : "%-*.*s", (int)width, (int)width, text);
}

static wf_colour colour_of(unsigned c, const weft_step *step) {
  if (step->wrong != 0) return WF_COLOUR_BAD;
  if (c == PLACE || c == NODE) return strcmp(step->kind, "host") != 0 ? WF_COLOUR_NONE : WF_COLOUR_WARN;
  if (c == UTILISATION && step->utilisation >= 0.8) return WF_COLOUR_GOOD;
  return c == WAITS || c == OPERATOR || c == RESULT ? WF_COLOUR_SOFT : WF_COLOUR_NONE;
}

static void print_coloured(const step_table *t, unsigned c, wf_colour colour, const char *text) {
  if (colour != WF_COLOUR_NONE) fputs(cli_colour(t->coloured, colour), stdout);
  print_field(t, c, text);
  if (colour != WF_COLOUR_NONE) fputs(cli_colour(t->coloured, WF_COLOUR_NONE), stdout);
}

static void print_left_out(const step_table *t) {
  const char *between = "for want of room without ";
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++) {
    if (t->width[c] != 0) continue;
    printf("%s%s", between, columns_of[c].head);
    between = ", ";
  }
  if (*between == ',') fputs("; --wide has all\n", stdout);
}

static void print_prefix(const step_table *t) {
  weft_step step = {.size = sizeof step};
  size_t i = 0;
  while (weft_network_step(t->network, i, &step) == WEFT_OK && step.edge) i++;
  char *prefix = cli_format("%.*s", (int)t->prefix, step.name), shown[CLI_NAME];
  printf("all names begin with %s\n", cli_shown(prefix, shown));
  free(prefix);
}

void step_table_head(const step_table *t) {
  if (t->prefix != 0) print_prefix(t);
  print_left_out(t);
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++) {
    if (t->width[c] == 0) continue;
    if (c != STEP) putchar(' ');
    print_coloured(t, c, WF_COLOUR_HEAD, columns_of[c].head);
  }
  putchar('\n');
}

static void number(char text[FIELD], bool known, uint64_t value) {
  char digits[CLI_THOUSANDS];
  if (known) snprintf(text, FIELD, "%s", cli_thousands(value, digits));
}

static void fill(size_t index, const weft_step *s, fields *to) {
  number(to->text[STEP], true, index);
  // Of a node that takes several steps, those before the last are named by what they do for it: copy, gemm, ..
  const int word = (int)strcspn(s->program, " ");
  if (s->parts > 0)
    snprintf(to->text[OPERATOR], FIELD, "%u steps", s->parts);
  else if (s->makes)
    snprintf(to->text[OPERATOR], FIELD, "%s", s->operation);
  else
    snprintf(to->text[OPERATOR], FIELD, "%.*s", word, s->program);
  snprintf(to->text[RESULT], FIELD, "%s", s->result);
  snprintf(to->text[PLACE], FIELD, "%s", s->kind);
  snprintf(to->text[CYCLES], FIELD, "-");
  number(to->text[CYCLES], s->timed, s->cycles);
  if (s->products && s->cycles != 0) snprintf(to->text[UTILISATION], FIELD, "%.2f", 100 * s->utilisation);
  number(to->text[BYTES], s->counted, s->read_bytes + s->written_bytes);
  if (s->has_energy) snprintf(to->text[ENERGY], FIELD, "%.2f", s->energy_uj);
  snprintf(to->text[WAITS], FIELD, "%s%s", s->wrong != 0 ? "WRONG RESULT " : "", s->bound);
}

void step_table_row(const step_table *t, size_t index, const weft_step *step) {
  fields of = {0};
  fill(index, step, &of);
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++) {
    if (t->width[c] == 0) continue;
    if (c != STEP) putchar(' ');
    print_coloured(t, c, colour_of(c, step), c == NODE ? name_of(t, step) : of.text[c]);
  }
  putchar('\n');
}
