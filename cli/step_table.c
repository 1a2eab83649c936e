// SPDX-License-Identifier: Apache-2.0
// The table of a network's steps: see step_table.h.
//
// A column has a least and a most width. What a line has beyond the least widths goes to the names first, then to the
// last column; where it has not even these, columns go in the order of `wanted`.
#include "cli/step_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/name.h"
#include "base/number.h"
#include "base/terminal.h"
#include "base/thousands.h"
#include "runner/figures.h"

enum { FIELD = SIM_BOUND_TEXT + 16 };  // characters of a field, at most
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

enum { NAME_MOST = 60, WAITS_MOST = SIM_BOUND_TEXT };

// ---- layout

// Where a name's last part may begin.
static size_t up_to_separator(const char *name, size_t length) {
  while (length > 0 && name[length - 1] != '/' && name[length - 1] != '.') length--;
  return length;
}

size_t step_table_prefix(const network *net) {
  const char *first = NULL;
  size_t length = 0;
  for (int s = 0; s < net->step_count; s++) {
    const char *name = net->steps[s].name;
    if (net->steps[s].edge) continue;
    if (first == NULL) length = strlen(first = name);
    size_t same = 0;
    while (same < length && name[same] == first[same]) same++;
    length = same;
  }
  return first == NULL ? 0 : up_to_separator(first, length);
}

static const char *name_of(const step_table *t, const network_step *step) {
  return step->name + (step->edge ? 0 : t->prefix);
}

static unsigned longest_name(const step_table *t) {
  size_t longest = columns_of[NODE].least;
  for (int s = 0; s < t->net->step_count; s++) longest = wf_max(longest, strlen(name_of(t, &t->net->steps[s])));
  return (unsigned)wf_min(longest, NAME_MOST);
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
    t->width[c] = (unsigned)wf_min(most, t->width[c] + (line - used));
}

step_table step_table_create(const network *net, unsigned columns, bool coloured) {
  step_table t = {.net = net, .coloured = coloured, .cut = columns != 0, .prefix = step_table_prefix(net)};
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++) t.width[c] = columns_of[c].least;
  const unsigned line = columns == 0 ? UINT32_MAX : columns;
  while (line_length(&t) > line && leave_out(&t)) continue;
  widen(&t, NODE, longest_name(&t), line);
  widen(&t, WAITS, WAITS_MOST, line);
  return t;
}

// ---- text

void step_table_shape(const graph *g, const graph_node *node, char *text, size_t size) {
  step_table_tensor(&g->tensors[node->outputs[0]], text, size);
}

void step_table_tensor(const graph_tensor *t, char *text, size_t size) {
  size_t length = (size_t)snprintf(text, size, "%s[", graph_type_names[t->type]);
  for (int d = 0; d < t->rank && length < size; d++)
    length += (size_t)snprintf(text + length, size - length, "%s%" PRId64, d == 0 ? "" : ",", t->dim[d]);
  if (length < size) snprintf(text + length, size - length, "]");
}

// Of a name that is too long the end: that is where names of layers differ.
static void print_name(const char *name, unsigned width, FILE *out) {
  static const char cut[] = "..";
  enum { CUT = sizeof cut - 1 };
  const size_t length = strlen(name);
  const char *from = name + (length > width ? length - (width - CUT) : 0);
  while (((unsigned char)*from & 0xc0) == 0x80) from++;  // a character of UTF-8 stays whole
  if (from != name) fputs(cut, out);
  wf_name_column(from, from == name ? width : width - CUT, true, out);
}

// The last column's width is that of the line: it is not filled up.
static void print_field(const step_table *t, unsigned c, const char *text, FILE *out) {
  const unsigned width = t->width[c];
  if (c == NODE)
    print_name(text, width, out);
  else if (c == WAITS)
    fprintf(out, "%.*s", t->cut ? (int)width : FIELD, text);
  else
    fprintf(out, columns_of[c].right ? "%*.*s" : "%-*.*s", (int)width, (int)width, text);
}

