// SPDX-License-Identifier: Apache-2.0
// The measured table: see gemmini_table.h.
#include "bench/gemmini_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/texts.h"

enum { GROUP, MEMORY, KEY, FIELDS };

static const char header[] = "group,memory,name,p1,p2,p3,p4,p5,p6,rep,cycles";

// Cuts the line off; NULL at the end.
static char *next_line(char **rest) {
  char *line = *rest;
  if (*line == '\0') return NULL;
  char *end = line + strcspn(line, "\n");
  *rest = *end == '\0' ? end : end + 1;
  *end = '\0';
  return line;
}

// The number behind the last comma, which is cut off.
static bool take_cycles(char *line, uint64_t *cycles) {
  char *comma = strrchr(line, ','), *end;
  if (comma == NULL || comma[1] < '0' || comma[1] > '9') return false;
  *cycles = strtoull(comma + 1, &end, 10);
  *comma = '\0';
  return *end == '\0';
}

static bool parse_row(char *line, bench_gemmini_row *row) {
  char *field[FIELDS];
  if (!take_cycles(line, &row->measured) || row->measured == 0) return false;
  for (int i = 0; i < FIELDS; i++) {
    field[i] = line;
    if (i == KEY) break;
    line += strcspn(line, ",");
    if (*line == '\0') return false;
    *line++ = '\0';
  }
  row->group = field[GROUP];
  row->memory = field[MEMORY];
  row->key = field[KEY];
  const char *rep = strrchr(row->key, ',');
  if (rep == NULL) return false;
  row->cold = strcmp(rep, ",0") == 0;
  size_t name = strcspn(row->key, ",");
  row->issue = name > 6 && memcmp(row->key + name - 6, "_issue", 6) == 0;
  return true;
}

static bool same_window(const bench_gemmini_row *a, const bench_gemmini_row *b) {
  const size_t length = (size_t)(strrchr(a->key, ',') - a->key);
  return strcmp(a->group, b->group) == 0 && strcmp(a->memory, b->memory) == 0 &&
         length == (size_t)(strrchr(b->key, ',') - b->key) && memcmp(a->key, b->key, length) == 0;
}

// Repetitions of a window follow each other, or every second row does.
static void pair_repetitions(bench_gemmini_table *table) {
  for (size_t i = 0; i < table->count; i++) {
    bench_gemmini_row *row = &table->rows[i];
    for (size_t j = i + 1; j < table->count && j <= i + 2 && !row->cold && row->again == 0; j++) {
      bench_gemmini_row *other = &table->rows[j];
      if (!same_window(row, other)) continue;
      row->again = other->measured;
      other->again = row->measured;
    }
  }
}

static bool load_rows(bench_gemmini_table *table, char *text, const char *path, size_t *room, wf_diag *diag) {
  char *rest = text, *line = next_line(&rest);
  bool good = line != NULL && strcmp(line, header) == 0;
  if (!good) wf_error(diag, (wf_location){.file = path, .line = 1}, "the first line is not %s", header);
  for (unsigned number = 2; good && (line = next_line(&rest)) != NULL; number++) {
    if (table->count == *room)
      table->rows = wf_realloc(table->rows, *room = *room == 0 ? 1024 : 2 * *room, sizeof *table->rows);
    bench_gemmini_row row = {0};
    good = parse_row(line, &row);
    table->rows[table->count++] = row;
    if (!good) wf_error(diag, (wf_location){.file = path, .line = number}, "not a row of the table");
  }
  return good;
}

