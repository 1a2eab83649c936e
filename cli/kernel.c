// SPDX-License-Identifier: Apache-2.0
// Options of verbs that compile, and the compilation; see kernel.h.
#include "cli/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/progress.h"
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
     "print the program after lower, fuse, tile, scope, hoist, buffers, expand, fold or roll"},
};

// ---- input

static bool read_mapping(const char *path, map_mapping *mapping, wf_diag *diag) {
  size_t length;
  char *text = cli_read_file(path, CLI_TEXT_MAX, &length, diag);
  const bool good = text != NULL && map_parse(mapping, path, text, length, diag);
  wf_free(text);
  return good;
}

static int find(const char *word, const char *const *names, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(word, names[i]) == 0) return i;
  return -1;
}

static bool is_pass(const char *name) {
  for (size_t i = 0; compile_pass_name(i) != NULL; i++)
    if (strcmp(compile_pass_name(i), name) == 0) return true;
  return false;
}

static cli_exit usage_error(const char *option, const char *value, const char *choices) {
  fprintf(stderr, "weft: error: --%s %s\n  hint: one of %s\n", option, value, choices);
  return CLI_USAGE;
}

// The options that are words.
static cli_exit set_choices(const kernel_options *options, compile_request *request) {
  static const char *const styles[] = {"primitive", "loop"};
  if (options->style != NULL) {
    const int style = find(options->style, styles, 2);
    if (style < 0) return usage_error("style", options->style, "primitive, loop");
    request->style = (block_style)style;
  }
  if (options->mapping != NULL && options->tuning.schedules != NULL) {
    fprintf(stderr, "weft: error: --mapping and --schedules exclude each other\n");
    return CLI_USAGE;
  }
  if (options->as_c && !options->print_mapping) {
    fprintf(stderr, "weft: error: --as-c is for --print-mapping\n");
    return CLI_USAGE;
  }
  if (options->from != NULL) {
    const int from = find(options->from, compile_language_names, COMPILE_LANGUAGES);
    if (from < 0) return usage_error("from", options->from, "kernel, block, command");
    request->from = (compile_language)from;
  }
  if (options->dump_after != NULL && !is_pass(options->dump_after))
    return usage_error("dump-after", options->dump_after,
                       "lower, fuse, tile, scope, hoist, buffers, expand, fold, roll");
  return CLI_OK;
}

// ---- compilation

static void dump(void *context, const compile_stage *stage) {
  const kernel_options *options = context;
  if (strcmp(options->dump_after, stage->pass) != 0) return;
  if (stage->block != NULL)
    block_print(stage->block, stdout);
  else
    command_print(stage->commands, stdout);
}

// The driver takes mappings of products only.
static cli_exit print_mapping(const kernel_options *options, const char *path, const compile_result *result,
                              wf_diag *diag) {
  if (!result->mapped) return CLI_OK;
  if (!options->as_c) {
    map_print(&result->mapping, stdout);
  } else if (!map_print_c(&result->layer, &result->mapping, stdout)) {
    wf_error(diag, wf_in_file(path), "--as-c: struct weft_mapping is for matrix products");
    return CLI_CANNOT_BUILD;
  }
  return CLI_OK;
}

// The arguments are text here and nowhere else.
static bool compile_with(const char *arguments, compile_request *request, compile_result *result, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  const bool good = (arguments == NULL || lang_read_args(arguments, arena, &request->arguments, diag)) &&
                    compile(request, result, diag);
  wf_arena_destroy(arena);
  return good;
}

cli_exit kernel_compile(const cli_common *common, const kernel_options *options, const char *path, kernel_job *job,
                        wf_diag *diag) {
  *job = (kernel_job){0};
  kernel_options kept = *options;
  compile_request request = {.file = path,
                             .array = &job->array,
                             .kernel = options->kernel,
                             .autotune = options->autotune,
                             .straight = options->straight,
                             .for_c = options->for_c,
                             .after = options->dump_after == NULL ? NULL : dump,
                             .context = &kept};
  cli_exit code = set_choices(options, &request);
  if (code != CLI_OK) return code;
  map_mapping mapping;
  if (!cli_load_array(common, &job->array, diag)) return CLI_BAD_INPUT;
  code = tuning_open(&options->tuning, options->autotune ? TUNING_OTHERS : TUNING_NO_OTHERS, &job->array,
                     &request.tuning, diag);
  if (code != CLI_OK) return code;
  if (options->mapping != NULL && !read_mapping(options->mapping, &mapping, diag)) return CLI_BAD_INPUT;
  if (options->mapping != NULL) request.mapping = &mapping;
  schedule_store store;
  code = schedule_store_open(&store, options->tuning.schedules, &job->array, &request.tuning, diag);
  if (code != CLI_OK) return code;
  job->text = cli_read_file(path, CLI_TEXT_MAX, &request.length, diag);
  request.text = job->text;
  const double start = wf_process_seconds();
  wf_busy *busy = wf_busy_begin(common->quiet, "compiling the kernel", CLI_BUSY_AFTER);
  const bool good = job->text != NULL && compile_with(options->shape, &request, &job->result, diag);
  wf_busy_end(busy);
  job->seconds = wf_process_seconds() - start;
  if (good) schedule_store_add_kernel(&store, path, &job->result);
  const bool saved = schedule_store_close(&store, common->quiet, diag);
  if (!good) return job->result.block != NULL ? CLI_CANNOT_BUILD : CLI_BAD_INPUT;
  if (!saved) return CLI_BAD_INPUT;
  return options->print_mapping ? print_mapping(options, path, &job->result, diag) : CLI_OK;
}

void kernel_release(kernel_job *job) {
  compile_release(&job->result);
  wf_free(job->text);
  *job = (kernel_job){0};
}

// ---- report

static void add_mapping(cJSON *object, const map_mapping *mapping) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) return;
  map_print(mapping, out);
  fclose(out);
  cJSON_AddStringToObject(object, "mapping", text);
  free(text);
}

static uint64_t rolled_nodes(const command_program *commands) {
  command_program *rolled = command_roll(commands);
  const uint64_t nodes = rolled->count;
  command_destroy(rolled);
  return nodes;
}

cJSON *kernel_json(const kernel_job *job, const char *path) {
  const compile_result *r = &job->result;
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "file", path);
  if (r->instance != NULL) cJSON_AddStringToObject(object, "kernel", r->instance->kernel->name);
  cJSON_AddStringToObject(object, "array", job->array.name);
  cli_json_hash(object, "array_hash", hw_array_hash(&job->array));
  cJSON_AddNumberToObject(object, "compile_seconds", job->seconds);
  cli_json_count(object, "commands", command_executions(r->commands));
  cli_json_count(object, "nodes", rolled_nodes(r->commands));
  if (r->config >= 0) cJSON_AddNumberToObject(object, "config", r->config);
  if (!r->mapped) return object;
  cli_json_count(object, "macs", (uint64_t)map_macs(&r->layer));
  cli_json_hash(object, "mapping_hash", map_hash(&r->mapping));
  add_mapping(object, &r->mapping);
  return object;
}
