// SPDX-License-Identifier: Apache-2.0
// The files of workloads/kernels as text; the table is made in the build.
#ifndef COMPILER_LAYER_KERNEL_FILES_H
#define COMPILER_LAYER_KERNEL_FILES_H

#include "base/text_file.h"

extern const wf_text_file layer_kernel_files[];
extern const size_t layer_kernel_file_count;

#endif
