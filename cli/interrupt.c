// SPDX-License-Identifier: Apache-2.0
// See interrupt.h. A handler has nothing but what is static.
#include "cli/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t interrupted;
static weft_session *volatile cancelled;  // NULL: none

static void interrupt(int number) {
  interrupted = true;
  weft_session_cancel(cancelled);
  signal(number, SIG_DFL);
}

void cli_interrupt_cancels(weft_session *session) {
  cancelled = session;
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
}

void cli_interrupt_ends(void) { cancelled = NULL; }

bool cli_interrupted(void) { return interrupted != 0; }
