// SPDX-License-Identifier: Apache-2.0
// Running compilers: programs from PATH, without a shell, their output into a log file.
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
  WF_PROCESS_DONE,
  WF_PROCESS_MISSING,  // there is no such program
  WF_PROCESS_FAILED,   // it could not be run, or ended with an exit code other than 0
} wf_process_result;

// Ends with NULL; argv[0] is looked up in PATH.
typedef const char *const *wf_process_argv;

// Runs all of them, at most `jobs` at a time, and stops starting more after a failure. Output is appended to `log`.
wf_process_result wf_process_run(const wf_process_argv *commands, size_t count, unsigned jobs, const char *log);

// The first line that a program prints, without its end.
wf_process_result wf_process_line(wf_process_argv command, char *line, size_t size);

#endif
