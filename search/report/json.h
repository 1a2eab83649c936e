// SPDX-License-Identifier: Apache-2.0
// What a sweep's page carries: two JSON documents, to be freed.
#ifndef SEARCH_REPORT_JSON_H
#define SEARCH_REPORT_JSON_H

#include "search/report/data.h"
#include "search/report/report.h"

// Networks, and of each point its parameters, sizes and sums. search_dir: of `weft search --simulate`, or NULL.
char *report_json_points(const report_data *d, const char *search_dir, const report_options *options);

// Of each point, in their order, its measured layers; of some its description and what each unit did.
char *report_json_layers(const report_data *d);

#endif