static wf_colour colour_of(unsigned c, const network_step *step, const run_step_result *r, double utilisation) {
  if (r->wrong != 0) return WF_COLOUR_BAD;
  if (c == PLACE || c == NODE) return step->place == GRAPH_ON_ARRAY ? WF_COLOUR_NONE : WF_COLOUR_WARN;
  if (c == UTILISATION && utilisation >= 0.8) return WF_COLOUR_GOOD;
  return c == WAITS || c == OPERATOR || c == RESULT ? WF_COLOUR_SOFT : WF_COLOUR_NONE;
}

static void print_coloured(const step_table *t, unsigned c, wf_colour colour, const char *text, FILE *out) {
  if (colour != WF_COLOUR_NONE) fputs(wf_terminal_colour(t->coloured, colour), out);
  print_field(t, c, text, out);
  if (colour != WF_COLOUR_NONE) fputs(wf_terminal_colour(t->coloured, WF_COLOUR_NONE), out);
}

static void print_left_out(const step_table *t, FILE *out) {
  const char *between = "for want of room without ";
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++) {
    if (t->width[c] != 0) continue;
    fprintf(out, "%s%s", between, columns_of[c].head);
    between = ", ";
  }
  if (*between == ',') fputs("; --wide has all\n", out);
}

void step_table_head(const step_table *t, FILE *out) {
  if (t->prefix != 0) {
    fputs("all names begin with ", out);
    char prefix[WF_NAME_LINE], shown[WF_NAME_LINE];
    const network_step *step = t->net->steps;
    while (step->edge) step++;
    snprintf(prefix, sizeof prefix, "%.*s", (int)wf_min(t->prefix, sizeof prefix - 1), step->name);
    fprintf(out, "%s\n", wf_name_shown(prefix, shown));
  }
  print_left_out(t, out);
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++) {
    if (t->width[c] == 0) continue;
    if (c != STEP) fputc(' ', out);
    print_coloured(t, c, WF_COLOUR_HEAD, columns_of[c].head, out);
  }
  fputc('\n', out);
}

static void number(char text[FIELD], bool known, uint64_t value) {
  char digits[WF_THOUSANDS];
  if (known) snprintf(text, FIELD, "%s", wf_thousands(value, digits));
}

static void fill(const step_table *t, int step, const run_step_result *r, const run_step_figures *f, fields *to) {
  const network_step *s = &t->net->steps[step];
  number(to->text[STEP], true, (uint64_t)step);
  // Of a node that takes several steps, those before the last are named by what they do for it: copy, gemm, ..
  const int word = (int)strcspn(s->what, " ");
  if (s->part_count > 0)
    snprintf(to->text[OPERATOR], FIELD, "%d steps", s->part_count);
  else if (s->makes)
    snprintf(to->text[OPERATOR], FIELD, "%s", graph_op_name(s->node->op));
  else
    snprintf(to->text[OPERATOR], FIELD, "%.*s", word, s->what);
  step_table_shape(t->net->graph, s->node, to->text[RESULT], FIELD);
  snprintf(to->text[PLACE], FIELD, "%s", network_step_place(s));
  snprintf(to->text[CYCLES], FIELD, "-");
  number(to->text[CYCLES], r->timed, r->cycles);
  if (s->macs != 0 && r->cycles != 0) snprintf(to->text[UTILISATION], FIELD, "%.2f", 100 * f->utilisation);
  number(to->text[BYTES], r->has_units, r->units.bus_read_bytes + r->units.bus_written_bytes);
  if (f->has_energy) snprintf(to->text[ENERGY], FIELD, "%.2f", f->energy_uj);
  snprintf(to->text[WAITS], FIELD, "%s%s", r->wrong != 0 ? "WRONG RESULT " : "", f->bound);
}

void step_table_row(const step_table *t, int step, const run_step_result *r, FILE *out) {
  const network_step *s = &t->net->steps[step];
  const run_step_figures f = run_step_figures_of(t->net, s, r);
  fields of = {0};
  fill(t, step, r, &f, &of);
  for (unsigned c = 0; c < STEP_TABLE_COLUMNS; c++) {
    if (t->width[c] == 0) continue;
    if (c != STEP) fputc(' ', out);
    print_coloured(t, c, colour_of(c, s, r, f.utilisation), c == NODE ? name_of(t, s) : of.text[c], out);
  }
  fputc('\n', out);
}
