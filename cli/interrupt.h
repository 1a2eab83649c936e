// SPDX-License-Identifier: Apache-2.0
// Work that may be interrupted and gone on with.
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "api/include/weft/weft.h"
#include "base/stop.h"

// From here on SIGINT and SIGTERM ask to stop, instead of ending the process; a second one ends it at once.
const wf_stop *cli_interruptible(void);

// The same for the calls of a session, which are cancelled. It outlives them.
void cli_interrupt_cancels(weft_session *session);
// Whether that has happened: one that comes between two calls cancels none.
bool cli_interrupted(void);

#endif
