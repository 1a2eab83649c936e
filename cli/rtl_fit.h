// SPDX-License-Identifier: Apache-2.0
// `weft rtl fit`, an action of cmd_rtl.c.
#ifndef CLI_RTL_FIT_H
#define CLI_RTL_FIT_H

#include "cli/cli.h"

// Reads `count` results of `weft rtl synth --json` and writes the technology table to `output`. The exit code.
cli_exit cli_rtl_fit(const char *output, char *const *paths, size_t count, wf_diag *diag);

#endif
