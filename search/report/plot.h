// SPDX-License-Identifier: Apache-2.0
// The pictures of a report.
#ifndef SEARCH_REPORT_PLOT_H
#define SEARCH_REPORT_PLOT_H

#include <stdio.h>

#include "search/report/data.h"

// A script for gnuplot, to be run beside points.csv and layers.csv: writes front-NET.svg, layers-NET.svg and both as
// .png for every network with a good point.
void report_write_plot(const report_data *data, FILE *out);

#endif
