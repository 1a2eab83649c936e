// SPDX-License-Identifier: Apache-2.0
// The report of a sweep or a search: one HTML page that needs nothing else, and its figures as CSV, SVG and PNG
// (docs/report.md).
#ifndef SEARCH_REPORT_REPORT_H
#define SEARCH_REPORT_REPORT_H

#include <stdbool.h>

#include "base/diag.h"

typedef struct report_options {
  const char *title;    // NULL: the sweep's name
  const char *version;  // of who writes it
  const char *engine;   // whose measurements; NULL: the most exact that there are
  bool pictures;        // SVG and PNG, by gnuplot
} report_options;

// Writes DIR/index.html and DIR/figures/. `input` is the store of a sweep, or the folder of a network that
// `weft search --simulate` wrote. False after an error was reported; a missing
// gnuplot is a warning.
bool report_write(const char *input, const char *dir, const report_options *options, wf_diag *diag);

#endif
