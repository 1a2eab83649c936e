// SPDX-License-Identifier: Apache-2.0
// The files of workloads/spaces as text; the table is made in the build.
#ifndef SEARCH_CODESIGN_SPACE_FILES_H
#define SEARCH_CODESIGN_SPACE_FILES_H

#include "base/text_file.h"

extern const wf_text_file codesign_space_files[];
extern const size_t codesign_space_file_count;

#endif
