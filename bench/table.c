// SPDX-License-Identifier: Apache-2.0
// Tables of results: see table.h.
#include "bench/table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/csv.h"
#include "base/name.h"
#include "base/thousands.h"

typedef struct row {
  const char *remark;
  const bench_cell *cells;
} row;

struct bench_table {
  const bench_form *form;
  bench_report *report;
  row *rows;
  size_t count, room;
  bool in_csv;
  bench_table *next;
};

struct bench_report {
  const char *name;
  wf_arena *arena;
  FILE *text, *csv;
  bench_table *first, *last;
  bool has_csv;
};

enum { VALUE_MAX = 512 };

static const char *or_else(const char *text, const char *otherwise) { return text == NULL ? otherwise : text; }

static double number(const bench_cell *cell) { return cell->kind == BENCH_REAL ? cell->real : (double)cell->count; }

// Whether a column has a name at `place`, of one of the outputs.
static bool has_names(const bench_form *form, size_t place) {
  for (size_t c = 0; c < form->column_count; c++)
    if (*(const char *const *)((const char *)&form->columns[c] + place) != NULL) return true;
  return false;
}

// Rows of a group have the same outer cells. Texts are compared as such.
static bool same_cell(const bench_cell *a, const bench_cell *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == BENCH_TEXT) return strcmp(a->text, b->text) == 0;
  return a->kind == BENCH_REAL ? a->real == b->real : a->kind == BENCH_NONE || a->count == b->count;
}

static bool begins_group(const bench_table *t, size_t place) {
  if (place == 0) return true;
  for (size_t c = 0; c < t->form->outer; c++)
    if (!same_cell(&t->rows[place - 1].cells[c], &t->rows[place].cells[c])) return true;
  return false;
}

// ---- text

// What the cell looks like: its own text, or written into `value`.
static const char *write_text(const bench_column *column, const bench_cell *cell, char value[VALUE_MAX]) {
  const double scaled = number(cell) * (column->scale == 0 ? 1 : column->scale);
  switch (cell->kind) {
    case BENCH_NONE:
      return or_else(column->none, "");
    case BENCH_TEXT:
      return cell->text;
    case BENCH_FLAG:
      return cell->count != 0 ? "yes" : "no";
    case BENCH_HASH:
      snprintf(value, VALUE_MAX, "%016" PRIx64, cell->count);
      return value;
    case BENCH_COUNT:
    case BENCH_REAL:
      break;
  }
  if (column->text_format == NULL)
    return wf_thousands(cell->kind == BENCH_COUNT ? cell->count : (uint64_t)cell->real, value);
  snprintf(value, VALUE_MAX, column->text_format, scaled);
  return value;
}

typedef struct line {
  const bench_form *form;
  FILE *out;
  bool begun;
} line;

static void put_value(line *l, const bench_column *column, const char *value) {
  fputs(l->begun ? or_else(column->gap, or_else(l->form->between, " ")) : or_else(l->form->begin, ""), l->out);
  l->begun = true;
  const unsigned width = (unsigned)abs(column->width), length = (unsigned)strlen(value);
  if (column->width > 0 && length < width) fprintf(l->out, "%*s", (int)(width - length), "");
  wf_name_column(value, column->width < 0 ? width : 0, false, l->out);
}

static void end_line(line *l) {
  fprintf(l->out, "%s\n", or_else(l->form->end, ""));
  fflush(l->out);
}

static void write_text_row(const bench_table *t, size_t place) {
  const row *r = &t->rows[place];
  line l = {.form = t->form, .out = t->report->text};
  const bool repeats = t->form->outer > 0 && !begins_group(t, place);
  for (size_t c = 0; c < t->form->column_count; c++) {
    const bench_column *column = &t->form->columns[c];
    char value[VALUE_MAX];
    if (column->title == NULL) continue;
    put_value(&l, column, repeats && c < t->form->outer ? "" : write_text(column, &r->cells[c], value));
    if (r->remark == NULL) continue;
    fputc(' ', l.out);
    wf_name_write(WF_NAME_TERMINAL, r->remark, l.out);
    break;
  }
  end_line(&l);
}

void bench_table_heading(const bench_table *t) {
  line l = {.form = t->form, .out = t->report->text};
  if (l.out == NULL) return;
  for (size_t c = 0; c < t->form->column_count; c++)
    if (t->form->columns[c].title != NULL) put_value(&l, &t->form->columns[c], t->form->columns[c].title);
  end_line(&l);
}

// ---- CSV

static void write_csv_cell(const bench_column *column, const bench_cell *cell, FILE *out) {
  switch (cell->kind) {
    case BENCH_NONE:
      fputs(or_else(column->csv_none, ""), out);
      break;
    case BENCH_TEXT:
      wf_csv_field(cell->text, out);
      break;
    case BENCH_FLAG:
      fputs(cell->count != 0 ? "true" : "false", out);
      break;
    case BENCH_HASH:
      fprintf(out, "%016" PRIx64, cell->count);
      break;
    case BENCH_COUNT:
      fprintf(out, "%" PRIu64, cell->count);
      break;
    case BENCH_REAL:
      fprintf(out, or_else(column->csv_format, "%.9g"), cell->real);
      break;
  }
}

