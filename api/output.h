// SPDX-License-Identifier: Apache-2.0
// Files that a run writes: "-" is standard output, and a path of NULL none.
#ifndef API_OUTPUT_H
#define API_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"

// False after the reason was reported.
bool api_output_open(FILE **file, const char *path, wf_diag *diag);
// Puts what is complete in its place, and forgets the rest.
bool api_output_end(FILE *file, const char *path, bool complete, wf_diag *diag);

#endif
