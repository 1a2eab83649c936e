// SPDX-License-Identifier: Apache-2.0
// The answer of `weft query` on a terminal: see query_table.h.
//
// Columns keep the order of the question; which of them the line has room for goes by their ranks, with the sum of
// (width + 2) at most line + 2. One stays in any case. Figures have SIGNIFICANT digits, integers all of theirs.
#include "cli/query_table.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/name.h"
#include "base/number.h"
#include "base/terminal.h"

enum { SIGNIFICANT = 6, GAP = 2, MOST = 40 };  // digits; blanks between columns; characters of a column

typedef enum { LEFT_OUT, ABOVE, SHOWN } place;

typedef struct column {
  const char *name;
  bool figures;  // all of its values are numbers, or nothing
  bool one;      // all of its values are the same
  unsigned width;
} column;

struct query_table {
  wf_arena *arena;
  column *columns;
  size_t column_count;
  const char ***rows;
  size_t row_count, row_room;
};

query_table *query_table_create(void) {
  query_table *t = WF_NEW(query_table);
  t->arena = wf_arena_create();
  return t;
}

void query_table_destroy(query_table *table) {
  wf_arena_destroy(table->arena);
  wf_free(table);
}

// ---- rows

static unsigned width_of(const char *text) { return (unsigned)wf_min(strlen(text), MOST); }

static void take_heads(query_table *t, const weft_rows *rows) {
  t->column_count = weft_rows_columns(rows);
  t->columns = WF_ARENA_ARRAY(t->arena, t->column_count, column);
  for (size_t c = 0; c < t->column_count; c++) {
    const char *name = weft_rows_name(rows, c);
    const char *kept = wf_arena_text(t->arena, name, strlen(name));
    t->columns[c] = (column){.name = kept, .figures = true, .one = true, .width = width_of(name)};
  }
}

static const char *text_of(query_table *t, const weft_rows *rows, size_t c) {
  if (weft_rows_kind(rows, c) == WEFT_NUMBER)
    return wf_arena_format(t->arena, "%.*g", SIGNIFICANT, weft_rows_number(rows, c));
  const char *text = weft_rows_text(rows, c);
  return wf_arena_text(t->arena, text, strlen(text));
}

void query_table_add(query_table *table, const weft_rows *rows) {
  if (table->row_count == 0) take_heads(table, rows);
  const char **row = WF_ARENA_ARRAY(table->arena, table->column_count, const char *);
  for (size_t c = 0; c < table->column_count; c++) {
    column *to = &table->columns[c];
    row[c] = text_of(table, rows, c);
    to->width = (unsigned)wf_max(to->width, width_of(row[c]));
    to->figures = to->figures && weft_rows_kind(rows, c) != WEFT_TEXT;
    to->one = to->one && (table->row_count == 0 || strcmp(row[c], table->rows[0][c]) == 0);
  }
  *WF_ARENA_PUSH(table->arena, table->rows, table->row_count, &table->row_room) = row;
}

// ---- print

// How early a column takes its room: who it is and what was measured, the parameters that were swept, the others, the
// hash of the array.
enum { RANKS = 4 };
static unsigned rank_of(const column *c) {
  static const char *const first[] = {"point", "network", "cycles", "energy_pj", "edp", "utilisation"};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++)
    if (strcmp(c->name, first[i]) == 0) return 0;
  if (strchr(c->name, '.') != NULL) return 1;
  return strcmp(c->name, "array") == 0 ? 3 : 2;
}

static void choose(const query_table *t, unsigned line, place *places) {
  unsigned used = 0;
  for (unsigned rank = 0; rank < RANKS; rank++)
    for (size_t c = 0; c < t->column_count; c++) {
      const column *of = &t->columns[c];
      if (rank_of(of) != rank) continue;
      const unsigned more = of->width + (used > 0 ? GAP : 0);
      places[c] = of->one && t->row_count > 1                     ? ABOVE
                  : line == 0 || used == 0 || used + more <= line ? SHOWN
                                                                  : LEFT_OUT;
      if (places[c] == SHOWN) used += more;
    }
}

// What all rows have alike, one to a line.
static void print_above(const query_table *t, const place *places, FILE *out) {
  unsigned widest = 0;
  for (size_t c = 0; c < t->column_count; c++)
    if (places[c] == ABOVE) widest = (unsigned)wf_max(widest, t->columns[c].width);
  widest = (unsigned)wf_min(widest, MOST / 2);
  for (size_t c = 0; c < t->column_count; c++) {
    if (places[c] != ABOVE || t->rows[0][c][0] == '\0') continue;
    wf_name_column(t->columns[c].name, widest + GAP, false, out);
    wf_name_column(t->rows[0][c], 0, false, out);
    putc('\n', out);
  }
}

// A word of a list that is broken before `line`; the characters of the line so far.
static unsigned print_word(const char *word, unsigned at, unsigned line, FILE *out) {
  const unsigned length = (unsigned)strlen(word) + 1;
  if (line != 0 && at + length > line) {
    fputs("\n ", out);
    at = 1;
  }
  fprintf(out, " %s", word);
  return at + length;
}

static void print_left_out(const query_table *t, const place *places, unsigned line, FILE *out) {
  unsigned at = 0;
  for (size_t c = 0; c < t->column_count; c++) {
    if (places[c] != LEFT_OUT) continue;
    if (at == 0) at = (unsigned)fprintf(out, "for want of room without");
    char shown[WF_NAME_LINE];
    at = print_word(wf_name_shown(t->columns[c].name, shown), at, line, out);
  }
  if (at == 0) return;
  print_word("(--csv has all)", at, line, out);
  putc('\n', out);
}

static void print_field(const column *c, const char *text, bool last, FILE *out) {
  const unsigned length = width_of(text);
  if (c->figures) fprintf(out, "%*s", (int)(c->width - length), "");
  wf_name_column(text, c->figures || (last && length < MOST) ? length : c->width, true, out);
}

static void print_row(const query_table *t, const place *places, const char *const *row, FILE *out) {
  size_t last = t->column_count;
  while (last > 0 && places[last - 1] != SHOWN) last--;
  bool first = true;
  for (size_t c = 0; c < last; c++) {
    if (places[c] != SHOWN) continue;
    if (!first) fprintf(out, "%*s", GAP, "");
    first = false;
    print_field(&t->columns[c], row == NULL ? t->columns[c].name : row[c], c + 1 == last, out);
  }
  putc('\n', out);
}

void query_table_print(const query_table *table, unsigned columns, FILE *out) {
  if (table->row_count == 0) return;
  place *places = WF_NEW_ARRAY(table->column_count, place);
  choose(table, columns, places);
  print_above(table, places, out);
  print_left_out(table, places, columns, out);
  const bool coloured = wf_terminal_coloured(out);
  fputs(wf_terminal_colour(coloured, WF_COLOUR_HEAD), out);
  print_row(table, places, NULL, out);
  fputs(wf_terminal_colour(coloured, WF_COLOUR_NONE), out);
  for (size_t r = 0; r < table->row_count; r++) print_row(table, places, table->rows[r], out);
  wf_free(places);
}
