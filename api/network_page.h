// SPDX-License-Identifier: Apache-2.0
// The page of a network's run, as `weft sim NET --report DIR` leaves it in DIR/index.html.
#ifndef API_NETWORK_PAGE_H
#define API_NETWORK_PAGE_H

#include "api/network_report.h"

void api_network_page_print(const api_network_report *report, FILE *out);

#endif
