// SPDX-License-Identifier: Apache-2.0
// The table of bench_published shapes; see published.h. A line per shape, fields separated by commas, no quotes.
#include "bench/published.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bench/bench.h"
#include "bench/texts.h"

static const char header[] = "set,name,kernel,shape,published_cycles,library_cycles,target_percent,source";

enum { SET, NAME, KERNEL, SHAPE, PUBLISHED, LIBRARY, TARGET, SOURCE, FIELDS };

// Cuts the text off at `end` and returns what is behind it.
static char *cut(char *text, char end) {
  char *at = strchr(text, end);
  if (at == NULL) return text + strlen(text);
  *at = '\0';
  return at + 1;
}

static bool number(const char *text, double *value) {
  char *end;
  *value = *text == '\0' ? 0 : strtod(text, &end);
  return *text == '\0' || (*end == '\0' && *value > 0);
}

static char *with_commas(const char *shape) {
  char *text = wf_strdup(shape);
  for (char *at = text; *at != '\0'; at++)
    if (*at == ' ') *at = ',';
  return text;
}

static bool parse_row(char *line, bench_published_row *row) {
  char *field[FIELDS];
  for (int i = 0; i < FIELDS; i++) {
    field[i] = line;
    if (i < FIELDS - 1 && strchr(line, ',') == NULL) return false;
    line = cut(line, ',');
  }
  double cycles, library;
  *row = (bench_published_row){
      .set = field[SET], .name = field[NAME], .kernel = field[KERNEL], .plain_shape = field[SHAPE]};
  if (!number(field[PUBLISHED], &cycles) || !number(field[LIBRARY], &library) ||
      !number(field[TARGET], &row->target_percent))
    return false;
  row->published_cycles = (uint64_t)cycles;
  row->library_cycles = (uint64_t)library;
  row->shape = with_commas(field[SHAPE]);
  return true;
}

static bool parse(bench_published *table, const char *path, wf_diag *diag) {
  char *rest = cut(table->text, '\n');
  if (strcmp(table->text, header) != 0) {
    wf_error(diag, (wf_location){.file = path, .line = 1}, "the first line is not %s", header);
    return false;
  }
  for (unsigned line = 2; *rest != '\0'; line++) {
    char *here = rest;
    rest = cut(rest, '\n');
    if (*here == '\0') continue;
    table->rows = wf_realloc(table->rows, table->count + 1, sizeof table->rows[0]);
    if (!parse_row(here, &table->rows[table->count])) {
      wf_error(diag, (wf_location){.file = path, .line = line}, "not %d fields, or a figure that is no number above 0",
               FIELDS);
      return false;
    }
    table->count++;
  }
  return true;
}

bool bench_published_load(bench_published *table, const char *path, wf_diag *diag) {
  *table = (bench_published){.text = bench_read(path, bench_text_published, diag)};
  if (table->text != NULL && parse(table, path == NULL ? "published.csv" : path, diag)) return true;
  bench_published_release(table);
  return false;
}

void bench_published_release(bench_published *table) {
  for (size_t i = 0; i < table->count; i++) wf_free(table->rows[i].shape);
  wf_free(table->rows);
  wf_free(table->text);
  *table = (bench_published){0};
}
