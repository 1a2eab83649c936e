// SPDX-License-Identifier: Apache-2.0
// What the verbs that compile kernels share: their options, and the compilation as these say.
#ifndef CLI_KERNEL_H
#define CLI_KERNEL_H

#include "cli/cli.h"
#include "cli/tuning.h"

typedef struct kernel_options {
  const char *kernel, *shape, *mapping, *style, *from, *dump_after;
  bool autotune, print_mapping, as_c;
  bool for_c;  // no option, but what the verb needs: commands that a host gives
  tuning_options tuning;
} kernel_options;

enum { KERNEL_OPTIONS = 9 };
// The rows of these options without those of tuning, for a verb's table.
extern const wf_option kernel_option_rows[KERNEL_OPTIONS];

// A compiled file.
typedef struct kernel_job {
  weft_session *session;
  weft_array *array;
  weft_kernel *kernel;
  weft_kernel_facts facts;
} kernel_job;

// Compiles the file; prints what the options ask for to stdout. Returns an exit code, after errors were reported.
// Release the job in any case.
cli_exit kernel_compile(const cli_common *common, const kernel_options *options, const char *path, kernel_job *job);
void kernel_release(kernel_job *job);

#endif
