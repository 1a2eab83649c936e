// SPDX-License-Identifier: Apache-2.0
// The shell of the model, as text: shim.h, shim_sc.h and shim.cpp.
#ifndef SIM_RTL_SHIM_FILES_H
#define SIM_RTL_SHIM_FILES_H

#include "base/text_file.h"

extern const wf_text_file sim_rtl_files[];
extern const size_t sim_rtl_file_count;

#endif
