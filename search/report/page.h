// SPDX-License-Identifier: Apache-2.0
// The pages of reports, each one file that needs nothing else: templates and scripts of this folder and Debian's
// libjs-chart.js, which the build makes texts of.
#ifndef SEARCH_REPORT_PAGE_H
#define SEARCH_REPORT_PAGE_H

#include <stdio.h>

extern const char report_page_html[], report_page_css[], report_page_js[], report_chart_js[];
extern const char report_common_js[], report_network_html[], report_network_js[];
extern const char report_layout_js[], report_graph_js[], report_timeline_js[], report_parallel_js[];
extern const char report_study_html[], report_study_js[];

typedef enum {
  REPORT_PAGE_SWEEP,    // of a sweep or a search: search/report/write.c
  REPORT_PAGE_NETWORK,  // of one network on one array: cli/network_page.c
  REPORT_PAGE_STUDY,    // of a study: api/study.c
} report_page_kind;

// A page with its data, a JSON document, and another one that is read after it is drawn (of sweeps; NULL of others).
void report_page_write(report_page_kind kind, const char *json, const char *later, FILE *out);

#endif
