// SPDX-License-Identifier: Apache-2.0
// The pictures of a report.
#ifndef SEARCH_REPORT_PLOT_H
#define SEARCH_REPORT_PLOT_H

#include <stdio.h>

#include "search/report/data.h"

// A script for gnuplot that needs nothing else: for the network at place N it writes front-N.svg and front-N.png if its
// points have cycles and energies, layers-N.svg and layers-N.png if it has a good point.
void report_write_plot(const report_data *data, FILE *out);

#endif
