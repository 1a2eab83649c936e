// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog sources of the accelerator as text, so that the command can build and write them from wherever it
// is installed: packages first, then hw/rtl in the order of file names. The array package is not among them;
// hw_write_sv_package writes it.
#ifndef HW_RTL_FILES_H
#define HW_RTL_FILES_H

#include <stdbool.h>
#include <string.h>

#include "base/text_file.h"

extern const wf_text_file hw_rtl_files[];
extern const size_t hw_rtl_file_count;

// Whether other files include the file (NAME.svh); it is not compiled by itself.
static inline bool hw_rtl_is_header(const char *name) { return strstr(name, ".svh") != NULL; }

#endif
