// SPDX-License-Identifier: Apache-2.0
// The line of progress of a sweep.
#ifndef CLI_SWEEP_PROGRESS_H
#define CLI_SWEEP_PROGRESS_H

#include "cli/cli.h"

// `what` stands before it; may be "".
void cli_sweep_progress(cli_line *line, const char *what, const weft_progress *progress);

// The messages of its end; that it was cancelled is no error.
void cli_sweep_messages(const weft_session *session);

#endif
