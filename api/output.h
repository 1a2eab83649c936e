// SPDX-License-Identifier: Apache-2.0
// Files that a run writes: "-" is standard output, and a path of NULL none.
#ifndef API_OUTPUT_H
#define API_OUTPUT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"

// False after the reason was reported.
bool api_output_open(FILE **file, const char *path, wf_diag *diag);
// Puts what is complete in its place, and forgets the rest.
bool api_output_end(FILE *file, const char *path, bool complete, wf_diag *diag);

// Makes a folder, unless it is there and can be written to.
bool api_output_folder(const char *path, wf_diag *diag);
// Writes and frees a document.
bool api_output_json(const char *path, cJSON *document, wf_diag *diag);

#endif
