// SPDX-License-Identifier: Apache-2.0
// What the verbs that compile share: their options, and the compilation as these say.
#ifndef CLI_KERNEL_H
#define CLI_KERNEL_H

#include "cli/cli.h"
#include "cli/tuning.h"
#include "compiler/compile.h"

typedef struct kernel_options {
  const char *kernel, *shape, *mapping, *style, *from, *dump_after;
  bool autotune, print_mapping, as_c;
  // No options, but what the verb needs: commands without loops; commands that a host gives (compile_request).
  bool straight, for_c;
  tuning_options tuning;
} kernel_options;

enum { KERNEL_OPTIONS = 9 };
// The rows of these options without those of tuning, for a verb's table.
extern const wf_option kernel_option_rows[KERNEL_OPTIONS];

// A compiled file. `array` is borrowed by the commands.
typedef struct kernel_job {
  hw_array array;
  compile_result result;
  double seconds;  // of the processor, for compilation
  char *text;
} kernel_job;

// Compiles the file; prints what the options ask for to stdout. Returns an exit code, after errors were reported.
cli_exit kernel_compile(const cli_common *common, const kernel_options *options, const char *path, kernel_job *job,
                        wf_diag *diag);
void kernel_release(kernel_job *job);

// The keys that every verb reports of a compilation (docs/cli.md).
cJSON *kernel_json(const kernel_job *job, const char *path);

#endif
