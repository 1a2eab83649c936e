// SPDX-License-Identifier: Apache-2.0
// The answer of `weft query` on a terminal: see query_table.h.
//
// Columns keep the order of the question; which of them the line has room for goes by their ranks, with the sum of
// (width + 2) at most line + 2. One stays in any case. Figures have SIGNIFICANT digits, integers all of theirs.
#include "cli/query_table.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { SIGNIFICANT = 6, GAP = 2, MOST = 40 };  // digits; blanks between columns; characters of a column

typedef enum { LEFT_OUT, ABOVE, SHOWN } place;

typedef struct column {
  char *name;
  bool figures;  // all of its values are numbers, or nothing
  bool one;      // all of its values are the same
  unsigned width;
} column;

struct query_table {
  column *columns;
  size_t column_count;
  char **texts;  // row by row
  size_t row_count, row_room;
};

query_table *query_table_create(void) {
  query_table *t = cli_resize(NULL, 1, sizeof *t);
  *t = (query_table){0};
  return t;
}

static char **row_at(const query_table *t, size_t row) { return t->texts + row * t->column_count; }

void query_table_destroy(query_table *t) {
  for (size_t i = 0; i < t->row_count * t->column_count; i++) free(t->texts[i]);
  for (size_t c = 0; c < t->column_count; c++) free(t->columns[c].name);
  free(t->texts);
  free(t->columns);
  free(t);
}

// ---- rows

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }
static unsigned larger(unsigned a, unsigned b) { return a > b ? a : b; }
static unsigned width_of(const char *text) { return smaller((unsigned)strlen(text), MOST); }

static void take_heads(query_table *t, const weft_rows *rows) {
  t->column_count = weft_rows_columns(rows);
  t->columns = cli_resize(NULL, t->column_count, sizeof *t->columns);
  for (size_t c = 0; c < t->column_count; c++) {
    const char *name = weft_rows_name(rows, c);
    t->columns[c] = (column){.name = cli_copy(name), .figures = true, .one = true, .width = width_of(name)};
  }
}

static char *text_of(const weft_rows *rows, size_t c) {
  char number[64];
  if (weft_rows_kind(rows, c) != WEFT_NUMBER) return cli_copy(weft_rows_text(rows, c));
  snprintf(number, sizeof number, "%.*g", SIGNIFICANT, weft_rows_number(rows, c));
  return cli_copy(number);
}

static char **add_row(query_table *t) {
  if (t->row_count == t->row_room) {
    t->row_room = 2 * t->row_room + 16;
    t->texts = cli_resize(t->texts, t->row_room * t->column_count, sizeof *t->texts);
  }
  return row_at(t, t->row_count);
}

void query_table_add(query_table *t, const weft_rows *rows) {
  if (t->row_count == 0) take_heads(t, rows);
  char **row = add_row(t);
  for (size_t c = 0; c < t->column_count; c++) {
    column *to = &t->columns[c];
    row[c] = text_of(rows, c);
    to->width = larger(to->width, width_of(row[c]));
    to->figures = to->figures && weft_rows_kind(rows, c) != WEFT_TEXT;
    to->one = to->one && strcmp(row[c], t->texts[c]) == 0;
  }
  t->row_count++;
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
static void print_above(const query_table *t, const place *places) {
  unsigned widest = 0;
  for (size_t c = 0; c < t->column_count; c++)
    if (places[c] == ABOVE) widest = larger(widest, t->columns[c].width);
  widest = smaller(widest, MOST / 2);
  for (size_t c = 0; c < t->column_count; c++) {
    if (places[c] != ABOVE || t->texts[c][0] == '\0') continue;
    cli_cell(t->columns[c].name, widest + GAP, false);
    cli_cell(t->texts[c], 0, false);
    putchar('\n');
  }
}

// A word of a list that is broken before `line`; the characters of the line so far.
static unsigned print_word(const char *word, unsigned at, unsigned line) {
  const unsigned length = (unsigned)strlen(word) + 1;
  if (line != 0 && at + length > line) {
    fputs("\n ", stdout);
    at = 1;
  }
  printf(" %s", word);
  return at + length;
}

static void print_left_out(const query_table *t, const place *places, unsigned line) {
  unsigned at = 0;
  for (size_t c = 0; c < t->column_count; c++) {
    if (places[c] != LEFT_OUT) continue;
    if (at == 0) at = (unsigned)printf("for want of room without");
    char shown[CLI_NAME];
    at = print_word(cli_shown(t->columns[c].name, shown), at, line);
  }
  if (at == 0) return;
  print_word("(--csv has all)", at, line);
  putchar('\n');
}

static void print_field(const column *c, const char *text, bool last) {
  const unsigned length = width_of(text);
  if (c->figures) printf("%*s", (int)(c->width - length), "");
  cli_cell(text, c->figures || (last && length < MOST) ? length : c->width, true);
}

// Of heads, where there is no row.
static void print_row(const query_table *t, const place *places, char *const *row) {
  size_t last = t->column_count;
  while (last > 0 && places[last - 1] != SHOWN) last--;
  bool first = true;
  for (size_t c = 0; c < last; c++) {
    if (places[c] != SHOWN) continue;
    if (!first) printf("%*s", GAP, "");
    first = false;
    print_field(&t->columns[c], row == NULL ? t->columns[c].name : row[c], c + 1 == last);
  }
  putchar('\n');
}

void query_table_print(const query_table *t, unsigned columns) {
  if (t->row_count == 0) return;
  place *places = cli_resize(NULL, t->column_count, sizeof *places);
  choose(t, columns, places);
  print_above(t, places);
  print_left_out(t, places, columns);
  cli_head_colour(true);
  print_row(t, places, NULL);
  cli_head_colour(false);
  for (size_t r = 0; r < t->row_count; r++) print_row(t, places, row_at(t, r));
  free(places);
}
