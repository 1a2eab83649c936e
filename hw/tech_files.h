// SPDX-License-Identifier: Apache-2.0
// The files of hw/tech as text; the table is made in the build.
#ifndef HW_TECH_FILES_H
#define HW_TECH_FILES_H

#include "base/text_file.h"

extern const wf_text_file hw_tech_files[];
extern const size_t hw_tech_file_count;

#endif
