// SPDX-License-Identifier: Apache-2.0
// The driver's runtime and headers as text, so that programs can be built from wherever the tool is installed.
#ifndef COMPILER_COMMAND_DRIVER_FILES_H
#define COMPILER_COMMAND_DRIVER_FILES_H

#include "base/text_file.h"

extern const wf_text_file command_driver_files[];
extern const size_t command_driver_file_count;

#endif
