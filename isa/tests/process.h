// SPDX-License-Identifier: Apache-2.0
// Runs a command line in a scratch directory and reads what it wrote; for tests of tools and of compiled code.
#ifndef ISA_TESTS_PROCESS_H
#define ISA_TESTS_PROCESS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

// The exit code of a shell command, -1 if it did not exit by itself.
static inline int process_run(const char *command) {
  fflush(NULL);
  int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A whole file, zero-terminated, to be freed; NULL if it cannot be read.
static inline char *process_read(const char *path, size_t *length) {
  FILE *in = fopen(path, "rb");
  if (in == NULL) return NULL;
  char *text = NULL;
  size_t room = 0;
  *length = 0;
  for (;;) {
    char *bigger = realloc(text, room + 65537);
    if (bigger == NULL) abort();
    text = bigger;
    size_t got = fread(text + *length, 1, 65536, in);
    *length += got;
    room = *length;
    if (got == 0) break;
  }
  fclose(in);
  text[*length] = '\0';
  return text;
}

static inline void process_write(const char *path, const void *bytes, size_t length) {
  FILE *out = fopen(path, "wb");
  if (out == NULL || fwrite(bytes, 1, length, out) != length || fclose(out) != 0) abort();
}

#endif
