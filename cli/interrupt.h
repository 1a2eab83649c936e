// SPDX-License-Identifier: Apache-2.0
// Work that may be interrupted and gone on with.
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "api/include/weft/weft.h"

// From here on SIGINT and SIGTERM cancel the session's calls, instead of ending the process; a second one ends it at
// once. Until cli_interrupt_ends the session must stay.
void cli_interrupt_cancels(weft_session *session);
void cli_interrupt_ends(void);

// Whether there was one: it may have come before the call.
bool cli_interrupted(void);

#endif
