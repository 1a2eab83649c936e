// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: see progress.h.
#include "base/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/name.h"

wf_progress wf_progress_begin(bool quiet, double terminal_pause, double pause) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  return (wf_progress){
      .quiet = quiet, .terminal = terminal, .pause = terminal ? terminal_pause : pause, .last = wf_seconds()};
}

bool wf_progress_due(const wf_progress *p) { return !p->quiet && wf_seconds() >= p->last + p->pause; }

void wf_progress_line(wf_progress *p, const char *format, ...) {
  if (p->quiet) return;
  va_list args;
  va_start(args, format);
  if (p->terminal) fputs("\r\033[K", stderr);
  wf_name_print(WF_NAME_TERMINAL, stderr, format, args);
  if (!p->terminal) fputc('\n', stderr);
  fflush(stderr);
  va_end(args);
  p->last = wf_seconds();
  p->shown = p->terminal;
}

void wf_progress_end(wf_progress *p, bool stays) {
  if (p->shown) fputs(stays ? "\n" : "\r\033[K", stderr);
  p->shown = false;
}
