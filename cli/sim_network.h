// SPDX-License-Identifier: Apache-2.0
// `weft sim NET.onnx`: a network as a program.
#ifndef CLI_SIM_NETWORK_H
#define CLI_SIM_NETWORK_H

#include "cli/network_args.h"
#include "cli/timeline_args.h"

typedef struct sim_network_options {
  network_args job;
  bool no_check, native_host, wide;
} sim_network_options;

// The rows of these options, without those of the job.
enum { SIM_NETWORK_OPTIONS = 5 };
extern const wf_option sim_network_rows[SIM_NETWORK_OPTIONS];

// What it has in common with programs: `run` are the options that the library takes.
typedef struct sim_files {
  const weft_engine *engine;
  weft_run_options run;
  timeline_args timeline;
  const char *csv, *report;
} sim_files;

cli_exit sim_network(const cli_common *common, const sim_network_options *options, const sim_files *files,
                     const char *path);

#endif
