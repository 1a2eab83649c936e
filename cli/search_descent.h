// SPDX-License-Identifier: Apache-2.0
// The search by gradients for the command line.
#ifndef CLI_SEARCH_DESCENT_H
#define CLI_SEARCH_DESCENT_H

#include "cli/search_answer.h"
#include "search/descent/descent.h"

typedef struct search_descent_result {
  descent_result found;
  descent_options options;
} search_descent_result;

// False: nothing fits. Release result->found in any case, when the answer is no longer needed.
bool search_by_descent(const layers_network *network, const descent_options *options, const cli_common *common,
                       search_descent_result *result, search_answer *answer);

bool search_parse_objective(const char *text, descent_plain_objective *objective);
// A number above 0; a text of NULL leaves *value as it is.
bool search_parse_positive(const char *text, double *value);
// "20000": evaluations; "10s", "0.5s": seconds.
bool search_parse_budget(const char *text, descent_options *options);

#endif
