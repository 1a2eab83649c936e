// SPDX-License-Identifier: Apache-2.0
// Running the tools of a synthesis: programs from PATH, without a shell.
#ifndef HW_EXPORT_TOOL_H
#define HW_EXPORT_TOOL_H

#include <stdbool.h>

// True: a program of that name is in PATH.
bool hw_tool_found(const char *name);

// Runs argv (ends with NULL) in `directory` with stdout and stderr into the file `log` there. Its exit code; as in a
// shell, 127: it could not be run, 128 + N: signal N ended it.
int hw_tool_run(const char *const *argv, const char *directory, const char *log);

// Removes a directory and everything in it.
void hw_tool_remove(const char *directory);

#endif
