// SPDX-License-Identifier: Apache-2.0
// A file that travels in the program as text; tables of them are made in the build (base/tools/embed.cmake).
#ifndef BASE_TEXT_FILE_H
#define BASE_TEXT_FILE_H

#include <stddef.h>

typedef struct wf_text_file {
  const char *name;  // without folder
  const char *text;
} wf_text_file;

#endif
