// The SystemVerilog sources of the accelerator as text, so that the command can build and write them from wherever it
// is installed: weft_isa_pkg.sv first, then hw/rtl in the order of file names. The array package is not among them;
// hw_write_sv_package writes it.
#ifndef HW_RTL_FILES_H
#define HW_RTL_FILES_H

#include "base/text_file.h"

extern const wf_text_file hw_rtl_files[];
extern const size_t hw_rtl_file_count;

#endif
