// SPDX-License-Identifier: Apache-2.0
// The line of progress of a sweep: what is done, how fast, how long the rest takes.
#include "cli/sweep_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void write_duration(double seconds, char text[32]) {
  const unsigned long whole = (unsigned long)seconds;
  if (whole < 3600) {
    snprintf(text, 32, "%lu:%02lu", whole / 60, whole % 60);
  } else {
    snprintf(text, 32, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
  }
}

void cli_sweep_progress(cli_line *line, const char *what, const weft_progress *p) {
  const bool end = p->done == p->total;
  if (!end && !cli_line_due(line)) return;
  char left[32] = "-";
  const double rate = p->seconds > 0 ? (double)p->fresh / p->seconds : 0;
  if (rate > 0) write_duration((double)(p->total - p->done) / rate, left);
  cli_line_write(line,
                 "%s%" PRIu64 " of %" PRIu64 " (%.1f %%), %" PRIu64 " failed, %.1f/s with %" PRIu32 " workers, %s left",
                 what, p->done, p->total, p->total == 0 ? 100 : 100.0 * (double)p->done / (double)p->total, p->failed,
                 rate, p->workers, left);
}

void cli_sweep_messages(const weft_session *session) {
  const bool cancelled = weft_session_status(session) == WEFT_CANCELLED;
  if (!cancelled || strcmp(weft_session_messages(session), "weft: error: cancelled\n") != 0) cli_messages(session);
  if (cancelled) fprintf(stderr, "weft: stopped; the same command goes on from here\n");
}
