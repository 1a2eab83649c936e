// SPDX-License-Identifier: Apache-2.0
// The page of a network's run, `weft sim NET --report DIR`: DIR/index.html, and the report's other forms beside it.
#ifndef CLI_NETWORK_PAGE_H
#define CLI_NETWORK_PAGE_H

#include "cli/network_report.h"

// Whether the name of --report is that of a text: "-", or one that ends in .txt. Any other is the page's folder.
bool network_page_is_text(const char *path);

// Before long work: makes the folder, and whether it can be written.
bool network_page_check(const char *dir, wf_diag *diag);
// index.html, report.txt and steps.csv.
bool network_page_write(const network_report *report, const char *dir, wf_diag *diag);

#endif
