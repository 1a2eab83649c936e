// SPDX-License-Identifier: Apache-2.0
// The writers of tables: alignment of text, quotes of CSV, groups and escapes of JSON; all three of the same rows.
#include "bench/table.h"

#include <math.h>

#include "base/test.h"

typedef struct outputs {
  char *text, *csv;
  size_t text_length, csv_length;
  FILE *text_file, *csv_file;
  bench_report *report;
} outputs;

static void begin(outputs *o) {
  *o = (outputs){0};
  o->text_file = open_memstream(&o->text, &o->text_length);
  o->csv_file = open_memstream(&o->csv, &o->csv_length);
  fflush(o->text_file);  // an empty text is there
  fflush(o->csv_file);
  o->report = bench_report_create("tests", o->text_file, o->csv_file);
}

static void expect_json(const outputs *o, const char *expected) {
  cJSON *document = bench_report_json(o->report);
  char *printed = document == NULL ? NULL : cJSON_PrintUnformatted(document);
  if (expected == NULL)
    assert_null(printed);
  else
    assert_string_equal(printed, expected);
  cJSON_free(printed);
  cJSON_Delete(document);
}

static void end(outputs *o) {
  bench_report_destroy(o->report);
  fclose(o->text_file);
  fclose(o->csv_file);
  free(o->text);
  free(o->csv);
}

// ---- text

static const bench_column aligned[] = {
    {.title = "left", .width = -6},
    {.title = "right", .width = 6},
    {.title = "share", .width = 7, .text_format = "%.1f %%", .scale = 100, .none = "-"},
    {.key = "only data"},
    {.title = "", .gap = ""},
};
static const bench_form aligned_form = {.begin = "| ", .between = " | ", .end = " |", BENCH_FORM(aligned)};

static void text_is_aligned(void **state) {
  (void)state;
  outputs o;
  begin(&o);
  bench_table *t = bench_table_open(o.report, &aligned_form);
  bench_table_heading(t);
  BENCH_ROW(t, bench_text("a"), bench_count(1234567), bench_real(0.125), bench_count(1), bench_text("!"));
  BENCH_ROW(t, bench_text("longer than its column"), bench_count(0), bench_none(), bench_none(), bench_none());
  bench_report_say(o.report, "%d rows\n", 2);
  bench_table_add(t, "failed", BENCH_CELLS(bench_text("b"), bench_none(), bench_none(), bench_none(), bench_none()));
  assert_string_equal(o.text,
                      "| left   |  right |   share |\n"
                      "| a      | 1,234,567 |  12.5 %! |\n"
                      "| longer than its column |      0 |       - |\n"
                      "2 rows\n"
                      "| b      failed |\n");
  end(&o);
}

static void numbers_without_a_format_have_separators(void **state) {
  (void)state;
  static const bench_column columns[] = {{.title = "n"}, {.title = "m", .text_format = "%.0f"}, {.title = "hash"}};
  static const bench_form form = {BENCH_FORM(columns)};
  outputs o;
  begin(&o);
  bench_table *t = bench_table_open(o.report, &form);
  BENCH_ROW(t, bench_real(1234.9), bench_count(1234), bench_hash(0xabc));
  BENCH_ROW(t, bench_count(UINT64_MAX), bench_count(0), bench_flag(true));
  assert_string_equal(o.text, "1,234 1234 0000000000000abc\n18,446,744,073,709,551,615 0 yes\n");
  end(&o);
}

// Texts may be names of any file: no control character gets out, no cell is a formula.
static void texts_are_names(void **state) {
  (void)state;
  static const bench_column columns[] = {{.title = "name", .csv = "name", .width = -8}, {.title = "n", .csv = "n"}};
  static const bench_form form = {BENCH_FORM(columns)};
  outputs o;
  begin(&o);
  bench_table *t = bench_table_open(o.report, &form);
  BENCH_ROW(t, bench_text("=a\x1b\n"), bench_count(1));
  BENCH_ROW(t, bench_text("\xc3\xa4"), bench_count(2));
  assert_string_equal(o.text, "=a\\x1b\\n 1\n\xc3\xa4        2\n");
  assert_string_equal(o.csv, "name,n\n\"'=a\\x1b\n\",1\n\xc3\xa4,2\n");
  end(&o);
}

// ---- CSV

static const bench_column fields[] = {{.csv = "name, quoted"}, {.csv = "count", .csv_none = "0"},
                                      {.title = "only text"},  {.csv = "real", .csv_format = "%.3f"},
                                      {.csv = "plain"},        {.csv = "flag"}};
static const bench_form fields_form = {BENCH_FORM(fields)};

