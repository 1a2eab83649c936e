// SPDX-License-Identifier: Apache-2.0
// The parts of the report's page; made in the build from page.html, page.css, page.js, and Debian's libjs-chart.js.
#ifndef SEARCH_REPORT_PAGE_H
#define SEARCH_REPORT_PAGE_H

extern const char report_page_html[], report_page_css[], report_page_js[], report_chart_js[];

#endif
