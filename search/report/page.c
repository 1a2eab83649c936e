// SPDX-License-Identifier: Apache-2.0
// Pages: a template with its style, the charting library, the data and the scripts put in. See page.h.
#include "search/report/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/name.h"

// JSON inside a script element must not end it.
static void write_script_text(const char *json, FILE *out) {
  char *text = NULL;
  size_t length;
  FILE *whole = open_memstream(&text, &length);
  wf_name_write(WF_NAME_DOCUMENT, json, whole);
  fclose(whole);
  for (const char *at = text; *at != '\0'; at++) {
    if (*at == '<') {
      fputs("\\u003c", out);
    } else {
      fputc(*at, out);
    }
  }
  free(text);
}

// What stands in a template as @NAME@.
typedef struct mark {
  const char *name, *text;
} mark;

// The mark at `at`, NULL: there is none.
static const mark *mark_at(const mark *marks, const char *at) {
  for (; marks->name != NULL; marks++)
    if (strncmp(at, marks->name, strlen(marks->name)) == 0) return marks;
  return NULL;
}

void report_page_write(report_page_kind kind, const char *json, FILE *out) {
  static const struct {
    const char *html, *script;
  } pages[] = {[REPORT_PAGE_SWEEP] = {report_page_html, report_page_js},
               [REPORT_PAGE_NETWORK] = {report_network_html, report_network_js}};
  const mark marks[] = {{"@STYLE@", report_page_css},
                        {"@CHART@", report_chart_js},
                        {"@COMMON@", report_common_js},
                        {"@SCRIPT@", pages[kind].script},
                        {"@DATA@", NULL},
                        {NULL, NULL}};
  for (const char *at = pages[kind].html; *at != '\0';) {
    const mark *m = mark_at(marks, at);
    if (m == NULL) {
      fputc(*at++, out);
      continue;
    }
    if (m->text != NULL)
      fputs(m->text, out);
    else
      write_script_text(json, out);
    at += strlen(m->name);
  }
}
