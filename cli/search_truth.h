// SPDX-License-Identifier: Apache-2.0
// `weft search --simulate`: what the truth loop found, as text, JSON and files.
#ifndef CLI_SEARCH_TRUTH_H
#define CLI_SEARCH_TRUTH_H

#include "cli/cli.h"
#include "search/truth/truth.h"

// Runs the loop, prints its table, writes DIR/NET/ (NULL: nothing) and adds the result to *object (NULL: none). An exit
// code.
cli_exit search_simulated(const truth_options *options, const cli_common *common, const char *directory, cJSON **object,
                          wf_diag *diag);

#endif