// A line of names, or of a row's cells.
static void write_csv_line(const bench_form *form, const row *r, FILE *out) {
  bool first = true;
  for (size_t c = 0; c < form->column_count; c++) {
    const bench_column *column = &form->columns[c];
    if (column->csv == NULL) continue;
    if (!first) fputc(',', out);
    first = false;
    if (r == NULL)
      wf_csv_field(column->csv, out);
    else
      write_csv_cell(column, &r->cells[c], out);
  }
  fputc('\n', out);
  fflush(out);
}

// ---- JSON

static cJSON *value_of(const bench_cell *cell) {
  char text[VALUE_MAX];
  switch (cell->kind) {
    case BENCH_TEXT:
      return cJSON_CreateString(cell->text);
    case BENCH_FLAG:
      return cJSON_CreateBool(cell->count != 0);
    case BENCH_HASH:
      snprintf(text, sizeof text, "%016" PRIx64, cell->count);
      return cJSON_CreateString(text);
    default:
      return cJSON_CreateNumber(number(cell));
  }
}

// "warm.rows" is key `rows` of the object `warm`, which is made if it is not there.
static void add_value(cJSON *object, const char *key, cJSON *value) {
  const char *dot = strchr(key, '.');
  if (dot == NULL) {
    cJSON_AddItemToObject(object, key, value);
    return;
  }
  char name[VALUE_MAX];
  snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
  cJSON *inside = cJSON_GetObjectItem(object, name);
  if (inside == NULL) inside = cJSON_AddObjectToObject(object, name);
  add_value(inside, dot + 1, value);
}

static void add_cells(cJSON *object, const bench_form *form, const row *r, size_t from, size_t to) {
  for (size_t c = from; c < to; c++)
    if (form->columns[c].key != NULL && r->cells[c].kind != BENCH_NONE)
      add_value(object, form->columns[c].key, value_of(&r->cells[c]));
}

static cJSON *append_object(cJSON *list) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddItemToArray(list, object);
  return object;
}

// The rows as objects of a list; those of a group are in a list of the group's object.
static void add_rows(cJSON *list, const bench_table *t) {
  const bench_form *form = t->form;
  cJSON *inner = list;
  for (size_t n = 0; n < t->count; n++) {
    if (form->outer > 0 && begins_group(t, n)) {
      cJSON *group = append_object(list);
      add_cells(group, form, &t->rows[n], 0, form->outer);
      inner = cJSON_AddArrayToObject(group, form->inner);
    }
    add_cells(append_object(inner), form, &t->rows[n], form->outer, form->column_count);
  }
}

static void add_table(cJSON *document, const bench_table *t) {
  const char *list = t->form->list;
  if (list == NULL) {
    for (size_t n = 0; n < t->count; n++) add_cells(document, t->form, &t->rows[n], 0, t->form->column_count);
  } else {
    add_rows(*list == '\0' ? document : cJSON_AddArrayToObject(document, list), t);
  }
}

static cJSON *create_document(const bench_report *report, const bench_form *form) {
  if (form->list != NULL && *form->list == '\0') return cJSON_CreateArray();
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "bench", report->name);
  return document;
}

cJSON *bench_report_json(const bench_report *report) {
  cJSON *document = NULL;
  for (const bench_table *t = report->first; t != NULL; t = t->next) {
    if (!has_names(t->form, offsetof(bench_column, key))) continue;
    if (document == NULL) document = create_document(report, t->form);
    add_table(document, t);
  }
  return document;
}

// ---- reports

bench_report *bench_report_create(const char *name, FILE *text, FILE *csv) {
  wf_arena *arena = wf_arena_create();
  bench_report *report = WF_ARENA_NEW(arena, bench_report);
  *report = (bench_report){.name = name, .arena = arena, .text = text, .csv = csv};
  return report;
}

void bench_report_destroy(bench_report *report) { wf_arena_destroy(report->arena); }

void bench_report_say(bench_report *report, const char *format, ...) {
  if (report->text == NULL) return;
  va_list args;
  va_start(args, format);
  vfprintf(report->text, format, args);
  va_end(args);
  fflush(report->text);
}

bench_table *bench_table_open(bench_report *report, const bench_form *form) {
  bench_table *t = WF_ARENA_NEW(report->arena, bench_table);
  *t = (bench_table){.form = form, .report = report, .in_csv = has_names(form, offsetof(bench_column, csv))};
  if (report->last == NULL)
    report->first = t;
  else
    report->last->next = t;
  report->last = t;
  assert(!t->in_csv || !report->has_csv);
  report->has_csv |= t->in_csv;
  if (t->in_csv && report->csv != NULL) write_csv_line(form, NULL, report->csv);
  return t;
}

static const char *copy(bench_report *report, const char *text) {
  return text == NULL ? NULL : wf_arena_text(report->arena, text, strlen(text));
}

void bench_table_add(bench_table *t, const char *remark, const bench_cell *cells, size_t count) {
  bench_report *report = t->report;
  assert(count == t->form->column_count);
  bench_cell *own = WF_ARENA_ARRAY(report->arena, count, bench_cell);
  for (size_t c = 0; c < count; c++) {
    own[c] = cells[c];
    if (own[c].kind == BENCH_TEXT) own[c].text = copy(report, own[c].text);
  }
  *WF_ARENA_PUSH(report->arena, t->rows, t->count, &t->room) = (row){.remark = copy(report, remark), .cells = own};
  if (report->text != NULL && has_names(t->form, offsetof(bench_column, title))) write_text_row(t, t->count - 1);
  if (report->csv != NULL && t->in_csv) write_csv_line(t->form, &t->rows[t->count - 1], report->csv);
}