static void csv_quotes_what_needs_it(void **state) {
  (void)state;
  outputs o;
  begin(&o);
  bench_table *t = bench_table_open(o.report, &fields_form);
  BENCH_ROW(t, bench_text("M=1 N=2"), bench_count(1234567), bench_text("x"), bench_real(2.0 / 3), bench_real(0.25),
            bench_flag(false));
  BENCH_ROW(t, bench_text("say \"a,b\""), bench_none(), bench_none(), bench_none(), bench_hash(255), bench_flag(true));
  BENCH_ROW(t, bench_text("two\nlines"), bench_none(), bench_none(), bench_real(NAN), bench_none(), bench_none());
  assert_string_equal(o.csv,
                      "\"name, quoted\",count,real,plain,flag\n"
                      "M=1 N=2,1234567,0.667,0.25,false\n"
                      "\"say \"\"a,b\"\"\",0,,00000000000000ff,true\n"
                      "\"two\nlines\",0,nan,,\n");
  end(&o);
}

static void csv_has_its_first_line_without_rows(void **state) {
  (void)state;
  outputs o;
  begin(&o);
  bench_table_open(o.report, &fields_form);
  assert_string_equal(o.csv, "\"name, quoted\",count,real,plain,flag\n");
  expect_json(&o, NULL);
  end(&o);
}

// ---- JSON

static const bench_column grouped[] = {{.title = "memory", .key = "memory", .width = -6},
                                       {.key = "hash"},
                                       {.title = "group", .key = "group"},
                                       {.key = "warm.rows"},
                                       {.key = "warm.mean"},
                                       {.key = "cold.rows"}};
static const bench_form grouped_form = {.list = "memories", .inner = "groups", .outer = 2, BENCH_FORM(grouped)};
static const bench_column head[] = {{.key = "engine"}, {.key = "quick"}};
static const bench_form head_form = {BENCH_FORM(head)};

static void json_groups_rows_and_keys(void **state) {
  (void)state;
  outputs o;
  begin(&o);
  BENCH_ROW(bench_table_open(o.report, &head_form), bench_text("c\"y\\\n"), bench_flag(true));
  bench_table *t = bench_table_open(o.report, &grouped_form);
  const struct { const char *memory, *group; } rows[] = {{"m1", "a"}, {"m1", "b"}, {"m2", "a"}};
  for (uint64_t n = 0; n < 3; n++)
    BENCH_ROW(t, bench_text(rows[n].memory), bench_if(n < 2, bench_hash(10)), bench_text(rows[n].group), bench_count(n),
              bench_if(n == 1, bench_real(0.5)), bench_count(7));
  expect_json(&o,
              "{\"bench\":\"tests\",\"engine\":\"c\\\"y\\\\\\n\",\"quick\":true,\"memories\":["
              "{\"memory\":\"m1\",\"hash\":\"000000000000000a\",\"groups\":["
              "{\"group\":\"a\",\"warm\":{\"rows\":0},\"cold\":{\"rows\":7}},"
              "{\"group\":\"b\",\"warm\":{\"rows\":1,\"mean\":0.5},\"cold\":{\"rows\":7}}]},"
              "{\"memory\":\"m2\",\"groups\":[{\"group\":\"a\",\"warm\":{\"rows\":2},\"cold\":{\"rows\":7}}]}]}");
  assert_string_equal(o.text, "m1     a\n       b\nm2     a\n");
  assert_string_equal(o.csv, "");
  end(&o);
}

static void json_may_be_the_list_itself(void **state) {
  (void)state;
  static const bench_column columns[] = {{.key = "n"}};
  static const bench_form form = {.list = "", BENCH_FORM(columns)};
  outputs o;
  begin(&o);
  bench_table *t = bench_table_open(o.report, &form);
  expect_json(&o, "[]");
  BENCH_ROW(t, bench_count(1));
  BENCH_ROW(t, bench_none());
  expect_json(&o, "[{\"n\":1},{}]");
  end(&o);
}

static void texts_are_copied_and_outputs_may_be_missing(void **state) {
  (void)state;
  static const bench_column columns[] = {{.title = "t", BENCH_DATA("t")}};
  static const bench_form form = {.list = "rows", BENCH_FORM(columns)};
  outputs o = {.report = bench_report_create("tests", NULL, NULL)};
  bench_table *t = bench_table_open(o.report, &form);
  char text[] = "before";
  bench_table_heading(t);
  BENCH_ROW(t, bench_text(text));
  bench_report_say(o.report, "not seen\n");
  strcpy(text, "after");
  expect_json(&o, "{\"bench\":\"tests\",\"rows\":[{\"t\":\"before\"}]}");
  bench_report_destroy(o.report);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(text_is_aligned),
                                     cmocka_unit_test(numbers_without_a_format_have_separators),
                                     cmocka_unit_test(texts_are_names),
                                     cmocka_unit_test(csv_quotes_what_needs_it),
                                     cmocka_unit_test(csv_has_its_first_line_without_rows),
                                     cmocka_unit_test(json_groups_rows_and_keys),
                                     cmocka_unit_test(json_may_be_the_list_itself),
                                     cmocka_unit_test(texts_are_copied_and_outputs_may_be_missing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
