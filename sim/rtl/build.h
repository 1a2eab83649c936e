// SPDX-License-Identifier: Apache-2.0
// The hardware of an array as a shared object: SystemVerilog through Verilator and g++, kept in the build cache.
//
// The entry's key covers the array (without the sections that the hardware does not know: memory, l2, host, chip), all
// RTL sources, the shell, the flags and Verilator's version.
#ifndef SIM_RTL_BUILD_H
#define SIM_RTL_BUILD_H

#include <stdbool.h>

#include "base/diag.h"
#include "hw/array.h"

typedef struct sim_rtl_build_options {
  bool wave;      // with waveforms
  bool systemc;   // for a SystemC kernel: the ports are signals; no waveforms
  unsigned jobs;  // compilers at a time; 0: 2
  bool quiet;     // no progress on stderr
  // Told of progress in place of stderr; false ends the build. NULL: nobody.
  bool (*tell)(void *context, const char *text);
  void *context;
} sim_rtl_build_options;

typedef struct sim_rtl_model {
  char *path;      // of the shared object; wf_free it
  bool cached;     // it was there already
  double seconds;  // that building it took, now or then
} sim_rtl_model;

// False after an error was reported.
bool sim_rtl_build(const hw_array *array, const sim_rtl_build_options *options, sim_rtl_model *model, wf_diag *diag);

#endif
