// SPDX-License-Identifier: Apache-2.0
// The sources of the host's operators as text, so that programs can be built from wherever the tool is installed.
#ifndef COMPILER_NETWORK_HOST_FILES_H
#define COMPILER_NETWORK_HOST_FILES_H

#include "base/text_file.h"

extern const wf_text_file network_host_files[];
extern const size_t network_host_file_count;

#endif
