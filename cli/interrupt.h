// SPDX-License-Identifier: Apache-2.0
// Work that may be interrupted and gone on with.
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "base/stop.h"

// From here on SIGINT and SIGTERM ask to stop, instead of ending the process; a second one ends it at once.
const wf_stop *cli_interruptible(void);

#endif
