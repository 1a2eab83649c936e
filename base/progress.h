// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: on a terminal one line that is written over, elsewhere a line from time to time.
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>

typedef struct wf_progress {
  bool quiet, terminal;
  bool shown;    // a line stands on the terminal
  double pause;  // seconds between two lines, at least
  double last;   // wf_seconds() of the last line
} wf_progress;

// With a pause of its own for a terminal; the first line may come after one pause.
wf_progress wf_progress_begin(bool quiet, double terminal_pause, double pause);
// Whether it is time for a line.
bool wf_progress_due(const wf_progress *progress);
// Writes the line, due or not.
void wf_progress_line(wf_progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Leaves the terminal: the line stays, or it is removed.
void wf_progress_end(wf_progress *progress, bool stays);

// For work that cannot say how far it is: from `after` seconds on a thread writes what is done and for how long, as
// above ("weft: compiling resnet50, 3 s"). NULL of a quiet one. The text is kept by the caller until the end.
typedef struct wf_busy wf_busy;
wf_busy *wf_busy_begin(bool quiet, const char *what, double after);
void wf_busy_end(wf_busy *busy);

#endif
