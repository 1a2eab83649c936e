// The shell of the model, as text: shim.h, shim_sc.h and shim.cpp.
#ifndef SIM_RTL_SHIM_FILES_H
#define SIM_RTL_SHIM_FILES_H

#include <stddef.h>

typedef struct sim_rtl_file {
  const char *name;
  const char *text;
} sim_rtl_file;

extern const sim_rtl_file sim_rtl_files[];
extern const size_t sim_rtl_file_count;

#endif
