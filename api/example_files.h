// SPDX-License-Identifier: Apache-2.0
// The files of workloads/examples as text; the table is made in the build.
#ifndef API_EXAMPLE_FILES_H
#define API_EXAMPLE_FILES_H

#include "base/text_file.h"

extern const wf_text_file api_example_files[];
extern const size_t api_example_file_count;

#endif
