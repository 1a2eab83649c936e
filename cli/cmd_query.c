// SPDX-License-Identifier: Apache-2.0
// `weft query`: asks the store of a sweep, through libweft.
#include <string.h>
#include <unistd.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/query_table.h"
#include "cli/sweep_fronts.h"

typedef struct query_arguments {
  const char *network, *array;
  uint64_t limit;
  bool fronts, csv;
} query_arguments;

// A question, and the session that answers it.
typedef struct question {
  weft_session *session;
  const char *store;
  weft_rows *rows;
} question;

// False after the library's messages were printed.
static bool ask(question *q, const char *text, const char *network, uint64_t limit) {
  q->rows = weft_query(q->session, q->store, text, network, limit);
  cli_messages(q->session);
  return q->rows != NULL;
}

// The next row; messages of what went wrong are printed.
static bool next(question *q) {
  const bool any = weft_rows_next(q->session, q->rows);
  cli_messages(q->session);
  return any;
}

// A line of names, or of the fields of a row.
static void write_line(const weft_rows *rows, const char *text_of(const weft_rows *rows, size_t column)) {
  for (size_t c = 0; c < weft_rows_columns(rows); c++) {
    if (c > 0) putchar(',');
    cli_csv_field(text_of(rows, c));
  }
  putchar('\n');
}

static cJSON *json_row(const weft_rows *rows) {
  cJSON *row = cJSON_CreateObject();
  for (size_t c = 0; c < weft_rows_columns(rows); c++) {
    const char *name = weft_rows_name(rows, c);
    const weft_value kind = weft_rows_kind(rows, c);
    if (kind == WEFT_NULL) {
      cJSON_AddNullToObject(row, name);
    } else if (kind == WEFT_TEXT) {
      cJSON_AddStringToObject(row, name, weft_rows_text(rows, c));
    } else if (kind == WEFT_INTEGER) {
      wf_json_integer(row, name, weft_rows_integer(rows, c));
    } else {
      cJSON_AddNumberToObject(row, name, weft_rows_number(rows, c));
    }
  }
  return row;
}

// The column of this name; as many as there are: none.
static size_t find(const weft_rows *rows, const char *name) {
  size_t column = 0;
  while (column < weft_rows_columns(rows) && strcmp(weft_rows_name(rows, column), name) != 0) column++;
  return column;
}

// The description of the first row's array, for `weft rtl`, `weft compile` and every other verb.
static bool write_array(const question *first, const char *hash, const char *out_path) {
  char text[128];
  if (hash[strspn(hash, "0123456789abcdef")] != '\0') {
    cli_error(first->store, "array '%s' is no hash", hash);
    return false;
  }
  question q = *first;
  snprintf(text, sizeof text, "SELECT yaml FROM array WHERE hash = '%s'", hash);
  if (!ask(&q, text, NULL, 0)) return false;
  bool good = next(&q);
  if (!good) cli_error(q.store, "has no array %s", hash);
  good = good && cli_write_text(out_path, weft_rows_text(q.rows, 0));
  weft_rows_close(q.rows);
  return good;
}

// Where rows go: to a list of JSON, to a table for a terminal, or, when both are NULL, to lines of CSV.
typedef struct sink {
  cJSON *list;
  query_table *table;
} sink;

static sink open_sink(const cli_common *common, const query_arguments *arguments) {
  sink to = {0};
  if (common->json != NULL)
    to.list = cJSON_CreateArray();
  else if (!arguments->csv && isatty(STDOUT_FILENO))
    to.table = query_table_create();
  return to;
}

static void put_row(const sink *to, const weft_rows *rows, bool first) {
  if (to->list != NULL) {
    cJSON_AddItemToArray(to->list, json_row(rows));
  } else if (to->table != NULL) {
    query_table_add(to->table, rows);
  } else {
    if (first) write_line(rows, weft_rows_name);
    write_line(rows, weft_rows_text);
  }
}

static bool close_sink(const sink *to, const cli_common *common) {
  if (to->table != NULL) {
    query_table_print(to->table, cli_columns());
    query_table_destroy(to->table);
  }
  return cli_put_json(common, to->list) == CLI_OK;
}

static cli_exit answer(question *q, const cli_common *common, const query_arguments *arguments) {
  const sink to = open_sink(common, arguments);
  char hash[32] = "";
  const size_t array = find(q->rows, "array");
  bool any = false;
  for (; next(q); any = true) {
    if (!any && array < weft_rows_columns(q->rows)) snprintf(hash, sizeof hash, "%s", weft_rows_text(q->rows, array));
    put_row(&to, q->rows, !any);
  }
  bool good = weft_session_status(q->session) == WEFT_OK;
  weft_rows_close(q->rows);
  good = close_sink(&to, common) && good;
  if (good && !any) fprintf(stderr, "weft: no point is like this\n");
  if (good && any && arguments->array != NULL) good = write_array(q, hash, arguments->array);
  return !good ? CLI_BAD_INPUT : any ? CLI_OK : CLI_CANNOT_BUILD;
}

static cli_exit run_query(const cli_common *common, const query_arguments *arguments, const char *path,
                          const char *text) {
  if (!cli_may_write(arguments->array)) return CLI_BAD_INPUT;
  question q = {.session = weft_session_create(), .store = path};
  cli_exit code = CLI_BAD_INPUT;
  if (ask(&q, text, arguments->network, arguments->limit)) code = answer(&q, common, arguments);
  weft_session_destroy(q.session);
  return code;
}

// What the fronts of two engines do not take. NULL: nothing of it is given.
static const char *not_for_fronts(const query_arguments *arguments, int texts) {
  if (texts > 1) return "CONDITION";
  return arguments->limit > 0 ? "--limit" : arguments->array != NULL ? "--write-array" : NULL;
}

static const wf_option query_rows[] = {
    {"network", WF_TEXT(query_arguments, network), "NAME", "only rows of this network"},
    {"limit", WF_COUNT(query_arguments, limit), "N", "at most N rows"},
    {"fronts", WF_FLAG(query_arguments, fronts), NULL,
     "the points on the fronts of the engines cycle and flow, and how far they are apart"},
    {"csv", WF_FLAG(query_arguments, csv), NULL, "CSV on a terminal too"},
    {"write-array", WF_TEXT(query_arguments, array), "FILE.yaml", "write the array of the first row"},
};

cli_exit cli_query(int argc, char **argv) {
  query_arguments arguments = {0};
  static const cli_usage usage = {
      .verb = "query",
      .synopsis = "STORE [CONDITION]",
      .text =
          "Prints the points of a sweep for which a condition holds: a table on a terminal, else CSV:\n"
          "  weft query s.sqlite \"cycles < 20e6 and dim <= 16 order by edp\" --limit 1\n"
          "A text that begins with SELECT is a statement of its own (docs/sweeps.md has the tables).",
      .examples = "  weft query s.sqlite \"dim <= 16 order by edp\" --limit 1 --write-array best.yaml\n",
      .options = {CLI_OPTIONS(query_rows, 0)},
      .min_arguments = 1,
      .max_arguments = 2};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &arguments, &argc, argv, &common, &code)) return code;
  const char *unused = arguments.fronts ? not_for_fronts(&arguments, argc) : NULL;
  if (unused != NULL) {
    fprintf(stderr, "weft: error: --fronts takes no %s\n  hint: it compares all points; --network chooses\n", unused);
    return CLI_USAGE;
  }
  if (arguments.fronts) return cli_sweep_fronts(&common, argv[0], arguments.network);
  return run_query(&common, &arguments, argv[0], argc > 1 ? argv[1] : "");
}
