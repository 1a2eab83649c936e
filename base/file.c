// SPDX-License-Identifier: Apache-2.0
// Whole files in memory: see file.h.
#include "base/file.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum { ROOM_FIRST = 1 << 14 };

char *wf_read_file(const char *path, size_t most, size_t *length, wf_diag *diag) {
  const size_t limit = most == 0 ? SIZE_MAX - 2 : most + 1;
  size_t room = ROOM_FIRST;
  *length = 0;
  FILE *in = fopen(path, "rb");
  if (in == NULL) {
    wf_error(diag, wf_in_file(path), "cannot read the file: %s", strerror(errno));
    return NULL;
  }
  char *text = wf_alloc(room, 1);
  while (*length < limit && !feof(in) && !ferror(in)) {
    if (*length + 1 == room) text = wf_realloc(text, room *= 2, 1);
    const size_t free_room = room - *length - 1, wanted = limit - *length;
    *length += fread(text + *length, 1, wanted < free_room ? wanted : free_room, in);
  }
  text[*length] = '\0';
  const int error = ferror(in) ? errno : 0;
  fclose(in);
  if (error == 0) return text;
  wf_error(diag, wf_in_file(path), "cannot read the file: %s", strerror(error));
  wf_free(text);
  return NULL;
}
