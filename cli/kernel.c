// SPDX-License-Identifier: Apache-2.0
// Options of verbs that compile, and the compilation; see kernel.h.
#include "cli/kernel.h"

#include <string.h>

#include "cli/schedule_store.h"

const wf_option kernel_option_rows[KERNEL_OPTIONS] = {
    {"kernel", WF_TEXT(kernel_options, kernel), "NAME", "which kernel of the file (default: the only one)"},
    {"shape", WF_TEXT(kernel_options, shape), "M=..,N=..", "values of the kernel's parameters"},
    {"mapping", WF_TEXT(kernel_options, mapping), "FILE", "a mapping (docs/mapping.md; default: the heuristic one)"},
    {"style", WF_TEXT(kernel_options, style), "primitive|loop",
     "of the heuristic mapping: single commands (default) or the hardware's loop unrollers"},
    {"from", WF_TEXT(kernel_options, from), "kernel|block|command", "what the file holds (default kernel)"},
    {"autotune", WF_FLAG(kernel_options, autotune), NULL,
     "simulate each configuration of the kernel and take the fastest"},
    {"print-mapping", WF_FLAG(kernel_options, print_mapping), NULL, "print the mapping that was used"},
    {"as-c", WF_FLAG(kernel_options, as_c), NULL, "of a matrix product: as struct weft_mapping of the driver"},
    {"dump-after", WF_TEXT(kernel_options, dump_after), "PASS",
     "print the program after lower, fuse, tile, scope, hoist, buffers, expand, fold, tokens or roll"},
};

// ---- choices

// Whether a word is one of a list that ends in NULL; NULL is one of every list.
static bool is_one_of(const char *word, const char *const *names) {
  if (word == NULL) return true;
  for (; *names != NULL; names++)
    if (strcmp(word, *names) == 0) return true;
  return false;
}

static cli_exit usage_error(const char *option, const char *value, const char *choices) {
  fprintf(stderr, "weft: error: --%s %s\n  hint: one of %s\n", option, value, choices);
  return CLI_USAGE;
}

// The options that are words.
static cli_exit check_choices(const kernel_options *options) {
  static const char *const styles[] = {"primitive", "loop", NULL};
  static const char *const languages[] = {"kernel", "block", "command", NULL};
  static const char *const passes[] = {"lower",   "fuse",   "tile", "scope", "hoist",
                                       "buffers", "expand", "fold", "roll",  NULL};
  if (!is_one_of(options->style, styles)) return usage_error("style", options->style, "primitive, loop");
  if (options->mapping != NULL && options->tuning.schedules != NULL) {
    fprintf(stderr, "weft: error: --mapping and --schedules exclude each other\n");
    return CLI_USAGE;
  }
  if (options->as_c && !options->print_mapping) {
    fprintf(stderr, "weft: error: --as-c is for --print-mapping\n");
    return CLI_USAGE;
  }
  if (!is_one_of(options->from, languages)) return usage_error("from", options->from, "kernel, block, command");
  if (!is_one_of(options->dump_after, passes))
    return usage_error("dump-after", options->dump_after,
                       "lower, fuse, tile, scope, hoist, buffers, expand, fold, tokens, roll");
  return CLI_OK;
}

// ---- compilation

static void dump(void *context, const char *text) {
  (void)context;
  fputs(text, stdout);
}

// The driver takes mappings of products only.
static cli_exit print_mapping(const kernel_options *options, const char *path, const kernel_job *job) {
  const char *mapping = weft_kernel_mapping(job->kernel);
  if (!options->as_c) fputs(mapping, stdout);
  if (!options->as_c || *mapping == '\0') return CLI_OK;
  char *text = weft_kernel_text(job->session, job->kernel, "mapping-c");
  if (text == NULL) {
    cli_error(path, "--as-c: struct weft_mapping is for matrix products");
    return CLI_CANNOT_BUILD;
  }
  fputs(text, stdout);
  weft_free(text);
  return CLI_OK;
}

static cli_exit compile(const cli_common *common, const kernel_options *options, const char *path, kernel_job *job) {
  schedule_store store;
  const cli_exit code = schedule_store_open(&store, job->session, options->tuning.schedules, options->tuning.count > 1);
  if (code != CLI_OK) return code;
  const weft_kernel_options made = {.size = sizeof made,
                                    .file = path,
                                    .kernel = options->kernel,
                                    .arguments = options->shape,
                                    .language = options->from,
                                    .autotune = options->autotune,
                                    .tune = (uint32_t)options->tuning.count,
                                    .mapping_file = options->mapping,
                                    .style = options->style,
                                    .tune_with = options->tuning.with,
                                    .tune_objective = options->tuning.objective,
                                    .schedules = store.store,
                                    .for_c = options->for_c,
                                    .after = options->dump_after,
                                    .tell = options->dump_after == NULL ? NULL : dump};
  cli_busy *busy = cli_busy_begin(common, "compiling the kernel");
  job->kernel = weft_kernel_compile(job->session, job->array, &made);
  cli_busy_end(busy);
  cli_messages(job->session);
  const cli_exit end = (cli_exit)weft_session_status(job->session);
  const bool saved = schedule_store_close(&store, common->quiet);
  return end != CLI_OK || saved ? end : CLI_BAD_INPUT;
}

cli_exit kernel_compile(const cli_common *common, const kernel_options *options, const char *path, kernel_job *job) {
  *job = (kernel_job){.session = weft_session_create()};
  cli_exit code = check_choices(options);
  if (code != CLI_OK) return code;
  job->array = cli_open_array(common, job->session);
  if (job->array == NULL) return CLI_BAD_INPUT;
  code = tuning_check(&options->tuning, options->autotune, job->array);
  if (code == CLI_OK) code = compile(common, options, path, job);
  if (code != CLI_OK) return code;
  job->facts.size = sizeof job->facts;
  weft_kernel_describe(job->kernel, &job->facts);
  return options->print_mapping ? print_mapping(options, path, job) : CLI_OK;
}

void kernel_release(kernel_job *job) {
  weft_kernel_destroy(job->kernel);
  weft_array_destroy(job->array);
  weft_session_destroy(job->session);
  *job = (kernel_job){0};
}
