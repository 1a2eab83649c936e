// SPDX-License-Identifier: Apache-2.0
// `weft compile`: from a kernel or an IR to commands, written in the format that the output's name ends in.
#include <string.h>

#include "cli/compile_network.h"
#include "cli/kernel.h"

typedef struct compile_options {
  kernel_options kernel;
  const char *output;
  uint64_t seed, times;
  network_args network;
} compile_options;

static bool ends_in(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

static bool is_format(const char *path) {
  static const char *const endings[] = {".trace", ".c", ".lst", ".command", ".elf"};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (ends_in(path, endings[i])) return true;
  return false;
}

static void print_summary(const kernel_job *job, const char *path) {
  char commands[CLI_THOUSANDS], shown[CLI_NAME];
  fprintf(stderr, "weft: %s: %s commands in %.1f ms for array %s\n", cli_shown(path, shown),
          cli_thousands(job->facts.commands, commands), 1e3 * job->facts.compile_seconds, weft_array_name(job->array));
}

static cli_exit write_output(const compile_options *options, const kernel_job *job) {
  const weft_kernel_form form = {.size = sizeof form, .seed = options->seed, .times = (uint32_t)options->times};
  if (options->output == NULL) return CLI_OK;
  const weft_status status = weft_kernel_write(job->session, job->kernel, options->output, &form);
  cli_messages(job->session);
  return (cli_exit)status;
}

static cli_exit compile_kernel(const cli_common *common, compile_options *options, const char *path) {
  const char *output = options->output;
  if (output != NULL && !is_format(output)) {
    fprintf(stderr, "weft: error: %s: unknown format\n  hint: a name that ends in .elf, .c, .trace, .lst or .command\n",
            output);
    return CLI_USAGE;
  }
  options->kernel.for_c = output != NULL && (ends_in(output, ".c") || ends_in(output, ".elf"));
  if (output != NULL && !cli_may_write(output)) return CLI_BAD_INPUT;
  kernel_job job;
  cli_exit code = kernel_compile(common, &options->kernel, path, &job);
  if (code == CLI_OK) code = write_output(options, &job);
  if (code == CLI_OK && cli_prints(common)) print_summary(&job, path);
  if (code == CLI_OK && common->json != NULL &&
      !cli_write_report(common->json, weft_kernel_text(job.session, job.kernel, "json")))
    code = CLI_BAD_INPUT;
  kernel_release(&job);
  return code;
}

// ---- the verb

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
                  CLI_OPTIONS(network_arg_rows, offsetof(compile_options, network))},
      .min_arguments = 1,
      .max_arguments = 1,
      .takes_array = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  if (!network_job_is(argv[0])) return compile_kernel(&common, &options, argv[0]);
  options.network.seed = options.seed;
  options.network.tuning = options.kernel.tuning;
  options.network.jobs = 2;
  return compile_network(&common, &options.network, argv[0], options.output);
}
