// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: see progress.h.
#include "base/progress.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
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

// ---- work that cannot say how far it is

struct wf_busy {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool over;  // under the lock
  const char *what;
  wf_progress progress;
  double start, after;
};

static const double tick_seconds = 0.25;

// Waits for the end, a tick at most; whether it came.
static bool wait_a_tick(wf_busy *b) {
  const double until = wf_seconds() + tick_seconds;
  struct timespec time = {.tv_sec = (time_t)until};
  time.tv_nsec = (long)(1e9 * (until - (double)time.tv_sec));
  pthread_mutex_lock(&b->lock);
  if (!b->over) pthread_cond_timedwait(&b->ended, &b->lock, &time);
  const bool over = b->over;
  pthread_mutex_unlock(&b->lock);
  return over;
}

static void *show_busy(void *context) {
  wf_busy *b = context;
  while (!wait_a_tick(b)) {
    const double seconds = wf_seconds() - b->start;
    if (seconds >= b->after && wf_progress_due(&b->progress))
      wf_progress_line(&b->progress, "weft: %s, %.0f s", b->what, seconds);
  }
  return NULL;
}

wf_busy *wf_busy_begin(bool quiet, const char *what, double after) {
  if (quiet) return NULL;
  wf_busy *b = WF_NEW(wf_busy);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->ended, &attributes);
  pthread_condattr_destroy(&attributes);
  b->what = what;
  b->progress = wf_progress_begin(false, 0.5, 10);
  b->start = wf_seconds();
  b->after = after;
  if (pthread_create(&b->thread, NULL, show_busy, b) == 0) return b;
  wf_free(b);
  return NULL;
}

void wf_busy_end(wf_busy *busy) {
  if (busy == NULL) return;
  pthread_mutex_lock(&busy->lock);
  busy->over = true;
  pthread_cond_signal(&busy->ended);
  pthread_mutex_unlock(&busy->lock);
  pthread_join(busy->thread, NULL);
  wf_progress_end(&busy->progress, false);
  pthread_cond_destroy(&busy->ended);
  pthread_mutex_destroy(&busy->lock);
  wf_free(busy);
}
