// SPDX-License-Identifier: Apache-2.0
// See interrupt.h. A handler has nothing but what is static.
#include "cli/interrupt.h"

#include <signal.h>

static wf_stop interrupted;

static void interrupt(int number) {
  wf_stop_set(&interrupted, true);
  signal(number, SIG_DFL);
}

const wf_stop *cli_interruptible(void) {
  signal(SIGINT, interrupt);
  signal(SIGTERM, interrupt);
  return &interrupted;
}
