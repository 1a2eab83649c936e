// SPDX-License-Identifier: Apache-2.0
// Options as data: a constant table of rows, and a struct of values that the rows point into by offset.
// A library lists what it takes; the command line fills the values.
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <stddef.h>

typedef enum { WF_OPTION_FLAG, WF_OPTION_TEXT, WF_OPTION_COUNT, WF_OPTION_POSITIVE } wf_option_kind;

typedef struct wf_option {
  const char *name;  // "max-instructions"; of one letter: a short option
  wf_option_kind kind;
  size_t offset;         // of the value: a bool, a const char *, a uint64_t (WF_OPTION_POSITIVE: not 0)
  const char *argument;  // in the help: "N"; NULL of a flag
  const char *help;
} wf_option;

// Kind and offset of a row, for a member of the struct.
#define WF_FLAG(values, member) WF_OPTION_FLAG, offsetof(values, member)
#define WF_TEXT(values, member) WF_OPTION_TEXT, offsetof(values, member)
#define WF_COUNT(values, member) WF_OPTION_COUNT, offsetof(values, member)
#define WF_POSITIVE(values, member) WF_OPTION_POSITIVE, offsetof(values, member)

#endif
