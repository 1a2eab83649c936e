// SPDX-License-Identifier: Apache-2.0
// Pages: a template with its style, the charting library, the data and the scripts put in. See page.h.
//
// Data of more than PLAIN_MOST bytes are gzip in base64, which begins with "H4sI" where JSON begins with '{'; the page
// unpacks them with the browser's DecompressionStream (common.js).
#include "search/report/page.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/name.h"

enum { PLAIN_MOST = 1 << 20 };  // bytes of JSON that stay as they are

// The name's form of a document, to be freed.
static char *document(const char *json, size_t *length) {
  char *text = NULL;
  FILE *whole = open_memstream(&text, length);
  wf_name_write(WF_NAME_DOCUMENT, json, whole);
  fclose(whole);
  return text;
}

// JSON inside a script element must not end it.
static void write_plain(const char *text, FILE *out) {
  for (; *text != '\0'; text++) {
    if (*text == '<') {
      fputs("\\u003c", out);
    } else {
      fputc(*text, out);
    }
  }
}

// Four characters of 6 bits for each three bytes, the last ones filled up with '='.
static void write_base64(const unsigned char *bytes, size_t length, FILE *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t at = 0; at < length; at += 3) {
    const size_t left = length - at;
    const unsigned second = left > 1 ? bytes[at + 1] : 0, third = left > 2 ? bytes[at + 2] : 0;
    const unsigned group = (unsigned)bytes[at] << 16 | second << 8 | third;
    fputc(digits[group >> 18], out);
    fputc(digits[group >> 12 & 63], out);
    fputc(left > 1 ? digits[group >> 6 & 63] : '=', out);
    fputc(left > 2 ? digits[group & 63] : '=', out);
  }
}

// False: no stream could be made, nothing is written.
static bool write_packed(const char *text, size_t length, FILE *out) {
  char *packed = NULL;
  size_t packed_length;
  FILE *to = open_memstream(&packed, &packed_length), *plain = wf_gzip_open(to);
  bool good = plain != NULL && fwrite(text, 1, length, plain) == length;
  if (plain != NULL) good = fclose(plain) == 0 && good;
  fclose(to);
  if (good) write_base64((const unsigned char *)packed, packed_length, out);
  free(packed);
  return good;
}

static void write_script_text(const char *json, FILE *out) {
  size_t length;
  char *text = document(json, &length);
  if (length <= PLAIN_MOST || !write_packed(text, length, out)) write_plain(text, out);
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

void report_page_write(report_page_kind kind, const char *json, const char *later, FILE *out) {
  static const struct {
    const char *html, *script;
  } pages[] = {[REPORT_PAGE_SWEEP] = {report_page_html, report_page_js},
               [REPORT_PAGE_NETWORK] = {report_network_html, report_network_js},
               [REPORT_PAGE_STUDY] = {report_study_html, report_study_js}};
  const mark marks[] = {
      {"@STYLE@", report_page_css},       {"@CHART@", report_chart_js},     {"@COMMON@", report_common_js},
      {"@PARALLEL@", report_parallel_js}, {"@LAYOUT@", report_layout_js},   {"@GRAPH@", report_graph_js},
      {"@TIMELINE@", report_timeline_js}, {"@SCRIPT@", pages[kind].script}, {NULL, NULL}};
  const mark data[] = {{"@DATA@", json}, {"@LATER@", later}, {NULL, NULL}};
  for (const char *at = pages[kind].html; *at != '\0';) {
    const mark *m = mark_at(marks, at), *d = m == NULL ? mark_at(data, at) : NULL;
    if (m != NULL)
      fputs(m->text, out);
    else if (d != NULL)
      write_script_text(d->text, out);
    else
      fputc(*at, out);
    at += m != NULL ? strlen(m->name) : d != NULL ? strlen(d->name) : 1;
  }
}