bool bench_gemmini_table_load(bench_gemmini_table *table, const char *path, wf_diag *diag) {
  static const struct {
    const char *name, *text;
  } own[] = {{"microbench.csv", bench_text_gemmini},
             {"random.csv", bench_text_gemmini_random},
             {"side8.csv", bench_text_gemmini_side8}};
  *table = (bench_gemmini_table){0};
  size_t room = 0;
  bool good = true;
  for (int i = 0; good && i < (path == NULL ? BENCH_GEMMINI_TEXTS : 1); i++) {
    table->texts[i] = bench_read(path, own[i].text, diag);
    good = table->texts[i] != NULL && load_rows(table, table->texts[i], path != NULL ? path : own[i].name, &room, diag);
  }
  if (good)
    pair_repetitions(table);
  else
    bench_gemmini_table_free(table);
  return good;
}

void bench_gemmini_table_free(bench_gemmini_table *table) {
  wf_free(table->rows);
  for (int i = 0; i < BENCH_GEMMINI_TEXTS; i++) wf_free(table->texts[i]);
  *table = (bench_gemmini_table){0};
}

static bench_gemmini_row *next_of(bench_gemmini_table *table, size_t *at, const char *group, const char *memory) {
  for (; *at < table->count; ++*at) {
    bench_gemmini_row *row = &table->rows[*at];
    if (strcmp(row->group, group) == 0 && strcmp(row->memory, memory) == 0) return &table->rows[(*at)++];
  }
  return NULL;
}

bool bench_gemmini_table_fill(bench_gemmini_table *table, const char *group, const char *memory, char *printed,
                              const char *path, wf_diag *diag) {
  size_t at = 0;
  bench_gemmini_row *row;
  while ((row = next_of(table, &at, group, memory)) != NULL) {
    char *line = next_line(&printed);
    if (line == NULL || !take_cycles(line, &row->simulated) || strcmp(line, row->key) != 0) {
      wf_error(diag, wf_in_file(path), "the program prints %s where the table has %s", line == NULL ? "nothing" : line,
               row->key);
      wf_hint(diag, "build the programs from the sources that the table was measured with");
      return false;
    }
  }
  if (*printed == '\0') return true;
  wf_error(diag, wf_in_file(path), "the program prints more rows than the table has");
  return false;
}

enum { SEED, COMMANDS, STYLE, BYTES, CYCLES, REPETITIONS = 3, CHECKSUM = CYCLES + REPETITIONS, RANDOM_FIELDS };

// False: the line has other fields.
static bool split_random(char *line, char **field) {
  int count = 0;
  for (char *next; count < RANDOM_FIELDS && (next = strsep(&line, ",")) != NULL;) field[count++] = next;
  return count == RANDOM_FIELDS && line == NULL;
}

char *bench_gemmini_random_rows(const char *printed) {
  char *rows = NULL, *copy = wf_strdup(printed), *rest = copy, *line, *field[RANDOM_FIELDS];
  size_t length = 0;
  FILE *out = open_memstream(&rows, &length);
  while ((line = next_line(&rest)) != NULL && split_random(line, field))
    for (int r = 0; r < REPETITIONS; r++)
      fprintf(out, "%s,%s,%s,%s,%s,0,0,%d,%s\n", field[SEED], field[COMMANDS], field[STYLE], field[BYTES],
              field[CHECKSUM], r, field[CYCLES + r]);
  fclose(out);
  wf_free(copy);
  return rows;
}

static double difference(const bench_gemmini_row *row) { return (double)row->simulated - (double)row->measured; }

double bench_gemmini_percent(const bench_gemmini_row *row) { return 100 * difference(row) / (double)row->measured; }

void bench_gemmini_errors_add(bench_gemmini_errors *errors, const bench_gemmini_row *row) {
  const double percent = fabs(bench_gemmini_percent(row)), measured = (double)row->measured;
  if (errors->worst == NULL || percent > errors->percent.most) errors->worst = row;
  errors->exact += row->simulated == row->measured;
  wf_summary_add(&errors->cycles, fabs(difference(row)));
  wf_summary_add(&errors->percent, percent);
  wf_summary_add(&errors->bias, bench_gemmini_percent(row));
  if (row->again != 0) wf_summary_add(&errors->repeat, 100 * fabs((double)row->again - measured) / measured);
}
