// SPDX-License-Identifier: Apache-2.0
// What the files of libweft share: sessions, structs with sizes, the objects that others look into.
#ifndef API_PRIVATE_H
#define API_PRIVATE_H

#include "api/include/weft/weft.h"
#include "base/diag.h"
#include "base/stop.h"
#include "hw/array.h"
#include "hw/tech.h"

struct weft_session {
  char *messages;  // of the last call; NULL before the first
  size_t length;
  FILE *stream;  // of the messages, while a call runs
  wf_diag diag;
  weft_status status;
  wf_stop stop;
  weft_progress_function *watch;
  void *context;
  double start;
  const char *what;  // of weft_progress
};

// An array has the technology that its `tech` points to in itself.
struct weft_array {
  hw_array array;
  hw_tech tech;
};

// After a copy: takes over what the array that was copied has in itself.
void api_array_own(weft_array *copy);

struct weft_schedules {
  struct schedules *rows;
  weft_schedules_use use;
};

// ---- calls

// Begins a call: the messages of the last one are gone. False: the session is NULL.
bool api_begin(weft_session *session, const char *what);
// Ends it. `failure` is the status of a call that is not good, unless it was cancelled.
weft_status api_end(weft_session *session, bool good, weft_status failure);
// Ends it with a message about the call itself.
weft_status api_refuse(weft_session *session, const char *format, ...) WF_PRINTF(2, 3);
// Whether a pointer is given; refuses the call if not.
bool api_given(weft_session *session, const void *pointer, const char *name);

// Tells the callback, which may end the call.
void api_progress(weft_session *session, uint64_t done, uint64_t total, const char *text);
// The same with all that it says; what the session knows itself is filled in.
void api_progress_of(weft_session *session, const weft_progress *progress);

// ---- structs that begin with their size

// The caller's options, as far as both sides know them, in a struct that was zero. NULL: none. False after the call was
// refused: the size is none, or fields that this library does not know are set.
bool api_take(weft_session *session, const void *from, void *to, size_t size);
// Fills the caller's struct as far as it goes.
weft_status api_give(const void *from, size_t size, void *to);

// ---- choices

// The number of a word in a list, of NULL 0; -1 after the call was refused.
int api_choice(weft_session *session, const char *what, const char *word, const char *const *words, int count);

#endif
