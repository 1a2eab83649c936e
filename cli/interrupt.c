// SPDX-License-Identifier: Apache-2.0
// See interrupt.h. A handler has nothing but what is static.
#include "cli/interrupt.h"

#include <signal.h>

static wf_stop interrupted;
static weft_session *cancelled;  // NULL: none

static void interrupt(int number) {
  wf_stop_set(&interrupted, true);
  weft_session_cancel(cancelled);
  signal(number, SIG_DFL);
}

const wf_stop *cli_interruptible(void) {
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  return &interrupted;
}

void cli_interrupt_cancels(weft_session *session) {
  cancelled = session;
  cli_interruptible();
}

bool cli_interrupted(void) { return wf_stop_wanted(&interrupted); }
