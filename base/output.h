// SPDX-License-Identifier: Apache-2.0
// Files that a program writes. What is written stands beside the file, without a name where the system can do that, and
// takes the file's place in one step when it is complete: a run that fails or is killed leaves the file of before, or
// none. Links, devices and pipes are written as they are.
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"

// NULL after the reason was reported. Close or drop it with the same path.
FILE *wf_output_open(const char *path, wf_diag *diag);
// Puts the file in its place; false after the reason was reported, and then the file of before is still there.
bool wf_output_close(FILE *out, const char *path, wf_diag *diag);
// Forgets what was written.
void wf_output_drop(FILE *out, const char *path);
// Whether the path can be written, for files that are written at the end of long work. Leaves no trace.
bool wf_output_check(const char *path, wf_diag *diag);
// A name beside the path for a file that another program writes, to be freed; what it wrote takes the path's place.
char *wf_output_beside(const char *path);
bool wf_output_publish(const char *beside, const char *path, wf_diag *diag);

#endif
