// SPDX-License-Identifier: Apache-2.0
// `weft query STORE --fronts`: the fronts of the engines cycle and flow in a sweep that has both.
#ifndef CLI_SWEEP_FRONTS_H
#define CLI_SWEEP_FRONTS_H

#include "cli/cli.h"

// `network` NULL: all.
cli_exit cli_sweep_fronts(const cli_common *common, const char *store, const char *network);

#endif
