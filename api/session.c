// SPDX-License-Identifier: Apache-2.0
// Sessions: messages, progress, the end of calls; and structs of several versions. See weft.h.
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api/private.h"
#include "base/clock.h"
#include "base/name.h"
#include "isa/isa.h"
#include "weft_version.h"

const char *weft_version(void) { return WEFT_VERSION " (" WEFT_GIT_VERSION ")"; }

const char *weft_isa_reference(void) { return isa_reference_markdown(); }

weft_session *weft_session_create(void) { return calloc(1, sizeof(weft_session)); }

void weft_session_destroy(weft_session *session) {
  if (session == NULL) return;
  free(session->messages);
  free(session);
}

weft_status weft_session_status(const weft_session *session) { return session == NULL ? WEFT_USAGE : session->status; }

const char *weft_session_messages(const weft_session *session) {
  if (session == NULL) return "weft: error: the session is NULL\n";
  return session->messages == NULL ? "" : session->messages;
}

void weft_session_watch(weft_session *session, weft_progress_function *progress, void *context) {
  if (session == NULL) return;
  session->watch = progress;
  session->context = context;
}

void weft_session_cancel(weft_session *session) {
  if (session != NULL) wf_stop_set(&session->stop, true);
}

void weft_free(void *memory) { free(memory); }

// ---- calls

bool api_begin(weft_session *s, const char *what) {
  if (s == NULL) return false;
  free(s->messages);
  s->messages = NULL;
  s->stream = open_memstream(&s->messages, &s->length);  // NULL: there will be no text
  s->diag = wf_diag_to(s->stream);
  s->status = WEFT_OK;
  wf_stop_set(&s->stop, false);
  s->start = wf_seconds();
  s->what = what;
  return true;
}

weft_status api_end(weft_session *s, bool good, weft_status failure) {
  const bool cancelled = !good && wf_stop_wanted(&s->stop);
  if (cancelled && s->diag.errors == 0) wf_error(&s->diag, wf_in_file(NULL), "cancelled");
  s->status = good ? WEFT_OK : cancelled ? WEFT_CANCELLED : failure;
  if (s->stream != NULL) fclose(s->stream);
  s->stream = NULL;
  return s->status;
}

weft_status api_refuse(weft_session *s, const char *format, ...) {
  char text[WF_NAME_LINE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wf_error(&s->diag, wf_in_file(NULL), "%s", text);
  return api_end(s, false, WEFT_USAGE);
}

bool api_given(weft_session *s, const void *pointer, const char *name) {
  if (pointer == NULL) api_refuse(s, "%s is NULL", name);
  return pointer != NULL;
}

void api_progress_of(weft_session *s, const weft_progress *progress) {
  if (s->watch == NULL || wf_stop_wanted(&s->stop)) return;
  weft_progress full = *progress;
  full.size = sizeof full;
  full.what = s->what;
  if (full.seconds <= 0) full.seconds = wf_seconds() - s->start;
  if (!s->watch(s->context, &full)) wf_stop_set(&s->stop, true);
}

void api_progress(weft_session *s, uint64_t done, uint64_t total, const char *text) {
  const weft_progress progress = {.done = done, .total = total, .text = text};
  api_progress_of(s, &progress);
}

// ---- structs that begin with their size

enum { SIZE_MOST = 4096 };  // of a struct in any version

static size_t size_of(const void *object) {
  size_t size;
  memcpy(&size, object, sizeof size);
  return size >= sizeof size && size <= SIZE_MOST ? size : 0;
}

static bool is_zero(const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (bytes[i] != 0) return false;
  return true;
}

bool api_take(weft_session *s, const void *from, void *to, size_t size) {
  if (from == NULL) return true;
  const size_t given = size_of(from);
  if (given == 0) {
    api_refuse(s, "the options have no size: set it to sizeof");
    return false;
  }
  if (given > size && !is_zero((const char *)from + size, given - size)) {
    api_refuse(s, "the options have fields that version %s does not know", WEFT_VERSION);
    return false;
  }
  memcpy(to, from, given < size ? given : size);
  return true;
}

weft_status api_give(const void *from, size_t size, void *to) {
  const size_t given = to == NULL ? 0 : size_of(to);
  if (given == 0) return WEFT_USAGE;
  memset(to, 0, given);
  memcpy(to, from, given < size ? given : size);
  memcpy(to, &given, sizeof given);
  return WEFT_OK;
}

// ---- choices

int api_choice(weft_session *s, const char *what, const char *word, const char *const *words, int count) {
  char shown[WF_NAME_LINE];
  if (word == NULL) return 0;
  for (int i = 0; i < count; i++)
    if (strcmp(word, words[i]) == 0) return i;
  wf_error(&s->diag, wf_in_file(NULL), "%s \"%s\" is not known", what, wf_name_shown(word, shown));
  char list[WF_NAME_LINE] = "";
  for (int i = 0; i < count; i++)
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i == 0 ? "" : ", ", words[i]);
  wf_hint(&s->diag, "one of %s", list);
  api_end(s, false, WEFT_USAGE);
  return -1;
}
