// SPDX-License-Identifier: Apache-2.0
// The line of progress of a sweep.
#ifndef CLI_SWEEP_PROGRESS_H
#define CLI_SWEEP_PROGRESS_H

#include "base/progress.h"
#include "search/sweep/sweep.h"

// `what` stands before it; may be "".
void cli_sweep_progress(wf_progress *line, const char *what, const sweep_progress *p);

#endif
