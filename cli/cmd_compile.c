// SPDX-License-Identifier: Apache-2.0
// `weft compile`: from a kernel or an IR to commands, written in the format that the output's name ends in.
#include <string.h>

#include "arch/memory.h"
#include "base/name.h"
#include "base/thousands.h"
#include "cli/compile_network.h"
#include "cli/kernel.h"
#include "compiler/command/command.h"
#include "compiler/command/elf.h"

typedef struct compile_options {
  kernel_options kernel;
  const char *output;
  uint64_t seed, times;
  network_job_options network;
} compile_options;

// ---- formats

static bool write_trace(const kernel_job *job, FILE *out, wf_diag *diag) {
  enum { TENSORS_MAX = 64 };
  const command_program *commands = job->result.commands;
  uint64_t address[TENSORS_MAX];
  if (commands->tensor_count > TENSORS_MAX) {
    wf_error(diag, wf_in_file(NULL), "a program of %d tensors has no trace, at most %d", commands->tensor_count,
             TENSORS_MAX);
    return false;
  }
  const command_layout layout = {.tensor_address = address};
  return command_place(commands, ARCH_MEMORY_BASE, address, diag) &&
         command_write_trace(commands, &layout, NULL, out, diag);
}

static bool write_c(const kernel_job *job, FILE *out, wf_diag *diag) {
  return command_write_c(job->result.commands, out, diag);
}

static bool write_listing(const kernel_job *job, FILE *out, wf_diag *diag) {
  (void)diag;
  command_write_listing(job->result.commands, out);
  return true;
}

static bool write_commands(const kernel_job *job, FILE *out, wf_diag *diag) {
  (void)diag;
  command_print(job->result.commands, out);
  return true;
}

// An ELF is no text: it is built from the C by the RISC-V compiler.
static const struct {
  const char *ending;
  bool (*write)(const kernel_job *job, FILE *out, wf_diag *diag);
} formats[] = {
    {".trace", write_trace}, {".c", write_c}, {".lst", write_listing}, {".command", write_commands}, {".elf", NULL}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static bool ends_in(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

static int find_format(const char *path) {
  for (int i = 0; i < FORMATS; i++)
    if (ends_in(path, formats[i].ending)) return i;
  return -1;
}

static cli_exit write_elf(const compile_options *options, const kernel_job *job, wf_diag *diag) {
  const command_elf_config config = {.seed = options->seed, .times = (unsigned)options->times};
  return command_write_elf(job->result.commands, &config, options->output, diag) == COMMAND_ELF_DONE ? CLI_OK
                                                                                                     : CLI_CANNOT_BUILD;
}

static cli_exit write_output(const compile_options *options, const kernel_job *job, wf_diag *diag) {
  const char *path = options->output;
  const int format = find_format(path);
  if (formats[format].write == NULL) return write_elf(options, job, diag);
  FILE *out = cli_open_output(path, diag);
  if (out == NULL) return CLI_BAD_INPUT;
  const bool written = formats[format].write(job, out, diag);
  const bool closed = cli_end_output(out, path, written, diag);
  return !written ? CLI_CANNOT_BUILD : closed ? CLI_OK : CLI_BAD_INPUT;
}

// ---- the verb

static void print_summary(const kernel_job *job, const char *path) {
  char commands[WF_THOUSANDS];
  char shown[WF_NAME_LINE];
  fprintf(stderr, "weft: %s: %s commands in %.1f ms for array %s\n", wf_name_shown(path, shown),
          wf_thousands(command_executions(job->result.commands), commands), 1e3 * job->seconds, job->array.name);
}

static const wf_option compile_rows[] = {
    {"o", WF_TEXT(compile_options, output), "OUT.elf|.c|.trace|.lst|.command", "write the commands"},
    {"seed", WF_COUNT(compile_options, seed), "N", "of the data of an ELF, and of generated networks (default 1)"},
    {"times", WF_COUNT(compile_options, times), "N", "how often an ELF runs the kernel (default 1)"},
};

cli_exit cli_compile(int argc, char **argv) {
  compile_options options = {.seed = 1, .times = 1};
  static const cli_usage usage = {
      .verb = "compile",
      .synopsis = "KERNEL.py|IR|NETWORK",
      .text =
          "Compiles a kernel (or, with --from, a program of an IR) to the commands of an array,\n"
          "or a network (an ONNX file or the name of a generated one) to an ELF.\n"
          "Exit code: 0 good, 1 bad input, 2 usage, 3 cannot map or build.",
      .examples =
          "  weft compile kernel.py --shape M=100,N=70 -o kernel.elf\n"
          "  weft compile resnet50 -o resnet50.elf\n",
      .options = {CLI_OPTIONS(compile_rows, 0), CLI_OPTIONS(kernel_option_rows, offsetof(compile_options, kernel)),
                  CLI_OPTIONS(tuning_option_rows, offsetof(compile_options, kernel.tuning)),
                  CLI_OPTIONS(network_job_rows, offsetof(compile_options, network))},
      .min_arguments = 1,
      .max_arguments = 1,
      .takes_array = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  if (network_job_is(argv[0])) {
    options.network.seed = options.seed;
    options.network.tuning = options.kernel.tuning;
    options.network.jobs = 2;
    return compile_network(&common, &options.network, argv[0], options.output);
  }
  if (options.output != NULL && find_format(options.output) < 0) {
    fprintf(stderr, "weft: error: %s: unknown format\n  hint: a name that ends in .elf, .c, .trace, .lst or .command\n",
            options.output);
    return CLI_USAGE;
  }
  // Only the text of commands shows loops; C makes its own.
  options.kernel.straight = options.output == NULL || !ends_in(options.output, ".command");
  options.kernel.for_c = options.output != NULL && (ends_in(options.output, ".c") || ends_in(options.output, ".elf"));
  wf_diag diag = wf_diag_to(stderr);
  if (!cli_check_output(options.output, &diag)) return CLI_BAD_INPUT;
  kernel_job job;
  code = kernel_compile(&common, &options.kernel, argv[0], &job, &diag);
  if (code == CLI_OK && options.output != NULL) code = write_output(&options, &job, &diag);
  if (code == CLI_OK && cli_prints(&common)) print_summary(&job, argv[0]);
  if (code == CLI_OK && common.json != NULL && !cli_write_json(common.json, kernel_json(&job, argv[0]), &diag))
    code = CLI_BAD_INPUT;
  kernel_release(&job);
  return code;
}
